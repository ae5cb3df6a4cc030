//! The control curve keeps its length, and nothing of it jumps.

use proptest::prelude::{ProptestConfig, Strategy as _, any, prop, prop_assert, proptest};

use crate::layers::wrinkles::bumps::lay_out;
use crate::layers::wrinkles::curve::{ControlCurve, CurveShape};
use crate::layers::wrinkles::params::{Jitter, Profile, Strategy, WrinkleLevel, WrinkleTool};
use crate::tolerances::wrinkles as tolerances;

fn tool() -> WrinkleTool {
    WrinkleTool::new("t", 0, 1, 0.1)
}

/// Tools of any strategy, profile and jitter.
fn looks(folds: std::ops::Range<u32>) -> impl proptest::strategy::Strategy<Value = WrinkleTool> {
    let strategies = vec![Strategy::FromA, Strategy::FromBoth, Strategy::Together];
    let strategy = prop::sample::select(strategies);
    (strategy, any::<bool>(), folds, 0.0f32..0.8).prop_map(|(strategy, linear, folds, jitter)| {
        WrinkleTool {
            strategy,
            folds,
            profile: if linear { Profile::Linear } else { Profile::Smooth },
            jitter: Jitter { spacing: jitter, height: jitter, ..Jitter::default() },
            ..tool()
        }
    })
}

fn shape(curve: &ControlCurve, full: f64, current: f64) -> CurveShape {
    let mut shape = CurveShape::default();
    curve.deform(full, current, &mut shape);
    shape
}

