//! The cloth itself: rings, or halves of rings, around an axis.

use std::f32::consts::{FRAC_PI_2, TAU};
use std::ops::Range;
use std::sync::Arc;

use frisson::geometry::{Material, Mesh, MeshTopology, woven_triangles};
use glam::{Vec2, Vec3};

use super::armholes::{Armholes, are_held};
use super::levels::Levels;
use super::room::Room;

/// Half the angles that a cape may cover, from the middle of the back [rad].
pub const CAPE_HALF_ANGLES: [f32; 7] = [1.25, 1.15, 1.05, 0.95, 0.85, 0.75, 0.65];
/// Fewest squares around and along.
const FEWEST: usize = 6;
/// Most squares around or along: finer ones are a matter of `subdivide`.
const MOST: usize = 512;
/// Directions in which a ring is rounded off.
const DIRECTIONS: usize = 180;
/// Rows of points of the band.
const BAND_ROWS: usize = 2;
/// Rows of points that are carried whole: both sides of the band, and two below it. Where the garment is cut finer, new
/// vertices of the band lie on a curve that goes by these rows too.
const WHOLE_ROWS: usize = 4;
/// Row of points in which the band along an armhole begins at most: what is held lower down is torn by thighs that come up
/// (8.7 % in the mage's run, 1.4 % so), and what is held nowhere beside the hole gets behind the knight's badge.
const LOWEST_BAND: usize = 4;
/// Least share of the columns that a cut garment hangs on [-]: with less it is no garment any more, and stays whole.
const LEAST_HELD: f32 = 0.25;

/// Where a garment begins, ends, and how far it stays from the body.
#[derive(Clone, Copy)]
pub struct Cut {
    /// Half the angle it covers, from the middle of the back [rad], where it is open in front.
    pub half_angle: Option<f32>,
    /// Height of the upper border [m].
    pub top: f32,
    /// Height of the hem [m].
    pub hem: f32,
    /// How much farther out the hem is, over the garment's length [-].
    pub flare: f32,
    /// Length of edges [m].
    pub edge: f32,
    /// Distance from the skin [m].
    pub clearance: f32,
}

/// Rows of points, from the upper border to the hem.
pub struct Tube {
    columns: usize,
    rows: usize,
    is_open: bool,
    positions: Vec<Vec3>,
    /// Rows of points of each column that are not cut away.
    kept: Vec<Range<usize>>,
    /// Of each column, whether it is held at its upper border.
    is_held: Vec<bool>,
}

/// What is left of a tube.
struct Left {
    /// Its points, in order.
    points: Vec<u32>,
    /// Its triangles between points; those of the band come first.
    triangles: Vec<[u32; 3]>,
    /// How many are of the band.
    band: usize,
}

impl Tube {
    /// Lays a garment around a body.
    pub fn around(levels: &Levels, cut: &Cut) -> Self {
        let length = cut.top - cut.hem;
        let rows = ((length / cut.edge).round() as usize).clamp(FEWEST, MOST);
        let rings: Vec<Vec<f32>> = rings(levels, cut, rows);
        let (is_open, span) = (cut.half_angle.is_some(), cut.half_angle.map_or(TAU, |a| 2.0 * a));
        // As many columns as make squares half way down: above they are narrower, below wider.
        let middle = &rings[rows / 2];
        let around = middle.iter().sum::<f32>() / middle.len() as f32 * span;
        let columns = ((around / cut.edge).round() as usize).clamp(FEWEST, MOST);
        let mut positions = Vec::with_capacity((rows + 1) * (columns + 1));
        let spacing = span / columns as f32;
        for (row, ring) in rings.iter().enumerate() {
            let y = cut.top - length * row as f32 / rows as f32;
            let from = -0.5 * span - FRAC_PI_2;
            let ring = &widened(ring, spacing);
            for column in 0..=columns {
                // A closed ring ends at the very point where it began.
                let corner = if is_open { column } else { column % columns };
                let angle = from + spacing * corner as f32;
                let at = levels.axis + reach(ring, angle) * Vec2::from_angle(angle);
                positions.push(Vec3::new(at.x, y, at.y));
            }
        }
        let (kept, is_held) = (vec![0..rows + 1; columns + 1], vec![true; columns + 1]);
        Self { columns, rows, is_open, positions, kept, is_held }
    }

