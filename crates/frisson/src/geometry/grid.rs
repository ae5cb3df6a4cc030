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
    entries: Vec<(u32, u32, IVec3)>,
}

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

    fn sort(&mut self) {
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
