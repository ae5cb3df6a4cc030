//! One tick: the surface moves, drops appear, run, merge, shrink.

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::body::Bodies;
use super::image::WetImage;
use super::layer::DropsLayer;
use super::meeting::AirMeetings;
use super::merge::Merger;
use super::output::OutputNames;
use super::params::DropsParams;
use super::relief::{self, Arrival, Relief};
use super::rest::DropsRest;
use super::run::{self, Runs};
use super::sinks::Sinks;
use super::site::{Hold, Site};
use super::source::{Emission, SourceParams, drift};
use super::state::{Droplet, DropsState, Phase, SourceState, Wet};
use super::strip_mesh::StripMesh;
use super::surface::Surface;
use super::thread::Threads;
use super::trail::{Pencil, Strip, Strips, Wetting, paint};
use super::world::World;
use crate::geometry::Bounds;
use crate::stage::{Frame, LayerError, StepContext, Work};
use crate::tolerances::drops::CHUNK;

/// What a pass over the drops works with.
pub(super) type Tick<'a, 'b> = &'a mut Work<'b, DropsLayer, &'b mut DropsState>;

/// Storage that is reused, and what follows from the rest data, the parameters and the state.
#[derive(Default)]
pub struct Scratch {
    /// Whether what follows is there.
    is_ready: bool,
    /// Since when the triangles are as they are, where they are not those of the start.
    since: Option<f64>,
    /// Time of the state that axes and holds were taken from [s]: a look between ticks is taken back.
    as_of: f64,
    /// The surface now.
    pub surface: Surface,
    /// What it is made of, and the liquid.
    pub site: Site,
    /// What holds drops on each triangle now.
    pub holds: Vec<Hold>,
    /// The surface has moved since drops were last shown on it.
    pub moved_since_shown: bool,
    /// Names of what is shown.
    pub names: OutputNames,
    /// Shapes of the drops.
    pub bodies: Bodies,
    /// Pieces of strips.
    pub strips: Strips,
    /// The mesh of the trails.
    pub strip_mesh: StripMesh,
    /// Threads of thick liquids.
    pub threads: Threads,
    /// The image of wetness as it is shown.
    pub image: WetImage,
    /// Runs of the drops.
    pub runs: Runs,
    /// Those that may meet.
    pub merger: Merger,
    /// Those that meet in the air.
    pub meetings: AirMeetings,
    /// Drops that appear.
    pub new_drops: Vec<Droplet>,
    new_axes: Vec<(u32, [f32; 2])>,
    old_axes: Vec<(u32, DVec2)>,
}

impl Scratch {
    /// Makes what follows from the others fit to them.
    pub(super) fn prepare(&mut self, params: &DropsParams, rest: &DropsRest, state: &DropsState) {
        let since = state.relief.as_ref().map(|r| r.since);
        if self.is_ready && self.since == since {
            if self.as_of != state.time {
                let relief = state.relief.as_deref();
                let axes = relief.map_or(&rest.surface.axes, |r| &r.axes);
                self.surface.axes.clone_from(axes);
                self.take_wetness(state);
            }
            return;
        }
        let surface = state.relief.as_ref().map_or_else(|| rest.surface.clone(), |r| r.connect());
        self.install(params, rest, state, surface);
    }

    /// Takes a surface over, as it was connected.
    fn install(
        &mut self,
        params: &DropsParams,
        rest: &DropsRest,
        state: &DropsState,
        surface: Surface,
    ) {
        let relief = state.relief.as_deref().unwrap_or(&rest.home);
        self.surface = surface;
        self.site = Site::new(rest, params, relief, &self.surface);
        self.take_wetness(state);
        if !self.is_ready {
            self.bodies = Bodies::new(&self.site);
            self.names = OutputNames::new(&params.name);
        }
        self.strip_mesh.forget();
        self.moved_since_shown = true;
        self.since = state.relief.as_ref().map(|r| r.since);
        self.is_ready = true;
    }

