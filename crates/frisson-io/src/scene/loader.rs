//! Where actors come from. The command line adds the built-in cast; files are read here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use frisson::character::Character;
use frisson::geometry::Mesh;
use frisson::stage::MeshSequence;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_128;

use crate::cache::{CacheReader, CacheSequence};
use crate::gltf;

/// An actor's source, read.
#[derive(Clone)]
pub struct LoadedActor {
    /// What was read.
    pub content: ActorContent,
    /// Hash of the source's bytes: a resumed bake must have the same.
    pub hash: u128,
}

/// What a source holds.
#[derive(Clone)]
pub enum ActorContent {
    /// A character with skeleton and clips.
    Character(Arc<Character>),
    /// Plain meshes.
    Meshes(Vec<Mesh>),
    /// Meshes given frame by frame, and how long they play [s].
    Sequence(Arc<dyn MeshSequence>, f64),
}

/// A source that cannot be read.
#[derive(Debug, Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("there is no file {}", .0.display())]
    Missing(PathBuf),
    /// The built-in cast refuses.
    #[error("{0}")]
    Builtin(String),
    /// Not a kind of file that actors come from.
    #[error(
        "{0:?} is not a source this program reads: give `builtin:NAME`, .glb, .gltf or .frisson"
    )]
    UnknownKind(String),
    /// The file is there and cannot be used.
    #[error("{source_name}: {problem}")]
    Unreadable {
        /// As spelled in the scene.
        source_name: String,
        /// What is wrong.
        problem: String,
    },
}

/// Hash of a source's bytes.
#[must_use]
pub fn source_hash(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

/// Reads actors' sources.
pub trait ActorLoader {
    /// Reads one source as spelled in a scene file that lies in `folder`.
    fn load(&self, source: &str, folder: &Path) -> Result<LoadedActor, LoadError>;
}

/// Reads files only.
pub struct FileLoader;

impl ActorLoader for FileLoader {
    fn load(&self, source: &str, folder: &Path) -> Result<LoadedActor, LoadError> {
        let path = folder.join(source);
        let extension =
            path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        let unreadable =
            |problem: String| LoadError::Unreadable { source_name: source.to_owned(), problem };
        if !["glb", "gltf", "frisson"].contains(&extension.as_str()) {
            return Err(LoadError::UnknownKind(source.to_owned()));
        }
        if !path.is_file() {
            return Err(LoadError::Missing(path));
        }
        if extension == "frisson" {
            let reader = CacheReader::open(&path).map_err(|e| unreadable(e.to_string()))?;
            let hash = reader.header().scene_hash;
            let sequence = CacheSequence::new(reader).map_err(|e| unreadable(e.to_string()))?;
            let seconds = sequence.seconds();
            return Ok(LoadedActor {
                content: ActorContent::Sequence(Arc::new(sequence), seconds),
                hash,
            });
        }
        let bytes = std::fs::read(&path).map_err(|e| unreadable(e.to_string()))?;
        let imported = gltf::read_file(&path).map_err(|e| unreadable(e.to_string()))?;
        Ok(LoadedActor {
            content: ActorContent::Character(Arc::new(imported.character)),
            hash: source_hash(&bytes),
        })
    }
}
