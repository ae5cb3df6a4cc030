//! Contact with simple colliders: a band above the surface, Coulomb friction, pinching.

use glam::{DVec3, Quat, Vec3};

use crate::stage::{Collider, ColliderShape};
use crate::tolerances::cloth as limits;

/// A collider at one sub-step, with where it was a sub-step before.
#[derive(Clone, Debug)]
pub struct PosedCollider {
    shape: ColliderShape,
    friction: f64,
    rotation: Quat,
    inverse: Quat,
    translation: DVec3,
    before: (Quat, DVec3),
    turns: bool,
}

impl PosedCollider {
    /// Takes over a collider's shape.
    pub fn new(collider: &Collider, friction: f64) -> Self {
        let mut posed = Self {
            shape: collider.shape.clone(),
            friction,
            rotation: Quat::IDENTITY,
            inverse: Quat::IDENTITY,
            translation: DVec3::ZERO,
            before: (Quat::IDENTITY, DVec3::ZERO),
            turns: false,
        };
        // Twice, so that it has not moved before the first step.
        posed.set(collider, 0.0);
        posed.set(collider, 0.0);
        posed
    }

    /// Moves it to a fraction of the tick.
    pub fn set(&mut self, collider: &Collider, fraction: f64) {
        self.before = (self.rotation, self.translation);
        let (rotation, translation) = collider.pose(fraction as f32);
        self.rotation = rotation;
        self.inverse = rotation.inverse();
        self.translation = translation.as_dvec3();
        self.turns = rotation != Quat::IDENTITY || self.before.0 != Quat::IDENTITY;
    }

    /// Whether a point may be within `reach` of the surface: quick, and never misses a contact.
    #[inline(always)]
    pub fn may_touch(&self, position: DVec3, reach: f64) -> bool {
        may_touch(&self.shape, self.local(position), reach as f32)
    }

    #[inline(always)]
    fn local(&self, position: DVec3) -> Vec3 {
        let offset = (position - self.translation).as_vec3();
        if self.turns { self.inverse * offset } else { offset }
    }

    /// Contact of a point within `reach` of the surface.
    pub fn contact(&self, position: DVec3, reach: f64) -> Option<PlaneContact> {
        let local = self.local(position);
        if !may_touch(&self.shape, local, reach as f32) {
            return None;
        }
        let (distance, normal) = self.shape.signed_distance(local);
        if f64::from(distance) >= reach {
            return None;
        }
        let now = if self.turns { self.rotation * local } else { local };
        let then = if self.turns { self.before.0 * local } else { local };
        let normal = if self.turns { self.rotation * normal } else { normal };
        Some(PlaneContact {
            distance: f64::from(distance),
            normal: normal.as_dvec3(),
            moved: (now - then).as_dvec3() + (self.translation - self.before.1),
            friction: self.friction,
        })
    }
}

/// A cheap test that never misses a contact: exact distances to ellipsoids are dear.
#[inline(always)]
fn may_touch(shape: &ColliderShape, p: Vec3, reach: f32) -> bool {
    match shape {
        ColliderShape::Sphere { center, radius } => {
            p.distance_squared(Vec3::from_array(*center)) < (radius + reach).powi(2)
        }
        ColliderShape::Ellipsoid { center, radii, .. } => {
            let largest = radii.iter().copied().fold(0.0, f32::max);
            p.distance_squared(Vec3::from_array(*center)) < (largest + reach).powi(2)
        }
        _ => true,
    }
}

/// A node near a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneContact {
    /// Signed distance [m].
    pub distance: f64,
    /// Outward unit normal.
    pub normal: DVec3,
    /// How far the surface's material moved in this sub-step [m].
    pub moved: DVec3,
    /// Friction coefficient [-].
    pub friction: f64,
}

/// Resolves the contacts of one node. `thickness` is the height of the band: below half of it a node
/// is lifted at once, above it its approach is slowed, so that small folds are pressed but not ironed out.
///
/// `recovery` is how far a node may be lifted per sub-step beyond stopping its approach: cloth that
/// starts deep inside comes out calmly; `drift` is how far it was moved without speed in this step.
pub fn resolve(
    contacts: &[PlaneContact],
    thickness: f64,
    (recovery, drift): (f64, DVec3),
    previous: &mut DVec3,
    position: &mut DVec3,
) {
    // Pushed out of the one, it would be in the other.
    if let Some((a, b)) = pinch(contacts, thickness) {
        hold_pinched((&a, &b), thickness, recovery, previous, position);
        return;
    }
    for contact in contacts {
        push(contact, thickness, (recovery, drift), previous, position);
    }
}

