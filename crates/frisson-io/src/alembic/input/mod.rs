//! Reading Alembic (Ogawa): meshes with constant or changing topology, curves, points, under
//! transforms and visibility, at any time.
//!
//! From the bottom up: `bytes` groups and blocks, checked against the file's size · `archive` objects
//! and properties · `values` numbers of a sample · `sampling` times · `transform` where things are ·
//! `file` shapes at a time.
//!
//! Nothing in a file is trusted: every position and count is checked against the bytes that are
//! there, nesting is bounded, and a file that names the same part again and again is refused before
//! it fills the memory.

mod archive;
mod bytes;
mod file;
mod gather;
mod sampling;
mod transform;
mod values;

#[cfg(test)]
mod tests;

pub use crate::shape_file::ShapeInfo;
pub use file::AlembicFile;

use thiserror::Error;

/// The meshes of an Alembic file as an actor.
pub type AlembicMeshes = crate::shape_file::FileMeshes<AlembicFile>;

/// Why an Alembic file cannot be read.
#[derive(Debug, Error)]
pub enum AlembicError {
    /// The file cannot be used as an input, or the disk says no.
    #[error(transparent)]
    Input(#[from] crate::inputs::InputError),
    /// Another container.
    #[error("{0}")]
    NotOgawa(&'static str),
    /// The file contradicts itself.
    #[error("{place}: {problem}")]
    Damaged {
        /// Object or property.
        place: String,
        /// What is wrong.
        problem: String,
    },
}

impl AlembicError {
    fn damaged(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Damaged { place: place.into(), problem: problem.into() }
    }
}

type Result<T> = std::result::Result<T, AlembicError>;
