//! Where a drop goes during a step: stays on triangles, crossings, edges and vertices.
//!
//! ```text
//!            n                convex edge: the velocity is turned about it
//!            |   e3           concave edge: projected, the across part times the cosine
//!      v ◄───o  /             border: the drop leaves the surface
//!     ______/_\/_____
//!    /   F ↙   e2   /|
//! ```
//!
//! Within a stay every force is constant, so the place at any time is known in closed form
//! (`motion.rs`) and the first exit is found for sure. Work is bounded: see [`MAX_EVENTS`].

use glam::{DVec2, DVec3};

use super::motion::{Weights, first_exit, time_of_rest};
use super::state::{Drop, Phase};
use super::surface::{Across, Facet, Surface, clamp_weights, on_edge};
use super::world::World;
use crate::tolerances::drops::{
    EDGE_PUSH, IDLE_TIME, MAX_EVENTS, MAX_IDLE, ON_EDGE, RETURN_FRACTION, SNAP, TEE_NUDGE,
};

/// A stretch of a drop's way on one triangle.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// Index of the drop.
    pub drop: u32,
    /// Triangle.
    pub triangle: u32,
    /// Weights at the start.
    pub from: DVec2,
    /// Weights at the end.
    pub to: DVec2,
    /// Integral of the way along each axis [m].
    pub way: DVec2,
    /// Side of the triangle.
    pub side: i8,
}

/// A closed-form piece of a drop's track: `p(t) = p0 + v0 t phi1(-Lt) + a t² phi2(-Lt)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Id of the drop.
    pub id: u64,
    /// Time at which the piece starts [s].
    pub start: f64,
    /// Its length [s].
    pub duration: f64,
    /// Position at the start [m].
    pub position: DVec3,
    /// Velocity at the start [m/s].
    pub velocity: DVec3,
    /// Acceleration before drag [m/s²].
    pub acceleration: DVec3,
    /// Drag rate `L` [1/s].
    pub drag: f64,
}

impl Segment {
    /// Position at a time within the piece.
    #[must_use]
    pub fn position_at(&self, time: f64) -> DVec3 {
        let weights = Weights::at(self.drag, time - self.start);
        self.position + weights.displacement(self.velocity, self.acceleration)
    }

    /// Velocity at a time within the piece.
    #[must_use]
    pub fn velocity_at(&self, time: f64) -> DVec3 {
        Weights::at(self.drag, time - self.start).velocity(self.velocity, self.acceleration)
    }
}

/// What happened during a step, for the passes that follow.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Ways on triangles, in order of drops.
    pub stays: Vec<Stay>,
    /// Track pieces, where asked for.
    pub segments: Vec<Segment>,
    /// Drops born by splashing or dripping.
    pub born: Vec<Drop>,
    /// Edges crossed.
    pub crossings: u64,
    /// Drops put to rest.
    pub stalled: u64,
    /// Drops cut short.
    pub truncated: u64,
    /// Landings.
    pub landings: u64,
    /// Drops that let go.
    pub releases: u64,
    /// Candidate triangles of the fall, reused.
    pub candidates: Vec<u32>,
}

impl Trace {
    /// Empties it, keeping its storage.
    pub fn clear(&mut self) {
        self.stays.clear();
        self.segments.clear();
        self.born.clear();
        self.crossings = 0;
        self.stalled = 0;
        self.truncated = 0;
        self.landings = 0;
        self.releases = 0;
    }
}

/// What of a drop stays constant during a step.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Radius of the volume's sphere [m].
    pub radius: f64,
    /// Drag rate on surfaces `L = kv / m` [1/s].
    pub drag: f64,
    /// Mass [kg].
    pub mass: f64,
}

/// One drop's step in progress.
pub struct Flow<'a> {
    /// Surface, ground and forces.
    pub world: &'a World<'a>,
    /// What happens.
    pub trace: &'a mut Trace,
    /// Index of the drop.
    pub index: u32,
    /// Time at the end of the step [s].
    pub end: f64,
    /// Time left [s].
    pub left: f64,
    /// Its body.
    pub body: Body,
}

/// Acceleration and velocity on a triangle after roughness, and which axes are held.
struct Push {
    acceleration: DVec2,
    velocity: DVec2,
    /// Time to the first change of sign that changes the force.
    until: f64,
}

