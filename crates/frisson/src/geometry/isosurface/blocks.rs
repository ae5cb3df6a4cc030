//! Which blocks of the lattice the surface passes through, and the field's values there.

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::{Bounds, Field, IsoError, IsoSettings, PointsSoa};

/// Cubes along a block's edge.
pub const SIDE: usize = 8;
/// Lattice points along a block's edge: the last layer is also the next block's first.
pub const POINTS: usize = SIDE + 1;
/// A row whose points are all inside.
const FULL_ROW: u16 = (1 << POINTS) - 1;
/// Furthest lattice index: block keys pack three of them into 64 bits.
const MAX_INDEX: f32 = 4.0e6;

/// A block of 8³ cubes and what was found in it.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Position in units of blocks.
    pub coord: IVec3,
    /// Parts of the field that matter here and within one cell around.
    pub parts: Vec<u32>,
    /// Field at the 9³ lattice points, minus the level; x fastest.
    pub values: Vec<f32>,
    /// Which lattice points are inside, as bits of rows along x; y fastest.
    pub rows: Vec<u16>,
    /// Cubes (ascending) that the surface passes through.
    pub mixed: Vec<u16>,
    /// Sign pattern of each cube; x fastest. Zero where the surface does not pass.
    pub patterns: Vec<u8>,
    /// Cubes (ascending) that use the table's `joined` row.
    pub joined: Vec<u16>,
    /// First vertex of each mixed cube, in this block's numbering.
    pub first_vertex: Vec<u16>,
    /// Number of the block's first vertex in the whole mesh.
    pub vertex_offset: u32,
    /// Vertices, in the order of cubes and sheets.
    pub vertices: Vec<Vec3>,
    /// Their normals.
    pub normals: Vec<Vec3>,
    /// Triangles of the quads that this block owns.
    pub triangles: Vec<[u32; 3]>,
}

/// Sort key: z, then y, then x.
pub fn key(coord: IVec3) -> u64 {
    let part = |v: i32| (i64::from(v) + (1 << 20)) as u64;
    part(coord.z) << 42 | part(coord.y) << 21 | part(coord.x)
}

/// The block at a coordinate, in a list sorted by [`key`].
pub fn find_block(blocks: &[Block], coord: IVec3) -> Option<usize> {
    blocks.binary_search_by_key(&key(coord), |b| key(b.coord)).ok()
}

/// Index ranges of the lattice.
#[derive(Clone, Copy, Debug)]
pub struct Lattice {
    /// First and last lattice point; both are outside by decree.
    pub points: (IVec3, IVec3),
    /// First and last block.
    pub blocks: (IVec3, IVec3),
    cell: f32,
}

impl Lattice {
    /// Checks the settings.
    pub fn new(settings: &IsoSettings) -> Result<Self, IsoError> {
        let IsoSettings { cell, bounds, .. } = *settings;
        if !(cell.is_finite() && cell > 0.0) {
            return Err(IsoError::Cell(cell));
        }
        if bounds.is_empty() {
            let none = (IVec3::ZERO, IVec3::NEG_ONE);
            return Ok(Self { points: none, blocks: none, cell });
        }
        let (low, high) = ((bounds.min / cell).floor(), (bounds.max / cell).ceil());
        let furthest = low.abs().max(high.abs()).max_element();
        if furthest > MAX_INDEX || !low.is_finite() || !high.is_finite() {
            return Err(IsoError::Bounds { size: bounds.diagonal(), cell });
        }
        let points = (low.as_ivec3(), high.as_ivec3());
        let side = IVec3::splat(SIDE as i32);
        // Euclid's division rounds down on both sides of the origin: blocks never straddle it.
        let blocks = (points.0.div_euclid(side), (points.1 - 1).div_euclid(side));
        Ok(Self { points, blocks, cell })
    }

