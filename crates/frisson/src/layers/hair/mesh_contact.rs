//! Contact with the real, animated triangles of a mesh.
//!
//! Whether a particle is inside is found by walking along the wisp from particle 1, which is outside:
//! every crossing of the surface changes sides. No closed or clean mesh is needed.

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
            if out[i].as_ref().is_none_or(|other| depth(&plane) < depth(other)) {
                out[i] = Some(plane);
            }
        }
    }
    wisp.beneath = known;
}

/// The triangle nearest to every free particle within its reach, four particles at a time. `guesses`: what
/// was nearest in the last tick, and then what is.
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
            out[i] = found[lane].or(near[lane]);
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
