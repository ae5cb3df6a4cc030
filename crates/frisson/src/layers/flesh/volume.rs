//! How flesh keeps its volume: what swings out becomes narrower, what is pressed in becomes wider.
//!
//! ```text
//!      ___                        ___
//!     /   \      u down           /   \        every vertex goes by alpha (u + S r), r from the bone's
//!    |     |     ------->         \   /        middle; S narrows across u and across the bone
//!     \___/                        \_/
//! ```
//!
//! To first order a field `alpha u` adds the volume `A u` with `A` the sum of `alpha n dA` over the skin,
//! and a field `alpha K r` adds the trace of `K G` with `G` the sum of `alpha r n dA`. So
//! `S = -share (A u) / tr(K G) K` takes away a share of what the swing adds.

use glam::{Mat3, Quat, Vec3};

use super::rest::FleshWeights;
use crate::tolerances::flesh as tolerances;

/// What an element's displacements do to the volume, in the modelled pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleshVolume {
    /// Unit vector along the bone.
    axis: Vec3,
    /// `A` [m²].
    flux: Vec3,
    /// `G` [m³].
    spread: Mat3,
}

impl FleshVolume {
    /// For a bone of some direction.
    pub(super) fn along(axis: Vec3) -> Self {
        Self { axis: axis.normalize_or(Vec3::Y), flux: Vec3::ZERO, spread: Mat3::ZERO }
    }

    /// Adds the part of an element on a mesh whose vertices are at `places` from the bone's middle.
    pub(super) fn add(&mut self, weights: &FleshWeights, places: &[Vec3], triangles: &[[u32; 3]]) {
        let mut alphas = vec![0.0; places.len()];
        for (&vertex, &alpha) in weights.vertices.iter().zip(&weights.alphas) {
            alphas[vertex as usize] = alpha;
        }
        for triangle in triangles {
            let [a, b, c] = triangle.map(|v| places[v as usize]);
            // A third of the area belongs to each corner.
            let normal = (b - a).cross(c - a) / 6.0;
            for &v in triangle {
                let (alpha, r) = (alphas[v as usize], places[v as usize]);
                self.flux += alpha * normal;
                self.spread += Mat3::from_cols(r * normal.x, r * normal.y, r * normal.z) * alpha;
            }
        }
    }

    /// The map `S` for a swing in the world, whose axes the modelled pose is turned to.
    pub(super) fn squeeze(&self, u: Vec3, share: f32, world_from_rest: Quat) -> Mat3 {
        if share == 0.0 || u == Vec3::ZERO {
            return Mat3::ZERO;
        }
        let u = world_from_rest.inverse() * u;
        let outer = |v: Vec3| Mat3::from_cols(v * v.x, v * v.y, v * v.z);
        let across = u - self.axis * self.axis.dot(u);
        let sides = Mat3::IDENTITY - outer(self.axis) - outer(across) * u.length_squared().recip();
        // Narrower across the swing and across the bone only: along the bone joints hold it, along the swing it is to go.
        let product = sides * self.spread;
        let gain = product.x_axis.x + product.y_axis.y + product.z_axis.z;
        // Where the sides would gain next to nothing (skin without an inside) they stay, and come to
        // that smoothly; the sign of the winding falls out of the quotient.
        let columns = [self.spread.x_axis, self.spread.y_axis, self.spread.z_axis];
        let size: f32 = columns.iter().map(|c| c.length_squared()).sum();
        let strain =
            share * self.flux.dot(u) * gain / (gain * gain + tolerances::LEAST_GAIN * size);
        // No flesh with a side to it: 0 / 0.
        if !strain.is_finite() {
            return Mat3::ZERO;
        }
        let most = tolerances::MOST_SQUEEZE;
        let turn = Mat3::from_quat(world_from_rest);
        // Comes to the greatest squeeze without a corner in its course.
        turn * sides * turn.transpose() * (-most * (strain / most).tanh())
    }
}
