//! One tick of up to four wisps: chain sub-steps, twist, planes, envelope.

use glam::{Mat3, Vec3, Vec4};

use super::chain::{ChainInput, Chains, MAX_PARTICLES, ParticleInput};
use super::contact::{self, Heights, PosedBody};
use super::envelope;
use super::lanes::{Lanes, sin_cos};
use super::mesh_contact::{MeshPlane, find_mesh_planes};
use super::params::HairParams;
use super::planes::{compute_planes_of_four, transport};
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
    /// The same of the memory of the style, where head and air are not still.
    pub memory_rate_sq: f64,
    pub tie_rates_sq: &'a [f64],
    pub braid_rates_sq: &'a [f64],
    /// Wetness of each root [-].
    pub wetness: &'a [f32],
    /// Friction with bodies is left out while styling, so that the style balances without it.
    pub friction: bool,
    /// Whether hair is styled: while it is combed a tie pulls at one place only.
    pub styled: bool,
}

/// Wisps that go through a tick together.
pub(super) const TOGETHER: usize = 4;

/// Forces of a tick on the particles of one wisp, or of several, one after the other.
#[derive(Clone, Copy)]
pub(super) struct HairDrive<'a> {
    /// Acceleration at each particle, gravity included [m/s²].
    pub accelerations: &'a [Vec3],
    /// Velocity of the air at each particle [m/s].
    pub air: &'a [Vec3],
}

impl<'a> HairDrive<'a> {
    /// That of one of several wisps of `count` particles.
    fn of(&self, wisp: usize, count: usize) -> Self {
        let range = wisp * count..(wisp + 1) * count;
        Self { accelerations: &self.accelerations[range.clone()], air: &self.air[range] }
    }
}

/// What one thread works in.
pub(super) struct TickRoom {
    chains: Chains,
    around: [Around; TOGETHER],
    /// Velocities when the tick began [m/s].
    before: [[Vec3; MAX_PARTICLES]; TOGETHER],
    particles: [ParticleInput; MAX_PARTICLES],
}

impl TickRoom {
    /// On the heap, and built by a function of its own: at 90 kB it must not be part of the frames of
    /// those who share work among threads, which call themselves many times over.
    #[inline(never)]
    pub fn boxed() -> Box<Self> {
        Box::new(Self {
            chains: Chains::new(),
            around: [Around::new(); TOGETHER],
            before: [[Vec3::ZERO; MAX_PARTICLES]; TOGETHER],
            particles: [ParticleInput::default(); MAX_PARTICLES],
        })
    }
}

/// Advances up to four wisps by one tick. `jumped` tells whose root jumped, so that it was carried
/// along.
pub(super) fn integrate_wisps(
    input: &TickInput,
    wisps: &mut [Wisp],
    drive: &HairDrive,
    room: &mut TickRoom,
    jumped: &mut [bool],
) {
    let n = input.rest.count;
    for (k, wisp) in wisps.iter_mut().enumerate() {
        let root = &input.rest.roots[wisp.root as usize];
        let pose = &input.roots[wisp.root as usize];
        let carried = pose.carried(root);
        jumped[k] = carried[1].distance(wisp.positions[1])
            > super::limits::TELEPORT * root.length + 0.05
            || !carried[1].is_finite();
        if jumped[k] {
            carry_along(wisp, pose, carried);
        }
        let air = &drive.of(k, n).air[2..];
        wisp.calm = calm_after(wisp.calm, carried[1].distance(wisp.positions[1]), air, input.dt);
        room.before[k][..n].copy_from_slice(&wisp.velocities);
        room.around[k].find(input, wisp, root, carried[1]);
    }
    integrate_chains(input, wisps, drive, room);
    for (wisp, around) in wisps.iter_mut().zip(&room.around) {
        settle_outside(input, wisp, around);
        turn_root(input, wisp);
    }
    compute_planes_of_four(wisps);
    for (k, wisp) in wisps.iter_mut().enumerate() {
        envelope::advance(input, wisp, &drive.of(k, n), &room.before[k], &room.around[k]);
    }
}

