//! Follows light backwards from the eye.
//!
//! At an opaque point: every lamp (a shadow ray each) and one ray for everything else, which sees the
//! dome or is lit in turn, as often as `bounces` says. At a clear point: reflection and refraction.
//! On a fibre: the fibre's own scattering, with light dimmed by each strand it crosses.

mod boundary;
mod caustics;
mod lamps;
mod shadows;
mod strands;

use glam::Vec3A;
use obvhs::ray::Ray;
use std::f32::consts::PI;

use self::caustics::Caustics;
use self::lamps::{coat_alpha, coat_reflectance};
use self::strands::{lit_segments, mean_color};
use crate::environment::{Environment, smoothstep};
use crate::optics::{lobe_albedo, reflect};
use crate::sampling::{Cone, Sampler, cone_direction};
use crate::scene::Scene;
use crate::surface::{Hit, Surface};
use crate::volume::{StrandVolume, thickness};

/// Pieces of strands from which on they shade each other as a medium.
const MEDIUM_FROM: usize = 4000;
/// Boundaries a ray may cross before it is given up.
const CROSSINGS: u32 = 10;
/// How much a lamp is blurred that is seen through more than one boundary: a drop would gather it into
/// a spark smaller than a pixel, which few samples hit.
const SPARK: f32 = 0.55;
/// Least half size of a scene [m]: offsets and fades are in shares of it.
const LEAST_REACH: f32 = 1e-4;
/// Offset that keeps rays from hitting where they start, in half sizes of the scene, and in distances from
/// the origin, where f32 is coarser [-].
const OFFSET: f32 = 2e-5;
const FAR_OFFSET: f32 = 1e-6;
/// Roughness below which a coat shows what it reflects; rougher ones show the dome.
const SHARP: f32 = 0.3;
/// Metalness from which a surface shows what it reflects however rough it is [-].
const METAL: f32 = 0.5;
/// Roughness from which a reflection is smooth enough to be filtered with scattered light.
const BLURRED: f32 = 0.12;
/// Share of the light from which a reflection is worth a ray of its own, and from which it makes a pixel
/// hard [-].
const LEAST_COAT: f32 = 0.02;
const HARD_COAT: f32 = 0.1;
/// Cosine of the widest cone in which a rough coat looks [-].
const WIDEST_COAT: f32 = 0.3;
/// Heights over which the backdrop goes from the ground's colour to its own [sine of the elevation].
const HORIZON: [f32; 2] = [-0.05, 0.45];
/// Brightness of the horizon where there is no ground, in that of the backdrop [-].
const BARE_HORIZON: f32 = 0.8;
/// Where the ground begins to fade into the backdrop, and where it is gone, in half sizes of the scene.
const GROUND_FADE: [f32; 2] = [2.5, 9.0];
/// Height over its surface to which a direction is brought that would go below it, and from which it stays
/// [-].
const LIFTED: f32 = 1e-3;
const ABOVE: f32 = 1e-4;

/// What the film learns from one sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathSample {
    /// Light scattered evenly by an opaque surface: albedo times light.
    pub diffuse: Vec3A,
    /// The albedo in it.
    pub albedo: Vec3A,
    /// All other light.
    pub other: Vec3A,
    pub normal: Vec3A,
    pub depth: f32,
    /// Whether the pixel deserves more samples.
    pub hard: bool,
    /// Whether it shows a strand.
    pub strand: bool,
    /// Whether it looks through a clear body.
    pub clear: bool,
    /// Share that strokes before it cover.
    pub veiled: f32,
    /// Which lamps are seen from there whole, and which not at all: two bits each.
    pub lamps: u32,
}

/// How an opaque surface divides the light.
#[derive(Clone, Copy, Debug, Default)]
struct Split {
    /// Colour of evenly scattered light.
    albedo: Vec3A,
    /// Share that the smooth coat or the metal reflects.
    coat: Vec3A,
    /// What the coat reflects, without the lamps.
    reflection: Vec3A,
    /// Whether the reflection is too blurred to show anything sharp.
    blurred: bool,
}

/// What is left to a path.
#[derive(Clone, Copy)]
struct Budget {
    bounces: u32,
    crossings: u32,
    /// Whether lamps show as discs (they do until the light has been scattered once).
    lamps: bool,
    /// Absorption of what the ray is inside of.
    medium: Vec3A,
}

/// A scene as lit for one camera.
pub(crate) struct Lit<'a> {
    pub scene: &'a Scene,
    pub environment: Environment,
    /// The cone in which each lamp is seen.
    cones: Vec<Cone>,
    pub bounces: u32,
    /// Whether strands are drawn as strokes: then rays from the eye pass them by.
    pub strokes: bool,
    /// Size of a pixel at unit distance.
    pub pixel_slope: f32,
    /// Radiance of the ground where nothing stands in its light.
    ground_radiance: Vec3A,
    center: Vec3A,
    reach: f32,
    /// Offset that keeps rays from hitting where they start [m].
    epsilon: f32,
    /// The strands as a medium, when there are many.
    volume: Option<StrandVolume>,
    /// How opaque that medium is, per colour.
    thickness: Vec3A,
    /// Light that clear bodies have bent.
    caustics: Option<Caustics>,
}

