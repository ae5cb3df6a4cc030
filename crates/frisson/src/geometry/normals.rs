//! Area-weighted normals, smooth across seams, hard where the source is hard.

use glam::Vec3;
use rayon::prelude::*;

use super::{Lists, MeshTopology, Topology};

/// Which vertices share a normal and which triangles make it. Built once, used every frame.
#[derive(Clone, Debug, Default)]
pub struct NormalGroups {
    /// Triangles over vertices.
    triangles: Vec<[u32; 3]>,
    group_of_vertex: Vec<u32>,
    triangles_of_group: Lists,
}

/// Elements a task takes at once.
const CHUNK: usize = 2048;

impl NormalGroups {
    /// Groups for shading: those of [`MeshTopology::smoothing`], or welded points without it.
    #[must_use]
    pub fn for_shading(topology: &MeshTopology, welded: &Topology) -> Self {
        let groups = if topology.smoothing.len() == topology.vertex_count {
            dense(&topology.smoothing)
        } else {
            welded.point_of_vertex.clone()
        };
        Self::new(&topology.triangles, groups)
    }

    /// Groups for displacement: one per welded point, so that a mesh moved along its normals never
    /// cracks.
    #[must_use]
    pub fn for_displacement(topology: &MeshTopology, welded: &Topology) -> Self {
        Self::new(&topology.triangles, welded.point_of_vertex.clone())
    }

    fn new(triangles: &[[u32; 3]], group_of_vertex: Vec<u32>) -> Self {
        let count = group_of_vertex.iter().max().map_or(0, |&g| g as usize + 1);
        let group = |v: u32| group_of_vertex[v as usize];
        let corners = triangles
            .iter()
            .enumerate()
            .flat_map(|(t, corners)| corners.map(|v| (group(v), t as u32)));
        let triangles_of_group = Lists::from_pairs(count, corners);
        Self { triangles: triangles.to_vec(), group_of_vertex, triangles_of_group }
    }

    /// Normal of each vertex. `scratch` keeps storage between calls. Vertices without area point up.
    pub fn compute(
        &self,
        positions: &[Vec3],
        scratch: &mut NormalScratch,
        normals: &mut Vec<Vec3>,
    ) {
        scratch.areas.resize(self.triangles.len(), Vec3::ZERO);
        scratch.areas.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(t, area)| {
            let [a, b, c] = self.triangles[t].map(|v| positions[v as usize]);
            // Not normalised: twice the area is the weight.
            *area = (b - a).cross(c - a);
        });
        scratch.groups.resize(self.triangles_of_group.len(), Vec3::Y);
        let areas = &scratch.areas;
        scratch.groups.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(g, normal)| {
            // Gathered by group, in the order of triangles; scattered, threads would race on the sums.
            let sum: Vec3 =
                self.triangles_of_group.of(g as u32).iter().map(|&t| areas[t as usize]).sum();
            *normal = sum.normalize_or(Vec3::Y);
        });
        normals.clear();
        normals.extend(self.group_of_vertex.iter().map(|&g| scratch.groups[g as usize]));
    }
}

/// Storage that [`NormalGroups::compute`] reuses.
#[derive(Clone, Debug, Default)]
pub struct NormalScratch {
    areas: Vec<Vec3>,
    groups: Vec<Vec3>,
}

/// Renumbers arbitrary labels 0, 1, 2, … by first appearance.
fn dense(labels: &[u32]) -> Vec<u32> {
    let mut sorted: Vec<(u32, u32)> =
        labels.iter().enumerate().map(|(i, &l)| (l, i as u32)).collect();
    sorted.sort_unstable();
    sorted.dedup_by_key(|(l, _)| *l);
    labels.iter().map(|l| sorted.partition_point(|(s, _)| s < l) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_sheet_is_smooth_or_hard_by_group() {
        // Two right-angled triangles sharing a side that is split in the file.
        let positions: Vec<Vec3> =
            [[0., 0., 0.], [0., 0., 1.], [1., 0., 0.], [0., 0., 1.], [0., 0., 0.], [0., 1., 0.]]
                .map(Vec3::from_array)
                .to_vec();
        let mut topology = MeshTopology {
            vertex_count: 6,
            triangles: vec![[0, 1, 2], [3, 4, 5]],
            ..MeshTopology::default()
        };
        let welded = Topology::build(&positions, &topology.triangles);
        let mut normals = Vec::new();
        let mut scratch = NormalScratch::default();
        NormalGroups::for_shading(&topology, &welded).compute(
            &positions,
            &mut scratch,
            &mut normals,
        );
        assert_eq!(normals[0], normals[4]);
        topology.smoothing = vec![10, 11, 12, 21, 20, 22];
        NormalGroups::for_shading(&topology, &welded).compute(
            &positions,
            &mut scratch,
            &mut normals,
        );
        assert_eq!(normals[0], Vec3::Y);
        assert_eq!(normals[4].abs(), Vec3::X);
    }
}
