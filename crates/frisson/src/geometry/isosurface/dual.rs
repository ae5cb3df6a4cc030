//! One vertex per sheet, one quadrilateral per crossed edge.

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::blocks::{Block, POINTS, SIDE, find_block};
use super::cases::{Cases, NO_SHEET, Sheets, edge_corners};
use super::newton::{Newton, Vertices};
use super::{Field, IsoSettings};
use crate::tolerances;

const CUBES: usize = SIDE * SIDE * SIDE;

fn cube_coord(cube: usize) -> [usize; 3] {
    [cube % SIDE, cube / SIDE % SIDE, cube / (SIDE * SIDE)]
}

/// A number for a point of the lattice, unique within 2^20 points of the origin.
fn point_key(at: IVec3) -> u64 {
    let part = |v: i32| (i64::from(v) + (1 << 20)) as u64 & ((1 << 21) - 1);
    part(at.z) << 42 | part(at.y) << 21 | part(at.x)
}

/// Index of a cube's corner among the block's lattice points.
fn point_index([i, j, k]: [usize; 3], corner: usize) -> usize {
    ((k + (corner >> 2)) * POINTS + j + (corner >> 1 & 1)) * POINTS + i + (corner & 1)
}

impl Block {
    fn sheets<'a>(&self, cases: &'a Cases, cube: usize) -> &'a Sheets {
        let pattern = self.patterns[cube] as usize;
        let joined = !self.joined.is_empty() && self.joined.binary_search(&(cube as u16)).is_ok();
        if joined { &cases.joined[pattern] } else { &cases.apart[pattern] }
    }
}

/// Sign pattern of every cube, and which of them use the other table row.
pub fn classify(cases: &Cases, blocks: &mut [Block]) {
    blocks.par_iter_mut().for_each(find_mixed);
    let shared = &*blocks;
    let joined: Vec<Vec<u16>> = shared.par_iter().map(|b| joined_cubes(cases, shared, b)).collect();
    for (block, joined) in blocks.iter_mut().zip(joined) {
        block.joined = joined;
    }
}

/// Fills in the cubes that have corners on both sides, eight rows of bits at a time.
fn find_mixed(block: &mut Block) {
    block.patterns.clear();
    block.patterns.resize(CUBES, 0);
    block.mixed.clear();
    for k in 0..SIDE {
        for j in 0..SIDE {
            let row = |dj: usize, dk: usize| block.rows[(k + dk) * POINTS + j + dj];
            let rows = [row(0, 0), row(1, 0), row(0, 1), row(1, 1)];
            let any = rows.iter().fold(0, |m, r| m | r | r >> 1);
            let all = rows.iter().fold(u16::MAX, |m, r| m & r & r >> 1);
            let mut mixed = any & !all & ((1 << SIDE) - 1);
            while mixed != 0 {
                let i = mixed.trailing_zeros() as usize;
                mixed &= mixed - 1;
                let pair = |r: u16| (r >> i & 3) as u8;
                let [a, b, c, d] = rows.map(pair);
                let cube = (k * SIDE + j) * SIDE + i;
                block.patterns[cube] = a | b << 2 | c << 4 | d << 6;
                block.mixed.push(cube as u16);
            }
        }
    }
}

/// Cubes whose doubly crossed face is doubly crossed by the neighbour's single sheet as well.
fn joined_cubes(cases: &Cases, blocks: &[Block], block: &Block) -> Vec<u16> {
    let mut out = Vec::new();
    for cube in block.mixed.iter().map(|&c| c as usize) {
        let Some(face) = cases.twice_face[block.patterns[cube] as usize] else { continue };
        let mut step = [0i32; 3];
        step[face as usize / 2] = if face & 1 == 1 { 1 } else { -1 };
        let [i, j, k] = cube_coord(cube).map(|v| v as i32);
        let at = IVec3::new(i, j, k) + IVec3::from_array(step);
        let side = IVec3::splat(SIDE as i32);
        let (moved, local) = (at.div_euclid(side), at.rem_euclid(side));
        let other = if moved == IVec3::ZERO {
            Some(block)
        } else {
            find_block(blocks, block.coord + moved).map(|b| &blocks[b])
        };
        let Some(other) = other else { continue };
        let index = (local.z as usize * SIDE + local.y as usize) * SIDE + local.x as usize;
        if cases.twice_face[other.patterns[index] as usize] == Some(face ^ 1) {
            out.push(cube as u16);
        }
    }
    out
}

/// Newton steps that bring a vertex near the surface where smoothing follows [-].
const STEPS_BEFORE_RELAXING: u32 = 2;

