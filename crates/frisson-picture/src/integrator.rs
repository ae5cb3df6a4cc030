//! Follows light backwards from the eye.
//!
//! At an opaque point: every lamp (a shadow ray each) and one ray for everything else, which sees the
//! dome or is lit in turn, as often as `bounces` says. At a clear point: reflection and refraction.
//! On a fibre: the fibre's own scattering, with light dimmed by each strand it crosses.

use glam::Vec3A;
use obvhs::ray::Ray;
use std::f32::consts::PI;

use crate::environment::{Environment, Lamp, smoothstep};
use crate::fibre::Fibre;
use crate::optics::{
    fresnel, lobe_albedo, microfacet, normal_reflectance, reflect, refract, schlick,
};
use crate::sampling::{Cone, Sampler, cone_direction, cosine_direction, sphere_direction};
use crate::scene::Scene;
use crate::surface::{Hit, Surface};
use crate::volume::{StrandVolume, thickness};

/// Pieces of strands from which on they shade each other as a medium.
const MEDIUM_FROM: usize = 4000;
/// Strands after which light is used up.
const STRAND_LIMIT: u32 = 10;
/// Boundaries a ray may cross before it is given up.
const CROSSINGS: u32 = 10;
/// Boundaries at which a ray goes both ways; at later ones it takes one of them by chance.
const SPLITS: u32 = 2;
/// How much a lamp is blurred that is seen through more than one boundary: a drop would gather it into
/// a spark smaller than a pixel, which few samples hit.
const SPARK: f32 = 0.55;
/// Angular width of hair highlights [rad].
const HIGHLIGHT: f32 = 0.13;
/// How sharply a clear body gathers light behind it: the light through a point of its surface that
/// faces the lamp by a cosine c is scaled by c to this power.
const FOCUS: i32 = 5;

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

