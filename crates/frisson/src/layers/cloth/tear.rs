//! Tearing: cloth rips where it is drawn out too far.
//!
//! A node whose edges are longer than the fabric bears is split across the pull: the triangles on either side of
//! the plane through it keep a copy each. What was one edge is then two of the border, and the next node
//! along the rip carries what those before it carried:
//!
//! ```text
//!      o---o---o            o---o---o
//!      |  /|\  |            |  / \  |         <- pull ->  along the arrows
//!      o---x---o    ==>     o--x x--o
//!      |  \|/  |            |  \ /  |
//!      o---o---o            o---o---o
//! ```
//!
//! A torn mesh has the triangles of the whole one, with copies of vertices as corners. Everything else (masses,
//! constraints, cords, coarse levels) is built from it as from any mesh, and once in a tick at most.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::rest::ClothRest;
use super::rest::Garment;
use super::state::ClothState;
use super::stretch;
use crate::geometry::{Ancestry, Mesh, MeshTopology};
use crate::math::random;
use crate::tolerances::cloth as limits;

/// What rips made of the mesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tears {
    /// Triangles over vertices; empty as long as nothing is torn.
    pub triangles: Vec<[u32; 3]>,
    /// Vertex of the whole mesh that each added vertex is a copy of.
    pub copies: Vec<u32>,
    /// Node of every vertex.
    pub node_of_vertex: Vec<u32>,
    /// Tells torn meshes apart; 0 for the whole one.
    pub fingerprint: u64,
}

impl Tears {
    /// Whether nothing is torn.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Whether they can be tears of a mesh.
    pub fn are_of(&self, whole: &Mesh) -> bool {
        let (kept, all) = (whole.positions.len(), whole.positions.len() + self.copies.len());
        // From a file, perhaps: every number is checked before it is used as an index.
        let same = |(torn, corners): (&[u32; 3], &[u32; 3])| {
            let corner = |k: usize| {
                (torn[k] as usize) < all && self.whole_vertex(torn[k], kept) == corners[k]
            };
            (0..3).all(corner)
        };
        self.copies.iter().all(|&v| (v as usize) < kept)
            && self.node_of_vertex.len() == all
            && self.node_of_vertex.iter().all(|&n| (n as usize) < all)
            && self.triangles.len() == whole.topology.triangles.len()
            && self.triangles.iter().zip(&whole.topology.triangles).all(same)
    }

    /// The vertex of a whole mesh of `kept` vertices that a vertex is, or is a copy of.
    fn whole_vertex(&self, vertex: u32, kept: usize) -> u32 {
        (vertex as usize).checked_sub(kept).map_or(vertex, |copy| self.copies[copy])
    }

    /// The torn mesh, as it lies at rest.
    pub fn mesh(&self, whole: &Mesh) -> Mesh {
        let made_of = |&v: &u32| ([v; 3], [1.0, 0.0, 0.0]);
        let old = &whole.topology;
        let ancestry = Ancestry {
            vertex_count: old.vertex_count,
            triangles: old.triangles.clone().into(),
            made_of: self.copies.iter().map(made_of).collect(),
            sources: (0..old.triangles.len() as u32).collect(),
            older: old.ancestry.clone(),
        };
        let smoothing = self.smoothing(old);
        let topology = MeshTopology {
            vertex_count: old.vertex_count + self.copies.len(),
            triangles: self.triangles.clone(),
            uvs: self.copied(&old.uvs),
            colors: self.copied(&old.colors),
            smoothing,
            ancestry: Some(ancestry.into()),
            ..old.as_ref().clone()
        };
        let positions = self.copied(&whole.positions);
        Mesh {
            positions,
            topology: topology.into(),
            ..Mesh::new(&whole.name, Vec::new(), Vec::new())
        }
    }

    /// Values of all vertices from those of the whole mesh's.
    pub fn copied<T: Copy>(&self, values: &[T]) -> Vec<T> {
        let mut all = values.to_vec();
        if !values.is_empty() {
            all.extend(self.copies.iter().map(|&v| values[v as usize]));
        }
        all
    }

