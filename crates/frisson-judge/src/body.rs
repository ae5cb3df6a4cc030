//! A mesh that others may be inside of, or go through.

use std::sync::Arc;

use frisson::geometry::{Bounds, Mesh, MeshTopology, Topology, TriangleBvh};
use frisson::stage::Curves;
use glam::Vec3;
use rayon::prelude::*;

use crate::shape::{Shape, starts};
use crate::statistic::Sample;

/// Places along a segment that are asked, besides its ends.
const ALONG: [f32; 3] = [0.25, 0.5, 0.75];
/// Elements that one task takes: tasks are the same whatever the number of threads.
const TASK: usize = 256;

/// The tree and the connections of a mesh, kept from frame to frame.
#[derive(Default)]
pub struct Body {
    tree: TriangleBvh,
    topology: Option<Arc<MeshTopology>>,
    welded: Topology,
    is_closed: bool,
}

impl Body {
    /// Goes on to a mesh: refits where it only moved, builds anew where it is another.
    pub fn update(&mut self, mesh: &Mesh) {
        let same = self.topology.as_ref().is_some_and(|t| Arc::ptr_eq(t, &mesh.topology));
        if same {
            self.tree.refit(&mesh.positions);
            return;
        }
        self.tree = TriangleBvh::build(&mesh.positions, &mesh.topology.triangles);
        self.welded = Topology::build(&mesh.positions, &mesh.topology.triangles);
        self.is_closed = self.welded.is_closed();
        self.topology = Some(mesh.topology.clone());
    }

    /// Whether every edge has two triangles: only then has it an inside without doubt.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Connections across seams.
    #[must_use]
    pub fn welded(&self) -> &Topology {
        &self.welded
    }

    /// Box of the whole.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.tree.bounds()
    }

    /// Distance from the surface [m].
    #[must_use]
    pub fn distance(&self, p: Vec3) -> f32 {
        self.tree.closest_point(p, f32::MAX.sqrt()).map_or(f32::INFINITY, |c| c.distance)
    }

    /// How deep a point is inside [m]; 0 outside. Where parts of a body overlap, inside of any of them
    /// is inside.
    #[must_use]
    pub fn depth(&self, p: Vec3) -> f32 {
        if self.tree.is_inside(p) { self.distance(p) } else { 0.0 }
    }

    /// Edges that go through triangles of this body: (edge, place). What only touches does not cross: both
    /// ends are more than `deeper` [m] from the triangle's plane. An edge of the body itself does not go
    /// through triangles it shares a point with.
    #[must_use]
    pub fn crossings(
        &self,
        edges: &[[u32; 2]],
        points: &[Vec3],
        is_own: bool,
        deeper: f32,
    ) -> Vec<(u32, Vec3)> {
        let own = |t: u32, [a, b]: [u32; 2]| {
            let corners = self.welded.triangles[t as usize];
            is_own && (corners.contains(&a) || corners.contains(&b))
        };
        let bounds = self.bounds();
        let one = |(index, &ends): (usize, &[u32; 2]), found: &mut Vec<(u32, Vec3)>| {
            let [a, b] = ends.map(|e| points[e as usize]);
            let (low, high) = (a.min(b), a.max(b));
            if low.cmpgt(bounds.max).any() || high.cmplt(bounds.min).any() {
                return;
            }
            self.tree.raycast_all(a, b - a, |t, s| {
                // How far each end is from the plane: the shares of the edge on its sides.
                let across = (b - a).dot(self.tree.face_normal(t)).abs();
                if across * s.min(1.0 - s) > deeper && !own(t, ends) {
                    found.push((index as u32, a + s * (b - a)));
                }
            });
        };
        let task = |(task, edges): (usize, &[[u32; 2]])| {
            let mut found = Vec::new();
            for (i, e) in edges.iter().enumerate() {
                one((task * TASK + i, e), &mut found);
            }
            // The tree answers in no particular order.
            found.sort_unstable_by(|x, y| {
                x.0.cmp(&y.0)
                    .then(x.1.to_array().map(f32::to_bits).cmp(&y.1.to_array().map(f32::to_bits)))
            });
            found
        };
        edges.par_chunks(TASK).enumerate().flat_map_iter(task).collect()
    }
}

/// Depth of every point of a shape [m]. Roots of curves do not count: they grow from the skin.
#[must_use]
pub fn point_depths(body: &Body, shape: Shape) -> Vec<Sample> {
    let points = shape.points();
    let mut is_root = vec![false; if matches!(shape, Shape::Curves(_)) { points.len() } else { 0 }];
    if let Shape::Curves(curves) = shape {
        let filled =
            starts(&curves.counts).into_iter().zip(&curves.counts).filter(|(_, c)| **c > 0);
        filled.for_each(|(start, _)| is_root[start as usize] = true);
    }
    let depth = |(i, &place): (usize, &Vec3)| {
        let counts = !is_root.get(i).is_some_and(|root| *root);
        let value = if counts { body.depth(place) } else { 0.0 };
        Sample { value, element: i as u32, place }
    };
    points.par_iter().enumerate().map(depth).collect()
}

/// Depth of every edge or segment of a shape [m]: of its middle, or of several places along it.
#[must_use]
pub fn segment_depths(body: &Body, shape: Shape, only_middles: bool) -> Vec<Sample> {
    let points = shape.points();
    let along: &[f32] = if only_middles { &ALONG[1..2] } else { &ALONG };
    let depth = |(i, &[a, b]): (usize, &[u32; 2])| {
        let [a, b] = [a, b].map(|e| points[e as usize]);
        let place_at = |t: &f32| a + *t * (b - a);
        let deeper = |x: Sample, t: &f32| {
            let place = place_at(t);
            let value = body.depth(place);
            if value > x.value { Sample { value, place, ..x } } else { x }
        };
        let start = Sample { value: 0.0, element: i as u32, place: place_at(&0.5) };
        along.iter().fold(start, deeper)
    };
    segments(shape).par_iter().enumerate().map(depth).collect()
}

/// Edges of a mesh, segments of curves after the first of each, nothing of points.
#[must_use]
pub fn segments(shape: Shape) -> Vec<[u32; 2]> {
    match shape {
        Shape::Mesh(mesh) => edges_of(&mesh.topology.triangles),
        Shape::Curves(curves) => curve_segments(curves, 1),
        Shape::Points(_) => Vec::new(),
    }
}

/// Segments of curves, without the first few of each.
#[must_use]
pub fn curve_segments(curves: &Curves, skip: u32) -> Vec<[u32; 2]> {
    let of = |(start, &count): (u32, &u32)| {
        (skip..count.saturating_sub(1)).map(move |k| [start + k, start + k + 1])
    };
    starts(&curves.counts).into_iter().zip(&curves.counts).flat_map(of).collect()
}

/// Every edge of some triangles once, ascending; seams stay apart.
#[must_use]
pub fn edges_of(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let mut edges: Vec<[u32; 2]> =
        triangles.iter().flat_map(sides).map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.retain(|[a, b]| a != b);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Signed volume inside a mesh [m³]: of use where it is closed.
#[must_use]
pub fn volume(mesh: &Mesh) -> f64 {
    // Around its own middle: far from the origin the parts would be large and cancel.
    let middle = mesh.bounds().center();
    let part = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| (mesh.positions[v as usize] - middle).as_dvec3());
        a.dot(b.cross(c)) / 6.0
    };
    mesh.topology.triangles.iter().map(part).sum()
}
