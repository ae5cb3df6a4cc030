//! Pieces of a surface, and those that are too small to be shown.

use std::sync::Arc;

use super::meshes::SurfaceMeshes;
use super::skin_whole::FLAKE;
use crate::geometry::{AttributeValues, Bounds, Mesh};

/// Greatest extent of a piece of surface that is left out, in cells of the lattice [-]; and edge of a cube that holds
/// no more than a piece of a skin that is left out: a sliver in the crease of an armpit may be long.
const SPECK: f32 = 1.5;

/// Takes vertices out of a mesh; no triangle may have some of its corners among them.
fn keep_vertices(mesh: &mut Mesh, keep: &[bool]) {
    fn filter<T>(values: &mut Vec<T>, keep: &[bool]) {
        if values.len() == keep.len() {
            let mut kept = keep.iter();
            values.retain(|_| *kept.next().unwrap_or(&true));
        }
    }
    let mut next = 0;
    let number = |k: &bool| {
        next += u32::from(*k);
        next.saturating_sub(1)
    };
    let numbers: Vec<u32> = keep.iter().map(number).collect();
    filter(&mut mesh.positions, keep);
    filter(&mut mesh.normals, keep);
    filter(&mut mesh.velocities, keep);
    for attribute in &mut mesh.attributes {
        match &mut attribute.values {
            AttributeValues::Scalar(values) => filter(values, keep),
            AttributeValues::Vector(values) | AttributeValues::Color(values) => {
                filter(values, keep)
            }
        }
    }
    let topology = Arc::make_mut(&mut mesh.topology);
    topology.vertex_count = mesh.positions.len();
    filter(&mut topology.colors, keep);
    filter(&mut topology.uvs, keep);
    topology.triangles.retain(|t| keep[t[0] as usize]);
    for corner in topology.triangles.iter_mut().flatten() {
        *corner = numbers[*corner as usize];
    }
}

impl SurfaceMeshes {
    /// Counts what hangs together of a mesh.
    pub(super) fn count_pieces(&mut self, mesh: &Mesh) {
        let count = mesh.positions.len();
        self.joined.reset(count);
        for &[a, b, c] in &mesh.topology.triangles {
            self.joined.join(a, b);
            self.joined.join(b, c);
        }
        self.pieces += (0..count as u32).filter(|&v| self.joined.root(v) == v).count();
    }

    /// Takes pieces out of a mesh that are smaller than the lattice can tell from nothing: a
    /// fingertip that reaches into one more cell; and of a skin the hollows that nobody sees, such as the gap
    /// between a body and its clothes, and the flakes ([`FLAKE`]). [`Self::count_pieces`] was asked just before.
    pub(super) fn drop_specks(&mut self, cell: f32, is_skin: bool, mesh: &mut Mesh) {
        let count = mesh.positions.len();
        let root = |v: usize| self.joined.root(v as u32) as usize;
        // The usual case: one piece, and nothing to look for.
        if (0..count).filter(|&v| root(v) == v).nth(1).is_none() {
            return;
        }
        let mut boxes = vec![Bounds::EMPTY; count];
        for v in 0..count {
            boxes[root(v)] = boxes[root(v)].including(mesh.positions[v]);
        }
        let mut volumes = vec![0.0f32; count];
        for t in mesh.topology.triangles.iter().filter(|_| is_skin) {
            let piece = root(t[0] as usize);
            let [a, b, c] = t.map(|v| mesh.positions[v as usize] - boxes[piece].min);
            volumes[piece] += a.dot(b.cross(c));
        }
        let is_speck = |r: usize| (boxes[r].max - boxes[r].min).max_element() < SPECK * cell;
        // Six times, as they were added up.
        let whole: f32 = volumes.iter().filter(|v| **v > 0.0).sum();
        let sliver = (6.0 * (SPECK * cell).powi(3)).max(FLAKE as f32 * whole);
        let is_gone = |r: usize| is_speck(r) || is_skin && volumes[r] < sliver;
        let keep: Vec<bool> = (0..count).map(|v| !is_gone(root(v))).collect();
        let gone = (0..count).filter(|&v| root(v) == v && is_gone(v)).count();
        // A body so small that all of it is a speck is shown all the same.
        if gone == 0 || !keep.contains(&true) {
            return;
        }
        self.pieces -= gone;
        keep_vertices(mesh, &keep);
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    #[test]
    fn vertices_are_taken_out_with_all_they_have() {
        let at = |x: f32| Vec3::new(x, 0.0, 0.0);
        let mut mesh =
            Mesh::new("m", (0..6).map(|v| at(v as f32)).collect(), vec![[0, 2, 4], [1, 3, 5]]);
        mesh.set_scalar("pressure", |values| {
            values.iter_mut().enumerate().for_each(|(v, p)| *p = v as f32);
        });
        keep_vertices(&mut mesh, &[false, true, false, true, false, true]);
        assert_eq!(mesh.positions, [at(1.0), at(3.0), at(5.0)]);
        assert_eq!(mesh.topology.triangles, [[0, 1, 2]]);
        assert_eq!(mesh.scalar("pressure"), Some(&[1.0, 3.0, 5.0][..]));
    }
}
