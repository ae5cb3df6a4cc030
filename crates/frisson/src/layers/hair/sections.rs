//! Sections of wisps and the test whether a point is inside one.
//!
//! ```text
//!        z1 ________ z2          the plane through the axis p1 p2 and the point,
//!          /        \            on the point's side; z: where it cuts the
//!         /    .p    \           envelope in the planes at both ends
//!       p1 ────────── p2
//! ```
//!
//! Four points are tested at once. With `t` the section's direction, `U` the point's offset across
//! it and `n` the normal of an end's plane, the plane of axis and point cuts the end's plane along
//! `U (t . n) - t (U . n)`: what belongs to the section alone is computed once per section.

use glam::{BVec4A, Vec2, Vec3, Vec4};

use super::lanes::Lanes;
use super::strands::radius_at;

/// Most samples around a particle.
pub(super) const MAX_SAMPLES: usize = 8;

/// Most groups of four samples.
pub(super) const GROUPS: usize = MAX_SAMPLES / 4;

/// Square of the distance within which a point is on a section's axis [m²]: a ten-millionth of a metre, where its
/// direction is noise.
const ON_AXIS_SQ: f32 = 1.0e-14;

/// Least height of an outline to divide by [m].
const LEAST_HEIGHT: f32 = 1.0e-7;

/// Least length of a direction to divide by [-]: zero divided by it is still zero.
const LEAST_DIRECTION: f32 = 1.0e-20;

/// Squared length below which a segment is a point [m²].
const POINT_SQ: f32 = 1.0e-12;

/// Share of its largest value below which the sine squared between two segments is zero [-]: they are parallel.
const PARALLEL_SQ: f32 = 1.0e-6;

/// One plane of a wisp, as the interactions see it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeShape {
    pub center: Vec3,
    pub normal: Vec3,
    pub across: Vec3,
    pub second: Vec3,
    pub radii: [f32; MAX_SAMPLES],
    pub widest: f32,
    /// Inverse mass [1/kg]; 0: carried by the scalp.
    pub inverse_mass: f32,
    /// Density of hair relative to that at rest [-].
    pub density: f32,
    pub wetness: f32,
    /// How much contact with other hair still grips, 1 to 0: what finds back to its style may pass [-].
    pub grip: f32,
}

/// What belongs to one section alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SectionShape {
    pub origin: Vec3,
    pub along: Vec3,
    pub length: f32,
    pub widest: f32,
    /// Normal, first and second axis of each end's plane along the section.
    slopes: [Vec3; 2],
}

/// Four points against a section.
pub(super) struct Inside {
    /// Which of the four are inside.
    pub bits: u32,
    along: Vec4,
    outward: Vec4,
    directions: [[Vec4; 2]; 2],
    up: Lanes,
    on_axis: u32,
}

/// One point found inside a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct InsidePoint {
    /// Place along the axis, 0 to 1.
    pub along: f32,
    /// Place across: 0 on the axis, 1 on the envelope.
    pub outward: f32,
    /// Direction of the point from the axis, in both end planes' axes (of any length).
    pub directions: [Vec2; 2],
    /// From the axis towards the point, unit.
    pub normal: Vec3,
}

impl SectionShape {
    /// The section between two planes.
    pub fn new(ends: [&NodeShape; 2]) -> Self {
        let axis = ends[1].center - ends[0].center;
        let length = axis.length();
        let along = if length > 0.0 { axis / length } else { Vec3::ZERO };
        let slopes =
            ends.map(|e| Vec3::new(along.dot(e.normal), along.dot(e.across), along.dot(e.second)));
        let widest = ends[0].widest.max(ends[1].widest);
        Self { origin: ends[0].center, along, length, widest, slopes }
    }

