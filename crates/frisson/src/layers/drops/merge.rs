//! Drops that touch become one: who can meet within a tick is found by a grid over the ways the drops
//! have run, and only those run again, in small steps with a test after each.
//!
//! ```text
//!   run everybody ─► ways ─► grid ─► pairs whose ways pass within their reaches ─► groups
//!                                                                                   │
//!   the rest keep their result           each group runs again from its start, tested N times
//! ```

use glam::{DVec2, DVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::site::Site;
use super::state::{Droplet, NOT_ENTERED, Phase};
use super::surface::{Surface, on_edge};
use super::walk::{Place, walk};
use crate::geometry::Grid;
use crate::tolerances::drops::{MERGE_NORMALS, MERGED_REACH};

/// How far a drop is drawn out by a merge, as a share of its width [-]: less than the two beside each other would be,
/// as a neck fills within a frame.
const MOST_STRETCH: f64 = 0.6;
/// Side of the cells in which those that may meet are looked for, in mean half sides of the boxes of their ways [-]: wider,
/// and most of what is looked at is too far away; narrower, and most cells are empty: at 5 the search of 100,000 drops takes
/// 6 % more instructions.
const CELL_WIDTH: f64 = 8.0;
/// Drops searched together.
const SEARCH_CHUNK: usize = 1024;

/// The way of a drop in a tick, as far as meeting others goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// Where it started and ended [m].
    pub ends: [Vec3; 2],
    /// Outward normals there.
    pub normals: [Vec3; 2],
    /// How far it reaches, its way's bend included [m]; negative: in the air.
    pub reach: f32,
    /// Whether it may have moved, grown or appeared.
    pub stirred: bool,
}

impl Way {
    /// Of a drop that is in the air.
    pub const NONE: Self =
        Self { ends: [Vec3::ZERO; 2], normals: [Vec3::ZERO; 2], reach: -1.0, stirred: false };

    fn middle(&self) -> Vec3 {
        0.5 * (self.ends[0] + self.ends[1])
    }

    /// Half the side of its box [m].
    fn extent(&self) -> f32 {
        0.5 * (self.ends[1] - self.ends[0]).abs().max_element() + self.reach
    }

    /// Whether two drops may come within their reaches, each moving evenly along its way.
    fn meets(&self, other: &Self) -> bool {
        let apart = self.ends[0] - other.ends[0];
        let change = self.ends[1] - other.ends[1] - apart;
        let length = change.length_squared();
        let nearest =
            if length > 0.0 { (-apart.dot(change) / length).clamp(0.0, 1.0) } else { 0.0 };
        let reach = self.reach + other.reach;
        (apart + change * nearest).length_squared() < reach * reach
            // A little wider than the test itself, which sees them where they meet and not at the ends of their ways.
            && (0..2).any(|i| self.normals[i].dot(other.normals[i]) > 0.9 * MERGE_NORMALS as f32)
    }
}

/// Drops that may meet in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its drops: `members[first..last]`.
    pub members: (u32, u32),
    /// Its pairs: `pairs[first..last]`.
    pub pairs: (u32, u32),
}

/// Storage of the search, reused.
#[derive(Default)]
pub struct Merger {
    grid: Grid,
    /// Middle and half side of each box.
    boxes: Vec<Vec4>,
    /// The same, cell by cell.
    by_cell: Vec<Vec4>,
    sitting: Vec<u32>,
    found: Vec<Vec<(u32, u32)>>,
    parents: Vec<u32>,
    tagged: Vec<(u32, u32, u32)>,
    /// Largest half side and sum of all, of each chunk of boxes.
    sums: Vec<(f32, f64)>,
    largest: f32,
    /// Drops of the groups, by group, ascending in each.
    pub members: Vec<u32>,
    /// Pairs of the groups, by group, as places in the group's list of members.
    pub pairs: Vec<(u32, u32)>,
    /// The groups.
    pub groups: Vec<Group>,
    /// Whether each drop is in a group.
    pub grouped: Vec<bool>,
}

