//! Rays, closest points and overlaps against triangles, on a tree that is refitted as they move.
//!
//! Answers do not depend on the shape of the tree: among equal distances the lowest triangle wins.
//! A tree that was refitted many times and one built afresh give the same bits.

use std::cell::Cell;

use glam::{BVec4A, Vec3, Vec3A, Vec4};
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::builder::build_bvh2;
use obvhs::{Boundable, BvhBuildParams};

use super::Bounds;
use crate::tolerances::{self, geometry as limits};

/// A triangle hit by a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// Index of the triangle.
    pub triangle: u32,
    /// Distance along the ray, in lengths of its direction.
    pub distance: f32,
    /// Weights of the triangle's corners.
    pub barycentric: [f32; 3],
}

/// The place on a mesh nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint {
    /// Index of the triangle.
    pub triangle: u32,
    /// The place [m].
    pub point: Vec3,
    /// Weights of the triangle's corners.
    pub barycentric: [f32; 3],
    /// Distance [m].
    pub distance: f32,
}

/// One ray may graze an edge, so that three vote. No axis of a modelled body is parallel to them.
const WAYS_OUT: [Vec3; 3] = [
    Vec3::new(0.137, 0.971, 0.053),
    Vec3::new(0.953, 0.131, -0.297),
    Vec3::new(-0.317, 0.211, -0.929),
];

/// A tree over the triangles of one mesh.
#[derive(Clone, Default)]
pub struct TriangleBvh {
    tree: Bvh2,
    triangles: Vec<[u32; 3]>,
    corners: Vec<[Vec3; 3]>,
}

impl std::fmt::Debug for TriangleBvh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TriangleBvh({} triangles)", self.triangles.len())
    }
}

struct Corners([Vec3; 3]);

impl Boundable for Corners {
    fn aabb(&self) -> Aabb {
        aabb_of(&self.0)
    }
}

fn aabb_of([a, b, c]: &[Vec3; 3]) -> Aabb {
    let (low, high) = (a.min(*b).min(*c), a.max(*b).max(*c));
    Aabb::new(Vec3A::from(low), Vec3A::from(high))
}

impl TriangleBvh {
    /// Builds the tree. Positions must be finite.
    #[must_use]
    pub fn build(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let corners: Vec<[Vec3; 3]> =
            triangles.iter().map(|t| t.map(|v| positions[v as usize])).collect();
        if triangles.is_empty() {
            return Self::default();
        }
        let boxes: Vec<Corners> = corners.iter().map(|&c| Corners(c)).collect();
        let mut ignored = std::time::Duration::ZERO;
        let mut tree = build_bvh2(&boxes, BvhBuildParams::fast_build(), &mut ignored);
        // Parents before children: a backward pass over the nodes refits the tree.
        tree.reorder_in_stack_traversal_order();
        Self { tree, triangles: triangles.to_vec(), corners }
    }

    /// Moves the triangles to new positions and refits the boxes.
    pub fn refit(&mut self, positions: &[Vec3]) {
        for (corners, t) in self.corners.iter_mut().zip(&self.triangles) {
            *corners = t.map(|v| positions[v as usize]);
        }
        for index in (0..self.tree.nodes.len()).rev() {
            let node = self.tree.nodes[index];
            let first = node.first_index as usize;
            let fitted = if node.is_leaf() {
                (first..first + node.prim_count as usize)
                    .map(|i| aabb_of(&self.corners[self.tree.primitive_indices[i] as usize]))
                    .reduce(|a, b| a.union(&b))
            } else {
                let (a, b) = (self.tree.nodes[first], self.tree.nodes[first + 1]);
                Some(a.aabb().union(b.aabb()))
            };
            if let Some(fitted) = fitted {
                self.tree.nodes[index].set_aabb(fitted);
            }
        }
    }

    /// Number of triangles.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// Vertices of a triangle.
    #[must_use]
    pub fn triangle(&self, triangle: u32) -> [u32; 3] {
        self.triangles[triangle as usize]
    }

