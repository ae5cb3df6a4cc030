//! Wisps that split where their motion tears them wide, and merge again when they stay together.

use glam::Vec3;

use super::params::SplitParams;
use super::rest::HairRest;
use super::state::{HairState, Wisp};

/// Splits every wisp that is torn wide enough, up to the bound.
pub(super) fn apply_splits(params: &SplitParams, rest: &HairRest, state: &mut HairState) {
    let most = (rest.roots.len() as f32 * params.max_growth) as usize;
    for index in 0..state.wisps.len() {
        if state.wisps.len() >= most {
            return;
        }
        let wisp = &state.wisps[index];
        if !wisp.apart || wisp.depth >= 30 {
            continue;
        }
        if let Some(tear) = widest_tear(wisp, rest, params.ratio) {
            let number = state.next_split;
            state.next_split += 1;
            let other = split(&mut state.wisps[index], &tear, rest, params, number);
            state.wisps.push(other);
        }
    }
}

/// Where a wisp is torn.
pub(super) struct Tear {
    plane: usize,
    /// Sample on the longest diameter.
    sample: usize,
    /// Largest over smallest diameter.
    ratio: f32,
}

/// The plane whose largest diameter exceeds its smallest the most, if by more than `limit`.
pub(super) fn widest_tear(wisp: &Wisp, rest: &HairRest, limit: f32) -> Option<Tear> {
    let samples = rest.directions.len();
    let mut worst: Option<Tear> = None;
    for plane in 2..wisp.positions.len() {
        let radii = &wisp.radii[plane * samples..(plane + 1) * samples];
        let diameter = |k: usize| {
            let (s, odd) = (samples / 2, samples % 2);
            let opposite = radii[(k + s) % samples];
            let beyond = if odd == 1 { radii[(k + s + 1) % samples] } else { opposite };
            radii[k] + 0.5 * (opposite + beyond)
        };
        let (mut least, mut most, mut sample) = (f32::INFINITY, 0.0, 0);
        for k in 0..samples {
            let d = diameter(k);
            least = least.min(d);
            if d > most {
                (most, sample) = (d, k);
            }
        }
        let ratio = most / least.max(1.0e-6);
        if ratio > limit && worst.as_ref().is_none_or(|w| ratio > w.ratio) {
            worst = Some(Tear { plane, sample, ratio });
        }
    }
    worst
}

/// Splits a wisp in two: same places and radii, half of mass and stiffness each, parting along the
/// longest diameter with speeds that cancel. Returns the second half.
pub(super) fn split(
    wisp: &mut Wisp,
    tear: &Tear,
    rest: &HairRest,
    params: &SplitParams,
    number: u32,
) -> Wisp {
    wisp.share *= 0.5;
    wisp.radius_scale *= params.radius_scale;
    wisp.apart = false;
    wisp.close_for = 0.0;
    wisp.splits.push(number);
    wisp.pressures.iter_mut().for_each(|p| *p *= 0.5);
    let mut other = wisp.clone();
    other.path |= 1 << wisp.depth;
    wisp.depth += 1;
    other.depth = wisp.depth;
    for i in 2..wisp.positions.len() {
        let fade = ((i - 1) as f32 / (tear.plane - 1) as f32).min(1.0);
        let speed = wisp.velocities[i].length().max(params.min_speed);
        let axis = wisp.half_axis(i, rest.directions[tear.sample]);
        let part = axis * (params.speed * (1.0 - 1.0 / tear.ratio) * speed * fade);
        wisp.velocities[i] += part;
        other.velocities[i] -= part;
    }
    other
}

/// Notes which halves have been apart, draws together those that stay close, and replaces two that
/// have come together by one.
pub(super) fn apply_merges(params: &SplitParams, rest: &HairRest, state: &mut HairState, dt: f32) {
    let mut index = 0;
    while index < state.wisps.len() {
        let Some(other) = sibling(&state.wisps, index) else {
            index += 1;
            continue;
        };
        let (distance, speed) = separation(&state.wisps[index], &state.wisps[other]);
        let radius = mean_radius(&state.wisps[index], rest);
        let close = distance < params.merge_distance * radius && speed < CALM;
        let [a, b] = pair_mut(&mut state.wisps, index, other);
        if distance > params.apart * radius {
            (a.apart, b.apart) = (true, true);
        }
        let since = if close { a.close_for + dt } else { 0.0 };
        (a.close_for, b.close_for) = (since, since);
        if params.merge_distance > 0.0 && since >= params.merge_after {
            draw_together(a, b, dt);
            if distance < super::limits::MERGED * radius {
                merge(a, b, params);
                state.wisps.remove(other);
            }
        }
        index += 1;
    }
}

