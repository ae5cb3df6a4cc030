//! Contact of the cloth with itself: node against triangle, on the side where it was, and edge against
//! edge.
//!
//! In every tick the tree finds the pairs that may come within the thickness. A node that was near a
//! triangle before keeps its side, so that one pressed through by force is brought back to where it
//! came from. Where the cloth is tangled and no pair remembers another side, contacts are left out and
//! the tangle is undone ([`super::tangle`]).

use std::sync::Mutex;

use glam::{DVec3, Vec3A};
use rayon::prelude::*;

use super::around::Around;
use super::contact_slabs::ContactSlabs;
use super::local::Bands;
use super::node_places::NodePlaces;
use super::plane_sides::PlaneSides;
use super::rest::ClothRest;
use super::separation::{Separation, closest_on_triangle, passing, pierce, point_at};
use super::sew::Stitch;
use super::state::{Crossing, Near, NearEdges, NearPair};
use super::tangle::{self, Tangle};
use super::tree::{Horizon, PatchTree};
use crate::threads::{Team, together};
use crate::tolerances::cloth as limits;

/// Pairs a task takes at once.
const CHUNK: usize = 1024;

/// What finds contacts. Rest data hold it as it was built; a copy in the scratch does the work.
#[derive(Clone, Default)]
pub struct SelfContacts {
    tree: Option<PatchTree>,
    /// A triangle that owns each node: only its owner brings a node to a test.
    owner: Vec<u32>,
    /// Edges that each triangle brings to tests: bit `k` is that from corner `k` to the next.
    own_edges: Vec<u8>,
    /// Part of the cloth that hangs together.
    part_of_node: Vec<u32>,
    rest_positions: Vec<DVec3>,
    /// What is near along the cloth.
    around: Around,
    found: Found,
    fresh: Near,
    /// The pairs as they are solved.
    slabs: ContactSlabs,
    tangle: Tangle,
    thickness: f64,
    /// How many times that each node is thick for the cloth itself.
    bands: Bands,
    /// Distance at rest up to which cloth is not in contact with itself [m].
    neighbours: f64,
    /// Friction coefficient [-].
    pub friction: f64,
}

/// What every task of a search has found.
#[derive(Default)]
struct Found(Vec<Mutex<Near>>);

impl Clone for Found {
    /// Storage only: a copy has found nothing.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Where the cloth is and where it goes while a search lasts.
struct Motion<'a> {
    rest: &'a ClothRest,
    x: &'a [DVec3],
    v: &'a [DVec3],
    dt: f64,
    reach: f64,
}

impl SelfContacts {
    /// Prepares the search.
    pub fn new(rest: &ClothRest, positions: &[DVec3], stitches: &[Stitch], thickness: f64) -> Self {
        let mut owner = vec![u32::MAX; rest.node_count()];
        // From the last: the lowest triangle of a node is its owner in the end.
        for (t, corners) in rest.triangles.iter().enumerate().rev() {
            corners.iter().for_each(|&n| owner[n as usize] = t as u32);
        }
        let part_of_node = find_parts(rest);
        let bands = own_bands(rest, positions, thickness);
        let neighbours = limits::SELF_NEIGHBOURS * thickness * bands.most;
        let way = limits::NEIGHBOUR_WAY * neighbours;
        Self {
            tree: Some(PatchTree::build(&rest.triangles, positions, &part_of_node)),
            owner,
            own_edges: share_edges(&rest.triangles),
            part_of_node,
            rest_positions: positions.to_vec(),
            around: Around::build(rest, positions, stitches, way),
            thickness,
            bands,
            neighbours,
            ..Self::default()
        }
    }

