//! What a frame works with, and may lose between any two.

use glam::Vec3;

use super::factor::FactorScratch;
use super::fold_tables::Faces;
use super::params::Fold;
use super::rest::{FoldRest, FoldsRest};
use super::step::nearly_unit;
use crate::geometry::NormalScratch;
use crate::geometry::butterfly::{LiftedPoints, PatchSurface};
use crate::stage::SurfaceMotion;

/// Storage reused from frame to frame.
#[derive(Default)]
pub struct FoldsScratch {
    pub(super) tools: Option<Tools>,
}

impl FoldsScratch {
    /// Mean factor of each fold in the frame that was written last [-].
    pub fn factors(&self) -> impl Iterator<Item = f64> + '_ {
        self.tools.iter().flat_map(|t| t.folds.iter().map(|f| f.mean))
    }
}

/// The surface as it is in this frame, and what is computed of it.
pub(super) struct Tools {
    pub(super) surface: PatchSurface,
    pub(super) faces: Faces,
    pub(super) lifted: LiftedPoints,
    pub(super) bodies: Vec<SurfaceMotion>,
    pub(super) normals: NormalScratch,
    pub(super) folds: Vec<FoldScratch>,
    /// Displacement of each point of the surface, and of the normals-only creases [m].
    pub(super) heights: Vec<f32>,
    pub(super) creases: Vec<f32>,
    /// Vertices as if the creases were displaced.
    pub(super) creased: Vec<Vec3>,
}

/// What is computed of one fold.
#[derive(Default)]
pub(super) struct FoldScratch {
    pub(super) factor: FactorScratch,
    /// Factor, then displacement [m], of every member.
    pub(super) values: Vec<f32>,
    /// Mean of the factors [-], and the highest displacement [m].
    pub(super) mean: f64,
    pub(super) highest: f32,
}

impl Tools {
    pub(super) fn new(rest: &FoldsRest) -> Self {
        let drawn = &rest.drawn;
        let of_members = |(_, laid): &(Fold, FoldRest)| FoldScratch {
            values: vec![0.0; laid.points.len()],
            mean: 1.0,
            ..FoldScratch::default()
        };
        let points = drawn.surface.points.len();
        Self {
            surface: drawn.surface.clone(),
            faces: drawn.faces.clone(),
            lifted: rest.lifted.clone(),
            bodies: rest.bodies.iter().map(|_| SurfaceMotion::default()).collect(),
            normals: NormalScratch::default(),
            folds: drawn.folds.iter().map(of_members).collect(),
            heights: vec![0.0; points],
            creases: vec![0.0; points],
            creased: Vec::new(),
        }
    }

    /// Normal at a point of the surface, before folding.
    pub(super) fn normal_at(&self, point: u32) -> Vec3 {
        nearly_unit(self.surface.points[point as usize][1]).into()
    }
}
