//! The contract: what the stage asks of wrinkles.

use super::params::WrinklesParams;
use super::rest::WrinklesRest;
use super::scratch::WrinklesScratch;
use super::state::WrinklesState;
use super::step;
use crate::stage::{
    BuildContext, Frame, Layer, LayerError, LayerReport, SnapshotError, StepContext, View, Work,
    check_vertices,
};

/// Wrinkles on one mesh.
pub struct WrinklesLayer;

impl Layer for WrinklesLayer {
    const KIND: &'static str = "wrinkles";
    type Params = WrinklesParams;
    type Rest = WrinklesRest;
    type State = WrinklesState;
    type Scratch = WrinklesScratch;

    fn name(params: &WrinklesParams) -> &str {
        &params.name
    }

    fn validate(params: &WrinklesParams) -> Result<(), LayerError> {
        params.validate()
    }

    fn build(params: &WrinklesParams, context: &BuildContext) -> Result<WrinklesRest, LayerError> {
        params.validate()?;
        WrinklesRest::build(params, context)
    }

    fn start(
        work: Work<'_, Self, ()>,
        context: &StepContext,
        frame: &Frame,
    ) -> Result<WrinklesState, LayerError> {
        let Work { params, rest, scratch, .. } = work;
        let mut state = WrinklesState::new(rest);
        Self::advance(Work { params, rest, state: &mut state, scratch }, context, frame)?;
        Ok(state)
    }

    fn advance(
        work: Work<'_, Self, &mut WrinklesState>,
        _context: &StepContext,
        frame: &Frame,
    ) -> Result<(), LayerError> {
        let Work { params, rest, state, scratch } = work;
        if rest.evolves() {
            let mesh = &frame.meshes[rest.mesh];
            check_vertices(mesh, rest.base.vertex_count, &params.on, Self::KIND)?;
            step::follow(rest, state, scratch, mesh);
        }
        Ok(())
    }

    fn write(
        work: Work<'_, Self, &WrinklesState>,
        context: &StepContext,
        frame: &mut Frame,
    ) -> Result<(), LayerError> {
        let mesh = &mut frame.meshes[work.rest.mesh];
        check_vertices(mesh, work.rest.base.vertex_count, &work.params.on, Self::KIND)?;
        step::show(work, context.frame_number(), mesh);
        Ok(())
    }

    /// What was before counts for some tools: they must see every tick.
    fn needs_surfaces_between_frames(_params: &WrinklesParams, rest: &WrinklesRest) -> bool {
        rest.evolves()
    }

    fn check_fit(rest: &WrinklesRest, state: &WrinklesState) -> Result<(), SnapshotError> {
        state.check_fit(rest)
    }

    fn report(view: View<'_, Self>, report: &mut LayerReport) {
        for (tool, seen) in view.params.tools.iter().zip(view.scratch.seen()) {
            report.measure(format!("{} height", tool.name), "m", seen.peak);
            report.measure(format!("{} compression", tool.name), "-", seen.compression);
        }
        view.rest.warnings.iter().for_each(|w| report.warn(w.clone()));
    }
}
