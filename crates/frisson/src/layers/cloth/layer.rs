//! The contract: what the stage asks of cloth.

use super::cycle;
use super::params::ClothParams;
use super::pressure;
use super::refine::Refinement;
use super::rest::Garment;
use super::scratch::ClothScratch;
use super::state::ClothState;
use super::step;
use crate::stage::{
    BuildContext, Clock, Frame, Layer, LayerError, LayerReport, SnapshotError, StepContext, View,
    Work,
};

/// A simulated garment.
pub struct ClothLayer;

impl Layer for ClothLayer {
    const KIND: &'static str = "cloth";
    type Params = ClothParams;
    type Rest = Garment;
    type State = ClothState;
    type Scratch = ClothScratch;

    fn name(params: &ClothParams) -> &str {
        &params.name
    }

    const FEELS_LOAD: bool = true;

    fn build(params: &ClothParams, context: &BuildContext) -> Result<Garment, LayerError> {
        params.validate()?;
        Garment::build(params, context)
    }

    fn needs_surfaces_between_frames(_params: &ClothParams, rest: &Garment) -> bool {
        !rest.bodies.is_empty()
            || !rest.attachments.holds.is_empty()
            || !rest.attachments.carriers.is_empty()
    }

    fn start(
        mut work: Work<'_, Self, ()>,
        context: &StepContext,
        frame: &Frame,
    ) -> Result<ClothState, LayerError> {
        step::start(&mut work, context, frame)
    }

    fn advance(
        mut work: Work<'_, Self, &mut ClothState>,
        context: &StepContext,
        frame: &Frame,
    ) -> Result<(), LayerError> {
        step::tick(&mut work, context, frame)?;
        let per_tick = 1.0 / context.clock.ticks_per_frame();
        let cycle = work.params.cycle.as_ref();
        cycle::keep(cycle, work.state, context.frame_number(), per_tick);
        Ok(())
    }

    fn write(
        work: Work<'_, Self, &ClothState>,
        context: &StepContext,
        frame: &mut Frame,
    ) -> Result<(), LayerError> {
        step::show(work, context.frame_number(), frame)
    }

    fn check_fit(rest: &Garment, state: &ClothState) -> Result<(), SnapshotError> {
        let other = || SnapshotError("the cloth has another mesh or other bodies".to_owned());
        state.fits(rest).then_some(()).ok_or_else(other)
    }

    fn report(view: View<'_, Self>, report: &mut LayerReport) {
        let (params, rest, state) = (view.params, view.rest, view.state);
        // Measured when somebody asks, not in every tick: sorting all edges costs as much as some small steps.
        let mut strains = step::strains(rest, state);
        let mean = strains.iter().map(|s| s.max(0.0)).sum::<f64>() / strains.len().max(1) as f64;
        strains.sort_unstable_by(f64::total_cmp);
        let at = |q: f64| strains[((strains.len() - 1) as f64 * q) as usize];
        report.measure("stretch mean", "-", mean);
        report.measure("stretch p99", "-", at(0.99));
        report.measure("stretch max", "-", at(1.0));
        let settings = rest.settings(params, &Clock::default());
        let solved = rest.constraints_per_tick(&settings) as f64 * rest.ticks_per_frame;
        report.measure("constraints per frame", "-", solved);
        if params.pressure.is_some() || params.overpressure.is_some() {
            let volume = pressure::volume(&rest.cloth.triangles, &state.positions);
            report.measure("volume", "m³", volume);
        }
        let uncut = rest.refinement.as_ref().map_or(0, Refinement::left_out);
        if uncut > 0 {
            report.warn(format!("{uncut} triangles are not manifold and were not subdivided"));
        }
        for warning in &rest.cloth.warnings {
            report.warn(warning.clone());
        }
        if state.start_depth > rest.thickness {
            report.warn(format!(
                "the cloth starts {:.1} mm inside what it collides with; it is brought out",
                1000.0 * state.start_depth
            ));
        }
    }
}
