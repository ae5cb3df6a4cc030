//! Reading USD: crate files (`.usdc`, `.usd`), text (`.usda`) and packages (`.usdz`), composed into one
//! scene; its meshes, curves and points at any time, and its skeletons as a character.
//!
//! From the bottom up: `bytes` a file that is read where it is needed · `binary` and `text` the two
//! encodings, both into a `layer` of specs with fields · `assets` files by the names that files give
//! them, in a folder or in a package · `stage` and `arcs` layers composed (sublayers, inherits, chosen variants,
//! references, payloads) into prims · `attribute` values at a time · `transform` where prims are ·
//! `file` shapes at a time · `character` skeletons, skins, blend shapes and clips.
//!
//! Nothing in a file is trusted: every position and count is checked against the bytes that are
//! there, nesting is bounded, and what a file names again and again is counted against the limits.
//! Left out, with a remark: value clips, instancers, shapes given by formula (spheres, cubes), NURBS; and
//! without one: values given by splines.

mod arcs;
mod assets;
mod attribute;
mod binary;
mod bytes;
mod character;
mod clips;
mod file;
mod layer;
mod look;
mod shapes;
mod skin;
mod stage;
mod strands;
mod text;
mod transform;

#[cfg(test)]
mod tests;

pub use crate::shape_file::ShapeInfo;
pub use character::read_usd_character;
pub use file::UsdFile;

use thiserror::Error;

/// The meshes of a USD file as an actor.
pub type UsdMeshes = crate::shape_file::FileMeshes<UsdFile>;

/// Why a USD file cannot be read.
#[derive(Debug, Error)]
pub enum UsdError {
    /// The file cannot be used as an input, or the disk says no.
    #[error(transparent)]
    Input(#[from] crate::inputs::InputError),
    /// Another kind of file, or one of another time.
    #[error("{0}")]
    NotUsd(String),
    /// The file contradicts itself.
    #[error("{place}: {problem}")]
    Damaged {
        /// Section, prim or line.
        place: String,
        /// What is wrong.
        problem: String,
    },
}

impl UsdError {
    fn damaged(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Damaged { place: place.into(), problem: problem.into() }
    }
}

type Result<T> = std::result::Result<T, UsdError>;
