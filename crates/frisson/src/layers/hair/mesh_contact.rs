//! Contact with the real, animated triangles of a mesh.
//!
//! Whether a particle is inside is found by walking along the wisp from particle 1, which is outside:
//! every crossing of the surface changes sides. No closed or clean mesh is needed.
//!
//! In a fold, as behind an ear, a particle may be as near to one wall as to the other, and a hundredth of a
//! millimetre would decide from tick to tick what holds it and how wide its wisp may be. So it stays with the wall
//! that it was at until the other is clearly nearer (`stays_at_its_wall`).

use glam::{Vec3, Vec4};

use super::chain::MAX_PARTICLES;
use super::contact::Contact;
use super::lanes::Lanes;
use super::state::Wisp;
use super::tick::TickInput;
use crate::geometry::closest_on_triangle;
use crate::stage::SurfaceMotion;

/// The surface near a particle over one tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshPlane {
    /// Point of the surface at the end of the tick [m].
    pub point: Vec3,
    pub normal: Vec3,
    /// How far that point moves over the tick [m].
    pub carried: Vec3,
    pub friction: f32,
}

impl MeshPlane {
    /// The plane at a fraction of the tick.
    pub fn contact(
        &self,
        fraction: f32,
        substeps: usize,
        margin: f32,
        restitution: f32,
    ) -> Contact {
        let point = self.point - (1.0 - fraction) * self.carried;
        Contact {
            normal: self.normal,
            point: point + margin * self.normal,
            carried: self.carried / substeps as f32,
            friction: self.friction,
            restitution,
        }
    }

    /// How far along each of four half-axes from `p` the plane (at the end of the tick) is met.
    pub fn meets(&self, p: Vec3, axes: &Lanes, margin: f32) -> Vec4 {
        let closing = -axes.dot(self.normal);
        let height = (self.normal.dot(p - self.point) - margin).max(0.0);
        let towards = closing.cmpgt(Vec4::splat(1.0e-3));
        Vec4::select(towards, height / closing.max(Vec4::splat(1.0e-3)), Vec4::INFINITY)
    }
}

/// The plane of the nearest colliding mesh at every particle that comes near one.
pub(super) fn find_mesh_planes(
    input: &TickInput,
    wisp: &mut Wisp,
    out: &mut [Option<MeshPlane>; MAX_PARTICLES],
) {
    let n = wisp.positions.len();
    // Of several meshes only the first is remembered: two of them are seldom near the same wisp.
    let mut known = std::mem::take(&mut wisp.beneath);
    known.resize(n, u32::MAX);
    let mut reaches = [0.0; MAX_PARTICLES];
    for (i, reach) in reaches[..n].iter_mut().enumerate().skip(2) {
        *reach = travel(input, wisp, i);
    }
    for (number, mesh) in input.meshes.iter().enumerate() {
        let mut nothing = [u32::MAX; MAX_PARTICLES];
        let guesses = if number == 0 { &mut known[..] } else { &mut nothing[..n] };
        let triangles = nearest_triangles(mesh, &wisp.positions, &reaches, guesses);
        let mut way = Way { from: wisp.positions[1], height: 0.0, inside: false, beside: false };
        for i in 2..n {
            let p = wisp.positions[i];
            let place = triangles[i].map(|triangle| Place::on(mesh, triangle, p));
            let inside = way.go_on(mesh, p, (place, reaches[i]));
            let Some(plane) = plane_at(mesh, (p, place), inside, input.params.body.friction) else {
                continue;
            };
            let depth = |q: &MeshPlane| q.normal.dot(p - q.point);
            // Of several meshes the deepest: one plane a particle is enough, as they are looked for anew every tick.
            if out[i].as_ref().is_none_or(|other| depth(&plane) < depth(other)) {
                out[i] = Some(plane);
            }
        }
    }
    wisp.beneath = known;
}