    /// Finds the pairs that may touch within `dt`; `near` holds those of the last search, and is brought
    /// up to date.
    pub fn find(
        &mut self,
        rest: &ClothRest,
        positions: &[DVec3],
        velocities: &[DVec3],
        dt: f64,
        near: &mut Near,
    ) {
        let Some(mut tree) = self.tree.take() else { return };
        // By the thickest: one bound for the whole search; pairs know their own thickness when they are solved.
        let reach = self.thickness * self.bands.most * limits::SELF_REACH;
        let motion = Motion { rest, x: positions, v: velocities, dt, reach };
        together(|team| self.look_everywhere(team, &mut tree, &motion));
        self.tree = Some(tree);
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.take_all(&mut self.found.0);
        fresh.sort();
        // A node that has slipped through is brought back to the side that it had.
        fresh.nodes.par_chunks_mut(CHUNK).for_each(|pairs| keep_sides(pairs, &near.nodes));
        fresh.edges.par_chunks_mut(CHUNK).for_each(|pairs| keep_edge_sides(pairs, &near.edges));
        self.judge_crossings(rest, &mut fresh, &near.nodes);
        std::mem::swap(near, &mut fresh);
        self.slabs.take(&rest.triangles, near, positions);
        self.fresh = fresh;
    }

    /// Fills `found`.
    fn look_everywhere(&mut self, team: &mut Team, tree: &mut PatchTree, motion: &Motion) {
        tree.refit(team, &motion.rest.triangles, motion.x, motion.v);
        let mut found = std::mem::take(&mut self.found);
        found.0.iter_mut().filter_map(|near| near.get_mut().ok()).for_each(Near::clear);
        let this = &*self;
        let look = |out: &mut Near, pair: [u32; 2], overlap: bool, nodes: &[[Vec3A; 2]]| {
            this.look(motion, pair, overlap, nodes, out);
        };
        let horizon = Horizon { reach: motion.reach as f32, dt: motion.dt as f32 };
        tree.pairs(team, horizon, &mut found.0, Near::default, look);
        self.found = found;
    }

    /// What a remembered side explains is left to the contacts, for a while; the other crossings are
    /// tangles, and nothing must hold their two sides where they are.
    fn judge_crossings(&mut self, rest: &ClothRest, fresh: &mut Near, before: &[NearPair]) {
        if fresh.crossings.is_empty() {
            self.tangle.caught.clear();
            return;
        }
        let known = |node: u32, triangle: u32| {
            before.binary_search_by_key(&(node, triangle), |p| (p.node, p.triangle)).is_ok()
        };
        let (nodes, edges) = (&mut fresh.nodes, &fresh.edges);
        fresh.crossings.retain(|crossing| {
            let corners = rest.triangles[crossing.triangle as usize];
            let mut explained = (0..3).any(|k| {
                let [first, second] = in_order([crossing.edge, [corners[k], corners[(k + 1) % 3]]]);
                let pair = edges.binary_search_by_key(&(first, second), |p| (p.first, p.second));
                pair.is_ok_and(|index| edges[index].crossed > 0)
            });
            for node in crossing.edge {
                let key = (node, crossing.triangle);
                let pair = nodes.binary_search_by_key(&key, |p| (p.node, p.triangle));
                let Ok(index) = pair else { continue };
                if known(node, crossing.triangle) && nodes[index].crossed < limits::SELF_PATIENCE {
                    nodes[index].crossed += 1;
                    explained = true;
                }
            }
            !explained
        });
        self.tangle.find(rest, &self.part_of_node, &fresh.crossings);
        let (tangle, triangles) = (&self.tangle, &rest.triangles);
        nodes.retain(|p| {
            let remembered = || known(p.node, p.triangle) && p.crossed < limits::SELF_PATIENCE;
            // Few are caught: those that are not need not be looked up.
            !tangle.holds(&[p.node], &triangles[p.triangle as usize]) || remembered()
        });
        fresh.edges.retain(|p| p.crossed > 0 || !tangle.holds(&p.first, &p.second));
    }

