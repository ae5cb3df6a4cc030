//! Signed distances to triangles at the points of a lattice, in a narrow band around them.
//!
//! ```text
//!    . . . . . . . .     band: points within a few cells of a triangle know how far the nearest is, and
//!    . o o o o . . .     which; the others know on which side they are
//!    o o--o--o o o .
//!    . o o o o--o o o
//! ```
//!
//! The triangles may be any soup: limbs stuck into a trunk, sheets. Inside is where most ways along the axes
//! leave once more than they enter through triangles that enclose ([`columns`]); a triangle that lies within
//! another part is no border there. What encloses has no holes ([`super::Solid`] gives shells lids). Work grows
//! with the surface, not with the box.

mod columns;
mod regions;
#[cfg(test)]
mod tests;

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::{Bounds, NONE, closest_on_triangle};
use columns::Columns;
pub use regions::BandRegions;

/// Points along the edge of a block.
const SIDE: i32 = 8;
/// Points in a block.
const POINTS: usize = (SIDE * SIDE * SIDE) as usize;
/// Most blocks in the box around everything: 64 MB of numbers, and finer than any extraction allows.
const MOST_BLOCKS: f64 = 1.6e7;
/// Most columns along one axis: 256 MB of numbers.
const MOST_COLUMNS: f64 = 6.4e7;
/// Sum of two neighbours' distances from the triangles, in cells, up to which one may lie between them [-]: a cell,
/// and room for rounding where a triangle passes through a point.
const ASK: f32 = 1.01;
/// Distance from a triangle at which a point is on it, in cells [-].
const ON_TRIANGLE: f32 = 1e-3;
/// Distance between the places at which a triangle is looked at to tell whether it is hidden, in cells [-], and most of
/// them along an edge: what is larger than that and hidden in part only would be seen at its middle at the latest.
const HIDDEN_SPACING: f32 = 2.0;
const MOST_STEPS: f32 = 32.0;
/// Furthest point of a lattice, in cells from the origin [-].
const MOST_INDEX: f32 = 4.0e6;

/// What a point of the lattice knows.
#[derive(Clone, Copy, Debug)]
pub struct BandPoint {
    /// Distance to the nearest triangle [m], below zero inside; infinite beyond the band.
    pub signed: f32,
    /// What was asked to be kept for the nearest place.
    pub kept: f32,
    /// The triangle, or [`NONE`] beyond the band.
    pub triangle: u32,
}

/// The nearest triangle of a point, of those that it sees from one side.
#[derive(Clone, Copy)]
struct Nearest {
    distance_sq: f32,
    triangle: u32,
}

/// A block that triangles come near.
#[derive(Clone, Debug, Default)]
struct Block {
    coord: IVec3,
    /// Triangles that may be within the band of a point in it, ascending.
    triangles: std::ops::Range<usize>,
    points: Vec<BandPoint>,
    /// Least and greatest signed distance in it [m].
    range: (f32, f32),
}

/// Distances on a lattice whose points are whole multiples of a cell.
#[derive(Clone, Debug, Default)]
pub struct DistanceBand {
    cell: f32,
    width: f32,
    /// First block, and blocks along the axes.
    low: IVec3,
    size: IVec3,
    /// Place of each block of the box among `blocks`; [`NONE`]: no triangle is near.
    slots: Vec<u32>,
    /// Whether such a block is inside.
    filled: Vec<bool>,
    blocks: Vec<Block>,
    spare: Vec<Block>,
    columns: [Columns; 3],
    /// Per triangle: whether all of it lies within another part.
    hidden: Vec<bool>,
    /// (block of the box, triangle), and the triangles of each block.
    pairs: Vec<(u32, u32)>,
    near: Vec<u32>,
}

/// How distances are found.
#[derive(Clone, Copy, Debug)]
pub struct BandSettings {
    /// Size of the lattice's cells [m].
    pub cell: f32,
    /// Distance up to which points know any triangle [m], at least a cell.
    pub width: f32,
}

