//! How much of a picture changes: outlines and shading of two frames, seen from six sides.
//!
//! No lights and no renderer: a pixel is what is nearest, which way it faces and how far it is. Changed is
//! a pixel that shows another shape, faces another way or lies at another depth.

use frisson::geometry::Bounds;
use frisson::stage::Frame;
use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::shape::{Shape, starts};

/// Pixels of a side of the picture.
const SIDE: usize = 192;
/// Turn of a surface that changes its shading to the eye: its cosine, of 8 degrees.
const TURNED: f32 = 0.990;
/// Change of depth that shows, as a share of the subject's size [-].
const DEEPER: f32 = 0.01;
/// Directions the subject is seen from: its sides.
const SIDES: [Vec3; 6] = [Vec3::Z, Vec3::NEG_Z, Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y];

/// Pixels that differ, from the side that shows most of it, as a share of those which either frame covers
/// from the side it is widest: a sheet seen edge-on is no picture.
#[must_use]
pub fn changed_share(with: &Frame, without: &Frame, subject: Option<&str>) -> f64 {
    let bounds = bounds(with, subject).union(bounds(without, subject));
    if bounds.is_empty() {
        return 0.0;
    }
    let count = |side: &Vec3| {
        let [a, b] = [with, without].map(|f| Picture::of(f, subject, *side, bounds));
        a.changed_and_covered(&b, DEEPER * bounds.diagonal())
    };
    let counts: Vec<(u32, u32)> = SIDES.par_iter().map(count).collect();
    let most = |of: fn(&(u32, u32)) -> u32| counts.iter().map(of).max().unwrap_or(0);
    f64::from(most(|c| c.0)) / f64::from(most(|c| c.1).max(1))
}

fn bounds(frame: &Frame, subject: Option<&str>) -> Bounds {
    let shapes = Shape::all(frame).filter(|s| subject.is_none_or(|name| s.name() == name));
    shapes.fold(Bounds::EMPTY, |b, s| b.union(Bounds::of(s.points())))
}

/// A number for a name: the same in both frames, whatever else is in them (Fowler, Noll and Vo's hash, FNV-1a).
fn mark(name: &str) -> u32 {
    const START: u32 = 0x811C_9DC5;
    const PRIME: u32 = 0x0100_0193;
    name.bytes().fold(START, |h, b| (h ^ u32::from(b)).wrapping_mul(PRIME))
}

#[derive(Clone, Copy, PartialEq)]
struct Pixel {
    depth: f32,
    normal: Vec3,
    shape: u32,
}

const EMPTY: Pixel = Pixel { depth: f32::INFINITY, normal: Vec3::ZERO, shape: u32::MAX };

struct Picture {
    pixels: Vec<Pixel>,
    right: Vec3,
    up: Vec3,
    toward: Vec3,
    low: Vec2,
    per_metre: f32,
}

impl Picture {
    fn of(frame: &Frame, subject: Option<&str>, side: Vec3, bounds: Bounds) -> Self {
        // From above and below, up is not across the picture.
        let up = if side.y == 0.0 { Vec3::Y } else { Vec3::Z };
        let right = up.cross(side);
        let (low, high) = (bounds.min, bounds.max);
        let corner = |d: Vec3| low.dot(d).min(high.dot(d));
        // One scale for all sides: a change of as many metres is as many pixels from each of them.
        let extent = (high - low).max_element().max(f32::MIN_POSITIVE);
        let mut picture = Self {
            pixels: vec![EMPTY; SIDE * SIDE],
            right,
            up,
            toward: side,
            low: Vec2::new(corner(right), corner(up)),
            per_metre: (SIDE - 1) as f32 / extent,
        };
        for shape in Shape::all(frame).filter(|s| subject.is_none_or(|name| s.name() == name)) {
            picture.draw(shape, mark(shape.name()));
        }
        picture
    }

