//! Running the drops: all of them once, then again, in small steps, those that may meet.

use glam::DVec3;
use rayon::prelude::*;

use super::flow::{Flow, Stay, Trace};
use super::merge::{DropTouch, Group, Merger, Way, position_on, root, search_reach, unite};
use super::params::DropsParams;
use super::site::Site;
use super::state::{Droplet, DropsState, Phase};
use super::step::{Tick, world};
use super::surface::{Surface, on_edge};
use super::world::World;
use crate::stage::StepContext;
use crate::tolerances::drops::{CHUNK, MAX_MERGE_TESTS, STILL_TICKS};

/// Groups stepped together. Fixed, so that results do not depend on threads.
const GROUP_CHUNK: usize = 8;

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
}

/// Some groups that ran again.
#[derive(Default)]
pub struct GroupRun {
    /// What happened.
    pub trace: Trace,
    drops: Vec<Droplet>,
    parents: Vec<u32>,
    touches: Vec<Option<DropTouch>>,
    merges: u64,
    limited: u64,
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
struct Pass<'a> {
    world: World<'a>,
    site: &'a Site,
    /// Triangles whose bumps may have changed.
    wet: &'a [bool],
    ride: Option<Ride>,
    /// Factor of the reach, where drops merge.
    reach: Option<f64>,
    /// Whether a held drop stays held until it grows, merges or gets wet.
    quiet: bool,
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
    let quiet =
        ride.is_none() && world.uniform.is_some() && !world.windy && world.guides.is_empty();
    let reach = params.merging.enabled.then_some(params.merging.reach);
    let wet = &state.wet.is_active;
    let pass = Pass { world, site: &scratch.site, wet, ride, reach, quiet };
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
        let all = grouped.is_empty()
            || !grouped[first..(first + CHUNK).min(grouped.len())].contains(&true);
        if all {
            state.ledger.count(&trace.counts);
            state.segments.extend_from_slice(&trace.segments);
            born.extend_from_slice(&trace.born);
            continue;
        }
        let mut before = super::flow::Mark::default();
        for (i, mark) in trace.marks.iter().enumerate() {
            if !grouped[first + i] {
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

/// Those of the drops that may meet.
pub(super) fn group_stays<'a>(
    runs: &'a Runs,
    merger: &'a Merger,
) -> impl Iterator<Item = &'a Stay> {
    let used = merger.groups.len().div_ceil(GROUP_CHUNK);
    runs.groups[..used].iter().flat_map(|r| &r.trace.stays)
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
                    trace.mark();
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
            return self.way(start, drop, &[], radius, factor, 0.0);
        }
        let body = world.body(drop);
        let first = trace.stays.len();
        Flow { world, trace, index, end: world.time, left: world.tick, body, has_poured: false }
            .advance(drop);
        let Some(factor) = self.reach else { return Way::NONE };
        let stays = &trace.stays[first..];
        Way { stirred: true, ..self.way(start, drop, stays, body.radius, factor, body.drag) }
    }

    /// The way of a drop, for the search of those that may meet.
    fn way(
        &self,
        start: &Droplet,
        drop: &Droplet,
        stays: &[Stay],
        radius: f64,
        factor: f64,
        drag: f64,
    ) -> Way {
        let surface = self.world.surface;
        let run = drop.distance - start.distance;
        let (a, b) = (position_on(start, surface), position_on(drop, surface));
        let (a, b, bend) = match (a, b) {
            (None, None) => return Way::NONE,
            // Landed or let go on the way: somewhere around where it touched.
            (None, Some(b)) => (b, b, run),
            (Some(a), None) => (a, a, run),
            (Some(a), Some(b)) if run == 0.0 => (a, b, 0.0),
            (Some(a), Some(b)) => (a, b, self.bend(start, drop, a.0, b.0, stays, drag)),
        };
        let normal =
            |t: u32, side: i8| (surface.facets[t as usize].normal * f64::from(side)).as_vec3();
        let reach = search_reach(radius, self.site.ground.of(b.1).widest, factor) + bend;
        // Single precision places the ends to this.
        let rounding = 1e-6 * a.0.abs().max_element().max(b.0.abs().max_element());
        Way {
            ends: [a.0.as_vec3(), b.0.as_vec3()],
            normals: [normal(a.1, start.side), normal(b.1, drop.side)],
            reach: (reach + rounding) as f32,
            stirred: false,
        }
    }

    /// How far a way strays from an even straight one between its ends [m], at most.
    fn bend(
        &self,
        start: &Droplet,
        drop: &Droplet,
        a: DVec3,
        b: DVec3,
        stays: &[Stay],
        drag: f64,
    ) -> f64 {
        let dt = self.world.tick;
        if let (
            Phase::Face { triangle, velocity, .. },
            Phase::Face { triangle: end, velocity: last, .. },
        ) = (start.phase, drop.phase)
            && triangle == end
            && stays.len() <= 1
        {
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
        let gravity = self.world.uniform.unwrap_or(DVec3::Y * 20.0);
        let pull = gravity.length() + start.inertia.length() + drag * speed;
        most + 0.125 * pull * dt * dt
    }

    /// Those that may meet run again. Returns the numbers of merges, and of groups with too few tests.
    fn run_groups(&self, runs: &mut Runs, merger: &Merger, drops: &mut [Droplet]) -> (u64, u64) {
        let chunks = merger.groups.len().div_ceil(GROUP_CHUNK);
        if runs.groups.len() < chunks {
            runs.groups.resize_with(chunks, GroupRun::default);
        }
        let Runs { starts, groups, heirs, .. } = runs;
        let (starts, ends): (&[Droplet], &[Droplet]) = (starts, drops);
        groups[..chunks].par_iter_mut().zip(merger.groups.par_chunks(GROUP_CHUNK)).for_each(
            |(run, groups)| {
                run.clear();
                for group in groups {
                    self.run_group(run, merger, *group, starts, ends);
                }
            },
        );
        let (mut merges, mut limited) = (0, 0);
        for (run, parts) in groups[..chunks].iter_mut().zip(merger.groups.chunks(GROUP_CHUNK)) {
            merges += run.merges;
            limited += run.limited;
            let members =
                parts.first().map_or(0, |g| g.members.0)..parts.last().map_or(0, |g| g.members.1);
            for (i, &member) in
                merger.members[members.start as usize..members.end as usize].iter().enumerate()
            {
                drops[member as usize] = run.drops[i];
            }
        }
        if merges > 0 {
            heirs.extend(0..drops.len() as u32);
            for (run, parts) in groups[..chunks].iter_mut().zip(merger.groups.chunks(GROUP_CHUNK)) {
                run.bequeath(parts, merger, heirs);
            }
            merges += self.merge_on(merger, drops, heirs);
        }
        (merges, limited)
    }

    /// One group from its start, with tests so often that no drop moves more than its reach between
    /// two; in a fixed order, whatever the threads.
    fn run_group(
        &self,
        run: &mut GroupRun,
        merger: &Merger,
        group: Group,
        starts: &[Droplet],
        ends: &[Droplet],
    ) {
        let (world, site) = (&self.world, self.site);
        let factor = self.reach.unwrap_or(1.0);
        let members = &merger.members[group.members.0 as usize..group.members.1 as usize];
        let pairs = &merger.pairs[group.pairs.0 as usize..group.pairs.1 as usize];
        let base = run.drops.len();
        run.drops.extend(members.iter().map(|&m| starts[m as usize]));
        run.parents.extend(0..members.len() as u32);
        run.touches.resize(base + members.len(), None);
        let GroupRun { trace, drops, parents, touches, merges, limited } = run;
        let (drops, parents) = (&mut drops[base..], &mut parents[base..]);
        let touches = &mut touches[base..];
        let wanted = members.iter().fold(1.0, |most: f64, &m| {
            let (start, end) = (&starts[m as usize], &ends[m as usize]);
            let widest =
                end.triangle().or(start.triangle()).map_or(1.0, |t| site.ground.of(t).widest);
            let reach = (site.liquid.radius(start.mass) * widest * factor).max(1e-12);
            most.max((end.distance - start.distance) / reach)
        });
        let tests = (wanted.ceil().min(1e6) as u32).clamp(1, MAX_MERGE_TESTS);
        *limited += u64::from(wanted > f64::from(MAX_MERGE_TESTS));
        for test in 1..=tests {
            let left = world.tick / f64::from(tests);
            let end = world.time - left * f64::from(tests - test);
            for i in 0..drops.len() {
                let drop = &mut drops[i];
                if parents[i] == i as u32 {
                    let (index, body) = (members[i], world.body(drop));
                    Flow { world, trace, index, end, left, body, has_poured: false }.advance(drop);
                    touches[i] = DropTouch::of(drop, world.surface, site, factor);
                }
            }
            for &(a, b) in pairs {
                let (a, b) = (root(parents, a) as usize, root(parents, b) as usize);
                let (Some(ta), Some(tb)) = (&touches[a], &touches[b]) else { continue };
                if a == b || !ta.touches(tb) {
                    continue;
                }
                // The heavier one stays; the elder among equals.
                let heavier =
                    drops[a].mass > drops[b].mass || drops[a].mass == drops[b].mass && a < b;
                let (keep, give) = if heavier { (a, b) } else { (b, a) };
                let gone = drops[give];
                unite(&mut drops[keep], &gone, world.surface, end);
                drops[give].mass = 0.0;
                drops[give].solute = 0.0;
                parents[give] = keep as u32;
                touches[keep] = DropTouch::of(&drops[keep], world.surface, site, factor);
                *merges += 1;
            }
        }
    }
}

