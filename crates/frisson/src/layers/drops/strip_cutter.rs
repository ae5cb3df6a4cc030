//! Strips cut at the edges of the triangles under them.
//!
//! What is beyond an edge is turned, not projected, onto the neighbour, so that a strip keeps its width and area
//! over creases.

use glam::DVec2;

use super::surface::Surface;
use super::trail::{PIECE_CORNERS, Piece, Strip};
use super::walk::unfold;
use crate::tolerances::drops::MAX_FOLDS;

/// Half a width from which on the ends of a strip are drawn with twice the corners [m]: on narrow ones nobody sees them,
/// and there are thousands.
const WIDE: f64 = 1.5e-3;
/// Most corners of a polygon on its way.
const POLYGON_CORNERS: usize = 32;

/// A convex polygon with few corners.
#[derive(Clone, Copy)]
struct Polygon {
    points: [DVec2; POLYGON_CORNERS],
    count: usize,
}

impl Polygon {
    /// The part to the left of the line through `origin` along `direction`.
    fn clip(&self, origin: DVec2, direction: DVec2) -> Self {
        let mut out = Self { points: [DVec2::ZERO; POLYGON_CORNERS], count: 0 };
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
        let quarter = if along.length_squared() > WIDE * WIDE { 4 } else { 2 };
        let step = std::f64::consts::FRAC_PI_2 / f64::from(quarter);
        for i in -quarter..=quarter {
            let turn = DVec2::from_angle(step * f64::from(i));
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
    /// The triangle it lies on by now.
    triangle: u32,
    /// Side of it.
    side: i8,
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
        let along = (b - a).normalize_or(DVec2::X);
        let [start, end] = strip.half_widths.map(|w| along * f64::from(w));
        let mut polygon = Polygon { points: [DVec2::ZERO; POLYGON_CORNERS], count: 0 };
        if strip.is_first {
            polygon.push_arc(a, -start);
        } else {
            polygon.push(a + start.perp());
            polygon.push(a - start.perp());
        }
        polygon.push_arc(b, end);
        let Strip { triangle, side, .. } = *strip;
        let turned = Turned { triangle, side, polygon, center: 0.5 * (a + b), axis: [a, b] };
        self.cut(&turned, None, 0);
    }

    /// Keeps what lies on the triangle, and turns what is beyond its edges onto the neighbours.
    fn cut(&mut self, turned: &Turned, came_through: Option<usize>, depth: u32) {
        let Turned { triangle, side, .. } = *turned;
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
        self.keep(&Turned { polygon: inside, ..*turned });
        if depth >= MAX_FOLDS {
            return;
        }
        for k in (0..3).filter(|k| crossed[*k]) {
            let (a, b) = (facet.corner(k), facet.corner((k + 1) % 3));
            // What is beyond this edge, seen from the middle of the strip through the edge.
            let beyond =
                polygon.clip(b, a - b).clip(*center, a - *center).clip(*center, *center - b);
            // Slivers of rounding would be drawn as needles.
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
            // Seen from the other side it winds the other way round.
            if across.same_way {
                polygon.points[..polygon.count].reverse();
            }
            let axis = turned.axis.map(carry);
            let triangle = across.half / 3;
            let there = Turned { triangle, side, polygon, center: carry(*center), axis };
            self.cut(&there, Some(kt), depth + 1);
        }
    }

    fn keep(&mut self, inside: &Turned) {
        let Turned { triangle, side, polygon, axis, .. } = inside;
        let facet = &self.surface.facets[*triangle as usize];
        if polygon.count < 3 || polygon.area().abs() < 1e-16 {
            return;
        }
        let weights = |p: DVec2| {
            let w = facet.weights(p);
            [w.x as f32, w.y as f32]
        };
        let mut piece =
            Piece { triangle: *triangle, side: *side, axis: axis.map(weights), ..self.template };
        // A strip over many small triangles may have more corners than are kept: its last ones are cut off.
        piece.count = polygon.count.min(PIECE_CORNERS) as u8;
        for i in 0..piece.count as usize {
            piece.corners[i] = weights(polygon.points[i]);
        }
        self.pieces.push(piece);
    }
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
        let template = Piece { drying: [1.0; 2], thickness: 1e-5, ..Piece::BLANK };
        let (t, w, _) = surface.closest(glam::DVec3::new(0.51, 0.53, 0.0), 0.1).unwrap();
        let facet = surface.facets[t as usize];
        let way = DVec2::new(0.01, 0.02);
        let to = facet.weights(facet.flat(w) + way).as_vec2();
        let strip = Strip {
            triangle: t,
            from: w.as_vec2(),
            to,
            is_first: false,
            half_widths: [0.15, 0.149],
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
        // A trapezium and a cap of eight sectors of 22.5 degrees.
        let (h, e) = (f64::from(0.15f32), f64::from(0.149f32));
        let cap = 8.0 * 0.5 * e * e * 22.5f64.to_radians().sin();
        let expected = (h + e) * way.length() + cap;
        assert!((area / expected - 1.0).abs() < 1e-5, "{area} {expected}");
    }
}
