//! One tick of one wisp: chain sub-steps, twist, planes, envelope.

use glam::{DVec3, Mat3, Vec3};

use super::chain::{Chain, ChainInput, Goal, MAX_PARTICLES};
use super::contact::{self, Heights, PosedBody};
use super::envelope;
use super::mesh_contact::{MeshPlane, find_mesh_planes};
use super::params::HairParams;
use super::planes::{compute_planes, transport};
use super::rest::{HairRest, RootPose, WispRoot};
use super::state::Wisp;
use crate::stage::SurfaceMotion;

/// What all wisps share during a tick.
pub(super) struct TickInput<'a> {
    pub rest: &'a HairRest,
    pub params: &'a HairParams,
    /// Roots at the start and at the end of the tick.
    pub roots_before: &'a [RootPose],
    pub roots: &'a [RootPose],
    /// Bodies at the end of every sub-step.
    pub bodies: &'a [Vec<PosedBody>],
    pub meshes: &'a [SurfaceMotion],
    /// Length of the tick [s].
    pub dt: f64,
    /// Drag rate [1/s].
    pub drag: f64,
    /// Stiffness per mass of the pull to the style, to ties and to braids [1/s²].
    pub goal_rate_sq: f64,
    pub tie_rates_sq: &'a [f64],
    pub braid_rates_sq: &'a [f64],
    /// Wetness of each root [-].
    pub wetness: &'a [f32],
    /// Friction with bodies is left out while styling, so that the style balances without it.
    pub friction: bool,
}

/// Per-wisp forces of a tick.
pub(super) struct Drive<'a> {
    /// Acceleration at each particle, gravity included [m/s²].
    pub accelerations: &'a [Vec3],
    /// Velocity of the air at each particle [m/s].
    pub air: &'a [Vec3],
}

/// Advances a wisp by one tick. Returns whether its root jumped and it was carried along.
pub(super) fn integrate_wisp(
    input: &TickInput,
    wisp: &mut Wisp,
    drive: &Drive,
    chain: &mut Chain,
) -> bool {
    let root = &input.rest.roots[wisp.root as usize];
    let pose = &input.roots[wisp.root as usize];
    let carried = pose.carried(root);
    let jumped = carried[1].distance(wisp.positions[1])
        > super::limits::TELEPORT * root.length + 0.05
        || !carried[1].is_finite();
    if jumped {
        carry_along(wisp, pose, carried);
    }
    let mut planes = [None; MAX_PARTICLES];
    if !input.meshes.is_empty() {
        find_mesh_planes(input, wisp, &mut planes);
    }
    let mut before = [Vec3::ZERO; MAX_PARTICLES];
    before[..wisp.velocities.len()].copy_from_slice(&wisp.velocities);
    let near = find_bodies(input, wisp);
    let none = Vec::new();
    let bodies = input.bodies.last().unwrap_or(&none);
    let heights = Heights::new(bodies, carried[1], root.segment, input.params.body.margin);
    let around = Around { planes: &planes, near: &near, heights: &heights };
    integrate_chain(input, wisp, drive, chain, root, carried, &around);
    turn_root(input, wisp, pose, root);
    compute_planes(wisp);
    envelope::integrate(input, wisp, drive, &before, root);
    envelope::collide(input, wisp, &around);
    envelope::react(input, wisp, drive, &before, root);
    jumped
}

/// What stands around a wisp during a tick.
pub(super) struct Around<'a> {
    /// The nearest mesh at every particle.
    pub planes: &'a [Option<MeshPlane>; MAX_PARTICLES],
    /// Bodies near every particle, one bit each.
    pub near: &'a [u64; MAX_PARTICLES],
    /// How high above them the particles stay.
    pub heights: &'a Heights,
}

/// Bodies that a particle, or the envelope around it, may touch during this tick.
fn find_bodies(input: &TickInput, wisp: &Wisp) -> [u64; MAX_PARTICLES] {
    let mut near = [0; MAX_PARTICLES];
    let Some(bodies) = input.bodies.last() else { return near };
    if bodies.is_empty() {
        return near;
    }
    let samples = input.rest.directions.len();
    let dt = input.dt as f32;
    for i in 2..wisp.positions.len() {
        let radii = &wisp.radii[i * samples..(i + 1) * samples];
        let widest = radii.iter().copied().fold(0.0, f32::max);
        // Twice its own way in a tick, and as far again as a fast body may come to meet it.
        let reach = 2.0 * wisp.velocities[i].length() * dt + widest + 0.03;
        near[i] = contact::near_bodies(bodies, wisp.positions[i], reach);
    }
    near
}

