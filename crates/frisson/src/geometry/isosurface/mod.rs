//! Watertight iso-surfaces of scalar fields.
//!
//! The surface `f = level` (inside: `f >= level`) is extracted as the dual of marching cubes: one
//! vertex per sheet of surface in a cube, one quadrilateral per crossed lattice edge.
//!
//! ```text
//!    o───────o───────o        o lattice point      × vertex, moved onto the surface
//!    │   ×───┼───×   │        every crossed edge of the lattice joins the vertices
//!    │  /│ ● │ ● │\  │        of the four cubes around it (two in this flat picture)
//!    o─/─┼───o───┼─\─o
//! ```
//!
//! Where a sign pattern is ambiguous all cubes follow the same rule face by face, and the one
//! configuration that would still make two sheets touch along an edge is resolved the other way by
//! both cubes (see `cases.rs`). So the mesh is a closed 2-manifold for **every** field, however wild:
//! each edge has two triangles, the triangles around a vertex form one disc. The lattice is anchored
//! at the world's origin, so a still surface in a moving box keeps its vertices.
//!
//! Cost follows the surface: space is divided into blocks of 8³ cubes through an octree that the
//! field itself prunes ([`Field::gather`]), and a block that the surface leaves wakes its neighbour,
//! so that a wrong hint can cost a separate piece but never makes a hole.
//!
//! Nielson, *Dual marching cubes*, 2004; the manifold rule is that of Wenger, *Isosurfaces*, 2013.

mod blocks;
mod cases;
mod dual;
mod newton;
mod relax;
#[cfg(test)]
mod tests;

use glam::Vec3;
use rayon::prelude::*;
use thiserror::Error;

use super::Bounds;
use blocks::Block;
use cases::Cases;
pub use dual::{CrossedEdge, quad_of};
use newton::Newton;

/// Many points at once, one array per axis: loops over them vectorise.
#[derive(Clone, Copy, Debug)]
pub struct PointsSoa<'a> {
    /// x [m].
    pub x: &'a [f32],
    /// y [m].
    pub y: &'a [f32],
    /// z [m].
    pub z: &'a [f32],
}

impl PointsSoa<'_> {
    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// One point.
    #[must_use]
    pub fn get(&self, index: usize) -> Vec3 {
        Vec3::new(self.x[index], self.y[index], self.z[index])
    }
}

/// Values and gradients at many points, one array per component.
#[derive(Clone, Debug, Default)]
pub struct SamplesSoa {
    /// Values.
    pub value: Vec<f32>,
    /// Gradients, x.
    pub x: Vec<f32>,
    /// Gradients, y.
    pub y: Vec<f32>,
    /// Gradients, z.
    pub z: Vec<f32>,
}

impl SamplesSoa {
    /// Room for some samples, all zero.
    pub fn reset(&mut self, count: usize) {
        for array in [&mut self.value, &mut self.x, &mut self.y, &mut self.z] {
            array.clear();
            array.resize(count, 0.0);
        }
    }

    /// One sample.
    #[must_use]
    pub fn get(&self, index: usize) -> (f32, Vec3) {
        (self.value[index], Vec3::new(self.x[index], self.y[index], self.z[index]))
    }

    /// Sets one sample.
    pub fn set(&mut self, index: usize, value: f32, gradient: Vec3) {
        self.value[index] = value;
        (self.x[index], self.y[index], self.z[index]) = gradient.into();
    }
}

/// A scalar field made of parts that matter only near them.
pub trait Field: Sync {
    /// Number of parts; they are named by index.
    fn part_count(&self) -> usize;

    /// Writes to `out` those of `parts` that can change the field in `bounds`, and says whether the
    /// surface may pass there. Answering `true` too often costs time; answering `false` wrongly may
    /// lose a piece of surface that does not come out of the box.
    fn gather(&self, parts: &[u32], bounds: &Bounds, out: &mut Vec<u32>) -> bool;

