//! A soft object.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoneParams, CoatParams, DoughParams, PrimitiveParams};
use super::{KEYS, one, validate_own, validate_volume};
use crate::stage::{Animated, LayerError};

/// One soft object: a coat, and what is inside. Give exactly one of `primitives`, `dough`, `bones`
/// and `coat`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftObject {
    /// Name, unique in the layer.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Object"))]
    pub name: String,
    /// Distance from the skeleton to the surface of a lone primitive [m].
    #[schemars(range(min = 1e-6), extend("x-change" = "restart", "x-slider" = [0.005, 0.3], "x-log" = true, "x-group" = "Coat"))]
    pub thickness: f64,
    /// Distance over which the coat reaches out to blend [m]; by default twice the thickness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6), extend("x-change" = "restart", "x-slider" = [0.01, 0.6], "x-log" = true, "x-group" = "Coat"))]
    pub support: Option<f64>,
    /// Stiffness: pressure per metre of compression [N/m³]. Dough 3e5, flesh 1e6, rubber 1e7.
    #[serde(default = "default_stiffness")]
    #[schemars(range(min = 1e-3), extend("x-change" = "rebuild", "x-slider" = [10000.0, 10000000.0], "x-log" = true, "x-group" = "Coat"))]
    pub stiffness: f64,
    /// How much stiffer the coat gets when it is compressed to nothing [-].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 10.0], "x-group" = "Coat"))]
    pub hardening: f64,
    /// Density [kg/m³].
    #[serde(default = "default_density")]
    #[schemars(range(min = 1e-3), extend("x-change" = "rebuild", "x-slider" = [100.0, 3000.0], "x-log" = true, "x-group" = "Coat"))]
    pub density: f64,
    /// Linear RGB. By default a coat that is fitted to a skin has the skin's colours, anything else that of flesh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Look"))]
    pub color: Option<[f32; 3]>,
    /// Volume, as a factor of the one at the start [-]; may be key-framed.
    #[serde(default = "one")]
    #[schemars(range(min = 0.01, max = 100.0), extend("x-change" = "live", "x-slider" = [0.5, 2.0], "x-group" = "Volume"))]
    pub volume: Animated,
    /// Pairs of primitives that blend; by default all do (bones: with their parents).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Blending"))]
    pub blend: Option<Vec<(String, String)>>,
    /// Contact force between two primitives above which they fuse, there and nowhere else [N]; both
    /// objects must have one. By default they never do. Below 0.3 times stiffness times thickness cubed
    /// a dough's own cohesion presses that hard, and what is fused at one place zips together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0), extend("x-change" = "rebuild", "x-slider" = [0.1, 100.0], "x-log" = true, "x-group" = "Blending"))]
    pub fuse: Option<f64>,
    /// Time for which they must be pressed until they are one [s].
    #[serde(default = "default_fuse_time")]
    #[schemars(range(min = 0.0), extend("x-change" = "live", "x-slider" = [0.0, 2.0], "x-group" = "Blending"))]
    pub fuse_time: f64,
    /// Points, segments, triangles and polylines that stand still, follow keys, or (`free`) fall.
    #[serde(default)]
    pub primitives: Vec<PrimitiveParams>,
    /// The primitives together are one rigid body that falls and bounces.
    #[serde(default)]
    #[schemars(extend("x-change" = "restart", "x-group" = "Motion"))]
    pub free: bool,
    /// Key-framed displacement of the primitives, x [m].
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-1.0, 1.0], "x-group" = "Motion"))]
    pub move_x: Animated,
    /// Key-framed displacement of the primitives, y [m].
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-1.0, 1.0], "x-group" = "Motion"))]
    pub move_y: Animated,
    /// Key-framed displacement of the primitives, z [m].
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-1.0, 1.0], "x-group" = "Motion"))]
    pub move_z: Animated,
    /// A substance that flows, tears and fuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dough: Option<DoughParams>,
    /// Rigid bones joined to each other: a figure that falls.
    #[serde(default)]
    pub bones: Vec<BoneParams>,
    /// Coats carried by the joints of an animated character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coat: Option<CoatParams>,
}

