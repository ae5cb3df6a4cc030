//! The planes across a wisp and their axes, carried from the root with the least turning.
//!
//! ```text
//!        w_1      w_2
//!    o----|---o----|---o      w_i: bisector of the two segments at particle i
//!         u_i: carried from the root, then turned by the twist
//! ```

use glam::Vec3;

use super::state::Wisp;

/// A unit vector across `from`, carried to across `to` by the smallest rotation (both unit).
pub(super) fn transport(across: Vec3, from: Vec3, to: Vec3) -> Vec3 {
    let sum = from + to;
    let scale = 1.0 + from.dot(to);
    if scale < 1.0e-5 {
        // Opposite directions: any half turn will do; keep what is across both.
        return (across - to * to.dot(across)).normalize_or(super::rest::perpendicular(to));
    }
    let turned = across - sum * (sum.dot(across) / scale) + 2.0 * from.dot(across) * to;
    (turned - to * to.dot(turned)).normalize_or(super::rest::perpendicular(to))
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
}
