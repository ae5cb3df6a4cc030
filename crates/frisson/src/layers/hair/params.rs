//! What the artist sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::strand_params::StrandParams;
use super::style_params::StyleParams;
use crate::stage::{Anchor, Animated, LayerError, Selection};

/// Deformable wisps that lean, rub, tangle and split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HairParams {
    /// Name of the layer, unique in the scene; the strands carry it too.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Hair"))]
    pub name: String,
    /// Mesh the hair grows on: `actor` or `actor/mesh`.
    #[schemars(extend("x-change" = "restart", "x-group" = "Hair"))]
    pub on: String,
    /// Where on that mesh; nothing given: everywhere.
    #[schemars(extend("x-change" = "restart", "x-group" = "Roots"))]
    pub scalp: Selection,
    /// Number of wisps, spread evenly over the scalp.
    #[schemars(range(min = 1, max = 100_000), extend("x-change" = "restart", "x-slider" = [10, 1000], "x-log" = true, "x-group" = "Roots"))]
    pub wisps: u32,
    /// Roots at these places instead: points [m], vertices, places on triangles, at joints or markers, each
    /// moved to the nearest point of the scalp.
    #[schemars(extend("x-change" = "restart", "x-group" = "Roots"))]
    pub at: Vec<Anchor>,
    /// Direction in which hair leaves the skin; not given: along the skin's normal.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Roots"))]
    pub direction: Option<[f32; 3]>,
    /// Particles of a wisp's chain, the two carried by the scalp included.
    #[schemars(range(min = 4, max = 48), extend("x-change" = "restart", "x-slider" = [6, 24], "x-group" = "Wisps"))]
    pub particles: u32,
    /// Length from the skin to the tip [m].
    #[schemars(range(min = 0.0, max = 10.0), extend("x-change" = "rebuild", "x-slider" = [0.02, 1.0], "x-group" = "Wisps"))]
    pub length: f32,
    /// How much the wisps' lengths differ: 0.2 is plus or minus 20% [-].
    #[schemars(range(min = 0.0, max = 0.9), extend("x-change" = "rebuild", "x-slider" = [0.0, 0.5], "x-group" = "Wisps"))]
    pub length_variation: f32,
    /// Vertex-colour channel (`r`, `g`, `b`, `a`) that multiplies the length.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Maps"))]
    pub length_map: Option<String>,
    /// Radius of a wisp where it is thickest [m].
    #[schemars(range(min = 0.0001, max = 1.0), extend("x-change" = "rebuild", "x-slider" = [0.002, 0.04], "x-log" = true, "x-group" = "Wisps"))]
    pub radius: f32,
    /// Vertex-colour channel that multiplies the radius.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Maps"))]
    pub radius_map: Option<String>,
    /// Vertex-colour channel that multiplies the density of roots.
    #[schemars(extend("x-change" = "restart", "x-group" = "Maps"))]
    pub density_map: Option<String>,
    /// Radius along the wisp as `[fraction of the length, fraction of the radius]` pairs.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Wisps"))]
    pub profile: Vec<(f32, f32)>,
    /// Radius of a wisp at the skin [m]; not given: so that the roots cover the scalp.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "rebuild", "x-slider" = [0.002, 0.04], "x-log" = true, "x-group" = "Wisps"))]
    pub root_radius: Option<f32>,
    /// Mass of a wisp per metre [kg/m]; a thousand hairs weigh about 0.005.
    #[schemars(range(min = 1e-6, max = 10.0), extend("x-change" = "rebuild", "x-slider" = [0.0005, 0.05], "x-log" = true, "x-group" = "Wisps"))]
    pub mass_per_length: f32,
    /// By how much a wisp hanging by its root lengthens under its own weight [-]. 0: not at all
    /// (straight hair); 0.05 to 0.3: springy curls.
    #[schemars(range(min = 0.0, max = 100.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 0.5], "x-group" = "Motion"))]
    pub stretch: f32,
    /// Bending stiffness, as the length a wisp can hold out sideways before it droops [m]. 0: limp;
    /// 0.05: natural; 0.15: wiry.
    #[schemars(range(min = 0.0, max = 2.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 0.3], "x-group" = "Motion"))]
    pub bending_length: f32,
    /// Vertex-colour channel that multiplies the bending stiffness.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Maps"))]
    pub stiffness_map: Option<String>,
    /// Rate at which bending motion dies inside a wisp [1/s].
    #[schemars(range(min = 0.0, max = 1000.0), extend("x-change" = "live", "x-slider" = [0.0, 50.0], "x-group" = "Motion"))]
    pub bending_damping: f32,
    /// Torsion: frequency at which a wisp twisted about its own axis swings back [Hz].
    #[schemars(range(min = 0.0, max = 60.0), extend("x-change" = "live", "x-slider" = [0.0, 12.0], "x-group" = "Motion"))]
    pub torsion_hz: f32,
    /// Damping of torsion, as a fraction of critical [-].
    #[schemars(range(min = 0.0, max = 2.0), extend("x-change" = "live", "x-slider" = [0.0, 1.5], "x-group" = "Motion"))]
    pub torsion_damping_ratio: f32,
    /// Rate at which hair takes on the speed of the air [1/s].
    #[schemars(range(min = 0.0, max = 1000.0), extend("x-change" = "live", "x-slider" = [0.0, 20.0], "x-group" = "Air"))]
    pub drag: f32,
    /// How well hair and body shield what is behind them from the wind: 0 not at all, 1 naturally [-].
    #[schemars(range(min = 0.0, max = 10.0), extend("x-change" = "live", "x-slider" = [0.0, 3.0], "x-group" = "Air"))]
    pub wind_shadow: f32,
    /// Pull of every particle towards its styled place on the head, as a frequency [Hz]. 0: none.
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 5.0], "x-group" = "Goal"))]
    pub goal_hz: Animated,
    /// Vertex-colour channel that multiplies the pull towards the styled place.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Maps"))]
    pub goal_map: Option<String>,
    /// Chain steps in one tick of 1/120 s.
    #[schemars(range(min = 1, max = 60), extend("x-change" = "live", "x-slider" = [1, 8], "x-group" = "Quality"))]
    pub substeps: u32,
    /// Wetness of all hair, 0 to 1 [-]; a vertex attribute `wetness` of the scalp adds to it.
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Motion"))]
    pub wetness: Animated,
    /// Seed of everything random in this layer.
    #[schemars(extend("x-change" = "restart", "x-slider" = [0, 100], "x-group" = "Roots"))]
    pub seed: u64,
    /// The elastic envelope that gives a wisp its thickness.
    pub envelope: EnvelopeParams,
    /// What the hair collides with.
    pub body: BodyParams,
    /// How wisps act on each other.
    pub interaction: InteractionParams,
    /// Splitting and merging.
    pub split: SplitParams,
    /// The hair style: initial shape, ties.
    pub style: StyleParams,
    /// The visible hairs.
    pub strands: StrandParams,
}

