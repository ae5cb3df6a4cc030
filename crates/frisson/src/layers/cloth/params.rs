//! What the artist sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::material::{Fabric, Moduli};
use crate::stage::{Animated, LayerError, Selection};

/// Simulated garments: position-based, small steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothParams {
    /// Name of the layer, unique in the scene.
    #[schemars(extend("x-change" = "live", "x-group" = "Layer"))]
    pub name: String,
    /// Mesh to simulate: `actor`, or `actor/mesh` when the actor has several.
    #[schemars(extend("x-change" = "restart", "x-group" = "Layer"))]
    pub on: String,
    /// How many times every triangle is cut into four, smoothly, before it is simulated: the mesh comes
    /// out finer. For game models whose cape has a few dozen vertices: it cannot lie on a shoulder else.
    #[serde(default)]
    #[schemars(range(min = 0, max = 3))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [0, 3], "x-group" = "Mesh"))]
    pub subdivide: u8,
    /// Fabric whose numbers are the defaults of `density`, `stretch`, `bend`, `friction` and
    /// `thickness`.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Fabric"))]
    pub material: Fabric,
    /// Mass per area [kg/m²]; the material's by default.
    #[serde(default)]
    #[schemars(range(min = 1e-4, max = 1000.0))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [0.02, 2.0],
        "x-log" = true,
        "x-group" = "Fabric"
    ))]
    pub density: Option<f64>,
    /// Tensile stiffness, along the warp when `threads` says where it is [N/m]; the material's by
    /// default.
    #[serde(default)]
    #[schemars(range(min = 1.0, max = 1e9))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [10.0, 100000.0],
        "x-log" = true,
        "x-group" = "Fabric"
    ))]
    pub stretch: Option<f64>,
    /// Where the threads run: `none` (as stiff in every direction) or `uv` (warp along u, weft along
    /// v, soft in shear as woven cloth is).
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Fabric"))]
    pub threads: Threads,
    /// Tensile stiffness along the weft, with `threads = "uv"` [N/m].
    #[serde(default)]
    #[schemars(range(min = 1.0, max = 1e9))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [10.0, 100000.0],
        "x-log" = true,
        "x-group" = "Fabric"
    ))]
    pub weft: Option<f64>,
    /// Shear stiffness between warp and weft, with `threads = "uv"` [N/m].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1e9))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [1.0, 10000.0],
        "x-log" = true,
        "x-group" = "Fabric"
    ))]
    pub shear: Option<f64>,
    /// Bending rigidity [N·m]; the material's by default.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1e3))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [1e-07, 0.01],
        "x-log" = true,
        "x-group" = "Fabric"
    ))]
    pub bend: Option<f64>,
    /// Angle at which the cloth is at rest along every edge: `flat`, or `as_modelled` so that
    /// sculpted folds are kept.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Fabric"))]
    pub rest_angles: RestAngles,
    /// Radius of the tightest bend that springs back [m]; what is bent more keeps a crease. None by default: all
    /// bends spring back. Paper about 0.05, linen 0.005.
    #[serde(default)]
    #[schemars(range(min = 1e-5, max = 100.0))]
    #[schemars(extend(
        "x-change" = "live",
        "x-slider" = [0.001, 0.1],
        "x-log" = true,
        "x-group" = "Fabric"
    ))]
    pub crease_radius: Option<f64>,
    /// Time in which cloth that is bent more takes most of the bend on as a crease [s].
    #[serde(default = "default_crease_seconds")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 5.0], "x-group" = "Fabric"))]
    pub crease_seconds: f64,
    /// Cloth that resists stretching only: when compressed it gives way and buckles.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Stretch"))]
    pub tension_only: bool,
    /// Greatest stretch of an edge, as a fraction of its rest length [-]. By default 1.2 % and four
    /// times what the fabric stretches under its own weight.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 0.5], "x-group" = "Stretch"))]
    pub stretch_limit: Option<f64>,
    /// Greatest compression of an edge, as a fraction of its rest length [-].
    #[serde(default = "default_compression_limit")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Stretch"))]
    pub compression_limit: f64,
    /// Thickness: layers and bodies stay that far from each other [m]. By default the material's, or
    /// a quarter of the mean edge where the mesh is too coarse for that.
    #[serde(default)]
    #[schemars(range(min = 1e-5, max = 1.0))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [0.001, 0.05],
        "x-log" = true,
        "x-group" = "Contact"
    ))]
    pub thickness: Option<f64>,
    /// Friction coefficient [-]; the material's by default. Combined with a collider's own as the
    /// geometric mean.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 1.5], "x-group" = "Contact"))]
    pub friction: Option<f64>,
    /// Vertices that follow the mesh as it comes in (skinned, or where the actor puts it); the mesh's
    /// region `pins` by default, if it has one. An empty list of `vertices` lets all of it go.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Held by"))]
    pub pins: Option<Selection>,
    /// Vertices held by something else: a surface, a joint, a path; or that stick when they touch.
    #[serde(default)]
    #[schemars(extend("x-group" = "Held by"))]
    pub attachments: Vec<ClothAttachment>,
    /// Seams, hems and waistbands: vertices along a line, where the cloth is thicker.
    #[serde(default)]
    #[schemars(extend("x-group" = "Fabric"))]
    pub seams: Vec<ClothSeam>,
    /// Seams that are sewn when the shot starts: flat panels become a garment. In the time of `dressing` where
    /// there are bodies, so that the first frame has them closed; else before one's eyes. Until all are closed,
    /// nothing falls.
    #[serde(default)]
    #[schemars(extend("x-group" = "Sewing"))]
    pub sewing: Vec<ClothSewing>,
    /// Parts that are stiffer, heavier, larger or thicker than the rest of the cloth, by painted weight.
    #[serde(default)]
    #[schemars(extend("x-group" = "Fabric"))]
    pub regions: Vec<ClothRegion>,
    /// Vertices that are drawn to where the mesh comes in, each as strongly as its painted weight says: cloth
    /// that follows a character loosely.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Held by"))]
    pub soft_pins: Option<Selection>,
    /// How fast a vertex of full weight follows [Hz]; others in proportion to their weight.
    #[serde(default = "default_soft_pins_hz")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.5, 20.0], "x-log" = true, "x-group" = "Held by"))]
    pub soft_pins_hz: f64,
    /// Volume that the enclosed air wants to have, as a multiple of the volume at rest [-]. Closed
    /// meshes only.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.5, 3.0], "x-group" = "Air"))]
    pub pressure: Option<Animated>,
    /// Overpressure of the enclosed air [Pa], instead of a volume: a cushion has some hundred, a toy balloon
    /// two to three thousand. Closed meshes only.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 3000.0], "x-group" = "Air"))]
    pub overpressure: Option<Animated>,
    /// Simple colliders to collide with; all of the scene's by default.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Contact"))]
    pub colliders: Option<Vec<String>>,
    /// Meshes to collide with: the body under the garment.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Contact"))]
    pub bodies: Vec<String>,
    /// Parts of the bodies that the cloth does not feel: arms that would wipe over a skirt, say. What
    /// all three corners of a triangle belong to is left out.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Contact"))]
    pub bodies_except: Option<Selection>,
    /// Depth from which a vertex inside a body is brought out; deeper ones are taken to be beyond the
    /// other side [m].
    #[serde(default = "default_body_depth")]
    #[schemars(range(min = 1e-3, max = 10.0))]
    #[schemars(extend(
        "x-change" = "live",
        "x-slider" = [0.01, 0.5],
        "x-log" = true,
        "x-group" = "Contact"
    ))]
    pub body_depth: f64,
    /// Whether the cloth collides with itself.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Contact"))]
    pub self_collision: bool,
    /// Air drag coefficient of the surface, head-on [-]: 1 to 1.2 for plates and cloth.
    #[serde(default = "default_drag")]
    #[schemars(range(min = 0.0, max = 100.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 3.0], "x-group" = "Air"))]
    pub drag: f64,
    /// How the air's push grows with the slant of the surface to the wind [-]: 1 to 2 for cloth. Flags flutter
    /// by it.
    #[serde(default = "default_lift")]
    #[schemars(range(min = 0.0, max = 100.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 3.0], "x-group" = "Air"))]
    pub lift: f64,
    /// Mass of the air that has to move with the cloth, per area [kg/m²]. Air is heavier than thin cloth: a
    /// flag of length L carries about a fifth of a cube of air along, 0.2 · 1.2 kg/m³ · L, and beats the slower
    /// for it. Garments that lie on a body carry none.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 1.0], "x-group" = "Air"))]
    pub air_mass: f64,
    /// Rate at which all motion decays [1/s].
    #[serde(default = "default_damping")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 20.0], "x-group" = "Air"))]
    pub damping: f64,
    /// Deceleration by which held cloth comes to rest, however fast it swings [m/s²]: fibres that rub on each
    /// other, and air that clings to them. It fades away with the motion, so nothing hangs askew for it.
    #[serde(default = "default_settle")]
    #[schemars(range(min = 0.0, max = 100.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 2.0], "x-group" = "Air"))]
    pub settle: f64,
    /// Makes a part of the shot a cycle: its last frame is its first. None by default.
    #[serde(default)]
    #[schemars(extend("x-group" = "Start"))]
    pub cycle: Option<ClothCycle>,
    /// How long the cloth is simulated before the first frame [s], while characters move from their
    /// source pose, in which the garment was modelled, into their first pose. With 0 the garment
    /// starts as it is skinned at the first frame, limbs through it or not. Cloth without `bodies`
    /// starts so always.
    #[serde(default = "default_dressing")]
    #[schemars(range(min = 0.0, max = 60.0))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [0.0, 5.0], "x-group" = "Start"))]
    pub dressing: f64,
    /// Multiplies the number of sub-steps that the mesh's fineness asks for [-].
    #[serde(default = "default_quality")]
    #[schemars(range(min = 0.1, max = 100.0))]
    #[schemars(extend(
        "x-change" = "live",
        "x-slider" = [0.25, 8.0],
        "x-log" = true,
        "x-group" = "Solver"
    ))]
    pub quality: f64,
    /// Sub-steps per tick of 1/120 s; chosen from the mesh by default.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    #[schemars(extend(
        "x-change" = "live",
        "x-slider" = [1, 100],
        "x-log" = true,
        "x-group" = "Solver"
    ))]
    pub substeps: Option<u32>,
    /// Whether vertices are tethered to the pins over the cloth's own length: keeps fine meshes from
    /// sagging like rubber.
    #[serde(default = "default_tethers")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Solver"))]
    pub tethers: bool,
}