    /// Which of four points are inside, if any.
    pub fn holds(&self, ends: [&NodeShape; 2], samples: usize, p: &Lanes) -> Option<Inside> {
        let o = self.origin;
        let away = Lanes { x: p.x - o.x, y: p.y - o.y, z: p.z - o.z };
        let x = away.dot(self.along);
        let t = self.along;
        let up = Lanes { x: away.x - x * t.x, y: away.y - x * t.y, z: away.z - x * t.z };
        let y_sq = up.x * up.x + up.y * up.y + up.z * up.z;
        // A quick no for points that are far from the section.
        let wide = Vec4::splat(self.widest);
        let near =
            y_sq.cmple(wide * wide) & x.cmpgt(-wide) & x.cmplt(wide + Vec4::splat(self.length));
        if !near.any() || self.length <= 0.0 {
            return None;
        }
        let y = y_sq.sqrt();
        let mut rims = [[Vec4::ZERO; 2]; 2];
        let mut directions = [[Vec4::ZERO; 2]; 2];
        for k in 0..2 {
            let (end, slope) = (ends[k], self.slopes[k]);
            let normal = up.dot(end.normal);
            let steep = slope.x.abs();
            // A plane that is folded past the section's direction cuts it from behind.
            let side = if slope.x < 0.0 { -1.0 } else { 1.0 };
            let dx = side * (up.dot(end.across) * slope.x - slope.y * normal);
            let dy = side * (up.dot(end.second) * slope.x - slope.z * normal);
            let scale = rim_scale(end, samples, dx, dy);
            directions[k] = [dx, dy];
            rims[k] = [-side * normal * scale + k as f32 * self.length, steep * y * scale];
        }
        let on_axis = y_sq.cmplt(Vec4::splat(ON_AXIS_SQ));
        let between = x.cmpge(Vec4::ZERO) & x.cmplt(Vec4::splat(self.length));
        // Infinities of flat outlines compare as false: such a lane is outside.
        let filled = in_outline(x, y, rims, self.length);
        let inside = (on_axis & between) | (!on_axis & filled);
        let bits = (near & inside).bitmask();
        if bits == 0 {
            return None;
        }
        let along = (x / self.length).clamp(Vec4::ZERO, Vec4::ONE);
        let height = rims[0][1] + along * (rims[1][1] - rims[0][1]);
        let outward = (y / height.max(Vec4::splat(LEAST_HEIGHT))).min(Vec4::ONE);
        Some(Inside { bits, along, outward, directions, up, on_axis: on_axis.bitmask() })
    }
}

impl Inside {
    /// One of the points inside; `across`: any direction across, for a point on the axis.
    pub fn point(&self, lane: usize, across: Vec3) -> InsidePoint {
        let up = Vec3::new(self.up.x[lane], self.up.y[lane], self.up.z[lane]);
        if self.on_axis >> lane & 1 == 1 {
            let along = self.along[lane];
            return InsidePoint { along, outward: 0.0, directions: [Vec2::X; 2], normal: across };
        }
        InsidePoint {
            along: self.along[lane],
            outward: self.outward[lane],
            directions: self.directions.map(|d| Vec2::new(d[0][lane], d[1][lane])),
            normal: up.normalize_or(across),
        }
    }
}

/// Radius of an envelope in a direction of its plane, over the direction's length.
fn rim_scale(end: &NodeShape, samples: usize, dx: Vec4, dy: Vec4) -> Vec4 {
    let r = &end.radii;
    let tiny = Vec4::splat(LEAST_DIRECTION);
    if samples == 4 {
        // A quarter ellipse between two of four samples.
        let a = Vec4::select(dx.cmpge(Vec4::ZERO), Vec4::splat(r[0]), Vec4::splat(r[2]));
        let b = Vec4::select(dy.cmpge(Vec4::ZERO), Vec4::splat(r[1]), Vec4::splat(r[3]));
        let (x, y) = (dx * b, dy * a);
        return a * b / (x * x + y * y).sqrt().max(tiny);
    }
    Vec4::from_array(std::array::from_fn(|k| {
        let direction = Vec2::new(dx[k], dy[k]);
        radius_at(&r[..samples], direction) / direction.length().max(LEAST_DIRECTION)
    }))
}

/// Even-odd fill of the outline `(0, 0), (length, 0), rims[1], rims[0]`, twisted and non-convex ones
/// included. The points are above the base line, which therefore is never crossed.
fn in_outline(x: Vec4, y: Vec4, rims: [[Vec4; 2]; 2], length: f32) -> BVec4A {
    let [[x0, y0], [x1, y1]] = rims;
    let (high0, high1) = (y0.cmpgt(y), y1.cmpgt(y));
    let right = length + y / y1 * (x1 - length);
    let left = y / y0 * x0;
    let top = x0 + (y - y0) / (y1 - y0) * (x1 - x0);
    (high1 & x.cmplt(right)) ^ ((high0 ^ high1) & x.cmplt(top)) ^ (high0 & x.cmplt(left))
}

/// Radius of the envelope in a direction of its plane: a quarter ellipse between two of four samples,
/// else by angle.
pub(super) fn envelope_radius(radii: &[f32], direction: Vec2) -> f32 {
    if radii.len() != 4 {
        return radius_at(radii, direction);
    }
    let a = if direction.x >= 0.0 { radii[0] } else { radii[2] };
    let b = if direction.y >= 0.0 { radii[1] } else { radii[3] };
    let (x, y) = (direction.x * b, direction.y * a);
    let scale = (x * x + y * y).sqrt();
    if scale > 0.0 { a * b * direction.length() / scale } else { 0.0 }
}

