//! Light that clear bodies bend onto what lies behind and beneath them.
//!
//! ```text
//!     lamp  \ \ \ \        rays start where lamps light a clear body, evenly over its triangles, are refracted at
//!          __\_\_\_\__      every boundary, and leave their power where they meet something opaque. A place is lit
//!         (   \  \ | |)     by the rays that came down around it: a bright spot on the side away from the lamp, dark
//!     _____\___\_*|||_|__   around it, where the light would have gone
//! ```
//!
//! After H. W. Jensen, *Global illumination using photon maps* (1996), with a width for each ray that follows from how
//! far apart they start, and where they have spread from how far apart they land: few rays per drop give a soft spot of
//! the right power, many a sharp one. Straight ways through
//! panes and plates are left to the shadow rays, which draw them sharper. Limits: what boundaries reflect is not
//! followed, and strands catch nothing.

use glam::{UVec3, Vec3A};
use obvhs::ray::Ray;
use rayon::prelude::*;
use std::f32::consts::PI;

use super::{CROSSINGS, Lit, above};
use crate::optics::{fresnel, pane_reflectance, reflect, refract};
use crate::sampling::{Sampler, sphere_direction};
use crate::scene::is_sheet;
use crate::surface::{Hit, Surface};

/// Rays of all lamps together: about a tenth of what a preview casts.
const RAYS: f64 = 240_000.0;
/// Width of a ray where it lands, in the distance at which rays start [-]: so wide that those beside each other make an
/// even light.
const WIDTH: f32 = 2.0;
/// Cosine between two boundaries from which on they are parallel [-], to half a degree: light goes on as it came.
const PARALLEL: f32 = 0.99996;
/// Cosine from which on a place faces as the one does where a ray landed [-]: light on one side of a leaf does not light
/// the other.
const FACING: f32 = 0.5;
/// Power below which a ray is given up, in what it began with [-].
const LEAST_POWER: f32 = 1e-3;
/// Rays that must have landed within the width of one, and up to which share of the scene it is made wider for that [-]:
/// beyond a lens light spreads again, and single rays would be seen as specks.
const COMPANY: usize = 12;
const WIDEST: f32 = 0.1;
/// Least width that is looked at, in the widest [-]: drops of a scene are not smaller than that.
const LEAST_WIDTH: f32 = 1e-4;
/// Bits of a cell's place along one axis.
const KEY_BITS: u32 = 21;

/// Light that has landed.
#[derive(Clone, Copy, Debug, Default)]
struct Landed {
    place: Vec3A,
    /// Normal of what it landed on.
    normal: Vec3A,
    power: Vec3A,
    radius: f32,
}

/// Rays of one range of widths, in a hashed grid whose cells are twice as wide.
struct Level {
    cell: f32,
    mask: u64,
    /// Where the rays of each bucket begin.
    starts: Vec<u32>,
    /// Cell and ray, by bucket.
    keys: Vec<(u64, u32)>,
}

impl Level {
    fn new(landed: &[Landed], rays: impl Iterator<Item = u32>, cell: f32, low: Vec3A) -> Self {
        let place = |i: u32| ((landed[i as usize].place - low) / cell).as_uvec3();
        let mut keys: Vec<(u64, u32)> = rays.map(|i| (key(place(i)), i)).collect();
        let mask = (2 * keys.len()).next_power_of_two() as u64 - 1;
        keys.par_sort_unstable_by_key(|&(k, i)| (bucket(k) & mask, k, i));
        let mut starts = vec![0; mask as usize + 2];
        keys.iter().for_each(|(k, _)| starts[(bucket(*k) & mask) as usize + 1] += 1);
        for i in 0..=mask as usize {
            starts[i + 1] += starts[i];
        }
        Self { cell, mask, starts, keys }
    }

    /// Calls `each` for the rays that may be within half a cell of a place, until it says that it has enough.
    fn near(&self, from_low: Vec3A, mut each: impl FnMut(u32) -> bool) {
        let at = from_low / self.cell - 0.5;
        let first = at.max(Vec3A::ZERO).as_uvec3();
        let last = (at + 1.0).max(Vec3A::ZERO).as_uvec3();
        for x in first.x..=last.x {
            for y in first.y..=last.y {
                for z in first.z..=last.z {
                    let wanted = key(UVec3::new(x, y, z));
                    let bucket = (bucket(wanted) & self.mask) as usize;
                    let rays = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
                    for &(k, i) in &self.keys[rays] {
                        if k == wanted && each(i) {
                            return;
                        }
                    }
                }
            }
        }
    }
}

