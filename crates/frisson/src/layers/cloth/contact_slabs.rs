//! Contacts of the cloth with itself, shared between cores.
//!
//! Pairs join nodes that are far from each other along the cloth, so the strips of the edges do not help. But
//! pairs are near in space: the nodes that take part are numbered along the axis in which they lie farthest
//! apart, and cut into **slabs** so thick that no pair reaches farther than into the next one:
//!
//! ```text
//!      ____/ \__   fold       slab   0   |   1   |   2   |   3
//!     /  __   _/    ─►        even   [== 0 ======][== 2 ======]    at once
//!    |__/  \_/                odd            [== 1 ======]         then these, at once
//! ```
//!
//! Nodes are parted from triangles first, in even slabs, then in odd ones, which go on with edges; the edges of even
//! slabs come last. Within a slab one pair follows the other. The order depends on where the cloth is when it is looked through, and never on who does the work.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::DVec3;
use rayon::prelude::*;

use super::local::Bands;
use super::node_places::NodePlaces;
use super::separation::{Place, Separation, closest_on_triangle, passing, point_at};
use super::state::Near;
use super::strips::{Grouped, Strips};
use crate::threads::Team;

/// No place.
const NONE: u32 = u32::MAX;
/// Places that are cut into slabs at all: fewer are parted by one core sooner than others are told.
const LEAST_SHARED: usize = 1024;
/// Places of a slab, at least. With a quarter of that, three times as many slabs and coarse strips of half the nodes, a sheet of
/// 64 x 64 nodes that is gathered around a ball went through itself in two edges.
const LEAST_PLACES: usize = 96;
/// Places whose slabs are worth another thread's look.
const TASK: u32 = 64;
/// Rows or nodes that a task takes, at least.
const CHUNK: usize = 1024;

/// Two places of the cloth that may meet: a node and a triangle, or two edges.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// The node and the triangle's corners, or the ends of both edges, counted from the start of the slab.
    places: [u32; 4],
    slab: u16,
    /// On which side the first is.
    side: i8,
    is_edges: bool,
}

/// The pairs of a tick, sorted by slab. Storage is reused.
#[derive(Debug, Default)]
pub struct ContactSlabs {
    /// Whether each node takes part, while that is being found out.
    takes_part: Vec<AtomicBool>,
    /// Node of each place.
    nodes: Vec<u32>,
    /// Place of each node, or [`NONE`].
    place_of_node: Vec<u32>,
    /// Where a node is along the axis, as bits that sort alike, and the node.
    keys: Vec<u64>,
    farthest: Vec<u32>,
    slabs: Strips,
    unsorted: Vec<Row>,
    rows: Grouped<Row>,
    places: Vec<Place>,
    /// Whether nodes are where their places are, and not where they are said to be elsewhere.
    are_ahead: bool,
}

impl Clone for ContactSlabs {
    /// Storage only: a copy has taken over nothing.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl ContactSlabs {
    /// Takes over the pairs of a tick, with the nodes where they are at its start.
    pub fn take(&mut self, triangles: &[[u32; 3]], near: &Near, positions: &[DVec3]) {
        self.collect(triangles, near, positions.len());
        self.number(positions);
        self.cut();
        self.sort();
    }

    /// Lists rows by nodes, and the nodes.
    fn collect(&mut self, triangles: &[[u32; 3]], near: &Near, count: usize) {
        self.takes_part.resize_with(count, AtomicBool::default);
        self.unsorted.resize(near.nodes.len() + near.edges.len(), Row::default());
        let takes_part = self.takes_part.as_slice();
        let row = |places: [u32; 4], side: i8, is_edges: bool| {
            for flag in places.map(|node| &takes_part[node as usize]) {
                // Only ever set here: the order of the threads does not matter. Looked at first, as writing takes a line of
                // the cache away from all other cores.
                if !flag.load(Ordering::Relaxed) {
                    flag.store(true, Ordering::Relaxed);
                }
            }
            Row { places, slab: 0, side, is_edges }
        };
        let (over, between) = self.unsorted.split_at_mut(near.nodes.len());
        let over = over.par_iter_mut().zip(&near.nodes).with_min_len(CHUNK);
        over.for_each(|(out, pair)| {
            let [a, b, c] = triangles[pair.triangle as usize];
            *out = row([pair.node, a, b, c], pair.side, false);
        });
        let between = between.par_iter_mut().zip(&near.edges).with_min_len(CHUNK);
        between.for_each(|(out, pair)| {
            let ([a, b], [c, d]) = (pair.first, pair.second);
            *out = row([a, b, c, d], pair.side, true);
        });
        self.nodes.iter().for_each(|&n| self.place_of_node[n as usize] = NONE);
        self.place_of_node.resize(count, NONE);
        self.nodes.clear();
        for (node, takes_part) in self.takes_part.iter_mut().enumerate() {
            if std::mem::take(takes_part.get_mut()) {
                self.nodes.push(node as u32);
            }
        }
    }

