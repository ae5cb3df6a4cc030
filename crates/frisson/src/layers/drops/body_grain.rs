//! How finely a drop is drawn: how many points, and how they are connected.

use super::params::Detail;
use super::shape::{RINGS, SLICES, Shape};

/// Rings and slices of a coarse drop, picked from the fine ones.
pub const COARSE_RINGS: [usize; 3] = [0, 2, 4];
pub const COARSE_STEP: usize = 2;

/// Radius from which on a drop is drawn through smooth curves [m]: 65 mg of water. Smaller ones are thousands, and their
/// sixteen corners are below what pictures show; large ones are few, and fill them.
const SMOOTH_FROM: f64 = 2.5e-3;
/// Rows of a smooth drop: those of the shape, and one between each two.
pub const SMOOTH_ROWS: usize = 2 * RINGS;
/// Points of a smooth row for each of the shape.
pub const SMOOTH_STEP: usize = 3;
/// Least volume that a growth is taken from, in cubed radii [-]: in the middle of a blend a drop encloses next to nothing.
const LEAST_VOLUME: f32 = 1e-3;
/// Most that a coarse drop is made larger [-]: beyond, its corners would stand off what it lies on.
const MOST_GROWTH: f32 = 1.5;

/// How a drop is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Through smooth curves over the points of its shape.
    Smooth,
    /// By the points of its shape.
    Fine,
    /// By every other one.
    Coarse,
    /// As a low cone.
    Card,
}

impl Grain {
    /// Of a drop of some radius [m].
    #[must_use]
    pub fn new(detail: Detail, radius: f64) -> Self {
        match detail {
            Detail::Fine if radius >= SMOOTH_FROM => Self::Smooth,
            Detail::Fine => Self::Fine,
            Detail::Coarse => Self::Coarse,
            Detail::Card => Self::Card,
        }
    }
}

/// Rings and slices.
#[must_use]
pub fn grid_of(grain: Grain) -> (usize, usize) {
    match grain {
        Grain::Smooth => (SMOOTH_ROWS, SLICES * SMOOTH_STEP),
        Grain::Fine => (RINGS, SLICES),
        Grain::Coarse => (COARSE_RINGS.len(), SLICES / COARSE_STEP),
        Grain::Card => (1, SLICES / COARSE_STEP),
    }
}

/// Number of triangles.
#[must_use]
pub fn faces(grain: Grain) -> usize {
    let (rings, slices) = grid_of(grain);
    let base = if grain == Grain::Card { 0 } else { slices };
    (2 * rings - 1) * slices + base
}

/// Number of points.
#[must_use]
pub fn vertices(grain: Grain) -> usize {
    let (rings, slices) = grid_of(grain);
    // The apex, and the middle of the base, which a card does not have.
    rings * slices + if grain == Grain::Card { 1 } else { 2 }
}

/// Connects the points of a drop.
pub fn push_triangles(grain: Grain, offset: u32, out: &mut Vec<[u32; 3]>) {
    let (rings, slices) = grid_of(grain);
    let (rings, slices) = (rings as u32, slices as u32);
    let at = |ring: u32, slice: u32| offset + ring * slices + slice % slices;
    let (apex, base) = (offset + rings * slices, offset + rings * slices + 1);
    for ring in 0..rings {
        for slice in 0..slices {
            let (a, b) = (at(ring, slice), at(ring, slice + 1));
            if ring + 1 == rings {
                out.push([a, b, apex]);
            } else {
                out.push([a, b, at(ring + 1, slice + 1)]);
                out.push([a, at(ring + 1, slice + 1), at(ring + 1, slice)]);
            }
        }
    }
    if grain != Grain::Card {
        out.extend((0..slices).map(|s| [at(0, s + 1), at(0, s), base]));
    }
}

/// How much a coarse drop must be larger to hold the volume of the fine one.
#[must_use]
pub fn coarse_growth(shape: &Shape) -> f32 {
    let at =
        |ring: usize, slice: usize| shape.point(COARSE_RINGS[ring], slice * COARSE_STEP).as_vec3();
    let apex = shape.point(RINGS, 0).as_vec3();
    let mut six_volumes = 0.0;
    for ring in 0..COARSE_RINGS.len() {
        for slice in 0..SLICES / COARSE_STEP {
            let (a, b) = (at(ring, slice), at(ring, slice + 1));
            if ring + 1 == COARSE_RINGS.len() {
                six_volumes += a.dot(b.cross(apex));
            } else {
                let (c, d) = (at(ring + 1, slice), at(ring + 1, slice + 1));
                six_volumes += a.dot(b.cross(d)) + a.dot(d.cross(c));
            }
        }
    }
    // At the fine one's exact volume; stretching changes both alike.
    (shape.volume() * 6.0 / six_volumes.max(LEAST_VOLUME)).cbrt().clamp(1.0, MOST_GROWTH)
}
