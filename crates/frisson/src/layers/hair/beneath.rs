//! The meshes beneath four points of hairs.

use glam::{Vec3, Vec4};

use super::lanes::Lanes;
use super::limits::{LEAST_TURN, STEEPEST};
use crate::geometry::closest_on_triangle;
use crate::stage::SurfaceMotion;

/// A mesh and one of its triangles that may be beneath a point, in one number.
pub(super) type Guess = u32;

/// No idea what may be there.
pub(super) const NO_GUESS: Guess = Guess::MAX;

/// Bits of a guess that are its triangle: those above are the mesh, of which there are at most eight.
const TRIANGLE_BITS: u32 = 29;

fn pack((mesh, triangle): (u8, u32)) -> Guess {
    if triangle >> TRIANGLE_BITS != 0 {
        NO_GUESS
    } else {
        u32::from(mesh) << TRIANGLE_BITS | triangle
    }
}

/// The triangle of a guess, if it is one that a mesh has: meshes may change between two frames.
fn unpack(guess: Guess, index: u8, mesh: &SurfaceMotion) -> Option<u32> {
    let triangle = guess & ((1 << TRIANGLE_BITS) - 1);
    let is_there = guess >> TRIANGLE_BITS == u32::from(index)
        && (triangle as usize) < mesh.bvh().triangle_count();
    is_there.then_some(triangle)
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
    /// `guesses`: what may be there, and then what is: it makes the search shorter and changes nothing else.
    pub fn find(
        meshes: &[SurfaceMotion],
        bits: u8,
        points: &Lanes,
        reaches: Vec4,
        near: &Self,
        guesses: &mut [Guess; 4],
    ) -> Self {
        let mut out = Self { heights: reaches.max(Vec4::ZERO), ..Self::nothing() };
        for (k, mesh) in meshes.iter().enumerate().take(8).filter(|(k, _)| bits >> k & 1 == 1) {
            // Every search is no wider than the distance to what is already known to be there.
            let (limits, there) = near.limits((mesh, k as u8), points, reaches, guesses);
            let found = mesh.bvh().closest_of_four([points.x, points.y, points.z], limits);
            for (lane, triangle) in found.into_iter().enumerate() {
                // On the very triangle that is known rounding may find nothing nearer than it.
                if let Some(triangle) = triangle.or(there[lane]) {
                    out.put(mesh, (k as u8, triangle), lane, points.lane(lane));
                }
            }
        }
        for (guess, found) in guesses.iter_mut().zip(out.triangles) {
            // Where nothing was within reach the old guess is kept: the hair may come back to it.
            *guess = found.map_or(*guess, pack);
        }
        out
    }

    /// Squared distances within which to look: no farther than to what may be there, if that is within reach;
    /// and that.
    fn limits(
        &self,
        (mesh, index): (&SurfaceMotion, u8),
        points: &Lanes,
        reaches: Vec4,
        guesses: &[Guess; 4],
    ) -> (Vec4, [Option<u32>; 4]) {
        let mut limits = reaches * reaches.abs();
        let mut there = [None; 4];
        for (lane, known) in self.triangles.iter().enumerate() {
            let known = known.filter(|(mesh, _)| *mesh == index).map(|(_, triangle)| triangle);
            if let Some(triangle) = unpack(guesses[lane], index, mesh).or(known) {
                let p = points.lane(lane);
                let (place, _) = closest_on_triangle(p, mesh.bvh().corners(triangle));
                // A little more than its own distance, so that it is found itself.
                let distance_sq = place.distance_squared(p) * 1.0001 + 1.0e-12;
                if distance_sq < limits[lane] {
                    (limits[lane], there[lane]) = (distance_sq, Some(triangle));
                }
            }
        }
        (limits, there)
    }

    /// The points lifted to `margin` above what is beneath them, if any is lower.
    pub fn lifted(&self, points: &Lanes, margin: f32) -> Option<Lanes> {
        let found = self.normals.length_squared().cmpgt(Vec4::splat(0.5));
        let low = found & self.heights.cmplt(Vec4::splat(margin));
        let lifted = self.feet + self.normals * Vec4::splat(margin);
        low.any().then(|| Lanes::select(low, lifted, *points))
    }

    /// Smooth outward normal of what is beneath one of the points; none where nothing was found.
    pub fn up(&self, meshes: &[SurfaceMotion], lane: usize) -> Vec3 {
        let Some((mesh, triangle)) = self.triangles[lane] else { return Vec3::ZERO };
        let mesh = &meshes[mesh as usize];
        let corners = mesh.bvh().corners(triangle);
        mesh.normal(triangle, closest_on_triangle(self.feet.lane(lane), corners).1)
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
