//! Running the drops: all of them once, then again, in small steps, those that may meet.

use glam::DVec3;
use rayon::prelude::*;

use super::flow::{Flow, Stay, Trace};
use super::merge::{Merger, Way, position_on, search_reach};
use super::params::DropsParams;
use super::run_groups::{GROUP_CHUNK, GroupRun, group_stays};
use super::site::Site;
use super::state::{Droplet, DropsState, Phase};
use super::step::{Tick, world};
use super::surface::{Surface, on_edge};
use super::world::World;
use crate::stage::StepContext;
use crate::tolerances::drops::{CHUNK, STILL_TICKS};

/// Rounding of a place in single precision, in its distance from the origin [-]: a little more than `f32::EPSILON`.
const PLACE_ROUNDING: f64 = 1e-6;
/// Pull that is assumed where fields differ from place to place [m/s²]: twice gravity; only the search widens by it.
const UNKNOWN_PULL: f64 = 20.0;

/// Storage of the runs, reused.
#[derive(Default)]
pub struct Runs {
    /// The drops at the start of the tick.
    pub starts: Vec<Droplet>,
    /// What happened to each chunk of drops.
    pub traces: Vec<Trace>,
    /// What happened to those that may meet.
    pub groups: Vec<GroupRun>,
    /// The drop that each one is part of by now; empty when nothing merged.
    pub heirs: Vec<u32>,
    ways: Vec<Way>,
    /// Whether each member of a group touches another drop after it has run.
    pub touching: Vec<bool>,
}

/// How the surface's motion is felt.
struct Ride {
    dt: f64,
    blend: f64,
    settled: bool,
}

impl Ride {
    /// A drop keeps its place; the surface's change of velocity is felt as inertia.
    fn apply(&self, drop: &mut Droplet, surface: &Surface) {
        let (triangle, weights) = match drop.phase {
            Phase::Face { triangle, weights, .. } => (triangle, weights),
            Phase::Edge { half, s, .. } => (half / 3, on_edge(half as usize % 3, s)),
            Phase::Corner { half } => (half / 3, on_edge(half as usize % 3, 0.0)),
            Phase::Air { .. } => return,
        };
        let carrier = surface.velocity(triangle, weights, self.dt);
        let felt = (drop.carrier - carrier) / self.dt;
        let out = surface.facets[triangle as usize].normal * f64::from(drop.side);
        drop.pull += (felt.dot(out) - drop.pull) * self.blend;
        drop.inertia = felt;
        drop.carrier = carrier;
        if self.settled {
            drop.pull = 0.0;
        }
    }
}

/// What all drops of a run share.
pub(super) struct Pass<'a> {
    pub world: World<'a>,
    pub site: &'a Site,
    /// Triangles whose bumps may have changed.
    wet: &'a [bool],
    ride: Option<Ride>,
    /// Factor of the reach, where drops merge.
    pub reach: Option<f64>,
    /// Whether a held drop stays held until it grows, merges or gets wet.
    quiet: bool,
}

/// What one drop did in a tick.
struct Ran<'a> {
    start: &'a Droplet,
    end: &'a Droplet,
    stays: &'a [Stay],
    /// Radius of its sphere [m].
    radius: f64,
    /// Drag rate [1/s].
    drag: f64,
}

/// Every drop runs; those that may meet run again and merge. Returns the number of merges.
pub(super) fn run(work: Tick, context: &StepContext) -> u64 {
    let (params, state, scratch) = (work.params, &mut *work.state, &mut *work.scratch);
    let mut drops = std::mem::take(&mut state.drops);
    let mut runs = std::mem::take(&mut scratch.runs);
    let mut merger = std::mem::take(&mut scratch.merger);
    runs.heirs.clear();
    let ride = find_ride(params, state, &scratch.surface, context.dt);
    let world = world(params, work.rest, scratch, context);
    // A held drop may be left alone only where forces are the same in every tick.
    let quiet =
        ride.is_none() && world.uniform.is_some() && !world.windy && world.guides.is_empty();
    let reach = params.merging.enabled.then_some(params.merging.reach);
    let wet = &state.wet.is_active;
    let pass = Pass { world, site: &scratch.site, wet, ride, reach, quiet };
    // Those that may meet run again from here: starts and ends are both needed, without a copy.
    std::mem::swap(&mut runs.starts, &mut drops);
    pass.run_all(&mut runs, &mut drops);
    let (mut merges, mut limited) = (0, 0);
    merger.groups.clear();
    merger.grouped.clear();
    if reach.is_some() {
        merger.find(&runs.ways);
    }
    if !merger.groups.is_empty() {
        (merges, limited) = pass.run_groups(&mut runs, &merger, &mut drops);
    }
    state.drops = drops;
    state.merge_limited += limited;
    state.ledger.merges += merges;
    collect(state, &runs, &merger, &mut scratch.new_drops);
    scratch.runs = runs;
    scratch.merger = merger;
    merges
}

