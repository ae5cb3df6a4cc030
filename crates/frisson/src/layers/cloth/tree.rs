//! A fixed tree over the cloth's triangles that finds where the cloth may meet itself.
//!
//! The tree is built once on the rest shape, so each branch is a patch of cloth. Two things make it
//! quick. A patch whose normals all lie within a cone cannot meet itself, nor its smooth
//! neighbour (Volino, Magnenat-Thalmann 1994): flat cloth costs nothing. And boxes carry the range
//! of velocities inside: two patches that fly along together are not swept into each other.

use std::sync::Mutex;

use glam::{DVec3, Vec3, Vec3A};

use super::packed_triangles::{LEAF, PackedTriangles, Span, angle};
use crate::threads::Team;
use crate::tolerances::cloth as limits;

/// Nodes, leaves or patches that make a task.
const CHUNK: usize = 512;
/// Pairs of patches that make enough tasks: cloth meets itself in few places, which many must share.
const TASKS: usize = 1024;

#[derive(Clone, Copy, Debug)]
struct Patch {
    rest: Span,
    now: Span,
    velocity: Span,
    axis: Vec3A,
    /// Half-angle of the cone of normals [rad].
    spread: f32,
    first: u32,
    count: u32,
    /// First and last part of the cloth that it has triangles of.
    parts: (u32, u32),
    /// Left child; the right one follows it. 0 on leaves.
    child: u32,
    /// Which leaf it is, if it is one.
    leaf: u32,
}

/// What counts as meeting.
#[derive(Clone, Copy, Debug)]
pub struct Horizon {
    /// Within this distance [m].
    pub reach: f32,
    /// Within this time [s].
    pub dt: f32,
}

/// The tree.
#[derive(Clone, Debug, Default)]
pub struct PatchTree {
    /// Level by level, the root first.
    patches: Vec<Patch>,
    /// First patch of each level below the root, and the end.
    levels: Vec<usize>,
    order: Vec<u32>,
    leaves: Vec<PackedTriangles>,
    /// First of each leaf's triangles in `order`, and their number.
    ranges: Vec<(u32, u32)>,
    /// Place and velocity of every node.
    nodes: Vec<[Vec3A; 2]>,
    tasks: Vec<(u32, u32)>,
    spread: Vec<(u32, u32)>,
}

impl PatchTree {
    /// Builds the tree on the rest shape; `part_of_node` says what hangs together.
    pub fn build(triangles: &[[u32; 3]], positions: &[DVec3], part_of_node: &[u32]) -> Self {
        let centers: Vec<Vec3> = triangles
            .iter()
            .map(|t| (t.iter().map(|&n| positions[n as usize]).sum::<DVec3>() / 3.0).as_vec3())
            .collect();
        let mut tree = Self { order: (0..triangles.len() as u32).collect(), ..Self::default() };
        let empty = Patch {
            rest: Span::EMPTY,
            now: Span::EMPTY,
            velocity: Span::EMPTY,
            axis: Vec3A::Y,
            spread: 0.0,
            first: 0,
            count: triangles.len() as u32,
            parts: (0, 0),
            child: 0,
            leaf: 0,
        };
        tree.patches.push(empty);
        let mut next = 0;
        while next < tree.patches.len() {
            if tree.levels.last().is_none_or(|&end| end == next) {
                tree.levels.push(tree.patches.len());
            }
            let Patch { first, count, .. } = tree.patches[next];
            let range = first as usize..(first + count) as usize;
            let order = &mut tree.order[range];
            let corners = order.iter().flat_map(|&t| triangles[t as usize]);
            let rest = corners.fold(Span::EMPTY, |span, n| {
                let p = positions[n as usize].as_vec3a();
                span.union(Span { low: p, high: p })
            });
            tree.patches[next].rest = rest;
            let parts = order.iter().map(|&t| part_of_node[triangles[t as usize][0] as usize]);
            let ends = parts.fold((u32::MAX, 0), |(a, b), part| (a.min(part), b.max(part)));
            tree.patches[next].parts = ends;
            if ends.0 < ends.1 {
                // Parts first: what does not hang together is always looked at.
                let part = |t: &u32| part_of_node[triangles[*t as usize][0] as usize];
                order.sort_by_key(|t| (part(t), *t));
                let half = order.partition_point(|t| part(t) <= ends.0.midpoint(ends.1)) as u32;
                tree.patches[next].child = tree.patches.len() as u32;
                tree.patches.push(Patch { first, count: half, ..empty });
                tree.patches.push(Patch { first: first + half, count: count - half, ..empty });
            } else if order.len() > LEAF {
                let size = rest.high - rest.low;
                let axis = if size.x >= size.y && size.x >= size.z {
                    0
                } else if size.y >= size.z {
                    1
                } else {
                    2
                };
                let key = |t: &u32| centers[*t as usize][axis];
                order.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
                let half = count / 2;
                tree.patches[next].child = tree.patches.len() as u32;
                tree.patches.push(Patch { first, count: half, ..empty });
                tree.patches.push(Patch { first: first + half, count: count - half, ..empty });
            } else {
                tree.patches[next].leaf = tree.ranges.len() as u32;
                tree.ranges.push((first, count));
            }
            next += 1;
        }
        tree.leaves.resize(tree.ranges.len(), PackedTriangles::default());
        tree.nodes.resize(positions.len(), [Vec3A::ZERO; 2]);
        tree
    }

