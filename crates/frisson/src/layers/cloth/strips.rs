//! How the work is shared between cores without changing a bit of the result.
//!
//! Nodes are numbered by their distance, in edges, from what holds the cloth. Consecutive levels
//! form **strips** of at least two levels. No constraint between neighbours spans more than two
//! levels, so the constraints that start in strip `s` touch strips `s` and `s + 1` only:
//!
//! ```text
//!   strip     0       1       2       3       4
//!           |-------|-------|-------|-------|-------|
//!   even    [=== 0 ========][=== 2 ========][== 4 ==]     at once
//!   odd             [=== 1 ========][=== 3 ========]      then these, at once
//! ```
//!
//! Within a strip the constraints are solved one after the other, outwards from the pins, so that
//! one sweep carries a pin's pull through the whole strip. The order is fixed by the mesh alone.

use crate::threads::{Cut, Team};

/// Cuts of the node range into strips.
#[derive(Clone, Debug, Default)]
pub struct Strips {
    /// Strip `s` holds the nodes `bounds[s]..bounds[s + 1]`.
    bounds: Vec<u32>,
    /// Nodes whose strips are worth another thread's look.
    task: u32,
}

/// Direction in which a strip's rows are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the first row.
    There,
    /// From the last.
    Back,
}

/// Strips at most: 16 of one parity feed 16 cores. With twice as many a sweep carries a pull half as far, and the 99th
/// percentile of a fine sheet's stretch grows by a sixth.
const MAX_STRIPS: usize = 32;
/// Strips at most where they would be smaller than [`LARGE_STRIP`]: with more, sheets of 64 x 64 nodes that a ball stops go
/// through themselves in single edges.
const FEW_STRIPS: usize = 16;
/// Nodes that make a strip worth a task of its own on many cores.
const LARGE_STRIP: usize = 512;
/// Nodes of a strip at least: fewer, and a sweep carries a pull no farther than a few edges.
const MIN_STRIP_NODES: usize = 192;
/// Nodes of the cloth that are worth another thread's look: to tell it takes a microsecond, as the edges of some ten nodes do.
const TASK_NODES: u32 = 512;

impl Strips {
    /// Cuts levels (ascending along the nodes) into strips of similar size.
    pub fn build(levels: &[u32]) -> Self {
        let count = levels.len();
        let few = (count / MIN_STRIP_NODES).clamp(1, FEW_STRIPS);
        let wanted = few.max((count / LARGE_STRIP).min(MAX_STRIPS));
        let mut bounds = vec![0u32];
        let mut first_level = levels.first().copied().unwrap_or(0);
        for node in 1..count {
            let new_level = levels[node] != levels[node - 1];
            // Against the whole so far and not the last strip: one large level does not shift all that follow.
            let full = node * wanted >= bounds.len() * count;
            if new_level && full && levels[node] >= first_level + 2 {
                bounds.push(node as u32);
                first_level = levels[node];
            }
        }
        bounds.push(count as u32);
        // The last strip must also be two levels deep, or a hinge could reach past its neighbour.
        let shallow =
            bounds.len() > 2 && levels[count - 1] < levels[bounds[bounds.len() - 2] as usize] + 1;
        if shallow {
            bounds.remove(bounds.len() - 2);
        }
        Self { bounds, task: TASK_NODES }
    }

    /// Cuts nodes into strips such that pairs of them, the lower one first, join nodes of one strip or
    /// of two neighbouring ones; a task has up to `task` nodes.
    pub fn joined(count: usize, pairs: impl Iterator<Item = (u32, u32)>, task: u32) -> Self {
        let mut farthest: Vec<u32> = (0..count as u32).collect();
        pairs.for_each(|(a, b)| farthest[a as usize] = farthest[a as usize].max(b));
        let mut strips = Self::default();
        strips.cut(&mut farthest, MIN_STRIP_NODES, task);
        strips
    }

    /// The same for nodes of which is known to which farthest node each is joined, `least` in a strip; that is changed to the farthest
    /// that any of the nodes up to each is joined to. Storage is reused.
    pub fn cut(&mut self, farthest: &mut [u32], least: usize, task: u32) {
        let count = farthest.len();
        let size = (count / MAX_STRIPS).max(least).max(1) as u32;
        for node in 1..count {
            farthest[node] = farthest[node].max(farthest[node - 1]);
        }
        self.task = task;
        self.bounds.clear();
        self.bounds.push(0);
        let mut next = size;
        while (next as usize) < count {
            self.bounds.push(next);
            next = (next + size).max(farthest[next as usize - 1] + 1);
        }
        self.bounds.push(count as u32);
    }

