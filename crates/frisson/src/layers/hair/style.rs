//! The hair style: hair stands out from the skin, is combed by fields, settles under gravity; then
//! rest angles are solved so that it stays as it is.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::bodies::PosedBody;
use super::contact::{ContactList, Heights, Seeker};
use super::params::HairParams;
use super::planes::compute_planes;
use super::rest::{HairRest, RootPose};
use super::state::Wisp;
use super::style_params::StyleField;
use super::tick::{HairDrive, TOGETHER, TickInput, TickRoom, integrate_wisps};
use crate::stage::{Forces, SurfaceMotion};

/// What styling needs to know about the scene.
pub(super) struct StyleScene<'a> {
    pub params: &'a HairParams,
    pub poses: &'a [RootPose],
    /// The bodies, once for every sub-step; they do not move.
    pub bodies: &'a [Vec<PosedBody>],
    pub meshes: &'a [SurfaceMotion],
    pub forces: &'a Forces,
    pub time: f64,
    /// Length of a tick, that of the shot, so that both find the same balance [s].
    pub tick: f64,
}

impl StyleScene<'_> {
    /// The bodies as they stand.
    pub fn bodies_at_rest(&self) -> &[PosedBody] {
        self.bodies.last().map_or(&[], Vec::as_slice)
    }
}

/// Wisps as they leave the skin: straight, or along their guide.
pub(super) fn build_wisps(rest: &mut HairRest, scene: &StyleScene) -> Vec<Wisp> {
    let samples = rest.directions.len();
    let n = rest.count;
    let mut wisps = Vec::with_capacity(rest.roots.len());
    for (index, root) in rest.roots.iter().enumerate() {
        let pose = &scene.poses[index];
        let [p0, p1] = pose.carried(root);
        let mut positions = vec![p0, p1];
        let shape = super::guides::shape_at(&scene.params.style.guides, pose.skin);
        for i in 2..n {
            let next = (shape.as_ref())
                .and_then(|shape| super::guides::next(shape, positions[i - 1], root.segment));
            let along = (positions[i - 1] - positions[i - 2]).normalize_or(pose.direction);
            positions.push(next.unwrap_or(positions[i - 1] + along * root.segment));
        }
        let radii = root.radii.iter().flat_map(|&r| std::iter::repeat_n(r, samples)).collect();
        let mut wisp = Wisp {
            root: index as u32,
            share: 1.0,
            radius_scale: 1.0,
            apart: true,
            velocities: vec![Vec3::ZERO; n],
            normals: vec![pose.direction; n],
            across: vec![pose.across; n],
            radii,
            radial_velocities: vec![0.0; n * samples],
            twists: vec![0.0; n],
            twist_velocities: vec![0.0; n],
            reactions: vec![Vec3::ZERO; n],
            shelter: vec![1.0; n],
            pressures: vec![0.0; n],
            root_across: pose.across,
            positions,
            ..Wisp::default()
        };
        compute_planes(&mut wisp);
        wisps.push(wisp);
    }
    wisps
}

/// Combs and settles the wisps, then solves the rest angles. Guides are taken as they are.
pub(super) fn style(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) {
    super::ties::assign(rest, scene);
    let style = &scene.params.style;
    let combing = style.fields.iter().map(|f| f.span().1).fold(0.0, f32::max);
    let settling = if style.guides.is_empty() { style.settle_secs } else { 0.0 };
    let tick = super::limits::STYLE_TICKS * scene.tick;
    let ticks = (f64::from(combing + settling) / tick).ceil() as usize;
    for k in 0..ticks {
        // Lively first, so that hair gets somewhere; thick air in the last second, so that it comes to
        // rest.
        let left = (ticks - k) as f64 * tick;
        let drag = if left > 1.0 { 4.0 } else { CALMING_DRAG };
        let fields_at = (k as f64 * tick) as f32;
        relax(rest, wisps, scene, &Phase { fields_at, drag, tick });
        if fields_at > combing && left <= 1.0 && fastest(wisps) < super::limits::STYLED_SPEED {
            break;
        }
    }
    come_to_rest(wisps);
    capture(rest, wisps, scene);
    if style.balance {
        balance(rest, wisps, scene);
    }
}

