//! Sections of wisps and the test whether a point is inside one.
//!
//! ```text
//!        z1 ________ z2          the plane through the axis p1 p2 and the point,
//!          /        \            on the point's side; z: where it cuts the
//!         /    .p    \           envelope in the planes at both ends
//!       p1 ────────── p2
//! ```

use glam::{Vec2, Vec3};

use super::strands::radius_at;

/// One end of a section: a plane of a wisp.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'a> {
    pub center: Vec3,
    pub normal: Vec3,
    pub across: Vec3,
    pub second: Vec3,
    pub radii: &'a [f32],
}

/// A point found inside a section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Inside {
    /// Place along the axis, 0 to 1.
    pub along: f32,
    /// Place across: 0 on the axis, 1 on the envelope.
    pub outward: f32,
    /// Direction of the point from the axis, in both end planes' axes.
    pub directions: [Vec2; 2],
    /// From the axis towards the point, unit.
    pub normal: Vec3,
}

/// Radius of the envelope in a direction of its plane: a quarter ellipse between two of four samples,
/// else by angle.
pub(super) fn envelope_radius(radii: &[f32], direction: Vec2) -> f32 {
    if radii.len() != 4 {
        return radius_at(radii, direction);
    }
    let a = if direction.x >= 0.0 { radii[0] } else { radii[2] };
    let b = if direction.y >= 0.0 { radii[1] } else { radii[3] };
    let (x, y) = (direction.x * b, direction.y * a);
    let scale = (x * x + y * y).sqrt();
    if scale > 0.0 { a * b * direction.length() / scale } else { 0.0 }
}

/// Whether a point is inside the section between two planes.
pub(super) fn point_in_section(p: Vec3, ends: &[End; 2]) -> Option<Inside> {
    let axis = ends[1].center - ends[0].center;
    let length = axis.length();
    if length <= 0.0 {
        return None;
    }
    let along = axis / length;
    let away = p - ends[0].center;
    let x = along.dot(away);
    let up = away - x * along;
    let y = up.length();
    if y < 1.0e-7 {
        // On the axis: inside between the ends.
        let inside = (0.0..length).contains(&x);
        return inside.then(|| Inside {
            along: x / length,
            outward: 0.0,
            directions: [Vec2::X; 2],
            normal: ends[0].across,
        });
    }
    let up = up / y;
    let across = along.cross(up);
    let mut rims = [Vec2::ZERO; 2];
    let mut directions = [Vec2::ZERO; 2];
    for (k, end) in ends.iter().enumerate() {
        // The line common to the end's plane and the plane of axis and point.
        let line = across.cross(end.normal);
        let line = if line.dot(up) < 0.0 { -line } else { line };
        let line = line.try_normalize()?;
        directions[k] = Vec2::new(line.dot(end.across), line.dot(end.second));
        let rim = envelope_radius(end.radii, directions[k]) * line;
        rims[k] = Vec2::new(along.dot(rim) + k as f32 * length, up.dot(rim));
    }
    let point = Vec2::new(x, y);
    if !in_quad(point, [Vec2::ZERO, Vec2::new(length, 0.0), rims[1], rims[0]]) {
        return None;
    }
    let t = (x / length).clamp(0.0, 1.0);
    let height = (rims[0].y + t * (rims[1].y - rims[0].y)).max(1.0e-7);
    Some(Inside { along: t, outward: (y / height).min(1.0), directions, normal: up })
}

/// Even-odd fill of a quadrilateral, twisted and non-convex ones included: inside exactly one of its
/// two triangles, with half-open edges.
pub(super) fn in_quad(p: Vec2, [a, b, c, d]: [Vec2; 4]) -> bool {
    in_triangle(p, [a, b, c]) != in_triangle(p, [a, c, d])
}

fn in_triangle(p: Vec2, corners: [Vec2; 3]) -> bool {
    let mut inside = false;
    for k in 0..3 {
        let (mut a, mut b) = (corners[k], corners[(k + 1) % 3]);
        if (a.y > p.y) == (b.y > p.y) {
            continue;
        }
        // The same edge seen from both sides must round the same way.
        if (b.y, b.x) < (a.y, a.x) {
            std::mem::swap(&mut a, &mut b);
        }
        let crossing = a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x);
        inside ^= p.x < crossing;
    }
    inside
}

