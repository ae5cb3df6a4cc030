//! Evens out the triangles: vertices slide along the surface towards the middle of their neighbours.

use glam::Vec3;
use rayon::prelude::*;

use super::newton::{Newton, Vertices};
use super::{Field, IsoSettings, IsoSurface};
use crate::tolerances;

/// Sum of every vertex's neighbours, and their number. In a closed mesh every directed edge occurs
/// once, so the heads of a vertex's outgoing edges are all its neighbours.
fn sum_neighbours(positions: &[Vec3], triangles: &[[u32; 3]], sums: &mut Vec<(Vec3, f32)>) {
    sums.clear();
    sums.resize(positions.len(), (Vec3::ZERO, 0.0));
    for t in triangles {
        let corners = t.map(|v| positions[v as usize]);
        for c in 0..3 {
            let sum = &mut sums[t[c] as usize];
            *sum = (sum.0 + corners[(c + 1) % 3], sum.1 + 1.0);
        }
    }
}

/// Runs `settings.relax` passes; every pass reads the old positions and writes new ones.
pub fn relax(field: &impl Field, settings: &IsoSettings, surface: &mut IsoSurface) {
    let mut sums = std::mem::take(&mut surface.neighbour_sums);
    // A vertex that wandered further from where it began might meet parts its block does not list.
    let start = surface.positions.clone();
    for pass in 1..=settings.relax {
        // The next pass corrects what one step leaves; only the last has to arrive.
        let last = pass == settings.relax;
        let steps = if last { tolerances::isosurface::NEWTON_STEPS } else { 1 };
        sum_neighbours(&surface.positions, &surface.triangles, &mut sums);
        surface.split_by_block().into_par_iter().with_min_len(4).for_each_init(
            Newton::default,
            |newton, (block, positions, normals)| {
                let first = block.vertex_offset as usize;
                for (i, (position, normal)) in
                    positions.iter_mut().zip(normals.iter_mut()).enumerate()
                {
                    let (sum, count) = sums[first + i];
                    let way = sum / count.max(1.0) - *position;
                    let target = *position + 0.5 * (way - way.dot(*normal) * *normal);
                    let from = start[first + i];
                    *position = from + (target - from).clamp_length_max(0.5 * settings.cell);
                }
                let moving = Vertices { parts: &block.parts, positions, normals };
                newton.run(field, settings, moving, steps);
            },
        );
    }
    surface.neighbour_sums = sums;
}
