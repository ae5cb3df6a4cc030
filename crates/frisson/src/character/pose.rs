//! A character at one instant: world matrices of all nodes and weights of all morphs.

use glam::{Affine3A, Mat4, Quat, Vec3};

use super::skin::compute_world_from_bind;
use super::{Character, Clip, Sampling, TrackTarget, Transform};

/// Node matrices and morph weights; reused from tick to tick.
#[derive(Clone, Debug, Default)]
pub struct Pose {
    /// World matrix of every node.
    pub world_from_node: Vec<Mat4>,
    world_from_bind: Vec<Vec<Affine3A>>,
    local: Vec<Transform>,
    weights: Vec<Vec<f32>>,
    sampled: Vec<f32>,
}

impl Pose {
    /// Sets the pose of a clip (or the rest pose) at a time, under a placement in the world.
    pub fn set(
        &mut self,
        character: &Character,
        clip: Option<&Clip>,
        time: f64,
        sampling: Sampling,
        world_from_character: Mat4,
    ) {
        self.reset(character);
        if let Some(clip) = clip {
            self.apply_clip(character, clip, time, sampling);
        }
        self.compute_world(character, world_from_character);
    }

    /// Sets the matrix of every node in the character's space; nodes without one rest.
    pub fn set_nodes(
        &mut self,
        character: &Character,
        world_from_character: Mat4,
        matrix: impl Fn(usize) -> Option<Mat4>,
    ) {
        self.reset(character);
        self.compute_world(character, world_from_character);
        for (index, world) in self.world_from_node.iter_mut().enumerate() {
            if let Some(matrix) = matrix(index) {
                *world = world_from_character * matrix;
            }
        }
        self.compute_binds(character);
    }

    /// Sets the weights of all morph targets, mesh after mesh, as far as `given` gives some.
    pub fn set_weights(&mut self, character: &Character, given: impl FnOnce(&mut Vec<f32>)) {
        given(&mut self.sampled);
        let mut given = self.sampled.iter();
        for (weights, mesh) in self.weights.iter_mut().zip(&character.meshes) {
            for (weight, _) in weights.iter_mut().zip(&mesh.morphs) {
                let Some(&value) = given.next() else { return };
                *weight = value;
            }
        }
    }

    /// Morph weights of a mesh of the character.
    #[must_use]
    pub fn morph_weights(&self, mesh: usize) -> &[f32] {
        self.weights.get(mesh).map_or(&[], Vec::as_slice)
    }

    /// Where a skin carries its mesh: one matrix per joint of the skin.
    #[must_use]
    pub fn world_from_bind(&self, skin: usize) -> &[Affine3A] {
        self.world_from_bind.get(skin).map_or(&[], Vec::as_slice)
    }

    /// World position of a node's origin.
    #[must_use]
    pub fn origin(&self, node: usize) -> Vec3 {
        self.world_from_node[node].w_axis.truncate()
    }

    fn reset(&mut self, character: &Character) {
        self.local.clear();
        self.local.extend(character.skeleton.nodes().iter().map(|n| n.rest));
        self.weights.resize_with(character.meshes.len(), Vec::new);
        for (weights, mesh) in self.weights.iter_mut().zip(&character.meshes) {
            weights.clear();
            weights.extend_from_slice(&mesh.morph_weights);
            // Files may give fewer default weights than targets: the others rest.
            weights.resize(mesh.morphs.len(), 0.0);
        }
    }

    fn apply_clip(&mut self, character: &Character, clip: &Clip, time: f64, sampling: Sampling) {
        for track in &clip.tracks {
            self.sampled.resize(track.width, 0.0);
            track.sample(time, sampling, &mut self.sampled);
            let s = &self.sampled;
            match track.target {
                TrackTarget::Translation(node) => {
                    self.local[node].translation = Vec3::from_slice(s)
                }
                TrackTarget::Rotation(node) => self.local[node].rotation = Quat::from_slice(s),
                TrackTarget::Scale(node) => self.local[node].scale = Vec3::from_slice(s),
                TrackTarget::MorphWeights(node) => {
                    for (weights, mesh) in self.weights.iter_mut().zip(&character.meshes) {
                        if mesh.node == node {
                            // A track may be wider than the mesh has targets.
                            let count = weights.len().min(s.len());
                            weights[..count].copy_from_slice(&s[..count]);
                        }
                    }
                }
            }
        }
    }

    fn compute_world(&mut self, character: &Character, world_from_character: Mat4) {
        let skeleton = &character.skeleton;
        self.world_from_node.resize(skeleton.nodes().len(), Mat4::IDENTITY);
        for &index in skeleton.parents_first() {
            let parent = match skeleton.nodes()[index].parent {
                Some(parent) => self.world_from_node[parent],
                None => world_from_character,
            };
            self.world_from_node[index] = parent * self.local[index].matrix();
        }
        self.compute_binds(character);
    }

    fn compute_binds(&mut self, character: &Character) {
        self.world_from_bind.resize_with(character.skins.len(), Vec::new);
        for (skin, matrices) in character.skins.iter().zip(&mut self.world_from_bind) {
            compute_world_from_bind(skin, &self.world_from_node, matrices);
        }
    }
}
