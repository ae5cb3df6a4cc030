//! Simulated garments: position-based, small steps.
//!
//! Every tick is cut into small steps; each predicts, solves every constraint once and takes the
//! velocity from the positions (Müller et al. 2006; Macklin et al. 2016, 2019). Compliances come
//! from the fabric's moduli, so neither the step nor the mesh changes what the cloth is made of.
//!
//! ```text
//!  bodies, pins ─► hold ─► predict + tethers ─► stretch, shear, bend ─► pressure ─► self ─► contacts
//!                  └───────────────────── sub-steps ────────────────────────────────────────┘
//! ```
//!
//! Bodies are felt by the nodes and by the triangles between them (corner of a body against triangle of
//! cloth). Limits: an edge of a body finer than the cloth's mesh may cut into an edge of the cloth by
//! part of its thickness.

mod air;
mod around;
mod attach;
mod bend;
mod body;
mod body_contacts;
mod build;
mod build_cloth;
mod caught;
mod collide;
mod contact_pass;
mod contact_slabs;
mod crease;
mod cycle;
mod dress;
mod effort;
mod flat_contact;
mod hierarchy;
mod holding;
mod lanes;
mod layer;
mod local;
mod lookup;
mod material;
mod node_places;
mod outside;
mod packed_triangles;
mod params;
mod pieces;
mod plane_sides;
mod pressed;
mod pressing;
mod pressure;
mod pulled;
mod put_on;
mod refine;
mod rest;
mod rest_rows;
mod ridges;
mod roll;
mod rows;
mod scratch;
mod self_contact;
mod separation;
mod settings;
mod settle;
mod sew;
mod shear;
mod soaking;
mod solver;
mod state;
mod step;
mod stiff;
mod stretch;
mod strips;
mod sunk;
mod sweeps;
mod tangle;
mod tear;
#[cfg(test)]
mod tests;
mod tether;
mod together;
mod tree;

pub use layer::ClothLayer;
pub use material::{Fabric, Moduli};
pub use params::{
    ClothAttachment, ClothBeside, ClothCompanion, ClothCycle, ClothParams, ClothRegion, ClothSeam,
    ClothSewing, RestAngles, Threads,
};
pub use rest::Garment;
pub use scratch::ClothScratch;
pub use state::ClothState;
