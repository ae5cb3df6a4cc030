//! Actors: everything whose motion is given, not simulated.

use std::sync::Arc;

use glam::{Mat4, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::live::LiveTrack;
use super::path::KeyedTransform;
use crate::character::{Character, Clip, NodeChain, Pose, Sampling};
use crate::geometry::Mesh;
use crate::math::frames::rotation_xyz_deg;

/// Where an actor stands in the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Placement {
    /// Position of the actor's origin [m].
    pub translate: [f32; 3],
    /// Rotation about x, then y, then z [degrees].
    pub rotate_deg: [f32; 3],
    /// Uniform scale [-]: 0.01 brings a character modelled in centimetres to metres.
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub scale: f32,
}

impl Default for Placement {
    fn default() -> Self {
        Self { translate: [0.0; 3], rotate_deg: [0.0; 3], scale: 1.0 }
    }
}

impl Placement {
    /// The matrix.
    #[must_use]
    pub fn world_from_actor(&self) -> Mat4 {
        Mat4::from_scale_rotation_translation(
            Vec3::splat(self.scale),
            rotation_xyz_deg(self.rotate_deg),
            Vec3::from_array(self.translate),
        )
    }
}

/// A mesh that is given frame by frame (a cache read back, a simulation made elsewhere).
pub trait MeshSequence: Send + Sync {
    /// The meshes at the sequence's start: names, topology, positions.
    fn meshes(&self) -> &[Mesh];
    /// Positions of one mesh at a time [s], straight lines between stored frames.
    fn positions_at(&self, mesh: usize, time: f64, out: &mut Vec<Vec3>);
}

/// How a clip is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipPlay {
    /// Index of the clip.
    pub clip: usize,
    /// Clip time at scene time 0 [s].
    pub offset: f64,
    /// Clip seconds per scene second.
    pub speed: f64,
    /// Whether the clip starts again when it ends.
    pub looped: bool,
}

impl ClipPlay {
    /// A clip from its beginning, as it was made.
    #[must_use]
    pub const fn new(clip: usize) -> Self {
        Self { clip, offset: 0.0, speed: 1.0, looped: false }
    }
}

/// What an actor is.
#[derive(Clone)]
#[non_exhaustive]
pub enum ActorContent {
    /// A skeleton with meshes.
    Character(Arc<Character>),
    /// Meshes without joints.
    Meshes(Arc<[Mesh]>),
}

/// What moves an actor. Each gives a pose or positions at any time that is asked for.
#[derive(Clone)]
#[non_exhaustive]
pub enum Motion {
    /// Nothing: a character stands in its rest pose.
    Still,
    /// A clip of the character.
    Clip(ClipPlay),
    /// Meshes given frame by frame.
    Sequence(Arc<dyn MeshSequence>),
    /// Whatever the caller pushes.
    Live(LiveTrack),
}

/// One named actor: what it is, what moves it, where it stands and along which path it is carried.
#[derive(Clone)]
pub struct Actor {
    /// Name in the scene.
    pub name: String,
    /// What it is.
    pub content: ActorContent,
    /// What moves it.
    pub motion: Motion,
    /// Where it stands.
    pub placement: Placement,
    /// Key-framed path that carries the placed actor.
    pub path: Option<KeyedTransform>,
    /// Positions of its vertices, where they are not what its joints give: another program's skin.
    pub points: Option<Arc<dyn MeshSequence>>,
}

impl Actor {
    /// A character in its rest pose.
    #[must_use]
    pub fn character_named(name: impl Into<String>, character: Arc<Character>) -> Self {
        Self::new(name, ActorContent::Character(character), Motion::Still)
    }

    /// Meshes that stay where they are.
    #[must_use]
    pub fn meshes_named(name: impl Into<String>, meshes: Vec<Mesh>) -> Self {
        Self::new(name, ActorContent::Meshes(meshes.into()), Motion::Still)
    }

    /// Meshes given frame by frame.
    #[must_use]
    pub fn sequence_named(name: impl Into<String>, sequence: Arc<dyn MeshSequence>) -> Self {
        let content = ActorContent::Meshes(sequence.meshes().into());
        Self::new(name, content, Motion::Sequence(sequence))
    }

    fn new(name: impl Into<String>, content: ActorContent, motion: Motion) -> Self {
        let placement = Placement::default();
        Self { name: name.into(), content, motion, placement, path: None, points: None }
    }

