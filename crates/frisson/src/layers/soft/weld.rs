//! Welds: places where pieces that were pressed together have become one.
//!
//! ```text
//!      .-----A-----.          A and B touch along the whole line, and were pressed at x:
//!      |           |          there, and nowhere else, their fields add up, by a weight that
//!      '==(--x--)==='         is 1 within the weld's radius and 0 beyond twice of it
//!      |           |
//!      '-----B-----'
//! ```
//!
//! A weld begins where two territories press on each other with more than the threshold, and takes
//! hold while they do; let go too early, it heals off again. It is carried along by the material on
//! both sides, and ends when one of them is no longer there.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::contact::PairForce;
use super::fracture::Components;
use super::primitive_fields::PrimitiveFields;
use super::rest::{PrimitiveRest, SoftRest};
use super::sample::Territory;
use super::state::SoftState;
use super::step::Given;
use crate::tolerances::soft as tolerances;

/// A place where two pieces become one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weld {
    /// The primitive of each piece that is strongest there.
    pub pair: (u32, u32),
    /// Where [m].
    pub place: DVec3,
    /// Radius within which it is as strong as its weight [m]; beyond twice of it there is nothing.
    pub radius: f64,
    /// How far it has come, 0 to 1 [-].
    pub weight: f64,
    /// Time it takes [s].
    pub seconds: f64,
    /// How far the bodies on both sides have moved against each other since [m].
    pub stretch: DVec3,
}

/// A weld as fields see it.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// The groups it joins, the smaller first.
    pub groups: (u32, u32),
    /// Where [m].
    pub place: DVec3,
    /// Radius [m].
    pub radius: f64,
    /// How far it has come, 0 to 1 [-].
    pub weight: f64,
}

/// Fall of a weld's weight with the distance in radii, and its derivative.
#[must_use]
#[inline]
pub fn weld_shape(s: f64) -> (f64, f64) {
    if s <= 1.0 {
        return (1.0, 0.0);
    }
    let u = 2.0 - s;
    if u <= 0.0 { (0.0, 0.0) } else { (u * u * (3.0 - 2.0 * u), -6.0 * u * (1.0 - u)) }
}

/// How far two groups blend at a place, from 0 to 1, and the gradient of that [1/m]: what the spots
/// leave apart is the product of what each does.
#[must_use]
pub fn weld_weight<'a>(
    spots: impl Iterator<Item = &'a Spot>,
    groups: (u32, u32),
    at: DVec3,
) -> (f64, DVec3) {
    let groups = (groups.0.min(groups.1), groups.0.max(groups.1));
    let (mut apart, mut way) = (1.0, DVec3::ZERO);
    for spot in spots.filter(|s| s.groups == groups) {
        let away = at - spot.place;
        let distance = away.length();
        let (shape, slope) = weld_shape(distance / spot.radius);
        let (weight, slope) = (spot.weight * shape, spot.weight * slope / spot.radius);
        way = way * (1.0 - weight) + apart * slope / distance.max(f64::MIN_POSITIVE) * away;
        apart *= 1.0 - weight;
    }
    (1.0 - apart, way)
}

/// How far two primitives blend half-way between them, from 0 to 1; by the territory of the first.
pub fn blend_weight(fields: &PrimitiveFields, territory: &Territory, a: usize, b: usize) -> f64 {
    if fields.linked(a, b) {
        return 1.0;
    }
    let groups = (fields.primitives[a].group, fields.primitives[b].group);
    let spots = territory.spots();
    if groups.0 == groups.1 || spots.is_empty() {
        return 0.0;
    }
    // Half-way, where the border between the two would be: a weld elsewhere does not join them.
    let at = 0.5 * (fields.middle(a) + fields.middle(b));
    weld_weight(spots.iter().map(|&s| &fields.spots[s as usize]), groups, at).0
}

impl SoftState {
    /// The welds as fields see them.
    pub fn spots(&self) -> impl Iterator<Item = Spot> + '_ {
        self.welds.iter().map(|w| {
            let (a, b) = (self.groups[w.pair.0 as usize], self.groups[w.pair.1 as usize]);
            let (place, radius, weight) = (w.place, w.radius, w.weight);
            Spot { groups: (a.min(b), a.max(b)), place, radius, weight }
        })
    }

    /// Number of pieces: groups, those that are welded counted as one.
    #[must_use]
    pub fn piece_count(&self) -> usize {
        let mut pieces = Components::default();
        pieces.reset(self.groups.len());
        for w in self.welds.iter().filter(|w| w.weight >= 1.0) {
            pieces.join(self.groups[w.pair.0 as usize], self.groups[w.pair.1 as usize]);
        }
        let first = |&(i, g): &(usize, &u32)| *g == i as u32 && pieces.root(*g) == *g;
        self.groups.iter().enumerate().filter(first).count()
    }
}