/// The triangle nearest to every free particle within its reach, four particles at a time. `guesses`: at which it
/// was in the last tick, and then at which it is.
fn nearest_triangles(
    mesh: &SurfaceMotion,
    positions: &[Vec3],
    reaches: &[f32; MAX_PARTICLES],
    guesses: &mut [u32],
) -> [Option<u32>; MAX_PARTICLES] {
    let mut out = [None; MAX_PARTICLES];
    for first in (2..positions.len()).step_by(4) {
        let last = (first + 4).min(positions.len());
        let four = Lanes::new(positions[first..last].iter().copied());
        let mut limits = Vec4::NEG_ONE;
        let mut near = [None; 4];
        for (lane, i) in (first..last).enumerate() {
            let reach_sq = reaches[i] * reaches[i];
            let (guess, distance_sq) = guess_beneath(mesh, guesses[i], positions[i], reach_sq);
            (near[lane], limits[lane]) = (guess, distance_sq);
        }
        let found = mesh.bvh().closest_of_four([four.x, four.y, four.z], limits);
        for (lane, i) in (first..last).enumerate() {
            // On the very triangle that was guessed rounding may find nothing nearer than it.
            out[i] = match (found[lane], near[lane]) {
                (Some(new), Some(old)) if stays_at_its_wall(mesh, positions[i], old, new) => {
                    Some(old)
                }
                (found, near) => found.or(near),
            };
            guesses[i] = out[i].unwrap_or(guesses[i]);
        }
    }
    out
}

/// A guess that is within reach, and the squared distance within which something nearer may be [m²]: a little
/// more than its own, so that the guess itself is found, and what is found does not depend on it.
fn guess_beneath(mesh: &SurfaceMotion, guess: u32, p: Vec3, reach_sq: f32) -> (Option<u32>, f32) {
    if guess as usize >= mesh.bvh().triangle_count() {
        return (None, reach_sq);
    }
    let (foot, _) = closest_on_triangle(p, mesh.bvh().corners(guess));
    let distance_sq = foot.distance_squared(p) * 1.0001 + 1.0e-12;
    if distance_sq < reach_sq { (Some(guess), distance_sq) } else { (None, reach_sq) }
}

/// Whether a particle stays with the wall of a fold that it was at, though another is a little nearer.
fn stays_at_its_wall(mesh: &SurfaceMotion, p: Vec3, old: u32, new: u32) -> bool {
    if old == new {
        return false;
    }
    let away = |triangle: u32| p - closest_on_triangle(p, mesh.bvh().corners(triangle)).0;
    let (from_old, from_new) = (away(old), away(new));
    let (far, near) = (from_old.length(), from_new.length());
    // Along one surface the next triangle is right at once: only what lies another way is another wall.
    far - near < super::limits::FOLD_SLACK
        && from_old.dot(from_new) < super::limits::FOLD_COSINE * far * near
}

/// The place of a mesh nearest to a particle.
#[derive(Clone, Copy)]
struct Place {
    triangle: u32,
    barycentric: [f32; 3],
    point: Vec3,
    distance: f32,
    smooth: Vec3,
}

impl Place {
    fn on(mesh: &SurfaceMotion, triangle: u32, p: Vec3) -> Self {
        let (point, barycentric) = closest_on_triangle(p, mesh.bvh().corners(triangle));
        let smooth = mesh.normal(triangle, barycentric);
        Self { triangle, barycentric, point, distance: point.distance(p), smooth }
    }

    /// Near the surface its own normal knows better than the walk.
    fn is_near(&self) -> bool {
        self.distance < 0.01
    }

    fn is_inside(&self, p: Vec3) -> bool {
        self.smooth.dot(p - self.point) < 0.0
    }
}

/// The way along a wisp from particle 1, which is outside.
struct Way {
    /// The particle before, at least how far from the mesh it is, whether it is inside, and whether it is
    /// known to be beside the surface.
    from: Vec3,
    height: f32,
    inside: bool,
    beside: bool,
}

impl Way {
    /// Goes on to the next particle, whose nearest place is given or is farther than the reach. Tells
    /// whether it is inside.
    fn go_on(
        &mut self,
        mesh: &SurfaceMotion,
        p: Vec3,
        (place, reach): (Option<Place>, f32),
    ) -> bool {
        let height = place.map_or(reach, |place| place.distance);
        let beside = place.is_some_and(|place| place.is_near() && !place.is_inside(p));
        // Nothing can be crossed where both ends are farther from the surface than from each other, and
        // along the outside of a surface nothing is.
        let far = self.height + height > self.from.distance(p);
        let along = !self.inside && self.beside && beside;
        if !far && !along {
            self.inside = walk(mesh, self.from, p, self.inside);
        }
        (self.from, self.height, self.beside) = (p, height, beside);
        match place {
            Some(place) if place.is_near() => place.is_inside(p),
            _ => self.inside,
        }
    }
}

