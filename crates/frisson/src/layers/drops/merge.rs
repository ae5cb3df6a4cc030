//! Drops that touch become one: found by a grid, resolved in a fixed order.

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;

use super::rest::Rest;
use super::state::{Drop, Phase};
use super::surface::{Surface, on_edge};
use super::walk::{Place, walk};
use crate::geometry::Grid;
use crate::tolerances::drops::MERGE_NORMALS;

/// Drops searched together.
const SEARCH_CHUNK: usize = 1024;

/// Storage of the search, reused.
#[derive(Default)]
pub struct Merger {
    grid: Grid,
    points: Vec<Vec3>,
    places: Vec<DVec3>,
    normals: Vec<DVec3>,
    reaches: Vec<f64>,
    sitting: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    found: Vec<Vec<(u32, u32)>>,
    parents: Vec<u32>,
}

impl Merger {
    /// Merges what touches. Returns the number of merges; merged drops keep a mass of 0 and are to be
    /// removed.
    pub fn merge(
        &mut self,
        drops: &mut [Drop],
        surface: &Surface,
        rest: &Rest,
        factor: f64,
        time: f64,
    ) -> u64 {
        self.gather(drops, surface, rest, factor);
        self.find_pairs();
        if self.pairs.is_empty() {
            return 0;
        }
        self.parents.clear();
        self.parents.extend(0..self.sitting.len() as u32);
        for i in 0..self.pairs.len() {
            let (a, b) = self.pairs[i];
            let (a, b) = (self.root(a), self.root(b));
            if a != b {
                // The heavier one is the root; the elder among equals.
                let mass = |i: u32| drops[self.sitting[i as usize] as usize].mass;
                let a_first = mass(a) > mass(b) || mass(a) == mass(b) && a < b;
                let (keep, give) = if a_first { (a, b) } else { (b, a) };
                self.parents[give as usize] = keep;
            }
        }
        let mut merges = 0;
        for i in 0..self.sitting.len() as u32 {
            let root = self.root(i);
            if root != i {
                let (heavy, light) = (self.sitting[root as usize], self.sitting[i as usize]);
                let gone = drops[light as usize];
                unite(&mut drops[heavy as usize], &gone, surface, time);
                drops[light as usize].mass = 0.0;
                drops[light as usize].solute = 0.0;
                merges += 1;
            }
        }
        merges
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.parents[i as usize] != i {
            let up = self.parents[self.parents[i as usize] as usize];
            self.parents[i as usize] = up;
            i = up;
        }
        i
    }

    fn gather(&mut self, drops: &[Drop], surface: &Surface, rest: &Rest, factor: f64) {
        self.points.clear();
        self.places.clear();
        self.normals.clear();
        self.reaches.clear();
        self.sitting.clear();
        for (i, drop) in drops.iter().enumerate() {
            let Some((place, triangle)) = position_on(drop, surface) else { continue };
            let reach = rest.liquid.radius(drop.mass) * rest.ground.of(triangle).widest * factor;
            self.points.push(place.as_vec3());
            self.places.push(place);
            self.normals.push(surface.facets[triangle as usize].normal * f64::from(drop.side));
            self.reaches.push(reach);
            self.sitting.push(i as u32);
        }
    }

    /// Every pair is found by its larger member (the elder among equals).
    fn find_pairs(&mut self) {
        self.pairs.clear();
        let count = self.points.len();
        if count < 2 {
            return;
        }
        let mean = self.reaches.iter().sum::<f64>() / count as f64;
        if mean <= 0.0 {
            return;
        }
        // Cells twice as wide as a mean drop: few of them to look into, few drops in each.
        self.grid.build_points(&self.points, (4.0 * mean) as f32);
        let mut found = std::mem::take(&mut self.found);
        found.resize_with(count.div_ceil(SEARCH_CHUNK), Vec::new);
        found.par_iter_mut().enumerate().for_each(|(chunk, pairs)| {
            pairs.clear();
            let first = chunk * SEARCH_CHUNK;
            for i in first..(first + SEARCH_CHUNK).min(count) {
                self.search(i, pairs);
            }
        });
        found.iter().for_each(|pairs| self.pairs.extend_from_slice(pairs));
        self.found = found;
        self.pairs.sort_unstable();
    }

    /// The smaller drops that one touches.
    fn search(&self, i: usize, pairs: &mut Vec<(u32, u32)>) {
        let reach = Vec3::splat((2.0 * self.reaches[i] * (1.0 + 1e-6)) as f32);
        let p = self.points[i];
        self.grid.query(p - reach, p + reach, |j| {
            let j = j as usize;
            let (ri, rj) = (self.reaches[i], self.reaches[j]);
            if rj > ri || (rj == ri && j <= i) {
                return;
            }
            let near = self.places[i].distance_squared(self.places[j]) < (ri + rj).powi(2);
            if near && self.normals[i].dot(self.normals[j]) > MERGE_NORMALS {
                pairs.push((i.min(j) as u32, i.max(j) as u32));
            }
        });
    }
}

/// Where a sitting drop is, and on which triangle.
#[must_use]
pub fn position_on(drop: &Drop, surface: &Surface) -> Option<(DVec3, u32)> {
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
fn as_face(drop: &Drop, surface: &Surface) -> Option<(Place, DVec2)> {
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
pub fn unite(heavy: &mut Drop, light: &Drop, surface: &Surface, time: f64) {
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
    let stretch = 0.6 * (2.0 * share.min(0.5));
    heavy.mass = mass;
    heavy.solute += light.solute;
    heavy.bead = heavy.bead && light.bead;
    heavy.merged = time;
    heavy.stretch = DVec2::new(angle, stretch);
    heavy.held = false;
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
    // Beside the goal: the shortest turn does the rest.
    let (n, m) = (a.normal * f64::from(reached.side), b.normal * f64::from(to.side));
    let turned = glam::DQuat::from_rotation_arc(n, m) * a.lift(carried);
    let flat = b.tangential(turned);
    flat.normalize_or_zero() * carried.length()
}
