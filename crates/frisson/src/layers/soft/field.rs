//! Fields: how a primitive's pressure falls with the distance to it.
//!
//! ```text
//!  f
//!  |\            slope -k at the surface: the stiffness
//!  | \
//!  c--\-.
//!  |   \ `-.__
//!  +----e------R--- r
//! ```

use glam::DVec3;

/// Thickness, stiffness, support of a primitive, with the layer's iso-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldProfile {
    /// Distance of the surface from the primitive when it is alone [m].
    pub thickness: f64,
    /// Distance beyond which the field is zero [m].
    pub support: f64,
    /// Slope of the field at the surface [N/m³].
    pub stiffness: f64,
    /// Growth of the stiffness with compression [-]; 0 is linear elasticity.
    pub hardening: f64,
    /// Iso-value: the pressure at which the surface is [Pa].
    pub level: f64,
}

impl FieldProfile {
    /// Field at a distance [Pa].
    #[must_use]
    pub fn value(&self, r: f64) -> f64 {
        self.value_and_slope(r).0
    }

    /// Field [Pa] and its derivative [N/m³] at a distance.
    ///
    /// Inside, `c + k (e - r)` and `q k (e - r)² / 2e` more; this also holds for negative arguments,
    /// which a thickened coat meets near its skeleton. Outside, with `t = (r - e) / (R - e)` and
    /// `p = k (R - e) / c`, the Hermite cubic of slopes `-k` and 0 as long as it decreases (`p <= 3`),
    /// then `c (1 - t)^p`.
    #[must_use]
    #[inline]
    pub fn value_and_slope(&self, r: f64) -> (f64, f64) {
        let (e, c, k) = (self.thickness, self.level, self.stiffness);
        if r <= e {
            let depth = e - r;
            let more = self.hardening * k * depth / e;
            return (c + depth * (k + 0.5 * more), -k - more);
        }
        let width = self.support - e;
        let t = (r - e) / width;
        if t >= 1.0 {
            return (0.0, 0.0);
        }
        let p = k * width / c;
        if p <= 3.0 {
            // (1 - t)² taken out: never negative, not even by rounding.
            let value = (1.0 - t) * (1.0 - t) * (1.0 + 2.0 * t - p * t);
            let slope = 6.0 * t * (t - 1.0) - p * (3.0 * t - 1.0) * (t - 1.0);
            (c * value, c * slope / width)
        } else {
            let power = (1.0 - t).powf(p - 1.0);
            (c * power * (1.0 - t), -k * power)
        }
    }
}

/// Width of the zone beside a contact in which a coat bulges, as a share of the level [-].
pub const BULGE_ZONE: f64 = 0.8;

/// Shape of a bulge over that zone: 0 at the contact and at the zone's end, with no slope at either, so
/// that the surface stays smooth; 1 in the middle. And its derivative.
#[must_use]
pub fn bulge_shape(s: f64) -> (f64, f64) {
    if !(0.0..1.0).contains(&s) {
        return (0.0, 0.0);
    }
    let u = s * (1.0 - s);
    (16.0 * u * u, 32.0 * u * (1.0 - 2.0 * s))
}

/// What a primitive is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One point.
    Point,
    /// Two or more points joined by straight lines.
    Polyline,
    /// A filled triangle.
    Triangle,
}

/// The point of a primitive closest to a place.
#[must_use]
#[inline]
pub fn closest(kind: Kind, points: &[DVec3], p: DVec3) -> DVec3 {
    match kind {
        Kind::Point => points[0],
        Kind::Polyline => closest_on_polyline(points, p),
        Kind::Triangle => closest_on_triangle([points[0], points[1], points[2]], p),
    }
}

#[inline]
fn closest_on_segment(a: DVec3, b: DVec3, p: DVec3) -> DVec3 {
    let along = b - a;
    let length_sq = along.length_squared();
    // Two joints may come to lie in one place.
    if length_sq <= 0.0 {
        return a;
    }
    a + along * (along.dot(p - a) / length_sq).clamp(0.0, 1.0)
}

fn closest_on_polyline(points: &[DVec3], p: DVec3) -> DVec3 {
    let mut best = points[0];
    let mut best_sq = f64::INFINITY;
    for pair in points.windows(2) {
        let q = closest_on_segment(pair[0], pair[1], p);
        let distance_sq = q.distance_squared(p);
        if distance_sq < best_sq {
            (best, best_sq) = (q, distance_sq);
        }
    }
    best
}

