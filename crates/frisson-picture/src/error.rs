//! Why a picture cannot be made.

use std::path::PathBuf;

use thiserror::Error;

/// Why a picture cannot be made.
#[derive(Debug, Error)]
pub enum PictureError {
    /// Nothing to look at.
    #[error("there is nothing to draw: the frame has no mesh, curve or point")]
    Empty,
    /// A coordinate is not a number.
    #[error("{shape:?} has a coordinate that is not finite, at element {element}")]
    NonFinite {
        /// Mesh, curves or points.
        shape: String,
        /// Vertex or point.
        element: usize,
    },
    /// Arrays of one shape disagree.
    #[error("{shape:?} is broken: {problem}")]
    Broken {
        /// Mesh, curves or points.
        shape: String,
        /// What is wrong.
        problem: String,
    },
    /// A size, count or angle that cannot be drawn.
    #[error("{what}: {problem}")]
    Option {
        /// The option.
        what: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// An overlay asks for an attribute that no shape carries.
    #[error("no shape has an attribute named {name:?}; there are: {existing}")]
    UnknownAttribute {
        /// The name asked for.
        name: String,
        /// Names that exist.
        existing: String,
    },
    /// Frames of an animation or panels of a comparison differ in size.
    #[error("the pictures differ in size: {0:?} and {1:?}")]
    SizesDiffer((u32, u32), (u32, u32)),
    /// A file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Bytes of a picture cannot be written.
    #[error("cannot write the picture: {0}")]
    Write(#[from] std::io::Error),
    /// The PNG encoder refused.
    #[error("cannot encode the picture: {0}")]
    Encode(#[from] png::EncodingError),
    /// The encoder of another format refused.
    #[error("cannot encode the animation: {0}")]
    Encoding(String),
    /// The PNG decoder refused.
    #[error("cannot read the picture: {0}")]
    Decode(#[from] png::DecodingError),
}