    /// Corner positions of a triangle.
    #[must_use]
    pub fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.corners[triangle as usize]
    }

    /// Unit normal of a triangle; up if it has no area.
    #[must_use]
    pub fn face_normal(&self, triangle: u32) -> Vec3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(c - a).normalize_or(Vec3::Y)
    }

    /// Box of everything.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.tree.nodes.first().map_or(Bounds::EMPTY, |root| Bounds {
            min: Vec3::from(root.aabb().min),
            max: Vec3::from(root.aabb().max),
        })
    }

    /// First triangle hit by `origin + t direction` for `0 <= t <= max_distance`, from either side.
    #[must_use]
    pub fn raycast(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<RayHit> {
        let mut best: Option<RayHit> = None;
        self.visit(
            |node, best_so_far| ray_box(origin, direction, node, best_so_far),
            max_distance,
            |triangle, limit| {
                let (t, barycentric) = intersect(origin, direction, self.corners(triangle))?;
                let better = t < *limit
                    || t == *limit && best.is_none_or(|b| t < b.distance || triangle < b.triangle);
                if t >= 0.0 && better {
                    *limit = t;
                    best = Some(RayHit { triangle, distance: t, barycentric });
                }
                Some(())
            },
        );
        best
    }

    /// Calls `each` for every triangle the segment `origin + t direction`, `0 <= t <= 1`, crosses, in
    /// no particular order: (triangle, t).
    pub fn raycast_all(&self, origin: Vec3, direction: Vec3, mut each: impl FnMut(u32, f32)) {
        self.visit(
            |node, limit| ray_box(origin, direction, node, limit),
            1.0,
            |triangle, _| {
                let (t, _) = intersect(origin, direction, self.corners(triangle))?;
                if (0.0..=1.0).contains(&t) {
                    each(triangle, t);
                }
                Some(())
            },
        );
    }

    /// Whether a point is inside: by the surfaces left and entered on the way out, along two rays that must
    /// agree, or a third decides. Of a closed mesh with outward triangles; where parts of it overlap, inside
    /// of any of them is inside.
    #[must_use]
    pub fn is_inside(&self, p: Vec3) -> bool {
        let b = self.bounds();
        if b.is_empty() || p.cmplt(b.min).any() || p.cmpgt(b.max).any() {
            return false;
        }
        let reach = 2.0 * b.diagonal();
        let winds = |ray: Vec3| {
            let mut left = 0;
            self.raycast_all(p, reach * ray, |triangle, _| {
                left += if self.face_normal(triangle).dot(ray) > 0.0 { 1 } else { -1 };
            });
            left > 0
        };
        let [first, second] = [winds(WAYS_OUT[0]), winds(WAYS_OUT[1])];
        if first == second { first } else { winds(WAYS_OUT[2]) }
    }

    /// Nearest place on the mesh within a distance.
    #[must_use]
    pub fn closest_point(&self, p: Vec3, max_distance: f32) -> Option<ClosestPoint> {
        self.closest_where(p, max_distance, |_, _, _| true)
    }

    /// Nearest place, within a distance, of the triangles that `accept` takes, given the triangle and its
    /// own nearest place with its weights.
    #[must_use]
    pub fn closest_where(
        &self,
        p: Vec3,
        max_distance: f32,
        accept: impl Fn(u32, Vec3, [f32; 3]) -> bool,
    ) -> Option<ClosestPoint> {
        let mut best: Option<ClosestPoint> = None;
        let mut best_sq = max_distance * max_distance;
        self.visit(
            |node, limit| {
                let away = (Vec3::from(node.min) - p).max(p - Vec3::from(node.max)).max(Vec3::ZERO);
                // A hair less than the true distance: rounding must not prune an equal triangle.
                let d = away.length_squared() * (1.0 - tolerances::geometry::BOX_SLACK);
                (d <= limit).then_some(d)
            },
            best_sq,
            |triangle, limit| {
                let (point, barycentric) = closest_on_triangle(p, self.corners(triangle));
                let d = point.distance_squared(p);
                let better =
                    d < best_sq || d == best_sq && best.is_none_or(|b| triangle < b.triangle);
                if better && accept(triangle, point, barycentric) {
                    best_sq = d;
                    *limit = d;
                    best = Some(ClosestPoint { triangle, point, barycentric, distance: d.sqrt() });
                }
                Some(())
            },
        );
        best
    }

    /// Nearest triangles of four points at once (coordinate by coordinate), each within its own squared
    /// distance; nothing is looked for where that is negative. For points near each other, whose ways
    /// down the tree are nearly the same.
    #[must_use]
    pub fn closest_of_four(&self, points: [Vec4; 3], reach_sq: Vec4) -> [Option<u32>; 4] {
        let mut found = [None; 4];
        let best = Cell::new(reach_sq);
        self.visit(
            |node, _| {
                let d = box_distance_sq(points, node) * (1.0 - 1e-5);
                let entered = d.cmple(best.get());
                entered.any().then(|| Vec4::select(entered, d, Vec4::MAX).min_element())
            },
            reach_sq.max_element(),
            |triangle, limit| {
                let corners = self.corners(triangle);
                // A leaf holds up to eight triangles: most of them are ruled out by their own boxes, at a
                // fifth of what their distances cost.
                let at_least = box_distance_sq(points, &aabb_of(&corners)) * (1.0 - 1e-5);
                if !at_least.cmple(best.get()).any() {
                    return Some(());
                }
                let d = triangle_distance_sq(points, corners);
                let mut nearer = d.cmple(best.get()).bitmask();
                while nearer != 0 {
                    let lane = nearer.trailing_zeros() as usize;
                    nearer &= nearer - 1;
                    let equal = d[lane] == best.get()[lane];
                    if !equal || found[lane].is_none_or(|other| triangle < other) {
                        found[lane] = Some(triangle);
                    }
                }
                best.set(best.get().min(d));
                *limit = best.get().max_element();
                Some(())
            },
        );
        found
    }

    /// Which of four ways (`from + t way`, `0 <= t <= 1`, coordinate by coordinate) may cross a triangle,
    /// one bit each; only those of `asked` are looked at. A way that crosses one is never missed; one that
    /// passes beside the edge of a triangle by next to nothing may be taken for one that does.
    #[must_use]
    pub fn crossed_by_four(&self, from: [Vec4; 3], way: [Vec4; 3], asked: BVec4A) -> u32 {
        let ways = FourWays::new(from, way, asked);
        let crossed = Cell::new(0u32);
        let wanted = asked.bitmask();
        self.visit(
            |node, _| ways.enter(node, !crossed.get()).then_some(0.0),
            1.0,
            |triangle, limit| {
                crossed.set(crossed.get() | ways.cross(self.corners(triangle)) & wanted);
                if crossed.get() == wanted {
                    // Nothing left to look for.
                    *limit = -1.0;
                }
                Some(())
            },
        );
        crossed.get()
    }

    /// Calls `each` for every triangle whose box meets a box, in no particular order.
    pub fn overlapping(&self, bounds: Bounds, mut each: impl FnMut(u32)) {
        if self.triangles.is_empty() {
            return;
        }
        let query = Aabb::new(Vec3A::from(bounds.min), Vec3A::from(bounds.max));
        self.visit(
            |node, _| node.intersect_aabb(&query).then_some(0.0),
            f32::INFINITY,
            |triangle, _| {
                if aabb_of(&self.corners(triangle)).intersect_aabb(&query) {
                    each(triangle);
                }
                Some(())
            },
        );
    }

    /// Depth-first, nearer child first. `enter` gives a node's distance, or nothing to skip it.
    fn visit(
        &self,
        enter: impl Fn(&Aabb, f32) -> Option<f32>,
        limit: f32,
        mut leaf: impl FnMut(u32, &mut f32) -> Option<()>,
    ) {
        let nodes = &self.tree.nodes;
        let mut limit = limit;
        let mut stack = Stack::default();
        match nodes.first() {
            Some(root) => {
                if let Some(d) = enter(root.aabb(), limit) {
                    stack.push((0, d));
                }
            }
            None => return,
        }
        while let Some((index, distance)) = stack.pop() {
            if distance > limit {
                continue;
            }
            let node = &nodes[index as usize];
            let first = node.first_index;
            if node.is_leaf() {
                for i in first..first + node.prim_count {
                    leaf(self.tree.primitive_indices[i as usize], &mut limit);
                }
                continue;
            }
            let left = enter(nodes[first as usize].aabb(), limit);
            let right = enter(nodes[first as usize + 1].aabb(), limit);
            match (left, right) {
                (Some(l), Some(r)) if l <= r => {
                    stack.push((first + 1, r));
                    stack.push((first, l));
                }
                (Some(l), Some(r)) => {
                    stack.push((first, l));
                    stack.push((first + 1, r));
                }
                (Some(l), None) => stack.push((first, l)),
                (None, Some(r)) => stack.push((first + 1, r)),
                (None, None) => {}
            }
        }
    }
}

