//! The triangles of a leaf of the tree side by side: what one triangle may meet of them is found at once.

use glam::{Mat4, Vec3A, Vec4};

/// Triangles in a leaf, at most: as many as a vector has components.
pub const LEAF: usize = 4;

/// A range along every axis.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub low: Vec3A,
    pub high: Vec3A,
}

impl Span {
    /// The range of nothing.
    pub const EMPTY: Self =
        Self { low: Vec3A::splat(f32::INFINITY), high: Vec3A::splat(f32::NEG_INFINITY) };

    /// Range of the corners of a triangle.
    #[inline(always)]
    pub fn of([a, b, c]: [Vec3A; 3]) -> Self {
        Self { low: a.min(b).min(c), high: a.max(b).max(c) }
    }

    #[inline(always)]
    pub fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// Ranges of four triangles, axis by axis.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spans {
    low: [Vec4; 3],
    high: [Vec4; 3],
}

impl Spans {
    fn new(spans: [Span; LEAF]) -> Self {
        let axes = |of: fn(&Span) -> Vec3A| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| of(&spans[k]).extend(0.0));
            let m = Mat4::from_cols(a, b, c, d).transpose();
            [m.x_axis, m.y_axis, m.z_axis]
        };
        Self { low: axes(|s| s.low), high: axes(|s| s.high) }
    }
}

/// What a leaf knows of its triangles, and of all of them together.
#[derive(Clone, Copy, Debug)]
pub struct PackedTriangles {
    places: Spans,
    velocities: Spans,
    pub now: Span,
    pub velocity: Span,
    pub axis: Vec3A,
    /// Half-angle of the cone of normals [rad].
    pub spread: f32,
}

impl Default for PackedTriangles {
    fn default() -> Self {
        Self {
            places: Spans::default(),
            velocities: Spans::default(),
            now: Span::EMPTY,
            velocity: Span::EMPTY,
            axis: Vec3A::Y,
            spread: 0.0,
        }
    }
}

/// Which of four triangles another one may come near to, and which of them its box overlaps now: bit `k`
/// is the `k`th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    pub near: u32,
    pub now: u32,
}

impl PackedTriangles {
    /// Fits a leaf to its triangles; `nodes` has place and velocity of every node.
    pub fn fit(&mut self, triangles: impl Iterator<Item = [u32; 3]>, nodes: &[[Vec3A; 2]]) {
        let (mut places, mut velocities) = ([Span::EMPTY; LEAF], [STILL; LEAF]);
        let mut normals = [Vec3A::ZERO; LEAF];
        // Boxes of lanes without a triangle stay empty, and meet nothing.
        let mut count = 0;
        (self.now, self.velocity) = (Span::EMPTY, Span::EMPTY);
        for corners in triangles.take(LEAF) {
            let corners = corners.map(|n| nodes[n as usize]);
            let [a, b, c] = corners.map(|n| n[0]);
            places[count] = Span::of([a, b, c]);
            velocities[count] = Span::of(corners.map(|n| n[1]));
            normals[count] = (b - a).cross(c - a).normalize_or_zero();
            self.now = self.now.union(places[count]);
            self.velocity = self.velocity.union(velocities[count]);
            count += 1;
        }
        self.places = Spans::new(places);
        self.velocities = Spans::new(velocities);
        let normals = &normals[..count];
        self.axis = normals.iter().sum::<Vec3A>().normalize_or(Vec3A::Y);
        self.spread = angle(normals.iter().map(|n| n.dot(self.axis)).fold(1.0, f32::min));
    }

    /// What of another leaf the `k`th triangle of this one may come within `reach` of in `dt`.
    #[inline(always)]
    pub fn meet(&self, k: usize, other: &Self, reach: f32, dt: f32) -> Meeting {
        let (mut moving, mut now) = (Vec4::NEG_INFINITY, Vec4::NEG_INFINITY);
        for axis in 0..3 {
            let of = |spans: &[Vec4; 3]| Vec4::splat(spans[axis][k]);
            let ahead = other.places.low[axis] - of(&self.places.high);
            let behind = of(&self.places.low) - other.places.high[axis];
            let closing = other.velocities.low[axis] - of(&self.velocities.high);
            let backing = of(&self.velocities.low) - other.velocities.high[axis];
            now = now.max(ahead).max(behind);
            // Apart along one axis is apart: the greatest gap over all axes counts, and only approach makes it smaller.
            moving = moving.max(ahead + (closing * dt).min(Vec4::ZERO));
            moving = moving.max(behind + (backing * dt).min(Vec4::ZERO));
        }
        let near = moving.cmple(Vec4::splat(reach)).bitmask();
        Meeting { near, now: now.cmple(Vec4::splat(SLOP * reach)).bitmask() }
    }
}

/// Share of the reach that the rounding of places may make up: boxes that just touch overlap.
const SLOP: f32 = 1.0e-3;

const STILL: Span = Span { low: Vec3A::ZERO, high: Vec3A::ZERO };

/// Arc cosine, a little more rather than less: at most 2e-4 rad.
#[inline(always)]
pub fn angle(cosine: f32) -> f32 {
    let x = cosine.abs().min(1.0);
    let p = ((-0.018_729_3 * x + 0.074_261) * x - 0.212_114_4) * x + 1.570_728_8;
    let acute = (1.0 - x).sqrt() * p;
    (if cosine < 0.0 { std::f32::consts::PI - acute } else { acute }) + 1.0e-4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    #[test]
    fn angles_are_never_less_than_they_are() {
        for i in -1000i16..=1000 {
            let cosine = f32::from(i) / 1000.0;
            let more = angle(cosine) - cosine.acos();
            assert!((0.0..2.0e-4).contains(&more), "{cosine}: {more}");
        }
        assert!(angle(1.0 + 1e-6) < 2e-4 && angle(-1.0 - 1e-6) > 3.1);
    }

    #[test]
    fn four_at_once_are_the_four_one_by_one() {
        let value = |i: u64, k: u64| random::signed(3, i, k) as f32;
        let vector = |i: u64, k: u64| Vec3A::new(value(i, k), value(i, k + 1), value(i, k + 2));
        let nodes: Vec<[Vec3A; 2]> =
            (0..30).map(|i| [2.0 * vector(i, 0), 9.0 * vector(i, 3)]).collect();
        let triangles =
            |first: u32, count: u32| (first..first + count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
        let (mut one, mut other) = (PackedTriangles::default(), PackedTriangles::default());
        one.fit(triangles(0, 4), &nodes);
        other.fit(triangles(5, 3), &nodes);
        let span = |t: u64, of: usize| Span::of([0, 1, 2].map(|k| nodes[(3 * t + k) as usize][of]));
        let (reach, dt) = (0.3, 0.02);
        let mut found = 0;
        for k in 0..4 {
            let meeting = one.meet(k, &other, reach, dt);
            assert_eq!((meeting.near | meeting.now) >> 3, 0, "there is no fourth");
            for j in 0..3 {
                let (a, b) = (span(k as u64, 0), span(5 + j, 0));
                let (v, w) = (span(k as u64, 1), span(5 + j, 1));
                let ahead = b.low - a.high + (dt * (w.low - v.high)).min(Vec3A::ZERO);
                let behind = a.low - b.high + (dt * (v.low - w.high)).min(Vec3A::ZERO);
                let near = ahead.max(behind).max_element() <= reach;
                assert_eq!(meeting.near >> j & 1 == 1, near, "{k} {j}");
                found += u32::from(near);
            }
        }
        assert!((1..12).contains(&found), "{found}");
    }
}