fn default_stiffness() -> f64 {
    1e6
}

fn default_density() -> f64 {
    1000.0
}

fn default_fuse_time() -> f64 {
    0.3
}

impl SoftObject {
    /// An object with nothing inside yet.
    #[must_use]
    pub fn new(name: &str, thickness: f64) -> Self {
        Self {
            name: name.to_owned(),
            thickness,
            support: None,
            stiffness: default_stiffness(),
            hardening: 0.0,
            density: default_density(),
            color: None,
            volume: one(),
            blend: None,
            fuse: None,
            fuse_time: default_fuse_time(),
            primitives: Vec::new(),
            free: false,
            move_x: Animated::default(),
            move_y: Animated::default(),
            move_z: Animated::default(),
            dough: None,
            bones: Vec::new(),
            coat: None,
        }
    }

    /// Reach of the field of a primitive of that thickness [m]: in proportion to the object's.
    #[must_use]
    pub fn support_for(&self, thickness: f64) -> f64 {
        self.support.unwrap_or(2.0 * self.thickness) * thickness / self.thickness
    }

    pub(super) fn validate(&self, key: &str) -> Result<(), LayerError> {
        let bad = |field: &str, problem: &str| {
            Err(LayerError::parameter(format!("{key}.{field}"), problem))
        };
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if !positive(self.thickness) {
            return bad("thickness", "must be greater than 0");
        }
        if self.support.is_some_and(|r| !r.is_finite() || r <= self.thickness) {
            return bad("support", "must be greater than the thickness");
        }
        if !positive(self.stiffness) {
            return bad("stiffness", "must be greater than 0");
        }
        if !positive(self.density) {
            return bad("density", "must be greater than 0");
        }
        if !self.hardening.is_finite() || self.hardening < 0.0 {
            return bad("hardening", "must be 0 or more");
        }
        let sound = |v: f64| v.is_finite() && v >= 0.0;
        if self.fuse.is_some_and(|f| !sound(f)) || !sound(self.fuse_time) {
            return bad("fuse", "force and time must be 0 or more");
        }
        let inside = [
            !self.primitives.is_empty(),
            self.dough.is_some(),
            !self.bones.is_empty(),
            self.coat.is_some(),
        ];
        match inside.iter().filter(|i| **i).count() {
            1 => {}
            0 => {
                return bad(
                    "primitives",
                    "the object is empty: give primitives, dough, bones or coat",
                );
            }
            _ => return bad("primitives", "give only one of primitives, dough, bones and coat"),
        }
        for (index, p) in self.primitives.iter().enumerate() {
            p.validate(&format!("{key}.primitives[{index}]"))?;
        }
        if let Some(dough) = &self.dough {
            dough.validate(&format!("{key}.dough"))?;
        }
        for (index, bone) in self.bones.iter().enumerate() {
            let key = format!("{key}.bones[{index}]");
            validate_own(&key, bone.thickness, None, bone.volume.as_ref())?;
            if bone.damping.is_some_and(|d| !sound(d)) {
                return Err(LayerError::parameter(format!("{key}.damping"), "must be 0 or more"));
            }
        }
        if let Some(coat) = &self.coat {
            for (list, bones) in [("bones", &coat.bones), ("muscles", &coat.muscles)] {
                for (index, bone) in bones.iter().enumerate() {
                    let key = format!("{key}.coat.{list}[{index}]");
                    validate_own(&key, bone.thickness, None, bone.volume.as_ref())?;
                }
            }
        }
        let moves = [&self.move_x, &self.move_y, &self.move_z];
        if moves.iter().any(|m| !m.is_well_formed()) {
            return bad("move_x", KEYS);
        }
        validate_volume(&format!("{key}.volume"), &self.volume)
    }
}
