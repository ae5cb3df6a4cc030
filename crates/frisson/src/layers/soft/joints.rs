//! Joints of rigid bones: ball and hinge, with limits.
//!
//! ```text
//!      a o------+------o b       one impulse per joint acts on both bones at their common anchor:
//!               ^ p              it keeps the sums of momentum and of angular momentum
//! ```
//!
//! The scheme is RATTLE (H. C. Andersen, 1983) for rigid bodies. Impulses that act where the anchors
//! were at the start of the step are changed until the anchors meet at its end; then others take away
//! what is left of the speed at which they part there. So a swinging figure neither gains energy nor
//! loses it to the solver, and its joints do not drift. Each joint is solved exactly against its two
//! bones, from the root to the tips and back, until all fit.

use glam::{DMat2, DMat3, DVec2, DVec3};

use super::state::BodyState;
use super::structure::{BodyRest, JointRest};
use crate::tolerances::soft as tolerances;

/// Bodies within one step: where they were, and where they are going.
struct Joined<'a> {
    rest: &'a [BodyRest],
    before: &'a [BodyState],
    bodies: &'a mut [BodyState],
    /// Angular momenta about the centres [kg m²/s].
    momenta: &'a mut [DVec3],
    dt: f64,
}

/// Brings joints together at the end of a step, in places and in velocities.
pub fn solve_joints(
    rest: &[BodyRest],
    joints: &[JointRest],
    before: &[BodyState],
    bodies: &mut [BodyState],
    momenta: &mut Vec<DVec3>,
    (dt, damping): (f64, impl Fn(&JointRest) -> f64),
) {
    if joints.is_empty() {
        return;
    }
    // Momenta and not spins are carried along: they stay what they are while a body tumbles.
    momenta.clear();
    momenta.extend(rest.iter().zip(&*bodies).map(|(r, b)| r.momentum(b.rotation, b.spin)));
    let mut joined = Joined { rest, before, bodies, momenta, dt };
    sweep(joints, tolerances::JOINT_GAP, |joint| {
        // Angles first: what turns a bone moves its anchor.
        joined.solve_angles(joint);
        joined.solve_anchor(joint)
    });
    // Between the two: the places are final, and what damping changes is still held together below.
    joints.iter().for_each(|j| joined.damp(j, damping(j)));
    sweep(joints, tolerances::JOINT_GAP / dt, |joint| {
        joined.solve_spins(joint);
        joined.solve_velocity(joint)
    });
}

/// Goes over the joints, from the root to the tips and back, until the greatest error is small enough.
fn sweep(joints: &[JointRest], enough: f64, mut solve: impl FnMut(&JointRest) -> f64) {
    for round in 0..tolerances::JOINT_ROUNDS {
        // Back and forth: an error that was pushed to the tips comes back to the root in the next round.
        let worst = if round % 2 == 0 {
            joints.iter().map(&mut solve).fold(0.0, f64::max)
        } else {
            joints.iter().rev().map(&mut solve).fold(0.0, f64::max)
        };
        if worst <= enough {
            return;
        }
    }
}

fn cross_matrix(v: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, v.z, -v.y),
        DVec3::new(-v.z, 0.0, v.x),
        DVec3::new(v.y, -v.x, 0.0),
    )
}

/// Signed angle of a hinge [rad].
fn hinge_angle(axis: DVec3, a: &BodyState, b: &BodyState) -> f64 {
    // Any will do, as both bodies start with the same axes.
    let side = axis.any_orthonormal_vector();
    let (u, v) = (a.rotation * side, b.rotation * side);
    u.cross(v).dot(a.rotation * axis).atan2(u.dot(v))
}

/// Angle of a bone's direction to where it was at the start, seen from its parent [rad].
fn swing_angle(direction: DVec3, a: &BodyState, b: &BodyState) -> f64 {
    (a.rotation * direction).angle_between(b.rotation * direction)
}