    /// The actor playing a clip.
    #[must_use]
    pub fn playing(self, play: ClipPlay) -> Self {
        Self { motion: Motion::Clip(play), ..self }
    }

    /// The actor moved by what the caller pushes (see `Simulator::push_pose`).
    #[must_use]
    pub fn live(self) -> Self {
        Self { motion: Motion::Live(LiveTrack::default()), ..self }
    }

    /// The actor placed in the world.
    #[must_use]
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// The actor carried along a path.
    #[must_use]
    pub fn along(self, path: KeyedTransform) -> Self {
        Self { path: Some(path), ..self }
    }

    /// The actor with vertices that are given frame by frame, whatever its joints do.
    #[must_use]
    pub fn with_points(self, points: Arc<dyn MeshSequence>) -> Self {
        Self { points: Some(points), ..self }
    }

    /// The character, if it is one.
    #[must_use]
    pub fn character(&self) -> Option<&Arc<Character>> {
        match &self.content {
            ActorContent::Character(character) => Some(character),
            ActorContent::Meshes(_) => None,
        }
    }

    /// Whether its joints alone say where its vertices are.
    #[must_use]
    pub fn is_skinned(&self) -> bool {
        self.points.is_none() && !matches!(self.motion, Motion::Live(_) | Motion::Sequence(_))
    }

    /// How it plays a clip, if it does.
    #[must_use]
    pub fn clip_play(&self) -> Option<&ClipPlay> {
        match &self.motion {
            Motion::Clip(play) => Some(play),
            _ => None,
        }
    }

    /// The clip it plays.
    #[must_use]
    pub fn clip(&self) -> Option<&Clip> {
        self.character()?.clips.get(self.clip_play()?.clip)
    }

    /// Seconds of one cycle of its clip, if it plays one.
    #[must_use]
    pub fn cycle_seconds(&self) -> Option<f64> {
        let (play, clip) = (self.clip_play()?, self.clip()?);
        (play.speed > 0.0 && clip.duration() > 0.0).then(|| clip.duration() / play.speed)
    }

    /// Whether anything about it changes with time other than where it stands.
    #[must_use]
    pub fn deforms(&self) -> bool {
        self.points.is_some() || !matches!(self.motion, Motion::Still)
    }

    /// Whether it looks the same at two times, as far as that is known without posing it.
    #[must_use]
    pub fn stands_still(&self, from: f64, to: f64) -> bool {
        let held = match &self.motion {
            Motion::Still => true,
            Motion::Live(track) => track.stands_still(from, to),
            // They may stand still, too; only posing them would tell.
            Motion::Clip(_) | Motion::Sequence(_) => false,
        };
        // A path is a motion too: where it stands at one place for a while is not looked into.
        from == to || (held && self.points.is_none() && self.path.is_none())
    }

    /// Meshes as they were modelled, named `actor` when there is one and `actor/mesh` otherwise.
    #[must_use]
    pub fn source_meshes(&self) -> Vec<Mesh> {
        let mut meshes: Vec<Mesh> = match &self.content {
            ActorContent::Character(c) => c.meshes.iter().map(|m| m.mesh.clone()).collect(),
            ActorContent::Meshes(meshes) => meshes.to_vec(),
        };
        let single = meshes.len() == 1;
        for mesh in &mut meshes {
            // One mesh goes by its actor's name, so that scenes of one-mesh characters need no second name.
            mesh.name =
                if single { self.name.clone() } else { format!("{}/{}", self.name, mesh.name) };
        }
        meshes
    }

    /// Number of meshes.
    #[must_use]
    pub fn mesh_count(&self) -> usize {
        match &self.content {
            ActorContent::Character(character) => character.meshes.len(),
            ActorContent::Meshes(meshes) => meshes.len(),
        }
    }

    /// Number of vertices of one of its meshes.
    #[must_use]
    pub fn vertex_count(&self, mesh: usize) -> Option<usize> {
        match &self.content {
            ActorContent::Character(c) => c.meshes.get(mesh).map(|m| m.mesh.positions.len()),
            ActorContent::Meshes(meshes) => meshes.get(mesh).map(|m| m.positions.len()),
        }
    }

    /// Clip time of a scene time [s].
    #[must_use]
    pub fn clip_time(&self, time: f64) -> f64 {
        let Some(play) = self.clip_play() else { return time };
        // From the scene's time, never accumulated: a resumed shot and a jump both land on the same clip time.
        let t = play.offset + play.speed * time;
        let duration = self.clip().map_or(0.0, Clip::duration);
        // Euclid's remainder: a clip played backwards goes on at its end.
        if play.looped && duration > 0.0 { t.rem_euclid(duration) } else { t }
    }