impl Default for HairParams {
    fn default() -> Self {
        Self {
            name: "hair".to_owned(),
            on: String::new(),
            scalp: Selection::default(),
            wisps: 100,
            at: Vec::new(),
            direction: None,
            particles: 12,
            length: 0.3,
            length_variation: 0.1,
            length_map: None,
            radius: 0.015,
            radius_map: None,
            density_map: None,
            profile: vec![(0.0, 0.8), (0.25, 1.0), (0.7, 0.9), (1.0, 0.45)],
            root_radius: None,
            mass_per_length: 0.005,
            stretch: 0.0,
            bending_length: 0.05,
            stiffness_map: None,
            bending_damping: 6.0,
            torsion_hz: 4.0,
            torsion_damping_ratio: 0.4,
            drag: 4.0,
            wind_shadow: 1.0,
            goal_hz: Animated::default(),
            goal_map: None,
            substeps: 1,
            wetness: Animated::default(),
            seed: 0,
            envelope: EnvelopeParams::default(),
            body: BodyParams::default(),
            interaction: InteractionParams::default(),
            split: SplitParams::default(),
            style: StyleParams::default(),
            strands: StrandParams::default(),
        }
    }
}

/// The elastic envelope of a wisp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EnvelopeParams {
    /// Samples around each particle.
    #[schemars(range(min = 3, max = 8), extend("x-change" = "restart", "x-slider" = [3, 8], "x-group" = "Envelope"))]
    pub samples: u32,
    /// Frequency at which a sample swings about its rest radius [Hz]; higher is harder.
    #[schemars(range(min = 0.1, max = 200.0), extend("x-change" = "live", "x-slider" = [2.0, 40.0], "x-log" = true, "x-group" = "Envelope"))]
    pub frequency_hz: f32,
    /// Damping of that swing, as a fraction of critical [-].
    #[schemars(range(min = 0.0, max = 5.0), extend("x-change" = "live", "x-slider" = [0.0, 1.5], "x-group" = "Envelope"))]
    pub damping_ratio: f32,
    /// Share of a wisp's mass that its samples carry [-].
    #[schemars(range(min = 0.01, max = 0.9), extend("x-change" = "live", "x-slider" = [0.05, 0.8], "x-group" = "Envelope"))]
    pub mass_share: f32,
}

impl Default for EnvelopeParams {
    fn default() -> Self {
        Self { samples: 4, frequency_hz: 10.0, damping_ratio: 0.4, mass_share: 0.5 }
    }
}

