//! What a tick does, as a short list of passes.

use glam::DVec3;
use rayon::prelude::*;

use super::air::{self, AirCoefficients};
use super::body::{BodyState, GarmentBody};
use super::collide::PosedCollider;
use super::crease;
use super::cycle;
use super::effort::is_drawn_out;
use super::holding::{is_taut, measure_needs, place_held, place_soft};
use super::layer::ClothLayer;
use super::node_places::{CHUNK, copy_nodes};
use super::params::ClothParams;
use super::pressure::Inflation;
use super::put_on::{self, dress, resize};
use super::rest::Garment;
use super::scratch::{ClothScratch, Tools};
use super::settle;
use super::sew;
use super::soaking;
use super::solver::{ClothDrive, Solver};
use super::state::ClothState;
use super::stretch;
use super::tear::{self, Tears};
use super::together;
use crate::geometry::Mesh;
use crate::stage::{Clock, Frame, LayerError, StepContext, Work, check_vertices};
use crate::threads::{Team, together};
use crate::tolerances::cloth as limits;

/// What one tick works with.
pub type ClothWork<'a, 's> = Work<'a, ClothLayer, &'s mut ClothState>;

/// The state in which the cloth begins, on the frame that earlier layers leave.
pub fn start(
    work: &mut Work<'_, ClothLayer, ()>,
    context: &StepContext,
    frame: &Frame,
) -> Result<ClothState, LayerError> {
    let (params, rest) = (work.params, work.rest);
    // In the pose in which the garment is put on, which is not the first of the shot where it is modelled in another.
    let mut first = frame.clone();
    rest.dressing.interpolate(frame, 0.0, &mut first);
    take_incoming(rest, params, work.scratch, &first)?;
    let positions = rest.cloth.node_positions(&work.scratch.incoming);
    let as_it_is = |bodies: &[GarmentBody]| -> Vec<BodyState> {
        let at = |body: &GarmentBody| {
            let mut body = body.clone();
            body.begin(
                (&body.clone(), false),
                &BodyState::default(),
                &first.meshes[body.mesh],
                0.0,
            );
            body.state()
        };
        bodies.iter().map(at).collect()
    };
    let mut state = ClothState {
        velocities: vec![DVec3::ZERO; positions.len()],
        giving: vec![0; positions.len()],
        positions,
        bodies: as_it_is(&rest.bodies),
        carriers: as_it_is(&rest.attachments.carriers),
        numbering: rest.cloth.numbering(),
        ..ClothState::default()
    };
    state.start_depth = start_depth(params, rest, &state, context);
    let scratch = &mut *work.scratch;
    dress(Work { params, rest, state: &mut state, scratch }, context, frame)?;
    if rest.is_resized {
        resize(Work { params, rest, state: &mut state, scratch }, context, frame)?;
    }
    check(rest, &state, context)?;
    Ok(state)
}

/// Advances the state by one tick.
pub fn tick(work: &mut ClothWork, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
    let torn = take_torn(work.rest, &work.state.tears, work.scratch)?;
    let rest = torn.as_ref().map_or(work.rest, |(_, torn)| torn);
    take_incoming(work.rest, work.params, work.scratch, frame)?;
    advance(work, rest, context, frame)?;
    let ripped =
        work.params.tear.and_then(|most| tear::rip(most, work.rest, rest, &mut *work.state));
    if ripped.is_some() {
        // Nodes have other numbers now; what they carry is said anew.
        work.state.soaked.clear();
    }
    match ripped {
        // What was made for other nodes is of no use any more.
        Some(ripped) => *work.scratch = ClothScratch::default().with(&work.state.tears, ripped),
        None => work.scratch.torn = torn,
    }
    Ok(())
}

/// The garment with the tears of a state, made anew where it is not there.
fn take_torn(
    whole: &Garment,
    tears: &Tears,
    scratch: &mut ClothScratch,
) -> Result<Option<(u64, Box<Garment>)>, LayerError> {
    let kept = scratch.torn.take();
    let known = kept.as_ref().map_or(0, |(fingerprint, _)| *fingerprint);
    if known == tears.fingerprint {
        return Ok(kept);
    }
    *scratch = ClothScratch::default();
    if tears.is_empty() {
        return Ok(None);
    }
    let other =
        || LayerError::parameter("tear", "the state is torn otherwise than this cloth can be");
    let torn = whole.torn(tears).ok_or_else(other)?;
    Ok(Some((tears.fingerprint, Box::new(torn))))
}