    /// Fits boxes and cones to the present positions and velocities.
    pub fn refit(
        &mut self,
        team: &mut Team,
        triangles: &[[u32; 3]],
        positions: &[DVec3],
        velocities: &[DVec3],
    ) {
        let take = |_, (nodes, (x, v)): (&mut [[Vec3A; 2]], (&[DVec3], &[DVec3]))| {
            for ((node, x), v) in nodes.iter_mut().zip(x).zip(v) {
                *node = [x.as_vec3a(), v.as_vec3a()];
            }
        };
        let all = (self.nodes.as_mut_slice(), (positions, velocities));
        team.chunks(all, positions.len(), CHUNK, take);
        let (order, nodes) = (&self.order, &self.nodes);
        let fit = |_, (leaves, ranges): (&mut [PackedTriangles], &[(u32, u32)])| {
            for (leaf, &(first, count)) in leaves.iter_mut().zip(ranges) {
                let own = &order[first as usize..(first + count) as usize];
                leaf.fit(own.iter().map(|&t| triangles[t as usize]), nodes);
            }
        };
        let all = (self.leaves.as_mut_slice(), self.ranges.as_slice());
        team.chunks(all, self.ranges.len(), CHUNK / 8, fit);
        // From the last level upwards: the level itself, and all that is below.
        for level in (0..self.levels.len()).rev() {
            let start = level.checked_sub(1).map_or(0, |above| self.levels[above]);
            let (upper, below) = self.patches.split_at_mut(self.levels[level]);
            let (own, first_below) = (&mut upper[start..], self.levels[level]);
            let leaves = &self.leaves;
            let fit = |patch: &mut Patch| match (patch.child as usize).checked_sub(first_below) {
                None => patch.take(&leaves[patch.leaf as usize]),
                Some(child) => patch.join(&below[child], &below[child + 1]),
            };
            let count = own.len();
            team.chunks(own, count, CHUNK / 4, |_, own: &mut [Patch]| own.iter_mut().for_each(fit));
        }
    }

    /// Calls `each(output, pair, overlap, nodes)` for every pair of triangles that may meet, by their boxes, and says whether these overlap now, and where all nodes are
    /// and how fast; one output per task, always the same ones.
    pub fn pairs<T: Send>(
        &mut self,
        team: &mut Team,
        horizon: Horizon,
        outputs: &mut Vec<Mutex<T>>,
        fresh: impl Fn() -> T,
        each: impl Fn(&mut T, [u32; 2], bool, &[[Vec3A; 2]]) + Sync,
    ) {
        self.spread_tasks(horizon);
        if outputs.len() < self.tasks.len() {
            outputs.resize_with(self.tasks.len(), || Mutex::new(fresh()));
        }
        let this = &*self;
        team.run(this.tasks.len(), &|task| {
            let (a, b) = this.tasks[task];
            // Every task has its own: nobody waits.
            if let Ok(mut out) = outputs[task].try_lock() {
                this.visit(a, b, horizon, &mut |s, t, overlap| {
                    each(&mut out, [s, t], overlap, &this.nodes);
                });
            }
        });
    }

    /// Opens pairs of patches breadth-first until there are enough to share out.
    fn spread_tasks(&mut self, horizon: Horizon) {
        let mut tasks = std::mem::take(&mut self.tasks);
        let mut next = std::mem::take(&mut self.spread);
        tasks.clear();
        tasks.push((0, 0));
        // Deeper than any tree is: a bound, and not what ends it.
        for _ in 0..24 {
            if tasks.len() >= TASKS {
                break;
            }
            next.clear();
            let mut opened = false;
            for &(a, b) in &tasks {
                opened |= self.open(a, b, horizon, &mut |x, y| next.push((x, y)));
            }
            std::mem::swap(&mut tasks, &mut next);
            if !opened {
                break;
            }
        }
        self.tasks = tasks;
        self.spread = next;
    }

