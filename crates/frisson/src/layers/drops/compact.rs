//! Taking what is gone out of the list of drops, on all threads, in the order of birth.

use rayon::prelude::*;

use super::state::{Droplet, Phase};

/// Drops looked through together.
const CHUNK: usize = 2048;

/// Storage, reused.
#[derive(Default)]
pub struct Compaction {
    /// Drops that stay, up to the end of each chunk.
    ends: Vec<u32>,
}

impl Compaction {
    /// Keeps the drops that have mass left. `spare` is overwritten, and holds the list as it was afterwards.
    pub fn keep_living(&mut self, drops: &mut Vec<Droplet>, spare: &mut Vec<Droplet>) {
        let lives = |d: &&Droplet| d.mass > 0.0;
        self.ends.resize(drops.len().div_ceil(CHUNK), 0);
        let counted = self.ends.par_iter_mut().zip(drops.par_chunks(CHUNK));
        counted.for_each(|(end, drops)| *end = drops.iter().filter(lives).count() as u32);
        let mut total = 0;
        for end in &mut self.ends {
            total += *end;
            *end = total;
        }
        // Nothing has gone: the common case costs no copy.
        if total as usize == drops.len() {
            return;
        }
        // Both lists have the same room: a smaller one would have to grow with the next drop. Exactly: twice as much in turn
        // would never end.
        spare.clear();
        spare.reserve_exact(drops.capacity());
        spare.resize(total as usize, Droplet::new(0, 0.0, Phase::Corner { half: 0 }, 0.0));
        copy_living(drops, &self.ends, 0, spare);
        std::mem::swap(drops, spare);
    }
}

/// Copies those of some chunks that have mass left; before the first chunk, `first` stay.
fn copy_living(from: &[Droplet], ends: &[u32], first: u32, to: &mut [Droplet]) {
    if ends.len() <= 1 {
        to.iter_mut().zip(from.iter().filter(|d| d.mass > 0.0)).for_each(|(to, from)| *to = *from);
        return;
    }
    let half = ends.len() / 2;
    let middle = ends[half - 1];
    // Each half knows where it begins by the counts: no thread waits for another.
    let (low, high) = to.split_at_mut((middle - first) as usize);
    let (left, right) = from.split_at(half * CHUNK);
    rayon::join(
        || copy_living(left, &ends[..half], first, low),
        || copy_living(right, &ends[half..], middle, high),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_mass_stays_in_its_order() {
        let drop = |id: u64, mass: f64| Droplet::new(id, mass, Phase::Corner { half: 0 }, 0.0);
        for count in [0u64, 1, 5, CHUNK as u64, 3 * CHUNK as u64 + 17] {
            let mass = |i: u64| if crate::math::random::signed(3, i, 0) > -0.3 { 1.0 } else { 0.0 };
            let all: Vec<Droplet> = (0..count).map(|i| drop(i, mass(i))).collect();
            let (mut drops, mut spare) = (all.clone(), vec![drop(9, 9.0); 100]);
            Compaction::default().keep_living(&mut drops, &mut spare);
            let mut plain = all;
            plain.retain(|d| d.mass > 0.0);
            assert_eq!(drops, plain);
        }
    }
}
