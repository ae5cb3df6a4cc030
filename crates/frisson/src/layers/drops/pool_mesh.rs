//! What pools look like: one sheet over the liquid that comes down to the ground at its edge.
//!
//! ```text
//!        .--------.        vertices stand over the middles of cells; the edge is where the share of wet cells
//!      .'          '.      around, smoothed, falls below a fifth: round, and not in steps
//! ```
//!
//! A cell counts the more the deeper it is, up to a part of what an edge holds: an outline moves as liquid comes, and
//! does not jump from cell to cell.

use glam::{DVec3, Vec3};

use super::liquid::Liquid;
use super::pool::{PoolRest, PoolState, held_depth};
use crate::geometry::{Mesh, NONE};

/// Share of wet cells around at which a puddle ends [-]: near the edge of its cells, where that is straight.
const EDGE: f32 = 0.2;
/// Share from which on the sheet is as high as the liquid [-].
const FULL: f32 = 0.75;

/// Share that a wet cell has of itself at least [-]: a drip on one cell alone is a spot of its size.
const ALONE: f64 = 0.25;
/// Depth from which on a cell is wholly wet, in the depth that an edge holds [-]: less is a film that is not seen.
const WET_DEPTH: f64 = 0.25;
/// Gravity under which that depth is taken [m/s²]: a look need not know the scene's.
const DRAWN_UNDER: f64 = 9.81;
/// Weights of the cells around one, by how far they are [-]: what alternates from cell to cell is not drawn.
const AROUND: [f64; 5] = [1.0 / 16.0, 4.0 / 16.0, 6.0 / 16.0, 4.0 / 16.0, 1.0 / 16.0];

/// Ways by which the edges of the sheet's triangles lead on, by their place among those of [`super::pool_end::WAYS`].
const FORWARD: [usize; 3] = [0, 2, 4];

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
        // Most patches are dry most of the time.
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
        let full = WET_DEPTH * held_depth(liquid, DRAWN_UNDER);
        let depth = |c: usize| rest.depth(pool.mass[c], liquid);
        // What clings to a steep wall is thinner than a column of it is high.
        let wet_part = |c: usize| match pool.mass[c] > 0.0 && rest.bed[c].is_finite() {
            true => (depth(c) * rest.upright(c) / full).min(1.0),
            false => 0.0,
        };
        let level = |c: usize| rest.bed[c] + depth(c);
        for c in 0..rest.bed.len() {
            if !rest.bed[c].is_finite() {
                self.wet.push(-EDGE);
                self.height.push(f32::NEG_INFINITY);
                continue;
            }
            let (mut wet, mut sum) = (0.0, 0.0);
            let own = wet_part(c);
            each_around(rest, c, |beside, weight| {
                let part = wet_part(beside) * weight;
                // What runs down a rim is no part of the level above or below it.
                let is_joined = level(beside) > rest.bed[c] && rest.bed[beside] < level(c);
                if part > 0.0 && (own == 0.0 || is_joined) {
                    (wet, sum) = (wet + part, sum + part * level(beside));
                }
            });
            if wet == 0.0 {
                self.wet.push(-EDGE);
                self.height.push(rest.bed[c] as f32);
                continue;
            }
            let top = sum / wet;
            // What stands higher than the liquid holds it: it does not come down there.
            let mut share = 0.0;
            each_around(rest, c, |beside, weight| {
                // At the end of its ground it goes on up to there.
                let is_wall = rest.bed[beside] > top || !rest.bed[beside].is_finite();
                share += weight * if is_wall { 1.0 } else { wet_part(beside) };
            });
            let is_wall = own == 0.0 && rest.bed[c] > top;
            let share = if is_wall { 0.0 } else { share.max(ALONE * own) as f32 };
            self.wet.push(share - EDGE);
            let round = ((share - EDGE) / (FULL - EDGE)).clamp(0.0, 1.0);
            let (bed, top) = (rest.bed[c] as f32, top as f32);
            // A quarter of a circle, as surface tension draws it.
            self.height.push(bed + (top - bed).max(0.0) * (round * (2.0 - round)).sqrt());
        }
    }

    /// Adds what of a triangle of cells is wet.
    fn clip(&mut self, rest: &PoolRest, cells: [usize; 3]) {
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
            self.positions.push(in_world(rest, DVec3::new(x, f64::from(self.height[cell]), z)));
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
            let edge = match (rest.bed[a].is_finite(), rest.bed[b].is_finite()) {
                (true, false) => self.at_end(rest, a, FORWARD[way - 1]),
                (false, true) => self.at_end(rest, b, FORWARD[way - 1] + 1),
                _ => self.on_bed(rest, a, b),
            };
            self.vertices[way][a] = self.positions.len() as u32;
            self.positions.push(in_world(rest, edge));
        }
        self.vertices[way][a]
    }

    /// Where the edge crosses the way from one cell to another, both with ground.
    fn on_bed(&self, rest: &PoolRest, a: usize, b: usize) -> DVec3 {
        let ([ax, az], [bx, bz]) = (rest.middle(a), rest.middle(b));
        let place = |x: f64, c: usize, z: f64| DVec3::new(x, rest.bed[c], z);
        let mut t = self.wet[a] / (self.wet[a] - self.wet[b]);
        let (low, high) = if self.wet[a] > 0.0 { (a, b) } else { (b, a) };
        let (level, rise) = (f64::from(self.height[low]), rest.bed[high] - rest.bed[low]);
        if rest.bed[high] > level && rise > 0.0 {
            // Up a wall to the height of the liquid.
            let up = ((level - rest.bed[low]) / rise).clamp(0.0, 1.0) as f32;
            t = if low == a { up } else { 1.0 - up };
        }
        place(ax, a, az).lerp(place(bx, b, bz), f64::from(t))
    }

    /// Where the edge is on the way from a wet cell to the end of its ground: at the height of the liquid, or over the
    /// rim.
    fn at_end(&self, rest: &PoolRest, cell: usize, way: usize) -> DVec3 {
        let ([x, z], level) = (rest.middle(cell), f64::from(self.height[cell]));
        let Some(end) = rest.end(cell, way) else { return DVec3::new(x, level, z) };
        let ([ex, ez], sill) = (rest.place_of(end), rest.sill(end));
        let (bed, rise) = (rest.bed[cell], sill - rest.bed[cell]);
        if level < sill && rise > 0.0 {
            let up = ((level - bed) / rise).clamp(0.0, 1.0);
            return DVec3::new(x, bed, z).lerp(DVec3::new(ex, sill, ez), up);
        }
        // What runs over a sill is two thirds as deep there as before it.
        DVec3::new(ex, sill + (level - sill) * 2.0 / 3.0, ez)
    }
}

/// A place of the patch whose height is as gravity sees it, in the world.
fn in_world(rest: &PoolRest, p: DVec3) -> Vec3 {
    rest.pose.to_world(DVec3::new(p.x, p.y - rest.rise([p.x, p.z]), p.z)).as_vec3()
}

/// Calls `each` with the cells around one and itself, and their weights: binomial, of sum 1.
fn each_around(rest: &PoolRest, cell: usize, mut each: impl FnMut(usize, f64)) {
    let [nx, nz] = rest.cells.map(|n| n as i64);
    let (x, z) = (cell as i64 % nx, cell as i64 / nx);
    for (j, wz) in (z - 2..=z + 2).zip(AROUND) {
        for (i, wx) in (x - 2..=x + 2).zip(AROUND) {
            if i >= 0 && j >= 0 && i < nx && j < nz {
                each((j * nx + i) as usize, wx * wz);
            }
        }
    }
}