/// Speed of the fastest particle [m/s].
fn fastest(wisps: &[Wisp]) -> f32 {
    let all = wisps.iter().flat_map(|w| &w.velocities);
    all.map(|v| v.length_squared()).fold(0.0, f32::max).sqrt()
}

/// Stops all motion.
fn come_to_rest(wisps: &mut [Wisp]) {
    for wisp in wisps {
        wisp.velocities.fill(Vec3::ZERO);
        wisp.radial_velocities.fill(0.0);
        wisp.twists.fill(0.0);
        wisp.twist_velocities.fill(0.0);
        compute_planes(wisp);
    }
}

/// Takes the places of the wisps as the style.
fn capture(rest: &mut HairRest, wisps: &[Wisp], scene: &StyleScene) {
    for wisp in wisps {
        let pose = &scene.poses[wisp.root as usize];
        let root = &mut rest.roots[wisp.root as usize];
        for (goal, &p) in root.goals.iter_mut().zip(&wisp.positions) {
            *goal = pose.axes.transpose() * (p - pose.skin);
        }
        let fall = scene.forces.acceleration(pose.skin, scene.time);
        remember(&mut root.memory, &wisp.positions, fall.normalize_or_zero());
    }
}

/// How much of its style each particle must remember: hair that hangs straight down from its root finds
/// back by its weight, and a pull would only hold it off what moves it.
fn remember(memory: &mut [f32], positions: &[Vec3], down: Vec3) {
    let mut tilted = 0.0f32;
    for i in 2..positions.len() {
        let along = (positions[i] - positions[i - 1]).normalize_or_zero();
        tilted = tilted.max(1.0 - along.dot(down));
        let t = (tilted / super::limits::TILTED).clamp(0.0, 1.0);
        let least = super::limits::HANGING_MEMORY;
        memory[i] = least + (1.0 - least) * t * t * (3.0 - 2.0 * t);
    }
}

/// Solves the rest state. Wisps that cannot be held where they were combed to sag first, and are held
/// where they come to rest: nothing sags in the shot.
fn balance(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) {
    let mut sagging = hold(rest, wisps, scene);
    // Guides are taken as they are.
    if scene.params.style.guides.is_empty() {
        let_sag(rest, wisps, scene, sagging);
        sagging = hold_steady(rest, wisps, scene);
    }
    if !sagging.is_empty() {
        rest.warnings.push(format!(
            "{} of {} wisps cannot be held in the style: hair will sag there (raise bending_length \
             or goal_hz, or let it settle longer)",
            sagging.len(),
            wisps.len()
        ));
    }
}

/// Lets wisps that cannot be held come down, and solves the rest state anew where they are then.
fn let_sag(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene, mut sagging: Vec<usize>) {
    for _ in 0..super::limits::SAG_ROUNDS {
        if sagging.is_empty() {
            break;
        }
        let mut loose: Vec<Wisp> = sagging.iter().map(|&k| wisps[k].clone()).collect();
        come_down(rest, &mut loose, scene);
        let still = hold(rest, &mut loose, scene);
        for (&k, wisp) in sagging.iter().zip(loose) {
            wisps[k] = wisp;
        }
        sagging = still.into_iter().map(|k| sagging[k]).collect();
    }
}