impl<'a> Lit<'a> {
    pub fn new(scene: &'a Scene, yaw: f32, bounces: u32, pixel_slope: f32) -> Self {
        let mut environment = scene.look.environment.clone();
        if scene.look.lamps_follow_camera {
            let turn = glam::Quat::from_rotation_y(yaw);
            for lamp in &mut environment.lamps {
                lamp.direction = turn * lamp.direction;
            }
        }
        // Without what stands on it: far away, where it fades out, that is all that is seen of it.
        let lamps: Vec3A =
            environment.lamps.iter().map(|l| l.irradiance * (l.direction.y.max(0.0) / PI)).sum();
        let ground_radiance = scene.look.ground_color * (lamps + environment.ambient(Vec3A::Y));
        let reach = 0.5 * scene.bounds.diagonal().max(LEAST_REACH);
        let far = scene.bounds.min.abs().max(scene.bounds.max.abs()).max_element();
        let color = mean_color(scene);
        let volume = (scene.segments.len() >= MEDIUM_FROM)
            .then(|| StrandVolume::build(lit_segments(scene), &environment, color));
        let mut lit = Self {
            volume,
            thickness: thickness(color),
            caustics: None,
            scene,
            cones: environment
                .lamps
                .iter()
                .map(|l| Cone::new(l.direction, l.radius.cos()))
                .collect(),
            environment,
            bounces,
            strokes: false,
            pixel_slope,
            ground_radiance,
            center: scene.bounds.center().into(),
            reach,
            epsilon: OFFSET * reach + FAR_OFFSET * far,
        };
        // Last: it is made with all the rest.
        lit.caustics = scene.has_clear.then(|| Caustics::build(&lit)).flatten();
        lit
    }

    /// One sample of the picture.
    pub fn sample(&self, ray: Ray, sampler: &mut Sampler) -> PathSample {
        let scene = self.scene;
        let hit = if self.strokes { scene.nearest_solid(ray) } else { scene.nearest(ray) };
        let Some(hit) = hit else {
            return PathSample {
                other: self.backdrop(ray.direction),
                depth: f32::INFINITY,
                ..PathSample::default()
            };
        };
        let budget = Budget {
            bounces: self.bounces,
            crossings: CROSSINGS,
            lamps: true,
            medium: Vec3A::ZERO,
        };
        match hit {
            // Nothing of a strand is filtered: beside it lies another one, of another depth and direction.
            Hit::Segment(place, t) => PathSample {
                other: self.fibre(place, &ray, t, sampler),
                depth: t,
                hard: true,
                strand: true,
                ..PathSample::default()
            },
            Hit::Ground(t) => self.ground_sample(&ray, t, budget, sampler),
            Hit::Triangle(..) | Hit::Ball(..) => {
                let (surface, t) = self.surface(hit, &ray);
                self.surface_sample(&surface, &ray, t, budget, sampler)
            }
        }
    }

    fn surface(&self, hit: Hit, ray: &Ray) -> (Surface, f32) {
        match hit {
            Hit::Triangle(place, t) => {
                (self.scene.triangle_surface(place, ray, t, t * self.pixel_slope), t)
            }
            Hit::Ball(place, t) => (self.scene.ball_surface(place, ray, t), t),
            Hit::Ground(t) | Hit::Segment(_, t) => (self.scene.ground_surface(ray, t), t),
        }
    }

    fn ground_sample(
        &self,
        ray: &Ray,
        t: f32,
        budget: Budget,
        sampler: &mut Sampler,
    ) -> PathSample {
        let fade = self.ground_fade(ray, t);
        let other = self.backdrop(ray.direction) * fade;
        if fade >= 1.0 {
            return PathSample { other, depth: t, normal: Vec3A::Y, ..PathSample::default() };
        }
        let surface = self.scene.ground_surface(ray, t);
        let light = self.gather(&surface, -ray.direction, budget, sampler);
        let albedo = surface.albedo * (1.0 - fade);
        PathSample {
            diffuse: albedo * light.even,
            albedo,
            other,
            normal: Vec3A::Y,
            depth: t,
            lamps: light.lamps,
            ..PathSample::default()
        }
    }

    fn surface_sample(
        &self,
        surface: &Surface,
        ray: &Ray,
        t: f32,
        budget: Budget,
        sampler: &mut Sampler,
    ) -> PathSample {
        let clear = surface.transmission;
        let mut result = PathSample { normal: surface.normal, depth: t, ..PathSample::default() };
        if clear > 0.0 {
            result.other += clear * self.boundary(surface, ray, budget, sampler);
            (result.hard, result.clear) = (true, true);
        }
        if clear < 1.0 {
            let split = self.split(surface, ray, budget, sampler);
            let opaque = 1.0 - clear;
            let light = self.gather(surface, -ray.direction, budget, sampler);
            result.diffuse = split.albedo * light.even * opaque;
            result.albedo = split.albedo * opaque;
            result.other += light.highlights * opaque;
            result.lamps = light.lamps;
            // A blurred reflection is as smooth as scattered light and is filtered with it; a sharp
            // one must not be.
            if split.blurred {
                result.diffuse += split.reflection * opaque;
                result.albedo += split.coat * opaque;
            } else {
                result.other += split.reflection * opaque;
                result.hard |= split.coat.max_element() > HARD_COAT && surface.roughness < SHARP;
            }
        }
        result
    }

