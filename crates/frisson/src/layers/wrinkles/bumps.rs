//! The bumps of one level of detail: where they are, and how much of the length each takes.

use super::params::{Direction, Jitter, Profile, Strategy};
use crate::math::{random, roots};
use crate::tolerances::wrinkles as tolerances;

/// One level of detail: which control points are lifted, and how.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Detail {
    /// Segments of this level.
    pub segments: usize,
    /// Bump of each control point, if it is on a crest.
    pub bump_of_point: Vec<Option<u32>>,
    /// Number of bumps.
    pub bumps: usize,
    /// Part of the missing length that this level takes [-].
    pub share: f64,
    /// Greatest height [m]; a segment if not given.
    pub max_height: Option<f64>,
    /// Factor of each bump's height, from the jitter and the direction.
    pub factors: Vec<f64>,
}

/// A length that eases in from 0 to `onset`, and is itself beyond. A fold that takes it rises with its
/// square root: as `2.5 x^2 - 1.5 x^3`, which is flat at 0 and meets the root at 1 with its slope.
pub(super) fn ease_in(length: f64, onset: f64) -> f64 {
    if length >= onset {
        return length;
    }
    let x = length / onset;
    let rise = x * x * (2.5 - 1.5 * x);
    onset * rise * rise
}

impl Detail {
    /// Heights of this level's control points when it takes `missing` of the length.
    pub fn lift(
        &self,
        (profile, strategy): (Profile, Strategy),
        missing: f64,
        current: f64,
        out: &mut Vec<f64>,
    ) {
        let step = current / self.segments as f64;
        // As high as a segment is long: steeper flanks would look like fins.
        let most = self.max_height.unwrap_or(step);
        let capacity = 2.0 * step * (flank_length(profile, most / step) - 1.0);
        let start = out.len();
        // Neighbouring bumps mostly take the same length.
        let (mut last_taken, mut last_height) = (0.0, 0.0);
        out.extend(std::iter::repeat_n(0.0, self.segments + 1));
        for (point, bump) in self.bump_of_point.iter().enumerate() {
            if let Some(bump) = *bump {
                let taken = share_of_bump(strategy, missing, capacity, bump as usize, self.bumps);
                // Solved once for all of them: for smooth profiles it is a root.
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
pub(super) fn lay_out(segments: usize, crest: usize, spacing: usize) -> (Vec<Option<u32>>, usize) {
    let bumps = (segments + spacing) / (crest + 1 + spacing);
    // No spacing behind the last one; without any bump nothing is used, hence the `min`.
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
    // What cannot take anything cannot be filled up one after the other.
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
            // A smooth flank is longer than a straight one of its height: the root lies below `linear`.
            let high = 1.5 * linear + tolerances::LEAST_HEIGHT;
            let digits = tolerances::SCALE_DIGITS * linear.max(tolerances::LEAST_RATIO);
            roots::find_root(0.0, high, digits, excess)
        }
    }
}

/// Factor of each bump's height: its direction, and what the jitter makes of it.
pub(super) fn factors(
    bumps: usize,
    direction: Direction,
    jitter: &Jitter,
    level: usize,
) -> Vec<f64> {
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
            // By bump and not by draw: another number of folds leaves the first ones as they were.
            let noise = random::signed(jitter.seed, bump as u64, 2 + level as u64);
            sign * (1.0 + f64::from(jitter.height) * noise)
        })
        .collect()
}
