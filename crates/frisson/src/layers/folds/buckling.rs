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
    let ridges = buckling.pattern(scale).ridges(surface).ok_or_else(|| {
        let problem = "the axis does not run inside a tube of this mesh";
        LayerError::parameter("buckling", format!("{:?}: {problem}", buckling.name))
    })?;
    let settings = &buckling.fold;
    let fold = |(index, ridge): (usize, &Vec<glam::Vec3>)| {
        let cell = index / 2;
        let (row, column) = (cell / buckling.columns as usize, cell % buckling.columns as usize);
        let name = format!("{} {row}.{column}.{}", buckling.name, index % 2);
        let points = ridge.iter().map(|p| Anchor::Position((*p / scale).to_array())).collect();
        let mut fold = Fold::new(&name, points, settings.amplitude, settings.width);
        fold.subdivision = settings.subdivision;
        (fold.k_flat, fold.k_rise) = (settings.k_flat, settings.k_rise);
        fold
    };
    Ok(ridges.iter().enumerate().map(fold).collect())
}