/// Length of a fine polyline through the drawn curve: independent of the quadrature.
fn polyline(curve: &ControlCurve, shape: &CurveShape, current: f64) -> f64 {
    // Samples fall on the control points, where linear profiles have their corners.
    let per_segment = 300;
    let n = curve.finest_segments() * per_segment;
    let point = |i: usize| {
        let (k, t) = (i / per_segment, (i % per_segment) as f64 / per_segment as f64);
        let knot = |k: usize| curve.knots[k.min(curve.knots.len() - 1)];
        let x = knot(k) + (knot(k + 1) - knot(k)) * t;
        (x * current, curve.height(shape, k as f64 + t))
    };
    (0..n).map(|i| (point(i + 1).0 - point(i).0).hypot(point(i + 1).1 - point(i).1)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_drawn_length_is_kept(
        look in looks(1..12),
        (spacing, crest) in (0u32..4, 1u32..4),
        levels in 1usize..4,
        ratio in 0.3f64..0.98,
    ) {
        let mut t = WrinkleTool { spacing, crest, ..look };
        let share = 1.0 / levels as f32;
        t.levels = vec![WrinkleLevel { share, max_height: None }; levels];
        let curve = ControlCurve::new(&t);
        let s = shape(&curve, 0.25, 0.25 * ratio);
        let drawn = polyline(&curve, &s, 0.25 * ratio);
        prop_assert!((drawn / 0.25 - 1.0).abs() < 1e-4, "{drawn}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Near full length, heights and their slope change by little when the line does: halving the
    /// steps halves every step of height, and no slope exceeds what the onset allows.
    #[test]
    fn folds_ease_in(
        look in looks(1..8),
    ) {
        let curve = ControlCurve::new(&look);
        let peak = |missing: f64| curve.peak(&shape(&curve, 1.0, 1.0 - missing));
        let onset = tolerances::ONSET_COMPRESSION;
        let count = 400u32;
        let step = 1.5 * onset / f64::from(count);
        let heights: Vec<f64> = (0..=count).map(|i| peak(step * f64::from(i))).collect();
        prop_assert!(heights[0] == 0.0);
        let slopes: Vec<f64> = heights.windows(2).map(|w| (w[1] - w[0]) / step).collect();
        let bound = 1.6 * peak(onset) / onset;
        for (i, slope) in slopes.iter().enumerate() {
            prop_assert!(slope.abs() < bound, "slope {} of {} at {}", slope, bound, i);
        }
        // Flat at first: no kink where the line comes to its full length.
        prop_assert!(slopes[0].abs() < 0.02 * bound, "{}", slopes[0] / bound);
        let kink = slopes[..count as usize / 2].windows(2).map(|w| (w[1] - w[0]).abs());
        let worst = kink.fold(0.0, f64::max);
        prop_assert!(worst < 0.05 * bound, "{}", worst / bound);
    }
}

#[test]
fn no_fold_starts_with_a_jump_where_it_follows_another() {
    // Halving the step of length halves the greatest step of any height; under a square root it
    // would stay above 0.7.
    let steepest = |strategy: Strategy, count: u32| {
        let mut t = tool();
        (t.strategy, t.folds, t.max_height) = (strategy, 5, Some(0.02));
        let curve = ControlCurve::new(&t);
        let heights = |i: u32| {
            let s = shape(&curve, 1.0, 1.0 - 0.05 * f64::from(i) / f64::from(count));
            [0, 1, 2, 3, 4].map(|bump| curve.height(&s, (bump * 3 + 1) as f64))
        };
        let step = |i: u32| {
            let (a, b) = (heights(i), heights(i + 1));
            (0..5).map(|k| (b[k] - a[k]).abs()).fold(0.0, f64::max)
        };
        (0..count).map(step).fold(0.0, f64::max)
    };
    for strategy in [Strategy::FromA, Strategy::FromBoth, Strategy::Together] {
        let (wide, fine) = (steepest(strategy, 500), steepest(strategy, 1000));
        assert!(fine < 0.56 * wide, "{strategy:?}: {}", fine / wide);
    }
}

#[test]
fn what_the_eased_onset_leaves_out_is_small() {
    let curve = ControlCurve::new(&tool());
    for percent in [0.01, 0.1, 0.5, 1.0, 1.9, 2.0, 2.5] {
        let current = 1.0 - 0.01 * percent;
        let drawn = polyline(&curve, &shape(&curve, 1.0, current), current);
        let left_out = 1.0 - drawn;
        assert!(left_out > -1e-6 && left_out < 0.35 * tolerances::ONSET_COMPRESSION, "{left_out}");
        if percent >= 2.0 {
            assert!(left_out.abs() < 1e-4, "{percent} %: {left_out}");
        }
    }
}

#[test]
fn one_linear_bump_has_the_height_of_the_formula() {
    let mut t = tool();
    (t.folds, t.spacing, t.profile) = (1, 0, Profile::Linear);
    let curve = ControlCurve::new(&t);
    let (full, current) = (1.0, 0.9);
    let (d, step) = (full - current, current / 2.0);
    let want = (d * step + d * d / 4.0f64).sqrt();
    let got = curve.height(&shape(&curve, full, current), curve.parameter(0.5));
    assert!((got - want).abs() < 1e-6, "{got} {want}");
}

#[test]
fn stretched_curves_are_flat_and_ends_stay() {
    let curve = ControlCurve::new(&tool());
    let flat = shape(&curve, 1.0, 1.2);
    assert_eq!(curve.peak(&flat), 0.0);
    let folded = shape(&curve, 1.0, 0.6);
    assert_eq!(curve.height(&folded, 0.0), 0.0);
    assert_eq!(curve.height(&folded, curve.finest_segments() as f64), 0.0);
    assert!(curve.peak(&folded) > 0.01);
}

#[test]
fn strategies_fill_in_their_order() {
    let peaks = |strategy: Strategy| {
        let mut t = tool();
        (t.strategy, t.folds, t.max_height) = (strategy, 5, Some(0.02));
        let curve = ControlCurve::new(&t);
        let s = shape(&curve, 1.0, 0.975);
        let at = |bump: usize| curve.height(&s, (bump * 3 + 1) as f64);
        [at(0), at(1), at(2), at(3), at(4)]
    };
    let a = peaks(Strategy::FromA);
    assert!(a[0] >= a[1] && a[1] >= a[2] && a[4] == 0.0 && a[0] > 0.0, "{a:?}");
    let both = peaks(Strategy::FromBoth);
    assert!((both[0] - both[4]).abs() < 1e-9 && both[2] < both[0], "{both:?}");
    let all = peaks(Strategy::Together);
    assert!(all.iter().all(|h| (h - all[0]).abs() < 1e-9));
}

#[test]
fn layouts_are_centred_and_fit() {
    for (segments, crest, spacing) in [(14, 1, 1), (7, 1, 0), (16, 2, 3), (3, 1, 1)] {
        let (points, bumps) = lay_out(segments, crest, spacing);
        let want = (segments + spacing) / (crest + 1 + spacing);
        assert_eq!(bumps, want);
        assert!(points[0].is_none() && points[segments].is_none());
        assert_eq!(points.iter().flatten().count(), bumps * crest);
    }
}
