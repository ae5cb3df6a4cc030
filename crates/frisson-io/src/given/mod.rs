//! Shapes that are given over time by files: meshes that play as actors, curves that guide hair,
//! points that feed drops.
//!
//! [`open`] takes any file this program reads shapes from and answers what is in it. Everything comes
//! right-handed with Y up, in the file's own unit of length; an actor's placement brings it to metres. USD
//! files say what their unit is: they come in metres.
//!
//! ```text
//! .abc ─ AlembicFile ┐
//! .usd[acz] ─ UsdFile┤
//! .obj, cat.####.obj ├─► Given { meshes: MeshSequence, curves: CurveSequence, points: PointSequence }
//! .pc2 .mdd + mesh   ┘
//! ```

mod numbers;
mod obj;
mod obj_sequence;
mod point_cache;
mod sampled;
mod shapes;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use frisson::stage::{Curves, MeshSequence, Points};
use thiserror::Error;

use crate::inputs::InputSet;

pub use obj::{ObjError, ObjScene, read_obj};
pub use obj_sequence::{frame_file, is_pattern};
pub use point_cache::{PointCache, cached_meshes};
pub use sampled::{SampleSource, SampledMeshes};

/// Curves given over time: guides for hair.
pub trait CurveSequence: Send + Sync {
    /// Name in the file.
    fn name(&self) -> &str;
    /// The curves at a time [s]; none where they are hidden.
    fn curves_at(&self, time: f64) -> Result<Curves, GivenError>;
}

/// Points given over time: sources of drops.
pub trait PointSequence: Send + Sync {
    /// Name in the file.
    fn name(&self) -> &str;
    /// The points at a time [s]; none where they are hidden.
    fn points_at(&self, time: f64) -> Result<Points, GivenError>;
}

/// What a file gives.
#[derive(Clone, Default)]
pub struct Given {
    /// Meshes of constant topology, as one actor; nothing if there are none.
    pub meshes: Option<Arc<dyn MeshSequence>>,
    /// Sets of curves.
    pub curves: Vec<Arc<dyn CurveSequence>>,
    /// Sets of points.
    pub points: Vec<Arc<dyn PointSequence>>,
    /// Time of the last sample [s]; 0 for what stands still.
    pub seconds: f64,
    /// What was left out, for people.
    pub warnings: Vec<String>,
}

/// Why a file gives nothing.
#[derive(Debug, Error)]
pub enum GivenError {
    /// The file cannot be used as an input, or the disk says no.
    #[error(transparent)]
    Input(#[from] crate::inputs::InputError),
    /// The Alembic reader says no.
    #[error(transparent)]
    Alembic(#[from] crate::alembic::input::AlembicError),
    /// The USD reader says no.
    #[error(transparent)]
    Usd(#[from] crate::usd::input::UsdError),
    /// The OBJ reader says no.
    #[error("{}: {problem}", path.display())]
    Obj {
        /// Which file of the sequence.
        path: PathBuf,
        /// What is wrong.
        problem: ObjError,
    },
    /// A file that contradicts itself or its sequence.
    #[error("{}: {problem}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Not a kind of file that gives shapes.
    #[error("{}: shapes over time come from .abc, .usd, .usda, .usdc, .usdz, .obj, or NAME.####.obj", .0.display())]
    UnknownKind(PathBuf),
}

impl GivenError {
    fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.into() }
    }

    fn io(path: &Path, problem: std::io::Error) -> Self {
        Self::Input(crate::inputs::InputError::Io { path: path.to_owned(), error: problem })
    }
}

/// Opens a file that gives shapes. `fps` turns the numbers of a sequence of files into times; frame 0
/// is time 0.
pub fn open(path: &Path, fps: f64, inputs: &InputSet) -> Result<Given, GivenError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "abc" => shapes::open_alembic(path, inputs),
        "usd" | "usda" | "usdc" | "usdz" => shapes::open_usd(path, inputs),
        "obj" => obj_sequence::open(path, fps, inputs),
        _ => Err(GivenError::UnknownKind(path.to_owned())),
    }
}
