//! A folder for bakes that only serve to be measured.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, file_error};

/// A folder of the system's, removed at the end, or one that was given and stays.
pub struct Scratch {
    path: PathBuf,
    is_ours: bool,
}

impl Scratch {
    /// A new folder.
    pub fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("frisson-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|e| file_error(&path, &e))?;
        Ok(Self { path, is_ours: true })
    }

    /// A folder that stays, made if need be.
    pub fn kept(path: &Path) -> Result<Self, Failure> {
        std::fs::create_dir_all(path).map_err(|e| file_error(path, &e))?;
        Ok(Self { path: path.to_owned(), is_ours: false })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.is_ours {
            // Best effort: a folder left in the system's temporary files is no reason to fail.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
