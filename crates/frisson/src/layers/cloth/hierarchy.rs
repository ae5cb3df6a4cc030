//! Coarse-to-fine: what far-apart nodes know of each other.
//!
//! A sweep over edges carries a pull a few edges far. On a fine mesh that leaves the load of the
//! whole cloth to stretch the edges near the pins. So some nodes, some edges apart, are also joined
//! to each other by **spans**: pairs that can never be farther apart than the cloth between them is
//! long. That is true of any cloth that does not stretch, however it is folded, so spans pull but
//! never push and lock no fold. Each step solves the coarsest spans first and hands the displacement
//! (not the position: folds stay) down to the nodes between (Müller 2008).
//!
//! ```text
//!   o-------------------o-------------------o     level 2
//!   o----o----o----o----o----o----o----o----o     level 1
//!   ·-·-·-·-·-·-·-·-·-·-·-·-·-·-·-·-·-·-·-·-·     nodes and edges
//! ```
//!
//! A coarse node weighs what it carries, `M_j = sum w_ij m_i` with the same weights that hand its
//! displacement down, so linear momentum is kept exactly.

use glam::{DVec3, Vec3};

use super::strips::{Grouped, Strips};
use crate::geometry::{GeodesicStart, GeodesicWalk, Topology};
use crate::threads::Team;
use crate::tolerances::cloth as limits;

/// Coarse nodes that a task takes, at least.
const TASK: usize = 128;

/// Two coarse nodes and how far apart they can be. Nodes count from the start of the strip.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    a: u32,
    b: u32,
    length_sq: f64,
    share_a: f64,
    share_b: f64,
}

/// A node now and at the end of the step before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places {
    /// Now.
    pub now: DVec3,
    /// Before.
    pub old: DVec3,
    /// How much longer spans are here, as a share, because pins are pulled apart [-].
    pub allowance: f64,
}

/// How far a node is moved, now and before [m].
#[derive(Clone, Copy, Debug, Default)]
pub struct Move {
    /// Now.
    pub now: Vec3,
    /// Before.
    pub old: Vec3,
}

/// Some nodes of a level, with their places before and after the spans are solved.
type TakenPlaces<'a> = (&'a [u32], (&'a mut [Places], &'a mut [Places]));

/// One coarse level.
#[derive(Clone, Debug, Default)]
struct Level {
    /// Its nodes, by index of the cloth's nodes.
    nodes: Vec<u32>,
    mass: Vec<f64>,
    /// Pairs of nodes and how far apart they can be, sorted by strip.
    pairs: Vec<(u32, u32, f64)>,
    strips: Strips,
    spans: Grouped<Span>,
    /// For each node of the next finer level: which coarse nodes move it, and how much.
    offsets: Vec<u32>,
    parents: Vec<(u32, f32)>,
    /// Where its nodes are and were, before and after the spans are solved.
    start: Vec<Places>,
    places: Vec<Places>,
    /// How far each is moved.
    moves: Vec<Move>,
}

/// All coarse levels, the finest first.
#[derive(Clone, Debug, Default)]
pub struct Hierarchy {
    levels: Vec<Level>,
}

/// What the levels are made from.
pub struct HierarchyInput<'a> {
    /// Connectivity at rest.
    pub topology: &'a Topology,
    /// Positions at rest, per vertex.
    pub positions: &'a [Vec3],
    /// Points in node order.
    pub order: &'a [u32],
    /// Node of each point.
    pub node_of_point: &'a [u32],
    /// How many of the first nodes are held.
    pub held: usize,
    /// Mass of each node [kg].
    pub mass: &'a [f64],
    /// Mean edge [m].
    pub mean_edge: f64,
    /// Extra length of spans, as a fraction [-].
    pub slack: f64,
}

