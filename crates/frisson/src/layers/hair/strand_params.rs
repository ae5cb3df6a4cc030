//! Parameters of the visible hairs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The visible hairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StrandParams {
    /// Hairs in one wisp.
    #[schemars(range(min = 0, max = 100_000), extend("x-change" = "rebuild", "x-slider" = [10, 500], "x-log" = true, "x-group" = "Strands"))]
    pub per_wisp: u32,
    /// Points of one hair.
    #[schemars(range(min = 2, max = 256), extend("x-change" = "live", "x-slider" = [4, 64], "x-group" = "Strands"))]
    pub points: u32,
    /// Diameter at the root [m].
    #[schemars(range(min = 1e-6, max = 0.1), extend("x-change" = "live", "x-slider" = [5e-05, 0.002], "x-log" = true, "x-group" = "Strands"))]
    pub width: f32,
    /// Diameter at the tip, as a fraction of the root's [-].
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Strands"))]
    pub tip: f32,
    /// How much the hairs' lengths differ: 0.15 makes some up to 15% shorter [-].
    #[schemars(range(min = 0.0, max = 0.9), extend("x-change" = "rebuild", "x-slider" = [0.0, 0.5], "x-group" = "Strands"))]
    pub length_variation: f32,
    /// How much a hair wanders inside its wisp from plane to plane, as a fraction of the radius [-].
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 0.5], "x-group" = "Strands"))]
    pub wander: f32,
    /// Linear RGB of the hair; not given: that of the hair which the wearer has already (a mesh, material or joint called
    /// so, or another colour painted where hair grows), else brown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "live", "x-group" = "Look"))]
    pub color: Option<[f32; 3]>,
    /// Radius of curls [m].
    #[schemars(range(min = 0.0, max = 0.1), extend("x-change" = "live", "x-slider" = [0.0, 0.03], "x-group" = "Curls"))]
    pub curl_radius: f32,
    /// Length of one turn of a curl [m].
    #[schemars(range(min = 0.001, max = 1.0), extend("x-change" = "live", "x-slider" = [0.01, 0.2], "x-log" = true, "x-group" = "Curls"))]
    pub curl_pitch: f32,
    /// How alike the curls of one wisp are: 1 all together, 0 each for itself [-].
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Curls"))]
    pub curl_together: f32,
    /// Random waviness of each hair [m].
    #[schemars(range(min = 0.0, max = 0.05), extend("x-change" = "live", "x-slider" = [0.0, 0.01], "x-group" = "Curls"))]
    pub frizz: f32,
    /// How much hairs draw together towards the tip [-].
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 1.0], "x-group" = "Strands"))]
    pub clump: f32,
    /// Share of hairs that stand away from their wisp [-].
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 0.3], "x-group" = "Strands"))]
    pub strays: f32,
    /// How far strays stand away, in radii [-].
    #[schemars(range(min = 0.0, max = 5.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 3.0], "x-group" = "Strands"))]
    pub stray_distance: f32,
    /// Where hair is seen from [m]: the farther away, the fewer hairs are shown, and the thicker ones, so
    /// that they cover as much; not given: all are shown.
    #[schemars(extend("x-change" = "live", "x-group" = "Strands"))]
    pub seen_from: Option<[f32; 3]>,
    /// Distance up to which all hairs are shown [m]; twice as far away half of them are.
    #[schemars(range(min = 1e-3, max = 1e4), extend("x-change" = "live", "x-slider" = [0.5, 20.0], "x-log" = true, "x-group" = "Strands"))]
    pub full_within: f32,
    /// Share of the hairs that is shown however far away they are [-].
    #[schemars(range(min = 1e-3, max = 1.0), extend("x-change" = "live", "x-slider" = [0.01, 1.0], "x-log" = true, "x-group" = "Strands"))]
    pub fewest: f32,
    /// Whether every hair gets the normal of the skin at its root, as the attribute `root_normal`.
    #[schemars(extend("x-change" = "live", "x-group" = "Strands"))]
    pub root_normals: bool,
    /// Whether every point of a hair gets its velocity, for motion blur.
    #[schemars(extend("x-change" = "restart", "x-group" = "Strands"))]
    pub velocities: bool,
}

impl Default for StrandParams {
    fn default() -> Self {
        Self {
            per_wisp: 100,
            points: 16,
            width: 0.00012,
            tip: 0.3,
            length_variation: 0.15,
            wander: 0.15,
            color: None,
            curl_radius: 0.0,
            curl_pitch: 0.03,
            curl_together: 0.8,
            frizz: 0.0,
            clump: 0.0,
            strays: 0.0,
            stray_distance: 1.0,
            seen_from: None,
            full_within: 2.0,
            fewest: 0.05,
            root_normals: false,
            velocities: false,
        }
    }
}
