//! Where another body lies over the surface: a shoulder within a sleeve, skin below a coat.

use glam::Vec3;

use crate::geometry::{Bounds, Mesh, Topology, TriangleBvh};

/// For each triangle of some meshes of the frame, one after the other: whether its middle is inside another
/// closed mesh. The finer mesh that drops are shown on is the same body, and covers nothing.
pub fn covered_triangles(frame: &[Mesh], meshes: &[usize], shown: Option<usize>) -> Vec<bool> {
    let mut covers: Vec<Option<Cover>> = frame.iter().map(|_| None).collect();
    let mut out = Vec::new();
    for &own in meshes {
        let mesh = &frame[own];
        let bounds = Bounds::of(&mesh.positions);
        // A tree is built only for what is near, and once for all meshes that it may cover.
        for (other, cover) in frame.iter().zip(&mut covers) {
            if cover.is_none() && bounds.overlaps(&Bounds::of(&other.positions)) {
                *cover = Some(Cover::new(other));
            }
        }
        let others = || covers.iter().enumerate().filter(|(i, _)| *i != own && Some(*i) != shown);
        let middle =
            |t: &[u32; 3]| t.iter().map(|&v| mesh.positions[v as usize]).sum::<Vec3>() / 3.0;
        out.extend(mesh.topology.triangles.iter().map(|t| {
            let p = middle(t);
            others().any(|(_, cover)| cover.as_ref().is_some_and(|c| c.hides(p)))
        }));
    }
    out
}

/// A mesh that may lie over others.
struct Cover {
    tree: TriangleBvh,
    is_closed: bool,
}

impl Cover {
    fn new(mesh: &Mesh) -> Self {
        let triangles = &mesh.topology.triangles;
        Self {
            is_closed: Topology::build(&mesh.positions, triangles).is_closed(),
            tree: TriangleBvh::build(&mesh.positions, triangles),
        }
    }

    fn hides(&self, p: Vec3) -> bool {
        // An open mesh has no inside, and its winding says nothing reliable.
        self.is_closed && self.tree.is_inside(p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octahedron(x: f32) -> Mesh {
        let corners = [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z];
        let points = corners.map(|p| p + x * Vec3::X).to_vec();
        let faces = [
            [0, 1, 2],
            [0, 2, 4],
            [0, 4, 5],
            [0, 5, 1],
            [3, 2, 1],
            [3, 4, 2],
            [3, 5, 4],
            [3, 1, 5],
        ];
        Mesh::new("octahedron", points, faces.to_vec())
    }

    #[test]
    fn the_half_within_another_body_is_covered() {
        let two = [octahedron(0.0), octahedron(0.6)];
        let half: Vec<bool> = (0..8).map(|t| t < 4).collect();
        assert_eq!(covered_triangles(&two, &[0], None), half);
        let other: Vec<bool> = (0..8).map(|t| t >= 4).collect();
        assert_eq!(covered_triangles(&two, &[0, 1], None), [half, other].concat());
        assert_eq!(covered_triangles(&two[..1], &[0], None), [false; 8]);
        assert_eq!(covered_triangles(&two, &[0], Some(1)), [false; 8]);
    }

    #[test]
    fn an_open_or_inside_out_mesh_covers_nothing() {
        let mut two = [octahedron(0.0), octahedron(0.6)];
        let mut topology = (*two[1].topology).clone();
        topology.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        two[1].topology = topology.clone().into();
        assert_eq!(covered_triangles(&two, &[0], None), [false; 8]);
        topology.triangles = octahedron(0.0).topology.triangles[1..].to_vec();
        two[1].topology = topology.into();
        assert_eq!(covered_triangles(&two, &[0], None), [false; 8]);
    }
}
