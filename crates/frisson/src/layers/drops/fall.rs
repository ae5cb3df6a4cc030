//! Drops in the air: a parabola (with a little drag) that ends on whatever it meets.

use glam::{DVec2, DVec3};

use super::flow::{Flow, Segment};
use super::motion::Weights;
use super::state::{Droplet, NO_STREAM, NOT_ENTERED, Phase};
use super::surface::clamp_weights;
use super::world::{box_of, plane_weights};
use crate::math::random;
use crate::math::roots::find_root;
use crate::tolerances::drops::{FALL_PIECES, LAND_MARGIN};

/// A falling drop that meets a triangle.
#[derive(Clone, Copy, Debug)]
struct Hit {
    time: f64,
    triangle: u32,
    weights: DVec2,
}

/// How a falling drop strikes the surface.
struct Impact {
    /// Where [m].
    position: DVec3,
    /// On which triangle.
    triangle: u32,
    /// Away from the side that it strikes.
    out: DVec3,
    /// Its velocity against the ground's [m/s].
    relative: DVec3,
    /// Velocity of the ground [m/s].
    ground: DVec3,
}

impl Flow<'_> {
    pub(super) fn in_air(&mut self, drop: &mut Droplet) {
        let Phase::Air { position, velocity, since, from } = drop.phase else { return };
        let drag = self.world.liquid.air_drag + self.world.scene_drag;
        let air = self.world.air(position);
        let mut pull = self.world.acceleration(position, drop, &self.body);
        if self.world.windy {
            // In the air the wind acts through the drag, not through the push on a sitting drop.
            pull = self.world.uniform.unwrap_or(
                self.world.forces.acceleration(position.as_vec3(), self.world.time).as_dvec3(),
            );
        }
        let a = pull + air * drag;
        let at = |t: f64| position + Weights::at(drag, t).displacement(velocity, a);
        let hit = self.find_hit(&at, since, from);
        let time = hit.map_or(self.left, |h| h.time);
        if self.world.tracks && time > 0.0 {
            self.trace.segments.push(Segment {
                id: drop.id,
                start: self.now(),
                duration: time,
                position,
                velocity,
                acceleration: a,
                drag,
            });
        }
        let v = Weights::at(drag, time).velocity(velocity, a);
        match hit {
            None => {
                drop.phase = Phase::Air { position: at(self.left), velocity: v, since, from };
                self.left = 0.0;
            }
            Some(hit) => {
                self.left = (self.left - time).max(0.0);
                self.land(drop, hit, v, at(time));
            }
        }
    }

    /// The first triangle met, swept over its own motion.
    fn find_hit(&mut self, at: &dyn Fn(f64) -> DVec3, since: f64, from: u32) -> Option<Hit> {
        let world = self.world;
        let surface = world.surface;
        let mut candidates = std::mem::take(&mut self.trace.candidates);
        let mut best: Option<Hit> = None;
        // In pieces: the box of a whole arc would hold far more triangles.
        let piece = self.left / f64::from(FALL_PIECES);
        for i in 0..FALL_PIECES {
            let (t0, t1) = (f64::from(i) * piece, f64::from(i + 1) * piece);
            let (p0, p1) = (at(t0), at(t1));
            candidates.clear();
            let reach = surface.longest_move + LAND_MARGIN;
            surface.bvh.overlapping(box_of(p0, p1, reach), |t| candidates.push(t));
            // The tree finds them in any order; of those that are met at the same time the first counts.
            candidates.sort_unstable();
            for &triangle in &candidates {
                let fresh = self.now() + t0 - since < world.liquid.air_time;
                if !surface.live[triangle as usize] || (fresh && self.touches(triangle, from)) {
                    continue;
                }
                if let Some(hit) = self.meet(at, triangle, t0, t1)
                    && best.is_none_or(|b| hit.time < b.time)
                {
                    best = Some(hit);
                }
            }
            if best.is_some() {
                break;
            }
        }
        self.trace.candidates = candidates;
        best
    }

    fn touches(&self, a: u32, b: u32) -> bool {
        if b == u32::MAX {
            return false;
        }
        let triangles = &self.world.surface.triangles;
        triangles[a as usize].iter().any(|p| triangles[b as usize].contains(p))
    }

    /// When, between two times, the drop's centre passes through a moving triangle.
    fn meet(&self, at: &dyn Fn(f64) -> DVec3, triangle: u32, t0: f64, t1: f64) -> Option<Hit> {
        let corners = |t: f64| {
            let start_of_tick = self.world.time - self.world.tick;
            let fraction = (self.now() + t - start_of_tick) / self.world.tick;
            self.world.corners_at(triangle, fraction.clamp(0.0, 1.0))
        };
        let height = |t: f64| {
            let [a, b, c] = corners(t);
            (b - a).cross(c - a).dot(at(t) - a)
        };
        let (h0, h1) = (height(t0), height(t1));
        // In the plane all the while it passes through nothing; on one side all the while, neither.
        if h0 == 0.0 && h1 == 0.0 || (h0 > 0.0) == (h1 > 0.0) {
            return None;
        }
        let time = find_root(t0, t1, 1e-12, height);
        let weights = plane_weights(corners(time), at(time));
        // A hair beyond the edges: through the seam between two triangles nothing may fall.
        let slack = 1e-9;
        let inside = weights.min_element() >= -slack && weights.x + weights.y <= 1.0 + slack;
        inside.then(|| Hit { time, triangle, weights: clamp_weights(weights) })
    }

    /// Lands, splashes, or glances off where it could not hold.
    fn land(&mut self, drop: &mut Droplet, hit: Hit, velocity: DVec3, position: DVec3) {
        let surface = self.world.surface;
        let facet = surface.facets[hit.triangle as usize];
        let ground = surface.velocity(hit.triangle, hit.weights, self.world.tick);
        let relative = velocity - ground;
        let speed = relative.dot(facet.normal);
        // Sheets have two sides, and drops come from either.
        let side = if speed <= 0.0 { 1 } else { -1 };
        let out = facet.normal * f64::from(side);
        let acceleration = self.world.acceleration(position, drop, &self.body);
        let holds = self.world.holding_force(hit.triangle, self.body.radius);
        let outward = self.body.mass * acceleration.dot(out);
        drop.changed = self.now();
        if outward > 0.0 && outward > holds * (1.0 - self.world.liquid.hysteresis) {
            // It could not hang here: it keeps going along the surface, in the air.
            let away = relative - out * relative.dot(out).min(0.0);
            drop.phase = Phase::Air {
                position: position + out * LAND_MARGIN,
                velocity: away + ground,
                since: self.now(),
                from: hit.triangle,
            };
            return;
        }
        self.trace.counts.landings += 1;
        let impact = Impact { position, triangle: hit.triangle, out, relative, ground };
        self.splash(drop, speed.abs(), &impact);
        drop.entered = NOT_ENTERED;
        drop.stream = NO_STREAM;
        drop.spread = 0.0;
        drop.side = side;
        drop.carrier = ground;
        drop.inertia = DVec3::ZERO;
        drop.pull = 0.0;
        // A drop that has flown draws a new trail, not a line through the air.
        drop.strip.is_done = true;
        drop.phase = Phase::Face {
            triangle: hit.triangle,
            weights: hit.weights,
            velocity: facet.tangential(relative),
            standing: 0,
        };
    }

    /// Throws part of the drop back up as droplets, above a speed.
    fn splash(&mut self, drop: &mut Droplet, speed: f64, impact: &Impact) {
        let Impact { position, triangle, out, relative, ground } = *impact;
        let splashing = &self.world.liquid.splash;
        let Some(splashing) = splashing.filter(|l| speed > l.speed) else { return };
        let each = drop.mass * splashing.share / f64::from(splashing.droplets);
        if each < self.world.liquid.least_mass {
            return;
        }
        let solute = drop.solute / drop.mass * each;
        // Droplets keep half of how the drop slid: they fly on in its direction.
        let tangent = relative - out * relative.dot(out);
        let (a, b) = out.any_orthonormal_pair();
        // A drop may land more than once: where it does so makes each splash another.
        let key = random::hash(drop.id, position.y.to_bits(), position.x.to_bits());
        for i in 0..splashing.droplets {
            let u = |c: u64| random::uniform(key, u64::from(i), c);
            let angle =
                std::f64::consts::TAU * (f64::from(i) + u(0)) / f64::from(splashing.droplets);
            let ring = a * angle.cos() + b * angle.sin();
            let up = splashing.bounce * speed * (0.4 + 0.6 * u(1));
            let velocity = ground + tangent * 0.5 + out * up + ring * (up * (0.5 + 0.8 * u(2)));
            let since = self.now();
            let place = position + out * LAND_MARGIN;
            let mut droplet = Droplet::new(
                0,
                each,
                Phase::Air { position: place, velocity, since, from: triangle },
                since,
            );
            droplet.source = drop.source;
            droplet.solute = solute;
            self.trace.born.push(droplet);
            drop.mass -= each;
            drop.solute -= solute;
        }
        self.body = self.world.body(drop);
    }
}
