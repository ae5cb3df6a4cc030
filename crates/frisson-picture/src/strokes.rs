//! Strands as a camera sees them: strokes that cover part of each pixel they cross.
//!
//! A hair is a fraction of a pixel wide. Rays find it by luck: a few of them leave dashes where a single
//! strand should be, and enough of them take long. So before any ray is cast every piece of a strand is
//! lit, projected, and leaves in each pixel it crosses its depth, its light and the share it covers:
//!
//! ```text
//!    a •         w pixels of a row, drawn at least one wide and as much fainter:
//!       \        cover = w / W × clamp((W + 1) / 2 − distance to the axis, 0, 1),  W = max(w, 1)
//!    ░▒░ \
//!     ░▒░ • b    each row that the piece crosses the long way belongs to one piece of the strand
//! ```
//!
//! A sample of the pixel then looks through what lies before the surface that its ray hits.

use glam::{Vec2, Vec3, Vec3A};
use rayon::prelude::*;

use crate::Camera;
use crate::integrator::{Lit, PathSample};
use crate::render::TILE;
use crate::sampling::Sampler;
use crate::shape::Segment;

/// Length from which a piece has a direction [pixels].
const LEAST_LENGTH: f32 = 1e-6;
/// Share of a pixel below which a stroke does not show in it [-].
const LEAST_COVER: f32 = 1e-4;
/// Share of light below which nothing behind is looked for.
const DARK: f32 = 0.004;

/// Least width of an overlay's lines [px]: they are there to be seen.
const OVERLAY: f32 = 1.5;

/// A projected end of a piece.
#[derive(Clone, Copy)]
struct End {
    /// Place [px].
    at: Vec2,
    /// Distance from the eye [m].
    depth: f32,
    /// Width [px].
    width: f32,
    light: Vec3A,
}

/// All strands of a picture, by the tiles they cross.
pub(crate) struct Strokes {
    pieces: Vec<[End; 2]>,
    tiles: Vec<Vec<u32>>,
}

/// What one piece leaves in a pixel.
#[derive(Clone, Copy)]
struct Fragment {
    pixel: u32,
    depth: f32,
    cover: f32,
    light: Vec3A,
}

/// How much light of what lies behind passes a stroke and all before it, and what they add.
#[derive(Clone, Copy)]
struct Layer {
    depth: f32,
    left: f32,
    light: Vec3A,
}

/// The strokes of a tile, pixel by pixel from the front.
pub(crate) struct Veil {
    layers: Vec<Layer>,
    /// Where each pixel's layers begin; one more than there are pixels.
    starts: Vec<u32>,
}

/// A picture's measures.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    pub width: u32,
    pub height: u32,
    pub seed: u32,
}

impl Grid {
    fn across(&self) -> u32 {
        self.width.div_ceil(TILE)
    }
}

impl Strokes {
    /// Lights and projects all strands.
    pub fn build(lit: &Lit, camera: &Camera, grid: Grid) -> Self {
        let ends = lit_ends(lit, camera, grid);
        let mut pieces = Vec::with_capacity(ends.len());
        let mut tiles = vec![Vec::new(); (grid.across() * grid.height.div_ceil(TILE)) as usize];
        for piece in ends.into_iter().flatten() {
            let index = pieces.len() as u32;
            if let Some([left, top, right, bottom]) = tiles_of(&piece, grid) {
                for row in top..=bottom {
                    for column in left..=right {
                        tiles[(row * grid.across() + column) as usize].push(index);
                    }
                }
                pieces.push(piece);
            }
        }
        Self { pieces, tiles }
    }

    /// The strokes of a tile of `size` pixels whose corner is at (left, top).
    pub fn veil(&self, tile: u32, corner: (u32, u32), size: (u32, u32)) -> Veil {
        let mut fragments = Vec::new();
        for &piece in &self.tiles[tile as usize] {
            add_fragments(&self.pieces[piece as usize], corner, size, &mut fragments);
        }
        // Stable: of two at one depth the earlier strand stays in front, whoever draws the tile.
        fragments.sort_by(|a, b| a.pixel.cmp(&b.pixel).then(a.depth.total_cmp(&b.depth)));
        let mut starts = Vec::with_capacity((size.0 * size.1 + 1) as usize);
        let mut layers: Vec<Layer> = Vec::with_capacity(fragments.len());
        for pixel in 0..size.0 * size.1 {
            starts.push(layers.len() as u32);
            let from = fragments.partition_point(|f| f.pixel < pixel);
            let (mut left, mut light) = (1.0, Vec3A::ZERO);
            for f in fragments[from..].iter().take_while(|f| f.pixel == pixel) {
                if left < DARK {
                    break;
                }
                light += f.light * (left * f.cover);
                left *= 1.0 - f.cover;
                layers.push(Layer { depth: f.depth, left, light });
            }
        }
        starts.push(layers.len() as u32);
        Veil { layers, starts }
    }
}