impl Merger {
    /// Finds the groups of drops that may meet.
    pub fn find(&mut self, ways: &[Way]) {
        self.groups.clear();
        self.members.clear();
        self.pairs.clear();
        self.grouped.clear();
        self.sitting.clear();
        let listed = |w: &&Way| w.reach > 0.0;
        if !ways.iter().filter(listed).any(|w| w.stirred) {
            return;
        }
        let all = 0..ways.len() as u32;
        // Mostly nobody is in the air.
        if ways.par_chunks(SEARCH_CHUNK).all(|some| some.iter().all(|w| w.reach > 0.0)) {
            self.sitting.extend(all);
        } else {
            self.sitting.extend(all.filter(|&i| ways[i as usize].reach > 0.0));
        }
        let count = self.sitting.len();
        if count < 2 {
            return;
        }
        self.boxes.resize(count, Vec4::ZERO);
        self.sums.resize(count.div_ceil(SEARCH_CHUNK), (0.0, 0.0));
        let chunks = self.boxes.par_chunks_mut(SEARCH_CHUNK).zip(&mut self.sums);
        chunks.zip(self.sitting.par_chunks(SEARCH_CHUNK)).for_each(|((boxes, sum), sitting)| {
            *sum = (0.0, 0.0);
            for (b, &i) in boxes.iter_mut().zip(sitting) {
                let way = &ways[i as usize];
                *b = way.middle().extend(way.extent());
                *sum = (sum.0.max(b.w), sum.1 + f64::from(b.w));
            }
        });
        // Chunks of fixed size, added up in their order: the same sum on any number of threads.
        let both = |(most, total): (f32, f64), of: &(f32, f64)| (most.max(of.0), total + of.1);
        let (largest, total) = self.sums.iter().fold((0.0, 0.0), both);
        self.largest = largest;
        let mean = total / count as f64;
        // Mostly one or two of them to look into along each axis, and few drops in each.
        let (grid, boxes) = (&mut self.grid, &self.boxes);
        grid.build_points(count, |i| boxes[i].truncate(), (CELL_WIDTH * mean) as f32);
        self.by_cell.resize(count, Vec4::ZERO);
        let listed = self.by_cell.par_iter_mut().zip(self.grid.items());
        listed.with_min_len(SEARCH_CHUNK).for_each(|(b, &i)| *b = boxes[i as usize]);
        self.search_all(ways);
        self.group(ways.len());
    }

    fn search_all(&mut self, ways: &[Way]) {
        let count = self.sitting.len();
        let mut found = std::mem::take(&mut self.found);
        found.resize_with(count.div_ceil(SEARCH_CHUNK), Vec::new);
        found.par_iter_mut().enumerate().for_each(|(chunk, pairs)| {
            pairs.clear();
            let first = chunk * SEARCH_CHUNK;
            // Cell by cell, not drop by drop: those beside each other ask for the same places. What is found is sorted
            // later, so that the order does not matter.
            for place in first..(first + SEARCH_CHUNK).min(count) {
                self.search(place, ways, pairs);
            }
        });
        self.found = found;
    }

    /// Every pair is found by its member with the larger box (the elder among equals).
    fn search(&self, place: usize, ways: &[Way], pairs: &mut Vec<(u32, u32)>) {
        let items = self.grid.items();
        let i = items[place];
        let a = self.sitting[i as usize];
        let way = &ways[a as usize];
        let mine = self.by_cell[place];
        // A hair more: boxes are in single precision.
        let reach = Vec3::splat(2.0 * mine.w * 1.000_01);
        self.grid.query_places(mine.truncate() - reach, mine.truncate() + reach, |there| {
            let other = self.by_cell[there];
            let apart = (mine - other).abs().truncate().max_element();
            if mine.w < other.w || apart > mine.w + other.w {
                return;
            }
            let j = items[there];
            if mine.w == other.w && j <= i {
                return;
            }
            let b = self.sitting[j as usize];
            let other = &ways[b as usize];
            if (way.stirred || other.stirred) && way.meets(other) {
                pairs.push((a.min(b), a.max(b)));
            }
        });
    }