fn default_compression_limit() -> f64 {
    1.0
}
fn default_body_depth() -> f64 {
    0.1
}
fn default_drag() -> f64 {
    1.0
}
fn default_lift() -> f64 {
    1.0
}
fn default_damping() -> f64 {
    0.1
}
fn default_settle() -> f64 {
    0.3
}
fn default_crease_seconds() -> f64 {
    0.2
}
fn default_soft_pins_hz() -> f64 {
    4.0
}
fn default_dressing() -> f64 {
    1.0
}
fn default_quality() -> f64 {
    1.0
}
fn default_tethers() -> bool {
    true
}

/// Where the threads of a fabric run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Threads {
    /// As stiff in every direction.
    #[default]
    None,
    /// Warp along u, weft along v.
    Uv,
}

/// Angles between triangles at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RestAngles {
    /// Cut from flat cloth.
    #[default]
    Flat,
    /// Kept as in the mesh.
    AsModelled,
}

/// Vertices held by something. Give one of `surface`, `joint` or `path`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClothAttachment {
    /// Which vertices of the cloth.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Held by"))]
    pub vertices: Selection,
    /// Mesh that carries them: each stays at its place over the nearest triangle.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Held by"))]
    pub surface: Option<String>,
    /// Joint that carries them, as `actor/joint`.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Held by"))]
    pub joint: Option<String>,
    /// Key-framed displacement from where they start, x, y and z [m].
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Held by"))]
    pub path: Option<[Animated; 3]>,
    /// Frame from which they are held.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Time"))]
    pub from_frame: Option<f64>,
    /// Frame at which they are let go.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Time"))]
    pub until_frame: Option<f64>,
    /// Makes a `surface` sticky: a vertex is caught when it comes this near [m].
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 0.1], "x-group" = "Sticky"))]
    pub stick_within: Option<f64>,
    /// … and let go when it is pulled this far from where it was caught [m].
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 1.0], "x-group" = "Sticky"))]
    pub release_beyond: Option<f64>,
}

