//! Seeds: directions fixed in each primitive, along which samples slide to the surface.
//!
//! A seed at distance `d` stands for the volume `w d^m / m` between the primitive and itself: a cone
//! from a point (`m` = 3, `w` a solid angle), a wedge from a line (2, angle times length), a prism
//! from a face (1, an area). The surface it stands for is `w d^(m-1) / cos`. A seed that meets a
//! territory's border stops there: its volume counts, its surface does not.

use glam::{DMat3, DVec3};

use super::field::Kind;
use crate::tolerances::soft as tolerances;

/// A direction fixed in a primitive.
#[derive(Clone, Copy, Debug)]
pub struct Seed {
    /// Barycentric place on the points `first..first + 3` of the primitive.
    weights: [f64; 3],
    first: u8,
    /// Direction in the axes of its piece.
    direction: DVec3,
    /// Piece whose axes and size it uses.
    piece: u8,
    /// `m` above: 3 from a corner, 2 from a line, 1 from a face.
    pub power: i32,
    /// `w` above, per unit of the piece's size.
    weight: f64,
}

/// Axes and size of a piece of a primitive at some instant.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    axes: DMat3,
    length: f64,
    area: f64,
}

/// A seed in the world.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// On the primitive [m].
    pub origin: DVec3,
    /// Unit; of a flattened particle a unit in its own measure, and so is every distance along it.
    pub direction: DVec3,
    /// `m`.
    pub power: i32,
    /// `w`.
    pub weight: f64,
}

impl Seed {
    /// The seed's axis now.
    #[must_use]
    pub fn ray(&self, points: &[DVec3], pieces: &[Piece]) -> Ray {
        let at = |i: usize| points.get(self.first as usize + i).copied().unwrap_or_default();
        let [a, b, c] = self.weights;
        let piece = &pieces[self.piece as usize];
        let size = match self.power {
            1 => piece.area,
            2 => piece.length,
            _ => 1.0,
        };
        Ray {
            origin: a * at(0) + b * at(1) + c * at(2),
            direction: piece.axes * self.direction,
            power: self.power,
            weight: self.weight * size,
        }
    }
}

impl Seed {
    /// How far along a polyline it begins, from 0 to 1 by length [-].
    #[must_use]
    pub fn way_along(&self, points: &[DVec3]) -> f64 {
        let lengths = || points.windows(2).map(|w| w[0].distance(w[1]));
        let before: f64 = lengths().take(self.first as usize).sum();
        let here = lengths().nth(self.first as usize).unwrap_or(0.0) * self.weights[1];
        (before + here) / lengths().sum::<f64>().max(f64::MIN_POSITIVE)
    }
}

/// The seeds of a primitive as points of a sphere, neighbours beside each other: a bent primitive is
/// straightened, and all are seen from its middle.
#[must_use]
pub fn on_sphere(kind: Kind, points: &[DVec3], thickness: f64, seeds: &[Seed]) -> Vec<DVec3> {
    let mut pieces = Vec::new();
    compute_pieces(kind, points, DMat3::IDENTITY, &mut pieces);
    let length: f64 = pieces.iter().map(|p| p.length).sum();
    let middle = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let place = |seed: &Seed| match kind {
        Kind::Point => seed.direction,
        Kind::Polyline => {
            let along = (seed.way_along(points) - 0.5) * length;
            let size = DVec3::new(0.5 * length + thickness, thickness, thickness);
            (along * DVec3::X + thickness * seed.direction) / size
        }
        Kind::Triangle => {
            let ray = seed.ray(points, &pieces);
            let away = ray.origin + thickness * ray.direction - middle;
            let extent = points.iter().map(|p| p.distance(middle)).fold(thickness, f64::max);
            let flat = pieces[0].axes.transpose() * away;
            flat / DVec3::new(extent, extent, thickness)
        }
    };
    seeds.iter().map(|s| place(s).normalize_or(DVec3::Y)).collect()
}

/// An axis system whose first axis is given; the others follow a turning body.
fn axes_along(x: DVec3, rotation: DMat3) -> DMat3 {
    let x = x.normalize_or(rotation * DVec3::X);
    let candidates = [rotation * DVec3::Y, rotation * DVec3::Z];
    let flat = |v: DVec3| v - v.dot(x) * x;
    // A limb that points along the body's y axis would leave the seeds without a direction to start from.
    let y = if flat(candidates[0]).length_squared() > 0.1 { candidates[0] } else { candidates[1] };
    let y = flat(y).normalize_or(x.any_orthonormal_vector());
    DMat3::from_cols(x, y, x.cross(y))
}

