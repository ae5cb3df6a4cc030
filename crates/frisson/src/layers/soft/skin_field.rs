//! The skin itself as a field: a coat that is fitted to a character shows the character, and not the
//! balls that carry it.
//!
//! ```text
//!      skin ----.____.----     value = that of a coat at (thickness + distance to the skin)
//!        ( o )( o )( o )       balls (o) have seeds, feel contacts and carry colours; the surface that
//!      ---------.____.----     is shown is the skin's, as others, tools and muscles leave it
//! ```
//!
//! Distances are found once a frame at the points of the extraction's own lattice, in a narrow band around
//! the skin ([`DistanceBand`]); places between them ask only the triangles that the points around know.
//!
//! Shells that are open get lids ([`Solid`]). What is thinner than the cells of the extraction is thickened to
//! them, so that no part falls off; and the whole is moved along its normals until it has the volume that it has at
//! rest: what skinning squeezes away or buries in a crouch is still there.

use std::ops::Range;
use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;

use super::rest::SkinRest;
use super::state::BodyState;
use crate::geometry::{
    BandPoint, BandSettings, Bounds, DistanceBand, Mesh, MeshTopology, NONE, Solid, Soup,
    TriangleBvh, closest_on_triangle,
};
use crate::stage::{Frame, LayerError, SurfaceMotion};

/// Least half-width of anything that is shown, in cells of the extraction [-]: half the diagonal of a cell and a
/// little. Then the points within a thin limb, however it lies, follow each other along edges of the lattice; what is
/// thinner comes in pieces.
const LEAST_HALF_WIDTH: f32 = 0.9;
/// How much less than at a vertex its neighbours may be thickened, per metre between them [-]: where a limb is bent
/// flat, rays across it from some vertices are too long.
const THICKENING_SLOPE: f32 = 0.35;
/// Width of the band around what is shown, in cells [-]: both ends of every edge that the surface crosses must
/// know it.
const BAND: f32 = 1.3;
/// Difference between the distance to the nearest triangle and what the lattice says, in cells, from which on the
/// lattice is right [-]: near the crease where a limb goes into another the nearest triangle may lie within.
const HIDDEN: f32 = 0.2;
/// Furthest that the keeping of the volume may move the surface, in thicknesses [-].
const MOST_SHIFT: f64 = 0.25;
/// Rounds in which the shift is found that keeps the volume: each leaves a tenth of the error or less.
const SHIFT_ROUNDS: usize = 3;
/// Shift that a band is measured for at first, in cells [-].
const NARROW: f64 = 0.5;

/// Meshes of a skin as one surface.
#[derive(Clone, Debug, Default)]
pub struct SkinSolid {
    /// Topologies of the meshes that it was joined from.
    sources: Vec<Arc<MeshTopology>>,
    /// Their triangles, over the vertices of all of them, and lids.
    solid: Solid,
}

impl SkinSolid {
    /// Joins meshes, at these places.
    fn join<'a>(meshes: impl Iterator<Item = &'a Mesh> + Clone, positions: &[Vec3]) -> Self {
        let sources = meshes.clone().map(|m| Arc::clone(&m.topology)).collect();
        let (mut first, mut triangles) = (0, Vec::new());
        for mesh in meshes {
            triangles.extend(mesh.topology.triangles.iter().map(|t| t.map(|v| v + first)));
            first += mesh.positions.len() as u32;
        }
        Self { sources, solid: Solid::build(positions, &triangles) }
    }

    /// Whether it was joined from these meshes.
    fn is_of<'a>(&self, meshes: impl Iterator<Item = &'a Mesh> + Clone) -> bool {
        meshes.clone().count() == self.sources.len()
            && meshes.zip(&self.sources).all(|(m, known)| Arc::ptr_eq(&m.topology, known))
    }
}

/// The skin of one coat at an instant.
#[derive(Clone, Debug, Default)]
pub struct SkinSurface {
    surface: SurfaceMotion,
    mesh: Mesh,
    /// What its triangles enclose.
    solid: Arc<SkinSolid>,
    band: DistanceBand,
    /// Per vertex: how much half the width there is less than it must be [m].
    lacking: Vec<f32>,
    most_lacking: f32,
    /// How far the surface is moved outwards to keep the volume [m].
    shift: f32,
    /// Per vertex: velocity [m/s].
    velocities: Vec<Vec3>,
    /// Size of the extraction's cells [m].
    cell: f32,
    /// Whether its colours are the coat's.
    is_seen: bool,
}

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