/// Carries the welds along, begins new ones where territories press hard enough, and lets all of them
/// take hold or heal off. `ways`: whether each takes hold (1), heals off (-1) or stays.
pub(super) fn update_welds(
    given: Given<'_>,
    state: &mut SoftState,
    (fields, territories): (&PrimitiveFields, &[Territory]),
    pairs: &[PairForce],
    ways: &mut Vec<f64>,
    dt: f64,
) {
    let mut welds = std::mem::take(&mut state.welds);
    welds.retain_mut(|weld| carry(given.rest, fields, territories, state, weld, dt));
    // What is neither pressed nor held heals off; welds that have taken hold stay.
    let healing = |w: &Weld| if w.weight < 1.0 { -1.0 } else { 0.0 };
    ways.clear();
    ways.extend(welds.iter().map(healing));
    for pair in pairs {
        if let Some(pressing) = find_pressing(given, &state.groups, pair) {
            press(&pressing, &state.groups, &mut welds, ways, dt);
        }
    }
    for (weld, way) in welds.iter_mut().zip(&*ways) {
        let share = if weld.seconds > 0.0 { dt / weld.seconds } else { 1.0 };
        weld.weight = (weld.weight + way * share).min(1.0);
    }
    // Healed off.
    welds.retain(|w| w.weight > 0.0);
    state.welds = welds;
}

/// Two territories that press on each other hard enough to matter to a weld.
struct Pressing {
    pair: (u32, u32),
    place: DVec3,
    radius: f64,
    /// Whether they press hard enough to fuse, and not only to hold.
    fuses: bool,
    seconds: f64,
}

fn find_pressing(
    Given { params, rest }: Given<'_>,
    groups: &[u32],
    p: &PairForce,
) -> Option<Pressing> {
    let (a, b) = (p.pair.0 as usize, p.pair.1 as usize);
    let object = |i: usize| rest.object_of(i, params);
    // The harder to fuse of the two decides.
    let threshold = object(a).fuse?.max(object(b).fuse?);
    // In a graph it is given who blends with whom.
    let free = |i: usize| rest.primitives[i].links.is_none();
    let apart = groups[a] != groups[b];
    if !apart || !free(a) || !free(b) || p.force <= tolerances::WELD_HOLDS * threshold {
        return None;
    }
    Some(Pressing {
        pair: p.pair,
        place: p.place / p.force,
        radius: tolerances::WELD_SPREAD * (p.area / std::f64::consts::PI).sqrt(),
        fuses: p.force > threshold,
        seconds: object(a).fuse_time.max(object(b).fuse_time),
    })
}

/// Lets a pressing hold, widen or begin a weld.
fn press(p: &Pressing, groups: &[u32], welds: &mut Vec<Weld>, ways: &mut Vec<f64>, dt: f64) {
    match nearest(welds, groups, p) {
        Some(k) if !p.fuses => ways[k] = ways[k].max(0.0),
        Some(k) => {
            ways[k] = 1.0;
            // A contact that has grown is fused over its new width as slowly as over the old one.
            let wider = (p.radius - welds[k].radius).max(0.0);
            welds[k].radius += wider * (dt / p.seconds.max(dt)).min(1.0);
        }
        None if p.fuses => {
            let Pressing { pair, place, radius, seconds, .. } = *p;
            welds.push(Weld { pair, place, radius, weight: 0.0, seconds, stretch: DVec3::ZERO });
            ways.push(1.0);
        }
        None => {}
    }
}

