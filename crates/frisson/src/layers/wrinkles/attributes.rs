//! What folds say about themselves in vertex attributes.

use super::rest::WrinklesRest;
use super::scratch::{Patch, Seen};
use crate::geometry::Mesh;
use crate::geometry::butterfly::RefinedMesh;

/// Writes height and direction of folds, and the compression under them, at every vertex.
pub(super) fn write_attributes(
    rest: &WrinklesRest,
    patch: &Patch,
    emitted: &RefinedMesh,
    (seen, compression): (&[Seen], &mut Vec<f32>),
    mesh: &mut Mesh,
) {
    let coarse = rest.topology.point_count();
    let point_of = |v: usize| emitted.point_of(&rest.topology, v);
    mesh.set_scalar("wrinkle_height", |values| {
        values.iter_mut().enumerate().for_each(|(v, h)| *h = patch.heights[point_of(v)]);
    });
    mesh.set_vector("wrinkle_direction", |values| {
        for (v, direction) in values.iter_mut().enumerate() {
            let point = point_of(v);
            *direction = match point.checked_sub(coarse) {
                None => patch.surface.at(point as u32).1,
                Some(i) => patch.refined_normals[i],
            };
        }
    });
    compression.clear();
    compression.resize(coarse + rest.refined.point_count(), 0.0);
    for (tool, seen) in rest.tools.iter().zip(seen) {
        for i in &tool.influences {
            let known = &mut compression[i.point as usize];
            *known = known.max(i.weight * seen.compression as f32);
        }
    }
    mesh.set_scalar("compression", |values| {
        values.iter_mut().enumerate().for_each(|(v, c)| *c = compression[point_of(v)]);
    });
}
