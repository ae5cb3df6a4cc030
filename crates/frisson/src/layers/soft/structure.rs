//! What is inside: how bodies move, and the joints of rigid bones.
//!
//! Articulated figures are solved by positions: each step moves the bodies freely, then brings the
//! joints together (M. Müller et al., *Detailed rigid body simulation with extended position based
//! dynamics*, 2020), and takes velocities from the positions. It needs no library for a handful of
//! ball and hinge joints, and gives the same bits everywhere.

use glam::{DMat3, DQuat, DVec3};

use super::state::BodyState;
use crate::stage::Animated;
use crate::tolerances::soft as tolerances;

/// How a body moves.
#[derive(Clone, Debug)]
pub enum Drive {
    /// By forces.
    Free,
    /// By keys: displacement from its start.
    Keyed([Animated; 3], [Animated; 3]),
    /// By two joints of a character.
    Joints {
        /// Actor.
        actor: usize,
        /// Node whose axes it takes.
        from: usize,
        /// Node at the other end.
        to: usize,
        /// Part of the way between them that is coated.
        span: [f64; 2],
        /// Displacement in the first node's axes [m].
        offset: DVec3,
        /// Displacement of the other end, if it hangs on the first node as well [m].
        tip: Option<DVec3>,
    },
    /// By the joints that move the skin around it, as skin is: the weighted mean of where each would
    /// carry it.
    Skin {
        /// Actor.
        actor: usize,
        /// Nodes with weights, and its place in their axes [m]; the strongest first.
        nodes: Vec<(usize, f64, DVec3)>,
    },
    /// By an actor that moves as one piece.
    Rigid {
        /// Actor.
        actor: usize,
        /// Place in its source pose [m].
        at: DVec3,
    },
}

/// A body that never changes.
#[derive(Clone, Debug)]
pub struct BodyRest {
    /// How it moves.
    pub drive: Drive,
    /// Position at the start [m].
    pub start: DVec3,
    /// 1 / mass [1/kg]; 0: nothing moves it.
    pub inverse_mass: f64,
    /// Inverse of the inertia, body axes [1/(kg m²)]; zero: it does not turn.
    pub inverse_inertia: DMat3,
}

impl BodyRest {
    /// Inverse inertia in world axes.
    #[must_use]
    pub fn world_inverse_inertia(&self, rotation: DQuat) -> DMat3 {
        let r = DMat3::from_quat(rotation);
        r * self.inverse_inertia * r.transpose()
    }
}

/// A joint between two bodies.
#[derive(Clone, Debug)]
pub struct JointRest {
    /// Parent and child body.
    pub bodies: [usize; 2],
    /// Where they meet, in each body's axes [m].
    pub anchors: [DVec3; 2],
    /// Hinge axis, the same in both bodies at the start.
    pub hinge: Option<DVec3>,
    /// Least and greatest angle of a hinge [rad].
    pub angles: Option<[f64; 2]>,
    /// Direction of the child's bone at the start, and its greatest swing [rad].
    pub swing: Option<(DVec3, f64)>,
}

/// Moves the free bodies by the forces they know.
pub fn integrate_bodies(
    rest: &[BodyRest],
    bodies: &mut [BodyState],
    dt: f64,
    acceleration: impl Fn(DVec3) -> DVec3,
    drag: f64,
) {
    for (rest, body) in rest.iter().zip(bodies) {
        if rest.inverse_mass == 0.0 {
            continue;
        }
        let slow = (-drag * dt).exp();
        let pull = body.force * rest.inverse_mass + acceleration(body.position);
        body.velocity = (body.velocity + dt * pull) * slow;
        body.position += dt * body.velocity;
        if rest.inverse_inertia != DMat3::ZERO {
            let inverse = rest.world_inverse_inertia(body.rotation);
            let momentum_change = body.torque * dt;
            body.spin = (body.spin + inverse * momentum_change) * slow;
            body.rotation = turned(body.rotation, dt * body.spin);
        }
    }
}

fn turned(rotation: DQuat, by: DVec3) -> DQuat {
    (DQuat::from_scaled_axis(by) * rotation).normalize()
}

/// Brings joints together and takes the velocities from where the bodies went.
pub fn solve_joints(
    rest: &[BodyRest],
    joints: &[JointRest],
    before: &[BodyState],
    bodies: &mut [BodyState],
    dt: f64,
) {
    if joints.is_empty() {
        return;
    }
    for _ in 0..tolerances::JOINT_ROUNDS {
        for joint in joints {
            solve_angles(rest, joint, bodies);
            solve_anchor(rest, joint, bodies);
        }
    }
    for joint in joints {
        for &b in &joint.bodies {
            if rest[b].inverse_mass == 0.0 {
                continue;
            }
            let (old, new) = (&before[b], &mut bodies[b]);
            new.velocity = (new.position - old.position) / dt;
            let mut way = new.rotation * old.rotation.inverse();
            if way.w < 0.0 {
                way = -way;
            }
            new.spin = way.to_scaled_axis() / dt;
        }
    }
    damp_joints(rest, joints, bodies, dt);
}

