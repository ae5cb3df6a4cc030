//! Light that falls on an opaque point: every lamp with its shadow, and one ray for the rest.

use glam::Vec3A;
use obvhs::ray::Ray;
use std::f32::consts::PI;

use super::shadows::Bent;
use super::{Budget, Lit, above};
use crate::environment::Lamp;
use crate::optics::{microfacet, normal_reflectance, schlick};
use crate::sampling::{Sampler, cosine_direction};
use crate::surface::Surface;

/// What a lamp's disc adds to the roughness of what mirrors it, per sine of its radius [-]: a disc looks
/// like a rougher surface under a point.
const DISC_ROUGHNESS: f32 = 0.4;
/// Smoothest coat [-]: below, a lamp in it would be smaller than any pixel.
const SMOOTHEST: f32 = 0.002;

/// Light that falls on an opaque point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Light {
    /// Weighted by its cosine and divided by π.
    pub(super) even: Vec3A,
    /// Lamps in the coat, as the eye sees them.
    pub(super) highlights: Vec3A,
    /// As [`PathSample::lamps`](super::PathSample::lamps).
    pub(super) lamps: u32,
}

/// An opaque point, and who looks at it.
struct Seen<'s> {
    surface: &'s Surface,
    to_eye: Vec3A,
    /// Where its rays start.
    origin: Vec3A,
}

impl Lit<'_> {
    /// Light that arrives at an opaque point from everywhere.
    pub(super) fn gather(
        &self,
        surface: &Surface,
        to_eye: Vec3A,
        budget: Budget,
        sampler: &mut Sampler,
    ) -> Light {
        let origin = surface.lifted + surface.flat * self.epsilon;
        let lamps = self.environment.lamps.len();
        let seen = Seen { surface, to_eye, origin };
        let mut light = Light::default();
        if budget.bounces == self.bounces {
            for lamp in 0..lamps {
                self.add_lamp(&seen, lamp, 1.0, sampler, &mut light);
            }
        } else if lamps > 0 {
            // Once scattered, one lamp stands for all.
            let pick = ((sampler.one() * lamps as f32) as usize).min(lamps - 1);
            self.add_lamp(&seen, pick, lamps as f32, sampler, &mut light);
        }
        light.even += self.bent_light(surface.position, surface.flat) / PI;
        if budget.bounces == 0 {
            light.even += self.environment.ambient(surface.normal);
            return light;
        }
        let direction = cosine_direction(surface.normal, sampler.pair());
        let next = Budget { bounces: budget.bounces - 1, lamps: false, ..budget };
        let ray = Ray::new_inf(origin, above(direction, surface.flat));
        light.even += self.follow(ray, next, sampler);
        light
    }

    /// Adds one lamp: a shadow ray says how much of it reaches the body and the coat.
    fn add_lamp(
        &self,
        &Seen { surface, to_eye, origin }: &Seen<'_>,
        lamp: usize,
        weight: f32,
        sampler: &mut Sampler,
        light: &mut Light,
    ) {
        let to_lamp = self.cones[lamp].direction(sampler.pair());
        let facing = surface.normal.dot(to_lamp);
        if facing <= 0.0 || surface.flat.dot(to_lamp) <= 0.0 {
            return;
        }
        let visible = self.visibility(origin, to_lamp, lamp, Bent::Elsewhere);
        // Two bits a lamp: hidden wholly, seen wholly; neither where something dims it.
        if visible == Vec3A::ZERO {
            light.lamps |= 1 << (2 * lamp % 32);
            return;
        }
        if visible == Vec3A::ONE {
            light.lamps |= 2 << (2 * lamp % 32);
        }
        let Lamp { direction, radius, irradiance } = self.environment.lamps[lamp];
        let arriving = irradiance * visible * weight;
        light.even += arriving * (facing / PI);
        let f0 = coat_reflectance(surface);
        let facing = surface.normal.dot(direction);
        if f0.max_element() <= 0.0 || facing <= 0.0 {
            return;
        }
        let widened = (coat_alpha(surface) + DISC_ROUGHNESS * radius.sin()).min(1.0);
        let lobe = microfacet(surface.normal, direction, to_eye, widened) * facing;
        let half = (direction + to_eye).normalize_or(surface.normal);
        light.highlights += arriving * schlick(f0, half.dot(to_eye)) * lobe;
    }
}

/// Share that the coat or the metal reflects of light that falls straight on it.
pub(super) fn coat_reflectance(surface: &Surface) -> Vec3A {
    Vec3A::splat(normal_reflectance(surface.ior)).lerp(surface.albedo, surface.metallic)
}

/// Roughness of the coat as its facets have it.
pub(super) fn coat_alpha(surface: &Surface) -> f32 {
    (surface.roughness * surface.roughness).max(SMOOTHEST)
}
