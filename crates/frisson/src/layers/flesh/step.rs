//! One step: follow the joint, advance the spring, move the vertices.

use glam::{DVec3, Vec3};

use super::chain::Chain;
use super::layer::FleshLayer;
use super::params::{FleshParams, LimitKind};
use super::path::{in_static_frame, path_at, sample_path, static_frame};
use super::pull::Pull;
use super::rest::FleshRest;
use super::scratch::FleshScratch;
use super::spring::{SpringStep, StaticFrame, apply_hard_limit, periodic_state, soften};
use super::state::FleshState;
use super::swing::FleshSwing;
use crate::character::Sampling;
use crate::geometry::{Ancestry, Mesh};
use crate::stage::{Actor, Clock, Frame, LayerError, StepContext, Work};
use crate::tolerances::flesh as tolerances;

/// At rest in the moving frame, or in the periodic state of a loop.
pub(super) fn initial_state(
    params: &FleshParams,
    rest: &FleshRest,
    context: &StepContext,
) -> Result<FleshState, LayerError> {
    let actor = &context.actors.all()[rest.actor];
    let pull = Pull::new(params, rest, context);
    if !params.looped {
        return Ok(pull.still_state(actor, context.time));
    }
    match actor.cycle_seconds() {
        Some(seconds) => Ok(looped_state(&pull, actor, context.time, seconds)),
        None => Err(LayerError::parameter("loop", "the actor plays no clip to loop")),
    }
}

fn looped_state(pull: &Pull, actor: &Actor, start: f64, duration: f64) -> FleshState {
    let (params, rest) = (pull.params, pull.rest);
    // Whole intervals in a cycle, of a length next to the grid's: a loop has to end where it began.
    let count = (duration * tolerances::GRID_HZ).round().max(1.0) as usize;
    let step = spring_step(params, duration / count as f64);
    // Times run over one cycle of the clip, whether or not the actor itself repeats it.
    let frame_at = |i: usize| {
        let time = start + duration * (i % count) as f64 / count as f64;
        in_static_frame(rest, actor.joint_in_cycle(&rest.joint_path, time))
    };
    let most = limit(params, rest);
    let cycle = |mut state: FleshState, limited: bool| {
        for i in 0..count {
            let time = start + duration * i as f64 / count as f64;
            let from = frame_at(i);
            step.advance(&mut state, from, frame_at(i + 1), pull.at(time, from.rotation));
            if limited && params.limit_kind == LimitKind::Hard {
                apply_hard_limit(&mut state, most);
            }
        }
        state
    };
    // First round: only for the velocity with which the frame comes in. Second: the response to it from rest.
    let path = cycle(FleshState::default(), false).path;
    let after = cycle(FleshState { path, ..FleshState::default() }, false);
    let mut state = periodic_state(params.spring(), duration, &after);
    if params.limit_kind == LimitKind::Soft {
        return state;
    }
    // A hard limit is not linear: simulated until it repeats, from the linear answer on.
    for _ in 0..tolerances::MAX_LOOP_CYCLES {
        let next = cycle(state.clone(), true);
        let change = (next.elongation - state.elongation).length();
        state = next;
        if change < tolerances::CLOSED_LOOP * most {
            return state;
        }
    }
    state.open_loop = true;
    state
}

/// Greatest elongation [m].
pub(super) fn limit(params: &FleshParams, rest: &FleshRest) -> f64 {
    f64::from(rest.deepest) * f64::from(params.limit)
}

fn spring_step(params: &FleshParams, seconds: f64) -> SpringStep {
    SpringStep::new(params.spring(), seconds, params.rotation != 0.0)
}

/// Advances the spring over a step, on the fixed grid.
pub(super) fn integrate(
    work: Work<'_, FleshLayer, &mut FleshState>,
    context: &StepContext,
) -> Result<(), LayerError> {
    let Work { params, rest, state, scratch } = work;
    let actor = &context.actors.all()[rest.actor];
    let pull = Pull::new(params, rest, context);
    if !params.looped && rest.clip_begin.is_some_and(|begin| context.time <= begin) {
        // How the body came to its speed is not known: the flesh waits for it, at rest in the moving frame.
        *state = pull.still_state(actor, context.time);
        return Ok(());
    }
    if let Some(chain) = &rest.chain {
        return integrate_chain(chain, (&pull, actor), (state, scratch), context);
    }
    let (pairs, seconds, start) = grid_of(context);
    sample_path(rest, actor, state, (start, 2.0 * seconds, pairs), &mut scratch.nodes);
    if is_cut(params, rest, context, scratch.nodes[0], scratch.nodes[pairs]) {
        *state = pull.still_state(actor, context.time);
        return Ok(());
    }
    let step = match scratch.step {
        Some(step) if step.seconds() == seconds => step,
        _ => *scratch.step.insert(spring_step(params, seconds)),
    };
    let most = limit(params, rest);
    for i in 0..2 * pairs {
        let time = start + seconds * i as f64;
        let (from, next) = (path_at(&scratch.nodes, i), path_at(&scratch.nodes, i + 1));
        step.advance(state, from, next, pull.at(time, from.rotation));
        if params.limit_kind == LimitKind::Hard {
            apply_hard_limit(state, most);
        }
    }
    // Checked once a step: a number that is none stays none through all grid intervals.
    if state.elongation.is_finite() && state.turn.is_finite() {
        Ok(())
    } else {
        Err(LayerError::NonFinite { what: "spring", element: 0, frame: context.frame })
    }
}

