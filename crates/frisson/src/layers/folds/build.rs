//! From parameters to rest data: draws the curves, refines the mesh under them, displaces it once.

use std::sync::Arc;

use glam::Vec3;

use super::buckling::build_ridges;
use super::fine_mesh::FineMesh;
use super::fold_crossings::FoldMeans;
use super::fold_tables::{Faces, FoldTables};
use super::params::FoldsParams;
use super::rest::{DrawnFolds, FoldsRest};
use super::surface_curve::{draw, triangles_near};
use crate::geometry::butterfly::{
    Emission, LiftedPoints, PatchSurface, Refined, RefinedMesh, vertices_of,
};
use crate::geometry::{NormalGroups, Topology, TriangleBvh};
use crate::stage::{BuildContext, LayerError, PrimaryMotion};

impl FoldsRest {
    /// Draws the folds.
    pub fn build(params: &FoldsParams, context: &BuildContext) -> Result<Self, LayerError> {
        let rest = DrawnFolds::build(params, context)?;
        let mut drawn: Vec<u32> =
            rest.folds.iter().flat_map(|(_, f)| f.points.iter().copied()).collect();
        drawn.sort_unstable();
        drawn.dedup();
        let index_of = |p: u32| rest.surface.index_of(p);
        // Points of the topology, and then the places of the same points in the patch: the frame only knows the latter.
        let mut touched: Vec<u32> = drawn.iter().map(|&p| index_of(p)).collect();
        touched.sort_unstable();
        let vertices = 0..rest.fine.topology.vertex_count;
        let point_of = |v: usize| index_of(rest.fine.point_of(&rest.topology, v) as u32);
        let members: Vec<Vec<u32>> = rest
            .folds
            .iter()
            .map(|(_, f)| f.points.iter().map(|&p| index_of(p)).collect())
            .collect();
        let creased = rest.folds.iter().any(|(f, _)| f.crease);
        // Normals cost a pass over the whole mesh; without a crease the frame's own are made later anyway.
        let normal_groups = creased.then(|| {
            let topology = &rest.fine.topology;
            let fine = Topology::unwelded(topology.vertex_count, &topology.triangles);
            NormalGroups::for_shading(topology, &fine)
        });
        Ok(Self {
            lifts: FoldMeans::new(&members, |fold| !rest.folds[fold].0.crease),
            creases: FoldMeans::new(&members, |fold| rest.folds[fold].0.crease),
            lifted: LiftedPoints::new(&rest.topology, &rest.refined, &drawn, index_of),
            coarse_touched: vertices_of(&rest.topology, &touched),
            point_of_vertex: vertices.map(point_of).collect(),
            bodies: find_bodies(params, context)?,
            touched,
            normal_groups,
            drawn: rest,
        })
    }
}

fn find_bodies(params: &FoldsParams, context: &BuildContext) -> Result<Vec<usize>, LayerError> {
    let find = |name: &String| {
        let names = || context.frame.meshes.iter().map(|m| m.name.as_str());
        let index = context.frame.mesh_index(name);
        index.ok_or_else(|| LayerError::unknown("collide", "mesh", name, names()))
    };
    params.collide.iter().map(find).collect()
}

impl DrawnFolds {
    /// Draws the folds.
    pub fn build(params: &FoldsParams, context: &BuildContext) -> Result<Self, LayerError> {
        let motion = PrimaryMotion::new(&params.on, context)?;
        let base = Arc::clone(&context.frame.meshes[motion.mesh].topology);
        // In the bind pose: in a posed one, what merely touches would be welded.
        let topology = Topology::build(motion.bind_positions(), &base.triangles);
        let reference = context.reference_mesh(motion.mesh);
        let vertices = reference.positions.clone();
        let coarse: Vec<Vec3> =
            topology.vertex_of_point.iter().map(|&v| vertices[v as usize]).collect();
        let surface = TriangleBvh::build(&coarse, &topology.triangles);
        let mut folds = params.folds.clone();
        // Behind the drawn ones: a frame looks the artist's settings up by number, and ridges have none.
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
        // One refinement for all folds, so that triangles between two of them fit together.
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
            // One lifted point is a spike and no fold.
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
        // Twice the width: beyond, even two folds side by side cannot run into each other.
        let widest = rests.iter().map(|(f, _)| f.width).fold(0.0, f32::max);
        let mut surface = PatchSurface::new(&topology, &refined, wanted, &coarse, 2.0 * widest);
        // Faces compare with the surface as drawn, so it must be measured before they are made.
        surface.measure(&vertices);
        let faces = Faces::new(&topology, triangles, &surface.points);
        let tables = rests.iter().map(|(f, r)| FoldTables::new(f, r, &faces)).collect();
        Ok(Self {
            mesh: motion.mesh,
            fine: RefinedMesh::new(&emission, &base),
            base,
            topology,
            refined,
            folds: rests,
            tables,
            faces,
            surface,
            warnings,
        })
    }
}
