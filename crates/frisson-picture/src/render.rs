//! From a scene and a camera to a picture.

use frisson::stage::Frame;
use glam::Vec2;
use rayon::prelude::*;

use crate::film::{FilmPixel, Sums};
use crate::integrator::{Lit, PathSample};
use crate::sampling::Sampler;
use crate::strokes::{Grid, Strokes, Veil};
use crate::{Camera, Film, Image, Look, PictureError, Scene, filter};

/// Side of the square tiles that threads take [px].
pub(crate) const TILE: u32 = 16;
/// How many times as many samples go to pixels that single strands cross.
const STRAY_DETAIL: u32 = 4;
/// How many times as many samples go, at most, to pixels that look through drops.
const CLEAR_DETAIL: u32 = 6;
/// The same where most of a tile is clear: a pane, which hardly bends light.
const PANE_DETAIL: u32 = 2;
/// Doubt about a pixel that looks through a clear body below which it is left alone.
const CLEAR_DOUBT: f32 = 0.035;
/// Largest side of a picture [px].
const LARGEST: u32 = 16_384;
/// Depths that differ by more than this share, or normals by more than this cosine, are an outline.
const OUTLINE_DEPTH: f32 = 0.03;
const OUTLINE_COSINE: f32 = 0.6;
/// Colours that differ by less than this, and normals by less than this cosine, are the same surface.
const SAME_COLOR: f32 = 0.02;
const SAME_COSINE: f32 = 0.95;

/// How a picture is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderOptions {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Samples in each pixel; half as many where a pixel and those around it show one thing in one light.
    pub samples: u32,
    /// How many times as many samples go to pixels with hair, clear liquids or outlines.
    pub detail: u32,
    /// How often light is scattered before the rest is guessed.
    pub bounces: u32,
    /// Whether evenly scattered light is smoothed within its noise.
    pub smooth: bool,
    /// Changes the sample pattern.
    pub seed: u32,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self::preview(960, 540)
    }
}

impl RenderOptions {
    /// About a second for a character on two cores.
    #[must_use]
    pub fn preview(width: u32, height: u32) -> Self {
        Self { width, height, samples: 4, detail: 3, bounces: 1, smooth: true, seed: 0 }
    }

    /// For a page: smooth outlines and shadows.
    #[must_use]
    pub fn fine(width: u32, height: u32) -> Self {
        Self { samples: 16, detail: 4, bounces: 2, ..Self::preview(width, height) }
    }

    /// Ratio of width to height.
    #[must_use]
    pub fn aspect(&self) -> f32 {
        self.width as f32 / self.height.max(1) as f32
    }

    fn check(&self) -> Result<(), PictureError> {
        let bad = |what, problem: String| Err(PictureError::Option { what, problem });
        if self.width == 0 || self.height == 0 || self.width.max(self.height) > LARGEST {
            let size = format!("{}x{}", self.width, self.height);
            return bad("size", format!("{size} is not between 1 and {LARGEST} pixels a side"));
        }
        if self.samples == 0 || self.samples > 65_536 {
            return bad("samples", format!("{} is not between 1 and 65536", self.samples));
        }
        if self.bounces > 64 {
            return bad("bounces", format!("{} is more than 64", self.bounces));
        }
        Ok(())
    }
}

/// Makes a picture.
pub fn render(
    scene: &Scene,
    camera: &Camera,
    options: &RenderOptions,
) -> Result<Image, PictureError> {
    Ok(render_film(scene, camera, options)?.develop(scene.look.exposure))
}

/// Makes a picture, before tone mapping.
pub fn render_film(
    scene: &Scene,
    camera: &Camera,
    options: &RenderOptions,
) -> Result<Film, PictureError> {
    let mut film = trace(scene, camera, options)?;
    if options.smooth {
        filter::smooth(&mut film);
    }
    Ok(film)
}

fn trace(scene: &Scene, camera: &Camera, options: &RenderOptions) -> Result<Film, PictureError> {
    options.check()?;
    let yaw = (-camera.forward.x).atan2(-camera.forward.z);
    let mut lit = Lit::new(scene, yaw, options.bounces, camera.pixel_slope(options.height));
    // Behind a lens, strands blur: then rays have to find them.
    lit.strokes = camera.aperture <= 0.0 && !scene.strands.is_empty();
    let grid = Grid { width: options.width, height: options.height, seed: options.seed };
    let strokes = lit.strokes.then(|| Strokes::build(&lit, camera, grid));
    let (across, down) = (options.width.div_ceil(TILE), options.height.div_ceil(TILE));
    let tiles: Vec<Vec<FilmPixel>> = (0..across * down)
        .into_par_iter()
        .map(|tile| trace_tile(&lit, strokes.as_ref(), camera, options, tile))
        .collect();
    let mut pixels = vec![FilmPixel::default(); (options.width * options.height) as usize];
    for (tile, values) in tiles.iter().enumerate() {
        let (left, top) = (tile as u32 % across * TILE, tile as u32 / across * TILE);
        let width = TILE.min(options.width - left) as usize;
        for (row, line) in values.chunks(width).enumerate() {
            let start = ((top + row as u32) * options.width + left) as usize;
            pixels[start..start + width].copy_from_slice(line);
        }
    }
    Ok(Film { width: options.width, height: options.height, pixels })
}

