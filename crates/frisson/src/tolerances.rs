//! Every threshold of the engine: its unit, its reason, and what breaks if it moves.
//!
//! One file per subject; what every subject needs stands here.

pub mod cloth;
pub mod drops;
pub mod flesh;
pub mod folds;
pub mod geometry;
pub mod hair;
pub mod isosurface;
pub mod math;
pub mod nothing;
pub mod soft;
pub mod stage;
pub mod wrinkles;

mod guard;

pub use guard::*;

/// Positions closer than this fraction of the mesh's diagonal are one point [-].
///
/// Exporters split vertices at uv seams and write bit-equal copies; this only has to absorb the rounding of
/// what moves them, and stays below the steps of quantised formats (16 bits: 1.5e-5 of the box). Larger, and
/// thin eyelids weld shut.
pub const WELD_FRACTION: f32 = 1.0e-6;

/// A triangle with less area than this times its longest edge squared is degenerate [-].
///
/// Below it, f32 normals have no correct digit. Larger, and legitimate slivers lose their normal.
pub const DEGENERATE_AREA_FRACTION: f32 = 1.0e-7;

/// Shortest vector that has a direction [m]. Below it, normalising amplifies rounding noise.
pub const MIN_LENGTH: f32 = 1.0e-12;