/// Puts a vertex on each sheet of each cube: mean of its edge crossings, then onto the surface.
pub fn place_vertices(
    field: &impl Field,
    settings: &IsoSettings,
    newton: &mut Newton,
    block: &mut Block,
    cases: &Cases,
) {
    let mut vertices = std::mem::take(&mut block.vertices);
    vertices.clear();
    block.first_vertex.resize(CUBES, 0);
    for index in 0..block.mixed.len() {
        let cube = block.mixed[index] as usize;
        block.first_vertex[cube] = vertices.len() as u16;
        sheet_means(block, block.sheets(cases, cube), cube, settings.cell, &mut vertices);
    }
    block.normals.clear();
    block.normals.resize(vertices.len(), Vec3::ZERO);
    // Where smoothing follows, its passes go the rest of the way.
    let steps = if settings.relax > 0 {
        STEPS_BEFORE_RELAXING
    } else {
        tolerances::isosurface::NEWTON_STEPS
    };
    let (parts, normals) = (&block.parts, &mut block.normals);
    let moving = Vertices { parts, positions: &mut vertices, normals };
    newton.run(field, settings, moving, steps);
    block.vertices = vertices;
}

fn sheet_means(block: &Block, sheets: &Sheets, cube: usize, cell: f32, out: &mut Vec<Vec3>) {
    let at = cube_coord(cube);
    let origin = block.coord * SIDE as i32 + IVec3::from_array(at.map(|v| v as i32));
    let mut sums = [(Vec3::ZERO, 0.0f32); 4];
    for (edge, &sheet) in sheets.of_edge.iter().enumerate() {
        if sheet == NO_SHEET {
            continue;
        }
        let (a, b) = edge_corners(edge);
        let (va, vb) = (block.values[point_index(at, a)], block.values[point_index(at, b)]);
        let ratio = va / (va - vb);
        let t = if ratio.is_finite() { ratio.clamp(0.0, 1.0) } else { 0.5 };
        let mut crossing = corner_offset(a);
        crossing[edge / 4] += t;
        let sum = &mut sums[sheet as usize];
        *sum = (sum.0 + crossing, sum.1 + 1.0);
    }
    for &(sum, count) in &sums[..sheets.count as usize] {
        out.push(cell * (origin.as_vec3() + sum / count));
    }
}

fn corner_offset(corner: usize) -> Vec3 {
    Vec3::new((corner & 1) as f32, (corner >> 1 & 1) as f32, (corner >> 2) as f32)
}

/// Gives every block the number of its first vertex in the whole mesh.
pub fn number_vertices(blocks: &mut [Block]) {
    let mut next = 0;
    for block in blocks {
        block.vertex_offset = next;
        next += block.vertices.len() as u32;
    }
}

/// The block itself and its neighbours at -1 along x, y, z in all combinations.
struct Surroundings<'a> {
    blocks: [Option<&'a Block>; 8],
}

impl<'a> Surroundings<'a> {
    fn of(blocks: &'a [Block], index: usize) -> Self {
        let here = &blocks[index];
        Self {
            blocks: std::array::from_fn(|n| {
                let back = IVec3::new((n & 1) as i32, (n >> 1 & 1) as i32, (n >> 2) as i32);
                if n == 0 {
                    Some(here)
                } else {
                    find_block(blocks, here.coord - back).map(|b| &blocks[b])
                }
            }),
        }
    }

    /// Mesh vertex and place of the sheet that crosses `edge` in the cube at `at`, whose
    /// coordinates may be -1.
    fn vertex(&self, cases: &Cases, at: [i32; 3], edge: usize) -> Option<(u32, Vec3)> {
        let which = (0..3).map(|a| usize::from(at[a] < 0) << a).sum::<usize>();
        let block = self.blocks[which]?;
        let local = at.map(|v| v.rem_euclid(SIDE as i32) as usize);
        let cube = (local[2] * SIDE + local[1]) * SIDE + local[0];
        let sheet = block.sheets(cases, cube).of_edge[edge];
        if sheet == NO_SHEET {
            return None;
        }
        let vertex = block.first_vertex[cube] as usize + sheet as usize;
        Some((block.vertex_offset + vertex as u32, block.vertices[vertex]))
    }
}

/// An edge of the lattice that the surface crosses.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    /// Its low end.
    at: [usize; 3],
    axis: usize,
    low_end_inside: bool,
}

