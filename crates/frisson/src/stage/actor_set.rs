//! All actors of a scene, and whose mesh is whose.

use super::actor::Actor;
use crate::character::{Pose, Sampling};
use crate::geometry::Mesh;

/// All actors, with the poses of the current tick.
#[derive(Default)]
pub struct ActorSet {
    actors: Vec<Actor>,
    poses: Vec<Pose>,
    /// First mesh of each actor in the frame.
    first_meshes: Vec<usize>,
}

impl ActorSet {
    /// Actors in the order of the scene file; their meshes come first in every frame, in that order.
    #[must_use]
    pub fn new(actors: Vec<Actor>) -> Self {
        let first_meshes = actors
            .iter()
            .scan(0, |total, actor| {
                let first = *total;
                *total += actor.mesh_count();
                Some(first)
            })
            .collect();
        let poses = vec![Pose::default(); actors.len()];
        Self { actors, poses, first_meshes }
    }

    /// The actors.
    #[must_use]
    pub fn all(&self) -> &[Actor] {
        &self.actors
    }

    /// The actors, to be pushed.
    pub(super) fn all_mut(&mut self) -> &mut [Actor] {
        &mut self.actors
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
        first..first + self.actors[actor].mesh_count()
    }

    /// The actor that a mesh of the frame belongs to, and the mesh's index among its own.
    #[must_use]
    pub fn owner_of(&self, mesh: usize) -> Option<(usize, usize)> {
        // Linear: scenes have a handful of actors, and this is asked when layers are built.
        (0..self.actors.len()).find_map(|actor| {
            let range = self.mesh_range(actor);
            range.contains(&mesh).then(|| (actor, mesh - range.start))
        })
    }

    /// Whether all look the same at two times.
    #[must_use]
    pub fn stand_still(&self, from: f64, to: f64) -> bool {
        self.actors.iter().all(|actor| actor.stands_still(from, to))
    }

    /// Poses every character at a time.
    pub fn set_time(&mut self, time: f64) {
        for (actor, pose) in self.actors.iter().zip(&mut self.poses) {
            // As other programs play it; layers that react to accelerations ask for smooth joints themselves.
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