    /// Copies share no normal with what they were torn from.
    fn smoothing(&self, whole: &MeshTopology) -> Vec<u32> {
        if whole.smoothing.is_empty() {
            return self.points();
        }
        let points = self.points();
        let mut pairs: Vec<(u32, u32)> =
            self.copied(&whole.smoothing).into_iter().zip(points).collect();
        let all = pairs.clone();
        pairs.sort_unstable();
        pairs.dedup();
        all.iter().map(|pair| pairs.partition_point(|p| p < pair) as u32).collect()
    }

    /// Point of every vertex, numbered by their first vertices: those of one node are one point.
    pub fn points(&self) -> Vec<u32> {
        let most = self.node_of_vertex.iter().max().map_or(0, |&n| n as usize + 1);
        let mut point_of_node = vec![u32::MAX; most];
        let mut count = 0;
        let number = |&node: &u32| {
            let point = &mut point_of_node[node as usize];
            if *point == u32::MAX {
                *point = count;
                count += 1;
            }
            *point
        };
        self.node_of_vertex.iter().map(number).collect()
    }
}

/// Rips the cloth where an edge is longer than `most` times its length. The torn garment, if anything has ripped:
/// the state is then one of that.
pub fn rip(most: f64, whole: &Garment, rest: &Garment, state: &mut ClothState) -> Option<Garment> {
    let mesh = &whole.whole.as_ref()?.mesh;
    let loads = loads(most - 1.0, rest, state)?;
    let triangles =
        if state.tears.is_empty() { &mesh.topology.triangles } else { &state.tears.triangles };
    let splits = choose(&loads, &rest.cloth, triangles, &state.positions);
    if splits.is_empty() {
        return None;
    }
    let mut tears = state.tears.clone();
    tears.triangles.clone_from(triangles);
    tears.node_of_vertex.clone_from(&rest.cloth.node_of_vertex);
    let sources = split(&splits, &rest.cloth, mesh.positions.len(), &mut tears);
    let corners = tears.triangles.iter().flatten();
    // Never 0, which stands for whole cloth.
    tears.fingerprint = corners.fold(1, |sum, &v| random::chain(sum, u64::from(v))).max(1);
    let torn = whole.torn(&tears)?;
    tears.node_of_vertex.clone_from(&torn.cloth.node_of_vertex);
    carry(&rest.cloth, &torn.cloth, &sources, state);
    state.tears = tears;
    Some(torn)
}

/// How far a node is drawn out, in what it bears, and along which direction.
#[derive(Clone, Copy)]
struct Load {
    share: f64,
    pull: DVec3,
}

/// Loads of all nodes; `None` when every one bears its own. Threads are not all alike: some bear a little more.
fn loads(most: f64, rest: &Garment, state: &ClothState) -> Option<Vec<Load>> {
    let x = &state.positions;
    let edges = &rest.cloth.edges.rows;
    // Nearly always nothing tears: one look at the edges, and no list is made.
    if !edges.iter().any(|e| stretch::strain(e, x) > most) {
        return None;
    }
    let bears = |node: u32| {
        let vertex = rest.cloth.vertex_of_node[node as usize];
        most * (1.0 + limits::UNEVEN_THREADS * random::uniform(TEAR_SEED, u64::from(vertex), 0))
    };
    let mut loads = vec![Load { share: 0.0, pull: DVec3::ZERO }; x.len()];
    for edge in edges {
        let strain = stretch::strain(edge, x);
        let [a, b] = edge.nodes;
        let pull = (x[b as usize] - x[a as usize]).normalize_or_zero();
        for (node, pull) in [(a, pull), (b, -pull)] {
            let share = strain / bears(node);
            let load = &mut loads[node as usize];
            // What is held does not rip off its holder: it would fall for ever from the first frame on.
            if share > load.share && !rest.held[node as usize] {
                *load = Load { share, pull };
            }
        }
    }
    Some(loads)
}

