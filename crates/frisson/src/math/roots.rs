//! Bracketed roots: found for sure, or not there.

use crate::tolerances;

/// The root of a continuous function between `low` and `high`, where its signs differ, to within
/// `tolerance` in `x`. Regula falsi with the Illinois correction, guarded by bisection: never leaves
/// the bracket. If the signs agree, the end with the smaller value is returned.
pub fn find_root(low: f64, high: f64, tolerance: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let (mut a, mut b) = (low, high);
    let (mut fa, mut fb) = (f(a), f(b));
    if fa == 0.0 {
        return a;
    }
    if fb == 0.0 {
        return b;
    }
    if (fa > 0.0) == (fb > 0.0) {
        return if fa.abs() <= fb.abs() { a } else { b };
    }
    // Which end moved last: -1 is `a`, 1 is `b`.
    let mut last_side = 0i8;
    // A guard only: with every third step a halving, 200 steps narrow any bracket by 2^66, beyond f64's digits.
    for iteration in 0..200 {
        let width = b - a;
        if width.abs() <= tolerance {
            break;
        }
        let secant = a - fa * (b - a) / (fb - fa);
        // Every third step halves the bracket, so that the worst case is bisection's.
        let inside = secant > a.min(b) && secant < a.max(b);
        let x = if iteration % 3 == 2 || !inside { 0.5 * (a + b) } else { secant };
        let fx = f(x);
        if fx == 0.0 {
            return x;
        }
        if (fx > 0.0) == (fa > 0.0) {
            (a, fa) = (x, fx);
            if last_side == -1 {
                // Illinois: an end that stays twice counts half, else regula falsi creeps from one side.
                fb *= 0.5;
            }
            last_side = -1;
        } else {
            (b, fb) = (x, fx);
            if last_side == 1 {
                fa *= 0.5;
            }
            last_side = 1;
        }
    }
    0.5 * (a + b)
}

/// Newton's method kept inside a bracket: `f` returns value and slope, and must change sign between
/// `low` and `high`. Falls back to bisection whenever Newton would leave the bracket or crawl.
pub fn find_root_newton(
    low: f64,
    high: f64,
    tolerance: f64,
    mut f: impl FnMut(f64) -> (f64, f64),
) -> f64 {
    let (mut a, mut b) = (low, high);
    let positive_at_a = f(a).0 > 0.0;
    let mut x = 0.5 * (a + b);
    let mut previous_width = f64::INFINITY;
    // A guard only: 120 halvings are more than an f64 has digits.
    for _ in 0..120 {
        let (value, slope) = f(x);
        if value == 0.0 {
            return x;
        }
        // The sign of `a` decides, not that `f` rises: the bracket may be given either way round.
        if (value > 0.0) == positive_at_a {
            a = x
        } else {
            b = x
        }
        let width = (b - a).abs();
        if width <= tolerance {
            break;
        }
        let step = value / slope;
        let next = x - step;
        let inside = next > a.min(b) && next < a.max(b);
        if inside
            // Newton goes on while it narrows the bracket; coming from one side only, its steps must shrink.
            && (width < tolerances::math::BRACKET_SHRINKS * previous_width
                || step.abs() < 0.5 * width)
        {
            if step.abs() <= tolerance {
                return next;
            }
            x = next;
        } else {
            x = 0.5 * (a + b);
        }
        previous_width = width;
    }
    0.5 * (a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cubic_roots_are_found(root in -10.0f64..10.0, left in 0.1f64..100.0, right in 0.1f64..100.0) {
            let f = |x: f64| (x - root) * (1.0 + (x - root).powi(2));
            let got = find_root(root - left, root + right, 1e-12, f);
            prop_assert!((got - root).abs() < 1e-10);
            let df = |x: f64| (f(x), 1.0 + 3.0 * (x - root).powi(2));
            let got = find_root_newton(root - left, root + right, 1e-12, df);
            prop_assert!((got - root).abs() < 1e-10);
        }
    }

    #[test]
    fn flat_and_steep_functions_do_not_stall() {
        let mut calls = 0;
        let root = find_root(0.0, 1.0, 1e-12, |x| {
            calls += 1;
            x.powi(15) - 1e-12
        });
        assert!((root.powi(15) - 1e-12).abs() < 1e-14 && calls < 150, "{root} {calls}");
    }
}
