//! Actors: everything whose motion is given, not simulated.

use std::sync::Arc;

use glam::{EulerRot, Mat4, Quat, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::character::{Character, Clip, Pose, Sampling};
use crate::geometry::Mesh;

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
        let [x, y, z] = self.rotate_deg.map(f32::to_radians);
        Mat4::from_scale_rotation_translation(
            Vec3::splat(self.scale),
            Quat::from_euler(EulerRot::ZYX, z, y, x),
            Vec3::from_array(self.translate),
        )
    }
}

/// A rigid motion given by keys; smooth (Catmull-Rom, shortest arcs) between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyedTransform {
    /// Key times [s], ascending.
    pub times: Vec<f64>,
    /// Positions at the keys [m].
    pub translations: Vec<Vec3>,
    /// Rotations at the keys.
    pub rotations: Vec<Quat>,
}

impl KeyedTransform {
    /// Rotation and translation at a time, held before the first and after the last key.
    #[must_use]
    pub fn at(&self, time: f64) -> (Quat, Vec3) {
        let count = self.times.len();
        if count == 0 {
            return (Quat::IDENTITY, Vec3::ZERO);
        }
        let after = self.times.partition_point(|&t| t <= time);
        if after == 0 || after == count {
            let key = after.saturating_sub(1);
            return (self.rotations[key], self.translations[key]);
        }
        let (a, b) = (after - 1, after);
        let dt = self.times[b] - self.times[a];
        let t = ((time - self.times[a]) / dt) as f32;
        let slope = |k: usize| {
            let (l, r) = (k.saturating_sub(1), (k + 1).min(count - 1));
            let span = self.times[r] - self.times[l];
            (self.translations[r] - self.translations[l]) * (dt / span) as f32
        };
        let p = self.translations[a].lerp(self.translations[b], t);
        // Hermite = line + cubic correction by the tangents.
        let line = self.translations[b] - self.translations[a];
        let (u, v) = (slope(a) - line, slope(b) - line);
        let correction = u * (t * (1.0 - t) * (1.0 - t)) - v * (t * t * (1.0 - t));
        (self.rotations[a].slerp(self.rotations[b], t), p + correction)
    }
}

/// A mesh that is given frame by frame (a cache read back, a simulation made elsewhere).
pub trait MeshSequence: Send + Sync {
    /// The meshes at the sequence's start: names, topology, positions.
    fn meshes(&self) -> &[Mesh];
    /// World positions of one mesh at a time [s], straight lines between stored frames.
    fn positions_at(&self, mesh: usize, time: f64, out: &mut Vec<Vec3>);
}

/// How an actor moves.
#[derive(Clone)]
pub enum ActorMotion {
    /// A character playing a clip (or standing in its rest pose).
    Character {
        /// Who.
        character: Arc<Character>,
        /// Index of the clip.
        clip: Option<usize>,
        /// Clip time at scene time 0 [s].
        offset: f64,
        /// Clip seconds per scene second.
        speed: f64,
        /// Whether the clip starts again when it ends.
        looped: bool,
    },
    /// Meshes that stay where they are.
    Static(Vec<Mesh>),
    /// Meshes carried along a key-framed path.
    Rigid(Vec<Mesh>, KeyedTransform),
    /// Meshes given frame by frame.
    Sequence(Arc<dyn MeshSequence>),
}

/// One named actor.
#[derive(Clone)]
pub struct Actor {
    /// Name in the scene.
    pub name: String,
    /// Its motion.
    pub motion: ActorMotion,
    /// Where it stands.
    pub placement: Placement,
}

impl Actor {
    /// The character, if it is one.
    #[must_use]
    pub fn character(&self) -> Option<&Arc<Character>> {
        match &self.motion {
            ActorMotion::Character { character, .. } => Some(character),
            _ => None,
        }
    }

    /// The clip it plays.
    #[must_use]
    pub fn clip(&self) -> Option<&Clip> {
        match &self.motion {
            ActorMotion::Character { character, clip, .. } => {
                clip.and_then(|index| character.clips.get(index))
            }
            _ => None,
        }
    }

    /// Meshes in their source pose, named `actor` when there is one and `actor/mesh` otherwise.
    #[must_use]
    pub fn source_meshes(&self) -> Vec<Mesh> {
        let mut meshes: Vec<Mesh> = match &self.motion {
            ActorMotion::Character { character, .. } => {
                character.meshes.iter().map(|m| m.mesh.clone()).collect()
            }
            ActorMotion::Static(meshes) | ActorMotion::Rigid(meshes, _) => meshes.clone(),
            ActorMotion::Sequence(sequence) => sequence.meshes().to_vec(),
        };
        let single = meshes.len() == 1;
        for mesh in &mut meshes {
            mesh.name =
                if single { self.name.clone() } else { format!("{}/{}", self.name, mesh.name) };
        }
        meshes
    }

