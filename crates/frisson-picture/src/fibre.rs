//! How a hair looks.
//!
//! A fibre is locally a cylinder: its normals fill the circle around its tangent `T`. The classical
//! choice (Anjyo, Usami and Kurihara 1992, as retold in the appendix of the wisps thesis) picks one of
//! them for the diffuse part: the light's direction projected on the normal plane.
//!
//! ```text
//!            N = proj(L)            T  ◄── fibre
//!        L  ↗│                      │
//!          / │
//!   ─────●───┴──────►  normal plane ⟂ T
//! ```
//!
//! The diffuse part is kept: N·L is then the sine between fibre and light. The highlight is replaced
//! by what real fibres do (Marschner et al. 2003): a white reflection shifted towards the root by the
//! scales of the cuticle, with the few hundredths of the light that a smooth boundary reflects; a
//! second, coloured one shifted towards the tip, wider, that has crossed the fibre twice; and light
//! from behind that passes straight through. No two hairs have their scales tilted alike, so that the
//! highlight of a head is broken up instead of a band.

use glam::Vec3A;

use crate::optics::fresnel;

/// Mean tilt of the cuticle's scales [rad].
pub(crate) const SCALE_TILT: f32 = 0.06;
/// Refractive index of keratin.
const KERATIN: f32 = 1.55;
/// What a cylinder spreads of a mirrored beam around it is 1/4 in front; more, as strands of a lock
/// light each other up.
const SHEEN: f32 = 0.4;
/// How far light that passes a fibre is spread around it [rad].
const THROUGH: f32 = 0.6;
/// Share of the light that a fibre scatters evenly: half its circle is lit, the mean of the cosine over it
/// is 1/π; the rest is the light that crosses the fibre and leaves it elsewhere.
const BODY: f32 = 0.26;
/// Least sine between fibre and light: a strand that is lit along its length still shows its highlights.
const LEAST_SINE: f32 = 0.05;
/// Tilts of the second highlight and of passing light, in tilts of the scales, after Marschner.
const SECOND_TILT: f32 = 1.5;
const PASSING_TILT: f32 = 0.5;
/// Share of the second highlight that does not depend on where around the fibre one looks from.
const SECOND_AROUND: f32 = 0.3;
/// Strength of the second highlight and of light from behind, set by eye.
const SECOND: f32 = 0.11;
const PASSING: f32 = 0.05;
/// How much pigment the second highlight has crossed, as a power of the colour; set by eye.
const SECOND_TINT: f32 = 1.1;

/// The normal that gives the diffuse part: the light projected on the normal plane.
#[must_use]
pub fn diffuse_normal(tangent: Vec3A, to_light: Vec3A) -> Vec3A {
    let projected = to_light - tangent * to_light.dot(tangent);
    projected.normalize_or_zero()
}

/// A fibre's surface where light falls on it.
#[derive(Clone, Copy, Debug)]
pub struct Fibre {
    /// Unit tangent, from root to tip.
    pub tangent: Vec3A,
    /// Colour of the light it scatters.
    pub color: Vec3A,
    /// Angular width of the highlights [rad].
    pub width: f32,
    /// Tilt of its scales [rad].
    pub tilt: f32,
}