/// Balance is not enough where it is that of a ball on a hilltop, or where an envelope between two surfaces
/// never finds it: wisps that leave their place in a trial are held there by a pull, as hard as it takes.
/// Returns those that even the hardest does not hold.
fn hold_steady(rest: &mut HairRest, wisps: &[Wisp], scene: &StyleScene) -> Vec<usize> {
    let mut loose: Vec<usize> = (0..wisps.len()).collect();
    let mut ways = Vec::new();
    for hz in super::limits::STEADY_HZ {
        for &k in &loose {
            rest.roots[wisps[k].root as usize].steady = (std::f64::consts::TAU * hz).powi(2);
        }
        ways = try_out(rest, wisps, scene, &loose);
        let left = loose.iter().zip(&ways).filter(|(_, way)| **way > super::limits::STEADY);
        let (left, far): (Vec<usize>, Vec<f32>) = left.unzip();
        (loose, ways) = (left, far);
        if loose.is_empty() {
            break;
        }
    }
    let sags = loose.into_iter().zip(ways).filter(|(_, way)| *way > super::limits::SAG);
    sags.map(|(k, _)| k).collect()
}

/// How far some of the wisps go from their places in a trial [m].
fn try_out(rest: &HairRest, wisps: &[Wisp], scene: &StyleScene, tried: &[usize]) -> Vec<f32> {
    let mut trial: Vec<Wisp> = tried.iter().map(|&k| wisps[k].clone()).collect();
    let mut ways = vec![0.0f32; tried.len()];
    let phase = Phase { fields_at: f32::MAX, drag: scene.params.drag, tick: scene.tick };
    for _ in 0..(super::limits::STEADY_SECS / scene.tick).ceil() as usize {
        relax(rest, &mut trial, scene, &phase);
        for ((way, own), &k) in ways.iter_mut().zip(&trial).zip(tried) {
            let points = own.positions.iter().zip(&wisps[k].positions);
            *way = points.map(|(p, q)| p.distance(*q)).fold(*way, f32::max);
        }
    }
    ways
}

/// Lets wisps come to rest in thick air, and takes where they are then as their style.
fn come_down(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) {
    let tick = super::limits::STYLE_TICKS * scene.tick;
    let phase = Phase { fields_at: f32::MAX, drag: CALMING_DRAG, tick };
    for _ in 0..(super::limits::SAG_SECS / tick).ceil() as usize {
        relax(rest, wisps, scene, &phase);
    }
    come_to_rest(wisps);
    capture(rest, wisps, scene);
}

/// Drag in which hair comes to rest while it is styled [1/s].
const CALMING_DRAG: f32 = 15.0;

/// Solves rest angles and what else holds the style. Returns the wisps that cannot be held.
fn hold(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) -> Vec<usize> {
    for wisp in wisps.iter() {
        rest.roots[wisp.root as usize].hold.fill(Vec3::ZERO);
        let forces = resting_forces(rest, wisp, scene);
        solve_rest(rest, wisp, &forces);
    }
    hold_still(rest, wisps, scene)
}

/// Solves the rest state with the very step that will run: what a trial tick from rest would still
/// accelerate is held by a force of the style, until nothing moves. Contacts, envelopes, ties and what
/// joints are too soft for are all in it. Returns the wisps that cannot be held.
fn hold_still(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) -> Vec<usize> {
    let mut trial = wisps.to_vec();
    let mut sagging = Vec::new();
    for round in 0..super::limits::BALANCE_ROUNDS {
        trial.clone_from_slice(wisps);
        let phase = Phase { fields_at: f32::MAX, drag: scene.params.drag, tick: scene.tick };
        relax(rest, &mut trial, scene, &phase);
        let last = round + 1 == super::limits::BALANCE_ROUNDS;
        for (index, (wisp, tried)) in wisps.iter_mut().zip(&trial).enumerate() {
            let mut sags = false;
            let root = &mut rest.roots[wisp.root as usize];
            let axes = scene.poses[wisp.root as usize].axes.transpose();
            for i in 2..tried.velocities.len() {
                let started = tried.velocities[i] / scene.tick as f32;
                sags |= last && started.length() > super::limits::SAGS;
                let hold = root.hold[i] - axes * started;
                let most = if root.is_held(i - 1) {
                    super::limits::TIE_HOLD
                } else {
                    super::limits::STYLE_HOLD
                };
                root.hold[i] = hold.clamp_length_max(most);
            }
            if sags {
                sagging.push(index);
            }
            // Envelopes and contacts find their balance on the way.
            wisp.radii.clone_from(&tried.radii);
            wisp.reactions.clone_from(&tried.reactions);
            wisp.pressures.clone_from(&tried.pressures);
        }
    }
    sagging
}