    /// All that a pair of triangles may do to each other; they can only cross where their boxes overlap.
    /// `nodes` has place and velocity of every node.
    fn look(
        &self,
        motion: &Motion,
        pair: [u32; 2],
        overlap: bool,
        nodes: &[[Vec3A; 2]],
        out: &mut Near,
    ) {
        let corners = pair.map(|t| motion.rest.triangles[t as usize]);
        let [s, t] = corners.map(|c| c.map(|n| nodes[n as usize]));
        let (reach, dt) = (motion.reach as f32, motion.dt as f32);
        let sides = [PlaneSides::of(s, t, reach, dt), PlaneSides::of(t, s, reach, dt)];
        // All of one on one side of the other, and farther than the reach: most pairs of boxes end here.
        if sides.iter().any(PlaneSides::all_on_one) {
            return;
        }
        for (own, other) in [(0, 1), (1, 0)] {
            for (k, node) in corners[own].into_iter().enumerate() {
                if self.owner[node as usize] == pair[own] && sides[own].may_touch(k) {
                    self.look_node(motion, node, pair[other], out);
                }
            }
        }
        let own = pair.map(|t| self.own_edges[t as usize]);
        let edge = |k: usize, side: usize| [corners[k][side], corners[k][(side + 1) % 3]];
        let near = |k: usize, side: &usize| own[k] >> side & 1 == 1 && sides[k].edge_near(*side);
        for first in (0..3).filter(|side| near(0, side)) {
            for second in (0..3).filter(|side| near(1, side)) {
                self.look_edges(motion, [edge(0, first), edge(1, second)], out);
            }
        }
        if !overlap {
            return;
        }
        for (k, other) in [(0, 1), (1, 0)] {
            let x = corners[other].map(|n| motion.x[n as usize]);
            for side in (0..3).filter(|side| near(k, side)) {
                let edge = edge(k, side);
                let apart = edge.iter().all(|n| !corners[other].contains(n));
                if apart && pierce(edge.map(|n| motion.x[n as usize]), x).is_some() {
                    out.crossings.push(Crossing { edge, triangle: pair[other] });
                }
            }
        }
    }

    fn look_node(&self, motion: &Motion, node: u32, triangle: u32, out: &mut Near) {
        let corners = motion.rest.triangles[triangle as usize];
        if corners.contains(&node) {
            return;
        }
        let (p, x) = (motion.x[node as usize], corners.map(|n| motion.x[n as usize]));
        let w = closest_on_triangle(p, x);
        let away = p - point_at(x, w);
        let speed = motion.v[node as usize] - point_at(corners.map(|n| motion.v[n as usize]), w);
        if !motion.may_touch(away, speed) {
            return;
        }
        let flat = self.rest_positions[node as usize];
        let home = corners.map(|n| self.rest_positions[n as usize]);
        // At rest: cloth that is near along itself would hold its own folds open.
        let apart = flat.distance(point_at(home, closest_on_triangle(flat, home)));
        if self.neighbours(apart, &[node], &corners) {
            return;
        }
        let normal = (x[1] - x[0]).cross(x[2] - x[0]);
        let side = if away.dot(normal) >= 0.0 { 1 } else { -1 };
        out.nodes.push(NearPair { node, triangle, side, crossed: 0 });
    }

    fn look_edges(&self, motion: &Motion, edges: [[u32; 2]; 2], out: &mut Near) {
        let [first, second] = in_order(edges);
        if first.iter().any(|n| second.contains(n)) {
            return;
        }
        let [a, b] = [first, second].map(|e| e.map(|n| motion.x[n as usize]));
        let Some((s, t, normal)) = passing(a, b) else { return };
        let away = a[0].lerp(a[1], s) - b[0].lerp(b[1], t);
        let [u, v] = [first, second].map(|e| e.map(|n| motion.v[n as usize]));
        if !motion.may_touch(away, u[0].lerp(u[1], s) - v[0].lerp(v[1], t)) {
            return;
        }
        let at = |e: [u32; 2], s: f64| {
            self.rest_positions[e[0] as usize].lerp(self.rest_positions[e[1] as usize], s)
        };
        let apart = at(first, s).distance(at(second, t));
        if self.neighbours(apart, &first, &second) {
            return;
        }
        let side = if away.dot(normal) >= 0.0 { 1 } else { -1 };
        let away = (f64::from(side) * normal).normalize_or_zero().as_vec3();
        out.edges.push(NearEdges { first, second, side, crossed: 0, away });
    }

