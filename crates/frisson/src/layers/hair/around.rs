//! What stands around a wisp during a tick: bodies and meshes that it may touch, the way around them, and
//! the last pass that puts outside what is left within.

use glam::Vec3;

use super::chain::MAX_PARTICLES;
use super::contact::{self, Heights};
use super::mesh_contact::{MeshPlane, find_mesh_planes};
use super::rest::WispRoot;
use super::state::Wisp;
use super::tick::{TickInput, fit_lengths};

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
    pub fn new() -> Self {
        Self {
            planes: [None; MAX_PARTICLES],
            near: [0; MAX_PARTICLES],
            near_envelope: [0; MAX_PARTICLES],
            heights: Heights::new(0.0, 0.0),
        }
    }

    /// Finds the bodies and meshes that a wisp may touch during this tick.
    pub fn find(&mut self, input: &TickInput, wisp: &mut Wisp, root: &WispRoot, carried: Vec3) {
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
        // The scalp has already carried particle 1 on: the height of the root counts where it ends up, not where it was.
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
                // Distances of ellipsoids are first order, too long beside a flat one: half as much again is looked at.
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
    pub fn way_to(&self, input: &TickInput, wisp: &Wisp, i: usize, goal: Vec3) -> Vec3 {
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
        // A tenth is enough to leave the far pole of a head, where the flat part of the way vanishes, and too little to
        // turn a way that has a direction.
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

/// What the linearised planes left inside bodies, pockets included, goes out, and the segments of
/// straight hair get their length back: one after the other, until both hold.
pub(super) fn settle_outside(input: &TickInput, wisp: &mut Wisp, around: &Around) {
    let n = wisp.positions.len();
    let Some(bodies) = input.bodies.last() else { return };
    // Only what is really inside, not within the margin: the chain's contacts are soft, and what rests on them is a
    // little below it.
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
        // Springy segments have no length to be given back: their springs do it.
        if input.params.stretch <= 0.0 {
            fit_lengths(wisp, input.rest.roots[wisp.root as usize].segment);
        }
        if !moved {
            return;
        }
    }
}