    /// Takes over what trails have done to the ground.
    fn take_wetness(&mut self, state: &DropsState) {
        for &(t, axis) in &state.axes {
            self.surface.axes[t as usize] = axis;
        }
        // Made again where the surface stands.
        self.surface.facets.clear();
        self.holds.clone_from(&self.site.ground.dry_holds);
        for t in state.wet.active.iter().map(|t| *t as usize) {
            self.holds[t] = self.site.ground.dry_holds[t].smoothed(state.wet.wetness[t]);
        }
        self.as_of = state.time;
    }
}

/// The state in which the layer begins.
pub(super) fn start(
    work: Work<'_, DropsLayer, ()>,
    context: &StepContext,
    frame: &Frame,
) -> Result<DropsState, LayerError> {
    let (params, rest) = (work.params, work.rest);
    let place = |start: &Option<super::rest::SourceStart>| SourceState {
        place: start.and_then(|s| s.on),
        ..SourceState::default()
    };
    let image = params.trails.image > 0 && !rest.home.uvs.is_empty();
    let mut state = DropsState {
        wet: Wet::dry(rest.home.count()),
        sources: rest.starts.iter().map(place).collect(),
        image: image.then(|| WetImage::new(params.trails.image)),
        points: rest.surface.points.clone(),
        ..DropsState::default()
    };
    advance(&mut Work { params, rest, state: &mut state, scratch: work.scratch }, context, frame)?;
    Ok(state)
}

/// Advances the state by one step; at the start, by none.
pub(super) fn advance(work: Tick, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
    follow_surface(work, context, frame);
    if context.dt > 0.0 {
        let merges = run::run(work, context);
        wet(work, context.time);
        if merges > 0 {
            work.state.drops.retain(|d| d.mass > 0.0);
        }
        meet_in_air(work, context);
        leave_beads(work, context.time);
        drain(work, context);
        keep_tracks(work, context);
    }
    emit(work, context);
    work.state.time = context.time;
    work.scratch.as_of = context.time;
    check(work.scratch, context)
}

/// Takes the surface to where the frame has it, over to other triangles if it has others.
fn follow_surface(work: Tick, context: &StepContext, frame: &Frame) {
    let Work { params, rest, state, scratch } = work;
    scratch.prepare(params, rest, state);
    let home = &rest.home;
    let relief = state.relief.clone();
    let relief: &Relief = relief.as_deref().unwrap_or(home);
    let mut is_there = relief.fits(&frame.meshes, &rest.meshes);
    if !is_there {
        scratch.surface.stand(&state.points);
        let old = (relief, &scratch.surface);
        let now = (context.time, context.dt);
        // Where there is nowhere to run, drops stay on what was there last.
        if let Some(mut to) = Arrival::new((&frame.meshes, &rest.meshes), old, now) {
            relief::carry_over(state, old, &mut to);
            state.relief = Some(std::sync::Arc::new(to.relief));
            scratch.install(params, rest, state, to.surface);
            is_there = true;
        }
    }
    let Scratch { surface, moved_since_shown, .. } = &mut **scratch;
    let teleport = params.air.teleport_speed * context.dt.max(1e-3);
    let before = std::mem::take(&mut state.points);
    let changed = if is_there {
        let place = |source: super::surface::PointSource| {
            frame.meshes[rest.meshes[source.mesh as usize]].positions[source.vertex as usize]
        };
        surface.update(&before, place, teleport)
    } else {
        let changed = surface.stand(&before);
        surface.previous.clone_from(&before);
        surface.moved = false;
        changed
    };
    state.points = before;
    if context.dt == 0.0 {
        surface.moved = false;
        let Surface { previous, points, .. } = surface;
        previous.clone_from(points);
    }
    *moved_since_shown |= changed;
    if state.points != surface.points {
        state.points.clone_from(&surface.points);
    }
}

