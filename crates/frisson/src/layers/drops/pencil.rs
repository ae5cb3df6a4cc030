//! Drawing strips: one follows a drop until it leaves its triangle, bends or is long; then it is cut into pieces.

use rayon::prelude::*;

use super::flow::Stay;
use super::params::TrailParams;
use super::site::Site;
use super::state::Droplet;
use super::strip_cutter::StripCutter;
use super::surface::Surface;
use super::trail::{Piece, Strip};
use crate::math::random;
use crate::tolerances::drops::{STRIP_BEND, STRIP_LENGTH};

/// Length over which drying varies, in half widths of a strip.
const UNEVEN_LENGTH: f64 = 24.0;

/// Strips cut together. Fixed, so that results do not depend on threads.
const JOB_CHUNK: usize = 64;

/// A strip to be cut.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    strip: Strip,
    drying: [f32; 2],
    thickness: f32,
    stain: f32,
}

/// Pieces of strips, in lists that are filled by threads of their own; storage reused.
#[derive(Default)]
pub struct Strips {
    cut: Vec<Vec<Piece>>,
}

impl Strips {
    /// Cuts the strips that drops are still drawing, for a picture.
    pub fn cut_open(&mut self, pencil: &Pencil, drops: &[Droplet]) {
        let lists = self.start(drops.len().div_ceil(JOB_CHUNK));
        lists.par_iter_mut().zip(drops.par_chunks(JOB_CHUNK)).for_each(|(pieces, drops)| {
            for drop in drops.iter().filter(|d| d.strip.is_drawn()) {
                // Still wet: what is dissolved shows when the strip is done.
                Job { stain: 0.0, ..pencil.job(drop) }.cut(pencil.surface, pieces);
            }
        });
    }

    /// So many empty lists.
    pub fn start(&mut self, count: usize) -> &mut [Vec<Piece>] {
        if self.cut.len() < count {
            self.cut.resize_with(count, Vec::new);
        }
        self.cut.iter_mut().for_each(Vec::clear);
        &mut self.cut[..count]
    }

    /// The pieces, in the order of the strips, as lists.
    #[must_use]
    pub fn lists(&self) -> &[Vec<Piece>] {
        &self.cut
    }

    /// The pieces, in the order of the strips.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.cut.iter().flatten()
    }
}

/// How strips are drawn.
#[derive(Clone, Copy)]
pub struct Pencil<'a> {
    /// The surface.
    pub surface: &'a Surface,
    /// The ground and the liquid.
    pub site: &'a Site,
    /// Settings.
    pub params: &'a TrailParams,
    /// Seed.
    pub seed: u64,
}

impl Pencil<'_> {
    /// Draws the strip on; a new one begins where it leaves its triangle, bends, or is long.
    pub fn draw(&self, drop: &mut Droplet, stay: &Stay, pieces: &mut Vec<Piece>) {
        let (from, to) = (stay.from.as_vec2(), stay.to.as_vec2());
        let facet = &self.surface.facets[stay.triangle as usize];
        // Pressed flat by the animation: there is nothing to draw on.
        if facet.area() <= 0.0 {
            return;
        }
        let half_width = self.half_width(stay);
        let way = facet.flat(drop.strip.way.as_dvec2()).normalize_or_zero();
        let run = facet.flat(stay.to - drop.strip.from.as_dvec2());
        let goes_on = drop.strip.triangle == stay.triangle
            && drop.strip.side == stay.side
            && !drop.strip.is_done
            && way.perp_dot(run).abs() < STRIP_BEND * half_width
            // Back over its start: a strip has one direction.
            && way.dot(run) > 0.0
            && run.length() < STRIP_LENGTH * half_width;
        if goes_on {
            drop.strip.to = to;
            drop.strip.half_widths[1] = half_width as f32;
            drop.strip.times[1] = stay.end;
            return;
        }
        let is_first = drop.strip.triangle == u32::MAX || drop.strip.is_done;
        self.close(drop, pieces);
        drop.strip = Strip {
            triangle: stay.triangle,
            side: stay.side,
            is_first,
            is_done: false,
            from,
            to,
            way: (stay.to - stay.from).as_vec2(),
            half_widths: [half_width as f32; 2],
            times: [stay.start, stay.end],
            run: drop.distance - stay.way.length(),
        };
    }

    /// Ends the strip a drop is drawing.
    pub fn close(&self, drop: &mut Droplet, pieces: &mut Vec<Piece>) {
        if drop.strip.is_drawn() {
            self.job(drop).cut(self.surface, pieces);
        }
        drop.strip = Strip::NONE;
    }

    /// Half the width of what a stay leaves [m].
    fn half_width(&self, stay: &Stay) -> f64 {
        self.site.ground.of(stay.triangle).contact * stay.radius * self.params.width
    }

    /// The strip a drop is drawing, as it is cut.
    fn job(&self, drop: &Droplet) -> Job {
        let strip = drop.strip;
        // It dries unevenly along the way, evenly from one strip to the next.
        let drying = |run: f64| {
            let way = run.max(0.0) / (UNEVEN_LENGTH * f64::from(strip.half_widths[0])).max(1e-12);
            let (cell, t) = (way.floor(), way.fract());
            let at = |c: f64| random::signed(self.seed, drop.id, c as u64);
            let u = at(cell) + (at(cell + 1.0) - at(cell)) * t * t * (3.0 - 2.0 * t);
            (self.params.drying * (1.0 + 0.9 * self.params.unevenness * u)) as f32
        };
        let stain = if drop.mass > 0.0 { drop.solute / drop.mass } else { 0.0 };
        Job {
            strip,
            drying: [drying(strip.run), drying(drop.distance)],
            thickness: self.site.ground.of(strip.triangle).film.max(1e-5) as f32,
            stain: stain as f32,
        }
    }
}

impl Job {
    fn cut(&self, surface: &Surface, pieces: &mut Vec<Piece>) {
        let [began, ended] = self.strip.times;
        let template = Piece {
            born: ended,
            took: (ended - began) as f32,
            drying: self.drying,
            thickness: self.thickness,
            stain: self.stain,
            ..Piece::BLANK
        };
        StripCutter { surface, pieces, template }.lay(&self.strip);
    }
}
