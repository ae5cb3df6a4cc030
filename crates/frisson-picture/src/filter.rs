//! Takes the noise out of evenly scattered light.
//!
//! Only the light is smoothed, without the surface's colour, by five passes of a widening kernel
//! (à trous). A neighbour counts if its normal, its distance and its brightness agree; brightness is
//! judged against the noise that the samples themselves show (Schied et al., "Spatiotemporal
//! variance-guided filtering", 2017). With many samples the noise is small and nothing changes.

use glam::Vec3A;
use rayon::prelude::*;

use crate::Film;
use crate::film::brightness;

const PASSES: u32 = 4;
/// Brightness differences of this many standard deviations are believed to be real.
const BELIEF: f32 = 4.5;
/// Brightness differences below this are none [-]: a picture has 255 steps.
const LEAST_DOUBT: f32 = 1e-4;
/// Colour from which a pixel shows something that light falls on [-].
const LEAST_ALBEDO: f32 = 1e-3;
/// Cosines of normals from which pixels share their noise, and from which they share their light [-].
const SAME_NOISE: f32 = 0.8;
const SAME_SURFACE: f32 = 0.7;
/// How sharply a turned normal loses its weight: its cosine to this power.
const TURN_POWER: i32 = 16;
/// Steepest slope of the depth, in depths a pixel [-]: what is steeper is an outline.
const STEEPEST: f32 = 0.02;
/// Depth differences below this share of the depth are rounding [-].
const SAME_DEPTH: f32 = 1e-4;
/// Difference, in all that counts, from which a pixel has no weight: `(1 - d / 8)^8` stands for `e^-d`.
const DIFFERENT: f32 = 8.0;
/// Weights of the widening kernel: a cubic B-spline's.
const KERNEL: [f32; 3] = [3.0 / 8.0, 1.0 / 4.0, 1.0 / 16.0];

#[derive(Clone, Copy)]
struct Cell {
    light: Vec3A,
    normal: Vec3A,
    depth: f32,
    /// How fast the depth changes from pixel to pixel.
    slope: f32,
    brightness: f32,
    variance: f32,
    covered: bool,
}

/// Smooths the light of a film in place.
pub(crate) fn smooth(film: &mut Film) {
    let (w, h) = (film.width as usize, film.height as usize);
    if w < 3 || h < 3 {
        return;
    }
    let mut cells: Vec<Cell> = film
        .pixels
        .par_iter()
        .map(|p| {
            let light = p.light();
            Cell {
                light,
                normal: p.normal,
                depth: p.depth,
                slope: 0.0,
                brightness: brightness(light),
                variance: p.variance,
                covered: p.albedo.max_element() > LEAST_ALBEDO,
            }
        })
        .collect();
    prepare(&mut cells, w, h);
    let mut next = cells.clone();
    for pass in 0..PASSES {
        next.par_chunks_mut(w).enumerate().for_each(|(y, row)| {
            for (x, cell) in row.iter_mut().enumerate() {
                *cell = filtered(&cells, w, h, x, y, 1 << pass);
            }
        });
        std::mem::swap(&mut cells, &mut next);
    }
    film.pixels.par_iter_mut().zip(&cells).for_each(|(pixel, cell)| {
        if cell.covered {
            pixel.diffuse = cell.light * pixel.albedo;
        }
    });
}

/// Slopes of the depth, and a variance averaged over neighbours: that of a few samples is itself
/// noisy.
fn prepare(cells: &mut [Cell], w: usize, h: usize) {
    let source = cells.to_vec();
    cells.par_chunks_mut(w).enumerate().for_each(|(y, row)| {
        for (x, cell) in row.iter_mut().enumerate() {
            let at = |x: usize, y: usize| &source[y.min(h - 1) * w + x.min(w - 1)];
            let here = at(x, y).depth;
            let mut slope = 0f32;
            let mut variance = (0.0, 0.0);
            for dy in 0..3 {
                for dx in 0..3 {
                    let near = at((x + dx).saturating_sub(1), (y + dy).saturating_sub(1));
                    if near.covered && near.normal.dot(cell.normal) > SAME_NOISE {
                        slope = slope.max((near.depth - here).abs());
                        variance.0 += near.variance;
                        variance.1 += 1.0;
                    }
                }
            }
            cell.slope = slope.min(STEEPEST * here);
            if variance.1 > 0.0 {
                cell.variance = variance.0 / variance.1;
            }
        }
    });
}

fn filtered(cells: &[Cell], w: usize, h: usize, x: usize, y: usize, step: i64) -> Cell {
    let here = cells[y * w + x];
    if !here.covered {
        return here;
    }
    let tolerance = BELIEF * here.variance.max(0.0).sqrt() + LEAST_DOUBT;
    let mut light = here.light * KERNEL[0] * KERNEL[0];
    let mut weights = KERNEL[0] * KERNEL[0];
    let mut variance = here.variance * weights * weights;
    for dy in -2i64..=2 {
        let row = y as i64 + dy * step;
        if row < 0 || row >= h as i64 {
            continue;
        }
        for dx in -2i64..=2 {
            let column = x as i64 + dx * step;
            if column < 0 || column >= w as i64 || (dx == 0 && dy == 0) {
                continue;
            }
            let near = &cells[row as usize * w + column as usize];
            let aligned = near.normal.dot(here.normal);
            if !near.covered || aligned < SAME_SURFACE {
                continue;
            }
            let reach = (dx.abs().max(dy.abs()) * step) as f32;
            let depth =
                (near.depth - here.depth).abs() / (here.slope * reach + SAME_DEPTH * here.depth);
            let doubt = (near.brightness - here.brightness).abs() / tolerance;
            let difference = depth + doubt;
            if difference >= DIFFERENT {
                continue;
            }
            let turned = aligned.powi(TURN_POWER);
            let weight = KERNEL[dx.unsigned_abs() as usize]
                * KERNEL[dy.unsigned_abs() as usize]
                * turned
                * (1.0 - 0.125 * difference).powi(8);
            light += near.light * weight;
            weights += weight;
            variance += near.variance * weight * weight;
        }
    }
    let light = light / weights;
    Cell { light, brightness: brightness(light), variance: variance / (weights * weights), ..here }
}
