//! One step, as a short list of passes.

use glam::Vec3;
use rayon::prelude::*;

use super::interact::{InteractionInput, next_turns};
use super::layer::HairLayer;
use super::params::HairParams;
use super::rest::HairRest;
use super::scratch::HairScratch;
use super::soaking::soak;
use super::split;
use super::state::{HairState, Wisp};
use super::tick::{HairDrive, TOGETHER, TickInput, TickRoom, carry_along, integrate_wisps};
use super::wind;
use crate::geometry::Mesh;
use crate::stage::{Animated, Falling, Frame, LayerError, StepContext, Work};

/// How often the shelter from wind is measured [Hz]: hair and bodies move little against the wind in
/// that time.
const SHELTER_HZ: f64 = 30.0;

/// The hair as styled, carried to where the roots are now.
pub(super) fn initial_state(
    work: Work<'_, HairLayer, ()>,
    frame: &Frame,
) -> Result<HairState, LayerError> {
    let Work { params, rest, scratch, .. } = work;
    let mesh = &frame.meshes[find_mesh(params, frame)?];
    scratch.places.find(rest, mesh)?;
    let mut roots = Vec::new();
    scratch.places.poses(rest, mesh, &mut roots);
    let mut wisps = rest.styled.clone();
    for wisp in &mut wisps {
        let index = wisp.root as usize;
        let (pose, styled) = (&roots[index], &rest.styled_roots[index]);
        let carried = pose.carried(&rest.roots[index]);
        // Where nothing has moved since the build, the styled places stand to the last bit.
        if carried != [wisp.positions[0], wisp.positions[1]] {
            let turn = pose.axes * styled.axes.transpose();
            let (reactions, pressures) = (wisp.reactions.clone(), wisp.pressures.clone());
            carry_along(wisp, pose, carried);
            wisp.pressures = pressures;
            for (own, styled) in wisp.reactions.iter_mut().zip(reactions) {
                *own = turn * styled;
            }
            super::planes::compute_planes(wisp);
        }
    }
    let positions = |name: &String| {
        let mesh = frame.mesh_index(name).map(|index| &frame.meshes[index]);
        mesh.map_or_else(Vec::new, |m| m.positions.clone())
    };
    let surfaces = params.body.meshes.iter().map(positions).collect();
    let mut state = HairState { wisps, roots, surfaces, turns: 1, ..HairState::default() };
    if params.strands.velocities {
        scratch.places.hair_roots(mesh, &mut state.past.skin_now);
    }
    Ok(state)
}

/// Advances the hair by one step.
pub(super) fn advance(
    work: Work<'_, HairLayer, &mut HairState>,
    context: &StepContext,
    frame: &Frame,
) -> Result<(), LayerError> {
    let Work { params, rest, state, scratch } = work;
    let mesh = &frame.meshes[find_mesh(params, frame)?];
    follow_surroundings((params, rest), state, scratch, context, frame, mesh)?;
    gather_forces((params, rest), state, scratch, context);
    integrate((params, rest), state, scratch, context, (mesh, &frame.falling));
    // A look between two ticks shows how hair goes on; what is done once a tick waits for the tick.
    if is_whole_tick(context) {
        interact((params, rest), state, scratch, context);
        if params.split.max_growth > 1.0 {
            let before = (state.wisps.len(), state.next_split);
            // Merges first: they make room under the bound for those that are torn now.
            split::apply_merges(&params.split, rest, state, context.dt as f32);
            split::apply_splits(&params.split, rest, state);
            if before != (state.wisps.len(), state.next_split) {
                // Bonds name wisps by their places, which are no longer the same.
                state.bonds.clear();
            }
        }
    }
    if params.strands.velocities {
        scratch.places.hair_roots(mesh, &mut state.past.skin_now);
    }
    state.roots.clone_from(&scratch.roots);
    for (saved, mesh) in state.surfaces.iter_mut().zip(&scratch.surfaces.all) {
        saved.clear();
        saved.extend_from_slice(mesh.positions());
    }
    check_finite(state, context)
}

/// The scalp's mesh in the frame.
pub(super) fn find_mesh(params: &HairParams, frame: &Frame) -> Result<usize, LayerError> {
    let gone = || LayerError::Other(format!("mesh {:?} is gone", params.on));
    frame.mesh_index(&params.on).ok_or_else(gone)
}

fn is_whole_tick(context: &StepContext) -> bool {
    context.dt > 0.999 * context.clock.tick_seconds()
}

