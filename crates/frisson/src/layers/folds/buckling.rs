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

use super::params::{Buckling, Fold};
use crate::geometry::TriangleBvh;
use crate::math::frames::any_perpendicular;
use crate::stage::{Anchor, LayerError};

/// Points along each ridge, ends included: enough for the curve to follow a tube.
const POINTS_PER_RIDGE: u32 = 4;

/// The ridges of a pattern as folds. `surface` is the mesh in its source pose, `scale` times as large.
pub fn build_ridges(
    buckling: &Buckling,
    scale: f32,
    surface: &TriangleBvh,
) -> Result<Vec<Fold>, LayerError> {
    let [from, to] = [buckling.from, buckling.to].map(|p| scale * Vec3::from_array(p));
    let axis = to - from;
    let direction = axis.normalize_or(Vec3::Y);
    let side = any_perpendicular(direction);
    let reach = surface.bounds().diagonal();
    // A place on the tube: `turn` in turns around, `height` in rows along.
    let place = |turn: f32, height: f32| {
        let center = from + axis * (height / buckling.rows as f32);
        let out = Quat::from_axis_angle(direction, std::f32::consts::TAU * turn) * side;
        let hit = surface.raycast(center, out, reach)?;
        Some(Anchor::Position(((center + out * hit.distance) / scale).to_array()))
    };
    let mut folds = Vec::new();
    for row in 0..buckling.rows {
        for column in 0..buckling.columns {
            for (number, lean) in [(0, 0.5f32), (1, -0.5)] {
                let step = 1.0 / buckling.columns as f32;
                let offset = if row % 2 == 0 { 0.0 } else { 0.5 };
                let start = (column as f32 + offset) * step;
                let points: Option<Vec<Anchor>> = (0..POINTS_PER_RIDGE)
                    .map(|k| {
                        let t = k as f32 / (POINTS_PER_RIDGE - 1) as f32;
                        place(start + lean * step * t, row as f32 + t)
                    })
                    .collect();
                let name = format!("{} {}.{}.{}", buckling.name, row, column, number);
                let points = points.ok_or_else(|| {
                    LayerError::parameter(
                        "buckling",
                        format!(
                            "{:?}: the axis does not run inside a tube of this mesh",
                            buckling.name
                        ),
                    )
                })?;
                let settings = &buckling.fold;
                let mut fold = Fold::new(&name, points, settings.amplitude, settings.width);
                fold.subdivision = settings.subdivision;
                (fold.k_flat, fold.k_rise) = (settings.k_flat, settings.k_rise);
                folds.push(fold);
            }
        }
    }
    Ok(folds)
}