    /// Calls `each` for every drop of the last search that may be within a distance of a place now.
    pub fn near(&self, place: DVec3, distance: f64, mut each: impl FnMut(u32)) {
        let reach = Vec3::splat(distance as f32 * 1.000_01 + self.largest);
        let p = place.as_vec3();
        self.grid.query(p - reach, p + reach, |i| each(self.sitting[i as usize]));
    }

    /// Joins pairs into groups.
    fn group(&mut self, drops: usize) {
        if self.found.iter().all(Vec::is_empty) {
            return;
        }
        self.parents.clear();
        self.parents.extend(0..drops as u32);
        let found = std::mem::take(&mut self.found);
        for &(a, b) in found.iter().flatten() {
            let (a, b) = (root(&mut self.parents, a), root(&mut self.parents, b));
            // The eldest is the root.
            self.parents[a.max(b) as usize] = a.min(b);
        }
        self.tagged.clear();
        for &(a, b) in found.iter().flatten() {
            self.tagged.push((root(&mut self.parents, a), a, b));
        }
        self.found = found;
        // Into the order of birth, whatever the order in which pairs were found.
        self.tagged.par_sort_unstable();
        self.grouped.resize(drops, false);
        let mut i = 0;
        while i < self.tagged.len() {
            let tag = self.tagged[i].0;
            let end = i + self.tagged[i..].partition_point(|t| t.0 == tag);
            let first = self.members.len();
            for &(_, a, b) in &self.tagged[i..end] {
                for drop in [a, b] {
                    if !std::mem::replace(&mut self.grouped[drop as usize], true) {
                        self.members.push(drop);
                    }
                }
            }
            self.members[first..].sort_unstable();
            let members = &self.members[first..];
            let place = |d: u32| members.partition_point(|m| *m < d) as u32;
            let pairs = self.pairs.len() as u32;
            self.pairs.extend(self.tagged[i..end].iter().map(|t| (place(t.1), place(t.2))));
            self.groups.push(Group {
                members: (first as u32, self.members.len() as u32),
                pairs: (pairs, self.pairs.len() as u32),
            });
            i = end;
        }
    }
}

/// The root of a tree of parents; shortens the way for the next time.
pub fn root(parents: &mut [u32], mut i: u32) -> u32 {
    while parents[i as usize] != i {
        let up = parents[parents[i as usize] as usize];
        parents[i as usize] = up;
        i = up;
    }
    i
}

/// Where a sitting drop is and how far it reaches over the ground: what decides whether it touches another.
#[derive(Clone, Copy, Debug)]
pub struct ContactReach {
    /// Where it is [m].
    pub place: DVec3,
    normal: DVec3,
    /// How far it reaches [m].
    pub reach: f64,
}

impl ContactReach {
    /// Of a drop; `None` in the air.
    #[must_use]
    pub fn of(drop: &Droplet, surface: &Surface, site: &Site, factor: f64) -> Option<Self> {
        let (place, triangle) = position_on(drop, surface)?;
        let reach = site.liquid.radius(drop.mass) * site.ground.of(triangle).widest * factor;
        let normal = surface.facets[triangle as usize].normal * f64::from(drop.side);
        Some(Self { place, normal, reach })
    }

    /// Closer than the sum of the reaches, on sides that agree.
    #[must_use]
    pub fn touches(&self, other: &Self) -> bool {
        self.place.distance_squared(other.place) < (self.reach + other.reach).powi(2)
            && self.normal.dot(other.normal) > MERGE_NORMALS
    }
}

/// How far a drop reaches in the search: as far as it will after merging with another like it.
#[must_use]
pub fn search_reach(radius: f64, widest: f64, factor: f64) -> f64 {
    radius * widest * factor * MERGED_REACH
}