/// Light that falls on an opaque point.
#[derive(Clone, Copy, Debug, Default)]
struct Light {
    /// Weighted by its cosine and divided by π.
    even: Vec3A,
    /// Lamps in the coat, as the eye sees them.
    highlights: Vec3A,
    /// As [`PathSample::lamps`].
    lamps: u32,
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
        let lamps: Vec3A =
            environment.lamps.iter().map(|l| l.irradiance * (l.direction.y.max(0.0) / PI)).sum();
        let ground_radiance = scene.look.ground_color * (lamps + environment.ambient(Vec3A::Y));
        let reach = 0.5 * scene.bounds.diagonal().max(1e-4);
        let far = scene.bounds.min.abs().max(scene.bounds.max.abs()).max_element();
        let color = mean_color(scene);
        let volume = (scene.segments.len() >= MEDIUM_FROM)
            .then(|| StrandVolume::build(lit_segments(scene), &environment, color));
        Self {
            volume,
            thickness: thickness(color),
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
            epsilon: 2e-5 * reach + 1e-6 * far,
        }
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
                result.hard |= split.coat.max_element() > 0.1 && surface.roughness < 0.3;
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
        let sharp = surface.roughness < 0.3 || surface.metallic > 0.5;
        let around = if sharp && budget.bounces > 0 && coat.max_element() > 0.02 {
            let u = sampler.pair();
            let spread = (1.0 - 0.5 * alpha * alpha).max(0.3);
            let direction = above(cone_direction(mirror, spread, u), surface.flat);
            let next = Budget { bounces: budget.bounces - 1, lamps: false, ..budget };
            self.follow(Ray::new_inf(origin, direction), next, sampler)
        } else {
            self.environment.dome(mirror)
        };
        Split {
            albedo: surface.albedo * (1.0 - surface.metallic) * (Vec3A::ONE - coat),
            coat,
            reflection: coat * around,
            blurred: sharp && surface.roughness > 0.12,
        }
    }

    /// Light that arrives at an opaque point from everywhere.
    fn gather(
        &self,
        surface: &Surface,
        to_eye: Vec3A,
        budget: Budget,
        sampler: &mut Sampler,
    ) -> Light {
        let origin = surface.lifted + surface.flat * self.epsilon;
        let lamps = self.environment.lamps.len();
        let mut light = Light::default();
        if budget.bounces == self.bounces {
            for lamp in 0..lamps {
                self.add_lamp(surface, to_eye, origin, lamp, 1.0, sampler, &mut light);
            }
        } else if lamps > 0 {
            // Once scattered, one lamp stands for all.
            let pick = ((sampler.one() * lamps as f32) as usize).min(lamps - 1);
            self.add_lamp(surface, to_eye, origin, pick, lamps as f32, sampler, &mut light);
        }
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
        surface: &Surface,
        to_eye: Vec3A,
        origin: Vec3A,
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
        let visible = self.visibility(origin, to_lamp, lamp);
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
        // A disc looks like a rougher surface under a point.
        let widened = (coat_alpha(surface) + 0.4 * radius.sin()).min(1.0);
        let lobe = microfacet(surface.normal, direction, to_eye, widened) * facing;
        let half = (direction + to_eye).normalize_or(surface.normal);
        light.highlights += arriving * schlick(f0, half.dot(to_eye)) * lobe;
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
        if surface.transmission > 0.0 && sampler.one() < surface.transmission {
            return self.boundary(surface, ray, budget, sampler);
        }
        let split = self.split(surface, ray, budget, sampler);
        let light = self.gather(surface, -ray.direction, budget, sampler);
        split.albedo * light.even + light.highlights + split.reflection
    }

    /// Reflection and refraction at a smooth boundary: both at the first ones, where choosing would be
    /// the noisiest part of the picture, one chosen by its share later.
    fn boundary(
        &self,
        surface: &Surface,
        ray: &Ray,
        budget: Budget,
        sampler: &mut Sampler,
    ) -> Vec3A {
        let both = budget.crossings + SPLITS > CROSSINGS;
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
        let horizon = if self.scene.ground.is_some() { self.ground_radiance } else { 0.8 * top };
        horizon.lerp(top, smoothstep(-0.05, 0.45, direction.y))
    }

    /// 0 where the ground is lit as it is, 1 where it has become the backdrop.
    fn ground_fade(&self, ray: &Ray, t: f32) -> f32 {
        let away = ray.origin + ray.direction * t - self.center;
        smoothstep(2.5 * self.reach, 9.0 * self.reach, Vec3A::new(away.x, 0.0, away.z).length())
    }

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
    fn past_solids(&self, ray: Ray) -> Vec3A {
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
            pass(material, normal.dot(ray.direction), t, &mut light)
        }) || scene.balls.any(ray, |place, t| {
            let ball = scene.balls.primitive(place);
            let material = scene.ball_material(place);
            let out = (ray.origin + ray.direction * t - ball.center) / ball.radius;
            // Only its first crossing is reported; by symmetry it is left at the same angle.
            let cos = out.dot(ray.direction).abs();
            let way = if out.dot(ray.direction) < 0.0 { 2.0 * cos * ball.radius } else { t };
            pass(material, cos, way, &mut light)
        });
        if stopped { Vec3A::ZERO } else { light.min(Vec3A::splat(6.0)) }
    }

    /// What a few strands along a ray let through.
    fn past_strands(&self, ray: Ray) -> Vec3A {
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
            light *= (Vec3A::ONE - thickness(strand.color)).max(Vec3A::splat(0.1));
            count += 1;
            count >= STRAND_LIMIT
        });
        light
    }

    fn fibre(&self, place: u32, ray: &Ray, t: f32, sampler: &mut Sampler) -> Vec3A {
        let segment = self.scene.segments.primitive(place);
        let tangent = (segment.b - segment.a).normalize_or(Vec3A::Y);
        let position = ray.origin + ray.direction * t;
        self.strand_light(place, position, tangent, -ray.direction, sampler)
    }

    /// Light that a strand sends to the eye from a point of it.
    pub fn strand_light(
        &self,
        place: u32,
        position: Vec3A,
        tangent: Vec3A,
        to_eye: Vec3A,
        sampler: &mut Sampler,
    ) -> Vec3A {
        let segment = self.scene.segments.primitive(place);
        let strand = self.strand(place);
        if strand.flat {
            return strand.color;
        }
        let fibre = Fibre { tangent, color: strand.color, width: HIGHLIGHT, tilt: strand.tilt };
        let step = 2.5 * segment.radius_a.max(segment.radius_b) + self.epsilon;
        let mut light = Vec3A::ZERO;
        for (index, lamp) in self.environment.lamps.iter().enumerate() {
            let direction = self.cones[index].direction(sampler.pair());
            let scattered = fibre.scatter(direction, to_eye) * lamp.irradiance;
            if scattered.max_element() > 2e-3 {
                let from = position + direction * step;
                light += scattered * self.visibility(from, direction, index);
            }
        }
        // Light that has crossed many strands before arriving here.
        let deep = self.environment.ambient(Vec3A::Y) * 0.05;
        light + strand.color * (self.dome_among_strands(position, step, sampler) + deep)
    }

    fn dome_among_strands(&self, position: Vec3A, step: f32, sampler: &mut Sampler) -> Vec3A {
        let direction = sphere_direction(sampler.pair());
        let ray = Ray::new_inf(position + direction * step, direction);
        match &self.volume {
            Some(volume) => {
                // Solids take away what they hide of the dome.
                let open = self.past_solids(ray);
                volume.ambient(position) * (0.5 + 0.5 * open)
            }
            None => {
                self.environment.dome(direction) * self.past_solids(ray) * self.past_strands(ray)
            }
        }
    }

    /// The strand of a piece.
    pub fn strand(&self, place: u32) -> crate::scene::Strand {
        let index = self.scene.segment_strands[self.scene.segments.source(place) as usize];
        self.scene.strands[index as usize]
    }

    /// A strand as seen by scattered light: evenly lit by one lamp and the dome.
    fn fibre_simply(&self, place: u32, ray: &Ray, t: f32, sampler: &mut Sampler) -> Vec3A {
        let segment = self.scene.segments.primitive(place);
        let strand = self.strand(place);
        let lamps = &self.environment.lamps;
        let mut light = self.environment.ambient(Vec3A::Y) * 0.5;
        if !lamps.is_empty() && !strand.flat {
            let pick = ((sampler.one() * lamps.len() as f32) as usize).min(lamps.len() - 1);
            let direction = self.cones[pick].direction(sampler.pair());
            let step = 2.5 * segment.radius_a.max(segment.radius_b) + self.epsilon;
            let from = ray.origin + ray.direction * t + direction * step;
            let irradiance = lamps[pick].irradiance * (0.25 * lamps.len() as f32);
            light += irradiance * self.visibility(from, direction, pick);
        }
        strand.color * light
    }
}