/// The world as drops see it this tick.
pub(super) fn world<'a>(
    params: &DropsParams,
    rest: &'a DropsRest,
    scratch: &'a Scratch,
    context: &'a StepContext,
) -> World<'a> {
    World {
        surface: &scratch.surface,
        ground: &scratch.site.ground,
        holds: &scratch.holds,
        places: &scratch.site.places,
        liquid: &scratch.site.liquid,
        forces: context.forces,
        uniform: context.forces.is_uniform().then(|| context.forces.gravity.as_dvec3()),
        colliders: Some(context.colliders),
        guides: &scratch.site.guides,
        source_drags: &rest.source_drags,
        time: context.time,
        tick: context.dt,
        scene_drag: f64::from(context.forces.drag_rate(context.time)),
        windy: context.forces.has_wind(),
        tracks: params.tracks,
        bounds: bounds(params, rest, &scratch.surface, context.dt),
    }
}

/// Outside of this, drops are gone.
fn bounds(params: &DropsParams, rest: &DropsRest, surface: &Surface, dt: f64) -> Bounds {
    let mut bounds = surface.bounds().grown(params.air.margin);
    if let Some(rain) = rest.rain_bounds {
        bounds = bounds.union(rain);
    }
    let drift = drift(params, surface, dt);
    for source in &params.sources {
        if let SourceParams::Rain(rain) = source
            && let Some(start) = rain.start_box(surface, drift)
        {
            bounds = bounds.union(start);
        }
    }
    bounds
}

/// Track pieces are kept for as long as a frame may still ask for them.
fn keep_tracks(work: Tick, context: &StepContext) {
    let kept = 2.0 / context.clock.rate.fps() + context.clock.tick_seconds();
    work.state.segments.retain(|s| s.start + s.duration > context.time - kept);
}

/// Smoothing and films, in the order of drops; then strips.
fn wet(work: Tick, time: f64) {
    let (params, scratch) = (work.params, &mut *work.scratch);
    if !params.trails.enabled {
        return;
    }
    scratch.new_axes.clear();
    let mut wetting = Wetting {
        surface: &scratch.surface,
        site: &scratch.site,
        params: &params.trails,
        new_axes: &mut scratch.new_axes,
        least_mass: params.sinks.least_mass,
    };
    let heirs = &scratch.runs.heirs;
    for stay in run::stays(&scratch.runs, &scratch.merger) {
        let payer = heirs.get(stay.drop as usize).copied().unwrap_or(stay.drop);
        wetting.apply(work.state, stay, payer);
    }
    if params.trails.mesh || work.state.image.is_some() {
        draw_strips(work, time);
    }
    turn_axes(work.state, work.scratch);
}

/// Draws the strips on, paints those that are done, and keeps their pieces.
fn draw_strips(work: Tick, time: f64) {
    let (params, seed) = (&work.params.trails, work.params.seed);
    let Scratch { surface, site, runs, merger, strips, .. } = &mut *work.scratch;
    let pencil = Pencil { surface, site, params, seed };
    let Runs { traces, starts, heirs, .. } = &*runs;
    let grouped = &merger.grouped;
    let DropsState { drops, image, trail, .. } = &mut *work.state;
    let Some((last, lists)) = strips.start(traces.len() + 1).split_last_mut() else {
        return;
    };
    // Drops that ran once, in chunks of their own; then the few that may have met.
    let chunks = drops[..starts.len()].par_chunks_mut(CHUNK).zip(traces).zip(lists);
    chunks.enumerate().for_each(|(chunk, ((drops, trace), pieces))| {
        for stay in &trace.stays {
            let drop = stay.drop as usize;
            if grouped.is_empty() || !grouped[drop] {
                pencil.draw(&mut drops[drop - chunk * CHUNK], stay, pieces);
            }
        }
        for drop in drops.iter_mut().filter(|d| !d.is_on_surface()) {
            pencil.close(drop, pieces);
        }
    });
    for stay in run::group_stays(runs, merger) {
        pencil.draw(&mut drops[stay.drop as usize], stay, last);
    }
    for (i, &heir) in heirs.iter().enumerate().filter(|(i, h)| *i as u32 != **h) {
        // What is dissolved in the heir is what was dissolved in it.
        let (mass, solute) = (drops[heir as usize].mass, drops[heir as usize].solute);
        let drop = &mut drops[i];
        let gone = (drop.mass, drop.solute);
        (drop.mass, drop.solute) = (mass, solute);
        pencil.close(drop, last);
        (drop.mass, drop.solute) = gone;
    }
    if let Some(image) = image {
        strips.pieces().for_each(|p| paint(image, (&site.uvs, params), p, time));
    }
    if params.mesh {
        trail.pieces.extend(strips.pieces().copied());
    }
}

