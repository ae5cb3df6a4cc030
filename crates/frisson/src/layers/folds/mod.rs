//! Drawn folds laid over any moving mesh.
//!
//! ```text
//!       _           r > 1 (stretched across): flattens      ___
//!    __/ \__   -->  r < 1 (compressed): rises          --> _/ \_
//! ```
//!
//! A fold is a curve on the mesh with an amplitude and a width. Triangles near it are refined by the
//! butterfly scheme (`geometry::butterfly`) and displaced along their normals once; every edge then
//! knows its drawn stretch `r0`. Each step, the stretch `r` of the mesh across the curve gives each
//! vertex a factor (`factor`, from the flat tables of `fold_tables` and `stretch_response`): 1 as drawn, 0
//! when the mesh is stretched as far as the fold is long, more than 1 when it is compressed. With
//! `conserve = "length"` the factor keeps the length of every cross-section (`section`).
//!
//! Source: M. Laprade, *Traitement interactif de plis dans la simulation de tissus* (2007), chapters 5 to 7.
//!
//! Limits: the mesh must keep its triangles until this layer; a fold does not push the mesh back.

mod buckling;
mod build;
mod factor;
mod fine_mesh;
mod fold_crossings;
mod fold_tables;
mod layer;
mod params;
mod rest;
mod scratch;
mod section;
mod state;
mod step;
mod stretch_response;
mod surface_curve;

pub use layer::FoldsLayer;
pub use params::{
    Buckling, BucklingFold, Conserve, FactorLaw, Fold, FoldAttenuation, FoldsParams, RestSurface,
};
pub use rest::FoldsRest;
pub use scratch::FoldsScratch;
pub use state::FoldsState;

#[cfg(test)]
mod tests;