    fn block_bounds(&self, coord: IVec3, blocks: i32) -> Bounds {
        let size = self.cell * SIDE as f32;
        let min = coord.as_vec3() * size;
        // One cell more: vertices are moved onto the surface and may leave their cube a little.
        Bounds { min, max: min + Vec3::splat(size * blocks as f32) }.grown(self.cell)
    }

    fn contains_block(&self, coord: IVec3) -> bool {
        coord.cmpge(self.blocks.0).all() && coord.cmple(self.blocks.1).all()
    }
}

/// A node of the search: a cube of `blocks` blocks a side.
struct Node {
    coord: IVec3,
    parts: Vec<u32>,
}

/// Finds and samples all blocks the surface passes through, sorted by [`key`].
pub fn find(
    field: &impl Field,
    settings: &IsoSettings,
    lattice: &Lattice,
    blocks: &mut Vec<Block>,
    spare: &mut Vec<Block>,
) -> Result<(), IsoError> {
    if lattice.blocks.0.cmpgt(lattice.blocks.1).any() {
        return Ok(());
    }
    let mut wanted = descend(field, lattice, settings)?;
    let mut all_parts: Vec<u32> = Vec::new();
    while !wanted.is_empty() {
        let first_new = blocks.len();
        check_size(settings, first_new + wanted.len())?;
        for node in wanted.drain(..) {
            let mut block = spare.pop().unwrap_or_default();
            block.coord = node.coord;
            block.parts = node.parts;
            blocks.push(block);
        }
        // Only what is new: older blocks have been sampled in an earlier round.
        blocks[first_new..]
            .par_iter_mut()
            .for_each_init(Scratch::default, |s, b| sample(field, settings, lattice, s, b));
        // The field's hint may be wrong: where the surface leaves a block, the next one is looked at all the same.
        let woken = woken_neighbours(lattice, blocks, first_new);
        if !woken.is_empty() && all_parts.is_empty() {
            all_parts = (0..field.part_count() as u32).collect();
        }
        wanted = woken
            .into_par_iter()
            .map(|coord| {
                let mut parts = Vec::new();
                field.gather(&all_parts, &lattice.block_bounds(coord, 1), &mut parts);
                Node { coord, parts }
            })
            .collect();
    }
    blocks.retain(|b| !b.values.is_empty());
    blocks.sort_unstable_by_key(|b| key(b.coord));
    Ok(())
}

fn check_size(settings: &IsoSettings, blocks: usize) -> Result<(), IsoError> {
    let limit = settings.max_blocks;
    if blocks > limit {
        let megabytes = limit * 5 / 1024;
        return Err(IsoError::TooFine { cell: settings.cell, limit, megabytes });
    }
    Ok(())
}

/// Level by level from one cube over everything down to single blocks.
fn descend(
    field: &impl Field,
    lattice: &Lattice,
    settings: &IsoSettings,
) -> Result<Vec<Node>, IsoError> {
    let (low, high) = lattice.blocks;
    let extent = (high - low + 1).max_element() as u32;
    let mut size = extent.next_power_of_two() as i32;
    let root = Node { coord: low, parts: (0..field.part_count() as u32).collect() };
    let mut level = vec![root];
    while size > 1 {
        let half = size / 2;
        let children: Vec<Vec<Node>> = level
            .par_iter()
            .map(|node| {
                let inside =
                    (0..8).map(|o| node.coord + half * IVec3::new(o & 1, o >> 1 & 1, o >> 2));
                let inside = inside.filter(|c| c.cmple(high).all());
                let found = inside.filter_map(|coord| {
                    let mut parts = Vec::new();
                    let bounds = lattice.block_bounds(coord, half);
                    field.gather(&node.parts, &bounds, &mut parts).then_some(Node { coord, parts })
                });
                found.collect()
            })
            .collect();
        level = children.into_iter().flatten().collect();
        check_size(settings, level.len())?;
        size = half;
    }
    Ok(level)
}

/// Coordinates of a block's lattice points.
#[derive(Default)]
struct Scratch {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
}

