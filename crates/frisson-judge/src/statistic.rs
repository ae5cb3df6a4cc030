//! Many values, and the one that speaks for them.

use frisson_io::scene::Statistic;
use glam::Vec3;

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
    let whose = |s: Sample| Reading {
        value: f64::from(s.value),
        frame,
        element: Some(s.element),
        place: Some(s.place),
    };
    Some(match statistic {
        Statistic::Min => whose(ranked(samples, 0.0)),
        Statistic::P1 => whose(ranked(samples, 0.01)),
        Statistic::P50 => whose(ranked(samples, 0.5)),
        Statistic::P99 => whose(ranked(samples, 0.99)),
        Statistic::Max => whose(ranked(samples, 1.0)),
        Statistic::Mean => whole(mean(samples, |v| v)),
        Statistic::Rms => whole(mean(samples, |v| v * v).sqrt()),
        Statistic::Range => {
            let (high, low) = (ranked(samples, 1.0), ranked(samples, 0.0));
            Reading { value: f64::from(high.value) - f64::from(low.value), ..whose(high) }
        }
        Statistic::Evenness => {
            let (high, low) = (ranked(samples, 0.99), ranked(samples, 0.01));
            let value = f64::from(high.value) / f64::from(low.value).max(f64::MIN_POSITIVE);
            Reading { value, ..whose(high) }
        }
    })
}

/// The sample at a share of the order, by value and then by element: the same whatever the order given.
fn ranked(samples: &mut [Sample], share: f64) -> Sample {
    let rank = (share * (samples.len() - 1) as f64).round() as usize;
    let order =
        |a: &Sample, b: &Sample| a.value.total_cmp(&b.value).then(b.element.cmp(&a.element));
    *samples.select_nth_unstable_by(rank, order).1
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
