//! Drops that may meet run again, in small steps, and merge where they touch.

use rayon::prelude::*;

use super::flow::{Flow, Stay, Trace};
use super::merge::{ContactReach, Group, Merger, root, unite};
use super::run::{Pass, Runs};
use super::state::Droplet;
use crate::tolerances::drops::MAX_MERGE_TESTS;

/// Groups stepped together. Fixed, so that results do not depend on threads.
pub(super) const GROUP_CHUNK: usize = 8;
/// Members of groups that are asked together whom they touch.
const TOUCH_CHUNK: usize = 64;

/// Some groups that ran again.
#[derive(Default)]
pub struct GroupRun {
    /// What happened.
    pub trace: Trace,
    drops: Vec<Droplet>,
    parents: Vec<u32>,
    reaches: Vec<Option<ContactReach>>,
    merges: u64,
    limited: u64,
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
    /// Those that may meet run again. Returns the numbers of merges, and of groups with too few tests.
    pub(super) fn run_groups(
        &self,
        runs: &mut Runs,
        merger: &Merger,
        drops: &mut [Droplet],
    ) -> (u64, u64) {
        let chunks = merger.groups.len().div_ceil(GROUP_CHUNK);
        if runs.groups.len() < chunks {
            runs.groups.resize_with(chunks, GroupRun::default);
        }
        let Runs { starts, groups, heirs, touching, .. } = runs;
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
            merges += self.merge_on(merger, drops, (heirs, touching));
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
        run.reaches.resize(base + members.len(), None);
        let GroupRun { trace, drops, parents, reaches, merges, limited } = run;
        let (drops, parents) = (&mut drops[base..], &mut parents[base..]);
        let reaches = &mut reaches[base..];
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
                    reaches[i] = ContactReach::of(drop, world.surface, site, factor);
                }
            }
            for &(a, b) in pairs {
                let (a, b) = (root(parents, a) as usize, root(parents, b) as usize);
                // Either may have let go since: in the air others look after it.
                let (Some(reach_a), Some(reach_b)) = (&reaches[a], &reaches[b]) else { continue };
                if a == b || !reach_a.touches(reach_b) {
                    continue;
                }
                // The heavier one stays; the elder among equals.
                let heavier =
                    drops[a].mass > drops[b].mass || drops[a].mass == drops[b].mass && a < b;
                let (keep, absorbed) = if heavier { (a, b) } else { (b, a) };
                let gone = drops[absorbed];
                unite(&mut drops[keep], &gone, world.surface, end);
                drops[absorbed].mass = 0.0;
                drops[absorbed].solute = 0.0;
                // Who asks for the one that is gone is led to the one that has taken it in.
                parents[absorbed] = keep as u32;
                reaches[keep] = ContactReach::of(&drops[keep], world.surface, site, factor);
                *merges += 1;
            }
        }
    }

    /// A merged drop is larger and elsewhere: takes in what it touches now, and so on.
    fn merge_on(
        &self,
        merger: &Merger,
        drops: &mut [Droplet],
        (heirs, touching): (&mut [u32], &mut Vec<bool>),
    ) -> u64 {
        let began = self.world.time - self.world.tick;
        let has_merged = |drop: &Droplet| drop.mass > 0.0 && drop.merged > began;
        // Mostly nobody touches another any more: that is found out on all threads. Who touches only what another takes
        // in first is taken in by that one.
        let all: &[Droplet] = drops;
        let touches = |&member: &u32| {
            let member = member as usize;
            has_merged(&all[member]) && self.touched(merger, all, member).is_some()
        };
        touching.resize(merger.members.len(), false);
        let members =
            touching.par_chunks_mut(TOUCH_CHUNK).zip(merger.members.par_chunks(TOUCH_CHUNK));
        members.for_each(|(out, members)| {
            out.iter_mut().zip(members).for_each(|(out, member)| *out = touches(member));
        });
        let mut merges = 0;
        for (&member, _) in merger.members.iter().zip(&*touching).filter(|(_, touches)| **touches) {
            let mut of = member as usize;
            while has_merged(&drops[of])
                && let Some(other) = self.touched(merger, drops, of)
            {
                let heavier = drops[of].mass >= drops[other].mass;
                let (keep, absorbed) = if heavier { (of, other) } else { (other, of) };
                let gone = drops[absorbed];
                unite(&mut drops[keep], &gone, self.world.surface, self.world.time);
                drops[absorbed].mass = 0.0;
                drops[absorbed].solute = 0.0;
                heirs[absorbed] = keep as u32;
                of = keep;
                merges += 1;
            }
        }
        for i in 0..heirs.len() as u32 {
            heirs[i as usize] = root(heirs, i);
        }
        merges
    }

    /// The eldest drop that a drop touches where it is now.
    fn touched(&self, merger: &Merger, drops: &[Droplet], of: usize) -> Option<usize> {
        let (surface, factor) = (self.world.surface, self.reach.unwrap_or(1.0));
        let reach_of = |drop: &Droplet| ContactReach::of(drop, surface, self.site, factor);
        let mine = reach_of(&drops[of])?;
        let mut found: Option<usize> = None;
        // Others reach at most as far as the boxes of their ways.
        merger.near(mine.place, mine.reach, |i| {
            let i = i as usize;
            let other = &drops[i];
            if i != of
                && other.mass > 0.0
                && found.is_none_or(|f| i < f)
                && reach_of(other).is_some_and(|t| t.touches(&mine))
            {
                found = Some(i);
            }
        });
        found
    }
}

impl GroupRun {
    fn clear(&mut self) {
        self.trace.clear();
        self.drops.clear();
        self.parents.clear();
        self.reaches.clear();
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