impl Veil {
    /// No strokes at all.
    pub fn none() -> Self {
        Self { layers: Vec::new(), starts: Vec::new() }
    }

    fn layers(&self, pixel: usize) -> &[Layer] {
        match self.starts.get(pixel..pixel + 2) {
            Some(&[from, to]) => &self.layers[from as usize..to as usize],
            _ => &[],
        }
    }

    /// How far a ray through a pixel has to look.
    pub fn reach(&self, pixel: usize) -> f32 {
        let last = self.layers(pixel).last();
        last.filter(|l| l.left < DARK).map_or(f32::INFINITY, |l| l.depth)
    }

    /// Puts the strokes that lie before a sample over it.
    pub fn cover(&self, pixel: usize, sample: &mut PathSample) {
        let layers = self.layers(pixel);
        let before = layers.partition_point(|l| l.depth < sample.depth);
        let Some(layer) = before.checked_sub(1).map(|i| layers[i]) else { return };
        sample.diffuse *= layer.left;
        sample.albedo *= layer.left;
        sample.other = sample.other * layer.left + layer.light;
        sample.veiled = 1.0 - layer.left;
    }
}

/// Every piece with its two ends; nothing where it is behind the camera.
fn lit_ends(lit: &Lit, camera: &Camera, grid: Grid) -> Vec<Option<[End; 2]>> {
    let scene = lit.scene;
    let mut order = vec![0u32; scene.segments.len()];
    for place in 0..order.len() as u32 {
        order[scene.segments.source(place) as usize] = place;
    }
    let scale = 1.0 / camera.pixel_slope(grid.height);
    let eye = Vec3A::from(camera.position);
    let end = |place: u32, at: Vec3A, radius: f32, tangent: Vec3A, number: u32| {
        let (p, depth) = camera.project(Vec3::from(at), grid.width, grid.height)?;
        let mut sampler = Sampler::new(grid.seed, number, 0, 0);
        let to_eye = (eye - at).normalize_or(Vec3A::Y);
        let light = lit.strand_light(place, at, tangent, to_eye, &mut sampler);
        let thinnest = if lit.strand(place).flat { OVERLAY } else { 0.0 };
        let width = (2.0 * radius * scale / depth).max(thinnest);
        // Its front: what lies on a surface must not sink into it.
        Some(End { at: p.into(), depth: at.distance(eye) - radius, width, light })
    };
    let segment = |i: usize| *scene.segments.primitive(order[i]);
    let along = |s: &Segment| (s.b - s.a).normalize_or(Vec3A::Y);
    let count = order.len();
    let starts: Vec<Option<End>> = (0..count)
        .into_par_iter()
        .with_min_len(256)
        .map(|i| {
            let s = segment(i);
            end(order[i], s.a, s.radius_a, along(&s), i as u32)
        })
        .collect();
    (0..count)
        .into_par_iter()
        .with_min_len(256)
        .map(|i| {
            let strand = scene.segment_strands[i];
            // The next piece of a strand begins where this one ends, in the same light.
            if scene.segment_strands.get(i + 1) == Some(&strand) {
                return Some([starts[i]?, starts[i + 1]?]);
            }
            let s = segment(i);
            let last = end(order[i], s.b, s.radius_b, along(&s), (count + i) as u32)?;
            Some([starts[i]?, last])
        })
        .collect()
}

/// Left, top, right and bottom tile that a piece may touch; nothing if it is outside of the picture.
fn tiles_of([a, b]: &[End; 2], grid: Grid) -> Option<[u32; 4]> {
    let reach = Vec2::splat(a.width.max(b.width).max(1.0) + 2.0);
    let (low, high) = (a.at.min(b.at) - reach, a.at.max(b.at) + reach);
    let size = Vec2::new(grid.width as f32, grid.height as f32);
    if !(low.is_finite() && high.is_finite()) || high.min_element() < 0.0 || low.cmpge(size).any() {
        return None;
    }
    let tile = |v: Vec2| (v.clamp(Vec2::ZERO, size - 1.0) / TILE as f32).as_uvec2();
    let (low, high) = (tile(low), tile(high));
    Some([low.x, low.y, high.x, high.y])
}

