//! What is computed once: the curves on the surface, the refined mesh, the drawn displacements.

use std::sync::Arc;

use glam::Vec3;

use super::buckling::build_ridges;
use super::fine_mesh::FineMesh;
use super::fold_tables::{Faces, FoldTables};
use super::params::{Fold, FoldsParams};
use super::section::Sections;
use crate::geometry::butterfly::{Emission, PatchSurface, Refined, RefinedMesh};
use crate::geometry::{
    GeodesicStart, MeshTopology, Topology, TriangleBvh, closest_on_triangle, march_geodesic,
};
use crate::math::spline::Nurbs;
use crate::stage::{BuildContext, LayerError, PrimaryMotion};
use crate::tolerances::folds as tolerances;

/// How the stretch across a fold is read at a point: `|along e1 + across e2|` over the edges `e1`,
/// `e2` of a coarse triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StretchTerm {
    /// Coarse triangle.
    pub triangle: u32,
    /// Share of its first edge (corner 0 to 1).
    pub first: f32,
    /// Share of its second edge (corner 0 to 2).
    pub second: f32,
}

/// An edge of the refined mesh seen from a member of a fold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoldEdge {
    /// The other end: index among the fold's members, or [`NONE`] outside the fold.
    pub other: u32,
    /// The other end as a point.
    pub other_point: u32,
    /// Drawn stretch, folded over base length.
    pub r0: f32,
    /// Base length when drawn [m].
    pub rest: f32,
}

/// One fold on the refined mesh. Points count the coarse ones first, then the refined ones.
#[derive(Clone, Debug, Default)]
pub struct FoldRest {
    /// Points nearer to the curve than the width: refined ones first, section by section.
    pub points: Vec<u32>,
    /// Drawn displacement of each along its normal [m].
    pub heights: Vec<f32>,
    /// Stretch terms, `term_offsets[m]..term_offsets[m + 1]` of each member.
    pub terms: Vec<StretchTerm>,
    /// See `terms`.
    pub term_offsets: Vec<u32>,
    /// Edges, `edge_offsets[m]..edge_offsets[m + 1]` of each member.
    pub edges: Vec<FoldEdge>,
    /// See `edges`.
    pub edge_offsets: Vec<u32>,
    /// Cross-sections along the curve.
    pub sections: Sections,
}

/// Everything that does not change during a bake.
pub struct FoldsRest {
    /// Index of the mesh in the frame.
    pub mesh: usize,
    /// The mesh as it comes.
    pub base: Arc<MeshTopology>,
    /// Its connectivity.
    pub topology: Topology,
    /// Stencils of the refined points.
    pub refined: Refined,
    /// The refined mesh.
    pub fine: RefinedMesh,
    /// The folds, buckling ridges included, with their settings.
    pub folds: Vec<(Fold, FoldRest)>,
    /// The same as a frame reads them.
    pub plans: Vec<FoldTables>,
    /// Coarse triangles under the folds.
    pub faces: Faces,
    /// The coarse surface there.
    pub surface: PatchSurface,
    /// What was left out, in words.
    pub warnings: Vec<String>,
}

/// A curve drawn on the surface.
pub(super) struct SurfaceCurve {
    pub places: Vec<Vec3>,
    pub tangents: Vec<Vec3>,
    triangles: Vec<u32>,
}

