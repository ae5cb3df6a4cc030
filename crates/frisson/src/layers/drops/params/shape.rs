//! What drops look like.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What drops look like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShapeParams {
    /// Writes the drops as a mesh (`<name>`).
    #[schemars(extend("x-change" = "live", "x-group" = "Look"))]
    pub mesh: bool,
    /// Writes the drops as points too (`<name>.points`), with id, velocity and mass. Beside the mesh they
    /// have no width, so that a drop is drawn once; their size is the attribute `drop_radius`.
    #[schemars(extend("x-change" = "live", "x-group" = "Look"))]
    pub points: bool,
    /// How finely a drop is modelled where nothing says otherwise.
    #[schemars(extend("x-change" = "live", "x-group" = "Look"))]
    pub detail: Detail,
    /// Where the camera stands [m]; with it, far drops are modelled more coarsely.
    #[schemars(extend("x-change" = "live", "x-slider" = [-10, 10], "x-group" = "Look"))]
    pub camera: Option<[f32; 3]>,
    /// Within this many radii from the camera drops are modelled finely [-].
    #[schemars(range(min = 0.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [10, 1000], "x-log" = true, "x-group" = "Look"))]
    pub fine_within: f32,
    /// Beyond this many radii they are cards [-].
    #[schemars(range(min = 0.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [100, 10000], "x-log" = true, "x-group" = "Look"))]
    pub card_beyond: f32,
    /// Amplitude of the wobble of slow drops, in radii [-].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.5], "x-group" = "Look"))]
    pub wobble: f64,
    /// Speed of strongest wobble; none at rest nor above twice this [m/s].
    #[schemars(range(min = 1e-6, max = 100.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.001, 1], "x-log" = true, "x-group" = "Look"))]
    pub wobble_speed: f64,
    /// Stretch of falling drops per m/s [s/m].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.5], "x-group" = "Look"))]
    pub falling_stretch: f64,
    /// Time to take a new shape after merging, landing or letting go [s].
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Look"))]
    pub blend: f64,
}

impl Default for ShapeParams {
    fn default() -> Self {
        Self {
            mesh: true,
            points: false,
            detail: Detail::Fine,
            camera: None,
            fine_within: 150.0,
            card_beyond: 2000.0,
            wobble: 0.08,
            wobble_speed: 0.05,
            falling_stretch: 0.08,
            blend: 0.12,
        }
    }
}

/// How finely a drop is modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The equilibrium shape.
    #[default]
    Fine,
    /// A sheared cap with few faces.
    Coarse,
    /// One flat polygon.
    Card,
}