impl Hierarchy {
    /// Builds levels until few nodes are left.
    pub fn build(input: &HierarchyInput) -> Self {
        let mut levels: Vec<Level> = Vec::new();
        let mut walk = GeodesicWalk::new(input.topology, |p| {
            input.positions[input.topology.vertex_of_point[p as usize] as usize]
        });
        let mut spacing = limits::COARSE_EDGES * input.mean_edge;
        let mut candidates: Vec<u32> = (0..input.order.len() as u32).collect();
        let mut masses = input.mass.to_vec();
        while candidates.len() - input.held.min(candidates.len()) > limits::COARSEST_NODES {
            let level = build_level(input, &mut walk, &candidates, &masses, spacing);
            // Hardly coarser than what is below: it would cost as much, and reach no farther.
            if level.nodes.len() * 2 > candidates.len() {
                break;
            }
            candidates.clone_from(&level.nodes);
            masses.clone_from(&level.mass);
            levels.push(level);
            spacing *= limits::COARSE_EDGES;
        }
        Self { levels }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Takes over which nodes are held.
    pub fn compile(&mut self, inverse_mass: &[f64]) {
        for level in &mut self.levels {
            let w = |c: u32| {
                let held = inverse_mass[level.nodes[c as usize] as usize] == 0.0;
                if held { 0.0 } else { 1.0 / level.mass[c as usize] }
            };
            // Between two pins there is nothing to solve, and shares would be 0 / 0.
            let movable = level.pairs.iter().filter(|p| w(p.0) + w(p.1) > 0.0);
            let kept: Vec<(u32, u32, f64)> = movable.copied().collect();
            level.spans = Grouped::build(&level.strips, kept, |p| level.strips.of(p.0)).map(|p| {
                let (a, b, length) = *p;
                let (wa, wb) = (w(a), w(b));
                let base = level.strips.start(level.strips.of(a));
                let (share_a, share_b) = (wa / (wa + wb), wb / (wa + wb));
                Span { a: a - base, b: b - base, length_sq: length * length, share_a, share_b }
            });
        }
    }

    /// Solves all levels for the predicted positions of the nodes; `needs` is what pulled pins ask of
    /// each, or empty. Afterwards [`Hierarchy::displacement`] says how far a node is to be moved.
    pub fn solve(
        &mut self,
        team: &mut Team,
        positions: &[DVec3],
        previous: &[DVec3],
        needs: &[f32],
    ) {
        // From the coarsest: each level starts from where the coarser one has moved it.
        for index in (0..self.levels.len()).rev() {
            let (finer, coarser) = self.levels.split_at_mut(index + 1);
            let level = &mut finer[index];
            level.take(team, (positions, previous), needs, coarser.first());
            // Far sweeps cost next to nothing.
            for _ in 0..limits::SPAN_SWEEPS * (index + 1) {
                let spans = &level.spans;
                let solve = |strip: usize, x: &mut [Places]| solve_spans(spans.of(strip), x);
                level.strips.sweep(team, &mut level.places, &solve);
            }
            level.tell(team);
        }
    }

    /// How far the finest level moves a node.
    #[inline]
    pub fn displacement(&self, node: usize) -> Move {
        self.levels.first().map_or(Move::default(), |level| level.displacement(node))
    }
}

impl Level {
    /// Takes its nodes from where they are, and where a coarser level moves them.
    fn take(
        &mut self,
        team: &mut Team,
        (positions, previous): (&[DVec3], &[DVec3]),
        needs: &[f32],
        parent: Option<&Self>,
    ) {
        self.start.resize(self.nodes.len(), Places::default());
        self.places.resize(self.nodes.len(), Places::default());
        let take = |c: usize, n: usize, start: &mut Places, place: &mut Places| {
            let need = needs.get(n).map_or(0.0, |need| f64::from(*need));
            let allowance = limits::CORD_ALLOWANCE * need;
            *start = Places { now: positions[n], old: previous[n], allowance };
            let moved = parent.map_or(Move::default(), |p| p.displacement(c));
            let (now, old) = (start.now + moved.now.as_dvec3(), start.old + moved.old.as_dvec3());
            *place = Places { now, old, allowance };
        };
        let all = (self.nodes.as_slice(), (self.start.as_mut_slice(), self.places.as_mut_slice()));
        let some = |first: usize, (nodes, (starts, places)): TakenPlaces| {
            let both = starts.iter_mut().zip(places);
            for ((c, &n), (start, place)) in (first..).zip(nodes).zip(both) {
                take(c, n as usize, start, place);
            }
        };
        team.chunks(all, self.nodes.len(), TASK, some);
    }

    /// Says how far its nodes are moved.
    fn tell(&mut self, team: &mut Team) {
        self.moves.resize(self.nodes.len(), Move::default());
        let ends = (self.places.as_slice(), self.start.as_slice());
        let tell = |_, (moves, (ends, starts)): (&mut [Move], (&[Places], &[Places]))| {
            for ((moved, end), start) in moves.iter_mut().zip(ends).zip(starts) {
                let (now, old) = (end.now - start.now, end.old - start.old);
                *moved = Move { now: now.as_vec3(), old: old.as_vec3() };
            }
        };
        team.chunks((self.moves.as_mut_slice(), ends), self.nodes.len(), TASK, tell);
    }

