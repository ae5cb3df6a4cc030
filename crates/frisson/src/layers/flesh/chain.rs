//! Elements one behind the other: a tail, an ear, an antenna.
//!
//! ```text
//!   p0 o-----o-----o-----o p3     joints as animated
//!   q0 o-----o
//!             `-.s2               where link 1, as it has moved, would carry joint 2
//!                o q2 = s2 + u2   a mass on a spring there; the link keeps its length
//! ```
//!
//! Every joint is a mass on the room's spring (`spring`). What carries it is not the animated joint but its
//! parent as that has moved, so that each lags behind the one before it and the tip whips. Nothing acts back
//! on the parent: links are advanced from root to tip, in closed form, and stay stable whatever the stiffness.

use glam::{DQuat, DVec3, Mat4, Vec3};

use super::params::{FleshParams, LimitKind};
use super::spring::{SpringStep, StaticFrame, apply_hard_limit, soften};
use super::state::{FleshState, PathPoint};
use crate::character::{Character, CharacterMesh, Pose, rotation_of};
use crate::geometry::Mesh;
use crate::stage::{Actor, JointPath, LayerError};

/// A joint of the chain, or the tip behind the last one.
#[derive(Clone, Debug)]
pub(super) struct ChainPoint {
    joint: JointPath,
    node: usize,
    /// In the joint's space.
    offset: Vec3,
    /// Orientation of the joint in the modelled pose.
    pub rest_rotation: DQuat,
}

/// Which vertices of a mesh go along with which points.
#[derive(Clone, Debug, Default)]
pub(super) struct ChainPart {
    /// Index of the mesh in the frame.
    pub mesh: usize,
    /// Vertices, ascending, with the end of their shares.
    vertices: Vec<(u32, u32)>,
    /// Point and weight.
    shares: Vec<(u32, f32)>,
}

/// Everything about a chain that does not change.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    /// From the root, which is only animated, to the tip.
    pub points: Vec<ChainPoint>,
    pub parts: Vec<ChainPart>,
}

/// Where a point of the chain has moved, and how far the link that ends there has turned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChainPose {
    /// As animated [m].
    from: DVec3,
    /// As moved [m].
    place: DVec3,
    turn: DQuat,
}

impl Chain {
    /// The points from joint to joint, and the tip if there is one. `path` are nodes, `rest` all world
    /// matrices in the modelled pose.
    pub fn new(
        actor: &Actor,
        path: &[usize],
        tip: Vec3,
        rest: &[Mat4],
    ) -> Result<Self, LayerError> {
        let mut points = Vec::new();
        let mut ends: Vec<(usize, Vec3)> = path.iter().map(|&node| (node, Vec3::ZERO)).collect();
        // The last joint ends where the artist says; without an offset it has no link of its own and goes with the one before.
        if tip != Vec3::ZERO {
            ends.extend(path.last().map(|&node| (node, tip)));
        }
        for (node, offset) in ends {
            let joint = actor
                .follow(node)
                .ok_or_else(|| LayerError::parameter("on", "the actor has no joints"))?;
            let rest_rotation = rotation_of(rest[node]).as_dquat().normalize();
            points.push(ChainPoint { joint, node, offset, rest_rotation });
        }
        if points.len() < 2 {
            return Err(LayerError::parameter(
                "to",
                "a chain needs a joint below `from`, or an offset",
            ));
        }
        Ok(Self { points, parts: Vec::new() })
    }

    /// Takes the vertices of a mesh that are skinned to joints of the chain, by `factors` of each.
    pub fn take(
        &mut self,
        mesh: usize,
        (character, source): (&Character, &CharacterMesh),
        path: &[usize],
        factors: Option<&[f32]>,
    ) {
        let point_of = |node: usize| path.iter().position(|&n| n == node).map(|i| i as u32);
        let mut part = ChainPart { mesh, ..ChainPart::default() };
        for vertex in 0..source.mesh.positions.len() {
            let factor = factors.map_or(1.0, |f| f[vertex]);
            let before = part.shares.len();
            match source.skin.map(|s| &character.skins[s]) {
                // Not skinned, but hung on a joint: it goes with that as a whole.
                None => part.shares.extend(point_of(source.node).map(|p| (p, factor))),
                Some(skin) => {
                    let all = source.influences.of(vertex);
                    let own = all.filter_map(|(j, w)| {
                        Some((point_of(skin.joints[j as usize])?, factor * w))
                    });
                    part.shares.extend(own.filter(|(_, w)| *w > 0.0));
                }
            }
            if part.shares.len() > before {
                part.vertices.push((vertex as u32, part.shares.len() as u32));
            }
        }
        if !part.vertices.is_empty() {
            self.parts.push(part);
        }
    }

    /// The point as it is animated at a time.
    pub fn frame_at(&self, point: usize, actor: &Actor, time: f64) -> StaticFrame {
        let ChainPoint { joint, offset, .. } = &self.points[point];
        let matrix = actor.joint_at(joint, time);
        StaticFrame {
            position: matrix.transform_point3(*offset).as_dvec3(),
            rotation: rotation_of(matrix).as_dquat(),
        }
    }

    /// Where the point is drawn in a pose of the character: what is skinned to it turns about this place.
    pub fn drawn(&self, point: usize, pose: &Pose) -> DVec3 {
        let ChainPoint { node, offset, .. } = &self.points[point];
        pose.world_from_node[*node].transform_point3(*offset).as_dvec3()
    }

