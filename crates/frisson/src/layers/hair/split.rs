//! Wisps that split where their motion tears them wide, and merge again when they stay together.
//!
//! ```text
//!             ___________ a        particles before `joined` belong to both halves and move as one;
//!   root ────<___________ b        the split opens towards the root where the wisp is torn there,
//!           joined                 and closes towards the tip where the halves stay together
//! ```

use std::ops::Range;

use glam::Vec3;

use super::params::SplitParams;
use super::rest::{HairRest, WispRoot};
use super::state::{HairState, Wisp};

/// Splits every wisp that is torn wide enough, up to the bound.
pub(super) fn apply_splits(params: &SplitParams, rest: &HairRest, state: &mut HairState) {
    let most = (rest.roots.len() as f32 * params.max_growth) as usize;
    for index in 0..state.wisps.len() {
        // New halves are at the end and are not looked at in this tick.
        if state.wisps.len() >= most {
            return;
        }
        let wisp = &state.wisps[index];
        // Halves that have not parted yet are still torn by the same motion: they would split over and over. The path
        // has 32 bits.
        if !wisp.apart || wisp.depth >= 30 {
            continue;
        }
        if let Some(tear) = widest_tear(wisp, rest, params) {
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
    /// The torn plane nearest the root.
    first: usize,
    /// Sample on the longest diameter.
    sample: usize,
    /// Largest over smallest diameter.
    ratio: f32,
}

/// The plane whose largest diameter exceeds its smallest the most, if by more than the ratio. What the
/// head flattens already in the style does not count, nor what lies still against its root: it is no
/// motion that tears there.
pub(super) fn widest_tear(wisp: &Wisp, rest: &HairRest, params: &SplitParams) -> Option<Tear> {
    let mut worst: Option<Tear> = None;
    let mut first = None;
    let moves = |plane: usize| {
        let speed = wisp.velocities[plane].distance(wisp.velocities[1]);
        speed > super::limits::TEARING_SPEED
    };
    for plane in (2..wisp.positions.len()).filter(|&plane| moves(plane)) {
        let [least, most] = diameters(wisp, rest, plane);
        let styled = rest.styled.get(wisp.root as usize).map_or(1.0, |styled| {
            let [least, most] = diameters(styled, rest, plane);
            most.0 / least.0.max(1.0e-6)
        });
        let ratio = most.0 / (styled * least.0).max(1.0e-6);
        if ratio > params.ratio {
            let first = *first.get_or_insert(plane);
            if worst.as_ref().is_none_or(|w| ratio > w.ratio) {
                worst = Some(Tear { plane, first, sample: most.1, ratio });
            }
        }
    }
    worst
}

/// The smallest and the largest diameter of a plane [m], each with the sample at its end.
fn diameters(wisp: &Wisp, rest: &HairRest, plane: usize) -> [(f32, usize); 2] {
    let samples = rest.directions.len();
    let radii = &wisp.radii[plane * samples..(plane + 1) * samples];
    let diameter = |k: usize| {
        let (s, odd) = (samples / 2, samples % 2);
        let opposite = radii[(k + s) % samples];
        // An odd number of samples has none opposite: the mean of the two beside it.
        let beyond = if odd == 1 { radii[(k + s + 1) % samples] } else { opposite };
        radii[k] + 0.5 * (opposite + beyond)
    };
    let (mut least, mut most) = ((f32::INFINITY, 0), (0.0, 0));
    for k in 0..samples {
        let d = diameter(k);
        if d < least.0 {
            least = (d, k);
        }
        if d > most.0 {
            most = (d, k);
        }
    }
    [least, most]
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
    wisp.joined = tear.first as u8;
    wisp.splits.push(number);
    // Half the mass presses half as hard; friction in the next tick depends on it.
    wisp.pressures.iter_mut().for_each(|p| *p *= 0.5);
    // The same place to the bit: hairs that are dealt to either half are where they were.
    let mut other = wisp.clone();
    other.path |= 1 << wisp.depth;
    wisp.depth += 1;
    other.depth = wisp.depth;
    for i in tear.first..wisp.positions.len() {
        // From nothing where they stay joined to all at the plane that is torn the most.
        let fade = ((i + 1 - tear.first) as f32 / (tear.plane + 1 - tear.first) as f32).min(1.0);
        let speed = wisp.velocities[i].length().max(params.min_speed);
        let axis = wisp.half_axis(i, rest.directions[tear.sample]);
        let part = axis * (params.speed * (1.0 - 1.0 / tear.ratio) * speed * fade);
        wisp.velocities[i] += part;
        other.velocities[i] -= part;
    }
    other
}

/// Moves halves as one where they are joined, opens and closes the split between them, and replaces
/// two that are joined all along by one.
pub(super) fn apply_merges(params: &SplitParams, rest: &HairRest, state: &mut HairState, dt: f32) {
    for wisp in &mut state.wisps {
        thicken(wisp, params, dt);
    }
    wait_for_kin(params, rest, &mut state.wisps, dt);
    let mut index = 0;
    while index < state.wisps.len() {
        let Some(other) = sibling(&state.wisps, index) else {
            index += 1;
            continue;
        };
        let root = &rest.roots[state.wisps[index].root as usize];
        let radius = mean_radius(&state.wisps[index], rest);
        let [a, b] = pair_mut(&mut state.wisps, index, other);
        if farthest(a, b) > params.apart * radius {
            (a.apart, b.apart) = (true, true);
        }
        if let Some(tear) = widest_tear(a, rest, params) {
            a.joined = a.joined.min(tear.first as u8);
        }
        close(params, radius, dt, a, b);
        hold_together(root, a, b);
        if a.joined as usize == rest.count {
            merge(a, b);
            // In order, so that wisps keep theirs and results do not depend on who merged first.
            state.wisps.remove(other);
        }
        index += 1;
    }
}

/// A wisp whose other half has split further counts meanwhile how long it has been close to one of those parts: else every
/// level of a wisp that was split several times would wait anew once the one below it is whole.
fn wait_for_kin(params: &SplitParams, rest: &HairRest, wisps: &mut [Wisp], dt: f32) {
    for index in 0..wisps.len() {
        let wisp = &wisps[index];
        let Some(other) = kin(wisps, index) else { continue };
        let radius = mean_radius(wisp, rest);
        let close = (2..rest.count).all(|i| is_near(params, radius, [wisp, &wisps[other]], i));
        wisps[index].close_for = if close { wisp.close_for + dt } else { 0.0 };
    }
}

/// The first part of the other half of a wisp's last split, where that has split again.
fn kin(wisps: &[Wisp], index: usize) -> Option<usize> {
    let wisp = &wisps[index];
    let level = wisp.splits.len().checked_sub(1)?;
    let related = |w: &Wisp| w.splits.get(level) == wisp.splits.last();
    let other = (0..wisps.len()).find(|&k| k != index && related(&wisps[k]))?;
    (wisps[other].depth > wisp.depth).then_some(other)
}

/// Whether two halves are close in place and speed at a particle.
fn is_near(params: &SplitParams, radius: f32, [a, b]: [&Wisp; 2], i: usize) -> bool {
    a.positions[i].distance(b.positions[i]) < params.merge_distance * radius
        && a.velocities[i].distance(b.velocities[i]) < CALM
}

/// Brings the rest radius of a wisp to that of its depth: one that has just been put together of two is
/// still as thin as they were.
fn thicken(wisp: &mut Wisp, params: &SplitParams, dt: f32) {
    // From the parameters of now: they may change while it runs.
    let whole = params.radius_scale.powi(i32::from(wisp.depth));
    let missing = whole - wisp.radius_scale;
    if missing.abs() > super::limits::MERGED {
        wisp.radius_scale -= missing * (-dt / super::limits::THICKEN_SECS).exp_m1();
    } else {
        wisp.radius_scale = whole;
    }
}

/// Closes a split from where it is joined towards the tip: halves that stay close for a while are
/// drawn together, and joined once they are together.
fn close(params: &SplitParams, radius: f32, dt: f32, a: &mut Wisp, b: &mut Wisp) {
    let n = a.positions.len();
    let from = a.joined.max(2) as usize;
    let until = (from..n).find(|&i| !is_near(params, radius, [a, b], i)).unwrap_or(n);
    // One of them may have waited while the other was still in parts.
    let waited = a.close_for.max(b.close_for);
    // From the joint outwards: tips that meet by chance while the middle is apart do not close a split.
    a.close_for = if until > from { waited + dt } else { 0.0 };
    if a.close_for >= params.merge_after && params.merge_distance > 0.0 {
        draw_together(a, b, from..until, dt);
        let together = super::limits::MERGED * radius;
        let apart = |i: &usize| a.positions[*i].distance(b.positions[*i]) > together;
        a.joined = (from..until).find(apart).unwrap_or(until) as u8;
    }
    (b.joined, b.close_for) = (a.joined, a.close_for);
}

/// The joined parts of two halves move as one; momentum is kept, as both weigh the same.
fn hold_together(root: &WispRoot, a: &mut Wisp, b: &mut Wisp) {
    let joined = a.joined as usize;
    if joined <= 2 {
        return;
    }
    mix(a, b, 2..joined, 0.5);
    for wisp in [a, b] {
        // Means of two chains are shorter than either.
        if !root.stretch.is_finite() {
            super::tick::fit_lengths(wisp, root.segment);
        }
        super::planes::compute_planes(wisp);
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

/// How far two halves are apart where they are farthest [m].
fn farthest(a: &Wisp, b: &Wisp) -> f32 {
    a.positions.iter().zip(&b.positions).map(|(p, q)| p.distance(*q)).fold(0.0, f32::max)
}

fn mean_radius(wisp: &Wisp, rest: &HairRest) -> f32 {
    let radii = &rest.roots[wisp.root as usize].radii;
    wisp.radius_scale * radii[2..].iter().sum::<f32>() / (radii.len() - 2) as f32
}

fn pair_mut(wisps: &mut [Wisp], a: usize, b: usize) -> [&mut Wisp; 2] {
    let (low, high) = wisps.split_at_mut(b);
    [&mut low[a], &mut high[0]]
}

/// Brings the given particles of two halves towards their mean.
fn draw_together(a: &mut Wisp, b: &mut Wisp, particles: Range<usize>, dt: f32) {
    mix(a, b, particles, 0.5 * -(-dt / DRAW_SECS).exp_m1());
}

/// Moves everything of the given particles by a share of the way to the other half's; 0.5: both meet.
fn mix(a: &mut Wisp, b: &mut Wisp, particles: Range<usize>, share: f32) {
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
    let samples = a.radii.len() / a.positions.len();
    let fine = particles.start * samples..particles.end * samples;
    let range = || particles.clone();
    vectors(&mut a.positions[range()], &mut b.positions[range()]);
    vectors(&mut a.velocities[range()], &mut b.velocities[range()]);
    numbers(&mut a.radii[fine.clone()], &mut b.radii[fine.clone()]);
    numbers(&mut a.radial_velocities[fine.clone()], &mut b.radial_velocities[fine]);
    numbers(&mut a.twists[range()], &mut b.twists[range()]);
    numbers(&mut a.twist_velocities[range()], &mut b.twist_velocities[range()]);
}

/// Puts two halves back into `a`, which thickens from then on.
fn merge(a: &mut Wisp, b: &Wisp) {
    let middle = |p: &mut Vec3, q: &Vec3| *p = 0.5 * (*p + *q);
    let mean = |p: &mut f32, q: &f32| *p = 0.5 * (*p + *q);
    a.positions.iter_mut().zip(&b.positions).for_each(|(p, q)| middle(p, q));
    a.velocities.iter_mut().zip(&b.velocities).for_each(|(p, q)| middle(p, q));
    a.radii.iter_mut().zip(&b.radii).for_each(|(p, q)| mean(p, q));
    a.radial_velocities.iter_mut().zip(&b.radial_velocities).for_each(|(p, q)| mean(p, q));
    a.twists.iter_mut().zip(&b.twists).for_each(|(p, q)| mean(p, q));
    a.pressures.iter_mut().zip(&b.pressures).for_each(|(p, q)| *p += q);
    a.share += b.share;
    a.splits.pop();
    a.depth -= 1;
    a.path &= !(1 << a.depth);
    a.apart = true;
    a.joined = 0;
    a.close_for = 0.0;
    super::planes::compute_planes(a);
}
