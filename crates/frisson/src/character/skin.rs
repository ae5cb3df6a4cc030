//! Linear-blend skinning and morph targets.

use glam::{Mat4, Vec3};
use rayon::prelude::*;

/// The joints of a skin and where they were when the mesh was bound.
#[derive(Clone, Debug, Default)]
pub struct Skin {
    /// Name for messages.
    pub name: String,
    /// Node of each joint.
    pub joints: Vec<usize>,
    /// `joint_from_mesh` in the bind pose, one per joint.
    pub inverse_bind: Vec<Mat4>,
}

/// Joints and weights of every vertex, any number each, stored one vertex after the other.
#[derive(Clone, Debug, Default)]
pub struct Influences {
    /// `offsets[v]..offsets[v + 1]` are vertex `v`'s entries.
    pub offsets: Vec<u32>,
    /// Index into [`Skin::joints`].
    pub joints: Vec<u16>,
    /// Weights; sum to 1 per vertex.
    pub weights: Vec<f32>,
}

impl Influences {
    /// From one list per vertex: zero weights dropped, the others scaled to sum to 1. A vertex
    /// without any weight follows joint 0.
    #[must_use]
    pub fn from_lists(lists: &[Vec<(u16, f32)>]) -> Self {
        let mut out = Self { offsets: vec![0], ..Self::default() };
        for list in lists {
            let total: f32 = list.iter().map(|&(_, w)| w).filter(|w| *w > 0.0).sum();
            for &(joint, weight) in list.iter().filter(|&&(_, w)| w > 0.0) {
                out.joints.push(joint);
                out.weights.push(weight / total);
            }
            if total <= 0.0 || total.is_nan() {
                out.joints.push(0);
                out.weights.push(1.0);
            }
            out.offsets.push(out.joints.len() as u32);
        }
        out
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Joint and weight pairs of a vertex.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (u16, f32)> + '_ {
        let range = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
        self.joints[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }
}

/// One morph target: offsets of some vertices.
#[derive(Clone, Debug, Default)]
pub struct MorphTarget {
    /// Name.
    pub name: String,
    /// Vertices that move, ascending.
    pub vertices: Vec<u32>,
    /// Their offsets at weight 1 [m].
    pub offsets: Vec<Vec3>,
}

/// Vertices a task takes at once: large enough to hide rayon's cost, small enough for two cores to
/// share a 10k mesh.
const CHUNK: usize = 2048;

/// Adds the morph targets to `positions`.
fn add_morphs(morphs: &[MorphTarget], weights: &[f32], positions: &mut [Vec3]) {
    for (morph, &weight) in morphs.iter().zip(weights) {
        if weight != 0.0 {
            for (&vertex, &offset) in morph.vertices.iter().zip(&morph.offsets) {
                positions[vertex as usize] += weight * offset;
            }
        }
    }
}

/// World positions of a skinned mesh.
pub(super) fn apply_skin(
    skin: &Skin,
    influences: &Influences,
    world_from_node: &[Mat4],
    bind: &[Vec3],
    morphs: &[MorphTarget],
    morph_weights: &[f32],
    out: &mut Vec<Vec3>,
) {
    out.clear();
    out.extend_from_slice(bind);
    add_morphs(morphs, morph_weights, out);
    let world_from_bind: Vec<Mat4> = skin
        .joints
        .iter()
        .zip(&skin.inverse_bind)
        .map(|(&joint, &inverse)| world_from_node[joint] * inverse)
        .collect();
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, positions)| {
        for (local, p) in positions.iter_mut().enumerate() {
            let vertex = chunk * CHUNK + local;
            let range =
                influences.offsets[vertex] as usize..influences.offsets[vertex + 1] as usize;
            let mut blended = Vec3::ZERO;
            for k in range {
                let m = &world_from_bind[influences.joints[k] as usize];
                blended += influences.weights[k] * m.transform_point3(*p);
            }
            *p = blended;
        }
    });
}

/// World positions of a mesh carried by one node.
pub(super) fn apply_rigid(
    world_from_mesh: Mat4,
    bind: &[Vec3],
    morphs: &[MorphTarget],
    morph_weights: &[f32],
    out: &mut Vec<Vec3>,
) {
    out.clear();
    out.extend_from_slice(bind);
    add_morphs(morphs, morph_weights, out);
    for p in out {
        *p = world_from_mesh.transform_point3(*p);
    }
}