    /// The field at some points, from the given parts alone.
    fn values(&self, parts: &[u32], points: PointsSoa<'_>, out: &mut [f32]);

    /// Value and gradient at a point. The default takes central differences over `2 step`.
    fn value_and_gradient(&self, parts: &[u32], p: Vec3, step: f32) -> (f32, Vec3) {
        let mut out = [0.0; 7];
        let x = [p.x, p.x - step, p.x + step, p.x, p.x, p.x, p.x];
        let y = [p.y, p.y, p.y, p.y - step, p.y + step, p.y, p.y];
        let z = [p.z, p.z, p.z, p.z, p.z, p.z - step, p.z + step];
        self.values(parts, PointsSoa { x: &x, y: &y, z: &z }, &mut out);
        let g = Vec3::new(out[2] - out[1], out[4] - out[3], out[6] - out[5]);
        (out[0], g / (2.0 * step))
    }

    /// Value and gradient at some points; worth its own loop where parts can be taken one by one.
    fn values_and_gradients(
        &self,
        parts: &[u32],
        points: PointsSoa<'_>,
        step: f32,
        out: &mut SamplesSoa,
    ) {
        out.reset(points.len());
        for i in 0..points.len() {
            let (value, gradient) = self.value_and_gradient(parts, points.get(i), step);
            out.set(i, value, gradient);
        }
    }

    /// Whether bodies meet among some parts, so that the surface may have a rim there. A field that does not know says
    /// so: relaxing then goes by the edges that are there.
    fn has_rims(&self, _parts: &[u32]) -> bool {
        true
    }
}

/// What to extract.
#[derive(Clone, Copy, Debug)]
pub struct IsoSettings {
    /// Iso-value; inside is where the field is at least this.
    pub level: f32,
    /// Edge of a lattice cube [m]; triangles come out about this size.
    pub cell: f32,
    /// Where to look; the surface is closed off at the border of this box.
    pub bounds: Bounds,
    /// Passes of tangential smoothing, each followed by a return to the surface.
    pub relax: u32,
    /// Refuse to work on more blocks of 8³ cubes than this (about 5 kB each).
    pub max_blocks: usize,
}

impl Default for IsoSettings {
    fn default() -> Self {
        Self { level: 0.0, cell: 0.01, bounds: Bounds::EMPTY, relax: 0, max_blocks: 1 << 19 }
    }
}

/// Why nothing can be extracted.
#[derive(Debug, Error, PartialEq)]
pub enum IsoError {
    /// The cell is not a positive number.
    #[error("the cell size must be a positive number, not {0}")]
    Cell(f32),
    /// The box is not finite, or too large for the cell.
    #[error("a box of {size} m cannot be divided into cells of {cell} m")]
    Bounds {
        /// Diagonal [m].
        size: f32,
        /// Cell [m].
        cell: f32,
    },
    /// More blocks than allowed.
    #[error(
        "cells of {cell} m would need more than {limit} blocks (about {megabytes} MB): take larger cells"
    )]
    TooFine {
        /// Cell [m].
        cell: f32,
        /// The limit.
        limit: usize,
        /// Memory that the limit stands for.
        megabytes: usize,
    },
}

/// The extractor; keeps its buffers and its last result.
#[derive(Clone, Debug)]
pub struct IsoSurface {
    /// Vertices, on the surface [m].
    pub positions: Vec<Vec3>,
    /// Unit normals, out of the inside.
    pub normals: Vec<Vec3>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    cases: Cases,
    blocks: Vec<Block>,
    spare: Vec<Block>,
    neighbour_sums: Vec<(Vec3, f32)>,
}

impl Default for IsoSurface {
    fn default() -> Self {
        Self::new()
    }
}

