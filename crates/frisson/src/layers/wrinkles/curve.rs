//! The control curve in its plane: a thread of constant length whose ends come nearer.
//!
//! ```text
//!            __        __
//!           /  \      /  \          crests of `crest` points, lifted by h
//!   A -----'    '----'    '----- B  `spacing` flat segments between bumps
//! ```

use super::bumps::{Detail, ease_in, factors, lay_out};
use super::params::{Jitter, Profile, Strategy, WrinkleTool};
use crate::math::{random, roots};
use crate::tolerances::wrinkles as tolerances;

/// How far a full jitter moves a knot, in segments [-]: at a half two could meet.
const MOST_JITTER: f64 = 0.45;

/// The curve's layout; computed once.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlCurve {
    details: Vec<Detail>,
    /// Places of the finest level's control points along the line, from 0 to 1.
    pub(super) knots: Vec<f64>,
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
        // No spacing behind the last bump: the line ends where its last flank does.
        let coarsest = tool.folds as usize * (crest + 1 + spacing) - spacing;
        let levels = tool.detail_levels();
        let details: Vec<Detail> = levels
            .iter()
            .enumerate()
            .map(|(j, level)| {
                // Twice the segments of the level before: its control points are among these.
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
        // Knots never meet (see `jittered_knots`): the quotient is sound.
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
                (self.profile, self.strategy),
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
            // In single precision, unlike the solve: thousands of points ask, and nobody sees a micrometre.
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
        // Short where the slope of a smooth step changes most.
        const PANELS: [f64; 6] = [0.0, 0.06, 0.25, 0.75, 0.94, 1.0];
        pieces.clear();
        for k in 0..self.finest_segments() {
            let (dx, s) = (current * (self.knots[k + 1] - self.knots[k]), k as f64);
            // Straight pieces have exact lengths: no rule is needed.
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
        // Not zero times a height: without a base length heights may be infinite.
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

/// Length of a curve of such pieces when its heights are scaled.
fn drawn_length(pieces: &[(f64, f64)], scale: f64) -> f64 {
    pieces.iter().map(|&(base, rise)| (base * base + scale * scale * rise * rise).sqrt()).sum()
}

/// The common factor of all heights for which the drawn length is right. The length grows strictly
/// with it, so the root is unique.
fn solve_scale(full: f64, pieces: &[(f64, f64)]) -> f64 {
    let excess = |scale: f64| drawn_length(pieces, scale) - full;
    // Levels share the length as if each were alone; together they mostly need a little more or less than 1.
    let mut high = 1.5;
    while excess(high) < 0.0 && high < tolerances::MOST_SCALE {
        high *= 2.0;
    }
    roots::find_root(0.0, high, tolerances::SCALE_DIGITS, excess)
}

fn jittered_knots(segments: usize, jitter: &Jitter) -> Vec<f64> {
    (0..=segments)
        .map(|i| {
            let inner = i > 0 && i < segments;
            let noise = if inner { random::signed(jitter.seed, i as u64, 1) } else { 0.0 };
            // To either side at most: knots never cross.
            (i as f64 + MOST_JITTER * f64::from(jitter.spacing) * noise) / segments as f64
        })
        .collect()
}