/// Keeps the threads' strengths apart from other random numbers.
const TEAR_SEED: u64 = 0x7465_6172;

/// A node that is split: triangles with their corner at it, and the part that each goes to.
type Split = Vec<(u32, usize, u32)>;

/// Which nodes rip in this tick: the most loaded ones, no two of them near each other.
fn choose(loads: &[Load], cloth: &ClothRest, triangles: &[[u32; 3]], x: &[DVec3]) -> Vec<Split> {
    let worst = loads.iter().fold(0.0, |worst: f64, load| worst.max(load.share));
    // Only the worst now: each rip takes load off its neighbours, which may then hold.
    let least = (limits::RIP_TOGETHER * worst).max(1.0);
    let mut corners: Vec<(u32, u32, usize)> = Vec::new();
    for (t, vertices) in triangles.iter().enumerate() {
        for (k, &v) in vertices.iter().enumerate() {
            let node = cloth.node_of_vertex[v as usize];
            if loads[node as usize].share >= least {
                corners.push((node, t as u32, k));
            }
        }
    }
    corners.sort_unstable();
    let mut fans: Vec<&[(u32, u32, usize)]> = corners.chunk_by(|a, b| a.0 == b.0).collect();
    let share = |fan: &[(u32, u32, usize)]| loads[fan[0].0 as usize].share;
    // By number among equals: the order, and so the rip, is always the same.
    fans.sort_by(|a, b| share(b).total_cmp(&share(a)).then(a[0].0.cmp(&b[0].0)));
    let mut taken = vec![false; x.len()];
    let mut splits = Vec::new();
    for fan in fans {
        let around = || fan.iter().flat_map(|c| triangles[c.1 as usize]);
        let nodes = || around().map(|v| cloth.node_of_vertex[v as usize] as usize);
        // Those beside it wait for the next tick: this rip may have taken their load.
        if nodes().any(|n| taken[n]) {
            continue;
        }
        if let Some(split) = part(fan, loads[fan[0].0 as usize].pull, cloth, triangles, x) {
            nodes().for_each(|n| taken[n] = true);
            splits.push(split);
        }
    }
    splits
}

/// Parts the triangles around a node by the plane across the pull; `None` where they stay together.
fn part(
    fan: &[(u32, u32, usize)],
    pull: DVec3,
    cloth: &ClothRest,
    triangles: &[[u32; 3]],
    x: &[DVec3],
) -> Option<Split> {
    let node = fan[0].0;
    let node_at = |t: u32, k: usize| cloth.node_of_vertex[triangles[t as usize][k % 3] as usize];
    let others = |c: &(u32, u32, usize)| [node_at(c.1, c.2 + 1), node_at(c.1, c.2 + 2)];
    // Across the pull: triangles that lie in its direction go with one side, the others with the other.
    let is_ahead = |c: &(u32, u32, usize)| {
        let [b, d] = others(c).map(|n| x[n as usize] - x[node as usize]);
        (b + d).dot(pull) > 0.0
    };
    let mut parts: Vec<u32> = vec![u32::MAX; fan.len()];
    let mut count = 0;
    for first in 0..fan.len() {
        if parts[first] != u32::MAX {
            continue;
        }
        parts[first] = count;
        let mut stack = vec![first];
        while let Some(at) = stack.pop() {
            for next in (0..fan.len()).filter(|&n| n != at) {
                // By a common edge: halves of a fan that touch at the node only are parts of their own.
                let joined = others(&fan[at]).iter().any(|n| others(&fan[next]).contains(n));
                let together = is_ahead(&fan[at]) == is_ahead(&fan[next]);
                if parts[next] == u32::MAX && joined && together {
                    parts[next] = count;
                    stack.push(next);
                }
            }
        }
        count += 1;
    }
    let corners = fan.iter().zip(parts).map(|(c, part)| (c.1, c.2, part));
    (count > 1).then(|| corners.collect())
}

