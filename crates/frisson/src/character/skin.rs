//! Linear-blend skinning and morph targets.

use glam::{Affine3A, Mat4, Vec3, Vec3A};
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
            // Nothing above zero, or only NaN, which is not above zero either.
            if total <= 0.0 {
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
        // Faces have dozens of targets, of which a frame uses a few.
        if weight != 0.0 {
            for (&vertex, &offset) in morph.vertices.iter().zip(&morph.offsets) {
                positions[vertex as usize] += weight * offset;
            }
        }
    }
}

/// Where a skin carries its mesh: one matrix per joint, projective rows dropped.
pub(super) fn compute_world_from_bind(
    skin: &Skin,
    world_from_node: &[Mat4],
    out: &mut Vec<Affine3A>,
) {
    out.clear();
    out.extend(skin.joints.iter().zip(&skin.inverse_bind).map(|(&joint, &inverse)| {
        // Affine: a quarter fewer products for every vertex; matrices of files have no perspective.
        Affine3A::from_mat4(world_from_node[joint]) * Affine3A::from_mat4(inverse)
    }));
}

/// World positions of a skinned mesh. Allocates nothing once `out` has its size.
pub(super) fn apply_skin(
    world_from_bind: &[Affine3A],
    influences: &Influences,
    bind: &[Vec3],
    morphs: &[MorphTarget],
    morph_weights: &[f32],
    out: &mut Vec<Vec3>,
) {
    // Most frames have no morph at work: they skip one copy of the mesh.
    if morph_weights.iter().any(|&w| w != 0.0) {
        out.clear();
        out.extend_from_slice(bind);
        add_morphs(morphs, morph_weights, out);
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, positions)| {
            for (vertex, p) in (chunk * CHUNK..).zip(positions) {
                *p = blend(world_from_bind, influences, vertex, *p);
            }
        });
    } else {
        out.resize(bind.len(), Vec3::ZERO);
        let chunks = out.par_chunks_mut(CHUNK).zip(bind.par_chunks(CHUNK));
        chunks.enumerate().for_each(|(chunk, (positions, bind))| {
            for (vertex, (p, bind)) in (chunk * CHUNK..).zip(positions.iter_mut().zip(bind)) {
                *p = blend(world_from_bind, influences, vertex, *bind);
            }
        });
    }
}

/// One vertex carried by its joints.
#[inline]
fn blend(world_from_bind: &[Affine3A], influences: &Influences, vertex: usize, p: Vec3) -> Vec3 {
    let range = influences.offsets[vertex] as usize..influences.offsets[vertex + 1] as usize;
    let (joints, weights) = (&influences.joints[range.clone()], &influences.weights[range]);
    let (x, y, z) = (Vec3A::splat(p.x), Vec3A::splat(p.y), Vec3A::splat(p.z));
    let carry = |joint: u16, weight: f32| {
        let m = &world_from_bind[usize::from(joint)];
        let moved = m.matrix3.x_axis * x + m.matrix3.y_axis * y + m.matrix3.z_axis * z;
        (moved + m.translation) * weight
    };
    // Four at once is the common case; without a loop the four chains run side by side.
    if let ([a, b, c, d], [wa, wb, wc, wd]) = (joints, weights) {
        return ((carry(*a, *wa) + carry(*b, *wb)) + (carry(*c, *wc) + carry(*d, *wd))).into();
    }
    let mut blended = Vec3A::ZERO;
    for (&joint, &weight) in joints.iter().zip(weights) {
        blended += carry(joint, weight);
    }
    blended.into()
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
    let world_from_mesh = Affine3A::from_mat4(world_from_mesh);
    out.par_chunks_mut(CHUNK).for_each(|positions| {
        for p in positions {
            *p = world_from_mesh.transform_point3(*p);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::{Character, CharacterMesh, Node, Pose, Sampling, Skeleton, Transform};
    use crate::geometry::Mesh;
    use glam::Quat;
    use proptest::prelude::*;

    /// A chain of joints and a cloud of vertices with up to `influences` joints each.
    fn chain(influences: usize, vertices: usize) -> Character {
        let joints = 5;
        let node = |index: usize| Node {
            name: format!("joint {index}"),
            parent: index.checked_sub(1),
            rest: Transform {
                translation: Vec3::new(0.1, 1.0, 0.0),
                rotation: Quat::from_rotation_z(0.3 * index as f32),
                scale: Vec3::new(1.0, 1.1, 0.9),
            },
        };
        let skeleton = Skeleton::new((0..joints).map(node).collect()).unwrap();
        let inverse = |j: usize| Mat4::from_translation(Vec3::new(0.0, -(j as f32), 0.2));
        let skin = Skin {
            name: String::new(),
            joints: (0..joints).rev().collect(),
            inverse_bind: (0..joints).map(inverse).collect(),
        };
        let lists: Vec<Vec<(u16, f32)>> = (0..vertices)
            .map(|v| {
                (0..1 + v % influences).map(move |k| (((v + k) % joints) as u16, 1.0 + k as f32))
            })
            .map(Iterator::collect)
            .collect();
        let positions = (0..vertices).map(|v| Vec3::new(v as f32, (v * v % 7) as f32, 1.0));
        let mesh = CharacterMesh {
            mesh: Mesh::new("cloud", positions.collect(), Vec::new()),
            node: 0,
            skin: Some(0),
            influences: Influences::from_lists(&lists),
            morphs: vec![MorphTarget {
                name: "out".to_owned(),
                vertices: vec![1],
                offsets: vec![Vec3::X],
            }],
            morph_weights: vec![0.0],
            source: None,
        };
        let (skins, meshes) = (vec![skin], vec![mesh]);
        Character { name: "chain".to_owned(), skeleton, skins, meshes, clips: Vec::new() }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(influences in 1usize..7, vertices in 2usize..40, w in -1.0f32..1.0) {
            let mut character = chain(influences, vertices);
            character.meshes[0].morph_weights = vec![w];
            let (mut pose, mut out) = (Pose::default(), Vec::new());
            pose.set(&character, None, 0.0, Sampling::AsAuthored, Mat4::from_rotation_x(0.4));
            character.deform_mesh_positions(0, &pose, &mut out);
            let (mesh, skin) = (&character.meshes[0], &character.skins[0]);
            for v in 0..vertices {
                let bind = mesh.mesh.positions[v] + if v == 1 { w * Vec3::X } else { Vec3::ZERO };
                let expected: Vec3 = mesh.influences.of(v).map(|(joint, weight)| {
                    let joint = usize::from(joint);
                    let m = pose.world_from_node[skin.joints[joint]] * skin.inverse_bind[joint];
                    weight * m.transform_point3(bind)
                }).sum();
                prop_assert!(out[v].distance(expected) < 1e-4 * (1.0 + expected.length()));
            }
        }
    }

    #[test]
    fn the_same_bits_on_one_and_two_threads() {
        let character = chain(4, 3 * CHUNK + 17);
        let mut pose = Pose::default();
        pose.set(&character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = Vec::new();
            pool.install(|| character.deform_mesh_positions(0, &pose, &mut out));
            out
        };
        assert_eq!(run(1), run(2));
    }

    #[test]
    fn weights_are_scaled_to_one_and_a_vertex_without_any_follows_the_first_joint() {
        let influences = Influences::from_lists(&[vec![(2, 1.0), (3, 3.0), (1, 0.0)], vec![]]);
        assert_eq!(influences.of(0).collect::<Vec<_>>(), [(2, 0.25), (3, 0.75)]);
        assert_eq!(influences.of(1).collect::<Vec<_>>(), [(0, 1.0)]);
    }
}