    /// Clip time of a scene time [s].
    #[must_use]
    pub fn clip_time(&self, time: f64) -> f64 {
        match &self.motion {
            ActorMotion::Character { offset, speed, looped, .. } => {
                let t = offset + speed * time;
                let duration = self.clip().map_or(0.0, Clip::duration);
                if *looped && duration > 0.0 { t.rem_euclid(duration) } else { t }
            }
            _ => time,
        }
    }

    /// Poses the character (does nothing for other actors).
    pub fn pose_at(&self, time: f64, sampling: Sampling, pose: &mut Pose) {
        if let Some(character) = self.character() {
            let world = self.placement.world_from_actor();
            pose.set(character, self.clip(), self.clip_time(time), sampling, world);
        }
    }

    /// World from source pose at a time, for actors that move as one piece.
    #[must_use]
    pub fn rigid_at(&self, time: f64) -> Option<Mat4> {
        let placed = self.placement.world_from_actor();
        match &self.motion {
            ActorMotion::Static(_) => Some(placed),
            ActorMotion::Rigid(_, path) => {
                let (rotation, translation) = path.at(time);
                Some(Mat4::from_rotation_translation(rotation, translation) * placed)
            }
            ActorMotion::Character { .. } | ActorMotion::Sequence(_) => None,
        }
    }

    /// World positions of all meshes at a time, without any layer. Characters use `pose`, which must
    /// be the one of that time.
    pub fn deform(&self, time: f64, pose: &Pose, out: &mut [Mesh]) {
        match &self.motion {
            ActorMotion::Character { character, .. } => character.deform(pose, out),
            ActorMotion::Static(meshes) => {
                carry(self.placement.world_from_actor(), meshes, out);
            }
            ActorMotion::Rigid(meshes, path) => {
                let (rotation, translation) = path.at(time);
                let moved = Mat4::from_rotation_translation(rotation, translation);
                carry(moved * self.placement.world_from_actor(), meshes, out);
            }
            ActorMotion::Sequence(sequence) => {
                let world = self.placement.world_from_actor();
                for (index, target) in out.iter_mut().enumerate() {
                    sequence.positions_at(index, time, &mut target.positions);
                    target.positions.iter_mut().for_each(|p| *p = world.transform_point3(*p));
                }
            }
        }
    }
}

fn carry(world_from_mesh: Mat4, meshes: &[Mesh], out: &mut [Mesh]) {
    for (source, target) in meshes.iter().zip(out) {
        target.positions.clear();
        let moved = source.positions.iter().map(|&p| world_from_mesh.transform_point3(p));
        target.positions.extend(moved);
    }
}

/// All actors, with the poses of the current tick.
#[derive(Default)]
pub struct ActorSet {
    actors: Vec<Actor>,
    poses: Vec<Pose>,
    /// First mesh of each actor in the frame.
    first_meshes: Vec<usize>,
    mesh_counts: Vec<usize>,
}

impl ActorSet {
    /// Actors in the order of the scene file; their meshes come first in every frame, in that order.
    #[must_use]
    pub fn new(actors: Vec<Actor>) -> Self {
        let mesh_counts: Vec<usize> = actors.iter().map(|a| a.source_meshes().len()).collect();
        let first_meshes = mesh_counts
            .iter()
            .scan(0, |total, count| {
                let first = *total;
                *total += count;
                Some(first)
            })
            .collect();
        let poses = vec![Pose::default(); actors.len()];
        Self { actors, poses, first_meshes, mesh_counts }
    }

    /// The actors.
    #[must_use]
    pub fn all(&self) -> &[Actor] {
        &self.actors
    }

    /// Index of the actor of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.actors.iter().position(|a| a.name == name)
    }

    /// The actor of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Actor> {
        self.actors.iter().find(|a| a.name == name)
    }

    /// Pose of an actor at the current tick (empty for non-characters).
    #[must_use]
    pub fn pose(&self, actor: usize) -> &Pose {
        &self.poses[actor]
    }

    /// Which meshes of the frame belong to an actor.
    #[must_use]
    pub fn mesh_range(&self, actor: usize) -> std::ops::Range<usize> {
        let first = self.first_meshes[actor];
        first..first + self.mesh_counts[actor]
    }

    /// Poses every character at a time.
    pub fn set_time(&mut self, time: f64) {
        for (actor, pose) in self.actors.iter().zip(&mut self.poses) {
            actor.pose_at(time, Sampling::AsAuthored, pose);
        }
    }

    /// Writes every actor's meshes at the current pose into the first meshes of a frame.
    pub fn deform(&self, time: f64, meshes: &mut [Mesh]) {
        for (index, actor) in self.actors.iter().enumerate() {
            actor.deform(time, &self.poses[index], &mut meshes[self.mesh_range(index)]);
        }
    }
}