/// Triangles as the band asks them.
pub trait Soup: Sync {
    /// How many.
    fn count(&self) -> usize;
    /// Corners of one [m].
    fn corners(&self, triangle: u32) -> [Vec3; 3];
    /// Whether it belongs to what encloses: no way leads from inside to outside but through such triangles. A sheet
    /// does not.
    fn encloses(&self, _triangle: u32) -> bool {
        true
    }
    /// How much further than the band's width points know it [m].
    fn further(&self, _triangle: u32) -> f32 {
        0.0
    }
    /// A number to be kept with a place on it, given by the weights of its corners.
    fn keep(&self, _triangle: u32, _weights: [f32; 3]) -> f32 {
        0.0
    }
}

impl Soup for super::TriangleBvh {
    fn count(&self) -> usize {
        self.triangle_count()
    }
    fn corners(&self, triangle: u32) -> [Vec3; 3] {
        Self::corners(self, triangle)
    }
}

impl DistanceBand {
    /// Finds distances to triangles. False: the cells are too small for the box around.
    pub fn build(&mut self, triangles: &impl Soup, settings: BandSettings) -> bool {
        let BandSettings { cell, width } = settings;
        (self.cell, self.width) = (cell, width.max(cell));
        self.spare.append(&mut self.blocks);
        self.size = IVec3::ZERO;
        let all = 0..triangles.count() as u32;
        let corners = || all.clone().map(|t| triangles.corners(t));
        let bounds = corners().fold(Bounds::EMPTY, |b, t| b.union(Bounds::of(&t)));
        if bounds.is_empty() {
            return true;
        }
        let further = all.clone().map(|t| triangles.further(t)).fold(0.0, f32::max);
        let (low, high) = self.points_within(bounds.grown(self.width + further));
        let (low, high) = (low.div_euclid(IVec3::splat(SIDE)), high.div_euclid(IVec3::splat(SIDE)));
        let size = high - low + 1;
        let furthest = (bounds.min.abs().max(bounds.max.abs()) / cell).max_element();
        let points = size.as_dvec3() * f64::from(SIDE);
        let columns = (points.x * points.y).max(points.y * points.z).max(points.z * points.x);
        let blocks = size.as_dvec3().element_product();
        let fits = furthest < MOST_INDEX && blocks < MOST_BLOCKS && columns < MOST_COLUMNS;
        if !fits {
            return false;
        }
        (self.low, self.size) = (low, size);
        let points = (low * SIDE, (high + 1) * SIDE - 1);
        self.columns.par_iter_mut().enumerate().for_each(|(axis, c)| {
            let enclosing = all.clone().filter(|t| triangles.encloses(*t));
            let corners = enclosing.map(|t| triangles.corners(t).map(|p| p / cell));
            c.build(axis, corners, points);
        });
        let mut hidden = std::mem::take(&mut self.hidden);
        hidden.clear();
        hidden.par_extend(all.into_par_iter().map(|t| self.is_hidden(triangles, t)));
        self.hidden = hidden;
        self.share_out(triangles);
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.par_iter_mut().with_min_len(4).for_each(|b| self.measure(triangles, b));
        self.blocks = blocks;
        self.fill_between();
        true
    }

    /// Whether a triangle lies within another part: a cell outside of it one is inside everywhere. Then it borders on
    /// nothing, and a whole that shrinks must not part there.
    fn is_hidden(&self, triangles: &impl Soup, triangle: u32) -> bool {
        if !triangles.encloses(triangle) {
            return false;
        }
        let [a, b, c] = triangles.corners(triangle);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let longest = (b - a).length().max((c - b).length()).max((a - c).length());
        let steps = (longest / (HIDDEN_SPACING * self.cell)).ceil().clamp(1.0, MOST_STEPS) as i32;
        (0..=steps).all(|i| {
            (0..=steps - i).all(|j| {
                let [u, v] = [i, j].map(|k| k as f32 / steps as f32);
                let place = a + (b - a) * u + (c - a) * v + self.cell * normal;
                self.is_inside((place / self.cell).round().as_ivec3())
            })
        })
    }

    /// Points of the lattice in a box: the first and the last.
    fn points_within(&self, bounds: Bounds) -> (IVec3, IVec3) {
        ((bounds.min / self.cell).ceil().as_ivec3(), (bounds.max / self.cell).floor().as_ivec3())
    }

