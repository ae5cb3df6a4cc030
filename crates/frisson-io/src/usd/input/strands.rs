//! Curves as points along them: splines are followed, not their control points.

use super::Result;
use super::stage::Stage;

/// Points that a piece of a spline becomes.
const POINTS_PER_PIECE: usize = 4;

/// How the control points of a curve are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// The points themselves.
    Linear,
    Bezier,
    BSpline,
    /// A B-spline drawn out to its end points.
    PinnedBSpline,
    /// Through all points but the first and the last.
    CatmullRom,
}

impl Basis {
    pub fn read(stage: &Stage, prim: usize) -> Result<Self> {
        let token = |name: &str, default: &str| -> Result<String> {
            let found = stage.token(prim, name)?;
            Ok(found.map_or(default.to_owned(), |t| t.to_string()))
        };
        if token("type", "cubic")? == "linear" {
            return Ok(Self::Linear);
        }
        let pinned = token("wrap", "nonperiodic")? == "pinned";
        Ok(match token("basis", "bezier")?.as_str() {
            "bspline" if pinned => Self::PinnedBSpline,
            "bspline" => Self::BSpline,
            // Drawn out to its end points, it passes through all of them.
            "catmullRom" if pinned => Self::Linear,
            "catmullRom" => Self::CatmullRom,
            _ => Self::Bezier,
        })
    }

    /// Every point of a curve of `count` control points, as shares of them.
    pub fn weights(self, count: usize) -> Vec<Vec<(usize, f64)>> {
        let themselves = |range: std::ops::Range<usize>| range.map(|i| vec![(i, 1.0)]).collect();
        match self {
            Self::Bezier if count >= 4 => bezier(count),
            Self::BSpline if count >= 4 => b_spline(count, 0),
            Self::PinnedBSpline if count >= 2 => b_spline(count, 1),
            Self::CatmullRom if count >= 4 => themselves(1..count - 1),
            _ => themselves(0..count),
        }
    }
}

fn bezier(count: usize) -> Vec<Vec<(usize, f64)>> {
    let pieces = (count - 1) / 3;
    let mut out = vec![vec![(0, 1.0)]];
    for piece in 0..pieces {
        for step in 1..=POINTS_PER_PIECE {
            let t = step as f64 / POINTS_PER_PIECE as f64;
            let s = 1.0 - t;
            let shares = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
            out.push(shares.into_iter().enumerate().map(|(k, w)| (3 * piece + k, w)).collect());
        }
    }
    out
}

/// A uniform cubic B-spline; `pinned` points are added at each end, mirrored through the end point.
fn b_spline(count: usize, pinned: usize) -> Vec<Vec<(usize, f64)>> {
    let all = count + 2 * pinned;
    let last = count - 1;
    let share = |index: usize, w: f64, out: &mut Vec<(usize, f64)>| match index.checked_sub(pinned)
    {
        None => out.extend([(0, 2.0 * w), (1, -w)]),
        Some(i) if i > last => out.extend([(last, 2.0 * w), (last - 1, -w)]),
        Some(i) => out.push((i, w)),
    };
    let pieces = all - 3;
    let mut out = Vec::new();
    for step in 0..=pieces * POINTS_PER_PIECE {
        let piece = (step / POINTS_PER_PIECE).min(pieces - 1);
        let t = step as f64 / POINTS_PER_PIECE as f64 - piece as f64;
        let s = 1.0 - t;
        let shares = [
            s * s * s,
            3.0 * t * t * t - 6.0 * t * t + 4.0,
            3.0 * s * s * s - 6.0 * s * s + 4.0,
            t * t * t,
        ];
        let mut point = Vec::new();
        for (k, w) in shares.into_iter().enumerate() {
            share(piece + k, w / 6.0, &mut point);
        }
        out.push(point);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn along(basis: Basis, points: &[f64]) -> Vec<f64> {
        let sum = |w: &Vec<(usize, f64)>| w.iter().map(|&(i, w)| w * points[i]).sum();
        basis.weights(points.len()).iter().map(sum).collect()
    }

    #[test]
    fn points_on_a_line_stay_on_it_and_ends_are_met() {
        let line: Vec<f64> = (0..7).map(f64::from).collect();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        for (basis, first, last) in [
            (Basis::Linear, 0.0, 6.0),
            (Basis::Bezier, 0.0, 6.0),
            (Basis::BSpline, 1.0, 5.0),
            (Basis::PinnedBSpline, 0.0, 6.0),
            (Basis::CatmullRom, 1.0, 5.0),
        ] {
            let read = along(basis, &line);
            assert!(close(read[0], first) && close(read[read.len() - 1], last), "{basis:?}");
            assert!(read.windows(2).all(|w| w[1] > w[0]), "{basis:?}: {read:?}");
        }
    }

    #[test]
    fn a_cubic_is_met_in_the_middle() {
        let read = along(Basis::Bezier, &[0.0, 0.0, 0.0, 8.0]);
        assert_eq!(read[2], 1.0);
        let read = along(Basis::BSpline, &[0.0, 0.0, 6.0, 0.0, 0.0]);
        assert!((read[4] - 4.0).abs() < 1e-12, "{read:?}");
        assert!(Basis::PinnedBSpline.weights(1).len() == 1 && Basis::Bezier.weights(3).len() == 3);
    }
}
