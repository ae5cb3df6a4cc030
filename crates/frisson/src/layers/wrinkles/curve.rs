//! The control curve in its plane: a thread of constant length whose ends come nearer.
//!
//! ```text
//!            __        __
//!           /  \      /  \          crests of `crest` points, lifted by h
//!   A -----'    '----'    '----- B  `spacing` flat segments between bumps
//! ```

use super::params::{Direction, Jitter, Profile, Strategy, WrinkleTool};
use crate::math::{random, roots};
use crate::tolerances::wrinkles as tolerances;

/// One level of detail: which control points are lifted, and how.
#[derive(Clone, Debug, PartialEq)]
struct Detail {
    /// Segments of this level.
    segments: usize,
    /// Bump of each control point, if it is on a crest.
    bump_of_point: Vec<Option<u32>>,
    bumps: usize,
    share: f64,
    max_height: Option<f64>,
    /// Factor of each bump's height, from the jitter and the direction.
    factors: Vec<f64>,
}

/// The curve's layout; computed once.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlCurve {
    details: Vec<Detail>,
    /// Places of the finest level's control points along the line, from 0 to 1.
    knots: Vec<f64>,
    profile: Profile,
    strategy: Strategy,
}

/// The curve at one instant: heights of all control points, scaled so that the length is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveShape {
    /// Heights of the control points of each level [m], one level after the other.
    heights: Vec<f64>,
    scale: f64,
    /// `(base, rise)` of the pieces whose lengths add up to the curve's; storage of `deform`.
    pieces: Vec<(f64, f64)>,
    /// Final heights of the control points [m], for sampling.
    drawn: Vec<f32>,
}

impl ControlCurve {
    /// Lays the bumps out.
    #[must_use]
    pub fn new(tool: &WrinkleTool) -> Self {
        let (crest, spacing) = (tool.crest as usize, tool.spacing as usize);
        let coarsest = tool.folds as usize * (crest + 1 + spacing) - spacing;
        let levels = tool.detail_levels();
        let details: Vec<Detail> = levels
            .iter()
            .enumerate()
            .map(|(j, level)| {
                let segments = coarsest << j;
                let (bump_of_point, bumps) = lay_out(segments, crest, spacing);
                Detail {
                    segments,
                    bump_of_point,
                    bumps,
                    share: f64::from(level.share),
                    max_height: level.max_height.map(f64::from),
                    factors: factors(bumps, tool.direction, &tool.jitter, j),
                }
            })
            .collect();
        let finest = details.last().map_or(1, |d| d.segments);
        let knots = jittered_knots(finest, &tool.jitter);
        Self { details, knots, profile: tool.profile, strategy: tool.strategy }
    }

    /// Segments of the finest level.
    #[must_use]
    pub fn finest_segments(&self) -> usize {
        self.knots.len() - 1
    }

    /// Position among the finest control points, in segments, of a place along the line (0 to 1).
    #[must_use]
    pub fn parameter(&self, x: f64) -> f64 {
        let x = x.clamp(0.0, 1.0);
        let after = self.knots.partition_point(|&k| k <= x).clamp(1, self.knots.len() - 1);
        let (a, b) = (self.knots[after - 1], self.knots[after]);
        (after - 1) as f64 + (x - a) / (b - a)
    }

    /// The shape that makes the curve `full` long over a base of `current` [m]. Just below the full
    /// length, where the exact law has no bound on how fast folds rise, they ease in.
    pub fn deform(&self, full: f64, current: f64, shape: &mut CurveShape) {
        shape.heights.clear();
        let missing = ease_in((full - current).max(0.0), tolerances::ONSET_COMPRESSION * full);
        // What is lost in the rounding of lengths is solved for more, and scaled: heights go with the
        // square root of what is missing.
        let solved = if missing > 0.0 { missing.max(tolerances::LEAST_SOLVED * full) } else { 0.0 };
        for detail in &self.details {
            detail.lift(
                self.profile,
                self.strategy,
                solved * detail.share,
                current,
                &mut shape.heights,
            );
        }
        shape.scale = 0.0;
        if solved > 0.0 && current > 0.0 {
            let mut pieces = std::mem::take(&mut shape.pieces);
            self.cut(current, &shape.heights, &mut pieces);
            shape.scale = solve_scale(current + solved, &pieces) * (missing / solved).sqrt();
            shape.pieces = pieces;
        }
        let scale = shape.scale;
        shape.drawn.clear();
        shape.drawn.extend(shape.heights.iter().map(|h| (scale * h) as f32));
    }