impl Fibre {
    /// Radiance towards the eye per unit of irradiance on a surface facing the light.
    #[must_use]
    pub fn scatter(&self, to_light: Vec3A, to_eye: Vec3A) -> Vec3A {
        let diffuse = diffuse_normal(self.tangent, to_light).dot(to_light);
        let body = self.color * (diffuse * BODY);
        let (l, v) = (diffuse_normal(self.tangent, to_light), diffuse_normal(self.tangent, to_eye));
        // Half the angle between light and eye around the fibre: 0 in front, a right angle behind.
        let half_turn = 0.5 * l.dot(v).clamp(-1.0, 1.0).acos();
        // Inclinations towards the tip; a cylinder reflects light of inclination i at -i.
        let (light, eye) = (inclination(self.tangent, to_light), inclination(self.tangent, to_eye));
        let half = 0.5 * (light + eye);
        let cosine = diffuse.max(LEAST_SINE);
        let mirrored = fresnel(half_turn.cos() * half.cos(), 1.0, KERATIN);
        let first = gaussian(half + self.tilt, self.width) * SHEEN * half_turn.cos() * mirrored;
        let around = SECOND_AROUND + (1.0 - SECOND_AROUND) * half_turn.cos();
        let second = gaussian(half - SECOND_TILT * self.tilt, 2.0 * self.width) * around;
        let behind = gaussian(2.0 * half_turn - std::f32::consts::PI, THROUGH);
        let passing = gaussian(half - PASSING_TILT * self.tilt, self.width) * behind;
        let white = Vec3A::splat(first);
        let color = self.color.max(Vec3A::ZERO);
        let tinted =
            color.powf(SECOND_TINT) * (SECOND * second) + color.sqrt() * (PASSING * passing);
        body + (white + tinted) * cosine
    }
}

fn inclination(tangent: Vec3A, direction: Vec3A) -> f32 {
    tangent.dot(direction).clamp(-1.0, 1.0).asin()
}

/// Normalised to a unit integral.
fn gaussian(x: f32, width: f32) -> f32 {
    (-0.5 * (x / width).powi(2)).exp() / (width * (2.0 * std::f32::consts::PI).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit(v: [f32; 3]) -> Vec3A {
        Vec3A::from(v).normalize_or(Vec3A::X)
    }

    proptest! {
        #[test]
        fn the_chosen_normal_is_the_best_of_the_circle(
            t in prop::array::uniform3(-1.0f32..1.0), l in prop::array::uniform3(-1.0f32..1.0),
        ) {
            let (t, l) = (unit(t), unit(l));
            prop_assume!(t.dot(l).abs() < 0.99);
            let diffuse = diffuse_normal(t, l);
            let sine = (1.0 - t.dot(l).powi(2)).sqrt();
            prop_assert!((diffuse.dot(l) - sine).abs() < 1e-4);
            let (e, f) = crate::sampling::basis(t);
            for step in 0..64 {
                let angle = step as f32 * 0.1;
                let n = e * angle.cos() + f * angle.sin();
                prop_assert!(n.dot(l) <= diffuse.dot(l) + 1e-4);
            }
        }

        #[test]
        fn a_white_fibre_sends_back_no_more_than_it_gets(
            t in prop::array::uniform3(-1.0f32..1.0), v in prop::array::uniform3(-1.0f32..1.0),
        ) {
            let fibre = Fibre { tangent: unit(t), color: Vec3A::ONE, width: 0.12, tilt: SCALE_TILT };
            let mut sum = 0.0;
            let count = 2048;
            for i in 0..count {
                let u = crate::sampling::Sampler::new(5, 1, 2, i).pair();
                sum += fibre.scatter(crate::sampling::sphere_direction(u), unit(v)).x;
            }
            let albedo = sum / count as f32 * 4.0 * std::f32::consts::PI;
            prop_assert!(albedo < 4.0 && albedo > 1.0, "{albedo}");
        }
    }

    #[test]
    fn the_white_highlight_is_shifted_to_the_root() {
        let fibre = Fibre { tangent: Vec3A::Y, color: Vec3A::ZERO, width: 0.08, tilt: SCALE_TILT };
        let brightness = |angle: f32| {
            let eye = Vec3A::new(angle.cos(), angle.sin(), 0.0);
            fibre.scatter(Vec3A::X, eye).x
        };
        let peak = (-40..40)
            .map(|i| i as f32 * 0.01)
            .max_by(|a, b| brightness(*a).total_cmp(&brightness(*b)))
            .unwrap();
        assert!((peak + 2.0 * SCALE_TILT).abs() < 0.02, "{peak}");
    }
}
