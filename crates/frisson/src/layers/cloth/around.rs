//! Which nodes are near each other along the cloth: they cannot be in contact.
//!
//! Told by the way along the edges, not by rings of triangles: where a collar is gathered, edges are a
//! fraction of the thickness, and nodes several rings apart are still the same bit of cloth.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::rest::ClothRest;
use super::sew::Stitch;
use crate::geometry::Lists;
use crate::tolerances::cloth as limits;

/// Nodes around every node, itself among them.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Ascending for each node.
    lists: Lists,
    /// Whether a seam is near; empty without seams.
    sewn: Vec<bool>,
}

/// A distance that is sorted as a number.
type Nanometres = u64;

impl Around {
    /// All nodes within `way` along the edges [m], and those of the triangles around in any case.
    /// Stitches join without a way.
    pub fn build(rest: &ClothRest, positions: &[DVec3], stitches: &[Stitch], way: f64) -> Self {
        let count = rest.node_count();
        let joined = stitches.iter().flat_map(|s| s.onto.map(|o| (s.node, o)));
        let joins = Lists::from_pairs(count, joined.flat_map(|(a, b)| [(a, b), (b, a)]));
        let mut sewn = vec![false; if stitches.is_empty() { 0 } else { count }];
        let mut distance = vec![f64::INFINITY; count];
        let (mut reached, mut pairs) = (Vec::new(), Vec::new());
        let mut heap: BinaryHeap<Reverse<(Nanometres, u32)>> = BinaryHeap::new();
        for start in 0..count as u32 {
            distance[start as usize] = 0.0;
            reached.push(start);
            heap.push(Reverse((0, start)));
            while let Some(Reverse((_, node))) = heap.pop() {
                if reached.len() >= limits::MOST_AROUND {
                    break;
                }
                let around = rest.node_triangles.of(node).iter();
                let by_edge = around.flat_map(|&t| rest.triangles[t as usize]).map(|n| (n, false));
                let by_thread = joins.of(node).iter().map(|&n| (n, true));
                for (other, thread) in by_edge.chain(by_thread) {
                    let edge = positions[node as usize].distance(positions[other as usize]);
                    // Sewn together, two panels are one place: the thread between has no length.
                    let far = distance[node as usize] + if thread { 0.0 } else { edge };
                    let next = &mut distance[other as usize];
                    // Direct neighbours count however far they are: a triangle cannot be in contact with itself.
                    if far < *next && (far <= way || node == start) {
                        if next.is_infinite() {
                            reached.push(other);
                        }
                        *next = far;
                        // Whole numbers have an order.
                        heap.push(Reverse(((far * 1e9) as Nanometres, other)));
                    }
                }
            }
            heap.clear();
            if !sewn.is_empty() {
                sewn[start as usize] = reached.iter().any(|&n| !joins.of(n).is_empty());
            }
            reached.sort_unstable();
            pairs.extend(reached.iter().map(|&other| (start, other)));
            reached.drain(..).for_each(|n| distance[n as usize] = f64::INFINITY);
        }
        Self { lists: Lists::from_pairs(count, pairs.iter().copied()), sewn }
    }

    /// Whether any of the nodes is near a seam that is sewn.
    pub fn is_sewn(&self, nodes: &[u32]) -> bool {
        nodes.iter().any(|&n| self.sewn.get(n as usize).is_some_and(|s| *s))
    }

    /// Whether any of `others` is near any of `nodes` along the cloth.
    pub fn any(&self, nodes: &[u32], others: &[u32]) -> bool {
        let near = |n: &u32| {
            let around = self.lists.of(*n);
            others.iter().any(|o| around.binary_search(o).is_ok())
        };
        nodes.iter().any(near)
    }
}
