//! What the artist sets.

mod bones;
mod inside;
mod object;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::{Animated, LayerError};

pub use bones::{BoneParams, CoatBone, CoatParams};
pub use inside::{DoughParams, PrimitiveParams};
pub use object::SoftObject;

/// Soft bodies: internal structures in an implicit coat.
///
/// Objects press on each other along exactly shared contact surfaces, keep their volume, tear and
/// fuse. Every collider of the scene is a rigid tool for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftParams {
    /// Name of the layer, unique in the scene. Its meshes are named `name/object`, or `name` when
    /// there is only one.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Soft bodies"))]
    pub name: String,
    /// The soft objects.
    pub objects: Vec<SoftObject>,
    /// What is written: the `extracted` surface, smooth and watertight, or the `seeds`, one closed piece
    /// per primitive: a preview that costs next to nothing and whose triangles stay the same.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Surface"))]
    pub surface: SoftSurface,
    /// Size of the triangles of the surface [m]; by default a fifth of the smallest thickness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6), extend("x-change" = "rebuild", "x-slider" = [0.001, 0.05], "x-log" = true, "x-group" = "Surface"))]
    pub cell: Option<f64>,
    /// Pressure at which the surface is [Pa]; by default the softest object's stiffness times the
    /// width of its support. Fields of a stiffness above three times that fall faster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-9), extend("x-change" = "rebuild", "x-slider" = [100.0, 100000.0], "x-log" = true, "x-group" = "Surface"))]
    pub level: Option<f64>,
    /// Colliders of the scene, and closed meshes made before this layer, that are tools here; all
    /// colliders if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Contacts"))]
    pub tools: Option<Vec<String>>,
    /// Samples per primitive [-].
    #[serde(default = "default_seeds")]
    #[schemars(range(min = 16, max = 10000), extend("x-change" = "restart", "x-slider" = [32, 400], "x-log" = true, "x-group" = "Quality"))]
    pub seeds: usize,
    /// Time constant of the volume controllers [s]; 0 turns them off.
    #[serde(default = "default_volume_time")]
    #[schemars(range(min = 0.0), extend("x-change" = "live", "x-slider" = [0.0, 0.5], "x-group" = "Volume"))]
    pub volume_time: f64,
    /// Derivative gain of the volume controllers as a share of the stable limit [-].
    #[serde(default = "default_volume_damping")]
    #[schemars(range(min = 0.0, max = 0.9), extend("x-change" = "live", "x-slider" = [0.0, 0.9], "x-group" = "Volume"))]
    pub volume_damping: f64,
    /// Coulomb friction between objects [-]; with a tool, the tool's own.
    #[serde(default = "default_friction")]
    #[schemars(range(min = 0.0, max = 10.0), extend("x-change" = "live", "x-slider" = [0.0, 1.5], "x-group" = "Contacts"))]
    pub friction: f64,
    /// Damping of contacts as a share of the critical one [-].
    #[serde(default = "default_damping")]
    #[schemars(range(min = 0.0, max = 10.0), extend("x-change" = "live", "x-slider" = [0.0, 2.0], "x-group" = "Contacts"))]
    pub damping: f64,
    /// How far the coat bulges beside a contact with another object or a tool, as a share of the
    /// depth of the contact [-].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 2.0), extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Contacts"))]
    pub bulge: f64,
    /// Also write the contact surfaces as a mesh `name/contacts`, with the attribute `pressure`.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Surface"))]
    pub contacts: bool,
}

/// What a layer of soft bodies writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SoftSurface {
    /// The surface of the fields: watertight, with exact contacts; its triangles change.
    #[default]
    Extracted,
    /// The samples of the fields, joined up: for a quick look.
    Seeds,
}

fn default_seeds() -> usize {
    162
}
fn default_volume_time() -> f64 {
    0.05
}
fn default_volume_damping() -> f64 {
    0.2
}
fn default_friction() -> f64 {
    0.4
}
fn default_damping() -> f64 {
    0.5
}
fn one() -> Animated {
    1.0.into()
}

impl SoftParams {
    /// A layer with default settings.
    #[must_use]
    pub fn new(name: &str, objects: Vec<SoftObject>) -> Self {
        Self {
            name: name.to_owned(),
            objects,
            surface: SoftSurface::default(),
            cell: None,
            level: None,
            tools: None,
            seeds: default_seeds(),
            volume_time: default_volume_time(),
            volume_damping: default_volume_damping(),
            friction: default_friction(),
            damping: default_damping(),
            bulge: 0.0,
            contacts: false,
        }
    }

    /// Checks what a range cannot say.
    pub fn validate(&self) -> Result<(), LayerError> {
        if self.objects.is_empty() {
            return Err(LayerError::parameter("objects", "give at least one object"));
        }
        if self.contacts && self.surface == SoftSurface::Seeds {
            let problem = "a preview has no contact surfaces: leave out surface = \"seeds\"";
            return Err(LayerError::parameter("contacts", problem));
        }
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if self.cell.is_some_and(|c| !positive(c)) {
            return Err(LayerError::parameter("cell", "must be greater than 0"));
        }
        if self.level.is_some_and(|c| !positive(c)) {
            return Err(LayerError::parameter("level", "must be greater than 0"));
        }
        if !(16..=10_000).contains(&self.seeds) {
            return Err(LayerError::parameter("seeds", "must be from 16 to 10000"));
        }
        for (key, value) in [
            ("volume_time", self.volume_time),
            ("friction", self.friction),
            ("damping", self.damping),
            ("bulge", self.bulge),
        ] {
            if !value.is_finite() || value < 0.0 {
                return Err(LayerError::parameter(key, "must be 0 or more"));
            }
        }
        if !(0.0..=0.9).contains(&self.volume_damping) {
            return Err(LayerError::parameter("volume_damping", "must be from 0 to 0.9"));
        }
        for (index, object) in self.objects.iter().enumerate() {
            let key = format!("objects[{index}]");
            object.validate(&key)?;
            if self.objects[..index].iter().any(|o| o.name == object.name) {
                let problem = format!("two objects are named {:?}: names must differ", object.name);
                return Err(LayerError::parameter(format!("{key}.name"), problem));
            }
        }
        Ok(())
    }
}

/// What is wrong with keys that are not well formed.
const KEYS: &str = "keys must be finite, at least one, ascending in frame";

fn validate_volume(key: &str, volume: &Animated) -> Result<(), LayerError> {
    if !volume.is_well_formed() {
        return Err(LayerError::parameter(key, KEYS));
    }
    if volume.values().any(|v| !(0.01..=100.0).contains(&v)) {
        return Err(LayerError::parameter(key, "must be from 0.01 to 100"));
    }
    Ok(())
}

/// Checks what bones, coats and primitives may say of their own.
fn validate_own(
    key: &str,
    thickness: Option<f64>,
    stiffness: Option<f64>,
    volume: Option<&Animated>,
) -> Result<(), LayerError> {
    for (field, value) in [("thickness", thickness), ("stiffness", stiffness)] {
        if value.is_some_and(|v| !v.is_finite() || v <= 0.0) {
            return Err(LayerError::parameter(format!("{key}.{field}"), "must be greater than 0"));
        }
    }
    volume.map_or(Ok(()), |v| validate_volume(&format!("{key}.volume"), v))
}
