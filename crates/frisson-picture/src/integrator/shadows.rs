//! How much of a lamp's light arrives: past solids, clear bodies and strands.

use frisson::geometry::Material;
use glam::Vec3A;
use obvhs::ray::Ray;

use super::Lit;
use crate::optics::{fresnel, pane_reflectance};
use crate::volume::thickness;

/// Strands after which light is used up.
const STRAND_LIMIT: u32 = 10;
/// How sharply a clear body gathers light behind it: the light through a point of its surface that
/// faces the lamp by a cosine c is scaled by c to this power.
const FOCUS: i32 = 5;
/// Most light that clear bodies may gather in one point, in lamps: more would be sparks that few samples
/// hit.
const MOST_GATHERED: f32 = 6.0;
/// Least share of light that one strand lets pass [-]: the thinnest of dark hairs are not opaque.
const LEAST_PASSING: f32 = 0.1;

impl Lit<'_> {
    /// How much of a lamp's light arrives, per colour.
    pub fn visibility(&self, origin: Vec3A, direction: Vec3A, lamp: usize) -> Vec3A {
        let ray = Ray::new_inf(origin, direction);
        let solid = self.past_solids(ray);
        if solid == Vec3A::ZERO {
            return solid;
        }
        solid
            * match &self.volume {
                Some(volume) => (self.thickness * -volume.depth(lamp, origin, direction)).exp(),
                None => self.past_strands(ray),
            }
    }

    /// What meshes and balls let through.
    pub(super) fn past_solids(&self, ray: Ray) -> Vec3A {
        let scene = self.scene;
        if !scene.has_clear {
            let stopped =
                scene.triangles.any(ray, |_, _| true) || scene.balls.any(ray, |_, _| true);
            return if stopped { Vec3A::ZERO } else { Vec3A::ONE };
        }
        let mut light = Vec3A::ONE;
        let stopped = scene.triangles.any(ray, |place, t| {
            let material = scene.triangle_material(place);
            let normal = scene.outward_normal(place, ray.origin + ray.direction * t);
            if scene.is_pane(place) {
                return pass_pane(material, normal.dot(ray.direction).abs(), &mut light);
            }
            // Which way it goes through, the triangle says: at an outline a smooth normal may differ, and a way
            // that only enters would gain light.
            let flat = scene.triangles.primitive(place).compute_normal();
            let sense = flat.dot(ray.direction);
            pass(material, normal.dot(ray.direction).abs().copysign(sense), t, &mut light)
        }) || scene.balls.any(ray, |place, t| {
            let ball = scene.balls.primitive(place);
            let material = scene.ball_material(place);
            let out = (ray.origin + ray.direction * t - ball.center) / ball.radius;
            // Only its first crossing is reported; by symmetry it is left at the same angle.
            let cos = out.dot(ray.direction).abs();
            let way = if out.dot(ray.direction) < 0.0 { 2.0 * cos * ball.radius } else { t };
            pass(material, cos, way, &mut light)
        });
        if stopped { Vec3A::ZERO } else { light.min(Vec3A::splat(MOST_GATHERED)) }
    }

    /// What a few strands along a ray let through.
    pub(super) fn past_strands(&self, ray: Ray) -> Vec3A {
        let scene = self.scene;
        let (mut light, mut count, mut last) = (Vec3A::ONE, 0, u32::MAX);
        scene.segments.any(ray, |place, _| {
            let index = scene.segment_strands[scene.segments.source(place) as usize];
            let strand = scene.strands[index as usize];
            // Neighbouring pieces of one strand overlap at their joint.
            if strand.flat || index == last {
                return false;
            }
            last = index;
            light *= (Vec3A::ONE - thickness(strand.color)).max(Vec3A::splat(LEAST_PASSING));
            count += 1;
            count >= STRAND_LIMIT
        });
        light
    }
}

/// Light straight through both faces of a pane.
fn pass_pane(material: &Material, cos: f32, light: &mut Vec3A) -> bool {
    let [r, g, b, _] = material.base_color;
    let through = material.transmission * (1.0 - pane_reflectance(cos, material.ior));
    *light *= Vec3A::new(r, g, b) * through;
    false
}

/// Light through the boundary of a clear body on its straight way to a lamp; `cos` is that of its
/// outward normal with the way. Returns whether it is stopped.
///
/// The light is not bent; instead what a lens would gather is put where the surface faces the lamp
/// and taken where it does not, so that a ball passes as much light as falls on it: over its disc
/// the mean of c^k is 2 / (k + 2). Applied once, where the way leaves the body.
fn pass(material: &Material, cos: f32, t: f32, light: &mut Vec3A) -> bool {
    if material.transmission <= 0.0 {
        return true;
    }
    let leaves = cos > 0.0;
    let absorbed = Vec3A::from(material.absorption) * if leaves { -t } else { t };
    *light *= absorbed.exp() * material.transmission.sqrt();
    if leaves {
        let bending = (material.ior - 1.0).clamp(0.0, 0.5) * 2.0;
        let gathered =
            0.5 * (FOCUS + 2) as f32 * cos.powi(FOCUS) * (1.0 - fresnel(cos, 1.0, material.ior));
        *light *= 1.0 + (gathered - 1.0) * bending;
    }
    false
}
