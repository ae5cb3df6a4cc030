//! How a shot is shown: what `frisson render` and `frisson gallery` read from a scene. Nothing here
//! changes the motion, and none of it counts for the hash of a bake.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How pictures look at the shot. The camera keeps everything in view; these are its habits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CameraParams {
    /// Angle around the vertical [degrees]; 0 sees the front of a character that faces +z. Without it,
    /// the side from which most of what the layers do is seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -360.0, max = 360.0))]
    pub yaw_deg: Option<f32>,
    /// Height of the camera above the horizon [degrees].
    #[schemars(range(min = -89.0, max = 89.0))]
    pub pitch_deg: f32,
    /// Vertical field of view [degrees].
    #[schemars(range(min = 1.0, max = 120.0))]
    pub fov_deg: f32,
    /// Room around the subject, as a fraction of the picture [-].
    #[schemars(range(min = 0.0, max = 0.9))]
    pub margin: f32,
    /// Aperture diameter [m]; 0 has everything sharp.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub aperture: f32,
    /// Place of the camera [m], together with `target`; without both it frames the shot by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eye: Option<[f32; 3]>,
    /// What the camera looks at [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<[f32; 3]>,
    /// Whether the camera goes along with the subject instead of seeing its whole way. Without it, it
    /// does where the subject goes farther than its own size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow: Option<bool>,
    /// Meshes, curves and points that the automatic camera frames, by name or the beginning of it;
    /// empty: all but drops, closer where the layers change only a small part of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frame_on: Vec<String>,
    /// Meshes, curves and points left out of the picture, by name or the beginning of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hide: Vec<String>,
    /// Light and backdrop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<LookName>,
    /// Height of the ground [m]; without it, under the lowest point of all but drops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ground: Option<f32>,
    /// Show no ground.
    pub no_ground: bool,
}

impl Default for CameraParams {
    fn default() -> Self {
        Self {
            yaw_deg: None,
            pitch_deg: 12.0,
            fov_deg: 28.0,
            margin: 0.08,
            aperture: 0.0,
            eye: None,
            target: None,
            follow: None,
            frame_on: Vec::new(),
            hide: Vec::new(),
            look: None,
            ground: None,
            no_ground: false,
        }
    }
}

/// Light and backdrop of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LookName {
    /// Three lamps and a pale backdrop.
    #[default]
    Studio,
    /// Clear sky and sun.
    Outdoor,
    /// Dark backdrop, strong rim light.
    Dark,
}

/// What the gallery says about the scene: `[gallery]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GalleryParams {
    /// Title of the experiment.
    pub title: String,
    /// What to look for in the pictures.
    pub look_for: String,
    /// Where the experiment comes from: chapter, figure.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// The source's table, row by row; the first row is its heading.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<Vec<String>>,
    /// Our own rows, each a label and what to measure: `seconds`, `seconds_per_frame`,
    /// `frames_per_second`, `frames`, `layer_seconds:NAME` (per frame) or `measure:LAYER/NAME:HOW`
    /// where HOW is `first`, `last`, `min`, `max` or `mean`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ours: Vec<[String; 2]>,
    /// Frames of the strip; empty: six, spread over the shot, where the layers show most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<i64>,
    /// Whether every frame of the strip is also shown without any layer, to its left.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compare: bool,
    /// Whether an animation is made too; it is, unless this says no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub animate: Option<bool>,
    /// Overlays as for `frisson render --overlay`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlay: Vec<String>,
    /// Measures to plot over time, as `LAYER/NAME`; empty: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plots: Vec<String>,
}
