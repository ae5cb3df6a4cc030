//! How a pool's patch rides with its ground, also where that turns.
//!
//! ```text
//!        y of the patch              the patch keeps its place on the ground and turns with it; gravity then leans
//!         \   __                     in the patch's own axes, and the bed is taken as gravity sees it: higher by
//!    |     \_/ /|                    `lean . x`, so that what is level in the world is level for the flow
//!    g   __/  / |
//!       |____/__|
//! ```
//!
//! Of all the ground under the liquid that motion of a rigid body is taken which most of it shares. Displacements obey
//! `d = w x (middle of the way)` exactly, with `|w| = 2 tan(angle / 2)`, so that a fit of `w` gives the turn without
//! error (A. Cayley's form of a turn).

use glam::{DMat3, DQuat, DVec2, DVec3, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::liquid::Liquid;
use super::pool::{PoolRest, PoolState, highest_collider};
use super::surface::Surface;
use crate::stage::ColliderSet;

/// Share of the ground's mean speed within which it moves alike [-].
const ALIKE: f64 = 0.2;
/// Rounds in which ground that moves otherwise loses its say; each takes an outlier's by its misfit squared.
const ROUNDS: usize = 5;
/// Depth of the liquid that dry ground counts for [m]: a patch without liquid rides too, and with some that rules.
const DRY_WEIGHT: f64 = 1e-6;
/// Least part of gravity that presses liquid on its ground for the flow [-], about 78 degrees: on steeper ground columns
/// stand for nothing any more.
const STEEPEST: f64 = 0.2;

/// Where a patch stands, against where it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PatchPose {
    /// Turn of its axes.
    pub turn: DQuat,
    /// Place of its origin, which was that of the world [m].
    pub shift: DVec3,
}

impl PatchPose {
    /// A place of the patch, in the world.
    #[must_use]
    pub fn to_world(&self, p: DVec3) -> DVec3 {
        self.turn * p + self.shift
    }

    /// A place of the world, in the patch.
    #[must_use]
    pub fn to_patch(&self, p: DVec3) -> DVec3 {
        self.turn.inverse() * (p - self.shift)
    }

    /// Where it is after moving for a tick.
    #[must_use]
    fn moved(&self, motion: &Motion, dt: f64) -> Self {
        if *motion == Motion::default() {
            return *self;
        }
        let half = 0.5 * dt * motion.spin;
        let turn = DQuat::from_xyzw(half.x, half.y, half.z, 1.0).normalize();
        // The pivot is where the middle of the ground's way was: seen from there both halves of the turn are alike.
        let begin = motion.pivot - 0.5 * dt * motion.velocity;
        let end = motion.pivot + 0.5 * dt * motion.velocity;
        Self { turn: (turn * self.turn).normalize(), shift: end + turn * (self.shift - begin) }
    }
}

/// How ground moves, as a rigid body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// A place [m].
    pub pivot: DVec3,
    /// How fast it moves there [m/s].
    pub velocity: DVec3,
    /// Turn per time [rad/s].
    pub spin: DVec3,
}

impl Motion {
    /// How fast it moves at a place [m/s].
    #[must_use]
    pub fn at(&self, place: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(place - self.pivot)
    }
}

/// Ground under one cell.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// Middle of its way within the tick [m].
    place: DVec3,
    velocity: DVec3,
    spin: DVec3,
    weight: f64,
}

/// The world that a patch rides in.
#[derive(Clone, Copy)]
pub struct RideWorld<'a> {
    /// Meshes that drops run on.
    pub surface: &'a Surface,
    /// Colliders of the scene.
    pub colliders: &'a ColliderSet,
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// Length of the tick [s].
    pub dt: f64,
}

impl PoolRest {
    /// Takes the patch to where its ground has gone within the tick. Its liquid keeps its own speed.
    pub fn ride(&mut self, pool: &mut PoolState, liquid: &Liquid, world: &RideWorld) {
        let motion = self.ground_motion(pool, liquid, world);
        let before = (self.pose, pool.motion);
        pool.pose = before.0.moved(&motion, world.dt);
        pool.motion = motion;
        self.stand_at(pool.pose);
        self.leave_behind(pool, liquid, before);
    }

    /// How the ground under the liquid moves: as most of it does, or not at all if no half of it moves alike.
    fn ground_motion(&self, pool: &PoolState, liquid: &Liquid, world: &RideWorld) -> Motion {
        let dry = DRY_WEIGHT * liquid.density * self.cell * self.cell;
        let sample = |c: usize| match self.bed[c].is_finite() {
            true => Sample { weight: pool.mass[c] + dry, ..self.sample_under(c, world) },
            false => Sample::default(),
        };
        // Found by many threads, added up in one order.
        let samples: Vec<Sample> = (0..pool.mass.len()).into_par_iter().map(sample).collect();
        let all: f64 = samples.iter().map(|s| s.weight).sum();
        let energy: f64 = samples.iter().map(|s| s.weight * s.velocity.length_squared()).sum();
        if energy <= 0.0 {
            return Motion::default();
        }
        let within_sq = ALIKE * ALIKE * energy / all;
        let mut motion = fit(&samples, |_| 1.0);
        // How it turns counts by what that does over a cell: a triangle sheared between two that move apart turns fast.
        let misfit_sq = |m: &Motion, s: &Sample| {
            let turn = self.cell * (s.spin - m.spin);
            (s.velocity - m.at(s.place)).length_squared() + turn.length_squared()
        };
        for _ in 0..ROUNDS {
            let last = motion;
            motion = fit(&samples, |s| (1.0 + misfit_sq(&last, s) / within_sq).powi(-2));
        }
        let alike = samples.iter().filter(|s| misfit_sq(&motion, s) <= within_sq);
        let agrees: f64 = alike.map(|s| s.weight).sum();
        if agrees > 0.5 * all { motion } else { Motion::default() }
    }

