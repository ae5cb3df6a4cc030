//! The cache: the one truth about a baked shot.
//!
//! Append-only; one compressed, checksummed block per frame; checkpoints of all layer states now and
//! then; random access by frame. The same scene gives the same bytes, whatever the number of threads
//! and however often the bake was killed and resumed: no time, path or machine is written.
//!
//! `block` is the container, `codec` turns frames into bytes, `writer` and `reader` are the two ends.

mod block;
mod codec;
mod reader;
mod sequence;
mod writer;

use std::path::{Path, PathBuf};

use frisson::stage::Rate;
use serde::{Deserialize, Serialize};
use thiserror::Error;

#[doc(hidden)]
pub use block::seal;
pub use block::{Entry, Kind};
pub use reader::{CacheBytes, CacheReader, Damage};
pub use sequence::CacheSequence;
pub use writer::{CacheWriter, IfExists, ResumePoint};

/// What the shot is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheHeader {
    /// Version of the program that baked it.
    pub program: String,
    /// Hash of all that determines the motion.
    pub scene_hash: u128,
    /// Output rate.
    pub rate: Rate,
    /// First frame.
    pub first_frame: i64,
    /// Last frame that the bake is to make.
    pub last_frame: i64,
    /// Actors: name and source as spelled in the scene.
    pub sources: Vec<(String, String)>,
    /// Layers: kind and name, in the order of the stack.
    pub layers: Vec<(String, String)>,
    /// The scene file's text.
    pub scene_text: String,
}

/// Why a cache cannot be written or read.
#[derive(Debug, Error)]
pub enum CacheError {
    /// Another process writes it.
    #[error("another process is baking {}: wait for it, or stop it and use --resume", .0.display())]
    Locked(PathBuf),
    /// A finished cache is there.
    #[error("{} is already there: use --force to replace it when the new one is whole", .0.display())]
    Exists(PathBuf),
    /// An unfinished cache is there.
    #[error(
        "an unfinished bake of {} is there: go on with --resume, or start again with --force",
        .0.display()
    )]
    Unfinished(PathBuf),
    /// The unfinished cache is of another scene.
    #[error(
        "the scene, its sources or the program changed since the unfinished bake of {}: \
         start again with --force",
        .0.display()
    )]
    SceneChanged(PathBuf),
    /// Not a cache at all.
    #[error("{} is not a frisson cache", .0.display())]
    NotACache(PathBuf),
    /// Made by a later program.
    #[error("{} has cache version {version}, this program reads version 1", path.display())]
    Version {
        /// Which file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// The part everything else depends on is damaged.
    #[error("{} is damaged: {problem}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Something cannot be put into bytes.
    #[error("cannot write the {what} into {}: {problem}", path.display())]
    Encode {
        /// Which file.
        path: PathBuf,
        /// Header, report, frame or topology.
        what: &'static str,
        /// Why.
        problem: String,
    },
    /// The disk refused to take more.
    #[error(
        "cannot write {}: {error}; finished frames are kept, go on with --resume once there is room",
        path.display()
    )]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It may not be written there.
    #[error(transparent)]
    Output(#[from] crate::outputs::OutputError),
    /// Not a file, or none at all.
    #[error(transparent)]
    Input(#[from] crate::inputs::InputError),
    /// The file cannot be opened or read.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

impl From<std::io::Error> for CacheError {
    fn from(error: std::io::Error) -> Self {
        Self::Io { path: PathBuf::from("cache"), error }
    }
}

/// Where a cache lives until it is whole: `NAME.part`.
#[must_use]
pub fn part_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
