//! Curves through points: Catmull-Rom, and NURBS with interpolation.

use glam::{Vec3, Vec4};

use crate::tolerances;

/// A point of the uniform Catmull-Rom segment from `b` to `c`.
#[must_use]
pub fn catmull_rom(a: Vec3, b: Vec3, c: Vec3, d: Vec3, t: f32) -> Vec3 {
    let (t2, t3) = (t * t, t * t * t);
    0.5 * (2.0 * b
        + (c - a) * t
        + (2.0 * a - 5.0 * b + 4.0 * c - d) * t2
        + (3.0 * (b - c) + d - a) * t3)
}

/// A point of the Catmull-Rom curve through `points` with its ends doubled; `parameter` runs from 0
/// to `points.len() - 1`.
#[must_use]
pub fn catmull_rom_through(points: &[Vec3], parameter: f32) -> Vec3 {
    let Some(last) = points.len().checked_sub(1) else { return Vec3::ZERO };
    if last == 0 {
        return points[0];
    }
    // Beyond the ends the first and last segments go on: a parameter may round past the last point.
    let segment = (parameter.max(0.0) as usize).min(last - 1);
    let at = |i: isize| points[i.clamp(0, last as isize) as usize];
    let s = segment as isize;
    catmull_rom(at(s - 1), at(s), at(s + 1), at(s + 2), parameter - segment as f32)
}

/// Cumulative length of a polyline: one entry a point, the first 0 [m].
#[must_use]
pub fn arc_lengths(points: &[Vec3]) -> Vec<f32> {
    let mut total = 0.0;
    let mut out = Vec::with_capacity(points.len());
    for (i, &p) in points.iter().enumerate() {
        if i > 0 {
            total += p.distance(points[i - 1]);
        }
        out.push(total);
    }
    out
}

/// Highest degree of a curve: beyond 3 they only swing more between their points.
const MOST_DEGREE: usize = 7;

/// A non-uniform rational B-spline curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Nurbs {
    degree: usize,
    knots: Vec<f32>,
    /// Homogeneous control points `(w x, w y, w z, w)`.
    control: Vec<Vec4>,
}

impl Nurbs {
    /// From control points and weights, with clamped uniform knots. Needs a degree of 1 to 7, more points
    /// than that and positive weights.
    #[must_use]
    pub fn new(control: &[Vec3], weights: &[f32], degree: usize) -> Option<Self> {
        // With equal knots a clamped curve has `points - degree` spans: it needs one.
        let enough = control.len() > degree
            && (1..=MOST_DEGREE).contains(&degree)
            && weights.len() == control.len();
        // A weight that is not positive may put the homogeneous sum at zero: a point at infinity.
        if !enough || weights.iter().any(|&w| w.is_nan() || w <= 0.0) {
            return None;
        }
        let spans = control.len() - degree;
        let inner = (1..spans).map(|i| i as f32 / spans as f32);
        let knots = clamped(inner, degree);
        let control = control.iter().zip(weights).map(|(&p, &w)| (p * w).extend(w)).collect();
        Some(Self { degree, knots, control })
    }

    /// The curve of the given degree (at most 3 is sensible) that passes through all points, with
    /// chord-length parameters and averaged knots (global interpolation).
    #[must_use]
    pub fn through(points: &[Vec3], degree: usize) -> Option<Self> {
        let degree = degree.min(points.len().checked_sub(1)?).min(MOST_DEGREE);
        let parameters = chord_parameters(points)?;
        let n = points.len();
        // Averages of the parameters: every span has a point in it, or the matrix below would be singular.
        let inner =
            (1..n - degree).map(|j| parameters[j..j + degree].iter().sum::<f32>() / degree as f32);
        let knots = clamped(inner, degree);
        let mut curve = Self { degree, knots, control: vec![Vec4::ZERO; n] };
        // f64: chords of very different lengths make bases that f32 could not tell apart.
        let mut matrix = vec![0.0f64; n * n];
        for (row, &u) in parameters.iter().enumerate() {
            let (span, basis) = curve.basis(u);
            for k in 0..=degree {
                matrix[row * n + span - degree + k] = f64::from(basis[k]);
            }
        }
        let mut right: Vec<[f64; 3]> = points.iter().map(|p| p.as_dvec3().to_array()).collect();
        solve_in_place(&mut matrix, &mut right)?;
        for (control, r) in curve.control.iter_mut().zip(&right) {
            *control = Vec4::new(r[0] as f32, r[1] as f32, r[2] as f32, 1.0);
        }
        Some(curve)
    }