    /// Cloth that is as near at rest, and along itself, is not in contact.
    fn neighbours(&self, apart: f64, nodes: &[u32], others: &[u32]) -> bool {
        let near = apart < self.neighbours;
        // Panels are cut far from where they are sewn.
        (near || self.around.is_sewn(nodes)) && self.around.any(nodes, others)
    }

    /// Stops what comes nearer, and brings apart what is too near and what is tangled; `recovery` is how far a pair
    /// may be moved apart beyond stopping its approach [m].
    pub fn solve(
        &mut self,
        team: &mut Team,
        rest: &ClothRest,
        (near, recovery): (&Near, f64),
        nodes: NodePlaces,
    ) {
        let NodePlaces { inverse_mass, previous, positions } = nodes;
        self.part(team, recovery, NodePlaces { inverse_mass, previous, positions });
        if near.crossings.is_empty() {
            return;
        }
        self.slabs.write_back(previous, positions);
        let way = limits::UNTANGLE_SPEED / limits::RECOVERY_SPEED * recovery;
        let nodes = NodePlaces { inverse_mass, previous, positions };
        tangle::untangle(rest, &near.crossings, way, nodes);
    }

    /// Only stops what comes nearer, and lifts nothing: what is lifted against the pull of the cloth around it comes back
    /// with speed, which in every small step would feed cloth at rest.
    pub fn stop(&mut self, team: &mut Team, nodes: NodePlaces) {
        self.part(team, 0.0, nodes);
    }

    /// Where the last pass has brought the nodes, as far as nobody else knows.
    pub fn slabs(&mut self) -> &mut ContactSlabs {
        &mut self.slabs
    }

    /// Parts all pairs of the last search once.
    fn part(&mut self, team: &mut Team, recovery: f64, nodes: NodePlaces) {
        let (thickness, friction) = (self.thickness, self.friction);
        self.slabs.part(
            team,
            Separation { thickness, friction, recovery, is_even: false },
            &self.bands,
            nodes,
        );
    }
}

impl Motion<'_> {
    fn may_touch(&self, away: DVec3, speed: DVec3) -> bool {
        let distance = away.length();
        let approach = -speed.dot(away) / distance.max(f64::MIN_POSITIVE);
        distance <= self.reach + approach.max(0.0) * self.dt
    }
}

/// How many times the thickness every node is thick for the cloth itself. Where a collar is gathered, edges are shorter
/// than the thickness: cloth that was as thick there would push its own folds apart and draw its edges out.
pub(super) fn own_bands(rest: &ClothRest, positions: &[DVec3], thickness: f64) -> Bands {
    let band = |node: u32| {
        let around = rest.node_triangles.of(node).iter();
        let corners = around.flat_map(|&t| rest.triangles[t as usize]).filter(|n| *n != node);
        let at = positions[node as usize];
        let far = corners.map(|n| at.distance(positions[n as usize]));
        let (sum, count) = far.fold((0.0, 0u32), |(sum, count), d| (sum + d, count + 1));
        let edge = sum / f64::from(count.max(1));
        let most =
            if count == 0 { f64::INFINITY } else { limits::OWN_THICKNESS_EDGES * edge / thickness };
        rest.bands.of(node).min(most) as f32
    };
    Bands::new((0..rest.node_count() as u32).map(band).collect())
}

/// Gives pairs that were near before the side they had. Both lists are sorted.
fn keep_sides(pairs: &mut [NearPair], before: &[NearPair]) {
    let Some(first) = pairs.first().map(|p| (p.node, p.triangle)) else { return };
    let start = before.partition_point(|o| (o.node, o.triangle) < first);
    let mut old = before[start..].iter().peekable();
    for pair in pairs {
        let key = (pair.node, pair.triangle);
        while old.next_if(|o| (o.node, o.triangle) < key).is_some() {}
        if let Some(o) = old.peek()
            && (o.node, o.triangle) == key
        {
            (pair.side, pair.crossed) = (o.side, o.crossed);
        }
    }
}

