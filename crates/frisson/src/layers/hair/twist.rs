//! Twist of a wisp about its own axis.

use glam::Vec4;

use super::chain::MAX_PARTICLES;
use super::lanes::{Lanes, sin_cos};
use super::planes::transport;
use super::state::Wisp;
use super::tick::TickInput;

/// Rest directions turned about the axis by a twist.
pub(super) fn turned(local: Lanes, twists: Vec4) -> Lanes {
    if twists == Vec4::ZERO {
        return local;
    }
    let (sine, cosine) = sin_cos(twists);
    Lanes { x: cosine * local.x - sine * local.y, y: sine * local.x + cosine * local.y, z: local.z }
}

/// Spin of the root about its own direction, and the twist that lags behind it.
///
/// Relative to the carried planes, whose spin is the root's, the twist obeys
/// `theta'' = k (theta_{i-1} - 2 theta_i + theta_{i+1}) - c theta' - spin'`, stepped implicitly. That of a wisp that may
/// rest stays as it is once it hardly changes.
pub(super) fn turn_root(input: &TickInput, wisp: &mut Wisp, may_rest: bool) {
    let pose = &input.roots[wisp.root as usize];
    let n = wisp.positions.len();
    let dt = input.dt as f32;
    let old_along = (wisp.normals[0]).normalize_or(pose.direction);
    // What the least turning would have done is no spin.
    let carried = transport(wisp.root_across, old_along, pose.direction);
    let angle = pose.direction.dot(carried.cross(pose.across)).atan2(carried.dot(pose.across));
    let spin = angle / dt;
    let jerk = spin - wisp.spin;
    wisp.spin = spin;
    wisp.root_across = pose.across;
    let omega = std::f32::consts::TAU * input.params.torsion_hz;
    if omega <= 0.0 {
        return;
    }
    let free = (n - 2) as f32;
    // So that the first mode of a chain of this many planes, held at one end, has the frequency that was asked for.
    let k = (omega * 2.0 * free / std::f32::consts::PI).powi(2);
    let c = 2.0 * input.params.torsion_damping_ratio * omega;
    let off = dt * dt * k;
    let mut upper = [0.0f32; MAX_PARTICLES];
    let mut right = [0.0f32; MAX_PARTICLES];
    for i in 2..n {
        let theta = |j: usize| wisp.twists[j.min(n - 1)];
        let bent = theta(i - 1) - 2.0 * theta(i) + theta(i + 1);
        // The tip is free: nothing beyond it holds it back.
        let neighbours = if i + 1 < n { 2.0 } else { 1.0 };
        let diagonal = 1.0 + dt * c + neighbours * off;
        let force = wisp.twist_velocities[i] - jerk + dt * k * bent;
        let pivot = diagonal - if i > 2 { off * upper[i - 1] } else { 0.0 };
        upper[i] = off / pivot;
        right[i] = (force + if i > 2 { off * right[i - 1] } else { 0.0 }) / pivot;
    }
    for i in (2..n).rev() {
        let next = if i + 1 < n { upper[i] * wisp.twist_velocities[i + 1] } else { 0.0 };
        wisp.twist_velocities[i] = right[i] + next;
    }
    let hardly = |rate: &f32| rate.abs() < super::limits::RESTING_TWIST;
    if may_rest && wisp.twist_velocities[2..].iter().all(hardly) {
        wisp.twist_velocities[2..].fill(0.0);
        return;
    }
    for (twist, rate) in wisp.twists.iter_mut().zip(&wisp.twist_velocities).skip(2) {
        *twist += dt * rate;
    }
}
