//! What never changes: the drawn folds, and which points each of them moves.

use super::fold_crossings::PointSums;
use super::params::FoldsParams;
use super::rest::FoldsRest;
use crate::geometry::butterfly::{LiftedPoints, vertices_of};
use crate::geometry::{NormalGroups, Topology};
use crate::stage::{BuildContext, LayerError};

/// Folds as they are built. Points are counted as the surface has them: coarse ones, then those that
/// refinement makes.
pub struct FoldsLayout {
    /// The folds as drawn.
    pub drawn: FoldsRest,
    /// How the folds that meet at a point are meaned, those that lift and those that only shade.
    pub lifts: PointSums,
    /// See `lifts`.
    pub creases: PointSums,
    /// Points that some fold touches: as the guard reads them, and ascending.
    pub lifted: LiftedPoints,
    /// See `lifted`.
    pub touched: Vec<u32>,
    /// Coarse vertices at those, with their points.
    pub coarse_touched: Vec<(u32, u32)>,
    /// Point of every vertex of the refined mesh.
    pub point_of_vertex: Vec<u32>,
    /// Meshes to stay outside of, by index in the frame.
    pub bodies: Vec<usize>,
    /// Groups of normals, where some fold is a crease.
    pub normal_groups: Option<NormalGroups>,
}

impl FoldsLayout {
    /// Draws the folds.
    pub fn build(params: &FoldsParams, context: &BuildContext) -> Result<Self, LayerError> {
        let rest = FoldsRest::build(params, context)?;
        let mut drawn: Vec<u32> =
            rest.folds.iter().flat_map(|(_, f)| f.points.iter().copied()).collect();
        drawn.sort_unstable();
        drawn.dedup();
        let index_of = |p: u32| rest.surface.index_of(p);
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
        let normal_groups = creased.then(|| {
            let topology = &rest.fine.topology;
            let fine = Topology::unwelded(topology.vertex_count, &topology.triangles);
            NormalGroups::for_shading(topology, &fine)
        });
        Ok(Self {
            lifts: PointSums::new(&members, |fold| !rest.folds[fold].0.crease),
            creases: PointSums::new(&members, |fold| rest.folds[fold].0.crease),
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