impl Flow<'_> {
    /// Advances the drop by the time left. Never loses it.
    pub fn advance(&mut self, drop: &mut Drop) {
        let mut idle = 0;
        for _ in 0..MAX_EVENTS {
            if self.left <= 0.0 {
                return;
            }
            let before = self.left;
            match drop.phase {
                Phase::Face { .. } => self.on_face(drop),
                Phase::Edge { .. } => self.on_edge(drop),
                Phase::Corner { half } => {
                    if !self.depart(drop, half, DVec3::ZERO) {
                        self.record_rest(drop);
                        self.left = 0.0;
                    }
                }
                Phase::Air { .. } => self.in_air(drop),
            }
            idle = if before - self.left > IDLE_TIME { 0 } else { idle + 1 };
            if idle > MAX_IDLE {
                self.trace.stalled += 1;
                stop(drop);
                self.left = 0.0;
                return;
            }
        }
        self.trace.truncated += 1;
        self.left = 0.0;
    }

    fn surface(&self) -> &Surface {
        self.world.surface
    }

    /// Time now [s].
    pub fn now(&self) -> f64 {
        self.end - self.left
    }

    /// Everything that accelerates the drop at a place, inertia included [m/s²].
    fn acceleration(&self, drop: &Drop, place: DVec3) -> DVec3 {
        self.world.acceleration(place, drop, &self.body) + drop.inertia
    }

    /// Roughness: a component that speeds the drop up is reduced, a braking one acts in full.
    fn push(&self, triangle: u32, force: DVec2, velocity: DVec2) -> Push {
        let (bumps, grip) = self.world.bumps(triangle);
        let mut push = Push { acceleration: force, velocity, until: f64::INFINITY };
        let per_height = 1.0 / (2.0 * self.body.radius);
        for i in 0..2 {
            let f = force[i];
            let mut share = f64::from(bumps[i]) * per_height;
            if share <= 0.0 {
                continue;
            }
            if share >= 1.0 {
                if f.abs() <= grip {
                    push.acceleration[i] = 0.0;
                    push.velocity[i] = 0.0;
                    continue;
                }
                // Blown or shaken harder than the bumps can hold.
                share = grip / f.abs();
            }
            if f * velocity[i] >= 0.0 {
                push.acceleration[i] = f * (1.0 - share);
            } else if let Some(t) = time_of_rest(velocity[i], f, self.body.drag) {
                push.until = push.until.min(t);
            }
        }
        push
    }

    fn on_face(&mut self, drop: &mut Drop) {
        let Phase::Face { triangle, weights, velocity, standing } = drop.phase else { return };
        let facet = self.surface().facets[triangle as usize];
        let x = facet.flat(weights);
        let acceleration = self.acceleration(drop, facet.point(x));
        if self.lets_go(drop, triangle, facet.normal * f64::from(drop.side), acceleration) {
            self.release(drop, facet.point(x), facet.lift(velocity), triangle);
            return;
        }
        let push = self.push(triangle, facet.tangential(acceleration), velocity);
        let (a, v) = (push.acceleration, push.velocity);
        drop.held = a == DVec2::ZERO && v == DVec2::ZERO;
        if drop.held {
            drop.phase = Phase::Face { triangle, weights, velocity: v, standing };
            self.record(drop, &facet, x, v, a, self.left);
            self.left = 0.0;
            return;
        }
        let horizon = self.left.min(push.until);
        let end = Weights::at(self.body.drag, horizon);
        let (time, edge) = self.find_exit(&facet, x, v, a, standing, &end);
        let at = if edge.is_some() { Weights::at(self.body.drag, time) } else { end };
        let x1 = x + at.displacement(v, a);
        let mut v1 = at.velocity(v, a);
        self.record(drop, &facet, x, v, a, time);
        let Some(k) = edge else {
            if horizon < self.left {
                for i in 0..2 {
                    // The axis that came to rest is exactly at rest.
                    if v[i] * a[i] < 0.0 && v1[i].abs() <= 1e-12 * v[i].abs() {
                        v1[i] = 0.0;
                    }
                }
            }
            let reached = clamp_weights(facet.weights(x1));
            self.record_stay(drop, triangle, weights, reached, v, v1, x1 - x, time, a);
            let standing = if time > 0.0 { 0 } else { standing };
            drop.phase = Phase::Face { triangle, weights: reached, velocity: v1, standing };
            self.left = if horizon >= self.left { 0.0 } else { self.left - time };
            return;
        };
        let along = facet.edge(k);
        let s = ((x1 - facet.corner(k)).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        self.record_stay(drop, triangle, weights, on_edge(k, s), v, v1, x1 - x, time, a);
        self.left = (self.left - time).max(0.0);
        let standing = if time > 0.0 { standing } else { 0b111 };
        self.leave(drop, &facet, triangle, k, s, v1, acceleration, standing);
    }

    /// First edge left within a time, and when.
    fn find_exit(
        &self,
        facet: &Facet,
        x: DVec2,
        v: DVec2,
        a: DVec2,
        standing: u8,
        end: &Weights,
    ) -> (f64, Option<usize>) {
        let mut best = (end.time, None);
        let mut limit = *end;
        for k in 0..3 {
            let along = facet.edge(k);
            let d0 = along.perp_dot(x - facet.corner(k));
            let mut w0 = along.perp_dot(v);
            let alpha = along.perp_dot(a);
            let fresh = standing & (1 << k) != 0;
            if fresh {
                // It came in through here: rounding must not send it back.
                w0 = w0.max(0.0);
            }
            let on = fresh || d0 <= ON_EDGE * along.length_squared();
            if let Some(t) = first_exit(d0, w0, alpha, self.body.drag, on, &limit)
                && (t < best.0 || best.1.is_none())
            {
                best = (t, Some(k));
                limit = Weights::at(self.body.drag, t);
            }
        }
        best
    }

    /// Leaves a triangle through edge `k` at `s`: through a vertex, or across.
    fn leave(
        &mut self,
        drop: &mut Drop,
        facet: &Facet,
        triangle: u32,
        k: usize,
        s: f64,
        velocity: DVec2,
        acceleration: DVec3,
        standing: u8,
    ) {
        let half = 3 * triangle + k as u32;
        let at_corner = if s <= SNAP {
            Some(half)
        } else if s >= 1.0 - SNAP {
            Some(3 * triangle + (k as u32 + 1) % 3)
        } else {
            None
        };
        if let Some(corner) = at_corner {
            let point = self.surface().start_point(corner) as usize;
            // A drop that has just left this vertex goes on across the edge, not through it again.
            let c = corner % 3;
            let left_it = 1 << c | 1 << ((c + 2) % 3);
            if standing & left_it != left_it && !self.surface().tee_points[point] {
                self.trace.crossings += 1;
                if !self.depart(drop, corner, facet.lift(velocity)) {
                    drop.phase = Phase::Corner { half: corner };
                }
                return;
            }
        }
        let s = s.clamp(TEE_NUDGE, 1.0 - TEE_NUDGE);
        let Some(across) = self.surface().across(half, s, drop.side) else {
            let place = facet.point(facet.corner(k) + facet.edge(k) * s);
            self.release(drop, place, facet.lift(velocity), triangle);
            return;
        };
        self.trace.crossings += 1;
        self.cross(drop, facet, half, s, across, velocity, acceleration);
    }

    /// Carries the drop over an edge, or onto it when both sides push it there.
    fn cross(
        &mut self,
        drop: &mut Drop,
        from: &Facet,
        half: u32,
        s: f64,
        across: Across,
        velocity: DVec2,
        acceleration: DVec3,
    ) {
        let (triangle, k) = (across.half / 3, across.half as usize % 3);
        let to = self.surface().facets[triangle as usize];
        let turned = turn(from, half as usize % 3, &to, across, velocity, drop.side);
        let side = if across.same_way { -drop.side } else { drop.side };
        // Would it be back at once, and be pushed back again?
        let inward = to.edge(k).perp().normalize_or_zero();
        let speed = turned.dot(inward).max(0.0);
        let along = turned - inward * turned.dot(inward);
        // As a drop on the edge would be judged, so that the two never disagree.
        let there = self.push(triangle, to.tangential(acceleration), along);
        let back = there.acceleration.dot(inward);
        let soon = RETURN_FRACTION * self.world.tick;
        if back < 0.0 && 2.0 * speed < -back * soon {
            let inward = from.edge(half as usize % 3).perp().normalize_or_zero();
            let rest = velocity - inward * velocity.dot(inward);
            let here = self.push(half / 3, from.tangential(acceleration), rest);
            if here.acceleration.dot(inward) < 0.0 {
                let along = from.edge(half as usize % 3).normalize_or_zero();
                drop.phase = Phase::Edge { half, s, speed: velocity.dot(along) };
                return;
            }
        }
        drop.side = side;
        drop.phase = Phase::Face {
            triangle,
            weights: on_edge(k, across.s),
            velocity: turned,
            standing: 1 << k,
        };
    }

    fn on_edge(&mut self, drop: &mut Drop) {
        let Phase::Edge { half, s, speed } = drop.phase else { return };
        let (ta, ka) = (half / 3, half as usize % 3);
        let fa = self.surface().facets[ta as usize];
        let Some(across) =
            self.surface().across(half, s.clamp(TEE_NUDGE, 1.0 - TEE_NUDGE), drop.side)
        else {
            return self.stand_on(drop, ta, ka, s, fa.edge(ka).normalize_or_zero() * speed);
        };
        let (tb, kb) = (across.half / 3, across.half as usize % 3);
        let fb = self.surface().facets[tb as usize];
        let (ua, mut ub) = (fa.edge(ka).normalize_or_zero(), fb.edge(kb).normalize_or_zero());
        let inward_b = ub.perp();
        if !across.same_way {
            ub = -ub;
        }
        let place = fa.point(fa.corner(ka) + fa.edge(ka) * s);
        let acceleration = self.acceleration(drop, place);
        let side_b = if across.same_way { -drop.side } else { drop.side };
        let out = (fa.normal * f64::from(drop.side) + fb.normal * f64::from(side_b))
            .normalize_or(fa.normal * f64::from(drop.side));
        if self.lets_go(drop, ta, out, acceleration) {
            self.drip(drop, place, fa.lift(ua) * speed, ta);
            return;
        }
        // From rest, judge roughness by the way the force would start it: what brakes acts in full.
        let downhill = acceleration.dot(fa.lift(ua));
        let trial = if speed == 0.0 { downhill.signum() * f64::MIN_POSITIVE } else { speed };
        let pa = self.push(ta, fa.tangential(acceleration), ua * trial.signum());
        let pb = self.push(tb, fb.tangential(acceleration), ub * trial.signum());
        let least = EDGE_PUSH * acceleration.length();
        if pa.acceleration.dot(ua.perp()) > least {
            return self.stand_on(drop, ta, ka, s, ua * speed);
        }
        if pb.acceleration.dot(inward_b) > least {
            drop.side = side_b;
            return self.stand_on(drop, tb, kb, across.s, ub * speed);
        }
        let mut a = 0.5 * (pa.acceleration.dot(ua) + pb.acceleration.dot(ub));
        // A held axis stops its part of the velocity.
        let kept = 0.5 * (pa.velocity.dot(ua) + pb.velocity.dot(ub)) * trial.signum();
        let v = speed * kept.clamp(0.0, 1.0);
        if v == 0.0 && a * downhill <= 0.0 {
            a = 0.0;
        }
        self.run_along(drop, half, s, v, a, &fa);
    }

    /// One-dimensional motion along an edge.
    fn run_along(&mut self, drop: &mut Drop, half: u32, s: f64, v: f64, a: f64, facet: &Facet) {
        let k = half as usize % 3;
        let along = facet.edge(k);
        let length = along.length();
        let unit = along.normalize_or_zero();
        let x = facet.corner(k) + along * s;
        drop.held = v == 0.0 && a == 0.0;
        let rest = time_of_rest(v, a, self.body.drag).unwrap_or(f64::INFINITY);
        let horizon = self.left.min(rest);
        let end = Weights::at(self.body.drag, horizon);
        let drag = self.body.drag;
        let low = first_exit(s * length, v, a, drag, s <= 0.0, &end);
        let high = first_exit((1.0 - s) * length, -v, -a, drag, s >= 1.0, &end);
        let far = 3 * (half / 3) + (half % 3 + 1) % 3;
        let exit = match (low, high) {
            (Some(l), Some(h)) if h < l => Some((h, far)),
            (None, Some(h)) => Some((h, far)),
            (Some(l), _) => Some((l, half)),
            (None, None) => None,
        };
        let time = exit.map_or(horizon, |e| e.0);
        let at = Weights::at(drag, time);
        let way = at.displacement(v, a);
        let v1 = if exit.is_none() && rest <= self.left { 0.0 } else { at.velocity(v, a) };
        let s1 = (s + way / length.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        self.record(drop, facet, x, unit * v, unit * a, time);
        let triangle = half / 3;
        self.record_stay(
            drop,
            triangle,
            on_edge(k, s),
            on_edge(k, s1),
            unit * v,
            unit * v1,
            unit * way,
            time,
            unit * a,
        );
        self.left =
            if exit.is_none() && horizon >= self.left { 0.0 } else { (self.left - time).max(0.0) };
        drop.phase = Phase::Edge { half, s: s1, speed: v1 };
        if let Some((_, corner)) = exit {
            self.trace.crossings += 1;
            let point = self.surface().start_point(corner) as usize;
            if self.surface().tee_points[point] {
                let s = s1.clamp(TEE_NUDGE, 1.0 - TEE_NUDGE);
                self.stand_on(drop, triangle, k, s, unit * v1);
            } else if !self.depart(drop, corner, facet.lift(unit * v1)) {
                drop.phase = Phase::Corner { half: corner };
            }
        }
    }

    /// Puts the drop on a triangle, standing on its edge `k`.
    fn stand_on(&mut self, drop: &mut Drop, triangle: u32, k: usize, s: f64, velocity: DVec2) {
        drop.phase = Phase::Face { triangle, weights: on_edge(k, s), velocity, standing: 1 << k };
    }

    /// Leaves a vertex with a velocity: into the triangle whose wedge holds it, along an edge, off a
    /// border. False when nothing moves the drop away.
    fn depart(&mut self, drop: &mut Drop, corner: u32, velocity: DVec3) -> bool {
        let surface = self.world.surface;
        let point = surface.start_point(corner);
        let here = surface.points[point as usize];
        let home = corner / 3;
        let acceleration = self.acceleration(drop, here);
        let fan = surface.fans.of(point);
        let out = fan
            .iter()
            .map(|&h| {
                surface.facets[h as usize / 3].normal
                    * f64::from(surface.side_on(home, drop.side, h / 3))
            })
            .sum::<DVec3>()
            .normalize_or_zero();
        if self.lets_go(drop, home, out, acceleration) {
            self.drip(drop, here, velocity, home);
            return true;
        }
        let speed = velocity.length();
        if speed > 0.0 {
            if let Some((half, v)) = self.wedge(fan, home, drop.side, velocity) {
                self.enter_corner(drop, home, half, v);
                return true;
            }
            if surface.border_points[point as usize] {
                self.release(drop, here, velocity, home);
                return true;
            }
            // A pit or a peak: the best edge takes what it can of the velocity.
            if let Some((half, u)) = self.best_edge(fan, velocity) {
                let k = half as usize % 3;
                let facet = surface.facets[half as usize / 3];
                let v = facet.edge(k).normalize_or_zero() * velocity.dot(u);
                self.enter_corner(drop, home, half, v);
                return true;
            }
        }
        self.depart_from_rest(drop, home, fan, point, here, acceleration)
    }

    /// Leaves a vertex under the forces alone.
    fn depart_from_rest(
        &mut self,
        drop: &mut Drop,
        home: u32,
        fan: &[u32],
        point: u32,
        here: DVec3,
        acceleration: DVec3,
    ) -> bool {
        let surface = self.world.surface;
        let mut best: Option<(f64, u32)> = None;
        let mut pushed = false;
        for &half in fan {
            let facet = &surface.facets[half as usize / 3];
            let a = self.push(half / 3, facet.tangential(acceleration), DVec2::ZERO).acceleration;
            let size = a.length();
            pushed |= size > EDGE_PUSH * acceleration.length();
            let inside = in_wedge(facet, half as usize % 3, a, 0.0);
            if size > EDGE_PUSH * acceleration.length()
                && inside
                && best.is_none_or(|(b, _)| size > b)
            {
                best = Some((size, half));
            }
        }
        if let Some((_, half)) = best {
            self.enter_corner(drop, home, half, DVec2::ZERO);
            return true;
        }
        if let Some((half, u)) = self.best_edge(fan, acceleration) {
            let facet = &surface.facets[half as usize / 3];
            let k = half as usize % 3;
            let a = self.push(half / 3, facet.tangential(acceleration), DVec2::ZERO).acceleration;
            let along = facet.edge(k).normalize_or_zero();
            if a.dot(along) > EDGE_PUSH * acceleration.length() && u.dot(acceleration) > 0.0 {
                drop.side = surface.side_on(home, drop.side, half / 3);
                drop.phase = Phase::Edge { half, s: 0.0, speed: 0.0 };
                return surface.twins[half as usize] != super::surface::BORDER || {
                    self.enter_corner(drop, half / 3, half, DVec2::ZERO);
                    true
                };
            }
        }
        if pushed && surface.border_points[point as usize] {
            self.release(drop, here, DVec3::ZERO, home);
            return true;
        }
        drop.held = true;
        false
    }

    /// The corner of the fan whose wedge holds a velocity, and that velocity in its plane.
    fn wedge(&self, fan: &[u32], home: u32, side: i8, velocity: DVec3) -> Option<(u32, DVec2)> {
        let surface = self.world.surface;
        let speed = velocity.length();
        let mut best: Option<(f64, u32, DVec2)> = None;
        for slack in [0.0, 1e-12] {
            for &half in fan {
                let facet = &surface.facets[half as usize / 3];
                let out = facet.normal * f64::from(surface.side_on(home, side, half / 3));
                let mut v = facet.tangential(velocity);
                let kept = v.length();
                if kept <= 1e-9 * speed || !in_wedge(facet, half as usize % 3, v, slack) {
                    continue;
                }
                // Turned where the surface falls away, projected where it rises.
                if velocity.dot(out) > 0.0 {
                    v *= speed / kept;
                }
                if best.is_none_or(|(b, _, _)| kept > b) {
                    best = Some((kept, half, v));
                }
            }
            if best.is_some() {
                break;
            }
        }
        best.map(|(_, half, v)| (half, v))
    }

    /// The outgoing edge that a vector points along most.
    fn best_edge(&self, fan: &[u32], vector: DVec3) -> Option<(u32, DVec3)> {
        let surface = self.world.surface;
        let mut best: Option<(f64, u32, DVec3)> = None;
        for &half in fan {
            let facet = &surface.facets[half as usize / 3];
            let u = facet.lift(facet.edge(half as usize % 3)).normalize_or_zero();
            let along = vector.dot(u);
            if along > 1e-12 * vector.length() && best.is_none_or(|(b, _, _)| along > b) {
                best = Some((along, half, u));
            }
        }
        best.map(|(_, half, u)| (half, u))
    }

    fn enter_corner(&mut self, drop: &mut Drop, home: u32, half: u32, velocity: DVec2) {
        let k = half as usize % 3;
        drop.side = self.surface().side_on(home, drop.side, half / 3);
        drop.phase = Phase::Face {
            triangle: half / 3,
            weights: on_edge(k, 0.0),
            velocity,
            standing: 1 << k | 1 << ((k + 2) % 3),
        };
    }

    /// Whether the outward pull is more than the surface can hold.
    pub fn lets_go(&self, drop: &Drop, triangle: u32, out: DVec3, acceleration: DVec3) -> bool {
        // The inertia's normal part is smoothed apart from the rest: a jerk of one tick is no pull.
        let outward = (acceleration - drop.inertia).dot(out) + drop.pull;
        outward > 0.0
            && self.body.mass * outward > self.world.holding_force(triangle, self.body.radius)
    }

    /// The whole drop leaves the surface.
    pub fn release(&mut self, drop: &mut Drop, position: DVec3, velocity: DVec3, from: u32) {
        self.trace.releases += 1;
        drop.phase =
            Phase::Air { position, velocity: velocity + drop.carrier, since: self.now(), from };
        drop.held = false;
        drop.changed = self.now();
        drop.inertia = DVec3::ZERO;
        drop.pull = 0.0;
        drop.carrier = DVec3::ZERO;
    }

    /// Part of a hanging drop leaves, a remainder stays.
    fn drip(&mut self, drop: &mut Drop, position: DVec3, velocity: DVec3, from: u32) {
        let keep = drop.mass * self.world.liquid.drip_remainder;
        if keep <= self.world.liquid.least_mass || keep >= drop.mass {
            return self.release(drop, position, velocity, from);
        }
        self.trace.releases += 1;
        let share = keep / drop.mass;
        let mut falling = *drop;
        falling.mass = drop.mass - keep;
        falling.solute = drop.solute * (1.0 - share);
        falling.phase =
            Phase::Air { position, velocity: velocity + drop.carrier, since: self.now(), from };
        falling.changed = self.now();
        falling.inertia = DVec3::ZERO;
        falling.carrier = DVec3::ZERO;
        falling.pull = 0.0;
        falling.strip_triangle = u32::MAX;
        self.trace.born.push(falling);
        drop.mass = keep;
        drop.solute -= falling.solute;
        drop.merged = self.now();
        self.body = self.world.body(drop);
    }

    fn record_rest(&mut self, drop: &Drop) {
        if let (true, Phase::Corner { half }) = (self.world.tracks, drop.phase) {
            let facet = self.surface().facets[half as usize / 3];
            let x = facet.corner(half as usize % 3);
            self.record(drop, &facet, x, DVec2::ZERO, DVec2::ZERO, self.left);
        }
    }

    fn record(&mut self, drop: &Drop, facet: &Facet, x: DVec2, v: DVec2, a: DVec2, time: f64) {
        if !self.world.tracks || time <= 0.0 {
            return;
        }
        // The surface has arrived already: where it came from during this step is taken back.
        let position = facet.point(x) - drop.carrier * self.left;
        self.trace.segments.push(Segment {
            id: drop.id,
            start: self.now(),
            duration: time,
            position,
            velocity: facet.lift(v) + drop.carrier,
            acceleration: facet.lift(a) + drop.carrier * self.body.drag,
            drag: self.body.drag,
        });
    }

    fn record_stay(
        &mut self,
        drop: &mut Drop,
        triangle: u32,
        from: DVec2,
        to: DVec2,
        v0: DVec2,
        v1: DVec2,
        way: DVec2,
        time: f64,
        a: DVec2,
    ) {
        if time <= 0.0 {
            return;
        }
        let mut total = way.abs();
        for i in 0..2 {
            if v0[i] * v1[i] < 0.0 {
                // There and back on this axis: count both ways.
                if let Some(t) = time_of_rest(v0[i], a[i], self.body.drag) {
                    let there = Weights::at(self.body.drag, t).displacement(v0[i], a[i]);
                    total[i] = there.abs() + (way[i] - there).abs();
                }
            }
        }
        let length = total.length();
        drop.distance += length;
        drop.since_bead += length;
        if length > 0.0 {
            let side = drop.side;
            self.trace.stays.push(Stay { drop: self.index, triangle, from, to, way: total, side });
        }
    }
}

fn in_wedge(facet: &Facet, k: usize, v: DVec2, slack: f64) -> bool {
    let first = facet.edge(k);
    let last = -facet.edge((k + 2) % 3);
    let size = v.length();
    let (a, b) = (first.perp_dot(v), v.perp_dot(last));
    a >= -slack * size * first.length() && b >= -slack * size * last.length()
        // The opposite direction also has no part across a flat wedge's edges.
        && v.dot(first / first.length() + last / last.length()) > 0.0
}

/// Velocity carried over an edge: turned where convex, projected where concave.
#[must_use]
pub fn turn(from: &Facet, k: usize, to: &Facet, across: Across, v: DVec2, side: i8) -> DVec2 {
    let along = from.edge(k).normalize_or_zero();
    let speed_along = v.dot(along);
    let speed_across = (-v.dot(along.perp())).max(0.0);
    let mut along_there = to.edge(across.half as usize % 3).normalize_or_zero();
    let inward = along_there.perp();
    if !across.same_way {
        along_there = -along_there;
    }
    let side_there = if across.same_way { -side } else { side };
    let (n, m) = (from.normal * f64::from(side), to.normal * f64::from(side_there));
    let convex = n.cross(m).dot(from.lift(along)) * f64::from(side) > 0.0;
    let kept = if convex { 1.0 } else { n.dot(m).clamp(0.0, 1.0) };
    along_there * speed_along + inward * (speed_across * kept)
}

fn stop(drop: &mut Drop) {
    match &mut drop.phase {
        Phase::Face { velocity, .. } => *velocity = DVec2::ZERO,
        Phase::Edge { speed, .. } => *speed = 0.0,
        _ => {}
    }
}
