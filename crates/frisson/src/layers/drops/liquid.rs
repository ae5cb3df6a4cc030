//! Liquids: density, tension, drag, colour.

use std::f64::consts::PI;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{DropsParams, SplashParams};
use crate::geometry::Material;
use crate::tolerances::nothing;

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

/// Mean friction of the layer in which a flow over a plate is slowed, in `rho U² / sqrt(Re)` (H. Blasius, 1908) [-].
const PLATE_FRICTION: f64 = 0.664;

/// How a cap that slides resists, per viscosity, speed and radius of its sphere [-].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resistance {
    /// Of the bulk, sheared as a film of the cap's mean height: `3 mu U A / h`.
    pub film: f64,
    /// Of the wedge at the contact line, `3 mu U ln / theta` per length of line, of which the part along the motion
    /// counts.
    pub line: f64,
    /// How much more the bulk resists, over the root of the Reynolds number of its width, where only a layer of it
    /// is sheared.
    layer: f64,
}

impl Resistance {
    /// At a contact angle.
    #[must_use]
    pub fn new(contact_angle_deg: f64) -> Self {
        let (contact, _) = Liquid::cap_radii(contact_angle_deg);
        Self {
            // With A = pi c² r² and h = V / A = 4 r / (3 c²).
            film: 9.0 / 4.0 * PI * contact.powi(4),
            line: 3.0 * PI * contact * LINE_LOGARITHM / contact_angle_deg.to_radians(),
            // With the friction of a plate as long as the drop, 2 c r, beside that of the film.
            layer: PLATE_FRICTION * 2.0 / (9.0 * contact.powi(3)),
        }
    }

    /// At a Reynolds number of the contact's width: where a drop is so fast that the shear does not reach through
    /// it, only a layer at the ground is sheared, the thinner the faster, and the drag grows faster than the speed
    /// (B. Puthenveettil and others, 2013, find it on water from numbers of some hundred on).
    #[must_use]
    pub fn at(&self, reynolds: f64) -> f64 {
        self.line + self.film * (self.layer * reynolds.sqrt()).max(1.0)
    }

    /// Of slow drops.
    #[must_use]
    pub fn slow(&self) -> f64 {
        self.at(0.0)
    }
}

/// Adhesion in `sqrt(tension density g)` [-]: `4/3 (3 v / (4 pi))^(1/3)` for drops of a volume of `v = 2.45`
/// capillary lengths cubed, those that fall from a finger or a dropper (50 mg of water).
const HANGING: f64 = 1.12;
/// Gravity under which that was seen [m/s²].
const HANGS_UNDER: f64 = 9.81;

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

/// What is dissolved in a liquid, and how it dries.
#[derive(Clone, Copy)]
struct Solids {
    concentration: f64,
    thickening: f64,
    dissolving: f64,
    evaporation: f64,
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
    film: f64,
    meander: f32,
    solids: Solids,
}

/// What light loses in clear water, by colour [1/m].
const CLEAR: [f32; 3] = [0.3, 0.06, 0.01];

/// What is the same in all presets that say nothing of it.
const PLAIN: Preset = Preset {
    density: 1000.0,
    tension: 0.07,
    viscosity: 1e-3,
    contact_angle_deg: 60.0,
    hysteresis_deg: 30.0,
    color: [0.97, 0.98, 1.0],
    clear: 0.0,
    ior: 1.35,
    absorption: [0.0; 3],
    film: 0.0,
    meander: 0.0,
    solids: Solids { concentration: 0.0, thickening: 0.0, dissolving: 0.0, evaporation: 0.0 },
};

