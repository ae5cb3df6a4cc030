//! One vertex per sheet, one quadrilateral per crossed edge.

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::blocks::{Block, POINTS, SIDE, find_block};
use super::cases::{Cases, NO_SHEET, Sheets, edge_corners};
use super::{Field, IsoSettings};
use crate::tolerances;

const CUBES: usize = SIDE * SIDE * SIDE;

fn cube_coord(cube: usize) -> [usize; 3] {
    [cube % SIDE, cube / SIDE % SIDE, cube / (SIDE * SIDE)]
}

/// A number for a cube of the lattice, unique within 2^21 cubes of the origin.
pub fn cube_key(block: IVec3, cube: usize) -> u64 {
    let at = block * SIDE as i32 + IVec3::from_array(cube_coord(cube).map(|v| v as i32));
    let part = |v: i32| (i64::from(v) + (1 << 20)) as u64 & ((1 << 21) - 1);
    part(at.z) << 42 | part(at.y) << 21 | part(at.x)
}

/// Index of a cube's corner among the block's lattice points.
fn point_index([i, j, k]: [usize; 3], corner: usize) -> usize {
    ((k + (corner >> 2)) * POINTS + j + (corner >> 1 & 1)) * POINTS + i + (corner & 1)
}

/// Whether a pattern has corners on both sides.
fn is_mixed(pattern: u8) -> bool {
    pattern != 0 && pattern != u8::MAX
}

impl Block {
    fn sheets<'a>(&self, cases: &'a Cases, cube: usize) -> &'a Sheets {
        let pattern = self.patterns[cube] as usize;
        let joined = self.joined.binary_search(&(cube as u16)).is_ok();
        if joined { &cases.joined[pattern] } else { &cases.apart[pattern] }
    }
}

/// Sign pattern of every cube, and which of them use the other table row.
pub fn classify(cases: &Cases, blocks: &mut [Block]) {
    blocks.par_iter_mut().for_each(|block| {
        block.patterns.clear();
        block.joined.clear();
        for cube in 0..CUBES {
            let at = cube_coord(cube);
            let inside = |c: usize| u8::from(block.values[point_index(at, c)] >= 0.0) << c;
            let pattern = (0..8).map(inside).sum();
            block.patterns.push(pattern);
        }
    });
    let shared = &*blocks;
    let joined: Vec<Vec<u16>> = shared.par_iter().map(|b| joined_cubes(cases, shared, b)).collect();
    for (block, joined) in blocks.iter_mut().zip(joined) {
        block.joined = joined;
    }
}

/// Cubes whose doubly crossed face is doubly crossed by the neighbour's single sheet as well.
fn joined_cubes(cases: &Cases, blocks: &[Block], block: &Block) -> Vec<u16> {
    let mut out = Vec::new();
    for cube in 0..CUBES {
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

/// Puts a vertex on each sheet of each cube: mean of its edge crossings, then onto the surface.
pub fn place_vertices(
    field: &impl Field,
    settings: &IsoSettings,
    block: &mut Block,
    cases: &Cases,
) {
    let mut vertices = std::mem::take(&mut block.vertices);
    let mut normals = std::mem::take(&mut block.normals);
    vertices.clear();
    normals.clear();
    block.first_vertex.clear();
    for cube in 0..CUBES {
        block.first_vertex.push(vertices.len() as u16);
        if is_mixed(block.patterns[cube]) {
            sheet_means(block, block.sheets(cases, cube), cube, settings.cell, &mut vertices);
        }
    }
    // Where smoothing follows, its passes go the rest of the way.
    let steps = if settings.relax > 0 { 2 } else { tolerances::isosurface::NEWTON_STEPS };
    for vertex in &mut vertices {
        let (onto, normal) = onto_surface(field, settings, &block.parts, *vertex, steps);
        *vertex = onto;
        normals.push(normal);
    }
    block.vertices = vertices;
    block.normals = normals;
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

/// Newton's way along the gradient from a point to the surface, and the normal there. Never further
/// than a cell: where the field has a crease or was closed off, the point stays near its cube.
pub fn onto_surface(
    field: &impl Field,
    settings: &IsoSettings,
    parts: &[u32],
    start: Vec3,
    steps: u32,
) -> (Vec3, Vec3) {
    let cell = settings.cell;
    let step = tolerances::isosurface::DIFFERENCE_CELLS * cell;
    let mut at = start;
    let mut normal = Vec3::ZERO;
    for _ in 0..steps {
        let (value, gradient) = field.value_and_gradient(parts, at, step);
        let slope_sq = gradient.length_squared();
        if !(slope_sq > f32::MIN_POSITIVE && slope_sq.is_finite()) {
            break;
        }
        normal = -gradient / slope_sq.sqrt();
        let excess = value - settings.level;
        let way = (gradient * (-excess / slope_sq)).clamp_length_max(0.5 * cell);
        if !way.is_finite() {
            break;
        }
        at = start + (at + way - start).clamp_length_max(cell);
        if way.length_squared() < (tolerances::isosurface::ON_SURFACE_CELLS * cell).powi(2) {
            break;
        }
    }
    (at, if normal == Vec3::ZERO { Vec3::Y } else { normal })
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

/// Two triangles per crossed edge whose low end is one of this block's first 8³ points.
pub fn join_quads(blocks: &[Block], cases: &Cases, index: usize, out: &mut Vec<[u32; 3]>) {
    let around = Surroundings::of(blocks, index);
    let block = &blocks[index];
    for point in 0..CUBES {
        let at = cube_coord(point);
        let here = block.values[point_index(at, 0)] >= 0.0;
        for axis in 0..3 {
            let there = block.values[point_index(at, 1 << axis)] >= 0.0;
            if here != there {
                join_quad(&around, cases, at, axis, here, out);
            }
        }
    }
}

fn join_quad(
    around: &Surroundings<'_>,
    cases: &Cases,
    at: [usize; 3],
    axis: usize,
    low_end_inside: bool,
    out: &mut Vec<[u32; 3]>,
) {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    // Around the edge, counter-clockwise seen from its high end.
    let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(back_u, back_v)| {
        let mut cube = at.map(|c| c as i32);
        cube[u] -= back_u;
        cube[v] -= back_v;
        around.vertex(cases, cube, 4 * axis + back_u as usize + 2 * back_v as usize)
    });
    let [Some(a), Some(b), Some(c), Some(d)] = corners else { return };
    let (a, b, c, d) = if low_end_inside { (a, b, c, d) } else { (d, c, b, a) };
    if a.1.distance_squared(c.1) <= b.1.distance_squared(d.1) {
        out.push([a.0, b.0, c.0]);
        out.push([a.0, c.0, d.0]);
    } else {
        out.push([a.0, b.0, d.0]);
        out.push([b.0, c.0, d.0]);
    }
}
