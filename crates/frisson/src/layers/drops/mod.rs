//! Liquid that runs on surfaces, merges, leaves trails and falls.
//!
//! Two models, kept apart (after P. Fournier, *Simulation de gouttes de liquide sur des surfaces*, 1997):
//! the **flow** says where a drop goes, as a point with a mass on a triangle mesh, in closed form and
//! double precision; the **shape** says what it looks like and has no effect on the flow.
//!
//! ```text
//!   source ─► face ⇄ edge ⇄ vertex      each stay in closed form; the first exit found for sure
//!               │  ▲
//!        let go ▼  │ land                when the outward pull exceeds D pi r²
//!              air ─► out of the scene   every kilogram is in the books: see [`Ledger`]
//! ```
//!
//! Limits: drops do not push each other, only merge; a film does not flow; shapes are those of
//! equilibrium.

mod arrival;
mod body;
mod body_forms;
mod body_grain;
mod body_mesh;
mod body_smooth;
mod build;
mod compact;
mod covered;
mod fall;
pub mod flow;
mod guide;
mod image;
mod layer;
mod leave_trails;
mod liquid;
mod meeting;
mod merge;
pub mod motion;
mod output;
mod params;
mod pencil;
mod pool;
mod pool_end;
mod pool_flow;
mod pool_mesh;
mod pool_ride;
mod pool_spill;
mod relief;
mod rest;
mod run;
mod run_groups;
mod scratch;
mod shape;
mod shape_solver;
mod sinks;
mod site;
mod source;
mod state;
mod step;
mod stream;
mod strip_cutter;
mod strip_mesh;
pub mod surface;
mod surface_build;
mod thread;
mod trail;
mod walk;
mod weight;
mod world;

#[cfg(test)]
mod tests;

pub use layer::DropsLayer;
pub use liquid::{Liquid, LiquidPreset};
pub use params::{
    AirParams, AxisParams, BeadParams, CondensationSource, DepositParams, Detail, DropsParams,
    GroundParams, GuideParams, LiquidParams, ListSource, MergingParams, Names, RainSource,
    RegionSource, ShapeParams, SingleSource, SinkParams, Solve, SourceParams, SplashParams,
    TrailParams,
};
pub use pool::{PoolParams, PoolRest, PoolState};
pub use pool_ride::{Motion, PatchPose};
pub use relief::Relief;
pub use rest::{DropsRest, GroundMap, SourceStart};
pub use scratch::DropsScratch;
pub use shape::{Shape, ShapeTable};
pub use state::{Droplet, DropsState, Ledger, Phase, Sum};
