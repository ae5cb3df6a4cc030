//! What can go wrong, in words a person can act on.

use std::path::{Path, PathBuf};

use frisson_io::SourceError;
use frisson_io::bake::BakeError;
use frisson_io::cache::CacheError;
use frisson_io::scene::{LoadError, ReadSceneError, SceneError};
use frisson_picture::PictureError;

/// Why a job of the workshop failed.
#[derive(Debug, thiserror::Error)]
pub enum WorkshopError {
    /// A scene file says something it may not.
    #[error(transparent)]
    Scene(Box<SceneError>),
    /// The simulation stopped: a number was not finite.
    #[error("{0}")]
    Simulation(String),
    /// Somebody asked to stop; nothing was left half written.
    #[error("stopped; nothing was left half written")]
    Stopped,
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Something is wrong with what was given.
    #[error("{text}")]
    Input {
        /// What.
        text: String,
        /// What to do.
        help: Option<String>,
    },
}

impl WorkshopError {
    /// Something is wrong with what was given.
    pub fn input(text: impl Into<String>) -> Self {
        Self::Input { text: text.into(), help: None }
    }

    /// The same, with what to do about it.
    pub fn advised(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Input { text: text.into(), help: Some(help.into()) }
    }

    /// A file operation that failed, with the file's name.
    pub fn file(path: &Path, error: std::io::Error) -> Self {
        Self::File { path: path.to_owned(), error }
    }

    /// Any other error, by its own words.
    pub(crate) fn of(error: impl std::fmt::Display) -> Self {
        Self::input(error.to_string())
    }
}

impl From<SceneError> for WorkshopError {
    fn from(error: SceneError) -> Self {
        Self::Scene(Box::new(error))
    }
}

impl From<ReadSceneError> for WorkshopError {
    fn from(error: ReadSceneError) -> Self {
        match error {
            ReadSceneError::Scene(error) => error.into(),
            file => Self::of(file),
        }
    }
}

impl From<BakeError> for WorkshopError {
    fn from(error: BakeError) -> Self {
        match error {
            BakeError::Scene(error) => error.into(),
            BakeError::Simulation { .. } => Self::Simulation(error.to_string()),
            other => Self::of(other),
        }
    }
}

impl From<CacheError> for WorkshopError {
    fn from(error: CacheError) -> Self {
        Self::of(error)
    }
}

impl From<SourceError> for WorkshopError {
    fn from(error: SourceError) -> Self {
        Self::of(error)
    }
}

impl From<PictureError> for WorkshopError {
    fn from(error: PictureError) -> Self {
        Self::of(error)
    }
}

impl From<LoadError> for WorkshopError {
    fn from(error: LoadError) -> Self {
        Self::of(error)
    }
}
