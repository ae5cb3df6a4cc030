//! Actors from the built-in cast or from files.

use std::path::Path;
use std::sync::Arc;

use frisson_io::scene::{ActorContent, ActorLoader, FileLoader, LoadError, LoadedActor};

/// `builtin:NAME` from the cast, everything else from files.
pub struct Loader;

impl ActorLoader for Loader {
    fn load(&self, source: &str, folder: &Path) -> Result<LoadedActor, LoadError> {
        match source.strip_prefix("builtin:") {
            Some(name) => load_builtin(name),
            None => FileLoader.load(source, folder),
        }
    }
}

fn load_builtin(name: &str) -> Result<LoadedActor, LoadError> {
    let character = frisson_models::build(name).map_err(|e| LoadError::Builtin(e.to_string()))?;
    // The cast is part of the program: its version says which.
    let identity = format!("{} {name}", env!("CARGO_PKG_VERSION"));
    let content = ActorContent::Character(Arc::new(character));
    Ok(LoadedActor::without_files(content, &identity))
}
