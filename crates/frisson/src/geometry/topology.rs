//! Who touches whom, across the splits that file formats make at seams.
//!
//! Vertices at one place are welded into **points**; triangles, edges and neighbours are those of
//! points. Nothing is assumed manifold: an edge may have one, two or more triangles.

use glam::Vec3;

use crate::tolerances;

/// Marks "none" in index arrays.
pub const NONE: u32 = u32::MAX;

/// Connectivity of welded points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Point of each vertex.
    pub point_of_vertex: Vec<u32>,
    /// First vertex of each point.
    pub vertex_of_point: Vec<u32>,
    /// Triangles over points; degenerate ones (two equal corners) keep their place.
    pub triangles: Vec<[u32; 3]>,
    /// Edges as pairs of points, the smaller first, sorted.
    pub edges: Vec<[u32; 2]>,
    /// Edge opposite to each corner: `triangle_edges[t][k]` joins corners `k + 1` and `k + 2`;
    /// [`NONE`] on degenerate triangles.
    pub triangle_edges: Vec<[u32; 3]>,
    edge_triangles: Lists,
    point_triangles: Lists,
    point_edges: Lists,
}

/// Lists of indices, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// From (list, item) pairs; items keep the order in which they come.
    #[must_use]
    pub fn from_pairs(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut offsets = vec![0u32; count + 1];
        for (list, _) in pairs.clone() {
            offsets[list as usize + 1] += 1;
        }
        for i in 0..count {
            offsets[i + 1] += offsets[i];
        }
        let mut items = vec![0; offsets[count] as usize];
        // A counting sort: what comes first stays first, which `point_triangles` and others promise.
        let mut next = offsets.clone();
        for (list, item) in pairs {
            items[next[list as usize] as usize] = item;
            next[list as usize] += 1;
        }
        Self { offsets, items }
    }

    /// One list.
    #[must_use]
    pub fn of(&self, list: u32) -> &[u32] {
        let range = self.offsets[list as usize] as usize..self.offsets[list as usize + 1] as usize;
        &self.items[range]
    }

    /// Number of lists.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Topology {
    /// Welds vertices closer than [`tolerances::WELD_FRACTION`] of the diagonal and connects the
    /// rest. Triangles with an index out of range must have been refused before.
    #[must_use]
    pub fn build(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let (point_of_vertex, vertex_of_point) = weld(positions);
        let point = |v: u32| point_of_vertex[v as usize];
        let triangles = triangles.iter().map(|t| t.map(point)).collect();
        Self::connect(point_of_vertex, vertex_of_point, triangles)
    }

    /// Connectivity where somebody else has said which vertices are one point: `point_of_vertex` counts points in
    /// the order of their first vertices.
    #[must_use]
    pub fn of_points(point_of_vertex: &[u32], triangles: &[[u32; 3]]) -> Self {
        let mut vertex_of_point: Vec<u32> = Vec::new();
        for (vertex, &point) in point_of_vertex.iter().enumerate() {
            if point as usize == vertex_of_point.len() {
                vertex_of_point.push(vertex as u32);
            }
        }
        let point = |v: u32| point_of_vertex[v as usize];
        let triangles = triangles.iter().map(|t| t.map(point)).collect();
        Self::connect(point_of_vertex.to_vec(), vertex_of_point, triangles)
    }

    /// Connectivity of the vertices as they are, without welding.
    #[must_use]
    pub fn unwelded(vertex_count: usize, triangles: &[[u32; 3]]) -> Self {
        let identity: Vec<u32> = (0..vertex_count as u32).collect();
        Self::connect(identity.clone(), identity, triangles.to_vec())
    }

    fn connect(
        point_of_vertex: Vec<u32>,
        vertex_of_point: Vec<u32>,
        triangles: Vec<[u32; 3]>,
    ) -> Self {
        let side = |t: &[u32; 3], k: usize| {
            let (a, b) = (t[(k + 1) % 3], t[(k + 2) % 3]);
            [a.min(b), a.max(b)]
        };
        let sound = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
        let mut sides: Vec<([u32; 2], u32, u8)> = Vec::with_capacity(3 * triangles.len());
        for (index, t) in triangles.iter().enumerate().filter(|(_, t)| sound(t)) {
            sides.extend((0..3).map(|k| (side(t, k), index as u32, k as u8)));
        }
        // Sorted by ends, then triangle: equal sides lie together, edges come out sorted for `find_edge`, and nothing
        // depends on a hash. No two entries are equal, so an unstable sort has one result.
        sides.sort_unstable();
        let mut edges: Vec<[u32; 2]> = Vec::new();
        let mut triangle_edges = vec![[NONE; 3]; triangles.len()];
        let mut of_edge = Vec::with_capacity(sides.len());
        for &(ends, triangle, corner) in &sides {
            if edges.last() != Some(&ends) {
                edges.push(ends);
            }
            let edge = edges.len() as u32 - 1;
            triangle_edges[triangle as usize][corner as usize] = edge;
            of_edge.push((edge, triangle));
        }
        let points = vertex_of_point.len();
        let corners = triangles.iter().enumerate().filter(|(_, t)| sound(t));
        let of_point = corners.flat_map(|(i, t)| t.map(|p| (p, i as u32)));
        let ends = edges.iter().enumerate().flat_map(|(i, e)| e.map(|p| (p, i as u32)));
        Self {
            edge_triangles: Lists::from_pairs(edges.len(), of_edge.iter().copied()),
            point_triangles: Lists::from_pairs(points, of_point),
            point_edges: Lists::from_pairs(points, ends),
            point_of_vertex,
            vertex_of_point,
            triangles,
            edges,
            triangle_edges,
        }
    }

    /// Number of points.
    #[must_use]
    pub fn point_count(&self) -> usize {
        self.vertex_of_point.len()
    }

    /// Triangles of an edge, ascending.
    #[must_use]
    pub fn edge_triangles(&self, edge: u32) -> &[u32] {
        self.edge_triangles.of(edge)
    }

    /// Triangles of a point, ascending.
    #[must_use]
    pub fn point_triangles(&self, point: u32) -> &[u32] {
        self.point_triangles.of(point)
    }

    /// Edges of a point, ascending.
    #[must_use]
    pub fn point_edges(&self, point: u32) -> &[u32] {
        self.point_edges.of(point)
    }

    /// Points joined to a point by an edge.
    pub fn neighbours(&self, point: u32) -> impl Iterator<Item = u32> + '_ {
        self.point_edges(point).iter().map(move |&e| self.other_end(e, point))
    }

    /// The end of an edge that is not `point`.
    #[must_use]
    pub fn other_end(&self, edge: u32, point: u32) -> u32 {
        let [a, b] = self.edges[edge as usize];
        if a == point { b } else { a }
    }

    /// The edge between two points.
    #[must_use]
    pub fn find_edge(&self, a: u32, b: u32) -> Option<u32> {
        self.edges.binary_search(&[a.min(b), a.max(b)]).ok().map(|e| e as u32)
    }

    /// The triangle across an edge, when there are exactly two.
    #[must_use]
    pub fn across(&self, triangle: u32, edge: u32) -> Option<u32> {
        match *self.edge_triangles(edge) {
            [a, b] if a == triangle => Some(b),
            [a, b] if b == triangle => Some(a),
            _ => None,
        }
    }

    /// Whether an edge has a single triangle.
    #[must_use]
    pub fn is_border_edge(&self, edge: u32) -> bool {
        self.edge_triangles(edge).len() == 1
    }

    /// Whether every edge has exactly two triangles.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        !self.edges.is_empty()
            && (0..self.edges.len() as u32).all(|e| self.edge_triangles(e).len() == 2)
    }

    /// Area-weighted unit normal of one point, from positions of points; up where there is no area.
    #[must_use]
    pub fn point_normal(&self, positions: &[Vec3], point: u32) -> Vec3 {
        let area = |&t: &u32| {
            let [a, b, c] = self.triangles[t as usize].map(|p| positions[p as usize]);
            (b - a).cross(c - a)
        };
        self.point_triangles(point).iter().map(area).sum::<Vec3>().normalize_or(Vec3::Y)
    }

    /// Component of each point and the number of components; points without edges count as one each.
    #[must_use]
    pub fn components(&self) -> (Vec<u32>, usize) {
        let mut component = vec![NONE; self.point_count()];
        let mut count = 0;
        // A stack of our own: a recursion would be as deep as a mesh is large.
        let mut stack = Vec::new();
        for start in 0..self.point_count() as u32 {
            if component[start as usize] != NONE {
                continue;
            }
            stack.push(start);
            component[start as usize] = count;
            while let Some(point) = stack.pop() {
                for next in self.neighbours(point) {
                    if component[next as usize] == NONE {
                        component[next as usize] = count;
                        stack.push(next);
                    }
                }
            }
            count += 1;
        }
        (component, count as usize)
    }
}

