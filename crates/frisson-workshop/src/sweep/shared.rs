//! Actors that many variants share: each source is read once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use frisson_io::scene::{ActorLoader, LoadError, LoadedActor};

use crate::Loader;

/// Reads every source of a scene once, from the scene's folder, wherever the variant's own file lies.
pub struct SharedLoader {
    folder: PathBuf,
    read: Mutex<Vec<(String, LoadedActor)>>,
}

impl SharedLoader {
    /// Nothing is read yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), read: Mutex::default() }
    }
}

impl ActorLoader for SharedLoader {
    fn load(&self, source: &str, _folder: &Path) -> Result<LoadedActor, LoadError> {
        // Held while reading: the others need the same file, and would only read it again.
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, actor)) = read.iter().find(|(name, _)| name == source) {
            return Ok(actor.clone());
        }
        let actor = Loader.load(source, &self.folder)?;
        read.push((source.to_owned(), actor.clone()));
        Ok(actor)
    }
}
