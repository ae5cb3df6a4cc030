//! What the liquid is, and what happens within it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::layers::drops::liquid::LiquidPreset;

/// The liquid: a preset, and what differs from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LiquidParams {
    /// Starting point for all that is not given.
    #[schemars(extend("x-change" = "live", "x-group" = "Liquid"))]
    pub preset: LiquidPreset,
    /// Density [kg/m³].
    #[schemars(range(min = 1.0, max = 30_000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [500, 2000], "x-group" = "Liquid"))]
    pub density: Option<f64>,
    /// Surface tension [N/m].
    #[schemars(range(min = 1e-4, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.01, 0.1], "x-group" = "Liquid"))]
    pub tension: Option<f64>,
    /// Dynamic viscosity [Pa s]: water 0.001, blood 0.004, oil 0.08, honey 10. The drag of a drop grows
    /// with its size and with how far it spreads.
    #[schemars(range(min = 0.0, max = 1e6))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1e-4, 100], "x-log" = true, "x-group" = "Liquid"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viscosity_pa_s: Option<f64>,
    /// Drag of a drop on the surface, proportional to its speed, the same for all sizes [kg/s]; instead
    /// of `viscosity_pa_s`. Then only bumps hold drops, unless `hysteresis_deg` is given too.
    #[schemars(range(min = 0.0, max = 1e6))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1e-05, 1], "x-log" = true, "x-group" = "Liquid"))]
    pub viscosity: Option<f64>,
    /// Contact angle on ground that does not say otherwise: wetting (small) to beading [degrees].
    #[schemars(range(min = 10.0, max = 160.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [20, 150], "x-group" = "Liquid"))]
    pub contact_angle_deg: Option<f64>,
    /// How far the contact angle may differ between the front and the rear of a drop before it moves, on
    /// ground that does not say otherwise [degrees]: what pins drops to the place where they are.
    #[schemars(range(min = 0.0, max = 120.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 80], "x-group" = "Liquid"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hysteresis_deg: Option<f64>,
    /// Colour, linear RGB.
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Liquid"))]
    pub color: Option<[f32; 3]>,
    /// Fraction of light let through, 0 (opaque) to 1 (clear).
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Liquid"))]
    pub clear: Option<f32>,
}

/// Drops that touch become one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MergingParams {
    /// Whether drops merge.
    #[schemars(extend("x-change" = "live", "x-group" = "Merging"))]
    pub enabled: bool,
    /// Reach of a drop, in widths of its contact [-].
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 3], "x-group" = "Merging"))]
    pub reach: f64,
    /// Whether those that meet in the air merge too.
    #[schemars(extend("x-change" = "live", "x-group" = "Merging"))]
    pub in_air: bool,
}

impl Default for MergingParams {
    fn default() -> Self {
        Self { enabled: true, reach: 1.0, in_air: true }
    }
}

/// Substance carried by the liquid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DepositParams {
    /// Dissolved fraction of the mass of new drops [-]. Not given, here and below: as the liquid's preset says
    /// (paint, blood and milk leave stains).
    #[schemars(range(min = 0.0, max = 0.95))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.5], "x-group" = "Deposit"))]
    pub concentration: Option<f64>,
    /// How strongly the drag grows as a drop dries: `exp(thickening (c - concentration))` with `c` its dissolved
    /// fraction by now [-].
    #[schemars(range(min = 0.0, max = 100.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 20], "x-group" = "Deposit"))]
    pub thickening: Option<f64>,
    /// Rate at which a drop takes up dried substance under it [1/s].
    #[schemars(range(min = 0.0, max = 1e6))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 10], "x-group" = "Deposit"))]
    pub dissolving: Option<f64>,
}
