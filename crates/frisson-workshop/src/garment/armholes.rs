//! Where a garment that goes all around is cut out for the arms.
//!
//! Between an arm and the trunk that it lies on there is no place for cloth, and what is held there would go through one
//! of them in every frame. So a shirt gets holes for the arms, as deep as these leave no room, left and right alike. Its
//! band goes along them: what is only cut out hangs on nothing there, sags, and gets caught on buckles and badges.
//!
//! ```text
//!      front            side             back
//!   ===========.                    .===========    the band
//!   ............=                  =............
//!   .............==   no room    ==.............
//!   ...............==============...............
//!   ............................................
//! ```

use std::ops::Range;

/// Columns that a hole reaches beyond the places without room: an arm does not stay where it was looked for.
const BEYOND: usize = 1;

/// The tube that is cut, and what it needs.
pub struct Armholes<'a> {
    /// Squares around; points, which a row has one more of: the last is the first again.
    pub columns: usize,
    /// Squares along.
    pub rows: usize,
    /// Rows of points that are held.
    pub held_rows: usize,
    /// The last row in which a band may begin.
    pub lowest_band: usize,
    /// Of every point, row by row, whether there is room for cloth that hangs.
    pub hangs: &'a [bool],
    /// The same for what is held.
    pub is_held: &'a [bool],
}

impl Armholes<'_> {
    /// Rows of points of every column that stay. Where arms leave no room near the hem only, a slit comes up from there.
    pub fn kept(&self) -> Vec<Range<usize>> {
        (0..=self.columns).map(|column| self.kept_of(column)).collect()
    }

    fn kept_of(&self, column: usize) -> Range<usize> {
        let below = self.rows + 1;
        let hangs = |row: &usize| self.all_near(self.hangs, *row, column);
        let Some(first) = (0..below).find(|row| !hangs(row)) else {
            return self.held_from(0, below, column);
        };
        if 2 * first > self.rows {
            return self.held_from(0, first, column);
        }
        let last = (0..below).rev().find(|row| !hangs(row)).unwrap_or(first);
        self.held_from(last + 1, below, column)
    }

    /// From the first row on in which it can be held, or, where there is none, without being held.
    fn held_from(&self, from: usize, to: usize, column: usize) -> Range<usize> {
        let first = (from..to).find(|row| self.can_be_held(*row, column));
        let beyond = if from > 0 { BEYOND } else { 0 };
        first.unwrap_or((from + beyond).min(to))..to
    }

    /// Whether a band can begin in a row of a column.
    pub fn can_be_held(&self, row: usize, column: usize) -> bool {
        row <= self.lowest_band
            && row + self.held_rows <= self.rows + 1
            && (row..row + self.held_rows).all(|row| self.all_near(self.is_held, row, column))
    }

    /// Whether something is so at a place, at the one across from it, and beside both: whoever swings one arm farther than
    /// the other still wears what is alike on both sides.
    fn all_near(&self, is_so: &[bool], row: usize, column: usize) -> bool {
        let at = |column: usize| is_so[row * (self.columns + 1) + column % self.columns];
        let mut near = (0..=2 * BEYOND).map(|side| column + self.columns + side - BEYOND);
        near.all(|column| at(column) && at(3 * self.columns - column))
    }
}

/// Of some triangles, whether they hang on one of the first `held`: an island between two holes would fall off.
pub fn are_held(triangles: &[[u32; 3]], held: usize, same: impl Fn(u32) -> u32) -> Vec<bool> {
    let points = triangles.iter().flatten().max().map_or(0, |v| *v as usize + 1);
    let mut is_reached = vec![false; points];
    triangles[..held].iter().flatten().for_each(|v| is_reached[same(*v) as usize] = true);
    loop {
        let mut has_grown = false;
        for triangle in triangles {
            let reached = triangle.map(|v| is_reached[same(v) as usize]);
            if reached.contains(&true) && reached.contains(&false) {
                triangle.iter().for_each(|v| is_reached[same(*v) as usize] = true);
                has_grown = true;
            }
        }
        if !has_grown {
            break;
        }
    }
    triangles.iter().map(|t| is_reached[same(t[0]) as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stays of each column of a tube of 16 by 8 squares on which, at column 4, nothing can hang in some rows, and
    /// nothing be held in others.
    fn kept(hangs: Range<usize>, is_held: Range<usize>) -> Vec<Range<usize>> {
        let free = |rows: Range<usize>| -> Vec<bool> {
            (0..9 * 17).map(|v| v % 17 != 4 || !rows.contains(&(v / 17))).collect()
        };
        let (hangs, is_held) = (&free(hangs), &free(is_held));
        Armholes { columns: 16, rows: 8, held_rows: 2, lowest_band: 5, hangs, is_held }.kept()
    }

    #[test]
    fn an_armhole_is_open_upwards_and_alike_on_both_sides() {
        let kept = kept(2..4, 0..0);
        for side in [3, 4, 5, 11, 12, 13] {
            assert_eq!(kept[side], 4..9);
        }
        assert!([0, 1, 2, 6, 7, 8, 9, 10, 14, 15, 16].iter().all(|column| kept[*column] == (0..9)));
    }

    #[test]
    fn a_hand_near_the_hem_makes_a_slit_from_below() {
        assert_eq!(kept(6..7, 0..0)[4], 0..6);
    }

    #[test]
    fn a_band_goes_where_it_can_be_held() {
        assert_eq!(kept(0..0, 0..3)[4], 3..9);
        assert_eq!(kept(0..0, 2..5)[4], 0..9);
        assert_eq!(kept(0..2, 2..5)[4], 5..9);
        // Nowhere: it hangs on what is beside it.
        assert_eq!(kept(0..0, 0..9)[4], 0..9);
        assert!(kept(0..9, 0..0)[4].is_empty());
    }

    #[test]
    fn islands_are_left_out() {
        let triangles = [[0, 1, 2], [2, 3, 4], [5, 6, 7], [8, 6, 7]];
        assert_eq!(are_held(&triangles, 1, |v| v), [true, true, false, false]);
        // Two names of one point.
        let seam = |v: u32| if v == 8 { 4 } else { v };
        assert_eq!(are_held(&triangles, 1, seam), [true; 4]);
    }
}