    /// Height of the deformed curve at a parameter, fast [m].
    #[must_use]
    pub fn sample(&self, shape: &CurveShape, parameter: f32) -> f32 {
        let finest = self.finest_segments() as f32;
        let (mut sum, mut start) = (0.0, 0);
        for detail in &self.details {
            let at = (parameter * (detail.segments as f32 / finest)).max(0.0);
            let k = (at as usize).min(detail.segments - 1);
            let (a, b) = (shape.drawn[start + k], shape.drawn[start + k + 1]);
            let t = (at - k as f32).min(1.0);
            let blend = match self.profile {
                Profile::Linear => t,
                Profile::Smooth => t * t * (3.0 - 2.0 * t),
            };
            sum += a + (b - a) * blend;
            start += detail.segments + 1;
        }
        sum
    }

    /// Length of the curve drawn over a base of `current` [m].
    #[must_use]
    pub fn drawn_length(&self, current: f64, shape: &CurveShape) -> f64 {
        self.length(current, &shape.heights, shape.scale)
    }

    fn length(&self, current: f64, heights: &[f64], scale: f64) -> f64 {
        let mut pieces = Vec::new();
        self.cut(current, heights, &mut pieces);
        drawn_length(&pieces, scale)
    }

    /// Cuts the unscaled curve into pieces: the segments of a linear profile; of a smooth one the
    /// nodes of a five-point Gauss-Legendre rule for `sqrt(dx^2 + (scale h')^2)`, on panels that are
    /// short near the control points, where steep flanks turn.
    fn cut(&self, current: f64, heights: &[f64], pieces: &mut Vec<(f64, f64)>) {
        const NODES: [(f64, f64); 5] = [
            (0.046_910_077_030_668, 0.118_463_442_528_095),
            (0.230_765_344_947_158_5, 0.239_314_335_249_683),
            (0.5, 0.284_444_444_444_444_4),
            (0.769_234_655_052_841_5, 0.239_314_335_249_683),
            (0.953_089_922_969_332, 0.118_463_442_528_095),
        ];
        const PANELS: [f64; 6] = [0.0, 0.06, 0.25, 0.75, 0.94, 1.0];
        pieces.clear();
        for k in 0..self.finest_segments() {
            let (dx, s) = (current * (self.knots[k + 1] - self.knots[k]), k as f64);
            if self.profile == Profile::Linear {
                let rise = self.height_at(heights, s + 1.0) - self.height_at(heights, s);
                pieces.push((dx, rise));
                continue;
            }
            for panel in PANELS.windows(2) {
                let width = panel[1] - panel[0];
                for (t, weight) in NODES {
                    let slope = self.slope_at(heights, s + panel[0] + width * t);
                    let share = width * weight;
                    pieces.push((share * dx, share * slope));
                }
            }
        }
    }

    /// Sum over the levels of the height at a parameter (in finest segments), before scaling.
    fn height_at(&self, heights: &[f64], s: f64) -> f64 {
        self.fold(heights, s, |a, b, t, _| {
            let blend = match self.profile {
                Profile::Linear => t,
                Profile::Smooth => t * t * (3.0 - 2.0 * t),
            };
            a + (b - a) * blend
        })
    }

    /// Derivative of the smooth height with respect to the parameter.
    fn slope_at(&self, heights: &[f64], s: f64) -> f64 {
        self.fold(heights, s, |a, b, t, per_finest| (b - a) * 6.0 * t * (1.0 - t) * per_finest)
    }

    fn fold(&self, heights: &[f64], s: f64, term: impl Fn(f64, f64, f64, f64) -> f64) -> f64 {
        let finest = self.finest_segments();
        let (mut sum, mut start) = (0.0, 0);
        for detail in &self.details {
            let ratio = detail.segments as f64 / finest as f64;
            let at = (s * ratio).clamp(0.0, detail.segments as f64);
            let k = (at as usize).min(detail.segments - 1);
            let (a, b) = (heights[start + k], heights[start + k + 1]);
            sum += term(a, b, at - k as f64, ratio);
            start += detail.segments + 1;
        }
        sum
    }