/// The root jumped (a cut, a reset): the wisp goes with it as it is, and comes to rest.
fn carry_along(wisp: &mut Wisp, pose: &RootPose, carried: [Vec3; 2]) {
    let frame = |along: Vec3, across: Vec3| {
        let along = along.normalize_or(Vec3::Y);
        let across =
            (across - along * along.dot(across)).normalize_or(super::rest::perpendicular(along));
        Mat3::from_cols(along, across, along.cross(across))
    };
    let old = frame(wisp.positions[1] - wisp.positions[0], wisp.root_across);
    let new = frame(pose.direction, pose.across);
    let turn = new * old.transpose();
    let origin = wisp.positions[1];
    for p in &mut wisp.positions {
        *p = carried[1] + turn * (*p - origin);
    }
    wisp.velocities.fill(Vec3::ZERO);
    wisp.radial_velocities.fill(0.0);
    wisp.twist_velocities.fill(0.0);
    wisp.reactions.fill(Vec3::ZERO);
    wisp.pressures.fill(0.0);
    wisp.root_across = pose.across;
    wisp.spin = 0.0;
}

fn integrate_chain(
    input: &TickInput,
    wisp: &mut Wisp,
    drive: &Drive,
    chain: &mut Chain,
    root: &WispRoot,
    carried: [Vec3; 2],
    around: &Around,
) {
    let n = wisp.positions.len();
    let substeps = input.bodies.len();
    let step = input.dt / substeps as f64;
    let wet = f64::from(input.wetness[wisp.root as usize]);
    let share = f64::from(wisp.share);
    let heavier = 1.0 + wet;
    let mut masses = [0.0; MAX_PARTICLES];
    let mut accelerations = [DVec3::ZERO; MAX_PARTICLES];
    let mut air = [DVec3::ZERO; MAX_PARTICLES];
    let mut targets = [DVec3::Z; MAX_PARTICLES];
    for i in 0..n {
        masses[i] = root.masses[i] * share * heavier;
        accelerations[i] = (drive.accelerations[i] + wisp.reactions[i]).as_dvec3();
        air[i] = drive.air[i].as_dvec3();
        targets[i] = turned(root.targets[i], wisp.twists[i]);
        chain.now[i] = wisp.positions[i].as_dvec3();
        chain.velocities[i] = wisp.velocities[i].as_dvec3();
        chain.pressures[i] = f64::from(wisp.pressures[i]);
    }
    chain.reset();
    let goals = compute_goals(input, wisp, root);
    let from = [chain.now[0], chain.now[1]];
    let across_from = wisp.root_across.as_dvec3();
    let across_to = input.roots[wisp.root as usize].across.as_dvec3();
    for s in 0..substeps {
        let fraction = (s + 1) as f64 / substeps as f64;
        chain.start = chain.now;
        for k in 0..2 {
            chain.now[k] = from[k].lerp(carried[k].as_dvec3(), fraction);
        }
        let along = (chain.now[1] - chain.now[0]).normalize_or(DVec3::Y);
        let across = across_from.lerp(across_to, fraction);
        let across = (across - along * along.dot(across)).normalize_or(across_to);
        let mut goals = goals;
        for g in goals.iter_mut().take(n) {
            g.at -= g.velocity * ((1.0 - fraction) * input.dt);
        }
        let chain_input = ChainInput {
            count: n,
            step,
            segment: f64::from(root.segment),
            stretch: root.stretch * share,
            bending: root.bending * share,
            masses: &masses[..n],
            accelerations: &accelerations[..n],
            air: &air[..n],
            drag: input.drag / heavier,
            targets: &targets[..n],
            root_across: across,
            goals: &goals[..n],
            iterations: 2,
        };
        let bodies = &input.bodies[s];
        let (margin, bounce) = (input.params.body.margin, input.params.body.restitution);
        let slip = if input.friction { 1.0 + 2.0 * wet } else { 0.0 };
        chain.integrate(&chain_input, |i, start, p, out| {
            let mut count = 0;
            if let Some(plane) = &around.planes[i] {
                let c = plane.contact(fraction as f32, substeps, margin, bounce);
                contact::insert_contact(out, &mut count, c, p);
            }
            let near = around.near[i];
            let height = |k: usize| around.heights.at(i, k);
            count = contact::collect_contacts(bodies, near, start, p, (height, bounce), out, count);
            for c in &mut out[..count] {
                c.friction *= slip;
            }
            count
        });
        damp_bending(chain, &chain_input, f64::from(input.params.bending_damping));
    }
    for i in 0..n {
        wisp.positions[i] = chain.now[i].as_vec3();
        wisp.velocities[i] = chain.velocities[i].as_vec3();
        wisp.pressures[i] = chain.pressures[i] as f32;
    }
    let inextensible = !root.stretch.is_finite();
    settle_outside(&input.bodies[substeps - 1], wisp, around, inextensible.then_some(root.segment));
}

