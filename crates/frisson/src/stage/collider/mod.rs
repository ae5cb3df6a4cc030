//! Colliders: simple shapes that follow joints or paths. Meshes of the frame are colliders too, by
//! name; layers query those through a BVH because what they see depends on their place in the stack.

use glam::{Mat3, Mat4, Quat, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod shape;

pub use shape::ColliderShape;
pub(crate) use shape::cuboid;

use super::solid::solid_mesh;
use super::{ActorSet, Animated, Frame, KeyedTransform, Keys};
use crate::geometry::Mesh;

/// One collider of the scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColliderParams {
    /// Name that layers refer to.
    pub name: String,
    /// Its shape.
    pub shape: ColliderShape,
    /// Actor that carries it along: where it is placed, along its path. With `joint`, that joint carries
    /// it, and the shape is given in the joint's space.
    #[serde(default)]
    pub actor: Option<String>,
    /// Joint of `actor` that carries it.
    #[serde(default)]
    pub joint: Option<String>,
    /// Carry it along keys `[frame, x, y, z, rx, ry, rz]`: position [m] and rotation about x, then y,
    /// then z [degrees], about its own origin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<[f64; 7]>,
    /// How the path runs between its keys: `smooth` (the default) or `linear`.
    #[serde(default)]
    pub path_keys: Keys,
    /// Coulomb friction coefficient [-].
    #[serde(default = "default_friction")]
    #[schemars(range(min = 0.0, max = 10.0))]
    pub friction: f32,
    /// Linear RGB. Given, it is also written as a mesh of its name, which pictures and exported files
    /// show; without, layers feel it and nobody sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<[f32; 3]>,
    /// Key-framed displacement, x [m].
    #[serde(default)]
    pub move_x: Animated,
    /// Key-framed displacement, y [m].
    #[serde(default)]
    pub move_y: Animated,
    /// Key-framed displacement, z [m].
    #[serde(default)]
    pub move_z: Animated,
}

fn default_friction() -> f32 {
    0.3
}

impl Default for ColliderParams {
    fn default() -> Self {
        Self {
            name: "collider".to_owned(),
            shape: ColliderShape::Sphere { center: [0.0; 3], radius: 1.0 },
            actor: None,
            joint: None,
            path: Vec::new(),
            path_keys: Keys::default(),
            friction: default_friction(),
            color: None,
            move_x: Animated::default(),
            move_y: Animated::default(),
            move_z: Animated::default(),
        }
    }
}

/// Where a point is relative to a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Signed distance to the surface, negative inside [m].
    pub distance: f32,
    /// Outward unit normal at the closest surface point.
    pub normal: Vec3,
    /// Velocity of the collider's material there [m/s].
    pub velocity: Vec3,
}

/// A collider with its motion over the current tick.
#[derive(Clone, Debug)]
pub struct Collider {
    /// Name.
    pub name: String,
    /// Shape in its local space.
    pub shape: ColliderShape,
    /// Coulomb friction coefficient [-].
    pub friction: f32,
    /// What is seen of it, in its local space.
    solid: Option<Mesh>,
    carrier: Carrier,
    path: Option<KeyedTransform>,
    offset: [Animated; 3],
    /// Rigid pose at the start and at the end of the tick.
    poses: [(Quat, Vec3); 2],
    dt: f32,
}

impl Collider {
    /// Whether it is in the frame as a mesh.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.solid.is_some()
    }

    /// Rigid pose (rotation, translation) at a fraction of the tick: 0 its start, 1 its end.
    #[must_use]
    pub fn pose(&self, fraction: f32) -> (Quat, Vec3) {
        let [(qa, ta), (qb, tb)] = self.poses;
        // The end itself, not a slerp to it: what is drawn and what is collided with are the same bits.
        if fraction >= 1.0 { (qb, tb) } else { (qa.slerp(qb, fraction), ta.lerp(tb, fraction)) }
    }

    /// Signed distance, normal and surface velocity for a world point at a fraction of the tick.
    #[must_use]
    pub fn contact(&self, point: Vec3, fraction: f32) -> Contact {
        let (rotation, translation) = self.pose(fraction);
        let local = rotation.inverse() * (point - translation);
        let (distance, normal) = self.shape.signed_distance(local);
        Contact { distance, normal: rotation * normal, velocity: self.velocity_at(local) }
    }

    /// Velocity of the material at a local point [m/s].
    fn velocity_at(&self, local: Vec3) -> Vec3 {
        if self.dt <= 0.0 {
            return Vec3::ZERO;
        }
        let [(qa, ta), (qb, tb)] = self.poses;
        // From both poses, not from a derivative: over the step the material moves exactly as far as the surface.
        (qb * local + tb - (qa * local + ta)) / self.dt
    }
}

