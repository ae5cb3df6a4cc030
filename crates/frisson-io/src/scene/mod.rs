//! Scene files: TOML, validated against the schema of the parameter structs, every error with its
//! place in the text.
//!
//! `read` parses and validates; [`SceneFile::build`] reads the actors and builds the stage.

mod acting;
mod build;
mod document;
mod drop_points;
mod expect;
mod explain;
mod files;
mod grooms;
mod loader;
mod params;
mod presentation;
mod problem;
mod seeds;
mod sources;
mod spaces;
mod validate;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use crate::inputs::{InputError, InputSet};

pub use build::{BuiltScene, Identity, ReadScene};
pub use document::Spans;
pub use expect::{ExpectParams, Measure, OverFrames, Part, Statistic, Subject};
pub use explain::{Control, Explanation, explain, explain_all};
pub use loader::{
    ActorContent, ActorLoader, FileLoader, LoadError, LoadedActor, read_character, source_hash,
};
pub use params::{ActorParams, Actors, ClipChoice, Fps, Scene, scene_schema};
pub use presentation::{CameraParams, GalleryParams, LookName};
pub use problem::{Problem, SceneError};
pub use sources::clip_index;

/// A scene file that says only what it may.
#[derive(Clone, Debug)]
pub struct SceneFile {
    /// Where it was read.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// What it says.
    pub scene: Scene,
    spans: Spans,
}

impl SceneFile {
    /// Reads and validates a scene file.
    pub fn read(path: &Path) -> Result<Self, ReadSceneError> {
        let inputs = InputSet::new();
        let bytes = inputs.read_up_to(path, inputs.limits().scene_bytes)?;
        let text =
            String::from_utf8(bytes).map_err(|_| ReadSceneError::NotText(path.to_owned()))?;
        Ok(Self::parse(path, &text)?)
    }

    /// Validates a scene's text; `path` is for messages and for finding files beside it.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SceneError> {
        let fail = |problems| SceneError::new(path.to_owned(), text.to_owned(), problems);
        let (value, spans) = document::parse(text).map_err(fail)?;
        // All mistakes at once and each with its place; serde would stop at the first, without one.
        let problems = validate::validate(schema(), &value, &spans);
        if !problems.is_empty() {
            return Err(fail(problems));
        }
        // What the schema cannot say (a fraction's spelling, for one) still comes from serde.
        let scene = serde_json::from_value(value)
            .map_err(|e| fail(vec![Problem::new(e.to_string(), guess_span(&spans, &e))]))?;
        Ok(Self { path: path.to_owned(), text: text.to_owned(), scene, spans })
    }

    /// Folder that relative paths in the scene start from.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.path.parent().map(Path::to_owned).unwrap_or_default()
    }
}

/// Why a scene file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadSceneError {
    /// The file itself.
    #[error("cannot read the scene: {0}")]
    File(#[from] InputError),
    /// Not text at all.
    #[error("{} is not a scene file: it is not text (UTF-8)", .0.display())]
    NotText(PathBuf),
    /// What it says.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(scene_schema)
}

/// Our own messages start with the parameter's name.
fn guess_span(spans: &Spans, error: &serde_json::Error) -> std::ops::Range<usize> {
    let text = error.to_string();
    let name = text.split(':').next().unwrap_or_default();
    spans.part(name).map_or(0..0, |part| part.value.clone())
}

#[cfg(test)]
mod tests;
