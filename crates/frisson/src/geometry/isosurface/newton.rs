//! Newton's method for all vertices of a block at once.

use glam::Vec3;

use super::{Field, IsoSettings, PointsSoa, SamplesSoa};
use crate::tolerances;

/// Buffers, one set per thread.
#[derive(Clone, Debug, Default)]
pub struct Newton {
    start: Vec<Vec3>,
    arrived: Vec<bool>,
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    samples: SamplesSoa,
}

/// Points on their way to the surface, as a block has them.
pub struct Vertices<'a> {
    /// Parts of the field that matter to them.
    pub parts: &'a [u32],
    /// Where they are.
    pub positions: &'a mut [Vec3],
    /// Where the surface faces there.
    pub normals: &'a mut [Vec3],
}

impl Newton {
    /// Goes along the gradient from every point to the surface; `normals` are those of the last place
    /// looked at. Never further than a cell: where the field has a crease or was closed off, a point
    /// stays near its cube. A point's way does not depend on the others.
    pub fn run(
        &mut self,
        field: &impl Field,
        settings: &IsoSettings,
        Vertices { parts, positions, normals }: Vertices<'_>,
        steps: u32,
    ) {
        normals.fill(Vec3::ZERO);
        self.start.clear();
        self.start.extend_from_slice(positions);
        self.arrived.clear();
        self.arrived.resize(positions.len(), false);
        let step = tolerances::isosurface::DIFFERENCE_CELLS * settings.cell;
        for _ in 0..steps {
            if self.arrived.iter().all(|a| *a) {
                break;
            }
            self.sample(field, parts, positions, step);
            for i in 0..positions.len() {
                if !self.arrived[i] {
                    self.arrived[i] = self.advance(settings, i, &mut positions[i], &mut normals[i]);
                }
            }
        }
        // A field without a slope where the point began: any direction is as good.
        normals.iter_mut().filter(|n| **n == Vec3::ZERO).for_each(|n| *n = Vec3::Y);
    }

    fn sample(&mut self, field: &impl Field, parts: &[u32], positions: &[Vec3], step: f32) {
        for (axis, out) in [&mut self.x, &mut self.y, &mut self.z].into_iter().enumerate() {
            out.clear();
            out.extend(positions.iter().map(|p| p[axis]));
        }
        let points = PointsSoa { x: &self.x, y: &self.y, z: &self.z };
        field.values_and_gradients(parts, points, step, &mut self.samples);
    }

    /// One step of one point; whether it has arrived.
    fn advance(&self, settings: &IsoSettings, i: usize, at: &mut Vec3, normal: &mut Vec3) -> bool {
        let (value, gradient) = self.samples.get(i);
        let cell = settings.cell;
        let slope_sq = gradient.length_squared();
        if !(slope_sq > f32::MIN_POSITIVE && slope_sq.is_finite()) {
            return true;
        }
        *normal = -gradient / slope_sq.sqrt();
        let excess = value - settings.level;
        let way = (gradient * (-excess / slope_sq)).clamp_length_max(0.5 * cell);
        if !way.is_finite() {
            return true;
        }
        let start = self.start[i];
        *at = start + (*at + way - start).clamp_length_max(cell);
        way.length_squared() < (tolerances::isosurface::ON_SURFACE_CELLS * cell).powi(2)
    }
}