/// All colliders of the scene, posed over the current tick.
#[derive(Clone, Debug, Default)]
pub struct ColliderSet {
    colliders: Vec<Collider>,
    fps: f64,
}

impl ColliderSet {
    /// Resolves actors and joints. Errors name what is missing.
    pub fn new(
        params: &[ColliderParams],
        actors: &ActorSet,
        fps: f64,
    ) -> Result<Self, super::LayerError> {
        let mut colliders = Vec::with_capacity(params.len());
        for p in params {
            if p.color.is_some() && params.iter().filter(|q| q.name == p.name).count() > 1 {
                let key = format!("colliders.{}.name", p.name);
                let problem = "two colliders have this name: those that are shown need their own";
                return Err(super::LayerError::parameter(key, problem));
            }
            colliders.push(Collider {
                name: p.name.clone(),
                shape: p.shape.clone(),
                friction: p.friction,
                solid: solid(p, actors)?,
                carrier: carrier(p, actors)?,
                path: path(p, fps)?,
                offset: [p.move_x.clone(), p.move_y.clone(), p.move_z.clone()],
                poses: [(Quat::IDENTITY, Vec3::ZERO); 2],
                dt: 0.0,
            });
        }
        Ok(Self { colliders, fps })
    }

    /// The colliders.
    #[must_use]
    pub fn all(&self) -> &[Collider] {
        &self.colliders
    }

    /// The collider of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Collider> {
        self.colliders.iter().find(|c| c.name == name)
    }

    /// Whether a collider of that name is to be seen.
    #[must_use]
    pub fn shows(&self, name: &str) -> bool {
        self.get(name).is_some_and(|c| c.solid.is_some())
    }

    /// Writes the colliders that are to be seen, where they are at the end of the tick.
    pub fn write_meshes(&self, frame: &mut Frame) {
        for collider in &self.colliders {
            let Some(solid) = &collider.solid else { continue };
            let index = frame.mesh_index(&solid.name).unwrap_or_else(|| {
                frame.meshes.push(solid.clone());
                frame.meshes.len() - 1
            });
            // The end of the tick: what is drawn is where the layers have been held off last.
            let (rotation, translation) = collider.pose(1.0);
            let mesh = &mut frame.meshes[index];
            for (to, from) in mesh.positions.iter_mut().zip(&solid.positions) {
                *to = rotation * *from + translation;
            }
        }
    }

    /// Poses every collider at the end of a tick of `dt` seconds; the previous end is the new start.
    /// Both poses are computed from the time, so that a resumed bake sees the same bits.
    pub fn set_time(
        &mut self,
        time: f64,
        dt: f64,
        actors: &ActorSet,
        scratch: &mut super::PoseScratch,
    ) {
        let fps = self.fps;
        for collider in &mut self.colliders {
            let end = pose_at(collider, time, fps, actors, scratch);
            // Asked anew rather than kept from the last tick: a resumed bake has no last tick.
            let start =
                if dt > 0.0 { pose_at(collider, time - dt, fps, actors, scratch) } else { end };
            collider.poses = [start, end];
            collider.dt = dt as f32;
        }
    }
}

fn pose_at(
    collider: &Collider,
    time: f64,
    fps: f64,
    actors: &ActorSet,
    scratch: &mut super::PoseScratch,
) -> (Quat, Vec3) {
    let offset =
        Vec3::from_array(std::array::from_fn(|i| collider.offset[i].at(time * fps) as f32));
    let (turn, way) = collider.path.as_ref().map_or((Quat::IDENTITY, Vec3::ZERO), |p| p.at(time));
    let (rotation, origin) = match collider.carrier {
        Carrier::World => (Quat::IDENTITY, Vec3::ZERO),
        Carrier::Actor(actor) => rigid_part(actors.all()[actor].world_at(time)),
        Carrier::Joint(actor, node) => {
            rigid_part(scratch.pose(actors, actor, time).world_from_node[node])
        }
    };
    // The path turns with what carries the collider; the key-framed offset stays in the scene's axes.
    (rotation * turn, rotation * way + origin + offset)
}

/// Rotation and translation of a matrix: what scales a joint does not scale what it carries.
fn rigid_part(m: Mat4) -> (Quat, Vec3) {
    let axes = Mat3::from_cols(
        m.x_axis.truncate().normalize_or(Vec3::X),
        m.y_axis.truncate().normalize_or(Vec3::Y),
        m.z_axis.truncate().normalize_or(Vec3::Z),
    );
    (Quat::from_mat3(&axes).normalize(), m.w_axis.truncate())
}

