//! One tick: the surface moves; drops run, merge and shrink on it; new ones appear.

use super::image::WetImage;
use super::layer::DropsLayer;
use super::leave_trails::{end_strips, leave_beads, wet};
use super::params::{DropsParams, SourceParams};
use super::pool::PoolRest;
use super::pool_flow::PoolFlow;
use super::pool_ride::{Motion, RideWorld};
use super::relief::{self, Arrival, Relief};
use super::rest::DropsRest;
use super::run;
use super::scratch::DropsScratch;
use super::sinks::{self, Sinks};
use super::source::{Emission, drift};
use super::state::{DropsState, SourceState, Wet};
use super::surface::Surface;
use super::world::World;
use crate::geometry::Bounds;
use crate::stage::{Collider, Frame, LayerError, StepContext, Work};

/// What a pass over the drops works with.
pub(super) type Tick<'a, 'b> = &'a mut Work<'b, DropsLayer, &'b mut DropsState>;

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
        pools: rest.pools.iter().map(PoolRest::dry).collect(),
        ..DropsState::default()
    };
    advance(&mut Work { params, rest, state: &mut state, scratch: work.scratch }, context, frame)?;
    Ok(state)
}

/// Advances the state by one step; at the start, by none.
pub(super) fn advance(work: Tick, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
    follow_surface(work, context, frame);
    if context.dt > 0.0 {
        sinks::give_caught(work.state, &work.params.name, &frame.caught);
        let merges = run::run(work, context);
        wet(work, context.time);
        // Only now: until here drops have the numbers under which they ran.
        if merges > 0 {
            keep_living(work);
        }
        meet_in_air(work, context);
        leave_beads(work, context.time);
        fill_pools(work, context);
        drain(work, context);
        keep_tracks(work, context);
    }
    // Last, so that a drop is seen where it appears before it runs.
    emit(work, context);
    work.state.time = context.time;
    work.scratch.as_of = context.time;
    check(work.scratch, context)
}

/// Takes what has no mass left out of the list of drops.
fn keep_living(work: Tick) {
    let DropsScratch { compaction, runs, .. } = &mut *work.scratch;
    // Where drops started is not asked for any more, and serves as room for the new list.
    compaction.keep_living(&mut work.state.drops, &mut runs.starts);
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
    let DropsScratch { surface, moved_since_shown, .. } = &mut **scratch;
    // At the start no time has passed: not every way is a jump for that.
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
    // At the start there is no motion yet, however far the actor stands from where it was modelled.
    if context.dt == 0.0 {
        surface.moved = false;
        let Surface { previous, points, .. } = surface;
        previous.clone_from(points);
    }
    *moved_since_shown |= changed;
    // Written only where it differs: most surfaces stand still.
    if state.points != surface.points {
        state.points.clone_from(&surface.points);
    }
}

/// The world as drops see it this tick.
pub(super) fn world<'a>(
    params: &DropsParams,
    rest: &'a DropsRest,
    scratch: &'a DropsScratch,
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
        bounds: bounds(params, rest, scratch, context.dt),
    }
}

/// Outside of this, drops are gone.
fn bounds(params: &DropsParams, rest: &DropsRest, scratch: &DropsScratch, dt: f64) -> Bounds {
    let surface = &scratch.surface;
    let mut bounds = surface.bounds().grown(params.air.margin);
    // Where pools are by now, not where they began.
    for pool in &scratch.grounds {
        bounds = bounds.union(pool.bounds);
    }
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

/// Drops that meet in the air become one, and so do parcels that a stream is cut into.
fn meet_in_air(work: Tick, context: &StepContext) {
    let merging = &work.params.merging;
    if !merging.enabled || !merging.in_air {
        return;
    }
    let DropsScratch { meetings, streams, site, .. } = &mut *work.scratch;
    let now = (context.time, context.clock.tick_seconds());
    let mut merges = 0;
    if streams.find(&work.state.drops, &site.liquid, now) {
        merges += streams.part(&mut work.state.drops, context.time);
    }
    merges += meetings.unite(&mut work.state.drops, site, (context.time, context.dt));
    if merges > 0 {
        work.state.ledger.merges += merges;
        keep_living(work);
    }
}

/// Ground that has moved is looked for anew; pools ride with it.
fn follow_grounds(work: Tick, world: &RideWorld) {
    let DropsScratch { grounds, site, .. } = &mut *work.scratch;
    let has_moved = |c: &Collider| c.pose(0.0) != c.pose(1.0);
    let moves = world.surface.moved || world.colliders.all().iter().any(has_moved);
    for (ground, pool) in grounds.iter_mut().zip(&mut work.state.pools) {
        // What has just stopped is to stop its liquid, too.
        let rides = moves || pool.motion != Motion::default();
        if rides {
            ground.ride(pool, &site.liquid, world);
        }
        let lean = ground.lean_under(world.gravity);
        if rides || lean != ground.lean {
            ground.lay(&[&world.surface.bvh], world.colliders, lean);
            pool.bed.clone_from(&ground.bed);
            pool.ends.clone_from(&ground.ends);
            pool.lean = lean;
        }
    }
}

/// What lands on the ground of pools becomes part of them; they level and spill over.
fn fill_pools(work: Tick, context: &StepContext) {
    if work.rest.pools.is_empty() {
        return;
    }
    // Taken out, so that the world can be looked at beside what changes.
    let surface = std::mem::take(&mut work.scratch.surface);
    let world = RideWorld {
        surface: &surface,
        colliders: context.colliders,
        gravity: context.forces.gravity.as_dvec3(),
        dt: context.dt,
    };
    follow_grounds(work, &world);
    let DropsScratch { site, pools, grounds, .. } = &mut *work.scratch;
    let flow = PoolFlow {
        params: work.params,
        rest: grounds,
        liquid: &site.liquid,
        gravity: world.gravity,
        dt: context.dt,
    };
    // First what comes, then how it spreads: a drop is seen to make its ring in the frame in which it lands.
    let joined = flow.gather(&surface, work.state);
    let evaporation = site.liquid.evaporation_at(work.params, context.frame_number());
    flow.advance(evaporation, work.state, pools);
    flow.spill(context.time, work.state, pools);
    work.scratch.surface = surface;
    if joined {
        end_strips(work, context.time);
        keep_living(work);
    }
}

/// What dries, soaks in or leaves the scene goes, and what is drawn of trails with it.
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
        evaporation: scratch.site.liquid.evaporation_at(params, frame),
        bounds: bounds(params, work.rest, scratch, context.dt),
    };
    let gone = sinks.apply_to_drops(work.state);
    sinks.apply_to_films(work.state, &mut scratch.holds);
    if gone {
        end_strips(work, context.time);
        keep_living(work);
    }
    let trails = &params.trails;
    if let Some(image) = &mut work.state.image {
        image.dry(context.dt / trails.drying);
    }
    work.state.trail.sweep(context.time, trails.drying, trails.max_strips);
}

/// New drops, as long as there is room for them.
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
        drop.solute = drop.mass * scratch.site.liquid.concentration;
        state.ledger.emitted.add(drop.mass);
        state.ledger.solute_in.add(drop.solute);
        state.ledger.drops_emitted += 1;
        state.add(*drop);
    }
}

/// A drop that is no number ends the bake, with its place in the list.
fn check(scratch: &DropsScratch, context: &StepContext) -> Result<(), LayerError> {
    match scratch.runs.traces.iter().find_map(|t| t.bad) {
        None => Ok(()),
        Some(element) => Err(LayerError::NonFinite {
            what: "drop",
            element: element as usize,
            frame: context.frame,
        }),
    }
}