/// Share that the coat or the metal reflects of light that falls straight on it.
fn coat_reflectance(surface: &Surface) -> Vec3A {
    Vec3A::splat(normal_reflectance(surface.ior)).lerp(surface.albedo, surface.metallic)
}

/// Roughness of the coat as its facets have it.
fn coat_alpha(surface: &Surface) -> f32 {
    (surface.roughness * surface.roughness).max(0.002)
}

fn lit_segments(scene: &Scene) -> impl Iterator<Item = crate::shape::Segment> + Clone + '_ {
    (0..scene.segments.len() as u32)
        .filter(|&place| {
            let index = scene.segment_strands[scene.segments.source(place) as usize];
            !scene.strands[index as usize].flat
        })
        .map(|place| *scene.segments.primitive(place))
}

fn mean_color(scene: &Scene) -> Vec3A {
    let lit = scene.strands.iter().filter(|s| !s.flat);
    let (sum, count) = lit.fold((Vec3A::ZERO, 0u32), |(c, n), s| (c + s.color, n + 1));
    sum / count.max(1) as f32
}

/// Light through the boundary of a clear body on its straight way to a lamp; `cos` is that of its
/// outward normal with the way. Returns whether it is stopped.
///
/// The light is not bent; instead what a lens would gather is put where the surface faces the lamp
/// and taken where it does not, so that a ball passes as much light as falls on it: over its disc
/// the mean of c^k is 2 / (k + 2). Applied once, where the way leaves the body.
fn pass(material: &frisson::geometry::Material, cos: f32, t: f32, light: &mut Vec3A) -> bool {
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

/// A direction kept on the side of a surface that its flat normal says.
fn above(direction: Vec3A, flat: Vec3A) -> Vec3A {
    let height = direction.dot(flat);
    if height > 1e-4 { direction } else { (direction + flat * (1e-3 - height)).normalize() }
}
