//! Liquid in the cloth: it weighs, so that wet cloth hangs lower and the air carries it less.

use super::rest::ClothRest;
use super::rest::Garment;
use super::state::ClothState;
use super::step::in_ticks;
use crate::stage::{Clock, Frame};

/// Time between looks at what the cloth carries [s]: rows are compiled for masses.
const LOOK_SECONDS: f64 = 0.05;
/// Most liquid that a node carries, in masses of its own [-]: cotton holds about three times its weight; much
/// heavier nodes beside dry ones would draw out the edges between them.
const MOST_CARRIED: f64 = 4.0;

/// Takes over what later layers have put on the mesh, now and then.
pub(super) fn take_load(garment: &Garment, frame: &Frame, state: &mut ClothState, clock: &Clock) {
    let rest = &garment.cloth;
    if !state.ticks.is_multiple_of(in_ticks(LOOK_SECONDS, clock)) {
        return;
    }
    let own = garment.parts.first().map_or(rest.node_of_vertex.len(), |part| part.first);
    let parts = garment.parts.iter().map(|part| (part.mesh, part.vertices()));
    let loads = std::iter::once((garment.mesh, 0..own))
        .chain(parts)
        .map(|(mesh, vertices)| (&frame.meshes[mesh].channels.load, vertices));
    if loads.clone().all(|(load, _)| load.iter().all(|l| *l <= 0.0)) {
        state.soaked.clear();
        return;
    }
    // Said of a mesh with other vertices: cloth that has torn since then.
    if loads.clone().any(|(load, vertices)| !load.is_empty() && load.len() != vertices.len()) {
        return;
    }
    state.soaked.clear();
    state.soaked.resize(rest.node_count(), 0.0);
    for (load, vertices) in loads {
        for (&node, liquid) in rest.node_of_vertex[vertices].iter().zip(load) {
            state.soaked[node as usize] += liquid;
        }
    }
    for (liquid, mass) in state.soaked.iter_mut().zip(&rest.mass) {
        *liquid = liquid.min((MOST_CARRIED * mass) as f32);
    }
}

/// Mass of a node with what it carries [kg].
pub(super) fn node_mass(rest: &ClothRest, soaked: &[f32], node: usize) -> f64 {
    rest.mass[node] + soaked.get(node).map_or(0.0, |liquid| f64::from(*liquid))
}
