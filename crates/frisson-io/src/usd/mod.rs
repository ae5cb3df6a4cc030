//! USD, written and read by ourselves. Reading is in [`input`]; here is a writer that streams: arrays go to the file as they come, the tree of prims at the end.
//!
//! [`Layer`] is what a file holds; [`BinaryWriter`] (`.usdc`) and [`TextWriter`] (`.usda`) are its two
//! encodings; `write_shot` makes a layer of a Frisson shot:
//!
//! ```text
//! /World (Xform) ─ cat (Mesh) ─ GeomSubsets where there are several materials
//!                ├ hair (BasisCurves)    ├ spray (Points)
//!                └ Materials (Scope) ─ skin (Material) ─ Surface (UsdPreviewSurface)
//! ```
//!
//! Parts of a shot that were written by themselves are put together by value clips (`clips`).
//!
//! Time code = frame number. A shape that is not in a frame has empty arrays there.

mod binary;
mod clips;
pub mod input;
mod integers;
mod layer;
mod materials;
mod shot;
mod text;
mod track;

#[cfg(test)]
mod tests;

pub use binary::BinaryWriter;
pub use clips::{Part, parts, stitched_root};
pub use layer::{ArrayData, ArrayId, Layer, LayerWriter, Metadata, Prim, Property, Value};
pub(crate) use shot::write_shot;
pub use text::{TEXT_LIMIT_MB, TextWriter};