/// All light that clear bodies have bent.
pub(crate) struct Caustics {
    landed: Vec<Landed>,
    levels: Vec<Level>,
    low: Vec3A,
    high: Vec3A,
}

/// A place where light enters clear bodies: a triangle, or a ball.
#[derive(Clone, Copy)]
enum Door {
    Triangle { mesh: u32, triangle: u32 },
    Ball(u32),
}

/// Rays of one lamp through one door.
struct Beam {
    door: Door,
    /// Area that the lamp sees of it [m²].
    area: f32,
    /// Rays that its share of all would be; how many there are.
    share: f64,
    count: u32,
}

impl Caustics {
    /// Sends light through what is clear. `None` where nothing is, or where none lands.
    pub(super) fn build(lit: &Lit) -> Option<Self> {
        let doors = doors(lit);
        if doors.is_empty() {
            return None;
        }
        let lamps = &lit.environment.lamps;
        let bright: f64 = lamps.iter().map(|l| f64::from(l.irradiance.element_sum())).sum();
        let mut landed = Vec::new();
        for (index, lamp) in lamps.iter().enumerate() {
            let rays =
                RAYS * f64::from(lamp.irradiance.element_sum()) / bright.max(f64::MIN_POSITIVE);
            let beams = beams(lit, &doors, lamp.direction, rays);
            // In the order of the doors, whichever thread follows them.
            let of_lamp: Vec<Vec<Landed>> = beams
                .par_chunks(256)
                .map(|chunk| chunk.iter().flat_map(|b| lit.follow_beam(b, index)).collect())
                .collect();
            landed.extend(of_lamp.into_iter().flatten());
        }
        widen(&mut landed, WIDEST * lit.reach);
        (!landed.is_empty()).then(|| Self::sorted(landed))
    }

    fn sorted(landed: Vec<Landed>) -> Self {
        let (mut low, mut high) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        for l in &landed {
            (low, high) = (low.min(l.place - l.radius), high.max(l.place + l.radius));
        }
        // One grid for every doubling of the width.
        let level_of = |l: &Landed| l.radius.log2().ceil() as i32;
        let mut order: Vec<(i32, u32)> =
            landed.iter().enumerate().map(|(i, l)| (level_of(l), i as u32)).collect();
        order.sort_unstable();
        let level = |same: &[(i32, u32)]| {
            let cell = 2.0 * (same[0].0 as f32).exp2();
            Level::new(&landed, same.iter().map(|(_, i)| *i), cell, low)
        };
        let levels = order.chunk_by(|a, b| a.0 == b.0).map(level).collect();
        Self { landed, levels, low, high }
    }

    /// Irradiance at a place that faces some way.
    pub(super) fn irradiance(&self, place: Vec3A, normal: Vec3A) -> Vec3A {
        let mut sum = Vec3A::ZERO;
        if place.cmplt(self.low).any() || place.cmpgt(self.high).any() {
            return sum;
        }
        for level in &self.levels {
            level.near(place - self.low, |i| {
                let l = &self.landed[i as usize];
                let near = 1.0 - (l.place - place).length_squared() / (l.radius * l.radius);
                if near > 0.0 && l.normal.dot(normal) > FACING {
                    // A paraboloid whose integral over its disc is one.
                    sum += l.power * (near * 2.0 / (PI * l.radius * l.radius));
                }
                false
            });
        }
        sum
    }

    /// Power of all that has landed.
    #[cfg(test)]
    pub(super) fn power(&self) -> Vec3A {
        self.landed.iter().map(|l| l.power).sum()
    }
}

