//! Triangles around points of a sphere: their convex hull.

use glam::DVec3;

use crate::math::random;
use crate::tolerances;

/// The convex hull of points of the unit sphere, outwards: closed, with every point as a corner.
///
/// Points are put in one by one (O(n²), for some hundreds). They are moved by a millionth for it, so
/// that rings of points, which lie in one plane, are triangulated one way or the other and not both.
/// Fewer than four points, or points all in one plane, have none.
#[must_use]
pub fn wrap_sphere(points: &[DVec3]) -> Vec<[u32; 3]> {
    let moved = |(i, p): (usize, &DVec3)| {
        let by = |k: u64| tolerances::geometry::HULL_JITTER * random::signed(1, i as u64, k);
        *p + DVec3::new(by(0), by(1), by(2))
    };
    let points: Vec<DVec3> = points.iter().enumerate().map(moved).collect();
    let Some(start) = first_four(&points) else { return Vec::new() };
    let [a, b, c, d] = start;
    let mut faces = vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]];
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for p in (0..points.len() as u32).filter(|p| !start.contains(p)) {
        edges.clear();
        faces.retain(|f| {
            let seen = height(&points, *f, p) > 0.0;
            if seen {
                edges.extend([(f[0], f[1]), (f[1], f[2]), (f[2], f[0])]);
            }
            !seen
        });
        // Sorted, so that the rim is found by search and the faces come in one order.
        edges.sort_unstable();
        // The rim of what the point sees: edges that only one of the removed faces had.
        let rim = edges.iter().filter(|(a, b)| edges.binary_search(&(*b, *a)).is_err());
        faces.extend(rim.map(|&(a, b)| [a, b, p]));
    }
    faces
}

/// Six times the volume of the tetrahedron over a face; positive outside.
fn height(points: &[DVec3], [a, b, c]: [u32; 3], p: u32) -> f64 {
    let [a, b, c, p] = [a, b, c, p].map(|i| points[i as usize]);
    (b - a).cross(c - a).dot(p - a)
}

/// A tetrahedron with volume to begin with; the fourth corner is below the first three.
fn first_four(points: &[DVec3]) -> Option<[u32; 4]> {
    let furthest = |distance: &dyn Fn(DVec3) -> f64| {
        let all = points.iter().enumerate().map(|(i, p)| (i, distance(*p)));
        all.fold((0, 0.0), |best, now| if now.1 > best.1 { now } else { best })
    };
    let a = *points.first()?;
    // As large as it gets at each step: a thin first tetrahedron would leave the signs of the heights to rounding.
    let (b, length) = furthest(&|p| p.distance(a));
    let along = points[b] - a;
    let (c, width) = furthest(&|p| (p - a).cross(along).length());
    let normal = along.cross(points[c] - a);
    let (d, depth) = furthest(&|p| normal.dot(p - a).abs());
    if length * width * depth <= tolerances::geometry::LEAST_HULL {
        return None;
    }
    let [a, b, c, d] = [0, b, c, d].map(|i| i as u32);
    Some(if height(points, [a, b, c], d) < 0.0 { [a, b, c, d] } else { [a, c, b, d] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_a_corner_of_a_closed_convex_hull() {
        let ring = |n: u32, height: f64| {
            (0..n).map(move |i| {
                let (s, c) = (f64::from(i) / f64::from(n) * std::f64::consts::TAU).sin_cos();
                DVec3::new(c, height, s).normalize()
            })
        };
        // Rings in planes, a pole, and points anywhere.
        let anywhere = (0..60).map(|i| {
            let c = |k| random::signed(7, i, k);
            DVec3::new(c(0), c(1), c(2)).normalize()
        });
        let points: Vec<DVec3> =
            ring(12, 0.5).chain(ring(12, -0.5)).chain([DVec3::Y]).chain(anywhere).collect();
        let faces = wrap_sphere(&points);
        // Euler: a triangulated sphere has 2 n - 4 faces.
        assert_eq!(faces.len(), 2 * points.len() - 4);
        let mut edges: Vec<(u32, u32)> =
            faces.iter().flat_map(|f| [(f[0], f[1]), (f[1], f[2]), (f[2], f[0])]).collect();
        edges.sort_unstable();
        edges.windows(2).for_each(|w| assert_ne!(w[0], w[1]));
        assert!(edges.iter().all(|(a, b)| edges.binary_search(&(*b, *a)).is_ok()));
        for f in &faces {
            let above = |p: u32| height(&points, *f, p) > 1e-5;
            assert!(!(0..points.len() as u32).any(above));
        }
        assert!(wrap_sphere(&points[..3]).is_empty());
        assert!(wrap_sphere(&[]).is_empty());
    }
}
