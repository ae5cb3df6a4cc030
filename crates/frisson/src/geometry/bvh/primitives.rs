//! What a tree asks of one box or one triangle.

use glam::{DVec3, Vec3, Vec4};
use obvhs::aabb::Aabb;

use crate::tolerances::geometry as limits;

/// Entry distance of a ray into a box, if it enters before `limit`.
pub(super) fn ray_box(origin: Vec3, direction: Vec3, node: &Aabb, limit: f32) -> Option<f32> {
    // Infinite for axes of zero, which are looked at apart: zero times infinity is not a number.
    let inverse = direction.recip();
    let (low, high) = (Vec3::from(node.min) - origin, Vec3::from(node.max) - origin);
    let (mut enter, mut leave) = (0.0f32, limit);
    for axis in 0..3 {
        if direction[axis] == 0.0 {
            if low[axis] > 0.0 || high[axis] < 0.0 {
                return None;
            }
        } else {
            let (a, b) = (low[axis] * inverse[axis], high[axis] * inverse[axis]);
            enter = enter.max(a.min(b));
            // Widened by two roundings so that faces on the box's border are not lost.
            leave = leave.min(a.max(b) * (1.0 + 4.0 * f32::EPSILON));
        }
    }
    (enter <= leave).then_some(enter)
}

/// Distance and barycentric coordinates of a ray-triangle hit (Möller-Trumbore), both sides. Near an edge both its triangles
/// decide by the same number (`side_of`): through the seams of a mesh, and through its vertices, no ray slips.
pub(super) fn intersect(
    origin: Vec3,
    direction: Vec3,
    [a, b, c]: [Vec3; 3],
) -> Option<(f32, [f32; 3])> {
    let (e1, e2) = (b - a, c - a);
    let p = direction.cross(e2);
    let determinant = e1.dot(p);
    // Only exactly parallel or empty: a threshold would make holes in meshes of small triangles.
    if determinant == 0.0 {
        return None;
    }
    let inverse = 1.0 / determinant;
    let s = origin - a;
    let u = s.dot(p) * inverse;
    let q = s.cross(e1);
    let v = direction.dot(q) * inverse;
    let least = u.min(v).min(1.0 - u - v);
    let inside = if least.abs() > limits::EDGE_DOUBT {
        least > 0.0
    } else {
        passes(origin, direction, [a, b, c])
    };
    inside.then(|| {
        let (u, v) = (u.clamp(0.0, 1.0), v.clamp(0.0, 1.0));
        (e2.dot(q) * inverse, [(1.0 - u - v).max(0.0), u, v])
    })
}

/// Whether a line passes on the same side of all edges of a triangle. Edges count for both their triangles: better hit twice
/// than slipped through.
#[cold]
fn passes(origin: Vec3, direction: Vec3, corners: [Vec3; 3]) -> bool {
    let [a, b, c] = corners.map(|p| p.as_dvec3() - origin.as_dvec3());
    let way = direction.as_dvec3();
    let sides = [side_of(way, a, b), side_of(way, b, c), side_of(way, c, a)];
    sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0)
}

/// On which side of an edge a line passes: seen from the other triangle the same number, with the other sign.
fn side_of(way: DVec3, from: DVec3, to: DVec3) -> f64 {
    way.dot(from.cross(to))
}

/// Squared distances of four points from a box.
pub(super) fn box_distance_sq([x, y, z]: [Vec4; 3], node: &Aabb) -> Vec4 {
    let away = |p: Vec4, low: f32, high: f32| (low - p).max(p - high).max(Vec4::ZERO);
    let x = away(x, node.min.x, node.max.x);
    let y = away(y, node.min.y, node.max.y);
    let z = away(z, node.min.z, node.max.z);
    x * x + y * y + z * z
}

/// Squared distances of four points from a triangle: from its plane above its inside, else from its
/// nearest edge.
pub(super) fn triangle_distance_sq([x, y, z]: [Vec4; 3], [a, b, c]: [Vec3; 3]) -> Vec4 {
    let dot = |v: Vec3, [x, y, z]: [Vec4; 3]| x * v.x + y * v.y + z * v.z;
    let normal = (b - a).cross(c - a);
    let mut nearest = Vec4::INFINITY;
    // All true.
    let mut above = Vec4::ZERO.cmpeq(Vec4::ZERO);
    for (from, to) in [(a, b), (b, c), (c, a)] {
        let edge = to - from;
        let p = [x - from.x, y - from.y, z - from.z];
        above &= dot(normal.cross(edge), p).cmpge(Vec4::ZERO);
        let length_sq = edge.length_squared();
        let inverse = if length_sq > 0.0 { 1.0 / length_sq } else { 0.0 };
        let t = (dot(edge, p) * inverse).clamp(Vec4::ZERO, Vec4::ONE);
        let away = [p[0] - edge.x * t, p[1] - edge.y * t, p[2] - edge.z * t];
        nearest = nearest.min(away[0] * away[0] + away[1] * away[1] + away[2] * away[2]);
    }
    let area_sq = normal.length_squared();
    if area_sq <= 0.0 {
        return nearest;
    }
    let height = dot(normal, [x - a.x, y - a.y, z - a.z]);
    Vec4::select(above, nearest.min(height * height / area_sq), nearest)
}

/// Nearest place of a triangle to a point, with its barycentric coordinates (by Voronoi regions,
/// after C. Ericson, Real-Time Collision Detection, 5.1.5). Degenerate triangles are fine.
#[must_use]
pub fn closest_on_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> (Vec3, [f32; 3]) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, [1.0, 0.0, 0.0]);
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, [0.0, 1.0, 0.0]);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = ratio(d1, d1 - d3);
        return (a + t * ab, [1.0 - t, t, 0.0]);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, [0.0, 0.0, 1.0]);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = ratio(d2, d2 - d6);
        return (a + t * ac, [1.0 - t, 0.0, t]);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = ratio(d4 - d3, (d4 - d3) + (d5 - d6));
        return (b + t * (c - b), [0.0, 1.0 - t, t]);
    }
    let total = va + vb + vc;
    // No area and not near an edge, by rounding: any corner is as good.
    if total <= 0.0 {
        return (a, [1.0, 0.0, 0.0]);
    }
    let (v, w) = (vb / total, vc / total);
    (a + v * ab + w * ac, [1.0 - v - w, v, w])
}

fn ratio(numerator: f32, denominator: f32) -> f32 {
    if denominator > 0.0 { (numerator / denominator).clamp(0.0, 1.0) } else { 0.0 }
}
