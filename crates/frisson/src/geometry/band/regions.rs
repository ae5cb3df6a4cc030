//! What hangs together in a band: pieces of the inside, and hollows that no way leads out of.
//!
//! ```text
//!    . . . . . . .     runs of points along x that are inside (=) or outside (.) hang together with those
//!    . = = = = . .     beside them that are on the same side; what is outside and does not hang together
//!    . = . = = . =     with the border of the box is a hollow
//!    . = = = = . =
//! ```

use glam::{IVec3, Vec3};

use super::{BandPoint, Bounds, DistanceBand, SIDE, every, index_in_block};
use crate::geometry::NONE;
use crate::geometry::topology::{find, unite};

/// The run that stands for everything beyond the box.
const BEYOND: u32 = 0;

/// Points that follow each other along x on one side.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The place after the last, counted from the start of the row.
    end: i32,
    inside: bool,
}

/// Which points of a band hang together along the edges of its lattice.
#[derive(Clone, Debug, Default)]
pub struct BandRegions {
    /// First point, and points along the axes.
    low: IVec3,
    size: IVec3,
    /// First run of every row, and the end of the last; rows along which nothing is near have none.
    rows: Vec<u32>,
    runs: Vec<Run>,
    /// Per run: the first run of its region, and at the first how many points the region has.
    roots: Vec<u32>,
    counts: Vec<u64>,
}

impl BandRegions {
    /// The piece that a point belongs to; [`NONE`] outside.
    #[must_use]
    pub fn piece(&self, point: IVec3) -> u32 {
        let at = point - self.low;
        if at.cmplt(IVec3::ZERO).any() || at.cmpge(self.size).any() {
            return NONE;
        }
        let row = self.row(at.y, at.z);
        let runs = self.rows[row] as usize..self.rows[row + 1] as usize;
        let run = runs.start + self.runs[runs.clone()].partition_point(|r| r.end <= at.x);
        if run < runs.end && self.runs[run].inside { self.roots[run] } else { NONE }
    }

    /// Pieces of the inside with how many points they have, those of least number first.
    pub fn pieces(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let first = |&r: &u32| self.roots[r as usize] == r && self.runs[r as usize].inside;
        (0..self.runs.len() as u32).filter(first).map(|r| (r, self.counts[r as usize]))
    }

    /// Whether some of the outside cannot be reached from beyond.
    #[must_use]
    pub fn has_hollows(&self) -> bool {
        self.runs.iter().zip(&self.roots).any(|(run, root)| !run.inside && *root != BEYOND)
    }

    fn row(&self, y: i32, z: i32) -> usize {
        (z * self.size.y + y) as usize
    }

    /// Joins what two rows beside each other have on the same side.
    fn join_rows(&mut self, a: Option<usize>, b: Option<usize>) {
        let span = |row: Option<usize>| match row {
            Some(row) => self.rows[row]..self.rows[row + 1],
            None => 0..0,
        };
        let (mut a, mut b) = (span(a), span(b));
        // A row with no runs is outside throughout: what is outside beside it is open to the world.
        if a.is_empty() || b.is_empty() {
            for run in a.chain(b).filter(|r| !self.runs[*r as usize].inside) {
                unite(&mut self.roots, BEYOND, run);
            }
            return;
        }
        while !a.is_empty() && !b.is_empty() {
            let (run_a, run_b) = (self.runs[a.start as usize], self.runs[b.start as usize]);
            if run_a.inside == run_b.inside {
                unite(&mut self.roots, a.start, b.start);
            }
            // The one that ends first makes room; both, where they end together.
            a.start += u32::from(run_a.end <= run_b.end);
            b.start += u32::from(run_b.end <= run_a.end);
        }
    }

    /// Joins every row with those before it, and what is outside at the border of the box with what is beyond.
    fn join_all(&mut self) {
        self.roots.clear();
        self.roots.extend(0..self.runs.len() as u32);
        for z in 0..=self.size.z {
            for y in 0..=self.size.y {
                let within = |y: i32, z: i32| {
                    let inner = y >= 0 && z >= 0 && y < self.size.y && z < self.size.z;
                    inner.then(|| self.row(y, z))
                };
                let (here, below, behind) = (within(y, z), within(y - 1, z), within(y, z - 1));
                self.join_rows(here, below);
                self.join_rows(here, behind);
            }
        }
        for row in 0..self.rows.len().saturating_sub(1) {
            let runs = self.rows[row]..self.rows[row + 1];
            for run in [runs.start, runs.end.saturating_sub(1)] {
                if !runs.is_empty() && !self.runs[run as usize].inside {
                    unite(&mut self.roots, BEYOND, run);
                }
            }
        }
        for run in 0..self.roots.len() as u32 {
            self.roots[run as usize] = find(&mut self.roots, run);
        }
    }

