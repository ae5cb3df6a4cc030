//! The meshes beneath four points of hairs.

use glam::{Vec3, Vec4};

use super::lanes::Lanes;
use crate::geometry::closest_on_triangle;
use crate::stage::SurfaceMotion;

/// The nearest places of meshes to four points that lie near each other.
#[derive(Clone, Copy)]
pub(super) struct Beneath {
    /// Mesh and triangle below each point.
    triangles: [Option<(u8, u32)>; 4],
    feet: Lanes,
    normals: Lanes,
    /// How high the points are; as far as was looked where nothing was found [m].
    pub heights: Vec4,
}

impl Beneath {
    /// Nothing known.
    pub fn nothing() -> Self {
        Self {
            triangles: [None; 4],
            feet: Lanes::default(),
            normals: Lanes::default(),
            heights: Vec4::ZERO,
        }
    }

    /// What is beneath four points within their reaches, in the meshes whose bits are set. Nothing is
    /// looked for where a reach is negative. `near`: what was found for points nearby, where to begin.
    pub fn find(
        meshes: &[SurfaceMotion],
        bits: u8,
        points: &Lanes,
        reaches: Vec4,
        near: &Self,
    ) -> Self {
        let mut out = Self { heights: reaches.max(Vec4::ZERO), ..Self::nothing() };
        for (k, mesh) in meshes.iter().enumerate().take(8).filter(|(k, _)| bits >> k & 1 == 1) {
            let limits = near.limits(mesh, k as u8, points, reaches);
            let found = mesh.bvh().closest_of_four([points.x, points.y, points.z], limits);
            for (lane, triangle) in found.into_iter().enumerate() {
                if let Some(triangle) = triangle {
                    out.put(mesh, (k as u8, triangle), lane, points.lane(lane));
                }
            }
        }
        out
    }

    /// Squared distances within which to look: no farther than to what is known to be there.
    fn limits(&self, mesh: &SurfaceMotion, index: u8, points: &Lanes, reaches: Vec4) -> Vec4 {
        let mut limits = reaches * reaches.abs();
        for (lane, known) in self.triangles.iter().enumerate() {
            if let Some((_, triangle)) = known.filter(|(mesh, _)| *mesh == index) {
                let p = points.lane(lane);
                let (place, _) = closest_on_triangle(p, mesh.bvh().corners(triangle));
                // A little more: rounding must not hide that very triangle.
                limits[lane] = limits[lane].min(place.distance_squared(p) * 1.0001 + 1.0e-12);
            }
        }
        limits
    }

    /// Takes what was found of one mesh for one point, if it is lower than what is there.
    fn put(&mut self, mesh: &SurfaceMotion, place: (u8, u32), lane: usize, p: Vec3) {
        let (foot, barycentric) = closest_on_triangle(p, mesh.bvh().corners(place.1));
        let smooth = mesh.normal(place.1, barycentric);
        let away = p - foot;
        let distance = away.length();
        let height = if smooth.dot(away) >= 0.0 { distance } else { -distance };
        // Off the surface the way to it is the better normal: it does not jump at edges.
        let normal = if distance > 1.0e-4 { away / height } else { smooth };
        if height < self.heights[lane] {
            self.heights[lane] = height;
            self.triangles[lane] = Some(place);
            self.feet.set(lane, foot);
            self.normals.set(lane, normal);
        }
    }

    /// What lifts four points, not far from those that were asked for, to `margin` above the planes beneath
    /// them.
    pub fn lift(&self, points: &Lanes, margin: f32) -> Lanes {
        let height = (*points - self.feet).dot_each(&self.normals);
        let missing = (Vec4::splat(margin) - height).max(Vec4::ZERO);
        // Where nothing is beneath, the normal is zero.
        self.normals * missing
    }

    /// Heights of four points, not far from those that were asked for, above the planes beneath them.
    pub fn heights_of(&self, points: &Lanes) -> Vec4 {
        let height = (*points - self.feet).dot_each(&self.normals);
        let found = self.normals.length_squared().cmpgt(Vec4::splat(0.5));
        Vec4::select(found, height, self.heights)
    }
}