/// Pairs of grid intervals in a step, the length of one and the time at which the step begins [s].
fn grid_of(context: &StepContext) -> (usize, f64, f64) {
    let pairs = (0.5 * context.dt * tolerances::GRID_HZ - tolerances::GRID_ROUNDING).ceil().max(1.0)
        as usize;
    (pairs, context.dt / (2 * pairs) as f64, context.time - context.dt)
}

/// Advances a chain over a step, on the fixed grid.
fn integrate_chain(
    chain: &Chain,
    (pull, actor): (&Pull, &Actor),
    (state, scratch): (&mut FleshState, &mut FleshScratch),
    context: &StepContext,
) -> Result<(), LayerError> {
    let (pairs, seconds, start) = grid_of(context);
    let FleshScratch { chain_nodes, step, .. } = scratch;
    chain_nodes.resize_with(chain.points.len(), Vec::new);
    for (point, nodes) in chain_nodes.iter_mut().enumerate() {
        nodes.clear();
        let times = (0..=pairs).map(|i| start + 2.0 * seconds * i as f64);
        nodes.extend(times.map(|time| chain.frame_at(point, actor, time)));
    }
    if is_cut(pull.params, pull.rest, context, chain_nodes[0][0], chain_nodes[0][pairs]) {
        *state = pull.still_state(actor, context.time);
        return Ok(());
    }
    let step = match step {
        Some(step) if step.seconds() == seconds => *step,
        _ => *step.insert(SpringStep::new(pull.params.spring(), seconds, false)),
    };
    // At the start and after a cut.
    if state.links.iter().any(|l| l.path.is_none()) {
        let at = |i: usize| {
            let nodes = &*chain_nodes;
            move |point: usize| path_at(&nodes[point], i).position
        };
        chain.depart(pull.params, &mut state.links, (at(0), at(1)), seconds);
    }
    for i in 0..2 * pairs {
        let time = start + seconds * i as f64;
        let next = |point: usize| path_at(&chain_nodes[point], i + 1);
        let pulls =
            |point: usize| pull.link_pull(chain, point, time, path_at(&chain_nodes[point], i));
        chain.advance(pull.params, &step, &mut state.links, next, pulls);
    }
    if let Some(element) = state.links.iter().position(|l| !l.elongation.is_finite()) {
        return Err(LayerError::NonFinite { what: "spring", element, frame: context.frame });
    }
    // For the report: how far the tip's own spring is out.
    state.elongation = state.links.last().map_or(DVec3::ZERO, |l| l.elongation);
    Ok(())
}

/// Moves the vertices of a chain.
fn deform_chain(
    chain: &Chain,
    work: &mut Work<'_, FleshLayer, &FleshState>,
    context: &StepContext,
    frame: &mut Frame,
) {
    let Work { params, rest, state, scratch } = work;
    let actor = &context.actors.all()[rest.actor];
    let amount = params.amount.at(context.clock.frame_at(context.time));
    actor.pose_at(context.time, Sampling::AsAuthored, &mut scratch.pose);
    let FleshScratch { pose, chain_poses, .. } = &mut **scratch;
    let drawn = |point: usize| chain.drawn(point, pose);
    chain.pose(params, &state.links, (drawn, amount), chain_poses);
    for part in &chain.parts {
        let mesh = &mut frame.meshes[part.mesh];
        let root = mesh.topology.root_vertex_count();
        scratch.before.clear();
        // Elements are found on the file's own vertices; those that refinement made follow below.
        scratch.before.extend_from_slice(&mesh.positions[..root]);
        part.apply(&scratch.chain_poses, mesh);
        if root < mesh.positions.len() {
            carry_refined(mesh, &mut scratch.before, &mut scratch.spare);
        }
    }
}

