//! A uniform grid over points or boxes, for neighbours in linear time.
//!
//! Cells are hashed into a table of fixed size and filled by a counting sort: the order of the items
//! in a cell is their index order, whatever the number of threads.

use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Points entered together.
const POINTS: usize = 1024;

/// Items by cell. Rebuilt from scratch each time, without allocating once it has grown.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    inverse_cell: f32,
    mask: u32,
    starts: Vec<u32>,
    items: Vec<u32>,
    cells: Vec<IVec3>,
    entries: Vec<Entry>,
    /// Where each chunk of the entries has those of each bucket, beside each other.
    runs: Vec<[u32; BUCKETS + 1]>,
    sorted: Vec<Entry>,
}

/// Slot, item and cell.
type Entry = (u32, u32, IVec3);

/// Ranges of slots that are sorted each on its own: fixed, and enough for many cores.
const BUCKETS: usize = 64;
/// Entries looked through together; fewer than two chunks are sorted by one core.
const CHUNK: usize = 4096;

impl Grid {
    /// Fills the grid with `count` points; `cell` is the side of a cell [m].
    pub fn build_points(&mut self, count: usize, place: impl Fn(usize) -> Vec3 + Sync, cell: f32) {
        self.start(cell, count);
        let mut entries = std::mem::take(&mut self.entries);
        entries.resize(count, (0, 0, IVec3::ZERO));
        entries.par_iter_mut().enumerate().with_min_len(POINTS).for_each(|(index, entry)| {
            let c = self.cell_of(place(index));
            *entry = (self.slot(c), index as u32, c);
        });
        self.entries = entries;
        self.sort();
    }

    /// All items, cell by cell.
    #[must_use]
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// Fills the grid with boxes; a box is listed in every cell it meets.
    pub fn build_boxes(&mut self, boxes: impl Iterator<Item = (Vec3, Vec3)>, cell: f32) {
        let expected = boxes.size_hint().0;
        // A guess that boxes are about a cell large: a table that is too small costs time, not results.
        self.start(cell, 2 * expected);
        for (index, (low, high)) in boxes.enumerate() {
            let (a, b) = (self.cell_of(low), self.cell_of(high));
            for z in a.z..=b.z {
                for y in a.y..=b.y {
                    for x in a.x..=b.x {
                        let c = IVec3::new(x, y, z);
                        self.entries.push((self.slot(c), index as u32, c));
                    }
                }
            }
        }
        self.sort();
    }

    /// Calls `each` for every item listed in a cell that meets the box. An item that was entered as
    /// a box may come several times.
    pub fn query(&self, low: Vec3, high: Vec3, mut each: impl FnMut(u32)) {
        self.query_places(low, high, |i| each(self.items[i]));
    }

    /// The same with the places of the items in [`Grid::items`]: what is kept in that order is read one after the
    /// other, not from all over the memory.
    pub fn query_places(&self, low: Vec3, high: Vec3, mut each: impl FnMut(usize)) {
        if self.items.is_empty() {
            return;
        }
        let (a, b) = (self.cell_of(low), self.cell_of(high));
        for z in a.z..=b.z {
            for y in a.y..=b.y {
                let row = row_hash(y, z);
                for x in a.x..=b.x {
                    let c = IVec3::new(x, y, z);
                    let slot = (row.wrapping_add(x as u32) & self.mask) as usize;
                    for i in self.starts[slot] as usize..self.starts[slot + 1] as usize {
                        // Other cells may share the slot.
                        if self.cells[i] == c {
                            each(i);
                        }
                    }
                }
            }
        }
    }

    /// Cell of a place. Far places saturate; they share the outermost cells.
    #[must_use]
    pub fn cell_of(&self, p: Vec3) -> IVec3 {
        let p = p * self.inverse_cell;
        // Rounds down without a call: towards zero, then one less where that went up.
        let cell = |v: f32| {
            let towards_zero = v as i32;
            towards_zero.saturating_sub(i32::from(v < towards_zero as f32))
        };
        IVec3::new(cell(p.x), cell(p.y), cell(p.z))
    }

    fn start(&mut self, cell: f32, expected: usize) {
        // A cell of no size would put every place at NaN or infinity.
        self.inverse_cell = 1.0 / cell.max(f32::MIN_POSITIVE);
        // Half empty, so that few cells share a slot; a power of two, so that a mask replaces the remainder.
        self.mask = (2 * expected.max(8)).next_power_of_two() as u32 - 1;
        self.entries.clear();
    }

