//! A search for the best variant: a Latin hypercube first, then steps around the best of it.
//!
//! A step goes both ways along every axis at once, so that its variants run side by side; where none is
//! better, the next step is half as long. This needs no slope, which a bake does not give, and stops by itself.

use super::samples::latin;

/// Samples of the first batch at least.
const LEAST_FIRST: usize = 5;
/// First step around the best sample, as a share of an axis.
const FIRST_STEP: f64 = 0.2;
/// Shortest step: finer than what a sheet shows.
const LAST_STEP: f64 = 0.01;

/// Points nearer than this are one: far below the last step, far above rounding.
const SAME: f64 = 1e-6;

/// Points of the unit cube that are worth a bake, batch by batch.
#[derive(Debug)]
pub struct Search {
    axes: usize,
    seed: u64,
    left: usize,
    step: f64,
    best: Option<(f64, Vec<f64>)>,
    tried: Vec<Vec<f64>>,
}

impl Search {
    /// A search that asks for at most `budget` variants.
    pub fn new(axes: usize, budget: usize, seed: u64) -> Self {
        Self { axes, seed, left: budget, step: FIRST_STEP, best: None, tried: Vec::new() }
    }

    /// The next points; none when it is over.
    pub fn next(&mut self) -> Vec<Vec<f64>> {
        let mut points = match &self.best {
            None => {
                latin(self.axes, (2 * self.axes + 2).max(LEAST_FIRST).min(self.left), self.seed)
            }
            Some((_, best)) => {
                let best = best.clone();
                let mut points = self.around(&best);
                while points.is_empty() && self.step >= LAST_STEP {
                    self.step *= 0.5;
                    points = self.around(&best);
                }
                points
            }
        };
        points.truncate(self.left);
        self.left -= points.len();
        self.tried.extend(points.iter().cloned());
        points
    }

    /// Where a step leads, as far as nobody has been there.
    fn around(&self, best: &[f64]) -> Vec<Vec<f64>> {
        if self.step < LAST_STEP {
            return Vec::new();
        }
        let is_new = |point: &Vec<f64>| {
            let near = |t: &Vec<f64>| t.iter().zip(point).all(|(a, b)| (a - b).abs() < SAME);
            !self.tried.iter().any(near)
        };
        let moved = |axis: usize, by: f64| {
            let mut point = best.to_vec();
            point[axis] = (point[axis] + by).clamp(0.0, 1.0);
            point
        };
        let both = |axis: usize| [moved(axis, -self.step), moved(axis, self.step)];
        (0..self.axes).flat_map(both).filter(is_new).collect()
    }

    /// Takes how far the points of the last batch are from the goal.
    pub fn tell(&mut self, points: &[Vec<f64>], distances: &[f64]) {
        let first = self.best.is_none();
        let mut better = false;
        for (point, &distance) in points.iter().zip(distances) {
            if self.best.as_ref().is_none_or(|(least, _)| distance < *least) {
                self.best = Some((distance, point.clone()));
                better = true;
            }
        }
        // The first batch has no step yet that could be too long.
        if !first && !better {
            self.step *= 0.5;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(axes: usize, budget: usize, of: impl Fn(&[f64]) -> f64) -> (Vec<f64>, usize) {
        let (mut search, mut spent) = (Search::new(axes, budget, 1), 0);
        loop {
            let points = search.next();
            if points.is_empty() {
                break;
            }
            spent += points.len();
            let distances: Vec<f64> = points.iter().map(|p| of(p)).collect();
            search.tell(&points, &distances);
        }
        (search.best.expect("something was tried").1, spent)
    }

    #[test]
    fn the_bottom_of_a_bowl_is_found() {
        let bowl = |p: &[f64]| (p[0] - 0.3).powi(2) + 4.0 * (p[1] - 0.8).powi(2);
        let (best, spent) = found(2, 80, bowl);
        assert!((best[0] - 0.3).abs() < 0.02 && (best[1] - 0.8).abs() < 0.02, "{best:?}");
        assert!(spent <= 80);
    }

    #[test]
    fn a_wanted_value_is_met_on_a_slope_and_at_an_end() {
        let (best, _) = found(1, 30, |p| (10.0 * p[0] - 7.3).abs());
        assert!((best[0] - 0.73).abs() < 0.02, "{best:?}");
        let (best, _) = found(1, 30, |p| p[0]);
        assert!(best[0] < 0.02, "{best:?}");
    }

    #[test]
    fn nothing_is_tried_twice() {
        let mut search = Search::new(2, 200, 5);
        loop {
            let points = search.next();
            if points.is_empty() {
                break;
            }
            let distances: Vec<f64> = points.iter().map(|p| (p[0] - p[1]).abs() + p[0]).collect();
            search.tell(&points, &distances);
        }
        let mut tried = search.tried.clone();
        tried.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        tried.dedup();
        assert_eq!(tried.len(), search.tried.len());
    }

    #[test]
    fn it_ends_even_where_nothing_can_be_measured() {
        let (_, spent) = found(3, 500, |_| f64::INFINITY);
        assert!(spent < 100, "{spent}");
        assert_eq!(found(2, 3, |p| p[0]).1, 3);
    }
}
