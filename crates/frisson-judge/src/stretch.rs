//! Lengths against those of a reference frame.

use frisson_io::scene::Part;
use rayon::prelude::*;

use crate::body::{curve_segments, edges_of};
use crate::shape::{Shape, Snapshot, starts};
use crate::statistic::{P99, Sample, rank};

/// Lengths below this share of the mean do not count: their ratio says nothing [-].
const SHORTEST: f32 = 1e-3;

/// The lengths of a shape at its reference frame.
pub struct Lengths {
    known: Snapshot,
    /// Chains of points whose length is one value; segments are chains of two.
    chains: Vec<[u32; 2]>,
    rest: Vec<f32>,
    shortest: f32,
}

impl Lengths {
    /// Measures the reference frame. Edges of meshes; of curves the whole, or their segments.
    #[must_use]
    pub fn of(shape: Shape, part: Part) -> Self {
        let chains: Vec<[u32; 2]> = match shape {
            Shape::Mesh(mesh) => edges_of(&mesh.topology.triangles),
            Shape::Curves(c) if part == Part::Curves => {
                let range = |(start, &count): (u32, &u32)| [start, start + count.max(1) - 1];
                starts(&c.counts).into_iter().zip(&c.counts).map(range).collect()
            }
            Shape::Curves(c) => curve_segments(c, 0),
            Shape::Points(_) => Vec::new(),
        };
        let is_curve = matches!(shape, Shape::Curves(_));
        let rest: Vec<f32> = chains.iter().map(|&c| length(shape, c, is_curve)).collect();
        // In double precision: a million lengths lose digits in a single one, and the bound would depend on their order.
        let mean = rest.iter().map(|&l| f64::from(l)).sum::<f64>() / rest.len().max(1) as f64;
        Self { known: Snapshot::of(shape), chains, rest, shortest: SHORTEST * mean as f32 }
    }

    /// Whether the 99th percentile of the ratios is above a limit: counted, not sorted.
    #[must_use]
    pub fn p99_is_above(&self, now: Shape, limit: f64) -> bool {
        let Some(ratios) = self.each(now) else { return false };
        let count = |ratio: Sample| [1, usize::from(f64::from(ratio.value) > limit)];
        let both = |a: [usize; 2], b: [usize; 2]| [a[0] + b[0], a[1] + b[1]];
        let [all, above] = ratios.map(count).reduce(|| [0, 0], both);
        // The one at the rank is above if all behind it and itself are.
        all > 0 && above >= all - rank(all, P99)
    }

    /// Length now / length at the reference, of every edge, curve or segment that is in both.
    #[must_use]
    pub fn ratios(&self, now: Shape) -> Option<Vec<Sample>> {
        self.each(now).map(ParallelIterator::collect)
    }

    fn each<'a>(&'a self, now: Shape<'a>) -> Option<impl ParallelIterator<Item = Sample> + 'a> {
        // Chains are numbers of points: with others in between they would join what never was joined.
        if self.known.match_points(now)? != crate::shape::Match::Same {
            return None;
        }
        let is_curve = matches!(now, Shape::Curves(_));
        let points = now.points();
        let one = move |(i, (&chain, &rest)): (usize, (&[u32; 2], &f32))| {
            let value = length(now, chain, is_curve) / rest;
            let place = 0.5 * (points[chain[0] as usize] + points[chain[1] as usize]);
            (rest > self.shortest).then_some(Sample { value, element: i as u32, place })
        };
        Some(self.chains.par_iter().zip(&self.rest).enumerate().filter_map(one))
    }
}

/// Length along consecutive points of a curve, or of the edge between two vertices [m].
fn length(shape: Shape, [first, last]: [u32; 2], is_curve: bool) -> f32 {
    let points = shape.points();
    if !is_curve {
        return points[first as usize].distance(points[last as usize]);
    }
    points[first as usize..=last as usize].windows(2).map(|w| w[0].distance(w[1])).sum()
}
