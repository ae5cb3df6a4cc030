//! What two overlapping sections do to each other: one impulse along the same shares with opposite
//! signs, so that momentum is kept to rounding.

use glam::{Vec3, Vec4};

use super::bonds::Bond;
use super::interact::InteractionInput;
use super::overlap::{self, Near, Overlap};
use super::sections::{GROUPS, NodeShape};
use super::shapes::Shapes;

/// How one particle and its samples move.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Motion {
    pub velocity: Vec3,
    /// Rates of the samples [m/s], in groups of four.
    pub rates: [Vec4; GROUPS],
    /// How far dry friction held it back within this tick [m].
    pub shift: Vec3,
}

impl Motion {
    pub fn new(velocity: Vec3, rates: &[f32]) -> Self {
        let rate = |k: usize| rates.get(k).copied().unwrap_or(0.0);
        let rates =
            std::array::from_fn(|g| Vec4::from_array(std::array::from_fn(|k| rate(4 * g + k))));
        Self { velocity, rates, shift: Vec3::ZERO }
    }
}

/// Lets the sections `a` and `b`, whose axes come close, act on each other if they overlap. `motions`
/// are those of their four nodes. Tells which phenomenon it was (0 rubbing, 1 collision), and what holds
/// them from now on.
pub(super) fn treat(
    input: &InteractionInput,
    shapes: &Shapes,
    near: &Near,
    motions: &mut [Motion; 4],
) -> (Option<usize>, Option<Bond>) {
    let Some(sum) = overlap::between(shapes, near) else { return (None, None) };
    let kind = rub_or_collide(input, shapes, (near, &sum), motions);
    if !input.holds {
        return (kind, None);
    }
    let mut bond = Bond::find(input.bonds, shapes, near);
    // Only what rubs takes hold; what collides leaves each other.
    if bond.is_none() && kind == Some(0) {
        bond = Some(Bond::new(shapes, near, motions));
    }
    if let Some(bond) = &mut bond {
        let farthest = withstood(input, &sum, near.nodes(shapes)) * input.tick * input.tick;
        bond.hold(shapes, motions, farthest);
    }
    (kind, bond)
}

/// Acceleration against each other that dry friction of two sections withstands [m/s²].
fn withstood(input: &InteractionInput, pair: &Overlap, nodes: [&NodeShape; 4]) -> f32 {
    let grip = nodes[0].grip.min(nodes[2].grip);
    input.params.dry_limit() * grip * wet_factor(nodes) * pair.density
}

/// How much more wet hair rubs [-].
fn wet_factor(nodes: [&NodeShape; 4]) -> f32 {
    1.0 + 4.0 * nodes[0].wetness.max(nodes[2].wetness)
}

/// Changes the motions of two sections that overlap. Tells which phenomenon it was.
fn rub_or_collide(
    input: &InteractionInput,
    shapes: &Shapes,
    (near, sum): (&Near, &Overlap),
    motions: &mut [Motion; 4],
) -> Option<usize> {
    let nodes = near.nodes(shapes);
    let velocity = relative_velocity(shapes, sum, nodes, motions);
    let along = [shapes.sections[near.sections[0]].along, shapes.sections[near.sections[1]].along];
    let wanted = wanted_change(input, sum, nodes, along, velocity)?;
    let size = wanted.change.length();
    if size > super::limits::STILL {
        // Within the tick just taken, what dry friction stops has not moved at all. Never more than
        // that tick: taking back older motion would lift hair again that has come down, for ever.
        let held = if input.holds { wanted.dry / size * input.tick } else { 0.0 };
        push(input, shapes, sum, nodes, motions, (wanted.change / size, size, held));
    }
    Some(wanted.kind)
}

/// Whether two sections hardly move against each other: then there is nothing to rub or stop, and
/// hair at rest costs nothing.
pub(super) fn move_together(input: &InteractionInput, [a, b]: [[&Motion; 2]; 2]) -> bool {
    if input.holds {
        // What holds may be drawn apart ever so slowly.
        return false;
    }
    // The more friction can hold, the slower is what it still has to stop.
    let slow = super::limits::SLOW / (1.0 + input.params.dry_limit());
    let slow = slow * slow;
    let together = |x: &Motion, y: &Motion| x.velocity.distance_squared(y.velocity) < slow;
    together(a[0], b[0]) && together(a[1], b[1]) && together(a[0], b[1]) && together(a[1], b[0])
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
        let (mut share, mut a, mut b) = (pair.node_shares[k], 0.0, 0.0);
        for g in 0..shapes.groups() {
            let shares = pair.samples(k, g);
            let moved = shares * motions[k].rates[g];
            share += shares.element_sum();
            a += moved.dot(shapes.cosines[g]);
            b += moved.dot(shapes.sines[g]);
        }
        sum += share * motions[k].velocity + a * nodes[k].across + b * nodes[k].second;
    }
    sum / pair.weight
}