    /// Numbers the nodes along the axis in which they lie farthest apart.
    fn number(&mut self, positions: &[DVec3]) {
        let at = |node: &u32| positions[*node as usize];
        let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = self.nodes.iter().map(at).fold(none, |(l, h), p| (l.min(p), h.max(p)));
        let axis = (high - low).max_position();
        self.keys.resize(self.nodes.len(), 0);
        let keys = self.keys.par_iter_mut().zip(&self.nodes).with_min_len(CHUNK);
        keys.for_each(|(key, node)| {
            // Never negative: bits of such floats sort like the numbers.
            let along = (at(node)[axis] - low[axis]) as f32;
            *key = (u64::from(along.to_bits()) << 32) | u64::from(*node);
        });
        self.keys.par_sort_unstable();
        for (place, (key, node)) in self.keys.iter().zip(&mut self.nodes).enumerate() {
            *node = *key as u32;
            self.place_of_node[*node as usize] = place as u32;
        }
    }

    /// Cuts the places into slabs, and says of every row in which it is.
    fn cut(&mut self) {
        let place_of_node = self.place_of_node.as_slice();
        let rows = self.unsorted.par_iter_mut().with_min_len(CHUNK);
        rows.for_each(|row| row.places = row.places.map(|node| place_of_node[node as usize]));
        self.farthest.clear();
        self.farthest.extend(0..self.nodes.len() as u32);
        for row in &self.unsorted {
            let (first, last) = ends(row);
            let farthest = &mut self.farthest[first as usize];
            *farthest = (*farthest).max(last);
        }
        let count = self.nodes.len();
        let least = if count < LEAST_SHARED { count } else { LEAST_PLACES };
        self.slabs.cut(&mut self.farthest, least, TASK);
        let slabs = &self.slabs;
        self.unsorted.par_iter_mut().with_min_len(CHUNK).for_each(|row| {
            let slab = slabs.of(ends(row).0);
            let base = slabs.start(slab);
            row.slab = slab as u16;
            row.places = row.places.map(|place| place - base);
        });
    }

    /// Sorts the rows by slab; those of one slab stay in their order.
    fn sort(&mut self) {
        self.rows.sort(&self.slabs, &self.unsorted, |row| usize::from(row.slab));
        self.places.resize(self.nodes.len(), Place::default());
    }

    /// Parts all pairs once. `bands` says how thick every node is. Where that has brought the nodes is taken over by
    /// [`ContactSlabs::moved`] or [`ContactSlabs::write_back`]: the next pass looks at every node anyway.
    pub fn part(
        &mut self,
        team: &mut Team,
        separation: Separation,
        bands: &Bands,
        nodes: NodePlaces,
    ) {
        if self.unsorted.is_empty() {
            return;
        }
        let NodePlaces { inverse_mass, previous, positions } = nodes;
        let (slabs, rows, nodes) = (&self.slabs, &self.rows, &self.nodes);
        let (x, old) = (&*positions, &*previous);
        let separation = Separation { is_even: bands.are_alike(), ..separation };
        // Edges have the last word: nodes of triangles come first, in all slabs.
        let over = |slab: usize| {
            let rows = rows.of(slab);
            &rows[..rows.partition_point(|row| !row.is_edges)]
        };
        slabs.pass(team, 0, self.places.as_mut_slice(), &|slab, places: &mut [Place]| {
            let own = &nodes[slabs.start(slab) as usize..];
            for (place, &node) in places.iter_mut().zip(own) {
                let n = node as usize;
                let band = bands.of(node);
                *place = Place { now: x[n], old: old[n], inverse_mass: inverse_mass[n], band };
            }
            part_rows(over(slab), separation, places);
        });
        slabs.pass(team, 1, self.places.as_mut_slice(), &|slab, places: &mut [Place]| {
            part_rows(rows.of(slab), separation, places);
        });
        slabs.pass(team, 0, self.places.as_mut_slice(), &|slab, places: &mut [Place]| {
            part_rows(&rows.of(slab)[over(slab).len()..], separation, places);
        });
        self.are_ahead = true;
    }

