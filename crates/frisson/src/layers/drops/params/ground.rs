//! What the surfaces are made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::Selection;

/// What part of the surface is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GroundParams {
    /// Which triangles: those with a corner of weight above one half. Nothing given: all.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Ground"))]
    pub select: Selection,
    /// Bump heights along the two axes of the surface [m]. A drop less than `hold_factor` times as
    /// high is held.
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.005], "x-group" = "Ground"))]
    pub roughness: [f32; 2],
    /// Vertex attribute that multiplies the roughness.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Ground"))]
    pub roughness_attribute: Option<String>,
    /// Multiply the roughness by the luminance of the material's texture.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Ground"))]
    pub roughness_from_texture: bool,
    /// How many times its height a bump must be below the drop's to let it pass [-].
    #[schemars(range(min = 0.0, max = 100.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 5], "x-group" = "Ground"))]
    pub hold_factor: f64,
    /// Largest acceleration the bumps hold a drop against [m/s²]; blown or shaken harder, it moves.
    #[schemars(range(min = 0.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 200], "x-group" = "Ground"))]
    pub grip: f32,
    /// Direction of the first axis: `trail` (the first one that crosses; the first edge until then),
    /// `uv` (along u), or `{ direction = [x, y, z] }`, projected on the surface.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Ground"))]
    pub axis: AxisParams,
    /// Adhesion `D` [N/m²]: a drop lets go when the outward pull exceeds `D pi r²`. Not given: what the liquid's
    /// tension carries, `1.12 sqrt(tension density g)`; 50 mg of water hang on, 22 mg of tears.
    #[schemars(range(min = 0.0, max = 1e9))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1, 1000], "x-log" = true, "x-group" = "Ground"))]
    pub adhesion: Option<f32>,
    /// Vertex attribute that multiplies the adhesion.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Ground"))]
    pub adhesion_attribute: Option<String>,
    /// Contact angle here [degrees].
    #[schemars(extend("x-change" = "live", "x-slider" = [20, 150], "x-group" = "Ground"))]
    pub contact_angle_deg: Option<f64>,
    /// How far the contact angle may differ between front and rear before a drop moves, here [degrees].
    #[schemars(range(min = 0.0, max = 120.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 80], "x-group" = "Ground"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hysteresis_deg: Option<f64>,
    /// How much what pins a drop pulls it sideways, 0 (runs straight) to 1 [-]. Not given: as the liquid's preset
    /// says of the ground where one meets it.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Ground"))]
    pub meander: Option<f32>,
    /// Size of the spots that pull it to one side [m].
    #[schemars(range(min = 1e-6, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.001, 0.1], "x-log" = true, "x-group" = "Ground"))]
    pub meander_size: f32,
    /// Thickness of the film a running drop leaves [m]. Not given: as the liquid's preset says.
    #[schemars(range(min = 0.0, max = 0.01))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.0001], "x-group" = "Ground"))]
    pub film: Option<f32>,
    /// How fast a trail smooths the surface along each axis, `T2` and `T3` [-].
    #[schemars(inner(range(min = 0.0, max = 1000.0)))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 5], "x-group" = "Ground"))]
    pub smoothing: [f32; 2],
    /// Liquid soaked up per wet area and time [kg/m²/s].
    #[schemars(range(min = 0.0, max = 100.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.1], "x-group" = "Ground"))]
    pub absorption: f32,
    /// Vertex attribute that multiplies evaporation (heat, light).
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Ground"))]
    pub heat_attribute: Option<String>,
}

impl Default for GroundParams {
    fn default() -> Self {
        Self {
            select: Selection::default(),
            roughness: [0.0; 2],
            roughness_attribute: None,
            roughness_from_texture: false,
            hold_factor: 2.0,
            grip: 60.0,
            axis: AxisParams::default(),
            adhesion: None,
            adhesion_attribute: None,
            contact_angle_deg: None,
            hysteresis_deg: None,
            meander: None,
            meander_size: 0.012,
            film: None,
            smoothing: [1.0; 2],
            absorption: 0.0,
            heat_attribute: None,
        }
    }
}

/// Where the first roughness axis points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AxisParams {
    /// Along the first trail that crosses the triangle; along its first edge until then.
    #[default]
    Trail,
    /// Along growing u.
    Uv,
    /// Along a direction, projected on the surface.
    Direction([f32; 3]),
}
