//! Wisp against wisp: who overlaps, and in which order pairs are treated.
//!
//! `shapes` tells which sections may meet, `overlap` whether they do, `impulse` what happens then. Everything is done in one go, pair after pair,
//! and nothing is stored but what holds (`bonds`).
//!
//! Pairs change the velocities of both wisps, so they cannot be treated in any order on any thread.
//! Wisps are dealt into blocks and the blocks play a round-robin tournament: in one round every block
//! meets one other, and the meetings of a round share no wisp. They run in parallel, the rounds one
//! after the other, and the result does not depend on the number of threads.
//!
//! In a thick head of hair a section has many partners at once. Beyond `most_partners` the pairs of
//! wisps take turns, each with the time since its last one: what they do together stays the same, and
//! the cost of a pass does not grow with how much hair lies in one place.

use rayon::prelude::*;

use super::bonds::Bond;
use super::impulse::{self, Motion};
use super::overlap::Near;
use super::params::InteractionParams;
use super::rest::HairRest;
use super::shapes::Shapes;
use super::state::Wisp;

/// Blocks of wisps: even, and enough to keep eight threads busy.
const BLOCKS: usize = 16;

/// What the pass may know of the wisps besides their shape.
pub(super) struct InteractionInput<'a> {
    pub rest: &'a HairRest,
    pub params: &'a InteractionParams,
    /// Share of a node's mass that its samples carry [-].
    pub mass_share: f32,
    pub wetness: &'a [f32],
    /// Time since the last pass [s].
    pub dt: f32,
    /// Length of the last tick [s].
    pub tick: f32,
    /// Whether dry friction holds: a pass follows every tick and treats every pair.
    pub holds: bool,
    /// What held in the last pass, in order.
    pub bonds: &'a [Bond],
    /// Whether wisps remember their style, and pass each other on the way back to it.
    pub remembers: bool,
    /// Particles of a wisp that the scalp carries and no impulse moves.
    pub carried: usize,
    /// Of so many passes a pair of wisps is treated in one, and the number of this pass.
    pub turns: u32,
    pub pass: u64,
    /// How often a pass goes through all pairs, each time with its share of the time.
    pub sweeps: u32,
}

impl InteractionInput<'_> {
    /// Whether it is the turn of two wisps.
    fn is_turn(&self, a: u32, b: u32) -> bool {
        self.turns == 1
            || (u64::from(a) + u64::from(b) + self.pass).is_multiple_of(u64::from(self.turns))
    }

    /// Time since a pair was treated last [s].
    pub fn since(&self) -> f32 {
        self.dt * self.turns as f32
    }

    /// Part of that time that one sweep treats [s].
    pub fn share(&self) -> f32 {
        self.since() / self.sweeps as f32
    }
}

/// In how many turns pairs should be treated from now on, given what the last pass did.
pub(super) fn next_turns(params: &InteractionParams, turns: u32, pairs: u32, sections: u32) -> u32 {
    // Each pair counts for both of its sections; only one pass of `turns` saw it.
    let partners = 2.0 * pairs as f32 * turns as f32 / sections.max(1) as f32;
    (partners / params.most_partners as f32).ceil().clamp(1.0, 64.0) as u32
}

/// The wisps of one block and how they move.
#[derive(Default)]
struct Block {
    /// First wisp.
    first: usize,
    motions: Vec<Motion>,
    /// Its wisps by the left end of their boxes.
    order: Vec<u32>,
    /// Which block it is: the tournament moves them around.
    number: usize,
    treated: [u32; 2],
    /// What holds after the last sweep.
    bonds: Vec<Bond>,
}

/// Storage of the pass, reused from tick to tick.
#[derive(Default)]
pub(super) struct Interactions {
    pub shapes: Shapes,
    blocks: Vec<Block>,
    /// Pairs treated in the last pass: interpenetrations, collisions.
    pub treated: [u32; 2],
    /// What holds after it, in order.
    pub bonds: Vec<Bond>,
}

impl Interactions {
    /// Finds overlapping sections and changes the wisps' velocities.
    pub fn apply(&mut self, input: &InteractionInput, wisps: &mut [Wisp]) {
        self.shapes.gather(input, wisps);
        self.deal(wisps);
        for _ in 0..input.sweeps {
            self.sweep(input);
        }
        self.collect(wisps);
    }

    /// Treats all pairs once.
    fn sweep(&mut self, input: &InteractionInput) {
        let shapes = &self.shapes;
        self.blocks.iter_mut().for_each(|block| block.bonds.clear());
        self.blocks.par_iter_mut().for_each(|block| block.play_alone(input, shapes));
        // As many rounds as there are other blocks: everyone meets everyone once.
        for _ in 1..BLOCKS {
            let (left, right) = self.blocks.split_at_mut(BLOCKS / 2);
            left.par_iter_mut()
                .zip(right.par_iter_mut().rev())
                .for_each(|(a, b)| Block::play(a, b, input, shapes));
            // The circle method: the first stays, the others move on by one.
            self.blocks[1..].rotate_right(1);
        }
    }

