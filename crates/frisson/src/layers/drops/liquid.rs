//! Liquids: density, tension, drag, colour.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{DropsParams, SplashParams};
use crate::geometry::Material;

/// A known liquid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LiquidPreset {
    /// Clear, thin.
    #[default]
    Water,
    /// Clear, salty, wets skin.
    Tear,
    /// Clear, wets skin.
    Sweat,
    /// Dark red, a few times thicker than water.
    Blood,
    /// Opaque, thick, dries.
    Paint,
    /// Amber, very thick.
    Honey,
    /// Opaque white, twice as thick as water.
    Milk,
    /// Yellow, clear, thick.
    Oil,
}

/// How a liquid resists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drag {
    /// The same force per speed for every drop [kg/s].
    Same(f64),
    /// By dynamic viscosity [Pa s]: with the size of the drop and how it wets the ground.
    Viscous(f64),
}

impl Default for Drag {
    fn default() -> Self {
        Self::Same(0.0)
    }
}

/// Logarithm of a drop's size over the few nanometres at which a contact line slips [-].
const LINE_LOGARITHM: f64 = 12.0;

/// Force per viscosity, speed and radius of the sphere of a cap that slides [-].
///
/// The bulk is sheared as a film of the cap's mean height, `3 mu U A / h`; the wedge at the contact line
/// adds `3 mu U ln / theta` per length of line, of which the part along the motion counts.
#[must_use]
pub fn sliding_resistance(contact_angle_deg: f64) -> f64 {
    use std::f64::consts::PI;
    let (contact, _) = Liquid::cap_radii(contact_angle_deg);
    // With A = pi c² r² and h = V / A = 4 r / (3 c²).
    let bulk = 9.0 / 4.0 * PI * contact.powi(4);
    let line = 3.0 * PI * contact * LINE_LOGARITHM / contact_angle_deg.to_radians();
    bulk + line
}

struct Preset {
    density: f64,
    tension: f64,
    drag: Drag,
    contact_angle_deg: f64,
    color: [f32; 3],
    clear: f32,
    ior: f32,
    absorption: [f32; 3],
}

impl LiquidPreset {
    fn values(self) -> Preset {
        let preset = |density, tension, drag, angle, color, clear, ior, absorption| Preset {
            density,
            tension,
            drag,
            contact_angle_deg: angle,
            color,
            clear,
            ior,
            absorption,
        };
        // Thin liquids: the drag of a drop of a few milligrams, about viscosity times its width times the
        // slope of the flow near the contact line (a factor of about a hundred). Of thick ones, drops of
        // all sizes are seen: theirs goes by viscosity.
        use Drag::{Same, Viscous};
        match self {
            Self::Water => preset(
                998.0,
                0.0728,
                Same(3e-4),
                65.0,
                [0.95, 0.97, 1.0],
                1.0,
                1.333,
                [0.3, 0.06, 0.01],
            ),
            Self::Tear => preset(
                1003.0,
                0.043,
                Same(4e-4),
                50.0,
                [0.97, 0.98, 1.0],
                1.0,
                1.337,
                [0.3, 0.06, 0.01],
            ),
            Self::Sweat => preset(
                1003.0,
                0.055,
                Same(4e-4),
                55.0,
                [0.97, 0.98, 1.0],
                1.0,
                1.334,
                [0.3, 0.06, 0.01],
            ),
            Self::Blood => {
                preset(1060.0, 0.056, Same(1.5e-3), 60.0, [0.30, 0.008, 0.006], 0.0, 1.35, [0.0; 3])
            }
            Self::Paint => {
                preset(1250.0, 0.035, Same(2e-2), 50.0, [0.05, 0.16, 0.55], 0.0, 1.5, [0.0; 3])
            }
            Self::Honey => preset(
                1420.0,
                0.06,
                Viscous(10.0),
                70.0,
                [0.9, 0.55, 0.12],
                0.9,
                1.49,
                [30.0, 120.0, 500.0],
            ),
            Self::Milk => {
                preset(1030.0, 0.047, Viscous(2e-3), 60.0, [0.9, 0.88, 0.82], 0.0, 1.35, [0.0; 3])
            }
            Self::Oil => preset(
                915.0,
                0.032,
                Viscous(0.08),
                25.0,
                [0.95, 0.85, 0.3],
                0.95,
                1.47,
                [8.0, 20.0, 160.0],
            ),
        }
    }
}

/// The liquid, resolved.
#[derive(Clone, Debug, Default)]
pub struct Liquid {
    /// Density [kg/m³].
    pub density: f64,
    /// Surface tension [N/m].
    pub tension: f64,
    /// Drag on surfaces.
    pub drag: Drag,
    /// Contact angle where the ground does not say otherwise [degrees].
    pub contact_angle_deg: f64,
    /// Growth of the drag with concentration [-].
    pub thickening: f64,
    /// Least time in the air [s].
    pub air_time: f64,
    /// Margin of adhesion for landing on overhangs [-].
    pub hysteresis: f64,
    /// Part that stays when a drop drips [-].
    pub drip_remainder: f64,
    /// Drag in the air [1/s].
    pub air_drag: f64,
    /// Drops lighter than this vanish [kg].
    pub least_mass: f64,
    /// Splashing, where wanted.
    pub splash: Option<SplashParams>,
    /// How it looks.
    pub material: Material,
}

impl Liquid {
    /// From the parameters.
    #[must_use]
    pub fn new(params: &DropsParams) -> Self {
        let p = &params.liquid;
        let preset = p.preset.values();
        let clear = p.clear.unwrap_or(preset.clear);
        let [r, g, b] = p.color.unwrap_or(preset.color);
        let material = Material {
            name: format!("{}.liquid", params.name),
            base_color: [r, g, b, 1.0],
            roughness: if clear > 0.0 { 0.02 } else { 0.12 },
            transmission: clear,
            ior: preset.ior,
            absorption: if clear > 0.0 { preset.absorption } else { [0.0; 3] },
            ..Material::default()
        };
        Self {
            density: p.density.unwrap_or(preset.density),
            tension: p.tension.unwrap_or(preset.tension),
            drag: match (p.viscosity, p.viscosity_pa_s) {
                (Some(drag), _) => Drag::Same(drag),
                (None, Some(viscosity)) => Drag::Viscous(viscosity),
                (None, None) => preset.drag,
            },
            contact_angle_deg: p.contact_angle_deg.unwrap_or(preset.contact_angle_deg),
            thickening: params.deposit.thickening,
            air_time: params.air.least_time,
            hysteresis: params.air.hysteresis,
            drip_remainder: params.air.remainder,
            air_drag: params.air.drag,
            least_mass: params.sinks.least_mass,
            splash: params.air.splash,
            material,
        }
    }

    /// Radius of the sphere of a mass [m].
    #[must_use]
    pub fn radius(&self, mass: f64) -> f64 {
        (3.0 * mass / (4.0 * std::f64::consts::PI * self.density)).cbrt()
    }

    /// Radius of the contact with the ground of a cap of that volume, and its widest radius, in radii
    /// of the sphere.
    #[must_use]
    pub fn cap_radii(contact_angle_deg: f64) -> (f64, f64) {
        let theta = contact_angle_deg.to_radians();
        let c = theta.cos();
        let cap = (4.0 / (2.0 - 3.0 * c + c * c * c)).cbrt();
        let contact = cap * theta.sin();
        (contact, if contact_angle_deg < 90.0 { contact } else { cap })
    }
}
