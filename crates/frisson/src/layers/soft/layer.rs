//! The layer: parameters, rest data, state, and the meshes it shows.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};

use super::blend::{Coats, Primitive};
use super::blending::Components;
use super::contact::ContactForces;
use super::meshes::SurfaceMeshes;
use super::params::{SoftParams, SoftSurface};
use super::preview::PreviewMeshes;
use super::rest::SoftRest;
use super::sample::Territory;
use super::state::{BodyState, Bond, SoftState};
use super::tool::Toolbox;
use super::volume::Volumes;
use crate::character::Pose;
use crate::geometry::Grid;
use crate::stage::{
    BuildContext, Frame, LayerError, LayerReport, SnapshotError, StepContext, WholeLayer,
    from_snapshot, to_snapshot,
};

/// Soft bodies at work.
pub struct SoftLayer {
    pub(super) params: SoftParams,
    pub(super) rest: SoftRest,
    pub(super) state: SoftState,
    /// The state before the step, to put back.
    pub(super) backup: SoftState,
    pub(super) coats: Coats,
    pub(super) rotations: Vec<DQuat>,
    pub(super) territories: Vec<Territory>,
    pub(super) contacts: ContactForces,
    pub(super) grid: Grid,
    pub(super) components: Components,
    pub(super) toolbox: Toolbox,
    pub(super) poses: Vec<Pose>,
    pub(super) own_volumes: Vec<Volumes>,
    pub(super) spare_bonds: Vec<Bond>,
    /// Angular momenta of the bodies within a step [kg m²/s].
    pub(super) momenta: Vec<DVec3>,
    meshes: SurfaceMeshes,
    preview: PreviewMeshes,
}

impl SoftLayer {
    /// Builds the structures; nothing moves yet.
    pub fn new(params: SoftParams, context: &BuildContext) -> Result<Self, LayerError> {
        let rest = SoftRest::build(&params, context)?;
        let toolbox = rest.toolbox.clone();
        let mut coats = Coats { level: rest.level, ..Coats::default() };
        let mut groups = Vec::new();
        for (index, p) in rest.primitives.iter().enumerate() {
            let group = rest.objects[p.object].primitives.start as u32;
            groups.push(group);
            coats.primitives.push(Primitive {
                kind: p.kind,
                first: coats.points.len() as u32,
                count: p.points.len() as u32,
                coat: p.coat,
                inverse_width: 1.0 / (p.coat.support - p.coat.thickness),
                steepness: p.coat.stiffness * (p.coat.support - p.coat.thickness) / p.coat.level,
                offset: 0.0,
                swelling: 0.0,
                bulge: 0.0,
                label: rest.objects[p.object].label as u32,
                group,
                links: rest.primitives[index].links.as_ref().map(Arc::clone),
            });
            coats.points.resize(coats.points.len() + p.points.len(), DVec3::ZERO);
        }
        let bodies = rest
            .bodies
            .iter()
            .map(|b| BodyState { position: b.start, ..BodyState::default() })
            .collect();
        let distances = rest
            .seeds
            .iter()
            .zip(&rest.primitives)
            .map(|(s, p)| vec![p.coat.thickness; s.len()])
            .collect();
        let count = rest.primitives.len();
        let state = SoftState {
            bodies,
            offsets: vec![0.0; count],
            felt: vec![0.0; count],
            bulges: vec![0.0; count],
            groups,
            distances,
            step: f64::INFINITY,
            ..SoftState::default()
        };
        Ok(Self {
            params,
            rest,
            backup: state.clone(),
            state,
            coats,
            rotations: vec![DQuat::IDENTITY; count],
            territories: vec![Territory::default(); count],
            contacts: ContactForces::default(),
            grid: Grid::default(),
            components: Components::default(),
            toolbox,
            poses: Vec::new(),
            own_volumes: Vec::new(),
            spare_bonds: Vec::new(),
            momenta: Vec::new(),
            meshes: SurfaceMeshes::default(),
            preview: PreviewMeshes::default(),
        })
    }

    /// Says something to the person, once.
    pub(super) fn warn(&mut self, text: String) {
        if !self.state.warnings.contains(&text) {
            self.state.warnings.push(text);
        }
    }