/// A stack that only allocates on absurdly deep trees.
struct Stack {
    near: [(u32, f32); 64],
    count: usize,
    far: Vec<(u32, f32)>,
}

impl Default for Stack {
    fn default() -> Self {
        Self { near: [(0, 0.0); 64], count: 0, far: Vec::new() }
    }
}

impl Stack {
    fn push(&mut self, item: (u32, f32)) {
        if self.count < self.near.len() {
            self.near[self.count] = item;
            self.count += 1;
        } else {
            self.far.push(item);
        }
    }

    fn pop(&mut self) -> Option<(u32, f32)> {
        if let Some(item) = self.far.pop() {
            return Some(item);
        }
        self.count = self.count.checked_sub(1)?;
        Some(self.near[self.count])
    }
}

/// Entry distance of a ray into a box, if it enters before `limit`.
fn ray_box(origin: Vec3, direction: Vec3, node: &Aabb, limit: f32) -> Option<f32> {
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

/// Distance and barycentric coordinates of a ray-triangle hit (Möller-Trumbore), both sides.
fn intersect(origin: Vec3, direction: Vec3, [a, b, c]: [Vec3; 3]) -> Option<(f32, [f32; 3])> {
    let (e1, e2) = (b - a, c - a);
    let p = direction.cross(e2);
    let determinant = e1.dot(p);
    if determinant == 0.0 {
        return None;
    }
    let inverse = 1.0 / determinant;
    let s = origin - a;
    let u = s.dot(p) * inverse;
    let q = s.cross(e1);
    let v = direction.dot(q) * inverse;
    let inside = u >= 0.0 && v >= 0.0 && u + v <= 1.0;
    inside.then(|| (e2.dot(q) * inverse, [1.0 - u - v, u, v]))
}

/// Four ways through the tree at once.
struct FourWays {
    from: [Vec4; 3],
    way: [Vec4; 3],
    inverse: [Vec4; 3],
    asked: BVec4A,
}

impl FourWays {
    fn new(from: [Vec4; 3], way: [Vec4; 3], asked: BVec4A) -> Self {
        // No division by zero: a way along an axis is taken as very nearly so.
        let tiny = Vec4::splat(1.0e-20);
        let inverse = way.map(|w| Vec4::select(w.abs().cmpgt(tiny), w, tiny).recip());
        Self { from, way, inverse, asked }
    }

    /// Whether any of the ways that are asked for and whose bits are set goes through a box.
    fn enter(&self, node: &Aabb, bits: u32) -> bool {
        let (low, high) = (node.min - limits::WAY_SLACK, node.max + limits::WAY_SLACK);
        let (mut enters, mut leaves) = (Vec4::ZERO, Vec4::ONE);
        for axis in 0..3 {
            let a = (low[axis] - self.from[axis]) * self.inverse[axis];
            let b = (high[axis] - self.from[axis]) * self.inverse[axis];
            enters = enters.max(a.min(b));
            leaves = leaves.min(a.max(b));
        }
        (enters.cmple(leaves) & self.asked).bitmask() & bits != 0
    }

    /// Which of them cross a triangle, or pass beside it by next to nothing (as `intersect`).
    fn cross(&self, [a, b, c]: [Vec3; 3]) -> u32 {
        let (e1, e2) = (b - a, c - a);
        let [wx, wy, wz] = self.way;
        let p = [wy * e2.z - wz * e2.y, wz * e2.x - wx * e2.z, wx * e2.y - wy * e2.x];
        let inverse = (p[0] * e1.x + p[1] * e1.y + p[2] * e1.z).recip();
        let s = [self.from[0] - a.x, self.from[1] - a.y, self.from[2] - a.z];
        let u = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) * inverse;
        let q = [s[1] * e1.z - s[2] * e1.y, s[2] * e1.x - s[0] * e1.z, s[0] * e1.y - s[1] * e1.x];
        let v = (wx * q[0] + wy * q[1] + wz * q[2]) * inverse;
        let t = (q[0] * e2.x + q[1] * e2.y + q[2] * e2.z) * inverse;
        let slack = limits::CROSSING_SLACK;
        let (least, most) = (Vec4::splat(-slack), Vec4::splat(1.0 + slack));
        let inside = u.cmpge(least) & v.cmpge(least) & (u + v).cmple(most);
        (inside & t.cmpge(least) & t.cmple(most)).bitmask()
    }
}