/// A line along which the cloth is doubled: heavier and stiffer in bending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothSeam {
    /// Vertices along the seam.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Seam"))]
    pub vertices: Selection,
    /// How many times stiffer in bending the cloth is there [-]. Two layers sewn together have eight
    /// times the rigidity of one.
    #[serde(default = "default_seam_bend")]
    #[schemars(range(min = 0.0, max = 1e6))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [1.0, 1000.0],
        "x-log" = true,
        "x-group" = "Seam"
    ))]
    pub bend: f64,
    /// How many times heavier the cloth is there [-].
    #[serde(default = "default_seam_weight")]
    #[schemars(range(min = 1e-3, max = 1e3))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [0.5, 10.0],
        "x-log" = true,
        "x-group" = "Seam"
    ))]
    pub weight: f64,
}

fn default_seam_bend() -> f64 {
    8.0
}
fn default_seam_weight() -> f64 {
    2.0
}

/// Two borders of the cloth that are sewn together. They may have different numbers of vertices; the way
/// round is that in which they lie nearer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothSewing {
    /// Vertices along the one border.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Sewing"))]
    pub from: Selection,
    /// Vertices along the other.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Sewing"))]
    pub to: Selection,
    /// Time in which the seam closes, from the start of the simulation on [s].
    #[serde(default = "default_close")]
    #[schemars(range(min = 0.0, max = 60.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 2.0], "x-group" = "Sewing"))]
    pub close: f64,
}

