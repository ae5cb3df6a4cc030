//! Which way a body presses on the cloth: along its smooth normals, or, where its faces are large, away from them.

use glam::{Mat3, Vec3};

use crate::stage::SurfaceMotion;
use crate::tolerances::cloth as tolerances;

/// Direction in which a place of a body presses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pressing {
    /// Unit normal at the start of the tick.
    pub normal: Vec3,
    /// Whether it goes with the face rather than with the smooth normal.
    of_face: bool,
}

impl Pressing {
    /// The smooth normal.
    pub fn smooth(normal: Vec3) -> Self {
        Self { normal, of_face: false }
    }

    /// The normal of a corner at the end of the tick, whose smooth normal then is `normal`.
    pub fn of_corner(&self, normal: Vec3) -> Vec3 {
        if self.of_face { self.normal } else { normal }
    }

    /// A direction that turns with the face.
    pub fn towards(normal: Vec3) -> Self {
        Self { normal, of_face: true }
    }

    /// For what is at `offset` from a place. Where triangles are not much larger than the cloth's, whose mean edge is
    /// `edge`, that is the smooth normal. Normals of a model of few, large faces lean far off the faces: cloth would
    /// slide down a slope that is not there, be lifted back, and never rest. There it is the way from the surface.
    pub fn new(surface: &SurfaceMotion, at: (u32, [f32; 3]), offset: Vec3, edge: f64) -> Self {
        let smooth = surface.normal(at.0, at.1);
        let [a, b, c] = surface.bvh().corners(at.0);
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        if f64::from(longest) < tolerances::COARSE_EDGES_OF_BODIES * edge {
            return Self::smooth(smooth);
        }
        let face = surface.bvh().face_normal(at.0);
        let away = if offset.dot(smooth) < 0.0 { -offset } else { offset };
        // Cloth right on the surface has no way from it: some of the face's normal stands in.
        let straight = (away + face * tolerances::ON_SURFACE).normalize_or(face);
        let (far, near) = tolerances::LEANING_COS;
        let share = ((straight.dot(smooth) - far) / (near - far)).clamp(0.0, 1.0);
        let normal = straight.lerp(smooth, share).normalize_or(straight);
        Self { normal, of_face: true }
    }

    /// The normal at the end of the tick, to which the surface has moved.
    pub fn after(&self, surface: &SurfaceMotion, at: (u32, [f32; 3])) -> Vec3 {
        if self.of_face {
            turned(self.normal, surface.corners(at.0))
        } else {
            surface.normal(at.0, at.1)
        }
    }
}

/// A direction that turns with a triangle, from its corners at the start to those at the end.
fn turned(direction: Vec3, [start, end]: [[Vec3; 3]; 2]) -> Vec3 {
    let axes = |[a, b, c]: [Vec3; 3]| {
        let side = (b - a).normalize_or(Vec3::X);
        let normal = side.cross(c - a).normalize_or(side.any_orthonormal_vector());
        Mat3::from_cols(side, normal.cross(side), normal)
    };
    if start == end {
        return direction;
    }
    (axes(end) * (axes(start).transpose() * direction)).normalize_or(direction)
}
