//! The elastic envelope: small masses on half-axes around each particle.
//!
//! `m r'' = (F_ext - m a_p) . u - k (r - r0) - c r'`, implicit in the spring and the damper. What a
//! sample gains along its half-axis the particle loses: that is what gives a wisp its thickness
//! against bodies and neighbours.

use glam::Vec3;

use super::chain::MAX_PARTICLES;
use super::rest::WispRoot;
use super::state::Wisp;
use super::tick::{Around, Drive, TickInput};

/// Share of a particle's mass that one sample carries [-].
pub(super) fn sample_share(input: &TickInput) -> f32 {
    input.params.envelope.mass_share / input.rest.directions.len() as f32
}

/// Rest radius of a plane of a wisp [m].
pub(super) fn rest_radius(root: &WispRoot, wisp: &Wisp, plane: usize, wetness: f32) -> f32 {
    if plane < 2 {
        return root.radii[plane];
    }
    root.radii[plane] * wisp.radius_scale * (1.0 - 0.6 * wetness)
}

/// Advances the samples by one tick.
pub(super) fn integrate(
    input: &TickInput,
    wisp: &mut Wisp,
    drive: &Drive,
    before: &[Vec3; MAX_PARTICLES],
    root: &WispRoot,
) {
    let dt = input.dt as f32;
    let samples = input.rest.directions.len();
    let omega = std::f32::consts::TAU * input.params.envelope.frequency_hz;
    let (k, c) = (omega * omega, 2.0 * input.params.envelope.damping_ratio * omega);
    let drag = input.drag as f32;
    let wet = input.wetness[wisp.root as usize];
    for i in 2..wisp.positions.len() {
        let own = (wisp.velocities[i] - before[i]) / dt;
        let outer = drive.accelerations[i] + drag * (drive.air[i] - wisp.velocities[i]);
        let felt = outer - own;
        let rest = rest_radius(root, wisp, i, wet);
        for s in 0..samples {
            let index = i * samples + s;
            let axis = wisp.half_axis(i, input.rest.directions[s]);
            let (r, rate) = (wisp.radii[index], wisp.radial_velocities[index]);
            let push = felt.dot(axis) - k * (r - rest);
            let new_rate = (rate + dt * push) / (1.0 + dt * c + dt * dt * k);
            let new_r = (r + dt * new_rate).clamp(0.02 * rest, super::limits::WIDEST * rest);
            wisp.radii[index] = new_r;
            wisp.radial_velocities[index] = (new_r - r) / dt;
        }
    }
}

/// What the samples give back to the particles during the next tick: `-m r''` along each half-axis,
/// where a sample held by a body still pushes with its whole spring.
pub(super) fn react(
    input: &TickInput,
    wisp: &mut Wisp,
    drive: &Drive,
    before: &[Vec3; MAX_PARTICLES],
    root: &WispRoot,
) {
    let dt = input.dt as f32;
    let samples = input.rest.directions.len();
    let omega = std::f32::consts::TAU * input.params.envelope.frequency_hz;
    let (k, c) = (omega * omega, 2.0 * input.params.envelope.damping_ratio * omega);
    // The reaction acts one tick late: a spring too hard for the tick gives back less, not more.
    let share = sample_share(input) * (0.5 / (dt * dt * k * sample_share(input))).min(1.0);
    let drag = input.drag as f32;
    let wet = input.wetness[wisp.root as usize];
    for i in 2..wisp.positions.len() {
        let own = (wisp.velocities[i] - before[i]) / dt;
        let felt = drive.accelerations[i] + drag * (drive.air[i] - wisp.velocities[i]) - own;
        let rest = rest_radius(root, wisp, i, wet);
        let mut reaction = Vec3::ZERO;
        for s in 0..samples {
            let index = i * samples + s;
            let axis = wisp.half_axis(i, input.rest.directions[s]);
            let spring = k * (wisp.radii[index] - rest) + c * wisp.radial_velocities[index];
            reaction -= axis * (share * (felt.dot(axis) - spring));
        }
        // Only a head-on crash gets near this; the chain must never be shot off by its envelope.
        wisp.reactions[i] = reaction.clamp_length_max(200.0);
    }
}

/// Keeps the samples out of bodies: back along the half-axis to the crossing nearest the particle.
pub(super) fn collide(input: &TickInput, wisp: &mut Wisp, around: &Around) {
    let samples = input.rest.directions.len();
    let margin = 0.5 * input.params.body.margin;
    let Some(bodies) = input.bodies.last() else { return };
    let per_tick = input.bodies.len() as f32 / input.dt as f32;
    for i in 2..wisp.positions.len() {
        let (p, own) = (wisp.positions[i], wisp.velocities[i]);
        let widest = wisp.radii[i * samples..(i + 1) * samples].iter().copied().fold(0.0, f32::max);
        let near = around.near[i];
        if near == 0 && around.planes[i].is_none() {
            continue;
        }
        for (k, body) in bodies.iter().enumerate().filter(|(k, _)| near >> (*k).min(63) & 1 == 1) {
            let margin = margin.min(around.heights.at(i, k) - margin);
            if body.is_clear(p, widest + margin) || body.distance(p).0 > 2.0 * widest + margin {
                continue;
            }
            let carried = body.carried(p) * per_tick;
            for s in 0..samples {
                let axis = wisp.half_axis(i, input.rest.directions[s]);
                let index = i * samples + s;
                let met = trace(|t| body.distance(p + t * axis).0 - margin, wisp.radii[index]);
                stop(wisp, index, met, (carried - own).dot(axis));
            }
        }
        if let Some(plane) = &around.planes[i] {
            let carried = plane.carried / input.dt as f32;
            for s in 0..samples {
                let axis = wisp.half_axis(i, input.rest.directions[s]);
                let index = i * samples + s;
                let met = plane.meets(p, axis, margin).filter(|t| *t < wisp.radii[index]);
                stop(wisp, index, met, (carried - own).dot(axis));
            }
        }
    }
}

/// A sample that met a body: it stays at the crossing and does not move into the body.
fn stop(wisp: &mut Wisp, index: usize, met: Option<f32>, closing: f32) {
    let Some(at) = met else { return };
    wisp.radii[index] = at.max(1.0e-5);
    wisp.radial_velocities[index] = wisp.radial_velocities[index].min(closing);
}

/// First zero of a distance along a half-axis, if it comes before `limit` (sphere tracing).
fn trace(distance: impl Fn(f32) -> f32, limit: f32) -> Option<f32> {
    let mut t = 0.0;
    for _ in 0..16 {
        let d = distance(t);
        if d < 2.0e-5 {
            return Some(t);
        }
        t += d;
        if t >= limit {
            return None;
        }
    }
    Some(t)
}
