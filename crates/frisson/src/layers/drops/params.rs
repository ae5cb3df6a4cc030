//! What the artist sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::liquid::LiquidPreset;
use super::source::SourceParams;
use crate::stage::{Animated, LayerError, Selection};

/// One name, or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Names {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Default for Names {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Names {
    /// The names.
    #[must_use]
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

/// Liquid that runs on surfaces, merges, leaves trails and falls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropsParams {
    /// Name of the layer, unique in the scene.
    #[schemars(extend("x-change" = "restart", "x-group" = "Drops"))]
    pub name: String,
    /// Meshes or actors that drops run on; one name or a list.
    #[schemars(extend("x-change" = "restart", "x-group" = "Drops"))]
    pub on: Names,
    /// A finer mesh to show the drops on; they run on `on` and are carried to the nearest place of
    /// this one.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Drops"))]
    pub shown_on: Option<String>,
    /// The liquid.
    #[serde(default)]
    #[schemars(extend("x-group" = "Liquid"))]
    pub liquid: LiquidParams,
    /// Where drops come from.
    #[serde(default)]
    #[schemars(extend("x-group" = "Sources"))]
    pub sources: Vec<SourceParams>,
    /// What the surface is made of; later entries override earlier ones where their selection holds.
    #[serde(default)]
    #[schemars(extend("x-group" = "Ground"))]
    pub ground: Vec<GroundParams>,
    /// Drops that touch become one.
    #[serde(default)]
    #[schemars(extend("x-group" = "Merging"))]
    pub merging: MergingParams,
    /// What a running drop leaves behind.
    #[serde(default)]
    #[schemars(extend("x-group" = "Trails"))]
    pub trails: TrailParams,
    /// Drying, soaking in, vanishing.
    #[serde(default)]
    #[schemars(extend("x-group" = "Drying"))]
    pub sinks: SinkParams,
    /// Substance carried, laid down and dissolved again.
    #[serde(default)]
    #[schemars(extend("x-group" = "Deposit"))]
    pub deposit: DepositParams,
    /// Letting go, falling, landing.
    #[serde(default)]
    #[schemars(extend("x-group" = "Air"))]
    pub air: AirParams,
    /// What drops look like.
    #[serde(default)]
    #[schemars(extend("x-group" = "Look"))]
    pub shape: ShapeParams,
    /// Curves that pull drops along.
    #[serde(default)]
    #[schemars(extend("x-group" = "Guides"))]
    pub guides: Vec<GuideParams>,
    /// Writes the tracks as closed-form pieces (`<name>.tracks`): points with velocity, acceleration,
    /// drag, start and duration, which give the place at any time between frames.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Drops"))]
    pub tracks: bool,
    /// Seed of everything random.
    #[serde(default)]
    #[schemars(extend("x-change" = "restart", "x-group" = "Drops"))]
    pub seed: u64,
    /// Most drops at any time; sources pause above it.
    #[schemars(range(min = 1, max = 10_000_000))]
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-slider" = [1, 100000], "x-log" = true, "x-group" = "Drops"))]
    pub max_drops: Option<u64>,
}