    /// World from the actor's own space at a time: placed, then carried along its path.
    #[must_use]
    pub fn world_at(&self, time: f64) -> Mat4 {
        let placed = self.placement.world_from_actor();
        match &self.path {
            None => placed,
            Some(path) => {
                let (rotation, translation) = path.at(time);
                Mat4::from_rotation_translation(rotation, translation) * placed
            }
        }
    }

    /// Poses the character (does nothing for other actors).
    pub fn pose_at(&self, time: f64, sampling: Sampling, pose: &mut Pose) {
        let Some(character) = self.character() else { return };
        let world = self.world_at(time);
        match &self.motion {
            Motion::Live(track) if track.has_nodes() => {
                pose.set_nodes(character, world, |node| track.node_at(node, time, sampling));
                pose.set_weights(character, |out| track.weights_at(time, out));
            }
            _ => pose.set(character, self.clip(), self.clip_time(time), sampling, world),
        }
    }

    /// What [`Actor::joint_at`] needs to follow one node.
    #[must_use]
    pub fn follow(&self, node: usize) -> Option<JointPath> {
        let chain = NodeChain::new(self.character()?, self.clip(), node);
        Some(JointPath { node, chain })
    }

    /// World matrix of one node at a time, without posing the rest; smooth where samples or keys are.
    #[must_use]
    pub fn joint_at(&self, joint: &JointPath, time: f64) -> Mat4 {
        self.joint_at_clip_time(joint, time, self.clip_time(time))
    }

    /// The same within one cycle of the clip, whether or not the actor repeats it.
    #[must_use]
    pub fn joint_in_cycle(&self, joint: &JointPath, time: f64) -> Mat4 {
        // Without a clip any length will do: nothing is keyed.
        let duration = self.clip().map_or(1.0, Clip::duration);
        self.joint_at_clip_time(joint, time, self.clip_time(time).rem_euclid(duration))
    }

    fn joint_at_clip_time(&self, joint: &JointPath, time: f64, clip_time: f64) -> Mat4 {
        let world = self.world_at(time);
        // Smooth whatever the sampling of the picture: springs would ring with the corners of straight keys.
        if let Motion::Live(track) = &self.motion
            && let Some(matrix) = track.node_at(joint.node, time, Sampling::Smooth)
        {
            return world * matrix;
        }
        joint.chain.world(self.clip(), clip_time, Sampling::Smooth, world)
    }

    /// World from source meshes at a time, for actors that move as one piece.
    #[must_use]
    pub fn rigid_at(&self, time: f64) -> Option<Mat4> {
        let piece =
            matches!((&self.content, &self.motion), (ActorContent::Meshes(_), Motion::Still));
        piece.then(|| self.world_at(time))
    }

    /// World positions of all meshes at a time, without any layer. Characters use `pose`, which must
    /// be the one of that time.
    pub fn deform(&self, time: f64, pose: &Pose, out: &mut [Mesh]) {
        let world = self.world_at(time);
        for (index, target) in out.iter_mut().enumerate() {
            let given = match &self.motion {
                // Vertices of another program's skin win over the joints, which layers still see.
                _ if self.points.is_some() => {
                    let points = self.points.iter();
                    points.for_each(|p| p.positions_at(index, time, &mut target.positions));
                    true
                }
                Motion::Live(track) => track.positions_at(index, time, &mut target.positions),
                Motion::Sequence(sequence) => {
                    sequence.positions_at(index, time, &mut target.positions);
                    true
                }
                _ => false,
            };
            match &self.content {
                // Given vertices are in the actor's own space; those that joints move are in the world already.
                _ if given => {
                    target.positions.iter_mut().for_each(|p| *p = world.transform_point3(*p));
                }
                ActorContent::Character(character) => {
                    character.deform_mesh_positions(index, pose, &mut target.positions);
                }
                ActorContent::Meshes(meshes) => {
                    let moved = meshes[index].positions.iter().map(|&p| world.transform_point3(p));
                    target.positions.clear();
                    target.positions.extend(moved);
                }
            }
        }
    }
}

/// One node of an actor, to be followed through time.
#[derive(Clone, Debug)]
pub struct JointPath {
    node: usize,
    chain: NodeChain,
}