    /// Point at a parameter in [0, 1].
    #[must_use]
    pub fn point(&self, parameter: f32) -> Vec3 {
        let (span, basis) = self.basis(parameter.clamp(0.0, 1.0));
        let sum: Vec4 =
            (0..=self.degree).map(|k| basis[k] * self.control[span - self.degree + k]).sum();
        sum.truncate() / sum.w
    }

    /// Index of the knot span and the `degree + 1` basis functions there (Cox-de Boor).
    fn basis(&self, u: f32) -> (usize, [f32; MOST_DEGREE + 1]) {
        let (p, n) = (self.degree, self.control.len());
        // At u = 1 there is no knot beyond: the last span takes its own end.
        let span = self.knots[p..n].partition_point(|&k| k <= u).clamp(1, n - p) + p - 1;
        let mut values = [0.0f32; MOST_DEGREE + 1];
        values[0] = 1.0;
        for j in 1..=p {
            let mut saved = 0.0;
            for r in 0..j {
                let right = self.knots[span + r + 1] - u;
                let left = u - self.knots[span + 1 - j + r];
                let width = right + left;
                // Repeated knots leave no width: 0 / 0 counts as 0.
                let share = if width > 0.0 { values[r] / width } else { 0.0 };
                values[r] = saved + right * share;
                saved = left * share;
            }
            values[j] = saved;
        }
        (span, values)
    }
}

fn clamped(inner: impl Iterator<Item = f32>, degree: usize) -> Vec<f32> {
    let mut knots = vec![0.0; degree + 1];
    knots.extend(inner);
    knots.extend(std::iter::repeat_n(1.0, degree + 1));
    knots
}

/// Parameters in [0, 1] by chord length; `None` when all points coincide.
fn chord_parameters(points: &[Vec3]) -> Option<Vec<f32>> {
    let lengths = arc_lengths(points);
    let total = *lengths.last()?;
    (total > 0.0).then(|| lengths.iter().map(|l| l / total).collect())
}

/// Gaussian elimination with partial pivoting; `None` when singular.
fn solve_in_place(matrix: &mut [f64], right: &mut [[f64; 3]]) -> Option<()> {
    let n = right.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| {
            matrix[a * n + column].abs().total_cmp(&matrix[b * n + column].abs())
        })?;
        if matrix[pivot * n + column].abs() < tolerances::math::SINGULAR_PIVOT {
            return None;
        }
        if pivot != column {
            for k in 0..n {
                matrix.swap(pivot * n + k, column * n + k);
            }
            right.swap(pivot, column);
        }
        for row in column + 1..n {
            let factor = matrix[row * n + column] / matrix[column * n + column];
            // A basis function reaches `degree + 1` rows only: most of the matrix is zero.
            if factor != 0.0 {
                for k in column..n {
                    matrix[row * n + k] -= factor * matrix[column * n + k];
                }
                for k in 0..3 {
                    right[row][k] -= factor * right[column][k];
                }
            }
        }
    }
    for row in (0..n).rev() {
        for k in 0..3 {
            let known: f64 = (row + 1..n).map(|c| matrix[row * n + c] * right[c][k]).sum();
            right[row][k] = (right[row][k] - known) / matrix[row * n + row];
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Vec<Vec3> {
        (0..7).map(|i| Vec3::new(i as f32, (i * i % 5) as f32, (i % 3) as f32)).collect()
    }

    #[test]
    fn catmull_rom_passes_through_its_points_and_keeps_lines_straight() {
        let points = points();
        for (i, &p) in points.iter().enumerate() {
            assert!((catmull_rom_through(&points, i as f32) - p).length() < 1e-5);
        }
        let line: Vec<Vec3> = (0..4).map(|i| Vec3::X * i as f32).collect();
        let mid = catmull_rom_through(&line, 1.5);
        assert!((mid - Vec3::X * 1.5).length() < 1e-6);
    }

    #[test]
    fn interpolating_nurbs_meets_every_point() {
        let points = points();
        let curve = Nurbs::through(&points, 3).unwrap();
        let parameters = chord_parameters(&points).unwrap();
        for (&u, &p) in parameters.iter().zip(&points) {
            assert!((curve.point(u) - p).length() < 1e-4, "{u}");
        }
    }

    #[test]
    fn rational_quadratic_draws_a_circle() {
        let s = std::f32::consts::FRAC_1_SQRT_2;
        let control = [Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
        let arc = Nurbs::new(&control, &[1.0, s, 1.0], 2).unwrap();
        for i in 0..=20 {
            assert!((arc.point(i as f32 / 20.0).length() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn degenerate_input_is_refused() {
        assert!(Nurbs::through(&[Vec3::ONE; 4], 3).is_none());
        assert!(Nurbs::through(&[], 3).is_none());
        assert!(Nurbs::new(&[Vec3::X, Vec3::Y], &[1.0, -1.0], 1).is_none());
    }
}