    /// Replaces a pair by its children's pairs; keeps pairs of leaves. False when nothing was opened.
    fn open(&self, a: u32, b: u32, horizon: Horizon, out: &mut impl FnMut(u32, u32)) -> bool {
        if !self.may_meet(a, b, horizon) {
            return true;
        }
        let (ca, cb) = (self.patches[a as usize].child, self.patches[b as usize].child);
        if a == b {
            if ca == 0 {
                out(a, a);
                return false;
            }
            out(ca, ca);
            out(ca + 1, ca + 1);
            out(ca, ca + 1);
            return true;
        }
        if ca == 0 && cb == 0 {
            out(a, b);
            return false;
        }
        // The larger is opened, so that both shrink alike and their boxes stay comparable.
        let larger_a = self.patches[a as usize].count >= self.patches[b as usize].count;
        if cb == 0 || (ca > 0 && larger_a) {
            out(ca, b);
            out(ca + 1, b);
        } else {
            out(a, cb);
            out(a, cb + 1);
        }
        true
    }

    fn may_meet(&self, a: u32, b: u32, Horizon { reach, dt }: Horizon) -> bool {
        let (p, q) = (&self.patches[a as usize], &self.patches[b as usize]);
        if a == b {
            return p.spread > limits::FLAT_SPREAD || p.parts.0 < p.parts.1;
        }
        // Only approach counts: patches that move apart are not nearer than they are now.
        let gap =
            (q.now.low - p.now.high) + (dt * (q.velocity.low - p.velocity.high)).min(Vec3A::ZERO);
        let back =
            (p.now.low - q.now.high) + (dt * (p.velocity.low - q.velocity.high)).min(Vec3A::ZERO);
        if gap.max(back).max_element() > reach {
            return false;
        }
        let apart = (q.rest.low - p.rest.high).max(p.rest.low - q.rest.high).max_element();
        let strangers = p.parts != q.parts || p.parts.0 < p.parts.1;
        // Patches that touch at rest are one piece of cloth: smooth together, they do not meet.
        strangers || apart > 1e-6 || join_cones(p, q).1 > limits::FLAT_SPREAD
    }

    fn visit(&self, a: u32, b: u32, horizon: Horizon, each: &mut impl FnMut(u32, u32, bool)) {
        if self.patches[a as usize].child == 0 && self.patches[b as usize].child == 0 {
            if self.may_meet(a, b, horizon) {
                self.meet(a, b, horizon, each);
            }
            return;
        }
        // A fixed array instead of a list: at most three children's pairs.
        let mut children = [(0, 0); 3];
        let mut count = 0;
        self.open(a, b, horizon, &mut |x, y| {
            children[count] = (x, y);
            count += 1;
        });
        for &(x, y) in &children[..count] {
            self.visit(x, y, horizon, each);
        }
    }

    /// The triangles of two leaves, or of one and the same: layers that lie close at rest can share one.
    fn meet(&self, a: u32, b: u32, horizon: Horizon, each: &mut impl FnMut(u32, u32, bool)) {
        let Horizon { reach, dt } = horizon;
        let leaf = |patch: u32| &self.leaves[self.patches[patch as usize].leaf as usize];
        let (own, others) = (self.triangles(a), self.triangles(b));
        for (k, &s) in own.iter().enumerate() {
            let meeting = leaf(a).meet(k, leaf(b), reach, dt);
            let mut near = if a == b { meeting.near >> (k + 1) << (k + 1) } else { meeting.near };
            while near != 0 {
                let j = near.trailing_zeros();
                near &= near - 1;
                each(s, others[j as usize], meeting.now >> j & 1 == 1);
            }
        }
    }

    fn triangles(&self, patch: u32) -> &[u32] {
        let Patch { first, count, .. } = self.patches[patch as usize];
        &self.order[first as usize..(first + count) as usize]
    }
}

impl Patch {
    fn take(&mut self, leaf: &PackedTriangles) {
        (self.now, self.velocity) = (leaf.now, leaf.velocity);
        (self.axis, self.spread) = (leaf.axis, leaf.spread);
    }

    fn join(&mut self, a: &Self, b: &Self) {
        self.now = a.now.union(b.now);
        self.velocity = a.velocity.union(b.velocity);
        (self.axis, self.spread) = join_cones(a, b);
    }
}

/// Cone that holds two cones. Its axis is half-way between theirs.
fn join_cones(a: &Patch, b: &Patch) -> (Vec3A, f32) {
    let axis = (a.axis + b.axis).normalize_or(a.axis);
    let half = angle(axis.dot(a.axis).min(axis.dot(b.axis)));
    (axis, half + a.spread.max(b.spread))
}
