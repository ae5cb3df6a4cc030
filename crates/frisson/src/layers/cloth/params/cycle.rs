//! Motion that is to repeat.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::require;
use crate::stage::LayerError;

/// Frames that are played over and over. Towards the end of the cycle the cloth is led over to how it moved one
/// cycle before, so the motion under it must be a cycle of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothCycle {
    /// First frame of the cycle; the shot begins at least `blend` frames before it, better a whole cycle.
    #[schemars(extend("x-change" = "restart", "x-group" = "Cycle"))]
    pub from_frame: f64,
    /// Frame that is the first one again.
    #[schemars(extend("x-change" = "restart", "x-group" = "Cycle"))]
    pub until_frame: f64,
    /// Frames in which the cloth is led over.
    #[serde(default = "default_cycle_blend")]
    #[schemars(range(min = 1.0, max = 10000.0))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [1.0, 60.0], "x-group" = "Cycle"))]
    pub blend: f64,
}

fn default_cycle_blend() -> f64 {
    10.0
}

impl ClothCycle {
    pub(super) fn validate(&self) -> Result<(), LayerError> {
        let Self { from_frame, until_frame, blend } = *self;
        let sound = from_frame.is_finite() && until_frame.is_finite() && until_frame > from_frame;
        require("cycle.until_frame", sound, until_frame, "after `from_frame`")?;
        let sound = blend >= 1.0 && blend <= until_frame - from_frame;
        require("cycle.blend", sound, blend, "1 or more, and no longer than the cycle")
    }
}