    #[inline]
    fn displacement(&self, child: usize) -> Move {
        let range = self.offsets[child] as usize..self.offsets[child + 1] as usize;
        let mut sum = Move::default();
        for &(c, w) in &self.parents[range] {
            let moved = &self.moves[c as usize];
            sum.now += moved.now * w;
            sum.old += moved.old * w;
        }
        sum
    }
}

/// Cords do not bounce: what they were too long by already is taken back without giving speed.
fn solve_spans(spans: &[Span], x: &mut [Places]) {
    for span in spans {
        let (a, b) = (span.a as usize, span.b as usize);
        let d = x[a].now - x[b].now;
        let r = d.length_squared();
        // The looser end decides: a span that starts in pulled cloth must give with it.
        let allowance = 1.0 + x[a].allowance.max(x[b].allowance);
        let length_sq = span.length_sq * (allowance * allowance);
        // What has left the world is found at the end of the tick, and said.
        if r > length_sq && r.is_finite() {
            // Without a root: to first order the relative excess, and never more than 1 however far it is drawn.
            let s = (r - length_sq) / (r + length_sq);
            let before = (x[a].old - x[b].old).length_squared();
            let drift = ((before - length_sq) / (before + length_sq)).clamp(0.0, s);
            x[a].now -= d * (s * span.share_a);
            x[b].now += d * (s * span.share_b);
            x[a].old -= d * (drift * span.share_a);
            x[b].old += d * (drift * span.share_b);
        }
    }
}

/// Chooses nodes at least `spacing` apart among the candidates (the held ones all), joins those near
/// each other, and says how they move the candidates.
fn build_level(
    input: &HierarchyInput,
    walk: &mut GeodesicWalk,
    candidates: &[u32],
    masses: &[f64],
    spacing: f64,
) -> Level {
    let mut child_of_node = vec![u32::MAX; input.order.len()];
    candidates.iter().enumerate().for_each(|(c, &n)| child_of_node[n as usize] = c as u32);
    let mut covered = vec![false; input.order.len()];
    let mut level = Level::default();
    // For each candidate: the coarse nodes that reach it, with their distances.
    let mut reached: Vec<Vec<(u32, f64)>> = vec![Vec::new(); candidates.len()];
    for &node in candidates {
        if covered[node as usize] && (node as usize) >= input.held {
            continue;
        }
        let coarse = level.nodes.len() as u32;
        level.nodes.push(node);
        // One walk finds both, whom it is joined to and whom it moves: the former reach farther.
        let far = limits::SPAN_REACH * spacing;
        let point = input.order[node as usize];
        let seed = GeodesicStart { point, distance: 0.0, label: coarse };
        let reached_points = walk.run(&[seed], far).to_vec();
        for p in reached_points {
            let other = input.node_of_point[p as usize];
            let distance = walk.distance(p);
            covered[other as usize] |= distance < spacing;
            let child = child_of_node[other as usize];
            if child != u32::MAX {
                reached[child as usize].push((coarse, distance));
            }
        }
    }
    join_pairs(&mut level, &child_of_node, &reached, input);
    level.mass = vec![0.0; level.nodes.len()];
    level.offsets.push(0);
    for (child, reach) in reached.iter().enumerate() {
        let radius = limits::HAND_DOWN_REACH * spacing;
        // The coarse nodes themselves blend too: a node moved apart from its neighbours is a spike
        // that the edges would have to iron out again.
        let weight = |d: f64| (1.0 - (d / radius).powi(2)).max(0.0).powi(2);
        let total: f64 = reach.iter().map(|r| weight(r.1)).sum();
        for &(coarse, distance) in reach {
            let w = weight(distance) / total.max(f64::MIN_POSITIVE);
            if w > 1e-6 {
                level.parents.push((coarse, w as f32));
                level.mass[coarse as usize] += w * masses[child];
            }
        }
        level.offsets.push(level.parents.len() as u32);
    }
    level
}

fn join_pairs(
    level: &mut Level,
    child_of_node: &[u32],
    reached: &[Vec<(u32, f64)>],
    input: &HierarchyInput,
) {
    for (b, &node) in level.nodes.iter().enumerate() {
        for &(a, distance) in &reached[child_of_node[node as usize] as usize] {
            if (a as usize) < b {
                level.pairs.push((a, b as u32, distance * (1.0 + input.slack)));
            }
        }
    }
    let joined = level.pairs.iter().map(|&(a, b, _)| (a, b));
    level.strips = Strips::joined(level.nodes.len(), joined, TASK as u32);
    level.pairs.sort_by_key(|p| level.strips.of(p.0));
}