/// Bones of a fleshy figure do not swing for ever: their relative turning dies away.
fn damp_joints(rest: &[BodyRest], joints: &[JointRest], bodies: &mut [BodyState], dt: f64) {
    let share = 0.5 * (1.0 - (-tolerances::JOINT_DAMPING * dt).exp());
    for joint in joints {
        let [a, b] = joint.bodies;
        let relative = bodies[b].spin - bodies[a].spin;
        let (ia, ib) = (
            rest[a].world_inverse_inertia(bodies[a].rotation),
            rest[b].world_inverse_inertia(bodies[b].rotation),
        );
        let both = ia + ib;
        if both.determinant().abs() > 1e-12 {
            let impulse = both.inverse() * (relative * share);
            bodies[a].spin += ia * impulse;
            bodies[b].spin -= ib * impulse;
        }
    }
}

fn solve_anchor(rest: &[BodyRest], joint: &JointRest, bodies: &mut [BodyState]) {
    let [a, b] = joint.bodies;
    let arms = [0, 1].map(|i| bodies[joint.bodies[i]].rotation * joint.anchors[i]);
    let gap = (bodies[b].position + arms[1]) - (bodies[a].position + arms[0]);
    let distance = gap.length();
    if distance <= 0.0 {
        return;
    }
    let n = gap / distance;
    let inverse = [0, 1].map(|i| {
        let body = joint.bodies[i];
        rest[body].world_inverse_inertia(bodies[body].rotation)
    });
    let weight = |i: usize| {
        let lever = arms[i].cross(n);
        rest[joint.bodies[i]].inverse_mass + lever.dot(inverse[i] * lever)
    };
    let sum = weight(0) + weight(1);
    if sum <= 0.0 {
        return;
    }
    let impulse = n * (distance / sum);
    for (i, (body, sign)) in [(a, 1.0), (b, -1.0)].into_iter().enumerate() {
        bodies[body].position += sign * rest[body].inverse_mass * impulse;
        let turn = inverse[i] * arms[i].cross(sign * impulse);
        bodies[body].rotation = turned(bodies[body].rotation, turn);
    }
}

/// Turns both bodies by `correction` in all, the lighter one more.
fn turn_apart(rest: &[BodyRest], joint: &JointRest, bodies: &mut [BodyState], correction: DVec3) {
    let angle = correction.length();
    if angle <= 1e-12 {
        return;
    }
    let axis = correction / angle;
    let [a, b] = joint.bodies;
    let inverse = [a, b].map(|i| rest[i].world_inverse_inertia(bodies[i].rotation));
    let (wa, wb) = (axis.dot(inverse[0] * axis), axis.dot(inverse[1] * axis));
    if wa + wb <= 0.0 {
        return;
    }
    bodies[a].rotation = turned(bodies[a].rotation, -correction * (wa / (wa + wb)));
    bodies[b].rotation = turned(bodies[b].rotation, correction * (wb / (wa + wb)));
}

fn solve_angles(rest: &[BodyRest], joint: &JointRest, bodies: &mut [BodyState]) {
    let [a, b] = joint.bodies;
    if let Some(axis) = joint.hinge {
        let (of_a, of_b) = (bodies[a].rotation * axis, bodies[b].rotation * axis);
        turn_apart(rest, joint, bodies, of_b.cross(of_a));
        if let Some([low, high]) = joint.angles {
            let axis_now = bodies[a].rotation * axis;
            let side = axis.any_orthonormal_vector();
            let (u, v) = (bodies[a].rotation * side, bodies[b].rotation * side);
            let angle = u.cross(v).dot(axis_now).atan2(u.dot(v));
            turn_apart(rest, joint, bodies, axis_now * (angle.clamp(low, high) - angle));
        }
    }
    if let Some((direction, greatest)) = joint.swing {
        let (u, v) = (bodies[a].rotation * direction, bodies[b].rotation * direction);
        let angle = u.angle_between(v);
        if angle > greatest {
            let axis = v.cross(u).normalize_or(u.any_orthonormal_vector());
            turn_apart(rest, joint, bodies, axis * (angle - greatest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hanging_chain_keeps_its_joints_and_swings_no_further_than_allowed() {
        let body = |x: f64, fixed: bool| BodyRest {
            drive: Drive::Free,
            start: DVec3::X * x,
            inverse_mass: if fixed { 0.0 } else { 1.0 },
            inverse_inertia: if fixed { DMat3::ZERO } else { DMat3::IDENTITY * 12.0 },
        };
        let rest = [body(0.0, true), body(1.0, false), body(2.0, false)];
        let mut bodies: Vec<BodyState> =
            rest.iter().map(|r| BodyState { position: r.start, ..BodyState::default() }).collect();
        let joint = |a: usize, swing: Option<(DVec3, f64)>| JointRest {
            bodies: [a, a + 1],
            anchors: [DVec3::X * 0.5, DVec3::X * -0.5],
            hinge: None,
            angles: None,
            swing,
        };
        let joints = [joint(0, None), joint(1, Some((DVec3::X, 0.3)))];
        for _ in 0..600 {
            let before = bodies.clone();
            integrate_bodies(&rest, &mut bodies, 0.005, |_| DVec3::Y * -9.81, 0.0);
            solve_joints(&rest, &joints, &before, &mut bodies, 0.005);
            for j in &joints {
                let [a, b] = j.bodies;
                let at = |i: usize, body: usize| {
                    bodies[body].position + bodies[body].rotation * j.anchors[i]
                };
                assert!(at(0, a).distance(at(1, b)) < 0.02);
            }
            let bend = (bodies[1].rotation * DVec3::X).angle_between(bodies[2].rotation * DVec3::X);
            assert!(bend < 0.36, "{bend}");
        }
        assert!(bodies[2].position.y < -0.8 && bodies.iter().all(|b| b.position.is_finite()));
    }
}