impl Pass<'_> {
    /// A merged drop is larger and elsewhere: takes in what it touches now, and so on.
    fn merge_on(&self, merger: &Merger, drops: &mut [Droplet], heirs: &mut [u32]) -> u64 {
        let (surface, factor) = (self.world.surface, self.reach.unwrap_or(1.0));
        let touch = |drop: &Droplet| DropTouch::of(drop, surface, self.site, factor);
        let mut merges = 0;
        for &member in &merger.members {
            let mut of = member as usize;
            let has_merged = drops[of].merged > self.world.time - self.world.tick;
            while drops[of].mass > 0.0
                && has_merged
                && let Some(mine) = touch(&drops[of])
            {
                let mut found: Option<u32> = None;
                // Others reach at most as far as the boxes of their ways.
                merger.near(mine.place, mine.reach, |i| {
                    let other = &drops[i as usize];
                    if i as usize != of
                        && other.mass > 0.0
                        && found.is_none_or(|f| i < f)
                        && touch(other).is_some_and(|t| t.touches(&mine))
                    {
                        found = Some(i);
                    }
                });
                let Some(other) = found else { break };
                let heavier = drops[of].mass >= drops[other as usize].mass;
                let (keep, give) =
                    if heavier { (of, other as usize) } else { (other as usize, of) };
                let gone = drops[give];
                unite(&mut drops[keep], &gone, surface, self.world.time);
                drops[give].mass = 0.0;
                drops[give].solute = 0.0;
                heirs[give] = keep as u32;
                of = keep;
                merges += 1;
            }
        }
        for i in 0..heirs.len() as u32 {
            heirs[i as usize] = root(heirs, i);
        }
        merges
    }
}

impl GroupRun {
    fn clear(&mut self) {
        self.trace.clear();
        self.drops.clear();
        self.parents.clear();
        self.touches.clear();
        self.merges = 0;
        self.limited = 0;
    }

    /// Notes which drop each member is part of by now.
    fn bequeath(&mut self, groups: &[Group], merger: &Merger, heirs: &mut [u32]) {
        let first = groups.first().map_or(0, |g| g.members.0);
        for group in groups {
            let base = (group.members.0 - first) as usize;
            let members = &merger.members[group.members.0 as usize..group.members.1 as usize];
            let parents = &mut self.parents[base..base + members.len()];
            for i in 0..members.len() {
                heirs[members[i] as usize] = members[root(parents, i as u32) as usize];
            }
        }
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