/// Cloth between two surfaces: midway between them. Each drags it along by friction; while it moves no
/// faster than the one and no slower than the other, they drag it in opposite ways and cancel. So it
/// goes with both where they go together, stays with either where one slides over it, and slips when
/// something pulls harder than they grip.
fn hold_pinched(
    (a, b): (&PlaneContact, &PlaneContact),
    thickness: f64,
    recovery: f64,
    previous: &mut DVec3,
    position: &mut DVec3,
) {
    let middle = (0.5 * (b.distance - a.distance)).clamp(-recovery, recovery);
    let along = |v: DVec3| v.reject_from_normalized(a.normal);
    let (first, second, own) = (along(a.moved), along(b.moved), along(*position - *previous));
    let apart = second - first;
    let share = (own - first).dot(apart) / apart.length_squared().max(f64::MIN_POSITIVE);
    let slide = own - (first + apart * share.clamp(0.0, 1.0));
    let pressed = (thickness - a.distance - b.distance).clamp(0.0, thickness);
    let grip = limits::PINCH_GRIP * a.friction.max(b.friction) * pressed;
    let stopped = slide * (grip / slide.length().max(f64::MIN_POSITIVE)).min(1.0);
    // Across, it goes with the mean of the surfaces; being put midway gives no speed.
    let mean = 0.5 * (a.moved + b.moved).dot(a.normal);
    let across = (*position - *previous).dot(a.normal);
    *position += middle * a.normal - stopped;
    *previous += (middle + across - mean) * a.normal;
}

/// Two surfaces that press from opposite sides and leave no room between them.
fn pinch(contacts: &[PlaneContact], thickness: f64) -> Option<(PlaneContact, PlaneContact)> {
    for (i, a) in contacts.iter().enumerate() {
        for b in &contacts[i + 1..] {
            let opposed = a.normal.dot(b.normal) < limits::PINCH_COS;
            if opposed && a.distance + b.distance < thickness {
                return Some((*a, *b));
            }
        }
    }
    None
}