    /// Height of the deformed curve at a parameter [m].
    #[must_use]
    pub fn height(&self, shape: &CurveShape, parameter: f64) -> f64 {
        if shape.scale == 0.0 {
            0.0
        } else {
            shape.scale * self.height_at(&shape.heights, parameter)
        }
    }

    /// Largest height of the deformed curve [m].
    #[must_use]
    pub fn peak(&self, shape: &CurveShape) -> f64 {
        shape.scale * shape.heights.iter().fold(0.0f64, |m, h| m.max(h.abs()))
    }
}

/// A length that eases in from 0 to `onset`, and is itself beyond. A fold that takes it rises with its
/// square root: as `2.5 x^2 - 1.5 x^3`, which is flat at 0 and meets the root at 1 with its slope.
fn ease_in(length: f64, onset: f64) -> f64 {
    if length >= onset {
        return length;
    }
    let x = length / onset;
    let rise = x * x * (2.5 - 1.5 * x);
    onset * rise * rise
}

/// Length of a curve of such pieces when its heights are scaled.
fn drawn_length(pieces: &[(f64, f64)], scale: f64) -> f64 {
    pieces.iter().map(|&(base, rise)| (base * base + scale * scale * rise * rise).sqrt()).sum()
}

/// The common factor of all heights for which the drawn length is right. The length grows strictly
/// with it, so the root is unique.
fn solve_scale(full: f64, pieces: &[(f64, f64)]) -> f64 {
    let excess = |scale: f64| drawn_length(pieces, scale) - full;
    let mut high = 1.5;
    while excess(high) < 0.0 && high < 1e6 {
        high *= 2.0;
    }
    roots::find_root(0.0, high, 1e-9, excess)
}

impl Detail {
    /// Heights of this level's control points when it takes `missing` of the length.
    fn lift(
        &self,
        profile: Profile,
        strategy: Strategy,
        missing: f64,
        current: f64,
        out: &mut Vec<f64>,
    ) {
        let step = current / self.segments as f64;
        let most = self.max_height.unwrap_or(step);
        let capacity = 2.0 * step * (flank_length(profile, most / step) - 1.0);
        let start = out.len();
        // Neighbouring bumps mostly take the same length.
        let (mut last_taken, mut last_height) = (0.0, 0.0);
        out.extend(std::iter::repeat_n(0.0, self.segments + 1));
        for (point, bump) in self.bump_of_point.iter().enumerate() {
            if let Some(bump) = *bump {
                let taken = share_of_bump(strategy, missing, capacity, bump as usize, self.bumps);
                if taken != last_taken {
                    last_height = flank_height(profile, taken / step) * step;
                    last_taken = taken;
                }
                out[start + point] = last_height * self.factors[bump as usize];
            }
        }
    }
}

/// Which control points are on a crest, bumps counted from A and centred.
fn lay_out(segments: usize, crest: usize, spacing: usize) -> (Vec<Option<u32>>, usize) {
    let bumps = (segments + spacing) / (crest + 1 + spacing);
    let used = bumps * (crest + 1 + spacing) - spacing.min(bumps * (crest + 1 + spacing));
    let first = (segments - used) / 2;
    let mut of_point = vec![None; segments + 1];
    for bump in 0..bumps {
        let start = first + bump * (crest + 1 + spacing);
        for point in start + 1..=start + crest {
            of_point[point] = Some(bump as u32);
        }
    }
    (of_point, bumps)
}

/// Length that one bump takes, so that about all of `missing` is taken: what exceeds every bump's
/// capacity is shared equally, because keeping the length matters more than the greatest height. A bump
/// that follows others eases in; the common factor of all heights makes up for what it leaves.
fn share_of_bump(
    strategy: Strategy,
    missing: f64,
    capacity: f64,
    bump: usize,
    bumps: usize,
) -> f64 {
    let equal = missing / bumps as f64;
    if strategy == Strategy::Together || capacity <= 0.0 {
        return equal;
    }
    let beyond = missing - capacity * bumps as f64;
    if beyond >= 0.0 {
        return equal;
    }
    let take = |left: f64, first: bool| {
        let taken = left.clamp(0.0, capacity);
        if first { taken } else { ease_in(taken, tolerances::HANDOVER_SHARE * capacity) }
    };
    match strategy {
        Strategy::FromA => take(missing - capacity * bump as f64, bump == 0),
        _ => {
            // Pairs from both ends; the one in the middle takes what a pair would, alone.
            let pair = bump.min(bumps - 1 - bump);
            let alone = pair == bumps - 1 - pair;
            let left = missing - 2.0 * capacity * pair as f64;
            take(if alone { left } else { 0.5 * left }, pair == 0)
        }
    }
}

