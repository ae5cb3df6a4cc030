//! Deformable wisps that lean, rub, tangle and split.
//!
//! A wisp is a chain of particles in an elastic envelope; the visible hairs are pure functions of it
//! and of their own number. Some hundred wisps move like a head of hair, because wisps act on each
//! other as bodies of hair do: those that cross slide through with friction, those that meet head-on
//! collide, and a wisp torn wide by its motion splits in two.
//!
//! ```text
//!   skin ──o───o────o────o────o   skeleton (particles 0 and 1 are carried by the skin)
//!             ─┼─  ─┼─  ─┼─  ─┼─   planes with envelope samples on their half-axes
//! ```
//!
//! Source: E. Plante, *La modélisation et l'animation de cheveux par mèches déformables* (Université
//! de Montréal, 1999). Kept: skeleton, envelope, procedural hairs, oriented contact, splitting.
//! Changed: an implicit chain instead of 9000 explicit steps a second, action equals reaction in
//! every contact, friction that does not depend on rates, wisps that merge again, contact with the
//! real mesh, wind that hair and body shield, torsion, wet hair, a style that does not sag.

mod air;
mod around;
mod balance;
mod beneath;
mod blocks;
mod bodies;
mod body_ways;
mod bonds;
mod build;
mod chain;
mod chain_solve;
mod contact;
mod curve;
mod detail;
mod envelope;
mod fit;
mod four_hairs;
mod guides;
mod head;
mod impulse;
mod interact;
mod lanes;
mod layer;
mod laying;
mod look;
mod memory;
mod mesh_contact;
mod outline;
mod overlap;
mod params;
mod planes;
mod presets;
mod rest;
mod ridges;
mod roots;
mod scratch;
mod sections;
mod shapes;
mod show;
mod soaking;
mod split;
mod state;
mod step;
mod strand_params;
mod strand_planes;
mod strands;
mod style;
mod style_params;
#[cfg(test)]
mod tests;
mod thinning;
mod tick;
mod ties;
mod twist;
mod wind;

use crate::tolerances::hair as limits;

pub use layer::HairLayer;
pub use params::{BodyParams, EnvelopeParams, HairParams, InteractionParams, SplitParams};
pub use presets::StylePreset;
pub use rest::HairRest;
pub use scratch::HairScratch;
pub use state::HairState;
pub use strand_params::StrandParams;
pub use style_params::{BraidParams, CutParams, StyleField, StyleParams, TieParams};
