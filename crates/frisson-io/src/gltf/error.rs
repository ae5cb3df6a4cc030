//! What can go wrong, named after the thing in the file.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::SourceError;
use crate::inputs::InputError;

/// Why a glTF file cannot be read or written.
#[derive(Debug, Error)]
pub enum GltfError {
    /// The disk says no.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// A file cannot be read, or is beyond a limit.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Neither a GLB container nor glTF JSON.
    #[error("not a glTF file: {0}")]
    NotGltf(String),
    /// The JSON part is not JSON.
    #[error("the JSON part cannot be parsed: {0}")]
    Json(#[from] serde_json::Error),
    /// Something in the file breaks the format's rules.
    #[error("{place}: {problem}")]
    Invalid {
        /// `accessor 12`, `mesh "Body"`, …
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Valid, but this reader cannot do it.
    #[error("{0}")]
    Unsupported(String),
    /// The file asks for far more memory than its size can justify.
    #[error("{place}: {problem}")]
    TooLarge {
        /// `accessor 12`, `mesh "Body"`, …
        place: String,
        /// How much it asked for.
        problem: String,
    },
    /// An output that is already there.
    #[error("{} already exists (ask for overwriting to replace it)", .0.display())]
    Exists(PathBuf),
    /// A frame of the shot cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}

impl GltfError {
    pub(super) fn invalid(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { place: place.into(), problem: problem.into() }
    }

    pub(super) fn too_large(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::TooLarge { place: place.into(), problem: problem.into() }
    }

    pub(super) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

pub(super) type Result<T> = std::result::Result<T, GltfError>;