/// The liquid: a preset, and what differs from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LiquidParams {
    /// Starting point for all that is not given.
    #[schemars(extend("x-change" = "live", "x-group" = "Liquid"))]
    pub preset: LiquidPreset,
    /// Density [kg/m³].
    #[schemars(range(min = 1.0, max = 30_000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [500, 2000], "x-group" = "Liquid"))]
    pub density: Option<f64>,
    /// Surface tension [N/m].
    #[schemars(range(min = 1e-4, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.01, 0.1], "x-group" = "Liquid"))]
    pub tension: Option<f64>,
    /// Dynamic viscosity [Pa s]: water 0.001, blood 0.004, oil 0.08, honey 10. The drag of a drop grows
    /// with its size and with how far it spreads.
    #[schemars(range(min = 0.0, max = 1e6))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1e-4, 100], "x-log" = true, "x-group" = "Liquid"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viscosity_pa_s: Option<f64>,
    /// Drag of a drop on the surface, proportional to its speed, the same for all sizes [kg/s]; instead
    /// of `viscosity_pa_s`. Then only bumps hold drops, unless `hysteresis_deg` is given too.
    #[schemars(range(min = 0.0, max = 1e6))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1e-05, 1], "x-log" = true, "x-group" = "Liquid"))]
    pub viscosity: Option<f64>,
    /// Contact angle on ground that does not say otherwise: wetting (small) to beading [degrees].
    #[schemars(range(min = 10.0, max = 160.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [20, 150], "x-group" = "Liquid"))]
    pub contact_angle_deg: Option<f64>,
    /// How far the contact angle may differ between the front and the rear of a drop before it moves, on
    /// ground that does not say otherwise [degrees]: what pins drops to the place where they are.
    #[schemars(range(min = 0.0, max = 120.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 80], "x-group" = "Liquid"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hysteresis_deg: Option<f64>,
    /// Colour, linear RGB.
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Liquid"))]
    pub color: Option<[f32; 3]>,
    /// Fraction of light let through, 0 (opaque) to 1 (clear).
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Liquid"))]
    pub clear: Option<f32>,
}

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
    /// Adhesion `D` [N/m²]: a drop lets go when the outward pull exceeds `D pi r²`.
    #[schemars(range(min = 0.0, max = 1e9))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1, 1000], "x-log" = true, "x-group" = "Ground"))]
    pub adhesion: f32,
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
    /// How much what pins a drop pulls it sideways, 0 (runs straight) to 1 [-].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Ground"))]
    pub meander: f32,
    /// Size of the spots that pull it to one side [m].
    #[schemars(range(min = 1e-6, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.001, 0.1], "x-log" = true, "x-group" = "Ground"))]
    pub meander_size: f32,
    /// Thickness of the film a running drop leaves [m].
    #[schemars(range(min = 0.0, max = 0.01))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.0001], "x-group" = "Ground"))]
    pub film: f32,
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
            adhesion: 60.0,
            adhesion_attribute: None,
            contact_angle_deg: None,
            hysteresis_deg: None,
            meander: 0.0,
            meander_size: 0.012,
            film: 0.0,
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

/// Drops that touch become one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MergingParams {
    /// Whether drops merge.
    #[schemars(extend("x-change" = "live", "x-group" = "Merging"))]
    pub enabled: bool,
    /// Reach of a drop, in widths of its contact [-].
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 3], "x-group" = "Merging"))]
    pub reach: f64,
    /// Whether those that meet in the air merge too.
    #[schemars(extend("x-change" = "live", "x-group" = "Merging"))]
    pub in_air: bool,
}

impl Default for MergingParams {
    fn default() -> Self {
        Self { enabled: true, reach: 1.0, in_air: true }
    }
}

/// What a running drop leaves behind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrailParams {
    /// Whether running drops wet the surface: film, smoothing, `wetness` attribute.
    #[schemars(extend("x-change" = "live", "x-group" = "Trails"))]
    pub enabled: bool,
    /// Writes the trails as a mesh (`<name>.trails`).
    #[schemars(extend("x-change" = "live", "x-group" = "Trails"))]
    pub mesh: bool,
    /// Side of the wetness image in the mesh's uv, in pixels; 0 for none.
    #[schemars(range(min = 0, max = 8192))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [0, 2048], "x-group" = "Trails"))]
    pub image: u32,
    /// Time in which a film and the wetness dry to a third [s].
    #[schemars(range(min = 0.001, max = 1e9))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.1, 600], "x-log" = true, "x-group" = "Trails"))]
    pub drying: f64,
    /// How unevenly they dry, 0 to 1 [-].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Trails"))]
    pub unevenness: f64,
    /// Width of a strip, in contact widths of the drop [-].
    #[schemars(range(min = 0.01, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.1, 2], "x-group" = "Trails"))]
    pub width: f64,
    /// Most strips kept; the oldest go first.
    #[schemars(range(min = 0, max = 10_000_000))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1e+06], "x-group" = "Trails"))]
    pub max_strips: usize,
    /// Small drops left behind on water-repelling ground.
    #[schemars(extend("x-group" = "Beads"))]
    pub beads: Option<BeadParams>,
}

