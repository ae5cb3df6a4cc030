//! What is open, and how it comes to be.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use frisson_io::cache::CacheReader;
use frisson_io::scene::{CameraParams, SceneFile};
use frisson_workshop::propose::Request;
use serde_json::Value;

use super::Refusal;
use crate::bell::Bell;
use crate::document::Document;
use crate::engine::Engine;
use crate::proposals::with_switches;
use crate::reveal::Reveal;

/// The gallery's scenes: name and text.
pub(super) const GALLERY: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenes.rs"));

/// Files that scenes of the gallery name: path from the scene's folder, and bytes.
const COMPANIONS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/companions.rs"));

/// Endings of characters that can be opened.
const CHARACTERS: [&str; 8] = ["glb", "gltf", "vrm", "fbx", "usd", "usda", "usdc", "usdz"];

/// What is looked at.
pub(super) struct Open {
    pub document: Option<Document>,
    pub cache: Option<PathBuf>,
    pub engine: Arc<Engine>,
    pub compared: Option<(Arc<Engine>, Value)>,
    pub camera: CameraParams,
    pub draft: bool,
    pub reveal: Reveal,
    /// Grows with everything that is opened.
    pub number: u64,
}

impl Open {
    /// The cache that jobs are about.
    pub fn baked(&self) -> Option<PathBuf> {
        let of_scene = self.document.as_ref().map(|d| d.path().with_extension("frisson"));
        self.cache.clone().or(of_scene)
    }
}

/// What a file is, by its ending.
pub(super) fn kind_of(name: &str) -> Option<&'static str> {
    let ending = Path::new(name).extension()?.to_string_lossy().to_lowercase();
    match ending.as_str() {
        "toml" => Some("scene"),
        "frisson" => Some("cache"),
        other if CHARACTERS.contains(&other) => Some("character"),
        _ => None,
    }
}

/// Opens a scene, a character or a cache.
pub(super) fn opened(what: &str, bell: &Arc<Bell>, number: u64) -> Result<Open, Refusal> {
    let kind = if what.starts_with("builtin:") { Some("character") } else { kind_of(what) };
    match kind {
        Some("cache") => {
            let path = PathBuf::from(what);
            let reader = CacheReader::open(&path).map_err(|e| e.to_string())?;
            let camera = frisson_workshop::pictures::scene_camera(&path);
            Ok(Open {
                document: None,
                engine: Engine::play(Arc::clone(bell), reader),
                cache: Some(path),
                compared: None,
                camera,
                draft: false,
                reveal: Reveal::default(),
                number,
            })
        }
        Some("character") => {
            let character = what.to_owned();
            let request = Request { character, clip: None, fps: 30, with: Vec::new() };
            let output = request.default_output();
            let proposal = request.scene_for(&output).map_err(|e| e.to_string())?;
            let text = with_switches(&proposal);
            Ok(with_text(Document::new(output, text, None), bell, number))
        }
        _ => {
            let path = PathBuf::from(what);
            // Reading through the scene reader keeps to its limits; mistakes in it are for the text pane.
            let text = match SceneFile::read(&path) {
                Ok(file) => file.text,
                Err(frisson_io::scene::ReadSceneError::Scene(error)) => error.text,
                Err(other) => return Err(other.to_string()),
            };
            Ok(with_text(Document::new(path, text.clone(), Some(text)), bell, number))
        }
    }
}

/// Opens a scene of the gallery, as a file of the folder that is not there yet.
pub(super) fn from_gallery(
    name: &str,
    folder: &Path,
    bell: &Arc<Bell>,
    number: u64,
) -> Result<Open, Refusal> {
    let found = GALLERY.iter().find(|(n, _)| *n == name);
    let (name, text) = found.ok_or("the gallery has no such scene")?;
    for (beside, bytes) in COMPANIONS.iter().filter(|(beside, _)| text.contains(beside)) {
        put_beside(&folder.join(beside), bytes)?;
    }
    let path = folder.join(format!("{name}.toml"));
    let there = std::fs::read_to_string(&path).ok().filter(|t| t == text);
    Ok(with_text(Document::new(path, (*text).to_owned(), there), bell, number))
}

/// Writes a file that a scene names, where nothing is there.
fn put_beside(path: &Path, bytes: &[u8]) -> Result<(), Refusal> {
    if path.exists() {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, bytes));
    written.map_err(|e| format!("{} cannot be written: {e}", path.display()))
}

fn with_text(document: Document, bell: &Arc<Bell>, number: u64) -> Open {
    let camera = document.parse().map(|s| s.scene.camera).unwrap_or_default();
    let engine = Engine::simulate(Arc::clone(bell), number % 8);
    Open {
        document: Some(document),
        cache: None,
        engine,
        compared: None,
        camera,
        draft: false,
        reveal: Reveal::default(),
        number,
    }
}
