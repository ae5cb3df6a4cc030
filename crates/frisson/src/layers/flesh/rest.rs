//! What is computed once: the virtual bone, the weights, the vertices that swing.

use glam::Vec3;

use super::chain::Chain;
use super::swing::SwungVertices;
use super::volume::FleshVolume;
use crate::stage::JointPath;

/// The part of an element on one mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct FleshWeights {
    /// Index of the mesh in the frame.
    pub mesh: usize,
    /// Vertices that swing, ascending.
    pub vertices: Vec<u32>,
    /// Normalised weight of each, in (0, 1].
    pub alphas: Vec<f32>,
    /// Flesh between each and the bone, `shape` [m]: no sum of elements may move it further.
    pub shapes: Vec<f32>,
}

/// Everything about an element that does not change during a bake.
#[derive(Clone, Debug)]
pub struct FleshRest {
    /// Index of the actor.
    pub actor: usize,
    /// Dominant joint.
    pub joint: usize,
    /// Middle of the virtual bone, in the dominant joint's space.
    pub joint_from_middle: Vec3,
    /// Length of the virtual bone in the world [m].
    pub bone_length: f32,
    /// Orientation of the dominant joint in the modelled pose.
    pub rest_rotation: glam::DQuat,
    /// Largest weight before normalisation [m].
    pub deepest: f32,
    /// Weights per mesh.
    pub weights: Vec<FleshWeights>,
    /// What displacements do to the volume.
    pub volume: FleshVolume,
    /// When the clip begins, if the layer starts before it [s]: until then the character is taken to
    /// have moved as it does then, though it is shown standing.
    pub(super) clip_begin: Option<f64>,
    /// The dominant joint, to be followed through time.
    pub(super) joint_path: JointPath,
    /// What it touches, laid out for the loop; one for each of the weights.
    pub(super) swung: Vec<SwungVertices>,
    /// The joints of a chain; there are no weights then.
    pub(super) chain: Option<Chain>,
}

impl FleshRest {
    /// Whether it is a chain of joints instead of flesh on one bone.
    #[must_use]
    pub fn is_chain(&self) -> bool {
        self.chain.is_some()
    }
}
