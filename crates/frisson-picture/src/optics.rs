//! Reflection and refraction at a smooth boundary, and the micro-facet lobe.

use glam::Vec3A;
use std::f32::consts::PI;

/// Least cosine with the eye, least value of the distribution's bottom and least shadowing [-]: each only
/// keeps grazing light from a division by zero.
const LEAST_COSINE: f32 = 1e-4;
const LEAST_SPREAD: f32 = 1e-12;
const LEAST_SHADOWING: f32 = 1e-6;
/// Karis' fit: four lines over the roughness, then an exponential over the cosine.
const FIT_SLOPES: [f32; 4] = [-1.0, -0.0275, -0.572, 0.022];
const FIT_STARTS: [f32; 4] = [1.0, 0.0425, 1.04, -0.04];
const FIT_FALL: f32 = -9.28;
const FIT_SCALE: f32 = 1.04;

/// Direction of a ray reflected at a surface of unit normal `n`.
#[must_use]
pub fn reflect(d: Vec3A, n: Vec3A) -> Vec3A {
    d - 2.0 * d.dot(n) * n
}

/// Snell's law: direction of a unit ray `d` refracted through a surface whose unit normal `n` faces
/// it, from index `from` to index `to`; `None` when all light is reflected.
#[must_use]
pub fn refract(d: Vec3A, n: Vec3A, from: f32, to: f32) -> Option<Vec3A> {
    let ratio = from / to;
    let cos_in = -d.dot(n);
    let sin2_out = ratio * ratio * (1.0 - cos_in * cos_in).max(0.0);
    if sin2_out >= 1.0 {
        return None;
    }
    Some((ratio * d + (ratio * cos_in - (1.0 - sin2_out).sqrt()) * n).normalize())
}

/// Fresnel reflectance of unpolarised light at a boundary between two dielectrics.
#[must_use]
pub fn fresnel(cos_in: f32, from: f32, to: f32) -> f32 {
    let cos_in = cos_in.clamp(0.0, 1.0);
    let ratio = from / to;
    let sin2_out = ratio * ratio * (1.0 - cos_in * cos_in);
    if sin2_out >= 1.0 {
        return 1.0;
    }
    let cos_out = (1.0 - sin2_out).sqrt();
    let s = (from * cos_in - to * cos_out) / (from * cos_in + to * cos_out);
    let p = (from * cos_out - to * cos_in) / (from * cos_out + to * cos_in);
    0.5 * (s * s + p * p)
}

/// Share that a thin pane reflects: at either face, and what comes back between them.
#[must_use]
pub fn pane_reflectance(cos_in: f32, ior: f32) -> f32 {
    let once = fresnel(cos_in, 1.0, ior);
    2.0 * once / (1.0 + once)
}

/// Reflectance at normal incidence of a dielectric in air.
#[must_use]
pub fn normal_reflectance(ior: f32) -> f32 {
    let r = (ior - 1.0) / (ior + 1.0);
    r * r
}

/// Schlick's approximation with a coloured normal reflectance.
#[must_use]
pub fn schlick(f0: Vec3A, cos: f32) -> Vec3A {
    f0 + (Vec3A::ONE - f0) * (1.0 - cos.clamp(0.0, 1.0)).powi(5)
}

/// Micro-facet reflection (GGX distribution, height-correlated Smith shadowing) without its Fresnel
/// factor: D G / (4 cos cos). `alpha` is the squared perceptual roughness.
#[must_use]
pub fn microfacet(n: Vec3A, to_light: Vec3A, to_eye: Vec3A, alpha: f32) -> f32 {
    let (nl, nv) = (n.dot(to_light), n.dot(to_eye).abs().max(LEAST_COSINE));
    if nl <= 0.0 {
        return 0.0;
    }
    let nh = n.dot((to_light + to_eye).normalize_or(n)).clamp(0.0, 1.0);
    let a2 = alpha * alpha;
    let d = nh * nh * (a2 - 1.0) + 1.0;
    let distribution = a2 / (PI * d * d).max(LEAST_SPREAD);
    let smith = nl * (nv * nv * (1.0 - a2) + a2).sqrt() + nv * (nl * nl * (1.0 - a2) + a2).sqrt();
    distribution * 0.5 / smith.max(LEAST_SHADOWING)
}

