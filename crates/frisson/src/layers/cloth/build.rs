//! From parameters to what never changes.

use glam::DVec3;

use super::attach::Attachments;
use super::body::{BodyReach, GarmentBody};
use super::dress::Dressing;
use super::local::{self, Local, SoftPin};
use super::params::ClothParams;
use super::refine::{RefineScratch, Refinement};
use super::rest::{ClothRest, RestInput};
use super::ridges::Ridges;
use super::self_contact::SelfContacts;
use super::sew::{self, Stitch};
use super::solver::SolverSettings;
use super::stretch::StretchLaw;
use crate::geometry::Mesh;
use crate::stage::{Animated, BuildContext, Clock, LayerError, Selection};
use crate::tolerances::cloth as limits;

/// A garment as it is built: cut, sewn, and with all that it hangs on and touches looked up.
pub struct Garment {
    /// The mesh in the frame.
    pub mesh: usize,
    /// Vertices of the mesh as it comes in.
    pub incoming_vertices: usize,
    /// The cloth itself.
    pub cloth: ClothRest,
    /// Where its nodes are at rest [m].
    pub at_rest: Vec<DVec3>,
    /// How the mesh is cut finer.
    pub refinement: Option<Refinement>,
    /// What holds it.
    pub attachments: Attachments,
    /// Whether a node is ever held.
    pub held: Vec<bool>,
    /// What it collides with, as built.
    pub bodies: Vec<GarmentBody>,
    /// Simple colliders that it touches.
    pub colliders: Vec<usize>,
    /// Height of the contact band [m].
    pub thickness: f64,
    /// What finds contacts with itself, as built.
    pub selfs: SelfContacts,
    /// What is sewn together.
    pub stitches: Vec<Stitch>,
    /// Nodes that follow the incoming mesh loosely, with their vertices and weights.
    pub soft: Vec<SoftPin>,
    /// From the pose in which it was modelled into the first one.
    pub dressing: Dressing,
    /// Whether parts of it have another size than they are modelled in.
    pub is_resized: bool,
    /// Ticks in a frame interval, for the report.
    pub ticks_per_frame: f64,
}

/// The actor that wears the garment: it has both the garment and a body under it.
fn wearer(params: &ClothParams, context: &BuildContext) -> Option<usize> {
    let garment = find_mesh(context, "on", &params.on).ok()?;
    let bodies: Vec<usize> =
        params.bodies.iter().filter_map(|b| find_mesh(context, "bodies", b).ok()).collect();
    (0..context.actors.all().len()).find(|&actor| {
        let meshes = context.actors.mesh_range(actor);
        meshes.contains(&garment) && bodies.iter().any(|b| meshes.contains(b))
    })
}

impl Garment {
    /// Resolves names and builds everything.
    pub fn build(params: &ClothParams, context: &BuildContext) -> Result<Self, LayerError> {
        let wanted = params.dressing > 0.0 && !params.bodies.is_empty();
        let wearer = wearer(params, context);
        let dressing = if wanted { Dressing::new(context, wearer) } else { Dressing::default() };
        let mut start = context.frame.clone();
        dressing.blend(context.frame, 0.0, &mut start);
        Self::dressed(params, dressing, &BuildContext { frame: &start, ..*context })
    }

    fn dressed(
        params: &ClothParams,
        dressing: Dressing,
        context: &BuildContext,
    ) -> Result<Self, LayerError> {
        check_cycle(params, context.clock)?;
        let mesh_index = find_mesh(context, "on", &params.on)?;
        let coarse = &context.frame.meshes[mesh_index];
        let refinement = (params.subdivide > 0).then(|| Refinement::new(coarse, params.subdivide));
        let mesh = &refinement.as_ref().map_or_else(|| coarse.clone(), |r| r.mesh(coarse));
        let select = |field: &str, s: &Selection| {
            let mut chosen = select_vertices(context, mesh_index, field, s)?;
            refinement.iter().for_each(|r| r.spread(&mut chosen));
            Ok(chosen)
        };
        let mut attachments = Attachments::build(params, context, mesh, select)?;
        let mut held = vec![false; mesh.positions.len()];
        for hold in attachments.holds.iter().filter(|h| h.is_for_ever()) {
            held[hold.vertex as usize] = true;
        }
        let paint = |field: &str, s: &Selection| {
            let weights = context.select(field, mesh_index, s)?;
            Ok(match &refinement {
                Some(r) => r.spread_weights(&weights),
                None => weights,
            })
        };
        let count = mesh.positions.len();
        let locals = local::locals(params, count, select, paint)?;
        let ridges = find_ridges(params, context, (mesh_index, mesh), refinement.as_ref())?;
        let gravity = f64::from(context.forces.gravity.length());
        let cloth = build_cloth(params, mesh, (&held, &locals, &ridges), gravity)?;
        attachments.number(&cloth.node_of_vertex);
        let thickness = thickness(params, &cloth);
        let at_rest = cloth.node_positions(&mesh.positions);
        let mut bodies = find_bodies(params, context, mesh_index)?;
        for body in &mut bodies {
            let always = attachments.holds.iter().filter(|h| h.is_for_ever());
            body.bury(&at_rest, always.map(|h| h.node));
        }
        let stitches = find_stitches(params, &cloth, &at_rest, select)?;
        let soft = local::soft_pins(params, &cloth, paint)?;
        let selfs = if params.self_collision {
            SelfContacts::new(&cloth, &at_rest, &stitches, thickness)
        } else {
            SelfContacts::default()
        };
        let mut held = vec![false; cloth.node_count()];
        attachments.holds.iter().for_each(|h| held[h.node as usize] = true);
        Ok(Self {
            mesh: mesh_index,
            incoming_vertices: coarse.positions.len(),
            cloth,
            at_rest,
            refinement,
            attachments,
            held,
            bodies,
            colliders: find_colliders(params, context)?,
            thickness,
            selfs,
            stitches,
            soft,
            dressing,
            is_resized: locals.iter().any(|local| local.size != 1.0),
            ticks_per_frame: context.clock.ticks_per_frame(),
        })
    }