    /// Where a node is now and was before the small step, if that is not known elsewhere yet.
    #[inline(always)]
    pub fn moved(&self, node: usize) -> Option<(DVec3, DVec3)> {
        if !self.are_ahead {
            return None;
        }
        let place = self.places.get(self.place_of_node[node] as usize)?;
        Some((place.now, place.old))
    }

    /// All nodes are known to be where they are.
    pub fn are_taken(&mut self) {
        self.are_ahead = false;
    }

    /// Puts the nodes where they are now. What is held moves elsewhere, and not by contacts.
    pub fn write_back(&mut self, previous: &mut [DVec3], positions: &mut [DVec3]) {
        if !std::mem::take(&mut self.are_ahead) {
            return;
        }
        let moved = self.places.iter().zip(&self.nodes).filter(|(p, _)| p.inverse_mass > 0.0);
        for (place, &node) in moved {
            (positions[node as usize], previous[node as usize]) = (place.now, place.old);
        }
    }
}

/// The lowest and the highest place of a row.
fn ends(row: &Row) -> (u32, u32) {
    let [a, b, c, d] = row.places;
    (a.min(b).min(c.min(d)), a.max(b).max(c.max(d)))
}

/// Parts the pairs of one slab, one after the other.
fn part_rows(rows: &[Row], separation: Separation, places: &mut [Place]) {
    for row in rows {
        let x = row.places.map(|p| places[p as usize].now);
        let side = f64::from(row.side);
        let found = if row.is_edges { between_edges(x, side) } else { over_triangle(x, side) };
        let Some((weights, direction, distance)) = found else { continue };
        separation.part((row.places, weights), (direction, distance), places);
    }
}

/// Weights of the four nodes, the direction in which the first place is to be, and how far it is that way.
type Apart = ([f64; 4], DVec3, f64);

/// A node over a triangle.
fn over_triangle([p, a, b, c]: [DVec3; 4], side: f64) -> Option<Apart> {
    let x = [a, b, c];
    let w = closest_on_triangle(p, x);
    let away = p - point_at(x, w);
    let normal = (side * (b - a).cross(c - a)).try_normalize()?;
    let height = away.dot(normal);
    let weights = [1.0, -w[0], -w[1], -w[2]];
    if w.iter().all(|w| *w > 0.0) {
        Some((weights, normal, height))
    } else {
        // Beside the triangle another one answers, unless the node is close to the rim.
        (height > 0.0).then(|| (weights, away.normalize_or(normal), away.length()))
    }
}

