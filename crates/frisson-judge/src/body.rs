//! A mesh that others may be inside of, or go through.

use std::sync::{Arc, OnceLock};

use frisson::geometry::{Bounds, Mesh, MeshTopology, Topology, TriangleBvh};
use frisson::stage::Curves;
use glam::Vec3;
use rayon::prelude::*;

use crate::bundles::{Bundles, Meeting};
use crate::pieces::vertex_groups;
use crate::shape::{Shape, starts};
use crate::sides::insides;
use crate::statistic::Sample;

/// Places along a segment that are asked, besides its ends.
const ALONG: [f32; 3] = [0.25, 0.5, 0.75];

/// Farther than anything [m]; its square is still a number.
pub const ANYWHERE: f32 = 1e19;

/// The tree and the connections of a mesh, kept from frame to frame.
#[derive(Default)]
pub struct Body {
    tree: TriangleBvh,
    topology: Option<Arc<MeshTopology>>,
    welded: Topology,
    is_closed: bool,
    /// Edges of the welded points, by their first vertices; made when they are first asked for.
    own_edges: OnceLock<Bundles>,
    /// What hangs together, vertex by vertex; made when it is first asked for.
    groups: OnceLock<Vec<u32>>,
}

impl Body {
    /// Goes on to a mesh: refits where it only moved, builds anew where it is another.
    pub fn update(&mut self, mesh: &Mesh) {
        let same = self.topology.as_ref().is_some_and(|t| Arc::ptr_eq(t, &mesh.topology));
        // A tree that was built around another pose is looser, not wrong, and to refit it is far less work.
        if same {
            self.tree.refit(&mesh.positions);
            return;
        }
        self.tree = TriangleBvh::build(&mesh.positions, &mesh.topology.triangles);
        self.welded = Topology::build(&mesh.positions, &mesh.topology.triangles);
        self.is_closed = self.welded.is_closed();
        self.topology = Some(mesh.topology.clone());
        (self.own_edges, self.groups) = (OnceLock::new(), OnceLock::new());
    }

    /// Of each vertex the one that stands for all that hangs together with it, where the triangles are those that
    /// the body was last updated with.
    #[must_use]
    pub fn groups(&self, triangles: &[[u32; 3]]) -> &[u32] {
        self.groups.get_or_init(|| vertex_groups(triangles, &self.welded))
    }

    /// Its tree.
    #[must_use]
    pub fn tree(&self) -> &TriangleBvh {
        &self.tree
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
        self.tree.closest_point(p, ANYWHERE).map_or(f32::INFINITY, |c| c.distance)
    }

    /// How deep a point is inside [m]; 0 outside. Where parts of a body overlap, inside of any of them
    /// is inside.
    #[must_use]
    pub fn depth(&self, p: Vec3) -> f32 {
        if self.tree.is_inside(p) { self.distance(p) } else { 0.0 }
    }

    /// Edges that go through triangles of this body: (edge, place), by edge and then by place. What only touches
    /// does not cross: both ends are more than `deeper` [m] from the triangle's plane.
    #[must_use]
    pub fn crossings(&self, edges: &Bundles, points: &[Vec3], deeper: f32) -> Vec<(u32, Vec3)> {
        self.crossings_but(edges, points, deeper, |_| false)
    }

    /// Edges of this body, as its points are welded, that go through its own triangles. An edge does not go
    /// through triangles it shares a point with.
    #[must_use]
    pub fn own_crossings(&self, positions: &[Vec3], deeper: f32) -> Vec<(u32, Vec3)> {
        let Topology { point_of_vertex, vertex_of_point, triangles, edges, .. } = &self.welded;
        let own = self.own_edges.get_or_init(|| {
            let vertex = |p: u32| vertex_of_point[p as usize];
            let edges: Vec<[u32; 2]> = edges.iter().map(|ends| ends.map(vertex)).collect();
            Bundles::of(&edges, positions)
        });
        self.crossings_but(own, positions, deeper, |m| {
            let corners = triangles[m.triangle as usize];
            m.edge.ends.iter().any(|&v| corners.contains(&point_of_vertex[v as usize]))
        })
    }

    fn crossings_but(
        &self,
        edges: &Bundles,
        points: &[Vec3],
        deeper: f32,
        is_excepted: impl Fn(&Meeting) -> bool + Sync,
    ) -> Vec<(u32, Vec3)> {
        let mut found = edges.meet(&self.tree, points, 0.0, |m, found: &mut Vec<(u32, Vec3)>| {
            let [a, b] = m.segment;
            if is_excepted(m) {
                return;
            }
            let Some(s) = self.tree.crossing(m.triangle, a, b - a) else { return };
            // How far each end is from the plane: the shares of the edge on its sides.
            let across = (b - a).dot(self.tree.face_normal(m.triangle)).abs();
            if across * s.min(1.0 - s) > deeper {
                found.push((m.edge.number, a + s * (b - a)));
            }
        });
        // The tree answers in no particular order.
        let bits = |place: Vec3| place.to_array().map(f32::to_bits);
        found.sort_unstable_by(|x, y| x.0.cmp(&y.0).then_with(|| bits(x.1).cmp(&bits(y.1))));
        found
    }
}

/// Depth of the points of a shape that are not `left_out` [m]. Roots of curves are not deep: they grow from the
/// skin. `links` are what joins the points.
#[must_use]
pub fn point_depths(
    body: &Body,
    shape: Shape,
    links: &Bundles,
    left_out: impl Fn(usize) -> bool + Sync,
) -> Vec<Sample> {
    let points = shape.points();
    let mut is_root = vec![false; if matches!(shape, Shape::Curves(_)) { points.len() } else { 0 }];
    if let Shape::Curves(curves) = shape {
        let filled =
            starts(&curves.counts).into_iter().zip(&curves.counts).filter(|(_, c)| **c > 0);
        filled.for_each(|(start, _)| is_root[start as usize] = true);
    }
    let is_asked = |i: usize| !left_out(i) && !is_root.get(i).is_some_and(|root| *root);
    let is_inside = insides(body, points, links, is_asked);
    let depth = |(i, &place): (usize, &Vec3)| {
        let value = if is_inside[i] { body.distance(place) } else { 0.0 };
        (!left_out(i)).then_some(Sample { value, element: i as u32, place })
    };
    points.par_iter().enumerate().filter_map(depth).collect()
}

/// Depth of every edge or segment of a shape [m]: of its middle, or of several places along it.
#[must_use]
pub fn segment_depths(body: &Body, shape: Shape, only_middles: bool) -> Vec<Sample> {
    let points = shape.points();
    // A segment may cut off a corner of a body with both ends outside.
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
    // Triangles that were welded to a line have an edge from a point to itself.
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
