//! How a hair looks.
//!
//! A fibre is locally a cylinder: its normals fill the circle around its tangent `T`. The classical
//! choice (Anjyo, Usami and Kurihara 1992, as retold in the appendix of the wisps thesis) picks one of
//! them: for the diffuse part the light's direction projected on the normal plane, for the highlight
//! the bisector of the projected light and eye.
//!
//! ```text
//!            N_diffuse = proj(L)              T  ◄── fibre
//!        L  ↗│                                │
//!          / │   N_specular = (proj L + proj V) / |…|
//!         /  │        ↗
//!   ─────●───┴──────►  normal plane ⟂ T
//! ```
//!
//! The diffuse part is kept: N·L is then the sine between fibre and light. The highlight is replaced
//! by what real fibres do (Marschner et al. 2003): a white reflection shifted towards the root by the
//! scales of the cuticle, and a second, coloured one shifted towards the tip, wider, that has crossed
//! the fibre twice.

use glam::Vec3A;

/// Tilt of the cuticle's scales [rad].
const SCALE_TILT: f32 = 0.06;

/// The normal that gives the diffuse part: the light projected on the normal plane.
#[must_use]
pub fn diffuse_normal(tangent: Vec3A, to_light: Vec3A) -> Vec3A {
    let projected = to_light - tangent * to_light.dot(tangent);
    projected.normalize_or_zero()
}

/// The normal that gives the highlight: the bisector of light and eye, both projected.
#[must_use]
pub fn specular_normal(tangent: Vec3A, to_light: Vec3A, to_eye: Vec3A) -> Vec3A {
    let project = |v: Vec3A| v - tangent * v.dot(tangent);
    (project(to_light).normalize_or_zero() + project(to_eye).normalize_or_zero())
        .normalize_or(diffuse_normal(tangent, to_light))
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
}

impl Fibre {
    /// Radiance towards the eye per unit of irradiance on a surface facing the light.
    #[must_use]
    pub fn scatter(&self, to_light: Vec3A, to_eye: Vec3A) -> Vec3A {
        let diffuse = diffuse_normal(self.tangent, to_light).dot(to_light);
        // Half the fibre's circle is lit: the mean of the cosine over it is 1/π, the rest is the
        // light that crosses the fibre and leaves it elsewhere.
        let body = self.color * (diffuse * 0.26);
        let normal = specular_normal(self.tangent, to_light, to_eye);
        let facing = 0.5 + 0.5 * normal.dot(to_light).max(0.0) * normal.dot(to_eye).max(0.0);
        // Inclinations towards the tip; a cylinder reflects light of inclination i at -i.
        let (light, eye) = (inclination(self.tangent, to_light), inclination(self.tangent, to_eye));
        let half = 0.5 * (light + eye);
        let first = gaussian(half + SCALE_TILT, self.width);
        let second = gaussian(half - 1.5 * SCALE_TILT, 2.0 * self.width);
        let cosine = diffuse.max(0.05);
        let white = Vec3A::splat(0.05 * first * facing * cosine);
        let tinted = self.color.powf(1.2) * (0.11 * second * (0.4 + 0.6 * facing) * cosine);
        body + white + tinted
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
        fn the_chosen_normals_are_the_best_of_the_circle(
            t in prop::array::uniform3(-1.0f32..1.0), l in prop::array::uniform3(-1.0f32..1.0),
            v in prop::array::uniform3(-1.0f32..1.0),
        ) {
            let (t, l, v) = (unit(t), unit(l), unit(v));
            prop_assume!(t.dot(l).abs() < 0.99 && t.dot(v).abs() < 0.99);
            let diffuse = diffuse_normal(t, l);
            let sine = (1.0 - t.dot(l).powi(2)).sqrt();
            prop_assert!((diffuse.dot(l) - sine).abs() < 1e-4);
            let specular = specular_normal(t, l, v);
            let (pl, pv) = (diffuse, diffuse_normal(t, v));
            prop_assume!((pl + pv).length() > 1e-2);
            let (e, f) = crate::sampling::basis(t);
            for step in 0..64 {
                let angle = step as f32 * 0.1;
                let n = e * angle.cos() + f * angle.sin();
                prop_assert!(n.dot(l) <= diffuse.dot(l) + 1e-4);
                // Of all normals, the bisector has the least of the two cosines largest.
                let worst = |n: Vec3A| n.dot(pl).min(n.dot(pv));
                prop_assert!(worst(n) <= worst(specular) + 1e-3);
            }
        }

        #[test]
        fn a_white_fibre_sends_back_no_more_than_it_gets(
            t in prop::array::uniform3(-1.0f32..1.0), v in prop::array::uniform3(-1.0f32..1.0),
        ) {
            let fibre = Fibre { tangent: unit(t), color: Vec3A::ONE, width: 0.12 };
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
        let fibre = Fibre { tangent: Vec3A::Y, color: Vec3A::ZERO, width: 0.08 };
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
