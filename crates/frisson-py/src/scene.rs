//! Scene files, and where their actors come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frisson::character::Character as EngineCharacter;
use frisson_io::scene::{ActorContent, ActorLoader, LoadError, LoadedActor, SceneFile};
use frisson_workshop::Loader;
use frisson_workshop::propose::Request;
use pyo3::prelude::*;

use crate::character::Character;
use crate::trouble::Trouble;

/// A scene file that says only what it may.
#[pyclass(module = "frisson._native", frozen)]
pub struct Scene {
    pub file: SceneFile,
}

#[pymethods]
impl Scene {
    /// Reads and validates a scene file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> Result<Self, Trouble> {
        let file = py.detach(|| SceneFile::read(&path))?;
        Ok(Self { file })
    }

    /// Validates a scene's text; `path` is for messages and for finding files beside it.
    #[staticmethod]
    fn parse(text: &str, path: PathBuf) -> Result<Self, Trouble> {
        Ok(Self { file: SceneFile::parse(&path, text)? })
    }

    /// Reads the actors and builds the layers; nothing is simulated.
    fn check(&self, py: Python<'_>, actors: Actors) -> Result<(), Trouble> {
        let given = Given::new(py, &actors);
        py.detach(|| self.file.build(&given).map(drop))?;
        Ok(())
    }

    /// Its text.
    #[getter]
    fn text(&self) -> &str {
        &self.file.text
    }

    /// Where it was read, or would have been.
    #[getter]
    fn path(&self) -> PathBuf {
        self.file.path.clone()
    }

    /// What it says, as JSON, defaults filled in.
    fn to_json(&self) -> Result<String, Trouble> {
        Trouble::json(&self.file.scene)
    }
}

/// Characters made of arrays, by name.
pub type Actors = BTreeMap<String, Py<Character>>;

/// Finds `given:NAME` among characters made of arrays, everything else where scenes find it.
pub struct Given(BTreeMap<String, (Arc<EngineCharacter>, u128)>);

impl Given {
    pub fn new(py: Python<'_>, actors: &Actors) -> Self {
        let one = |(name, c): (&String, &Py<Character>)| {
            let character = c.borrow(py);
            (name.clone(), (character.inner.clone(), character.hash))
        };
        Self(actors.iter().map(one).collect())
    }
}

impl ActorLoader for Given {
    fn load(&self, source: &str, folder: &Path) -> Result<LoadedActor, LoadError> {
        let Some(name) = source.strip_prefix("given:") else { return Loader.load(source, folder) };
        let Some((character, hash)) = self.0.get(name) else {
            let names: Vec<&str> = self.0.keys().map(String::as_str).collect();
            let problem =
                format!("no character {name:?} was given; given are: {}", names.join(", "));
            return Err(LoadError::Unreadable { source_name: source.to_owned(), problem });
        };
        let content = ActorContent::Character(character.clone());
        Ok(LoadedActor { content, hash: *hash, files: Vec::new(), remarks: Vec::new() })
    }
}

/// A first scene for a character: its text, and how many layers are switched on in it; `with_layers` would only be
/// comments.
#[pyfunction]
pub fn propose(
    py: Python<'_>,
    character: String,
    clip: Option<String>,
    fps: u32,
    output: PathBuf,
    with_layers: Vec<String>,
) -> Result<(String, usize), Trouble> {
    let request = Request { character, clip, fps, with: with_layers };
    let proposal = py.detach(|| request.scene_for(&output))?;
    let on = proposal.layers.iter().filter(|layer| layer.is_on).count();
    Ok((proposal.text, on))
}

/// TOML text of a JSON object without nulls.
#[pyfunction]
pub fn toml_of(json: &str) -> Result<String, Trouble> {
    let value: serde_json::Value = serde_json::from_str(json)?;
    toml::to_string(&value).map_err(|e| Trouble::input(e.to_string()))
}
