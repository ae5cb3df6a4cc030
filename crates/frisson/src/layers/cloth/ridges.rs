//! What folds laid over the cloth give back to it: a corrugated sheet is hard to bend along its ridges.
//!
//! A profile of height `z` across a fold adds `Y var(z)` to the rigidity of bending along it, `Y` the
//! tensile stiffness: its second moment about its own mean, as for corrugated iron. Bending across the
//! fold, about axes that run along it, stays as easy as in flat cloth.

use glam::Vec3;

use super::params::ClothRidge;
use crate::math::spline::Nurbs;
use crate::stage::{Anchor, LayerError};

/// Samples of a ridge's curve per half-width.
const SAMPLES_PER_WIDTH: f32 = 4.0;

/// Variance of the profile `(x² - 1)²` over `x` in [0, 1], of height 1.
const PROFILE_VARIANCE: f64 = 128.0 / 315.0 - (8.0 / 15.0) * (8.0 / 15.0);

/// Ridges as curves over the source pose.
#[derive(Clone, Debug, Default)]
pub struct Ridges {
    /// Source pose of every vertex.
    places: Vec<Vec3>,
    curves: Vec<(Vec<Vec3>, f32, f64)>,
}

impl Ridges {
    /// Draws the curves; `places` are the vertices in their source pose, `scale` times as large.
    pub fn build(
        ridges: &[ClothRidge],
        places: Vec<Vec3>,
        scale: f32,
        stretch: f64,
    ) -> Result<Self, LayerError> {
        let mut curves = Vec::new();
        for ridge in ridges {
            let bad = |problem: &str| LayerError::parameter("folds", problem.to_owned());
            let mut points = Vec::with_capacity(ridge.points.len());
            for anchor in &ridge.points {
                points.push(match anchor {
                    Anchor::Vertex(v) => *places
                        .get(*v as usize)
                        .ok_or_else(|| bad("a fold with `feedback` names a missing vertex"))?,
                    Anchor::Position(p) => scale * Vec3::from_array(*p),
                });
            }
            let curve = Nurbs::through(&points, 3)
                .ok_or_else(|| bad("all points of a fold are at the same place"))?;
            let length: f32 = points.windows(2).map(|w| w[0].distance(w[1])).sum();
            let count =
                (SAMPLES_PER_WIDTH * length / ridge.width).ceil().clamp(4.0, 1024.0) as usize;
            let samples = (0..=count).map(|i| curve.point(i as f32 / count as f32)).collect();
            let height = f64::from(ridge.amplitude);
            let rigidity = ridge.share * stretch * PROFILE_VARIANCE * height * height;
            curves.push((samples, ridge.width, rigidity));
        }
        Ok(Self { places, curves })
    }

    /// Bending rigidity that ridges add to the hinge between two vertices [N·m].
    pub fn rigidity(&self, [p, q]: [u32; 2]) -> f64 {
        if self.curves.is_empty() {
            return 0.0;
        }
        let (a, b) = (self.places[p as usize], self.places[q as usize]);
        let (middle, hinge) = (0.5 * (a + b), (b - a).normalize_or_zero());
        let of = |(samples, width, rigidity): &(Vec<Vec3>, f32, f64)| {
            let nearest = samples.windows(2).map(|w| {
                let axis = w[1] - w[0];
                let s =
                    ((middle - w[0]).dot(axis) / axis.length_squared().max(1e-20)).clamp(0.0, 1.0);
                (middle.distance(w[0] + s * axis), axis)
            });
            let (distance, axis) = nearest.min_by(|x, y| x.0.total_cmp(&y.0)).unwrap_or_default();
            let along = hinge.dot(axis.normalize_or_zero());
            let reach = if distance < *width { 1.0 } else { 0.0 };
            reach * rigidity * f64::from(1.0 - along * along)
        };
        self.curves.iter().map(of).sum()
    }
}