/// A stretch of styling.
struct Phase {
    /// Styling time at which the combing fields are taken [s]; `f32::MAX`: all is combed.
    fields_at: f32,
    /// Drag of the air [1/s].
    drag: f32,
    /// Length of a tick [s].
    tick: f64,
}

/// One tick under the combing fields and gravity, without friction.
fn relax(rest: &HairRest, wisps: &mut [Wisp], scene: &StyleScene, phase: &Phase) {
    let params = scene.params;
    let zeros = vec![0.0; rest.roots.len()];
    let hold = |animated: &crate::stage::Animated| {
        let hz = animated.values().fold(0.0, f64::max);
        (std::f64::consts::TAU * hz).powi(2)
    };
    let ties: Vec<f64> = params.style.ties.iter().map(|t| hold(&t.hold_hz)).collect();
    let braids: Vec<f64> = params.style.braids.iter().map(|b| hold(&b.hold_hz)).collect();
    let input = TickInput {
        rest,
        params,
        roots_before: scene.poses,
        roots: scene.poses,
        bodies: scene.bodies,
        meshes: scene.meshes,
        dt: phase.tick,
        drag: f64::from(phase.drag),
        goal_rate_sq: 0.0,
        memory_rate_sq: 0.0,
        tie_rates_sq: &ties,
        braid_rates_sq: &braids,
        wetness: &zeros,
        friction: false,
        styled: phase.fields_at == f32::MAX,
    };
    let air = vec![Vec3::ZERO; TOGETHER * rest.count];
    wisps.par_chunks_mut(TOGETHER).for_each_init(
        || (TickRoom::boxed(), Vec::new()),
        |(room, accelerations), wisps| {
            accelerations.clear();
            for wisp in wisps.iter() {
                let root = scene.poses[wisp.root as usize].skin;
                accelerations.extend(wisp.positions.iter().map(|&p| {
                    let combed =
                        params.style.fields.iter().map(|f| field_at(f, root, p, phase.fields_at));
                    scene.forces.acceleration(p, scene.time) + combed.sum::<Vec3>()
                }));
            }
            let drive = HairDrive { accelerations, air: &air };
            integrate_wisps(&input, wisps, &drive, room, &mut [false; TOGETHER]);
        },
    );
}

/// Direction out of the skin once the fields have combed the roots.
pub(super) fn comb_root(params: &HairParams, root: Vec3, normal: Vec3) -> Vec3 {
    let fields = &params.style.fields;
    let pull: Vec3 = fields.iter().map(|f| field_at(f, root, root, f.span().0)).sum();
    let flat = pull - normal * normal.dot(pull);
    let combed = 2.0 * params.style.comb_roots * flat / pull.length().max(1.0e-6);
    (normal + combed).normalize_or(normal)
}

/// Acceleration of a combing field at a place, for hair rooted at `root`.
fn field_at(field: &StyleField, root: Vec3, p: Vec3, time: f32) -> Vec3 {
    let (from, to) = field.span();
    if time < from || time >= to {
        return Vec3::ZERO;
    }
    let v = |a: &[f32; 3]| Vec3::from_array(*a);
    match field {
        StyleField::Parallel { direction, strength, .. } => {
            v(direction).normalize_or_zero() * *strength
        }
        StyleField::Parting { point, normal, strength, .. } => {
            let normal = v(normal).normalize_or_zero();
            let side = normal.dot(root - v(point));
            normal * side.signum() * *strength
        }
        StyleField::Swirl { center, axis, strength, .. } => {
            v(axis).cross(p - v(center)).normalize_or_zero() * *strength
        }
        StyleField::Radial { center, strength, .. } => {
            (p - v(center)).normalize_or_zero() * *strength
        }
    }
}