/// Point of each vertex, and first vertex of each point. Points are numbered by their first vertex.
fn weld(positions: &[Vec3]) -> (Vec<u32>, Vec<u32>) {
    let bounds = crate::geometry::Bounds::of(positions);
    let reach = tolerances::WELD_FRACTION * bounds.diagonal();
    // Sorted along x, candidates are within `reach` of each other: a sweep finds all pairs.
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    let key = |v: u32| positions[v as usize];
    order.sort_unstable_by(|&a, &b| {
        let (p, q) = (key(a), key(b));
        p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)).then(p.z.total_cmp(&q.z)).then(a.cmp(&b))
    });
    let mut root: Vec<u32> = (0..positions.len() as u32).collect();
    for (i, &a) in order.iter().enumerate() {
        for &b in &order[i + 1..] {
            if key(b).x - key(a).x > reach {
                break;
            }
            // Equality by itself: the distance between two places at infinity is not a number.
            if key(a) == key(b) || key(a).distance(key(b)) <= reach {
                unite(&mut root, a, b);
                // Bit-equal copies chain to the next one: no need to look at the whole cluster.
                if key(a) == key(b) {
                    break;
                }
            }
        }
    }
    let mut point_of_vertex = vec![NONE; positions.len()];
    let mut vertex_of_point = Vec::new();
    for vertex in 0..positions.len() as u32 {
        let r = find(&mut root, vertex);
        if point_of_vertex[r as usize] == NONE {
            point_of_vertex[r as usize] = vertex_of_point.len() as u32;
            vertex_of_point.push(vertex);
        }
        point_of_vertex[vertex as usize] = point_of_vertex[r as usize];
    }
    (point_of_vertex, vertex_of_point)
}

