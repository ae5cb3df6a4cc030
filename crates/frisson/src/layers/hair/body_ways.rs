//! Ways of drawn hairs that lead around bodies instead of through them, four at a time.

use glam::{Vec3, Vec4};

use super::bodies::{Kind, PosedBody};
use super::lanes::Lanes;
use crate::tolerances::nothing;

/// Height above a body to which ways are turned out of it [m].
const LIFT: f32 = 2.0e-5;

/// The first part of a way, which is not looked at: where a body swallows a root, hair must come out of it
/// [-].
const FIRST_SHARE: f32 = 0.1;

impl PosedBody {
    /// What must be added to the ends of four ways so that they lead around the body; nothing if none
    /// of them goes through it. A way turns about its start.
    pub fn turn_ways(&self, from: &Lanes, to: &Lanes) -> Option<Lanes> {
        let Kind::Ellipsoid { inverse, least, .. } = self.kind else {
            return self.turn_each(from, to);
        };
        let start = self.in_ball(from);
        let way = self.in_ball(to) - start;
        let tiny = Vec4::splat(crate::tolerances::MIN_LENGTH);
        // Where the way comes nearest to the middle of the ball.
        let nearest = -start.dot_each(&way) / way.length_squared().max(tiny);
        let share = nearest.clamp(Vec4::splat(FIRST_SHARE), Vec4::ONE);
        let at = start + way * share;
        let k0_sq = at.length_squared();
        let inside = k0_sq.cmplt(Vec4::ONE);
        if !inside.any() {
            return None;
        }
        let k0 = k0_sq.sqrt();
        let gradient = Lanes { x: at.x * inverse.x, y: at.y * inverse.y, z: at.z * inverse.z };
        let k1 = gradient.length_squared().sqrt().max(Vec4::splat(nothing::NO_SLOPE));
        let deep = k0.cmplt(Vec4::splat(1.0e-3));
        let depth = Vec4::select(deep, Vec4::splat(least), k0 * (1.0 - k0) / k1);
        let up = Lanes::splat(inverse.normalize_or(Vec3::Y));
        let normal = Lanes::select(deep, up, gradient * k1.recip());
        // A way turns about its start: what lifts its nearest place by so much must lift its end by more.
        let lift = Vec4::select(inside, (depth + LIFT) / share, Vec4::ZERO);
        Some(self.in_world(&(normal * lift)))
    }

    /// The same for shapes whose distance is taken one by one: at a few places of each way.
    fn turn_each(&self, from: &Lanes, to: &Lanes) -> Option<Lanes> {
        let mut turned = None;
        for lane in 0..4 {
            let (from, to) = (from.lane(lane), to.lane(lane));
            let at = |share: f32| (share, self.distance(from.lerp(to, share)));
            let deepest = [1.0, 0.75, 0.5, 0.25].map(at).into_iter().min_by(|a, b| {
                let depth = |(share, (d, _)): &(f32, (f32, Vec3))| d / share;
                depth(a).total_cmp(&depth(b))
            });
            if let Some((share, (d, normal))) = deepest.filter(|(_, (d, _))| *d < 0.0) {
                let ends = turned.get_or_insert_with(|| Lanes::splat(Vec3::ZERO));
                ends.set(lane, normal * ((LIFT - d) / share));
            }
        }
        turned
    }

    /// Vectors along the body's own axes, in the world.
    fn in_world(&self, v: &Lanes) -> Lanes {
        let axis = |axis: Vec3, along: Vec4| Lanes::splat(axis) * along;
        axis(self.axes.x_axis, v.x) + axis(self.axes.y_axis, v.y) + axis(self.axes.z_axis, v.z)
    }
}