fn default_close() -> f64 {
    0.5
}

/// Frames that are played over and over. Towards the end of the cycle the cloth is led over to how it moved one
/// cycle before, so the motion under it must be a cycle of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothCycle {
    /// First frame of the cycle; the shot begins at least `blend` frames before it, better a whole cycle.
    #[schemars(extend("x-change" = "restart", "x-group" = "Cycle"))]
    pub from_frame: f64,
    /// Frame that is the first one again.
    #[schemars(extend("x-change" = "restart", "x-group" = "Cycle"))]
    pub until_frame: f64,
    /// Frames in which the cloth is led over.
    #[serde(default = "default_cycle_blend")]
    #[schemars(range(min = 1.0, max = 10000.0))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [1.0, 60.0], "x-group" = "Cycle"))]
    pub blend: f64,
}

fn default_cycle_blend() -> f64 {
    10.0
}

impl ClothCycle {
    fn validate(&self) -> Result<(), LayerError> {
        let Self { from_frame, until_frame, blend } = *self;
        let sound = from_frame.is_finite() && until_frame.is_finite() && until_frame > from_frame;
        require("cycle.until_frame", sound, until_frame, "after `from_frame`")?;
        let sound = blend >= 1.0 && blend <= until_frame - from_frame;
        require("cycle.blend", sound, blend, "1 or more, and no longer than the cycle")
    }
}

/// A part of the cloth with another fabric. Where the weight of a vertex is between 0 and 1, so is the change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothRegion {
    /// Vertices of the part, by painted weight.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Region"))]
    pub vertices: Selection,
    /// How many times stiffer in stretch [-].
    #[serde(default = "one")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.01, 100.0], "x-log" = true, "x-group" = "Region"))]
    pub stretch: f64,
    /// How many times stiffer in bending [-].
    #[serde(default = "one")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.01, 100.0], "x-log" = true, "x-group" = "Region"))]
    pub bend: f64,
    /// How many times heavier [-].
    #[serde(default = "one")]
    #[schemars(range(min = 1e-3, max = 1e3))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.1, 10.0], "x-log" = true, "x-group" = "Region"))]
    pub weight: f64,
    /// How many times as long its threads are at rest [-]: less than 1 and it shrinks (an elastic waist, wool in
    /// the wash), more and it lies in folds (ruffles).
    #[serde(default = "one")]
    #[schemars(range(min = 0.05, max = 10.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.5, 2.0], "x-log" = true, "x-group" = "Region"))]
    pub size: f64,
    /// How many times thicker, for what it touches [-]: padding, a hem, fur.
    #[serde(default = "one")]
    #[schemars(range(min = 0.01, max = 100.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.1, 10.0], "x-log" = true, "x-group" = "Region"))]
    pub thickness: f64,
}

