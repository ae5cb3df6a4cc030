//! Drops at vertices: through the fan, along an edge, or at rest.

use glam::{DVec2, DVec3};

use super::Flow;
use crate::layers::drops::state::{Droplet, Phase};
use crate::layers::drops::surface::{BORDER, Facet, Spoke, on_edge};
use crate::tolerances::drops::{EDGE_PUSH, RETURN_FRACTION};

/// How a drop at rest leaves a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Departure {
    /// Nothing moves it.
    None,
    /// Into a triangle.
    Wedge(Spoke),
    /// Along an edge.
    Edge(Spoke),
    /// Off a border.
    Border,
}

impl Flow<'_> {
    /// Leaves a vertex with a velocity: into the triangle whose wedge holds it, along an edge, off a
    /// border. False when nothing moves the drop away.
    pub(super) fn depart(&mut self, drop: &mut Droplet, corner: u32, velocity: DVec3) -> bool {
        let surface = self.world.surface;
        let point = surface.start_point(corner);
        let here = surface.points[point as usize];
        let home = corner / 3;
        let acceleration = self.acceleration(drop, here);
        let out = self.outwards(point, home, drop.side);
        if self.lets_go(drop, home, out, acceleration) {
            if !self.is_thick() {
                self.drip(drop, here, velocity, home);
                return true;
            }
            self.sag(drop, here, velocity, acceleration.dot(out));
        }
        let at_rest = self.way_from_rest(point, acceleration);
        if velocity != DVec3::ZERO {
            let way = self.wedge(point, home, drop.side, velocity);
            if way.is_none() && surface.border_points[point as usize] {
                self.leave_at(drop, corner, here, velocity);
                return true;
            }
            // A pit or a peak: the best edge takes what it can of the velocity.
            let way = way.or_else(|| {
                let (spoke, u) = self.best_edge(point, velocity)?;
                let flat = surface.facets[spoke.half as usize / 3].tangential(u);
                Some((spoke, flat * velocity.dot(u)))
            });
            if let Some((spoke, _)) = way {
                let t = spoke.half / 3;
                let side = f64::from(surface.side_around(point, home, drop.side, t));
                let beyond = (t, surface.facets[t as usize].normal * side);
                if self.flies_on(drop, beyond, velocity, acceleration) {
                    self.release(drop, here, velocity, home);
                    return true;
                }
            }
            if let Some((spoke, v)) = way
                && !(at_rest == Departure::None
                    && self.back_at_once(spoke.half / 3, v, acceleration))
            {
                self.enter(drop, point, home, spoke, v);
                return true;
            }
        }
        match at_rest {
            Departure::None => {
                drop.held = true;
                return false;
            }
            Departure::Border => self.leave_at(drop, corner, here, DVec3::ZERO),
            Departure::Wedge(spoke) => self.enter(drop, point, home, spoke, DVec2::ZERO),
            Departure::Edge(Spoke { half, s }) => {
                drop.side = surface.side_around(point, home, drop.side, half / 3);
                drop.phase = Phase::Edge { half, s, speed: 0.0 };
            }
        }
        true
    }

    /// Leaves over a vertex of a border.
    fn leave_at(&mut self, drop: &mut Droplet, corner: u32, here: DVec3, velocity: DVec3) {
        let (surface, home) = (self.world.surface, corner / 3);
        let point = surface.start_point(corner);
        let is_rim = |s: &Spoke| s.s == 0.0 && surface.twins[s.half as usize] == BORDER;
        match surface.spokes(point).find(is_rim) {
            Some(Spoke { half, s }) if self.is_thick() => {
                drop.side = surface.side_around(point, home, drop.side, half / 3);
                self.spill(drop, (half / 3, half as usize % 3, s));
            }
            _ => self.run_off(drop, here, velocity, home),
        }
    }

    /// The direction in which a drop on a vertex hangs or sits.
    fn outwards(&self, point: u32, home: u32, side: i8) -> DVec3 {
        let surface = self.world.surface;
        let (mut out, mut off) = (DVec3::ZERO, DVec3::ZERO);
        for Spoke { half, s } in surface.spokes(point) {
            let (t, k) = (half / 3, half as usize % 3);
            let facet = &surface.facets[t as usize];
            out += facet.normal * f64::from(surface.side_around(point, home, side, t));
            let (first, last) = (facet.edge(k), -facet.edge((k + 2) % 3));
            let inward = if s > 0.0 {
                first.perp().normalize_or_zero()
            } else {
                first.normalize_or_zero() + last.normalize_or_zero()
            };
            off -= facet.lift(inward);
        }
        // On the tip of a sheet the normals of its sides cancel.
        if out.length() > 1e-6 { out } else { off }.normalize_or_zero()
    }

    /// Whether a drop that leaves a vertex would be back on it within a small part of the tick: in a
    /// pit it comes to rest then, or it would bounce ever faster for ever.
    fn back_at_once(&self, triangle: u32, v: DVec2, acceleration: DVec3) -> bool {
        let facet = &self.world.surface.facets[triangle as usize];
        let push = self.push(triangle, facet.tangential(acceleration), v, 0.0);
        let speed = push.velocity.length();
        let back = -push.acceleration.dot(v.normalize_or_zero());
        2.0 * speed < back * RETURN_FRACTION * self.world.tick
    }

    /// Which way a drop at rest on a vertex leaves it under the forces alone.
    fn way_from_rest(&self, point: u32, acceleration: DVec3) -> Departure {
        let surface = self.world.surface;
        let least = EDGE_PUSH * acceleration.length();
        let push = |half: u32| {
            let facet = &surface.facets[half as usize / 3];
            self.push(half / 3, facet.tangential(acceleration), DVec2::ZERO, 0.0).acceleration
        };
        let mut best: Option<(f64, Spoke)> = None;
        let mut pushed = false;
        for spoke in surface.spokes(point) {
            let a = push(spoke.half);
            let size = a.length();
            // Pushed, but into no triangle: over the border, if there is one.
            pushed |= size > least;
            let facet = &surface.facets[spoke.half as usize / 3];
            if size > least && in_wedge(facet, spoke, a, 0.0) && best.is_none_or(|(b, _)| size > b)
            {
                best = Some((size, spoke));
            }
        }
        if let Some((_, spoke)) = best {
            return Departure::Wedge(spoke);
        }
        if let Some((spoke, u)) = self.best_edge(point, acceleration) {
            let along = surface.facets[spoke.half as usize / 3].tangential(u);
            if push(spoke.half).dot(along.normalize_or_zero()) > least && u.dot(acceleration) > 0.0
            {
                // Along a border there is no second side to hold it on the edge: it runs on the triangle.
                return if surface.twins[spoke.half as usize] == BORDER {
                    Departure::Wedge(spoke)
                } else {
                    Departure::Edge(spoke)
                };
            }
        }
        if pushed && surface.border_points[point as usize] {
            return Departure::Border;
        }
        Departure::None
    }

    /// The corner of the fan whose wedge holds a velocity, and that velocity in its plane.
    fn wedge(&self, point: u32, home: u32, side: i8, velocity: DVec3) -> Option<(Spoke, DVec2)> {
        let surface = self.world.surface;
        let speed = velocity.length();
        let mut best: Option<(f64, Spoke, DVec2)> = None;
        // Exactly first: with slack two wedges may claim a velocity along their common edge.
        for slack in [0.0, 1e-12] {
            for spoke in surface.spokes(point) {
                let t = spoke.half / 3;
                let facet = &surface.facets[t as usize];
                let out = facet.normal * f64::from(surface.side_around(point, home, side, t));
                let mut v = facet.tangential(velocity);
                let kept = v.length();
                if kept <= 1e-9 * speed || !in_wedge(facet, spoke, v, slack) {
                    continue;
                }
                // Turned where the surface falls away, projected where it rises.
                if velocity.dot(out) > 0.0 {
                    v *= speed / kept;
                }
                if best.is_none_or(|(b, _, _)| kept > b) {
                    best = Some((kept, spoke, v));
                }
            }
            if best.is_some() {
                break;
            }
        }
        best.map(|(_, spoke, v)| (spoke, v))
    }

    /// The outgoing edge that a vector points along most, and its direction.
    fn best_edge(&self, point: u32, vector: DVec3) -> Option<(Spoke, DVec3)> {
        let surface = self.world.surface;
        let mut best: Option<(f64, Spoke, DVec3)> = None;
        for spoke in surface.spokes(point) {
            let facet = &surface.facets[spoke.half as usize / 3];
            let mut u = facet.lift(facet.edge(spoke.half as usize % 3)).normalize_or_zero();
            if spoke.s > 0.0 && vector.dot(u) < 0.0 {
                // An edge that passes through goes both ways.
                u = -u;
            }
            let along = vector.dot(u);
            if along > 1e-12 * vector.length() && best.is_none_or(|(b, _, _)| along > b) {
                best = Some((along, spoke, u));
            }
        }
        best.map(|(_, spoke, u)| (spoke, u))
    }

    /// Puts the drop on a triangle around a point.
    fn enter(&mut self, drop: &mut Droplet, point: u32, home: u32, spoke: Spoke, velocity: DVec2) {
        let Spoke { half, s } = spoke;
        let k = half as usize % 3;
        drop.side = self.surface().side_around(point, home, drop.side, half / 3);
        let other = if s > 0.0 { 0 } else { 1 << ((k + 2) % 3) };
        drop.phase = Phase::Face {
            triangle: half / 3,
            weights: on_edge(k, s),
            velocity,
            standing: 1 << k | other,
        };
    }
}

/// Whether a vector points from a spoke into its triangle.
fn in_wedge(facet: &Facet, spoke: Spoke, v: DVec2, slack: f64) -> bool {
    let k = spoke.half as usize % 3;
    let first = facet.edge(k);
    if spoke.s > 0.0 {
        return first.perp_dot(v) >= -slack * v.length() * first.length();
    }
    let last = -facet.edge((k + 2) % 3);
    let size = v.length();
    let (a, b) = (first.perp_dot(v), v.perp_dot(last));
    a >= -slack * size * first.length() && b >= -slack * size * last.length()
        // The opposite direction also has no part across a flat wedge's edges.
        && v.dot(first / first.length() + last / last.length()) > 0.0
}
