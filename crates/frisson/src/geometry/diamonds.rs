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

/// Points along each ridge, ends included: enough for the curve to follow a tube.
const POINTS_PER_RIDGE: u32 = 4;

/// Diamonds on a tube around an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiamondPattern {
    /// Ends of the axis [m].
    pub axis: [Vec3; 2],
    /// Diamonds along the axis.
    pub rows: u32,
    /// Diamonds around it.
    pub columns: u32,
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
            let offset = if row.is_multiple_of(2) { 0.0 } else { 0.5 };
            let start = (column as f32 + offset) * step;
            let along = (0..POINTS_PER_RIDGE).map(|k| {
                let t = k as f32 / (POINTS_PER_RIDGE - 1) as f32;
                place(start + lean * step * t, row as f32 + t)
            });
            along.collect::<Option<Vec<Vec3>>>()
        };
        let cells = (0..self.rows).flat_map(|r| (0..self.columns).map(move |c| (r, c)));
        cells.flat_map(|(r, c)| [0.5, -0.5].map(|lean| ridge(r, c, lean))).collect()
    }
}
