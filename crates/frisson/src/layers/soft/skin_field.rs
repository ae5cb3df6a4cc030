//! The skin itself as a field: a coat that is fitted to a character shows the character, and not the
//! balls that carry it.
//!
//! ```text
//!      skin ----.____.----     value = that of a coat at (thickness + distance to the skin)
//!        ( o )( o )( o )       balls (o) have seeds, feel contacts and carry colours; the surface that
//!      ---------.____.----     is shown is the skin's, as others, tools and muscles leave it
//! ```
//!
//! What is thinner than the cells of the extraction is thickened to them, so that no part falls off;
//! and the whole is moved along its normals by what skinning loses or gains in volume, divided by its
//! area: to first order it keeps the volume it had at the start.

use glam::Vec3;
use rayon::prelude::*;

use super::rest::SkinRest;
use crate::geometry::{Bounds, Mesh, TriangleBvh};
use crate::stage::{Frame, SurfaceMotion};

/// Least half-width of anything that is shown, in cells of the extraction [-]: what is thinner falls
/// through the lattice here and there, and would come in pieces.
const LEAST_HALF_WIDTH: f32 = 0.8;
/// Distance from the skin, in cells, within which its normals tell inside from outside [-]. Beyond,
/// rays do: a limb that lies in another has normals of its own.
const NEAR: f32 = 1.5;
/// Furthest that the keeping of the volume may move the surface, in thicknesses [-].
const MOST_SHIFT: f64 = 0.25;
/// Directions in which rays are sent to tell inside from outside: along no axis and no diagonal, where
/// models have their edges.
const RAYS: [Vec3; 3] = [
    Vec3::new(0.7236, 0.5477, 0.4199),
    Vec3::new(-0.6018, 0.7431, -0.2926),
    Vec3::new(0.1234, -0.4473, 0.8858),
];

/// The skin of one coat at an instant.
#[derive(Clone, Debug)]
pub struct SkinSurface {
    surface: SurfaceMotion,
    /// Per vertex: how far the surface is from the skin, outwards [m].
    swelling: Vec<f32>,
    most_swelling: f32,
    /// Size of the extraction's cells [m].
    cell: f32,
}

/// Where the skin is, seen from a place.
#[derive(Clone, Copy, Debug)]
pub struct SkinPlace {
    /// Distance to the surface that is shown: below zero inside [m].
    pub signed: f32,
    /// Outward normal.
    pub normal: Vec3,
}

/// How inside is told from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignBy {
    /// By rays: the same answer at a place whoever asks, so that neighbouring blocks of a lattice agree.
    Rays,
    /// By the skin's normals where it is near, as it is for a vertex on its way to the surface.
    Normals,
}

/// Volume [m³] and area [m²] of some meshes as one surface.
pub fn volume_and_area<'a>(meshes: impl Iterator<Item = &'a Mesh>) -> (f64, f64) {
    let (mut volume, mut area) = (0.0, 0.0);
    for mesh in meshes {
        // About its own middle: a surface with a hole has the same volume wherever it goes.
        let middle = mesh.bounds().center().as_dvec3();
        for t in &mesh.topology.triangles {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize].as_dvec3() - middle);
            volume += a.dot(b.cross(c)) / 6.0;
            area += 0.5 * (b - a).cross(c - a).length();
        }
    }
    (volume, area)
}

impl SkinSurface {
    /// The skin as the frame has it; `factor` is that of its volume.
    #[must_use]
    pub fn build(skin: &SkinRest, frame: &Frame, cell: f32, factor: f64) -> Self {
        let meshes = || skin.meshes.clone().filter_map(|m| frame.meshes.get(m));
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for mesh in meshes() {
            let first = positions.len() as u32;
            positions.extend_from_slice(&mesh.positions);
            triangles.extend(mesh.topology.triangles.iter().map(|t| t.map(|v| v + first)));
        }
        let mut surface = SurfaceMotion::default();
        surface.update(&Mesh::new("skin", positions, triangles), 0.0);
        let (volume, area) = volume_and_area(meshes());
        let most = MOST_SHIFT * skin.thickness;
        let shift = (skin.volume * factor - volume) / area.max(f64::MIN_POSITIVE);
        let shift = shift.clamp(-most, most) as f32;
        let least = LEAST_HALF_WIDTH * cell;
        let swell = |(p, n): (&Vec3, &Vec3)| {
            // To where the skin is left again; another limb that begins within does not count.
            let (start, way) = (*p - 1e-3 * cell * *n, -4.0 * least * *n);
            let mut across = 1.0f32;
            surface.bvh().raycast_all(start, way, |triangle, t| {
                if outward(surface.bvh(), triangle, way) {
                    across = across.min(t);
                }
            });
            shift.max(least - 0.5 * across * way.length())
        };
        let places = surface.positions().par_iter().zip(surface.normals());
        let swelling: Vec<f32> = places.map(swell).collect();
        let most_swelling = swelling.iter().copied().fold(shift.abs(), f32::max);
        Self { surface, swelling, most_swelling, cell }
    }

