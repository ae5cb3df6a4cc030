//! Soft bodies: an internal structure in an implicit coat.
//!
//! ```text
//!      _______   _______
//!     /   A   \|/   B   \      two coats press: both surfaces become f_A = f_B
//!    |    o    |    o    |     seeds (-) slide from each primitive (o) to the surface;
//!     \___|___/|\___|___/      the field above its iso-value is the pressure there
//! ```
//!
//! Primitives (points, segments, polylines, triangles) hang on bones, particles or keys. Each has a
//! field of the distance to it ([`FieldProfile`]); fields add up along the blending graph; the surface is where
//! they reach the layer's level. A step moves the structure by the forces it knows, carries the coat
//! along, slides the seeds to the new surface, and gets from them the contact forces, the volume of
//! each territory (and so the controllers' corrections), and which pieces part or fuse. A step in
//! which a contact deepens too fast is taken back and made shorter.
//!
//! Particles of a dough are balls until they are pressed: then they are flattened for good (`shape.rs`).
//!
//! A coat that is fitted to a skin shows the skin itself, by its distance, and not the balls that carry
//! it.
//!
//! Source: M. Desbrun, M.-P. Gascuel, *Animation d'objets déformables à l'aide de surfaces
//! implicites* (1996); contact after M.-P. Gascuel, *An implicit formulation for precise contact
//! modeling between flexible solids* (1993).
//!
//! Limits: forces on a fitted coat are those of its balls, not of the skin that is shown; joints of
//! articulated figures are balls and hinges; tools are infinitely stiff; outside a contact the coat does
//! not bulge by itself, only through the volume controller; objects that may fuse share one mesh; a weld
//! holds rigid bodies at a point, not against turning about it.

mod build;
mod build_coats;
mod build_links;
mod build_objects;
mod bulge;
mod contact;
mod diagonals;
mod dough;
mod drawn;
mod field;
mod field_scratch;
mod fit;
mod follow;
mod fracture;
mod grip;
mod joints;
mod keep_apart;
mod label;
mod layer;
mod loads;
mod meshes;
mod neighbourhood;
mod params;
mod preview;
mod primitive_fields;
mod rest;
mod rims;
mod sample;
mod scratch;
mod seeds;
mod shape;
mod skin;
mod skin_field;
mod skin_place;
mod skin_whole;
mod slide;
mod specks;
mod state;
mod step;
mod structure;
mod surface;
mod surface_part;
mod tick;
mod tool;
mod touch;
mod travel;
mod untangle;
mod volume;
mod weld;

pub use field::FieldProfile;
pub use layer::SoftLayer;
pub use params::{
    BoneParams, CoatBone, CoatParams, DoughParams, PrimitiveParams, SoftObject, SoftParams,
    SoftSurface,
};
pub use rest::SoftRest;
pub use scratch::SoftScratch;
pub use state::SoftState;

#[cfg(test)]
mod tests;