/// Brings roots, bodies and meshes to the end of the step.
fn follow_surroundings(
    (params, rest): (&HairParams, &HairRest),
    state: &mut HairState,
    scratch: &mut HairScratch,
    context: &StepContext,
    frame: &Frame,
    mesh: &Mesh,
) -> Result<(), LayerError> {
    if params.strands.velocities {
        state.past.note(&state.wisps, context.dt as f32);
    }
    scratch.places.find(rest, mesh)?;
    scratch.places.poses(rest, mesh, &mut scratch.roots);
    let span = (context.time, context.dt);
    scratch.surfaces.advance((params, rest), frame, &state.surfaces, span);
    let around = (context.colliders, context.actors);
    let (before, substeps) = (context.time - context.dt, params.substeps as usize);
    scratch.bodies.gather((params, rest), around, before, substeps);
    Ok(())
}

fn gather_forces(
    (params, rest): (&HairParams, &HairRest),
    state: &mut HairState,
    scratch: &mut HairScratch,
    context: &StepContext,
) {
    let (n, forces) = (rest.count, context.forces);
    // In the middle of the step: a gust that rises within it counts half.
    let time = context.time - 0.5 * context.dt;
    let HairScratch { accelerations, air, .. } = scratch;
    let wisps = &state.wisps;
    accelerations.resize(wisps.len() * n, Vec3::ZERO);
    air.resize(wisps.len() * n, Vec3::ZERO);
    let windy = forces.has_wind();
    let work = accelerations.par_chunks_mut(n).zip(air.par_chunks_mut(n)).zip(wisps);
    work.with_min_len(16).for_each(|((accelerations, air), wisp)| {
        for i in 0..n {
            let p = wisp.positions[i];
            accelerations[i] = forces.acceleration(p, time);
            let sampled = windy && (i % 3 == 0 || i + 1 == n);
            air[i] = if sampled { forces.air_velocity(p, time) } else { Vec3::ZERO };
        }
        // Gusts are larger than segments: two particles of three take the mean of others.
        for i in (0..n).filter(|i| windy && i % 3 != 0 && i + 1 != n) {
            let (from, to) = (i - i % 3, (i - i % 3 + 3).min(n - 1));
            let t = (i - from) as f32 / (to - from) as f32;
            air[i] = air[from].lerp(air[to], t);
        }
    });
    if windy && params.wind_shadow > 0.0 {
        shelter((params, rest), state, scratch, context);
    }
}

/// Takes the wind out of the air where hair or a body stands in its way.
fn shelter(
    (params, rest): (&HairParams, &HairRest),
    state: &mut HairState,
    scratch: &mut HairScratch,
    context: &StepContext,
) {
    let HairScratch { air, shadow, bodies, .. } = scratch;
    let wisps = &mut state.wisps;
    // Counted by ticks of the clock, not of this layer: a resumed bake measures at the same moments.
    if (context.tick() + 1).is_multiple_of(ticks_between(context, SHELTER_HZ)) {
        shadow.build(rest, wisps);
        let strength = params.wind_shadow;
        wind::measure_shelter(shadow, strength, rest, wisps, bodies.at_the_end(), air);
    }
    for (air, wisp) in air.chunks_mut(rest.count).zip(wisps) {
        for (a, share) in air.iter_mut().zip(&wisp.shelter) {
            *a *= *share;
        }
    }
}

/// Ticks from one turn to the next of what is done at a rate.
fn ticks_between(context: &StepContext, rate_hz: f64) -> u64 {
    (1.0 / (context.clock.tick_seconds() * rate_hz)).round().max(1.0) as u64
}

/// Wisps act on each other, every so many ticks.
fn interact(
    (params, rest): (&HairParams, &HairRest),
    state: &mut HairState,
    scratch: &mut HairScratch,
    context: &StepContext,
) {
    let interaction = &params.interaction;
    if !interaction.friction && !interaction.collisions {
        state.bonds.clear();
        return;
    }
    let holds = interaction.holds();
    let every = if holds { 1 } else { ticks_between(context, f64::from(interaction.rate_hz)) };
    // The same for contact.
    if !context.tick().is_multiple_of(every) {
        return;
    }
    let input = InteractionInput {
        rest,
        params: interaction,
        mass_share: params.envelope.mass_share,
        wetness: &scratch.wetness,
        dt: (context.clock.tick_seconds() * every as f64) as f32,
        tick: context.dt as f32,
        holds,
        bonds: &state.bonds,
        // Hair that is to hold holds whatever its style was.
        remembers: !holds && memory_rate_sq(params, context) > 0.0,
        carried: 2,
        turns: if holds { 1 } else { state.turns.max(1) },
        pass: context.tick() / every,
        sweeps: interaction.sweeps(),
    };
    let interactions = &mut scratch.interactions;
    interactions.apply(&input, &mut state.wisps);
    if params.stretch <= 0.0 && holds {
        // What dry friction holds back must not lengthen straight hair.
        let work = state.wisps.par_iter_mut().with_min_len(64);
        work.for_each(|w| super::tick::fit_lengths(w, rest.roots[w.root as usize].segment));
    }
    let pairs = interactions.treated.iter().sum::<u32>() / input.sweeps;
    let sections = state.wisps.len() * (rest.count - 2);
    state.turns = next_turns(interaction, input.turns, pairs, sections as u32);
    state.treated = interactions.treated;
    // Bonds are all that a pass leaves behind: they must be in what is saved.
    state.bonds.clone_from(&interactions.bonds);
}

