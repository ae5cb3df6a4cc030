//! A fixed tree over the cloth's triangles that finds where the cloth may meet itself.
//!
//! The tree is built once on the rest shape, so each branch is a patch of cloth. Two things make it
//! quick. A patch whose normals all lie within a cone cannot meet itself, nor its smooth
//! neighbour (Volino, Magnenat-Thalmann 1994): flat cloth costs nothing. And boxes carry the range
//! of velocities inside: two patches that fly along together are not swept into each other.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::geometry::Bounds;
use crate::tolerances::cloth as limits;

/// Triangles in a leaf, at most.
const LEAF: usize = 4;
/// Pairs of patches that make enough tasks for many cores.
const TASKS: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Patch {
    rest: Bounds,
    now: Bounds,
    velocity: Bounds,
    axis: Vec3,
    /// Half-angle of the cone of normals [rad].
    spread: f32,
    first: u32,
    count: u32,
    /// First and last part of the cloth that it has triangles of.
    parts: (u32, u32),
    /// Left child; the right one follows it. 0 on leaves.
    child: u32,
}

/// The tree.
#[derive(Clone, Debug, Default)]
pub struct PatchTree {
    patches: Vec<Patch>,
    order: Vec<u32>,
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
            rest: Bounds::EMPTY,
            now: Bounds::EMPTY,
            velocity: Bounds::EMPTY,
            axis: Vec3::Y,
            spread: 0.0,
            first: 0,
            count: triangles.len() as u32,
            parts: (0, 0),
            child: 0,
        };
        tree.patches.push(empty);
        let mut next = 0;
        while next < tree.patches.len() {
            let Patch { first, count, .. } = tree.patches[next];
            let range = first as usize..(first + count) as usize;
            let order = &mut tree.order[range];
            let corners = order.iter().flat_map(|&t| triangles[t as usize]);
            let rest =
                corners.fold(Bounds::EMPTY, |b, n| b.including(positions[n as usize].as_vec3()));
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
                let size = rest.max - rest.min;
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
            }
            next += 1;
        }
        tree
    }

    /// Fits boxes and cones to the present positions and velocities.
    pub fn refit(&mut self, triangles: &[[u32; 3]], positions: &[DVec3], velocities: &[DVec3]) {
        let order = &self.order;
        self.patches.par_chunks_mut(512).for_each(|patches| {
            for patch in patches.iter_mut().filter(|p| p.child == 0) {
                fit_leaf(patch, order, triangles, positions, velocities);
            }
        });
        for index in (0..self.patches.len()).rev() {
            let child = self.patches[index].child as usize;
            if child == 0 {
                continue;
            }
            let (a, b) = (self.patches[child], self.patches[child + 1]);
            let patch = &mut self.patches[index];
            patch.now = a.now.union(b.now);
            patch.velocity = a.velocity.union(b.velocity);
            (patch.axis, patch.spread) = join_cones(&a, &b);
        }
    }

    /// Calls `each(output, triangle, triangle)` for every pair of triangles of patches that may come
    /// within `reach` of each other in `dt`; one output per task, always the same ones.
    pub fn pairs<T: Send>(
        &mut self,
        reach: f32,
        dt: f32,
        outputs: &mut Vec<T>,
        fresh: impl Fn() -> T,
        each: impl Fn(&mut T, u32, u32) + Sync,
    ) {
        self.spread_tasks(reach, dt);
        if outputs.len() < self.tasks.len() {
            outputs.resize_with(self.tasks.len(), fresh);
        }
        let this = &*self;
        outputs[..this.tasks.len()].par_iter_mut().zip(&this.tasks).for_each(|(out, &(a, b))| {
            this.visit(a, b, reach, dt, &mut |s, t| each(out, s, t));
        });
    }

    /// Opens pairs of patches breadth-first until there are enough to share out.
    fn spread_tasks(&mut self, reach: f32, dt: f32) {
        let mut tasks = std::mem::take(&mut self.tasks);
        let mut next = std::mem::take(&mut self.spread);
        tasks.clear();
        tasks.push((0, 0));
        for _ in 0..24 {
            if tasks.len() >= TASKS {
                break;
            }
            next.clear();
            let mut opened = false;
            for &(a, b) in &tasks {
                opened |= self.open(a, b, reach, dt, &mut |x, y| next.push((x, y)));
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
    fn open(&self, a: u32, b: u32, reach: f32, dt: f32, out: &mut impl FnMut(u32, u32)) -> bool {
        if !self.may_meet(a, b, reach, dt) {
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

    fn may_meet(&self, a: u32, b: u32, reach: f32, dt: f32) -> bool {
        let (p, q) = (&self.patches[a as usize], &self.patches[b as usize]);
        if a == b {
            return p.spread > limits::FLAT_SPREAD || p.parts.0 < p.parts.1;
        }
        let gap =
            (q.now.min - p.now.max) + (dt * (q.velocity.min - p.velocity.max)).min(Vec3::ZERO);
        let back =
            (p.now.min - q.now.max) + (dt * (p.velocity.min - q.velocity.max)).min(Vec3::ZERO);
        if gap.max(back).max_element() > reach {
            return false;
        }
        let apart = (q.rest.min - p.rest.max).max(p.rest.min - q.rest.max).max_element();
        let strangers = p.parts != q.parts || p.parts.0 < p.parts.1;
        // Patches that touch at rest are one piece of cloth: smooth together, they do not meet.
        strangers || apart > 1e-6 || join_cones(p, q).1 > limits::FLAT_SPREAD
    }

    fn visit(&self, a: u32, b: u32, reach: f32, dt: f32, each: &mut impl FnMut(u32, u32)) {
        if self.patches[a as usize].child == 0 && self.patches[b as usize].child == 0 {
            if self.may_meet(a, b, reach, dt) {
                for (k, &s) in self.triangles(a).iter().enumerate() {
                    // A leaf with itself: layers that lie close at rest can share one.
                    let first = if a == b { k + 1 } else { 0 };
                    for &t in &self.triangles(b)[first..] {
                        each(s, t);
                    }
                }
            }
            return;
        }
        // A fixed array instead of a list: at most three children's pairs.
        let mut children = [(0, 0); 3];
        let mut count = 0;
        self.open(a, b, reach, dt, &mut |x, y| {
            children[count] = (x, y);
            count += 1;
        });
        for &(x, y) in &children[..count] {
            self.visit(x, y, reach, dt, each);
        }
    }

    fn triangles(&self, patch: u32) -> &[u32] {
        let Patch { first, count, .. } = self.patches[patch as usize];
        &self.order[first as usize..(first + count) as usize]
    }
}

fn fit_leaf(
    patch: &mut Patch,
    order: &[u32],
    triangles: &[[u32; 3]],
    positions: &[DVec3],
    velocities: &[DVec3],
) {
    let range = patch.first as usize..(patch.first + patch.count) as usize;
    (patch.now, patch.velocity) = (Bounds::EMPTY, Bounds::EMPTY);
    let mut normals = [Vec3::ZERO; LEAF];
    for (k, &t) in order[range].iter().enumerate() {
        let corners = triangles[t as usize].map(|n| n as usize);
        for n in corners {
            patch.now = patch.now.including(positions[n].as_vec3());
            patch.velocity = patch.velocity.including(velocities[n].as_vec3());
        }
        let [a, b, c] = corners.map(|n| positions[n]);
        normals[k] = (b - a).cross(c - a).as_vec3().normalize_or_zero();
    }
    let normals = &normals[..patch.count as usize];
    patch.axis = normals.iter().sum::<Vec3>().normalize_or(Vec3::Y);
    let least = normals.iter().map(|n| n.dot(patch.axis)).fold(1.0, f32::min);
    patch.spread = least.clamp(-1.0, 1.0).acos();
}

/// Cone that holds two cones.
fn join_cones(a: &Patch, b: &Patch) -> (Vec3, f32) {
    let axis = (a.axis + b.axis).normalize_or(a.axis);
    let angle = |p: &Patch| axis.dot(p.axis).clamp(-1.0, 1.0).acos() + p.spread;
    (axis, angle(a).max(angle(b)))
}
