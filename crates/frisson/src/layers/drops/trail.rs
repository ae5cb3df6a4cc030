//! What running drops leave: film, smoothing, strips.
//!
//! A strip is as wide as the drop's contact (`pencil.rs`). It is cut at the edges of its triangle (`strip_cutter.rs`);
//! its pieces are kept by their weights on the triangles, so that they ride the skin.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::flow::Stay;
use super::image::WetImage;
use super::params::TrailParams;
use super::site::Site;
use super::state::DropsState;
use super::surface::Surface;
use crate::math::random;
use crate::tolerances::drops::{DRY_AFTER, MIN_WETNESS, SWEEP_SHARE};
use crate::tolerances::nothing;

/// Most corners of a piece: two half circles of nine, and what cuts at edges add.
pub const PIECE_CORNERS: usize = 24;

/// The straight strip that a drop is drawing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strip {
    /// Triangle; `u32::MAX` for none.
    pub triangle: u32,
    /// Side of it.
    pub side: i8,
    /// Whether nothing was drawn before it: its start is round.
    pub is_first: bool,
    /// Whether the drop has left it.
    pub is_done: bool,
    /// Weights of its start.
    pub from: Vec2,
    /// Weights of where it has come to.
    pub to: Vec2,
    /// Direction of its first piece, in weights.
    pub way: Vec2,
    /// Half its width at its start, and where it has come to [m]: a drop that wets the ground grows smaller.
    pub half_widths: [f32; 2],
    /// When the drop was at its start, and where it has come to [s].
    pub times: [f64; 2],
    /// Way the drop had run by then [m].
    pub run: f64,
}

impl Strip {
    /// Of a drop that has not run yet.
    pub const NONE: Self = Self {
        triangle: u32::MAX,
        side: 1,
        is_first: true,
        is_done: false,
        from: Vec2::ZERO,
        to: Vec2::ZERO,
        way: Vec2::ZERO,
        half_widths: [0.0; 2],
        times: [0.0; 2],
        run: 0.0,
    };

    /// Whether there is something to draw.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        self.triangle != u32::MAX && self.from != self.to
    }
}

/// Widths that a strip keeps when it dries, per dissolved part of its liquid [-]: a fifth of pigment covers it.
const COVERS: f32 = 5.0;

/// Part of a strip on one triangle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    /// Triangle.
    pub triangle: u32,
    /// Side of it.
    pub side: i8,
    /// Number of corners.
    pub count: u8,
    /// Weights of the triangle's corners 1 and 2, per corner of the piece.
    pub corners: [[f32; 2]; PIECE_CORNERS],
    /// Weights of the start and the end of the strip's middle line: it draws back to it as it dries.
    pub axis: [[f32; 2]; 2],
    /// When the drop was at the end [s].
    pub born: f64,
    /// How long before that it was at the start [s].
    pub took: f32,
    /// Time in which it dries to a third, at the start and at the end [s].
    pub drying: [f32; 2],
    /// Thickness when laid [m].
    pub thickness: f32,
    /// Dissolved part of the liquid [-].
    pub stain: f32,
}

impl Piece {
    /// One without corners, to be filled.
    pub const BLANK: Self = Self {
        triangle: 0,
        side: 1,
        count: 0,
        corners: [[0.0; 2]; PIECE_CORNERS],
        axis: [[0.0; 2]; 2],
        born: 0.0,
        took: 0.0,
        drying: [0.0; 2],
        thickness: 0.0,
        stain: 0.0,
    };

    /// Part of its width that stays when it has dried, by what was dissolved in it [-].
    #[must_use]
    pub fn stays(&self) -> f32 {
        (COVERS * self.stain).min(1.0)
    }

    /// Time in which it dries to a third, in the middle [s].
    #[must_use]
    pub fn mean_drying(&self) -> f64 {
        0.5 * (f64::from(self.drying[0]) + f64::from(self.drying[1]))
    }
}

/// All strips that are still wet or have left a stain, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrailState {
    /// Their pieces.
    pub pieces: Vec<Piece>,
    /// When dry ones are next looked for [s].
    pub next_sweep: f64,
    /// How often pieces went or moved: else a piece keeps its number.
    pub swept: u64,
}

