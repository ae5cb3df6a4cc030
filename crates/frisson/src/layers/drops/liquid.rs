//! Liquids: density, tension, drag, colour.

use std::f64::consts::PI;

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
    let (contact, _) = Liquid::cap_radii(contact_angle_deg);
    // With A = pi c² r² and h = V / A = 4 r / (3 c²).
    let bulk = 9.0 / 4.0 * PI * contact.powi(4);
    let line = 3.0 * PI * contact * LINE_LOGARITHM / contact_angle_deg.to_radians();
    bulk + line
}

/// Factor of the force with which a contact line holds a drop: with the angle changing smoothly from the
/// front to the rear of a round contact (A. ElSherbini and A. Jacobi, 2006) [-].
const LINE_HOLD: f64 = 24.0 / (PI * PI * PI);

/// What pins a contact line, per length of a drop's width [N/m]: `24/pi³ sigma (cos rear - cos front)`.
///
/// With the drag this is the friction measured on sliding drops from water to thick oils, `F0 + beta w mu U`
/// (X. Li and others, 2023; they find `beta` from 20 to 200, the presets have 58 to 171).
#[must_use]
pub fn line_hold(tension: f64, contact_angle_deg: f64, hysteresis_deg: f64) -> f64 {
    let half = 0.5 * hysteresis_deg.max(0.0);
    let cos = |angle: f64| angle.clamp(0.0, 180.0).to_radians().cos();
    LINE_HOLD * tension * (cos(contact_angle_deg - half) - cos(contact_angle_deg + half))
}

struct Preset {
    density: f64,
    tension: f64,
    viscosity: f64,
    contact_angle_deg: f64,
    hysteresis_deg: f64,
    color: [f32; 3],
    clear: f32,
    ior: f32,
    absorption: [f32; 3],
}

/// What light loses in clear water, by colour [1/m].
const CLEAR: [f32; 3] = [0.3, 0.06, 0.01];

impl LiquidPreset {
    /// Constants at 20 °C (tear, sweat and blood: on skin), and contact angles where one meets them: water on
    /// a window, tears, sweat, blood and milk on skin, paint, oil and honey on a wall or a plate.
    fn values(self) -> Preset {
        let preset = |[density, tension, viscosity]: [f64; 3],
                      [contact_angle_deg, hysteresis_deg]: [f64; 2],
                      color,
                      clear,
                      ior,
                      absorption| Preset {
            density,
            tension,
            viscosity,
            contact_angle_deg,
            hysteresis_deg,
            color,
            clear,
            ior,
            absorption,
        };
        let (pale, opaque) = ([0.97, 0.98, 1.0], [0.0; 3]);
        match self {
            Self::Water => {
                preset([998.0, 0.0728, 1e-3], [60.0, 30.0], [0.95, 0.97, 1.0], 1.0, 1.333, CLEAR)
            }
            // At the shear of a running drop; the film on an eye at rest is five times as thick.
            Self::Tear => preset([1005.0, 0.043, 1.3e-3], [60.0, 45.0], pale, 1.0, 1.337, CLEAR),
            Self::Sweat => preset([1003.0, 0.060, 1e-3], [70.0, 40.0], pale, 1.0, 1.334, CLEAR),
            Self::Blood => {
                let red = [0.30, 0.008, 0.006];
                preset([1060.0, 0.056, 4e-3], [60.0, 30.0], red, 0.0, 1.35, opaque)
            }
            Self::Paint => {
                let blue = [0.05, 0.16, 0.55];
                preset([1250.0, 0.035, 0.3], [50.0, 20.0], blue, 0.0, 1.5, opaque)
            }
            Self::Honey => {
                let amber = ([0.9, 0.55, 0.12], [30.0, 120.0, 500.0]);
                preset([1420.0, 0.06, 10.0], [70.0, 20.0], amber.0, 0.9, 1.49, amber.1)
            }
            Self::Milk => {
                let white = [0.9, 0.88, 0.82];
                preset([1030.0, 0.047, 2e-3], [60.0, 30.0], white, 0.0, 1.35, opaque)
            }
            Self::Oil => {
                let yellow = ([0.95, 0.85, 0.3], [8.0, 20.0, 160.0]);
                preset([915.0, 0.032, 0.08], [25.0, 10.0], yellow.0, 0.95, 1.47, yellow.1)
            }
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
    /// Difference of the contact angles at front and rear that pins a drop, where the ground does not say
    /// otherwise [degrees].
    pub hysteresis_deg: f64,
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
                (None, None) => Drag::Viscous(preset.viscosity),
            },
            contact_angle_deg: p.contact_angle_deg.unwrap_or(preset.contact_angle_deg),
            // A drag given directly is the source's whole model, in which only bumps hold a drop.
            hysteresis_deg: p.hysteresis_deg.unwrap_or(match p.viscosity {
                Some(_) => 0.0,
                None => preset.hysteresis_deg,
            }),
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

    /// Dynamic viscosity [Pa s]; 0 where the drag is given directly.
    #[must_use]
    pub fn viscosity(&self) -> f64 {
        match self.drag {
            Drag::Viscous(viscosity) => viscosity,
            Drag::Same(_) => 0.0,
        }
    }

    /// How much wider than a cap of a height a lot of liquid lies that is pressed on the ground by an
    /// acceleration: no puddle is higher than `2 sqrt(sigma / (rho a)) sin(theta / 2)` [-].
    #[must_use]
    pub fn spread(&self, height: f64, press: f64, contact_angle_deg: f64) -> f64 {
        if press <= 0.0 {
            return 1.0;
        }
        let length = (self.tension / (self.density * press)).sqrt();
        let most = 2.0 * length * (0.5 * contact_angle_deg.to_radians()).sin();
        (height / most.max(1e-9)).max(1.0).sqrt()
    }

    /// Radius of the sphere of a mass [m].
    #[must_use]
    pub fn radius(&self, mass: f64) -> f64 {
        (3.0 * mass / (4.0 * PI * self.density)).cbrt()
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
