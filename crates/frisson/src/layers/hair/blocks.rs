//! Blocks of wisps that play against each other: who of two blocks meets whom, and what comes of it.

use std::cmp::Ordering;

use super::bonds::Bond;
use super::impulse::{self, Motion};
use super::interact::InteractionInput;
use super::overlap::Near;
use super::shapes::Shapes;
use super::state::Wisp;

/// Most blocks of wisps: even, and enough to keep sixteen threads busy.
const MOST_BLOCKS: usize = 32;

/// Wisps of a block, about: with fewer of them the rounds of a tournament cost more than the wisps.
const BLOCK_WISPS: usize = 12;

/// Into how many blocks wisps are dealt: an even number that depends on nothing else, so that who meets whom when
/// does not depend on the threads.
pub(super) fn block_count(wisps: usize) -> usize {
    (wisps / BLOCK_WISPS).clamp(2, MOST_BLOCKS) & !1
}

/// The wisps of one block and how they move.
#[derive(Default)]
pub(super) struct Block {
    /// First wisp.
    pub first: usize,
    pub motions: Vec<Motion>,
    /// Its wisps by the left end of their boxes.
    order: Vec<u32>,
    /// The same by what is left of their numbers, divided by the turns, and where those with each rest begin.
    by_turn: Vec<u32>,
    starts: Vec<u32>,
    /// Which block it is: the tournament moves them around.
    pub number: usize,
    pub met: Met,
}

impl Block {
    /// Takes over its wisps.
    pub fn fill(&mut self, input: &InteractionInput, shapes: &Shapes, wisps: &[Wisp]) {
        let (n, samples) = (shapes.count, shapes.samples);
        let range = self.first as u32..(self.first + wisps.len()) as u32;
        let by_left = |a: u32, b: u32| by_left(shapes, a, b);
        self.order.clear();
        self.order.extend(range);
        // Sorted by their left ends, a wisp need not look farther than to the first that starts beyond its right end.
        self.order.sort_unstable_by(|&a, &b| by_left(a, b));
        // Most wisps have to wait for their turn with each other: they are not even looked at.
        let rest = |w: u32| w % input.turns;
        self.by_turn.clone_from(&self.order);
        self.by_turn.sort_unstable_by(|&a, &b| rest(a).cmp(&rest(b)).then(by_left(a, b)));
        self.starts.clear();
        let before = |turn: u32| self.by_turn.partition_point(|w| rest(*w) < turn) as u32;
        self.starts.extend((0..=input.turns).map(before));
        self.motions.clear();
        for wisp in wisps {
            self.motions.extend((0..n).map(|i| {
                let rates = &wisp.radial_velocities[i * samples..(i + 1) * samples];
                Motion::new(wisp.velocities[i], rates)
            }));
        }
    }

    /// Its wisps whose turn it is with another, by the left end of their boxes.
    fn partners(&self, input: &InteractionInput, other: u32) -> &[u32] {
        let rest = input.rest_of_partners(other) as usize;
        &self.by_turn[self.starts[rest] as usize..self.starts[rest + 1] as usize]
    }

    /// The wisps of a block among themselves.
    pub fn play_alone(&mut self, input: &InteractionInput, shapes: &Shapes) {
        let mut motions = std::mem::take(&mut self.motions);
        let mut met = std::mem::take(&mut self.met);
        let base = self.first * shapes.count;
        let mut each = |x: usize, y: usize| {
            let (a, b) = (shapes.first_node(x) - base, shapes.first_node(y) - base);
            // The sections of a pair share no particle.
            let (ours, theirs) = motions.split_at_mut(b);
            met.meet(input, shapes, [x, y], [&mut ours[a..a + 2], &mut theirs[..2]]);
        };
        for &a in &self.order {
            if input.params.with_itself && input.is_turn(a, a) {
                shapes.within(a as usize, &mut each);
            }
            let right = shapes.wholes[a as usize].high.x;
            let partners = self.partners(input, a);
            // Those before it have looked at it already.
            let after = partners.partition_point(|b| by_left(shapes, *b, a).is_le());
            for &b in &partners[after..] {
                if shapes.wholes[b as usize].low.x > right {
                    break;
                }
                shapes.between(a as usize, b as usize, &mut each);
            }
        }
        (self.motions, self.met) = (motions, met);
    }

    /// The wisps of two blocks against each other.
    pub fn play(one: &mut Self, other: &mut Self, input: &InteractionInput, shapes: &Shapes) {
        // Whoever stands left in the tournament, the lower block is first: sections keep their roles, and signs with
        // them.
        let (low, high) = if one.number < other.number { (one, other) } else { (other, one) };
        let (base_a, base_b) = (low.first * shapes.count, high.first * shapes.count);
        let mut theirs = std::mem::take(&mut high.motions);
        let Self { order, motions: ours, met, .. } = low;
        let mut each = |x: usize, y: usize| {
            let (a, b) = (shapes.first_node(x) - base_a, shapes.first_node(y) - base_b);
            met.meet(input, shapes, [x, y], [&mut ours[a..a + 2], &mut theirs[b..b + 2]]);
        };
        for &a in &*order {
            let right = shapes.wholes[a as usize].high.x;
            for &b in high.partners(input, a) {
                if shapes.wholes[b as usize].low.x > right {
                    break;
                }
                shapes.between(a as usize, b as usize, &mut each);
            }
        }
        high.motions = theirs;
    }
}

/// Order of wisps by the left ends of their boxes.
fn by_left(shapes: &Shapes, a: u32, b: u32) -> Ordering {
    let left = |w: u32| shapes.wholes[w as usize].low.x;
    left(a).total_cmp(&left(b)).then(a.cmp(&b))
}

/// What came of the pairs that a block has treated.
#[derive(Default)]
pub(super) struct Met {
    /// Interpenetrations, collisions.
    pub treated: [u32; 2],
    /// What holds after the last sweep.
    pub bonds: Vec<Bond>,
}

impl Met {
    /// Lets two sections act on each other. `motions`: those of their two nodes each.
    fn meet(
        &mut self,
        input: &InteractionInput,
        shapes: &Shapes,
        [x, y]: [usize; 2],
        motions: [&mut [Motion]; 2],
    ) {
        let [one, other] = motions;
        let pairs = [[&one[0], &one[1]], [&other[0], &other[1]]];
        if impulse::move_together(input, pairs) {
            return;
        }
        let Some(near) = Near::find(shapes, x, y) else { return };
        let mut four = [one[0], one[1], other[0], other[1]];
        let (kind, bond) = impulse::treat(input, shapes, &near, &mut four);
        if kind.is_some() || bond.is_some() {
            [one[0], one[1], other[0], other[1]] = four;
        }
        kind.into_iter().for_each(|kind| self.treated[kind] += 1);
        self.bonds.extend(bond);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_even_in_number_and_hold_some_wisps_each() {
        for wisps in 0..3000 {
            let count = block_count(wisps);
            assert!(count.is_multiple_of(2) && (2..=MOST_BLOCKS).contains(&count), "{wisps}");
            assert!(count == 2 || wisps / count >= BLOCK_WISPS, "{wisps}: {count}");
        }
    }
}