fn find_ride(
    params: &DropsParams,
    state: &mut DropsState,
    surface: &Surface,
    dt: f64,
) -> Option<Ride> {
    state.still_ticks = if surface.moved { 0 } else { state.still_ticks + 1 };
    if state.still_ticks > STILL_TICKS {
        // Counted no further, so that the state of what stands still does not change.
        state.still_ticks = STILL_TICKS + 1;
        return None;
    }
    let response = params.air.response;
    let blend = if response > 0.0 { -(-dt / response).exp_m1() } else { 1.0 };
    Some(Ride { dt, blend, settled: state.still_ticks == STILL_TICKS })
}

/// Adds up what happened, and takes in the droplets of splashes and drips, in the order of the
/// drops that made them.
fn collect(state: &mut DropsState, runs: &Runs, merger: &Merger, born: &mut Vec<Droplet>) {
    let grouped = &merger.grouped;
    born.clear();
    for (chunk, trace) in runs.traces.iter().enumerate() {
        let first = chunk * CHUNK;
        // Most chunks have nobody who may meet another, and are taken over whole.
        let all = grouped.is_empty()
            || !grouped[first..(first + CHUNK).min(grouped.len())].contains(&true);
        if all {
            state.ledger.count(&trace.counts);
            state.segments.extend_from_slice(&trace.segments);
            born.extend_from_slice(&trace.born);
            continue;
        }
        let mut before = super::flow::Mark::default();
        for mark in &trace.marks {
            if !grouped[mark.drop as usize] {
                state.ledger.count(&mark.counts.since(&before.counts));
                state.segments.extend_from_slice(&trace.segments[before.segments..mark.segments]);
                born.extend_from_slice(&trace.born[before.born..mark.born]);
            }
            before = *mark;
        }
    }
    let used = merger.groups.len().div_ceil(GROUP_CHUNK);
    for run in &runs.groups[..used] {
        state.ledger.count(&run.trace.counts);
        state.segments.extend_from_slice(&run.trace.segments);
        born.extend_from_slice(&run.trace.born);
    }
    for &drop in born.iter() {
        state.add(drop);
    }
}

/// Ways on triangles that count: of drops that ran once, then of those that may meet.
pub(super) fn stays<'a>(runs: &'a Runs, merger: &'a Merger) -> impl Iterator<Item = &'a Stay> {
    let grouped = &merger.grouped;
    let once = runs.traces.iter().flat_map(|t| &t.stays);
    let once = once.filter(|s| grouped.is_empty() || !grouped[s.drop as usize]);
    once.chain(group_stays(runs, merger))
}