    /// How far to look for bodies.
    pub fn reach(&self, params: &ClothParams) -> BodyReach {
        BodyReach {
            thickness: self.thickness * self.cloth.bands.most,
            mean_edge: self.cloth.mean_edge,
            depth: params.body_depth,
            friction: params.moduli().friction,
        }
    }

    /// Numbers of the solver, for the parameters as they are now.
    pub fn settings(&self, params: &ClothParams, clock: &Clock) -> SolverSettings {
        SolverSettings {
            law: StretchLaw {
                stretch_limit: params.stretch_limit.unwrap_or(self.cloth.default_limit),
                compression_limit: params.compression_limit,
                in_compression: if params.tension_only { 0.0 } else { 1.0 },
                swell: 1.0,
            },
            substeps: self.substeps(params, clock),
            damping: params.damping,
            internal_damping: self.internal_damping(),
            thickness: self.thickness,
            recovery_speed: limits::RECOVERY_SPEED,
        }
    }

    /// Friction between fibres in any direction would slow the spin of a free cloth: only what is held
    /// has it. Along the edges it keeps both momenta.
    fn internal_damping(&self) -> (f64, f64) {
        let any = if self.attachments.holds.is_empty() { 0.0 } else { limits::FIBRE_DAMPING };
        (limits::STRETCH_DAMPING, any)
    }

    /// Sub-steps per tick that keep the solver's own stretch small. One sweep per step holds an edge
    /// about as a spring of stiffness `m / h²` would, so a depth `D` of cloth of edge `l` sags by
    /// `D g h² / l²`. With coarse levels, `D` is but a few edges.
    pub fn substeps(&self, params: &ClothParams, clock: &Clock) -> u32 {
        let usual_ticks = clock.tick_seconds() * f64::from(Clock::TICK_HZ);
        if let Some(substeps) = params.substeps {
            return (f64::from(substeps) * usual_ticks).ceil().max(1.0) as u32;
        }
        let (edge, gravity) = (self.cloth.mean_edge, 9.81);
        let step = if self.cloth.hierarchy.is_empty() {
            edge * (limits::SOLVER_SAG / (self.cloth.depth.max(edge) * gravity)).sqrt()
        } else {
            (limits::FALL_PER_STEP * edge / gravity).sqrt()
        };
        let least = f64::from(limits::LEAST_SUBSTEPS) * usual_ticks;
        let wanted = (clock.tick_seconds() / step).max(least);
        let pushed = if params.bodies.is_empty() { 1.0 } else { limits::BODY_SUBSTEPS };
        let wanted = (pushed * wanted).max(clock.tick_seconds() / self.air_step(params));
        (params.quality * wanted).ceil().clamp(least.ceil(), 1000.0) as u32
    }

    /// Longest step in which the solver itself adds little to the stretch by an overpressure. A ball of
    /// radius `R` under `p` pulls at an edge of length `l` with about `p R l / 3`, and one sweep per step
    /// holds it about as a spring of stiffness `m / h²` would.
    fn air_step(&self, params: &ClothParams) -> f64 {
        let most = params.overpressure.iter().flat_map(Animated::values);
        let most = most.fold(0.0, |most: f64, p| most.max(p.abs()));
        let (edge, density) = (self.cloth.mean_edge, params.moduli().density);
        let radius = (self.cloth.area / (4.0 * std::f64::consts::PI)).sqrt();
        let pull = most * radius / (3.0 * density * edge * edge);
        (limits::BLOWN_STRETCH / pull.max(f64::MIN_POSITIVE)).sqrt()
    }