/// Forgets the spring's step of old parameters.
pub(super) fn forget_step(scratch: &mut FleshScratch) {
    scratch.step = None;
}

/// Whether the character jumps within this step: a listed cut, the wrap of a clip that does not
/// close, or further than flesh could ever be dragged.
fn is_cut(
    params: &FleshParams,
    rest: &FleshRest,
    context: &StepContext,
    from: StaticFrame,
    to: StaticFrame,
) -> bool {
    let ticks = (context.dt / context.clock.tick_seconds()).max(1.0);
    // At least one tick's worth: a short look between two ticks must not find a cut that the tick does not.
    let bound = params.teleport * f64::from(rest.bone_length) * ticks;
    params.cuts.contains(&context.frame) || from.position.distance(to.position) > bound
}

/// The swing as it reaches the mesh at a time.
pub(super) fn swing_at(
    params: &FleshParams,
    rest: &FleshRest,
    state: &FleshState,
    (clock, actor, time): (&Clock, &Actor, f64),
) -> FleshSwing {
    let amount = params.amount.at(clock.frame_at(time));
    let elongation = match params.limit_kind {
        // Softened when shown, not in the state: the spring itself stays linear, and its closed form exact.
        LimitKind::Soft => soften(state.elongation, limit(params, rest)),
        LimitKind::Hard => state.elongation,
    };
    let turn = state.turn * f64::from(params.rotation);
    // The frame that the spring was advanced against, so that both speak of the same place.
    let frame = match state.path {
        Some(path) => StaticFrame { position: path.position, rotation: path.rotation },
        None => static_frame(rest, actor, time),
    };
    let elongation = (amount * elongation).as_vec3();
    let world_from_rest = frame.rotation * rest.rest_rotation.inverse();
    FleshSwing {
        elongation,
        turn: (amount * turn).as_vec3(),
        pivot: frame.position.as_vec3(),
        squeeze: rest.volume.squeeze(elongation, params.volume, world_from_rest.as_quat()),
        // An artist who asks for twice the amount means it: the limit grows along.
        most: (amount.abs().max(1.0) * limit(params, rest)) as f32,
    }
}

/// Moves the vertices.
pub(super) fn deform(
    work: &mut Work<'_, FleshLayer, &FleshState>,
    context: &StepContext,
    frame: &mut Frame,
) {
    if let Some(chain) = &work.rest.chain {
        return deform_chain(chain, work, context, frame);
    }
    let Work { params, rest, state, scratch } = work;
    let actor = &context.actors.all()[rest.actor];
    let swing = swing_at(params, rest, state, (context.clock, actor, context.time));
    for part in &rest.swung {
        let mesh = &mut frame.meshes[part.mesh];
        let root = mesh.topology.root_vertex_count();
        // Not refined: nothing has to go along with it.
        if root == mesh.positions.len() {
            part.apply(&swing, mesh);
            continue;
        }
        scratch.before.clear();
        scratch.before.extend_from_slice(&mesh.positions[..root]);
        part.apply(&swing, mesh);
        carry_refined(mesh, &mut scratch.before, &mut scratch.spare);
    }
}

/// Vertices that an earlier layer added by refinement go along with those they are made of. `moved` holds
/// where the others were.
fn carry_refined(mesh: &mut Mesh, moved: &mut Vec<Vec3>, spare: &mut Vec<Vec3>) {
    let root = moved.len();
    for (was, now) in moved.iter_mut().zip(&mesh.positions) {
        *was = *now - *was;
    }
    if let Some(ancestry) = &mesh.topology.ancestry {
        spread(ancestry, moved, spare);
    }
    for (p, offset) in mesh.positions.iter_mut().zip(moved.iter()).skip(root) {
        *p += *offset;
    }
}

/// Adds the values of refined vertices, generation after generation, without new storage.
fn spread(ancestry: &Ancestry, values: &mut Vec<Vec3>, spare: &mut Vec<Vec3>) {
    if let Some(older) = &ancestry.older {
        spread(older, values, spare);
    }
    spare.clear();
    spare.extend_from_slice(values);
    ancestry.extend(spare, values);
}

/// Writes the weights as an attribute, to look at.
pub(super) fn show_weights(params: &FleshParams, rest: &FleshRest, frame: &mut Frame) {
    for weights in &rest.weights {
        let name = format!("flesh:{}", params.name);
        frame.meshes[weights.mesh].set_scalar(&name, |values| {
            for (&vertex, &alpha) in weights.vertices.iter().zip(&weights.alphas) {
                values[vertex as usize] = alpha;
            }
        });
    }
}