    fn count(&mut self) {
        self.counts.clear();
        self.counts.resize(self.runs.len(), 0);
        for row in self.rows.windows(2) {
            let mut start = 0;
            for run in row[0] as usize..row[1] as usize {
                let end = self.runs[run].end;
                self.counts[self.roots[run] as usize] += (end - start) as u64;
                start = end;
            }
        }
    }
}

impl DistanceBand {
    /// Finds what hangs together where `shown` makes the distance negative.
    pub fn find_regions(&self, shown: impl Fn(&BandPoint) -> f32, regions: &mut BandRegions) {
        regions.low = self.low * SIDE;
        regions.size = self.size * SIDE;
        regions.rows.clear();
        regions.runs.clear();
        // The run that stands for everything beyond the box, in no row.
        regions.runs.push(Run { end: 0, inside: false });
        for z in 0..regions.size.z {
            for y in 0..regions.size.y {
                regions.rows.push(regions.runs.len() as u32);
                self.add_runs(IVec3::new(0, y, z), &shown, &mut regions.runs);
            }
        }
        regions.rows.push(regions.runs.len() as u32);
        regions.join_all();
        regions.count();
    }

    /// Runs of the row that starts at a point of the box.
    fn add_runs(&self, start: IVec3, shown: impl Fn(&BandPoint) -> f32, runs: &mut Vec<Run>) {
        let (block, local) = (start / SIDE, start % SIDE);
        let first = (block.z * self.size.y + block.y) as usize * self.size.x as usize;
        let slots = first..first + self.size.x as usize;
        // Most rows of a box around a character are empty: they cost nothing.
        if slots.clone().all(|s| self.slots[s] == NONE && !self.filled[s]) {
            return;
        }
        let mut last = Run { end: 0, inside: false };
        let mut add = |inside: bool, count: i32| {
            if inside != last.inside && last.end > 0 {
                runs.push(last);
            }
            last = Run { end: last.end + count, inside };
        };
        for slot in slots {
            match self.blocks.get(self.slots[slot] as usize) {
                Some(known) => {
                    let at = index_in_block(local);
                    for point in &known.points[at..at + SIDE as usize] {
                        add(shown(point) < 0.0, 1);
                    }
                }
                None => add(self.filled[slot], SIDE),
            }
        }
        runs.push(last);
    }

    /// Makes the hollows part of the inside.
    pub fn fill_hollows(&mut self, regions: &BandRegions) {
        for (row, ends) in regions.rows.windows(2).enumerate() {
            let (y, z) = (row as i32 % regions.size.y, row as i32 / regions.size.y);
            let mut start = 0;
            for run in ends[0] as usize..ends[1] as usize {
                let Run { end, inside } = regions.runs[run];
                if !inside && regions.roots[run] != BEYOND {
                    (start..end).for_each(|x| self.fill(regions.low + IVec3::new(x, y, z)));
                }
                start = end;
            }
        }
    }

    /// Makes a point one of the inside, far from any surface.
    fn fill(&mut self, point: IVec3) {
        let block = point.div_euclid(IVec3::splat(SIDE));
        let Some(slot) = self.slot_index(block) else { return };
        match self.blocks.get_mut(self.slots[slot] as usize) {
            Some(known) => {
                known.points[index_in_block(point - block * SIDE)] =
                    BandPoint { signed: f32::NEG_INFINITY, kept: 0.0, triangle: NONE };
                known.range.0 = f32::NEG_INFINITY;
            }
            None => self.filled[slot] = true,
        }
    }

    /// Adds a rod with round ends, where it is not within what `shown` has. It is known a cell beyond its surface,
    /// under a triangle where no other is; its radius is what its points keep.
    pub fn add_rod(
        &mut self,
        [a, b]: [Vec3; 2],
        radius: f32,
        triangle: u32,
        shown: impl Fn(&BandPoint) -> f32,
    ) {
        let (low, high) = self.points_within(Bounds::of(&[a, b]).grown(radius + self.cell));
        let (along, cell) = (b - a, self.cell);
        for point in every(low, high) {
            let from = point.as_vec3() * cell - a;
            let share = from.dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
            let distance = from.distance(along * share.clamp(0.0, 1.0));
            let block = point.div_euclid(IVec3::splat(SIDE));
            let slot = self.slot_index(block).map(|s| self.slots[s] as usize);
            let Some(known) = slot.and_then(|s| self.blocks.get_mut(s)) else { continue };
            let old = &mut known.points[index_in_block(point - block * SIDE)];
            if distance < radius + cell && distance - radius < shown(old) {
                let triangle = if old.triangle == NONE { triangle } else { old.triangle };
                *old = BandPoint { signed: distance, kept: radius, triangle };
                known.range.0 = known.range.0.min(distance);
            }
        }
    }
}