/// Traces the pixels of a tile: half of the samples everywhere, then more where they are needed.
///
/// What a pixel needs is judged with those around it: judged by its own samples alone, a pixel in which
/// the first ones happen to miss a strand would stay as it is, and strands would come out too thin.
fn trace_tile(
    lit: &Lit,
    strokes: Option<&Strokes>,
    camera: &Camera,
    options: &RenderOptions,
    tile: u32,
) -> Vec<FilmPixel> {
    let across = options.width.div_ceil(TILE);
    let (left, top) = (tile % across * TILE, tile / across * TILE);
    let (w, h) = (TILE.min(options.width - left), TILE.min(options.height - top));
    let mut pixels = vec![Pixel::default(); (w * h) as usize];
    let veil = strokes.map_or(Veil::none(), |s| s.veil(tile, (left, top), (w, h)));
    let trace = |pixels: &mut [Pixel], wanted: &[u32]| {
        for (i, pixel) in pixels.iter_mut().enumerate() {
            let place = (left + i as u32 % w, top + i as u32 / w);
            pixel.trace(
                &PixelView { lit, camera, options, veil: &veil, index: i },
                place,
                wanted[i],
            );
        }
    };
    // At least two: one sample says nothing of its noise.
    let first = options.samples.div_ceil(2).max(2).min(options.samples);
    let mut wanted = vec![first; pixels.len()];
    trace(&mut pixels, &wanted);
    for (i, wanted) in wanted.iter_mut().enumerate() {
        let even = pixels[i].is_even_with(around(&pixels, w, h, i as u32));
        *wanted = if even { 0 } else { options.samples };
    }
    trace(&mut pixels, &wanted);
    for (i, wanted) in wanted.iter_mut().enumerate() {
        *wanted = wanted_for_detail(options, around(&pixels, w, h, i as u32));
    }
    trace(&mut pixels, &wanted);
    // Clear bodies gather and scatter light as no rule foretells: their pixels themselves say when they
    // have seen enough.
    let step = options.samples * options.detail.max(1);
    let clear = pixels.iter().filter(|p| p.clear).count();
    let rounds = if 2 * clear > pixels.len() { PANE_DETAIL } else { CLEAR_DETAIL };
    for _ in 1..rounds {
        for (pixel, wanted) in pixels.iter().zip(&mut wanted) {
            let unsure = pixel.clear && pixel.sums.doubt() > CLEAR_DOUBT;
            *wanted = if unsure { pixel.sums.count() + step } else { 0 };
        }
        trace(&mut pixels, &wanted);
    }
    pixels.iter().map(|p| p.sums.mean()).collect()
}

/// What a pixel is traced with.
struct PixelView<'a> {
    lit: &'a Lit<'a>,
    camera: &'a Camera,
    options: &'a RenderOptions,
    veil: &'a Veil,
    /// The pixel's place in its tile.
    index: usize,
}

/// Samples for a pixel where it and those around it show hair, clear liquids or outlines.
fn wanted_for_detail<'a>(
    options: &RenderOptions,
    around: impl Iterator<Item = &'a Pixel> + Clone,
) -> u32 {
    if !around.clone().any(|near| near.hard) {
        return 0;
    }
    let detailed = options.samples * options.detail.max(1);
    let (strands, all) = around.fold((0, 0), |(s, n), p| (s + p.strands, n + p.sums.count()));
    // Strands thinner than a pixel would look like dots.
    if strands > 0 && strands < all { STRAY_DETAIL * detailed } else { detailed }
}

/// A pixel and those beside it.
fn around(pixels: &[Pixel], w: u32, h: u32, index: u32) -> impl Iterator<Item = &Pixel> + Clone {
    let (x, y) = (index % w, index / w);
    let rows = y.saturating_sub(1)..=(y + 1).min(h - 1);
    let columns = x.saturating_sub(1)..=(x + 1).min(w - 1);
    rows.flat_map(move |y| columns.clone().map(move |x| &pixels[(y * w + x) as usize]))
}

/// A pixel on its way.
#[derive(Clone, Default)]
struct Pixel {
    sums: Sums,
    first: Option<PathSample>,
    /// Whether its samples differ in more than noise.
    mixed: bool,
    /// Whether it shows hair, clear liquid, a mirror or an outline.
    hard: bool,
    /// Samples that show strands.
    strands: u32,
    /// Whether it looks through a clear body.
    clear: bool,
}

