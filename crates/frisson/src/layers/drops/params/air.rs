//! Letting go, falling, landing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Letting go, falling, landing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AirParams {
    /// Least time before a drop may touch again what it let go of [s].
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.2], "x-group" = "Air"))]
    pub least_time: f64,
    /// A drop must be this much inside what adhesion can hold to land on an overhang [-].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Air"))]
    pub hysteresis: f64,
    /// Part of a drop that stays when it drips from an edge or a vertex [-].
    #[schemars(range(min = 0.0, max = 0.95))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.5], "x-group" = "Air"))]
    pub remainder: f64,
    /// Rate at which the air slows a falling drop [1/s].
    #[schemars(range(min = 0.0, max = 1e4))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 5], "x-group" = "Air"))]
    pub drag: f64,
    /// Droplets on landing.
    #[schemars(extend("x-group" = "Splash"))]
    pub splash: Option<SplashParams>,
    /// How far outside the surfaces' box a drop is gone [m].
    #[schemars(range(min = 0.0, max = 1e6))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 10], "x-group" = "Air"))]
    pub margin: f32,
    /// Time over which a drop feels the surface's acceleration [s]; shorter jerks do not throw it.
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.2], "x-group" = "Air"))]
    pub response: f64,
    /// A surface that moves faster than this has been cut, not moved [m/s].
    #[schemars(range(min = 0.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1, 200], "x-log" = true, "x-group" = "Air"))]
    pub teleport_speed: f64,
}

impl Default for AirParams {
    fn default() -> Self {
        Self {
            least_time: 0.02,
            hysteresis: 0.2,
            remainder: 0.1,
            drag: 0.1,
            splash: None,
            margin: 1.0,
            response: 0.02,
            teleport_speed: 40.0,
        }
    }
}

/// Droplets on landing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SplashParams {
    /// Least speed against the surface [m/s].
    #[schemars(range(min = 0.0, max = 1e4))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 10], "x-group" = "Splash"))]
    pub speed: f64,
    /// Number of droplets.
    #[schemars(range(min = 1, max = 64))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1, 20], "x-group" = "Splash"))]
    pub droplets: u32,
    /// Part of the drop's mass they take together [-].
    #[schemars(range(min = 0.0, max = 0.9))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.9], "x-group" = "Splash"))]
    pub share: f64,
    /// Their speed, as a part of the landing speed [-].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Splash"))]
    pub bounce: f64,
}

impl Default for SplashParams {
    fn default() -> Self {
        Self { speed: 1.5, droplets: 5, share: 0.2, bounce: 0.25 }
    }
}
