//! The layer: what a tick does, as a short list of passes.

use glam::{DVec3, Vec3};

use super::air::{self, AirLaw};
use super::attach::Attachments;
use super::body::{Body, BodyContacts, BodyReach};
use super::collide::PosedCollider;
use super::dress::Dressing;
use super::give::Giving;
use super::params::ClothParams;
use super::poke::Pokes;
use super::refine::Refinement;
use super::rest::{ClothRest, RestInput};
use super::ridges::Ridges;
use super::selfs::SelfContacts;
use super::solver::{Drive, Solver, SolverSettings};
use super::state::ClothState;
use super::stretch::{self, StretchLaw};
use crate::geometry::Mesh;
use crate::stage::{
    BuildContext, Clock, Frame, LayerError, LayerReport, Selection, SnapshotError, StepContext,
    WholeLayer, from_snapshot, to_snapshot,
};
use crate::tolerances::cloth as limits;

/// A simulated garment.
pub struct ClothLayer {
    params: ClothParams,
    mesh: usize,
    pub(super) rest: ClothRest,
    pub(super) state: ClothState,
    solver: Solver,
    attachments: Attachments,
    bodies: Vec<Body>,
    contacts: BodyContacts,
    pokes: Pokes,
    giving: Giving,
    refinement: Option<Refinement>,
    /// The incoming mesh, finer where it is to be.
    incoming: Vec<Vec3>,
    selfs: SelfContacts,
    collider_indices: Vec<usize>,
    reach: BodyReach,
    held: Vec<(u32, DVec3, DVec3)>,
    stuck: Vec<(u32, DVec3, DVec3)>,
    held_nodes: Vec<u32>,
    per_triangle: Vec<DVec3>,
    ticks_per_frame: f64,
    dressing: Dressing,
}

impl ClothLayer {
    /// Resolves names and builds the rest data.
    pub fn new(params: ClothParams, context: &BuildContext) -> Result<Self, LayerError> {
        let wanted = params.dressing > 0.0 && !params.bodies.is_empty();
        let dressing = if wanted { Dressing::new(context) } else { Dressing::default() };
        let mut start = context.frame.clone();
        dressing.blend(context.frame, 0.0, &mut start);
        Self::dressed(params, dressing, &BuildContext { frame: &start, ..*context })
    }