    /// Gives links without a past one: they have always moved as they do now, so that nothing is flung when a shot
    /// begins with who is already running. `first` and `next` are the points as animated, `seconds` apart.
    pub fn depart(
        &self,
        params: &FleshParams,
        links: &mut [FleshState],
        (first, next): (impl Fn(usize) -> DVec3, impl Fn(usize) -> DVec3),
        seconds: f64,
    ) {
        let (mut from, mut to) = (ChainPose::at(first(0)), ChainPose::at(next(0)));
        for (point, link) in (1..self.points.len()).zip(links) {
            let (position, later) = (from.carry(first(point)), to.carry(next(point)));
            let velocity = (later - position) / seconds;
            // Links keep no turn of their own: it would be counted twice, here and by where their ends are.
            let rotation = DQuat::IDENTITY;
            link.path.get_or_insert(PathPoint {
                position,
                rotation,
                velocity,
                angular: DVec3::ZERO,
            });
            from = from.next(params, first(point), link.elongation, 1.0);
            to = to.next(params, next(point), link.elongation, 1.0);
        }
    }

    /// Advances all links over a grid interval, from root to tip. `next` gives the points as animated at its
    /// end, `pulls` the acceleration of each besides its spring [m/s²].
    pub fn advance(
        &self,
        params: &FleshParams,
        step: &SpringStep,
        links: &mut [FleshState],
        next: impl Fn(usize) -> StaticFrame,
        pulls: impl Fn(usize) -> DVec3,
    ) {
        let mut parent = ChainPose::at(next(0).position);
        for (point, link) in (1..self.points.len()).zip(links) {
            let animated = next(point).position;
            let carried = parent.carry(animated);
            // Links do not swing in rotation: how they turn follows from their ends.
            let frame = StaticFrame { position: carried, rotation: DQuat::IDENTITY };
            // Where the parent carried it a moment ago: only the link remembers, the parent has moved on.
            let from = link.path.map_or(frame, |p| StaticFrame { position: p.position, ..frame });
            step.advance(link, from, frame, pulls(point));
            if params.limit_kind == LimitKind::Hard {
                apply_hard_limit(link, limit(params, parent.from.distance(animated)));
            }
            parent = parent.next(params, animated, link.elongation, 1.0);
        }
    }

    /// Where all points are, from the points as animated.
    pub fn pose(
        &self,
        params: &FleshParams,
        links: &[FleshState],
        (animated, amount): (impl Fn(usize) -> DVec3, f64),
        out: &mut Vec<ChainPose>,
    ) {
        out.clear();
        out.push(ChainPose::at(animated(0)));
        for (point, link) in (1..self.points.len()).zip(links) {
            // From the root on: each is carried by its parent as that is shown, softened and with its amount.
            out.push(out[point - 1].next(params, animated(point), link.elongation, amount));
        }
    }
}

/// How far the end of a link may leave the place it is carried to [m]: at 1 the link is at right angles to it.
fn limit(params: &FleshParams, length: f64) -> f64 {
    f64::from(params.limit) * length
}

impl ChainPose {
    fn at(position: DVec3) -> Self {
        Self { from: position, place: position, turn: DQuat::IDENTITY }
    }

    /// Where the next point is carried to.
    fn carry(&self, animated: DVec3) -> DVec3 {
        self.place + self.turn * (animated - self.from)
    }

    /// The next point, `elongation` away from there but as far from this one as animated.
    fn next(&self, params: &FleshParams, animated: DVec3, elongation: DVec3, amount: f64) -> Self {
        let way = self.turn * (animated - self.from);
        let length = way.length();
        let most = limit(params, length);
        // A link without length has no direction to swing out of; what is behind it is carried as it is.
        if most.is_nan() || most <= 0.0 {
            return Self { from: animated, place: self.place + way, turn: self.turn };
        }
        let limited = match params.limit_kind {
            LimitKind::Soft => soften(elongation, most),
            LimitKind::Hard => elongation.clamp_length_max(most),
        };
        // Made as long as the link again: the spring says where to, the bone how far.
        let moved = (way + amount * limited).normalize_or(way / length);
        let turn = DQuat::from_rotation_arc(way / length, moved) * self.turn;
        Self { from: animated, place: self.place + length * moved, turn: turn.normalize() }
    }
}

impl ChainPart {
    /// Moves the vertices.
    pub fn apply(&self, poses: &[ChainPose], mesh: &mut Mesh) {
        let mut start = 0;
        for &(vertex, end) in &self.vertices {
            let p = mesh.positions[vertex as usize];
            let mut moved = Vec3::ZERO;
            for &(point, weight) in &self.shares[start..end as usize] {
                let pose = &poses[point as usize];
                // What is skinned to a joint turns with the link that begins there.
                let link = &poses[(point as usize + 1).min(poses.len() - 1)];
                let away = p - pose.from.as_vec3();
                let offset = pose.place - pose.from;
                moved += weight * (offset.as_vec3() + link.turn.as_quat() * away - away);
            }
            start = end as usize;
            // What does not swing keeps its very bits.
            if moved != Vec3::ZERO {
                mesh.positions[vertex as usize] = p + moved;
            }
        }
    }
}
