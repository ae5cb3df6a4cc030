//! Interpolating local refinement by the modified butterfly scheme.
//!
//! New points are fixed linear combinations (**stencils**) of the coarse mesh's points, those of
//! uniform subdivision; which triangles are emitted, and at which level, is a separate choice. A
//! frame is then a sparse product. Refined patches join the coarse mesh without cracks: a triangle
//! whose side is refined by its neighbour is split to take the neighbour's points.
//!
//! ```text
//!        w---c---w         regular edge a-b:   1/2 a, b    1/8 c, d    -1/16 wings w
//!         \ / \ /
//!          a---b           an end of valence k != 6: 3/4 of that end and k weights around it
//!         / \ / \
//!        w---d---w         border: -1/16, 9/16, 9/16, -1/16 along the border
//! ```
//!
//! Source: D. Zorin, P. Schröder, W. Sweldens, *Interpolating subdivision for meshes with arbitrary
//! topology* (1996).

mod cascade;
mod emit;
mod level;
mod patch;
mod refine;
mod rules;
mod stencils;

pub use cascade::{Cascade, Normals};
pub use emit::Emission;
pub use patch::{LiftedPoints, PatchSurface, RefinedMesh, vertices_of};
pub use refine::Refined;
pub use stencils::Stencils;

/// Deepest level that can be asked for: 4^6 = 4096 triangles for one.
pub const MAX_LEVEL: u8 = 6;

#[cfg(test)]
mod tests;