impl Pixel {
    /// Whether it shows the same thing in the same light as those around it.
    fn is_even_with<'a>(&self, mut around: impl Iterator<Item = &'a Self>) -> bool {
        let same = |first: &PathSample| {
            around.all(|near| {
                let other = near.first.as_ref();
                !near.mixed && !near.hard && other.is_some_and(|f| shows_the_same(first, f))
            })
        };
        self.first.as_ref().is_some_and(same)
    }

    /// Adds samples until there are `wanted`.
    fn trace(&mut self, view: &PixelView, (x, y): (u32, u32), wanted: u32) {
        let PixelView { lit, camera, options, veil, index } = *view;
        let half = 0.5 * options.height as f32;
        let corner = Vec2::new(x as f32 - 0.5 * options.width as f32, y as f32 - half);
        while self.sums.count() < wanted {
            let mut sampler = Sampler::new(options.seed, x, y, self.sums.count());
            let place = corner + tent(sampler.pair());
            let lens = if camera.aperture > 0.0 { sampler.pair() } else { Vec2::ZERO };
            let mut ray = camera.ray(Vec2::new(place.x, -place.y) / half, lens);
            ray.tmax = veil.reach(index);
            let mut sample = lit.sample(ray, &mut sampler);
            veil.cover(index, &mut sample);
            self.clear |= sample.clear;
            self.sums.add(&sample);
            let first = self.first.get_or_insert(sample);
            self.strands += u32::from(sample.strand);
            self.mixed |= !shows_the_same(first, &sample);
            self.hard |= sample.hard || is_outline(first, &sample);
        }
    }
}

/// Whether two samples fall on different things.
fn is_outline(a: &PathSample, b: &PathSample) -> bool {
    let apart = (a.depth - b.depth).abs() > OUTLINE_DEPTH * a.depth.min(b.depth);
    apart || a.normal.dot(b.normal) < OUTLINE_COSINE && a.normal != b.normal
}

/// Whether two samples differ by no more than scattered light does.
fn shows_the_same(a: &PathSample, b: &PathSample) -> bool {
    a.lamps == b.lamps
        && (a.albedo - b.albedo).abs().max_element() < SAME_COLOR
        && (a.normal == b.normal || a.normal.dot(b.normal) > SAME_COSINE)
        && !is_outline(a, b)
}

/// A place for a sample: spread over 1.5 pixels with a tent, which keeps outlines smooth without
/// blurring.
fn tent(u: Vec2) -> Vec2 {
    let one = |u: f32| {
        let v = 2.0 * u - 1.0;
        0.5 + 0.75 * v.signum() * (1.0 - (1.0 - v.abs()).sqrt())
    };
    Vec2::new(one(u.x), one(u.y))
}

/// Makes a picture with moving things blurred over the time the shutter is open [s], around the
/// frame's instant. Shapes without velocities stay sharp.
pub fn render_motion(
    frame: &Frame,
    look: &Look,
    camera: &Camera,
    options: &RenderOptions,
    shutter: f32,
) -> Result<Image, PictureError> {
    const SLICES: u32 = 8;
    let mut films = Vec::with_capacity(SLICES as usize);
    // The ground must not follow the subject through the blur.
    let mut look = look.clone();
    if look.ground == crate::GroundChoice::Auto {
        look.ground = crate::GroundChoice::At(Scene::from_frame(frame, &look)?.bounds().min.y);
    }
    for slice in 0..SLICES {
        let offset = shutter * ((slice as f32 + 0.5) / SLICES as f32 - 0.5);
        let scene = Scene::from_frame(&moved(frame, offset), &look)?;
        let options = RenderOptions {
            samples: options.samples.div_ceil(2),
            seed: options.seed.wrapping_mul(31).wrapping_add(slice),
            ..*options
        };
        films.push(trace(&scene, camera, &options)?);
    }
    let mut film = Film::averaged(&films);
    if options.smooth {
        filter::smooth(&mut film);
    }
    Ok(film.develop(look.exposure))
}

/// The frame some time later, if everything kept its velocity.
fn moved(frame: &Frame, seconds: f32) -> Frame {
    let mut frame = frame.clone();
    let shift = |positions: &mut [glam::Vec3], velocities: &[glam::Vec3]| {
        for (p, v) in positions.iter_mut().zip(velocities) {
            *p += *v * seconds;
        }
    };
    frame.meshes.iter_mut().for_each(|m| shift(&mut m.positions, &m.velocities));
    frame.curves.iter_mut().for_each(|c| shift(&mut c.points, &c.velocities));
    frame.points.iter_mut().for_each(|p| shift(&mut p.positions, &p.velocities));
    frame
}