/// Relative speed below which halves count as moving together [m/s].
const CALM: f32 = 0.5;

/// Time in which halves are drawn together [s]: slow enough to look like hair settling.
const DRAW_SECS: f32 = 0.2;

/// The other half of a wisp's last split, if it is still whole; found from the lower index only.
fn sibling(wisps: &[Wisp], index: usize) -> Option<usize> {
    let wisp = &wisps[index];
    let number = *wisp.splits.last()?;
    let twin = |w: &Wisp| w.splits.last() == Some(&number) && w.depth == wisp.depth;
    (index + 1..wisps.len()).find(|&k| twin(&wisps[k]))
}

fn separation(a: &Wisp, b: &Wisp) -> (f32, f32) {
    let most =
        |x: &[Vec3], y: &[Vec3]| x.iter().zip(y).map(|(p, q)| p.distance(*q)).fold(0.0, f32::max);
    (most(&a.positions, &b.positions), most(&a.velocities, &b.velocities))
}

fn mean_radius(wisp: &Wisp, rest: &HairRest) -> f32 {
    let radii = &rest.roots[wisp.root as usize].radii;
    wisp.radius_scale * radii[2..].iter().sum::<f32>() / (radii.len() - 2) as f32
}

fn pair_mut(wisps: &mut [Wisp], a: usize, b: usize) -> [&mut Wisp; 2] {
    let (low, high) = wisps.split_at_mut(b);
    [&mut low[a], &mut high[0]]
}

/// Brings everything of two halves towards their mean.
fn draw_together(a: &mut Wisp, b: &mut Wisp, dt: f32) {
    let share = 0.5 * -(-dt / DRAW_SECS).exp_m1();
    let vectors = |x: &mut [Vec3], y: &mut [Vec3]| {
        for (p, q) in x.iter_mut().zip(y) {
            let step = share * (*q - *p);
            *p += step;
            *q -= step;
        }
    };
    let numbers = |x: &mut [f32], y: &mut [f32]| {
        for (p, q) in x.iter_mut().zip(y) {
            let step = share * (*q - *p);
            *p += step;
            *q -= step;
        }
    };
    vectors(&mut a.positions, &mut b.positions);
    vectors(&mut a.velocities, &mut b.velocities);
    numbers(&mut a.radii, &mut b.radii);
    numbers(&mut a.radial_velocities, &mut b.radial_velocities);
    numbers(&mut a.twists, &mut b.twists);
    numbers(&mut a.twist_velocities, &mut b.twist_velocities);
}

/// Puts two halves back into `a`.
fn merge(a: &mut Wisp, b: &Wisp, params: &SplitParams) {
    let middle = |p: &mut Vec3, q: &Vec3| *p = 0.5 * (*p + *q);
    let mean = |p: &mut f32, q: &f32| *p = 0.5 * (*p + *q);
    a.positions.iter_mut().zip(&b.positions).for_each(|(p, q)| middle(p, q));
    a.velocities.iter_mut().zip(&b.velocities).for_each(|(p, q)| middle(p, q));
    a.radii.iter_mut().zip(&b.radii).for_each(|(p, q)| mean(p, q));
    a.radial_velocities.iter_mut().zip(&b.radial_velocities).for_each(|(p, q)| mean(p, q));
    a.twists.iter_mut().zip(&b.twists).for_each(|(p, q)| mean(p, q));
    a.pressures.iter_mut().zip(&b.pressures).for_each(|(p, q)| *p += q);
    a.share += b.share;
    a.radius_scale /= params.radius_scale;
    a.splits.pop();
    a.depth -= 1;
    a.path &= !(1 << a.depth);
    a.apart = true;
    a.close_for = 0.0;
    super::planes::compute_planes(a);
}
