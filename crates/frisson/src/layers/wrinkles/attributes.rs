//! What folds say about themselves in vertex attributes.

use super::rest::WrinklesRest;
use super::scratch::{Patch, Seen};
use crate::geometry::Mesh;
use crate::geometry::butterfly::RefinedMesh;

/// Writes height and direction of folds, the compression under them and how far their tools reach, at every vertex.
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
    gather_largest(rest, compression, |tool, weight| weight * seen[tool].compression as f32);
    mesh.set_scalar("compression", |values| {
        values.iter_mut().enumerate().for_each(|(v, c)| *c = compression[point_of(v)]);
    });
    let region = compression;
    gather_largest(rest, region, |_, weight| weight);
    mesh.set_scalar("wrinkle_region", |values| {
        values.iter_mut().enumerate().for_each(|(v, r)| *r = region[point_of(v)]);
    });
}

/// Of every point the largest of what the tools that move it say, by their number and their weight there.
fn gather_largest(rest: &WrinklesRest, values: &mut Vec<f32>, of_tool: impl Fn(usize, f32) -> f32) {
    values.clear();
    values.resize(rest.topology.point_count() + rest.refined.point_count(), 0.0);
    for (index, tool) in rest.tools.iter().enumerate() {
        for i in &tool.influences {
            let known = &mut values[i.point as usize];
            *known = known.max(of_tool(index, i.weight));
        }
    }
}
