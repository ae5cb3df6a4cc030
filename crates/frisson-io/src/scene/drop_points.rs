//! Points of an Alembic or USD file as drops: each becomes one where and when it first appears.

use std::collections::BTreeSet;
use std::path::Path;

use frisson::stage::Points;

use crate::given;
use crate::inputs::InputSet;

/// Density of what a width stands for [kg/m³]: water's; tables give masses of other liquids.
const DENSITY: f64 = 1000.0;
/// How far before a frame a time is that frame, in frames [-].
const SAME_FRAME: f64 = 1e-6;
/// Most frames of a file that are looked at: ten minutes at 120 a second.
const MOST_FRAMES: f64 = 72_000.0;

/// Rows of a table of drops: frame, place [m], mass [kg], velocity [m/s].
pub(super) fn read_points(path: &Path, fps: f64, read: &InputSet) -> Result<Vec<Vec<f64>>, String> {
    let given = given::open(path, fps, read).map_err(|e| e.to_string())?;
    if given.points.is_empty() {
        return Err("it has no points".to_owned());
    }
    // A file of whole frames must not lose its last one to rounding.
    let frames = (given.seconds * fps + SAME_FRAME).floor();
    if !(0.0..=MOST_FRAMES).contains(&frames) {
        return Err(format!("it has {frames} frames, at most {MOST_FRAMES} are read"));
    }
    let mut rows = Vec::new();
    for sequence in &given.points {
        let mut seen = BTreeSet::new();
        for frame in 0..=frames as u32 {
            let at = f64::from(frame) / fps;
            let points = sequence.points_at(at).map_err(|e| e.to_string())?;
            // By id: points may come in another order in every frame.
            let fresh = (0..points.positions.len()).filter(|&i| seen.insert(points.ids[i]));
            rows.extend(fresh.map(|i| row(&points, i, frame)));
        }
    }
    if rows.iter().any(|row| row[4] <= 0.0) {
        return Err(
            "its points have no widths, so that nobody knows how heavy the drops are".to_owned()
        );
    }
    Ok(rows)
}

/// One point as a row. Its mass is that of a ball of its width.
fn row(points: &Points, index: usize, frame: u32) -> Vec<f64> {
    let radius = 0.5 * f64::from(points.widths.get(index).copied().unwrap_or(0.0));
    let mass = DENSITY * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
    let place = points.positions[index].as_dvec3();
    let velocity = points.velocities.get(index).copied().unwrap_or_default().as_dvec3();
    let mut row = vec![f64::from(frame), place.x, place.y, place.z, mass];
    row.extend(velocity.to_array());
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::tests::{export_with, small_shot};

    #[test]
    fn every_point_of_a_file_becomes_one_drop_where_it_first_appears() {
        for (format, file) in [("alembic", "spray.abc"), ("usd", "spray.usdc")] {
            first_appearances(format, file);
        }
    }

    fn first_appearances(format: &str, name_of_file: &str) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut shot = small_shot();
        let name = shot.frames.iter().find_map(|f| Some(f.points.first()?.name.clone()));
        let only = format!("{format} = {name_of_file:?}\nmeshes = [{:?}]", name.expect("points"));
        export_with(&mut shot, folder.path(), &only).expect("written");
        let file = folder.path().join(name_of_file);
        let rows = read_points(&file, 25.0, &InputSet::new()).expect("points");
        let mut wanted = Vec::new();
        let mut seen = BTreeSet::new();
        for frame in &shot.frames {
            for (i, id) in frame.points[0].ids.iter().enumerate() {
                if seen.insert(*id) {
                    wanted.push((frame.time, frame.points[0].positions[i].as_dvec3()));
                }
            }
        }
        assert!(!wanted.is_empty());
        assert_eq!(rows.len(), wanted.len());
        for (row, (_, place)) in rows.iter().zip(&wanted) {
            let at = glam::DVec3::new(row[1], row[2], row[3]);
            assert!(at.distance(*place) < 1e-6 && row[4] > 0.0 && row.len() == 8, "{row:?}");
        }
        let none = read_points(&folder.path().join("none.abc"), 25.0, &InputSet::new());
        assert!(none.is_err());
    }
}