    fn dressed(
        params: ClothParams,
        dressing: Dressing,
        context: &BuildContext,
    ) -> Result<Self, LayerError> {
        let mesh_index = find_mesh(context, "on", &params.on)?;
        let coarse = &context.frame.meshes[mesh_index];
        let mut refinement =
            (params.subdivide > 0).then(|| Refinement::new(coarse, params.subdivide));
        let mesh = &refinement.as_mut().map_or_else(|| coarse.clone(), |r| r.mesh(coarse));
        let select = |field: &str, s: &Selection| {
            let mut chosen = select_vertices(context, mesh_index, field, s)?;
            refinement.iter().for_each(|r| r.spread(&mut chosen));
            Ok(chosen)
        };
        let mut attachments = Attachments::build(&params, context, mesh, select)?;
        let mut held = vec![false; mesh.positions.len()];
        for hold in attachments.holds.iter().filter(|h| h.frames == ALWAYS) {
            held[hold.vertex as usize] = true;
        }
        let seams = seam_factors(&params, mesh.positions.len(), select)?;
        let ridges = if context.ridges.is_empty() {
            Ridges::default()
        } else {
            let reference = context.reference_mesh(mesh_index);
            let place = |a: &_| context.place_on("folds", mesh_index, &reference, a);
            let mut places = reference.positions.clone();
            if let Some(refinement) = &mut refinement {
                refinement.positions(&reference.positions, &mut places);
            }
            let triangles = &mesh.topology.triangles;
            Ridges::build(context.ridges, places, triangles, place, params.moduli().warp)?
        };
        let gravity = f64::from(context.forces.gravity.length());
        let rest = build_rest(&params, mesh, (&held, &seams, &ridges), gravity)?;
        attachments.number(&rest.node_of_vertex);
        let thickness = thickness(&params, &rest);
        let friction = params.moduli().friction;
        let (collider_indices, posed) = find_colliders(&params, context, friction)?;
        let mut bodies = find_bodies(&params, context, mesh_index)?;
        let substeps =
            params.substeps.unwrap_or_else(|| substeps_for(&params, &rest, context.clock));
        let settings = SolverSettings {
            law: StretchLaw {
                stretch_limit: params.stretch_limit.unwrap_or(rest.default_limit),
                compression_limit: params.compression_limit,
                in_compression: if params.tension_only { 0.0 } else { 1.0 },
            },
            substeps,
            damping: params.damping,
            internal_damping: internal_damping(&attachments),
            thickness,
            recovery_speed: limits::RECOVERY_SPEED,
        };
        let solver = Solver::new(&rest, settings, posed);
        let depth = params.body_depth;
        let reach = BodyReach { thickness, mean_edge: rest.mean_edge, depth, friction };
        let positions = rest.node_positions(&mesh.positions);
        for body in &mut bodies {
            let always = attachments.holds.iter().filter(|h| h.frames == ALWAYS);
            body.bury(&positions, always.map(|h| h.node));
        }
        let selfs = if params.self_collision {
            SelfContacts::new(&rest, &positions, thickness, friction)
        } else {
            SelfContacts::default()
        };
        let state = ClothState {
            velocities: vec![DVec3::ZERO; positions.len()],
            positions,
            ..ClothState::default()
        };
        Ok(Self {
            params,
            mesh: mesh_index,
            rest,
            state,
            solver,
            attachments,
            bodies,
            contacts: BodyContacts::default(),
            pokes: Pokes::default(),
            giving: Giving::default(),
            incoming: mesh.positions.clone(),
            refinement,
            selfs,
            collider_indices,
            reach,
            held: Vec::new(),
            stuck: Vec::new(),
            held_nodes: Vec::new(),
            per_triangle: Vec::new(),
            ticks_per_frame: context.clock.ticks_per_frame(),
            dressing,
        })
    }

    /// Small steps per tick.
    #[must_use]
    pub fn substeps(&self) -> u32 {
        self.solver.settings.substeps
    }

    /// Constraints solved in a tick: edges at every small step, hinges and shears less often.
    #[must_use]
    pub fn constraints_per_tick(&self) -> usize {
        let slow = self.rest.hinges.rows.len() + self.rest.shears.rows.len();
        let settings = &self.solver.settings;
        self.rest.edges.rows.len() * settings.substeps as usize
            + slow * (settings.substeps / settings.bend_every()) as usize
    }

    /// Relative elongation of every edge, in the solver's order.
    #[must_use]
    pub fn strains(&self) -> Vec<f64> {
        let x = &self.state.positions;
        self.rest.edges.rows.iter().map(|e| stretch::strain(e, x)).collect()
    }

    fn tick(&mut self, context: &StepContext, frame: &Frame) {
        let dt = context.dt;
        // Only a bad start has to be resolved calmly; later, a limb is out of the cloth at once.
        let (depth, time) = (self.state.start_depth, self.state.ticks as f64 * dt);
        let calm =
            depth > self.solver.settings.thickness && time * limits::RECOVERY_SPEED < 1.5 * depth;
        self.solver.settings.recovery_speed =
            if calm { limits::RECOVERY_SPEED } else { limits::FAST_RECOVERY_SPEED };
        self.find_contacts(frame, dt);
        self.attachments.update(&frame.meshes, dt);
        let incoming = &frame.meshes[self.mesh].positions;
        match &mut self.refinement {
            Some(refinement) => refinement.positions(incoming, &mut self.incoming),
            None => self.incoming.clone_from(incoming),
        }
        self.place_held(context);
        let law = AirLaw { drag: self.params.drag, lift: self.params.lift };
        air::accelerations(
            &self.rest,
            law,
            context.forces,
            context.time - dt,
            dt,
            &self.state.positions,
            &self.state.velocities,
            &mut self.per_triangle,
            &mut self.solver.acceleration,
        );
        let colliders = (context.colliders.all(), self.collider_indices.as_slice());
        for (posed, &index) in self.solver.posed.iter_mut().zip(colliders.1) {
            posed.set(&colliders.0[index], 0.0);
        }
        let pressure = self.params.pressure.as_ref();
        let drive = Drive {
            dt,
            colliders,
            bodies: &self.contacts,
            pokes: self.pokes.rows(),
            held: &self.held,
            stuck: &self.stuck,
            volume: pressure.map(|p| p.at(context.frame_number()) * self.rest.volume),
        };
        let (rest, state, selfs, solver) =
            (&self.rest, &mut self.state, &self.selfs, &mut self.solver);
        // Inside the pool the strips' tasks start without waking anybody from outside.
        rayon::scope(|_| solver.tick(rest, &drive, selfs, state));
        self.attachments.catch_and_release(&mut self.state, context.frame_number(), &self.params);
    }

