//! What running drops leave: film, smoothing, strips, beads.
//!
//! A strip is as wide as the drop's contact. It is cut at the edges of its triangle and what is beyond
//! is turned, not projected, onto the neighbours; its pieces are kept by their weights on the triangles,
//! so that they ride the skin.

use glam::{DVec2, Vec2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::flow::Stay;
use super::image::WetImage;
use super::params::TrailParams;
use super::site::Site;
use super::state::{Droplet, DropsState};
use super::surface::{Facet, Surface};
use super::walk::unfold;
use crate::math::random;
use crate::tolerances::drops::{
    DRY_AFTER, MAX_FOLDS, MIN_WETNESS, STRIP_BEND, STRIP_LENGTH, SWEEP_SHARE,
};

/// Most corners of a piece.
pub const PIECE_CORNERS: usize = 14;

/// Length over which drying varies, in half widths of a strip.
const UNEVEN_LENGTH: f64 = 24.0;

/// Strips cut together. Fixed, so that results do not depend on threads.
const JOB_CHUNK: usize = 64;

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
    /// Half its width [m].
    pub half_width: f32,
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
        half_width: 0.0,
        times: [0.0; 2],
        run: 0.0,
    };

    /// Whether there is something to draw.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        self.triangle != u32::MAX && self.from != self.to
    }
}

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
    /// Time in which it dries to a third, in the middle [s].
    #[must_use]
    pub fn mean_drying(&self) -> f64 {
        0.5 * (f64::from(self.drying[0]) + f64::from(self.drying[1]))
    }
}

/// All strips still wet, oldest first.
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
    /// Forgets pieces that are dry, and the oldest above a number. Looked for now and then only, so
    /// that a trail costs nothing while it dries.
    pub fn sweep(&mut self, time: f64, drying: f64, most: usize) {
        let before = self.pieces.len();
        if time >= self.next_sweep {
            self.next_sweep = time + SWEEP_SHARE * drying;
            self.pieces.retain(|p| time - p.born < DRY_AFTER * p.mean_drying());
        }
        // A margin, so that not every new strip moves all others.
        if self.pieces.len() > most + most / 4 {
            self.pieces.drain(..self.pieces.len() - most);
        }
        self.swept += u64::from(self.pieces.len() != before);
    }
}

/// A convex polygon with few corners.
#[derive(Clone, Copy)]
struct Polygon {
    points: [DVec2; 24],
    count: usize,
}

impl Polygon {
    /// The part to the left of the line through `origin` along `direction`.
    fn clip(&self, origin: DVec2, direction: DVec2) -> Self {
        let mut out = Self { points: [DVec2::ZERO; 24], count: 0 };
        let side = |p: DVec2| direction.perp_dot(p - origin);
        for i in 0..self.count {
            let (a, b) = (self.points[i], self.points[(i + 1) % self.count]);
            let (da, db) = (side(a), side(b));
            if da >= 0.0 {
                out.push(a);
            }
            if (da >= 0.0) != (db >= 0.0) {
                out.push(a + (b - a) * (da / (da - db)));
            }
        }
        out
    }

    fn push(&mut self, p: DVec2) {
        if self.count < self.points.len() {
            self.points[self.count] = p;
            self.count += 1;
        }
    }

    /// Half a circle around a place, its middle at `center + along`.
    fn push_arc(&mut self, center: DVec2, along: DVec2) {
        for i in 0..5 {
            let turn = DVec2::from_angle(std::f64::consts::FRAC_PI_4 * f64::from(i - 2));
            self.push(center + turn.rotate(along));
        }
    }

    fn area(&self) -> f64 {
        (1..self.count.max(1) - 1 + usize::from(self.count == 0))
            .map(|i| {
                let p = &self.points;
                0.5 * (p[i] - p[0]).perp_dot(p[(i + 1) % self.count.max(1)] - p[0])
            })
            .sum()
    }
}

/// Cuts a strip into pieces on the triangles under it.
pub struct StripCutter<'a> {
    /// The surface.
    pub surface: &'a Surface,
    /// Where pieces go.
    pub pieces: &'a mut Vec<Piece>,
    /// What all pieces share.
    pub template: Piece,
}

