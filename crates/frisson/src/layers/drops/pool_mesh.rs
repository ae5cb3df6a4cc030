//! What pools look like: one sheet over the liquid that comes down to the ground at its edge.
//!
//! ```text
//!        .--------.        vertices stand over the middles of cells; the edge is where the share of wet cells
//!      .'          '.      around, smoothed, falls below a fifth: round, and not in steps
//! ```

use glam::Vec3;

use super::liquid::Liquid;
use super::pool::{PoolRest, PoolState};
use crate::geometry::{Mesh, NONE};

/// Share of wet cells around at which a puddle ends [-]: a drip on one cell alone is a spot of its size.
const EDGE: f32 = 0.2;
/// Share from which on the sheet is as high as the liquid [-].
const FULL: f32 = 0.75;

/// The sheet of a pool's liquid in the making.
#[derive(Clone, Debug, Default)]
pub struct PoolMesh {
    /// Per cell: smoothed share of wet cells around, less what ends a puddle [-].
    wet: Vec<f32>,
    /// Per cell: height of the sheet [m].
    height: Vec<f32>,
    /// Per cell: its vertex; and the vertices at which the edge crosses the ways to the cells beyond: along x, along
    /// z, across.
    vertices: [Vec<u32>; 4],
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl PoolMesh {
    /// Forgets the sheets.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.triangles.clear();
    }

    /// Adds the sheet of a pool.
    pub fn add(&mut self, rest: &PoolRest, pool: &PoolState, liquid: &Liquid) {
        if pool.mass.iter().all(|m| *m == 0.0) {
            return;
        }
        self.find_heights(rest, pool, liquid);
        let count = rest.bed.len();
        for list in &mut self.vertices {
            list.clear();
            list.resize(count, NONE);
        }
        let [nx, nz] = rest.cells;
        for j in 0..nz.saturating_sub(1) {
            for i in 0..nx.saturating_sub(1) {
                let a = j * nx + i;
                // Two triangles: the corner, and what is beside, behind and across from it.
                self.clip(rest, [a, a + nx, a + nx + 1]);
                self.clip(rest, [a, a + nx + 1, a + 1]);
            }
        }
    }

    /// Writes what was added.
    pub fn write(&self, mesh: &mut Mesh) {
        mesh.positions.clone_from(&self.positions);
        mesh.normals.clear();
        mesh.velocities.clear();
        let topology = std::sync::Arc::make_mut(&mut mesh.topology);
        topology.vertex_count = self.positions.len();
        topology.triangles.clone_from(&self.triangles);
    }

    /// Finds where the sheet is and how high.
    fn find_heights(&mut self, rest: &PoolRest, pool: &PoolState, liquid: &Liquid) {
        self.wet.clear();
        self.height.clear();
        let level = |c: usize| rest.bed[c] + rest.depth(pool.mass[c], liquid);
        let is_wet = |c: usize| pool.mass[c] > 0.0 && rest.bed[c].is_finite();
        for c in 0..rest.bed.len() {
            let (mut wet, mut sum) = (0.0, 0.0);
            each_around(rest, c, |beside, weight| {
                if is_wet(beside) {
                    (wet, sum) = (wet + weight, sum + weight * level(beside));
                }
            });
            let top = if is_wet(c) { level(c) } else { sum / wet.max(f64::MIN_POSITIVE) };
            // What stands higher than the liquid holds it: it does not come down there.
            let mut share = 0.0;
            each_around(rest, c, |beside, weight| {
                if is_wet(beside) || wet > 0.0 && rest.bed[beside] > top {
                    share += weight;
                }
            });
            let is_wall = !is_wet(c) && rest.bed[c] > top;
            let share = if is_wall || wet == 0.0 { 0.0 } else { share as f32 };
            self.wet.push(share - EDGE);
            let round = ((share - EDGE) / (FULL - EDGE)).clamp(0.0, 1.0);
            let (bed, top) = (rest.bed[c] as f32, top as f32);
            // A quarter of a circle, as surface tension draws it.
            self.height.push(bed + (top - bed).max(0.0) * (round * (2.0 - round)).sqrt());
        }
    }

    /// Adds what of a triangle of cells is wet.
    fn clip(&mut self, rest: &PoolRest, cells: [usize; 3]) {
        if cells.iter().any(|c| !rest.bed[*c].is_finite()) {
            return;
        }
        let (mut ring, mut count) = ([0u32; 4], 0);
        for k in 0..3 {
            let (a, b) = (cells[k], cells[(k + 1) % 3]);
            if self.wet[a] > 0.0 {
                (ring[count], count) = (self.over(rest, a), count + 1);
            }
            if (self.wet[a] > 0.0) != (self.wet[b] > 0.0) {
                (ring[count], count) = (self.between(rest, a.min(b), a.max(b)), count + 1);
            }
        }
        if count >= 3 {
            self.triangles.push([ring[0], ring[1], ring[2]]);
        }
        if count == 4 {
            self.triangles.push([ring[0], ring[2], ring[3]]);
        }
    }

    fn over(&mut self, rest: &PoolRest, cell: usize) -> u32 {
        if self.vertices[0][cell] == NONE {
            let [x, z] = rest.middle(cell);
            self.vertices[0][cell] = self.positions.len() as u32;
            self.positions.push(Vec3::new(x as f32, self.height[cell], z as f32));
        }
        self.vertices[0][cell]
    }

    /// Where the edge crosses the way from a cell to one beyond: on the ground.
    fn between(&mut self, rest: &PoolRest, a: usize, b: usize) -> u32 {
        let way = match b - a {
            1 if rest.cells[0] > 1 => 1,
            d if d == rest.cells[0] => 2,
            _ => 3,
        };
        if self.vertices[way][a] == NONE {
            let ([ax, az], [bx, bz]) = (rest.middle(a), rest.middle(b));
            let place =
                |x: f64, c: usize, z: f64| Vec3::new(x as f32, rest.bed[c] as f32, z as f32);
            let mut t = self.wet[a] / (self.wet[a] - self.wet[b]);
            let (low, high) = if self.wet[a] > 0.0 { (a, b) } else { (b, a) };
            let (level, rise) = (f64::from(self.height[low]), rest.bed[high] - rest.bed[low]);
            if rest.bed[high] > level && rise > 0.0 {
                // Up a wall to the height of the liquid.
                let up = ((level - rest.bed[low]) / rise).clamp(0.0, 1.0) as f32;
                t = if low == a { up } else { 1.0 - up };
            }
            self.vertices[way][a] = self.positions.len() as u32;
            self.positions.push(place(ax, a, az).lerp(place(bx, b, bz), t));
        }
        self.vertices[way][a]
    }
}

/// Calls `each` with the cells around one and itself, and their weights: binomial, of sum 1.
fn each_around(rest: &PoolRest, cell: usize, mut each: impl FnMut(usize, f64)) {
    let [nx, nz] = rest.cells.map(|n| n as i64);
    let (x, z) = (cell as i64 % nx, cell as i64 / nx);
    for (j, wz) in (z - 1..=z + 1).zip([0.25, 0.5, 0.25]) {
        for (i, wx) in (x - 1..=x + 1).zip([0.25, 0.5, 0.25]) {
            if i >= 0 && j >= 0 && i < nx && j < nz {
                each((j * nx + i) as usize, wx * wz);
            }
        }
    }
}
