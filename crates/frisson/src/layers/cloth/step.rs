//! What a tick does, as a short list of passes.

use glam::{DVec3, Vec3};

use super::air::{self, AirLaw, Push};
use super::attach::Attachments;
use super::body::{BodyContacts, BodyState, GarmentBody};
use super::build::Garment;
use super::caught::CaughtCloth;
use super::collide::PosedCollider;
use super::crease;
use super::cycle;
use super::flat_contact::FlatContacts;
use super::layer::ClothLayer;
use super::params::ClothParams;
use super::pressure::Inflation;
use super::refine::RefineScratch;
use super::self_contact::SelfContacts;
use super::settle;
use super::sew;
use super::solver::{ClothDrive, Solver};
use super::state::ClothState;
use super::stretch;
use crate::geometry::Mesh;
use crate::stage::{Clock, Frame, LayerError, StepContext, Work, check_vertices};
use crate::tolerances::cloth as limits;

/// Storage that is reused from tick to tick.
#[derive(Default)]
pub struct ClothScratch {
    tools: Option<Tools>,
    /// The incoming mesh, finer where it is to be.
    incoming: Vec<Vec3>,
    refine: RefineScratch,
    /// Held nodes with their places at the start and at the end of the tick.
    held: Vec<(u32, DVec3, DVec3)>,
    stuck: Vec<(u32, DVec3, DVec3)>,
    /// Soft pins with the places that draw them, and how fast [rad/s].
    soft: Vec<(u32, DVec3, f64)>,
    held_nodes: Vec<u32>,
    /// Where nodes are at the start of the tick.
    starts: Vec<DVec3>,
    /// The same, and held ones where they will be at the end of it.
    ends: Vec<DVec3>,
    per_triangle: Vec<Push>,
    /// Whether each body's triangles can be followed through this tick.
    kept: Vec<bool>,
}

/// What works on the state. Made from rest data; what it remembers of the last tick is in the state too.
struct Tools {
    solver: Solver,
    bodies: Vec<GarmentBody>,
    carriers: Vec<GarmentBody>,
    contacts: BodyContacts,
    pokes: FlatContacts,
    giving: CaughtCloth,
    selfs: SelfContacts,
    /// Tick up to which bodies and carriers have followed the state.
    followed: Option<u64>,
}

impl Tools {
    fn new(params: &ClothParams, rest: &Garment, clock: &Clock) -> Self {
        let pokes = if rest.bodies.is_empty() {
            FlatContacts::default()
        } else {
            FlatContacts::new(&rest.cloth, &rest.at_rest)
        };
        Self {
            solver: Solver::new(&rest.cloth, rest.settings(params, clock)),
            bodies: rest.bodies.clone(),
            carriers: rest.attachments.carriers.clone(),
            contacts: BodyContacts::default(),
            pokes,
            giving: CaughtCloth::default(),
            selfs: rest.selfs.clone(),
            followed: None,
        }
    }
}

/// What one tick works with.
pub type ClothWork<'a, 's> = Work<'a, ClothLayer, &'s mut ClothState>;