/// By the signs of the barycentric coordinates (C. Ericson, *Real-Time Collision Detection*, 5.1.5).
fn closest_on_triangle([a, b, c]: [DVec3; 3], p: DVec3) -> DVec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    if va > 0.0 && vb > 0.0 && vc > 0.0 {
        return a + (ab * vb + ac * vc) / (va + vb + vc);
    }
    // Outside the face all three edges are asked: which one is nearest the signs alone do not say for needles.
    let on_edges = [(a, b), (b, c), (c, a)].map(|(u, v)| closest_on_segment(u, v, p));
    let nearer = |u: DVec3, v: DVec3| {
        if v.distance_squared(p) < u.distance_squared(p) { v } else { u }
    };
    nearer(nearer(on_edges[0], on_edges[1]), on_edges[2])
}

/// Distance of two primitives, or any distance below `enough` once there is one.
#[must_use]
pub fn gap(kind_a: Kind, a: &[DVec3], kind_b: Kind, b: &[DVec3], enough: f64) -> f64 {
    // Alternating projections on convex pieces converge to the closest pair; bent ones may have
    // several places to begin.
    let mut least = f64::INFINITY;
    for &start in [b.first(), b.last()].into_iter().flatten() {
        let (mut q, mut last) = (start, f64::INFINITY);
        // Parallel sticks converge at once, skew ones by a factor a round; the first below `enough` ends it.
        for _ in 0..16 {
            let p = closest(kind_a, a, q);
            q = closest(kind_b, b, p);
            let distance = p.distance(q);
            least = least.min(distance);
            if least < enough || distance > last * (1.0 - 1e-6) {
                break;
            }
            last = distance;
        }
        if least < enough {
            break;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn fields_keep_their_promises(
            p in 0.1f64..20.0, e in 0.01f64..2.0, wide in 0.2f64..4.0, q in 0.0f64..3.0,
        ) {
            let (c, support) = (1000.0, e * (1.0 + wide));
            let k = p * c / (support - e);
            let profile = FieldProfile { thickness: e, support, stiffness: k, hardening: q, level: c };
            prop_assert!((profile.value(e) - c).abs() < 1e-9 * c);
            prop_assert!((profile.value_and_slope(e).1 + k).abs() < 1e-9 * k);
            let tiny = 1e-7 * (support - e);
            prop_assert!((profile.value_and_slope(e + tiny).1 + k).abs() < 1e-4 * k);
            prop_assert_eq!(profile.value(support), 0.0);
            prop_assert_eq!(profile.value(3.0 * support), 0.0);
            let near = profile.value_and_slope(support - tiny);
            // The power family of p just above 3 still has a flat end.
            prop_assert!(near.0 < 1e-6 * c && near.1.abs() < 1e-3 * k);
            let mut last = f64::INFINITY;
            for i in -50..=110 {
                let r = support * f64::from(i) / 100.0;
                let (value, slope) = profile.value_and_slope(r);
                prop_assert!(value < last || (value == 0.0 && last == 0.0), "rises at {}", r);
                last = value;
                let h = 1e-6 * e;
                let difference = (profile.value(r + h) - profile.value(r - h)) / (2.0 * h);
                prop_assert!((difference - slope).abs() < 1e-3 * k.max(slope.abs()), "slope at {}", r);
            }
        }

        #[test]
        fn no_point_of_a_triangle_is_closer(
            v in proptest::collection::vec(-1.0f64..1.0, 12), u in 0.0f64..1.0, w in 0.0f64..1.0,
        ) {
            let at = |i: usize| DVec3::new(v[3 * i], v[3 * i + 1], v[3 * i + 2]);
            let points = [at(0), at(1), at(2)];
            let q = closest(Kind::Triangle, &points, at(3));
            let (u, w) = if u + w > 1.0 { (1.0 - u, 1.0 - w) } else { (u, w) };
            let any = points[0] + u * (points[1] - points[0]) + w * (points[2] - points[0]);
            prop_assert!(q.distance(at(3)) <= any.distance(at(3)) + 1e-9);
        }
    }
}
