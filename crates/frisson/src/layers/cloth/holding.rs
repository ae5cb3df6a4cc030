//! Where held nodes are in a tick, and what pins that are pulled apart ask of the cloth.

use super::attach::{Attachments, Holder};
use super::body_contacts::BodyReach;
use super::node_places::copy_nodes;
use super::params::ClothParams;
use super::pressed::{Press, press};
use super::rest::Garment;
use super::scratch::{ClothScratch, Tools};
use super::solver::Solver;
use super::state::ClothState;
use crate::stage::StepContext;

/// Where held and sticky nodes are at the start and at the end of the tick.
pub(super) fn place_held(
    tools: &mut Tools,
    rest: &Garment,
    (state, scratch): (&ClothState, &mut ClothScratch),
    (context, reach): (&StepContext, BodyReach),
) {
    let number = context.frame_number();
    let (attachments, carriers) = (&rest.attachments, tools.carriers.as_slice());
    let held = &mut scratch.held;
    held.clear();
    scratch.presses.clear();
    for hold in attachments.holds.iter().filter(|h| Attachments::is_on(h, number)) {
        if held.last().is_some_and(|h| h.0 == hold.node) {
            continue;
        }
        let start = state.positions[hold.node as usize];
        let place = attachments.place(hold, context, (carriers, &scratch.incoming));
        // What is told where to be by joints and paths has been told so.
        let press = match (place, &hold.by) {
            (Some(end), Holder::Incoming) => {
                Press::of(&tools.bodies, (start, end), reach, context.dt)
            }
            _ => Press::default(),
        };
        held.push((hold.node, start, place.unwrap_or(start)));
        scratch.presses.push(press);
    }
    press(&rest.cloth, held, &mut scratch.presses);
    // Rows are compiled for masses: only when other nodes are held, or nodes carry other loads, must they
    // be made anew.
    let same = held.len() == scratch.held_nodes.len()
        && held.iter().zip(&scratch.held_nodes).all(|(h, n)| h.0 == *n)
        && scratch.soaked == state.soaked;
    if !same {
        scratch.soaked.clone_from(&state.soaked);
        scratch.held_nodes.clear();
        scratch.held_nodes.extend(held.iter().map(|h| h.0));
        let held = scratch.held_nodes.iter().copied();
        tools.solver.set_masses(&rest.cloth, &scratch.soaked, held);
    }
    scratch.stuck.clear();
    for stuck in &state.stuck {
        let place = |f: f32| attachments.stuck_place(carriers, stuck, f);
        if let (Some(start), Some(end)) = (place(0.0), place(1.0)) {
            scratch.stuck.push((stuck.node, start, end));
        }
    }
}

/// Where soft pins are drawn to.
pub(super) fn place_soft((params, rest): (&ClothParams, &Garment), scratch: &mut ClothScratch) {
    let ClothScratch { soft, incoming, .. } = scratch;
    soft.clear();
    soft.extend(rest.soft.iter().map(|pin| {
        let rate = std::f64::consts::TAU * params.soft_pins_hz * pin.weight;
        (pin.node, incoming[pin.vertex as usize].as_dvec3(), rate)
    }));
}

/// What pins that are moved apart ask of the cloth at the end of the tick.
pub(super) fn measure_needs(
    tools: &mut Tools,
    rest: &Garment,
    (state, scratch): (&ClothState, &mut ClothScratch),
) {
    copy_nodes(&state.positions, &mut scratch.starts);
    copy_nodes(&state.positions, &mut scratch.ends);
    for (node, _, end) in &scratch.held {
        scratch.ends[*node as usize] = *end;
    }
    let Solver { needs, inverse_mass, .. } = &mut tools.solver;
    let held = |node: u32| inverse_mass[node as usize] == 0.0;
    rest.cloth.pulled.needs(&scratch.ends, held, needs);
}

/// Whether pins draw the cloth between them straight in this tick, and no longer than it is. Call after
/// [`measure_needs`].
pub(super) fn is_taut(solver: &Solver, rest: &Garment, scratch: &ClothScratch) -> bool {
    let held = |node: u32| solver.inverse_mass[node as usize] == 0.0;
    // What is pulled, or stretches by itself, has other lengths in any case.
    let keeps_lengths = solver.needs.is_empty() && !rest.cloth.hierarchy.is_empty();
    keeps_lengths && rest.cloth.pulled.is_taut(&scratch.ends, held)
}
