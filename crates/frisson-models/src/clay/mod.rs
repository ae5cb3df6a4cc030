//! The modelling tool: limbs blended into one smooth body, skinned, painted and unwrapped.

mod field;
mod rig;
mod sculpt;
mod shapes;
mod unwrap;
mod weights;

pub(crate) use field::{Clay, Lens};
pub(crate) use rig::{Joint, Rig};
pub(crate) use sculpt::{Eye, Sculpture, normals};
pub(crate) use unwrap::Chart;
