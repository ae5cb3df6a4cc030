//! Colliders: simple shapes that follow joints or paths. Meshes of the frame are colliders too, by
//! name; layers query those through a BVH because what they see depends on their place in the stack.

use glam::{EulerRot, Mat3, Mat4, Quat, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// Shape of a collider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ColliderShape {
    /// Half-space: everything on the side away from `normal` is inside.
    Plane {
        /// A point of the plane [m].
        point: [f32; 3],
        /// Outward normal; need not be unit.
        normal: [f32; 3],
    },
    /// Ball.
    Sphere {
        /// Centre [m].
        center: [f32; 3],
        /// Radius [m].
        radius: f32,
    },
    /// Segment with a radius.
    Capsule {
        /// One end of the axis [m].
        a: [f32; 3],
        /// The other end [m].
        b: [f32; 3],
        /// Radius [m].
        radius: f32,
    },
    /// Ellipsoid.
    Ellipsoid {
        /// Centre [m].
        center: [f32; 3],
        /// Semi-axes [m].
        radii: [f32; 3],
        /// Rotation about x, then y, then z [degrees].
        #[serde(default)]
        rotate_deg: [f32; 3],
    },
    /// Box.
    Box {
        /// Centre [m].
        center: [f32; 3],
        /// Half sizes [m].
        half_size: [f32; 3],
        /// Rotation about x, then y, then z [degrees].
        #[serde(default)]
        rotate_deg: [f32; 3],
    },
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
        (qb * local + tb - (qa * local + ta)) / self.dt
    }
}

impl ColliderShape {
    /// Signed distance (negative inside) and outward normal, in the shape's own space.
    #[must_use]
    pub fn signed_distance(&self, p: Vec3) -> (f32, Vec3) {
        let v = Vec3::from_array;
        match self {
            Self::Plane { point, normal } => {
                let n = v(*normal).normalize_or(Vec3::Y);
                (n.dot(p - v(*point)), n)
            }
            Self::Sphere { center, radius } => ball(p, v(*center), *radius),
            Self::Capsule { a, b, radius } => {
                let (a, axis) = (v(*a), v(*b) - v(*a));
                let t = (axis.dot(p - a) / axis.length_squared().max(1e-20)).clamp(0.0, 1.0);
                ball(p, a + t * axis, *radius)
            }
            Self::Ellipsoid { center, radii, rotate_deg } => {
                let r = rotation(*rotate_deg);
                let (d, n) = ellipsoid(r.inverse() * (p - v(*center)), v(*radii));
                (d, r * n)
            }
            Self::Box { center, half_size, rotate_deg } => {
                let r = rotation(*rotate_deg);
                let (d, n) = cuboid(r.inverse() * (p - v(*center)), v(*half_size));
                (d, r * n)
            }
        }
    }
}

pub(super) fn rotation(degrees: [f32; 3]) -> Quat {
    let [x, y, z] = degrees.map(f32::to_radians);
    Quat::from_euler(EulerRot::ZYX, z, y, x)
}

fn ball(p: Vec3, center: Vec3, radius: f32) -> (f32, Vec3) {
    let away = p - center;
    (away.length() - radius, away.normalize_or(Vec3::Y))
}

/// Signed distance to a box at the origin and its outward normal.
pub(crate) fn cuboid(p: Vec3, half: Vec3) -> (f32, Vec3) {
    let q = p.abs() - half;
    let sign = Vec3::ONE.copysign(p);
    if q.max_element() > 0.0 {
        let outside = q.max(Vec3::ZERO);
        let distance = outside.length();
        return (distance, outside / distance * sign);
    }
    let normal = if q.x >= q.y && q.x >= q.z {
        Vec3::X
    } else if q.y >= q.z {
        Vec3::Y
    } else {
        Vec3::Z
    };
    (q.max_element(), normal * sign)
}

/// Closest point of an axis-aligned ellipsoid at the origin, by bisection on the Lagrange
/// multiplier `t` of `sum (r_i p_i / (t + r_i^2))^2 = 1` (D. Eberly): the function falls strictly
/// beyond the largest pole, so the bracket always holds the one root we want.
fn ellipsoid(p: Vec3, radii: Vec3) -> (f32, Vec3) {
    let r = radii.abs().max(Vec3::splat(1e-6)).as_dvec3();
    let q = p.abs().as_dvec3();
    let smallest = r.min_element();
    // On the shortest axis' equator plane the pole itself can be the root; a hair off it the general
    // case holds and the normal is continuous.
    let q = q.max(glam::DVec3::splat(1e-9 * smallest));
    let g = |t: f64| {
        let s = r * q / (glam::DVec3::splat(t) + r * r);
        s.length_squared() - 1.0
    };
    let mut low = -smallest * smallest + smallest * q.min_element() * 1e-12;
    let mut high = (r * q).length();
    for _ in 0..80 {
        let mid = 0.5 * (low + high);
        if g(mid) > 0.0 {
            low = mid;
        } else {
            high = mid;
        }
    }
    let t = 0.5 * (low + high);
    let closest = r * r * q / (glam::DVec3::splat(t) + r * r);
    let sign = glam::DVec3::ONE.copysign(p.as_dvec3());
    let normal = (closest / (r * r)).normalize() * sign;
    let distance = (q - closest).length();
    let inside = (q / r).length_squared() < 1.0;
    (if inside { -distance } else { distance } as f32, normal.as_vec3())
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
    fn ellipsoid_of_equal_radii_is_a_sphere() {
        for p in [Vec3::new(0.3, -0.1, 0.2), Vec3::new(2.0, 1.0, -3.0), Vec3::X] {
            let (d, n) = ellipsoid(p, Vec3::splat(0.8));
            assert!((d - (p.length() - 0.8)).abs() < 1e-5, "{p}: {d}");
            assert!((n - p.normalize()).length() < 1e-4);
        }
    }

    #[test]
    fn moving_out_along_the_normal_lands_on_the_surface() {
        let shapes = [
            ColliderShape::Ellipsoid {
                center: [0.1, 0.0, 0.0],
                radii: [0.5, 1.0, 0.2],
                rotate_deg: [10.0, 20.0, 30.0],
            },
            ColliderShape::Box {
                center: [0.1, 0.0, 0.0],
                half_size: [0.5, 1.0, 0.2],
                rotate_deg: [10.0, 20.0, 30.0],
            },
            ColliderShape::Capsule { a: [0.0; 3], b: [0.0, 1.0, 0.0], radius: 0.3 },
        ];
        for shape in &shapes {
            for i in 0..200u64 {
                let c = |k| random_signed(i, k) * 1.5;
                let p = Vec3::new(c(0), c(1), c(2));
                let (d, n) = shape.signed_distance(p);
                let (rest, _) = shape.signed_distance(p - d * n);
                assert!(rest.abs() < 2e-3, "{shape:?} {p}: {d} leaves {rest}");
            }
        }
    }

    fn random_signed(id: u64, counter: u64) -> f32 {
        crate::math::random::signed(1, id, counter) as f32
    }

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