/// Advances the state of a garment, torn or not, by one tick.
fn advance(
    work: &mut ClothWork,
    rest: &Garment,
    context: &StepContext,
    frame: &Frame,
) -> Result<(), LayerError> {
    let params = work.params;
    let (state, scratch) = (&mut *work.state, &mut *work.scratch);
    let mut tools = scratch.tools.take().unwrap_or_else(|| Tools::new(params, rest, context.clock));
    tune(&mut tools, (params, rest), state, context);
    soaking::take_load(rest, frame, state, context.clock);
    find_contacts(&mut tools, (params, rest), (state, scratch), context, frame);
    place_soft((params, rest), scratch);
    measure_needs(&mut tools, rest, (state, scratch));
    if is_drawn_out(&tools.solver.needs, (params, &rest.cloth), state, context.clock) {
        tools.solver.settings.substeps *= limits::HARDER;
    } else if params.substeps.is_none() && is_taut(&tools.solver, rest, scratch) {
        tools.solver.settings.substeps *= limits::TAUT_EFFORT;
    }
    blow(&mut tools, (params, rest), (state, scratch), context);
    solve(&mut tools, (params, rest), (state, scratch), context);
    let slow = put_on::settle_speed(params, rest, state, context.clock);
    settle::settle((params.settle, slow), rest, (state, &scratch.starts), context.dt);
    crease::crease(params, &rest.cloth, state, context.dt);
    let number = context.frame_number();
    rest.attachments.catch_and_release(&tools.carriers, state, number, params);
    let bodies = state.bodies.iter_mut().zip(&tools.bodies);
    let carriers = state.carriers.iter_mut().zip(&tools.carriers);
    bodies.chain(carriers).for_each(|(state, body)| body.keep(state));
    tools.followed = Some(state.ticks);
    scratch.tools = Some(tools);
    check(rest, state, context)
}

/// Takes the mesh as it comes in, where something hangs on it.
fn take_incoming(
    rest: &Garment,
    params: &ClothParams,
    scratch: &mut ClothScratch,
    frame: &Frame,
) -> Result<(), LayerError> {
    let mesh = &frame.meshes[rest.mesh];
    let followed = rest.attachments.follow_incoming() || !rest.soft.is_empty();
    if followed || scratch.incoming.is_empty() {
        check_vertices(mesh, rest.incoming_vertices, &params.on, "cloth")?;
        match &rest.refinement {
            Some(r) => r.positions(&mesh.positions, &mut scratch.refine, &mut scratch.incoming),
            None => scratch.incoming.clone_from(&mesh.positions),
        }
        together::take_incoming(&rest.parts, frame, &mut scratch.incoming)?;
    }
    Ok(())
}

/// Takes the parameters as they are now.
fn tune(
    tools: &mut Tools,
    (params, rest): (&ClothParams, &Garment),
    state: &ClothState,
    context: &StepContext,
) {
    let mut settings = rest.settings(params, context.clock);
    // Only a bad start has to be resolved calmly; later, a limb is out of the cloth at once.
    let (depth, time) = (state.start_depth, state.ticks as f64 * context.clock.tick_seconds());
    let calm = depth > rest.thickness && time * limits::RECOVERY_SPEED < 1.5 * depth;
    if !calm {
        settings.recovery_speed = limits::FAST_RECOVERY_SPEED;
    }
    tools.solver.settings = settings;
    let friction = params.moduli().friction;
    tools.self_contacts.friction = friction;
    let all = context.colliders.all();
    // Every tick: the friction may have been edited meanwhile.
    tools.solver.posed.clear();
    let posed = rest
        .colliders
        .iter()
        .map(|&i| PosedCollider::new(&all[i], (friction * f64::from(all[i].friction)).sqrt()));
    tools.solver.posed.extend(posed);
}