impl FoldsRest {
    /// Draws the folds.
    pub fn build(params: &FoldsParams, context: &BuildContext) -> Result<Self, LayerError> {
        let motion = PrimaryMotion::new(&params.on, context)?;
        let base = Arc::clone(&context.frame.meshes[motion.mesh].topology);
        let topology = Topology::build(motion.bind_positions(), &base.triangles);
        let reference = context.reference_mesh(motion.mesh);
        let vertices = reference.positions.clone();
        let coarse: Vec<Vec3> =
            topology.vertex_of_point.iter().map(|&v| vertices[v as usize]).collect();
        let surface = TriangleBvh::build(&coarse, &topology.triangles);
        let mut folds = params.folds.clone();
        for buckling in &params.buckling {
            folds.extend(build_ridges(buckling, 1.0, &surface)?);
        }
        let mut curves = Vec::new();
        let mut levels = vec![0u8; base.triangles.len()];
        for (index, fold) in folds.iter().enumerate() {
            let key = format!("folds[{index}].points");
            let place = |a| context.place_on(&key, motion.mesh, &reference, a);
            let points = fold.points.iter().map(place).collect::<Result<Vec<Vec3>, _>>()?;
            let curve = draw(fold, index, &points, &surface)?;
            for t in triangles_near(&curve, fold.width, &topology, &coarse) {
                levels[t as usize] = levels[t as usize].max(fold.subdivision);
            }
            curves.push(curve);
        }
        let refined = Refined::build(&topology, &levels);
        let emission = Emission::new(&refined, &topology, &base, &levels);
        let fine = FineMesh::new(&topology, &refined, &emission, coarse.clone());
        let mut warnings = Vec::new();
        if !refined.left_out.is_empty() {
            warnings.push(format!(
                "{}: {} triangles under the folds are not manifold and stay coarse",
                params.name,
                refined.left_out.len()
            ));
        }
        let mut rests = Vec::new();
        for (index, (fold, curve)) in folds.into_iter().zip(&curves).enumerate() {
            let mask = match &fold.mask {
                None => Vec::new(),
                Some(mask) => context.select(&format!("folds[{index}].mask"), motion.mesh, mask)?,
            };
            let rest = fine.lay(&fold, curve, &mask);
            if rest.heights.iter().filter(|h| **h != 0.0).count() < 2 {
                warnings.push(format!(
                    "{}: fold {:?} is narrower than the refined mesh can show: raise `subdivision`",
                    params.name, fold.name
                ));
            }
            rests.push((fold, rest));
        }
        let members = rests.iter().flat_map(|(_, r)| r.points.iter().copied());
        let triangles: Vec<u32> =
            rests.iter().flat_map(|(_, r)| r.terms.iter().map(|t| t.triangle)).collect();
        let under = triangles.iter().flat_map(|&t| topology.triangles[t as usize]);
        let count = topology.point_count() as u32;
        let wanted = members.filter(|&p| p < count).chain(under);
        let widest = rests.iter().map(|(f, _)| f.width).fold(0.0, f32::max);
        let mut surface = PatchSurface::new(&topology, &refined, wanted, &coarse, 2.0 * widest);
        surface.measure(&vertices);
        let faces = Faces::new(&topology, triangles, &surface.points);
        let plans = rests.iter().map(|(f, r)| FoldTables::new(f, r, &faces)).collect();
        Ok(Self {
            mesh: motion.mesh,
            fine: RefinedMesh::new(&emission, &base),
            base,
            topology,
            refined,
            folds: rests,
            plans,
            faces,
            surface,
            warnings,
        })
    }
}

/// Samples the interpolating curve of a fold and drops the samples onto the surface.
fn draw(
    fold: &Fold,
    index: usize,
    points: &[Vec3],
    surface: &TriangleBvh,
) -> Result<SurfaceCurve, LayerError> {
    let bad = |problem: String| {
        LayerError::parameter(
            format!("folds[{index}].points"),
            format!("fold {:?}: {problem}", fold.name),
        )
    };
    let curve = Nurbs::through(points, 3)
        .ok_or_else(|| bad("all points are at the same place, or two in a row are".to_owned()))?;
    let length: f32 = points.windows(2).map(|w| w[0].distance(w[1])).sum();
    let count =
        ((length / (tolerances::SAMPLES_PER_WIDTH * fold.width)).ceil() as usize).clamp(16, 4096);
    let mut out = SurfaceCurve { places: vec![], tangents: vec![], triangles: vec![] };
    for i in 0..=count {
        let p = curve.point(i as f32 / count as f32);
        let hit = surface
            .closest_point(p, f32::INFINITY)
            .ok_or_else(|| bad("the mesh has no triangle".to_owned()))?;
        let allowed = fold.width.max(0.1 * length);
        if hit.distance > allowed {
            return Err(bad(format!(
                "the curve leaves the mesh: {:.3} m away from it at {p}",
                hit.distance
            )));
        }
        out.places.push(hit.point);
        out.triangles.push(hit.triangle);
    }
    for i in 0..=count {
        let (a, b) = (out.places[i.saturating_sub(1)], out.places[(i + 1).min(count)]);
        out.tangents.push((b - a).normalize_or(Vec3::X));
    }
    Ok(out)
}