/// What drops that are gone have drawn stays.
fn end_strips(work: Tick, time: f64) {
    let (params, seed) = (&work.params.trails, work.params.seed);
    let Scratch { surface, site, .. } = &*work.scratch;
    let pencil = Pencil { surface, site, params, seed };
    let DropsState { drops, trail, image, .. } = &mut *work.state;
    let first = trail.pieces.len();
    for drop in drops.iter_mut().filter(|d| d.mass <= 0.0) {
        pencil.close(drop, &mut trail.pieces);
    }
    if let Some(image) = image {
        trail.pieces[first..].iter().for_each(|p| paint(image, (&site.uvs, params), p, time));
    }
    if !params.mesh {
        trail.pieces.truncate(first);
    }
}

/// Triangles whose first trail has set their axes: drops on them keep their velocity.
fn turn_axes(state: &mut DropsState, scratch: &mut Scratch) {
    if scratch.new_axes.is_empty() {
        return;
    }
    scratch.new_axes.sort_by_key(|(t, _)| *t);
    scratch.new_axes.dedup_by_key(|(t, _)| *t);
    for &(t, axis) in &scratch.new_axes {
        let old = scratch.surface.facets[t as usize];
        scratch.surface.axes[t as usize] = axis;
        scratch.surface.refresh_facet(t as usize);
        state.axes.push((t, axis));
        let new = &scratch.surface.facets[t as usize];
        scratch.old_axes.push((t, DVec2::new(old.e2.dot(new.e2), old.e2.dot(new.e3))));
    }
    for drop in &mut state.drops {
        if let Phase::Face { triangle, velocity, .. } = &mut drop.phase
            && let Ok(i) = scratch.old_axes.binary_search_by_key(triangle, |o| o.0)
        {
            *velocity = scratch.old_axes[i].1.rotate(*velocity);
        }
    }
    scratch.old_axes.clear();
}

/// Drops that meet in the air become one.
fn meet_in_air(work: Tick, context: &StepContext) {
    let merging = &work.params.merging;
    if !merging.enabled || !merging.in_air {
        return;
    }
    let Scratch { meetings, site, .. } = &mut *work.scratch;
    let merges = meetings.unite(&mut work.state.drops, site, (context.time, context.dt));
    if merges > 0 {
        work.state.ledger.merges += merges;
        work.state.drops.retain(|d| d.mass > 0.0);
    }
}

