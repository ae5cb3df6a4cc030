//! One tick of up to four wisps: chain sub-steps, twist, planes, envelope.

use glam::{Mat3, Vec3, Vec4};

use super::around::{Around, settle_outside};
use super::bodies::PosedBody;
use super::chain::{ChainInput, Chains, MAX_PARTICLES, ParticleInput};
use super::contact::Seeker;
use super::envelope;
use super::lanes::Lanes;
use super::memory::{calm_after, goal_rate_sq};
use super::params::HairParams;
use super::planes::compute_planes_of_four;
use super::rest::{HairRest, RootPose, WispRoot};
use super::state::Wisp;
use super::twist::{turn_root, turned};
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
    /// Whether hair that hardly moves stays where it is; not while its rest state is sought.
    pub rests: bool,
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
    /// Velocities and places when the tick began [m/s, m].
    before: [[Vec3; MAX_PARTICLES]; TOGETHER],
    places: [[Vec3; MAX_PARTICLES]; TOGETHER],
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
            places: [[Vec3::ZERO; MAX_PARTICLES]; TOGETHER],
            particles: [ParticleInput::default(); MAX_PARTICLES],
        })
    }
}

/// Newton rounds of a chain step: one for forces, one for contacts that the first has moved into; more where lengths
/// do not hold yet.
const ITERATIONS: usize = 2;

/// A root that moves less than this in a tick has not jumped, however short its hair is [m].
const LEAST_JUMP: f32 = 0.05;

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
    let mut resting = [0.0; TOGETHER];
    for (k, wisp) in wisps.iter_mut().enumerate() {
        let root = &input.rest.roots[wisp.root as usize];
        let pose = &input.roots[wisp.root as usize];
        let carried = pose.carried(root);
        // For stubble half of its length is less than a nod takes it in a tick.
        jumped[k] = carried[1].distance(wisp.positions[1])
            > super::limits::TELEPORT * root.length + LEAST_JUMP
            || !carried[1].is_finite();
        if jumped[k] {
            carry_along(wisp, pose, carried);
        }
        let air = &drive.of(k, n).air[2..];
        wisp.calm = calm_after(wisp.calm, carried[1].distance(wisp.positions[1]), air, input.dt);
        room.before[k][..n].copy_from_slice(&wisp.velocities);
        room.places[k][..n].copy_from_slice(&wisp.positions);
        if input.rests {
            resting[k] = wisp.resting_speed((root, pose, carried), air, input.dt);
        }
        // Once a tick for all sub-steps and rounds: the search is dearer than the solve.
        room.around[k].find(input, wisp, root, carried[1]);
    }
    integrate_chains(input, wisps, drive, room);
    for (k, wisp) in wisps.iter_mut().enumerate() {
        if wisp.is_slower(resting[k]) {
            wisp.stay(&room.places[k]);
        } else {
            settle_outside(input, wisp, &room.around[k]);
        }
        turn_root(input, wisp, resting[k] > 0.0);
    }
    compute_planes_of_four(wisps);
    for (k, wisp) in wisps.iter_mut().enumerate() {
        let state = (&room.before[k], resting[k]);
        envelope::advance(input, wisp, &drive.of(k, n), state, &room.around[k]);
    }
}

impl Wisp {
    /// The speed below which it stays where it is [m/s]: none while its root, its envelope or the air move.
    fn resting_speed(
        &self,
        (root, pose, carried): (&WispRoot, &RootPose, [Vec3; 2]),
        air: &[Vec3],
        dt: f64,
    ) -> f32 {
        let (slow, slow_twist) = (super::limits::RESTING, super::limits::RESTING_TWIST);
        let [under, out] = [0, 1].map(|i| carried[i].distance(self.positions[i]));
        let in_place = || {
            let off = |(p, goal): (&Vec3, &Vec3)| p.distance(pose.goal(*goal));
            self.positions.iter().zip(&root.goals).all(|pair| off(pair) < super::limits::SAG)
        };
        let speed = if root.pinched && in_place() { super::limits::PINCHED } else { slow };
        let rests = under.max(out) < slow * dt as f32
            && pose.across.distance(self.root_across) < slow_twist * dt as f32
            && air.iter().all(|a| *a == Vec3::ZERO)
            && self.radial_velocities.iter().all(|rate| rate.abs() < speed)
            && self.twist_velocities.iter().all(|rate| rate.abs() < slow_twist);
        if rests { speed } else { 0.0 }
    }

    /// Whether a tick moved it by less than such a speed.
    fn is_slower(&self, speed: f32) -> bool {
        self.velocities.iter().all(|v| v.length_squared() < speed * speed)
    }

