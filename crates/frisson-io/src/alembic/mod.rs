//! An Alembic writer (Ogawa container) that streams: samples go to the file as they come. Its reader
//! is [`input`].
//!
//! From the bottom up:
//! [`Ogawa`] nested groups of bytes · [`Archive`] objects, properties, time samplings, equal samples
//! stored once · [`PolyMesh`], [`FaceSet`], [`Curves`], [`Points`] the schemas hosts understand ·
//! `write_shot` a whole Frisson shot.
//!
//! ```text
//! ABC ─ cat (Xform) ─ catShape (PolyMesh) ─ .geom ─ .selfBnds P .faceIndices .faceCounts uv N …
//! ```
//!
//! Only the bridge `shot` knows Frisson; the rest needs `bytemuck` and `xxhash` alone.
//!
//! What readers insist on, and cannot be seen in the file:
//! faces are clockwise seen from outside; every property of a schema has one sample per frame;
//! one malformed property makes some hosts abort, so all sizes are checked before writing.

mod archive;
mod geometry;
pub mod input;
mod metadata;
mod ogawa;
mod property;
mod schemas;
mod shot;

#[cfg(test)]
pub(crate) mod reader;
#[cfg(test)]
mod tests;

pub use archive::{Archive, CompoundId, ObjectId, PropertyId, SamplingId};
pub use geometry::{Appearance, Parameter, ParameterType, Schema, Scope, add_identity_xform};
pub use ogawa::{Child, Ogawa};
pub use property::{DataType, Pod, SampleType, Shape};
pub use schemas::{
    Curves, CurvesSample, FaceSet, Faces, Points, PointsSample, PolyMesh, PolyMeshSample,
};
pub(crate) use shot::write_shot;
