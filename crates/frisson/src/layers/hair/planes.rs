//! The planes across a wisp and their axes, carried from the root with the least turning.
//!
//! ```text
//!        w_1      w_2
//!    o----|---o----|---o      w_i: bisector of the two segments at particle i
//!         u_i: carried from the root, then turned by the twist
//! ```

use glam::{Vec3, Vec4};

use super::lanes::{Lanes, sin_cos};
use super::state::Wisp;

/// Two unit vectors whose product plus one is less than this have no smallest rotation between them [-].
const OPPOSITE: f32 = 1.0e-5;

/// Shortest vector whose direction counts, and its square [-]: shorter ones are rounding of unit vectors.
const SHORTEST: f32 = 1.0e-9;
const LOST_SQ: f32 = 1.0e-12;

/// Shortest segment that has a direction [m].
const SHORTEST_EDGE: f32 = 1.0e-12;

/// A unit vector across `from`, carried to across `to` by the smallest rotation (both unit).
pub(super) fn transport(across: Vec3, from: Vec3, to: Vec3) -> Vec3 {
    transport_four(Lanes::splat(across), Lanes::splat(from), Lanes::splat(to)).lane(0)
}

/// Recomputes the planes of a wisp from its particles, its root axis and its twist.
pub(super) fn compute_planes(wisp: &mut Wisp) {
    let last = wisp.positions.len() - 1;
    let mut carried = wisp.root_across;
    let mut before = (wisp.positions[1] - wisp.positions[0]).normalize_or(wisp.normals[0]);
    let mut along = before;
    for i in 0..=last {
        let after = if i < last {
            (wisp.positions[i + 1] - wisp.positions[i]).normalize_or(before)
        } else {
            before
        };
        // Folded back on itself: no bisector, keep the last step's.
        let normal = (before + after).try_normalize().unwrap_or(wisp.normals[i]);
        carried = transport(carried, along, normal);
        along = normal;
        wisp.normals[i] = normal;
        let (sine, cosine) = wisp.twists[i].sin_cos();
        wisp.across[i] = cosine * carried + sine * normal.cross(carried);
        before = after;
    }
}

/// The same for up to four wisps at once.
pub(super) fn compute_planes_of_four(wisps: &mut [Wisp]) {
    let [a, b, c, d] = std::array::from_fn(|k| k.min(wisps.len() - 1));
    let last = wisps[0].positions.len() - 1;
    let of = |wisps: &[Wisp], pick: &dyn Fn(&Wisp) -> Vec3| {
        Lanes::from_points([a, b, c, d].map(|k| pick(&wisps[k]).extend(0.0)))
    };
    let mut here = of(wisps, &|w| w.positions[0]);
    let mut carried = of(wisps, &|w| w.root_across);
    let mut before = Lanes::default();
    let mut along = Lanes::default();
    for i in 0..=last {
        let old = of(wisps, &|w| w.normals[i]);
        let after = if i < last {
            let next = of(wisps, &|w| w.positions[i + 1]);
            let edge = next - here;
            here = next;
            // The very first segment has none before it: then the plane of the last tick.
            edge.normalize_or(if i == 0 { old } else { before }, SHORTEST_EDGE)
        } else {
            before
        };
        if i == 0 {
            (before, along) = (after, after);
        }
        // Folded back on itself: no bisector, keep the last step's.
        let normal = (before + after).normalize_or(old, SHORTEST);
        carried = transport_four(carried, along, normal);
        along = normal;
        let twists = Vec4::from_array([a, b, c, d].map(|k| wisps[k].twists[i]));
        let (sine, cosine) = sin_cos(twists);
        let across = carried * cosine + normal.cross(&carried) * sine;
        let (normals, acrosses) = (normal.to_points(), across.to_points());
        for (k, wisp) in wisps.iter_mut().enumerate() {
            wisp.normals[i] = normals[k].truncate();
            wisp.across[i] = acrosses[k].truncate();
        }
        before = after;
    }
}

/// As `transport`, four at once. What is across `from` is turned by as much as `from` is:
/// `u - (from + to) (to . u) / (1 + from . to)`.
pub(super) fn transport_four(across: Lanes, from: Lanes, to: Lanes) -> Lanes {
    let scale = from.dot_each(&to) + 1.0;
    let share = to.dot_each(&across);
    let opposite = scale.cmplt(Vec4::splat(OPPOSITE));
    let turned = across - (from + to) * (share / scale.max(Vec4::splat(OPPOSITE)));
    // Opposite directions: any half turn will do; keep what is across both.
    let turned = Lanes::select(opposite, across - to * share, turned);
    // Squared up anew: rounding of many in a row would let it drift.
    let turned = turned - to * to.dot_each(&turned);
    let lost = turned.length_squared().cmplt(Vec4::splat(LOST_SQ));
    if lost.any() {
        let [a, b, c, d] = to.to_points().map(|p| super::rest::perpendicular(p.truncate()));
        let other = Lanes::new([a, b, c, d].into_iter());
        return Lanes::select(lost, other, turned).normalize_or(other, SHORTEST);
    }
    turned.normalize_or(turned, SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit() -> impl Strategy<Value = Vec3> {
        (-1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0)
            .prop_map(|(x, y, z)| Vec3::new(x, y, z))
            .prop_filter("long enough", |v| v.length() > 0.1)
            .prop_map(Vec3::normalize)
    }

    proptest! {
        #[test]
        fn transport_is_the_smallest_rotation(a in unit(), b in unit()) {
            prop_assume!(a.dot(b) > -0.99);
            let u = super::super::rest::perpendicular(a);
            let want = crate::math::frames::rotation_between(a, b) * u;
            prop_assert!((transport(u, a, b) - want).length() < 1e-3);
        }
    }

    #[test]
    fn four_wisps_at_once_have_the_planes_of_each() {
        use crate::math::random;
        for trial in 0..40u64 {
            let mut wisps: Vec<Wisp> = (0..1 + trial % 4)
                .map(|k| {
                    let c = |i: u64| random::signed(3 + trial, k, i) as f32;
                    let v = |i: u64| Vec3::new(c(i), c(i + 1), c(i + 2));
                    Wisp {
                        positions: (0..12).map(|i| v(3 * i)).collect(),
                        normals: vec![Vec3::X; 12],
                        across: vec![Vec3::Y; 12],
                        twists: (0..12).map(|i| 9.0 * c(50 + i)).collect(),
                        root_across: super::super::rest::perpendicular(
                            (v(3) - v(0)).normalize_or(Vec3::X),
                        ),
                        ..Wisp::default()
                    }
                })
                .collect();
            let mut alone = wisps.clone();
            compute_planes_of_four(&mut wisps);
            for (got, want) in wisps.iter().zip(&mut alone) {
                compute_planes(want);
                for i in 0..12 {
                    assert!(got.normals[i].distance(want.normals[i]) < 1e-5);
                    assert!(got.across[i].distance(want.across[i]) < 1e-3, "{trial} {i}");
                }
            }
        }
    }
}
