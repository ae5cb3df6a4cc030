//! What of a mesh hangs together.

use frisson::geometry::{Mesh, Topology};

use crate::body::{Body, edges_of};
use crate::groups::Groups;

/// Pieces of a mesh: triangles that share vertices, and across seams, where two borders lie on each other.
/// Surfaces that only touch, vertex on vertex, are not one. The wall of a hollow inside a closed piece is no
/// piece of its own: it winds the other way.
#[must_use]
pub fn pieces(mesh: &Mesh, body: &Body) -> usize {
    let triangles = &mesh.topology.triangles;
    let groups = body.groups(triangles);
    let mut volumes: Vec<Option<f64>> = vec![None; mesh.positions.len()];
    for t in triangles {
        let piece = groups[t[0] as usize];
        // Around a point of each: far from the origin the parts would be large and cancel.
        let origin = mesh.positions[piece as usize];
        let [a, b, c] = t.map(|v| (mesh.positions[v as usize] - origin).as_dvec3());
        *volumes[piece as usize].get_or_insert(0.0) += a.dot(b.cross(c));
    }
    let is_piece = |v: &&f64| !body.is_closed() || **v > 0.0;
    volumes.iter().flatten().filter(is_piece).count()
}

/// Of each vertex the first one that hangs together with it. Only triangles and what is welded have a say in it,
/// not where the vertices are now.
#[must_use]
pub fn vertex_groups(triangles: &[[u32; 3]], welded: &Topology) -> Vec<u32> {
    let count = welded.point_of_vertex.len();
    let mut of_vertex = Groups::new(count);
    triangles.iter().for_each(|t| {
        of_vertex.unite(t[0], t[1]);
        of_vertex.unite(t[1], t[2]);
    });
    let mut border_of_point = vec![None; welded.point_count()];
    for vertex in border_vertices(triangles, count) {
        let point = welded.point_of_vertex[vertex as usize] as usize;
        let first = *border_of_point[point].get_or_insert(vertex);
        of_vertex.unite(first, vertex);
    }
    (0..count as u32).map(|v| of_vertex.find(v)).collect()
}

/// Vertices on edges that have a single triangle, ascending.
fn border_vertices(triangles: &[[u32; 3]], count: usize) -> Vec<u32> {
    let edges = edges_of(triangles);
    let mut uses = vec![0u8; edges.len()];
    for t in triangles {
        for [a, b] in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]] {
            if let Ok(edge) = edges.binary_search(&[a.min(b), a.max(b)]) {
                uses[edge] = uses[edge].saturating_add(1);
            }
        }
    }
    let mut is_border = vec![false; count];
    for (edge, _) in edges.iter().zip(&uses).filter(|(_, uses)| **uses == 1) {
        edge.iter().for_each(|&v| is_border[v as usize] = true);
    }
    (0..count as u32).filter(|&v| is_border[v as usize]).collect()
}
