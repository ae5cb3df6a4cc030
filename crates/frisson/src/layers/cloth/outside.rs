//! Parts of the bodies that stay outside of the garment: arms beside a skirt, upper arms beside a shirt.
//!
//! A hand that swings past a hip leaves a centimetre of room. Felt all around it catches the cloth with its thumb and
//! ploughs it along; there is nothing that the cloth could do about that. So near what the cloth is worn on such a part
//! presses it only towards that, by what of it is over the cloth, and does not rub on it:
//!
//! ```text
//!         ______
//!        / hand \  ->        n is pressed towards q, the place of the trunk under it, below the lowest place p of the
//!        \__p___/            hand that is over the cloth within an edge around q: then nothing of the hand comes
//!    ~~~~~~~n~~~~~~~~ cloth   through between the nodes either. What is in front of the hand feels nothing yet, and
//!   --------q-------- trunk  slips under it. Where the hand is in the trunk there is no room for cloth; the trunk wins.
//! ```
//!
//! Which place that is, is asked of the hand where it is at the end of the tick, as seen from the trunk at its end: a
//! hand that passes over the cloth within a tick would have gone through it else.

use glam::{DVec3, Vec2, Vec3};

use super::body::GarmentBody;
use super::body_contacts::BodyReach;
use super::pressing::Pressing;
use crate::geometry::{Bounds, TriangleBvh};
use crate::tolerances::cloth as tolerances;

/// A place of a body: mesh, triangle and weights.
#[derive(Clone, Copy, Debug, Default)]
pub struct Under {
    body: u32,
    triangle: u32,
    barycentric: [f32; 3],
    /// The place at the start of the tick.
    pub place: Vec3,
    /// Away from it, to what is over it.
    away: Pressing,
}

impl Under {
    /// The place of what the cloth is worn on that is nearest to a point, if there is one in the room.
    pub fn find(bodies: &[GarmentBody], p: Vec3, reach: BodyReach) -> Option<Self> {
        let mut best = None;
        let mut far = reach.room();
        for (index, body) in bodies.iter().enumerate().filter(|(_, body)| !body.is_outside) {
            let Some(hit) = body.surface.bvh().closest_point(p, far) else { continue };
            far = hit.distance;
            best = Some((index, hit));
        }
        let (index, hit) = best?;
        let surface = &bodies[index].surface;
        let at = (hit.triangle, hit.barycentric);
        // Smooth normals of few large faces lean far off the way to the cloth.
        let away = Pressing::new(surface, at, p - hit.point, reach.mean_edge);
        let (triangle, barycentric) = at;
        Some(Self { body: index as u32, triangle, barycentric, place: hit.point, away })
    }

    /// Unit direction away from it, at the start of the tick.
    pub fn normal(&self) -> Vec3 {
        self.away.normal
    }

    /// The place and the direction away from it at the end of the tick. Call after the bodies are updated.
    pub fn followed(&self, bodies: &[GarmentBody]) -> (Vec3, Vec3) {
        let surface = &bodies[self.body as usize].surface;
        let at = (self.triangle, self.barycentric);
        (surface.point(at.0, at.1, 1.0), self.away.after(surface, at))
    }

    /// The place at the start of the tick. Call after the bodies are updated.
    pub fn at_start(&self, bodies: &[GarmentBody]) -> Vec3 {
        bodies[self.body as usize].surface.point(self.triangle, self.barycentric, 0.0)
    }

    /// Room that a part leaves over it [m]: infinite where none is over it, 0 where the part is in what is below. Call
    /// after the bodies are updated.
    pub fn room_over(&self, bodies: &[GarmentBody], part: &GarmentBody, reach: BodyReach) -> f32 {
        let around = (tolerances::CEILING_EDGES * reach.mean_edge) as f32;
        room_over(part.surface.bvh(), self.followed(bodies), around, reach.room())
    }

    /// The lowest place of a part over it, and where it is at both ends of the tick: it comes along with the trunk.
    /// Nothing where none is over it. Call after the bodies are updated.
    pub fn ceiling(
        &self,
        bodies: &[GarmentBody],
        part: &GarmentBody,
        reach: BodyReach,
    ) -> Option<Ceiling> {
        let (q, normal) = self.followed(bodies);
        let height = self.room_over(bodies, part, reach);
        if height == 0.0 || height == f32::INFINITY {
            return None;
        }
        let at = |q: Vec3, normal: Vec3| (q + height * normal).as_dvec3();
        let (start, end) = (at(self.place, self.normal()), at(q, normal));
        Some(Ceiling { start, end, normals: [-self.normal(), -normal] })
    }
}

/// What a part that stays outside leaves of the room over a place of the trunk.
#[derive(Clone, Copy, Debug)]
pub struct Ceiling {
    /// Where it is at the start of the tick.
    pub start: DVec3,
    /// Where it is at its end.
    pub end: DVec3,
    /// Where it presses to at both ends.
    pub normals: [Vec3; 2],
}

/// Height of the lowest place of a part over the disc around `q` across `normal`, within `room`; infinite where there is
/// none, 0 where the part is in what is below. Where the trunk bends away below the disc, over as much of it as is over
/// the trunk.
fn room_over(part: &TriangleBvh, (q, normal): (Vec3, Vec3), around: f32, room: f32) -> f32 {
    for share in tolerances::CEILING_SHARES {
        let [lower, upper] = lowest_sides(part, (q, normal), share * around, room);
        if lower > room && upper > room {
            return f32::INFINITY;
        }
        if lower > 0.0 && lower <= upper {
            return if lower < room { lower } else { f32::INFINITY };
        }
    }
    // Around a bend of the trunk, or in it beside the place: only what is straight over it counts.
    let Some(hit) = part.raycast(q, normal, room) else { return f32::INFINITY };
    // Left through its far side: the part is in the trunk.
    if part.face_normal(hit.triangle).dot(normal) < 0.0 { hit.distance } else { 0.0 }
}

