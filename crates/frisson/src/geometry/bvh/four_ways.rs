//! Four ways through a tree, asked together.

use glam::{BVec4A, Vec3, Vec4};
use obvhs::aabb::Aabb;

use crate::tolerances::geometry as limits;

/// Least step of a way along an axis that is divided by [m].
const TINY: f32 = 1.0e-20;

/// Four ways through the tree at once.
pub(super) struct FourWays {
    from: [Vec4; 3],
    way: [Vec4; 3],
    inverse: [Vec4; 3],
    asked: BVec4A,
}

impl FourWays {
    pub(super) fn new(from: [Vec4; 3], way: [Vec4; 3], asked: BVec4A) -> Self {
        // No division by zero: a way along an axis is taken as very nearly so.
        let tiny = Vec4::splat(TINY);
        let inverse = way.map(|w| Vec4::select(w.abs().cmpgt(tiny), w, tiny).recip());
        Self { from, way, inverse, asked }
    }

    /// Whether any of the ways that are asked for and whose bits are set goes through a box.
    pub(super) fn enter(&self, node: &Aabb, bits: u32) -> bool {
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
    pub(super) fn cross(&self, [a, b, c]: [Vec3; 3]) -> u32 {
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
