//! What the artist sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::{Animated, LayerError};

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

/// One primitive. Give exactly one of `point`, `segment`, `triangle`, `polyline`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PrimitiveParams {
    /// Name, for `blend`.
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub name: String,
    /// A point [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub point: Option<[f64; 3]>,
    /// Two ends [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub segment: Option<[[f64; 3]; 2]>,
    /// Three corners [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub triangle: Option<[[f64; 3]; 3]>,
    /// 2 to 32 points [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub polyline: Option<Vec<[f64; 3]>>,
    /// Own thickness [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6), extend("x-change" = "restart", "x-slider" = [0.005, 0.3], "x-log" = true, "x-group" = "Coat"))]
    pub thickness: Option<f64>,
    /// Own stiffness [N/m³].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-3), extend("x-change" = "rebuild", "x-slider" = [10000.0, 10000000.0], "x-log" = true, "x-group" = "Coat"))]
    pub stiffness: Option<f64>,
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
    /// Key-framed displacement, x [m].
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-1.0, 1.0], "x-group" = "Motion"))]
    pub move_x: Animated,
    /// Key-framed displacement, y [m].
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-1.0, 1.0], "x-group" = "Motion"))]
    pub move_y: Animated,
    /// Key-framed displacement, z [m].
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-1.0, 1.0], "x-group" = "Motion"))]
    pub move_z: Animated,
}

/// Particles that repel when close, rub, and are held together by bonds that flow and tear: dough,
/// clay, jelly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DoughParams {
    /// A box to fill: centre and half sizes [m].
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub block: Option<[[f64; 3]; 2]>,
    /// A ball to fill: centre [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub ball: Option<[f64; 3]>,
    /// Radius of the ball [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6), extend("x-change" = "restart", "x-slider" = [0.02, 0.5], "x-log" = true, "x-group" = "Shape"))]
    pub radius: Option<f64>,
    /// Particles one by one [m].
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub points: Vec<[f64; 3]>,
    /// Rest distance between particles [m]; by default 1.3 thicknesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6), extend("x-change" = "restart", "x-slider" = [0.005, 0.2], "x-log" = true, "x-group" = "Shape"))]
    pub spacing: Option<f64>,
    /// Strength of the forces between particles, as a factor of the coat's stiffness [-]; may be
    /// key-framed: heat softens.
    #[schemars(range(min = 0.0, max = 1000.0), extend("x-change" = "live", "x-slider" = [0.05, 5.0], "x-log" = true, "x-group" = "Substance"))]
    pub firmness: Animated,
    /// Greatest pull of a bond between particles, as a share of the repulsion at half the rest
    /// distance [-].
    #[schemars(range(min = 0.0, max = 10.0), extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Substance"))]
    pub cohesion: f64,
    /// Strain at which a bond gives way and flows [-]: small for clay, large for jelly.
    #[serde(rename = "yield")]
    #[schemars(range(min = 0.005, max = 10.0), extend("x-change" = "live", "x-slider" = [0.01, 1.0], "x-log" = true, "x-group" = "Substance"))]
    pub yield_strain: f64,
    /// Distance at which a bond is torn, in rest distances [-].
    #[schemars(range(min = 1.05, max = 4.0), extend("x-change" = "live", "x-slider" = [1.1, 3.0], "x-group" = "Substance"))]
    pub range: f64,
    /// Viscosity as a share of the critical damping of a pair [-]; may be key-framed.
    #[schemars(range(min = 0.0, max = 20.0), extend("x-change" = "live", "x-slider" = [0.0, 3.0], "x-group" = "Substance"))]
    pub viscosity: Animated,
}

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
        Self { on: String::new(), bones: Vec::new(), muscles: Vec::new(), balls: 300 }
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
fn default_stiffness() -> f64 {
    1e6
}
fn default_density() -> f64 {
    1000.0
}
fn default_fuse_time() -> f64 {
    0.3
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

    fn validate(&self, key: &str) -> Result<(), LayerError> {
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

impl PrimitiveParams {
    /// Its points, if exactly one kind is given.
    #[must_use]
    pub fn points(&self) -> Option<Vec<[f64; 3]>> {
        let kinds = [
            self.point.map(|p| vec![p]),
            self.segment.map(|s| s.to_vec()),
            self.triangle.map(|t| t.to_vec()),
            self.polyline.clone(),
        ];
        let mut given = kinds.into_iter().flatten();
        let first = given.next()?;
        given.next().is_none().then_some(first)
    }

    fn validate(&self, key: &str) -> Result<(), LayerError> {
        let Some(points) = self.points() else {
            let problem = "give exactly one of point, segment, triangle and polyline";
            return Err(LayerError::parameter(format!("{key}.point"), problem));
        };
        if self.polyline.is_some() && !(2..=32).contains(&points.len()) {
            return Err(LayerError::parameter(format!("{key}.polyline"), "needs 2 to 32 points"));
        }
        if points.iter().flatten().any(|v| !v.is_finite()) {
            return Err(LayerError::parameter(format!("{key}.point"), "must be finite"));
        }
        if [&self.move_x, &self.move_y, &self.move_z].iter().any(|m| !m.is_well_formed()) {
            return Err(LayerError::parameter(format!("{key}.move_x"), KEYS));
        }
        validate_own(key, self.thickness, self.stiffness, self.volume.as_ref())
    }
}

impl Default for DoughParams {
    fn default() -> Self {
        Self {
            block: None,
            ball: None,
            radius: None,
            points: Vec::new(),
            spacing: None,
            firmness: one(),
            cohesion: 0.3,
            yield_strain: 0.08,
            range: 1.5,
            viscosity: 0.6.into(),
        }
    }
}

impl DoughParams {
    fn validate(&self, key: &str) -> Result<(), LayerError> {
        let bad = |field: &str, problem: &str| {
            Err(LayerError::parameter(format!("{key}.{field}"), problem))
        };
        let given = [self.block.is_some(), self.ball.is_some(), !self.points.is_empty()];
        if given.iter().filter(|g| **g).count() != 1 {
            return bad("box", "give exactly one of box, ball and points");
        }
        if self.ball.is_some() && !self.radius.is_some_and(|r| r.is_finite() && r > 0.0) {
            return bad("radius", "a ball needs a radius greater than 0");
        }
        if self.block.is_some_and(|b| b[1].iter().any(|h| !h.is_finite() || *h < 0.0)) {
            return bad("box", "half sizes must be 0 or more");
        }
        let all = self.points.iter().chain(self.block.iter().flatten()).chain(&self.ball);
        if all.flatten().any(|v| !v.is_finite()) {
            return bad("points", "must be finite");
        }
        if self.spacing.is_some_and(|s| !s.is_finite() || s <= 0.0) {
            return bad("spacing", "must be greater than 0");
        }
        if !self.firmness.is_well_formed() || self.firmness.values().any(|v| v < 0.0) {
            return bad("firmness", "must be 0 or more, with keys that ascend in frame");
        }
        if !self.viscosity.is_well_formed() || self.viscosity.values().any(|v| v < 0.0) {
            return bad("viscosity", "must be 0 or more, with keys that ascend in frame");
        }
        let sound = |v: f64, least: f64| v.is_finite() && v >= least;
        if !sound(self.yield_strain, 0.005) {
            return bad("yield", "must be 0.005 or more");
        }
        if !sound(self.range, 1.05) || !sound(self.cohesion, 0.0) {
            return bad("range", "must be greater than 1, and cohesion 0 or more");
        }
        Ok(())
    }
}