/// Axes and sizes of a primitive's pieces: the segments of a polyline; the face and the three edges
/// of a triangle. Only points may have axes that are stretched.
pub fn compute_pieces(kind: Kind, points: &[DVec3], rotation: DMat3, out: &mut Vec<Piece>) {
    out.clear();
    let none = Piece { axes: rotation, length: 0.0, area: 0.0 };
    match kind {
        Kind::Point => out.push(none),
        Kind::Polyline => out.extend(points.windows(2).map(|w| Piece {
            axes: axes_along(w[1] - w[0], rotation),
            length: w[0].distance(w[1]),
            area: 0.0,
        })),
        Kind::Triangle => {
            let [a, b, c] = [points[0], points[1], points[2]];
            let cross = (b - a).cross(c - a);
            let normal = cross.normalize_or(rotation * DVec3::Y);
            let along = |u: DVec3, v: DVec3| {
                let x = (v - u).normalize_or(normal.any_orthonormal_vector());
                DMat3::from_cols(x, normal.cross(x), normal)
            };
            out.push(Piece { axes: along(a, b), length: 0.0, area: 0.5 * cross.length() });
            for (u, v) in [(a, b), (b, c), (c, a)] {
                out.push(Piece { axes: along(u, v), length: u.distance(v), area: 0.0 });
            }
        }
    }
}

/// Evenly spread directions (a spiral of equal steps in height and golden angles).
pub fn directions(count: usize) -> impl Iterator<Item = DVec3> {
    let golden = std::f64::consts::PI * (3.0 - 5.0f64.sqrt());
    (0..count).map(move |i| {
        let y = 1.0 - 2.0 * (i as f64 + 0.5) / count as f64;
        let (sin, cos) = (golden * i as f64).sin_cos();
        let r = (1.0 - y * y).max(0.0).sqrt();
        DVec3::new(r * cos, y, r * sin)
    })
}

/// The seeds of a primitive: about `count`, spread over its surface at the given thickness.
#[must_use]
pub fn build_seeds(kind: Kind, points: &[DVec3], thickness: f64, count: usize) -> Vec<Seed> {
    // As many per unit area as `count` on the whole surface give.
    let mut pieces = Vec::new();
    compute_pieces(kind, points, DMat3::IDENTITY, &mut pieces);
    let length: f64 = pieces.iter().map(|p| p.length).sum();
    let area: f64 = pieces.iter().map(|p| p.area).sum();
    let e = thickness;
    let lines = if kind == Kind::Triangle { 0.5 } else { 1.0 };
    let whole = 4.0 * std::f64::consts::PI * e * e
        + lines * std::f64::consts::TAU * e * length
        + 2.0 * area;
    let count = count.max(8) as f64;
    // A thread of no thickness would get as many rings as its length has thicknesses.
    let spacing = (whole / count).sqrt().max(length / count);
    let mut sower = Sower { seeds: Vec::new(), thickness, spacing };
    match kind {
        // All around: a point has no neighbours to leave directions to.
        Kind::Point => sower.add_corner(0, (0, DMat3::IDENTITY), &[]),
        Kind::Polyline => {
            for (i, piece) in pieces.iter().enumerate() {
                sower.add_line([i, i + 1], (i, piece), std::f64::consts::TAU);
            }
            for i in 0..points.len() {
                let around = [i.checked_sub(1), (i + 1 < points.len()).then_some(i + 1)];
                let away: Vec<DVec3> =
                    around.iter().flatten().map(|&j| points[j] - points[i]).collect();
                // The last point has no segment of its own and takes the one that ends in it.
                let piece = i.min(pieces.len() - 1);
                sower.add_corner(i, (piece, pieces[piece].axes), &away);
            }
        }
        Kind::Triangle => {
            sower.add_face(pieces[0].area);
            for i in 0..3 {
                let edge = (i + 1, &pieces[i + 1]);
                sower.add_line([i, (i + 1) % 3], edge, std::f64::consts::PI);
                let away = [points[(i + 1) % 3] - points[i], points[(i + 2) % 3] - points[i]];
                sower.add_corner(i, (0, pieces[0].axes), &away);
            }
        }
    }
    sower.seeds
}