impl Joined<'_> {
    /// An impulse, and an angular one, change a body's momenta; it goes elsewhere by then.
    fn kick(&mut self, body: usize, impulse: DVec3, turn: DVec3) {
        let (rest, from) = (&self.rest[body], &self.before[body]);
        if rest.inverse_mass == 0.0 {
            return;
        }
        let to = &mut self.bodies[body];
        let change = rest.inverse_mass * impulse;
        to.velocity += change;
        to.position += self.dt * change;
        self.momenta[body] += turn;
        // From where it was at the start, with all that it has been kicked by since: no error adds up over rounds.
        to.rotation = rest.turn_freely(from.rotation, self.momenta[body], self.dt);
        to.spin = rest.spin(to.rotation, self.momenta[body]);
    }

    /// The same, but only the velocities change.
    fn nudge(&mut self, body: usize, impulse: DVec3, turn: DVec3) {
        let rest = &self.rest[body];
        if rest.inverse_mass == 0.0 {
            return;
        }
        let to = &mut self.bodies[body];
        to.velocity += rest.inverse_mass * impulse;
        self.momenta[body] += turn;
        to.spin = rest.spin(to.rotation, self.momenta[body]);
    }

    /// How fast the anchors part per impulse, given the arms and where the bodies are.
    fn response(&self, joint: &JointRest, arms: [DVec3; 2], bodies: &[BodyState]) -> DMat3 {
        let mut sum = DMat3::ZERO;
        for (i, &body) in joint.bodies.iter().enumerate() {
            let rest = &self.rest[body];
            let arm = cross_matrix(arms[i]);
            sum += DMat3::from_diagonal(DVec3::splat(rest.inverse_mass))
                - arm * rest.world_inverse_inertia(bodies[body].rotation) * arm;
        }
        sum
    }

    /// Sum of both bodies' inverse inertias.
    fn pliancy(&self, joint: &JointRest) -> DMat3 {
        let of = |b: usize| self.rest[b].world_inverse_inertia(self.bodies[b].rotation);
        of(joint.bodies[0]) + of(joint.bodies[1])
    }

    /// Makes the anchors meet at the end of the step; how far they were apart [m].
    fn solve_anchor(&mut self, joint: &JointRest) -> f64 {
        let [a, b] = joint.bodies;
        let end = |i: usize, body: &BodyState| body.position + body.rotation * joint.anchors[i];
        let gap = end(1, &self.bodies[b]) - end(0, &self.bodies[a]);
        // At the start of the step: from there a kick is integrated.
        let arms = [0, 1].map(|i| self.before[joint.bodies[i]].rotation * joint.anchors[i]);
        let response = self.response(joint, arms, self.before);
        // Both are held.
        if response.determinant() <= 0.0 {
            return 0.0;
        }
        let impulse = response.inverse() * (gap / self.dt);
        self.kick(a, impulse, arms[0].cross(impulse));
        self.kick(b, -impulse, arms[1].cross(-impulse));
        gap.length()
    }

    /// Makes the anchors go the same way; how fast they parted [m/s].
    fn solve_velocity(&mut self, joint: &JointRest) -> f64 {
        let [a, b] = joint.bodies;
        let arms = [0, 1].map(|i| self.bodies[joint.bodies[i]].rotation * joint.anchors[i]);
        let speed = |i: usize, body: &BodyState| body.velocity + body.spin.cross(arms[i]);
        let parting = speed(1, &self.bodies[b]) - speed(0, &self.bodies[a]);
        let response = self.response(joint, arms, self.bodies);
        if response.determinant() <= 0.0 {
            return 0.0;
        }
        // Exact for this joint alone; its neighbours undo some of it, hence the rounds.
        let impulse = response.inverse() * parting;
        self.nudge(a, impulse, arms[0].cross(impulse));
        self.nudge(b, -impulse, arms[1].cross(-impulse));
        parting.length()
    }

    /// The angular impulse across an axis that turns the bodies against each other by `turn` a second.
    fn across(&self, joint: &JointRest, axis: DVec3, turn: DVec3) -> DVec3 {
        let pliancy = self.pliancy(joint);
        let (u, v) = axis.any_orthonormal_pair();
        let (pu, pv) = (pliancy * u, pliancy * v);
        let plane =
            DMat2::from_cols(DVec2::new(pu.dot(u), pu.dot(v)), DVec2::new(pv.dot(u), pv.dot(v)));
        if plane.determinant() <= 0.0 {
            return DVec3::ZERO;
        }
        let s = plane.inverse() * DVec2::new(turn.dot(u), turn.dot(v));
        s.x * u + s.y * v
    }

    /// Turns the second body against the first by an angle about a unit axis within the step.
    fn turn_about(&mut self, joint: &JointRest, axis: DVec3, angle: f64) {
        let pliancy = axis.dot(self.pliancy(joint) * axis);
        if angle != 0.0 && pliancy > 0.0 {
            let impulse = axis * (angle / (self.dt * pliancy));
            self.kick(joint.bodies[1], DVec3::ZERO, impulse);
            self.kick(joint.bodies[0], DVec3::ZERO, -impulse);
        }
    }

    /// Keeps hinges straight, and angles within their limits.
    fn solve_angles(&mut self, joint: &JointRest) {
        let [a, b] = joint.bodies;
        // A figure given beyond a limit comes back within some tenths of a second, not at once.
        let back = (-tolerances::LIMIT_RATE * self.dt).exp();
        if let Some(axis) = joint.hinge {
            let (of_a, of_b) = (self.bodies[a].rotation * axis, self.bodies[b].rotation * axis);
            let start = self.before[a].rotation * axis;
            let impulse = self.across(joint, start, of_b.cross(of_a) / self.dt);
            self.kick(b, DVec3::ZERO, impulse);
            self.kick(a, DVec3::ZERO, -impulse);
            if let Some([low, high]) = joint.angles {
                let was = hinge_angle(axis, &self.before[a], &self.before[b]);
                let (low, high) =
                    (low.min(low + back * (was - low)), high.max(high + back * (was - high)));
                let angle = hinge_angle(axis, &self.bodies[a], &self.bodies[b]);
                self.turn_about(joint, start, angle.clamp(low, high) - angle);
            }
        }
        if let Some((direction, greatest)) = joint.swing {
            let was = swing_angle(direction, &self.before[a], &self.before[b]);
            let most = greatest.max(greatest + back * (was - greatest));
            let angle = swing_angle(direction, &self.bodies[a], &self.bodies[b]);
            if angle > most {
                let (u, v) =
                    (self.bodies[a].rotation * direction, self.bodies[b].rotation * direction);
                let axis = v.cross(u).try_normalize().unwrap_or(u.any_orthonormal_vector());
                self.turn_about(joint, axis, angle - most);
            }
        }
    }

    /// Takes away what turns a hinge's bodies across its axis.
    fn solve_spins(&mut self, joint: &JointRest) {
        let Some(axis) = joint.hinge else { return };
        let [a, b] = joint.bodies;
        let relative = self.bodies[b].spin - self.bodies[a].spin;
        let impulse = self.across(joint, self.bodies[a].rotation * axis, -relative);
        self.nudge(b, DVec3::ZERO, impulse);
        self.nudge(a, DVec3::ZERO, -impulse);
    }

    /// Bones of a fleshy figure do not swing for ever: their relative turning dies away.
    fn damp(&mut self, joint: &JointRest, rate: f64) {
        let [a, b] = joint.bodies;
        let share = 1.0 - (-rate * self.dt).exp();
        let pliancy = self.pliancy(joint);
        if share > 0.0 && pliancy.determinant() > 0.0 {
            let impulse = pliancy.inverse() * (self.bodies[b].spin - self.bodies[a].spin) * share;
            self.nudge(a, DVec3::ZERO, impulse);
            self.nudge(b, DVec3::ZERO, -impulse);
        }
    }
}
