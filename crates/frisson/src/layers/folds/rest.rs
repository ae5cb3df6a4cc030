//! What never changes: the drawn folds, the refined mesh, and which points each fold moves.

use std::sync::Arc;

use super::fold_crossings::FoldMeans;
use super::fold_tables::{Faces, FoldTables};
use super::params::Fold;
use super::section::Sections;
use crate::geometry::butterfly::{LiftedPoints, PatchSurface, Refined, RefinedMesh};
use crate::geometry::{MeshTopology, NormalGroups, Topology};

/// Folds as they are built. Points are counted as the surface has them: coarse ones, then those that
/// refinement makes.
pub struct FoldsRest {
    /// The folds as drawn.
    pub drawn: DrawnFolds,
    /// How the folds that meet at a point are meaned, those that lift and those that only shade.
    pub lifts: FoldMeans,
    /// See `lifts`.
    pub creases: FoldMeans,
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
pub struct DrawnFolds {
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
    pub tables: Vec<FoldTables>,
    /// Coarse triangles under the folds.
    pub faces: Faces,
    /// The coarse surface there.
    pub surface: PatchSurface,
    /// What was left out, in words.
    pub warnings: Vec<String>,
}

impl FoldRest {
    /// Edges of a member.
    #[must_use]
    pub fn edges_of(&self, member: usize) -> &[FoldEdge] {
        &self.edges[self.edge_offsets[member] as usize..self.edge_offsets[member + 1] as usize]
    }
}