    fn draw(&mut self, shape: Shape, index: u32) {
        match shape {
            Shape::Mesh(mesh) => {
                for t in &mesh.topology.triangles {
                    self.draw_triangle(t.map(|v| mesh.positions[v as usize]), index);
                }
            }
            Shape::Curves(curves) => {
                for (start, &count) in starts(&curves.counts).into_iter().zip(&curves.counts) {
                    let end = (start + count) as usize;
                    for pair in curves.points[start as usize..end].windows(2) {
                        self.draw_segment([pair[0], pair[1]], index);
                    }
                }
            }
            Shape::Points(points) => {
                for (&p, &width) in points.positions.iter().zip(&points.widths) {
                    self.draw_disc(p, 0.5 * width, index);
                }
            }
        }
    }

    fn project(&self, p: Vec3) -> (Vec2, f32) {
        let flat = (Vec2::new(p.dot(self.right), p.dot(self.up)) - self.low) * self.per_metre;
        (flat, -p.dot(self.toward))
    }

    fn put(&mut self, x: usize, y: usize, pixel: Pixel) {
        if x < SIDE && y < SIDE {
            let old = &mut self.pixels[y * SIDE + x];
            if pixel.depth < old.depth {
                *old = pixel;
            }
        }
    }

    fn draw_triangle(&mut self, corners: [Vec3; 3], shape: u32) {
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize_or_zero();
        // Both sides are seen alike: open sheets have no outside.
        let normal = if normal.dot(self.toward) < 0.0 { -normal } else { normal };
        let [(p, pd), (q, qd), (r, rd)] = corners.map(|v| self.project(v));
        let area = (q - p).perp_dot(r - p);
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let (low, high) = (p.min(q).min(r).max(Vec2::ZERO), p.max(q).max(r));
        let (right, top) = ((high.x as usize).min(SIDE - 1), (high.y as usize).min(SIDE - 1));
        for y in low.y as usize..=top {
            for x in low.x as usize..=right {
                let at = Vec2::new(x as f32, y as f32);
                let u = (q - at).perp_dot(r - at) / area;
                let v = (r - at).perp_dot(p - at) / area;
                let w = 1.0 - u - v;
                if u >= 0.0 && v >= 0.0 && w >= 0.0 {
                    let depth = u * pd + v * qd + w * rd;
                    self.put(x, y, Pixel { depth, normal, shape });
                }
            }
        }
    }

    fn draw_segment(&mut self, [a, b]: [Vec3; 2], shape: u32) {
        let ((p, pd), (q, qd)) = (self.project(a), self.project(b));
        // One pixel a step; four pictures long at most, whatever flies away.
        let steps = (q - p).abs().max_element().ceil().clamp(1.0, 4.0 * SIDE as f32) as usize;
        for k in 0..=steps {
            let t = k as f32 / steps as f32;
            let at = (p + t * (q - p)).round();
            // A line has no side that could turn: only that it is there, and how deep, is compared.
            let normal = self.toward;
            self.put(
                at.x as usize,
                at.y as usize,
                Pixel { depth: pd + t * (qd - pd), normal, shape },
            );
        }
    }

    fn draw_disc(&mut self, centre: Vec3, radius: f32, shape: u32) {
        let (middle, depth) = self.project(centre);
        // A drop smaller than a pixel is still seen as one.
        let reach = (radius * self.per_metre).max(0.5);
        let (low, high) = ((middle - reach).max(Vec2::ZERO), middle + reach);
        for y in low.y.ceil() as usize..=(high.y as usize).min(SIDE - 1) {
            for x in low.x.ceil() as usize..=(high.x as usize).min(SIDE - 1) {
                let away = Vec2::new(x as f32, y as f32) - middle;
                if away.length_squared() <= reach * reach {
                    self.put(x, y, Pixel { depth: depth - radius, normal: self.toward, shape });
                }
            }
        }
    }

    fn changed_and_covered(&self, other: &Self, deeper: f32) -> (u32, u32) {
        let (mut covered, mut changed) = (0u32, 0u32);
        for (a, b) in self.pixels.iter().zip(&other.pixels) {
            if *a == EMPTY && *b == EMPTY {
                continue;
            }
            covered += 1;
            let same = a.shape == b.shape
                && a.normal.dot(b.normal) >= TURNED
                && (a.depth - b.depth).abs() <= deeper;
            changed += u32::from(!same);
        }
        (changed, covered)
    }
}
