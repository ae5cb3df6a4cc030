//! Drops at vertices: through the fan, along an edge, or at rest.

use glam::{DVec2, DVec3};

use super::Flow;
use crate::layers::drops::state::{Drop, Phase};
use crate::layers::drops::surface::{BORDER, Facet, on_edge};
use crate::tolerances::drops::{EDGE_PUSH, RETURN_FRACTION};

/// How a drop at rest leaves a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Departure {
    /// Nothing moves it.
    None,
    /// Into a triangle.
    Wedge(u32),
    /// Along an edge.
    Edge(u32),
    /// Off a border.
    Border,
}

impl Flow<'_> {
    /// Leaves a vertex with a velocity: into the triangle whose wedge holds it, along an edge, off a
    /// border. False when nothing moves the drop away.
    pub(super) fn depart(&mut self, drop: &mut Drop, corner: u32, velocity: DVec3) -> bool {
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
        let at_rest = self.way_from_rest(fan, point, acceleration);
        if velocity != DVec3::ZERO {
            let way = self.wedge(fan, home, drop.side, velocity);
            if way.is_none() && surface.border_points[point as usize] {
                self.release(drop, here, velocity, home);
                return true;
            }
            // A pit or a peak: the best edge takes what it can of the velocity.
            let way = way.or_else(|| {
                let (half, u) = self.best_edge(fan, velocity)?;
                let edge = surface.facets[half as usize / 3].edge(half as usize % 3);
                Some((half, edge.normalize_or_zero() * velocity.dot(u)))
            });
            if let Some((half, v)) = way
                && !(at_rest == Departure::None && self.back_at_once(half / 3, v, acceleration))
            {
                self.enter_corner(drop, home, half, v);
                return true;
            }
        }
        match at_rest {
            Departure::None => {
                drop.held = true;
                return false;
            }
            Departure::Border => self.release(drop, here, DVec3::ZERO, home),
            Departure::Wedge(half) => self.enter_corner(drop, home, half, DVec2::ZERO),
            Departure::Edge(half) => {
                drop.side = surface.side_on(home, drop.side, half / 3);
                drop.phase = Phase::Edge { half, s: 0.0, speed: 0.0 };
            }
        }
        true
    }

    /// Whether a drop that leaves a vertex would be back on it within a small part of the tick: in a
    /// pit it comes to rest then, or it would bounce ever faster for ever.
    fn back_at_once(&self, triangle: u32, v: DVec2, acceleration: DVec3) -> bool {
        let facet = &self.world.surface.facets[triangle as usize];
        let push = self.push(triangle, facet.tangential(acceleration), v);
        let speed = push.velocity.length();
        let back = -push.acceleration.dot(v.normalize_or_zero());
        2.0 * speed < back * RETURN_FRACTION * self.world.tick
    }

    /// Which way a drop at rest on a vertex leaves it under the forces alone.
    fn way_from_rest(&self, fan: &[u32], point: u32, acceleration: DVec3) -> Departure {
        let surface = self.world.surface;
        let least = EDGE_PUSH * acceleration.length();
        let push = |half: u32| {
            let facet = &surface.facets[half as usize / 3];
            self.push(half / 3, facet.tangential(acceleration), DVec2::ZERO).acceleration
        };
        let mut best: Option<(f64, u32)> = None;
        let mut pushed = false;
        for &half in fan {
            let a = push(half);
            let size = a.length();
            pushed |= size > least;
            let facet = &surface.facets[half as usize / 3];
            if size > least
                && in_wedge(facet, half as usize % 3, a, 0.0)
                && best.is_none_or(|(b, _)| size > b)
            {
                best = Some((size, half));
            }
        }
        if let Some((_, half)) = best {
            return Departure::Wedge(half);
        }
        if let Some((half, u)) = self.best_edge(fan, acceleration) {
            let edge = surface.facets[half as usize / 3].edge(half as usize % 3);
            if push(half).dot(edge.normalize_or_zero()) > least && u.dot(acceleration) > 0.0 {
                return if surface.twins[half as usize] == BORDER {
                    Departure::Wedge(half)
                } else {
                    Departure::Edge(half)
                };
            }
        }
        if pushed && surface.border_points[point as usize] {
            return Departure::Border;
        }
        Departure::None
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
