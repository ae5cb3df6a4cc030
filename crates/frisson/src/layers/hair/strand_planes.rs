//! The planes of one wisp, laid out for the loop over its hairs.

use glam::{Vec2, Vec3, Vec3A, Vec4};

use super::bodies::PosedBody;
use super::chain::MAX_PARTICLES;
use super::lanes::Lanes;
use super::state::{Past, Wisp};
use super::strands::{StrandInput, radius_at};
use crate::stage::SurfaceMotion;

/// The planes of one wisp and what is near them.
pub(super) struct Planes {
    pub count: usize,
    centers: [Vec3; MAX_PARTICLES],
    axes: [[Vec3; 2]; MAX_PARTICLES],
    /// Radii towards +x, +y, -x, -y (four samples), else by angle.
    radii: [[f32; 8]; MAX_PARTICLES],
    /// Bodies that may touch the segment before each plane, one bit each.
    pub near: [u64; MAX_PARTICLES],
    /// Meshes that may touch it, one bit each.
    pub near_meshes: [u8; MAX_PARTICLES],
    /// Whether anything may touch the wisp anywhere.
    pub touched: bool,
}

impl Planes {
    pub fn new() -> Self {
        Self {
            count: 0,
            centers: [Vec3::ZERO; MAX_PARTICLES],
            axes: [[Vec3::ZERO; 2]; MAX_PARTICLES],
            radii: [[0.0; 8]; MAX_PARTICLES],
            near: [0; MAX_PARTICLES],
            near_meshes: [0; MAX_PARTICLES],
            touched: false,
        }
    }

    /// Takes over the shape of a wisp.
    pub fn set(&mut self, wisp: &Wisp, samples: usize) {
        self.count = wisp.positions.len();
        for i in 0..self.count {
            self.centers[i] = wisp.positions[i];
            self.axes[i] = [wisp.across[i], wisp.second_axis(i)];
            self.radii[i][..samples].copy_from_slice(&wisp.radii[i * samples..(i + 1) * samples]);
        }
    }

    /// Takes over the shape that a wisp had one step earlier.
    pub fn set_past(&mut self, past: &Past, wisp: usize, samples: usize) {
        for i in 0..self.count {
            let plane = wisp * self.count + i;
            self.centers[i] = past.positions[plane];
            self.axes[i] = past.axes[plane];
            let radii = &past.radii[plane * samples..(plane + 1) * samples];
            self.radii[i][..samples].copy_from_slice(radii);
        }
    }

    /// Finds the bodies and meshes that hairs between two planes may reach.
    pub fn find_near(&mut self, input: &StrandInput) {
        let n = self.count;
        let samples = input.rest.directions.len();
        let detail = 2.0 * (input.params.curl_radius + input.params.frizz);
        let stray = if input.params.strays > 0.0 { input.params.stray_distance } else { 0.0 };
        let widest = |r: &[f32; 8]| r[..samples].iter().copied().fold(0.0, f32::max);
        let mut reaches = [0.0; MAX_PARTICLES];
        let mut middles = [Vec3::ZERO; MAX_PARTICLES];
        for i in 1..n {
            let (a, b) = (self.centers[i - 1], self.centers[i]);
            middles[i] = 0.5 * (a + b);
            let wide = widest(&self.radii[i - 1]).max(widest(&self.radii[i]));
            // The envelope, what stands out of it, and what a Catmull-Rom arc bulges.
            reaches[i] = wide * (1.0 + stray) + detail + 0.15 * a.distance(b) + 1.0e-3;
        }
        self.near[..n].fill(0);
        for (k, body) in input.bodies.iter().enumerate().take(64) {
            let ends = body.distances(&self.centers[..n]);
            let halfway = body.distances(&middles[..n]);
            for i in 1..n {
                let least = ends[i - 1].min(ends[i]).min(halfway[i]);
                // A fifth more, as distances of ellipsoids are first order.
                self.near[i] |= u64::from(least < 1.2 * reaches[i]) << k;
            }
        }
        for i in 1..n {
            let reach = reaches[i] + 0.5 * self.centers[i - 1].distance(self.centers[i]);
            let meets = |bit: u8, (k, mesh): (usize, &SurfaceMotion)| {
                let air = input.air.get(k);
                let known = air.and_then(|air| air.is_within(mesh.bvh(), middles[i], reach));
                let hit = || mesh.bvh().closest_point(middles[i], reach).is_some();
                if known.unwrap_or_else(hit) { bit | 1 << k } else { bit }
            };
            self.near_meshes[i] = input.meshes.iter().enumerate().take(8).fold(0, meets);
        }
        self.touched = (1..n).any(|i| self.near[i] != 0 || self.near_meshes[i] != 0);
    }

    /// Where four places of the unit disc are in a plane.
    pub fn points(&self, plane: usize, x: Vec4, y: Vec4, samples: usize) -> Lanes {
        let r = &self.radii[plane];
        // Four quarters of ellipses, without an angle: this is the loop over all hairs.
        let (x, y) = if samples == 4 {
            let zero = Vec4::ZERO;
            (x.max(zero) * r[0] + x.min(zero) * r[2], y.max(zero) * r[1] + y.min(zero) * r[3])
        } else {
            let radius = |k: usize| radius_at(&r[..samples], Vec2::new(x[k], y[k]));
            let radius = Vec4::from_array(std::array::from_fn(radius));
            (x * radius, y * radius)
        };
        let [first, second] = self.axes[plane];
        Lanes::splat(self.centers[plane]) + Lanes::splat(first) * x + Lanes::splat(second) * y
    }

    /// An offset along the axes of the planes, between two of them.
    pub fn across(&self, segment: usize, t: f32, offset: Vec2) -> Vec3 {
        let [[u, v], [next_u, next_v]] = [self.axes[segment], self.axes[segment + 1]];
        offset.x * u.lerp(next_u, t) + offset.y * v.lerp(next_v, t)
    }
}

/// Moves four points out of the bodies whose bits are set in `near`.
pub(super) fn push_out_of_bodies(bodies: &[PosedBody], near: u64, points: Lanes) -> Lanes {
    let (mut inside, mut bits) = (0, near);
    while bits != 0 {
        inside |= bodies[bits.trailing_zeros() as usize].holds_of_four(&points);
        bits &= bits - 1;
    }
    let mut out = points;
    while inside != 0 {
        let lane = inside.trailing_zeros() as usize;
        out.set(lane, push_out(bodies, near, points.lane(lane).into()).into());
        inside &= inside - 1;
    }
    out
}

/// Moves a point out of the bodies whose bits are set.
fn push_out(bodies: &[PosedBody], near: u64, p: Vec3A) -> Vec3A {
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
