//! How much of a lamp's light arrives straight: past solids, through panes and plates, past strands. What clear bodies
//! bend comes another way (`caustics.rs`).

use frisson::geometry::Material;
use glam::Vec3A;
use obvhs::ray::Ray;

use super::Lit;
use super::caustics::Bends;
use crate::optics::{fresnel, pane_reflectance};
use crate::volume::thickness;

/// Strands after which light is used up.
const STRAND_LIMIT: u32 = 10;
/// Least share of light that one strand lets pass [-]: the thinnest of dark hairs are not opaque.
const LEAST_PASSING: f32 = 0.1;

/// What becomes of light that a clear body bends, on a straight way through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bent {
    /// It arrives somewhere else.
    Elsewhere,
    /// It is taken as straight: strands catch nothing of what arrives elsewhere.
    Straight,
}

impl Lit<'_> {
    /// How much of a lamp's light arrives, per colour.
    pub(super) fn visibility(
        &self,
        origin: Vec3A,
        direction: Vec3A,
        lamp: usize,
        bent: Bent,
    ) -> Vec3A {
        let ray = Ray::new_inf(origin, direction);
        let solid = self.past_solids(ray, bent);
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
    pub(super) fn past_solids(&self, ray: Ray, bent: Bent) -> Vec3A {
        let scene = self.scene;
        if !scene.has_clear {
            let stopped =
                scene.triangles.any(ray, |_, _| true) || scene.balls.any(ray, |_, _| true);
            return if stopped { Vec3A::ZERO } else { Vec3A::ONE };
        }
        let (mut light, mut bends) = (Vec3A::ONE, Bends::default());
        // Boundaries come in any order, and what is between two far ones is a small difference of large numbers: only the sum
        // is taken to the exponential, whose parts would be infinite and nothing.
        let mut absorbed = Vec3A::ZERO;
        let stopped = scene.balls.any(ray, |place, _| {
            light *= scene.ball_material(place).transmission;
            bent == Bent::Elsewhere || light == Vec3A::ZERO
        }) || scene.triangles.any(ray, |place, t| {
            let material = scene.triangle_material(place);
            let normal = scene.outward_normal(place, ray.origin + ray.direction * t);
            let cos = normal.dot(ray.direction).abs();
            if scene.is_pane(place) {
                return pass_pane(material, cos, &mut light);
            }
            // Which way it goes through, the triangle says: at an outline a smooth normal may differ.
            let flat = scene.triangles.primitive(place).compute_normal();
            let enters = flat.dot(ray.direction) < 0.0;
            bends.meet(normal, enters, false);
            absorbed += Vec3A::from(material.absorption) * if enters { -t } else { t };
            pass(material, cos, &mut light)
        });
        let is_elsewhere = bent == Bent::Elsewhere && bends.is_bent();
        if stopped || is_elsewhere {
            Vec3A::ZERO
        } else {
            light * (-absorbed.max(Vec3A::ZERO)).exp()
        }
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
pub(super) fn pass_pane(material: &Material, cos: f32, light: &mut Vec3A) -> bool {
    let [r, g, b, _] = material.base_color;
    let through = material.transmission * (1.0 - pane_reflectance(cos, material.ior));
    *light *= Vec3A::new(r, g, b) * through;
    false
}

/// Light through one boundary of a plate on its straight way, but for what it absorbs; `cos` is that of its normal with the way
/// outside. Returns whether it is stopped.
fn pass(material: &Material, cos: f32, light: &mut Vec3A) -> bool {
    if material.transmission <= 0.0 {
        return true;
    }
    *light *= material.transmission.sqrt() * (1.0 - fresnel(cos, 1.0, material.ior));
    false
}
