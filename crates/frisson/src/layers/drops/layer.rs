//! The contract: what the stage asks of drops.

use super::build::{self, expected_memory};
use super::params::DropsParams;
use super::rest::DropsRest;
use super::scratch::DropsScratch;
use super::state::{DropsState, NOT_ENTERED};
use super::step;
use super::weight;
use crate::stage::{
    BuildContext, Frame, Layer, LayerError, LayerReport, SnapshotError, StepContext, View, Work,
};

/// Drops of one liquid.
pub struct DropsLayer;

impl Layer for DropsLayer {
    const KIND: &'static str = "drops";
    type Params = DropsParams;
    type Rest = DropsRest;
    type State = DropsState;
    type Scratch = DropsScratch;

    fn name(params: &DropsParams) -> &str {
        &params.name
    }

    fn build(params: &DropsParams, context: &BuildContext) -> Result<DropsRest, LayerError> {
        build::build(params, context)
    }

    fn start(
        work: Work<'_, Self, ()>,
        context: &StepContext,
        frame: &Frame,
    ) -> Result<DropsState, LayerError> {
        step::start(work, context, frame)
    }

    fn advance(
        work: Work<'_, Self, &mut DropsState>,
        context: &StepContext,
        frame: &Frame,
    ) -> Result<(), LayerError> {
        let Work { params, rest, state, scratch } = work;
        step::advance(&mut Work { params, rest, state, scratch }, context, frame)
    }

    fn write(
        work: Work<'_, Self, &DropsState>,
        context: &StepContext,
        frame: &mut Frame,
    ) -> Result<(), LayerError> {
        let Work { params, rest, state, scratch } = work;
        Work { params, rest, state, scratch }.show(context, frame);
        Ok(())
    }

    fn needs_surfaces_between_frames(_params: &DropsParams, _rest: &DropsRest) -> bool {
        true
    }

    fn looks_at<'a>(_params: &'a DropsParams, rest: &'a DropsRest) -> Option<&'a [usize]> {
        // The mesh that only shows them is looked at in outputs alone, and those are written anyway.
        Some(&rest.meshes)
    }

    const FEELS_LOAD: bool = true;

    fn weigh(view: View<'_, Self>, frame: &mut Frame) {
        weight::weigh(&view, frame);
    }

    fn check_fit(rest: &DropsRest, state: &DropsState) -> Result<(), SnapshotError> {
        let relief = state.relief.as_deref().unwrap_or(&rest.home);
        let triangles = relief.count();
        let wet = &state.wet;
        let per_triangle = [&wet.film, &wet.film_solute, &wet.stain, &wet.soaked].map(Vec::len);
        let on = |t: Option<u32>| t.is_none_or(|t| (t as usize) < triangles);
        let fits = per_triangle.iter().all(|n| *n == triangles)
            && [wet.is_active.len(), wet.wetness.len()] == [triangles; 2]
            && wet.active.iter().all(|t| on(Some(*t)))
            && relief.positions.len() == rest.meshes.len()
            && relief.source.iter().all(|t| (*t as usize) < rest.home.count())
            && state.sources.len() == rest.starts.len()
            && state.sources.iter().all(|s| on(s.place.map(|(t, _)| t)))
            && state.axes.iter().all(|(t, _)| on(Some(*t)))
            && state.trail.pieces.iter().all(|p| on(Some(p.triangle)))
            && state.drops.iter().all(|d| on(d.triangle()))
            && state.pools.len() == rest.pools.len()
            && state.pools.iter().zip(&rest.pools).all(|(pool, rest)| pool.fits(rest));
        let points = match &state.relief {
            None => rest.surface.sources.len(),
            Some(relief) if relief.is_sound() => relief.connect().sources.len(),
            Some(_) => usize::MAX,
        };
        if fits && state.points.len() == points {
            return Ok(());
        }
        Err(SnapshotError("the surface or the sources have changed".to_owned()))
    }

    fn retune(work: Work<'_, Self, &mut DropsState>) {
        // The liquid, the ground and the shapes all follow from parameters.
        *work.scratch = DropsScratch::default();
        if work.state.relief.is_none() {
            // Sources may have been moved.
            for (source, start) in work.state.sources.iter_mut().zip(&work.rest.starts) {
                source.place = start.and_then(|s| s.on);
            }
        }
        // What held a drop may not hold it any more.
        for drop in &mut work.state.drops {
            drop.asleep = false;
            drop.entered = NOT_ENTERED;
        }
    }

    fn report(view: View<'_, Self>, report: &mut LayerReport) {
        let state = view.state;
        let ledger = &state.ledger;
        let (drops, beads, films) = state.masses();
        let in_air = state.drops.iter().filter(|d| !d.is_on_surface()).count();
        let held = state.drops.iter().filter(|d| d.held).count();
        report.measure("drops", "-", state.drops.len() as f64);
        report.measure("in the air", "-", in_air as f64);
        report.measure("held", "-", held as f64);
        report.measure("mass in drops", "kg", drops);
        report.measure("mass in beads", "kg", beads);
        report.measure("mass in films", "kg", films);
        if !state.pools.is_empty() {
            report.measure("mass in pools", "kg", state.pooled());
        }
        report.measure("emitted", "kg", ledger.emitted.value());
        report.measure("evaporated", "kg", ledger.evaporated.value());
        report.measure("absorbed", "kg", ledger.absorbed.value());
        report.measure("fallen out", "kg", ledger.fallen.value());
        report.measure("caught", "kg", ledger.caught.value());
        report.measure("ledger imbalance", "-", state.imbalance());
        report.measure("merges", "-", ledger.merges as f64);
        report.measure("landings", "-", ledger.landings as f64);
        report.measure("releases", "-", ledger.releases as f64);
        report.measure("ran off", "-", ledger.run_offs as f64);
        report.measure("crossings", "-", ledger.crossings as f64);
        report.measure("steps cut short", "-", ledger.truncated as f64);
        report.measure("drops stalled", "-", ledger.stalled as f64);
        warn(&view, report);
    }
}

fn warn(view: &View<'_, DropsLayer>, report: &mut LayerReport) {
    let found = &view.rest.surface.findings;
    let mut notes = Vec::new();
    let mut note = |count: usize, what: &str| {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    };
    note(found.flat_triangles, "triangles without area (left out)");
    note(found.crowded_edges, "edges with more than two triangles");
    note(found.tee_edges, "edges that meet only parts of others");
    note(found.flipped_edges, "edges between triangles that wind against each other");
    if !notes.is_empty() {
        report.warn(format!("the surface has {}", notes.join(", ")));
    }
    let (drops, bytes) = expected_memory(view.params);
    if bytes > 2e9 {
        report.warn(format!("up to {drops:.0} drops need about {:.0} GB", bytes / 1e9));
    }
    if view.state.off_mesh > 0 {
        report.warn(format!(
            "{} drops started in the air: their source is not on the mesh",
            view.state.off_mesh
        ));
    }
    if view.state.ledger.truncated > 0 {
        report.warn("some drops met more edges in a step than the limit; they lag".to_owned());
    }
    if view.state.merge_limited > 0 {
        report.warn(
            "some drops move more than their reach between two merge tests; a few merges may \
             be missed"
                .to_owned(),
        );
    }
}
