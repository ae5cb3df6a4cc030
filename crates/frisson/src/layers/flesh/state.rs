//! All that evolves: one spring, in translation and in rotation.

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Elongation of the spring and what it needs to go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FleshState {
    /// Elongation `u = Fd - Fs` [m].
    pub elongation: DVec3,
    /// Its velocity [m/s].
    pub velocity: DVec3,
    /// Rotation vector of the dynamic frame relative to the static one [rad].
    pub turn: DVec3,
    /// Its velocity [rad/s].
    pub turn_velocity: DVec3,
    /// Path of the static frame so far; `None` at the start and after a cut.
    pub path: Option<PathPoint>,
    /// Whether a loop was asked for and the hard limit kept it from closing.
    pub open_loop: bool,
    /// Springs of the links of a chain, from root to tip.
    pub links: Vec<FleshState>,
}

/// Where the static frame was at the last grid time, and how it moved over the interval before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathPoint {
    /// Position [m].
    pub position: DVec3,
    /// Orientation.
    pub rotation: DQuat,
    /// Mean velocity over the last interval [m/s].
    pub velocity: DVec3,
    /// Mean angular velocity over the last interval [rad/s].
    pub angular: DVec3,
}