/// Fraction of light from all around that the micro-facet lobe sends to the eye: a fit of the
/// integral (Karis, "Physically based shading on mobile", 2014).
#[must_use]
pub fn lobe_albedo(f0: Vec3A, roughness: f32, cos: f32) -> Vec3A {
    let r: [f32; 4] = std::array::from_fn(|k| FIT_SLOPES[k] * roughness + FIT_STARTS[k]);
    let grazing = (r[0] * r[0]).min((FIT_FALL * cos).exp2()) * r[0] + r[1];
    let (scale, bias) = (-FIT_SCALE * grazing + r[2], FIT_SCALE * grazing + r[3]);
    // What a perfect mirror's facets lose by shadowing each other comes out after a second
    // reflection, coloured twice.
    let lost = 1.0 / (scale + bias).clamp(0.2, 1.0) - 1.0;
    ((f0 * scale + Vec3A::splat(bias)) * (Vec3A::ONE + f0 * lost)).clamp(Vec3A::ZERO, Vec3A::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fresnel_at_normal_incidence_and_grazing() {
        assert!((fresnel(1.0, 1.0, 1.5) - 0.04).abs() < 1e-6);
        assert!((fresnel(1.0, 1.0, 1.5) - normal_reflectance(1.5)).abs() < 1e-7);
        assert!((fresnel(0.0, 1.0, 1.5) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn only_one_polarisation_is_left_at_brewsters_angle() {
        // tan(angle) = n: the parallel part vanishes, so R = ((n² - 1) / (n² + 1))² / 2.
        let n = 1.333f32;
        let expected = 0.5 * ((n * n - 1.0) / (n * n + 1.0)).powi(2);
        assert!((fresnel(n.atan().cos(), 1.0, n) - expected).abs() < 1e-6);
    }

    #[test]
    fn light_is_trapped_beyond_the_critical_angle() {
        let n = 1.333f32;
        let critical = (1.0 / n).asin();
        for (angle, trapped) in [(critical + 1e-3, true), (critical - 1e-3, false)] {
            let d = Vec3A::new(angle.sin(), -angle.cos(), 0.0);
            assert_eq!(refract(d, Vec3A::Y, n, 1.0).is_none(), trapped);
            assert_eq!(fresnel(angle.cos(), n, 1.0) >= 1.0, trapped);
        }
    }

    proptest! {
        #[test]
        fn refraction_obeys_snell(angle in 0.0f32..1.55, ior in 1.01f32..2.5, turn in 0.0f32..6.0) {
            let d = Vec3A::new(angle.sin() * turn.cos(), -angle.cos(), angle.sin() * turn.sin());
            let out = refract(d, Vec3A::Y, 1.0, ior).unwrap();
            let sine = out.cross(Vec3A::Y).length();
            prop_assert!((sine * ior - angle.sin()).abs() < 1e-4);
            // It stays in the plane of incidence and goes through.
            prop_assert!(out.dot(d.cross(Vec3A::Y)).abs() < 1e-5 && out.y < 0.0);
            // The way back is the same way.
            let back = refract(-out, -Vec3A::Y, ior, 1.0);
            prop_assert!(back.is_some_and(|b| (b + d).length() < 3e-3));
            let (there, again) = (fresnel(angle.cos(), 1.0, ior), fresnel(-out.y, ior, 1.0));
            prop_assert!((there - again).abs() < 2e-3);
        }
    }

    #[test]
    fn microfacets_reflect_no_more_than_they_receive() {
        for roughness in [0.2f32, 0.5, 1.0] {
            let v = Vec3A::new(0.6, 0.8, 0.0);
            let n = 20_000;
            let sum: f32 = (0..n)
                .map(|i| {
                    let u = crate::sampling::Sampler::new(3, 0, 0, i).pair();
                    let l = crate::sampling::cosine_direction(Vec3A::Y, u);
                    microfacet(Vec3A::Y, l, v, roughness * roughness) * PI
                })
                .sum();
            let albedo = sum / n as f32;
            assert!(albedo < 1.02, "{roughness}: {albedo}");
            if roughness == 1.0 {
                // Facets of all slopes alike: the integral is 1 - v ln(1 + 1/v), v the eye's cosine.
                let exact = 1.0 - v.y * (1.0 + 1.0 / v.y).ln();
                assert!((albedo - exact).abs() < 2e-3, "{albedo} {exact}");
            }
        }
    }
}