    /// How what is highest under a cell moves.
    fn sample_under(&self, cell: usize, world: &RideWorld) -> Sample {
        let (top, down, reach) = self.plumb(cell);
        let hit = self.hit_under(cell, &world.surface.bvh);
        let to_mesh = hit.map_or(f32::INFINITY, |h| h.distance);
        let to_collider = highest_collider(world.colliders, (top, down, reach), self.bed_error());
        if to_collider < to_mesh {
            return collider_sample(world, top + down * to_collider);
        }
        let Some(hit) = hit else { return Sample::default() };
        let [_, u, v] = hit.barycentric.map(f64::from);
        let velocity = world.surface.velocity(hit.triangle, DVec2::new(u, v), world.dt);
        let place = (top + down * hit.distance).as_dvec3() - 0.5 * world.dt * velocity;
        let spin = triangle_spin(world.surface, hit.triangle, world.dt);
        Sample { place, velocity, spin, weight: 0.0 }
    }

    /// Liquid stays behind when its ground speeds up or turns, seen from the ground.
    fn leave_behind(
        &self,
        pool: &mut PoolState,
        liquid: &Liquid,
        (pose, motion): (PatchPose, Motion),
    ) {
        if pool.motion == motion && motion.spin == DVec3::ZERO {
            return;
        }
        let back = self.pose.turn.inverse();
        let change = |c: usize| {
            let [x, z] = self.middle(c);
            let at = DVec3::new(x, self.height(c), z);
            let now = pool.motion.at(self.pose.to_world(at));
            back * (now - motion.at(pose.to_world(at)))
        };
        let depth = |c: usize| self.depth(pool.mass[c], liquid);
        for c in (0..pool.mass.len()).filter(|c| pool.mass[*c] > 0.0) {
            let [x, z] = self.next(c);
            // Through a side between liquid and dry ground nothing goes: its edge rides along.
            let through =
                |to: Option<usize>| to.map_or(0.0, |to| depth(c).min(depth(to)) * self.cell);
            let change = change(c);
            pool.flow_x[c] -= change.x * through(x);
            pool.flow_z[c] -= change.z * through(z);
        }
    }

    /// How much higher the bed is for gravity, per way along x and z of the patch [-].
    #[must_use]
    pub fn lean_under(&self, gravity: DVec3) -> DVec2 {
        let pull = self.pose.turn.inverse() * gravity;
        let press = self.press(gravity);
        if press > 0.0 { DVec2::new(-pull.x, -pull.z) / press } else { DVec2::ZERO }
    }

    /// How gravity presses liquid on the ground [m/s²]: on steep ground as much as columns need to stand.
    #[must_use]
    pub fn press(&self, gravity: DVec3) -> f64 {
        self.outright_press(gravity).max(STEEPEST * gravity.length())
    }

    /// The same, as it is: negative where the patch is turned over.
    #[must_use]
    pub fn outright_press(&self, gravity: DVec3) -> f64 {
        -(self.pose.turn.inverse() * gravity).y
    }
}

/// The mean motion; `trust` is how much more or less a sample counts. How it turns is not taken from where the samples go:
/// two halves that move apart would look like one that turns.
fn fit(samples: &[Sample], trust: impl Fn(&Sample) -> f64) -> Motion {
    let (mut all, mut mean) = (0.0, Motion::default());
    for s in samples {
        let weight = s.weight * trust(s);
        all += weight;
        mean.pivot += s.place * weight;
        mean.velocity += s.velocity * weight;
        mean.spin += s.spin * weight;
    }
    if all <= 0.0 {
        return Motion::default();
    }
    Motion { pivot: mean.pivot / all, velocity: mean.velocity / all, spin: mean.spin / all }
}

/// `|r|² - r r`: what turns `spin` into `r x (spin x r)`.
fn lever(r: DVec3) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(r.length_squared()))
        - DMat3::from_cols(r * r.x, r * r.y, r * r.z)
}

/// How a triangle turns [rad/s].
fn triangle_spin(surface: &Surface, triangle: u32, dt: f64) -> DVec3 {
    let [a, b, c] = surface.triangles[triangle as usize].map(|p| p as usize);
    let edge = |from: usize, to: usize| {
        let (now, then) = (
            surface.points[to] - surface.points[from],
            surface.previous[to] - surface.previous[from],
        );
        (0.5 * (now + then), now - then)
    };
    let (mut inertia, mut moment) = (DMat3::ZERO, DVec3::ZERO);
    for (middle, change) in [edge(a, b), edge(b, c), edge(c, a)] {
        inertia += lever(middle);
        moment += middle.cross(change);
    }
    let spin = inertia.inverse() * moment / dt;
    // A triangle without area does not say how it turns.
    if spin.is_finite() { spin } else { DVec3::ZERO }
}

/// How the collider nearest to a place moves there.
fn collider_sample(world: &RideWorld, at: Vec3) -> Sample {
    let contacts = world.colliders.all().iter().map(|c| (c, c.contact(at, 1.0)));
    let nearest = contacts.min_by(|a, b| a.1.distance.total_cmp(&b.1.distance));
    let Some((collider, contact)) = nearest else { return Sample::default() };
    let velocity = contact.velocity.as_dvec3();
    let ((from, _), (to, _)) = (collider.pose(0.0), collider.pose(1.0));
    let turn = (to * from.inverse()).as_dquat();
    let spin = 2.0 * turn.xyz() / (turn.w * world.dt);
    let place = at.as_dvec3() - 0.5 * world.dt * velocity;
    Sample { place, velocity, spin, weight: 0.0 }
}
