//! Linear combinations of coarse points, and their sums.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

/// Linear combinations of coarse points, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stencils {
    offsets: Vec<u32>,
    points: Vec<u32>,
    weights: Vec<f64>,
    /// The same side by side, for the per-frame product.
    terms: Vec<(u32, f32)>,
}

impl Stencils {
    pub(super) fn push(&mut self, stencil: &[(u32, f64)]) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        for &(point, weight) in stencil {
            self.points.push(point);
            self.weights.push(weight);
            // In f32 and side by side: a frame's product reads half the memory.
            self.terms.push((point, weight as f32));
        }
        self.offsets.push(self.points.len() as u32);
    }

    /// Number of stencils.
    #[must_use]
    pub fn count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Coarse points and weights of one stencil.
    pub fn of(&self, index: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[index] as usize..self.offsets[index + 1] as usize;
        self.points[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// One combination of per-point vectors.
    #[must_use]
    pub fn evaluate(&self, index: usize, values: &[Vec3]) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for &(point, weight) in self.terms_of(index) {
            sum += weight * values[point as usize];
        }
        sum
    }

    fn terms_of(&self, index: usize) -> &[(u32, f32)] {
        &self.terms[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    /// One combination of per-point pairs of vectors: positions and normals in one pass.
    #[must_use]
    #[inline]
    pub fn evaluate_pair(&self, index: usize, values: &[[Vec3A; 2]]) -> [Vec3A; 2] {
        let terms = self.terms_of(index);
        // The rule of regular edges, by far the most frequent, without a loop.
        match <&[(u32, f32); 8]>::try_from(terms) {
            Ok(eight) => combine(eight, values),
            Err(_) => combine(terms, values),
        }
    }

    /// All combinations at once, in parallel.
    pub fn evaluate_all(&self, values: &[Vec3], out: &mut Vec<Vec3>) {
        out.resize(self.count(), Vec3::ZERO);
        out.par_iter_mut()
            .with_min_len(1024)
            .enumerate()
            .for_each(|(index, value)| *value = self.evaluate(index, values));
    }
}

/// Sums of weighted pairs. Two sums, so that the processor need not wait for one addition to start the
/// next.
#[inline(always)]
fn combine(terms: &[(u32, f32)], values: &[[Vec3A; 2]]) -> [Vec3A; 2] {
    let (mut even, mut odd) = ([Vec3A::ZERO; 2], [Vec3A::ZERO; 2]);
    let add = |sum: &mut [Vec3A; 2], &(point, weight): &(u32, f32)| {
        let [a, b] = values[point as usize];
        sum[0] += weight * a;
        sum[1] += weight * b;
    };
    let pairs = terms.chunks_exact(2);
    pairs.remainder().iter().for_each(|t| add(&mut even, t));
    for pair in pairs {
        add(&mut even, &pair[0]);
        add(&mut odd, &pair[1]);
    }
    [even[0] + odd[0], even[1] + odd[1]]
}
