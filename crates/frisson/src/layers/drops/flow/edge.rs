//! Drops that both sides push onto an edge: motion in one dimension.

use glam::DVec2;

use super::Flow;
use super::trace::{Course, Stretch};
use crate::layers::drops::motion::{Approach, Weights, time_of_rest};
use crate::layers::drops::state::{Droplet, Phase};
use crate::layers::drops::surface::on_edge;
use crate::tolerances::drops::{EDGE_PUSH, TEE_NUDGE};

/// Motion along an edge under a constant force.
#[derive(Clone, Copy, Debug)]
struct EdgeCourse {
    /// Directed edge.
    half: u32,
    /// Place along it, 0 to 1.
    s: f64,
    /// Speed [m/s].
    speed: f64,
    /// Acceleration before drag [m/s²].
    acceleration: f64,
}

impl Flow<'_> {
    pub(super) fn on_edge(&mut self, drop: &mut Droplet) {
        let Phase::Edge { half, s, speed } = drop.phase else { return };
        let (ta, ka) = (half / 3, half as usize % 3);
        let fa = &self.world.surface.facets[ta as usize];
        let Some(across) =
            self.surface().across(half, s.clamp(TEE_NUDGE, 1.0 - TEE_NUDGE), drop.side)
        else {
            // A border by now, where the mesh has changed: it runs off as any other drop does.
            return self.stand_on(drop, half, s, fa.edge(ka).normalize_or_zero() * speed);
        };
        let (tb, kb) = (across.half / 3, across.half as usize % 3);
        let fb = &self.world.surface.facets[tb as usize];
        let (ua, mut ub) = (fa.edge(ka).normalize_or_zero(), fb.edge(kb).normalize_or_zero());
        let inward_b = ub.perp();
        if !across.same_way {
            ub = -ub;
        }
        let place = fa.point(fa.corner(ka) + fa.edge(ka) * s);
        let acceleration = self.acceleration(drop, place);
        let side_b = if across.same_way { -drop.side } else { drop.side };
        // On the rim of a sheet the two normals cancel: it hangs off the sheet's plane.
        let out = fa.normal * f64::from(drop.side) + fb.normal * f64::from(side_b);
        let off = -(fa.lift(ua.perp()) + fb.lift(inward_b));
        let out = if out.length() > 1e-6 { out } else { off }.normalize_or_zero();
        if self.lets_go(drop, ta, out, acceleration) {
            if !self.is_thick() {
                return self.drip(drop, place, fa.lift(ua) * speed, ta);
            }
            self.sag(drop, place, fa.lift(ua) * speed, acceleration.dot(out));
        }
        // From rest, judge roughness by the way the force would start it: what brakes acts in full.
        let downhill = acceleration.dot(fa.lift(ua));
        let trial = if speed == 0.0 { downhill.signum() * f64::MIN_POSITIVE } else { speed };
        let pa = self.push(ta, fa.tangential(acceleration), ua * trial.signum(), 0.0);
        let pb = self.push(tb, fb.tangential(acceleration), ub * trial.signum(), 0.0);
        let least = EDGE_PUSH * acceleration.length();
        if pa.acceleration.dot(ua.perp()) > least {
            return self.stand_on(drop, half, s, ua * speed);
        }
        if pb.acceleration.dot(inward_b) > least {
            drop.side = side_b;
            return self.stand_on(drop, across.half, across.s, ub * speed);
        }
        // Both sides hold it, each by half.
        let mut a = 0.5 * (pa.acceleration.dot(ua) + pb.acceleration.dot(ub));
        // A held axis stops its part of the velocity.
        let kept = 0.5 * (pa.velocity.dot(ua) + pb.velocity.dot(ub)) * trial.signum();
        let v = speed * kept.clamp(0.0, 1.0);
        // Roughness never pushes uphill.
        if v == 0.0 && a * downhill <= 0.0 {
            a = 0.0;
        }
        self.run_along(drop, EdgeCourse { half, s, speed: v, acceleration: a });
    }

    /// One-dimensional motion along an edge.
    fn run_along(&mut self, drop: &mut Droplet, course: EdgeCourse) {
        let EdgeCourse { half, s, speed: v, acceleration: a } = course;
        let facet = &self.world.surface.facets[half as usize / 3];
        let k = half as usize % 3;
        let along = facet.edge(k);
        let length = along.length();
        let unit = along.normalize_or_zero();
        let plane = Course {
            place: facet.corner(k) + along * s,
            velocity: unit * v,
            acceleration: unit * a,
        };
        drop.held = v == 0.0 && a == 0.0;
        let rest = time_of_rest(v, a, self.body.drag).unwrap_or(f64::INFINITY);
        let horizon = self.left.min(rest);
        let end = Weights::at(self.body.drag, horizon);
        let drag = self.body.drag;
        let to_low = Approach { distance: s * length, rate: v, acceleration: a, drag };
        let to_high = Approach { distance: (1.0 - s) * length, rate: -v, acceleration: -a, drag };
        let low = to_low.first_exit(s <= 0.0, &end);
        let high = to_high.first_exit(s >= 1.0, &end);
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
        self.record(drop, facet, &plane, time);
        let run = Stretch {
            triangle: half / 3,
            from: on_edge(k, s),
            to: on_edge(k, s1),
            velocity: unit * v1,
            way: unit * way,
            time,
        };
        self.record_stay(drop, &plane, &run);
        self.left =
            if exit.is_none() && horizon >= self.left { 0.0 } else { (self.left - time).max(0.0) };
        drop.phase = Phase::Edge { half, s: s1, speed: v1 };
        if let Some((_, corner)) = exit {
            self.trace.counts.crossings += 1;
            if !self.depart(drop, corner, facet.lift(unit * v1)) {
                drop.phase = Phase::Corner { half: corner };
            }
        }
    }

    /// Puts the drop on the triangle of an edge, standing on that.
    fn stand_on(&mut self, drop: &mut Droplet, half: u32, s: f64, velocity: DVec2) {
        let (triangle, k) = (half / 3, half as usize % 3);
        drop.phase = Phase::Face { triangle, weights: on_edge(k, s), velocity, standing: 1 << k };
    }
}
