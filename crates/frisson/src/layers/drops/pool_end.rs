//! Where the ground of a pool ends: the rim over which its liquid leaves.
//!
//! ```text
//!    cell      cell         the bed is known at the middles of cells; a rim lies between two of them, and on a steep wall
//!     |    /    |           much higher than the last middle. It is looked for on the way from each cell to those
//!     |  _/     |           beside it that have no ground: liquid leaves over what is there, all along a rim alike, and
//!     o-'       none        not through the cells that happen to reach least far up
//! ```

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::pool::PoolRest;
use crate::geometry::TriangleBvh;
use crate::stage::ColliderSet;

/// Ways from a cell to those beside it: along x, along z, and along the diagonal by which the sheet's triangles are cut.
pub const WAYS: [[i64; 2]; 6] = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]];
/// Halvings of a way until its end is known, to a four-thousandth of a cell: walls are steepest at their rims, and one of
/// 87 degrees is found to a quarter of a millimetre where cells are half a centimetre.
const HALVINGS: usize = 12;

/// Where the ground ends on the way from a cell to one beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// The cell.
    pub cell: u32,
    /// The way, by its place in [`WAYS`].
    pub way: u8,
    /// Share of the way to the other middle [-].
    pub share: f64,
    /// Height of the ground there, in the patch [m].
    pub height: f64,
}

impl PoolRest {
    /// Looks for the ends of the ground.
    pub(super) fn find_ends(&mut self, trees: &[&TriangleBvh], colliders: &ColliderSet) {
        let mut ends = std::mem::take(&mut self.ends);
        ends.clear();
        for cell in (0..self.bed.len()).filter(|c| self.bed[*c].is_finite()) {
            for way in 0..WAYS.len() {
                if self.beside(cell, way).is_some_and(|b| !self.bed[b].is_finite()) {
                    ends.push(End {
                        cell: cell as u32,
                        way: way as u8,
                        share: 0.0,
                        height: self.height(cell),
                    });
                }
            }
        }
        let this = &*self;
        ends.par_iter_mut().for_each(|end| {
            let mut step = 0.5;
            for _ in 0..HALVINGS {
                let share = end.share + step;
                let height = this.ground_at(this.on_way(end, share), trees, colliders);
                if height.is_finite() {
                    (end.share, end.height) = (share, height);
                }
                step *= 0.5;
            }
        });
        self.ends = ends;
    }

    /// The cell beside one, if it is in the patch.
    pub(super) fn beside(&self, cell: usize, way: usize) -> Option<usize> {
        let [nx, nz] = self.cells.map(|n| n as i64);
        let (x, z) = (cell as i64 % nx + WAYS[way][0], cell as i64 / nx + WAYS[way][1]);
        ((0..nx).contains(&x) && (0..nz).contains(&z)).then_some((z * nx + x) as usize)
    }

    /// Where the ground ends on a way from a cell, if it does.
    #[must_use]
    pub fn end(&self, cell: usize, way: usize) -> Option<&End> {
        let key = |e: &End| (e.cell, e.way);
        let found = self.ends.binary_search_by_key(&(cell as u32, way as u8), key);
        found.ok().map(|i| &self.ends[i])
    }

    /// Place of an end: x and z [m].
    #[must_use]
    pub fn place_of(&self, end: &End) -> [f64; 2] {
        self.on_way(end, end.share)
    }

    /// Height of an end as gravity sees it [m].
    #[must_use]
    pub fn sill(&self, end: &End) -> f64 {
        end.height + self.rise(self.place_of(end))
    }

    /// Height of what liquid must rise over to leave a cell, as gravity sees it [m]: the lowest of its ends, or its bed.
    #[must_use]
    pub fn lowest_sill(&self, cell: usize) -> f64 {
        let ends = (0..4).filter_map(|way| self.end(cell, way)).map(|e| self.sill(e));
        let lowest = ends.fold(f64::INFINITY, f64::min);
        if lowest.is_finite() { lowest.max(self.bed[cell]) } else { self.bed[cell] }
    }

    fn on_way(&self, end: &End, share: f64) -> [f64; 2] {
        let middle = self.middle(end.cell as usize);
        let way = WAYS[end.way as usize];
        [0, 1].map(|k| middle[k] + share * self.cell * way[k] as f64)
    }
}