/// What the linearised planes left inside bodies, pockets included, goes out, and the segments of
/// straight hair get their length back: one after the other, until both hold.
fn settle_outside(bodies: &[PosedBody], wisp: &mut Wisp, around: &Around, segment: Option<f32>) {
    let n = wisp.positions.len();
    for _ in 0..super::limits::SETTLE_ROUNDS {
        let mut moved = false;
        for i in (2..n).filter(|&i| around.near[i] != 0) {
            let height = |k: usize| around.heights.at(i, k).min(0.0);
            let out = contact::push_out(bodies, wisp.positions[i], height);
            moved |= out != wisp.positions[i];
            wisp.positions[i] = out;
        }
        if let Some(segment) = segment {
            fit_lengths(wisp, segment);
        }
        if !moved {
            return;
        }
    }
}

/// Gives every free segment its length, from the root outwards.
pub(super) fn fit_lengths(wisp: &mut Wisp, segment: f32) {
    for i in 2..wisp.positions.len() {
        let along = wisp.positions[i] - wisp.positions[i - 1];
        let along = along.normalize_or(wisp.normals[i - 1]);
        wisp.positions[i] = wisp.positions[i - 1] + segment * along;
    }
}

/// A rest direction turned about the axis by a twist.
fn turned(local: DVec3, twist: f32) -> DVec3 {
    if twist == 0.0 {
        return local;
    }
    let (sine, cosine) = twist.sin_cos();
    let (sine, cosine) = (f64::from(sine), f64::from(cosine));
    DVec3::new(cosine * local.x - sine * local.y, sine * local.x + cosine * local.y, local.z)
}

/// Goals of every particle at the end of the tick: the style, the tie, the braid.
fn compute_goals(input: &TickInput, wisp: &Wisp, root: &WispRoot) -> [Goal; MAX_PARTICLES] {
    let mut goals = [Goal::default(); MAX_PARTICLES];
    let (now, before) = (&input.roots[wisp.root as usize], &input.roots_before[wisp.root as usize]);
    let everywhere = input.goal_rate_sq * f64::from(root.goal_weight);
    for i in 2..wisp.positions.len() {
        let mut rate_sq = everywhere;
        if let Some((tie, particle)) = root.tie {
            // The tie grips the particle nearest to it and, less, those beside it.
            let away = particle.abs_diff(i);
            if away <= 1 {
                rate_sq += input.tie_rates_sq[tie] * if away == 0 { 1.0 } else { 0.25 };
            }
            if let Some(braid) = root.braid
                && i > particle
            {
                rate_sq += input.braid_rates_sq[braid];
            }
        }
        if rate_sq > 0.0 {
            let at = now.goal(root.goals[i]);
            let velocity = (at - before.goal(root.goals[i])).as_dvec3() / input.dt;
            goals[i] = Goal { at: at.as_dvec3(), velocity, rate_sq };
        }
    }
    goals
}

/// Lets the bending part of the motion die away: at each joint the second difference of the
/// velocities decays at the given rate, by an impulse (-1, 2, -1) that keeps momentum.
fn damp_bending(chain: &mut Chain, input: &ChainInput, rate: f64) {
    if rate <= 0.0 {
        return;
    }
    let decay = -(-rate * input.step).exp_m1();
    for i in 2..input.count - 1 {
        let inverse = |k: usize| if k < 2 { 0.0 } else { 1.0 / input.masses[k] };
        let (a, b, c) = (inverse(i - 1), inverse(i), inverse(i + 1));
        let v = &mut chain.velocities;
        let bend = v[i - 1] - 2.0 * v[i] + v[i + 1];
        let impulse = bend * (decay / (a + 4.0 * b + c));
        v[i - 1] -= impulse * a;
        v[i] += impulse * (2.0 * b);
        v[i + 1] -= impulse * c;
    }
}

/// Spin of the root about its own direction, and the twist that lags behind it.
///
/// Relative to the carried planes, whose spin is the root's, the twist obeys
/// `theta'' = k (theta_{i-1} - 2 theta_i + theta_{i+1}) - c theta' - spin'`, stepped implicitly.
fn turn_root(input: &TickInput, wisp: &mut Wisp, pose: &RootPose, root: &WispRoot) {
    let n = wisp.positions.len();
    let dt = input.dt as f32;
    let old_along = (wisp.normals[0]).normalize_or(pose.direction);
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
    let free = (root.masses.len() - 2) as f32;
    let k = (omega * 2.0 * free / std::f32::consts::PI).powi(2);
    let c = 2.0 * input.params.torsion_damping_ratio * omega;
    let off = dt * dt * k;
    let mut upper = [0.0f32; MAX_PARTICLES];
    let mut right = [0.0f32; MAX_PARTICLES];
    for i in 2..n {
        let theta = |j: usize| wisp.twists[j.min(n - 1)];
        let bent = theta(i - 1) - 2.0 * theta(i) + theta(i + 1);
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
        wisp.twists[i] += dt * wisp.twist_velocities[i];
    }
}
