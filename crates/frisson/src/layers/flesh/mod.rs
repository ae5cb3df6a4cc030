//! Flesh that lags, swings and settles on a skinned, animated character.
//!
//! ```text
//!            u (elongation)
//!      Fs o~~~~~~~~~~~~o Fd      a mass on a damped spring, carried by the joint
//!   D o---+---o C                virtual bone from D to the middle of the C's
//!    (.........)                 vertices around it move by alpha u
//! ```
//!
//! An element is a dominant joint `D`, joints `C` below it and the vertices around the virtual bone
//! between them. Only the elongation `u` reaches the mesh: `P = P_skinned + alpha u`, with weights
//! `alpha` that are 0 at both ends of the bone and grow with the depth of flesh, so that no vertex
//! moves further than the flesh between it and the bone. The spring is advanced in closed form
//! (`math::oscillator`) on a fixed grid: any stiffness is stable and every frame rate gives the same
//! motion.
//!
//! Where the limit leaves room, weights are rounded off near the deepest flesh, so that a wide swing does
//! not end in a point; with `volume`, flesh narrows where it swings out (`volume`).
//!
//! With `chain` every joint from `from` to `to` is an element of its own, carried by its parent as that has
//! moved: tails, ears and antennae whip (`chain`).
//!
//! Source: C. Larboulette, M.-P. Cani, B. Arnaldi, *Ajout de détails dynamiques à une animation
//! temps-réel de personnage* (2006), sections 2 and 4.
//!
//! Limits: flesh does not collide, and elements that overlap share the smallest of their depths.

mod anatomy;
mod build;
mod chain;
mod layer;
mod params;
mod path;
mod propose;
mod pull;
mod rest;
mod scratch;
mod spring;
mod state;
mod step;
mod swing;
mod volume;
mod weights;

pub use layer::FleshLayer;
pub use params::{Attenuation, BoneEnd, FleshParams, LimitKind, OffsetEnd, ShapeCurve};
pub use propose::{FleshProposal, propose};
pub use rest::{FleshRest, FleshWeights};
pub use scratch::FleshScratch;
pub use state::FleshState;
pub use swing::FleshSwing;
pub use volume::FleshVolume;

#[cfg(test)]
mod tests;
