//! Asking the skin: where it is, seen from a place, and what it looks like there.

use glam::Vec3;

use super::skin_field::SkinSurface;
use crate::geometry::{BandPoint, Bounds, NONE, closest_on_triangle};

/// Difference between the distance to the nearest triangle and what the lattice says, in cells, from which on the
/// lattice is right [-]: near the crease where a limb goes into another the nearest triangle may lie within.
const HIDDEN: f32 = 0.2;

/// Where the skin is, seen from a place.
#[derive(Clone, Copy, Debug)]
pub struct SkinPlace {
    /// Distance to the surface that is shown: below zero inside [m].
    pub signed: f32,
    /// Outward normal.
    pub normal: Vec3,
}

/// How a place is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A point of the extraction's lattice: the same answer whoever asks, so that its blocks agree.
    OnLattice,
    /// Anywhere, as a vertex is on its way to the surface.
    Anywhere,
}

/// The nearest place of the skin.
#[derive(Clone, Copy, Debug)]
struct Nearest {
    distance: f32,
    triangle: u32,
    weights: [f32; 3],
    point: Vec3,
}

impl SkinSurface {
    /// Velocity of the skin next to a place [m/s].
    #[must_use]
    pub fn velocity(&self, at: Vec3) -> Vec3 {
        let Some(found) = self.near(at, &self.band.around(at).0) else { return Vec3::ZERO };
        let corners = self.surface.bvh().triangle(found.triangle).into_iter().zip(found.weights);
        let of =
            |(v, w): (u32, f32)| w * self.velocities.get(v as usize).copied().unwrap_or_default();
        corners.map(of).sum()
    }

    /// Colour of the skin next to a place, linear RGB; nothing where the coat has its own.
    #[must_use]
    pub fn color(&self, at: Vec3) -> Option<Vec3> {
        if !self.is_seen {
            return None;
        }
        let found = self.near(at, &self.band.around(at).0)?;
        let corners = self.surface.bvh().triangle(found.triangle);
        let (mut triangle, mut first) = (found.triangle as usize, 0);
        for source in &self.solid.sources {
            if let Some(given) = source.triangles.get(triangle) {
                if source.materials.is_empty() && source.colors.is_empty() {
                    return None;
                }
                // Parts that were inside out have been turned.
                let weight = |v: u32| corners.iter().position(|c| *c == v + first);
                let weights = given.map(|v| weight(v).map_or(0.0, |k| found.weights[k]));
                return Some(source.color_at(triangle as u32, weights));
            }
            triangle -= source.triangles.len();
            first += source.vertex_count as u32;
        }
        None
    }

