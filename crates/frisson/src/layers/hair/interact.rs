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

use super::blocks::{Block, block_count};
use super::bonds::Bond;
use super::impulse::Motion;
use super::params::InteractionParams;
use super::rest::HairRest;
use super::shapes::Shapes;
use super::state::Wisp;

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
    pub fn is_turn(&self, a: u32, b: u32) -> bool {
        self.turns == 1
            || (u64::from(a) + u64::from(b) + self.pass).is_multiple_of(u64::from(self.turns))
    }

    /// What is left of the numbers of all wisps whose turn it is with `a`, when they are divided by the turns.
    pub fn rest_of_partners(&self, a: u32) -> u32 {
        let turns = u64::from(self.turns);
        ((turns - (u64::from(a) + self.pass) % turns) % turns) as u32
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
        self.deal(input, wisps);
        for _ in 0..input.sweeps {
            self.sweep(input);
        }
        self.collect(wisps);
    }

    /// Treats all pairs once.
    fn sweep(&mut self, input: &InteractionInput) {
        let shapes = &self.shapes;
        self.blocks.iter_mut().for_each(|block| block.met.bonds.clear());
        self.blocks.par_iter_mut().for_each(|block| block.play_alone(input, shapes));
        // As many rounds as there are other blocks: everyone meets everyone once.
        let count = self.blocks.len();
        for _ in 1..count {
            let (left, right) = self.blocks.split_at_mut(count / 2);
            left.par_iter_mut()
                .zip(right.par_iter_mut().rev())
                .for_each(|(a, b)| Block::play(a, b, input, shapes));
            // The circle method: the first stays, the others move on by one.
            self.blocks[1..].rotate_right(1);
        }
    }

    /// Deals the wisps into blocks.
    fn deal(&mut self, input: &InteractionInput, wisps: &[Wisp]) {
        let count = block_count(wisps.len());
        let size = wisps.len().div_ceil(count).max(1);
        self.blocks.resize_with(count, Block::default);
        let shapes = &self.shapes;
        self.blocks.par_iter_mut().enumerate().for_each(|(number, block)| {
            let first = (number * size).min(wisps.len());
            let own = &wisps[first..((number + 1) * size).min(wisps.len())];
            (block.number, block.first, block.met.treated) = (number, first, [0; 2]);
            block.fill(input, shapes, own);
        });
    }

    fn collect(&mut self, wisps: &mut [Wisp]) {
        self.blocks.sort_unstable_by_key(|b| b.number);
        self.treated = [0; 2];
        self.bonds.clear();
        for block in &self.blocks {
            self.bonds.extend_from_slice(&block.met.bonds);
            for (k, sum) in self.treated.iter_mut().enumerate() {
                *sum += block.met.treated[k];
            }
        }
        let (n, s) = (self.shapes.count, self.shapes.samples);
        let size = wisps.len().div_ceil(self.blocks.len()).max(1);
        let work = wisps.par_chunks_mut(size).zip(&self.blocks);
        work.for_each(|(wisps, block)| {
            for (wisp, motions) in wisps.iter_mut().zip(block.motions.chunks(n)) {
                give_back(wisp, motions, s);
            }
        });
        // The tournament finds them in another order than a search wants.
        self.bonds.sort_unstable_by_key(|b| b.nodes);
    }
}

/// Gives a wisp the motions that a pass has left.
fn give_back(wisp: &mut Wisp, motions: &[Motion], samples: usize) {
    for (i, motion) in motions.iter().enumerate() {
        wisp.velocities[i] = motion.velocity;
        wisp.positions[i] += motion.shift;
        let rates = &mut wisp.radial_velocities[i * samples..(i + 1) * samples];
        for (k, rate) in rates.iter_mut().enumerate() {
            *rate = motion.rates[k / 4][k % 4];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_are_those_whose_turn_it_is() {
        let (rest, params) = (HairRest::default(), InteractionParams::default());
        for (turns, pass) in (1..=9u32).flat_map(|turns| (0..20u64).map(move |pass| (turns, pass)))
        {
            let input = InteractionInput {
                rest: &rest,
                params: &params,
                mass_share: 0.5,
                wetness: &[],
                dt: 0.01,
                tick: 0.01,
                holds: false,
                bonds: &[],
                remembers: false,
                carried: 2,
                turns,
                pass,
                sweeps: 1,
            };
            for (a, b) in (0..40u32).flat_map(|a| (0..40u32).map(move |b| (a, b))) {
                let is_partner = b % turns == input.rest_of_partners(a);
                assert_eq!(input.is_turn(a, b), is_partner, "{a} and {b} of {turns}, pass {pass}");
            }
        }
    }
}
