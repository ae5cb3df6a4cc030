//! The contract: what the stage asks of folds.

use super::params::FoldsParams;
use super::rest::FoldsRest;
use super::scratch::FoldsScratch;
use super::state::FoldsState;
use super::step;
use crate::stage::{
    BuildContext, Frame, Layer, LayerError, LayerReport, StepContext, View, Work, check_vertices,
};

/// Folds on one mesh.
pub struct FoldsLayer;

impl Layer for FoldsLayer {
    const KIND: &'static str = "folds";
    type Params = FoldsParams;
    type Rest = FoldsRest;
    type State = FoldsState;
    type Scratch = FoldsScratch;

    fn name(params: &FoldsParams) -> &str {
        &params.name
    }

    fn build(params: &FoldsParams, context: &BuildContext) -> Result<FoldsRest, LayerError> {
        params.validate()?;
        FoldsRest::build(params, context)
    }

    fn start(
        _work: Work<'_, Self, ()>,
        _context: &StepContext,
        _frame: &Frame,
    ) -> Result<FoldsState, LayerError> {
        Ok(FoldsState {})
    }

    fn advance(
        _work: Work<'_, Self, &mut FoldsState>,
        _context: &StepContext,
        _frame: &Frame,
    ) -> Result<(), LayerError> {
        Ok(())
    }

    fn write(
        work: Work<'_, Self, &FoldsState>,
        context: &StepContext,
        frame: &mut Frame,
    ) -> Result<(), LayerError> {
        let drawn = &work.rest.drawn;
        let vertices = drawn.base.vertex_count;
        check_vertices(&frame.meshes[drawn.mesh], vertices, &work.params.on, Self::KIND)?;
        step::write((work.params, work.rest), work.scratch, context, frame);
        Ok(())
    }

    fn report(view: View<'_, Self>, report: &mut LayerReport) {
        for ((fold, _), factor) in view.rest.drawn.folds.iter().zip(view.scratch.factors()) {
            report.measure(format!("{} factor", fold.name), "-", factor);
        }
        view.rest.drawn.warnings.iter().for_each(|w| report.warn(w.clone()));
    }
}