/// Coarse triangles that may hold a point nearer to the curve than the width, along the surface.
fn triangles_near(
    curve: &SurfaceCurve,
    width: f32,
    topology: &Topology,
    positions: &[Vec3],
) -> Vec<u32> {
    let longest = |t: u32| {
        let [a, b, c] = topology.triangles[t as usize].map(|p| positions[p as usize]);
        a.distance(b).max(b.distance(c)).max(c.distance(a))
    };
    let reach = curve.triangles.iter().map(|&t| longest(t)).fold(0.0, f32::max);
    let seeds = seeds(curve, |t| topology.triangles[t as usize], positions, &curve.triangles);
    let place = |p: u32| positions[p as usize];
    let bound = f64::from(width + 2.0 * reach);
    let (distances, _) = march_geodesic(topology, place, &seeds, bound);
    // Near along the surface by its corners, and then nearer than the width as a whole.
    let near = |t: &u32| {
        let corners = topology.triangles[*t as usize];
        let nearest = corners.iter().map(|&p| distances[p as usize]).fold(f64::INFINITY, f64::min);
        let places = corners.map(place);
        let reached = |&p: &Vec3| closest_on_triangle(p, places).0.distance(p) < width;
        nearest < f64::from(width + 0.5 * longest(*t)) && curve.places.iter().any(reached)
    };
    let mut found: Vec<u32> = (0..topology.triangles.len() as u32).filter(near).collect();
    found.extend(&curve.triangles);
    found.sort_unstable();
    found.dedup();
    found
}

/// Distance to the curve along the surface. The marched distance is good to a percent or two; where
/// the surface is nearly flat the straight distance to the curve is exact, so the one gives way to
/// the other.
pub(super) fn settle_distance(p: Vec3, marched: f64, label: u32, curve: &SurfaceCurve) -> f32 {
    if !marched.is_finite() {
        return f32::INFINITY;
    }
    let last = curve.places.len() - 1;
    let around = (label as usize).saturating_sub(8)..(label as usize + 8).min(last);
    let straight = around
        .map(|k| nearest_on_segment(p, curve.places[k], curve.places[k + 1]).0)
        .fold(f32::INFINITY, f32::min);
    // Marching starts at samples: beside the middle between two, even flat ground has a detour.
    let next = (label as usize + 1).min(last);
    let apart = 0.5 * curve.places[next].distance(curve.places[next - 1]);
    let detour = marched as f32 / straight.hypot(apart).max(f32::MIN_POSITIVE) - 1.0;
    let t = ((detour - tolerances::FLAT_DETOUR) / tolerances::FLAT_DETOUR).clamp(0.0, 1.0);
    straight + (marched as f32 - straight) * t * t * (3.0 - 2.0 * t)
}

/// Distance to a segment, and the place along it.
fn nearest_on_segment(p: Vec3, a: Vec3, b: Vec3) -> (f32, f32) {
    let axis = b - a;
    let s = (axis.dot(p - a) / axis.length_squared().max(1e-20)).clamp(0.0, 1.0);
    (p.distance(a + s * axis), s)
}

/// Corners of the triangles that the curve runs through, with their distance to the curve.
pub(super) fn seeds(
    curve: &SurfaceCurve,
    corners: impl Fn(u32) -> [u32; 3],
    positions: &[Vec3],
    triangles: &[u32],
) -> Vec<GeodesicStart> {
    let mut out = Vec::new();
    for (i, &t) in triangles.iter().enumerate() {
        for point in corners(t) {
            let p = positions[point as usize];
            // Nearest place of the polyline around this sample.
            let around = i.saturating_sub(2)..(i + 2).min(curve.places.len() - 1);
            let (distance, label) = around
                .map(|k| {
                    let (d, s) = nearest_on_segment(p, curve.places[k], curve.places[k + 1]);
                    (d, if s < 0.5 { k } else { k + 1 })
                })
                .fold(
                    (p.distance(curve.places[i]), i),
                    |best, d| if d.0 < best.0 { d } else { best },
                );
            let distance = f64::from(distance);
            out.push(GeodesicStart { point, distance, label: label as u32 });
        }
    }
    out
}

impl FoldRest {
    /// Edges of a member.
    #[must_use]
    pub fn edges_of(&self, member: usize) -> &[FoldEdge] {
        &self.edges[self.edge_offsets[member] as usize..self.edge_offsets[member + 1] as usize]
    }
}