    fn slot(&self, c: IVec3) -> u32 {
        row_hash(c.y, c.z).wrapping_add(c.x as u32) & self.mask
    }

    /// Sorts by slot; those of one slot stay in their order.
    fn sort(&mut self) {
        let slots = self.mask as usize + 1;
        // A table for far fewer entries than there are, of boxes that no one could count, may be smaller than the buckets.
        if self.entries.len() < 2 * CHUNK || slots < BUCKETS {
            self.sort_alone();
        } else {
            self.sort_by_buckets();
        }
    }

    /// By buckets of slots: each chunk of entries sorts its own by bucket, then each bucket collects its runs from
    /// all chunks. What a bucket fills lies together and stays in the cache of its core.
    fn sort_by_buckets(&mut self) {
        let slots = self.mask as usize + 1;
        let count = self.entries.len();
        // A power of two both: no slot is left over.
        let width = slots / BUCKETS;
        let bucket = |entry: &Entry| entry.0 as usize / width;
        self.runs.resize(count.div_ceil(CHUNK), [0; BUCKETS + 1]);
        self.sorted.resize(count, (0, 0, IVec3::ZERO));
        let chunks = self.sorted.par_chunks_mut(CHUNK).zip(self.entries.par_chunks(CHUNK));
        chunks.zip(&mut self.runs).for_each(|((sorted, entries), ends)| {
            *ends = [0; BUCKETS + 1];
            entries.iter().for_each(|entry| ends[bucket(entry) + 1] += 1);
            for b in 0..BUCKETS {
                ends[b + 1] += ends[b];
            }
            let mut next = *ends;
            for entry in entries {
                let place = &mut next[bucket(entry)];
                sorted[*place as usize] = *entry;
                *place += 1;
            }
        });
        self.starts.resize(slots + 1, 0);
        self.items.resize(count, 0);
        self.cells.resize(count, IVec3::ZERO);
        self.starts[slots] = count as u32;
        let share = Share {
            starts: &mut self.starts[..slots],
            items: &mut self.items,
            cells: &mut self.cells,
            first: 0,
        };
        share.fill(0..BUCKETS, width, &Runs { runs: &self.runs, sorted: &self.sorted });
    }

    fn sort_alone(&mut self) {
        let slots = self.mask as usize + 1;
        self.starts.clear();
        self.starts.resize(slots + 1, 0);
        for &(slot, _, _) in &self.entries {
            self.starts[slot as usize + 1] += 1;
        }
        for i in 0..slots {
            self.starts[i + 1] += self.starts[i];
        }
        self.items.clear();
        self.items.resize(self.entries.len(), 0);
        self.cells.clear();
        self.cells.resize(self.entries.len(), IVec3::ZERO);
        // Filled backwards from each slot's end, so that the starts end up in place and items ascend.
        for &(slot, item, cell) in self.entries.iter().rev() {
            let end = &mut self.starts[slot as usize + 1];
            *end -= 1;
            self.items[*end as usize] = item;
            self.cells[*end as usize] = cell;
        }
        self.starts.rotate_left(1);
        self.starts[slots] = self.entries.len() as u32;
    }
}

/// The entries of all chunks, sorted by bucket in each.
struct Runs<'a> {
    runs: &'a [[u32; BUCKETS + 1]],
    sorted: &'a [Entry],
}

impl Runs<'_> {
    /// Number of entries of a bucket.
    fn count(&self, bucket: usize) -> usize {
        self.runs.iter().map(|ends| (ends[bucket + 1] - ends[bucket]) as usize).sum()
    }

    /// Entries of a bucket, in their order.
    fn of(&self, bucket: usize) -> impl Iterator<Item = &Entry> {
        let chunks = self.sorted.chunks(CHUNK).zip(self.runs);
        chunks.flat_map(move |(own, ends)| &own[ends[bucket] as usize..ends[bucket + 1] as usize])
    }
}

/// What some buckets fill.
struct Share<'a> {
    starts: &'a mut [u32],
    items: &'a mut [u32],
    cells: &'a mut [IVec3],
    /// Number of the first of the items.
    first: u32,
}

