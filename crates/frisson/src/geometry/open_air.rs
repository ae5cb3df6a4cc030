//! Where a mesh surely is not: ways that are free of it, told without a look at its triangles.
//!
//! Space is cut into cells. Of each that is asked for two things are found, once for as long as the mesh stays as it
//! is: how far its middle is from the mesh, and a plane above all that the mesh has within a reach of it.
//!
//! ```text
//!        a ─────── way ─────── b        free: both ends above the plane of the cell that its middle is in, and
//!      ──────────┌───┐─────────── plane within the reach; or both ends nearer to the cell's middle than the mesh is
//!         ▓▓▓▓▓▓▓│ · │▓▓▓▓▓▓▓▓
//!      ▓▓▓▓▓▓▓▓▓▓└───┘▓▓▓▓▓▓▓▓▓▓▓
//! ```
//!
//! Along a surface that bulges, as a head does, the plane tells nearly all ways that do not touch it. "Not free" only
//! means that nobody knows: the triangles have to be asked.
//!
//! A cell is the same whoever asks for it first and whenever, so many threads fill the same cells in any order.

use std::sync::atomic::{AtomicU32, Ordering};

use glam::{BVec4A, Vec3, Vec4};

use super::bvh::closest_on_triangle;
use super::{Bounds, TriangleBvh};

/// Cells that are kept, at most: six megabytes. Beyond, cells are larger.
const MOST_CELLS: usize = 1 << 18;

/// Four points or directions, coordinate by coordinate.
type Four = [Vec4; 3];

/// What is known of one cell, as bits of numbers: the plane's unit normal, its height above the cell's middle, and
/// how far the mesh is from there, negative inside of it. It is of the mesh that was asked about as the `asked`th.
#[derive(Default)]
struct Cell {
    asked: AtomicU32,
    numbers: [AtomicU32; 5],
}

/// The air around one mesh.
#[derive(Default)]
pub struct OpenAir {
    low: Vec3,
    /// Side of a cell [m].
    side: f32,
    /// Cells along each axis.
    counts: [usize; 3],
    /// How far around the middle of a cell the mesh is known [m].
    reach: f32,
    cells: Vec<Cell>,
    /// Counts the meshes, or places of one, that were asked about; 0 is none.
    asked: u32,
}

/// What is known around four ways.
#[derive(Default)]
pub struct FreeWays {
    /// Those that are free of the mesh.
    pub free: BVec4A,
    /// How high their starts and ends are above it, at least [m].
    pub heights: [Vec4; 2],
}

impl OpenAir {
    /// Forgets the mesh that was asked about, and makes room for the air in a box. `side`: of a cell; `reach`: how far
    /// around its middle the mesh is known [m].
    pub fn begin(&mut self, within: Bounds, side: f32, reach: f32) {
        let extent = if within.is_empty() { Vec3::ZERO } else { within.max - within.min };
        let count = |side: f32| (extent / side).floor() + 2.0;
        let mut side = side;
        while count(side).element_product() > MOST_CELLS as f32 {
            side *= 1.1;
        }
        // On a lattice of the world, so that cells are the same whatever the box.
        self.low = if within.is_empty() { Vec3::ZERO } else { (within.min / side).floor() * side };
        self.counts = if within.is_empty() { [0; 3] } else { count(side).to_array().map(|n| n as usize) };
        (self.side, self.reach) = (side, reach);
        let wanted = self.counts.iter().product();
        if self.cells.len() < wanted {
            self.cells.resize_with(wanted, Cell::default);
        }
        self.asked = self.asked.wrapping_add(1);
        if self.asked == 0 {
            // Once in four thousand million times what is known would be taken for what is asked.
            self.cells.iter_mut().for_each(|cell| *cell = Cell::default());
            self.asked = 1;
        }
    }