/// Finer seeds of a primitive, sorted by the seed whose place each takes.
#[derive(Clone, Debug, Default)]
pub struct ContactSeeds {
    seeds: Vec<Seed>,
    /// First of each seed's finer ones; empty when there are none.
    starts: Vec<u32>,
}

impl ContactSeeds {
    /// [`tolerances::CONTACT_SEEDS`] times as many; each belongs to the nearest seed.
    #[must_use]
    pub fn build(
        kind: Kind,
        points: &[DVec3],
        thickness: f64,
        count: usize,
        coarse: &[Seed],
    ) -> Self {
        let mut pieces = Vec::new();
        compute_pieces(kind, points, DMat3::IDENTITY, &mut pieces);
        let tip = |s: &Seed| {
            let ray = s.ray(points, &pieces);
            ray.origin + thickness * ray.direction
        };
        let tips: Vec<DVec3> = coarse.iter().map(tip).collect();
        let nearest = |s: &Seed| {
            let at = tip(s);
            let distance = |i: &usize| tips[*i].distance_squared(at);
            (0..tips.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
        };
        let fine = build_seeds(kind, points, thickness, tolerances::CONTACT_SEEDS * count);
        let mut owned: Vec<(usize, Seed)> = fine.iter().map(|s| (nearest(s), *s)).collect();
        // Stable: among those of one seed the order of the layout stays, and so do the bits.
        owned.sort_by_key(|o| o.0);
        let starts =
            (0..=coarse.len()).map(|i| owned.partition_point(|o| o.0 < i) as u32).collect();
        Self { seeds: owned.into_iter().map(|o| o.1).collect(), starts }
    }

    /// Those that take the place of a seed; none if it stands for itself.
    #[must_use]
    pub fn of(&self, seed: usize) -> Option<&[Seed]> {
        let end = *self.starts.get(seed + 1)?;
        Some(&self.seeds[self.starts[seed] as usize..end as usize])
    }
}

fn weights_of(entries: &[(usize, f64)]) -> ([f64; 3], u8) {
    let first = entries.iter().map(|e| e.0).min().unwrap_or(0);
    let mut weights = [0.0; 3];
    for &(i, w) in entries {
        weights[i - first] += w;
    }
    (weights, first as u8)
}

/// Seeds of a primitive while they are laid out.
struct Sower {
    seeds: Vec<Seed>,
    /// Thickness of the coat [m].
    thickness: f64,
    /// Distance between neighbouring seeds on its surface [m].
    spacing: f64,
}

impl Sower {
    /// Cones out of a corner, in the directions that no neighbouring piece is closer to.
    fn add_corner(&mut self, point: usize, (piece, axes): (usize, DMat3), away: &[DVec3]) {
        let Self { thickness, spacing, .. } = *self;
        let sphere = 4.0 * std::f64::consts::PI;
        // A piece without length leaves the directions to the others.
        let away: Vec<DVec3> = away.iter().copied().filter(|a| a.length_squared() > 0.0).collect();
        let solid = match &away[..] {
            [] => sphere,
            [_] => 0.5 * sphere,
            [a, b, ..] => 2.0 * (std::f64::consts::PI - a.angle_between(*b)),
        };
        // Lunes are thin: more directions, so that enough fall into them.
        let finer = if away.len() > 1 { 4.0 } else { 1.0 };
        let count = (finer * sphere * thickness * thickness / (spacing * spacing)).ceil().max(6.0);
        let chosen: Vec<DVec3> = directions(count as usize)
            .filter(|d| away.iter().all(|a| (axes * *d).dot(*a) <= 0.0))
            .collect();
        // By the solid angle that is left and not by the share of directions that fell into it: the sum is exact.
        let weight = solid / chosen.len().max(1) as f64;
        let (weights, first) = weights_of(&[(point, 1.0)]);
        self.seeds.extend(chosen.into_iter().map(|direction| Seed {
            weights,
            first,
            direction,
            piece: piece as u8,
            power: 3,
            weight,
        }));
    }