fn one() -> f64 {
    1.0
}

impl ClothRegion {
    /// What it changes, by name.
    #[must_use]
    pub fn factors(&self) -> [(&'static str, f64); 5] {
        [
            ("stretch", self.stretch),
            ("bend", self.bend),
            ("weight", self.weight),
            ("size", self.size),
            ("thickness", self.thickness),
        ]
    }

    /// A part as the rest of the cloth is.
    #[must_use]
    pub fn new(vertices: Selection) -> Self {
        let one = one();
        Self { vertices, stretch: one, bend: one, weight: one, size: one, thickness: one }
    }
}

impl ClothParams {
    /// Parameters with their defaults.
    #[must_use]
    pub fn new(name: &str, on: &str) -> Self {
        Self {
            name: name.to_owned(),
            on: on.to_owned(),
            subdivide: 0,
            material: Fabric::default(),
            density: None,
            stretch: None,
            threads: Threads::None,
            weft: None,
            shear: None,
            bend: None,
            rest_angles: RestAngles::Flat,
            crease_radius: None,
            crease_seconds: default_crease_seconds(),
            tension_only: false,
            stretch_limit: None,
            compression_limit: default_compression_limit(),
            thickness: None,
            friction: None,
            pins: None,
            attachments: Vec::new(),
            seams: Vec::new(),
            sewing: Vec::new(),
            regions: Vec::new(),
            soft_pins: None,
            soft_pins_hz: default_soft_pins_hz(),
            pressure: None,
            overpressure: None,
            colliders: None,
            bodies: Vec::new(),
            bodies_except: None,
            body_depth: default_body_depth(),
            self_collision: false,
            drag: default_drag(),
            lift: default_lift(),
            air_mass: 0.0,
            damping: default_damping(),
            settle: default_settle(),
            cycle: None,
            dressing: default_dressing(),
            quality: default_quality(),
            substeps: None,
            tethers: default_tethers(),
        }
    }

    /// The fabric's numbers with the layer's own over them. `thickness` is not yet that of the mesh.
    #[must_use]
    pub fn moduli(&self) -> Moduli {
        let preset = self.material.moduli();
        let warp = self.stretch.unwrap_or(preset.warp);
        // A given stretch stands for both directions unless the weft is given too.
        let weft = self.weft.unwrap_or(if self.stretch.is_some() { warp } else { preset.weft });
        Moduli {
            density: self.density.unwrap_or(preset.density),
            warp,
            weft: if self.threads == Threads::Uv { weft } else { warp },
            shear: self.shear.unwrap_or(preset.shear),
            bend: self.bend.unwrap_or(preset.bend),
            friction: self.friction.unwrap_or(preset.friction),
            thickness: self.thickness.unwrap_or(preset.thickness),
        }
    }

