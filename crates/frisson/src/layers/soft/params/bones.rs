//! Bones inside an object, and coats over the bones of a character.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::Animated;

/// A rigid bone with a coat, hinged or balled to its parent at `from`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BoneParams {
    /// Name, unique in the object.
    #[schemars(extend("x-change" = "restart", "x-group" = "Bone"))]
    pub name: String,
    /// Bone it hangs on; none for the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Bone"))]
    pub parent: Option<String>,
    /// End at the parent [m].
    #[schemars(extend("x-change" = "restart", "x-group" = "Bone"))]
    pub from: [f64; 3],
    /// Other end [m]; the same for a ball.
    #[schemars(extend("x-change" = "restart", "x-group" = "Bone"))]
    pub to: [f64; 3],
    /// Own thickness [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6), extend("x-change" = "restart", "x-slider" = [0.005, 0.3], "x-log" = true, "x-group" = "Coat"))]
    pub thickness: Option<f64>,
    /// Texture coordinates at its two ends [-]; vertices get those of the primitives around them,
    /// blended as colours are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Look"))]
    pub uv: Option<[[f32; 2]; 2]>,
    /// Own colour, linear RGB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Look"))]
    pub color: Option<[f32; 3]>,
    /// Own volume factor [-]; may be key-framed: a muscle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 100.0), extend("x-change" = "live", "x-slider" = [0.5, 2.0], "x-group" = "Volume"))]
    pub volume: Option<Animated>,
    /// Axis of a hinge, in the world at the start; a ball joint without.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Joint"))]
    pub hinge: Option<[f64; 3]>,
    /// Least and greatest angle of a hinge [degrees], 0 as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Joint"))]
    pub angles_deg: Option<[f64; 2]>,
    /// Greatest swing of a ball joint [degrees].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 180.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 180.0], "x-group" = "Joint"))]
    pub swing_deg: Option<f64>,
    /// Rate at which its turning against its parent dies away [1/s]; by default 4, as for flesh.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0), extend("x-change" = "live", "x-slider" = [0.0, 20.0], "x-group" = "Joint"))]
    pub damping: Option<f64>,
    /// Held where it is.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Bone"))]
    pub fixed: bool,
}

/// Coats on a character's joints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CoatParams {
    /// Actor that carries them: a character, or closed meshes however they move.
    #[schemars(extend("x-change" = "restart", "x-group" = "Coat"))]
    pub on: String,
    /// Meshes of the actor whose skin is coated; if none is given, all: also what it wears and holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Coat"))]
    pub meshes: Vec<String>,
    /// Bones to coat; if none is given, balls are fitted to fill its skin, each carried by the joints
    /// that move the skin around it, with its weights.
    pub bones: Vec<CoatBone>,
    /// Coats besides those of the bones: muscles, which blend with the bones they touch.
    pub muscles: Vec<CoatBone>,
    /// Most balls that are fitted [-].
    #[schemars(range(min = 1, max = 1000), extend("x-change" = "restart", "x-slider" = [50, 600], "x-log" = true, "x-group" = "Coat"))]
    pub balls: usize,
}

impl Default for CoatParams {
    fn default() -> Self {
        Self {
            on: String::new(),
            meshes: Vec::new(),
            bones: Vec::new(),
            muscles: Vec::new(),
            balls: 300,
        }
    }
}

/// A coat between two joints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CoatBone {
    /// Joint at one end.
    #[schemars(extend("x-change" = "restart", "x-group" = "Bone"))]
    pub from: String,
    /// Joint at the other end; none for a ball.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Bone"))]
    pub to: Option<String>,
    /// Part of the bone that is coated, from 0 to 1 [-].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 1.0], "x-group" = "Bone"))]
    pub span: Option<[f64; 2]>,
    /// Displacement in the first joint's axes [m].
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-0.2, 0.2], "x-group" = "Bone"))]
    pub offset: [f64; 3],
    /// Displacement of the other end in the same axes [m], for a coat of one joint alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Bone"))]
    pub tip: Option<[f64; 3]>,
    /// Own thickness [m]; by default that of the skin around, or the object's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6), extend("x-change" = "restart", "x-slider" = [0.005, 0.3], "x-log" = true, "x-group" = "Coat"))]
    pub thickness: Option<f64>,
    /// Texture coordinates at its two ends [-]; vertices get those of the primitives around them,
    /// blended as colours are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Look"))]
    pub uv: Option<[[f32; 2]; 2]>,
    /// Own colour, linear RGB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Look"))]
    pub color: Option<[f32; 3]>,
    /// Own volume factor [-]; may be key-framed: a muscle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 100.0), extend("x-change" = "live", "x-slider" = [0.5, 2.0], "x-group" = "Volume"))]
    pub volume: Option<Animated>,
}
