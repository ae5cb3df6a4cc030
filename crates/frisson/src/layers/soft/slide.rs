//! Sliding along a ray to where a territory ends.

use glam::DVec3;

use super::field::{Kind, closest};
use crate::tolerances::soft as tolerances;

/// Slides from `start` along a ray to the first root of `inside` (positive inside) within
/// `0..=limit`, to within `tolerance`; `stiffness` says how fast the function falls.
pub fn slide(
    start: f64,
    limit: f64,
    tolerance: f64,
    stiffness: f64,
    mut inside: impl FnMut(f64) -> f64,
) -> f64 {
    let mut here = start.clamp(0.0, limit);
    let mut value = inside(here);
    if value == 0.0 {
        return here;
    }
    let outward = value > 0.0;
    // A little more than a straight field would need, so that the first step mostly brackets the root.
    let mut step = 1.2 * value.abs() / stiffness + 4.0 * tolerance;
    let (mut low, mut high);
    loop {
        let next = if outward { (here + step).min(limit) } else { (here - step).max(0.0) };
        if next == here {
            return here;
        }
        let there = inside(next);
        if (there > 0.0) != outward {
            (low, high) = ((here, value), (next, there));
            break;
        }
        (here, value) = (next, there);
        step *= 2.0;
    }
    let mut side = 0i8;
    for iteration in 0..tolerances::SLIDE_ROUNDS {
        let width = high.0 - low.0;
        if width.abs() <= tolerance || low.1 == high.1 {
            break;
        }
        let secant = low.0 - low.1 * width / (high.1 - low.1);
        let x = if iteration % 4 == 3 { 0.5 * (low.0 + high.0) } else { secant };
        let fx = inside(x);
        if fx.abs() <= 0.1 * tolerance * stiffness {
            return x;
        }
        if (fx > 0.0) == (low.1 > 0.0) {
            low = (x, fx);
            // The Illinois rule: an end that stays twice counts half, or the secant would creep from one side.
            if side == -1 {
                high.1 *= 0.5;
            }
            side = -1;
        } else {
            high = (x, fx);
            if side == 1 {
                low.1 *= 0.5;
            }
            side = 1;
        }
    }
    0.5 * (low.0 + high.0)
}

/// How far the primitive itself is nearer than along the ray: negative beyond its medial axis, where
/// another piece of a bent primitive takes over.
#[must_use]
pub fn medial(kind: Kind, points: &[DVec3], at: DVec3, distance: f64) -> f64 {
    closest(kind, points, at).distance(at) - distance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sliding_finds_the_root_from_anywhere() {
        for start in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let mut calls = 0;
            let d = slide(start, 1.0, 1e-9, 3.0, |x| {
                calls += 1;
                (0.7 - x) * (3.0 + x)
            });
            assert!((d - 0.7).abs() < 1e-8, "{d}");
            assert!(calls < 16, "{calls}");
        }
        assert_eq!(slide(0.5, 1.0, 1e-9, 1.0, |_| 1.0), 1.0);
        assert_eq!(slide(0.5, 1.0, 1e-9, 1.0, |_| -1.0), 0.0);
    }
}