/// The skin as the band asks it: what is thin is known from further.
struct Measured<'a> {
    surface: &'a SurfaceMotion,
    sheet: &'a [bool],
    lacking: &'a [f32],
}

impl Soup for Measured<'_> {
    fn count(&self) -> usize {
        self.surface.bvh().triangle_count()
    }
    fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.surface.bvh().corners(triangle)
    }
    fn encloses(&self, triangle: u32) -> bool {
        !self.sheet[triangle as usize]
    }
    fn further(&self, triangle: u32) -> f32 {
        let corners = self.surface.bvh().triangle(triangle);
        corners.iter().map(|v| self.lacking[*v as usize]).fold(0.0, f32::max)
    }
    fn keep(&self, triangle: u32, weights: [f32; 3]) -> f32 {
        let corners = self.surface.bvh().triangle(triangle).into_iter().zip(weights);
        corners.map(|(v, w)| w * self.lacking[v as usize]).sum()
    }
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
    /// Takes the skin as the frame has it; `factor` is that of its volume. The error: the cells are too small
    /// for its size.
    pub fn update(
        &mut self,
        skin: &SkinRest,
        frame: &Frame,
        cell: f32,
        factor: f64,
    ) -> Result<(), LayerError> {
        self.join(skin, skin.meshes.clone().filter_map(|m| frame.meshes.get(m)));
        self.cell = cell;
        self.is_seen = skin.is_seen;
        self.find_widths();
        self.measure_as_shown(skin, factor)
    }

    /// Finds the distances around and the shift that keeps the volume. Most shifts are small: only where one is not
    /// is a wider band measured.
    fn measure_as_shown(&mut self, skin: &SkinRest, factor: f64) -> Result<(), LayerError> {
        let most = MOST_SHIFT * skin.thickness;
        let slack = NARROW * f64::from(self.cell);
        let mut known = slack;
        loop {
            let least = known.min(most);
            self.measure(least as f32 + BAND * self.cell)?;
            let wanted = self.find_shift(skin.volume * factor, most, least);
            if wanted.abs() <= least || least >= most {
                return Ok(());
            }
            known = wanted.abs() + slack;
        }
    }

    /// The shift for a volume: at most `most`, found as far as the band knows.
    fn find_shift(&mut self, target: f64, most: f64, known: f64) -> f64 {
        let mut wanted = 0.0;
        self.shift = 0.0;
        for _ in 0..SHIFT_ROUNDS {
            let (volume, area) = self.volume();
            let more = (target - volume) / area.max(f64::MIN_POSITIVE);
            wanted = (f64::from(self.shift) + more).clamp(-most, most);
            self.shift = wanted.clamp(-known, known) as f32;
        }
        wanted
    }

    /// Volume [m³] and area [m²] of what is shown.
    fn volume(&self) -> (f64, f64) {
        let shift = self.shift;
        self.band.volume_and_area(|p| p.signed - p.kept.max(shift))
    }

    /// Makes one surface of the meshes. How they are connected is known from the start, whatever frame is the first
    /// to be shown; meshes whose triangles change are looked at again.
    fn join<'a>(&mut self, skin: &SkinRest, meshes: impl Iterator<Item = &'a Mesh> + Clone) {
        self.mesh.positions.clear();
        meshes.clone().for_each(|m| self.mesh.positions.extend_from_slice(&m.positions));
        if !self.solid.is_of(meshes.clone()) || self.mesh.topology.triangles.is_empty() {
            self.solid = if skin.solid.is_of(meshes.clone()) {
                Arc::clone(&skin.solid)
            } else {
                Arc::new(SkinSolid::join(meshes, &self.mesh.positions))
            };
            let positions = std::mem::take(&mut self.mesh.positions);
            self.mesh = Mesh::new("skin", positions, self.solid.solid.triangles.clone());
        }
        self.surface.update(&self.mesh, 0.0);
    }

    /// Finds the distances around.
    fn measure(&mut self, width: f32) -> Result<(), LayerError> {
        let Self { band, surface, lacking, solid, cell, .. } = self;
        let settings = BandSettings { cell: *cell, width };
        if band.build(&Measured { surface, sheet: &solid.solid.sheet, lacking }, settings) {
            return Ok(());
        }
        let problem = format!("cells of {cell} m are too small for a skin of this size");
        Err(LayerError::parameter("cell", problem))
    }

    /// Finds how thick the skin is at every vertex: straight in to where it is left again. Another limb that
    /// begins within does not count.
    fn find_widths(&mut self) {
        let least = LEAST_HALF_WIDTH * self.cell;
        let (surface, cell) = (&self.surface, self.cell);
        let lack = |(p, n): (&Vec3, &Vec3)| {
            let (start, way) = (*p - 1e-3 * cell * *n, -4.0 * least * *n);
            let mut across = 1.0f32;
            surface.bvh().raycast_all(start, way, |triangle, t| {
                if outward(surface.bvh(), triangle, way) {
                    across = across.min(t);
                }
            });
            least - 0.5 * across * way.length()
        };
        let places = surface.positions().par_iter().zip(surface.normals());
        self.lacking.clear();
        self.lacking.par_extend(places.map(lack));
        // Nothing is behind a sheet.
        let Solid { triangles, sheet, .. } = &self.solid.solid;
        for (corners, _) in triangles.iter().zip(sheet).filter(|(_, sheet)| **sheet) {
            corners.iter().for_each(|v| self.lacking[*v as usize] = least);
        }
        self.even_out();
        self.most_lacking = self.lacking.iter().copied().fold(0.0, f32::max);
    }

    /// Thickens what is beside something that must be thickened.
    fn even_out(&mut self) {
        let found = self.lacking.clone();
        for t in self.surface.triangles() {
            for (a, b) in [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)] {
                let (a, b) = (t[a] as usize, t[b] as usize);
                let apart = self.surface.positions()[a].distance(self.surface.positions()[b]);
                self.lacking[a] = self.lacking[a].max(found[b] - THICKENING_SLOPE * apart);
            }
        }
    }

    /// Takes the velocities of the balls that carry the skin.
    pub fn carry(&mut self, skin: &SkinRest, bodies: &[BodyState]) {
        let velocity = |(p, carriers): (&Vec3, &[(u32, f32); 3])| {
            let of = |(body, weight): &(u32, f32)| match bodies.get(*body as usize) {
                Some(body) => *weight * body.velocity_at(p.as_dvec3()).as_vec3(),
                None => Vec3::ZERO,
            };
            carriers.iter().map(of).sum::<Vec3>()
        };
        self.velocities.clear();
        let places = self.surface.positions().par_iter().zip(&skin.carriers);
        self.velocities.par_extend(places.map(velocity));
    }

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
            seen[i] = point.triangle;
            let corners = self.surface.bvh().corners(point.triangle);
            let (place, weights) = closest_on_triangle(at, corners);
            let distance = place.distance(at);
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