impl Default for TrailParams {
    fn default() -> Self {
        Self {
            enabled: true,
            mesh: true,
            image: 0,
            drying: 6.0,
            unevenness: 0.5,
            width: 0.8,
            max_strips: 200_000,
            beads: None,
        }
    }
}

/// A trail that breaks into beads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BeadParams {
    /// Distance between beads, in radii of the drop [-].
    #[schemars(range(min = 0.5, max = 1000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1, 40], "x-group" = "Beads"))]
    pub spacing: f64,
    /// Part of the drop's mass that each takes [-].
    #[schemars(range(min = 1e-6, max = 0.5))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0001, 0.2], "x-log" = true, "x-group" = "Beads"))]
    pub share: f64,
    /// Beads only where the contact angle is above this [degrees].
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 160], "x-group" = "Beads"))]
    pub above_deg: f64,
}

impl Default for BeadParams {
    fn default() -> Self {
        Self { spacing: 6.0, share: 0.01, above_deg: 90.0 }
    }
}

/// Drying, soaking in, vanishing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SinkParams {
    /// Liquid that goes into the air per exposed area and time [kg/m²/s].
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.1], "x-group" = "Drying"))]
    pub evaporation: Animated,
    /// Drops lighter than this dry at once [kg].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1e-12, 1e-07], "x-log" = true, "x-group" = "Drying"))]
    pub least_mass: f64,
}

impl Default for SinkParams {
    fn default() -> Self {
        Self { evaporation: Animated::default(), least_mass: 1e-10 }
    }
}

/// Substance carried by the liquid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DepositParams {
    /// Dissolved fraction of the mass of new drops [-].
    #[schemars(range(min = 0.0, max = 0.95))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.5], "x-group" = "Deposit"))]
    pub concentration: f64,
    /// How strongly the drag grows with concentration: `exp(thickening c)` [-].
    #[schemars(range(min = 0.0, max = 100.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 20], "x-group" = "Deposit"))]
    pub thickening: f64,
    /// Rate at which a drop takes up dried substance under it [1/s].
    #[schemars(range(min = 0.0, max = 1e6))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 10], "x-group" = "Deposit"))]
    pub dissolving: f64,
}

/// Letting go, falling, landing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AirParams {
    /// Least time before a drop may touch again what it let go of [s].
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.2], "x-group" = "Air"))]
    pub least_time: f64,
    /// A drop must be this much inside what adhesion can hold to land on an overhang [-].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Air"))]
    pub hysteresis: f64,
    /// Part of a drop that stays when it drips from an edge or a vertex [-].
    #[schemars(range(min = 0.0, max = 0.95))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.5], "x-group" = "Air"))]
    pub remainder: f64,
    /// Rate at which the air slows a falling drop [1/s].
    #[schemars(range(min = 0.0, max = 1e4))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 5], "x-group" = "Air"))]
    pub drag: f64,
    /// Droplets on landing.
    #[schemars(extend("x-group" = "Splash"))]
    pub splash: Option<SplashParams>,
    /// How far outside the surfaces' box a drop is gone [m].
    #[schemars(range(min = 0.0, max = 1e6))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 10], "x-group" = "Air"))]
    pub margin: f32,
    /// Time over which a drop feels the surface's acceleration [s]; shorter jerks do not throw it.
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.2], "x-group" = "Air"))]
    pub response: f64,
    /// A surface that moves faster than this has been cut, not moved [m/s].
    #[schemars(range(min = 0.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1, 200], "x-log" = true, "x-group" = "Air"))]
    pub teleport_speed: f64,
}