    /// Simulates from the source pose into the first one, then a little longer in it.
    fn dress(&mut self, context: &StepContext, frame: &Frame) {
        if self.dressing.is_empty() {
            return;
        }
        let dressing = std::mem::take(&mut self.dressing);
        let dt = context.clock.tick_seconds();
        let ticks = (self.params.dressing / dt).ceil().max(1.0) as u32;
        let mut between = frame.clone();
        let tick = StepContext {
            dt,
            is_output: false,
            surfaces_wanted: false,
            clock: context.clock,
            frame: context.frame,
            time: context.time,
            actors: context.actors,
            colliders: context.colliders,
            forces: context.forces,
        };
        for k in 1..=ticks {
            let t = (k as f32 / (limits::DRESSING_MOVES * ticks as f32)).min(1.0);
            dressing.blend(frame, t * t * (3.0 - 2.0 * t), &mut between);
            self.tick(&tick, &between);
        }
    }

    /// Finds what nodes may touch in this tick, then moves the bodies on.
    fn find_contacts(&mut self, frame: &Frame, dt: f64) {
        let state = &mut self.state;
        let (x, v) = (state.positions.as_slice(), state.velocities.as_slice());
        // A search looks ahead over the ticks up to the next one.
        if state.ticks.is_multiple_of(SELF_SEARCH_TICKS) {
            let horizon = dt * SELF_SEARCH_TICKS as f64;
            self.selfs.find(&self.rest, x, v, horizon, &mut state.near);
        }
        state.ticks += 1;
        // Places on a body whose triangles change (a soft body's surface) are looked for on the new
        // ones: the old are no longer there to be followed.
        let kept: Vec<bool> = self.bodies.iter().map(|b| b.is_on(&frame.meshes[b.mesh])).collect();
        for (body, _) in self.bodies.iter_mut().zip(&kept).filter(|(_, kept)| !**kept) {
            body.update(&frame.meshes[body.mesh], dt);
        }
        self.contacts.find(&self.bodies, x, v, dt, self.reach);
        self.contacts.keep_normals(&self.bodies);
        self.pokes.find(&self.bodies, &self.contacts, &self.rest, x, self.reach);
        for (body, _) in self.bodies.iter_mut().zip(&kept).filter(|(_, kept)| **kept) {
            body.update(&frame.meshes[body.mesh], dt);
        }
        if !self.bodies.is_empty() {
            self.giving.update(&self.rest, x, &mut state.giving);
        }
        let (giving, left) = (&self.giving, &state.giving);
        let lets_pass = |node: usize, normal, way| giving.lets_pass(left, node, normal, way, dt);
        self.contacts.follow(&self.bodies, v, dt, lets_pass);
        self.pokes.follow(&self.bodies, v, dt, lets_pass);
    }