    /// Which of four ways, from `starts` to `ends`, surely stay clear of the mesh: farther than `least` of the two at their
    /// ends, and in between as if that rose evenly. Only `asked` ones are looked at.
    pub fn free_ways(
        &self,
        mesh: &TriangleBvh,
        (starts, ends): (Four, Four),
        least: [f32; 2],
        asked: BVec4A,
    ) -> FreeWays {
        let mut normals = [Vec4::ZERO; 3];
        let mut middles = [Vec4::ZERO; 3];
        // Where nothing is known no way is free.
        let (mut offsets, mut open, mut reach) = (Vec4::ZERO, Vec4::NEG_ONE, Vec4::NEG_ONE);
        let wanted = asked.bitmask();
        for lane in (0..4).filter(|lane| wanted >> lane & 1 == 1) {
            let place = |p: &Four| Vec3::new(p[0][lane], p[1][lane], p[2][lane]);
            let Some((index, middle)) = self.cell_at(0.5 * (place(&starts) + place(&ends))) else {
                continue;
            };
            let [nx, ny, nz, offset, clear] = self.known(mesh, index, middle);
            for (axis, (n, m)) in [nx, ny, nz].into_iter().zip(middle.to_array()).enumerate() {
                normals[axis][lane] = n;
                middles[axis][lane] = m;
            }
            (offsets[lane], open[lane], reach[lane]) = (offset, clear, self.reach);
        }
        // How high a place is at least: over the plane and within the reach, or in the ball that is open. Each of the two
        // rises towards the middle of a way at least as evenly as along a line, so its ends tell.
        let heights = |at: Four| {
            let [x, y, z] = [at[0] - middles[0], at[1] - middles[1], at[2] - middles[2]];
            let away = (x * x + y * y + z * z).sqrt();
            let above = x * normals[0] + y * normals[1] + z * normals[2] - offsets;
            (above.min(reach - away), open - away)
        };
        let (start, end) = (heights(starts), heights(ends));
        let [low, high] = least.map(Vec4::splat);
        let over_plane = start.0.cmpgt(low) & end.0.cmpgt(high);
        let in_ball = start.1.cmpgt(low) & end.1.cmpgt(high);
        let heights = [start.0.max(start.1), end.0.max(end.1)];
        FreeWays { free: asked & (over_plane | in_ball), heights }
    }

    /// Whether the mesh is within a distance of a place, if that is known without a look at it.
    #[must_use]
    pub fn is_within(&self, mesh: &TriangleBvh, place: Vec3, distance: f32) -> Option<bool> {
        let (index, middle) = self.cell_at(place)?;
        let [.., clear] = self.known(mesh, index, middle);
        let (away, clear) = (place.distance(middle), clear.abs());
        if clear - away > distance {
            return Some(false);
        }
        (clear < self.reach && clear + away < distance).then_some(true)
    }

    /// The cell that a place is in, and its middle.
    fn cell_at(&self, p: Vec3) -> Option<(usize, Vec3)> {
        let at = (p - self.low) / self.side;
        let [nx, ny, nz] = self.counts;
        // Written so that what is not a number is in no cell.
        let within = at.cmpge(Vec3::ZERO).all()
            && at.cmplt(Vec3::new(nx as f32, ny as f32, nz as f32)).all();
        if !within || self.cells.is_empty() {
            return None;
        }
        let [x, y, z] = at.to_array().map(|v| v as usize);
        let middle = self.low + (Vec3::new(x as f32, y as f32, z as f32) + 0.5) * self.side;
        Some(((x * ny + y) * nz + z, middle))
    }

    /// What is known of a cell; found if nobody has asked yet.
    fn known(&self, mesh: &TriangleBvh, index: usize, middle: Vec3) -> [f32; 5] {
        let cell = &self.cells[index];
        // Whoever sees the count of this mesh sees its numbers; two that find them at once write the same.
        if cell.asked.load(Ordering::Acquire) == self.asked {
            return std::array::from_fn(|k| f32::from_bits(cell.numbers[k].load(Ordering::Relaxed)));
        }
        let found = self.find(mesh, middle);
        for (slot, number) in cell.numbers.iter().zip(found) {
            slot.store(number.to_bits(), Ordering::Relaxed);
        }
        cell.asked.store(self.asked, Ordering::Release);
        found
    }

    /// Normal and height of a plane above all of the mesh within the reach, and how far the mesh is.
    fn find(&self, mesh: &TriangleBvh, middle: Vec3) -> [f32; 5] {
        let Some(nearest) = mesh.closest_point(middle, self.reach) else {
            // Nothing within the reach: any plane below is above nothing.
            return [0.0, 0.0, 0.0, -2.0 * self.reach, self.reach];
        };
        let away = middle - nearest.point;
        let face = mesh.face_normal(nearest.triangle);
        let is_outside = away.dot(face) >= 0.0;
        // On the surface the way off it says nothing of where out is.
        let normal = if nearest.distance < 0.01 * self.side {
            face
        } else if is_outside {
            away / nearest.distance
        } else {
            -away / nearest.distance
        };
        let mut height = f32::NEG_INFINITY;
        let around = Bounds { min: middle - self.reach, max: middle + self.reach };
        mesh.overlapping(around, |triangle| {
            let corners = mesh.corners(triangle);
            let highest = corners.map(|c| normal.dot(c - middle)).into_iter().fold(height, f32::max);
            // What is in a corner of the box only does not count.
            if highest > height
                && closest_on_triangle(middle, corners).0.distance(middle) <= self.reach
            {
                height = highest;
            }
        });
        // Inside there is no open air.
        let open = if is_outside { nearest.distance } else { -nearest.distance };
        [normal.x, normal.y, normal.z, height, open]
    }
}