/// Samples a block; leaves `values` empty when the surface does not touch it.
fn sample(
    field: &impl Field,
    settings: &IsoSettings,
    lattice: &Lattice,
    scratch: &mut Scratch,
    block: &mut Block,
) {
    let origin = block.coord * SIDE as i32;
    let Scratch { x, y, z } = scratch;
    x.clear();
    y.clear();
    z.clear();
    let at = |i: i32| i as f32 * lattice.cell;
    for k in 0..POINTS as i32 {
        for j in 0..POINTS as i32 {
            x.extend((0..POINTS as i32).map(|i| at(origin.x + i)));
            y.extend([at(origin.y + j); POINTS]);
            z.extend([at(origin.z + k); POINTS]);
        }
    }
    block.values.clear();
    block.values.resize(x.len(), 0.0);
    field.values(&block.parts, PointsSoa { x, y, z }, &mut block.values);
    let values = &mut block.values;
    for v in values.iter_mut() {
        // Not a number is outside: one bad part must not open the surface. Infinite values would spoil crossings.
        *v = if v.is_nan() { -1.0 } else { (*v - settings.level).clamp(-f32::MAX, f32::MAX) };
    }
    close_off(lattice, origin, values);
    block.rows.clear();
    block.rows.extend(values.chunks_exact(POINTS).map(|row| {
        row.iter().enumerate().fold(0, |bits, (i, v)| bits | u16::from(*v >= 0.0) << i)
    }));
    if block.rows.iter().all(|r| *r == 0) || block.rows.iter().all(|r| *r == FULL_ROW) {
        values.clear();
    }
}

/// Lattice points at the border of the box count as outside.
fn close_off(lattice: &Lattice, origin: IVec3, values: &mut [f32]) {
    let (low, high) = lattice.points;
    let last = origin + SIDE as i32;
    if origin.cmpgt(low).all() && last.cmplt(high).all() {
        return;
    }
    for (index, value) in values.iter_mut().enumerate() {
        let at = origin
            + IVec3::new(
                (index % POINTS) as i32,
                (index / POINTS % POINTS) as i32,
                (index / (POINTS * POINTS)) as i32,
            );
        if (at.cmple(low) | at.cmpge(high)).any() && *value >= 0.0 {
            // As little outside as a number can be: the crossing stays at the border.
            *value = -f32::MIN_POSITIVE;
        }
    }
}

/// Neighbours that the surface enters from blocks `first_new..` and that nobody has looked at.
fn woken_neighbours(lattice: &Lattice, blocks: &[Block], first_new: usize) -> Vec<IVec3> {
    let mut found: Vec<IVec3> = blocks[first_new..]
        .par_iter()
        .filter(|b| !b.values.is_empty())
        .flat_map_iter(|block| {
            neighbours().filter(|&d| crosses(&block.rows, d)).map(|d| block.coord + d)
        })
        .filter(|&coord| lattice.contains_block(coord))
        .collect();
    // Sorted lists instead of a set: their order is the same in every run.
    let mut known: Vec<u64> = blocks.iter().map(|b| key(b.coord)).collect();
    known.sort_unstable();
    found.retain(|&c| known.binary_search(&key(c)).is_err());
    found.sort_unstable_by_key(|&c| key(c));
    found.dedup();
    found
}

fn neighbours() -> impl Iterator<Item = IVec3> {
    (0..27).filter(|&n| n != 13).map(|n| IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1))
}

/// Whether the lattice points shared with the neighbour in direction `d` have both signs.
fn crosses(rows: &[u16], d: IVec3) -> bool {
    let range = |d: i32| match d {
        -1 => 0..1,
        1 => SIDE..POINTS,
        _ => 0..POINTS,
    };
    let mask = match d.x {
        -1 => 1,
        1 => 1 << SIDE,
        _ => FULL_ROW,
    };
    let (mut inside, mut outside) = (0, 0);
    for k in range(d.z) {
        for j in range(d.y) {
            let row = rows[k * POINTS + j];
            inside |= row & mask;
            outside |= !row & mask;
        }
    }
    inside != 0 && outside != 0
}