impl Share<'_> {
    /// Fills the share of some buckets of `width` slots each, on all cores.
    fn fill(self, buckets: std::ops::Range<usize>, width: usize, runs: &Runs) {
        let Share { starts, items, cells, first } = self;
        if buckets.len() == 1 {
            return Share { starts, items, cells, first }.fill_one(buckets.start, width, runs);
        }
        let middle = buckets.start.midpoint(buckets.end);
        let (low, high) = (buckets.start..middle, middle..buckets.end);
        let below: usize = low.clone().map(|b| runs.count(b)).sum();
        let (starts, later_starts) = starts.split_at_mut(low.len() * width);
        let (items, later_items) = items.split_at_mut(below);
        let (cells, later_cells) = cells.split_at_mut(below);
        let left = Share { starts, items, cells, first };
        let first = first + below as u32;
        let right = Share { starts: later_starts, items: later_items, cells: later_cells, first };
        rayon::join(|| left.fill(low, width, runs), || right.fill(high, width, runs));
    }

    fn fill_one(self, bucket: usize, width: usize, runs: &Runs) {
        let slot = |entry: &Entry| entry.0 as usize - bucket * width;
        self.starts.fill(0);
        runs.of(bucket).for_each(|entry| self.starts[slot(entry)] += 1);
        let mut next = 0;
        for start in self.starts.iter_mut() {
            next += std::mem::replace(start, next);
        }
        for entry in runs.of(bucket) {
            let place = &mut self.starts[slot(entry)];
            (self.items[*place as usize], self.cells[*place as usize]) = (entry.1, entry.2);
            *place += 1;
        }
        // Each start has come to the start of the next one.
        let mut before = 0;
        for start in self.starts.iter_mut() {
            before = std::mem::replace(start, self.first + before);
        }
    }
}

/// Where a row of cells along x starts in the table. Rows are scattered, the cells of a row are neighbours: a query
/// asks for several of them, and those that ask one after the other for the same.
fn row_hash(y: i32, z: i32) -> u32 {
    // Large odd multipliers of C. Ericson, *Real-Time Collision Detection* (2005), 7.1.3; the shift brings their
    // upper bits down to where the mask looks.
    let h = (y as u32).wrapping_mul(0xD816_3841) ^ (z as u32).wrapping_mul(0xCB1A_B31F);
    h ^ (h >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    fn cloud(count: u64) -> Vec<Vec3> {
        let c = |i, k| random::signed(9, i, k) as f32;
        (0..count).map(|i| Vec3::new(c(i, 0), c(i, 1), c(i, 2))).collect()
    }

    #[test]
    fn finds_every_point_in_reach_once() {
        let points = cloud(500);
        let mut grid = Grid::default();
        grid.build_points(points.len(), |i| points[i], 0.25);
        for &p in &points {
            let reach = Vec3::splat(0.2);
            let mut got = Vec::new();
            grid.query(p - reach, p + reach, |i| got.push(i));
            got.retain(|&i| points[i as usize].distance(p) <= 0.2);
            got.sort_unstable();
            let near = |i: &u32| points[*i as usize].distance(p) <= 0.2;
            assert_eq!(got, (0..500).filter(near).collect::<Vec<_>>());
        }
    }

    #[test]
    fn many_points_are_sorted_as_one_core_sorts_them() {
        let points = cloud(3 * CHUNK as u64 + 77);
        // Coarse cells, with many points in each, and fine ones.
        for cell in [0.4, 0.01] {
            let mut grid = Grid::default();
            grid.build_points(points.len(), |i| points[i], cell);
            let found = (grid.starts.clone(), grid.items.clone(), grid.cells.clone());
            grid.sort_alone();
            assert!(found == (grid.starts, grid.items, grid.cells), "cells of {cell}");
        }
    }

    #[test]
    fn finds_every_overlapping_box() {
        let points = cloud(200);
        let half = Vec3::splat(0.15);
        let mut grid = Grid::default();
        grid.build_boxes(points.iter().map(|&p| (p - half, p + half)), 0.2);
        for &p in &points {
            let mut got = Vec::new();
            grid.query(p - half, p + half, |i| got.push(i));
            got.sort_unstable();
            got.dedup();
            for (i, &q) in points.iter().enumerate() {
                let meets = (p - q).abs().cmple(2.0 * half).all();
                assert!(!meets || got.contains(&(i as u32)));
            }
        }
    }
}
