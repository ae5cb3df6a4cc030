//! Which values are tried together: all of a grid, or samples of the space that the axes span.

use frisson::math::random::{hash, uniform};

use super::axis::Axis;
use crate::WorkshopError;

/// Most variants of one sweep: more than anybody looks at, and a typing mistake is found before the disk is full.
pub const MOST: usize = 1000;

/// How values are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// Every value with every other.
    #[default]
    Grid,
    /// Each sample by itself, uniform.
    Random(usize),
    /// A Latin hypercube: each axis is cut into as many parts as there are samples, and every part is used once.
    Latin(usize),
}

/// The values of every variant, in the order of the axes.
pub fn sample(
    axes: &[Axis],
    sampling: Sampling,
    seed: u64,
) -> Result<Vec<Vec<String>>, WorkshopError> {
    let points = match sampling {
        Sampling::Grid => return grid(axes),
        Sampling::Random(count) => random(axes.len(), count, seed),
        Sampling::Latin(count) => latin(axes.len(), count, seed),
    };
    refuse_too_many(points.len())?;
    Ok(points.iter().map(|point| values_at(axes, point)).collect())
}

/// The values at a point of the unit cube.
pub fn values_at(axes: &[Axis], point: &[f64]) -> Vec<String> {
    axes.iter().zip(point).map(|(axis, &share)| axis.at(share)).collect()
}

fn refuse_too_many(count: usize) -> Result<(), WorkshopError> {
    if count <= MOST {
        return Ok(());
    }
    Err(WorkshopError::advised(
        format!("{count} variants are more than the limit of {MOST}"),
        "take fewer values, or samples of them: --latin 40",
    ))
}

fn grid(axes: &[Axis]) -> Result<Vec<Vec<String>>, WorkshopError> {
    let mut rows: Vec<Vec<String>> = vec![Vec::new()];
    for axis in axes {
        let values = axis.grid().ok_or_else(|| {
            WorkshopError::advised(
                format!("{}: the range does not say how many values", axis.path),
                "write 2..6/5 for five, or take samples with --latin N or --random N",
            )
        })?;
        // Before the rows are made: a product of three long lists does not fit into memory.
        refuse_too_many(rows.len().saturating_mul(values.len()))?;
        let with = |row: &Vec<String>, value: &String| {
            row.iter().chain([value]).cloned().collect::<Vec<String>>()
        };
        rows = rows.iter().flat_map(|row| values.iter().map(move |v| with(row, v))).collect();
    }
    Ok(rows)
}

fn random(axes: usize, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let point = |i: usize| (0..axes).map(|a| uniform(seed, a as u64, i as u64)).collect();
    (0..count).map(point).collect()
}

/// Takes the orders from other random numbers than the places within the parts.
const ORDERS: u64 = 0x1a71;

/// Points of a Latin hypercube.
pub fn latin(axes: usize, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let order = |axis: usize| {
        let mut parts: Vec<usize> = (0..count).collect();
        // A random order by sorting on random keys; the part itself breaks ties, so that it is the same everywhere.
        parts.sort_by_key(|&p| (hash(seed ^ ORDERS, axis as u64, p as u64), p));
        parts
    };
    let orders: Vec<Vec<usize>> = (0..axes).map(order).collect();
    let share = |axis: usize, i: usize| {
        (orders[axis][i] as f64 + uniform(seed, axis as u64, i as u64)) / count as f64
    };
    (0..count).map(|i| (0..axes).map(|axis| share(axis, i)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(texts: &[&str]) -> Vec<Axis> {
        texts.iter().map(|t| Axis::parse(t).expect("an axis")).collect()
    }

    #[test]
    fn a_grid_has_every_value_with_every_other() {
        let rows = sample(&axes(&["a=1,2", "b=x,y,z"]), Sampling::Grid, 0).expect("a grid");
        assert_eq!(rows.len(), 6);
        assert_eq!(rows[0], ["1", "\"x\""]);
        assert_eq!(rows[1], ["1", "\"y\""]);
        assert!(sample(&axes(&["a=0..1"]), Sampling::Grid, 0).is_err());
        assert!(sample(&axes(&["a=0..1/40", "b=0..1/40"]), Sampling::Grid, 0).is_err());
    }

    /// The law of a Latin hypercube: on every axis, every part holds one sample.
    #[test]
    fn a_latin_hypercube_uses_every_part_of_every_axis_once() {
        for (count, seed) in [(1, 0), (7, 3), (40, 9)] {
            let points = latin(3, count, seed);
            for axis in 0..3 {
                let mut parts: Vec<usize> =
                    points.iter().map(|p| (p[axis] * count as f64) as usize).collect();
                parts.sort_unstable();
                assert_eq!(parts, (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn samples_depend_on_the_seed_alone() {
        let axes = axes(&["a=0..1", "b=5..9"]);
        for sampling in [Sampling::Random(9), Sampling::Latin(9)] {
            let take = |seed| sample(&axes, sampling, seed).expect("samples");
            assert_eq!(take(4), take(4));
            assert_ne!(take(4), take(5));
        }
    }
}
