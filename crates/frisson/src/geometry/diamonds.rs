//! Diamond buckling: the pattern a thin tube takes when it is pressed along its axis.
//!
//! ```text
//!     \/\/\/\/\      ridges run zigzag around the tube, one row of diamonds after the other
//!     /\/\/\/\/
//! ```
//!
//! After P. Decaudin et al., *Virtual garments: a fully geometric approach for clothing design*
//! (2006), who take the same pattern for sleeves.

use glam::{Quat, Vec3};

use super::TriangleBvh;
use crate::math::frames::any_perpendicular;
use crate::math::random;

/// Points along each ridge, ends included: enough for the curve to follow a tube.
const POINTS_PER_RIDGE: u32 = 4;

/// How far a full jitter moves a corner, as a share of the way to the next one: at a half two could meet.
const MOST_JITTER: f32 = 0.35;

/// Diamonds on a tube around an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiamondPattern {
    /// Ends of the axis [m].
    pub axis: [Vec3; 2],
    /// Diamonds along the axis.
    pub rows: u32,
    /// Diamonds around it.
    pub columns: u32,
    /// How far the corners are out of place [-], 0 to 1.
    pub jitter: f32,
    /// Seed of that.
    pub seed: u64,
}

impl DiamondPattern {
    /// Points of each ridge on a surface: row by row, column by column, two for each. None if the axis
    /// does not run inside a tube.
    #[must_use]
    pub fn ridges(&self, surface: &TriangleBvh) -> Option<Vec<Vec<Vec3>>> {
        let [from, to] = self.axis;
        let axis = to - from;
        let direction = axis.normalize_or(Vec3::Y);
        let side = any_perpendicular(direction);
        let reach = surface.bounds().diagonal();
        // A place on the tube: `turn` in turns around, `height` in rows along.
        let place = |turn: f32, height: f32| {
            let center = from + axis * (height / self.rows as f32);
            let out = Quat::from_axis_angle(direction, std::f32::consts::TAU * turn) * side;
            let hit = surface.raycast(center, out, reach)?;
            Some(center + out * hit.distance)
        };
        let step = 1.0 / self.columns as f32;
        let ridge = |row: u32, column: u32, lean: f32| {
            // Every other row is half a diamond further round: its corners are the middles of the row before.
            let offset = if row.is_multiple_of(2) { 0.0 } else { 0.5 };
            let start = column as f32 + offset;
            let (a, b) = (self.out_of_place(row, start), self.out_of_place(row + 1, start + lean));
            let along = (0..POINTS_PER_RIDGE).map(|k| {
                let t = k as f32 / (POINTS_PER_RIDGE - 1) as f32;
                let [turn, height] = [0, 1].map(|c| a[c] + (b[c] - a[c]) * t);
                place((start + lean * t + turn) * step, row as f32 + t + height)
            });
            // One ray that misses and there is no tube: the whole pattern is refused.
            along.collect::<Option<Vec<Vec3>>>()
        };
        let cells = (0..self.rows).flat_map(|r| (0..self.columns).map(move |c| (r, c)));
        cells.flat_map(|(r, c)| [0.5, -0.5].map(|lean| ridge(r, c, lean))).collect()
    }

    /// How far the corner at a row and column (in halves) is out of place, in columns and rows. The first and
    /// the last row stay at the ends of the axis.
    fn out_of_place(&self, row: u32, column: f32) -> [f32; 2] {
        // Where ridges meet they must ask for the same corner, whichever way round the tube they come.
        let half = (2.0 * column).round() as i64;
        let corner = half.rem_euclid(2 * i64::from(self.columns)) as u64;
        let most = self.jitter * MOST_JITTER;
        let at = |axis: u64| random::signed(self.seed, corner, 2 * u64::from(row) + axis) as f32;
        let inside = row > 0 && row < self.rows;
        // Neighbours in a row are one column apart, in the next row half a column.
        [0.5 * most * at(0), if inside { most * at(1) } else { 0.0 }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tube() -> TriangleBvh {
        let (around, radius) = (48u32, 0.05);
        let place = |k: u32, y: f32| {
            let turn = std::f32::consts::TAU * k as f32 / around as f32;
            Vec3::new(radius * turn.sin(), y, radius * turn.cos())
        };
        let positions: Vec<Vec3> =
            [0.0, 1.0].iter().flat_map(|&y| (0..around).map(move |k| place(k, y))).collect();
        let triangles: Vec<[u32; 3]> = (0..around)
            .flat_map(|k| {
                let (a, b) = (k, (k + 1) % around);
                [[a, b, around + a], [b, around + b, around + a]]
            })
            .collect();
        TriangleBvh::build(&positions, &triangles)
    }

    #[test]
    fn ridges_meet_at_their_corners_however_far_those_are_out_of_place() {
        let axis = [Vec3::new(0.0, 0.2, 0.0), Vec3::new(0.0, 0.8, 0.0)];
        for (jitter, seed) in [(0.0, 0), (0.5, 1), (1.0, 7)] {
            let pattern = DiamondPattern { axis, rows: 5, columns: 6, jitter, seed };
            let ridges = pattern.ridges(&tube()).unwrap();
            assert_eq!(ridges.len(), 2 * 5 * 6);
            let ends = || ridges.iter().flat_map(|r| [r[0], r[r.len() - 1]]);
            for end in ends() {
                let meet = ends().filter(|e| e.distance(end) < 1e-5).count();
                let border = (end.y - 0.2).abs() < 1e-5 || (end.y - 0.8).abs() < 1e-5;
                assert_eq!(meet, if border { 2 } else { 4 }, "{end} with jitter {jitter}");
            }
            let rows = |e: Vec3| (e.y - 0.2) / 0.12;
            let irregular = ends().any(|e| (rows(e) - rows(e).round()).abs() > 0.02);
            assert_eq!(irregular, jitter > 0.0, "jitter {jitter}");
        }
    }
}