/// How the relative velocity of two sections should change.
struct Wanted {
    change: Vec3,
    /// Part of it that is dry friction [m/s].
    dry: f32,
    /// Which phenomenon it is (0 rubbing, 1 collision).
    kind: usize,
}

/// How the relative velocity should change.
///
/// Interpenetrating hair rubs like a paste: beyond a part that decays with time (viscous) there is
/// one that any motion must overcome (dry), so that wisps drawn apart by less do not creep but hold.
fn wanted_change(
    input: &InteractionInput,
    pair: &Overlap,
    nodes: [&NodeShape; 4],
    along: [Vec3; 2],
    velocity: Vec3,
) -> Option<Wanted> {
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
    let grip = nodes[0].grip.min(nodes[2].grip);
    if parallel || steep < params.threshold {
        if !params.friction {
            return None;
        }
        let wet = wet_factor(nodes);
        let decay = -(-params.viscosity * grip * wet * pair.density * input.share()).exp_m1();
        let barred = forbidden * forbidden.dot(velocity);
        let free = velocity - barred;
        let left = (1.0 - decay) * free.length();
        let dry = left.min(withstood(input, pair, nodes) * input.share());
        // Viscous and dry parts together never turn the motion around.
        let change = -grip * barred - free.clamp_length_max(decay * free.length() + dry);
        return Some(Wanted { change, dry, kind: 0 });
    }
    let approach = pair.normal.dot(velocity);
    if !params.collisions || approach >= 0.0 {
        return None;
    }
    let change = grip * if params.full { -velocity } else { -approach * pair.normal };
    Some(Wanted { change, dry: 0.0, kind: 1 })
}

/// Changes the relative velocity by `size` along `direction`, with an impulse along it. `held`: for
/// how long the particles already went at the speed that is taken off [s], at most a tick.
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
    (direction, size, held): (Vec3, f32, f32),
) {
    let sample_mass = input.mass_share / shapes.samples as f32;
    let mut changes = [Vec3::ZERO; 4];
    let mut gains = [[Vec4::ZERO; GROUPS]; 4];
    let mut response = 0.0;
    let mut largest = 0.0f32;
    for k in 0..4 {
        let inverse = nodes[k].inverse_mass;
        if inverse == 0.0 {
            continue;
        }
        // Everything in the axes of the node's plane: first, second, normal.
        let node = nodes[k];
        let d = Vec3::new(
            direction.dot(node.across),
            direction.dot(node.second),
            direction.dot(node.normal),
        );
        let (mut total, mut radial_response) = (pair.node_shares[k], 0.0);
        let (mut answer_x, mut answer_y) = (0.0, 0.0);
        for g in 0..shapes.groups() {
            let shares = pair.samples(k, g);
            let radial = shares * (d.x * shapes.cosines[g] + d.y * shapes.sines[g]);
            total += shares.element_sum();
            radial_response += radial.length_squared();
            answer_x += radial.dot(shapes.cosines[g]);
            answer_y += radial.dot(shapes.sines[g]);
            gains[k][g] = radial * (inverse / sample_mass);
        }
        let answer = Vec3::new(answer_x, answer_y, 0.0);
        let impulse = total * d - answer;
        // The samples' radial masses stay behind when the particle moves.
        // On two axes across the wisp each pair of samples leaves its mass behind, along it none does.
        let across = inverse / (1.0 - 0.5 * input.mass_share);
        let change = Vec3::new(across * impulse.x, across * impulse.y, inverse * impulse.z);
        changes[k] = change.x * node.across + change.y * node.second + change.z * node.normal;
        response += change.dot(impulse) + radial_response * inverse / sample_mass;
        largest = largest.max(change.length_squared());
        for g in 0..shapes.groups() {
            gains[k][g] -= change.x * shapes.cosines[g] + change.y * shapes.sines[g];
            largest = largest.max((gains[k][g] * gains[k][g]).max_element());
        }
    }
    if response <= 0.0 {
        return;
    }
    let strength = (size * pair.weight / response).min(size / largest.sqrt());
    for k in (0..4).filter(|&k| nodes[k].inverse_mass > 0.0) {
        motions[k].velocity += strength * changes[k];
        motions[k].shift += held * strength * changes[k];
        for g in 0..shapes.groups() {
            motions[k].rates[g] += strength * gains[k][g];
        }
    }
}