/// Finds what nodes may touch in this tick, then moves the bodies on.
fn find_contacts(
    tools: &mut Tools,
    (params, rest): (&ClothParams, &Garment),
    (state, scratch): (&mut ClothState, &mut ClothScratch),
    context: &StepContext,
    frame: &Frame,
) {
    let dt = context.dt;
    // A state that was loaded or taken back is not the one that the tools have followed.
    let in_step = tools.followed == Some(state.ticks);
    let (x, v) = (state.positions.as_slice(), state.velocities.as_slice());
    state.ticks += 1;
    scratch.kept.clear();
    for ((body, built), state) in tools.bodies.iter_mut().zip(&rest.bodies).zip(&state.bodies) {
        let mesh = &frame.meshes[body.mesh];
        scratch.kept.push(body.begin((built, in_step), state, mesh, dt));
    }
    let Tools { bodies, contacts, flat_contacts, sunk, .. } = tools;
    let reach = rest.reach(params);
    // Before the bodies move: on which side of a limb a node is, is settled where both still stand.
    contacts.find(bodies, x, v, dt, reach);
    flat_contacts.find(bodies, contacts, x, reach);
    sunk.find(rest, bodies, x, reach);
    for (body, _) in bodies.iter_mut().zip(&scratch.kept).filter(|(_, kept)| **kept) {
        body.update(&frame.meshes[body.mesh], dt);
    }
    contacts.find_ceilings(bodies, reach);
    follow_contacts(tools, rest, state, context);
    find_self_contacts(tools, rest, (state, scratch), context);
    let built = &rest.attachments.carriers;
    for ((body, built), state) in tools.carriers.iter_mut().zip(built).zip(&state.carriers) {
        let mesh = &frame.meshes[body.mesh];
        if body.begin((built, in_step), state, mesh, dt) {
            body.update(mesh, dt);
        }
    }
    place_held(tools, rest, (state, scratch), (context, reach));
}

/// Follows what nodes may touch to the end of the tick, to which the bodies have moved.
fn follow_contacts(
    tools: &mut Tools,
    rest: &Garment,
    state: &mut ClothState,
    context: &StepContext,
) {
    let dt = context.dt;
    let (x, v) = (state.positions.as_slice(), state.velocities.as_slice());
    let Tools { bodies, contacts, flat_contacts, caught, sunk, .. } = tools;
    if !bodies.is_empty() {
        let ticks = in_ticks(limits::GIVE_SECONDS, context.clock).min(255) as u8;
        caught.update(&rest.cloth, x, ticks, &mut state.giving);
    }
    let left = &state.giving;
    let lets_pass = |node: usize, normal, way| caught.lets_pass(left, node, normal, way, dt);
    contacts.follow((bodies, sunk), v, dt, lets_pass, |node| caught.grip(node));
    flat_contacts.follow((bodies, sunk), v, dt, lets_pass);
}

/// Finds where the cloth may touch itself in this tick.
fn find_self_contacts(
    tools: &mut Tools,
    rest: &Garment,
    (state, scratch): (&mut ClothState, &mut ClothScratch),
    context: &StepContext,
) {
    let Tools { contacts, self_contacts, .. } = tools;
    let (x, v) = (&state.positions, &state.velocities);
    let coming = &mut scratch.coming;
    copy_nodes(v, coming);
    // A limb that hits the cloth gives it another speed within a tick: what was far ahead a tick ago may be struck
    // in this one.
    if !rest.bodies.is_empty() {
        let nodes = coming.par_iter_mut().zip(x).enumerate().with_min_len(CHUNK / 4);
        nodes.for_each(|(node, (v, x))| *v = contacts.pushed(node, (*x, *v), context.dt));
    }
    let horizon = context.clock.tick_seconds();
    self_contacts.find(&rest.cloth, x, coming, horizon, &mut state.near);
}

/// Time from the start of the simulation to the start of the tick, dressing included [s].
fn since_start(state: &ClothState, context: &StepContext) -> f64 {
    state.ticks.saturating_sub(1) as f64 * context.clock.tick_seconds()
}

/// Whole ticks in some seconds, at least one.
pub(super) fn in_ticks(seconds: f64, clock: &Clock) -> u64 {
    (seconds / clock.tick_seconds()).round().max(1.0) as u64
}

/// Gravity, fields and air.
fn blow(
    tools: &mut Tools,
    (params, rest): (&ClothParams, &Garment),
    (state, scratch): (&ClothState, &mut ClothScratch),
    context: &StepContext,
) {
    let coefficients = AirCoefficients { drag: params.drag, lift: params.lift };
    let time = context.time - context.dt;
    let (positions, velocities) = (state.positions.as_slice(), state.velocities.as_slice());
    let cloth = air::Cloth { rest: &rest.cloth, soaked: &state.soaked, positions, velocities };
    let Solver { acceleration, air, .. } = &mut tools.solver;
    let density = params.moduli().density;
    let share = density / (density + params.air_mass);
    air::accelerations(cloth, share, (context.forces, time), acceleration);
    if sew::is_closing(&rest.stitches, since_start(state, context)) {
        // Panels would have fallen off the shoulders before they are sewn over them.
        acceleration.fill(DVec3::ZERO);
    }
    air::blow(cloth, coefficients, (context.forces, time), &mut scratch.per_triangle, air);
}

