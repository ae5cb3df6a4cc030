//! Actors from the built-in cast or from files.

use std::path::Path;

use frisson_io::scene::{ActorLoader, FileLoader, LoadError, LoadedActor};

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
    Err(LoadError::UnknownBuiltin { name: name.to_owned(), nearest: None })
}