    /// Number of strips.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Strip of a node.
    pub fn of(&self, node: u32) -> usize {
        self.bounds.partition_point(|&b| b <= node) - 1
    }

    /// First node of a strip.
    pub fn start(&self, strip: usize) -> u32 {
        self.bounds[strip]
    }

    /// Runs `work` for every strip, each with the nodes of its strip and the next, even ones first.
    pub fn sweep<T, F>(&self, team: &mut Team, nodes: &mut [T], work: &F)
    where
        T: Send,
        F: Fn(usize, &mut [T]) + Sync,
    {
        self.pass(team, 0, &mut *nodes, work);
        self.pass(team, 1, nodes, work);
    }

    /// Runs `work` for the strips of one parity, each with the nodes of its strip and the next. The
    /// even ones together cover all nodes.
    pub fn pass<N: Cut, F: Fn(usize, N) + Sync>(
        &self,
        team: &mut Team,
        parity: usize,
        nodes: N,
        work: &F,
    ) {
        let count = (self.len() + 1 - parity) / 2;
        if count == 0 {
            return;
        }
        let base = self.bounds[parity] as usize;
        let (_, nodes) = nodes.cut(base);
        let last = |k: usize| (parity + 2 * k + 2).min(self.len());
        let end = |k: usize| self.bounds[last(k)] as usize - base;
        let work = |k: usize, own: N| work(parity + 2 * k, own);
        // What makes less than two tasks is done where it is.
        if self.bounds[self.len()] < 2 * self.task {
            Team::alone().pieces(nodes, count, end, work);
        } else {
            team.pieces(nodes, count, end, work);
        }
    }
}

/// Rows of a kind of constraint, grouped by strip.
#[derive(Clone, Debug, Default)]
pub struct Grouped<T> {
    /// All rows.
    pub rows: Vec<T>,
    offsets: Vec<u32>,
}

impl<T> Grouped<T> {
    /// Groups constraints that come sorted by strip.
    pub fn build(strips: &Strips, rows: Vec<T>, strip_of: impl Fn(&T) -> usize) -> Self {
        let mut offsets = vec![0u32; strips.len() + 1];
        for row in &rows {
            offsets[strip_of(row) + 1] += 1;
        }
        for s in 0..strips.len() {
            offsets[s + 1] += offsets[s];
        }
        Self { rows, offsets }
    }

    /// Takes over constraints in any order; those of one strip keep theirs. Storage is reused.
    pub fn sort(&mut self, strips: &Strips, rows: &[T], strip_of: impl Fn(&T) -> usize)
    where
        T: Clone + Default,
    {
        self.offsets.clear();
        self.offsets.resize(strips.len() + 1, 0);
        rows.iter().for_each(|row| self.offsets[strip_of(row)] += 1);
        // From counts to starts; filling moves each to the start of the next.
        let mut start = 0;
        for offset in &mut self.offsets {
            start += std::mem::replace(offset, start);
        }
        self.rows.resize(rows.len(), T::default());
        for row in rows {
            let offset = &mut self.offsets[strip_of(row)];
            self.rows[*offset as usize] = row.clone();
            *offset += 1;
        }
        self.offsets.rotate_right(1);
        self.offsets[0] = 0;
    }

    /// Lets `each` push the rows of every strip in turn.
    pub fn collect(strips: usize, each: impl Fn(usize, &mut Vec<T>)) -> Self {
        let (mut rows, mut offsets) = (Vec::new(), vec![0u32]);
        for strip in 0..strips {
            let mut own = Vec::new();
            each(strip, &mut own);
            rows.append(&mut own);
            offsets.push(rows.len() as u32);
        }
        Self { rows, offsets }
    }

    /// The same groups of something else.
    pub fn map<R>(&self, each: impl Fn(&T) -> R) -> Grouped<R> {
        Grouped { rows: self.rows.iter().map(each).collect(), offsets: self.offsets.clone() }
    }

