//! The contract: what the stage asks of hair.

use super::params::HairParams;
use super::presets::with_preset;
use super::rest::HairRest;
use super::scratch::HairScratch;
use super::state::{HairState, Wisp};
use super::{build, show, soaking, step};
use crate::stage::{
    BuildContext, Frame, Layer, LayerError, LayerReport, SnapshotError, StepContext, View, Work,
};

/// A head of hair.
pub struct HairLayer;

impl Layer for HairLayer {
    const KIND: &'static str = "hair";
    type Params = HairParams;
    type Rest = HairRest;
    type State = HairState;
    type Scratch = HairScratch;

    fn name(params: &HairParams) -> &str {
        &params.name
    }

    fn build(params: &HairParams, context: &BuildContext) -> Result<HairRest, LayerError> {
        params.validate()?;
        build::build_dressed(params, context)
    }

    fn start(
        work: Work<'_, Self, ()>,
        _context: &StepContext,
        frame: &Frame,
    ) -> Result<HairState, LayerError> {
        // A start follows a build: another head, perhaps another preset.
        work.scratch.dressed = None;
        with_preset(work, |work| step::initial_state(work, frame))
    }

    fn advance(
        work: Work<'_, Self, &mut HairState>,
        context: &StepContext,
        frame: &Frame,
    ) -> Result<(), LayerError> {
        with_preset(work, |work| step::advance(work, context, frame))
    }

    fn retune(work: Work<'_, Self, &mut HairState>) {
        // Live parameters changed: the copy with the preset put in is out of date.
        work.scratch.dressed = None;
    }

    fn write(
        work: Work<'_, Self, &HairState>,
        context: &StepContext,
        frame: &mut Frame,
    ) -> Result<(), LayerError> {
        // Nobody but an onlooker takes the strands, and they are most of the work.
        if !context.is_output {
            return Ok(());
        }
        with_preset(work, |work| show::write_curves(work, context, frame))
    }

    fn needs_surfaces_between_frames(_params: &HairParams, _rest: &HairRest) -> bool {
        true
    }

    fn weigh(view: View<'_, Self>, frame: &mut Frame) {
        soaking::tell_caught(&view.state.caught, frame);
    }

    fn check_fit(rest: &HairRest, state: &HairState) -> Result<(), SnapshotError> {
        // A snapshot is read from a file: sizes are checked before anything indexes by them.
        let samples = rest.count * rest.directions.len();
        let fits = |w: &Wisp| {
            (w.root as usize) < rest.roots.len()
                && w.positions.len() == rest.count
                && w.radii.len() == samples
        };
        if state.wisps.iter().all(fits)
            && state.roots.len() == rest.roots.len()
            && state.surfaces.len() == rest.meshes.len()
        {
            return Ok(());
        }
        Err(SnapshotError("its wisps are not those of this scene".to_owned()))
    }

    fn report(view: View<'_, Self>, report: &mut LayerReport) {
        let state = view.state;
        report.measure("wisps", "-", state.wisps.len() as f64);
        report.measure("longest stretch", "-", state.worst_stretch(view.rest));
        let [away, lost] = state.off_style(view.rest);
        report.measure("off the style", "mm", 1.0e3 * away);
        report.measure("lost wisps", "-", lost);
        let [rubbing, collisions] = state.treated;
        report.measure("sections rubbing", "-", f64::from(rubbing));
        report.measure("sections colliding", "-", f64::from(collisions));
        let wet = state.soaked.iter().sum::<f32>() / state.soaked.len().max(1) as f32;
        report.measure("soaked", "-", f64::from(wet));
        for warning in &view.rest.warnings {
            report.warn(warning.clone());
        }
        if state.teleports > 0 {
            report.warn("roots jumped: their hair was carried along and brought to rest");
        }
    }
}