    /// Volume of all territories as the seeds measure it [m³].
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.state.volumes.iter().sum()
    }

    /// Volume of all territories at the start [m³].
    #[must_use]
    pub fn rest_volume(&self) -> f64 {
        self.state.rest_volumes.iter().sum()
    }

    /// Number of pieces that are one within themselves only.
    #[must_use]
    pub fn piece_count(&self) -> usize {
        self.state.piece_count()
    }

    /// Where a named primitive's first point is [m].
    #[must_use]
    pub fn primitive_position(&self, index: usize) -> Option<Vec3> {
        self.coats.primitives.get(index).map(|p| self.coats.points[p.first as usize].as_vec3())
    }

    /// Number of primitives.
    #[must_use]
    pub fn primitive_count(&self) -> usize {
        self.rest.primitives.len()
    }

    /// Number of seeds on contact surfaces.
    #[must_use]
    pub fn contact_count(&self) -> usize {
        self.contacts.count
    }

    fn check(&self, frame: i64) -> Result<(), LayerError> {
        let bad = |b: &BodyState| !(b.position.is_finite() && b.velocity.is_finite());
        match self.state.bodies.iter().position(bad) {
            Some(element) => Err(LayerError::NonFinite { what: "body", element, frame }),
            None => Ok(()),
        }
    }
}

impl WholeLayer for SoftLayer {
    type Params = SoftParams;
    const KIND: &'static str = "soft";

    fn name(&self) -> &str {
        &self.params.name
    }

    fn build(params: &SoftParams, context: &BuildContext) -> Result<Self, LayerError> {
        params.validate()?;
        Self::new(params.clone(), context)
    }

    fn needs_surfaces_between_frames(&self) -> bool {
        !self.toolbox.meshes.is_empty()
    }

    fn start(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        self.toolbox.update(context, frame);
        self.settle(context);
        self.check(context.frame)
    }

    fn advance(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        self.toolbox.update(context, frame);
        self.tick(context);
        self.check(context.frame)
    }

    fn write(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError> {
        if self.params.surface == SoftSurface::Seeds {
            let mut preview = std::mem::take(&mut self.preview);
            preview.write(self, frame);
            self.preview = preview;
        } else {
            let mut meshes = std::mem::take(&mut self.meshes);
            let written = meshes.write(self, context, frame);
            self.meshes = meshes;
            written?;
        }
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        let mut state = self.state.clone();
        state.tools = self.toolbox.surfaces.iter().map(|s| s.positions().to_vec()).collect();
        to_snapshot(&state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let state: SoftState = from_snapshot(bytes)?;
        let fits = state.bodies.len() == self.rest.bodies.len()
            && state.offsets.len() == self.rest.primitives.len()
            && state.groups.len() == self.rest.primitives.len()
            && state.bulges.len() == self.rest.primitives.len()
            && state.felt.len() == self.rest.primitives.len()
            && state.distances.len() == self.rest.seeds.len()
            && state.distances.iter().zip(&self.rest.seeds).all(|(d, s)| d.len() == s.len());
        if !fits {
            return Err(SnapshotError("the soft bodies have changed".to_owned()));
        }
        self.toolbox.surfaces.resize_with(state.tools.len(), Default::default);
        for (surface, positions) in self.toolbox.surfaces.iter_mut().zip(&state.tools) {
            surface.restore(positions.clone());
        }
        self.state = state;
        Ok(())
    }

    fn report(&self, report: &mut LayerReport) {
        let start = self.rest_volume();
        report.measure("volume", "m³", self.volume());
        report.measure(
            "volume / start",
            "-",
            if start > 0.0 { self.volume() / start } else { 1.0 },
        );
        report.measure("pieces", "-", self.piece_count() as f64);
        report.measure("contact samples", "-", self.contacts.count as f64);
        report.measure("depth / thickness", "-", self.contacts.depth);
        report.measure("steps", "-", self.state.steps as f64);
        report.measure("steps taken back", "-", self.state.take_backs as f64);
        self.state.warnings.iter().for_each(|w| report.warn(w.clone()));
    }
}
