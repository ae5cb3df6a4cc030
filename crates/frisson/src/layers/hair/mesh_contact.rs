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
    wisp: &Wisp,
    out: &mut [Option<MeshPlane>; MAX_PARTICLES],
) {
    for mesh in input.meshes {
        let mut inside = false;
        let mut from = wisp.positions[1];
        for i in 2..wisp.positions.len() {
            let p = wisp.positions[i];
            inside = walk(mesh, from, p, inside);
            from = p;
            let reach = travel(input, wisp, i);
            let Some(plane) = plane_at(mesh, p, inside, reach, input.params.body.friction) else {
                continue;
            };
            let depth = |q: &MeshPlane| q.normal.dot(p - q.point);
            if out[i].as_ref().is_none_or(|other| depth(&plane) < depth(other)) {
                out[i] = Some(plane);
            }
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
    p: Vec3,
    inside: bool,
    reach: f32,
    friction: f32,
) -> Option<MeshPlane> {
    let reach = if inside { f32::INFINITY } else { reach };
    let hit = mesh.bvh().closest_point(p, reach)?;
    let smooth = mesh.normal(hit.triangle, hit.barycentric);
    // Near the surface its own normal knows better than the walk.
    let inside = if hit.distance < 0.01 { smooth.dot(p - hit.point) < 0.0 } else { inside };
    // Off the surface the way to it is the better normal: it does not jump at edges.
    let away = if inside { hit.point - p } else { p - hit.point };
    let normal = if hit.distance > 1.0e-4 { away / hit.distance } else { smooth };
    let end = mesh.point(hit.triangle, hit.barycentric, 1.0);
    let start = mesh.point(hit.triangle, hit.barycentric, 0.0);
    Some(MeshPlane { point: end, normal, carried: end - start, friction })
}