/// A polygon on its way over the edges.
#[derive(Clone, Copy)]
struct Turned {
    polygon: Polygon,
    /// Middle of the strip.
    center: DVec2,
    /// Two places on its middle line.
    axis: [DVec2; 2],
}

impl StripCutter<'_> {
    /// Lays a strip on its triangle and those around.
    pub fn lay(&mut self, strip: &Strip) {
        let facet = &self.surface.facets[strip.triangle as usize];
        let (a, b) = (facet.flat(strip.from.as_dvec2()), facet.flat(strip.to.as_dvec2()));
        let along = (b - a).normalize_or(DVec2::X) * f64::from(strip.half_width);
        let left = along.perp();
        let mut polygon = Polygon { points: [DVec2::ZERO; 24], count: 0 };
        if strip.is_first {
            polygon.push_arc(a, -along);
        } else {
            polygon.push(a + left);
            polygon.push(a - left);
        }
        polygon.push_arc(b, along);
        let turned = Turned { polygon, center: 0.5 * (a + b), axis: [a, b] };
        self.cut(strip.triangle, strip.side, &turned, None, 0);
    }

    fn cut(
        &mut self,
        triangle: u32,
        side: i8,
        turned: &Turned,
        came_through: Option<usize>,
        depth: u32,
    ) {
        let surface = self.surface;
        let facet = &surface.facets[triangle as usize];
        let Turned { polygon, center, .. } = turned;
        let edges = (0..3).filter(|k| Some(*k) != came_through);
        let outside = |k: usize| {
            let (a, edge) = (facet.corner(k), facet.edge(k));
            polygon.points[..polygon.count].iter().any(|p| edge.perp_dot(*p - a) < 0.0)
        };
        let crossed = edges.fold([false; 3], |mut crossed, k| {
            crossed[k] = outside(k);
            crossed
        });
        let mut inside = *polygon;
        for k in (0..3).filter(|k| crossed[*k]) {
            inside = inside.clip(facet.corner(k), facet.edge(k));
        }
        self.keep(triangle, side, facet, &inside, &turned.axis);
        if depth >= MAX_FOLDS {
            return;
        }
        for k in (0..3).filter(|k| crossed[*k]) {
            let (a, b) = (facet.corner(k), facet.corner((k + 1) % 3));
            // What is beyond this edge, seen from the middle of the strip through the edge.
            let beyond =
                polygon.clip(b, a - b).clip(*center, a - *center).clip(*center, *center - b);
            if beyond.count < 3 || beyond.area().abs() < 1e-16 {
                continue;
            }
            let half = 3 * triangle + k as u32;
            let Some(across) = surface.across(half, 0.5, side) else { continue };
            let to = &surface.facets[across.half as usize / 3];
            let kt = across.half as usize % 3;
            // The edges' middles coincide, except at T-junctions where `s` tells the place.
            let mid = to.corner(kt) + to.edge(kt) * across.s;
            let origin = 0.5 * (a + b);
            let carry = |p: DVec2| mid + unfold(facet, k, to, across, p - origin);
            let mut polygon = beyond;
            polygon.points[..polygon.count].iter_mut().for_each(|p| *p = carry(*p));
            let side = if across.same_way { -side } else { side };
            if across.same_way {
                polygon.points[..polygon.count].reverse();
            }
            let axis = turned.axis.map(carry);
            let there = Turned { polygon, center: carry(*center), axis };
            self.cut(across.half / 3, side, &there, Some(kt), depth + 1);
        }
    }

    fn keep(
        &mut self,
        triangle: u32,
        side: i8,
        facet: &Facet,
        polygon: &Polygon,
        axis: &[DVec2; 2],
    ) {
        if polygon.count < 3 || polygon.area().abs() < 1e-16 {
            return;
        }
        let weights = |p: DVec2| {
            let w = facet.weights(p);
            [w.x as f32, w.y as f32]
        };
        let mut piece = Piece { triangle, side, axis: axis.map(weights), ..self.template };
        piece.count = polygon.count.min(PIECE_CORNERS) as u8;
        for i in 0..piece.count as usize {
            piece.corners[i] = weights(polygon.points[i]);
        }
        self.pieces.push(piece);
    }
}

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
            if way.length() > 1e-9 {
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
            let bare = (1.0 - wet.film[t] / full).clamp(0.0, 1.0);
            let laid = self.site.liquid.density * kind.film * width * stay.way.length() * bare;
            let laid = laid.min(full - wet.film[t]).min(drop.mass - self.least_mass).max(0.0);
            let solute = drop.solute / drop.mass * laid;
            drop.mass -= laid;
            drop.solute -= solute;
            wet.film[t] += laid;
            wet.film_solute[t] += solute;
        }
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
            && way.dot(run) > 0.0
            && run.length() < STRIP_LENGTH * half_width;
        if goes_on {
            drop.strip.to = to;
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
            half_width: half_width as f32,
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

    fn job(&self, drop: &Droplet) -> Job {
        let strip = drop.strip;
        // It dries unevenly along the way, evenly from one strip to the next.
        let drying = |run: f64| {
            let way = run.max(0.0) / (UNEVEN_LENGTH * f64::from(strip.half_width)).max(1e-12);
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
            triangle: 0,
            side: 1,
            count: 0,
            corners: [[0.0; 2]; PIECE_CORNERS],
            axis: [[0.0; 2]; 2],
            born: ended,
            took: (ended - began) as f32,
            drying: self.drying,
            thickness: self.thickness,
            stain: self.stain,
        };
        StripCutter { surface, pieces, template }.lay(&self.strip);
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
    let u = random::signed(seed ^ 0xF11, u64::from(triangle), 0);
    (-dt * heat / (params.drying * (1.0 + 0.9 * params.unevenness * u))).exp()
}

/// Whether a triangle is as good as dry.
#[must_use]
pub fn is_dry(wetness: [f64; 2], film: f64) -> bool {
    film == 0.0 && wetness[0] < MIN_WETNESS && wetness[1] < MIN_WETNESS
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn grid(n: u32) -> Surface {
        let at = |x: u32, y: u32| Vec3::new(x as f32, y as f32, 0.0) / n as f32;
        let positions: Vec<Vec3> = (0..=n).flat_map(|y| (0..=n).map(move |x| at(x, y))).collect();
        let id = |x: u32, y: u32| y * (n + 1) + x;
        let triangles: Vec<[u32; 3]> = (0..n)
            .flat_map(|y| {
                (0..n).flat_map(move |x| {
                    let (a, b, c, d) = (id(x, y), id(x + 1, y), id(x + 1, y + 1), id(x, y + 1));
                    [[a, b, c], [a, c, d]]
                })
            })
            .collect();
        Surface::build(&[(&positions, &triangles)])
    }

    #[test]
    fn a_strip_keeps_its_area_over_the_edges() {
        let surface = grid(8);
        let mut pieces = Vec::new();
        let template = Piece {
            triangle: 0,
            side: 1,
            count: 0,
            corners: [[0.0; 2]; PIECE_CORNERS],
            axis: [[0.0; 2]; 2],
            born: 0.0,
            took: 0.0,
            drying: [1.0; 2],
            thickness: 1e-5,
            stain: 0.0,
        };
        let (t, w, _) = surface.closest(glam::DVec3::new(0.51, 0.53, 0.0), 0.1).unwrap();
        let facet = surface.facets[t as usize];
        let way = DVec2::new(0.01, 0.02);
        let to = facet.weights(facet.flat(w) + way).as_vec2();
        let strip = Strip {
            triangle: t,
            from: w.as_vec2(),
            to,
            is_first: false,
            half_width: 0.15,
            ..Strip::NONE
        };
        StripCutter { surface: &surface, pieces: &mut pieces, template }.lay(&strip);
        let area: f64 = pieces
            .iter()
            .map(|p| {
                let f = &surface.facets[p.triangle as usize];
                let q = |i: usize| {
                    f.flat(DVec2::new(f64::from(p.corners[i][0]), f64::from(p.corners[i][1])))
                };
                (1..p.count as usize - 1)
                    .map(|i| 0.5 * (q(i) - q(0)).perp_dot(q(i + 1) - q(0)))
                    .sum::<f64>()
            })
            .sum();
        // A rectangle and a cap of four sectors of 45 degrees.
        let h = f64::from(0.15f32);
        let expected = 2.0 * h * way.length() + 4.0 * 0.5 * h * h * (45f64).to_radians().sin();
        assert!((area / expected - 1.0).abs() < 1e-5, "{area} {expected}");
    }
}
