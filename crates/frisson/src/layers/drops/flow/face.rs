//! Stays on triangles and crossings of edges.

use glam::{DVec2, DVec3};

use super::Flow;
use super::trace::{Course, Stretch};
use crate::layers::drops::motion::{Approach, Weights};
use crate::layers::drops::state::{Droplet, Phase};
use crate::layers::drops::surface::{Across, Facet, clamp_weights, on_edge};
use crate::tolerances::drops::{EDGE_PUSH, ON_EDGE, RETURN_FRACTION, SNAP, TEE_NUDGE};

/// Where and how a drop reaches the border of its triangle.
struct Exit {
    /// The edge, directed.
    half: u32,
    /// Place along it, 0 to 1.
    s: f64,
    /// Velocity in the triangle's plane [m/s].
    velocity: DVec2,
    /// What accelerates it [m/s²].
    acceleration: DVec3,
    /// Edges that it stood on when it set out, as bits: it does not leave through those by rounding.
    standing: u8,
}

impl Flow<'_> {
    pub(super) fn on_face(&mut self, drop: &mut Droplet) {
        let Phase::Face { triangle, weights, velocity, standing } = drop.phase else { return };
        let facet = &self.world.surface.facets[triangle as usize];
        let x = facet.flat(weights);
        let acceleration = self.acceleration(drop, facet.point(x));
        if self.lets_go(drop, triangle, facet.normal * f64::from(drop.side), acceleration) {
            if !self.is_thick() {
                return self.release(drop, facet.point(x), facet.lift(velocity), triangle);
            }
            let pull = acceleration.dot(facet.normal * f64::from(drop.side));
            self.sag(drop, facet.point(x), facet.lift(velocity), pull);
        }
        // What pins its line is taken as it found the triangle: its own trail must not free it.
        if drop.entered.0 != triangle {
            drop.entered = (triangle, self.world.holds[triangle as usize].line);
            self.body.entered = drop.entered;
        }
        let aside = self.world.aside(triangle, weights);
        let push = self.push(triangle, facet.tangential(acceleration), velocity, aside);
        let (a, v) = (push.acceleration, push.velocity);
        let course = Course { place: x, velocity: v, acceleration: a };
        drop.held = a == DVec2::ZERO && v == DVec2::ZERO;
        // Until it grows, merges or gets wet nobody need ask again.
        drop.asleep = drop.held;
        if drop.held {
            drop.phase = Phase::Face { triangle, weights, velocity: v, standing };
            self.record(drop, facet, &course, self.left);
            self.left = 0.0;
            return;
        }
        // The closed form holds only as long as the force does: to the next change of sign.
        let horizon = self.left.min(push.until);
        let end = Weights::at(self.body.drag, horizon);
        let (time, edge) = self.find_exit(facet, &course, standing, &end);
        let at = if edge.is_some() { Weights::at(self.body.drag, time) } else { end };
        let x1 = x + at.displacement(v, a);
        let way = x1 - x;
        let mut v1 = at.velocity(v, a);
        self.record(drop, facet, &course, time);
        let Some(k) = edge else {
            if horizon < self.left && push.stops {
                v1 = DVec2::ZERO;
            } else if horizon < self.left {
                for i in 0..2 {
                    // The axis that came to rest is exactly at rest.
                    if v[i] * a[i] < 0.0 && v1[i].abs() <= 1e-12 * v[i].abs() {
                        v1[i] = 0.0;
                    }
                }
            }
            let reached = clamp_weights(facet.weights(x1));
            let run = Stretch { triangle, from: weights, to: reached, velocity: v1, way, time };
            self.record_stay(drop, &course, &run);
            // Having moved, it is inside, and any edge may be left through.
            let standing = if time > 0.0 { 0 } else { standing };
            drop.phase = Phase::Face { triangle, weights: reached, velocity: v1, standing };
            self.left = if horizon >= self.left { 0.0 } else { self.left - time };
            return;
        };
        let along = facet.edge(k);
        let s = ((x1 - facet.corner(k)).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        let run = Stretch { triangle, from: weights, to: on_edge(k, s), velocity: v1, way, time };
        self.record_stay(drop, &course, &run);
        self.left = (self.left - time).max(0.0);
        // Through an edge in no time: it goes on across, or it would turn round and round a vertex.
        let standing = if time > 0.0 { standing } else { 0b111 };
        let half = 3 * triangle + k as u32;
        self.leave(drop, Exit { half, s, velocity: v1, acceleration, standing });
    }

    /// First edge left within a time, and when.
    fn find_exit(
        &self,
        facet: &Facet,
        course: &Course,
        standing: u8,
        end: &Weights,
    ) -> (f64, Option<usize>) {
        let mut best = (end.time, None);
        let mut limit = *end;
        for k in 0..3 {
            let along = facet.edge(k);
            let mut approach = Approach {
                distance: along.perp_dot(course.place - facet.corner(k)),
                rate: along.perp_dot(course.velocity),
                acceleration: along.perp_dot(course.acceleration),
                drag: self.body.drag,
            };
            let fresh = standing & (1 << k) != 0;
            if fresh {
                // It came in through here: rounding must not send it back.
                approach.rate = approach.rate.max(0.0);
            }
            let on = fresh || approach.distance <= ON_EDGE * along.length_squared();
            if let Some(t) = approach.first_exit(on, &limit)
                && (t < best.0 || best.1.is_none())
            {
                best = (t, Some(k));
                // Later exits do not matter any more: the search of the other edges is shorter.
                limit = Weights::at(self.body.drag, t);
            }
        }
        best
    }

    /// Leaves a triangle: through a vertex, or across an edge.
    fn leave(&mut self, drop: &mut Droplet, exit: Exit) {
        let Exit { half, s, velocity, standing, .. } = exit;
        let (triangle, k) = (half / 3, half as usize % 3);
        let facet = &self.world.surface.facets[triangle as usize];
        let at_corner = if s <= SNAP {
            Some(half)
        } else if s >= 1.0 - SNAP {
            Some(3 * triangle + (k as u32 + 1) % 3)
        } else {
            None
        };
        if let Some(corner) = at_corner {
            // A drop that has just left this vertex goes on across the edge, not through it again.
            let c = corner % 3;
            let left_it = 1 << c | 1 << ((c + 2) % 3);
            if standing & left_it != left_it {
                self.trace.counts.crossings += 1;
                if !self.depart(drop, corner, facet.lift(velocity)) {
                    drop.phase = Phase::Corner { half: corner };
                }
                return;
            }
        }
        // Right at a corner either of two neighbours could answer; a hair inside, one does.
        let s = s.clamp(TEE_NUDGE, 1.0 - TEE_NUDGE);
        let Some(across) = self.surface().across(half, s, drop.side) else {
            if self.is_thick() {
                return self.spill(drop, (triangle, k, s));
            }
            let place = facet.point(facet.corner(k) + facet.edge(k) * s);
            return self.run_off(drop, place, facet.lift(velocity), triangle);
        };
        self.trace.counts.crossings += 1;
        self.cross(drop, Exit { s, ..exit }, across);
    }

    /// Carries the drop over an edge, or onto it when both sides push it there.
    fn cross(&mut self, drop: &mut Droplet, exit: Exit, across: Across) {
        let Exit { half, s, velocity, acceleration, .. } = exit;
        let from = &self.world.surface.facets[half as usize / 3];
        let (triangle, k) = (across.half / 3, across.half as usize % 3);
        let to = &self.world.surface.facets[triangle as usize];
        let turned = turn(from, half as usize % 3, to, across, velocity, drop.side);
        let side = if across.same_way { -drop.side } else { drop.side };
        let beyond = (triangle, to.normal * f64::from(side));
        if self.flies_on(drop, beyond, from.lift(velocity), acceleration) {
            let along = from.edge(half as usize % 3);
            let place = from.point(from.corner(half as usize % 3) + along * s);
            return self.release(drop, place, from.lift(velocity), half / 3);
        }
        // Would it be back at once, and be pushed back again?
        let inward = to.edge(k).perp().normalize_or_zero();
        let speed = turned.dot(inward).max(0.0);
        let along = turned - inward * turned.dot(inward);
        // As a drop on the edge would be judged, so that the two never disagree.
        let there = self.push(triangle, to.tangential(acceleration), along, 0.0);
        let back = there.acceleration.dot(inward);
        let soon = RETURN_FRACTION * self.world.tick;
        // A push along the edge has a part across it by rounding, of either sign on either side.
        let least = EDGE_PUSH * acceleration.length();
        if back < least && 2.0 * speed < (least - back) * soon {
            let inward = from.edge(half as usize % 3).perp().normalize_or_zero();
            let rest = velocity - inward * velocity.dot(inward);
            let here = self.push(half / 3, from.tangential(acceleration), rest, 0.0);
            if here.acceleration.dot(inward) < least {
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
}

/// Velocity carried over an edge: turned where convex, projected where concave.
#[must_use]
pub fn turn(from: &Facet, k: usize, to: &Facet, across: Across, v: DVec2, side: i8) -> DVec2 {
    let along = from.edge(k).normalize_or_zero();
    let speed_along = v.dot(along);
    // By rounding it may seem to come from beyond the edge: that is no speed.
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