    /// All points, row by row, also those that are cut away.
    pub fn points(&self) -> &[Vec3] {
        &self.positions
    }

    /// Those that are carried whole before holes are cut.
    pub fn whole_points(&self) -> &[Vec3] {
        &self.positions[..(WHOLE_ROWS * (self.columns + 1)).min(self.positions.len())]
    }

    /// Cuts holes for arms that go into what is held, or into the trunk beside the upper half: others give way to the cloth,
    /// or it to them.
    pub fn cut_armholes(&mut self, room: &Room) {
        let (columns, rows, held_rows) = (self.columns, self.rows, BAND_ROWS);
        let is_in_it = |flags: &[bool], rows: usize| flags[..rows * (columns + 1)].contains(&true);
        if !is_in_it(&room.is_in_arm, held_rows) && !is_in_it(&room.is_skin_in_arm, rows / 2) {
            return;
        }
        let (hangs, is_held) = (room.hangs.as_slice(), room.is_held.as_slice());
        let lowest_band = LOWEST_BAND;
        let holes = Armholes { columns, rows, held_rows, lowest_band, hangs, is_held };
        let kept = holes.kept();
        let starts = kept.iter().map(|kept| kept.start).enumerate();
        let is_held: Vec<bool> =
            starts.map(|(column, row)| holes.can_be_held(row, column)).collect();
        let count = is_held.iter().filter(|held| **held).count();
        if count as f32 >= LEAST_HELD * is_held.len() as f32 {
            (self.kept, self.is_held) = (kept, is_held);
        }
    }

    /// Of the vertices of the mesh, those that are carried whole.
    pub fn held_vertices(&self) -> Vec<bool> {
        let is_whole = |v: &u32| {
            let (row, column) = self.place(*v);
            self.is_held[column] && row < self.kept[column].start + WHOLE_ROWS
        };
        self.left().points.iter().map(is_whole).collect()
    }

    /// Row and column of a point.
    fn place(&self, point: u32) -> (usize, usize) {
        let width = self.columns + 1;
        (point as usize / width, point as usize % width)
    }

    fn left(&self) -> Left {
        let is_left = |t: &[u32; 3]| {
            t.iter().all(|v| {
                let (row, column) = self.place(*v);
                self.kept[column].contains(&row)
            })
        };
        let woven = woven_triangles(self.columns, self.rows);
        // Two triangles a square, row by row.
        let is_of_band = |t: usize| {
            let (row, column) = (t / 2 / self.columns, t / 2 % self.columns);
            self.is_held[column]
                && self.is_held[column + 1]
                && row <= self.kept[column].start.max(self.kept[column + 1].start)
        };
        let (mut triangles, others): (Vec<_>, Vec<_>) = woven
            .into_iter()
            .enumerate()
            .filter(|(_, t)| is_left(t))
            .partition(|(t, _)| is_of_band(*t));
        let band = triangles.len();
        triangles.extend(others);
        let triangles: Vec<[u32; 3]> = triangles.into_iter().map(|(_, t)| t).collect();
        let width = self.columns as u32 + 1;
        let last = |v: u32| !self.is_open && v % width == width - 1;
        let is_held = are_held(&triangles, band, |v| if last(v) { v + 1 - width } else { v });
        let held = triangles.iter().zip(is_held).filter(|(_, held)| *held);
        let triangles: Vec<[u32; 3]> = held.map(|(t, _)| *t).collect();
        let mut points: Vec<u32> = triangles.iter().flatten().copied().collect();
        points.sort_unstable();
        points.dedup();
        Left { points, triangles, band }
    }