/// The first of what an element was united with.
pub(super) fn find(root: &mut [u32], mut v: u32) -> u32 {
    while root[v as usize] != v {
        // Path halving: long chains of copies would make every look-up walk them all.
        root[v as usize] = root[root[v as usize] as usize];
        v = root[v as usize];
    }
    v
}

/// The smaller index is the root: the numbering does not depend on the order of unions.
pub(super) fn unite(root: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(root, a), find(root, b));
    root[a.max(b) as usize] = a.min(b);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles of a square, with the shared side split as at a uv seam.
    fn split_square() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let p = |x: f32, y: f32| Vec3::new(x, y, 0.0);
        let positions =
            vec![p(0.0, 0.0), p(1.0, 0.0), p(1.0, 1.0), p(0.0, 0.0), p(1.0, 1.0), p(0.0, 1.0)];
        (positions, vec![[0, 1, 2], [3, 4, 5]])
    }

    #[test]
    fn seams_are_welded() {
        let (positions, triangles) = split_square();
        let t = Topology::build(&positions, &triangles);
        assert_eq!(t.point_count(), 4);
        assert_eq!(t.edges.len(), 5);
        let diagonal = t.find_edge(0, 2).unwrap();
        assert_eq!(t.edge_triangles(diagonal), &[0, 1]);
        assert_eq!(t.across(0, diagonal), Some(1));
        assert_eq!(t.neighbours(0).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(t.components().1, 1);
        assert!(!t.is_closed());
    }

    #[test]
    fn non_manifold_and_degenerate_triangles_survive() {
        let positions: Vec<Vec3> =
            [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., -1., 0.], [0., 0., 1.]]
                .map(Vec3::from_array)
                .to_vec();
        let t = Topology::build(&positions, &[[0, 1, 2], [0, 3, 1], [0, 1, 4], [2, 2, 4]]);
        let shared = t.find_edge(0, 1).unwrap();
        assert_eq!(t.edge_triangles(shared), &[0, 1, 2]);
        assert_eq!(t.across(0, shared), None);
        assert_eq!(t.triangle_edges[3], [NONE; 3]);
    }

    #[test]
    fn a_tetrahedron_is_closed() {
        let positions: Vec<Vec3> =
            [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from_array).to_vec();
        let t = Topology::build(&positions, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]);
        assert!(t.is_closed());
        assert_eq!(t.point_triangles(0), &[0, 1, 3]);
    }
}