/// Closest places of two segments, as fractions of each.
pub(super) fn closest_on_segments(a: [Vec3; 2], b: [Vec3; 2]) -> (f32, f32) {
    let (d1, d2, r) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (aa, bb) = (d1.length_squared(), d2.length_squared());
    let (ab, c, f) = (d1.dot(d2), d1.dot(r), d2.dot(r));
    if aa < POINT_SQ && bb < POINT_SQ {
        return (0.0, 0.0);
    }
    if aa < POINT_SQ {
        return (0.0, (f / bb).clamp(0.0, 1.0));
    }
    if bb < POINT_SQ {
        return ((-c / aa).clamp(0.0, 1.0), 0.0);
    }
    let denominator = aa * bb - ab * ab;
    let s = if denominator > PARALLEL_SQ * aa * bb {
        ((ab * f - c * bb) / denominator).clamp(0.0, 1.0)
    // Parallel segments have many closest places: the middle, which does not jump to an end.
    } else {
        0.5
    };
    let t = (ab * s + f) / bb;
    if t < 0.0 {
        ((-c / aa).clamp(0.0, 1.0), 0.0)
    } else if t > 1.0 {
        (((ab - c) / aa).clamp(0.0, 1.0), 1.0)
    } else {
        (s, t)
    }
}

/// The plain form of the test, for comparison: place along and across, if inside.
#[cfg(test)]
pub(super) mod reference {
    use super::*;

    pub fn point_in_section(p: Vec3, ends: [&NodeShape; 2], samples: usize) -> Option<(f32, f32)> {
        let axis = ends[1].center - ends[0].center;
        let length = axis.length();
        let along = axis / length;
        let away = p - ends[0].center;
        let x = along.dot(away);
        let up = away - x * along;
        let y = up.length();
        if y < 1.0e-7 {
            return (0.0..length).contains(&x).then_some((x / length, 0.0));
        }
        let up = up / y;
        let across = along.cross(up);
        let mut rims = [Vec2::ZERO; 2];
        for (k, end) in ends.iter().enumerate() {
            // The line common to the end's plane and the plane of axis and point.
            let line = across.cross(end.normal);
            let line = if line.dot(up) < 0.0 { -line } else { line };
            let line = line.try_normalize()?;
            let direction = Vec2::new(line.dot(end.across), line.dot(end.second));
            let rim = envelope_radius(&end.radii[..samples], direction) * line;
            rims[k] = Vec2::new(along.dot(rim) + k as f32 * length, up.dot(rim));
        }
        let quad = [Vec2::ZERO, Vec2::new(length, 0.0), rims[1], rims[0]];
        let t = (x / length).clamp(0.0, 1.0);
        let height = (rims[0].y + t * (rims[1].y - rims[0].y)).max(1.0e-7);
        even_odd(Vec2::new(x, y), quad).then_some((t, (y / height).min(1.0)))
    }

    /// Even-odd rule by counting crossings of the whole outline.
    pub fn even_odd(p: Vec2, quad: [Vec2; 4]) -> bool {
        let mut inside = false;
        for k in 0..4 {
            let (a, b) = (quad[k].as_dvec2(), quad[(k + 1) % 4].as_dvec2());
            let p = p.as_dvec2();
            if (a.y > p.y) != (b.y > p.y) {
                inside ^= p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x);
            }
        }
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    #[test]
    fn outlines_fill_by_the_even_odd_rule() {
        let mut kinds = [0; 2];
        for trial in 0..400u64 {
            let c = |k| random::signed(8, trial, k) as f32;
            // Rims anywhere above the base line: convex, non-convex and twisted quads all come up.
            let rims = [0, 2].map(|k| Vec2::new(1.5 * c(k) + 0.5, c(k + 1).abs()));
            let quad = [Vec2::ZERO, Vec2::X, rims[1], rims[0]];
            for i in 0..200u64 {
                let p = |k: u64| {
                    let c = |j| random::signed(9, trial, 8 * i + 2 * k + j) as f32;
                    Vec2::new(1.5 * c(0) + 0.5, c(1).abs())
                };
                let points: [Vec2; 4] = std::array::from_fn(|k| p(k as u64));
                let lanes = |f: &dyn Fn(Vec2) -> f32| Vec4::from_array(points.map(f));
                let flat = rims.map(|r| [Vec4::splat(r.x), Vec4::splat(r.y)]);
                let got = in_outline(lanes(&|p| p.x), lanes(&|p| p.y), flat, 1.0).bitmask();
                for (k, &p) in points.iter().enumerate() {
                    let want = reference::even_odd(p, quad);
                    kinds[usize::from(want)] += 1;
                    assert_eq!(got >> k & 1 == 1, want, "{p} {quad:?}");
                }
            }
        }
        assert!(kinds[0] > 1000 && kinds[1] > 1000);
    }