/// On repelling ground a running drop leaves small ones behind.
fn leave_beads(work: Tick, time: f64) {
    let (params, scratch) = (work.params, &*work.scratch);
    let (surface, site) = (&scratch.surface, &scratch.site);
    let Some(beads) = &params.trails.beads else { return };
    let count = work.state.drops.len();
    for i in 0..count {
        let drop = &mut work.state.drops[i];
        let Phase::Face { triangle, weights, velocity, .. } = drop.phase else { continue };
        let kind = site.ground.of(triangle);
        let radius = site.liquid.radius(drop.mass);
        let mass = drop.mass * beads.share;
        let due = drop.since_bead > beads.spacing * radius;
        if drop.bead || !due || kind.contact_angle_deg < beads.above_deg {
            continue;
        }
        if mass <= params.sinks.least_mass || velocity == DVec2::ZERO {
            continue;
        }
        drop.since_bead = 0.0;
        // Far enough behind not to be swallowed again at once.
        let small = site.liquid.radius(mass);
        let back = 1.05 * kind.widest * (radius + small) * params.merging.reach.max(1.0);
        let place = super::walk::Place { triangle, weights, side: drop.side };
        let way = -velocity.normalize_or_zero() * back;
        let (reached, whole) = super::walk::walk(surface, place, way, &mut DVec2::ZERO.clone());
        if !whole {
            continue;
        }
        let share = mass / drop.mass;
        let mut bead = *drop;
        bead.mass = mass;
        bead.solute = drop.solute * share;
        drop.mass -= mass;
        drop.solute -= bead.solute;
        bead.bead = true;
        bead.asleep = false;
        bead.born = time;
        bead.distance = 0.0;
        bead.strip = Strip::NONE;
        bead.side = reached.side;
        bead.stretch = DVec2::ZERO;
        bead.inertia = DVec3::ZERO;
        bead.phase = Phase::Face {
            triangle: reached.triangle,
            weights: reached.weights,
            velocity: DVec2::ZERO,
            standing: 0,
        };
        work.state.add(bead);
    }
}

fn drain(work: Tick, context: &StepContext) {
    let frame = context.frame_number();
    let (params, scratch) = (work.params, &mut *work.scratch);
    let sinks = Sinks {
        params,
        site: &scratch.site,
        surface: &scratch.surface,
        colliders: context.colliders,
        dt: context.dt,
        frame,
        evaporation: params.sinks.evaporation.at(frame).max(0.0),
        bounds: bounds(params, work.rest, &scratch.surface, context.dt),
    };
    let gone = sinks.apply_to_drops(work.state);
    sinks.apply_to_films(work.state, &mut scratch.holds);
    if gone {
        end_strips(work, context.time);
        work.state.drops.retain(|d| d.mass > 0.0);
    }
    let trails = &params.trails;
    if let Some(image) = &mut work.state.image {
        image.dry(context.dt / trails.drying);
    }
    work.state.trail.sweep(context.time, trails.drying, trails.max_strips);
}

fn emit(work: Tick, context: &StepContext) {
    let (params, scratch) = (work.params, &mut *work.scratch);
    let fps = context.clock.rate.fps();
    let end = context.frame_number();
    let emission = Emission {
        site: &scratch.site,
        surface: &scratch.surface,
        starts: &work.rest.starts,
        offsets: &work.rest.start_offsets,
        // A frame's own tick must count whatever the rounding of its time.
        frames: (end - context.dt * fps + 1e-9, end + 1e-9),
        first: context.dt == 0.0,
        time: context.time,
        dt: context.dt,
        drift: drift(params, &scratch.surface, context.dt),
        seed: params.seed,
    };
    let room = params.max_drops.map_or(usize::MAX, |m| m as usize);
    let new = &mut scratch.new_drops;
    new.clear();
    let state = &mut *work.state;
    for (i, source) in params.sources.iter().enumerate() {
        if state.drops.len() + new.len() < room {
            let DropsState { sources, off_mesh, .. } = &mut *state;
            emission.emit(i, source, &mut sources[i], off_mesh, new);
        }
    }
    for drop in new.iter_mut() {
        drop.solute = drop.mass * params.deposit.concentration;
        state.ledger.emitted.add(drop.mass);
        state.ledger.solute_in.add(drop.solute);
        state.ledger.drops_emitted += 1;
        state.add(*drop);
    }
}

fn check(scratch: &Scratch, context: &StepContext) -> Result<(), LayerError> {
    match scratch.runs.traces.iter().find_map(|t| t.bad) {
        None => Ok(()),
        Some(element) => Err(LayerError::NonFinite {
            what: "drop",
            element: element as usize,
            frame: context.frame,
        }),
    }
}
