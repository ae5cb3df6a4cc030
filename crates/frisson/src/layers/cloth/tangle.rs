//! Cloth that has crossed itself, and how it is taken apart without knowing how that came about.
//!
//! Where edges pierce triangles, two parts of the cloth meet along a curve. What that curve cuts off is
//! on the wrong side, and must not be held there by contacts: a **flood fill** over the edges that pierce
//! nothing finds it (Baraff, Witkin, Kass 2003). Then every piercing edge is moved so that the **curve
//! gets shorter**, until there is none (Volino, Magnenat-Thalmann 2006):
//!
//! ```text
//!      \    triangle i of the edge e        R: along the curve, from the edge into triangle i
//!   ----x---R-->------ pierced triangle     G = sum over i of R - 2 N (e·R) / (e·N)
//!        \ e                                the edge goes along G, the pierced triangle against it
//! ```

use glam::DVec3;

use super::node_places::NodePlaces;
use super::pieces::{CutCloth, Pieces};
use super::rest::ClothRest;
use super::separation::pierce;
use super::state::Crossing;
use crate::tolerances::cloth as limits;

/// Which nodes are cut off by crossings. Storage is reused.
#[derive(Clone, Debug, Default)]
pub struct Tangle {
    /// Whether a node is at a crossing or cut off by some.
    pub caught: Vec<bool>,
    pieces: Pieces,
    cuts: Vec<[u32; 2]>,
}

impl Tangle {
    /// Finds what some crossings cut off: all pieces but the largest of every part that hangs together.
    pub fn find(&mut self, rest: &ClothRest, part_of_node: &[u32], crossings: &[Crossing]) {
        self.caught.clear();
        if crossings.is_empty() {
            return;
        }
        self.caught.resize(rest.node_count(), false);
        self.cuts.clear();
        self.cuts.extend(crossings.iter().map(|c| sorted(c.edge)));
        self.cuts.sort_unstable();
        self.cuts.dedup();
        let (triangles, node_triangles) = (rest.triangles.as_slice(), &rest.node_triangles);
        let cloth = CutCloth { triangles, node_triangles, part_of_node, cuts: &self.cuts };
        let caught = &mut self.caught;
        self.pieces.find(cloth, |node| caught[node as usize] = true);
        // The two that cross as well: which of them is on the wrong side is not known.
        for crossing in crossings {
            let corners = rest.triangles[crossing.triangle as usize];
            let at = crossing.edge.into_iter().chain(corners);
            at.for_each(|n| self.caught[n as usize] = true);
        }
    }

    /// Whether a node and a triangle are both caught: no contact is to hold them where they are.
    pub fn holds(&self, nodes: &[u32], others: &[u32]) -> bool {
        let any = |nodes: &[u32]| nodes.iter().any(|&n| self.caught[n as usize]);
        !self.caught.is_empty() && any(nodes) && any(others)
    }
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Shortens the curve where the cloth crosses itself, by moves of `way` metres without speed.
pub fn untangle(rest: &ClothRest, crossings: &[Crossing], way: f64, nodes: NodePlaces) {
    let NodePlaces { inverse_mass, previous, positions } = nodes;
    for crossing in crossings {
        let (edge, corners) = (crossing.edge, rest.triangles[crossing.triangle as usize]);
        let ends = edge.map(|n| positions[n as usize]);
        let triangle = corners.map(|n| positions[n as usize]);
        let Some((s, w)) = pierce(ends, triangle) else { continue };
        let Some(along) = shortening(rest, edge, ends, triangle, positions) else { continue };
        let parts = [
            (edge[0], 1.0 - s),
            (edge[1], s),
            (corners[0], -w[0]),
            (corners[1], -w[1]),
            (corners[2], -w[2]),
        ];
        let weight = |&(n, share): &(u32, f64)| share * share * inverse_mass[n as usize];
        let total: f64 = parts.iter().map(weight).sum();
        if total <= 0.0 {
            continue;
        }
        let size = along.length();
        let push = along * (way / (size + limits::UNTANGLE_EASE) / total);
        for (n, share) in parts {
            let moved = push * (share * inverse_mass[n as usize]);
            positions[n as usize] += moved;
            previous[n as usize] += moved;
        }
    }
}

/// Direction in which an edge has to go for the curve through the pierced triangle to get shorter.
fn shortening(
    rest: &ClothRest,
    edge: [u32; 2],
    ends: [DVec3; 2],
    triangle: [DVec3; 3],
    positions: &[DVec3],
) -> Option<DVec3> {
    let e = (ends[1] - ends[0]).try_normalize()?;
    let n = (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]).try_normalize()?;
    let steep = e.dot(n);
    // An edge that lies in the triangle would be sent to infinity.
    let steep = steep.abs().max(limits::UNTANGLE_STEEP) * steep.signum();
    let mut sum = DVec3::ZERO;
    for &t in rest.node_triangles.of(edge[0]) {
        let corners = rest.triangles[t as usize];
        if !corners.contains(&edge[1]) {
            continue;
        }
        let Some(third) = corners.into_iter().find(|c| !edge.contains(c)) else { continue };
        let inwards = positions[third as usize] - ends[0];
        let inwards = inwards - inwards.dot(e) * e;
        let Some(curve) = e.cross(inwards).cross(n).try_normalize() else { continue };
        let curve = if curve.dot(inwards) < 0.0 { -curve } else { curve };
        sum += curve - n * (2.0 * e.dot(curve) / steep);
    }
    (sum.length_squared() > 1e-12).then_some(sum)
}