    /// Constraints solved in a tick: edges at every small step, hinges and shears less often.
    pub fn constraints_per_tick(&self, settings: &SolverSettings) -> usize {
        let slow = self.cloth.hinges.rows.len() + self.cloth.shears.rows.len();
        self.cloth.edges.rows.len() * settings.substeps as usize
            + slow * (settings.substeps / settings.bend_every()) as usize
    }
}

/// A cycle is led over to what was simulated before it.
fn check_cycle(params: &ClothParams, clock: &Clock) -> Result<(), LayerError> {
    let Some(cycle) = &params.cycle else { return Ok(()) };
    let seconds = cycle.blend / clock.rate.fps();
    if seconds > limits::LONGEST_LEAD {
        let problem = format!("lasts {seconds} s, must be at most {} s", limits::LONGEST_LEAD);
        return Err(LayerError::parameter("cycle.blend", problem));
    }
    let first = clock.first_frame as f64 - f64::from(clock.preroll_frames);
    if cycle.from_frame - cycle.blend >= first {
        return Ok(());
    }
    let problem = format!(
        "is {}, but the shot begins at frame {first}: let the cycle begin `blend` = {} frames later or more",
        cycle.from_frame, cycle.blend
    );
    Err(LayerError::parameter("cycle.from_frame", problem))
}

fn find_ridges(
    params: &ClothParams,
    context: &BuildContext,
    (mesh_index, mesh): (usize, &Mesh),
    refinement: Option<&Refinement>,
) -> Result<Ridges, LayerError> {
    if context.ridges.is_empty() {
        return Ok(Ridges::default());
    }
    let reference = context.reference_mesh(mesh_index);
    let place = |a: &_| context.place_on("folds", mesh_index, &reference, a);
    let mut places = reference.positions.clone();
    if let Some(refinement) = refinement {
        refinement.positions(&reference.positions, &mut RefineScratch::default(), &mut places);
    }
    Ridges::build(context.ridges, places, &mesh.topology.triangles, place, params.moduli().warp)
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

/// Stitches of all seams.
fn find_stitches(
    params: &ClothParams,
    cloth: &ClothRest,
    at_rest: &[DVec3],
    select: impl Fn(&str, &Selection) -> Result<Vec<u32>, LayerError>,
) -> Result<Vec<Stitch>, LayerError> {
    let mut all = Vec::new();
    for (index, sewing) in params.sewing.iter().enumerate() {
        let line = |key: &str, s: &Selection| select(&format!("sewing[{index}].{key}"), s);
        let (from, to) = (line("from", &sewing.from)?, line("to", &sewing.to)?);
        let stitches =
            sew::stitch(sewing, cloth, at_rest, [&from, &to]).map_err(|(key, problem)| {
                LayerError::parameter(format!("sewing[{index}].{key}"), problem)
            })?;
        all.extend(stitches);
    }
    Ok(all)
}

fn build_cloth(
    params: &ClothParams,
    mesh: &Mesh,
    (held, locals, ridges): (&[bool], &[Local], &Ridges),
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
        locals,
        ridges,
        moduli: params.moduli(),
        air_mass: params.air_mass,
        threads: params.threads,
        rest_angles: params.rest_angles,
        tethers: params.tethers,
        gravity,
    })
    .map_err(|problem| LayerError::parameter("on", problem))?;
    let airs = [("pressure", &params.pressure), ("overpressure", &params.overpressure)];
    for (field, _) in airs.into_iter().filter(|(_, air)| air.is_some()) {
        if !rest.closed {
            let problem =
                format!("the mesh is open: air would escape; close it or leave `{field}` out");
            return Err(LayerError::parameter(field, problem));
        }
        if rest.volume <= 0.0 {
            let problem = "the mesh encloses no volume: are its triangles turned inside out?";
            return Err(LayerError::parameter(field, problem));
        }
    }
    Ok(rest)
}

fn thickness(params: &ClothParams, rest: &ClothRest) -> f64 {
    let coarse = limits::THICKNESS_EDGES * rest.mean_edge;
    params.thickness.unwrap_or_else(|| params.moduli().thickness.max(coarse))
}

fn find_colliders(params: &ClothParams, context: &BuildContext) -> Result<Vec<usize>, LayerError> {
    let all = context.colliders.all();
    let Some(names) = &params.colliders else { return Ok((0..all.len()).collect()) };
    let find = |name: &String| {
        let existing = || all.iter().map(|c| c.name.as_str());
        all.iter()
            .position(|c| &c.name == name)
            .ok_or_else(|| LayerError::unknown("colliders", "collider", name, existing()))
    };
    names.iter().map(find).collect()
}

fn find_bodies(
    params: &ClothParams,
    context: &BuildContext,
    own: usize,
) -> Result<Vec<GarmentBody>, LayerError> {
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
        bodies.push(GarmentBody::new(mesh, source, &left_out));
    }
    Ok(bodies)
}
