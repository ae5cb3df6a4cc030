//! Edges that are asked together: neighbours share one walk down a body's tree.
//!
//! ```text
//!   edges by place:  | e e e e | e e e e | …      one box a bundle, one walk a box;
//!                      └ box ┘   └ box ┘          then every edge of it with every triangle met
//! ```

use std::sync::Arc;

use frisson::geometry::{Bounds, MeshTopology, TriangleBvh};
use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use crate::body::segments;
use crate::shape::Shape;

/// Edges of one bundle: more share a walk, but meet more triangles that only some of them are near.
const BUNDLE: usize = 16;
/// Edges that one task takes: tasks are the same whatever the number of threads.
const TASK: usize = 16 * BUNDLE;
/// Cells along each axis of the box that edges are put in order by, as a power of two: an edge of a mesh of a
/// million points is longer than one.
const CELL_BITS: u32 = 10;

/// An edge or a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Points it joins.
    pub ends: [u32; 2],
    /// Its number where it came from.
    pub number: u32,
}

/// Edges in the order of where they are.
#[derive(Clone, Debug, Default)]
pub struct Bundles(Vec<Edge>);

/// An edge whose box meets that of a triangle, and whose ends are not on one side of its plane.
pub struct Meeting<'a> {
    /// The edge.
    pub edge: &'a Edge,
    /// Its ends [m].
    pub segment: [Vec3; 2],
    /// The triangle.
    pub triangle: u32,
    /// Its corners [m].
    pub corners: [Vec3; 3],
    /// Its normal, as long as twice its area [m²].
    pub normal: Vec3,
}

impl Bundles {
    /// Puts edges in order. They may move afterwards: what was near each other mostly stays so, and where it does
    /// not only time is lost.
    #[must_use]
    pub fn of(edges: &[[u32; 2]], points: &[Vec3]) -> Self {
        let bounds = Bounds::of(points);
        let cells = (1u32 << CELL_BITS) as f32;
        let scale = (bounds.max - bounds.min).max_element().max(f32::MIN_POSITIVE).recip() * cells;
        let key = |(number, ends): (usize, &[u32; 2])| {
            let middle = 0.5 * (points[ends[0] as usize] + points[ends[1] as usize]);
            let cell = ((middle - bounds.min) * scale).as_uvec3();
            let code = spread(cell.x) | spread(cell.y) << 1 | spread(cell.z) << 2;
            // The number breaks ties: the order is the same for any number of threads.
            (u64::from(code) << 32) | number as u64
        };
        let mut keys: Vec<u64> = edges.par_iter().enumerate().map(key).collect();
        keys.par_sort_unstable();
        let edge = |key: u64| Edge { ends: edges[key as u32 as usize], number: key as u32 };
        Self(keys.into_iter().map(edge).collect())
    }

    /// The edges, in their order of place.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.0
    }

    /// What `each` finds where an edge may go through a triangle, or passes it within `margin` [m].
    pub fn meet<T: Send>(
        &self,
        tree: &TriangleBvh,
        points: &[Vec3],
        margin: f32,
        each: impl Fn(&Meeting, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        let bounds = tree.bounds().grown(margin);
        let task = |edges: &[Edge]| {
            let mut found = Vec::new();
            for bundle in edges.chunks(BUNDLE) {
                let boxes = Boxes::of(bundle, points, margin);
                if boxes.whole.overlaps(&bounds) {
                    let query = boxes.whole;
                    tree.overlapping(query, |triangle| {
                        let facet = Facet::of(triangle, tree.corners(triangle));
                        facet.meet(bundle, &boxes, points, margin, |m| each(m, &mut found));
                    });
                }
            }
            found
        };
        self.0.par_chunks(TASK).flat_map_iter(task).collect()
    }
}

/// Every third bit of a number of [`CELL_BITS`] bits: Morton's order, a curve through all cells.
fn spread(cell: u32) -> u32 {
    let mut x = cell.min((1 << CELL_BITS) - 1);
    x = (x | x << 16) & 0x0300_00ff;
    x = (x | x << 8) & 0x0300_f00f;
    x = (x | x << 4) & 0x030c_30c3;
    (x | x << 2) & 0x0924_9249
}

/// Boxes of the edges of a bundle.
struct Boxes {
    each: [[Vec3A; 2]; BUNDLE],
    whole: Bounds,
}

impl Boxes {
    fn of(bundle: &[Edge], points: &[Vec3], margin: f32) -> Self {
        let mut boxes = Self { each: [[Vec3A::ZERO; 2]; BUNDLE], whole: Bounds::EMPTY };
        for (edge, own) in bundle.iter().zip(&mut boxes.each) {
            let [a, b] = edge.ends.map(|e| points[e as usize]);
            let (min, max) = (a.min(b) - margin, a.max(b) + margin);
            *own = [min.into(), max.into()];
            boxes.whole = boxes.whole.union(Bounds { min, max });
        }
        boxes
    }
}

/// A triangle that a bundle is near.
struct Facet {
    triangle: u32,
    corners: [Vec3; 3],
    normal: Vec3,
    low: Vec3A,
    high: Vec3A,
}

impl Facet {
    fn of(triangle: u32, corners: [Vec3; 3]) -> Self {
        let [a, b, c] = corners;
        let (low, high) = (a.min(b).min(c).into(), a.max(b).max(c).into());
        Self { triangle, corners, normal: (b - a).cross(c - a), low, high }
    }

    fn meet(
        &self,
        bundle: &[Edge],
        boxes: &Boxes,
        points: &[Vec3],
        margin: f32,
        mut each: impl FnMut(&Meeting),
    ) {
        let Self { triangle, corners, normal, .. } = *self;
        let slack = margin * normal.length();
        for (edge, [low, high]) in bundle.iter().zip(&boxes.each) {
            if (low.cmple(self.high) & high.cmpge(self.low)).all() {
                let segment = edge.ends.map(|e| points[e as usize]);
                let [a, b] = segment.map(|p| normal.dot(p - corners[0]));
                // Both ends on one side of the plane: the edge stays there.
                if a.min(b) <= slack && a.max(b) >= -slack {
                    each(&Meeting { edge, segment, triangle, corners, normal });
                }
            }
        }
    }
}

/// The edges or segments of a shape, kept while its topology is the same.
#[derive(Default)]
pub struct Links {
    topology: Option<Arc<MeshTopology>>,
    bundles: Bundles,
}

impl Links {
    /// Of a shape as it is now; numbers are those of [`segments`].
    pub fn of(&mut self, shape: Shape) -> &Bundles {
        let topology = if let Shape::Mesh(m) = shape { Some(&m.topology) } else { None };
        let same = match (&self.topology, topology) {
            (Some(known), Some(now)) => Arc::ptr_eq(known, now),
            _ => false,
        };
        if !same {
            self.bundles = Bundles::of(&segments(shape), shape.points());
            self.topology = topology.cloned();
        }
        &self.bundles
    }
}
