//! What running drops leave behind, and how it dries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::Animated;

/// What a running drop leaves behind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrailParams {
    /// Whether running drops wet the surface: film, smoothing, `wetness` attribute.
    #[schemars(extend("x-change" = "live", "x-group" = "Trails"))]
    pub enabled: bool,
    /// Writes the trails as a mesh (`<name>.trails`).
    #[schemars(extend("x-change" = "live", "x-group" = "Trails"))]
    pub mesh: bool,
    /// Side of the wetness image in the mesh's uv, in pixels; 0 for none.
    #[schemars(range(min = 0, max = 8192))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [0, 2048], "x-group" = "Trails"))]
    pub image: u32,
    /// Time in which a film and the wetness dry to a third [s].
    #[schemars(range(min = 0.001, max = 1e9))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.1, 600], "x-log" = true, "x-group" = "Trails"))]
    pub drying: f64,
    /// How unevenly they dry, 0 to 1 [-].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Trails"))]
    pub unevenness: f64,
    /// Width of a strip, in contact widths of the drop [-].
    #[schemars(range(min = 0.01, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.1, 2], "x-group" = "Trails"))]
    pub width: f64,
    /// Most strips kept; the oldest go first.
    #[schemars(range(min = 0, max = 10_000_000))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1e+06], "x-group" = "Trails"))]
    pub max_strips: usize,
    /// Small drops left behind on water-repelling ground.
    #[schemars(extend("x-group" = "Beads"))]
    pub beads: Option<BeadParams>,
}

impl Default for TrailParams {
    fn default() -> Self {
        Self {
            enabled: true,
            mesh: true,
            image: 0,
            drying: 6.0,
            unevenness: 0.5,
            width: 0.8,
            max_strips: 200_000,
            beads: None,
        }
    }
}

/// A trail that breaks into beads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BeadParams {
    /// Distance between beads, in radii of the drop [-].
    #[schemars(range(min = 0.5, max = 1000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1, 40], "x-group" = "Beads"))]
    pub spacing: f64,
    /// Part of the drop's mass that each takes [-].
    #[schemars(range(min = 1e-6, max = 0.5))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0001, 0.2], "x-log" = true, "x-group" = "Beads"))]
    pub share: f64,
    /// Beads only where the contact angle is above this [degrees].
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 160], "x-group" = "Beads"))]
    pub above_deg: f64,
}

impl Default for BeadParams {
    fn default() -> Self {
        Self { spacing: 6.0, share: 0.01, above_deg: 90.0 }
    }
}

/// Drying, soaking in, vanishing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SinkParams {
    /// Liquid that goes into the air per exposed area and time [kg/m²/s]. Not given: none, but paint dries within
    /// a shot.
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.1], "x-group" = "Drying"))]
    pub evaporation: Option<Animated>,
    /// Drops lighter than this dry at once [kg].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1e-12, 1e-07], "x-log" = true, "x-group" = "Drying"))]
    pub least_mass: f64,
}

impl Default for SinkParams {
    fn default() -> Self {
        Self { evaporation: None, least_mass: 1e-10 }
    }
}