/// Squared distances of four points from a box.
fn box_distance_sq([x, y, z]: [Vec4; 3], node: &Aabb) -> Vec4 {
    let away = |p: Vec4, low: f32, high: f32| (low - p).max(p - high).max(Vec4::ZERO);
    let x = away(x, node.min.x, node.max.x);
    let y = away(y, node.min.y, node.max.y);
    let z = away(z, node.min.z, node.max.z);
    x * x + y * y + z * z
}

/// Squared distances of four points from a triangle: from its plane above its inside, else from its
/// nearest edge.
fn triangle_distance_sq([x, y, z]: [Vec4; 3], [a, b, c]: [Vec3; 3]) -> Vec4 {
    let dot = |v: Vec3, [x, y, z]: [Vec4; 3]| x * v.x + y * v.y + z * v.z;
    let normal = (b - a).cross(c - a);
    let mut nearest = Vec4::INFINITY;
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
    if total <= 0.0 {
        return (a, [1.0, 0.0, 0.0]);
    }
    let (v, w) = (vb / total, vc / total);
    (a + v * ab + w * ac, [1.0 - v - w, v, w])
}

fn ratio(numerator: f32, denominator: f32) -> f32 {
    if denominator > 0.0 { (numerator / denominator).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    fn soup(seed: u64, count: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let c = |i: usize, k: u64| random::signed(seed, i as u64, k) as f32;
        let positions: Vec<Vec3> = (0..3 * count)
            .map(|i| {
                let center = Vec3::new(c(i / 3, 10), c(i / 3, 11), c(i / 3, 12));
                center + 0.2 * Vec3::new(c(i, 0), c(i, 1), c(i, 2))
            })
            .collect();
        let triangles = (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        (positions, triangles)
    }

    #[test]
    fn agrees_with_brute_force_before_and_after_refit() {
        let (positions, triangles) = soup(1, 300);
        let mut bvh = TriangleBvh::build(&positions, &triangles);
        let (moved, _) = soup(2, 300);
        for positions in [&positions, &moved] {
            bvh.refit(positions);
            for i in 0..200u64 {
                let c = |k| 1.5 * random::signed(3, i, k) as f32;
                let (p, d) = (Vec3::new(c(0), c(1), c(2)), Vec3::new(c(3), c(4), c(5)));
                check_closest(&bvh, p);
                check_ray(&bvh, p, d);
            }
        }
    }

    fn check_closest(bvh: &TriangleBvh, p: Vec3) {
        let want = (0..bvh.triangle_count() as u32)
            .map(|t| (closest_on_triangle(p, bvh.corners(t)).0.distance_squared(p), t))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .unwrap();
        let got = bvh.closest_point(p, f32::INFINITY).unwrap();
        assert_eq!((got.triangle, got.distance), (want.1, want.0.sqrt()));
        assert!(bvh.closest_point(p, 0.5 * got.distance).is_none());
    }

    #[test]
    fn four_points_at_once_find_what_each_finds_alone() {
        let (positions, triangles) = soup(7, 300);
        let bvh = TriangleBvh::build(&positions, &triangles);
        for i in 0..300u64 {
            let c = |k| random::signed(8, i, k) as f32;
            let spread = if i % 2 == 0 { 0.05 } else { 1.0 };
            let center = Vec3::new(c(0), c(1), c(2));
            let p: [Vec3; 4] = std::array::from_fn(|k| {
                let k = 3 + 3 * k as u64;
                center + spread * Vec3::new(c(k), c(k + 1), c(k + 2))
            });
            let lanes = std::array::from_fn(|axis| Vec4::from_array(p.map(|p| p[axis])));
            // The last is not asked for.
            let reach = Vec4::new(0.04, 0.01, 100.0, -1.0);
            let found = bvh.closest_of_four(lanes, reach);
            assert_eq!(found[3], None);
            for k in 0..3 {
                let distance = |t: u32| closest_on_triangle(p[k], bvh.corners(t)).0.distance(p[k]);
                let want = bvh.closest_point(p[k], reach[k].sqrt());
                match (want, found[k]) {
                    (Some(want), Some(got)) => assert!((want.distance - distance(got)) > -1e-5),
                    (None, None) => {}
                    (want, got) => {
                        // On the very edge of the reach rounding may decide.
                        let at = want.map(|w| w.distance).or(got.map(distance)).unwrap();
                        assert!((at - reach[k].sqrt()).abs() < 1e-5, "{want:?} {got:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn four_ways_at_once_miss_no_triangle_that_each_crosses_alone() {
        let (positions, triangles) = soup(17, 300);
        let bvh = TriangleBvh::build(&positions, &triangles);
        let mut counts = [0; 2];
        for i in 0..400u64 {
            let c = |k| random::signed(18, i, k) as f32;
            let v = |k: u64| Vec3::new(c(3 * k), c(3 * k + 1), c(3 * k + 2));
            let from: [Vec3; 4] = std::array::from_fn(|k| v(k as u64));
            let mut way: [Vec3; 4] = std::array::from_fn(|k| 0.3 * v(4 + k as u64));
            // Along an axis, too.
            way[1] = 0.3 * Vec3::Y;
            let lanes = |p: [Vec3; 4]| {
                std::array::from_fn(|axis| Vec4::from_array(p.map(|p: Vec3| p[axis])))
            };
            let asked = Vec4::new(1.0, 1.0, 1.0, 0.0).cmpgt(Vec4::ZERO);
            let bits = bvh.crossed_by_four(lanes(from), lanes(way), asked);
            assert_eq!(bits >> 3, 0, "the last is not asked for");
            for k in 0..3 {
                let mut crosses = false;
                bvh.raycast_all(from[k], way[k], |_, _| crosses = true);
                counts[usize::from(crosses)] += 1;
                assert!(!crosses || bits >> k & 1 == 1, "{i} {k}");
                // What is taken for a crossing passes an edge at least.
                let nearly = (0..bvh.triangle_count() as u32).any(|t| {
                    let [a, b, c] = bvh.corners(t);
                    let middle = (a + b + c) / 3.0;
                    let wider = [a, b, c].map(|p| middle + 1.001 * (p - middle));
                    intersect(from[k] - 1e-3 * way[k], 1.002 * way[k], wider)
                        .is_some_and(|(t, _)| (0.0..=1.0).contains(&t))
                });
                assert!(nearly || bits >> k & 1 == 0, "{i} {k}");
            }
        }
        assert!(counts[0] > 100 && counts[1] > 100, "{counts:?}");
    }

    fn check_ray(bvh: &TriangleBvh, p: Vec3, d: Vec3) {
        let want = (0..bvh.triangle_count() as u32)
            .filter_map(|t| Some((intersect(p, d, bvh.corners(t))?.0, t)))
            .filter(|h| h.0 >= 0.0)
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let got = bvh.raycast(p, d, f32::INFINITY);
        assert_eq!(got.map(|h| (h.distance, h.triangle)), want);
    }

    #[test]
    fn overlaps_and_empty_trees() {
        let (positions, triangles) = soup(5, 100);
        let bvh = TriangleBvh::build(&positions, &triangles);
        let query = Bounds { min: Vec3::splat(-0.3), max: Vec3::splat(0.4) };
        let mut got = Vec::new();
        bvh.overlapping(query, |t| got.push(t));
        got.sort_unstable();
        let meets = |t: &u32| {
            let b = Bounds::of(&bvh.corners(*t));
            b.min.cmple(query.max).all() && b.max.cmpge(query.min).all()
        };
        assert_eq!(got, (0..100).filter(meets).collect::<Vec<_>>());
        let empty = TriangleBvh::build(&[], &[]);
        assert!(empty.raycast(Vec3::ZERO, Vec3::X, 1.0).is_none());
        assert!(empty.closest_point(Vec3::ZERO, 1.0).is_none());
    }
}