impl LiquidPreset {
    /// Constants at 20 °C (tear, sweat and blood: on skin), and contact angles where one meets them: water on
    /// a window, tears, sweat, blood and milk on skin, paint, oil and honey on a wall or a plate. Films are what
    /// the relief of skin keeps, or what thick liquids leave on a wall.
    fn values(self) -> Preset {
        let physics =
            |[density, tension, viscosity]: [f64; 3], [angle, hysteresis]: [f64; 2]| Preset {
                density,
                tension,
                viscosity,
                contact_angle_deg: angle,
                hysteresis_deg: hysteresis,
                ..PLAIN
            };
        let clear = |physics: Preset, ior| Preset { clear: 1.0, ior, absorption: CLEAR, ..physics };
        match self {
            Self::Water => Preset {
                color: [0.95, 0.97, 1.0],
                meander: 0.5,
                ..clear(physics([998.0, 0.0728, 1e-3], [60.0, 30.0]), 1.333)
            },
            // At the shear of a running drop; the film on an eye at rest is five times as thick.
            Self::Tear => Preset {
                film: 4.5e-5,
                meander: 0.3,
                ..clear(physics([1005.0, 0.043, 1.3e-3], [60.0, 45.0]), 1.337)
            },
            Self::Sweat => Preset {
                film: 4e-6,
                meander: 0.3,
                ..clear(physics([1003.0, 0.060, 1e-3], [70.0, 40.0]), 1.334)
            },
            Self::Blood => Preset {
                color: [0.30, 0.008, 0.006],
                film: 2e-5,
                meander: 0.2,
                solids: Solids { concentration: 0.2, thickening: 8.0, ..PLAIN.solids },
                ..physics([1060.0, 0.056, 4e-3], [60.0, 30.0])
            },
            // Dries in seconds, as a shot needs it; on a wall it takes an hour.
            Self::Paint => Preset {
                color: [0.05, 0.16, 0.55],
                ior: 1.5,
                film: 4e-5,
                solids: Solids {
                    concentration: 0.35,
                    thickening: 9.0,
                    dissolving: 0.2,
                    evaporation: 0.3,
                },
                ..physics([1250.0, 0.035, 0.3], [50.0, 20.0])
            },
            Self::Honey => Preset {
                color: [0.9, 0.55, 0.12],
                clear: 0.9,
                ior: 1.49,
                absorption: [30.0, 120.0, 500.0],
                film: 5e-5,
                ..physics([1420.0, 0.06, 10.0], [70.0, 20.0])
            },
            Self::Milk => Preset {
                color: [0.9, 0.88, 0.82],
                film: 1e-5,
                solids: Solids { concentration: 0.12, dissolving: 1.0, ..PLAIN.solids },
                ..physics([1030.0, 0.047, 2e-3], [60.0, 30.0])
            },
            Self::Oil => Preset {
                color: [0.95, 0.85, 0.3],
                clear: 0.95,
                ior: 1.47,
                absorption: [8.0, 20.0, 160.0],
                film: 1e-5,
                ..physics([915.0, 0.032, 0.08], [25.0, 10.0])
            },
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
    /// Dissolved fraction of new drops [-].
    pub concentration: f64,
    /// Growth of the drag with concentration [-].
    pub thickening: f64,
    /// Rate at which dried substance is taken up again [1/s].
    pub dissolving: f64,
    /// Evaporation where the sinks do not say otherwise [kg/m²/s].
    pub evaporation: f64,
    /// Film that it leaves where the ground does not say otherwise [m].
    pub film: f64,
    /// How unevenly it is pinned where the ground does not say otherwise [-].
    pub meander: f32,
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
    /// How its films look: a clear one has no inside, and hardly a colour.
    pub film_material: Material,
}

/// Index of refraction with which a sheet in the air mirrors half of what a film on the ground does, as several
/// strips lie over each other [-].
const FILM_INDEX: f32 = 1.15;
/// Thinnest film that colours what is under it [m].
const LEAST_FILM: f64 = 1e-5;

/// A material as a film of some thickness shows it.
fn as_film(material: &Material, thickness: f64) -> Material {
    if material.transmission <= 0.0 {
        return material.clone();
    }
    // There and back.
    let [r, g, b] = material.absorption.map(|a| (-2.0 * a * thickness as f32).exp());
    let base_color = [r, g, b, 1.0];
    Material { base_color, absorption: [0.0; 3], ior: FILM_INDEX, ..material.clone() }
}

impl Liquid {
    /// From the parameters.
    #[must_use]
    pub fn new(params: &DropsParams) -> Self {
        let p = &params.liquid;
        let preset = p.preset.values();
        // A drag given directly is the source's whole model: only bumps hold a drop, nothing of it stays or dries.
        let is_source = p.viscosity.is_some();
        let preset = if is_source {
            Preset { hysteresis_deg: 0.0, film: 0.0, meander: 0.0, solids: PLAIN.solids, ..preset }
        } else {
            preset
        };
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
            hysteresis_deg: p.hysteresis_deg.unwrap_or(preset.hysteresis_deg),
            concentration: params.deposit.concentration.unwrap_or(preset.solids.concentration),
            thickening: params.deposit.thickening.unwrap_or(preset.solids.thickening),
            dissolving: params.deposit.dissolving.unwrap_or(preset.solids.dissolving),
            evaporation: preset.solids.evaporation,
            film: preset.film,
            meander: preset.meander,
            air_time: params.air.least_time,
            hysteresis: params.air.hysteresis,
            drip_remainder: params.air.remainder,
            air_drag: params.air.drag,
            least_mass: params.sinks.least_mass,
            splash: params.air.splash,
            film_material: as_film(&material, preset.film.max(LEAST_FILM)),
            material,
        }
    }

    /// Adhesion where the ground does not say otherwise [N/m²]: what its tension carries below an overhang.
    #[must_use]
    pub fn adhesion(&self) -> f64 {
        HANGING * (self.tension * self.density * HANGS_UNDER).sqrt()
    }

    /// Evaporation at a frame [kg/m²/s].
    #[must_use]
    pub fn evaporation_at(&self, params: &DropsParams, frame: f64) -> f64 {
        let given = params.sinks.evaporation.as_ref().map(|e| e.at(frame));
        given.unwrap_or(self.evaporation).max(0.0)
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
        // Hanging: its weight makes it narrower, and the table of shapes knows that.
        if press <= 0.0 {
            return 1.0;
        }
        let length = (self.tension / (self.density * press)).sqrt();
        let most = 2.0 * length * (0.5 * contact_angle_deg.to_radians()).sin();
        (height / most.max(nothing::NO_WIDTH)).max(1.0).sqrt()
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
