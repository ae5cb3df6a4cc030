//! The meshes beneath four points of hairs.

use glam::{Vec3, Vec4};

use super::lanes::Lanes;
use super::limits::{LEAST_TURN, LIFT_REACH, STEEPEST};
use crate::geometry::closest_on_triangle;
use crate::stage::SurfaceMotion;

/// Four successive points of a hair at a time, lifted out of meshes.
pub(super) struct Lifting {
    /// What was below the points before.
    ground: Beneath,
    /// The last point, and at least how high it is above the meshes whose bits are set [m].
    last: Vec3,
    height: f32,
    above: u8,
}

impl Lifting {
    /// Begins at a root on the skin.
    pub fn new(root: Vec3) -> Self {
        Self { ground: Beneath::nothing(), last: root, height: 0.0, above: 0 }
    }

    /// Lifts points to `margin` above the meshes whose bits are set.
    pub fn lift(&mut self, meshes: &[SurfaceMotion], bits: u8, four: &mut [Vec4; 4], margin: f32) {
        let mut points = Lanes::from_points(*four);
        // Nothing is lower than what the height of the last point leaves.
        let way = (points - Lanes::splat(self.last)).length_squared().sqrt();
        let mut heights = self.height - way;
        // A mesh that comes near only here was not looked at there.
        let is_known = bits & !self.above == 0;
        if bits == 0 || is_known && heights.cmpge(Vec4::splat(margin)).all() {
            (self.last, self.height) = (points.lane(3), heights[3].max(0.0));
            return;
        }
        let mut reaches = Vec4::splat(LIFT_REACH);
        // Twice: in a fold the nearest place changes on the way out.
        for _ in 0..2 {
            let found = Beneath::find(meshes, bits, &points, reaches, &self.ground);
            heights = Vec4::select(reaches.cmpgt(Vec4::ZERO), found.heights, heights);
            let low = found.normals.length_squared().cmpgt(Vec4::splat(0.5))
                & found.heights.cmplt(Vec4::splat(margin));
            self.ground = found;
            if !low.any() {
                break;
            }
            points = Lanes::select(low, found.feet + found.normals * Vec4::splat(margin), points);
            heights = Vec4::select(low, Vec4::splat(margin), heights);
            reaches = Vec4::select(low, reaches, Vec4::NEG_ONE);
        }
        (self.last, self.height, self.above) = (points.lane(3), heights[3].max(0.0), bits);
        *four = points.to_points();
    }
}

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
                // On the very triangle that is known rounding may find nothing nearer than it.
                if let Some(triangle) = triangle.or(near.known(lane, k as u8, reaches)) {
                    out.put(mesh, (k as u8, triangle), lane, points.lane(lane));
                }
            }
        }
        out
    }

    /// The triangle of a mesh that is known to be below one of the points, where one is looked for.
    fn known(&self, lane: usize, mesh: u8, reaches: Vec4) -> Option<u32> {
        let known = self.triangles[lane].filter(|(of, _)| *of == mesh && reaches[lane] > 0.0);
        known.map(|(_, triangle)| triangle)
    }

    /// Squared distances within which to look: no farther than to what is known to be there.
    fn limits(&self, mesh: &SurfaceMotion, index: u8, points: &Lanes, reaches: Vec4) -> Vec4 {
        let mut limits = reaches * reaches.abs();
        for (lane, known) in self.triangles.iter().enumerate() {
            if let Some((_, triangle)) = known.filter(|(mesh, _)| *mesh == index) {
                let p = points.lane(lane);
                let (place, _) = closest_on_triangle(p, mesh.bvh().corners(triangle));
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

    /// Turns the ways from four points until the places at their `reaches` are `margin` above the planes
    /// beneath: the unit directions, and whether any was turned.
    ///
    /// ```text
    ///         n ↑   d wanted, steeper      n·d must be at least s = (margin - height of the start) / reach:
    ///   start o─────► d turned             what is across n keeps its direction
    /// ```
    pub fn turn(
        &self,
        starts: &Lanes,
        directions: &Lanes,
        reaches: Vec4,
        margin: f32,
    ) -> (Lanes, bool) {
        let height = (*starts - self.feet).dot_each(&self.normals);
        let rise = ((Vec4::splat(margin) - height) / reaches).min(Vec4::splat(STEEPEST));
        let found = self.normals.length_squared().cmpgt(Vec4::splat(0.5));
        let low =
            (rise - directions.dot_each(&self.normals)).cmpgt(Vec4::splat(LEAST_TURN)) & found;
        if !low.any() {
            return (*directions, false);
        }
        let across = *directions - self.normals * directions.dot_each(&self.normals);
        // Straight down: any way along the surface is as good.
        let sideways =
            self.normals.cross(&Lanes::splat(Vec3::X)) + self.normals.cross(&Lanes::splat(Vec3::Y));
        let sideways = sideways.normalize_or(Lanes::splat(Vec3::X), 1.0e-6);
        let flat = across.normalize_or(sideways, 1.0e-4);
        let run = (Vec4::ONE - rise * rise).max(Vec4::ZERO).sqrt();
        (Lanes::select(low, self.normals * rise + flat * run, *directions), true)
    }
}