fn push(
    contact: &PlaneContact,
    thickness: f64,
    (recovery, drift): (f64, DVec3),
    previous: &mut DVec3,
    position: &mut DVec3,
) {
    let approach = -(*position - *previous - contact.moved).dot(contact.normal);
    // What cords moved without speed may have moved it in, too.
    let pulled = (approach - drift.dot(contact.normal)).max(approach).max(0.0);
    // In the upper half of the band an approach is stopped, and cloth is eased up only as fast as the body moves:
    // lifted by a body that stands, against the pull of the cloth around it, it would be fed in every step and
    // never come to rest.
    let most = pulled + contact.moved.length();
    let eased = (limits::BAND_EASE * (thickness - contact.distance)).min(most);
    let wanted = eased.max(0.5 * thickness - contact.distance);
    let lift = wanted.min(pulled + recovery);
    if lift <= 0.0 {
        return;
    }
    *position += lift * contact.normal;
    // No bounce: what lifts a node beyond stopping its approach moves it without giving it speed.
    *previous += (lift - approach.max(0.0)).max(0.0) * contact.normal;
    let slide = *position - *previous - contact.moved;
    let tangent = slide - slide.dot(contact.normal) * contact.normal;
    let length = tangent.length();
    if length > 0.0 {
        // What presses is the approach that was stopped; being eased up does not.
        let pressed = lift.min(approach.max(0.0));
        *position -= tangent * (contact.friction * pressed / length).min(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREELY: (f64, DVec3) = (1.0, DVec3::ZERO);

    fn contact(distance: f64, normal: DVec3) -> PlaneContact {
        PlaneContact { distance, normal, moved: DVec3::ZERO, friction: 0.5 }
    }

    #[test]
    fn the_band_keeps_the_order_of_heights() {
        let lifted = |d: f64| {
            let mut p = DVec3::Y * d;
            resolve(&[contact(d, DVec3::Y)], 0.01, FREELY, &mut p.clone(), &mut p);
            p.y
        };
        let heights: Vec<f64> = (-5..=10).map(|i| lifted(f64::from(i) * 1e-3)).collect();
        assert!(heights.windows(2).all(|w| w[1] >= w[0] - 1e-12), "{heights:?}");
        assert!(heights.iter().all(|h| (0.005 - 1e-12..=0.01 + 1e-12).contains(h)), "{heights:?}");
    }

    #[test]
    fn what_does_not_come_nearer_in_the_band_is_left_alone() {
        for away in [0.0, 0.001] {
            let mut p = DVec3::Y * 0.007;
            let mut before = DVec3::Y * (0.007 - away);
            resolve(&[contact(0.007, DVec3::Y)], 0.01, FREELY, &mut before, &mut p);
            assert_eq!((p.y, before.y), (0.007, 0.007 - away));
        }
        // A slow approach is stopped where it is, a fast one in part.
        let sunk = |speed: f64| {
            let (mut before, mut p) = (DVec3::Y * (0.007 + speed), DVec3::Y * 0.007);
            resolve(&[contact(0.007, DVec3::Y)], 0.01, FREELY, &mut before, &mut p);
            before.y - p.y
        };
        assert!(sunk(1e-5).abs() < 1e-12);
        assert!((sunk(2e-3) - (2e-3 - limits::BAND_EASE * 3e-3)).abs() < 1e-12);
        // A body that moves along below eases it up.
        let mut p = DVec3::Y * 0.007;
        let mut below = contact(0.007, DVec3::Y);
        below.moved = DVec3::X * 1e-4;
        resolve(&[below], 0.01, FREELY, &mut p.clone(), &mut p);
        assert!((p.y - 0.0071).abs() < 1e-12, "{p}");
    }

    #[test]
    fn friction_stops_slow_sliding_and_slows_fast() {
        let slid = |start: f64| {
            let (mut before, mut p) = (DVec3::Y * 0.005, DVec3::new(start, 0.0, 0.0));
            resolve(&[contact(0.0, DVec3::Y)], 0.01, FREELY, &mut before, &mut p);
            p.x
        };
        assert_eq!(slid(0.002), 0.0);
        assert!((slid(0.01) - 0.0075).abs() < 1e-12, "{}", slid(0.01));
    }

    #[test]
    fn a_deep_start_is_brought_out_without_a_kick() {
        let (mut before, mut p) = (DVec3::ZERO, DVec3::ZERO);
        resolve(&[contact(-0.2, DVec3::Y)], 0.01, FREELY, &mut before, &mut p);
        assert!((p.y - 0.205).abs() < 1e-12);
        assert!((p - before).length() < 1e-12, "{}", p - before);
    }

    #[test]
    fn pinched_node_rides_midway_with_the_surfaces() {
        let mut p = DVec3::new(0.0, 0.001, 0.0);
        let mut below = contact(0.001, DVec3::Y);
        let mut above = contact(-0.003, DVec3::NEG_Y);
        below.moved = DVec3::X * 0.002;
        above.moved = DVec3::X * 0.004;
        resolve(&[below, above], 0.01, FREELY, &mut DVec3::ZERO.clone(), &mut p);
        assert!((p - DVec3::new(0.002, -0.001, 0.0)).length() < 1e-12, "with the slower: {p}");
        // Pulled by more than they grip, it slips.
        let mut p = DVec3::new(-0.1, 0.001, 0.0);
        resolve(&[below, above], 0.01, FREELY, &mut DVec3::ZERO.clone(), &mut p);
        let grip = limits::PINCH_GRIP * 0.5 * 0.01;
        assert!((p.x - (-0.1 + grip)).abs() < 1e-12, "{p}");
        // Surfaces that slide past each other leave it where it is, and those that go together take it.
        let mut carried = |first: f64, second: f64| {
            let (mut before, mut p) = (DVec3::ZERO, DVec3::ZERO);
            (below.moved, above.moved) = (DVec3::X * first, DVec3::X * second);
            resolve(&[below, above], 0.01, FREELY, &mut before, &mut p);
            (p - before).x
        };
        assert_eq!(carried(0.003, 0.0), 0.0);
        assert_eq!(carried(0.003, -0.002), 0.0);
        assert!((carried(0.003, 0.003) - 0.003).abs() < 1e-12);
    }
}