    /// As many rows of another kind, grouped alike.
    pub fn like<R: Clone + Default>(&self) -> Grouped<R> {
        Grouped { rows: vec![R::default(); self.rows.len()], offsets: self.offsets.clone() }
    }

    /// Number of a strip's first row among all.
    pub fn first(&self, strip: usize) -> u32 {
        self.offsets[strip]
    }

    /// Rows of a strip.
    pub fn of(&self, strip: usize) -> &[T] {
        &self.rows[self.offsets[strip] as usize..self.offsets[strip + 1] as usize]
    }

    /// Rows of a strip, to be changed.
    pub fn of_mut(&mut self, strip: usize) -> &mut [T] {
        let range = self.offsets[strip] as usize..self.offsets[strip + 1] as usize;
        &mut self.rows[range]
    }
}

/// Order in which to solve constraints given by their nodes: by strip, then outwards by level, then
/// by colour within a level so that neighbours in memory do not wait for each other.
pub fn solving_order<const N: usize>(
    strips: &Strips,
    levels: &[u32],
    constraints: &[[u32; N]],
) -> Vec<u32> {
    let lowest = |c: &[u32; N]| c.iter().copied().min().unwrap_or(0);
    let mut order: Vec<u32> = (0..constraints.len() as u32).collect();
    order.sort_by_key(|&i| {
        let c = &constraints[i as usize];
        (levels[lowest(c) as usize], lowest(c), i)
    });
    let mut color_at = vec![(u32::MAX, 0u64); levels.len()];
    let mut keys = vec![(0usize, 0u32, 0u32, 0u32); constraints.len()];
    for (rank, &i) in order.iter().enumerate() {
        let c = &constraints[i as usize];
        let level = levels[lowest(c) as usize];
        let taken = c.iter().fold(0, |mask, &n| {
            let (at, used) = color_at[n as usize];
            if at == level { mask | used } else { mask }
        });
        // Beyond 63 they share a colour: still right, as rows of a strip are solved one after the other, and only slower.
        let color = (!taken).trailing_zeros().min(63);
        for &n in c {
            let entry = &mut color_at[n as usize];
            if entry.0 != level {
                *entry = (level, 0);
            }
            entry.1 |= 1 << color;
        }
        keys[i as usize] = (strips.of(lowest(c)), level, color, rank as u32);
    }
    order.sort_by_key(|&i| keys[i as usize]);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_join_neighbouring_strips_at_most() {
        let pairs: Vec<(u32, u32)> =
            (0..4000u32).map(|i| (i, (i + 1 + 13 * (i % 31)).min(3999))).collect();
        let strips = Strips::joined(4000, pairs.iter().copied(), 500);
        assert!(strips.len() > 4, "{}", strips.len());
        for (a, b) in pairs {
            assert!(strips.of(b) - strips.of(a) < 2, "{a} {b}");
        }
        assert_eq!(Strips::joined(3, [(0, 2)].into_iter(), 500).len(), 1);
        assert_eq!(Strips::joined(0, std::iter::empty(), 500).len(), 1);
    }

    #[test]
    fn every_strip_is_two_levels_deep_and_all_nodes_are_covered() {
        let levels: Vec<u32> = (0..5000u32).map(|i| i / 37).collect();
        let strips = Strips::build(&levels);
        assert!(strips.len() > 4);
        for s in 0..strips.len() {
            let (a, b) = (strips.start(s) as usize, strips.bounds[s + 1] as usize);
            assert!(levels[b - 1] > levels[a], "strip {s}");
            assert_eq!(strips.of(a as u32), s);
        }
        let mut seen = vec![0; 5000];
        strips.sweep(&mut Team::alone(), &mut seen, &|_, nodes| nodes[0] += 1);
        assert_eq!(seen.iter().filter(|n| **n > 0).count(), strips.len());
        let (mut one, mut two) = (vec![0; 5000], vec![0; 5000]);
        let mut team = Team::alone();
        strips.pass(&mut team, 0, (one.as_mut_slice(), two.as_mut_slice()), &|_,
                                                                              (a, b): (
            &mut [i32],
            _,
        )| {
            a.iter_mut().for_each(|n| *n += 1);
            b.iter_mut().for_each(|n: &mut i32| *n += 2);
        });
        assert!(one.iter().all(|n| *n == 1) && two.iter().all(|n| *n == 2));
    }
}