/// The mesh of a collider that is to be seen.
fn solid(params: &ColliderParams, actors: &ActorSet) -> Result<Option<Mesh>, super::LayerError> {
    let Some(color) = params.color else { return Ok(None) };
    let refuse = |problem: &str| {
        let key = format!("colliders.{}.color", params.name);
        Err(super::LayerError::parameter(key, problem))
    };
    let mut meshes = actors.all().iter().flat_map(|a| a.source_meshes());
    if meshes.any(|m| m.name == params.name) {
        return refuse("an actor has a mesh of this name: rename the collider");
    }
    let Some(mesh) = solid_mesh(&params.name, &params.shape, color) else {
        return refuse("a plane has no end and cannot be shown: use a box");
    };
    Ok(Some(mesh))
}

/// What a collider goes along with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    World,
    /// Where an actor is placed and carried.
    Actor(usize),
    /// An actor's joint.
    Joint(usize, usize),
}

fn path(params: &ColliderParams, fps: f64) -> Result<Option<KeyedTransform>, super::LayerError> {
    if params.path.windows(2).any(|w| w[0][0] >= w[1][0]) {
        let key = format!("colliders.{}.path", params.name);
        return Err(super::LayerError::parameter(key, "its frames must ascend"));
    }
    let keyed = !params.path.is_empty();
    Ok(keyed.then(|| KeyedTransform::from_frames(&params.path, params.path_keys, fps)))
}

fn carrier(params: &ColliderParams, actors: &ActorSet) -> Result<Carrier, super::LayerError> {
    use super::LayerError;
    let field = |key: &str| format!("colliders.{}.{key}", params.name);
    let Some(actor_name) = &params.actor else {
        return match &params.joint {
            None => Ok(Carrier::World),
            Some(_) => Err(LayerError::parameter(field("joint"), "say whose, with `actor`")),
        };
    };
    let names = || actors.all().iter().map(|a| a.name.as_str());
    let actor = actors
        .find(actor_name)
        .ok_or_else(|| LayerError::unknown(field("actor"), "actor", actor_name, names()))?;
    let Some(joint_name) = &params.joint else { return Ok(Carrier::Actor(actor)) };
    let Some(character) = actors.all()[actor].character() else {
        return Err(LayerError::parameter(field("actor"), "this actor has no joints"));
    };
    let joints = || character.skeleton.nodes().iter().map(|n| n.name.as_str());
    let joint = character
        .skeleton
        .find(joint_name)
        .ok_or_else(|| LayerError::unknown(field("joint"), "joint", joint_name, joints()))?;
    Ok(Carrier::Joint(actor, joint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colliders_follow_actors_and_paths_exactly() {
        use crate::geometry::Mesh;
        use crate::stage::{Actor, PoseScratch};
        let keys = vec![
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [10.0, 1.0, 0.5, 0.0, 0.0, 90.0, 0.0],
            [30.0, 1.0, -0.5, 2.0, 0.0, 90.0, 40.0],
        ];
        for kind in [Keys::Smooth, Keys::Linear] {
            let path = KeyedTransform::from_frames(&keys, kind, 30.0);
            let place = Vec3::new(0.2, 0.1, 0.0);
            let ball = Mesh::new("ball", vec![place], vec![]);
            let actors = ActorSet::new(vec![Actor::meshes_named("ball", vec![ball]).along(path)]);
            let shape = ColliderShape::Sphere { center: place.to_array(), radius: 0.1 };
            let by_path = ColliderParams {
                name: "by path".to_owned(),
                shape: shape.clone(),
                path: keys.clone(),
                path_keys: kind,
                ..ColliderParams::default()
            };
            let by_actor = ColliderParams {
                name: "by actor".to_owned(),
                shape,
                actor: Some("ball".to_owned()),
                ..ColliderParams::default()
            };
            let mut set = ColliderSet::new(&[by_path, by_actor], &actors, 30.0).unwrap();
            let mut meshes = actors.all()[0].source_meshes();
            for frame in [0.0, 3.3, 10.0, 17.0, 29.9] {
                let time = frame / 30.0;
                set.set_time(time, 0.0, &actors, &mut PoseScratch::default());
                actors.deform(time, &mut meshes);
                for collider in set.all() {
                    let contact = collider.contact(meshes[0].positions[0], 1.0);
                    assert!((contact.distance + 0.1).abs() < 1e-5, "{frame}: {contact:?}");
                }
            }
        }
    }
}