    fn slot_index(&self, block: IVec3) -> Option<usize> {
        let at = block - self.low;
        let within = at.cmpge(IVec3::ZERO).all() && at.cmplt(self.size).all();
        let index = |at: IVec3| (at.z * self.size.y + at.y) as usize * self.size.x as usize;
        within.then(|| index(at) + at.x as usize)
    }

    /// Where in the box a block is.
    fn at_slot(&self, slot: usize) -> IVec3 {
        let (x, yz) = (slot as i32 % self.size.x, slot as i32 / self.size.x);
        IVec3::new(x, yz % self.size.y, yz / self.size.y)
    }

    /// Gives every block the triangles that come near it.
    fn share_out(&mut self, triangles: &impl Soup) {
        let side = SIDE as f32 * self.cell;
        let half_diagonal = 0.5 * 3f32.sqrt() * side;
        self.pairs.clear();
        for triangle in 0..triangles.count() as u32 {
            if self.hidden[triangle as usize] {
                continue;
            }
            let corners = triangles.corners(triangle);
            let width = self.width + triangles.further(triangle);
            let (low, high) = self.points_within(Bounds::of(&corners).grown(width));
            if low.cmpgt(high).any() {
                continue;
            }
            let blocks = [low, high].map(|p| p.div_euclid(IVec3::splat(SIDE)));
            let [a, b, c] = corners;
            let normal = (b - a).cross(c - a).normalize_or_zero();
            let alone = blocks[0] == blocks[1];
            for block in every(blocks[0], blocks[1]) {
                // Points of a block lie within its box; the plane of a large triangle misses most.
                let middle = (block.as_vec3() + 0.5) * side;
                let off = normal.dot(middle - a).abs();
                if !alone && off > half_diagonal + width {
                    continue;
                }
                self.pairs.extend(self.slot_index(block).map(|s| (s as u32, triangle)));
            }
        }
        self.pairs.sort_unstable();
        self.slots.clear();
        self.slots.resize(self.size.element_product() as usize, NONE);
        self.near.clear();
        self.near.extend(self.pairs.iter().map(|p| p.1));
        let mut first = 0;
        for run in self.pairs.chunk_by(|a, b| a.0 == b.0) {
            let slot = run[0].0 as usize;
            self.slots[slot] = self.blocks.len() as u32;
            let coord = self.low + self.at_slot(slot);
            let triangles = first..first + run.len();
            first += run.len();
            let spare = self.spare.pop().unwrap_or_default();
            self.blocks.push(Block { coord, triangles, ..spare });
        }
    }

    /// Finds the distances of a block's points.
    fn measure(&self, triangles: &impl Soup, block: &mut Block) {
        let none = Nearest { distance_sq: f32::INFINITY, triangle: NONE };
        // Nearest triangles that a point sees from outside, and from inside.
        let mut nearest = [[none; 2]; POINTS];
        for &triangle in &self.near[block.triangles.clone()] {
            let width = self.width + triangles.further(triangle);
            let corners = (triangle, triangles.corners(triangle));
            self.reach_out(corners, width, block.coord, &mut nearest);
        }
        let origin = block.coord * SIDE;
        block.points.clear();
        block.range = (f32::INFINITY, f32::NEG_INFINITY);
        let mut row_start = (false, 0.0f32);
        let mut before = (false, 0.0f32);
        for (index, found) in nearest.iter().enumerate() {
            let local = point_in_block(index);
            let least = found[0].distance_sq.min(found[1].distance_sq);
            let known = found.iter().any(|f| f.triangle != NONE);
            let distance = if known { least.sqrt() } else { self.width };
            let last = if local.x == 0 { row_start } else { before };
            // Between points further from any surface than their distance from each other lies none.
            let near = distance + last.1 <= ASK * self.cell;
            let same_side = local.x + local.y > 0 && !near;
            let inside = if same_side { last.0 } else { self.is_inside(origin + local) };
            before = (inside, distance);
            if local.x == 0 {
                row_start = before;
            }
            block.points.push(self.finish(triangles, origin + local, *found, inside));
            let signed = block.points[index].signed;
            block.range = (block.range.0.min(signed), block.range.1.max(signed));
        }
    }