/// Length of a flank of height `ratio` over a base of 1.
fn flank_length(profile: Profile, ratio: f64) -> f64 {
    match profile {
        Profile::Linear => 1f64.hypot(ratio),
        Profile::Smooth => {
            // Midpoint rule on the smooth step; the integrand is periodic-like: 16 points give 1e-6.
            let n = 16;
            (0..n)
                .map(|i| {
                    let t = (f64::from(i) + 0.5) / f64::from(n);
                    1f64.hypot(ratio * 6.0 * t * (1.0 - t))
                })
                .sum::<f64>()
                / f64::from(n)
        }
    }
}

/// Height of a bump that takes a length `taken`, both in segments.
fn flank_height(profile: Profile, taken: f64) -> f64 {
    if taken <= 0.0 {
        return 0.0;
    }
    // Two flanks: 2 (sqrt(1 + h^2) - 1) = taken.
    let linear = (taken + 0.25 * taken * taken).sqrt();
    match profile {
        Profile::Linear => linear,
        Profile::Smooth => {
            let excess = |h: f64| 2.0 * (flank_length(profile, h) - 1.0) - taken;
            roots::find_root(0.0, 1.5 * linear + 1e-12, 1e-9 * linear.max(1e-3), excess)
        }
    }
}

fn factors(bumps: usize, direction: Direction, jitter: &Jitter, level: usize) -> Vec<f64> {
    (0..bumps)
        .map(|bump| {
            let sign = match direction {
                Direction::Out => 1.0,
                Direction::In => -1.0,
                Direction::Both => {
                    if bump % 2 == 0 {
                        1.0
                    } else {
                        -1.0
                    }
                }
            };
            let noise = random::signed(jitter.seed, bump as u64, 2 + level as u64);
            sign * (1.0 + f64::from(jitter.height) * noise)
        })
        .collect()
}

fn jittered_knots(segments: usize, jitter: &Jitter) -> Vec<f64> {
    (0..=segments)
        .map(|i| {
            let inner = i > 0 && i < segments;
            let noise = if inner { random::signed(jitter.seed, i as u64, 1) } else { 0.0 };
            // At most 0.45 of a segment to either side: knots never cross.
            (i as f64 + 0.45 * f64::from(jitter.spacing) * noise) / segments as f64
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::wrinkles::params::WrinkleLevel;
    use proptest::prelude::{ProptestConfig, any, prop, prop_assert, proptest};

    fn tool() -> WrinkleTool {
        WrinkleTool::new("t", 0, 1, 0.1)
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
            strategy in prop::sample::select(vec![Strategy::FromA, Strategy::FromBoth, Strategy::Together]),
            linear in any::<bool>(),
            folds in 1u32..12,
            spacing in 0u32..4,
            crest in 1u32..4,
            levels in 1usize..4,
            ratio in 0.3f64..0.98,
            jitter in 0.0f32..0.8,
        ) {
            let mut t = tool();
            (t.strategy, t.folds, t.spacing, t.crest) = (strategy, folds, spacing, crest);
            t.profile = if linear { Profile::Linear } else { Profile::Smooth };
            t.jitter = Jitter { spacing: jitter, height: jitter, ..Jitter::default() };
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
            strategy in prop::sample::select(vec![Strategy::FromA, Strategy::FromBoth, Strategy::Together]),
            linear in any::<bool>(),
            folds in 1u32..8,
            jitter in 0.0f32..0.8,
        ) {
            let mut t = tool();
            (t.strategy, t.folds) = (strategy, folds);
            t.profile = if linear { Profile::Linear } else { Profile::Smooth };
            t.jitter = Jitter { spacing: jitter, height: jitter, ..Jitter::default() };
            let curve = ControlCurve::new(&t);
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
            assert!(
                left_out > -1e-6 && left_out < 0.35 * tolerances::ONSET_COMPRESSION,
                "{left_out}"
            );
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
}