/// Two edges that pass each other.
fn between_edges([a, b, c, d]: [DVec3; 4], side: f64) -> Option<Apart> {
    let (s, t, normal) = passing([a, b], [c, d])?;
    let direction = side * normal.normalize_or_zero();
    let distance = (a.lerp(b, s) - c.lerp(d, t)).dot(direction);
    Some(([1.0 - s, s, t - 1.0, -t], direction, distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::cloth::state::{NearEdges, NearPair};
    use crate::threads::together;

    const THICKNESS: f64 = 0.1;

    /// Two square sheets of `n` by `n` nodes, the upper one askew and too near, and all pairs between them.
    fn sheets(n: u32) -> (Vec<[u32; 3]>, Vec<DVec3>, Near) {
        let nodes = |low: DVec3| {
            (0..n * n).map(move |k| low + DVec3::new(f64::from(k % n), 0.0, f64::from(k / n)))
        };
        let upper = DVec3::new(0.3, 0.4 * THICKNESS, 0.3);
        let positions = nodes(DVec3::ZERO).chain(nodes(upper)).collect();
        let cells = || (0..n - 1).flat_map(move |j| (0..n - 1).map(move |i| j * n + i));
        let triangles: Vec<[u32; 3]> =
            cells().flat_map(|a| [[a, a + n, a + 1], [a + 1, a + n, a + n + 1]]).collect();
        let mut near = Near::default();
        for (cell, a) in cells().enumerate() {
            let (side, crossed, away) = (1, 0, glam::Vec3::Y);
            let over =
                |k| NearPair { node: n * n + a, triangle: 2 * cell as u32 + k, side, crossed };
            near.nodes.extend([over(0), over(1)]);
            let (first, second) = ([n * n + a, n * n + a + 1], [a + 1, a + 1 + n]);
            // Where the cross product of the two points: along x and along z make minus y.
            near.edges.push(NearEdges { first, second, side: -1, crossed, away });
        }
        (triangles, positions, near)
    }

    /// The sheets after some passes on some threads, with what they were before the small step.
    fn parted(threads: usize) -> [Vec<DVec3>; 2] {
        let (triangles, mut positions, near) = sheets(50);
        let mut slabs = ContactSlabs::default();
        let separation =
            Separation { thickness: THICKNESS, friction: 0.2, recovery: THICKNESS, is_even: true };
        let half = positions.len() / 2;
        // The upper sheet comes down, each node a little faster than the one before.
        let speed = |k: usize| if k < half { 0.0 } else { 1e-3 * THICKNESS * (k % 97) as f64 };
        let mut previous: Vec<DVec3> =
            positions.iter().enumerate().map(|(k, p)| *p + speed(k) * DVec3::Y).collect();
        let inverse_mass: Vec<f64> =
            (0..positions.len()).map(|k| f64::from(k as u32 % 3)).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            together(|team| {
                slabs.take(&triangles, &near, &positions);
                assert!(slabs.slabs.len() > 8, "{}", slabs.slabs.len());
                for _ in 0..3 {
                    let nodes = NodePlaces {
                        inverse_mass: &inverse_mass,
                        previous: &mut previous,
                        positions: &mut positions,
                    };
                    slabs.part(team, separation, &Bands::default(), nodes);
                    slabs.write_back(&mut previous, &mut positions);
                }
            })
        });
        [positions, previous]
    }

    #[test]
    fn no_pair_reaches_farther_than_into_the_next_slab_and_every_pair_is_there_once() {
        let (triangles, positions, near) = sheets(50);
        let mut slabs = ContactSlabs::default();
        slabs.take(&triangles, &near, &positions);
        let mut count = 0;
        for slab in 0..slabs.slabs.len() {
            let after = (slab + 2).min(slabs.slabs.len());
            let end = if after == slabs.slabs.len() {
                slabs.nodes.len() as u32
            } else {
                slabs.slabs.start(after)
            };
            let rows = slabs.rows.of(slab);
            let room = end - slabs.slabs.start(slab);
            assert!(rows.iter().all(|row| ends(row).1 < room), "slab {slab}");
            count += rows.len();
        }
        assert_eq!(count, near.nodes.len() + near.edges.len());
        // Another tick: nothing is left of the one before.
        slabs.take(&triangles, &Near::default(), &positions);
        assert!(slabs.rows.rows.is_empty() && slabs.place_of_node.iter().all(|p| *p == NONE));
    }

    #[test]
    fn layers_part_alike_on_any_number_of_threads() {
        let one = parted(1);
        assert_eq!(one, parted(2));
        assert_eq!(one, parted(5));
        let (_, start, _) = sheets(50);
        let half = start.len() / 2;
        let gap = |x: &[DVec3]| {
            x[half..].iter().map(|p| p.y).sum::<f64>() / half as f64
                - x[..half].iter().map(|p| p.y).sum::<f64>() / half as f64
        };
        assert!(gap(&one[0]) > 0.6 * THICKNESS, "{} of {THICKNESS}", gap(&one[0]));
        // A third of the nodes are held.
        let is_held = |k: &usize| k.is_multiple_of(3);
        assert!((0..start.len()).filter(is_held).all(|k| one[0][k] == start[k]));
    }
}