impl Default for AirParams {
    fn default() -> Self {
        Self {
            least_time: 0.02,
            hysteresis: 0.2,
            remainder: 0.1,
            drag: 0.1,
            splash: None,
            margin: 1.0,
            response: 0.02,
            teleport_speed: 40.0,
        }
    }
}

/// Droplets on landing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SplashParams {
    /// Least speed against the surface [m/s].
    #[schemars(range(min = 0.0, max = 1e4))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 10], "x-group" = "Splash"))]
    pub speed: f64,
    /// Number of droplets.
    #[schemars(range(min = 1, max = 64))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1, 20], "x-group" = "Splash"))]
    pub droplets: u32,
    /// Part of the drop's mass they take together [-].
    #[schemars(range(min = 0.0, max = 0.9))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.9], "x-group" = "Splash"))]
    pub share: f64,
    /// Their speed, as a part of the landing speed [-].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1], "x-group" = "Splash"))]
    pub bounce: f64,
}

impl Default for SplashParams {
    fn default() -> Self {
        Self { speed: 1.5, droplets: 5, share: 0.2, bounce: 0.25 }
    }
}

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

/// A curve that pulls drops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GuideParams {
    /// Points of the curve, in its direction [m].
    #[schemars(extend("x-change" = "live", "x-slider" = [-10, 10], "x-group" = "Guides"))]
    pub points: Vec<[f64; 3]>,
    /// Acceleration towards the curve at `range` and beyond [m/s²].
    #[schemars(range(min = 0.0, max = 1000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 50], "x-group" = "Guides"))]
    pub pull: f64,
    /// Acceleration along it [m/s²].
    #[schemars(range(min = -1000.0, max = 1000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [-20, 20], "x-group" = "Guides"))]
    pub along: f64,
    /// Distance at which the pull is full [m].
    #[schemars(range(min = 1e-6, max = 1000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.001, 1], "x-log" = true, "x-group" = "Guides"))]
    pub range: f64,
    /// Index of the only source whose drops follow it.
    #[schemars(extend("x-change" = "live", "x-group" = "Guides"))]
    pub source: Option<u32>,
}

impl DropsParams {
    /// Checks that fields fit together.
    pub fn validate(&self) -> Result<(), LayerError> {
        if self.on.all().is_empty() {
            return Err(LayerError::parameter("on", "name at least one mesh for drops to run on"));
        }
        if self.liquid.viscosity.is_some() && self.liquid.viscosity_pa_s.is_some() {
            return Err(LayerError::parameter(
                "liquid.viscosity_pa_s",
                "give either this [Pa s] or `viscosity` [kg/s], not both",
            ));
        }
        for (i, source) in self.sources.iter().enumerate() {
            source.validate(&format!("sources[{i}]"))?;
        }
        let evaporation = &self.sinks.evaporation;
        if !evaporation.is_well_formed() || evaporation.values().any(|v| v < 0.0) {
            return Err(LayerError::parameter(
                "sinks.evaporation",
                "must be finite, not negative, with ascending frames",
            ));
        }
        for (i, ground) in self.ground.iter().enumerate() {
            let finite = ground.roughness.iter().all(|r| r.is_finite() && *r >= 0.0)
                && ground.adhesion >= 0.0
                && ground.film >= 0.0;
            if !finite {
                return Err(LayerError::parameter(
                    format!("ground[{i}]"),
                    "roughness, adhesion and film cannot be negative",
                ));
            }
        }
        for (i, guide) in self.guides.iter().enumerate() {
            if guide.points.len() < 2 || guide.range <= 0.0 {
                return Err(LayerError::parameter(
                    format!("guides[{i}]"),
                    "give at least two points and a positive range",
                ));
            }
        }
        Ok(())
    }
}