    /// Stays where it was when the tick began: what is slower than it is looked for creeps for ever, and of ten thousand
    /// hairs that are drawn on it some go another way for a hundredth of a millimetre.
    fn stay(&mut self, places: &[Vec3; MAX_PARTICLES]) {
        let n = self.positions.len();
        self.positions.copy_from_slice(&places[..n]);
        self.velocities.fill(Vec3::ZERO);
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
    // Fewer than four: the last wisp fills the other lanes, and its copies are thrown away.
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
        chains.now[i] = Lanes::each(place);
        chains.velocities[i] = Lanes::each(|k| wisps[lanes[k]].velocities[i]);
        chains.pressures[i] = Vec4::from_array(lanes.map(|k| wisps[k].pressures[i]));
    }
    let from = [chains.now[0], chains.now[1]];
    let to = [0, 1].map(|p| Lanes::each(|k| carried[k][p] - origins[k]));
    let across_from = Lanes::each(|k| wisps[lanes[k]].root_across);
    let across_to = Lanes::each(|k| pose(lanes[k]).across);
    let wet = lanes.map(|k| input.wetness[wisps[k].root as usize]);
    // Drag is per mass: soaked hair is twice as heavy and follows the air half as fast.
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
        let along = (chains.now[1] - chains.now[0])
            .normalize_or(Lanes::splat(Vec3::Y), crate::tolerances::MIN_LENGTH);
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
            iterations: ITERATIONS,
        };
        let bodies = &input.bodies[s];
        let (margin, bounce) = (input.params.body.margin, input.params.body.restitution);
        chains.integrate(&chain_input, |i, lane, [start, now], out| {
            let around = &around[lane];
            let near = around.near[i];
            // Most particles of most wisps.
            if near == 0 && around.planes[i].is_none() {
                return;
            }
            let (start, now) = (start + origins[lane], now + origins[lane]);
            if let Some(plane) = &around.planes[i] {
                let c = plane.contact(fraction, substeps, margin, bounce);
                out.insert(c, now);
            }
            let seeker = Seeker { near, start, now, restitution: bounce };
            out.add_bodies(bodies, &seeker, |k| around.heights.at(i, k));
            let slip = if input.friction { slips[lane] } else { 0.0 };
            for c in out.as_mut_slice() {
                c.friction *= slip;
                c.point -= origins[lane];
            }
        });
        chains.damp_bending(&chain_input, input.params.bending_damping);
        // Only once: in between, the next sub-step meets the lengths itself.
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
    for (i, out) in out[..n].iter_mut().enumerate() {
        let mass = |k: usize| roots[k].masses[i] as f32 * heavier[k];
        let twists = Vec4::from_array(lanes.map(|k| wisps[k].twists[i]));
        let target = Lanes::each(|k| roots[k].targets[i].as_vec3());
        *out = ParticleInput {
            mass: Vec4::from_array(std::array::from_fn(mass)),
            acceleration: Lanes::each(|k| {
                let held = input.roots[wisps[lanes[k]].root as usize].axes * roots[k].hold[i];
                drives[k].accelerations[i] + wisps[lanes[k]].reactions[i] + held
            }),
            air: Lanes::each(|k| drives[k].air[i]),
            target: turned(target, twists),
            ..ParticleInput::default()
        };
        for (lane, &k) in lanes.iter().enumerate().filter(|_| i >= 2) {
            let rate_sq = goal_rate_sq(input, &wisps[k], roots[lane], i);
            if rate_sq > 0.0 {
                let (root, goal) = (wisps[k].root as usize, roots[lane].goals[i]);
                let at = input.roots[root].goal(goal);
                // The goal's own speed, not that of the detour: damping against the head, not against the way round it.
                let before = input.roots_before[root].goal(goal);
                let towards = around[k].way_to(input, &wisps[k], i, at);
                out.goal.set(lane, towards - wisps[k].positions[1]);
                out.goal_velocity.set(lane, (at - before) / input.dt as f32);
                out.goal_rate_sq[lane] = rate_sq as f32;
            }
        }
    }
}

/// Gives every free segment its length, from the root outwards.
pub(super) fn fit_lengths(wisp: &mut Wisp, segment: f32) {
    for i in 2..wisp.positions.len() {
        // Outwards from the root, so that the scalp stays where it is and only what hangs below is moved.
        let along = wisp.positions[i] - wisp.positions[i - 1];
        let along = along.normalize_or(wisp.normals[i - 1]);
        wisp.positions[i] = wisp.positions[i - 1] + segment * along;
    }
}