/// How long all has been still after a tick in which the root went some way.
fn calm_after(calm: f32, way: f32, air: &[Vec3], dt: f64) -> f32 {
    let (dt, least) = (dt as f32, super::limits::CALM_AIR * super::limits::CALM_AIR);
    let still =
        way < super::limits::CALM_ROOT * dt && air.iter().all(|a| a.length_squared() < least);
    // Lets go faster than it grips.
    let change = if still { dt } else { -4.0 * dt };
    (calm + change).clamp(0.0, super::limits::CALM_SECS)
}

impl Wisp {
    /// How far the memory of the style has taken hold, 0 to 1.
    pub(super) fn recovery(&self) -> f32 {
        let t = self.calm / super::limits::CALM_SECS;
        t * t * (3.0 - 2.0 * t)
    }
}

/// What stands around a wisp during a tick.
#[derive(Clone, Copy)]
pub(super) struct Around {
    /// The nearest mesh at every particle.
    pub planes: [Option<MeshPlane>; MAX_PARTICLES],
    /// Bodies that a particle may touch, one bit each; those beyond the sixty-third share the last.
    pub near: [u64; MAX_PARTICLES],
    /// Bodies that the envelope around it may touch.
    pub near_envelope: [u64; MAX_PARTICLES],
    /// How high above them the particles stay.
    pub heights: Heights,
}

/// What the chain may do beyond what its velocity says, in one tick [m]: 10 g do 7 mm.
const SURPRISE: f32 = 0.01;

impl Around {
    fn new() -> Self {
        Self {
            planes: [None; MAX_PARTICLES],
            near: [0; MAX_PARTICLES],
            near_envelope: [0; MAX_PARTICLES],
            heights: Heights::new(0.0, 0.0),
        }
    }

    /// Finds the bodies and meshes that a wisp may touch during this tick.
    fn find(&mut self, input: &TickInput, wisp: &Wisp, root: &WispRoot, carried: Vec3) {
        let n = wisp.positions.len();
        self.planes[..n].fill(None);
        self.near[..n].fill(0);
        self.near_envelope[..n].fill(0);
        self.heights = Heights::new(root.segment, input.params.body.margin);
        if !input.meshes.is_empty() {
            find_mesh_planes(input, wisp, &mut self.planes);
        }
        let Some(bodies) = input.bodies.last().filter(|b| !b.is_empty()) else { return };
        let samples = input.rest.directions.len();
        let mut points = [Vec3::ZERO; MAX_PARTICLES];
        points[..n].copy_from_slice(&wisp.positions);
        points[1] = carried;
        let (mut reach, mut wide) = ([0.0; MAX_PARTICLES], [0.0; MAX_PARTICLES]);
        for i in 2..n {
            // Twice its own way in a tick.
            reach[i] = 2.0 * wisp.velocities[i].length() * input.dt as f32 + SURPRISE;
            let radii = &wisp.radii[i * samples..(i + 1) * samples];
            wide[i] = radii.iter().copied().fold(0.0, f32::max);
        }
        for (k, body) in bodies.iter().enumerate() {
            let distances = body.distances(&points[..n]);
            self.heights.set_root(k, distances[1]);
            let travel = body.travel() * input.bodies.len() as f32;
            for i in 2..n {
                let (bit, near) = (1u64 << k.min(63), reach[i] + travel);
                if distances[i] < 1.5 * near {
                    self.near[i] |= bit;
                }
                if distances[i] < 1.5 * (near + wide[i]) {
                    self.near_envelope[i] |= bit;
                }
            }
        }
    }
}

impl Around {
    /// Where a particle is drawn to on its way to a goal: around a body that it lies on, not against
    /// it. Hair that came down on the wrong side of a head could never find back else.
    fn way_to(&self, input: &TickInput, wisp: &Wisp, i: usize, goal: Vec3) -> Vec3 {
        let p = wisp.positions[i];
        let way = goal - p;
        let far = way.length();
        if far < super::limits::ROUND_ABOUT {
            return goal;
        }
        let Some(normal) = self.lies_on(input, p, i).filter(|n| n.dot(way) < 0.0) else {
            return goal;
        };
        let flat = |v: Vec3| v - normal * normal.dot(v);
        // Straight through: back the way it came, towards its root.
        let back = flat(wisp.positions[i - 1] - p).normalize_or_zero();
        let along = flat(way) + 0.1 * far * back;
        p + far * along.normalize_or_zero()
    }

