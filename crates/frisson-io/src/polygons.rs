//! Polygons into triangles, for readers of files that have them.

use glam::{Vec2, Vec3};

/// Triangles of a polygon, as indices of its corners, turning as it does. Flat convex and concave
/// polygons come out without overlap; what cannot be cut so becomes a fan.
pub(crate) fn triangulate(corners: &[Vec3], out: &mut Vec<[usize; 3]>) {
    match corners.len() {
        0..=2 => {}
        3 => out.push([0, 1, 2]),
        4 => {
            let normal = |a: usize, b: usize, c: usize| {
                (corners[b] - corners[a]).cross(corners[c] - corners[a])
            };
            // The other diagonal where this one lies outside a concave corner.
            let folded = normal(0, 1, 2).dot(normal(0, 2, 3)) < 0.0;
            if folded && normal(1, 2, 3).dot(normal(1, 3, 0)) > 0.0 {
                out.extend([[1, 2, 3], [1, 3, 0]]);
            } else {
                out.extend([[0, 1, 2], [0, 2, 3]]);
            }
        }
        _ => clip_ears(corners, out),
    }
}

/// Corners above this many are cut as a fan: clipping takes time with their square.
const MOST_CLIPPED: usize = 1024;

fn clip_ears(corners: &[Vec3], out: &mut Vec<[usize; 3]>) {
    let flat = flatten(corners);
    let mut left: Vec<usize> = (0..corners.len()).collect();
    while left.len() > 3 && corners.len() <= MOST_CLIPPED {
        let count = left.len();
        let ear = (0..count).find(|&k| {
            let three = [left[(k + count - 1) % count], left[k], left[(k + 1) % count]];
            let [a, b, c] = three.map(|i| flat[i]);
            (b - a).perp_dot(c - a) > 0.0
                && left.iter().all(|&i| three.contains(&i) || !inside(flat[i], a, b, c))
        });
        // Crossing or flat: what is left becomes a fan.
        let Some(k) = ear else { break };
        out.push([left[(k + count - 1) % count], left[k], left[(k + 1) % count]]);
        left.remove(k);
    }
    for k in 1..left.len() - 1 {
        out.push([left[0], left[k], left[k + 1]]);
    }
}

/// The corners in the plane they turn in.
fn flatten(corners: &[Vec3]) -> Vec<Vec2> {
    let count = corners.len();
    let normal = (0..count).fold(Vec3::ZERO, |sum, k| {
        sum + (corners[k] - corners[0]).cross(corners[(k + 1) % count] - corners[0])
    });
    let normal = normal.try_normalize().unwrap_or(Vec3::Z);
    let (u, v) = normal.any_orthonormal_pair();
    corners.iter().map(|&p| Vec2::new((p - corners[0]).dot(u), (p - corners[0]).dot(v))).collect()
}

fn inside(p: Vec2, a: Vec2, b: Vec2, c: Vec2) -> bool {
    let side = |from: Vec2, to: Vec2| (to - from).perp_dot(p - from) >= 0.0;
    side(a, b) && side(b, c) && side(c, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(corners: &[Vec3]) -> f32 {
        let mut triangles = Vec::new();
        triangulate(corners, &mut triangles);
        assert_eq!(triangles.len(), corners.len() - 2);
        let one = |&[a, b, c]: &[usize; 3]| {
            let n = (corners[b] - corners[a]).cross(corners[c] - corners[a]);
            assert!(n.z >= 0.0, "a triangle is turned round");
            0.5 * n.length()
        };
        triangles.iter().map(one).sum()
    }

    #[test]
    fn concave_polygons_keep_their_area() {
        let at = |points: &[(f32, f32)]| -> Vec<Vec3> {
            points.iter().map(|&(x, y)| Vec3::new(x, y, 0.0)).collect()
        };
        assert!((area(&at(&[(0., 0.), (2., 0.), (2., 1.), (0., 1.)])) - 2.0).abs() < 1e-6);
        // An arrow head, whose first diagonal lies outside.
        assert!((area(&at(&[(0., 0.), (2., -1.), (0.5, 0.), (2., 1.)])) - 0.5).abs() < 1e-6);
        // A comb.
        let comb = [(0., 0.), (5., 0.), (5., 2.), (4., 2.), (4., 1.), (2., 1.), (2., 2.), (0., 2.)];
        assert!((area(&at(&comb)) - 8.0).abs() < 1e-6);
    }
}
