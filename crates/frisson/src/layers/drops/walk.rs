//! Walking a straight way on the surface, unfolding it over the edges.

use glam::DVec2;

use super::surface::{Across, Facet, Surface, clamp_weights, on_edge};
use crate::tolerances::drops::{MAX_WALK, ON_EDGE, TEE_NUDGE};

/// A place on the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Triangle.
    pub triangle: u32,
    /// Weights of corners 1 and 2.
    pub weights: DVec2,
    /// Side of the triangle.
    pub side: i8,
}

/// A vector of one plane, turned about an edge into its neighbour's.
#[must_use]
pub fn unfold(from: &Facet, k: usize, to: &Facet, across: Across, v: DVec2) -> DVec2 {
    let along = from.edge(k).normalize_or_zero();
    let mut there = to.edge(across.half as usize % 3).normalize_or_zero();
    let inward = there.perp();
    if !across.same_way {
        there = -there;
    }
    there * v.dot(along) - inward * v.dot(along.perp())
}

/// Walks from a place along a vector of its plane. Carries `with` along, turned at every edge.
/// Stops at borders. Returns the place and whether the whole way was walked.
#[must_use]
pub fn walk(surface: &Surface, start: Place, way: DVec2, with: &mut DVec2) -> (Place, bool) {
    let mut place = start;
    let mut way = way;
    let mut came_through: Option<usize> = None;
    for _ in 0..MAX_WALK {
        let facet = &surface.facets[place.triangle as usize];
        let x = facet.flat(place.weights);
        let mut exit: Option<(f64, usize)> = None;
        for k in (0..3).filter(|k| Some(*k) != came_through) {
            let edge = facet.edge(k);
            // The edge just crossed is left out: rounding may put the place a hair on its wrong side.
            let rate = edge.perp_dot(way);
            if rate >= 0.0 {
                continue;
            }
            let mut d = edge.perp_dot(x - facet.corner(k));
            // On the edge by rounding: left at once, or the way would go on outside the triangle.
            if d < ON_EDGE * edge.length_squared() {
                d = 0.0;
            }
            let t = d / -rate;
            if t < 1.0 && exit.is_none_or(|(best, _)| t < best) {
                exit = Some((t, k));
            }
        }
        let Some((t, k)) = exit else {
            place.weights = clamp_weights(facet.weights(x + way));
            return (place, true);
        };
        let edge = facet.edge(k);
        let reached = x + way * t;
        // Kept off the corners, where an edge does not know all its neighbours.
        let s = ((reached - facet.corner(k)).dot(edge) / edge.length_squared())
            .clamp(TEE_NUDGE, 1.0 - TEE_NUDGE);
        let half = 3 * place.triangle + k as u32;
        let Some(across) = surface.across(half, s, place.side) else {
            place.weights = on_edge(k, s);
            return (place, false);
        };
        let to = &surface.facets[across.half as usize / 3];
        way = unfold(facet, k, to, across, way * (1.0 - t));
        *with = unfold(facet, k, to, across, *with);
        let k_there = across.half as usize % 3;
        // Windings that disagree have their outsides on opposite sides.
        if across.same_way {
            place.side = -place.side;
        }
        place.triangle = across.half / 3;
        place.weights = on_edge(k_there, across.s);
        came_through = Some(k_there);
    }
    // Round and round a spike: where it has come to will do.
    (place, false)
}