    /// The mesh: the first row of squares is a band of its own material, by which the garment is held.
    pub fn mesh(&self, name: &str) -> Mesh {
        // Angles grow towards the left of who looks from outside.
        let Left { points, triangles, band: of_band } = self.left();
        let vertex = |v: u32| points.binary_search(&v).unwrap_or_default() as u32;
        let turned = |[a, b, c]: [u32; 3]| [a, c, b].map(vertex);
        let triangles: Vec<[u32; 3]> = triangles.into_iter().map(turned).collect();
        let uv = |v: &u32| {
            let (row, column) = self.place(*v);
            Vec2::new(column as f32 / self.columns as f32, row as f32 / self.rows as f32)
        };
        let cloth = |name: String, color: [f32; 3]| Material {
            name,
            base_color: [color[0], color[1], color[2], 1.0],
            roughness: 0.85,
            ..Material::default()
        };
        let band = if self.is_open { "collar" } else { "band" };
        let topology = MeshTopology {
            vertex_count: points.len(),
            triangle_materials: (0..triangles.len()).map(|t| u16::from(t >= of_band)).collect(),
            triangles,
            uvs: points.iter().map(uv).collect(),
            materials: vec![
                cloth(format!("{name} {band}"), [0.05, 0.04, 0.07]),
                cloth(name.to_owned(), [0.35, 0.06, 0.08]),
            ],
            ..MeshTopology::default()
        };
        Mesh {
            name: name.to_owned(),
            topology: Arc::new(topology),
            positions: points.iter().map(|v| self.positions[*v as usize]).collect(),
            ..Mesh::default()
        }
    }
}

/// Distances from the axis, ring by ring, in [`DIRECTIONS`] around: never narrower than above.
fn rings(levels: &Levels, cut: &Cut, rows: usize) -> Vec<Vec<f32>> {
    let step = (cut.top - cut.hem) / rows as f32;
    let angle = |k: usize| TAU * k as f32 / DIRECTIONS as f32;
    let mut out: Vec<Vec<f32>> = Vec::with_capacity(rows + 1);
    for row in 0..=rows {
        let y = cut.top - step * row as f32;
        // Levels from a row above to a row below: nothing may hide between rows.
        let near = |h: f32| (h - y).abs() <= step;
        let body = |k: usize| {
            let within = (0..levels.heights.len()).filter(|&l| near(levels.heights[l]));
            within.map(|l| levels.reach(l, angle(k))).fold(0.0, f32::max) + cut.clearance
        };
        let flare = cut.flare * step;
        let ring = (0..DIRECTIONS).map(|k| match out.last() {
            Some(above) => (above[k] + flare).max(body(k)),
            None => body(k),
        });
        let ring: Vec<f32> = ring.collect();
        out.push(ring);
    }
    out
}

/// A ring whose corners, `spacing` apart [rad], may be joined by straight edges without cutting into the given one.
fn widened(ring: &[f32], spacing: f32) -> Vec<f32> {
    // A corner answers for all directions up to the next corner on either side.
    let reach = (spacing / TAU * DIRECTIONS as f32).ceil() as usize;
    let around = |k: usize| {
        let near = (0..=2 * reach).map(|i| ring[(k + DIRECTIONS + i - reach) % DIRECTIONS]);
        near.fold(0.0, f32::max)
    };
    let widest: Vec<f32> = (0..DIRECTIONS).map(around).collect();
    // An edge comes nearer to the axis than its ends by this share.
    widest.into_iter().map(|r| r / (0.5 * spacing).cos()).collect()
}

/// A ring's distance from the axis towards an angle.
fn reach(ring: &[f32], angle: f32) -> f32 {
    let at = (angle / TAU).rem_euclid(1.0) * DIRECTIONS as f32;
    let k = at as usize % DIRECTIONS;
    let t = at.fract();
    ring[k] + t * (ring[(k + 1) % DIRECTIONS] - ring[k])
}
