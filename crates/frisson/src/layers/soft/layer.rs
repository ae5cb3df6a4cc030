//! The contract: what the stage asks of soft bodies.

use super::params::{SoftParams, SoftSurface};
use super::rest::SoftRest;
use super::scratch::SoftScratch;
use super::state::SoftState;
use super::step;
use crate::stage::{
    BuildContext, Frame, Layer, LayerError, LayerReport, SnapshotError, StepContext, View, Work,
};

/// Soft bodies.
pub struct SoftLayer;

impl Layer for SoftLayer {
    const KIND: &'static str = "soft";
    type Params = SoftParams;
    type Rest = SoftRest;
    type State = SoftState;
    type Scratch = SoftScratch;

    fn name(params: &SoftParams) -> &str {
        &params.name
    }

    fn validate(params: &SoftParams) -> Result<(), LayerError> {
        params.validate()
    }

    fn build(params: &SoftParams, context: &BuildContext) -> Result<SoftRest, LayerError> {
        params.validate()?;
        SoftRest::build(params, context)
    }

    fn start(
        work: Work<'_, Self, ()>,
        context: &StepContext,
        frame: &Frame,
    ) -> Result<SoftState, LayerError> {
        step::start(work, context, frame)
    }

    fn advance(
        work: Work<'_, Self, &mut SoftState>,
        context: &StepContext,
        frame: &Frame,
    ) -> Result<(), LayerError> {
        step::advance(work, context, frame)
    }

    fn write(
        work: Work<'_, Self, &SoftState>,
        context: &StepContext,
        frame: &mut Frame,
    ) -> Result<(), LayerError> {
        let Work { params, rest, state, scratch } = work;
        scratch.show((params, rest, state), context, frame);
        if params.surface == SoftSurface::Seeds {
            scratch.write_preview(rest, state, frame);
            return Ok(());
        }
        scratch.write_surfaces((params, rest, state), context, frame)
    }

    fn needs_surfaces_between_frames(_params: &SoftParams, rest: &SoftRest) -> bool {
        // What hangs on meshes, or is pressed by them, must know them at every tick.
        rest.hangs || !rest.toolbox.meshes.is_empty()
    }

    fn adds_only<'a>(params: &'a SoftParams, rest: &'a SoftRest) -> Option<&'a [String]> {
        // Contacts are one more mesh, with a name of its own.
        (!params.contacts).then_some(&rest.labels[..])
    }

    fn check_fit(rest: &SoftRest, state: &SoftState) -> Result<(), SnapshotError> {
        let other = || SnapshotError("the soft bodies have changed".to_owned());
        state.fits(rest).then_some(()).ok_or_else(other)
    }

    fn report(view: View<'_, Self>, report: &mut LayerReport) {
        let state = view.state;
        // By the seeds: the mesh is measured from outside, by whoever judges the bake.
        let (now, start) = (state.volume(), state.rest_volume());
        report.measure("volume", "m³", now);
        report.measure("volume / start", "-", if start > 0.0 { now / start } else { 1.0 });
        report.measure("pieces", "-", state.piece_count() as f64);
        if view.params.surface == SoftSurface::Extracted {
            report.measure("pieces of the surface", "-", view.scratch.meshes.pieces as f64);
        }
        report.measure("contact samples", "-", state.contacts as f64);
        report.measure("depth / thickness", "-", state.depth);
        report.measure("steps", "-", state.steps as f64);
        report.measure("steps taken back", "-", state.take_backs as f64);
        state.warnings.iter().for_each(|w| report.warn(w.clone()));
    }
}