/// Holds bodies together at their welds, as stiff as their coats are. Particles of doughs have bonds.
pub fn apply_welds(rest: &SoftRest, state: &mut SoftState, damping: f64) {
    let (welds, bodies) = (&state.welds, &mut state.bodies);
    for weld in welds {
        let of = |i: u32| &rest.primitives[i as usize];
        let (a, b) = (of(weld.pair.0), of(weld.pair.1));
        let loose = |p: &PrimitiveRest| rest.objects[p.object].is_dough;
        if loose(a) && loose(b) {
            continue;
        }
        // The softer side gives.
        let stiffness = a.profile.stiffness.min(b.profile.stiffness);
        let reach = a.profile.thickness.min(b.profile.thickness);
        let area = weld.weight * std::f64::consts::PI * weld.radius.min(reach).powi(2);
        let mass = |p: &PrimitiveRest| rest.bodies[p.body].inverse_mass;
        // Two keyed bodies have no mass to speak of, and do not feel it.
        let pliancy = (mass(a) + mass(b)).max(tolerances::LEAST_PLIANCY);
        let critical = 2.0 * (stiffness * area / pliancy).sqrt();
        let parting =
            bodies[b.body].velocity_at(weld.place) - bodies[a.body].velocity_at(weld.place);
        let pull = stiffness * area * weld.stretch + damping * critical * parting;
        bodies[a.body].push(pull, weld.place);
        bodies[b.body].push(-pull, weld.place);
    }
}

/// The weld of the same pieces that a pressing belongs to, if there is one.
fn nearest(welds: &[Weld], groups: &[u32], p: &Pressing) -> Option<usize> {
    let groups_of = |pair: (u32, u32)| {
        let (a, b) = (groups[pair.0 as usize], groups[pair.1 as usize]);
        (a.min(b), a.max(b))
    };
    let wanted = groups_of(p.pair);
    let mut best = (f64::INFINITY, None);
    for (k, weld) in welds.iter().enumerate().filter(|(_, w)| groups_of(w.pair) == wanted) {
        let distance = weld.place.distance(p.place);
        if distance < best.0 && distance < tolerances::WELD_APART * weld.radius.max(p.radius) {
            best = (distance, Some(k));
        }
    }
    best.1
}

/// Moves a weld with the material on both sides and onto the surface between them; false when one of
/// them is not there any more.
fn carry(
    rest: &SoftRest,
    fields: &PrimitiveFields,
    territories: &[Territory],
    state: &SoftState,
    weld: &mut Weld,
    dt: f64,
) -> bool {
    let velocity = |i: u32| state.bodies[rest.primitives[i as usize].body].velocity_at(weld.place);
    let (va, vb) = (velocity(weld.pair.0), velocity(weld.pair.1));
    weld.place += 0.5 * dt * (va + vb);
    weld.stretch += dt * (vb - va);
    let side = |i: u32| {
        let group = state.groups[i as usize];
        let (mut sum, mut best) = (0.0, (0.0, i));
        for &m in territories[i as usize].near() {
            if state.groups[m as usize] == group {
                let value = fields.value_of(m as usize, weld.place);
                sum += value;
                if value > best.0 {
                    best = (value, m);
                }
            }
        }
        (sum, best.1)
    };
    let ((sum_a, a), (sum_b, b)) = (side(weld.pair.0), side(weld.pair.1));
    // One side has gone, or both have become one piece by another way: then there is nothing to join.
    if sum_a <= 0.0 || sum_b <= 0.0 || state.groups[a as usize] == state.groups[b as usize] {
        return false;
    }
    // Whoever is strongest there now: material flows past a weld.
    weld.pair = (a, b);
    let slope = |i: u32| fields.primitives[i as usize].profile.stiffness;
    // Half of what a linear field would ask for: fields of two sides fall together and it must not overshoot.
    let step = 0.5 * (sum_a - sum_b) / (slope(a) + slope(b));
    let towards = (fields.middle(b as usize) - fields.middle(a as usize)).normalize_or_zero();
    let most = tolerances::WELD_DRIFT * weld.radius;
    weld.place += towards * step.clamp(-most, most);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weld_has_the_gradient_of_its_weight() {
        let spot =
            |x: f64, weight: f64| Spot { groups: (0, 3), place: DVec3::X * x, radius: 0.3, weight };
        let spots = [spot(0.0, 1.0), spot(0.4, 0.7), spot(0.7, 0.3)];
        let weight = |at: DVec3| weld_weight(spots.iter(), (3, 0), at);
        assert_eq!(weight(DVec3::X * 0.1).0, 1.0);
        assert_eq!(weight(DVec3::X * -0.61).0, 0.0);
        assert_eq!(weld_weight(spots.iter(), (0, 1), DVec3::ZERO).0, 0.0);
        for i in 0..40 {
            let at = DVec3::new(0.04 * f64::from(i) - 0.5, 0.35, 0.1);
            let (value, gradient) = weight(at);
            assert!((0.0..=1.0).contains(&value));
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let difference = (weight(at + 1e-6 * axis).0 - weight(at - 1e-6 * axis).0) / 2e-6;
                assert!((difference - gradient.dot(axis)).abs() < 1e-4, "{at}");
            }
        }
    }
}