/// Heights of the lowest places over a disc that look at the trunk, and that look away from it; infinite where there are
/// none.
fn lowest_sides(part: &TriangleBvh, (q, normal): (Vec3, Vec3), around: f32, room: f32) -> [f32; 2] {
    let axis = Bounds::of(&[q, q + room * normal]);
    let mut lowest = [f32::INFINITY; 2];
    part.overlapping(axis.grown(around), |triangle| {
        let Some(height) = lowest_of(part.corners(triangle), (q, normal), around) else { return };
        let is_far = part.face_normal(triangle).dot(normal) > tolerances::FAR_SIDE_COS;
        let side = &mut lowest[usize::from(is_far)];
        *side = side.min(height);
    });
    lowest
}

/// Least height of a triangle over a disc; nothing where it is beside it.
///
/// Heights are linear on it: the least one is at a corner in the disc, where a side enters it, or on its rim.
fn lowest_of(corners: [Vec3; 3], (q, normal): (Vec3, Vec3), around: f32) -> Option<f32> {
    let (u, v) = normal.any_orthonormal_pair();
    let flat = corners.map(|c| Vec2::new((c - q).dot(u), (c - q).dot(v)));
    let height = corners.map(|c| (c - q).dot(normal));
    let mut lowest = f32::INFINITY;
    for k in 0..3 {
        let (a, b) = (flat[k], flat[(k + 1) % 3]);
        let (low, high) = (height[k], height[(k + 1) % 3]);
        let way = b - a;
        // |a + t way| <= around
        let (square, half) = (way.length_squared().max(f32::MIN_POSITIVE), a.dot(way));
        let root = half * half - square * (a.length_squared() - around * around);
        if root < 0.0 {
            continue;
        }
        let (enter, leave) = ((-half - root.sqrt()) / square, (-half + root.sqrt()) / square);
        if leave >= 0.0 && enter <= 1.0 {
            for t in [enter.max(0.0), leave.min(1.0)] {
                lowest = lowest.min(low + t * (high - low));
            }
        }
    }
    // The lowest place of the rim, where the triangle is over it.
    let area = (flat[1] - flat[0]).perp_dot(flat[2] - flat[0]);
    if area != 0.0 {
        let (rise, other) = (height[1] - height[0], height[2] - height[0]);
        let (e, f) = (flat[1] - flat[0], flat[2] - flat[0]);
        let slope = Vec2::new(rise * f.y - other * e.y, other * e.x - rise * f.x) / area;
        let p = -around * slope.normalize_or_zero();
        let side = |k: usize| (flat[(k + 1) % 3] - flat[k]).perp_dot(p - flat[k]) * area >= 0.0;
        if (0..3).all(side) {
            lowest = lowest.min(height[0] + slope.dot(p - flat[0]));
        }
    }
    (lowest < f32::INFINITY).then_some(lowest)
}

/// Where a corner of such a part presses to: towards the trunk near it, if it does not look away from that.
pub fn pressing_of(
    bodies: &[GarmentBody],
    p: Vec3,
    normal: Vec3,
    reach: BodyReach,
) -> Option<Pressing> {
    let Some(under) = Under::find(bodies, p, reach) else {
        return Some(Pressing::smooth(normal));
    };
    let away = under.normal();
    let looks = normal.dot(away) < tolerances::LOOKS_AT_COS && (p - under.place).dot(away) > 0.0;
    looks.then(|| Pressing::towards(-away))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Least height of many places of a triangle over the disc.
    fn tried(corners: [Vec3; 3], (q, normal): (Vec3, Vec3), around: f32) -> f32 {
        let mut lowest = f32::INFINITY;
        for i in 0..=400 {
            for j in 0..=400 - i {
                let (s, t) = (i as f32 / 400.0, j as f32 / 400.0);
                let off =
                    corners[0] + s * (corners[1] - corners[0]) + t * (corners[2] - corners[0]) - q;
                if off.reject_from_normalized(normal).length() <= around {
                    lowest = lowest.min(off.dot(normal));
                }
            }
        }
        lowest
    }

    #[test]
    fn the_lowest_place_over_a_disc_is_that_of_many_that_are_tried() {
        let number = |k, axis| 0.5 * crate::math::random::signed(7, k, axis) as f32;
        let place = |k: u64| Vec3::new(number(k, 0), number(k, 1), number(k, 2));
        let (mut over, mut beside) = (0, 0);
        for k in 0..60 {
            let corners = [place(10 * k), place(10 * k + 1), place(10 * k + 2)];
            let normal = place(10 * k + 3).normalize_or(Vec3::Y);
            let q = 0.3 * place(10 * k + 4);
            let tried = tried(corners, (q, normal), 0.2);
            match lowest_of(corners, (q, normal), 0.2) {
                Some(height) if tried.is_finite() => {
                    over += 1;
                    assert!(height <= tried + 1e-5 && height > tried - 0.01, "{height} {tried}");
                }
                // A sliver of it may lie between the places that were tried.
                Some(_) => (),
                None => {
                    beside += 1;
                    assert!(tried.is_infinite(), "{tried}");
                }
            }
        }
        assert!(over > 15 && beside > 5, "{over} {beside}");
    }
}
