//! Many values, and the one that speaks for them.

use std::cmp::Ordering;

use frisson_io::scene::Statistic;
use glam::Vec3;

/// Shares of the order of all values at which the 1st and the 99th percentile are.
const P1: f64 = 0.01;
/// See [`P1`].
pub const P99: f64 = 0.99;

/// A value of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// In the unit of the measure.
    pub value: f32,
    /// Vertex, edge, curve or point.
    pub element: u32,
    /// Where it is [m].
    pub place: Vec3,
}

impl Sample {
    /// The larger of two; of equal ones that of the lower element.
    #[must_use]
    pub fn larger(self, other: Self) -> Self {
        if self.order(&other).is_lt() { other } else { self }
    }

    /// By value and then by element, the lowest last.
    fn order(&self, other: &Self) -> Ordering {
        self.value.total_cmp(&other.value).then(other.element.cmp(&self.element))
    }

    /// What it says of a frame.
    #[must_use]
    pub fn reading(self, frame: i64) -> Reading {
        let Self { value, element, place } = self;
        Reading { value: f64::from(value), frame, element: Some(element), place: Some(place) }
    }
}

/// Many values, gathered without being kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    squares: f64,
    count: usize,
}

impl Sum {
    /// Takes more values.
    pub fn add(&mut self, samples: &[Sample]) {
        self.squares += samples.iter().map(|s| f64::from(s.value).powi(2)).sum::<f64>();
        self.count += samples.len();
    }

    /// Root of the mean square of all; 0 of none.
    #[must_use]
    pub fn rms(self) -> f64 {
        (self.squares / self.count.max(1) as f64).sqrt()
    }
}

/// A value of a frame or of a shot, with what it is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// In the unit of the measure.
    pub value: f64,
    /// Frame.
    pub frame: i64,
    /// Vertex, edge, curve or point, where one stands for the value.
    pub element: Option<u32>,
    /// Where it is [m].
    pub place: Option<Vec3>,
}

/// The value that speaks for all, and whose it is; nothing of nothing. Reorders the samples.
#[must_use]
pub fn reduce(samples: &mut [Sample], statistic: Statistic, frame: i64) -> Option<Reading> {
    if samples.is_empty() {
        return None;
    }
    let whole = |value: f64| Reading { value, frame, element: None, place: None };
    let whose = |s: Sample| s.reading(frame);
    Some(match statistic {
        Statistic::Min => whose(ranked(samples, 0.0)),
        Statistic::P1 => whose(ranked(samples, P1)),
        Statistic::P50 => whose(ranked(samples, 0.5)),
        Statistic::P99 => whose(ranked(samples, P99)),
        Statistic::Max => whose(ranked(samples, 1.0)),
        Statistic::Mean => whole(mean(samples, |v| v)),
        Statistic::Rms => whole(mean(samples, |v| v * v).sqrt()),
        Statistic::Range => {
            let (high, low) = (ranked(samples, 1.0), ranked(samples, 0.0));
            Reading { value: f64::from(high.value) - f64::from(low.value), ..whose(high) }
        }
        Statistic::Evenness => {
            let (high, low) = (ranked(samples, P99), ranked(samples, P1));
            let value = f64::from(high.value) / f64::from(low.value).max(f64::MIN_POSITIVE);
            Reading { value, ..whose(high) }
        }
    })
}

/// The sample at a share of the order, by value and then by element: the same whatever the order given.
fn ranked(samples: &mut [Sample], share: f64) -> Sample {
    let rank = rank(samples.len(), share);
    *samples.select_nth_unstable_by(rank, Sample::order).1
}

/// Place in the order of so many, at least one, of the one at a share of it.
#[must_use]
pub fn rank(count: usize, share: f64) -> usize {
    (share * (count - 1) as f64).round() as usize
}

/// Summed in the order of the elements, so that the bits do not depend on an earlier reordering.
fn mean(samples: &mut [Sample], of: impl Fn(f64) -> f64) -> f64 {
    samples.sort_unstable_by_key(|s| s.element);
    samples.iter().map(|s| of(f64::from(s.value))).sum::<f64>() / samples.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[f32]) -> Vec<Sample> {
        let one =
            |(value, element): (&f32, u32)| Sample { value: *value, element, place: Vec3::ZERO };
        values.iter().zip(0..).map(one).collect()
    }

    #[test]
    fn percentiles_name_the_element_at_their_rank() {
        let values: Vec<f32> = (0..=100).rev().map(|v| v as f32).collect();
        for (statistic, value) in [
            (Statistic::Min, 0.0),
            (Statistic::P1, 1.0),
            (Statistic::P50, 50.0),
            (Statistic::P99, 99.0),
            (Statistic::Max, 100.0),
            (Statistic::Range, 100.0),
            (Statistic::Evenness, 99.0),
            (Statistic::Mean, 50.0),
        ] {
            let got = reduce(&mut samples(&values), statistic, 7).unwrap();
            assert!((got.value - value).abs() < 1e-12, "{statistic:?} {got:?}");
            assert_eq!(got.frame, 7);
        }
        let worst = reduce(&mut samples(&values), Statistic::Max, 0).unwrap();
        assert_eq!(worst.element, Some(0));
        assert!(reduce(&mut [], Statistic::Max, 0).is_none());
    }

    #[test]
    fn the_lowest_of_equal_elements_is_named() {
        let got = reduce(&mut samples(&[1.0, 3.0, 3.0]), Statistic::Max, 0).unwrap();
        assert_eq!(got.element, Some(1));
    }
}