/// The state in which the cloth begins, on the frame that earlier layers leave.
pub fn start(
    work: &mut Work<'_, ClothLayer, ()>,
    context: &StepContext,
    frame: &Frame,
) -> Result<ClothState, LayerError> {
    let (params, rest) = (work.params, work.rest);
    let mut first = frame.clone();
    rest.dressing.blend(frame, 0.0, &mut first);
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

/// Simulates from the source pose into the first one, then a little longer in it.
fn dress(work: ClothWork, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
    if work.rest.dressing.is_empty() {
        return Ok(());
    }
    let dt = context.clock.tick_seconds();
    let ticks = (work.params.dressing / dt).ceil().max(1.0) as u32;
    // Nobody sees it: what would swing for seconds hangs when the shot begins.
    let damping = work.params.damping.max(limits::DRESSING_DAMPING);
    let calm = ClothParams { damping, ..work.params.clone() };
    let ClothWork { rest, state, scratch, .. } = work;
    let mut work = ClothWork { params: &calm, rest, state, scratch };
    let mut between = frame.clone();
    let step = StepContext { dt, is_output: false, surfaces_wanted: false, ..*context };
    for k in 1..=ticks {
        let t = (k as f32 / (limits::DRESSING_MOVES * ticks as f32)).min(1.0);
        work.rest.dressing.blend(frame, t * t * (3.0 - 2.0 * t), &mut between);
        tick(&mut work, &step, &between)?;
    }
    Ok(())
}

/// Lets parts take their sizes before anybody looks, without speed: a band that shrinks at once would fling the
/// cloth about.
fn resize(mut work: ClothWork, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
    let dt = context.clock.tick_seconds();
    let step = StepContext { dt, is_output: false, surfaces_wanted: false, ..*context };
    for _ in 0..in_ticks(limits::RESIZE_SECONDS, context.clock) {
        tick(&mut work, &step, frame)?;
        work.state.velocities.fill(DVec3::ZERO);
    }
    Ok(())
}

/// Advances the state by one tick.
pub fn tick(work: &mut ClothWork, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
    let (params, rest) = (work.params, work.rest);
    let (state, scratch) = (&mut *work.state, &mut *work.scratch);
    take_incoming(rest, params, scratch, frame)?;
    let mut tools = scratch.tools.take().unwrap_or_else(|| Tools::new(params, rest, context.clock));
    tune(&mut tools, (params, rest), state, context);
    find_contacts(&mut tools, (params, rest), (state, scratch), context, frame);
    place_held(&mut tools, rest, (state, scratch), context);
    place_soft((params, rest), scratch);
    measure_needs(&mut tools, rest, (state, scratch));
    blow(&mut tools, (params, rest), (state, scratch), context);
    solve(&mut tools, (params, rest), (state, scratch), context);
    settle::settle(params.settle, rest, (state, &scratch.starts), context.dt);
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
    tools.selfs.friction = friction;
    let all = context.colliders.all();
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
    let in_step = tools.followed == Some(state.ticks);
    let (x, v) = (state.positions.as_slice(), state.velocities.as_slice());
    // A search looks ahead over the ticks up to the next one.
    let every = in_ticks(SELF_SEARCH_SECONDS, context.clock);
    if state.ticks.is_multiple_of(every) {
        let horizon = context.clock.tick_seconds() * every as f64;
        tools.selfs.find(&rest.cloth, x, v, horizon, &mut state.near);
    }
    state.ticks += 1;
    scratch.kept.clear();
    for ((body, built), state) in tools.bodies.iter_mut().zip(&rest.bodies).zip(&state.bodies) {
        let mesh = &frame.meshes[body.mesh];
        scratch.kept.push(body.begin((built, in_step), state, mesh, dt));
    }
    let Tools { bodies, contacts, pokes, giving, .. } = tools;
    let reach = rest.reach(params);
    contacts.find(bodies, x, v, dt, reach);
    contacts.keep_normals(bodies);
    pokes.find(bodies, contacts, x, reach);
    for (body, _) in bodies.iter_mut().zip(&scratch.kept).filter(|(_, kept)| **kept) {
        body.update(&frame.meshes[body.mesh], dt);
    }
    if !bodies.is_empty() {
        let ticks = in_ticks(limits::GIVE_SECONDS, context.clock).min(255) as u8;
        giving.update(&rest.cloth, x, ticks, &mut state.giving);
    }
    let left = &state.giving;
    let lets_pass = |node: usize, normal, way| giving.lets_pass(left, node, normal, way, dt);
    contacts.follow(bodies, v, dt, lets_pass, |node| giving.grip(node));
    pokes.follow(bodies, v, dt, lets_pass);
    let built = &rest.attachments.carriers;
    for ((body, built), state) in tools.carriers.iter_mut().zip(built).zip(&state.carriers) {
        let mesh = &frame.meshes[body.mesh];
        if body.begin((built, in_step), state, mesh, dt) {
            body.update(mesh, dt);
        }
    }
}

/// Time from the start of the simulation to the start of the tick, dressing included [s].
fn since_start(state: &ClothState, context: &StepContext) -> f64 {
    state.ticks.saturating_sub(1) as f64 * context.clock.tick_seconds()
}

/// Whole ticks in some seconds, at least one.
fn in_ticks(seconds: f64, clock: &Clock) -> u64 {
    (seconds / clock.tick_seconds()).round().max(1.0) as u64
}

fn place_held(
    tools: &mut Tools,
    rest: &Garment,
    (state, scratch): (&ClothState, &mut ClothScratch),
    context: &StepContext,
) {
    let number = context.frame_number();
    let (attachments, carriers) = (&rest.attachments, tools.carriers.as_slice());
    let held = &mut scratch.held;
    held.clear();
    for hold in attachments.holds.iter().filter(|h| Attachments::is_on(h, number)) {
        if held.last().is_some_and(|h| h.0 == hold.node) {
            continue;
        }
        let start = state.positions[hold.node as usize];
        let end = attachments.place(hold, context, (carriers, &scratch.incoming));
        held.push((hold.node, start, end.unwrap_or(start)));
    }
    let same = held.len() == scratch.held_nodes.len()
        && held.iter().zip(&scratch.held_nodes).all(|(h, n)| h.0 == *n);
    if !same {
        scratch.held_nodes.clear();
        scratch.held_nodes.extend(held.iter().map(|h| h.0));
        tools.solver.set_held(&rest.cloth, scratch.held_nodes.iter().copied());
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
fn place_soft((params, rest): (&ClothParams, &Garment), scratch: &mut ClothScratch) {
    let ClothScratch { soft, incoming, .. } = scratch;
    soft.clear();
    soft.extend(rest.soft.iter().map(|pin| {
        let rate = std::f64::consts::TAU * params.soft_pins_hz * pin.weight;
        (pin.node, incoming[pin.vertex as usize].as_dvec3(), rate)
    }));
}

/// What pins that are moved apart ask of the cloth at the end of the tick.
fn measure_needs(
    tools: &mut Tools,
    rest: &Garment,
    (state, scratch): (&ClothState, &mut ClothScratch),
) {
    scratch.starts.clone_from(&state.positions);
    scratch.ends.clone_from(&state.positions);
    for (node, _, end) in &scratch.held {
        scratch.ends[*node as usize] = *end;
    }
    let Solver { needs, inverse_mass, .. } = &mut tools.solver;
    let held = |node: u32| inverse_mass[node as usize] == 0.0;
    rest.cloth.pulled.needs(&scratch.ends, held, needs);
}

/// Gravity, fields and air.
fn blow(
    tools: &mut Tools,
    (params, rest): (&ClothParams, &Garment),
    (state, scratch): (&ClothState, &mut ClothScratch),
    context: &StepContext,
) {
    let law = AirLaw { drag: params.drag, lift: params.lift };
    let time = context.time - context.dt;
    let (positions, velocities) = (state.positions.as_slice(), state.velocities.as_slice());
    let cloth = air::Cloth { rest: &rest.cloth, positions, velocities };
    let Solver { acceleration, air, .. } = &mut tools.solver;
    let density = params.moduli().density;
    let share = density / (density + params.air_mass);
    air::accelerations(cloth, share, (context.forces, time), acceleration);
    if sew::is_closing(&rest.stitches, since_start(state, context)) {
        // Panels would have fallen off the shoulders before they are sewn over them.
        acceleration.fill(DVec3::ZERO);
    }
    air::blow(cloth, law, (context.forces, time), &mut scratch.per_triangle, air);
}

fn solve(
    tools: &mut Tools,
    (params, rest): (&ClothParams, &Garment),
    (state, scratch): (&mut ClothState, &ClothScratch),
    context: &StepContext,
) {
    let Tools { solver, contacts, pokes, selfs, .. } = tools;
    let number = context.frame_number();
    let inflation = params.pressure.as_ref().map(|pressure| {
        let limit = solver.settings.law.stretch_limit;
        Inflation::new(pressure.at(number) * rest.cloth.volume, rest.cloth.area, limit)
    });
    let drive = ClothDrive {
        dt: context.dt,
        colliders: (context.colliders.all(), rest.colliders.as_slice()),
        bodies: contacts,
        pokes: pokes.rows(),
        held: &scratch.held,
        stuck: &scratch.stuck,
        stitches: (&rest.stitches, since_start(state, context)),
        soft: &scratch.soft,
        inflation,
        overpressure: params.overpressure.as_ref().map_or(0.0, |p| p.at(number)),
    };
    // Inside the pool the strips' tasks start without waking anybody from outside.
    rayon::scope(|_| solver.tick(&rest.cloth, &drive, selfs, state));
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

fn check(rest: &Garment, state: &ClothState, context: &StepContext) -> Result<(), LayerError> {
    let bad = state.positions.iter().position(|p| !p.is_finite());
    bad.map_or(Ok(()), |node| {
        let element = rest.cloth.vertex_of_node[node] as usize;
        Err(LayerError::NonFinite { what: "vertex", element, frame: context.frame })
    })
}

/// Shows the cloth.
pub fn show(
    params: &ClothParams,
    (rest, state): (&Garment, &ClothState),
    frame: f64,
    mesh: &mut Mesh,
) {
    let nodes = &rest.cloth.node_of_vertex;
    mesh.positions.resize(nodes.len(), Vec3::ZERO);
    rest.refinement.iter().for_each(|r| r.adopt(mesh));
    for (p, &node) in mesh.positions.iter_mut().zip(nodes) {
        *p = state.positions[node as usize].as_vec3();
    }
    cycle::lead(params.cycle.as_ref(), (&state.lead, frame), nodes, &mut mesh.positions);
    mesh.velocities.clear();
    mesh.velocities.extend(nodes.iter().map(|&n| state.velocities[n as usize].as_vec3()));
}

/// Relative elongation of every edge, in the solver's order.
pub fn strains(rest: &Garment, state: &ClothState) -> Vec<f64> {
    rest.cloth.edges.rows.iter().map(|e| stretch::strain(e, &state.positions)).collect()
}

/// Time between searches for contacts of the cloth with itself [s].
const SELF_SEARCH_SECONDS: f64 = 2.0 / 120.0;
