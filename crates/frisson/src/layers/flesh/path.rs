//! The way of what carries the flesh: a frame at the middle of the virtual bone, and how it moves on.

use glam::{DQuat, DVec3, Mat4};

use super::rest::FleshRest;
use super::spring::{StaticFrame, rotation_vector};
use super::state::FleshState;
use crate::character::rotation_of;
use crate::stage::Actor;
use crate::tolerances::flesh as tolerances;

/// How the static frame moves on from a time.
pub(super) struct Departure {
    pub frame: StaticFrame,
    /// [m/s] and [m/s²].
    pub velocity: DVec3,
    pub acceleration: DVec3,
    /// [rad/s] and [rad/s²].
    pub angular_velocity: DVec3,
    pub angular_acceleration: DVec3,
}

impl Departure {
    /// From differences over a short while.
    pub fn from(rest: &FleshRest, actor: &Actor, time: f64) -> Self {
        // Longer than a grid interval: second differences of f32 positions would be noise.
        let span = tolerances::DEPARTURE_SECONDS;
        let at = |k: f64| in_static_frame(rest, actor.joint_at(&rest.joint_path, time + k * span));
        let [a, b, c] = [at(0.0), at(1.0), at(2.0)];
        let turn = |a: StaticFrame, b: StaticFrame| {
            rotation_vector(b.rotation * a.rotation.inverse()) / span
        };
        let (first, second) = ((b.position - a.position) / span, (c.position - b.position) / span);
        let (turned, turned_on) = (turn(a, b), turn(b, c));
        let (acceleration, angular_acceleration) =
            ((second - first) / span, (turned_on - turned) / span);
        // The speed is that of the first grid interval, so that what went before joins it without a kick.
        // `at` counts in spans.
        let soon = at(1.0 / (span * tolerances::GRID_HZ));
        let share = span * tolerances::GRID_HZ;
        // Rounding of f32 positions must not move what stands.
        let noise = tolerances::SAME_PLACE * (1.0 + a.position.length()) / (span * span);
        let real = |a: DVec3, noise: f64| if a.length() <= noise { DVec3::ZERO } else { a };
        Self {
            frame: a,
            velocity: (soon.position - a.position) * tolerances::GRID_HZ,
            acceleration: real(acceleration, noise),
            angular_velocity: share * turn(a, soon),
            angular_acceleration: real(
                angular_acceleration,
                tolerances::SAME_POSE_FRACTION / (span * span),
            ),
        }
    }

    /// Where the frame was some seconds before.
    fn before(&self, seconds: f64) -> StaticFrame {
        let square = 0.5 * seconds * seconds;
        let turn = -seconds * self.angular_velocity + square * self.angular_acceleration;
        StaticFrame {
            position: self.frame.position - seconds * self.velocity + square * self.acceleration,
            rotation: DQuat::from_scaled_axis(turn) * self.frame.rotation,
        }
    }
}

/// The frame at a time.
pub(super) fn static_frame(rest: &FleshRest, actor: &Actor, time: f64) -> StaticFrame {
    match rest.clip_begin {
        // A clip is held before its first key: to stand and be off at once would fling the flesh.
        Some(begin) if time < begin => Departure::from(rest, actor, begin).before(begin - time),
        _ => in_static_frame(rest, actor.joint_at(&rest.joint_path, time)),
    }
}

/// The frame that a joint carries.
pub(super) fn in_static_frame(rest: &FleshRest, joint: Mat4) -> StaticFrame {
    StaticFrame {
        position: joint.transform_point3(rest.joint_from_middle).as_dvec3(),
        rotation: rotation_of(joint).as_dquat(),
    }
}

/// Poses the static frame at every other grid time of a step.
pub(super) fn sample_path(
    rest: &FleshRest,
    actor: &Actor,
    state: &FleshState,
    (start, spacing, pairs): (f64, f64, usize),
    nodes: &mut Vec<StaticFrame>,
) {
    // From where the last step ended, so that steps join without a gap.
    let first = match state.path {
        Some(path) => StaticFrame { position: path.position, rotation: path.rotation },
        None => static_frame(rest, actor, start),
    };
    nodes.clear();
    nodes.push(first);
    nodes.extend((1..=pairs).map(|i| static_frame(rest, actor, start + spacing * i as f64)));
}

/// The static frame at a grid time, in half spacings of the sampled nodes. Between nodes positions
/// follow the cubic through the four nearest (the error is of fourth order), rotations the arc.
pub(super) fn path_at(nodes: &[StaticFrame], grid: usize) -> StaticFrame {
    let k = grid / 2;
    if grid.is_multiple_of(2) {
        return nodes[k];
    }
    let p = |i: usize| nodes[i].position;
    let position = match nodes.len() {
        0..3 => 0.5 * (p(k) + p(k + 1)),
        // The parabola through all three: there is no fourth.
        3 => {
            let far = if k == 0 { 2 } else { 0 };
            (3.0 * p(2 * k) + 6.0 * p(1) - p(far)) / 8.0
        }
        _ if k == 0 => one_sided(p(0), p(1), p(2), p(3)),
        count if k + 2 == count => one_sided(p(k + 1), p(k), p(k - 1), p(k - 2)),
        // The cubic through the two on either side: the spring feels acceleration, and a straight line has corners.
        _ => (9.0 * (p(k) + p(k + 1)) - p(k - 1) - p(k + 2)) / 16.0,
    };
    let (a, b) = (nodes[k].rotation, nodes[k + 1].rotation);
    // Half-way on the arc is the mean of its ends, made a rotation again.
    let near = if a.dot(b) < 0.0 { -b } else { b };
    StaticFrame { position, rotation: (a + near).normalize() }
}

/// The middle between the first two of four evenly spaced points.
fn one_sided(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> DVec3 {
    (5.0 * a + 15.0 * b - 5.0 * c + d) / 16.0
}