/// Makes rays that have landed alone as wide as it takes to have company.
fn widen(landed: &mut [Landed], widest: f32) {
    let least = landed.iter().fold(f32::INFINITY, |r, l| r.min(l.radius));
    let low = landed.iter().fold(Vec3A::INFINITY, |low, l| low.min(l.place));
    let mut lonely: Vec<u32> = (0..landed.len() as u32).collect();
    let mut width = least.max(LEAST_WIDTH * widest);
    while width < widest && !lonely.is_empty() {
        let level = Level::new(landed, 0..landed.len() as u32, 2.0 * width, low);
        let has_company = |l: &Landed| {
            let mut count = 0;
            level.near(l.place - low, |i| {
                let away = landed[i as usize].place - l.place;
                count += usize::from(away.length_squared() < width * width);
                count >= COMPANY
            });
            count >= COMPANY
        };
        // Those that begin wider are asked when their turn comes.
        lonely = lonely
            .into_par_iter()
            .filter(|i| {
                let l = &landed[*i as usize];
                l.radius > width || !has_company(l)
            })
            .collect();
        width *= 2.0;
        for i in &lonely {
            let radius = &mut landed[*i as usize].radius;
            *radius = radius.max(width);
        }
    }
}

/// A number that scatters cells over a table.
fn bucket(key: u64) -> u64 {
    let mixed = (key ^ (key >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

/// A cell as a number.
fn key(cell: UVec3) -> u64 {
    let [x, y, z] = cell.to_array().map(|c| u64::from(c) & ((1 << KEY_BITS) - 1));
    x << (2 * KEY_BITS) | y << KEY_BITS | z
}

/// Where light may enter clear bodies.
fn doors(lit: &Lit) -> Vec<Door> {
    let scene = lit.scene;
    let mut doors = Vec::new();
    for (m, mesh) in scene.meshes.iter().enumerate() {
        if mesh.materials.iter().all(|material| material.transmission <= 0.0) {
            continue;
        }
        for triangle in 0..mesh.topology.triangles.len() as u32 {
            let material = mesh.material(triangle);
            if material.transmission > 0.0 && !(mesh.is_open && is_sheet(material)) {
                doors.push(Door::Triangle { mesh: m as u32, triangle });
            }
        }
    }
    let balls = 0..scene.balls.len() as u32;
    doors.extend(balls.filter(|b| scene.ball_material(*b).transmission > 0.0).map(Door::Ball));
    doors
}

/// Rays for each door that a lamp shines on: half of them by number, so that small drops have their own, half by area.
fn beams(lit: &Lit, doors: &[Door], to_lamp: Vec3A, rays: f64) -> Vec<Beam> {
    let area = |door: &Door| match *door {
        Door::Triangle { mesh, triangle } => {
            let [a, b, c] = lit.corners(mesh, triangle);
            0.5 * (b - a).cross(c - a).dot(to_lamp)
        }
        Door::Ball(place) => PI * lit.scene.balls.primitive(place).radius.powi(2),
    };
    let seen: Vec<(Door, f32)> =
        doors.iter().map(|d| (*d, area(d))).filter(|(_, a)| *a > 0.0).collect();
    let all: f64 = seen.iter().map(|(_, a)| f64::from(*a)).sum();
    let mut given = 0.5;
    seen.iter()
        .map(|&(door, area)| {
            let share = 0.5 * rays * (1.0 / seen.len() as f64 + f64::from(area) / all);
            let before = given;
            given += share;
            Beam { door, area, share, count: (f64::floor(given) - f64::floor(before)) as u32 }
        })
        .filter(|b| b.count > 0)
        .collect()
}

impl Lit<'_> {
    /// Light that clear bodies have bent onto a place [irradiance].
    pub(super) fn bent_light(&self, place: Vec3A, normal: Vec3A) -> Vec3A {
        self.caustics.as_ref().map_or(Vec3A::ZERO, |c| c.irradiance(place, normal))
    }

    fn corners(&self, mesh: u32, triangle: u32) -> [Vec3A; 3] {
        let mesh = &self.scene.meshes[mesh as usize];
        mesh.topology.triangles[triangle as usize].map(|v| mesh.positions[v as usize].into())
    }

    /// Follows the rays of a beam.
    fn follow_beam(&self, beam: &Beam, lamp: usize) -> Vec<Landed> {
        let id = match beam.door {
            Door::Triangle { mesh, triangle } => mesh.wrapping_mul(0x9E37_79B9) ^ triangle,
            Door::Ball(place) => !place,
        };
        // Where there are fewer rays than doors, each stands for what lies between it and the next.
        let each = beam.area / beam.share as f32;
        let radius = WIDTH * each.sqrt();
        let power = self.environment.lamps[lamp].irradiance * each;
        (0..beam.count)
            .filter_map(|k| {
                let mut sampler = Sampler::new(lamp as u32, id, 0, k);
                let to_lamp = self.cones[lamp].direction(sampler.pair());
                let start = self.start(beam.door, to_lamp, &mut sampler)?;
                // What another clear body stands in the way of comes through that one.
                let light = self.past_panes(start + to_lamp * self.epsilon, to_lamp)?;
                self.follow_light(-to_lamp, (start, light * power), radius)
            })
            .collect()
    }

    /// A place of a door that faces a lamp.
    fn start(&self, door: Door, to_lamp: Vec3A, sampler: &mut Sampler) -> Option<Vec3A> {
        let u = sampler.pair();
        match door {
            Door::Triangle { mesh, triangle } => {
                let [a, b, c] = self.corners(mesh, triangle);
                let root = u.x.sqrt();
                let place = a + (b - a) * (root * (1.0 - u.y)) + (c - a) * (root * u.y);
                ((b - a).cross(c - a).dot(to_lamp) > 0.0).then_some(place)
            }
            Door::Ball(place) => {
                let ball = self.scene.balls.primitive(place);
                let out = sphere_direction(u);
                // A ball is lit as its disc is: what comes down evenly on that, on the half of it that faces the lamp.
                let across = (out - to_lamp * out.dot(to_lamp)).normalize_or_zero();
                let across = across * sampler.one().sqrt();
                let up = (1.0 - across.length_squared()).max(0.0).sqrt();
                Some(ball.center + (across + to_lamp * up) * ball.radius)
            }
        }
    }

    /// What of a lamp comes straight to a clear body: through panes, but past nothing else.
    fn past_panes(&self, origin: Vec3A, to_lamp: Vec3A) -> Option<Vec3A> {
        let (scene, ray) = (self.scene, Ray::new_inf(origin, to_lamp));
        let mut light = Vec3A::ONE;
        let stopped = scene.triangles.any(ray, |place, t| {
            if !scene.is_pane(place) {
                return true;
            }
            let normal = scene.outward_normal(place, ray.origin + ray.direction * t);
            super::shadows::pass_pane(
                scene.triangle_material(place),
                normal.dot(to_lamp).abs(),
                &mut light,
            )
        }) || scene.balls.any(ray, |_, _| true);
        (!stopped).then_some(light)
    }

    /// Follows light from a boundary of a clear body to where it lands, if it was bent on its way.
    fn follow_light(
        &self,
        direction: Vec3A,
        (start, begun): (Vec3A, Vec3A),
        radius: f32,
    ) -> Option<Landed> {
        // From just before the boundary, so that it is the first that is met.
        let mut ray = Ray::new_inf(start - direction * (2.0 * self.epsilon), direction);
        let (mut power, mut medium, mut bends) = (begun, Vec3A::ZERO, Bends::default());
        for _ in 0..CROSSINGS {
            let hit = self.scene.nearest_solid(ray)?;
            let (surface, t) = self.surface(hit, &ray);
            power *= (medium * -t).exp();
            if power.max_element() < LEAST_POWER * begun.max_element() {
                return None;
            }
            if surface.transmission <= 0.0 {
                let place = ray.origin + ray.direction * t;
                let landed = Landed { place, normal: surface.flat, power, radius };
                return bends.is_bent().then_some(landed);
            }
            let is_ball = matches!(hit, Hit::Ball(..));
            if surface.is_pane {
                let share = pane_reflectance(-ray.direction.dot(surface.normal), surface.ior);
                power *= surface.albedo * (surface.transmission * (1.0 - share));
                ray = Ray::new_inf(surface.position - surface.flat * self.epsilon, ray.direction);
                continue;
            }
            bends.cross(&surface, is_ball);
            (ray, medium, power) = self.cross(&surface, &ray, power, medium);
        }
        None
    }

    /// What goes on beyond a boundary.
    fn cross(
        &self,
        surface: &Surface,
        ray: &Ray,
        power: Vec3A,
        medium: Vec3A,
    ) -> (Ray, Vec3A, Vec3A) {
        let (from, to) = if surface.entering { (1.0, surface.ior) } else { (surface.ior, 1.0) };
        let cos = -ray.direction.dot(surface.normal);
        match refract(ray.direction, surface.normal, from, to) {
            None => {
                let direction = above(reflect(ray.direction, surface.normal), surface.flat);
                let origin = surface.position + surface.flat * self.epsilon;
                (Ray::new_inf(origin, direction), medium, power)
            }
            Some(direction) => {
                let clear = if surface.entering { surface.transmission } else { 1.0 };
                let inside = if surface.entering { surface.absorption } else { Vec3A::ZERO };
                let origin = surface.position - surface.flat * self.epsilon;
                let next = Ray::new_inf(origin, above(direction, -surface.flat));
                (next, inside, power * (clear * (1.0 - fresnel(cos, from, to))))
            }
        }
    }
}

/// Whether a way through boundaries is bent: it is not if all are parallel and it leaves what it entered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bends {
    first: Option<Vec3A>,
    depth: i32,
    curved: bool,
}

impl Bends {
    /// Another boundary.
    fn cross(&mut self, surface: &Surface, is_ball: bool) {
        self.meet(surface.normal, surface.entering, is_ball);
    }

    /// Another boundary, by its normal.
    pub(super) fn meet(&mut self, normal: Vec3A, enters: bool, is_ball: bool) {
        let first = *self.first.get_or_insert(normal);
        self.curved |= is_ball || normal.dot(first).abs() < PARALLEL;
        self.depth += if enters { 1 } else { -1 };
    }

    /// Whether it met any, and is bent.
    pub(super) fn is_bent(&self) -> bool {
        self.first.is_some() && (self.curved || self.depth != 0)
    }
}

#[cfg(test)]
mod tests {
    use frisson::geometry::{Material, Mesh};
    use frisson::stage::Frame;
    use glam::Vec3;

    use super::*;
    use crate::environment::{Environment, Lamp};
    use crate::look::{GroundChoice, Look, water};
    use crate::{Scene, stock};

    /// One lamp over a ground.
    fn look(to_lamp: Vec3A) -> Look {
        let mut environment = Environment::uniform(Vec3A::ZERO);
        let direction = to_lamp.normalize();
        environment.lamps = vec![Lamp { direction, radius: 0.01, irradiance: Vec3A::ONE }];
        Look {
            environment,
            lamps_follow_camera: false,
            ground: GroundChoice::At(0.0),
            ..Look::studio()
        }
    }

    fn clear() -> Material {
        // Hardly any: without, a mesh that is not closed would be taken for a pane.
        Material { absorption: [1e-5; 3], ..water() }
    }

    fn scene(meshes: Vec<Mesh>, look: &Look) -> Scene {
        Scene::from_frame(&Frame { meshes, ..Frame::default() }, look).unwrap()
    }

    /// A drop on the ground: half a ball of radius 1, whose base lies a little below.
    fn drop() -> Mesh {
        stock::lathe("drop", 48, 96, clear(), |s| {
            if s < 0.2 {
                return (5.0 * s, -0.02);
            }
            let angle = std::f32::consts::FRAC_PI_2 * (s - 0.2) / 0.8;
            (angle.cos(), angle.sin() - 0.02)
        })
    }

    /// Irradiance on the ground, straight and bent.
    fn light_at(lit: &Lit, x: f32, z: f32) -> f32 {
        let at = Vec3A::new(x, 0.0, z);
        let to_lamp = lit.environment.lamps[0].direction;
        let straight = lit.visibility(
            at + Vec3A::Y * lit.epsilon,
            to_lamp,
            0,
            crate::integrator::shadows::Bent::Elsewhere,
        );
        straight.x * to_lamp.y + lit.bent_light(at, Vec3A::Y).x
    }

    #[test]
    fn a_clear_ball_lets_as_much_light_land_as_its_boundaries_let_pass() {
        let look = look(Vec3A::Y);
        let ball = stock::ball("ball", Vec3::new(0.0, 1.5, 0.0), 1.0, 96, 192, clear());
        let scene = scene(vec![ball], &look);
        let lit = Lit::new(&scene, 0.0, 1, 1e-3);
        // Both boundaries are met at the same angle; rays are followed until all has left or landed.
        let steps = 20_000;
        let expected: f32 = (0..steps)
            .map(|i| {
                let r = (i as f32 + 0.5) / steps as f32;
                let cos = (1.0 - r * r).sqrt();
                2.0 * PI * r / steps as f32 * (1.0 - fresnel(cos, 1.0, 1.333)).powi(2)
            })
            .sum();
        let power = lit.caustics.as_ref().unwrap().power().x;
        assert!((power / expected - 1.0).abs() < 0.01, "{power} {expected}");
    }

    #[test]
    fn what_a_drop_gathers_it_takes_from_its_shadow() {
        let look = look(Vec3A::new(0.0, 1.0, 0.0));
        let scene = scene(vec![drop()], &look);
        let lit = Lit::new(&scene, 0.0, 1, 1e-3);
        // Over a square around it the mean is that of open ground, but for what its surface mirrors.
        let (count, half) = (200, 1.6);
        let mut sum = 0.0;
        for i in 0..count * count {
            let [x, z] = [i % count, i / count]
                .map(|k| half * (2.0 * (k as f32 + 0.5) / count as f32 - 1.0));
            sum += light_at(&lit, x, z);
        }
        let mean = sum / (count * count) as f32;
        let steps = 20_000;
        let mirrored: f32 = (0..steps)
            .map(|i| {
                let r = (i as f32 + 0.5) / steps as f32;
                2.0 * PI * r / steps as f32 * fresnel((1.0 - r * r).sqrt(), 1.0, 1.333)
            })
            .sum();
        let expected = 1.0 - mirrored / (4.0 * half * half);
        assert!((mean - expected).abs() < 0.01, "{mean} {expected}");
        // And it is gathered: bright in the middle, dark at the rim.
        let (middle, rim) = (light_at(&lit, 0.0, 0.0), light_at(&lit, 0.93, 0.0));
        assert!(middle > 1.3 && rim < 0.5 * middle, "{middle} {rim}");
    }

    #[test]
    fn the_bright_spot_lies_on_the_side_away_from_the_lamp() {
        let to_lamp = Vec3A::new(-1.0, 1.0, 0.0);
        let look = look(to_lamp);
        let scene = scene(vec![drop()], &look);
        let lit = Lit::new(&scene, 0.0, 1, 1e-3);
        let open = light_at(&lit, -4.0, 0.0);
        assert!((open - to_lamp.normalize().y).abs() < 1e-3, "{open}");
        let along: Vec<f32> = (-30..30).map(|i| light_at(&lit, 0.05 * i as f32, 0.0)).collect();
        let brightest = along.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let (at, brightest) = brightest.unwrap();
        let x = 0.05 * (at as f32 - 30.0);
        assert!(x > 0.4 && x < 1.1 && brightest > 2.0 * open, "{x}: {brightest} {open}");
        // Beyond the spot its shadow, then open ground again.
        let shade = light_at(&lit, 1.35, 0.0);
        assert!(shade < 0.3 * open, "{shade} {open}");
        assert!(light_at(&lit, 3.0, 0.0) > 0.99 * open);
    }

    #[test]
    fn a_plate_of_glass_leaves_light_straight() {
        // Two faces a centimetre apart: all of it is the shadow ray's, nothing is counted twice.
        let plate = stock::lathe("plate", 3, 4, clear(), |s| match (3.0 * s).round() as u32 {
            0 => (0.0, 1.0),
            1 => (4.0, 1.0),
            2 => (4.0, 1.01),
            _ => (0.0, 1.01),
        });
        let look = look(Vec3A::Y);
        let mut plate = plate;
        // Flat faces: no smooth normals over its edges.
        let (p, t) = (plate.positions.clone(), plate.topology.triangles.clone());
        let corners: Vec<Vec3> = t.iter().flatten().map(|v| p[*v as usize]).collect();
        let split = (0..t.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        plate = Mesh { name: "plate".into(), ..Mesh::new("plate", corners, split) };
        std::sync::Arc::make_mut(&mut plate.topology).materials = vec![clear()];
        plate.normals = plate
            .positions
            .chunks(3)
            .flat_map(|c| [(c[1] - c[0]).cross(c[2] - c[0]).normalize_or(Vec3::Y); 3])
            .collect();
        let scene = scene(vec![plate], &look);
        let lit = Lit::new(&scene, 0.0, 1, 1e-3);
        let once = 1.0 - fresnel(1.0, 1.0, 1.333);
        for x in [-1.1, 0.3, 0.7] {
            let found = light_at(&lit, x, 0.21);
            assert!((found - once * once).abs() < 5e-3, "{found} {}", once * once);
        }
    }
}