impl IsoSurface {
    /// An extractor with empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self {
            positions: Vec::new(),
            normals: Vec::new(),
            triangles: Vec::new(),
            cases: Cases::build(),
            blocks: Vec::new(),
            spare: Vec::new(),
            neighbour_sums: Vec::new(),
        }
    }

    /// Extracts the surface into [`IsoSurface::positions`], [`IsoSurface::normals`] and
    /// [`IsoSurface::triangles`]. Same bits for any number of threads.
    pub fn extract(&mut self, field: &impl Field, settings: &IsoSettings) -> Result<(), IsoError> {
        self.positions.clear();
        self.normals.clear();
        self.triangles.clear();
        // Blocks go back to the pool with their arrays: the next frame's surface is about as large.
        self.spare.append(&mut self.blocks);
        let lattice = blocks::Lattice::new(settings)?;
        blocks::find(field, settings, &lattice, &mut self.blocks, &mut self.spare)?;
        dual::classify(&self.cases, &mut self.blocks);
        let cases = &self.cases;
        // At least four blocks a task: most hold a few dozen vertices, less than a task costs.
        self.blocks.par_iter_mut().with_min_len(4).for_each_init(
            Newton::default,
            |newton, block| {
                dual::place_vertices(field, settings, newton, block, cases);
            },
        );
        // Only now: a quad may join vertices of four blocks, whose numbers must all be known.
        dual::number_vertices(&mut self.blocks);
        self.join_quads();
        self.gather_vertices();
        if settings.relax > 0 {
            relax::relax(field, settings, self);
        }
        Ok(())
    }

    /// How much of the lattice was looked at: blocks of 8³ cubes.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Fills one value per vertex, block by block: `fill` gets the field's parts there, the vertices,
    /// and their values.
    pub fn fill_by_block<T: Send>(
        &self,
        mut values: &mut [T],
        fill: impl Fn(&[u32], &[Vec3], &mut [T]) + Sync,
    ) {
        let mut pieces = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let (here, rest) = values.split_at_mut(block.vertices.len());
            let first = block.vertex_offset as usize;
            pieces.push((block, &self.positions[first..first + here.len()], here));
            values = rest;
        }
        let each = |(block, at, out): (&Block, &[Vec3], &mut [T])| fill(&block.parts, at, out);
        pieces.into_par_iter().with_min_len(8).for_each(each);
    }

    /// Each block with the positions and normals of its own vertices.
    fn split_by_block(&mut self) -> Vec<(&Block, &mut [Vec3], &mut [Vec3])> {
        let Self { blocks, positions, normals, .. } = self;
        let mut pieces = Vec::with_capacity(blocks.len());
        let (mut positions, mut normals) = (&mut positions[..], &mut normals[..]);
        for block in blocks.iter() {
            let (here, rest) = positions.split_at_mut(block.vertices.len());
            let (normals_here, normals_rest) = normals.split_at_mut(block.vertices.len());
            pieces.push((block, here, normals_here));
            (positions, normals) = (rest, normals_rest);
        }
        pieces
    }

    /// Lets `each` move every vertex, given by its number, and turn its normal, with the field's parts
    /// at hand.
    pub fn move_by_block(&mut self, each: impl Fn(&[u32], usize, &mut Vec3, &mut Vec3) + Sync) {
        let pieces = self.split_by_block();
        pieces.into_par_iter().with_min_len(8).for_each(|(block, positions, normals)| {
            let first = block.vertex_offset as usize;
            for (i, (position, normal)) in positions.iter_mut().zip(normals).enumerate() {
                each(&block.parts, first + i, position, normal);
            }
        });
    }

    /// The crossed lattice edges of the blocks whose parts `wanted` accepts.
    pub fn crossed_edges(&self, wanted: impl Fn(&[u32]) -> bool, out: &mut Vec<CrossedEdge>) {
        for (index, block) in self.blocks.iter().enumerate() {
            if wanted(&block.parts) {
                dual::crossed_edges(&self.blocks, &self.cases, index, out);
            }
        }
    }

    /// The lattice cubes with one vertex each, in the blocks whose parts `wanted` accepts: a number that
    /// is the same in every extraction on the same lattice, and the vertex.
    pub fn single_cubes(&self, wanted: impl Fn(&[u32]) -> bool, out: &mut Vec<(u64, u32)>) {
        self.blocks.iter().filter(|b| wanted(&b.parts)).for_each(|b| dual::single_cubes(b, out));
    }

    /// Appends, for every vertex, the middle of its lattice cube, and the mean of the edges that its sheet of the surface
    /// crosses there. A mesh whose vertices all lie in the middles is made of faces of cubes half a cell aside, and goes
    /// through nothing; one of means hardly ever does.
    pub fn safe_places(&self, cell: f32, out: &mut [Vec<Vec3>; 2]) {
        self.blocks.iter().for_each(|b| dual::safe_places(b, &self.cases, cell, out));
    }

    fn join_quads(&mut self) {
        let mut quads: Vec<Vec<[u32; 3]>> =
            self.blocks.iter_mut().map(|b| std::mem::take(&mut b.triangles)).collect();
        let (blocks, cases) = (&self.blocks, &self.cases);
        quads.par_iter_mut().enumerate().for_each(|(index, out)| {
            out.clear();
            dual::join_quads(blocks, cases, index, out);
        });
        // One after the other, in the order of blocks: how threads shared them must not show.
        for triangles in &quads {
            self.triangles.extend_from_slice(triangles);
        }
        for (block, triangles) in self.blocks.iter_mut().zip(quads) {
            block.triangles = triangles;
        }
    }

    fn gather_vertices(&mut self) {
        for block in &self.blocks {
            self.positions.extend_from_slice(&block.vertices);
            self.normals.extend_from_slice(&block.normals);
        }
    }
}