/// What the hair collides with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BodyParams {
    /// Fit ellipsoids to the character that carries the scalp, one per limb, and collide with them.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Bodies"))]
    pub fit_ellipsoids: bool,
    /// Largest number of fitted ellipsoids.
    #[schemars(range(min = 1, max = 64), extend("x-change" = "rebuild", "x-slider" = [1, 32], "x-group" = "Bodies"))]
    pub max_ellipsoids: u32,
    /// Names of the scene's colliders that stop the hair; not given: all of them.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Bodies"))]
    pub colliders: Option<Vec<String>>,
    /// Meshes of the frame that stop the hair with their real, animated triangles.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Bodies"))]
    pub meshes: Vec<String>,
    /// Coulomb friction with fitted ellipsoids and meshes [-]; the scene's colliders have their own.
    #[schemars(range(min = 0.0, max = 10.0), extend("x-change" = "live", "x-slider" = [0.0, 2.0], "x-group" = "Bodies"))]
    pub friction: f32,
    /// Share of the normal speed that bounces back [-].
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Bodies"))]
    pub restitution: f32,
    /// Height above the surface at which hair rests [m].
    #[schemars(range(min = 0.0, max = 0.1), extend("x-change" = "live", "x-slider" = [0.0, 0.01], "x-group" = "Bodies"))]
    pub margin: f32,
}

impl Default for BodyParams {
    fn default() -> Self {
        Self {
            fit_ellipsoids: false,
            max_ellipsoids: 16,
            colliders: None,
            meshes: Vec::new(),
            friction: 0.3,
            restitution: 0.0,
            margin: 0.001,
        }
    }
}

/// How wisps act on each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InteractionParams {
    /// Whether interpenetrating wisps rub.
    #[schemars(extend("x-change" = "live", "x-group" = "Wisp against wisp"))]
    pub friction: bool,
    /// Whether wisps that meet across collide.
    #[schemars(extend("x-change" = "live", "x-group" = "Wisp against wisp"))]
    pub collisions: bool,
    /// Viscous friction of interpenetrating wisps [1/s]: 0.5 slips apart at once, 50 sticks.
    #[schemars(range(min = 0.0, max = 10_000.0), extend("x-change" = "live", "x-slider" = [0.1, 100.0], "x-log" = true, "x-group" = "Wisp against wisp"))]
    pub viscosity: f32,
    /// Dry friction of interpenetrating wisps, as the acceleration against each other that they
    /// withstand without slipping [m/s²]; not given: a hundredth of the viscosity squared (0.25 at a
    /// viscosity of 5, 25 at 50).
    #[schemars(range(min = 0.0, max = 1000.0), extend("x-change" = "live", "x-slider" = [0.0, 50.0], "x-group" = "Wisp against wisp"))]
    pub stick: Option<f32>,
    /// Two wisps interpenetrate while the cosine between their relative velocity and the normal of
    /// both is below this, and collide above it [-].
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Wisp against wisp"))]
    pub threshold: f32,
    /// Collisions stop all relative motion, not only the approach.
    #[schemars(extend("x-change" = "live", "x-group" = "Wisp against wisp"))]
    pub full: bool,
    /// How often interactions are treated [Hz].
    #[schemars(range(min = 1.0, max = 1000.0), extend("x-change" = "live", "x-slider" = [10.0, 120.0], "x-group" = "Quality"))]
    pub rate_hz: f32,
    /// Partners of a section that are treated in one pass; where there are more they take turns, each
    /// with the time since its last one. More is smoother and slower.
    #[schemars(range(min = 1, max = 1000), extend("x-change" = "live", "x-slider" = [1, 40], "x-group" = "Quality"))]
    pub most_partners: u32,
    /// Whether a wisp also meets itself.
    #[schemars(extend("x-change" = "live", "x-group" = "Wisp against wisp"))]
    pub with_itself: bool,
}

impl Default for InteractionParams {
    fn default() -> Self {
        Self {
            friction: true,
            collisions: true,
            viscosity: 5.0,
            stick: None,
            threshold: 0.9,
            full: false,
            rate_hz: 30.0,
            most_partners: 6,
            with_itself: true,
        }
    }
}

impl InteractionParams {
    /// Acceleration that interpenetrating wisps withstand without slipping [m/s²].
    pub(super) fn dry_limit(&self) -> f32 {
        self.stick.unwrap_or(0.01 * self.viscosity * self.viscosity)
    }

    /// Whether dry friction is to hold hair against its weight: then every pair is treated at every
    /// tick, because what slips between two passes would never come back.
    pub(super) fn holds(&self) -> bool {
        self.friction && self.dry_limit() > super::limits::HOLDS
    }