    fn place_held(&mut self, context: &StepContext) {
        let number = context.frame_number();
        self.held.clear();
        for hold in &self.attachments.holds {
            if Attachments::is_on(hold, number) {
                let end = self.attachments.place(hold, context, &self.incoming);
                let start = self.state.positions[hold.node as usize];
                if self.held.last().is_none_or(|h| h.0 != hold.node) {
                    self.held.push((hold.node, start, end));
                }
            }
        }
        let same = self.held.len() == self.held_nodes.len()
            && self.held.iter().zip(&self.held_nodes).all(|(h, n)| h.0 == *n);
        if !same {
            self.held_nodes.clear();
            self.held_nodes.extend(self.held.iter().map(|h| h.0));
            self.solver.set_held(&self.rest, self.held_nodes.iter().copied());
        }
        self.stuck.clear();
        for stuck in &self.state.stuck {
            let place = |f: f32| self.attachments.stuck_place(stuck, f);
            if let (Some(start), Some(end)) = (place(0.0), place(1.0)) {
                self.stuck.push((stuck.node, start, end));
            }
        }
    }

    /// Measures how deep the cloth starts inside what it collides with.
    fn measure_start(&mut self, context: &StepContext) {
        let mut deepest: f64 = 0.0;
        for (node, p) in self.state.positions.iter().enumerate() {
            if self.attachments.holds.iter().any(|h| h.node as usize == node) {
                continue;
            }
            for &i in &self.collider_indices {
                let contact = context.colliders.all()[i].contact(p.as_vec3(), 1.0);
                deepest = deepest.max(f64::from(-contact.distance));
            }
            for body in self.bodies.iter().filter(|b| !b.is_buried(node)) {
                let reach = self.reach.depth as f32;
                if let Some((d, _)) = body.surface.signed_distance(p.as_vec3(), reach) {
                    deepest = deepest.max(f64::from(-d));
                }
            }
        }
        self.state.start_depth = deepest;
    }

    fn check(&self, context: &StepContext) -> Result<(), LayerError> {
        let bad = self.state.positions.iter().position(|p| !p.is_finite());
        bad.map_or(Ok(()), |node| {
            let element = self.rest.vertex_of_node[node] as usize;
            Err(LayerError::NonFinite { what: "vertex", element, frame: context.frame })
        })
    }

    fn show(&self, mesh: &mut Mesh) {
        mesh.positions.resize(self.rest.node_of_vertex.len(), Vec3::ZERO);
        self.refinement.iter().for_each(|r| r.adopt(mesh));
        for (p, &node) in mesh.positions.iter_mut().zip(&self.rest.node_of_vertex) {
            *p = self.state.positions[node as usize].as_vec3();
        }
        mesh.velocities.clear();
        let velocity = |&n: &u32| self.state.velocities[n as usize].as_vec3();
        mesh.velocities.extend(self.rest.node_of_vertex.iter().map(velocity));
    }
}

/// Ticks per search for contacts of the cloth with itself.
const SELF_SEARCH_TICKS: u64 = 2;