/// What a piece leaves in the pixels of a tile.
fn add_fragments(
    [a, b]: &[End; 2],
    corner: (u32, u32),
    size: (u32, u32),
    fragments: &mut Vec<Fragment>,
) {
    let way = b.at - a.at;
    let length = way.length();
    if length < LEAST_LENGTH {
        return;
    }
    // Rows run along the axis that the piece crosses the long way.
    let (long, short) = if way.y.abs() >= way.x.abs() { (1, 0) } else { (0, 1) };
    let cos = way[long].abs() / length;
    let (origin, extent) = ([corner.0, corner.1], [size.0, size.1]);
    let (low, high) = (a.at[long].min(b.at[long]), a.at[long].max(b.at[long]));
    let first = ((low - 0.5).ceil() as i64).max(i64::from(origin[long]));
    let end = ((high - 0.5).ceil() as i64).min(i64::from(origin[long] + extent[long]));
    for row in first..end {
        let s = (row as f32 + 0.5 - a.at[long]) / way[long];
        let middle = a.at[short] + s * way[short];
        // What it takes of the row: more than its width where it crosses it slantwise.
        let width = (a.width + s * (b.width - a.width)) / cos;
        let drawn = width.max(1.0);
        let reach = 0.5 * (drawn + 1.0);
        let from = ((middle - reach - 0.5).ceil() as i64).max(i64::from(origin[short]));
        let to = ((middle + reach - 0.5).floor() as i64)
            .min(i64::from(origin[short] + extent[short]) - 1);
        for column in from..=to {
            let distance = (column as f32 + 0.5 - middle).abs();
            let cover = (reach - distance).clamp(0.0, 1.0) * (width / drawn);
            if cover > LEAST_COVER {
                let (x, y) = if long == 1 { (column, row) } else { (row, column) };
                let pixel = (y as u32 - corner.1) * size.0 + (x as u32 - corner.0);
                let depth = a.depth + s * (b.depth - a.depth);
                fragments.push(Fragment { pixel, depth, cover, light: a.light.lerp(b.light, s) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(x: f32, y: f32, width: f32) -> End {
        End { at: Vec2::new(x, y), depth: 1.0, width, light: Vec3A::ONE }
    }

    /// Coverage that a polyline leaves in a picture of one tile.
    fn drawn(points: &[End]) -> Vec<f32> {
        let mut fragments = Vec::new();
        for pair in points.windows(2) {
            add_fragments(&[pair[0], pair[1]], (0, 0), (TILE, TILE), &mut fragments);
        }
        let mut cover = vec![0.0; (TILE * TILE) as usize];
        fragments.iter().for_each(|f| cover[f.pixel as usize] += f.cover);
        cover
    }

    #[test]
    fn a_stroke_covers_its_length_times_its_width_in_any_direction() {
        for step in 0..24 {
            let angle = step as f32 * std::f32::consts::TAU / 24.0;
            for width in [0.05f32, 0.3, 1.0, 2.5] {
                let (sin, cos) = angle.sin_cos();
                let at = |r: f32| end(8.0 + r * cos, 8.0 + r * sin, width);
                let cover: f32 = drawn(&[at(-5.0), at(5.0)]).iter().sum();
                // To the nearest row at both ends.
                let row = 1.0 / sin.abs().max(cos.abs());
                assert!(
                    (cover - 10.0 * width).abs() <= 1.01 * row * width,
                    "{angle} {width} {cover}"
                );
            }
        }
    }

    #[test]
    fn cutting_a_strand_into_pieces_changes_nothing() {
        let whole = drawn(&[end(2.0, 1.3, 0.4), end(9.0, 14.8, 0.4)]);
        let at = |s: f32| end(2.0 + 7.0 * s, 1.3 + 13.5 * s, 0.4);
        let cut: Vec<End> = (0..=57).map(|i| at(i as f32 / 57.0)).collect();
        for (a, b) in whole.iter().zip(drawn(&cut)) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }

    #[test]
    fn samples_see_only_what_lies_before_them() {
        let layers = vec![
            Layer { depth: 1.0, left: 0.5, light: Vec3A::splat(0.5) },
            Layer { depth: 3.0, left: 0.25, light: Vec3A::splat(0.75) },
        ];
        let veil = Veil { layers, starts: vec![0, 2, 2] };
        let seen = |depth: f32, pixel: usize| {
            let other = Vec3A::splat(8.0);
            let mut sample = PathSample { depth, other, ..PathSample::default() };
            veil.cover(pixel, &mut sample);
            sample.other.x
        };
        assert_eq!([seen(0.5, 0), seen(2.0, 0), seen(9.0, 0)], [8.0, 4.5, 2.75]);
        assert_eq!(seen(9.0, 1), 8.0);
    }
}