/// Every crossed edge whose low end is one of a block's first 8³ points.
fn for_each_crossing(block: &Block, mut each: impl FnMut(Crossing)) {
    const FIRST: u16 = (1 << SIDE) - 1;
    for k in 0..SIDE {
        for j in 0..SIDE {
            let here = block.rows[k * POINTS + j];
            let next =
                [here >> 1, block.rows[k * POINTS + j + 1], block.rows[(k + 1) * POINTS + j]];
            let changes = next.map(|n| (here ^ n) & FIRST);
            let mut left = changes[0] | changes[1] | changes[2];
            while left != 0 {
                let i = left.trailing_zeros() as usize;
                left &= left - 1;
                let low_end_inside = here >> i & 1 == 1;
                for axis in (0..3).filter(|&a| changes[a] >> i & 1 == 1) {
                    each(Crossing { at: [i, j, k], axis, low_end_inside });
                }
            }
        }
    }
}

/// The vertices of the four cubes around a crossed edge, counter-clockwise seen from its high end.
fn corners_around(
    around: &Surroundings<'_>,
    cases: &Cases,
    crossing: Crossing,
) -> Option<[(u32, Vec3); 4]> {
    let Crossing { at, axis, .. } = crossing;
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let corner = |back_u: i32, back_v: i32| {
        let mut cube = at.map(|c| c as i32);
        cube[u] -= back_u;
        cube[v] -= back_v;
        around.vertex(cases, cube, 4 * axis + back_u as usize + 2 * back_v as usize)
    };
    Some([corner(0, 0)?, corner(1, 0)?, corner(1, 1)?, corner(0, 1)?])
}

/// Two triangles per crossed edge whose low end is one of this block's first 8³ points.
pub fn join_quads(blocks: &[Block], cases: &Cases, index: usize, out: &mut Vec<[u32; 3]>) {
    let around = Surroundings::of(blocks, index);
    for_each_crossing(&blocks[index], |crossing| {
        let Some([a, b, c, d]) = corners_around(&around, cases, crossing) else { return };
        let (a, b, c, d) = if crossing.low_end_inside { (a, b, c, d) } else { (d, c, b, a) };
        if a.1.distance_squared(c.1) <= b.1.distance_squared(d.1) {
            out.push([a.0, b.0, c.0]);
            out.push([a.0, c.0, d.0]);
        } else {
            out.push([a.0, b.0, d.0]);
            out.push([b.0, c.0, d.0]);
        }
    });
}

/// The quadrilateral that two triangles written after each other are, whichever way it was cut.
#[must_use]
pub fn quad_of([s, t]: [[u32; 3]; 2]) -> [u32; 4] {
    if s[0] == t[0] { [s[0], s[1], s[2], t[2]] } else { [s[0], s[1], t[1], s[2]] }
}

/// A crossed edge as two extractions on the same lattice can compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrossedEdge {
    /// Low end and axis: the same number in every extraction.
    pub key: (u64, u8),
    /// Whether the low end is inside.
    pub low_end_inside: bool,
    /// Vertices of the four cubes around it, in an order that is the same in every extraction.
    pub vertices: [u32; 4],
}

/// The crossed edges of one block.
pub fn crossed_edges(blocks: &[Block], cases: &Cases, index: usize, out: &mut Vec<CrossedEdge>) {
    let around = Surroundings::of(blocks, index);
    let origin = blocks[index].coord * SIDE as i32;
    for_each_crossing(&blocks[index], |crossing| {
        let Some(corners) = corners_around(&around, cases, crossing) else { return };
        let low = origin + IVec3::from_array(crossing.at.map(|v| v as i32));
        out.push(CrossedEdge {
            key: (point_key(low), crossing.axis as u8),
            low_end_inside: crossing.low_end_inside,
            vertices: corners.map(|c| c.0),
        });
    });
}

/// The middle of the cube of every vertex of a block, and the mean of the lattice edges that its sheet crosses there.
pub fn safe_places(block: &Block, cases: &Cases, cell: f32, out: &mut [Vec<Vec3>; 2]) {
    let origin = (block.coord * SIDE as i32).as_vec3() + 0.5;
    let [centers, means] = out;
    for &cube in &block.mixed {
        let at = Vec3::from_array(cube_coord(cube as usize).map(|v| v as f32));
        sheet_means(block, block.sheets(cases, cube as usize), cube as usize, cell, means);
        centers.resize(means.len(), cell * (origin + at));
    }
}

/// The cubes of one block that have one vertex, as a number that is the same in every extraction on the
/// same lattice, and that vertex.
pub fn single_cubes(block: &Block, out: &mut Vec<(u64, u32)>) {
    let origin = block.coord * SIDE as i32;
    let first = |n: usize| match block.mixed.get(n) {
        Some(&cube) => block.first_vertex[cube as usize] as usize,
        None => block.vertices.len(),
    };
    for (n, &cube) in block.mixed.iter().enumerate() {
        if first(n + 1) - first(n) == 1 {
            let at = origin + IVec3::from_array(cube_coord(cube as usize).map(|v| v as i32));
            out.push((point_key(at), block.vertex_offset + first(n) as u32));
        }
    }
}