/// Edges that were near each other before, and have gone through each other since, are brought back, for a while.
/// Both lists are sorted. Told by directions and not by signs: the common normal of two edges turns over when they
/// turn past each other.
fn keep_edge_sides(pairs: &mut [NearEdges], before: &[NearEdges]) {
    let Some(first) = pairs.first().map(|p| (p.first, p.second)) else { return };
    let start = before.partition_point(|o| (o.first, o.second) < first);
    let mut old = before[start..].iter().peekable();
    for pair in pairs {
        let key = (pair.first, pair.second);
        while old.next_if(|o| (o.first, o.second) < key).is_some() {}
        let known = old.peek().filter(|o| (o.first, o.second) == key);
        let Some(known) = known else { continue };
        let is_through = known.away.dot(pair.away) < limits::EDGES_THROUGH_COS;
        if is_through && known.crossed < limits::EDGE_PATIENCE {
            pair.side = -pair.side;
            pair.away = -pair.away;
            pair.crossed = known.crossed + 1;
        }
    }
}

/// Two edges, each ascending, and the one with the lower nodes first.
fn in_order([a, b]: [[u32; 2]; 2]) -> [[u32; 2]; 2] {
    let ascending = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    let (a, b) = (ascending(a), ascending(b));
    [a.min(b), a.max(b)]
}

/// Numbers the parts of the cloth that hang together.
fn find_parts(rest: &ClothRest) -> Vec<u32> {
    let mut part = vec![u32::MAX; rest.node_count()];
    let (mut stack, mut count) = (Vec::new(), 0);
    for start in 0..rest.node_count() as u32 {
        if part[start as usize] != u32::MAX {
            continue;
        }
        part[start as usize] = count;
        stack.push(start);
        while let Some(node) = stack.pop() {
            for n in rest.node_triangles.of(node).iter().flat_map(|&t| rest.triangles[t as usize]) {
                if part[n as usize] == u32::MAX {
                    part[n as usize] = count;
                    stack.push(n);
                }
            }
        }
        count += 1;
    }
    part
}

/// For each triangle, which of its edges no earlier triangle has: bit `k` is that from corner `k` to the
/// next.
pub fn share_edges(triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut edges = Vec::with_capacity(3 * triangles.len());
    for (t, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            edges.push(([a.min(b), a.max(b)], t as u32, k as u8));
        }
    }
    edges.sort_unstable();
    edges.dedup_by_key(|e| e.0);
    let mut own = vec![0; triangles.len()];
    edges.iter().for_each(|&(_, t, k)| own[t as usize] |= 1 << k);
    own
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    #[test]
    fn sides_are_remembered_over_a_merge() {
        let pair = |node, triangle, side| NearPair { node, triangle, side, crossed: 0 };
        let mut now = [pair(1, 2, 1), pair(1, 5, 1), pair(3, 0, -1)];
        keep_sides(&mut now, &[pair(0, 9, -1), pair(1, 5, -1), pair(3, 0, 1), pair(4, 0, 1)]);
        assert_eq!(now.map(|p| p.side), [1, -1, 1]);
    }

    #[test]
    fn edges_that_went_through_each_other_are_brought_back_for_a_while() {
        let pair = |away, crossed| {
            let (first, second) = ([0, 1], [2, 3]);
            NearEdges { first, second, side: 1, crossed, away }
        };
        let after = |before: NearEdges, away: Vec3| {
            let mut now = [pair(away, 0)];
            keep_edge_sides(&mut now, &[before]);
            now[0]
        };
        let through = after(pair(Vec3::Y, 0), -Vec3::Y);
        assert_eq!((through.side, through.crossed, through.away), (-1, 1, Vec3::Y));
        assert_eq!(after(pair(Vec3::Y, 0), Vec3::X).crossed, 0, "turned about each other");
        let given_up = after(pair(Vec3::Y, limits::EDGE_PATIENCE), -Vec3::Y);
        assert_eq!((given_up.side, given_up.crossed), (1, 0));
    }

    #[test]
    fn every_edge_has_one_owner() {
        let own = share_edges(&[[0, 1, 2], [2, 1, 3], [3, 1, 0]]);
        assert_eq!(own.iter().map(|o| o.count_ones()).sum::<u32>(), 6);
    }
}