    /// Wedges out of a line: all around it, or on the outer side of a triangle's edge.
    fn add_line(&mut self, ends: [usize; 2], (index, piece): (usize, &Piece), angle: f64) {
        let Self { thickness, spacing, .. } = *self;
        let around = (angle * thickness / spacing).ceil().max(4.0) as usize;
        let along = (piece.length / spacing).ceil().max(1.0) as usize;
        // An edge's outside is -y: triangles run counter-clockwise about their normal.
        let start = if angle < 4.0 { std::f64::consts::FRAC_PI_2 } else { 0.0 };
        for s in 0..along {
            for a in 0..around {
                let t = (s as f64 + 0.5) / along as f64;
                // Turned from ring to ring, so that the rings' samples do not line up.
                let shift = if s % 2 == 0 || angle < 4.0 { 0.5 } else { 1.0 };
                let phi = start + angle * (a as f64 + shift) / around as f64;
                let (weights, first) = weights_of(&[(ends[0], 1.0 - t), (ends[1], t)]);
                self.seeds.push(Seed {
                    weights,
                    first,
                    direction: DVec3::new(0.0, phi.cos(), phi.sin()),
                    piece: index as u8,
                    power: 2,
                    weight: angle / around as f64 / along as f64,
                });
            }
        }
    }

    /// Prisms out of both sides of a face, on the centres of its sub-triangles.
    fn add_face(&mut self, area: f64) {
        let spacing = self.spacing;
        let n = (area / (spacing * spacing)).sqrt().ceil().max(1.0) as usize;
        let cell = 1.0 / n as f64;
        for i in 0..n {
            for j in 0..n - i {
                for upper in 0..2 {
                    if upper == 1 && i + j + 2 > n {
                        continue;
                    }
                    let shift = if upper == 1 { 2.0 / 3.0 } else { 1.0 / 3.0 };
                    let (u, v) = ((i as f64 + shift) * cell, (j as f64 + shift) * cell);
                    for side in [1.0, -1.0] {
                        self.seeds.push(Seed {
                            weights: [1.0 - u - v, u, v],
                            first: 0,
                            direction: DVec3::Z * side,
                            piece: 0,
                            power: 1,
                            weight: cell * cell,
                        });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::slide::medial;
    use super::*;

    #[test]
    fn a_thread_without_thickness_gets_no_more_seeds_than_were_asked_for_around_it() {
        for thickness in [1.0e-3, 1.0e-9, 1.0e-30] {
            let points = [DVec3::ZERO, DVec3::new(1.0e6, 0.0, 0.0)];
            let seeds = build_seeds(Kind::Polyline, &points, thickness, 64);
            assert!((64..2000).contains(&seeds.len()), "{thickness}: {}", seeds.len());
        }
    }

    /// Volume of the seeds when all are at the same distance.
    fn volume(kind: Kind, points: &[DVec3], e: f64, count: usize) -> f64 {
        let seeds = build_seeds(kind, points, e, count);
        assert!(seeds.len() >= count / 2 && seeds.len() < 3 * count, "{}", seeds.len());
        let mut pieces = Vec::new();
        compute_pieces(kind, points, DMat3::from_rotation_x(0.3), &mut pieces);
        let one = |s: &Seed| {
            let r = s.ray(points, &pieces);
            assert!((r.direction.length() - 1.0).abs() < 1e-9);
            let at = r.origin + e * r.direction;
            assert!(medial(kind, points, at, e) > -1e-9, "{kind:?} {at}");
            r.weight * e.powi(r.power) / f64::from(r.power)
        };
        seeds.iter().map(one).sum()
    }

    #[test]
    fn seeds_fill_the_coat_of_a_lone_primitive() {
        let pi = std::f64::consts::PI;
        let e = 0.3;
        let ball = 4.0 / 3.0 * pi * e * e * e;
        let (a, b, c) = (DVec3::ZERO, DVec3::new(1.0, 0.2, 0.0), DVec3::new(0.1, 0.9, 0.4));
        assert!((volume(Kind::Point, &[a], e, 200) / ball - 1.0).abs() < 1e-9);
        let stick = ball + pi * e * e * a.distance(b);
        assert!((volume(Kind::Polyline, &[a, b], e, 300) / stick - 1.0).abs() < 1e-9);
        let area = 0.5 * (b - a).cross(c - a).length();
        let rim = a.distance(b) + b.distance(c) + c.distance(a);
        let plate = ball + 0.5 * pi * e * e * rim + 2.0 * e * area;
        assert!((volume(Kind::Triangle, &[a, b, c], e, 400) / plate - 1.0).abs() < 1e-9);
    }
}
