//! The primary motion we react to: skeletons, skins, morphs, clips, poses.

mod chain;
mod clip;
mod pose;
mod skeleton;
mod skin;

pub use chain::{NodeChain, rotation_of};
pub use clip::{Clip, Interpolation, Sampling, Track, TrackTarget};
pub use pose::Pose;
pub use skeleton::{Node, Skeleton, SkeletonError, Transform};
pub use skin::{Influences, MorphTarget, Skin};

use crate::geometry::Mesh;

/// A character as it comes from a file or from the built-in cast.
#[derive(Clone, Debug, Default)]
pub struct Character {
    /// Name for messages.
    pub name: String,
    /// Every node of the source file, joints included.
    pub skeleton: Skeleton,
    /// Skins, by index.
    pub skins: Vec<Skin>,
    /// Meshes, each attached to a node, skinned or rigid.
    pub meshes: Vec<CharacterMesh>,
    /// Clips, in the source's order.
    pub clips: Vec<Clip>,
}

/// One mesh of a character.
#[derive(Clone, Debug)]
pub struct CharacterMesh {
    /// Bind-pose mesh, in its own space.
    pub mesh: Mesh,
    /// Node that carries it when it has no skin.
    pub node: usize,
    /// Index into [`Character::skins`].
    pub skin: Option<usize>,
    /// Joints and weights per vertex; empty without a skin.
    pub influences: Influences,
    /// Morph targets.
    pub morphs: Vec<MorphTarget>,
    /// Weights of the morph targets when no clip drives them.
    pub morph_weights: Vec<f32>,
    /// Where the mesh's vertices came from in the source document (mesh index, primitive, first vertex).
    pub source: Option<SourcePrimitives>,
}

impl CharacterMesh {
    /// A mesh that follows the joints of the character's first skin.
    #[must_use]
    pub fn skinned(mesh: Mesh, influences: Influences) -> Self {
        Self { influences, ..Self::carried(mesh, 0, Some(0)) }
    }

    /// A mesh without morph targets, carried by a node, or by a skin whose weights are still to come.
    #[must_use]
    pub fn carried(mesh: Mesh, node: usize, skin: Option<usize>) -> Self {
        Self {
            mesh,
            node,
            skin,
            influences: Influences::default(),
            morphs: Vec::new(),
            morph_weights: Vec::new(),
            source: None,
        }
    }
}

/// Which part of the source document a mesh was read from, so that a bake can be written back there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePrimitives {
    /// Node index in the document.
    pub node: usize,
    /// Mesh index in the document.
    pub mesh: usize,
    /// For each primitive that was read: its index and how many of our vertices it gave.
    pub primitives: Vec<(usize, usize)>,
}

impl Character {
    /// The clip with that name.
    #[must_use]
    pub fn clip_index(&self, name: &str) -> Option<usize> {
        self.clips.iter().position(|c| c.name == name)
    }

    /// Deforms every mesh into world space for a pose; `out` has one mesh per [`Character::meshes`],
    /// whose positions are overwritten.
    pub fn deform(&self, pose: &Pose, out: &mut [Mesh]) {
        for (index, (source, target)) in self.meshes.iter().zip(out).enumerate() {
            self.deform_mesh(index, source, pose, &mut target.positions);
        }
    }

    /// World positions of one mesh for a pose.
    pub fn deform_mesh_positions(&self, index: usize, pose: &Pose, out: &mut Vec<glam::Vec3>) {
        self.deform_mesh(index, &self.meshes[index], pose, out);
    }

    /// World position of one vertex of one mesh for a pose, without deforming the rest.
    #[must_use]
    pub fn deform_vertex(&self, mesh: usize, vertex: usize, pose: &Pose) -> glam::Vec3 {
        let source = &self.meshes[mesh];
        let mut p = source.mesh.positions[vertex];
        for (morph, &weight) in source.morphs.iter().zip(pose.morph_weights(mesh)) {
            // Morph targets list the vertices they move in ascending order.
            if let Ok(found) = morph.vertices.binary_search(&(vertex as u32)) {
                p += weight * morph.offsets[found];
            }
        }
        match source.skin.map(|s| &self.skins[s]) {
            None => pose.world_from_node[source.node].transform_point3(p),
            Some(skin) => source.influences.of(vertex).fold(glam::Vec3::ZERO, |sum, (j, w)| {
                let m =
                    pose.world_from_node[skin.joints[j as usize]] * skin.inverse_bind[j as usize];
                sum + w * m.transform_point3(p)
            }),
        }
    }

    fn deform_mesh(
        &self,
        index: usize,
        source: &CharacterMesh,
        pose: &Pose,
        out: &mut Vec<glam::Vec3>,
    ) {
        let weights = pose.morph_weights(index);
        match source.skin {
            Some(skin) => skin::apply_skin(
                pose.world_from_bind(skin),
                &source.influences,
                &source.mesh.positions,
                &source.morphs,
                weights,
                out,
            ),
            None => skin::apply_rigid(
                pose.world_from_node[source.node],
                &source.mesh.positions,
                &source.morphs,
                weights,
                out,
            ),
        }
    }
}