/// Whether a way through a triangle goes out of the skin.
fn outward(bvh: &TriangleBvh, triangle: u32, way: Vec3) -> bool {
    let [a, b, c] = bvh.corners(triangle);
    (b - a).cross(c - a).dot(way) > 0.0
}

impl SkinRest {
    /// A skin at the start: what its meshes enclose in `resting`, the frame with limbs apart, and which balls, given
    /// as (body, centre, radius), carry each vertex.
    pub fn build(
        (object, thickness): (usize, f64),
        meshes: Range<usize>,
        (frame, resting, cell): (&Frame, &Frame, f32),
        balls: &[(u32, Vec3, f32)],
    ) -> Result<Self, LayerError> {
        let places = |frame: &Frame| -> Vec<Vec3> {
            let own = meshes.clone().filter_map(|m| frame.meshes.get(m));
            own.flat_map(|m| m.positions.iter().copied()).collect()
        };
        let carried = |p: &Vec3| carriers_of(*p, balls);
        let carriers = places(frame).par_iter().map(carried).collect();
        let own = || meshes.clone().filter_map(|m| resting.meshes.get(m));
        let solid = Arc::new(SkinSolid::join(own(), &places(resting)));
        let mut rest =
            Self { object, meshes: meshes.clone(), thickness, carriers, solid, ..Self::default() };
        let mut surface = SkinSurface { cell, ..SkinSurface::default() };
        surface.join(&rest, own());
        surface.find_widths();
        surface.measure(BAND * cell)?;
        rest.volume = surface.volume().0;
        Ok(rest)
    }
}