    /// Deals the wisps into blocks.
    fn deal(&mut self, wisps: &[Wisp]) {
        let n = self.shapes.count;
        let size = wisps.len().div_ceil(BLOCKS).max(1);
        self.blocks.resize_with(BLOCKS, Block::default);
        let samples = self.shapes.samples;
        for (number, block) in self.blocks.iter_mut().enumerate() {
            let range = (number * size).min(wisps.len())..((number + 1) * size).min(wisps.len());
            (block.number, block.first, block.treated) = (number, range.start, [0; 2]);
            block.order.clear();
            block.order.extend(range.clone().map(|w| w as u32));
            let left = |w: u32| self.shapes.wholes[w as usize].low.x;
            // Sorted by their left ends, a wisp need not look farther than to the first that starts beyond its right
            // end.
            block.order.sort_unstable_by(|&a, &b| left(a).total_cmp(&left(b)).then(a.cmp(&b)));
            block.motions.clear();
            for wisp in &wisps[range] {
                block.motions.extend((0..n).map(|i| {
                    let rates = &wisp.radial_velocities[i * samples..(i + 1) * samples];
                    Motion::new(wisp.velocities[i], rates)
                }));
            }
        }
    }

    fn collect(&mut self, wisps: &mut [Wisp]) {
        let (n, s) = (self.shapes.count, self.shapes.samples);
        self.blocks.sort_unstable_by_key(|b| b.number);
        self.treated = [0; 2];
        self.bonds.clear();
        for block in &self.blocks {
            self.bonds.extend_from_slice(&block.bonds);
            for (k, sum) in self.treated.iter_mut().enumerate() {
                *sum += block.treated[k];
            }
            for (wisp, motions) in wisps[block.first..].iter_mut().zip(block.motions.chunks(n)) {
                for (i, motion) in motions.iter().enumerate() {
                    wisp.velocities[i] = motion.velocity;
                    wisp.positions[i] += motion.shift;
                    for (k, rate) in
                        wisp.radial_velocities[i * s..(i + 1) * s].iter_mut().enumerate()
                    {
                        *rate = motion.rates[k / 4][k % 4];
                    }
                }
            }
        }
        // The tournament finds them in another order than a search wants.
        self.bonds.sort_unstable_by_key(|b| b.nodes);
    }
}

impl Block {
    /// The wisps of a block among themselves.
    fn play_alone(&mut self, input: &InteractionInput, shapes: &Shapes) {
        let Self { first, motions, order, treated, bonds, .. } = self;
        let base = *first * shapes.count;
        let mut each = |x: usize, y: usize| {
            let (a, b) = (shapes.first_node(x) - base, shapes.first_node(y) - base);
            let pairs = [[&motions[a], &motions[a + 1]], [&motions[b], &motions[b + 1]]];
            if impulse::move_together(input, pairs) {
                return;
            }
            let Some(near) = Near::find(shapes, x, y) else { return };
            let mut four = [motions[a], motions[a + 1], motions[b], motions[b + 1]];
            let (kind, bond) = impulse::treat(input, shapes, &near, &mut four);
            if kind.is_some() || bond.is_some() {
                [motions[a], motions[a + 1], motions[b], motions[b + 1]] = four;
            }
            kind.into_iter().for_each(|kind| treated[kind] += 1);
            bonds.extend(bond);
        };
        for (k, &a) in order.iter().enumerate() {
            if input.params.with_itself && input.is_turn(a, a) {
                shapes.within(a as usize, &mut each);
            }
            let right = shapes.wholes[a as usize].high.x;
            for &b in order[k + 1..].iter() {
                if shapes.wholes[b as usize].low.x > right {
                    break;
                }
                if input.is_turn(a, b) {
                    shapes.between(a as usize, b as usize, &mut each);
                }
            }
        }
    }

    /// The wisps of two blocks against each other.
    fn play(one: &mut Self, other: &mut Self, input: &InteractionInput, shapes: &Shapes) {
        // Whoever stands left in the tournament, the lower block is first: sections keep their roles, and signs with
        // them.
        let (low, high) = if one.number < other.number { (one, other) } else { (other, one) };
        let (base_a, base_b) = (low.first * shapes.count, high.first * shapes.count);
        let (ours, theirs, treated) = (&mut low.motions, &mut high.motions, &mut low.treated);
        let bonds = &mut low.bonds;
        let mut each = |x: usize, y: usize| {
            let (a, b) = (shapes.first_node(x) - base_a, shapes.first_node(y) - base_b);
            if impulse::move_together(
                input,
                [[&ours[a], &ours[a + 1]], [&theirs[b], &theirs[b + 1]]],
            ) {
                return;
            }
            let Some(near) = Near::find(shapes, x, y) else { return };
            let mut four = [ours[a], ours[a + 1], theirs[b], theirs[b + 1]];
            let (kind, bond) = impulse::treat(input, shapes, &near, &mut four);
            if kind.is_some() || bond.is_some() {
                [ours[a], ours[a + 1], theirs[b], theirs[b + 1]] = four;
            }
            kind.into_iter().for_each(|kind| treated[kind] += 1);
            bonds.extend(bond);
        };
        for &a in &low.order {
            let right = shapes.wholes[a as usize].high.x;
            for &b in &high.order {
                if shapes.wholes[b as usize].low.x > right {
                    break;
                }
                if input.is_turn(a, b) {
                    shapes.between(a as usize, b as usize, &mut each);
                }
            }
        }
    }
}
