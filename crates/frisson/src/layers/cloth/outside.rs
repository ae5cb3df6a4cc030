//! Parts of the bodies that stay outside of the garment: arms beside a skirt, upper arms beside a shirt.
//!
//! A hand that swings past a hip leaves a centimetre of room. Felt all around it catches the cloth with its thumb and
//! ploughs it along; there is nothing that the cloth could do about that. So near what the cloth is worn on such a part
//! presses it only towards that, by what of it is over the cloth, and does not rub on it:
//!
//! ```text
//!         ______
//!        / hand \  ->        n is pressed towards q, the place of the trunk under it, by the place p of the hand over
//!        \__p___/            q. What is in front of the hand feels nothing yet, and slips under it. Where the hand is
//!    ~~~~~~~n~~~~~~~~ cloth   in the trunk there is no room for cloth; the trunk wins.
//!   --------q-------- trunk
//! ```

use glam::{DVec3, Vec3};

use super::body::GarmentBody;
use super::pressing::Pressing;
use crate::tolerances::cloth as tolerances;

/// A place of a body: mesh, triangle and weights.
#[derive(Clone, Copy, Debug, Default)]
pub struct Under {
    body: u32,
    triangle: u32,
    barycentric: [f32; 3],
    /// Unit normal at the start of the tick.
    pub normal: Vec3,
}

impl Under {
    /// The place of what the cloth is worn on that is nearest to a point, if there is one in the room.
    pub fn find(bodies: &[GarmentBody], p: Vec3, room: f32) -> Option<(Self, Vec3)> {
        let mut best: Option<(Self, Vec3)> = None;
        let mut far = room;
        for (index, body) in bodies.iter().enumerate().filter(|(_, body)| !body.is_outside) {
            let Some(hit) = body.surface.bvh().closest_point(p, far) else { continue };
            far = hit.distance;
            let normal = body.surface.normal(hit.triangle, hit.barycentric);
            let body = index as u32;
            let place = Self { body, triangle: hit.triangle, barycentric: hit.barycentric, normal };
            best = Some((place, hit.point));
        }
        best
    }

    /// Way of its material in the tick, and its normal at the end. Call after the bodies are updated.
    pub fn followed(&self, bodies: &[GarmentBody]) -> (DVec3, Vec3) {
        let surface = &bodies[self.body as usize].surface;
        let at = |f: f32| surface.point(self.triangle, self.barycentric, f).as_dvec3();
        (at(1.0) - at(0.0), surface.normal(self.triangle, self.barycentric))
    }
}

/// What a part that stays outside does to a point.
#[derive(Clone, Copy, Debug)]
pub enum Over {
    /// It is felt like any other: what the cloth is worn on is far.
    Freely,
    /// Nothing: it is beside, or there is no room under it.
    Nothing,
    /// It presses the point towards what is under it: triangle, weights, and the point's distance from it, negative
    /// where the point is beyond.
    Ceiling(Under, u32, [f32; 3], f32),
}

/// What the part `body` does to a point near it.
pub fn over(bodies: &[GarmentBody], body: &GarmentBody, p: Vec3, room: f32) -> Over {
    let Some((under, q)) = Under::find(bodies, p, room) else { return Over::Freely };
    let bvh = body.surface.bvh();
    let Some(hit) = bvh.raycast(q, under.normal, room) else { return Over::Nothing };
    // Left through its far side: the part is in the trunk.
    if bvh.face_normal(hit.triangle).dot(under.normal) > 0.0 {
        return Over::Nothing;
    }
    let height = hit.distance - (p - q).dot(under.normal);
    Over::Ceiling(under, hit.triangle, hit.barycentric, height)
}

/// Where a corner of such a part presses to: towards the trunk near it, if it does not look away from that.
pub fn pressing_of(bodies: &[GarmentBody], p: Vec3, normal: Vec3, room: f32) -> Option<Pressing> {
    let Some((under, q)) = Under::find(bodies, p, room) else {
        return Some(Pressing::smooth(normal));
    };
    let looks =
        normal.dot(under.normal) < tolerances::LOOKS_AT_COS && (p - q).dot(under.normal) > 0.0;
    looks.then(|| Pressing::towards(-under.normal))
}