const ALWAYS: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl WholeLayer for ClothLayer {
    type Params = ClothParams;
    const KIND: &'static str = "cloth";

    fn name(&self) -> &str {
        &self.params.name
    }

    fn build(params: &ClothParams, context: &BuildContext) -> Result<Self, LayerError> {
        params.validate()?;
        Self::new(params.clone(), context)
    }

    fn needs_surfaces_between_frames(&self) -> bool {
        !self.bodies.is_empty()
            || !self.attachments.holds.is_empty()
            || !self.attachments.carriers.is_empty()
    }

    fn start(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        self.measure_start(context);
        self.dress(context, frame);
        self.check(context)
    }

    fn advance(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        self.tick(context, frame);
        self.check(context)
    }

    fn write(&mut self, _context: &StepContext, frame: &mut Frame) -> Result<(), LayerError> {
        self.show(&mut frame.meshes[self.mesh]);
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        let kept = |bodies: &[Body]| -> Vec<Vec<Vec3>> {
            bodies.iter().map(|b| b.surface.positions().to_vec()).collect()
        };
        let mut state = self.state.clone();
        state.bodies = kept(&self.bodies);
        state.carriers = kept(&self.attachments.carriers);
        to_snapshot(&state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let state: ClothState = from_snapshot(bytes)?;
        let fits = state.positions.len() == self.rest.node_count()
            && state.velocities.len() == state.positions.len()
            && state.bodies.len() == self.bodies.len()
            && state.carriers.len() == self.attachments.carriers.len();
        if !fits {
            return Err(SnapshotError("the cloth has another mesh or other bodies".to_owned()));
        }
        for (body, positions) in self.bodies.iter_mut().zip(&state.bodies) {
            body.restore(positions);
        }
        for (carrier, positions) in self.attachments.carriers.iter_mut().zip(&state.carriers) {
            carrier.restore(positions);
        }
        self.state = state;
        Ok(())
    }

    fn report(&self, report: &mut LayerReport) {
        let mut strains = self.strains();
        let mean = strains.iter().map(|s| s.max(0.0)).sum::<f64>() / strains.len().max(1) as f64;
        strains.sort_unstable_by(f64::total_cmp);
        let at = |q: f64| strains[((strains.len() - 1) as f64 * q) as usize];
        report.measure("stretch mean", "-", mean);
        report.measure("stretch p99", "-", at(0.99));
        report.measure("stretch max", "-", at(1.0));
        let solved = self.constraints_per_tick() as f64 * self.ticks_per_frame;
        report.measure("constraints per frame", "-", solved);
        if self.params.pressure.is_some() {
            let volume = super::pressure::volume(&self.rest.triangles, &self.state.positions);
            report.measure("volume", "m³", volume);
        }
        let uncut = self.refinement.as_ref().map_or(0, Refinement::left_out);
        if uncut > 0 {
            report.warn(format!("{uncut} triangles are not manifold and were not subdivided"));
        }
        for warning in &self.rest.warnings {
            report.warn(warning.clone());
        }
        if self.state.start_depth > self.solver.settings.thickness {
            report.warn(format!(
                "the cloth starts {:.1} mm inside what it collides with; it is brought out",
                1000.0 * self.state.start_depth
            ));
        }
    }
}

fn find_mesh(context: &BuildContext, field: &str, name: &str) -> Result<usize, LayerError> {
    let names = || context.frame.meshes.iter().map(|m| m.name.as_str());
    context.frame.mesh_index(name).ok_or_else(|| LayerError::unknown(field, "mesh", name, names()))
}

/// Vertices whose weight is at least a half.
fn select_vertices(
    context: &BuildContext,
    mesh_index: usize,
    field: &str,
    selection: &Selection,
) -> Result<Vec<u32>, LayerError> {
    let weights = context.select(field, mesh_index, selection)?;
    let chosen: Vec<u32> =
        (0..weights.len() as u32).filter(|&v| weights[v as usize] >= 0.5).collect();
    if chosen.is_empty() {
        return Err(LayerError::parameter(field, "selects no vertex of the mesh"));
    }
    Ok(chosen)
}

/// How many times stiffer in bending and heavier every vertex is; empty without seams.
fn seam_factors(
    params: &ClothParams,
    count: usize,
    select: impl Fn(&str, &Selection) -> Result<Vec<u32>, LayerError>,
) -> Result<Vec<(f64, f64)>, LayerError> {
    let mut factors = Vec::new();
    for (index, seam) in params.seams.iter().enumerate() {
        factors.resize(count, (1.0, 1.0));
        for vertex in select(&format!("seams[{index}].vertices"), &seam.vertices)? {
            factors[vertex as usize] = (seam.bend, seam.weight);
        }
    }
    Ok(factors)
}

fn build_rest(
    params: &ClothParams,
    mesh: &Mesh,
    (held, seams, ridges): (&[bool], &[(f64, f64)], &Ridges),
    gravity: f64,
) -> Result<ClothRest, LayerError> {
    let topology = &mesh.topology;
    if params.threads == super::Threads::Uv && topology.uvs.is_empty() {
        let problem = "the mesh has no uv to take warp and weft from";
        return Err(LayerError::parameter("threads", problem));
    }
    let rest = ClothRest::build(&RestInput {
        positions: &mesh.positions,
        triangles: &topology.triangles,
        uvs: &topology.uvs,
        held,
        seams,
        ridges,
        moduli: params.moduli(),
        threads: params.threads,
        rest_angles: params.rest_angles,
        tethers: params.tethers,
        gravity,
    })
    .map_err(|problem| LayerError::parameter("on", problem))?;
    if params.pressure.is_some() && !rest.closed {
        let problem = "the mesh is open: air would escape; close it or leave `pressure` out";
        return Err(LayerError::parameter("pressure", problem));
    }
    if params.pressure.is_some() && rest.volume <= 0.0 {
        let problem = "the mesh encloses no volume: are its triangles turned inside out?";
        return Err(LayerError::parameter("pressure", problem));
    }
    Ok(rest)
}

/// Friction between fibres in any direction would slow the spin of a free cloth: only what is held
/// has it. Along the edges it keeps both momenta.
fn internal_damping(attachments: &Attachments) -> (f64, f64) {
    let any = if attachments.holds.is_empty() { 0.0 } else { limits::FIBRE_DAMPING };
    (limits::STRETCH_DAMPING, any)
}

fn thickness(params: &ClothParams, rest: &ClothRest) -> f64 {
    let coarse = limits::THICKNESS_EDGES * rest.mean_edge;
    params.thickness.unwrap_or_else(|| params.moduli().thickness.max(coarse))
}

/// Sub-steps that keep the solver's own stretch small. One sweep per step holds an edge about as a
/// spring of stiffness `m / h²` would, so a depth `D` of cloth of edge `l` sags by `D g h² / l²`.
/// With coarse levels, `D` is but a few edges.
fn substeps_for(params: &ClothParams, rest: &ClothRest, clock: &Clock) -> u32 {
    let (edge, gravity) = (rest.mean_edge, 9.81);
    let step = if rest.hierarchy.is_empty() {
        edge * (limits::SOLVER_SAG / (rest.depth.max(edge) * gravity)).sqrt()
    } else {
        (limits::FALL_PER_STEP * edge / gravity).sqrt()
    };
    let wanted = (clock.tick_seconds() / step).max(f64::from(limits::LEAST_SUBSTEPS));
    let pushed = if params.bodies.is_empty() { 1.0 } else { limits::BODY_SUBSTEPS };
    let least = f64::from(limits::LEAST_SUBSTEPS);
    (params.quality * pushed * wanted).ceil().clamp(least, 1000.0) as u32
}

fn find_colliders(
    params: &ClothParams,
    context: &BuildContext,
    friction: f64,
) -> Result<(Vec<usize>, Vec<PosedCollider>), LayerError> {
    let all = context.colliders.all();
    let indices: Vec<usize> = match &params.colliders {
        None => (0..all.len()).collect(),
        Some(names) => names
            .iter()
            .map(|name| {
                all.iter().position(|c| &c.name == name).ok_or_else(|| {
                    let existing = all.iter().map(|c| c.name.as_str());
                    LayerError::unknown("colliders", "collider", name, existing)
                })
            })
            .collect::<Result<_, _>>()?,
    };
    let posed = indices
        .iter()
        .map(|&i| PosedCollider::new(&all[i], (friction * f64::from(all[i].friction)).sqrt()))
        .collect();
    Ok((indices, posed))
}

fn find_bodies(
    params: &ClothParams,
    context: &BuildContext,
    own: usize,
) -> Result<Vec<Body>, LayerError> {
    let mut bodies = Vec::new();
    for (index, name) in params.bodies.iter().enumerate() {
        let mesh = find_mesh(context, &format!("bodies[{index}]"), name)?;
        if mesh == own {
            let problem = "the cloth itself is not a body; use `self_collision`";
            return Err(LayerError::parameter(format!("bodies[{index}]"), problem));
        }
        let source = &context.frame.meshes[mesh];
        let mut left_out = vec![false; source.positions.len()];
        if let Some(parts) = &params.bodies_except {
            let chosen = select_vertices(context, mesh, "bodies_except", parts)?;
            chosen.iter().for_each(|&v| left_out[v as usize] = true);
        }
        bodies.push(Body::new(mesh, source, &left_out));
    }
    Ok(bodies)
}
