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
//! rest: what skinning squeezes away or buries in a crouch is still there. What the skin connects is shown in one
//! piece, without hollows ([`super::skin_whole`]).

use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;

use super::rest::SkinRest;
use super::state::BodyState;
use crate::geometry::{
    BandRegions, BandSettings, DistanceBand, Mesh, MeshTopology, Solid, Soup, Topology, TriangleBvh,
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
    pub(super) sources: Vec<Arc<MeshTopology>>,
    /// Their triangles, over the vertices of all of them, and lids.
    pub(super) solid: Solid,
    /// How those are connected.
    pub(super) topology: Topology,
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
        let solid = Solid::build(positions, &triangles);
        let topology = Topology::build(positions, &solid.triangles);
        Self { sources, solid, topology }
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
    pub(super) surface: SurfaceMotion,
    mesh: Mesh,
    /// What its triangles enclose.
    pub(super) solid: Arc<SkinSolid>,
    pub(super) band: DistanceBand,
    /// What hangs together in the band.
    pub(super) regions: BandRegions,
    /// Per vertex: how much half the width there is less than it must be [m].
    pub(super) lacking: Vec<f32>,
    pub(super) most_lacking: f32,
    /// How far the surface is moved outwards to keep the volume [m].
    pub(super) shift: f32,
    /// Per vertex: velocity [m/s].
    pub(super) velocities: Vec<Vec3>,
    /// Size of the extraction's cells [m].
    pub(super) cell: f32,
    /// Whether its colours are the coat's.
    pub(super) is_seen: bool,
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
        self.join(skin, skin.meshes.iter().filter_map(|m| frame.meshes.get(*m)));
        self.cell = cell;
        self.is_seen = skin.is_seen;
        self.find_widths(skin.thickness);
        self.measure_as_shown(skin, factor)
    }

    /// Finds the distances around and the shift that keeps the volume. Most shifts are small: only where one is not
    /// is a wider band measured.
    fn measure_as_shown(&mut self, skin: &SkinRest, factor: f64) -> Result<(), LayerError> {
        let most = MOST_SHIFT * skin.thickness;
        let (slack, target) = (NARROW * f64::from(self.cell), skin.volume * factor);
        let mut known = slack;
        loop {
            let least = known.min(most);
            self.measure(least as f32 + BAND * self.cell)?;
            let wanted = self.find_shift(target, most, least);
            // The band knew all that was asked of it; or it is as wide as it may get.
            if wanted.abs() <= least || least >= most {
                self.make_whole(|skin| {
                    skin.find_shift(target, most, least);
                });
                return Ok(());
            }
            known = wanted.abs() + slack;
        }
    }

    /// The shift for a volume: at most `most`, found as far as the band knows.
    fn find_shift(&mut self, target: f64, most: f64, known: f64) -> f64 {
        let mut wanted = 0.0;
        // From nothing in every frame: what is shown must not depend on the frame that was shown before.
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
        // Lids and connections are found once: searching for them takes longer than a frame.
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
    pub(super) fn measure(&mut self, width: f32) -> Result<(), LayerError> {
        let Self { band, surface, lacking, solid, cell, .. } = self;
        let settings = BandSettings { cell: *cell, width };
        if band.build(&Measured { surface, sheet: &solid.solid.sheet, lacking }, settings) {
            return Ok(());
        }
        let problem = format!("cells of {cell} m are too small for a skin of this size");
        Err(LayerError::parameter("cell", problem))
    }

    /// Finds how thick the skin is at every vertex: straight in to where it is left again. Another limb that
    /// begins within does not count. As far as the keeping of the volume may have to move the surface inwards.
    fn find_widths(&mut self, thickness: f64) {
        let least = LEAST_HALF_WIDTH * self.cell;
        let furthest = least + (MOST_SHIFT * thickness) as f32;
        let (surface, cell) = (&self.surface, self.cell);
        let lack = |(p, n): (&Vec3, &Vec3)| {
            // A hair inside: a ray that starts on its own triangle would meet it.
            let (start, way) = (*p - 1e-3 * cell * *n, -2.0 * furthest * *n);
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
        // From what was found and not from what was thickened beside it: otherwise it would creep over the whole limb.
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
        meshes: Vec<usize>,
        (frame, resting, cell): (&Frame, &Frame, f32),
        balls: &[(u32, Vec3, f32)],
    ) -> Result<Self, LayerError> {
        let places = |frame: &Frame| -> Vec<Vec3> {
            let own = meshes.iter().filter_map(|m| frame.meshes.get(*m));
            own.flat_map(|m| m.positions.iter().copied()).collect()
        };
        let carried = |p: &Vec3| carriers_of(*p, balls);
        let carriers = places(frame).par_iter().map(carried).collect();
        let own = || meshes.iter().filter_map(|m| resting.meshes.get(*m));
        let solid = Arc::new(SkinSolid::join(own(), &places(resting)));
        let mut rest =
            Self { object, meshes: meshes.clone(), thickness, carriers, solid, ..Self::default() };
        let mut surface = SkinSurface { cell, ..SkinSurface::default() };
        surface.join(&rest, own());
        surface.find_widths(thickness);
        surface.measure(BAND * cell)?;
        surface.make_whole(|_| {});
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
    // Weights of the three that are left, as if there were no others.
    let sum: f32 = best.iter().map(|b| b.1).sum();
    best.map(|(body, share)| (body, share / sum.max(f32::MIN_POSITIVE)))
}

#[cfg(test)]
mod tests {
    use super::super::fit::tests::limb;
    use super::super::skin_place::Asked;
    use super::*;
    use crate::math::random;

    fn skin_of(meshes: Vec<Mesh>, cell: f32) -> SkinSurface {
        let frame = Frame { meshes, ..Frame::default() };
        let meshes = (0..frame.meshes.len()).collect();
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
    fn a_swollen_skin_is_moved_inwards_until_it_has_its_volume() {
        let cell = 0.003;
        let frame = |mesh: Mesh| Frame { meshes: vec![mesh], ..Frame::default() };
        let mut swollen = limb();
        swollen.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x, 1.1 * p.y, 1.1 * p.z));
        let (resting, swollen) = (frame(limb()), frame(swollen));
        let rest = SkinRest::build((0, 0.05), vec![0], (&resting, &resting, cell), &[]).unwrap();
        let mut skin = SkinSurface::default();
        skin.update(&rest, &swollen, cell, 1.0).unwrap();
        let ratio = skin.volume().0 / rest.volume;
        assert!((ratio - 1.0).abs() < 5e-3, "{ratio} by {}", skin.shift / cell);
        assert!(skin.shift < -2.0 * cell);
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
