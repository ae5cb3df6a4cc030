//! Rays, closest points and overlaps against triangles, on a tree that is refitted as they move.
//!
//! Answers do not depend on the shape of the tree: among equal distances the lowest triangle wins.
//! A tree that was refitted many times and one built afresh give the same bits.

mod four_ways;
mod primitives;
mod stack;

use std::cell::Cell;

use glam::{BVec4A, Vec3, Vec3A, Vec4};
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::builder::build_bvh2;
use obvhs::{Boundable, BvhBuildParams};

use super::Bounds;
use crate::tolerances;
use four_ways::FourWays;
use primitives::{box_distance_sq, intersect, ray_box, triangle_distance_sq};
use stack::Stack;

pub use primitives::closest_on_triangle;

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
        // The builder reports its time; the engine knows no clock.
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
                    // A hit at the very end of the reach counts; of equal ones the lowest triangle.
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

    /// Where the line `origin + t direction` meets one triangle, from either side: t.
    #[must_use]
    pub fn crossing(&self, triangle: u32, origin: Vec3, direction: Vec3) -> Option<f32> {
        intersect(origin, direction, self.corners(triangle)).map(|(t, _)| t)
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
        // The ways out are not quite unit vectors, and must end outside whatever the place.
        let reach = 2.0 * b.diagonal();
        let winds = |ray: Vec3| {
            let mut left = 0;
            self.raycast_all(p, reach * ray, |triangle, _| {
                // Winding, not parity: where two parts overlap, two are left and none entered.
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
                let d = box_distance_sq(points, node) * (1.0 - tolerances::geometry::BOX_SLACK);
                // Entered where any of the four may find something nearer.
                let entered = d.cmple(best.get());
                entered.any().then(|| Vec4::select(entered, d, Vec4::MAX).min_element())
            },
            reach_sq.max_element(),
            |triangle, limit| {
                let corners = self.corners(triangle);
                // A leaf holds up to eight triangles: most of them are ruled out by their own boxes, at a
                // fifth of what their distances cost.
                let at_least = box_distance_sq(points, &aabb_of(&corners))
                    * (1.0 - tolerances::geometry::BOX_SLACK);
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
        mut each: impl FnMut(u32, &mut f32) -> Option<()>,
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
            // The limit may have shrunk since the node was put there.
            if distance > limit {
                continue;
            }
            let node = &nodes[index as usize];
            let first = node.first_index;
            if node.is_leaf() {
                for i in first..first + node.prim_count {
                    each(self.tree.primitive_indices[i as usize], &mut limit);
                }
                continue;
            }
            let left = enter(nodes[first as usize].aabb(), limit);
            let right = enter(nodes[first as usize + 1].aabb(), limit);
            match (left, right) {
                // The farther one first: what is pushed last comes off first.
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

#[cfg(test)]
mod tests;
