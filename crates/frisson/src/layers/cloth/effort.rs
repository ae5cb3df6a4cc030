//! How hard a tick is solved: harder while something stops or drags the cloth.

use rayon::prelude::*;

use super::params::ClothParams;
use super::rest::ClothRest;
use super::state::ClothState;
use super::step::in_ticks;
use super::stretch;
use crate::stage::Clock;
use crate::tolerances::cloth as limits;

/// Edges a task takes at once.
const TASK: usize = 4096;

/// Whether a tick has to be solved harder. Small steps are chosen for cloth that hangs by its own weight; where a
/// ball stops a falling sheet, its edges have to hold many times that for a moment. `needs` is what pulled pins
/// ask of the nodes.
pub fn is_drawn_out(
    needs: &[f32],
    (params, rest): (&ClothParams, &ClothRest),
    state: &mut ClothState,
    clock: &Clock,
) -> bool {
    // Cloth without coarse levels stretches by itself, and so does what is blown up or pulled.
    let stretches = rest.hierarchy.is_empty()
        || params.pressure.is_some()
        || params.overpressure.is_some()
        || !needs.is_empty();
    if stretches || params.substeps.is_some() {
        state.hard = 0;
        return false;
    }
    state.hard = state.hard.saturating_sub(1);
    let edges = &rest.edges.rows;
    let x = &state.positions;
    let drawn = |edges: &[stretch::Edge]| {
        edges.iter().filter(|e| stretch::strain(e, x) > limits::DRAWN_OUT).count()
    };
    let count: usize = edges.par_chunks(TASK).map(drawn).sum();
    if count as f64 > limits::DRAWN_SHARE * edges.len() as f64 {
        // Solved harder, they are not drawn out any more: without a while to last it would come and go.
        state.hard = in_ticks(limits::HARDER_SECONDS, clock).min(255) as u8;
    }
    state.hard > 0
}
