//! The cloth itself: rings, or halves of rings, around an axis.

use std::f32::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

use frisson::geometry::{Material, Mesh, MeshTopology, woven_triangles};
use glam::{Vec2, Vec3};

use super::levels::Levels;

/// Half the angles that a cape may cover, from the middle of the back [rad].
pub const CAPE_HALF_ANGLES: [f32; 7] = [1.25, 1.15, 1.05, 0.95, 0.85, 0.75, 0.65];
/// Fewest squares around and along.
const FEWEST: usize = 6;
/// Most squares around or along: finer ones are a matter of `subdivide`.
const MOST: usize = 512;
/// Directions in which a ring is rounded off.
const DIRECTIONS: usize = 180;

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
        Self { columns, rows, is_open, positions }
    }

    /// Vertices that are carried whole, the first ones: both sides of the band, and two rows below it. Where the
    /// garment is cut finer, new vertices of the band lie on a curve that goes by these rows too.
    pub fn held_vertices(&self) -> usize {
        (4 * (self.columns + 1)).min(self.positions.len())
    }

    /// The mesh: the first row of squares is a band of its own material, by which the garment is held.
    pub fn mesh(&self, name: &str) -> Mesh {
        let width = self.columns + 1;
        // Angles grow towards the left of who looks from outside.
        let turned = |[a, b, c]: [u32; 3]| [a, c, b];
        let triangles: Vec<[u32; 3]> =
            woven_triangles(self.columns, self.rows).into_iter().map(turned).collect();
        let uv = |i: usize| {
            let (column, row) = (i % width, i / width);
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
            vertex_count: self.positions.len(),
            // Two triangles a square, row by row: those of the first row come first.
            triangle_materials: (0..triangles.len())
                .map(|t| u16::from(t >= 2 * self.columns))
                .collect(),
            triangles,
            uvs: (0..self.positions.len()).map(uv).collect(),
            materials: vec![
                cloth(format!("{name} {band}"), [0.05, 0.04, 0.07]),
                cloth(name.to_owned(), [0.35, 0.06, 0.08]),
            ],
            ..MeshTopology::default()
        };
        Mesh {
            name: name.to_owned(),
            topology: Arc::new(topology),
            positions: self.positions.clone(),
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