    /// Checks what the schema cannot.
    pub fn validate(&self) -> Result<(), LayerError> {
        let m = self.moduli();
        let positive = [("density", m.density), ("stretch", m.warp), ("weft", m.weft)];
        let not_negative = [
            ("shear", m.shear),
            ("bend", m.bend),
            ("friction", m.friction),
            ("stretch_limit", self.stretch_limit.unwrap_or(0.0)),
            ("compression_limit", self.compression_limit),
            ("drag", self.drag),
            ("lift", self.lift),
            ("air_mass", self.air_mass),
            ("damping", self.damping),
            ("settle", self.settle),
            ("soft_pins_hz", self.soft_pins_hz),
            ("dressing", self.dressing),
            ("crease_seconds", self.crease_seconds),
        ];
        for (name, value) in positive {
            require(name, value > 0.0 && value.is_finite(), value, "greater than 0")?;
        }
        for (name, value) in not_negative {
            require(name, value >= 0.0 && value.is_finite(), value, "0 or more")?;
        }
        require("thickness", m.thickness > 0.0, m.thickness, "greater than 0")?;
        require("quality", self.quality > 0.0, self.quality, "greater than 0")?;
        require("body_depth", self.body_depth > 0.0, self.body_depth, "greater than 0")?;
        if self.substeps == Some(0) {
            return Err(LayerError::parameter("substeps", "give at least 1, or leave it out"));
        }
        if let Some(pressure) = &self.pressure
            && !(pressure.is_well_formed() && pressure.values().all(|v| v > 0.0))
        {
            let problem = "must be greater than 0 at every key, in ascending frames";
            return Err(LayerError::parameter("pressure", problem));
        }
        if let Some(overpressure) = &self.overpressure {
            if !(overpressure.is_well_formed() && overpressure.values().all(|v| v.abs() <= 1e6)) {
                let problem = "must be at most 1e6 Pa at every key, in ascending frames";
                return Err(LayerError::parameter("overpressure", problem));
            }
            if self.pressure.is_some() {
                let problem = "give a volume (`pressure`) or an overpressure in Pa, not both";
                return Err(LayerError::parameter("overpressure", problem));
            }
        }
        for (index, seam) in self.seams.iter().enumerate() {
            let field = |key: &str| format!("seams[{index}].{key}");
            let sound = seam.bend >= 0.0 && seam.bend.is_finite();
            require(&field("bend"), sound, seam.bend, "0 or more")?;
            let sound = seam.weight > 0.0 && seam.weight.is_finite();
            require(&field("weight"), sound, seam.weight, "greater than 0")?;
        }
        for (index, sewing) in self.sewing.iter().enumerate() {
            let sound = sewing.close >= 0.0 && sewing.close.is_finite();
            require(&format!("sewing[{index}].close"), sound, sewing.close, "0 or more")?;
        }
        for (index, region) in self.regions.iter().enumerate() {
            for (name, value) in region.factors() {
                let sound = value > 0.0 && value.is_finite();
                require(&format!("regions[{index}].{name}"), sound, value, "greater than 0")?;
            }
        }
        if let Some(radius) = self.crease_radius {
            let sound = radius > 0.0 && radius.is_finite();
            require("crease_radius", sound, radius, "greater than 0")?;
        }
        self.cycle.iter().try_for_each(ClothCycle::validate)?;
        for (index, attachment) in self.attachments.iter().enumerate() {
            attachment.validate(index)?;
        }
        Ok(())
    }
}

fn require(name: &str, holds: bool, value: f64, bound: &str) -> Result<(), LayerError> {
    if holds {
        return Ok(());
    }
    Err(LayerError::parameter(name, format!("is {value}, must be {bound}")))
}

impl ClothAttachment {
    fn validate(&self, index: usize) -> Result<(), LayerError> {
        let field = |key: &str| format!("attachments[{index}].{key}");
        let kinds = [self.surface.is_some(), self.joint.is_some(), self.path.is_some()];
        if kinds.iter().filter(|k| **k).count() != 1 {
            let problem = "give exactly one of `surface`, `joint` and `path`";
            return Err(LayerError::parameter(field("surface"), problem));
        }
        if self.stick_within.is_some() && self.surface.is_none() {
            let problem = "only a `surface` can be sticky";
            return Err(LayerError::parameter(field("stick_within"), problem));
        }
        if self.release_beyond.is_some() && self.stick_within.is_none() {
            let problem = "give `stick_within` too: only what sticks is released";
            return Err(LayerError::parameter(field("release_beyond"), problem));
        }
        if self.path.iter().flatten().any(|a| !a.is_well_formed()) {
            let problem = "keys must be finite, in ascending frames";
            return Err(LayerError::parameter(field("path"), problem));
        }
        Ok(())
    }
}