/// Whether we are inside after walking from `from` to `to`: the last crossing tells, by the side of
/// the triangle that it comes from. (Counting crossings would go wrong on an edge that two triangles
/// share, or where surfaces overlap.)
fn walk(mesh: &SurfaceMotion, from: Vec3, to: Vec3, inside: bool) -> bool {
    let mut last = (-1.0, inside);
    let way = to - from;
    // The last crossing alone decides, whatever was counted before: what a hole in the mesh has got wrong is mended at
    // the next one.
    mesh.bvh().raycast_all(from, way, |triangle, t| {
        let entering = way.dot(mesh.bvh().face_normal(triangle)) < 0.0;
        // At a shared edge both triangles answer at the same place: leaving wins.
        if t > last.0 + 1.0e-6 || t > last.0 - 1.0e-6 && !entering {
            last = (t, entering);
        }
    });
    last.1
}

/// How far from a particle a surface matters this tick [m].
fn travel(input: &TickInput, wisp: &Wisp, i: usize) -> f32 {
    let samples = input.rest.directions.len();
    let widest = wisp.radii[i * samples..(i + 1) * samples].iter().copied().fold(0.0, f32::max);
    2.0 * wisp.velocities[i].length() * input.dt as f32 + widest + 0.01
}

fn plane_at(
    mesh: &SurfaceMotion,
    (p, place): (Vec3, Option<Place>),
    inside: bool,
    friction: f32,
) -> Option<MeshPlane> {
    // Out of the depth the way is as long as it takes.
    let deep = || Some(Place::on(mesh, mesh.bvh().closest_point(p, f32::INFINITY)?.triangle, p));
    let place = if inside { place.or_else(deep) } else { place }?;
    // Off the surface the way to it is the better normal: it does not jump at edges.
    let away = if inside { place.point - p } else { p - place.point };
    let normal = if place.distance > 1.0e-4 { away / place.distance } else { place.smooth };
    let end = mesh.point(place.triangle, place.barycentric, 1.0);
    let start = mesh.point(place.triangle, place.barycentric, 0.0);
    Some(MeshPlane { point: end, normal, carried: end - start, friction })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Mesh;

    /// Two walls that face each other, 1 cm apart, each of two triangles: 0 and 1 to the left, 2 and 3 to the right.
    fn fold() -> SurfaceMotion {
        let wall = |x: f32| [[x, -0.1, -0.1], [x, 0.1, -0.1], [x, 0.1, 0.1], [x, -0.1, 0.1]];
        let positions = [wall(-0.005), wall(0.005)].concat().into_iter().map(Vec3::from).collect();
        let triangles = vec![[0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6]];
        let mut motion = SurfaceMotion::default();
        motion.update(&Mesh::new("fold", positions, triangles), 1.0 / 120.0);
        motion
    }

    fn nearest(mesh: &SurfaceMotion, p: Vec3, guess: u32) -> u32 {
        let mut guesses = [u32::MAX, u32::MAX, guess];
        let reaches = [0.02; MAX_PARTICLES];
        let all = [p; 3];
        nearest_triangles(mesh, &all, &reaches, &mut guesses)[2].expect("a wall")
    }

    #[test]
    fn between_two_walls_a_particle_stays_at_its_own_until_the_other_is_clearly_nearer() {
        let mesh = fold();
        // Off the edge that the two triangles of a wall share.
        let at = |x: f32| Vec3::new(x, 0.03, -0.02);
        let left = nearest(&mesh, at(-0.002), u32::MAX);
        assert!(left < 2);
        let right = nearest(&mesh, at(0.002), u32::MAX);
        assert!(right >= 2);
        for x in [-1.0e-5, 1.0e-5, 5.0e-5] {
            assert_eq!(nearest(&mesh, at(x), left), left, "{x}");
            assert_eq!(nearest(&mesh, at(-x), right), right, "{x}");
        }
        assert_eq!(nearest(&mesh, at(2.0e-4), left), right, "0.4 mm nearer");
    }

    #[test]
    fn along_one_surface_the_nearest_triangle_is_taken_at_once() {
        let mesh = fold();
        let at = |z: f32| Vec3::new(-0.004, 0.0, z);
        let (here, there) =
            (nearest(&mesh, at(-1.0e-5), u32::MAX), nearest(&mesh, at(1.0e-5), u32::MAX));
        assert_ne!(here, there, "the edge is between them");
        assert_eq!(nearest(&mesh, at(1.0e-5), here), there);
    }
}
