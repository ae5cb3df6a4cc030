//! Evens out the triangles: vertices slide along the surface towards the middle of their neighbours.

use glam::Vec3;
use rayon::prelude::*;

use super::dual::onto_surface;
use super::{Field, IsoSettings, IsoSurface};
use crate::tolerances;

/// Neighbours of each vertex, one after the other. In a closed mesh every directed edge occurs once,
/// so the heads of a vertex's outgoing edges are all its neighbours.
struct Neighbours {
    offsets: Vec<u32>,
    heads: Vec<u32>,
}

impl Neighbours {
    fn build(vertex_count: usize, triangles: &[[u32; 3]]) -> Self {
        let mut offsets = vec![0u32; vertex_count + 1];
        for &v in triangles.iter().flatten() {
            offsets[v as usize + 1] += 1;
        }
        for i in 0..vertex_count {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut heads = vec![0; 3 * triangles.len()];
        for t in triangles {
            for c in 0..3 {
                let slot = &mut next[t[c] as usize];
                heads[*slot as usize] = t[(c + 1) % 3];
                *slot += 1;
            }
        }
        Self { offsets, heads }
    }

    fn of(&self, vertex: usize) -> &[u32] {
        &self.heads[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }
}

/// Runs `settings.relax` passes; every pass reads the old positions and writes new ones.
pub fn relax(field: &impl Field, settings: &IsoSettings, surface: &mut IsoSurface) {
    let neighbours = Neighbours::build(surface.positions.len(), &surface.triangles);
    let mut owners = Vec::with_capacity(surface.positions.len());
    for (index, block) in surface.blocks.iter().enumerate() {
        owners.resize(owners.len() + block.vertices.len(), index as u32);
    }
    // A vertex that wandered further from where it began might meet parts its block does not list.
    let start = surface.positions.clone();
    for pass in 1..=settings.relax {
        // The next pass corrects what one step leaves; only the last has to arrive.
        let last = pass == settings.relax;
        let steps = if last { tolerances::isosurface::NEWTON_STEPS } else { 1 };
        let (old, old_normals) = (&surface.positions, &surface.normals);
        let moved: Vec<(Vec3, Vec3)> = (0..old.len())
            .into_par_iter()
            .with_min_len(256)
            .map(|v| {
                let around = neighbours.of(v);
                let sum: Vec3 = around.iter().map(|&n| old[n as usize]).sum();
                let way = sum / around.len().max(1) as f32 - old[v];
                let normal = old_normals[v];
                let target = old[v] + 0.5 * (way - way.dot(normal) * normal);
                let kept = start[v] + (target - start[v]).clamp_length_max(0.5 * settings.cell);
                let parts = &surface.blocks[owners[v] as usize].parts;
                onto_surface(field, settings, parts, kept, steps)
            })
            .collect();
        for (v, (position, normal)) in moved.into_iter().enumerate() {
            surface.positions[v] = position;
            surface.normals[v] = normal;
        }
    }
}
