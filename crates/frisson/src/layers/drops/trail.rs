//! What running drops leave: film, smoothing, strips, beads.
//!
//! A strip is as wide as the drop's contact. It is cut at the edges of its triangle and what is beyond
//! is turned, not projected, onto the neighbours; its pieces are kept by their weights on the triangles,
//! so that they ride the skin.

use glam::{DVec2, Vec2};
use serde::{Deserialize, Serialize};

use super::flow::Stay;
use super::image::WetImage;
use super::params::TrailParams;
use super::rest::Rest;
use super::state::{Drop, State};
use super::surface::{Facet, Surface};
use super::walk::unfold;
use crate::math::random;
use crate::tolerances::drops::{MAX_FOLDS, MIN_WETNESS};

/// Most corners of a piece.
pub const PIECE_CORNERS: usize = 12;

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
    /// When it was laid [s].
    pub born: f64,
    /// Time in which it dries to a third [s].
    pub drying: f32,
    /// Thickness when laid [m].
    pub thickness: f32,
}

/// All strips still wet, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrailState {
    /// Their pieces.
    pub pieces: Vec<Piece>,
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

impl StripCutter<'_> {
    /// Lays a strip between two places of one triangle.
    pub fn lay(&mut self, triangle: u32, side: i8, from: DVec2, to: DVec2, half_width: f64) {
        let facet = &self.surface.facets[triangle as usize];
        let (a, b) = (facet.flat(from), facet.flat(to));
        let along = (b - a).normalize_or(DVec2::X) * half_width;
        let left = along.perp();
        let mut strip = Polygon { points: [DVec2::ZERO; 24], count: 0 };
        strip.push(a + left);
        strip.push(a - left);
        for i in 0..5 {
            let angle = std::f64::consts::FRAC_PI_4 * f64::from(i - 2);
            strip.push(b + along * angle.cos() + left * angle.sin());
        }
        self.cut(triangle, side, strip, 0.5 * (a + b), None, 0);
    }

    fn cut(
        &mut self,
        triangle: u32,
        side: i8,
        polygon: Polygon,
        center: DVec2,
        came_through: Option<usize>,
        depth: u32,
    ) {
        let surface = self.surface;
        let facet = &surface.facets[triangle as usize];
        let mut inside = polygon;
        for k in (0..3).filter(|k| Some(*k) != came_through) {
            inside = inside.clip(facet.corner(k), facet.edge(k));
        }
        self.keep(triangle, side, facet, &inside);
        if depth >= MAX_FOLDS {
            return;
        }
        for k in (0..3).filter(|k| Some(*k) != came_through) {
            let (a, b) = (facet.corner(k), facet.corner((k + 1) % 3));
            // What is beyond this edge, seen from the middle of the strip through the edge.
            let beyond = polygon.clip(b, a - b).clip(center, a - center).clip(center, center - b);
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
            let mut turned = beyond;
            turned.points[..turned.count].iter_mut().for_each(|p| *p = carry(*p));
            let side = if across.same_way { -side } else { side };
            if across.same_way {
                turned.points[..turned.count].reverse();
            }
            self.cut(across.half / 3, side, turned, carry(center), Some(kt), depth + 1);
        }
    }

    fn keep(&mut self, triangle: u32, side: i8, facet: &Facet, polygon: &Polygon) {
        if polygon.count < 3 || polygon.area().abs() < 1e-16 {
            return;
        }
        let mut piece = Piece { triangle, side, ..self.template };
        piece.count = polygon.count.min(PIECE_CORNERS) as u8;
        for i in 0..piece.count as usize {
            let w = facet.weights(polygon.points[i]);
            piece.corners[i] = [w.x as f32, w.y as f32];
        }
        self.pieces.push(piece);
    }
}

/// Applies what running drops did to the ground, in the order of the drops.
pub struct Wetting<'a> {
    /// The surface.
    pub surface: &'a Surface,
    /// Rest data.
    pub rest: &'a Rest,
    /// Settings.
    pub params: &'a TrailParams,
    /// Time now [s].
    pub time: f64,
    /// Triangles whose axis a first trail sets, with the new axis.
    pub new_axes: &'a mut Vec<(u32, [f32; 2])>,
    /// Least mass of a drop [kg].
    pub least_mass: f64,
    /// Seed.
    pub seed: u64,
}