    /// Box around the surface that is shown.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.surface.bvh().bounds().grown(self.most_swelling)
    }

    /// Where the skin is; nothing where it is further outside than `within`.
    #[must_use]
    pub fn find(&self, at: Vec3, within: f32, sign: SignBy) -> Option<SkinPlace> {
        let bvh = self.surface.bvh();
        let Some(hit) = bvh.closest_point(at, within + self.most_swelling) else {
            // Deep inside it matters that it is, not how far.
            let deep = SkinPlace { signed: -within, normal: Vec3::ZERO };
            return self.contains(at, None).then_some(deep);
        };
        let corners = bvh.triangle(hit.triangle).into_iter().zip(hit.barycentric);
        let swelling = corners.map(|(v, w)| w * self.swelling[v as usize]).sum::<f32>();
        let normal = self.surface.normal(hit.triangle, hit.barycentric);
        let behind = (at - hit.point).dot(normal) < 0.0;
        let near = sign == SignBy::Normals && hit.distance < NEAR * self.cell;
        let inside = if near { behind } else { self.contains(at, Some(behind)) };
        let signed = if inside { -hit.distance } else { hit.distance } - swelling;
        Some(SkinPlace { signed, normal })
    }

    /// Least and greatest signed distance within a radius of a place, as far as `within` reaches.
    #[must_use]
    pub fn range(&self, at: Vec3, radius: f32, within: f32) -> (f32, f32) {
        let slack = radius + 2.0 * self.most_swelling;
        match self.surface.bvh().closest_point(at, within + slack) {
            Some(hit) if self.contains(at, None) => (-hit.distance - slack, slack - hit.distance),
            Some(hit) => (hit.distance - slack, hit.distance + slack),
            None if self.contains(at, None) => (f32::NEG_INFINITY, -within),
            None => (within, f32::INFINITY),
        }
    }

    /// Whether a place is inside: most rays leave the skin once more than they enter it. A guess that the
    /// first ray shares saves the others.
    fn contains(&self, at: Vec3, guess: Option<bool>) -> bool {
        let bounds = self.surface.bvh().bounds();
        if at.cmplt(bounds.min).any() || at.cmpgt(bounds.max).any() {
            return false;
        }
        let [first, second, third] = RAYS.map(|r| r * (2.0 * bounds.diagonal()));
        let one = self.leaves(at, first);
        if guess == Some(one) {
            return one;
        }
        let two = self.leaves(at, second);
        if one == two { one } else { self.leaves(at, third) }
    }

    /// Whether a way to the far outside leaves the skin once more than it enters it.
    fn leaves(&self, at: Vec3, way: Vec3) -> bool {
        let bvh = self.surface.bvh();
        let mut turns = 0;
        bvh.raycast_all(at, way, |triangle, _| {
            turns += if outward(bvh, triangle, way) { 1 } else { -1 }
        });
        turns > 0
    }
}

/// Whether a way through a triangle goes out of the skin.
fn outward(bvh: &TriangleBvh, triangle: u32, way: Vec3) -> bool {
    let [a, b, c] = bvh.corners(triangle);
    (b - a).cross(c - a).dot(way) > 0.0
}

/// Volume of an actor's meshes at the start [m³].
#[must_use]
pub fn start_volume(skin: &std::ops::Range<usize>, frame: &Frame) -> f64 {
    volume_and_area(skin.clone().filter_map(|m| frame.meshes.get(m))).0
}

#[cfg(test)]
mod tests {
    use super::super::fit::tests::limb;
    use super::*;
    use crate::math::random;

    fn skin_of(meshes: Vec<Mesh>, cell: f32) -> SkinSurface {
        let frame = Frame { meshes, ..Frame::default() };
        let meshes = 0..frame.meshes.len();
        let volume = start_volume(&meshes, &frame);
        let rest = SkinRest { object: 0, meshes, volume, thickness: 0.05 };
        SkinSurface::build(&rest, &frame, cell, 1.0)
    }

    #[test]
    fn the_distance_is_that_of_the_skin_with_its_sign() {
        let skin = skin_of(vec![limb()], 0.004);
        for i in 0..200u64 {
            let c = |k| random::signed(3, i, k) as f32;
            let at = Vec3::new(0.3 + 0.15 * c(0), 0.12 * c(1), 0.12 * c(2));
            // The limb's radius where it is a cone, whose sides lean by a twelfth.
            let expected = (at.y.hypot(at.z) - (0.1 - 0.05 * at.x / 0.6)) * 0.9965;
            let found = skin.find(at, 1.0, SignBy::Rays).unwrap();
            assert!((found.signed - expected).abs() < 2e-3, "{at}: {} {expected}", found.signed);
        }
    }

    #[test]
    fn a_limb_inside_another_leaves_no_hollow() {
        let thick = limb();
        let mut thin = thick.clone();
        thin.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x, 0.5 * p.y, 0.5 * p.z));
        let skin = skin_of(vec![thick, thin], 0.004);
        for y in [0.0, 0.02, 0.03, 0.05, 0.06] {
            let at = Vec3::new(0.3, y, 0.0);
            let found = skin.find(at, 1.0, SignBy::Rays).unwrap();
            assert!(found.signed < 0.0, "{y}: {}", found.signed);
        }
    }

    #[test]
    fn what_is_thinner_than_the_cells_is_thickened_to_them() {
        let mut sheet = limb();
        sheet.positions.iter_mut().for_each(|p| p.z *= 0.01);
        let skin = skin_of(vec![sheet], 0.01);
        // Half a millimetre thick; shown a cell and a half thick.
        let surface = |z: f32| skin.find(Vec3::new(0.3, 0.0, z), 1.0, SignBy::Rays).unwrap().signed;
        assert!(
            surface(0.006) < 0.0 && surface(0.01) > 0.0,
            "{} {}",
            surface(0.006),
            surface(0.01)
        );
    }
}
