//! The primary motion of one mesh, to be looked at before the bake starts, and places on it.
//!
//! [`Reference`](super::Reference) is all actors at **one** time: the space in which points are given. This
//! is one mesh at **any** time: how long its lines get in the course of the shot. A layer that only places
//! things needs the former; wrinkles, whose folds are as high as what the longest line leaves over, need
//! both.

use glam::Vec3;

use super::{Actor, BuildContext, Clock, LayerError, Motion};
use crate::character::{Clip, Pose, Sampling};
use crate::geometry::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest motion that is looked at in advance [s]: an hour. A shot without an end has no such length.
const LONGEST_LOOK_AHEAD: f64 = 3600.0;

/// Poses one mesh at any time, without any layer.
pub struct PrimaryMotion<'a> {
    /// Index of the mesh in the frame.
    pub mesh: usize,
    /// Actor and index of the mesh among its own; `None` for a mesh that a layer made.
    actor: Option<(&'a Actor, usize)>,
    source: Mesh,
}

impl<'a> PrimaryMotion<'a> {
    /// Finds the mesh by its name in the frame, or by that of an actor with one mesh.
    pub fn new(on: &str, context: &'a BuildContext) -> Result<Self, LayerError> {
        let frame = context.frame;
        let mesh = context.find_mesh("on", on)?;
        let owner = context.actors.owner_of(mesh);
        let owner = owner.map(|(actor, local)| (&context.actors.all()[actor], local));
        let source = match owner {
            Some((actor, local)) => actor.source_meshes().swap_remove(local),
            None => frame.meshes[mesh].clone(),
        };
        // An earlier layer may have refined the mesh: then only the frame knows its vertices.
        // By number: refinement only ever adds vertices.
        let refined = source.positions.len() != frame.meshes[mesh].positions.len();
        if refined {
            return Ok(Self { mesh, actor: None, source: frame.meshes[mesh].clone() });
        }
        Ok(Self { mesh, actor: owner, source })
    }

    /// Positions in the bind pose.
    #[must_use]
    pub fn bind_positions(&self) -> &[Vec3] {
        &self.source.positions
    }

    /// The bind pose in the scene's metres: as large as the actor is placed, where it was modelled.
    #[must_use]
    pub fn rest_positions(&self) -> Vec<Vec3> {
        let scale = self.scale();
        self.source.positions.iter().map(|&p| scale * p).collect()
    }

    /// Scene metres in one unit of the bind pose [-].
    #[must_use]
    pub fn scale(&self) -> f32 {
        self.actor.map_or(1.0, |(actor, _)| actor.placement.scale)
    }

    /// World positions at a time.
    #[must_use]
    pub fn positions_at(&self, time: f64) -> Vec<Vec3> {
        let Some((actor, local)) = self.actor else { return self.source.positions.clone() };
        let mut pose = Pose::default();
        actor.pose_at(time, Sampling::AsAuthored, &mut pose);
        let mut meshes = actor.source_meshes();
        actor.deform(time, &pose, &mut meshes);
        meshes.swap_remove(local).positions
    }

    /// Lengths of polylines through some vertices at a time [m].
    #[must_use]
    pub fn line_lengths(&self, lines: &[Vec<u32>], time: f64) -> Vec<f64> {
        let length = |place: &dyn Fn(u32) -> Vec3, line: &[u32]| {
            polyline_length(&line.iter().map(|&v| place(v)).collect::<Vec<Vec3>>())
        };
        let skinned =
            self.actor.and_then(|(actor, local)| Some((actor, actor.character()?, local)));
        match skinned {
            // A few vertices of a skinned mesh are had without the others.
            Some((actor, character, local)) if actor.is_skinned() => {
                let mut pose = Pose::default();
                actor.pose_at(time, Sampling::AsAuthored, &mut pose);
                let place = |v: u32| character.deform_vertex(local, v as usize, &pose);
                lines.iter().map(|line| length(&place, line)).collect()
            }
            _ => {
                let positions = self.positions_at(time);
                lines.iter().map(|line| length(&|v| positions[v as usize], line)).collect()
            }
        }
    }

    /// From when to when the motion has to be looked at to know all of the shot [s]; what comes later
    /// repeats it or stands still. Nothing where the future is not known: motion that is pushed, meshes
    /// that layers make or refine, and shots without an end.
    #[must_use]
    pub fn known_span(&self, clock: &Clock) -> Option<(f64, f64)> {
        let (actor, _) = self.actor?;
        let start = clock.tick_time(0);
        let end = clock.frame_time(clock.last_frame).max(start);
        // Order matters: given points move an actor that is otherwise still.
        let end = match &actor.motion {
            Motion::Live(_) => return None,
            _ if actor.points.is_some() => end,
            Motion::Still => start,
            Motion::Sequence(_) => end,
            Motion::Clip(play) => {
                let duration = actor.clip().map_or(0.0, Clip::duration);
                let (at, speed) = (play.offset + play.speed * start, play.speed);
                // Clip seconds that are left until it repeats or stands.
                let left = match play.looped {
                    true => duration,
                    false if speed > 0.0 => duration - at,
                    false => at,
                };
                let seconds = if speed == 0.0 { 0.0 } else { left.max(0.0) / speed.abs() };
                end.min(start + seconds)
            }
        };
        (end - start <= LONGEST_LOOK_AHEAD).then_some((start, end))
    }
}

/// Refuses a mesh that no longer has the vertices it had when a layer of some kind was built on it.
pub fn check_vertices(mesh: &Mesh, count: usize, on: &str, kind: &str) -> Result<(), LayerError> {
    if mesh.positions.len() == count {
        return Ok(());
    }
    let problem = "changes its triangles during the shot";
    let text = format!("{on:?} {problem}: put {kind} before the layer that does that");
    Err(LayerError::parameter("on", text))
}

/// Length of a polyline [m].
#[must_use]
pub fn polyline_length(points: &[Vec3]) -> f64 {
    points.windows(2).map(|w| f64::from(w[0].distance(w[1]))).sum()
}

/// A place on a mesh. All but positions stay with the mesh or the joint whatever moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Anchor {
    /// Index of a vertex.
    Vertex(u32),
    /// Position in the reference pose [m].
    Position([f32; 3]),
    /// A place on a triangle of the mesh as it came, whatever earlier layers have made of it.
    OnTriangle {
        /// Index of the triangle.
        triangle: u32,
        /// Shares of its corners.
        weights: [f32; 3],
    },
    /// A place in a joint's space.
    AtJoint {
        /// Name of the joint.
        joint: String,
        /// Offset in the joint's axes [m].
        #[serde(default)]
        offset: [f32; 3],
    },
    /// The origin of a node of the character's file that marks the place.
    Marker {
        /// Name of the node.
        marker: String,
    },
}
