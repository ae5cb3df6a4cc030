//! Measures of motion, from outside: what an animator would complain of.
//!
//! Everything here reads a baked shot ([`frisson_io::FrameSource`]): geometry and time, never the layer
//! that made them. So a layer cannot excuse itself, and bakes of other programs could be judged alike.
//!
//! ```text
//! cache ──► Gauge (one measure of one shape) ──► Reading (value, frame, element, place)
//!             │                                     │
//!             ├─ judge_shot: every shape, default limits ──► Findings
//!             └─ hold: the `[[expect]]` of a scene, baking variants where a measure needs them ──► Outcomes
//! ```
//!
//! - [`Gauge`] looks at one frame after the other; [`measure`] runs many over one pass of a cache.
//! - [`judge_shot`] asks the questions nobody has to write down: pops, jitter, stretch, penetration,
//!   crossings, pieces, stillness. [`Finding::close_up`] says where to look.
//! - [`hold`] holds a scene to its own promises; [`Bakery`] bakes it again without a layer, at another
//!   rate, longer.
//!
//! Work is spread over threads in tasks of fixed size and gathered in order: the same bits on any number.

mod bakery;
mod body;
mod bundles;
mod difference;
mod expect;
mod findings;
mod gauge;
mod groups;
mod in_between;
mod measure;
mod motion;
mod overlap;
mod pieces;
#[cfg(test)]
mod plain;
mod retime;
mod riding;
mod shape;
mod shells;
mod sides;
mod statistic;
mod stretch;
mod visible;
mod watch;

pub use bakery::{Bakery, Variant};
pub use body::Body;
pub use difference::difference;
pub use expect::{Held, Outcome, hold, is_slow};
pub use findings::{Apart, CloseUp, Finding, Judgement, Limits, compare_shots, judge_shot};
pub use gauge::{Gauge, Moment, unit};
pub use measure::{JudgeError, Request, Series, measure};
pub use shape::{Match, Shape, Snapshot};
pub use shells::in_shells;
pub use statistic::{Reading, Sample};
pub use visible::changed_share;
