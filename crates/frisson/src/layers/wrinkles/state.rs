//! All that evolves: the planes of lines that are followed frame by frame, and what the report shows.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// What a resumed bake must know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrinklesState {
    /// Height of the highest fold of each tool at the last step [m], for the report.
    pub peaks: Vec<f64>,
    /// Missing length of each tool as a fraction of its full length, for the report.
    pub compressions: Vec<f64>,
    /// Last good normal of each segment of each tool: what a degenerate plane falls back to.
    pub planes: Vec<Vec<Vec3>>,
}
