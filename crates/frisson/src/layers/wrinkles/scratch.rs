//! What a frame works with beside the state, and may lose between any two.

use std::collections::BTreeMap;

use glam::Vec3;

use super::curve::CurveShape;
use super::region::Line;
use super::rest::{Influence, WrinklesRest};
use crate::geometry::butterfly::{LiftedPoints, PatchSurface, RefinedMesh};

/// Storage reused from frame to frame.
#[derive(Default)]
pub struct WrinklesScratch {
    pub(super) patch: Option<Box<Patch>>,
    /// The mesh of every set of active tools that has come up, where it changes over the shot.
    pub(super) emitted: BTreeMap<Vec<bool>, RefinedMesh>,
    /// Which tools refine the mesh.
    pub(super) active: Vec<bool>,
    pub(super) seen: Vec<Seen>,
    pub(super) compression: Vec<f32>,
}

/// What a tool does in the frame that is shown, for the report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Height of the highest fold [m].
    pub peak: f64,
    /// Missing length as a fraction of the full one [-].
    pub compression: f64,
}

/// The folded patch of one frame, sized by the rest data.
pub(super) struct Patch {
    pub surface: PatchSurface,
    pub(super) lifted: LiftedPoints,
    /// Base positions of refined points, and unit normals of those that turn smooth.
    pub(super) refined: Vec<Vec3>,
    pub refined_normals: Vec<Vec3>,
    /// Height of each point, coarse then refined [m].
    pub heights: Vec<f32>,
    /// How much of the butterfly surface (against the flat one) each refined point shows.
    pub(super) blends: Vec<f32>,
    pub(super) line: Line,
    pub(super) planes: Vec<Vec3>,
    pub(super) live: Vec<Influence>,
    pub(super) shape: CurveShape,
}

impl Patch {
    pub(super) fn new(rest: &WrinklesRest) -> Self {
        let count = rest.refined.point_count();
        Self {
            surface: rest.surface.clone(),
            lifted: rest.lifted.clone(),
            refined: vec![Vec3::ZERO; count],
            refined_normals: vec![Vec3::Y; count],
            heights: vec![0.0; rest.topology.point_count() + count],
            blends: vec![0.0; count],
            line: Line::default(),
            planes: Vec::new(),
            live: Vec::new(),
            shape: CurveShape::default(),
        }
    }
}

impl WrinklesScratch {
    pub(super) fn patch(&mut self, rest: &WrinklesRest) -> &mut Patch {
        self.patch.get_or_insert_with(|| Box::new(Patch::new(rest)))
    }

    /// What each tool does in the frame that is shown.
    pub(super) fn seen(&self) -> &[Seen] {
        &self.seen
    }
}