    /// Box around the surface that is shown.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.surface.bvh().bounds().grown(self.most_lacking.max(self.shift.abs()))
    }

    /// Signed distance at a point of the lattice, as far as the band goes; infinite beyond.
    #[must_use]
    #[inline]
    pub fn on_lattice(&self, at: Vec3) -> f32 {
        let point = self.band.nearest(at);
        point.signed - point.kept.max(self.shift)
    }

    /// Where the skin is; nothing where it is further outside than `within`.
    #[must_use]
    pub fn find(&self, at: Vec3, within: f32, asked: Asked) -> Option<SkinPlace> {
        if asked == Asked::OnLattice {
            let signed = self.on_lattice(at);
            if signed.is_finite() {
                return Some(SkinPlace { signed, normal: Vec3::ZERO });
            }
        } else {
            let (points, within_cell) = self.band.around(at);
            if let Some(near) = self.near(at, &points) {
                let place = self.place(at, near, &points);
                let between = self.between(&points, within_cell);
                let known = points.iter().all(|p| p.triangle != NONE);
                let hidden = (place.signed - between.signed).abs() > HIDDEN * self.cell && known;
                return Some(if hidden { between } else { place });
            }
        }
        self.find_far(at, within)
    }

    /// What the points around say, weighted by where in their cell a place is.
    fn between(&self, points: &[BandPoint; 8], at: Vec3) -> SkinPlace {
        let width = self.band.width();
        let values = points.map(|p| p.signed.clamp(-width, width) - p.kept.max(self.shift));
        let weight = |c: usize, axis: usize| match c >> axis & 1 {
            1 => at[axis],
            _ => 1.0 - at[axis],
        };
        let (mut signed, mut gradient) = (0.0, Vec3::ZERO);
        for (c, value) in values.iter().enumerate() {
            let w = [weight(c, 0), weight(c, 1), weight(c, 2)];
            signed += w[0] * w[1] * w[2] * value;
            let way = |axis: usize| if c >> axis & 1 == 1 { *value } else { -*value };
            gradient += Vec3::new(way(0) * w[1] * w[2], way(1) * w[0] * w[2], way(2) * w[0] * w[1]);
        }
        SkinPlace { signed, normal: gradient.normalize_or_zero() }
    }

    /// Where the skin is, seen from beyond the band.
    fn find_far(&self, at: Vec3, within: f32) -> Option<SkinPlace> {
        let inside = self.band.nearest(at).signed < 0.0;
        // Beyond the band the skin is further than anybody asks for.
        if !inside && within < self.band.width() - self.shift.abs().max(self.most_lacking) {
            return None;
        }
        let Some(hit) = self.surface.bvh().closest_point(at, within + self.most_lacking) else {
            // Deep inside it matters that it is, not how far.
            return inside.then_some(SkinPlace { signed: -within, normal: Vec3::ZERO });
        };
        let normal = self.surface.normal(hit.triangle, hit.barycentric);
        let signed = if inside { -hit.distance } else { hit.distance };
        Some(SkinPlace { signed: signed - self.swelling(hit.triangle, hit.barycentric), normal })
    }

    /// The nearest place of the triangles that the points of the lattice around know.
    #[inline]
    fn near(&self, at: Vec3, points: &[BandPoint; 8]) -> Option<Nearest> {
        let mut seen = [NONE; 8];
        let mut best: Option<Nearest> = None;
        for (i, point) in points.iter().enumerate() {
            if point.triangle == NONE || seen.contains(&point.triangle) {
                continue;
            }
            // Neighbours mostly know the same triangle: each is asked once.
            seen[i] = point.triangle;
            let corners = self.surface.bvh().corners(point.triangle);
            let (place, weights) = closest_on_triangle(at, corners);
            let distance = place.distance(at);
            // At an edge two triangles are as near: the lower number, or blocks would disagree.
            let tie = |b: &Nearest| distance == b.distance && point.triangle < b.triangle;
            if best.as_ref().is_none_or(|b| distance < b.distance || tie(b)) {
                best = Some(Nearest { distance, triangle: point.triangle, weights, point: place });
            }
        }
        best
    }

    /// The place as it is shown.
    fn place(&self, at: Vec3, near: Nearest, points: &[BandPoint; 8]) -> SkinPlace {
        let normal = self.surface.normal(near.triangle, near.weights);
        // By the smooth normal: near an edge the flat ones of its triangles contradict each other.
        let behind = (at - near.point).dot(normal) < 0.0;
        // A sheet has no inside.
        let inside = behind
            && (!self.solid.solid.sheet[near.triangle as usize]
                || points.iter().any(|p| p.signed < 0.0));
        let swelling = self.swelling(near.triangle, near.weights);
        let signed = if inside { -near.distance } else { near.distance } - swelling;
        SkinPlace { signed, normal: if behind && !inside { -normal } else { normal } }
    }

    /// How far what is shown is from the skin, outwards [m].
    fn swelling(&self, triangle: u32, weights: [f32; 3]) -> f32 {
        let corners = self.surface.bvh().triangle(triangle).into_iter().zip(weights);
        corners.map(|(v, w)| w * self.lacking[v as usize]).sum::<f32>().max(self.shift)
    }

    /// Least and greatest signed distance within a box, as far as `within` reaches.
    #[must_use]
    pub fn range(&self, bounds: &Bounds, within: f32) -> (f32, f32) {
        let (near, far) = self.band.range(bounds);
        let swelling = self.most_lacking.max(self.shift.abs());
        // Beyond the band others may still feel the skin.
        let known = self.band.width() - swelling;
        let near = if near == f32::INFINITY && within > known { known } else { near - swelling };
        (near, far + swelling)
    }
}