    /// Lets a triangle tell the points of a block how near it is.
    fn reach_out(
        &self,
        (triangle, corners): (u32, [Vec3; 3]),
        width: f32,
        block: IVec3,
        nearest: &mut [[Nearest; 2]; POINTS],
    ) {
        let origin = block * SIDE;
        let (low, high) = self.points_within(Bounds::of(&corners).grown(width));
        let (low, high) = (low.max(origin), high.min(origin + SIDE - 1));
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for k in low.z..=high.z {
            for j in low.y..=high.y {
                for i in low.x..=high.x {
                    let at = IVec3::new(i, j, k);
                    let place = at.as_vec3() * self.cell;
                    let off = normal.dot(place - a);
                    let side = &mut nearest[index_in_block(at - origin)][usize::from(off < 0.0)];
                    // A hair less, so that rounding loses no triangle that is as near.
                    if off * off * (1.0 - 1e-5) > side.distance_sq.min(width * width) {
                        continue;
                    }
                    let distance_sq = closest_on_triangle(place, corners).0.distance_squared(place);
                    if distance_sq < side.distance_sq && distance_sq <= width * width {
                        *side = Nearest { distance_sq, triangle };
                    }
                }
            }
        }
    }

    /// What a point knows in the end. Inside, a triangle that is seen from its outside belongs to another
    /// part that lies in this one, and is no border.
    fn finish(
        &self,
        triangles: &impl Soup,
        point: IVec3,
        [outer, inner]: [Nearest; 2],
        inside: bool,
    ) -> BandPoint {
        let closer = if outer.distance_sq <= inner.distance_sq { outer } else { inner };
        // On a triangle itself rounding alone says which side it is seen from.
        let on_it = closer.distance_sq <= (ON_TRIANGLE * self.cell).powi(2);
        let nearest = if inside && !on_it { inner } else { closer };
        let sign = if inside { -1.0 } else { 1.0 };
        if nearest.triangle == NONE {
            return BandPoint { signed: sign * f32::INFINITY, kept: 0.0, triangle: NONE };
        }
        let corners = triangles.corners(nearest.triangle);
        let (_, weights) = closest_on_triangle(point.as_vec3() * self.cell, corners);
        let kept = triangles.keep(nearest.triangle, weights);
        let signed = sign * nearest.distance_sq.sqrt();
        BandPoint { signed, kept, triangle: nearest.triangle }
    }

    /// Whether blocks that no triangle comes near are inside: as the block before along x.
    fn fill_between(&mut self) {
        let mut filled = std::mem::take(&mut self.filled);
        filled.clear();
        filled.resize(self.slots.len(), false);
        let mut before = false;
        for slot in 0..self.slots.len() {
            // The box ends outside.
            if slot % self.size.x as usize == 0 {
                before = false;
            }
            let last_in_row = (SIDE - 1) as usize;
            if let Some(block) = self.blocks.get(self.slots[slot] as usize) {
                before = block.points[last_in_row].signed < 0.0;
            }
            filled[slot] = before;
        }
        self.filled = filled;
    }

    /// Whether a point is inside, by most ways along the axes.
    fn is_inside(&self, point: IVec3) -> bool {
        self.columns.iter().map(|c| c.votes(point)).sum::<u32>() > 3
    }

    /// What a point of the lattice knows.
    #[must_use]
    #[inline]
    pub fn point(&self, point: IVec3) -> BandPoint {
        let block = point.div_euclid(IVec3::splat(SIDE));
        let outside = BandPoint { signed: f32::INFINITY, kept: 0.0, triangle: NONE };
        let Some(slot) = self.slot_index(block) else { return outside };
        match self.blocks.get(self.slots[slot] as usize) {
            Some(known) => known.points[index_in_block(point - block * SIDE)],
            None if self.filled[slot] => BandPoint { signed: f32::NEG_INFINITY, ..outside },
            None => outside,
        }
    }

