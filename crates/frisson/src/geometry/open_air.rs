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
    /// Box of the mesh.
    mesh: Bounds,
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
    /// Forgets the mesh that was asked about, and makes room for the air around another's box, as far as it is within a box.
    /// `side`: of a cell; `reach`: how far around its middle the mesh is known [m].
    pub fn begin(&mut self, mesh: Bounds, within: Bounds, side: f32, reach: f32) {
        self.mesh = mesh;
        let within = within.shared_with(mesh.grown(reach));
        let extent = if within.is_empty() { Vec3::ZERO } else { within.max - within.min };
        let count = |side: f32| (extent / side).floor() + 2.0;
        let mut side = side;
        while count(side).element_product() > MOST_CELLS as f32 {
            side *= 1.1;
        }
        // On a lattice of the world, so that cells are the same whatever the box.
        self.low = if within.is_empty() { Vec3::ZERO } else { (within.min / side).floor() * side };
        self.counts =
            if within.is_empty() { [0; 3] } else { count(side).to_array().map(|n| n as usize) };
        (self.side, self.reach) = (side, reach);
        let wanted = self.counts.iter().product();
        if self.cells.len() < wanted {
            // Some more at once, as a box that turns with a head is never quite as large again.
            self.cells.resize_with(wanted + wanted / 2, Cell::default);
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
        let mut last = (usize::MAX, Vec3::ZERO, [0.0; 5]);
        for lane in (0..4).filter(|lane| wanted >> lane & 1 == 1) {
            let place = |p: &Four| Vec3::new(p[0][lane], p[1][lane], p[2][lane]);
            let at = 0.5 * (place(&starts) + place(&ends));
            let Some((index, middle)) = self.cell_at(at) else {
                // Beside the box of the mesh nothing is nearer than that.
                let beside = self.beside(at);
                for (axis, m) in at.to_array().into_iter().enumerate() {
                    middles[axis][lane] = m;
                }
                open[lane] = beside;
                continue;
            };
            // Four ways that lie together are mostly in one cell.
            if index != last.0 {
                last = (index, middle, self.known(mesh, index, middle));
            }
            let [nx, ny, nz, offset, clear] = last.2;
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

    /// How far a place is from the box of the mesh; less than nothing in it.
    fn beside(&self, place: Vec3) -> f32 {
        let away = (self.mesh.min - place).max(place - self.mesh.max);
        let beside = away.max(Vec3::ZERO).length();
        if beside > 0.0 { beside } else { -1.0 }
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
            return std::array::from_fn(|k| {
                f32::from_bits(cell.numbers[k].load(Ordering::Relaxed))
            });
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
        // Without a bound: what is deep inside must not be taken for what is far off.
        let Some(nearest) = mesh.closest_point(middle, f32::INFINITY) else {
            return [0.0, 0.0, 0.0, f32::INFINITY, self.reach];
        };
        let away = middle - nearest.point;
        let face = mesh.face_normal(nearest.triangle);
        let is_outside = away.dot(face) >= 0.0;
        if nearest.distance > self.reach {
            // Nothing within the reach: there is no plane, and none is needed.
            let open = if is_outside { self.reach } else { -self.reach };
            return [0.0, 0.0, 0.0, f32::INFINITY, open];
        }
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
            let highest =
                corners.map(|c| normal.dot(c - middle)).into_iter().fold(height, f32::max);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    /// A bumpy ball of 20 cm with a thin fin that stands off it like an ear.
    fn eared_ball() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let (rings, around) = (24u32, 48u32);
        let place = |i: u32, k: u32| {
            let (a, b) = (
                std::f32::consts::PI * i as f32 / rings as f32,
                std::f32::consts::TAU * k as f32 / around as f32,
            );
            let out = Vec3::new(a.sin() * b.cos(), a.cos(), a.sin() * b.sin());
            out * (0.1 + 0.002 * (9.0 * out.x).sin() * (7.0 * out.y).cos())
        };
        let mut positions: Vec<Vec3> =
            (0..=rings).flat_map(|i| (0..around).map(move |k| place(i, k))).collect();
        let mut triangles = Vec::new();
        for i in 0..rings {
            for k in 0..around {
                let [a, b] = [i * around + k, i * around + (k + 1) % around];
                let [c, d] = [a + around, b + around];
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
        let first = positions.len() as u32;
        positions
            .extend([[0.09, -0.02, 0.0], [0.13, 0.0, 0.01], [0.09, 0.03, 0.0]].map(Vec3::from));
        triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 1]]);
        (positions, triangles)
    }

    fn around(mesh: &TriangleBvh, side: f32, reach: f32) -> OpenAir {
        let mut air = OpenAir::default();
        let room = mesh.bounds().grown(1.0);
        air.begin(mesh.bounds(), room, side, reach);
        air
    }

    /// Four random ways of two centimetres near the ball, and how near the mesh each of them comes.
    fn four_ways(mesh: &TriangleBvh, number: u64) -> ([Vec3; 4], [Vec3; 4], [f32; 4]) {
        let v = |lane: usize, k: u64| {
            let c =
                |axis: u64| random::signed(11, 100 * number + 10 * lane as u64 + k, axis) as f32;
            Vec3::new(c(0), c(1), c(2))
        };
        let starts: [Vec3; 4] = std::array::from_fn(|lane| {
            v(lane, 0).normalize_or(Vec3::X) * (0.098 + 0.05 * v(lane, 1).x.abs())
        });
        let ends: [Vec3; 4] =
            std::array::from_fn(|lane| starts[lane] + 0.02 * v(lane, 2).normalize_or(Vec3::Y));
        let nearest = std::array::from_fn(|lane| {
            let along = (0..=40).map(|k| starts[lane].lerp(ends[lane], k as f32 / 40.0));
            let away = |p: Vec3| mesh.closest_point(p, 1.0).map_or(1.0, |hit| hit.distance);
            along.map(away).fold(f32::INFINITY, f32::min)
        });
        (starts, ends, nearest)
    }

    fn lanes(points: [Vec3; 4]) -> Four {
        std::array::from_fn(|axis| Vec4::from_array(points.map(|p| p[axis])))
    }

    #[test]
    fn a_way_that_is_called_free_is_and_most_that_are_clearly_free_are_called_so() {
        let (positions, triangles) = eared_ball();
        let mesh = TriangleBvh::build(&positions, &triangles);
        let air = around(&mesh, 0.008, 0.02);
        let (mut clear, mut told) = (0, 0);
        for number in 0..3000 {
            let (starts, ends, nearest) = four_ways(&mesh, number);
            let ways = (lanes(starts), lanes(ends));
            let known = air.free_ways(&mesh, ways, [1.0e-3, 2.0e-3], BVec4A::splat(true));
            for lane in 0..4 {
                let is_free = known.free.bitmask() >> lane & 1 == 1;
                let outside = !mesh.is_inside(starts[lane]) && !mesh.is_inside(ends[lane]);
                assert!(!is_free || nearest[lane] > 1.0e-3 - 1.0e-6, "{number}: {nearest:?}");
                assert!(!is_free || outside, "{number}: within the mesh");
                for (heights, p) in known.heights.iter().zip([starts[lane], ends[lane]]) {
                    let height = mesh.closest_point(p, 1.0).map_or(1.0, |hit| hit.distance);
                    assert!(heights[lane] <= height + 1.0e-6, "{number}");
                }
                // Three millimetres off on a bumpy ball, but for what is near the fin.
                if nearest[lane] > 3.0e-3 && outside && starts[lane].x < 0.06 {
                    clear += 1;
                    told += i32::from(is_free);
                }
            }
        }
        assert!(clear > 3000 && told as f32 > 0.9 * clear as f32, "{told} of {clear}");
    }

    #[test]
    fn what_is_known_of_a_mesh_is_forgotten_with_it() {
        let (positions, triangles) = eared_ball();
        let mesh = TriangleBvh::build(&positions, &triangles);
        let moved: Vec<Vec3> = positions.iter().map(|p| *p + 0.03 * Vec3::Y).collect();
        let elsewhere = TriangleBvh::build(&moved, &triangles);
        let mut air = around(&mesh, 0.008, 0.02);
        let (start, end) = (Vec3::new(0.0, 0.11, -0.01), Vec3::new(0.0, 0.11, 0.01));
        let ways = (lanes([start; 4]), lanes([end; 4]));
        let free = |air: &OpenAir, mesh: &TriangleBvh| {
            air.free_ways(mesh, ways, [1.0e-3; 2], BVec4A::splat(true)).free.bitmask()
        };
        assert_eq!(free(&air, &mesh), 0b1111);
        let room = elsewhere.bounds().grown(1.0);
        air.begin(elsewhere.bounds(), room, 0.008, 0.02);
        assert_eq!(free(&air, &elsewhere), 0);
        assert_eq!(air.is_within(&elsewhere, start, 0.001), Some(false), "deep inside");
        assert_eq!(air.is_within(&elsewhere, Vec3::new(0.0, 0.125, 0.0), 0.03), Some(true));
        assert_eq!(air.is_within(&elsewhere, Vec3::new(0.0, 0.145, 0.0), 0.001), Some(false));
    }

    #[test]
    fn places_that_are_no_numbers_and_boxes_without_end_are_not_known() {
        let (positions, triangles) = eared_ball();
        let mesh = TriangleBvh::build(&positions, &triangles);
        let mut air = around(&mesh, 0.008, 0.02);
        let nowhere = lanes([Vec3::NAN, Vec3::INFINITY, Vec3::splat(1.0e30), Vec3::splat(-1.0e9)]);
        let here = lanes([Vec3::new(0.0, 0.2, 0.0); 4]);
        let known = air.free_ways(&mesh, (here, nowhere), [1.0e-3; 2], BVec4A::splat(true));
        assert_eq!(known.free.bitmask(), 0);
        air.begin(Bounds::EMPTY, Bounds::EMPTY, 0.008, 0.02);
        assert_eq!(air.is_within(&mesh, Vec3::ZERO, 0.1), None);
        let huge = Bounds { min: Vec3::splat(-1.0e30), max: Vec3::splat(1.0e30) };
        air.begin(huge, huge, 0.008, 0.02);
        assert!(air.cells.len() <= 2 * MOST_CELLS);
    }
}