/// Forces that the joints must balance at rest: weight, envelope, bodies.
fn resting_forces(rest: &HairRest, wisp: &Wisp, scene: &StyleScene) -> Vec<DVec3> {
    let root = &rest.roots[wisp.root as usize];
    let margin = scene.params.body.margin;
    let bodies = scene.bodies_at_rest();
    let heights = Heights::over(bodies, wisp.positions[1], root.segment, margin);
    (0..rest.count)
        .map(|i| {
            let p = wisp.positions[i];
            let outer = scene.forces.acceleration(wisp.positions[i], scene.time);
            let mut force = root.masses[i] * (outer + wisp.reactions[i]).as_dvec3();
            if wisp.pressures[i] > 0.0 {
                let mut found = ContactList::default();
                let seeker = Seeker { near: !0, start: p, now: p, restitution: 0.0 };
                found.add_bodies(bodies, &seeker, |k| heights.at(i, k) + 1.0e-5);
                let sum: Vec3 = found.as_slice().iter().map(|c| c.normal).sum();
                force += sum.as_dvec3().normalize_or_zero() * f64::from(wisp.pressures[i]);
            }
            force
        })
        .collect()
}

/// Rest directions, tip to root, such that bending balances the forces as far as the joints are stiff
/// enough for that.
///
/// With `T_i` the force that segment `i` carries and `q_i` the torque at its inner joint,
/// `q_i = P_i q_{i+1} - e_i x T_i` (`P_i`: the part across the segment), and the rest direction
/// is the segment's own, turned about `q_i` by `2 atan(|q_i| / 2 k)`. What hangs below a tie hangs on the
/// tie, and hair that a tie holds rests as it lies: were it bent to carry the tail, or to press on the head
/// as the comb did, it would give way to the side.
pub(super) fn solve_rest(rest: &mut HairRest, wisp: &Wisp, forces: &[DVec3]) {
    let n = rest.count;
    let root = &mut rest.roots[wisp.root as usize];
    let at = |i: usize| wisp.positions[i].as_dvec3();
    let along = |i: usize| (at(i + 1) - at(i)).normalize_or(DVec3::Y);
    let mut carried = DVec3::ZERO;
    let mut torque = DVec3::ZERO;
    let mut wanted = vec![DVec3::ZERO; n];
    for i in (1..n - 1).rev() {
        carried += forces[i + 1];
        if root.is_held(i + 1) {
            (carried, torque) = (DVec3::ZERO, DVec3::ZERO);
        }
        let t = along(i);
        torque -= t * t.dot(torque);
        torque -= (at(i + 1) - at(i)).cross(carried);
        let most = 2.0 * root.bending * super::limits::REST_HALF_TANGENT;
        let asked = torque.length();
        if asked > most {
            torque *= if asked > 0.0 { most / asked } else { 0.0 };
        }
        // torque = 2 k tan(angle / 2) about its own axis.
        let axis = torque.normalize_or_zero();
        let half = if root.bending > 0.0 { torque.length() / (2.0 * root.bending) } else { 0.0 };
        let (sine, cosine) = (2.0 * half.atan()).sin_cos();
        wanted[i] = t * cosine + axis.cross(t) * sine;
    }
    let mut before = along(0);
    let mut across = wisp.root_across.as_dvec3();
    for i in 1..n - 1 {
        let second = before.cross(across);
        let s = wanted[i];
        root.targets[i] = DVec3::new(s.dot(across), s.dot(second), s.dot(before));
        let t = along(i);
        across = transport(across, before, t);
        before = t;
    }
}

/// A unit vector across `from` carried to across `to` by the smallest rotation.
fn transport(across: DVec3, from: DVec3, to: DVec3) -> DVec3 {
    let scale = 1.0 + from.dot(to);
    if scale < 1.0e-9 {
        let helper = if to.x.abs() < 0.9 { DVec3::X } else { DVec3::Y };
        return (across - to * to.dot(across)).normalize_or(to.cross(helper).normalize());
    }
    let turned = across - (from + to) * (to.dot(across) / scale);
    (turned - to * to.dot(turned)).normalize_or_zero()
}
