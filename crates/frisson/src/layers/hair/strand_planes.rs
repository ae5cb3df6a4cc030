//! The planes of one wisp, laid out for the loop over its hairs.

use glam::{Vec2, Vec3, Vec3A};

use super::chain::MAX_PARTICLES;
use super::contact::PosedBody;
use super::state::Wisp;
use super::strands::{StrandInput, radius_at};
use crate::stage::SurfaceMotion;

/// The planes of one wisp and what is near them.
pub(super) struct Planes {
    pub count: usize,
    pub centers: [Vec3A; MAX_PARTICLES],
    pub across: [Vec3A; MAX_PARTICLES],
    pub second: [Vec3A; MAX_PARTICLES],
    /// Radii towards +x, +y, -x, -y (four samples), else by angle.
    pub radii: [[f32; 8]; MAX_PARTICLES],
    /// Bodies that may touch the segment before each plane, one bit each.
    pub near: [u64; MAX_PARTICLES],
    /// Meshes that may touch it, one bit each.
    pub near_meshes: [u8; MAX_PARTICLES],
}

impl Planes {
    pub fn new() -> Self {
        Self {
            count: 0,
            centers: [Vec3A::ZERO; MAX_PARTICLES],
            across: [Vec3A::ZERO; MAX_PARTICLES],
            second: [Vec3A::ZERO; MAX_PARTICLES],
            radii: [[0.0; 8]; MAX_PARTICLES],
            near: [0; MAX_PARTICLES],
            near_meshes: [0; MAX_PARTICLES],
        }
    }

    /// Takes over the shape of a wisp.
    pub fn set(&mut self, wisp: &Wisp, samples: usize) {
        self.count = wisp.positions.len();
        for i in 0..self.count {
            self.centers[i] = wisp.positions[i].into();
            self.across[i] = wisp.across[i].into();
            self.second[i] = wisp.second_axis(i).into();
            self.radii[i][..samples].copy_from_slice(&wisp.radii[i * samples..(i + 1) * samples]);
        }
    }

    /// Finds the bodies and meshes that hairs between two planes may reach.
    pub fn find_near(&mut self, input: &StrandInput) {
        let samples = input.rest.directions.len();
        let detail = 2.0 * (input.params.curl_radius + input.params.frizz);
        let stray = if input.params.strays > 0.0 { input.params.stray_distance } else { 0.0 };
        let widest = |r: &[f32; 8]| r[..samples].iter().copied().fold(0.0, f32::max);
        for i in 1..self.count {
            let (a, b) = (Vec3::from(self.centers[i - 1]), Vec3::from(self.centers[i]));
            let middle = 0.5 * (a + b);
            let wide = widest(&self.radii[i - 1]).max(widest(&self.radii[i]));
            let length = a.distance(b);
            // The envelope, what stands out of it, and what a Catmull-Rom arc bulges.
            let out = wide * (1.0 + stray) + detail + 0.15 * length + 1.0e-3;
            let touches = |body: &PosedBody| {
                !body.is_clear(middle, out + 0.6 * length)
                    && [a, middle, b].iter().any(|&p| body.distance(p).0 < 1.2 * out)
            };
            let bits = |bit: u64, (k, body): (usize, &PosedBody)| {
                if touches(body) { bit | 1 << k } else { bit }
            };
            self.near[i] = input.bodies.iter().enumerate().take(64).fold(0, bits);
            let reach = out + 0.5 * length;
            let meets = |bit: u8, (k, mesh): (usize, &SurfaceMotion)| {
                let hit = mesh.bvh().closest_point(middle, reach);
                if hit.is_some() { bit | 1 << k } else { bit }
            };
            self.near_meshes[i] = input.meshes.iter().enumerate().take(8).fold(0, meets);
        }
    }

    /// Where a place of the unit disc is in a plane.
    pub fn point(&self, plane: usize, disc: Vec2, samples: usize) -> Vec3A {
        let r = &self.radii[plane];
        let (x, y) = if samples == 4 {
            let rx = if disc.x >= 0.0 { r[0] } else { r[2] };
            let ry = if disc.y >= 0.0 { r[1] } else { r[3] };
            (disc.x * rx, disc.y * ry)
        } else {
            let radius = radius_at(&r[..samples], disc);
            (disc.x * radius, disc.y * radius)
        };
        self.centers[plane] + x * self.across[plane] + y * self.second[plane]
    }
}

/// Moves a point of a hair out of the bodies whose bits are set.
pub(super) fn push_out_of_bodies(bodies: &[PosedBody], near: u64, p: Vec3A) -> Vec3A {
    let mut at = p;
    // Three rounds: the distance is first order for ellipsoids, and bodies overlap.
    for _ in 0..3 {
        let mut moved = false;
        let mut bits = near;
        while bits != 0 {
            let body = &bodies[bits.trailing_zeros() as usize];
            bits &= bits - 1;
            if body.holds(at) {
                let (d, n) = body.distance(at.into());
                at += Vec3A::from(n) * (1.0e-5 - d);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    at
}

/// Lifts a point of a hair out of the meshes whose bits are set, to `margin` above them.
pub(super) fn lift_off_meshes(
    meshes: &[SurfaceMotion],
    near: u8,
    p: Vec3A,
    reach: f32,
    margin: f32,
) -> Vec3A {
    let mut at: Vec3 = p.into();
    for (_, mesh) in meshes.iter().enumerate().filter(|(k, _)| near >> k & 1 == 1) {
        // Twice: in a fold the nearest place changes on the way out.
        for _ in 0..2 {
            let Some((distance, hit)) = mesh.signed_distance(at, reach) else { break };
            if distance >= margin {
                break;
            }
            let normal = mesh.normal(hit.triangle, hit.barycentric);
            at = hit.point + margin * normal;
        }
    }
    at.into()
}