/// Solves the tick with all that was found.
fn solve(
    tools: &mut Tools,
    (params, rest): (&ClothParams, &Garment),
    (state, scratch): (&mut ClothState, &ClothScratch),
    context: &StepContext,
) {
    let Tools { solver, contacts, flat_contacts, self_contacts, .. } = tools;
    let number = context.frame_number();
    let inflation = params.pressure.as_ref().map(|pressure| {
        let limit = solver.settings.stretch.stretch_limit;
        Inflation::new(pressure.at(number) * rest.cloth.volume, rest.cloth.area, limit)
    });
    let drive = ClothDrive {
        dt: context.dt,
        colliders: (context.colliders.all(), rest.colliders.as_slice()),
        bodies: contacts,
        flat_contacts: flat_contacts.rows(),
        held: &scratch.held,
        stuck: &scratch.stuck,
        stitches: (&rest.stitches, since_start(state, context)),
        soft: &scratch.soft,
        inflation,
        overpressure: params.overpressure.as_ref().map_or(0.0, |p| p.at(number)),
    };
    // For so few nodes nobody else is called.
    if rest.cloth.node_count() < limits::NODES_FOR_A_TEAM {
        return solver.tick(&mut Team::alone(), &rest.cloth, &drive, self_contacts, state);
    }
    together(|team| solver.tick(team, &rest.cloth, &drive, self_contacts, state));
}

/// How deep the cloth starts inside what it collides with [m].
fn start_depth(
    params: &ClothParams,
    rest: &Garment,
    state: &ClothState,
    context: &StepContext,
) -> f64 {
    let mut deepest: f64 = 0.0;
    for (node, p) in state.positions.iter().enumerate().filter(|(n, _)| !rest.held[*n]) {
        for &i in &rest.colliders {
            let contact = context.colliders.all()[i].contact(p.as_vec3(), 1.0);
            deepest = deepest.max(f64::from(-contact.distance));
        }
        for body in rest.bodies.iter().filter(|b| !b.is_buried(node)) {
            let reach = params.body_depth as f32;
            if let Some((d, _)) = body.surface.signed_distance(p.as_vec3(), reach) {
                deepest = deepest.max(f64::from(-d));
            }
        }
    }
    deepest
}

/// A node that is no number ends the bake, with its vertex.
fn check(rest: &Garment, state: &ClothState, context: &StepContext) -> Result<(), LayerError> {
    let nodes = state.positions.par_iter().with_min_len(CHUNK);
    let bad = nodes.position_first(|p| !p.is_finite());
    bad.map_or(Ok(()), |node| {
        let element = rest.cloth.vertex_of_node[node] as usize;
        Err(LayerError::NonFinite { what: "vertex", element, frame: context.frame })
    })
}

/// Shows the cloth.
pub fn show(
    work: Work<'_, ClothLayer, &ClothState>,
    number: f64,
    frame: &mut Frame,
) -> Result<(), LayerError> {
    let state = work.state;
    let torn = take_torn(work.rest, &state.tears, work.scratch)?;
    let rest = torn.as_ref().map_or(work.rest, |(_, torn)| torn);
    let (nodes, parts) = (rest.cloth.node_of_vertex.as_slice(), &work.rest.parts);
    for part in parts {
        let mesh = &mut frame.meshes[part.mesh];
        show_mesh(work.params, (state, number), &nodes[part.vertices()], mesh);
    }
    let own = parts.first().map_or(nodes.len(), |part| part.first);
    let mesh = &mut frame.meshes[work.rest.mesh];
    work.rest.refinement.iter().for_each(|r| r.adopt(mesh));
    if let Some(topology) = &rest.torn {
        tear::adopt(topology, mesh);
    }
    show_mesh(work.params, (state, number), &nodes[..own], mesh);
    work.scratch.torn = torn;
    Ok(())
}

/// Shows the nodes of one mesh.
fn show_mesh(
    params: &ClothParams,
    (state, number): (&ClothState, f64),
    nodes: &[u32],
    mesh: &mut Mesh,
) {
    mesh.positions.clear();
    mesh.positions.extend(nodes.iter().map(|&n| state.positions[n as usize].as_vec3()));
    cycle::lead(params.cycle.as_ref(), (&state.lead, number), nodes, &mut mesh.positions);
    mesh.velocities.clear();
    mesh.velocities.extend(nodes.iter().map(|&n| state.velocities[n as usize].as_vec3()));
}

/// Relative elongation of every edge, in the solver's order.
pub fn strains(rest: &Garment, state: &ClothState) -> Vec<f64> {
    if let Some(whole) = rest.whole.as_ref().filter(|_| !state.tears.is_empty()) {
        return tear::strains(&whole.mesh, state);
    }
    rest.cloth.edges.rows.iter().map(|e| stretch::strain(e, &state.positions)).collect()
}
