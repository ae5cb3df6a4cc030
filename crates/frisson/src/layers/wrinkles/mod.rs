//! Skin and tight clothes that fold where the animation compresses them.
//!
//! ```text
//!      A            B          A        B
//!      o------------o    -->   o-/\-/\--o      the line keeps its length: folds rise across it
//! ```
//!
//! A tool is a line on the mesh between two vertices. Its control curve (`curve`) is a thread of
//! constant length in the plane of the line and the surface's normal; when the ends come nearer, the
//! thread rises in bumps. The heights are carried to every point of the region around the line
//! (`region`), fading to the sides, along the point's own normal. Under the tools the mesh is
//! refined by the butterfly scheme (`geometry::butterfly`): topology once, then a sparse product per
//! frame.
//!
//! Source: C. Larboulette, M.-P. Cani, B. Arnaldi, *Ajout de détails dynamiques à une animation
//! temps-réel de personnage* (2006), section 3.
//!
//! Limits: the mesh must keep its triangles until this layer; folds of one tool never lean over.

mod attributes;
mod build;
mod bumps;
mod curve;
mod layer;
mod length;
mod params;
mod propose;
mod region;
mod rest;
mod scratch;
mod state;
mod step;

pub use curve::{ControlCurve, CurveShape};
pub use layer::WrinklesLayer;
pub use params::{
    Direction, Emit, Jitter, Profile, RestLength, SideAttenuation, Strategy, WrinkleLevel,
    WrinkleTool, WrinklesParams,
};
pub use propose::{ToolProposal, propose_tools};
pub use rest::{Influence, ToolRest, WrinklesRest};
pub use scratch::WrinklesScratch;
pub use state::WrinklesState;

#[cfg(test)]
mod tests;
