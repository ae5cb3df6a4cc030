//! What folds laid over the cloth give back to it: a corrugated sheet is hard to bend along its ridges.
//!
//! A profile of height `z` across a fold adds `Y var(z)` to the rigidity of bending along it, `Y` the
//! tensile stiffness: its second moment about its own mean, as for corrugated iron. Bending across the
//! fold, about axes that run along it, stays as easy as in flat cloth.

use glam::Vec3;

use crate::geometry::TriangleBvh;
use crate::math::spline::Nurbs;
use crate::stage::{Anchor, LayerError};
use crate::stage::{Ridge, RidgeCourse};

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
    /// Draws the curves; `places` are the vertices in the reference pose, in which `place` finds points.
    pub fn build(
        ridges: &[Ridge],
        places: Vec<Vec3>,
        triangles: &[[u32; 3]],
        place: impl Fn(&Anchor) -> Result<Vec3, LayerError>,
        stretch: f64,
    ) -> Result<Self, LayerError> {
        let bad = |problem: &str| LayerError::parameter("folds", problem.to_owned());
        let mut curves = Vec::new();
        for ridge in ridges {
            let courses = match &ridge.course {
                RidgeCourse::Through(points) => {
                    vec![points.iter().map(&place).collect::<Result<Vec<Vec3>, LayerError>>()?]
                }
                RidgeCourse::Diamonds(pattern) => {
                    let ridges = pattern.ridges(&TriangleBvh::build(&places, triangles));
                    ridges.ok_or_else(|| bad("the axis of a buckling is not inside a tube"))?
                }
            };
            let height = f64::from(ridge.amplitude);
            // Bent along its crest, a fold is a corrugated sheet: its second moment is its stretch stiffness times the variance of its profile.
            let rigidity = ridge.share * stretch * PROFILE_VARIANCE * height * height;
            for points in courses {
                let curve = Nurbs::through(&points, 3)
                    .ok_or_else(|| bad("all points of a fold are at the same place"))?;
                let length: f32 = points.windows(2).map(|w| w[0].distance(w[1])).sum();
                let count =
                    (SAMPLES_PER_WIDTH * length / ridge.width).ceil().clamp(4.0, 1024.0) as usize;
                let samples = (0..=count).map(|i| curve.point(i as f32 / count as f32)).collect();
                curves.push((samples, ridge.width, rigidity));
            }
        }
        Ok(Self { places, curves })
    }

    /// The same over a mesh with copies of some vertices.
    pub fn with_copies(&self, copies: &[u32]) -> Self {
        let mut all = self.clone();
        if !self.places.is_empty() {
            all.places.extend(copies.iter().map(|&v| self.places[v as usize]));
        }
        all
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
            // All or nothing: the rigidity is that of the whole profile, wherever in it the hinge lies.
            let reach = if distance < *width { 1.0 } else { 0.0 };
            // A hinge along the crest bends the fold open, which costs nothing; one across it bends the crest.
            reach * rigidity * f64::from(1.0 - along * along)
        };
        self.curves.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::DiamondPattern;

    /// No point is given.
    fn nowhere(_: &Anchor) -> Result<Vec3, LayerError> {
        Err(LayerError::Other("no point".to_owned()))
    }

    /// A tube of radius 0.1 m around the y axis, 0.4 m long.
    fn tube(rings: u32, sectors: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let at = |r: u32, k: u32| {
            let (s, c) = (std::f32::consts::TAU * k as f32 / sectors as f32).sin_cos();
            Vec3::new(0.1 * c, 0.4 * r as f32 / (rings - 1) as f32, 0.1 * s)
        };
        let places = (0..rings).flat_map(|r| (0..sectors).map(move |k| at(r, k))).collect();
        let index = |r: u32, k: u32| r * sectors + k % sectors;
        let quads = (0..rings - 1).flat_map(|r| (0..sectors).map(move |k| (r, k)));
        let triangles = quads.flat_map(|(r, k)| {
            let [a, b, c, d] = [index(r, k), index(r, k + 1), index(r + 1, k), index(r + 1, k + 1)];
            [[a, c, b], [b, c, d]]
        });
        (places, triangles.collect())
    }

    #[test]
    fn a_buckled_tube_is_stiffer_at_its_ridges_only() {
        let (rings, sectors) = (41, 64);
        let (places, triangles) = tube(rings, sectors);
        let axis = [Vec3::new(0.0, 0.01, 0.0), Vec3::new(0.0, 0.39, 0.0)];
        let pattern = DiamondPattern { axis, rows: 2, columns: 4, jitter: 0.0, seed: 0 };
        let course = RidgeCourse::Diamonds(pattern);
        let ridge = Ridge { on: String::new(), course, width: 0.008, amplitude: 0.004, share: 0.5 };
        let ridges = Ridges::build(&[ridge], places.clone(), &triangles, nowhere, 1000.0).unwrap();
        assert_eq!(ridges.curves.len(), 2 * 2 * 4);
        let full = 0.5 * 1000.0 * PROFILE_VARIANCE * 0.004 * 0.004;
        let ring = 10 * sectors;
        let around: Vec<f64> =
            (0..sectors).map(|k| ridges.rigidity([ring + k, ring + (k + 1) % sectors])).collect();
        // Half-way up a row eight ridges pass, each over a strip of twice its half-width.
        let felt = around.iter().filter(|r| **r > 0.0).count();
        assert!((8..=24).contains(&felt), "{felt} of {sectors} edges feel a ridge");
        // A ridge goes half a diamond aside in a row: so much of it is across an edge of the ring.
        let (aside, up) = (0.5 * std::f64::consts::TAU * 0.1 / 4.0, 0.19);
        let expected = full * up * up / (up * up + aside * aside);
        let greatest = around.iter().copied().fold(0.0, f64::max);
        assert!((greatest / expected - 1.0).abs() < 0.05, "{greatest} for {expected}");
        // The pattern repeats every quarter.
        let quarter = sectors as usize / 4;
        for k in 0..3 * quarter {
            assert!((around[k] - around[k + quarter]).abs() < 1e-3 * full, "{k}");
        }
        let outside = DiamondPattern { axis: axis.map(|p| p + Vec3::X), ..pattern };
        let outside = RidgeCourse::Diamonds(outside);
        let ridge =
            Ridge { on: String::new(), course: outside, width: 0.01, amplitude: 0.01, share: 1.0 };
        assert!(Ridges::build(&[ridge], places, &triangles, nowhere, 1000.0).is_err());
    }
}
