//! On which side of a triangle's plane the corners of another one stay: most triangles whose boxes meet are
//! told apart by that.

use glam::Vec3A;

/// Corners that stay out of reach in front of a plane, and behind it: bit `k` is corner `k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneSides {
    front: u8,
    behind: u8,
}

impl PlaneSides {
    /// Of the corners of a triangle against the plane of another one, both given by places and velocities:
    /// what does not come within `reach` of the plane in `dt`.
    #[inline(always)]
    pub fn of(corners: [[Vec3A; 2]; 3], plane: [[Vec3A; 2]; 3], reach: f32, dt: f32) -> Self {
        let [a, b, c] = plane.map(|p| p[0]);
        let normal = (b - a).cross(c - a);
        let limit = reach * normal.length();
        let speeds = plane.map(|p| normal.dot(p[1]));
        let slowest = speeds[0].min(speeds[1]).min(speeds[2]);
        let fastest = speeds[0].max(speeds[1]).max(speeds[2]);
        let mut sides = Self { front: 0, behind: 0 };
        for (k, [place, velocity]) in corners.into_iter().enumerate() {
            let (height, speed) = (normal.dot(place - a), normal.dot(velocity));
            let lowest = height + dt * (speed - fastest).min(0.0);
            let highest = height + dt * (speed - slowest).max(0.0);
            sides.front |= u8::from(lowest > limit) << k;
            sides.behind |= u8::from(-highest > limit) << k;
        }
        sides
    }

    /// Whether the triangles stay apart.
    pub fn all_on_one(&self) -> bool {
        self.front == 7 || self.behind == 7
    }

    /// Whether a corner may touch the other triangle.
    pub fn may_touch(&self, corner: usize) -> bool {
        (self.front | self.behind) >> corner & 1 == 0
    }

    /// Whether the edge from a corner to the next may come near the other triangle.
    pub fn edge_near(&self, corner: usize) -> bool {
        let ends = 1 << corner | 1 << ((corner + 1) % 3);
        self.front & ends != ends && self.behind & ends != ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn still(places: [[f32; 3]; 3]) -> [[Vec3A; 2]; 3] {
        places.map(|p| [Vec3A::from_array(p), Vec3A::ZERO])
    }

    #[test]
    fn corners_and_edges_are_told_from_a_plane() {
        let plane = still([[0., 0., 0.], [0., 0., 1.], [1., 0., 0.]]);
        let leaning = still([[0.2, 0.05, 0.2], [0.3, 0.5, 0.3], [0.3, 0.6, 0.1]]);
        let sides = PlaneSides::of(leaning, plane, 0.1, 0.01);
        assert!(!sides.all_on_one());
        assert_eq!([0, 1, 2].map(|k| sides.may_touch(k)), [true, false, false]);
        assert_eq!([0, 1, 2].map(|k| sides.edge_near(k)), [true, false, true]);
        assert!(PlaneSides::of(leaning, plane, 0.04, 0.01).all_on_one());
        let through = still([[0.2, -0.5, 0.2], [0.3, 0.5, 0.3], [0.3, 0.6, 0.1]]);
        let sides = PlaneSides::of(through, plane, 0.1, 0.01);
        assert!(!sides.all_on_one() && sides.edge_near(0) && sides.edge_near(2));
    }

    #[test]
    fn motion_counts_for_what_it_brings_near() {
        let plane = still([[0., 0., 0.], [0., 0., 1.], [1., 0., 0.]]);
        let mut above = still([[0.2, 1.0, 0.2], [0.3, 1.0, 0.3], [0.3, 1.0, 0.1]]);
        assert!(PlaneSides::of(above, plane, 0.1, 0.1).all_on_one());
        above.iter_mut().for_each(|c| c[1] = Vec3A::new(50.0, -9.5, 0.0));
        assert!(!PlaneSides::of(above, plane, 0.1, 0.1).all_on_one(), "falls on it");
        let falling = plane.map(|c| [c[0], Vec3A::new(0.0, -9.5, 0.0)]);
        assert!(PlaneSides::of(above, falling, 0.1, 0.1).all_on_one(), "falls with it");
        above.iter_mut().for_each(|c| c[1] = Vec3A::Y);
        assert!(PlaneSides::of(above, plane, 0.1, 0.1).all_on_one(), "flies away");
    }
}
