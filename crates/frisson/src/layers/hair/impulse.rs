//! What two overlapping sections do to each other: one impulse along the same shares with opposite
//! signs, so that momentum is kept to rounding.

use glam::Vec3;

use super::interact::{InteractionInput, Shapes};
use super::overlap::{self, Overlap};
use super::sections::{MAX_SAMPLES, NodeShape};

/// How one particle and its samples move.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Motion {
    pub velocity: Vec3,
    /// Rates of the samples [m/s].
    pub rates: [f32; MAX_SAMPLES],
}

impl Motion {
    pub fn new(velocity: Vec3, rates: &[f32]) -> Self {
        let mut all = [0.0; MAX_SAMPLES];
        all[..rates.len()].copy_from_slice(rates);
        Self { velocity, rates: all }
    }
}

/// Lets the sections `a` and `b` act on each other if they overlap. `motions` are those of their four
/// nodes. Tells which phenomenon it was (0 rubbing, 1 collision).
pub(super) fn treat(
    input: &InteractionInput,
    shapes: &Shapes,
    a: usize,
    b: usize,
    motions: &mut [Motion; 4],
) -> Option<usize> {
    if move_together(motions) {
        return None;
    }
    let sum = overlap::between(shapes, a, b)?;
    let (na, nb) = (shapes.first_node(a), shapes.first_node(b));
    let nodes = [na, na + 1, nb, nb + 1].map(|k| &shapes.nodes[k]);
    let velocity = relative_velocity(shapes, &sum, nodes, motions);
    let along = [shapes.sections[a].along, shapes.sections[b].along];
    let (change, kind) = wanted_change(input, &sum, nodes, along, velocity)?;
    let size = change.length();
    if size > super::limits::STILL {
        push(input, shapes, &sum, nodes, motions, change / size, size);
    }
    Some(kind)
}

/// Whether two sections hardly move against each other: then there is nothing to rub or stop, and
/// hair at rest costs nothing.
fn move_together(m: &[Motion; 4]) -> bool {
    let slow = super::limits::SLOW * super::limits::SLOW;
    let together = |x: usize, y: usize| m[x].velocity.distance_squared(m[y].velocity) < slow;
    together(0, 2) && together(1, 3) && together(0, 3) && together(1, 2)
}

/// Velocity of the second section against the first [m/s].
fn relative_velocity(
    shapes: &Shapes,
    pair: &Overlap,
    nodes: [&NodeShape; 4],
    motions: &[Motion; 4],
) -> Vec3 {
    let mut sum = Vec3::ZERO;
    for k in 0..4 {
        let mut share = pair.node_shares[k];
        for s in 0..shapes.samples {
            let of_sample = pair.sample_shares[k][s];
            if of_sample != 0.0 {
                share += of_sample;
                sum += (of_sample * motions[k].rates[s]) * shapes.axis(nodes[k], s);
            }
        }
        sum += share * motions[k].velocity;
    }
    sum / pair.weight
}

/// How the relative velocity should change, and by which phenomenon.
fn wanted_change(
    input: &InteractionInput,
    pair: &Overlap,
    nodes: [&NodeShape; 4],
    along: [Vec3; 2],
    velocity: Vec3,
) -> Option<(Vec3, usize)> {
    let params = input.params;
    let speed = velocity.length();
    if speed < super::limits::STILL {
        return None;
    }
    let across = along[0].cross(along[1]);
    let sine = across.length();
    let parallel = sine < super::limits::PARALLEL;
    let forbidden = if parallel { Vec3::ZERO } else { across / sine };
    let steep = forbidden.dot(velocity).abs() / speed;
    if parallel || steep < params.threshold {
        if !params.friction {
            return None;
        }
        let wet = 1.0 + 4.0 * nodes[0].wetness.max(nodes[2].wetness);
        let decay = -(-params.viscosity * wet * pair.density * input.dt).exp_m1();
        let barred = forbidden * forbidden.dot(velocity);
        return Some((-barred - decay * (velocity - barred), 0));
    }
    let approach = pair.normal.dot(velocity);
    if !params.collisions || approach >= 0.0 {
        return None;
    }
    Some((if params.full { -velocity } else { -approach * pair.normal }, 1))
}

/// Changes the relative velocity by `size` along `direction`, with an impulse along it.
///
/// A node with its samples has kinetic energy `M |v|^2 / 2 + sum m r' u . v + sum m r'^2 / 2`.
/// Of an impulse on a sample the radial part goes to the sample, the rest to the particle; when a
/// particle is pushed its samples keep their own momentum (`r'` drops by `u . dv`). Both are what
/// that energy asks for, so a push never adds energy.
///
/// Where particles that the scalp carries have most of the shares, a small free one would have to
/// take a huge velocity to stop the rest: no particle and no sample gets more than the relative
/// velocity that there is to stop, and the whole impulse shrinks with it.
fn push(
    input: &InteractionInput,
    shapes: &Shapes,
    pair: &Overlap,
    nodes: [&NodeShape; 4],
    motions: &mut [Motion; 4],
    direction: Vec3,
    size: f32,
) {
    let samples = shapes.samples;
    let sample_mass = input.mass_share / samples as f32;
    let mut changes = [Vec3::ZERO; 4];
    let mut gains = [[0.0; MAX_SAMPLES]; 4];
    let mut response = 0.0;
    let mut largest = 0.0f32;
    for k in 0..4 {
        let inverse = nodes[k].inverse_mass;
        if inverse == 0.0 {
            continue;
        }
        let mut total = pair.node_shares[k];
        let mut impulse = pair.node_shares[k] * direction;
        let mut radial_response = 0.0;
        let mut answer = Vec3::ZERO;
        for sample in 0..samples {
            let share = pair.sample_shares[k][sample];
            if share != 0.0 {
                let axis = shapes.axis(nodes[k], sample);
                let radial = direction.dot(axis);
                total += share;
                impulse += share * (direction - radial * axis);
                radial_response += share * share * radial * radial;
                answer += (share * radial) * axis;
                gains[k][sample] = share * radial * inverse / sample_mass;
            }
        }
        // The samples' radial masses stay behind when the particle moves.
        let across = inverse / (1.0 - 0.5 * input.mass_share);
        let normal = nodes[k].normal;
        let change = across * impulse + (inverse - across) * normal.dot(impulse) * normal;
        changes[k] = change;
        response += total * change.dot(direction) - answer.dot(change)
            + radial_response * inverse / sample_mass;
        largest = largest.max(change.length_squared());
        for sample in 0..samples {
            gains[k][sample] -= shapes.axis(nodes[k], sample).dot(change);
            largest = largest.max(gains[k][sample] * gains[k][sample]);
        }
    }
    if response <= 0.0 {
        return;
    }
    let strength = (size * pair.weight / response).min(size / largest.sqrt());
    for k in (0..4).filter(|&k| nodes[k].inverse_mass > 0.0) {
        motions[k].velocity += strength * changes[k];
        for sample in 0..samples {
            motions[k].rates[sample] += strength * gains[k][sample];
        }
    }
}