    /// A plane across a roughly vertical wisp.
    fn plane(seed: u64, height: f32, tilt: f32, samples: usize) -> NodeShape {
        let c = |k| random::signed(12, seed, k) as f32;
        let normal = (Vec3::Y + tilt * Vec3::new(c(0), 0.0, c(1))).normalize();
        let across = super::super::rest::perpendicular(normal);
        let mut radii = [0.0; MAX_SAMPLES];
        for (k, r) in radii[..samples].iter_mut().enumerate() {
            *r = 0.3 + 0.2 * c(2 + k as u64);
        }
        let widest = radii.iter().copied().fold(0.0, f32::max);
        let center = Vec3::new(0.1 * c(10), height, 0.1 * c(11));
        let second = normal.cross(across);
        NodeShape { center, normal, across, second, radii, widest, ..NodeShape::default() }
    }

    #[test]
    fn four_points_at_once_agree_with_the_plain_test() {
        let mut hits = 0;
        for seed in 0..200u64 {
            let samples = [4, 4, 3, 8][seed as usize % 4];
            let (a, b) =
                (plane(2 * seed, 0.0, 0.7, samples), plane(2 * seed + 1, 1.0, 0.7, samples));
            let shape = SectionShape::new([&a, &b]);
            for i in 0..50u64 {
                let point = |k: u64| {
                    let c = |j| random::signed(13, seed, 16 * i + 4 * k + j) as f32;
                    Vec3::new(0.6 * c(0), 0.5 + 0.8 * c(1), 0.6 * c(2))
                };
                let points: [Vec3; 4] = std::array::from_fn(|k| point(k as u64));
                let found = shape.holds([&a, &b], samples, &Lanes::new(points.into_iter()));
                for (k, &p) in points.iter().enumerate() {
                    let bits = found.as_ref().map_or(0, |f| f.bits);
                    let want = reference::point_in_section(p, [&a, &b], samples);
                    // Rims beyond the widest radius of a slanted plane are cut off: rare and thin.
                    let away = (p - a.center).reject_from_normalized(shape.along).length();
                    if away > shape.widest {
                        continue;
                    }
                    assert_eq!(bits >> k & 1 == 1, want.is_some(), "seed {seed}: {p}");
                    if let (Some(found), Some((along, outward))) = (&found, want) {
                        let got = found.point(k, a.across);
                        assert!((got.along - along).abs() < 1e-4);
                        assert!((got.outward - outward).abs() < 1e-3);
                        hits += 1;
                    }
                }
            }
        }
        assert!(hits > 1000, "{hits}");
    }

    #[test]
    fn a_straight_round_section_is_a_cylinder() {
        let at = |y: f32| NodeShape {
            center: Vec3::Y * y,
            normal: Vec3::Y,
            across: Vec3::X,
            second: Vec3::NEG_Z,
            radii: [0.3; MAX_SAMPLES],
            widest: 0.3,
            ..NodeShape::default()
        };
        let ends = [at(0.0), at(1.0)];
        let shape = SectionShape::new([&ends[0], &ends[1]]);
        let holds = |p: Vec3| {
            let lanes = Lanes::new(std::iter::once(p));
            shape.holds([&ends[0], &ends[1]], 4, &lanes).is_some()
        };
        for i in 0..5000u64 {
            let c = |k| 1.2 * random::signed(10, i, k) as f32;
            let p = Vec3::new(0.5 * c(0), c(1), 0.5 * c(2));
            let radial = Vec2::new(p.x, p.z).length();
            if (radial - 0.3).abs() < 1e-4 {
                continue;
            }
            let want = (0.0..1.0).contains(&p.y) && radial < 0.3;
            assert_eq!(holds(p), want, "{p}");
        }
        assert!(holds(Vec3::Y * 0.5) && !holds(Vec3::Y * 1.5));
    }

    #[test]
    fn closest_places_agree_with_a_search() {
        for i in 0..300u64 {
            let c = |k| random::signed(11, i, k) as f32;
            let v = |k| Vec3::new(c(k), c(k + 1), c(k + 2));
            let (a, b) = ([v(0), v(3)], [v(6), v(9)]);
            let (s, t) = closest_on_segments(a, b);
            let got = a[0].lerp(a[1], s).distance(b[0].lerp(b[1], t));
            let mut best = f32::INFINITY;
            for x in 0..=60 {
                for y in 0..=60 {
                    let (x, y) = (x as f32 / 60.0, y as f32 / 60.0);
                    best = best.min(a[0].lerp(a[1], x).distance(b[0].lerp(b[1], y)));
                }
            }
            assert!(got < best + 1e-4, "{got} {best}");
        }
    }
}
