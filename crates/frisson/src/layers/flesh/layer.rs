//! The contract: what the stage asks of flesh.

use super::params::FleshParams;
use super::rest::FleshRest;
use super::scratch::FleshScratch;
use super::state::FleshState;
use super::step;
use super::swing::FleshSwing;
use crate::stage::{
    ActorSet, BuildContext, Clock, Frame, Layer, LayerError, LayerReport, Running, StepContext,
    View, Work,
};

/// One flesh element.
pub struct FleshLayer;

impl Layer for FleshLayer {
    const KIND: &'static str = "flesh";
    const LEAVES_NOTES: bool = true;
    type Params = FleshParams;
    type Rest = FleshRest;
    type State = FleshState;
    type Scratch = FleshScratch;

    fn name(params: &FleshParams) -> &str {
        &params.name
    }

    fn validate(params: &FleshParams) -> Result<(), LayerError> {
        params.validate()
    }

    fn build(params: &FleshParams, context: &BuildContext) -> Result<FleshRest, LayerError> {
        params.validate()?;
        FleshRest::build(params, context)
    }

    fn start(
        work: Work<'_, Self, ()>,
        context: &StepContext,
        _frame: &Frame,
    ) -> Result<FleshState, LayerError> {
        step::initial_state(work.params, work.rest, context)
    }

    fn advance(
        work: Work<'_, Self, &mut FleshState>,
        context: &StepContext,
        _frame: &Frame,
    ) -> Result<(), LayerError> {
        step::integrate(work, context)
    }

    fn write(
        mut work: Work<'_, Self, &FleshState>,
        context: &StepContext,
        frame: &mut Frame,
    ) -> Result<(), LayerError> {
        step::deform(&mut work, context, frame);
        if work.params.show_weights {
            step::show_weights(work.params, work.rest, frame);
        }
        Ok(())
    }

    fn leave_notes(rest: &FleshRest, frame: &mut Frame) {
        for part in &rest.swung {
            part.leave_room(&mut frame.meshes[part.mesh]);
        }
    }

    fn meet_others(rest: &mut FleshRest, frame: &Frame) {
        for part in &mut rest.swung {
            part.settle(&frame.meshes[part.mesh]);
        }
    }

    fn retune(work: Work<'_, Self, &mut FleshState>) {
        step::forget_step(work.scratch);
    }

    fn report(view: View<'_, Self>, report: &mut LayerReport) {
        let length = view.state.elongation.length();
        report.measure("elongation", "m", length);
        report.measure("elongation / limit", "-", length / step::limit(view.params, view.rest));
        if view.state.open_loop {
            report.warn(format!("{}: the hard limit kept the loop from closing", view.params.name));
        }
    }
}

impl Running<FleshLayer> {
    /// The swing as it reaches the mesh at a time, which must be the present; none of a chain.
    #[must_use]
    pub fn swing(&self, clock: &Clock, actors: &ActorSet, time: f64) -> Option<FleshSwing> {
        let actor = &actors.all()[self.rest().actor];
        if self.rest().is_chain() {
            return None;
        }
        Some(step::swing_at(self.params(), self.rest(), self.state()?, (clock, actor, time)))
    }
}