/// Where a sitting drop is, and on which triangle.
#[must_use]
pub fn position_on(drop: &Droplet, surface: &Surface) -> Option<(DVec3, u32)> {
    match drop.phase {
        Phase::Face { triangle, weights, .. } => Some((surface.point(triangle, weights), triangle)),
        Phase::Edge { half, s, .. } => {
            Some((surface.point(half / 3, on_edge(half as usize % 3, s)), half / 3))
        }
        Phase::Corner { half } => {
            Some((surface.points[surface.start_point(half) as usize], half / 3))
        }
        Phase::Air { .. } => None,
    }
}

/// Place and velocity in the plane of the triangle.
pub fn as_face(drop: &Droplet, surface: &Surface) -> Option<(Place, DVec2)> {
    let place = |triangle, weights| Place { triangle, weights, side: drop.side };
    match drop.phase {
        Phase::Face { triangle, weights, velocity, .. } => {
            Some((place(triangle, weights), velocity))
        }
        Phase::Edge { half, s, speed } => {
            let k = half as usize % 3;
            let along = surface.facets[half as usize / 3].edge(k).normalize_or_zero();
            Some((place(half / 3, on_edge(k, s)), along * speed))
        }
        Phase::Corner { half } => {
            Some((place(half / 3, on_edge(half as usize % 3, 0.0)), DVec2::ZERO))
        }
        Phase::Air { .. } => None,
    }
}

/// Adds a lighter drop to a heavier one: masses and momenta in the heavier one's plane, at the place
/// of their common centre.
pub fn unite(heavy: &mut Droplet, light: &Droplet, surface: &Surface, time: f64) {
    let Some((place, velocity)) = as_face(heavy, surface) else { return };
    let Some((from, other)) = as_face(light, surface) else { return };
    let carried = carry_velocity(surface, from, other, place);
    let mass = heavy.mass + light.mass;
    let share = light.mass / mass;
    let mut v = velocity * (heavy.mass / mass) + carried * share;
    let facet = &surface.facets[place.triangle as usize];
    let there =
        surface.point(from.triangle, from.weights) - surface.point(place.triangle, place.weights);
    let flat = facet.tangential(there);
    // The way over the edges is as long as the straight one, to the order we care about.
    let way = flat.normalize_or_zero() * (there.length() * share);
    let (reached, _) = walk(surface, place, way, &mut v);
    let angle = flat.y.atan2(flat.x);
    // Two equal ones look most drawn out.
    let stretch = MOST_STRETCH * (2.0 * share.min(0.5));
    heavy.mass = mass;
    heavy.solute += light.solute;
    heavy.bead = heavy.bead && light.bead;
    heavy.merged = time;
    heavy.stretch = DVec2::new(angle, stretch);
    heavy.entered = NOT_ENTERED;
    heavy.held = false;
    heavy.asleep = false;
    heavy.side = reached.side;
    heavy.pull = heavy.pull.max(light.pull);
    heavy.born = heavy.born.min(light.born);
    heavy.phase = Phase::Face {
        triangle: reached.triangle,
        weights: reached.weights,
        velocity: v,
        standing: 0,
    };
}

/// A velocity unfolded over the edges between two places.
fn carry_velocity(surface: &Surface, from: Place, velocity: DVec2, to: Place) -> DVec2 {
    if from.triangle == to.triangle {
        return velocity;
    }
    let facet = &surface.facets[from.triangle as usize];
    let there = surface.point(to.triangle, to.weights) - surface.point(from.triangle, from.weights);
    let flat = facet.tangential(there);
    let way = flat.normalize_or_zero() * there.length();
    let mut carried = velocity;
    let (reached, _) = walk(surface, from, way, &mut carried);
    let (a, b) =
        (&surface.facets[reached.triangle as usize], &surface.facets[to.triangle as usize]);
    if reached.triangle == to.triangle {
        return carried;
    }
    // Beside the goal: the shortest turn will do.
    let (n, m) = (a.normal * f64::from(reached.side), b.normal * f64::from(to.side));
    let turned = glam::DQuat::from_rotation_arc(n, m) * a.lift(carried);
    let flat = b.tangential(turned);
    flat.normalize_or_zero() * carried.length()
}
