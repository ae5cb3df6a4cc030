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
use crate::geometry::{Bounds, Mesh};
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

/// Whether the last place that was asked for is inside, and how far the skin is from there.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignHint {
    known: Option<(u32, Vec3, f32, bool)>,
}

impl SignHint {
    /// Whether a place is on the same side: no skin can be between the two.
    fn of(&self, part: u32, at: Vec3, away: f32) -> Option<bool> {
        let (known, place, distance, inside) = self.known?;
        (known == part && place.distance(at) < distance + away).then_some(inside)
    }
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
            let start = *p - 1e-3 * cell * *n;
            let across =
                surface.bvh().raycast(start, -*n, 4.0 * least).map(|hit| 0.5 * hit.distance);
            shift.max(across.map_or(shift, |half| least - half))
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

    /// Where the skin is, if within a distance.
    #[must_use]
    pub fn find(
        &self,
        part: u32,
        at: Vec3,
        within: f32,
        hint: Option<&mut SignHint>,
    ) -> Option<SkinPlace> {
        let hit = self.surface.bvh().closest_point(at, within + self.most_swelling)?;
        let corners = self.surface.bvh().triangle(hit.triangle).into_iter().zip(hit.barycentric);
        let swelling = corners.map(|(v, w)| w * self.swelling[v as usize]).sum::<f32>();
        let smooth = self.surface.normal(hit.triangle, hit.barycentric);
        let near = hint.is_none() && hit.distance < NEAR * self.cell;
        let known = hint.as_ref().and_then(|h| h.of(part, at, hit.distance));
        let inside = match known {
            Some(inside) => inside,
            None if near => (at - hit.point).dot(smooth) < 0.0,
            None => self.contains(at),
        };
        if let Some(hint) = hint {
            hint.known = Some((part, at, hit.distance, inside));
        }
        let signed = if inside { -hit.distance } else { hit.distance } - swelling;
        Some(SkinPlace { signed, normal: smooth })
    }

    /// Least and greatest signed distance within a radius of a place, as far as `within` reaches.
    #[must_use]
    pub fn range(&self, at: Vec3, radius: f32, within: f32) -> (f32, f32) {
        let mut hint = SignHint::default();
        let reach = within + radius;
        match self.find(0, at, reach, Some(&mut hint)) {
            Some(place) => {
                let slack = radius + 2.0 * self.most_swelling;
                (place.signed - slack, place.signed + slack)
            }
            None if self.contains(at) => (f32::NEG_INFINITY, -within),
            None => (within, f32::INFINITY),
        }
    }

    /// Whether a place is inside: most rays leave the skin once more than they enter it.
    fn contains(&self, at: Vec3) -> bool {
        let bounds = self.surface.bvh().bounds();
        if at.cmplt(bounds.min).any() || at.cmpgt(bounds.max).any() {
            return false;
        }
        let length = 2.0 * bounds.diagonal();
        let leaves = |direction: &Vec3| {
            let mut turns = 0;
            self.surface.bvh().raycast_all(at, *direction * length, |triangle, _| {
                let [a, b, c] = self.surface.bvh().corners(triangle);
                turns += if (b - a).cross(c - a).dot(*direction) > 0.0 { 1 } else { -1 };
            });
            turns > 0
        };
        RAYS.iter().filter(|r| leaves(r)).count() * 2 > RAYS.len()
    }
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
            let found = skin.find(0, at, 1.0, Some(&mut SignHint::default())).unwrap();
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
            let found = skin.find(0, at, 1.0, Some(&mut SignHint::default())).unwrap();
            assert!(found.signed < 0.0, "{y}: {}", found.signed);
        }
    }

    #[test]
    fn what_is_thinner_than_the_cells_is_thickened_to_them() {
        let mut sheet = limb();
        sheet.positions.iter_mut().for_each(|p| p.z *= 0.01);
        let skin = skin_of(vec![sheet], 0.01);
        // Half a millimetre thick; shown a cell and a half thick.
        let surface = |z: f32| {
            let place = skin.find(0, Vec3::new(0.3, 0.0, z), 1.0, Some(&mut SignHint::default()));
            place.unwrap().signed
        };
        assert!(
            surface(0.006) < 0.0 && surface(0.01) > 0.0,
            "{} {}",
            surface(0.006),
            surface(0.01)
        );
    }
}