    /// How often a pass goes through all pairs: hair that holds must hold everywhere at once.
    pub(super) fn sweeps(&self) -> u32 {
        // One sweep hands what it holds from pair to pair; four carry it across a bundle.
        if self.holds() { 4 } else { 1 }
    }
}

/// Splitting and merging of wisps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SplitParams {
    /// Largest number of wisps as a multiple of the initial one; 1: never split.
    #[schemars(range(min = 1.0, max = 16.0), extend("x-change" = "live", "x-slider" = [1.0, 4.0], "x-group" = "Splitting"))]
    pub max_growth: f32,
    /// A wisp splits where its largest diameter exceeds its smallest this many times [-].
    #[schemars(range(min = 1.05, max = 100.0), extend("x-change" = "live", "x-slider" = [1.1, 5.0], "x-group" = "Splitting"))]
    pub ratio: f32,
    /// Rest radius of the halves, as a fraction of the whole's [-]; 0.7071 shares the cross-section.
    #[schemars(range(min = 0.25, max = 1.0), extend("x-change" = "live", "x-slider" = [0.25, 1.0], "x-group" = "Splitting"))]
    pub radius_scale: f32,
    /// Speed at which the halves part, as a fraction of the wisp's own [-].
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Splitting"))]
    pub speed: f32,
    /// Least speed that counts for that [m/s].
    #[schemars(range(min = 0.0, max = 10.0), extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Splitting"))]
    pub min_speed: f32,
    /// Halves may split again, and rub, once they are this many radii apart [-].
    #[schemars(range(min = 0.0, max = 10.0), extend("x-change" = "live", "x-slider" = [0.0, 4.0], "x-group" = "Splitting"))]
    pub apart: f32,
    /// Halves that stay closer than this many radii are drawn together again [-]; 0: never merge.
    #[schemars(range(min = 0.0, max = 10.0), extend("x-change" = "live", "x-slider" = [0.0, 2.0], "x-group" = "Splitting"))]
    pub merge_distance: f32,
    /// How long they must stay close before that [s].
    #[schemars(range(min = 0.0, max = 60.0), extend("x-change" = "live", "x-slider" = [0.0, 5.0], "x-group" = "Splitting"))]
    pub merge_after: f32,
}

impl Default for SplitParams {
    fn default() -> Self {
        Self {
            max_growth: 1.0,
            ratio: 2.0,
            radius_scale: std::f32::consts::FRAC_1_SQRT_2,
            speed: 0.2,
            min_speed: 0.1,
            apart: 1.0,
            merge_distance: 0.5,
            merge_after: 0.5,
        }
    }
}

impl HairParams {
    /// Checks what ranges cannot say.
    pub fn validate(&self) -> Result<(), LayerError> {
        let finite = [self.length, self.radius, self.mass_per_length, self.stretch, self.drag];
        // Ranges of the schema are checked by readers of scene files only: a program may set anything.
        if finite.iter().any(|v| !v.is_finite() || *v < 0.0) {
            return Err(LayerError::parameter("length", "numbers must be finite and not negative"));
        }
        if self.length <= 0.0 {
            return Err(LayerError::parameter("length", "hair of no length cannot be simulated"));
        }
        if self.radius <= 0.0 || self.mass_per_length <= 0.0 {
            return Err(LayerError::parameter("radius", "radius and mass must be above 0"));
        }
        if !(4..=48).contains(&self.particles) {
            return Err(LayerError::parameter("particles", "give 4 to 48"));
        }
        if !(3..=8).contains(&self.envelope.samples) {
            return Err(LayerError::parameter("envelope.samples", "give 3 to 8"));
        }
        if self.substeps == 0 || self.strands.points < 2 {
            return Err(LayerError::parameter("substeps", "at least one step and two points"));
        }
        let ascending = self.profile.windows(2).all(|w| w[0].0 < w[1].0);
        let good = |p: &(f32, f32)| p.0.is_finite() && p.1.is_finite() && p.1 >= 0.0;
        if self.profile.is_empty() || !ascending || !self.profile.iter().all(good) {
            return Err(LayerError::parameter(
                "profile",
                "give [fraction, radius] pairs with ascending fractions and radii not below 0",
            ));
        }
        for (name, value) in [("wetness", &self.wetness), ("goal_hz", &self.goal_hz)] {
            if !value.is_well_formed() {
                return Err(LayerError::parameter(name, "keys must ascend and be finite"));
            }
        }
        if let Some(d) = self.direction
            && glam::Vec3::from_array(d).try_normalize().is_none()
        {
            return Err(LayerError::parameter("direction", "a direction needs a length"));
        }
        self.style.validate()
    }
}