    /// Divides the light between the body of a surface and its smooth coat or metal.
    fn split(&self, surface: &Surface, ray: &Ray, budget: Budget, sampler: &mut Sampler) -> Split {
        let to_eye = -ray.direction;
        let f0 = coat_reflectance(surface);
        if f0.max_element() <= 0.0 {
            return Split { albedo: surface.albedo, ..Split::default() };
        }
        let cos = surface.normal.dot(to_eye).clamp(0.0, 1.0);
        let coat = lobe_albedo(f0, surface.roughness, cos);
        let alpha = coat_alpha(surface);
        let origin = surface.lifted + surface.flat * self.epsilon;
        let mirror = reflect(ray.direction, surface.normal);
        let sharp = surface.roughness < SHARP || surface.metallic > METAL;
        let around = if sharp && budget.bounces > 0 && coat.max_element() > LEAST_COAT {
            let u = sampler.pair();
            let spread = (1.0 - 0.5 * alpha * alpha).max(WIDEST_COAT);
            let direction = above(cone_direction(mirror, spread, u), surface.flat);
            // Lamps in the coat are among the highlights already.
            let next = Budget { bounces: budget.bounces - 1, lamps: false, ..budget };
            self.follow(Ray::new_inf(origin, direction), next, sampler)
        } else {
            self.environment.dome(mirror)
        };
        Split {
            albedo: surface.albedo * (1.0 - surface.metallic) * (Vec3A::ONE - coat),
            coat,
            reflection: coat * around,
            blurred: sharp && surface.roughness > BLURRED,
        }
    }

    /// Radiance along a ray that has left a surface.
    fn follow(&self, ray: Ray, budget: Budget, sampler: &mut Sampler) -> Vec3A {
        let Some(hit) = self.scene.nearest(ray) else {
            return self.beyond(ray.direction, budget);
        };
        let (light, t) = match hit {
            Hit::Segment(place, t) => (self.fibre_simply(place, &ray, t, sampler), t),
            Hit::Ground(t) => {
                let fade = self.ground_fade(&ray, t);
                let surface = self.scene.ground_surface(&ray, t);
                let near = if fade < 1.0 {
                    surface.albedo * self.gather(&surface, -ray.direction, budget, sampler).even
                } else {
                    Vec3A::ZERO
                };
                (near.lerp(self.ground_radiance, fade), t)
            }
            Hit::Triangle(..) | Hit::Ball(..) => {
                let (surface, t) = self.surface(hit, &ray);
                (self.surface_light(&surface, &ray, budget, sampler), t)
            }
        };
        light * (budget.medium * -t).exp()
    }

    fn surface_light(
        &self,
        surface: &Surface,
        ray: &Ray,
        budget: Budget,
        sampler: &mut Sampler,
    ) -> Vec3A {
        // One way by chance, not both: each boundary would double the rays.
        if surface.transmission > 0.0 && sampler.one() < surface.transmission {
            return self.boundary(surface, ray, budget, sampler);
        }
        let split = self.split(surface, ray, budget, sampler);
        let light = self.gather(surface, -ray.direction, budget, sampler);
        split.albedo * light.even + light.highlights + split.reflection
    }

    /// What is seen beyond everything.
    fn beyond(&self, direction: Vec3A, budget: Budget) -> Vec3A {
        if !budget.lamps {
            return self.environment.dome(direction);
        }
        let blur = if budget.crossings + 1 < CROSSINGS { SPARK } else { 0.0 };
        let lamps: Vec3A = self.environment.lamps.iter().map(|l| l.seen(direction, blur)).sum();
        self.backdrop(direction) + lamps
    }

    /// What the camera sees where nothing is.
    pub fn backdrop(&self, direction: Vec3A) -> Vec3A {
        let Some(top) = self.scene.look.backdrop else { return self.environment.dome(direction) };
        let horizon =
            if self.scene.ground.is_some() { self.ground_radiance } else { BARE_HORIZON * top };
        horizon.lerp(top, smoothstep(HORIZON[0], HORIZON[1], direction.y))
    }

    /// 0 where the ground is lit as it is, 1 where it has become the backdrop.
    fn ground_fade(&self, ray: &Ray, t: f32) -> f32 {
        let away = ray.origin + ray.direction * t - self.center;
        let [near, far] = GROUND_FADE.map(|sizes| sizes * self.reach);
        smoothstep(near, far, Vec3A::new(away.x, 0.0, away.z).length())
    }
}

/// A direction kept on the side of a surface that its flat normal says.
fn above(direction: Vec3A, flat: Vec3A) -> Vec3A {
    let height = direction.dot(flat);
    if height > ABOVE { direction } else { (direction + flat * (LIFTED - height)).normalize() }
}