    /// The outward normal of what a particle lies on.
    fn lies_on(&self, input: &TickInput, p: Vec3, i: usize) -> Option<Vec3> {
        let touches = 5.0 * input.params.body.margin;
        if let Some(plane) = &self.planes[i]
            && plane.normal.dot(p - plane.point) < touches
        {
            return Some(plane.normal);
        }
        let bodies = input.bodies.last()?.iter().enumerate();
        let near = bodies.filter(|(k, _)| self.near[i] >> (*k).min(63) & 1 == 1);
        near.map(|(_, body)| body.distance(p)).find(|(d, _)| *d < touches).map(|(_, n)| n)
    }
}

/// The root jumped (a cut, a reset): the wisp goes with it as it is, and comes to rest.
pub(super) fn carry_along(wisp: &mut Wisp, pose: &RootPose, carried: [Vec3; 2]) {
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

fn integrate_chains(input: &TickInput, wisps: &mut [Wisp], drive: &HairDrive, room: &mut TickRoom) {
    let n = input.rest.count;
    let TickRoom { chains, around, particles, .. } = room;
    let lanes: [usize; TOGETHER] = std::array::from_fn(|k| k.min(wisps.len() - 1));
    gather_particles(input, wisps, (drive, around), lanes, particles);
    let of = |f: &dyn Fn(&Wisp, &WispRoot) -> f32| {
        let value = |k: usize| f(&wisps[k], &input.rest.roots[wisps[k].root as usize]);
        Vec4::from_array(lanes.map(value))
    };
    let pose = |k: usize| &input.roots[wisps[k].root as usize];
    let carried = lanes.map(|k| pose(k).carried(&input.rest.roots[wisps[k].root as usize]));
    let origins = lanes.map(|k| wisps[k].positions[1]);
    chains.reset(n);
    for i in 0..n {
        let place = |k: usize| wisps[lanes[k]].positions[i] - origins[k];
        chains.now[i] = Lanes::new((0..TOGETHER).map(place));
        chains.velocities[i] = Lanes::new(lanes.into_iter().map(|k| wisps[k].velocities[i]));
        chains.pressures[i] = Vec4::from_array(lanes.map(|k| wisps[k].pressures[i]));
    }
    let from = [chains.now[0], chains.now[1]];
    let to = [0, 1].map(|p| Lanes::new((0..TOGETHER).map(|k| carried[k][p] - origins[k])));
    let across_from = Lanes::new(lanes.into_iter().map(|k| wisps[k].root_across));
    let across_to = Lanes::new(lanes.into_iter().map(|k| pose(k).across));
    let wet = lanes.map(|k| input.wetness[wisps[k].root as usize]);
    let heavier = Vec4::ONE + Vec4::from_array(wet);
    let remembers =
        if input.memory_rate_sq > 0.0 { 1.0 - super::limits::CALM_FRICTION } else { 0.0 };
    let slips: [f32; TOGETHER] = std::array::from_fn(|k| {
        (1.0 + 2.0 * wet[k]) * (1.0 - remembers * wisps[lanes[k]].recovery())
    });
    let substeps = input.bodies.len();
    let step = input.dt as f32 / substeps as f32;
    let back = of(&|w, r| 1.0 / (r.stretch * f64::from(w.share)) as f32);
    for s in 0..substeps {
        let fraction = (s + 1) as f32 / substeps as f32;
        chains.start[..n].copy_from_slice(&chains.now[..n]);
        for k in 0..2 {
            chains.now[k] = from[k] + (to[k] - from[k]) * fraction;
        }
        let along = (chains.now[1] - chains.now[0]).normalize_or(Lanes::splat(Vec3::Y), 1.0e-12);
        let across = across_from + (across_to - across_from) * fraction;
        let across = (across - along * along.dot_each(&across)).normalize_or(across_to, 1.0e-6);
        // Goals are given at the end of the tick.
        let since = if s == 0 { (1.0 - fraction) * input.dt as f32 } else { -step };
        for own in &mut particles[2..n] {
            own.goal = own.goal - own.goal_velocity * since;
        }
        let chain_input = ChainInput {
            count: n,
            chains: wisps.len(),
            step,
            segment: of(&|_, r| r.segment),
            compliance: back,
            inextensible: input.params.stretch <= 0.0,
            bending: of(&|w, r| (r.bending * f64::from(w.share)) as f32),
            drag: input.drag as f32 / heavier,
            root_across: across,
            particles: &particles[..n],
            iterations: 2,
        };
        let bodies = &input.bodies[s];
        let (margin, bounce) = (input.params.body.margin, input.params.body.restitution);
        chains.integrate(&chain_input, |i, lane, start, p, out| {
            let around = &around[lane];
            let near = around.near[i];
            if near == 0 && around.planes[i].is_none() {
                return 0;
            }
            let (start, p) = (start + origins[lane], p + origins[lane]);
            let mut count = 0;
            if let Some(plane) = &around.planes[i] {
                let c = plane.contact(fraction, substeps, margin, bounce);
                contact::insert_contact(out, &mut count, c, p);
            }
            let height = |k: usize| around.heights.at(i, k);
            count = contact::collect_contacts(bodies, near, start, p, (height, bounce), out, count);
            let slip = if input.friction { slips[lane] } else { 0.0 };
            for c in &mut out[..count] {
                c.friction *= slip;
                c.point -= origins[lane];
            }
            count
        });
        chains.damp_bending(&chain_input, input.params.bending_damping);
        if s + 1 == substeps && chain_input.inextensible {
            chains.fit_lengths(&chain_input);
        }
    }
    for i in 0..n {
        let (places, speeds) = (chains.now[i].to_points(), chains.velocities[i].to_points());
        for (k, wisp) in wisps.iter_mut().enumerate() {
            wisp.positions[i] = origins[k] + places[k].truncate();
            wisp.velocities[i] = speeds[k].truncate();
            wisp.pressures[i] = chains.pressures[i][k];
        }
    }
}

/// What acts on every particle of the wisps during the tick.
fn gather_particles(
    input: &TickInput,
    wisps: &[Wisp],
    (drive, around): (&HairDrive, &[Around; TOGETHER]),
    lanes: [usize; TOGETHER],
    out: &mut [ParticleInput; MAX_PARTICLES],
) {
    let n = input.rest.count;
    let roots = lanes.map(|k| &input.rest.roots[wisps[k].root as usize]);
    let heavier = lanes.map(|k| wisps[k].share * (1.0 + input.wetness[wisps[k].root as usize]));
    let drives = lanes.map(|k| drive.of(k, n));
    let four = |f: &dyn Fn(usize) -> Vec3| Lanes::new((0..TOGETHER).map(f));
    for (i, out) in out[..n].iter_mut().enumerate() {
        let mass = |k: usize| roots[k].masses[i] as f32 * heavier[k];
        let twists = Vec4::from_array(lanes.map(|k| wisps[k].twists[i]));
        let target = four(&|k| roots[k].targets[i].as_vec3());
        *out = ParticleInput {
            mass: Vec4::from_array(std::array::from_fn(mass)),
            acceleration: four(&|k| {
                let held = input.roots[wisps[lanes[k]].root as usize].axes * roots[k].hold[i];
                drives[k].accelerations[i] + wisps[lanes[k]].reactions[i] + held
            }),
            air: four(&|k| drives[k].air[i]),
            target: turned(target, twists),
            ..ParticleInput::default()
        };
        for (lane, &k) in lanes.iter().enumerate().filter(|_| i >= 2) {
            let rate_sq = goal_rate_sq(input, &wisps[k], roots[lane], i);
            if rate_sq > 0.0 {
                let (root, goal) = (wisps[k].root as usize, roots[lane].goals[i]);
                let at = input.roots[root].goal(goal);
                let before = input.roots_before[root].goal(goal);
                let towards = around[k].way_to(input, &wisps[k], i, at);
                out.goal.set(lane, towards - wisps[k].positions[1]);
                out.goal_velocity.set(lane, (at - before) / input.dt as f32);
                out.goal_rate_sq[lane] = rate_sq as f32;
            }
        }
    }
}

/// What the linearised planes left inside bodies, pockets included, goes out, and the segments of
/// straight hair get their length back: one after the other, until both hold.
fn settle_outside(input: &TickInput, wisp: &mut Wisp, around: &Around) {
    let n = wisp.positions.len();
    let Some(bodies) = input.bodies.last() else { return };
    let heights = |i: usize, k: usize| around.heights.at(i, k).min(0.0);
    let mut touched = around.near[2..n].iter().fold(0, |a, b| a | b);
    let mut inside = false;
    while touched != 0 && !inside {
        let first = touched.trailing_zeros() as usize;
        touched &= touched - 1;
        // Bodies beyond the sixty-third share its bit.
        let shared = if first < 63 { 1 } else { usize::MAX };
        for (k, body) in bodies.iter().enumerate().skip(first).take(shared) {
            let distances = body.distances(&wisp.positions);
            inside |= (2..n).any(|i| distances[i] < heights(i, k));
        }
    }
    for _ in 0..if inside { super::limits::SETTLE_ROUNDS } else { 0 } {
        let mut moved = false;
        for i in (2..n).filter(|&i| around.near[i] != 0) {
            let height = |k: usize| heights(i, k);
            let out = contact::push_out(bodies, around.near[i], wisp.positions[i], height);
            moved |= out != wisp.positions[i];
            wisp.positions[i] = out;
        }
        if input.params.stretch <= 0.0 {
            fit_lengths(wisp, input.rest.roots[wisp.root as usize].segment);
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

/// Rest directions turned about the axis by a twist.
fn turned(local: Lanes, twists: Vec4) -> Lanes {
    if twists == Vec4::ZERO {
        return local;
    }
    let (sine, cosine) = sin_cos(twists);
    Lanes { x: cosine * local.x - sine * local.y, y: sine * local.x + cosine * local.y, z: local.z }
}

/// Stiffness per mass of the pull on a particle to its goal: the style, the tie, the braid [1/s²].
fn goal_rate_sq(input: &TickInput, wisp: &Wisp, root: &WispRoot, i: usize) -> f64 {
    let memory = memory_rate_sq(input, wisp, i) * f64::from(root.memory[i]);
    let mut rate_sq = (input.goal_rate_sq + memory) * f64::from(root.goal_weight);
    if let Some((tie, particle)) = root.tie {
        rate_sq += input.tie_rates_sq[tie] * tie_grip(input, particle, i);
        if let Some(braid) = root.braid
            && i > particle
        {
            rate_sq += input.braid_rates_sq[braid];
        }
    }
    rate_sq
}

/// The same of the memory of the style. Near the skin, where the follicle and a thicket of neighbours
/// give hair its direction, it is strongest: that part of a wisp never falls over to another side, and
/// what hangs from it finds back.
fn memory_rate_sq(input: &TickInput, wisp: &Wisp, i: usize) -> f64 {
    let from_tip = (input.rest.count - 1 - i) as f32 / (input.rest.count - 3).max(1) as f32;
    let at_root = super::limits::ROOT_MEMORY * from_tip * from_tip;
    let calm = (super::limits::RECOVERY - 1.0) * wisp.recovery();
    input.memory_rate_sq * f64::from(1.0 + calm + at_root).powi(2)
}

/// How firmly a tie grips a particle, as a share of its hold [-].
fn tie_grip(input: &TickInput, tied: usize, i: usize) -> f64 {
    match i.cmp(&tied) {
        // Hair is taut from the skin to its tie, once it is combed there.
        std::cmp::Ordering::Less if input.styled => 1.0,
        std::cmp::Ordering::Equal => 1.0,
        _ if i.abs_diff(tied) == 1 => 0.25,
        _ => 0.0,
    }
}

/// Spin of the root about its own direction, and the twist that lags behind it.
///
/// Relative to the carried planes, whose spin is the root's, the twist obeys
/// `theta'' = k (theta_{i-1} - 2 theta_i + theta_{i+1}) - c theta' - spin'`, stepped implicitly.
fn turn_root(input: &TickInput, wisp: &mut Wisp) {
    let pose = &input.roots[wisp.root as usize];
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
    let free = (n - 2) as f32;
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
