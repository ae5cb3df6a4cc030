//! What can go wrong with an export, in words a person can act on.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::ExportFormat;
use crate::gltf;
use crate::source::SourceError;

/// An export that did not happen; nothing is left under the final names.
#[derive(Debug, Error)]
pub enum ExportError {
    /// No format was named.
    #[error("an export needs a format: one of alembic, usd, pc2, mdd, obj, glb, png")]
    NoFormat,
    /// Two formats were named.
    #[error("an export writes one format, but both `{0}` and `{1}` are given: make two exports")]
    SeveralFormats(&'static str, &'static str),
    /// The extension is of no format we write.
    #[error("{}: no format has this extension (abc, usd, usdc, usda, pc2, mdd, obj, glb, png)", .0.display())]
    UnknownExtension(PathBuf),
    /// The path ends in no file name.
    #[error("{}: not the name of a file", .0.display())]
    NotAFile(PathBuf),
    /// The file is there already.
    #[error("{} exists already: choose another name or allow overwriting", .0.display())]
    Exists(PathBuf),
    /// The scale is no usable number.
    #[error("scale {0} is not between 1e-6 and 1e6")]
    BadScale(f32),
    /// There is no frame to write.
    #[error("there is no frame from {first} to {last}")]
    NoFrames {
        /// First frame asked for.
        first: i64,
        /// Last frame asked for.
        last: i64,
    },
    /// A shape that was asked for is in no frame.
    #[error("no shape is called `{name}`; there are: {known}")]
    NoSuchShape {
        /// The name.
        name: String,
        /// What there is.
        known: String,
    },
    /// The shot has nothing this format can hold.
    #[error("the shot has nothing that {0} can hold")]
    Nothing(ExportFormat),
    /// The format needs the same vertices in every frame.
    #[error(
        "`{mesh}` changes its vertices at frame {frame}, which {format} cannot hold: use Alembic or USD"
    )]
    ChangingTopology {
        /// The format.
        format: ExportFormat,
        /// The mesh.
        mesh: String,
        /// The first frame that differs.
        frame: i64,
    },
    /// A frame contradicts itself.
    #[error("frame {frame}, `{shape}`: {problem}")]
    Malformed {
        /// Frame number.
        frame: i64,
        /// Shape.
        shape: String,
        /// What is wrong.
        problem: String,
    },
    /// The shot cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file cannot be written.
    #[error("{}: {}", .path.display(), explain(.problem))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        problem: io::Error,
    },
    /// Writing failed; the file is not yet known.
    #[error("{}", explain(.0))]
    Write(#[from] io::Error),
    /// The listener asked to stop.
    #[error("stopped; nothing was written")]
    Stopped,
    /// There is no rig to keep.
    #[error("the rig cannot be kept: {0}")]
    NoRig(String),
    /// The GLB writer says no.
    #[error(transparent)]
    Gltf(gltf::GltfError),
}

fn explain(problem: &io::Error) -> String {
    match problem.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; nothing was left under this name".to_owned()
        }
        io::ErrorKind::ReadOnlyFilesystem => "the disk cannot be written to".to_owned(),
        io::ErrorKind::PermissionDenied => "no permission to write here".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is a file, not a folder".to_owned(),
        _ => problem.to_string(),
    }
}

impl From<gltf::GltfError> for ExportError {
    fn from(error: gltf::GltfError) -> Self {
        match error {
            gltf::GltfError::Stopped => Self::Stopped,
            gltf::GltfError::Exists(path) => Self::Exists(path),
            gltf::GltfError::Io { path, source } => Self::File { path, problem: source },
            other => Self::Gltf(other),
        }
    }
}

impl ExportError {
    pub(crate) fn at(path: &Path, problem: io::Error) -> Self {
        Self::File { path: path.to_owned(), problem }
    }

    pub(super) fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Write(problem) => Self::at(path, problem),
            other => other,
        }
    }
}