impl Wetting<'_> {
    /// One stay: smoothing, film, strip.
    pub fn apply(&mut self, state: &mut State, stay: &Stay) {
        let t = stay.triangle as usize;
        let kind = self.rest.ground.of(stay.triangle);
        let area = self.surface.facets[t].area();
        let index = stay.drop as usize;
        let drop = &mut state.drops[index];
        if area <= 0.0 || drop.mass <= 0.0 {
            return;
        }
        let radius = self.rest.liquid.radius(drop.mass);
        let wet = &mut state.wet;
        if kind.axis_by_trail && wet.wetness[t] == [0.0; 2] && !wet.is_active[t] {
            let way = stay.to - stay.from;
            if way.length() > 1e-9 {
                self.new_axes.push((stay.triangle, [way.x as f32, way.y as f32]));
            }
        }
        for i in 0..2 {
            wet.wetness[t][i] += kind.smoothing[i] * 2.0 * radius * stay.way[i] / area;
        }
        wet.activate(stay.triangle);
        let width = 2.0 * kind.contact * radius * self.params.width;
        if kind.film > 0.0 {
            let full = self.rest.liquid.density * kind.film * area;
            let bare = (1.0 - wet.film[t] / full).clamp(0.0, 1.0);
            let laid = self.rest.liquid.density * kind.film * width * stay.way.length() * bare;
            let laid = laid.min(full - wet.film[t]).min(drop.mass - self.least_mass).max(0.0);
            let solute = drop.solute / drop.mass * laid;
            drop.mass -= laid;
            drop.solute -= solute;
            wet.film[t] += laid;
            wet.film_solute[t] += solute;
        }
        self.draw(state, index, stay, width);
    }

    /// Draws the strip, closing it when it leaves its triangle or is as long as wide.
    fn draw(&mut self, state: &mut State, index: usize, stay: &Stay, width: f64) {
        if !self.params.mesh && state.image.is_none() {
            return;
        }
        let drop = &mut state.drops[index];
        if drop.strip_triangle != stay.triangle {
            self.close(&mut state.trail, &mut state.image, drop, width);
            drop.strip_triangle = stay.triangle;
            drop.strip_from = stay.from;
        }
        drop.strip_to = stay.to;
        let facet = &self.surface.facets[stay.triangle as usize];
        if facet.flat(drop.strip_to - drop.strip_from).length() > 0.5 * width {
            self.close(&mut state.trail, &mut state.image, drop, width);
            drop.strip_triangle = stay.triangle;
            drop.strip_from = stay.to;
            drop.strip_to = stay.to;
        }
    }

    fn close(
        &self,
        trail: &mut TrailState,
        image: &mut Option<WetImage>,
        drop: &mut Drop,
        width: f64,
    ) {
        let triangle = drop.strip_triangle;
        drop.strip_triangle = u32::MAX;
        if triangle == u32::MAX || drop.strip_from == drop.strip_to {
            return;
        }
        let kind = self.rest.ground.of(triangle);
        let before = trail.pieces.len();
        let u = random::signed(self.seed, drop.id, before as u64);
        let template = Piece {
            triangle,
            side: drop.side,
            count: 0,
            corners: [[0.0; 2]; PIECE_CORNERS],
            born: self.time,
            drying: (self.params.drying * (1.0 + 0.9 * self.params.unevenness * u)) as f32,
            thickness: kind.film.max(1e-5) as f32,
        };
        let mut cutter = StripCutter { surface: self.surface, pieces: &mut trail.pieces, template };
        cutter.lay(triangle, drop.side, drop.strip_from, drop.strip_to, 0.5 * width);
        if let Some(image) = image {
            let stain = (drop.solute / drop.mass) as f32;
            for piece in &trail.pieces[before..] {
                paint(image, &self.rest.uvs, piece, stain);
            }
        }
        if !self.params.mesh {
            trail.pieces.truncate(before);
        } else if trail.pieces.len() > 2 * self.params.max_strips {
            let surplus = trail.pieces.len() - self.params.max_strips;
            trail.pieces.drain(..surplus);
        }
    }
}

fn paint(image: &mut WetImage, uvs: &[[Vec2; 3]], piece: &Piece, stain: f32) {
    let Some([a, b, c]) = uvs.get(piece.triangle as usize) else { return };
    let mut polygon = [Vec2::ZERO; PIECE_CORNERS];
    let count = piece.count as usize;
    for (p, [x, y]) in polygon.iter_mut().zip(&piece.corners[..count]) {
        *p = *a + *x * (*b - *a) + *y * (*c - *a);
    }
    image.paint(&polygon[..count], 1.0, 0.2 * stain);
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
            born: 0.0,
            drying: 1.0,
            thickness: 1e-5,
        };
        let (t, w, _) = surface.closest(glam::DVec3::new(0.51, 0.53, 0.0), 0.1).unwrap();
        let facet = surface.facets[t as usize];
        let way = DVec2::new(0.01, 0.02);
        let to = facet.weights(facet.flat(w) + way);
        StripCutter { surface: &surface, pieces: &mut pieces, template }.lay(t, 1, w, to, 0.15);
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
        let h = 0.15f64;
        let expected = 2.0 * h * way.length() + 4.0 * 0.5 * h * h * (45f64).to_radians().sin();
        assert!((area / expected - 1.0).abs() < 1e-5, "{area} {expected}");
    }
}