    /// Points around a place: the corners of its cell, x fastest; and where in the cell it is.
    #[must_use]
    #[inline]
    pub fn around(&self, at: Vec3) -> ([BandPoint; 8], Vec3) {
        let in_cells = at / self.cell;
        let low = in_cells.floor();
        let first = low.as_ivec3();
        let corner = |c: usize| IVec3::new(c as i32 & 1, c as i32 >> 1 & 1, c as i32 >> 2);
        let block = first.div_euclid(IVec3::splat(SIDE));
        let local = first - block * SIDE;
        let known = self.slot_index(block).and_then(|s| self.blocks.get(self.slots[s] as usize));
        let points = match known {
            // All in one block, as most are.
            Some(known) if local.cmplt(IVec3::splat(SIDE - 1)).all() => {
                std::array::from_fn(|c| known.points[index_in_block(local + corner(c))])
            }
            _ => std::array::from_fn(|c| self.point(first + corner(c))),
        };
        (points, in_cells - low)
    }

    /// The point nearest to a place.
    #[must_use]
    pub fn nearest(&self, at: Vec3) -> BandPoint {
        self.point((at / self.cell).round().as_ivec3())
    }

    /// Distance from the triangles up to which points know them [m].
    #[must_use]
    pub fn width(&self) -> f32 {
        self.width
    }

    /// Least and greatest signed distance in a box [m]; infinite where it reaches beyond the band.
    #[must_use]
    pub fn range(&self, bounds: &Bounds) -> (f32, f32) {
        let side = SIDE as f32 * self.cell;
        let [first, last] = [bounds.min, bounds.max]
            .map(|p| (p / side).floor().clamp(Vec3::splat(-1e9), Vec3::splat(1e9)));
        let (first, last) = (first.as_ivec3(), last.as_ivec3());
        let beyond = first.cmplt(self.low).any() || last.cmpge(self.low + self.size).any();
        let mut range = if beyond {
            (f32::INFINITY, f32::INFINITY)
        } else {
            (f32::INFINITY, f32::NEG_INFINITY)
        };
        for block in every(first.max(self.low), last.min(self.low + self.size - 1)) {
            let Some(slot) = self.slot_index(block) else { continue };
            let here = match self.blocks.get(self.slots[slot] as usize) {
                Some(known) => known.range,
                None if self.filled[slot] => (f32::NEG_INFINITY, f32::NEG_INFINITY),
                None => (f32::INFINITY, f32::INFINITY),
            };
            range = (range.0.min(here.0), range.1.max(here.1));
        }
        // Places between points are nearer or further by less than half a cell's diagonal.
        (range.0 - 0.87 * self.cell, range.1 + 0.87 * self.cell)
    }

    /// Volume [m³] and area [m²] of what is within: every point counts for its cell, by how far `shown`
    /// makes its distance negative.
    #[must_use]
    pub fn volume_and_area(&self, shown: impl Fn(&BandPoint) -> f32 + Sync) -> (f64, f64) {
        let inverse = 1.0 / self.cell;
        let of_block = |block: &Block| {
            let (mut full, mut rim) = (0.0f64, 0u32);
            for point in &block.points {
                let share = 0.5 - shown(point) * inverse;
                full += f64::from(share.clamp(0.0, 1.0));
                rim += u32::from(share > 0.0 && share < 1.0);
            }
            (full, f64::from(rim))
        };
        let parts: Vec<(f64, f64)> = self.blocks.par_iter().map(of_block).collect();
        let sum = parts.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
        let between = |(slot, filled): (&u32, &bool)| *slot == NONE && *filled;
        let deep = self.slots.iter().zip(&self.filled).filter(|s| between(*s)).count();
        let cell = f64::from(self.cell);
        ((sum.0 + (deep * POINTS) as f64) * cell.powi(3), sum.1 * cell * cell)
    }
}

fn index_in_block(local: IVec3) -> usize {
    ((local.z * SIDE + local.y) * SIDE + local.x) as usize
}

fn point_in_block(index: usize) -> IVec3 {
    let index = index as i32;
    IVec3::new(index % SIDE, index / SIDE % SIDE, index / (SIDE * SIDE))
}

/// Every whole place from one corner of a box to the other, x fastest.
fn every(low: IVec3, high: IVec3) -> impl Iterator<Item = IVec3> {
    (low.z..=high.z).flat_map(move |z| {
        (low.y..=high.y).flat_map(move |y| (low.x..=high.x).map(move |x| IVec3::new(x, y, z)))
    })
}