/// The three balls that carry a place most, with weights that sum to 1.
fn carriers_of(at: Vec3, balls: &[(u32, Vec3, f32)]) -> [(u32, f32); 3] {
    let mut best = [(u32::MAX, 0.0f32); 3];
    for (body, center, radius) in balls {
        // A power that leaves little to any ball but the nearest.
        let share = (radius / center.distance(at).max(1e-6 * radius)).powi(6);
        if let Some(rank) = best.iter().position(|b| share > b.1) {
            best[rank..].rotate_right(1);
            best[rank] = (*body, share);
        }
    }
    let sum: f32 = best.iter().map(|b| b.1).sum();
    best.map(|(body, share)| (body, share / sum.max(f32::MIN_POSITIVE)))
}

#[cfg(test)]
mod tests {
    use super::super::fit::tests::limb;
    use super::*;
    use crate::math::random;

    fn skin_of(meshes: Vec<Mesh>, cell: f32) -> SkinSurface {
        let frame = Frame { meshes, ..Frame::default() };
        let meshes = 0..frame.meshes.len();
        let rest = SkinRest::build((0, 0.05), meshes, (&frame, &frame, cell), &[]).unwrap();
        let mut skin = SkinSurface::default();
        skin.update(&rest, &frame, cell, 1.0).unwrap();
        skin
    }

    #[test]
    fn the_distance_is_that_of_the_skin_with_its_sign() {
        let skin = skin_of(vec![limb()], 0.004);
        for i in 0..200u64 {
            let c = |k| random::signed(3, i, k) as f32;
            let at = Vec3::new(0.3 + 0.15 * c(0), 0.12 * c(1), 0.12 * c(2));
            // The limb's radius where it is a cone, whose sides lean by a twelfth.
            let expected = (at.y.hypot(at.z) - (0.1 - 0.05 * at.x / 0.6)) * 0.9965;
            let found = skin.find(at, 1.0, Asked::Anywhere).unwrap();
            assert!((found.signed - expected).abs() < 2e-3, "{at}: {} {expected}", found.signed);
        }
    }

    #[test]
    fn colours_are_those_of_the_skin_next_to_a_place_also_of_one_inside_out() {
        for turned in [false, true] {
            let mut mesh = limb();
            let topology = Arc::make_mut(&mut mesh.topology);
            // Red grows along the limb, blue shrinks.
            let color = |p: &Vec3| [p.x / 0.6, 0.0, 1.0 - p.x / 0.6, 1.0];
            topology.colors = mesh.positions.iter().map(color).collect();
            if turned {
                topology.triangles.iter_mut().for_each(|t| t.swap(0, 1));
            }
            let mut skin = skin_of(vec![mesh], 0.004);
            assert_eq!(skin.color(Vec3::new(0.3, 0.08, 0.0)), None, "the coat has its own");
            skin.is_seen = true;
            for x in [0.1f32, 0.3, 0.5] {
                let at = Vec3::new(x, 0.1 - 0.05 * x / 0.6, 0.0);
                let found = skin.color(at).unwrap();
                // The plain material of the mesh darkens all of it alike.
                let red = found.x / (found.x + found.z);
                assert!((red - x / 0.6).abs() < 0.02, "{turned} {x}: {found}");
            }
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
            let found = skin.find(at, 1.0, Asked::Anywhere).unwrap();
            assert!(found.signed < 0.0, "{y}: {}", found.signed);
        }
    }

    #[test]
    fn what_is_thinner_than_the_cells_is_thickened_to_them() {
        let mut sheet = limb();
        sheet.positions.iter_mut().for_each(|p| p.z *= 0.01);
        let skin = skin_of(vec![sheet], 0.01);
        // Half a millimetre thick; shown a cell and a half thick.
        let surface =
            |z: f32| skin.find(Vec3::new(0.3, 0.0, z), 1.0, Asked::Anywhere).unwrap().signed;
        assert!(
            surface(0.006) < 0.0 && surface(0.01) > 0.0,
            "{} {}",
            surface(0.006),
            surface(0.01)
        );
    }
}
