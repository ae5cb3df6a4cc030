//! Clear bodies: what is seen in and through their boundaries.

use glam::Vec3A;
use obvhs::ray::Ray;

use super::{Budget, CROSSINGS, Lit, above};
use crate::optics::{fresnel, pane_reflectance, reflect, refract};
use crate::sampling::Sampler;
use crate::surface::Surface;

/// Boundaries at which a ray goes both ways; at later ones it takes one of them by chance.
const SPLITS: u32 = 2;

impl Lit<'_> {
    /// Reflection and refraction at a smooth boundary: both at the first ones, where choosing would be
    /// the noisiest part of the picture, one chosen by its share later.
    pub(super) fn boundary(
        &self,
        surface: &Surface,
        ray: &Ray,
        budget: Budget,
        sampler: &mut Sampler,
    ) -> Vec3A {
        let both = budget.crossings + SPLITS > CROSSINGS;
        if surface.is_pane {
            return self.pane(surface, ray, (budget, both), sampler);
        }
        if budget.crossings == 0 {
            return self.environment.ambient(-ray.direction);
        }
        let budget = Budget { crossings: budget.crossings - 1, ..budget };
        let (from, to) = if surface.entering { (1.0, surface.ior) } else { (surface.ior, 1.0) };
        let cos = -ray.direction.dot(surface.normal);
        let share = fresnel(cos, from, to);
        let through = refract(ray.direction, surface.normal, from, to);
        let reflected = |sampler: &mut Sampler| {
            let direction = above(reflect(ray.direction, surface.normal), surface.flat);
            let origin = surface.position + surface.flat * self.epsilon;
            self.follow(Ray::new_inf(origin, direction), budget, sampler)
        };
        let refracted = |direction: Vec3A, sampler: &mut Sampler| {
            let medium = if surface.entering { surface.absorption } else { Vec3A::ZERO };
            let origin = surface.position - surface.flat * self.epsilon;
            let direction = above(direction, -surface.flat);
            self.follow(Ray::new_inf(origin, direction), Budget { medium, ..budget }, sampler)
        };
        match through {
            None => reflected(sampler),
            Some(direction) if both => {
                share * reflected(sampler) + (1.0 - share) * refracted(direction, sampler)
            }
            Some(direction) => {
                if sampler.one() < share {
                    reflected(sampler)
                } else {
                    refracted(direction, sampler)
                }
            }
        }
    }

    /// A thin pane mirrors at both of its faces; what goes through goes straight on, in its colour. Behind many
    /// panes it only goes on: strips of a film lie over each other by the dozen.
    fn pane(
        &self,
        surface: &Surface,
        ray: &Ray,
        (budget, both): (Budget, bool),
        sampler: &mut Sampler,
    ) -> Vec3A {
        let share = pane_reflectance(-ray.direction.dot(surface.normal), surface.ior);
        let is_last = budget.crossings <= 1;
        let share = if is_last { 0.0 } else { share };
        let crossings = if is_last { budget.crossings } else { budget.crossings - 1 };
        let budget = Budget { crossings, ..budget };
        let reflected = |sampler: &mut Sampler| {
            let direction = above(reflect(ray.direction, surface.normal), surface.flat);
            let origin = surface.position + surface.flat * self.epsilon;
            self.follow(Ray::new_inf(origin, direction), budget, sampler)
        };
        let straight = |sampler: &mut Sampler| {
            let origin = surface.position - surface.flat * self.epsilon;
            surface.albedo * self.follow(Ray::new_inf(origin, ray.direction), budget, sampler)
        };
        if both {
            share * reflected(sampler) + (1.0 - share) * straight(sampler)
        } else if share > 0.0 && sampler.one() < share {
            reflected(sampler)
        } else {
            straight(sampler)
        }
    }
}