impl TrailState {
    /// Forgets pieces of which nothing is left, and the oldest above a number. Looked for now and then only, so
    /// that a trail costs nothing while it dries.
    pub fn sweep(&mut self, time: f64, drying: f64, most: usize) {
        let before = self.pieces.len();
        if time >= self.next_sweep {
            self.next_sweep = time + SWEEP_SHARE * drying;
            let is_seen = |p: &Piece| p.stain > 0.0 || time - p.born < DRY_AFTER * p.mean_drying();
            self.pieces.retain(is_seen);
        }
        // A margin, so that not every new strip moves all others.
        if self.pieces.len() > most + most / 4 {
            self.pieces.drain(..self.pieces.len() - most);
        }
        self.swept += u64::from(self.pieces.len() != before);
    }
}

/// Applies what running drops did to the ground, in the order of the drops.
pub struct Wetting<'a> {
    /// The surface.
    pub surface: &'a Surface,
    /// The ground and the liquid.
    pub site: &'a Site,
    /// Settings.
    pub params: &'a TrailParams,
    /// Triangles whose axis a first trail sets, with the new axis.
    pub new_axes: &'a mut Vec<(u32, [f32; 2])>,
    /// Least mass of a drop [kg].
    pub least_mass: f64,
}

impl Wetting<'_> {
    /// One stay: smoothing and film. The film is taken from `payer`, which the drop may have
    /// become part of since.
    pub fn apply(&mut self, state: &mut DropsState, stay: &Stay, payer: u32) {
        let t = stay.triangle as usize;
        let kind = self.site.ground.of(stay.triangle);
        let area = self.surface.facets[t].area();
        let drop = &mut state.drops[payer as usize];
        if area <= 0.0 || drop.mass <= 0.0 {
            return;
        }
        let wet = &mut state.wet;
        if kind.axis_by_trail && wet.wetness[t] == [0.0; 2] && !wet.is_active[t] {
            let way = stay.to - stay.from;
            if way.length() > nothing::NO_WIDTH {
                self.new_axes.push((stay.triangle, [way.x as f32, way.y as f32]));
            }
        }
        for i in 0..2 {
            wet.wetness[t][i] += kind.smoothing[i] * 2.0 * stay.radius * stay.way[i] / area;
        }
        wet.activate(stay.triangle);
        let width = 2.0 * kind.contact * stay.radius * self.params.width;
        if kind.film > 0.0 {
            let full = self.site.liquid.density * kind.film * area;
            // Where it is wet already, less stays: a tear in the track of another keeps its mass.
            let bare = (1.0 - wet.film[t] / full).clamp(0.0, 1.0);
            let laid = self.site.liquid.density * kind.film * width * stay.way.length() * bare;
            // Neither more than the triangle holds nor so much that nothing is left of the drop.
            let laid = laid.min(full - wet.film[t]).min(drop.mass - self.least_mass).max(0.0);
            let solute = drop.solute / drop.mass * laid;
            drop.mass -= laid;
            drop.solute -= solute;
            wet.film[t] += laid;
            wet.film_solute[t] += solute;
        }
    }
}

/// Paints a piece into the image of wetness, as wet as it is by now.
pub fn paint(
    image: &mut WetImage,
    (uvs, params): (&[[Vec2; 3]], &TrailParams),
    piece: &Piece,
    time: f64,
) {
    let Some([a, b, c]) = uvs.get(piece.triangle as usize) else { return };
    let mut polygon = [Vec2::ZERO; PIECE_CORNERS];
    let count = piece.count as usize;
    for (p, [x, y]) in polygon.iter_mut().zip(&piece.corners[..count]) {
        *p = *a + *x * (*b - *a) + *y * (*c - *a);
    }
    let left = (-(time - piece.born).max(0.0) / piece.mean_drying()).exp() as f32;
    image.paint(&polygon[..count], (left, 0.2 * piece.stain), params.unevenness);
}

/// How much of a film is left after a tick, for a triangle.
#[must_use]
pub fn film_left(params: &TrailParams, seed: u64, triangle: u32, dt: f64, heat: f64) -> f64 {
    // By the triangle: a film dries in spots, which stay where they are.
    let u = random::signed(seed ^ 0xF11, u64::from(triangle), 0);
    (-dt * heat / (params.drying * (1.0 + 0.9 * params.unevenness * u))).exp()
}

/// Whether a triangle is as good as dry.
#[must_use]
pub fn is_dry(wetness: [f64; 2], film: f64) -> bool {
    film == 0.0 && wetness[0] < MIN_WETNESS && wetness[1] < MIN_WETNESS
}