/// Closest places of two segments, as fractions of each.
pub(super) fn closest_on_segments(a: [Vec3; 2], b: [Vec3; 2]) -> (f32, f32) {
    let (d1, d2, r) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (aa, bb) = (d1.length_squared(), d2.length_squared());
    let (ab, c, f) = (d1.dot(d2), d1.dot(r), d2.dot(r));
    let tiny = 1.0e-12;
    if aa < tiny && bb < tiny {
        return (0.0, 0.0);
    }
    if aa < tiny {
        return (0.0, (f / bb).clamp(0.0, 1.0));
    }
    if bb < tiny {
        return ((-c / aa).clamp(0.0, 1.0), 0.0);
    }
    let denominator = aa * bb - ab * ab;
    let s = if denominator > 1.0e-6 * aa * bb {
        ((ab * f - c * bb) / denominator).clamp(0.0, 1.0)
    } else {
        0.5
    };
    let t = (ab * s + f) / bb;
    if t < 0.0 {
        ((-c / aa).clamp(0.0, 1.0), 0.0)
    } else if t > 1.0 {
        (((ab - c) / aa).clamp(0.0, 1.0), 1.0)
    } else {
        (s, t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    /// Even-odd rule by counting crossings of the whole outline.
    fn even_odd(p: Vec2, quad: [Vec2; 4]) -> bool {
        let mut inside = false;
        for k in 0..4 {
            let (a, b) = (quad[k].as_dvec2(), quad[(k + 1) % 4].as_dvec2());
            let p = p.as_dvec2();
            if (a.y > p.y) != (b.y > p.y) {
                inside ^= p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x);
            }
        }
        inside
    }

    #[test]
    fn quads_fill_by_the_even_odd_rule() {
        let mut kinds = [0; 2];
        for trial in 0..400u64 {
            let c = |k| random::signed(8, trial, k) as f32;
            // Corners anywhere: convex, non-convex and twisted quads all come up.
            let quad = [0, 2, 4, 6].map(|k| Vec2::new(c(k), c(k + 1)));
            for i in 0..200u64 {
                let p = Vec2::new(
                    random::signed(9, trial, 2 * i) as f32,
                    random::signed(9, trial, 2 * i + 1) as f32,
                );
                let want = even_odd(p, quad);
                kinds[usize::from(want)] += 1;
                assert_eq!(in_quad(p, quad), want, "{p} {quad:?}");
            }
        }
        assert!(kinds[0] > 1000 && kinds[1] > 1000);
    }

    #[test]
    fn a_straight_round_section_is_a_cylinder() {
        let radii = [0.3; 4];
        let end = |y: f32| End {
            center: Vec3::Y * y,
            normal: Vec3::Y,
            across: Vec3::X,
            second: Vec3::NEG_Z,
            radii: &radii,
        };
        let ends = [end(0.0), end(1.0)];
        for i in 0..5000u64 {
            let c = |k| 1.2 * random::signed(10, i, k) as f32;
            let p = Vec3::new(0.5 * c(0), c(1), 0.5 * c(2));
            let radial = Vec2::new(p.x, p.z).length();
            if (radial - 0.3).abs() < 1e-4 {
                continue;
            }
            let want = (0.0..1.0).contains(&p.y) && radial < 0.3;
            assert_eq!(point_in_section(p, &ends).is_some(), want, "{p}");
        }
        assert!(point_in_section(Vec3::Y * 0.5, &ends).is_some());
        assert!(point_in_section(Vec3::Y * 1.5, &ends).is_none());
    }

    #[test]
    fn closest_places_agree_with_a_search() {
        for i in 0..300u64 {
            let c = |k| random::signed(11, i, k) as f32;
            let v = |k| Vec3::new(c(k), c(k + 1), c(k + 2));
            let (a, b) = ([v(0), v(3)], [v(6), v(9)]);
            let (s, t) = closest_on_segments(a, b);
            let got = a[0].lerp(a[1], s).distance(b[0].lerp(b[1], t));
            let mut best = f32::INFINITY;
            for x in 0..=60 {
                for y in 0..=60 {
                    let (x, y) = (x as f32 / 60.0, y as f32 / 60.0);
                    best = best.min(a[0].lerp(a[1], x).distance(b[0].lerp(b[1], y)));
                }
            }
            assert!(got < best + 1e-4, "{got} {best}");
        }
    }
}