/// Gives all parts but the first of every split node vertices of their own. For each new vertex: the one of the
/// mesh so far that it is a copy of.
fn split(splits: &[Split], cloth: &ClothRest, kept: usize, tears: &mut Tears) -> Vec<u32> {
    let before = tears.node_of_vertex.len();
    let mut sources: Vec<u32> = Vec::new();
    let mut nodes = cloth.node_count() as u32;
    for split in splits {
        let most = split.iter().map(|c| c.2).max().unwrap_or(0);
        for wanted in 1..=most {
            let mut made: Vec<(u32, u32)> = Vec::new();
            for &(t, k, _) in split.iter().filter(|c| c.2 == wanted) {
                let vertex = tears.triangles[t as usize][k];
                let known = made.iter().find(|m| m.0 == vertex).map(|m| m.1);
                let copy = known.unwrap_or_else(|| {
                    let copy = (before + sources.len()) as u32;
                    tears.copies.push(tears.whole_vertex(vertex, kept));
                    tears.node_of_vertex.push(nodes);
                    sources.push(vertex);
                    made.push((vertex, copy));
                    copy
                });
                tears.triangles[t as usize][k] = copy;
            }
            nodes += 1;
        }
    }
    sources
}

/// Carries a state over to the nodes of a cloth that has ripped further.
fn carry(old: &ClothRest, new: &ClothRest, sources: &[u32], state: &mut ClothState) {
    let before = old.node_of_vertex.len();
    let was = |vertex: u32| {
        let vertex = (vertex as usize).checked_sub(before).map_or(vertex, |copy| sources[copy]);
        old.node_of_vertex[vertex as usize] as usize
    };
    let sources: Vec<usize> = new.vertex_of_node.iter().map(|&v| was(v)).collect();
    state.positions = sources.iter().map(|&n| state.positions[n]).collect();
    state.velocities = sources.iter().map(|&n| state.velocities[n]).collect();
    state.giving = sources.iter().map(|&n| state.giving[n]).collect();
    let is_now = |node: u32| new.node_of_vertex[old.vertex_of_node[node as usize] as usize];
    state.stuck.iter_mut().for_each(|s| s.node = is_now(s.node));
    let near = &mut state.near;
    near.nodes.iter_mut().for_each(|p| p.node = is_now(p.node));
    near.edges
        .iter_mut()
        .for_each(|p| (p.first, p.second) = (p.first.map(is_now), p.second.map(is_now)));
    near.crossings.iter_mut().for_each(|c| c.edge = c.edge.map(is_now));
    near.sort();
    state.numbering = new.numbering();
}

/// Gives a mesh the triangles of its torn self, with what belongs to its vertices.
pub fn adopt(topology: &Arc<MeshTopology>, mesh: &mut Mesh) {
    mesh.topology = Arc::clone(topology);
    if let Some(ancestry) = &topology.ancestry {
        mesh.attributes.iter_mut().for_each(|a| a.values.refine(ancestry));
        mesh.channels.refine(ancestry);
    }
}

/// Relative elongation of every edge of a torn cloth.
pub fn strains(whole: &Mesh, state: &ClothState) -> Vec<f64> {
    let kept = whole.positions.len();
    let tears = &state.tears;
    let mut edges: Vec<([u32; 2], [u32; 2])> = Vec::with_capacity(3 * tears.triangles.len());
    for corners in &tears.triangles {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            let [m, n] = [a, b].map(|v| tears.node_of_vertex[v as usize]);
            edges.push(if m < n { ([m, n], [a, b]) } else { ([n, m], [b, a]) });
        }
    }
    edges.sort_unstable();
    edges.dedup_by_key(|s| s.0);
    let place = |v: u32| -> Vec3 { whole.positions[tears.whole_vertex(v, kept) as usize] };
    let strain = |(nodes, ends): &([u32; 2], [u32; 2])| {
        let [x, y] = nodes.map(|n| state.positions[n as usize]);
        let rest = f64::from(place(ends[0]).distance(place(ends[1])));
        (rest > 0.0).then(|| x.distance(y) / rest - 1.0)
    };
    edges.iter().filter_map(strain).collect()
}