/// Parts into which the wisps of a tick are shared among threads, at most: enough for many threads, few
/// enough that each part's room is small beside the hair.
const PARTS: usize = 64;

fn integrate(
    (params, rest): (&HairParams, &HairRest),
    state: &mut HairState,
    scratch: &mut HairScratch,
    context: &StepContext,
    water: (&Mesh, &[Falling]),
) {
    let frame = context.frame_number();
    let rate_sq = |a: &Animated| rate_sq(a, frame);
    let style = &params.style;
    scratch.ties.clear();
    scratch.ties.extend(style.ties.iter().map(|t| rate_sq(&t.hold_hz)));
    scratch.braids.clear();
    scratch.braids.extend(style.braids.iter().map(|b| rate_sq(&b.hold_hz)));
    soak((params, rest), state, scratch, water, (frame, context.dt));
    let input = TickInput {
        rest,
        params,
        roots_before: &state.roots,
        roots: &scratch.roots,
        bodies: &scratch.bodies.posed,
        meshes: &scratch.surfaces.all,
        dt: context.dt,
        drag: f64::from(params.drag + context.forces.drag_rate(context.time)),
        goal_rate_sq: rate_sq(&params.goal_hz),
        memory_rate_sq: memory_rate_sq(params, context),
        tie_rates_sq: &scratch.ties,
        braid_rates_sq: &scratch.braids,
        wetness: &scratch.wetness,
        friction: true,
        styled: true,
        rests: true,
    };
    let n = rest.count;
    let count = state.wisps.len();
    scratch.jumped.resize(count, false);
    // Parts of whole fours, by the number of wisps alone: which wisps share lanes must not depend on the threads.
    let part = TOGETHER * count.div_ceil(TOGETHER * PARTS).max(1);
    scratch.rooms.resize_with(count.div_ceil(part), TickRoom::boxed);
    (state.wisps.par_chunks_mut(part))
        .zip(scratch.accelerations.par_chunks(part * n))
        .zip(scratch.air.par_chunks(part * n))
        .zip(scratch.jumped.par_chunks_mut(part))
        .zip(&mut scratch.rooms)
        .for_each(|((((wisps, accelerations), air), jumped), room)| {
            (wisps.chunks_mut(TOGETHER))
                .zip(accelerations.chunks(TOGETHER * n))
                .zip(air.chunks(TOGETHER * n))
                .zip(jumped.chunks_mut(TOGETHER))
                .for_each(|(((wisps, accelerations), air), jumped)| {
                    integrate_wisps(&input, wisps, &HairDrive { accelerations, air }, room, jumped);
                });
        });
    state.teleports += scratch.jumped.iter().filter(|j| **j).count() as u32;
}

/// Stiffness per mass of a pull given as a frequency [1/s²].
fn rate_sq(hz: &Animated, frame: f64) -> f64 {
    (std::f64::consts::TAU * hz.at(frame).max(0.0)).powi(2)
}

/// The same of the memory of the style, which only a style that is held has [1/s²].
fn memory_rate_sq(params: &HairParams, context: &StepContext) -> f64 {
    let style = &params.style;
    if style.balance { rate_sq(&style.memory_hz, context.frame_number()) } else { 0.0 }
}

fn check_finite(state: &HairState, context: &StepContext) -> Result<(), LayerError> {
    let bad = |w: &Wisp| !w.positions.iter().all(|p| p.is_finite());
    match state.wisps.iter().position(bad) {
        None => Ok(()),
        Some(element) => Err(LayerError::NonFinite { what: "wisp", element, frame: context.frame }),
    }
}
