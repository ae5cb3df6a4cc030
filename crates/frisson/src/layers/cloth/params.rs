//! What the artist sets.

mod attachment;
mod beside;
mod check;
mod companion;
mod cycle;
mod region;
mod seam;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::material::{Fabric, Moduli};
use crate::stage::{Animated, Selection};

pub use attachment::ClothAttachment;
pub use beside::ClothBeside;
pub use companion::ClothCompanion;
pub use cycle::ClothCycle;
pub use region::ClothRegion;
pub use seam::{ClothSeam, ClothSewing};

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
    /// Other meshes that are cloth of the same fabric and are simulated with it: garments that feel each other both
    /// ways. All of them collide with each other and with themselves.
    #[serde(default)]
    #[schemars(extend("x-group" = "Layer"))]
    pub with: Vec<ClothCompanion>,
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
    /// How many times as long as it is an edge may be drawn before the cloth rips there [-]: 1.1 lets cloth tear that
    /// is drawn out by a tenth. Without it, cloth never tears. Torn cloth has more vertices than it had; neither
    /// what is blown up nor a `cycle` nor what keeps creases can tear.
    #[serde(default)]
    #[schemars(range(min = 1.001, max = 100.0))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [1.02, 2.0], "x-group" = "Fabric"))]
    pub tear: Option<f64>,
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
    /// Bodies, or parts of them, that stay outside of the garment, as arms beside a skirt do. Near what the cloth is worn
    /// on they press it only towards that and do not drag it along; where they leave it no room they pass through it.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Contact"))]
    pub beside: Vec<ClothBeside>,
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

impl ClothParams {
    /// Parameters with their defaults.
    #[must_use]
    pub fn new(name: &str, on: &str) -> Self {
        Self {
            name: name.to_owned(),
            on: on.to_owned(),
            with: Vec::new(),
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
            tear: None,
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
            beside: Vec::new(),
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
}
