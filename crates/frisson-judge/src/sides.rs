//! On which side of a closed surface points are, asked once for all that hang together.
//!
//! An edge that meets no triangle of a closed body has both ends on one side. So points joined by such edges
//! are inside or outside together, and one of them is asked for all.
//!
//! ```text
//!       o──o──o──o──╳──o──o      one ray for the five on the left, one for the two on the right
//!                 surface
//! ```

use glam::Vec3;
use rayon::prelude::*;

use crate::body::Body;
use crate::bundles::{Bundles, Meeting};
use crate::groups::Groups;

/// Distance below which an edge may touch what it does not cross, as a share of the body's size and of how far it
/// is from the origin [-]: ten times what positions are rounded by. More joins fewer points; less may join two
/// that a surface parts.
const TOUCH: f32 = 1e-6;
/// How far beside a triangle an edge may pass and still be taken to meet it, in its sides [-]: an edge that goes
/// exactly between two triangles must not be missed by both.
const BESIDE: f32 = 0.25;
/// Sine between two sides below which a triangle is a needle, in which nothing can be located [-].
const NEEDLE: f32 = 0.05;
/// Steepness of an edge to a plane, in touches, below which where it goes through is not known [-].
const FLAT: f32 = 4.0;

/// Whether each point is inside; not asked, and false, where it is not `wanted`.
#[must_use]
pub fn insides(
    body: &Body,
    points: &[Vec3],
    links: &Bundles,
    wanted: impl Fn(usize) -> bool + Sync,
) -> Vec<bool> {
    let is_inside = |p: Vec3| body.tree().is_inside(p);
    if !body.is_closed() {
        // A way around a hole leads from inside to outside without meeting anything.
        let one = |(i, p): (usize, &Vec3)| wanted(i) && is_inside(*p);
        return points.par_iter().enumerate().map(one).collect();
    }
    let mut together = joined(body, points, links);
    let mut asked = vec![false; points.len()];
    for i in (0..points.len()).filter(|&i| wanted(i)) {
        asked[together.find(i as u32) as usize] = true;
    }
    let ask = |(p, asked): (&Vec3, &bool)| *asked && is_inside(*p);
    let answers: Vec<bool> = points.par_iter().zip(&asked).map(ask).collect();
    (0..points.len()).map(|i| wanted(i) && answers[together.find(i as u32) as usize]).collect()
}

/// Points that no surface parts.
fn joined(body: &Body, points: &[Vec3], links: &Bundles) -> Groups {
    let bounds = body.bounds();
    let farthest = bounds.min.abs().max(bounds.max.abs()).max_element();
    let touch = TOUCH * (bounds.diagonal() + farthest);
    let cut = links.meet(body.tree(), points, touch, |meeting, cut: &mut Vec<u32>| {
        if may_cross(meeting, touch) {
            cut.push(meeting.edge.number);
        }
    });
    let edges = links.edges();
    let mut is_cut = vec![false; edges.len()];
    cut.into_iter().for_each(|edge| is_cut[edge as usize] = true);
    let mut together = Groups::new(points.len());
    for edge in edges.iter().filter(|e| !is_cut[e.number as usize]) {
        together.unite(edge.ends[0], edge.ends[1]);
    }
    together
}

/// Whether an edge goes through a triangle, or so near that rounding may decide.
fn may_cross(meeting: &Meeting, touch: f32) -> bool {
    let [from, to] = meeting.segment;
    let [a, b, c] = meeting.corners;
    let (ab, ac, way) = (b - a, c - a, to - from);
    let area = meeting.normal.length();
    let across = -way.dot(meeting.normal);
    // In doubt it may: two groups too many cost a ray each, one too few tells a lie about all of its points.
    if area < NEEDLE * ab.length() * ac.length() || across.abs() <= FLAT * touch * area {
        return true;
    }
    // Weights of the corners b and c where it meets the plane (Möller and Trumbore).
    let moment = (from - a).cross(way);
    let (u, v) = (ac.dot(moment) / across, -ab.dot(moment) / across);
    u >= -BESIDE && v >= -BESIDE && u + v <= 1.0 + BESIDE
}
