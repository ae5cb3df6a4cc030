//! Diamond buckling as a set of folds.

use super::params::{Buckling, Fold};
use crate::geometry::TriangleBvh;
use crate::stage::{Anchor, LayerError};

/// The ridges of a pattern as folds. `surface` is the mesh in its source pose, `scale` times as large.
pub fn build_ridges(
    buckling: &Buckling,
    scale: f32,
    surface: &TriangleBvh,
) -> Result<Vec<Fold>, LayerError> {
    // In the scale of the source pose: anchors are given there, whatever size the actor has in the scene.
    let ridges = buckling.pattern(scale).ridges(surface).ok_or_else(|| {
        let problem = "the axis does not run inside a tube of this mesh";
        LayerError::parameter("buckling", format!("{:?}: {problem}", buckling.name))
    })?;
    let settings = &buckling.fold;
    let fold = |(index, ridge): (usize, &Vec<glam::Vec3>)| {
        // Two ridges to a diamond, one leaning each way; the other two sides belong to its neighbours.
        let cell = index / 2;
        let (row, column) = (cell / buckling.columns as usize, cell % buckling.columns as usize);
        let name = format!("{} {row}.{column}.{}", buckling.name, index % 2);
        let points = ridge.iter().map(|p| Anchor::Position((*p / scale).to_array())).collect();
        let mut fold = Fold::new(&name, points, settings.amplitude, settings.width);
        fold.subdivision = settings.subdivision;
        (fold.attenuation, fold.conserve) = (settings.attenuation, settings.conserve);
        (fold.k_flat, fold.k_rise) = (settings.k_flat, settings.k_rise);
        fold
    };
    Ok(ridges.iter().enumerate().map(fold).collect())
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::layers::LayerParams;
    use crate::layers::folds::{BucklingFold, Conserve, FoldAttenuation, FoldsParams};
    use crate::layers::moved::{self, run};

    const RADIUS: f32 = 0.05;
    const ROWS: u32 = 6;
    const COLUMNS: u32 = 5;
    const FROM: f32 = 0.04;
    const TO: f32 = 0.26;
    const AMPLITUDE: f32 = 0.005;
    const WIDTH: f32 = 0.02;

    /// How far a buckled tube stands out when it is `factor` times as long as drawn.
    fn height(factor: f32, jitter: f32) -> f32 {
        let (around, along) = (40, 30);
        let tube = moved::grid("tube", around, along, |x, y| {
            let turn = std::f32::consts::TAU * (x % around) as f32 / around as f32;
            Vec3::new(-RADIUS * turn.sin(), 0.3 * y as f32 / along as f32, RADIUS * turn.cos())
        });
        let fold = BucklingFold {
            amplitude: AMPLITUDE,
            width: WIDTH,
            attenuation: FoldAttenuation::Sharp,
            subdivision: 2,
            conserve: Conserve::Length,
            k_flat: 1.0,
            k_rise: 1.0,
        };
        let buckling = Buckling {
            name: "diamonds".to_owned(),
            from: [0.0, FROM, 0.0],
            to: [0.0, TO, 0.0],
            rows: ROWS,
            columns: COLUMNS,
            jitter,
            seed: 3,
            fold,
        };
        let layer = FoldsParams {
            buckling: vec![buckling],
            guard: false,
            ..FoldsParams::new("folds", "tube", Vec::new())
        };
        let motion = move |p: Vec3, t: f64| {
            p * Vec3::new(1.0, 1.0 + (factor - 1.0) * t.min(1.0) as f32, 1.0)
        };
        let mut stage =
            moved::stage(vec![moved::moved(tube, motion)], &[LayerParams::Folds(layer)]).unwrap();
        let mesh = run(&mut stage, 30);
        let out = mesh.positions.iter().map(|p| (p.x * p.x + p.z * p.z).sqrt() - RADIUS);
        out.fold(f32::NEG_INFINITY, f32::max)
    }

    /// Length of half a cross-section over a base `stretch` times as wide, its height `factor` times.
    fn length(stretch: f64, factor: f64) -> f64 {
        const PIECES: usize = 400;
        let at = |i: usize| {
            factor * f64::from(AMPLITUDE * FoldAttenuation::Sharp.at(i as f32 / PIECES as f32))
        };
        let base = stretch * f64::from(WIDTH) / PIECES as f64;
        (0..PIECES).map(|i| base.hypot(at(i + 1) - at(i))).sum()
    }

    /// Stretch across a ridge when the tube is `factor` times as long.
    fn across(factor: f32) -> f64 {
        let half_column = std::f32::consts::PI * RADIUS / COLUMNS as f32;
        let row = (TO - FROM) / ROWS as f32;
        let axial = half_column * half_column / (half_column * half_column + row * row);
        f64::from(1.0 + axial * (factor * factor - 1.0)).sqrt()
    }

    #[test]
    fn diamonds_sharpen_with_compression_and_vanish_when_pulled_by_what_they_take_up() {
        let drawn = height(1.0, 0.0);
        assert!((drawn / AMPLITUDE - 1.0).abs() < 0.1, "{drawn}");
        let mut last = drawn;
        for factor in [0.95, 0.88, 0.8, 0.7] {
            let now = height(factor, 0.0);
            let excess = |f: f64| length(across(factor), f) - length(1.0, 1.0);
            let want = crate::math::roots::find_root(0.0, 10.0, 1e-9, excess) as f32;
            assert!(now > 1.05 * last, "at {factor}: {now} after {last}");
            assert!((now / drawn / want - 1.0).abs() < 0.1, "at {factor}: {} {want}", now / drawn);
            last = now;
        }
        let taken_up = length(1.0, 1.0) / f64::from(WIDTH);
        let pulled = (1..40).map(|k| 1.0 + 0.005 * k as f32).find(|&f| across(f) > 1.02 * taken_up);
        let left = height(pulled.unwrap(), 0.0);
        assert!(left < 0.06 * drawn, "{left} of {drawn}");
    }

    #[test]
    fn irregular_diamonds_are_as_high_as_regular_ones() {
        for factor in [1.0, 0.8] {
            let ratio = height(factor, 0.6) / height(factor, 0.0);
            assert!((0.8..1.4).contains(&ratio), "at {factor}: {ratio}");
        }
    }
}
