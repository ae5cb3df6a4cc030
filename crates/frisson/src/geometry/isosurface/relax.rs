//! Evens out the triangles: vertices slide along the surface towards the middle of their neighbours.

use glam::Vec3;
use rayon::prelude::*;

use super::dual::quad_of;
use super::newton::{Newton, Vertices};
use super::{Field, IsoSettings, IsoSurface};
use crate::tolerances;

/// Sum of a vertex's neighbours, and of their shares.
type NeighbourSum = (Vec3, f32);

/// Share of the corner opposite to a vertex in a quadrilateral in the mean of its neighbours [-]: each of the two
/// diagonals is an edge of the mesh in one of two cases.
const OPPOSITE: f32 = 0.5;

/// Adds up the neighbours of every smooth vertex by their shares, and these. In a closed mesh every directed side of a
/// quadrilateral occurs once, so the next corners in the quadrilaterals of a vertex are all that it shares a side with.
///
/// Which way a quadrilateral is cut must not matter: on a body that rests the two diagonals may be as long but for
/// rounding, and vertices that followed the cut would jump along the surface from frame to frame.
fn sum_around(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    rough: &[bool],
    sums: &mut [NeighbourSum],
) {
    for pair in triangles.chunks_exact(2) {
        let quad = quad_of([pair[0], pair[1]]);
        let corners = quad.map(|v| positions[v as usize]);
        for c in (0..4).filter(|&c| !rough[quad[c] as usize]) {
            let sum = &mut sums[quad[c] as usize];
            sum.0 += corners[(c + 1) % 4] + OPPOSITE * corners[(c + 2) % 4];
            sum.1 += 1.0 + OPPOSITE;
        }
    }
}

/// Adds up the neighbours of every rough vertex: the heads of its outgoing edges, diagonals included. Where bodies meet,
/// the other way leaves more vertices of a rim that have to go back from it because an edge would cut through: 8 of 36
/// between two equal balls.
fn sum_along_edges(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    rough: &[bool],
    sums: &mut [NeighbourSum],
) {
    for t in triangles {
        for c in (0..3).filter(|&c| rough[t[c] as usize]) {
            let sum = &mut sums[t[c] as usize];
            *sum = (sum.0 + positions[t[(c + 1) % 3] as usize], sum.1 + 1.0);
        }
    }
}

/// Whether bodies meet in the block of each vertex.
fn find_rough(field: &impl Field, surface: &IsoSurface) -> Vec<bool> {
    let mut rough = Vec::with_capacity(surface.positions.len());
    for block in &surface.blocks {
        let meets = field.has_rims(&block.parts);
        rough.resize(rough.len() + block.vertices.len(), meets);
    }
    rough
}

/// Runs `settings.relax` passes; every pass reads the old positions and writes new ones.
pub fn relax(field: &impl Field, settings: &IsoSettings, surface: &mut IsoSurface) {
    let mut sums = std::mem::take(&mut surface.neighbour_sums);
    // A vertex that wandered further from where it began might meet parts its block does not list.
    let start = surface.positions.clone();
    let rough = find_rough(field, surface);
    for pass in 1..=settings.relax {
        // The next pass corrects what one step leaves; only the last has to arrive.
        let last = pass == settings.relax;
        let steps = if last { tolerances::isosurface::NEWTON_STEPS } else { 1 };
        sums.clear();
        sums.resize(surface.positions.len(), (Vec3::ZERO, 0.0));
        sum_around(&surface.positions, &surface.triangles, &rough, &mut sums);
        if rough.contains(&true) {
            sum_along_edges(&surface.positions, &surface.triangles, &rough, &mut sums);
        }
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
