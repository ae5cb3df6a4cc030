//! Simulated garments: position-based, small steps.
//!
//! Every tick is cut into small steps; each predicts, solves every constraint once and takes the
//! velocity from the positions (Müller et al. 2006; Macklin et al. 2016, 2019). Compliances come
//! from the fabric's moduli, so neither the step nor the mesh changes what the cloth is made of.
//!
//! ```text
//!  bodies, pins ─► hold ─► predict + tethers ─► stretch, shear, bend ─► pressure ─► self ─► touch
//!                  └───────────────────── sub-steps ────────────────────────────────────────┘
//! ```
//!
//! Limits: contacts with bodies are at nodes (and at samples between them, if asked for), so a spike finer
//! than the cloth's mesh can poke through.

mod air;
mod attach;
mod bend;
mod body;
mod collide;
mod dress;
mod hierarchy;
mod lanes;
mod leaf;
mod material;
mod params;
mod pressure;
mod rest;
mod ridges;
mod samples;
mod selfs;
mod shear;
mod solver;
mod state;
mod step;
mod stretch;
mod strips;
mod tangle;
#[cfg(test)]
mod tests;
mod tether;
mod touch;
mod tree;

pub use material::{Fabric, Moduli};
pub use params::{ClothAttachment, ClothParams, ClothRidge, ClothSeam, RestAngles, Threads};
pub use step::Cloth;
