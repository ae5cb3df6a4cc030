//! The one space in which artists give points and selections.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActorSet, Anchor, BuildContext, Clock, LayerError, Selection};
use crate::character::{Character, CharacterMesh, Pose, Sampling};
use crate::geometry::{Mesh, Mix as _};

/// In which pose of the actors points and selections are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReferencePose {
    /// As they stand at the first frame of the shot.
    #[default]
    Start,
    /// In their rest pose, before any clip moves them.
    Rest,
}

/// Every actor's meshes in the reference pose: metres, in the scene's axes, as `inspect` shows them.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    positions: Vec<Vec<Vec3>>,
    poses: Vec<Pose>,
}

impl Reference {
    /// Poses the actors, without any layer.
    #[must_use]
    pub fn new(pose: ReferencePose, clock: &Clock, actors: &ActorSet) -> Self {
        // Not the start of the pre-roll: artists place points on the picture that they see first.
        let time = clock.frame_time(clock.first_frame);
        let mut all = Self::default();
        for actor in actors.all() {
            let mut posed = Pose::default();
            let mut meshes = actor.source_meshes();
            match (pose, actor.character()) {
                (ReferencePose::Rest, Some(character)) => {
                    let world = actor.world_at(time);
                    posed.set(character, None, 0.0, Sampling::AsAuthored, world);
                    character.deform(&posed, &mut meshes);
                }
                _ => {
                    actor.pose_at(time, Sampling::AsAuthored, &mut posed);
                    actor.deform(time, &posed, &mut meshes);
                }
            }
            all.positions.extend(meshes.into_iter().map(|m| m.positions));
            all.poses.push(posed);
        }
        all
    }

    /// Pose of an actor (empty for actors without joints).
    #[must_use]
    pub fn pose(&self, actor: usize) -> &Pose {
        &self.poses[actor]
    }

    /// Positions of an actor's mesh, by its index in the frame; nothing for meshes that layers make.
    #[must_use]
    pub fn positions(&self, mesh: usize) -> Option<&[Vec3]> {
        self.positions.get(mesh).map(Vec::as_slice)
    }
}

impl<'a> BuildContext<'a> {
    /// Index of the mesh that a parameter names: by its name in the frame, or by that of an actor with one
    /// mesh.
    pub fn find_mesh(&self, parameter: &str, name: &str) -> Result<usize, LayerError> {
        self.frame.mesh_index(name).ok_or_else(|| {
            let names = self.frame.meshes.iter().map(|m| m.name.as_str());
            LayerError::unknown(parameter, "mesh", name, names)
        })
    }

    /// A mesh of the frame in the reference pose: the actor's own vertices posed, those that earlier
    /// layers added by refinement between them. A mesh that a layer made is as it is at the start.
    #[must_use]
    pub fn reference_mesh(&self, mesh: usize) -> Mesh {
        let mut posed = self.frame.meshes[mesh].clone();
        // A layer may have replaced the mesh by one with other roots: then only the frame knows it.
        if let Some(root) = self.reference.positions(mesh)
            && root.len() == posed.topology.root_vertex_count()
        {
            posed.positions = posed.topology.spread_from_root(root);
        }
        // They belong to the pose of the frame, not to this one.
        posed.normals.clear();
        posed
    }

    /// Weights of a selection on a mesh of the frame, by vertex.
    pub fn select(
        &self,
        parameter: &str,
        mesh: usize,
        selection: &Selection,
    ) -> Result<Vec<f32>, LayerError> {
        let weights = selection.resolve(&self.reference_mesh(mesh), self.skinned(mesh));
        weights.map_err(|e| LayerError::parameter(parameter, e.to_string()))
    }

    /// A place that an artist gave on a mesh of the frame, in the reference pose [m].
    pub fn place(&self, parameter: &str, mesh: usize, anchor: &Anchor) -> Result<Vec3, LayerError> {
        self.place_on(parameter, mesh, &self.reference_mesh(mesh), anchor)
    }

    /// The same where the mesh in its reference pose is at hand.
    pub fn place_on(
        &self,
        parameter: &str,
        index: usize,
        mesh: &Mesh,
        anchor: &Anchor,
    ) -> Result<Vec3, LayerError> {
        let bad = |problem: String| Err(LayerError::parameter(parameter, problem));
        let vertices = &mesh.positions;
        match anchor {
            Anchor::Position(p) => Ok(Vec3::from_array(*p)),
            Anchor::Vertex(v) => match vertices.get(*v as usize) {
                Some(p) => Ok(*p),
                None => bad(format!("vertex {v} does not exist, the mesh has {}", vertices.len())),
            },
            Anchor::OnTriangle { triangle, weights } => {
                // Of the actor's own mesh: a layer that is put before this one and refines the mesh would make every
                // number mean another place. The own vertices keep their numbers.
                let triangles = mesh.topology.root_triangles();
                let Some(corners) = triangles.get(*triangle as usize) else {
                    let count = triangles.len();
                    return bad(format!(
                        "triangle {triangle} does not exist, the mesh has {count}"
                    ));
                };
                Ok(Vec3::mix(corners.map(|v| vertices[v as usize]), *weights))
            }
            Anchor::AtJoint { joint, offset } => {
                self.node_place(parameter, index, joint, Vec3::from_array(*offset))
            }
            Anchor::Marker { marker } => self.node_place(parameter, index, marker, Vec3::ZERO),
        }
    }

    fn node_place(
        &self,
        parameter: &str,
        mesh: usize,
        name: &str,
        offset: Vec3,
    ) -> Result<Vec3, LayerError> {
        let owner = self.actors.owner_of(mesh).map(|(actor, _)| actor);
        let character = owner.and_then(|actor| self.actors.all()[actor].character());
        let (Some(actor), Some(character)) = (owner, character) else {
            let problem = "this mesh belongs to no character: it has no joints or markers";
            return Err(LayerError::parameter(parameter, problem));
        };
        let names = character.skeleton.nodes().iter().map(|n| n.name.as_str());
        let node = character.skeleton.find(name);
        let node = node.ok_or_else(|| LayerError::unknown(parameter, "joint", name, names))?;
        Ok(self.reference.pose(actor).world_from_node[node].transform_point3(offset))
    }

    /// The character that a mesh of the frame belongs to, and the mesh among its own, for selections by
    /// joint.
    #[must_use]
    pub fn skinned(&self, mesh: usize) -> Option<(&'a Character, &'a CharacterMesh)> {
        let (actor, local) = self.actors.owner_of(mesh)?;
        let character: &'a Character = self.actors.all()[actor].character()?;
        Some((character, &character.meshes[local]))
    }
}