impl Pass<'_> {
    /// Every drop runs, in chunks of fixed size.
    fn run_all(&self, runs: &mut Runs, drops: &mut Vec<Droplet>) {
        let count = runs.starts.len();
        drops.resize(count, Droplet::new(0, 0.0, Phase::Corner { half: 0 }, 0.0));
        runs.traces.resize_with(count.div_ceil(CHUNK), Trace::default);
        runs.ways.resize(count, Way::NONE);
        let starts = runs.starts.par_chunks_mut(CHUNK);
        let ways = runs.ways.par_chunks_mut(CHUNK).zip(runs.traces.par_iter_mut());
        drops.par_chunks_mut(CHUNK).zip(starts).zip(ways).enumerate().for_each(
            |(chunk, ((drops, starts), (ways, trace)))| {
                trace.clear();
                for (i, (start, drop)) in starts.iter_mut().zip(drops).enumerate() {
                    if let Some(ride) = &self.ride {
                        ride.apply(start, self.world.surface);
                    }
                    *drop = *start;
                    let index = (chunk * CHUNK + i) as u32;
                    ways[i] = self.run_one(index, drop, start, trace);
                    if !is_finite(drop) {
                        trace.bad = Some(index);
                    }
                    trace.mark(index);
                }
            },
        );
    }

    /// Whether nothing can have changed for a held drop.
    fn sleeps(&self, drop: &Droplet) -> bool {
        let Phase::Face { triangle, .. } = drop.phase else { return false };
        self.quiet && drop.asleep && !self.wet[triangle as usize]
    }

    fn run_one(&self, index: u32, drop: &mut Droplet, start: &Droplet, trace: &mut Trace) -> Way {
        let world = &self.world;
        if self.sleeps(start) {
            let Some(factor) = self.reach else { return Way::NONE };
            let radius = world.liquid.radius(drop.mass);
            return self.way(&Ran { start, end: drop, stays: &[], radius, drag: 0.0 }, factor);
        }
        let body = world.body(drop);
        let first = trace.stays.len();
        Flow { world, trace, index, end: world.time, left: world.tick, body, has_poured: false }
            .advance(drop);
        let Some(factor) = self.reach else { return Way::NONE };
        let stays = &trace.stays[first..];
        let ran = Ran { start, end: drop, stays, radius: body.radius, drag: body.drag };
        Way { stirred: true, ..self.way(&ran, factor) }
    }

    /// The way of a drop, for the search of those that may meet.
    fn way(&self, ran: &Ran, factor: f64) -> Way {
        let Ran { start, end: drop, radius, .. } = *ran;
        let surface = self.world.surface;
        let run = drop.distance - start.distance;
        let (a, b) = (position_on(start, surface), position_on(drop, surface));
        let (a, b, bend) = match (a, b) {
            (None, None) => return Way::NONE,
            // Landed or let go on the way: somewhere around where it touched.
            (None, Some(b)) => (b, b, run),
            (Some(a), None) => (a, a, run),
            (Some(a), Some(b)) if run == 0.0 => (a, b, 0.0),
            (Some(a), Some(b)) => (a, b, self.bend(ran, a.0, b.0)),
        };
        let normal =
            |t: u32, side: i8| (surface.facets[t as usize].normal * f64::from(side)).as_vec3();
        // The search may find too many, never too few: bends and rounding widen it.
        let reach = search_reach(radius, self.site.ground.of(b.1).widest, factor) + bend;
        let far = a.0.abs().max_element().max(b.0.abs().max_element());
        // Places in the search are in single precision, so that it reads half the memory.
        let rounding = PLACE_ROUNDING * far;
        Way {
            ends: [a.0.as_vec3(), b.0.as_vec3()],
            normals: [normal(a.1, start.side), normal(b.1, drop.side)],
            reach: (reach + rounding) as f32,
            stirred: false,
        }
    }

    /// How far a way strays from an even straight one between its ends `a` and `b` [m], at most.
    fn bend(&self, ran: &Ran, a: DVec3, b: DVec3) -> f64 {
        let Ran { start, end: drop, stays, drag, .. } = *ran;
        let dt = self.world.tick;
        if let (
            Phase::Face { triangle, velocity, .. },
            Phase::Face { triangle: end, velocity: last, .. },
        ) = (start.phase, drop.phase)
            && triangle == end
            && stays.len() <= 1
        {
            // A parabola strays from its chord, run evenly, by an eighth of the change of velocity; with drag, by
            // less than twice that.
            return 0.25 * dt * (last - velocity).length();
        }
        let mut most: f64 = 0.0;
        let began = self.world.time - dt;
        for stay in stays.iter().take(stays.len().max(1) - 1) {
            let even = a.lerp(b, (stay.end - began) / dt);
            let place = self.world.surface.point(stay.triangle, stay.to);
            most = most.max(place.distance(even));
        }
        let speed = (drop.distance - start.distance) / dt;
        let gravity = self.world.uniform.unwrap_or(DVec3::Y * UNKNOWN_PULL);
        let pull = gravity.length() + start.inertia.length() + drag * speed;
        // Between the events it was seen at: again the parabola over its chord.
        most + 0.125 * pull * dt * dt
    }
}

fn is_finite(drop: &Droplet) -> bool {
    let place = match drop.phase {
        Phase::Face { weights, velocity, .. } => weights.is_finite() && velocity.is_finite(),
        Phase::Edge { s, speed, .. } => s.is_finite() && speed.is_finite(),
        Phase::Corner { .. } => true,
        Phase::Air { position, velocity, .. } => position.is_finite() && velocity.is_finite(),
    };
    place && drop.mass.is_finite()
}
