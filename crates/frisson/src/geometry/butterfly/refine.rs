//! Stencils of all points inside some triangles, level by level.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::MAX_LEVEL;
use super::cascade::Cascade;
use super::rules::{Stencil, compute_edge_stencil};
use crate::geometry::{NONE, Topology};

/// Linear combinations of coarse points, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stencils {
    offsets: Vec<u32>,
    points: Vec<u32>,
    weights: Vec<f64>,
    /// The same side by side, for the per-frame product.
    terms: Vec<(u32, f32)>,
}

impl Stencils {
    pub(super) fn push(&mut self, stencil: &[(u32, f64)]) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        for &(point, weight) in stencil {
            self.points.push(point);
            self.weights.push(weight);
            self.terms.push((point, weight as f32));
        }
        self.offsets.push(self.points.len() as u32);
    }

    /// Number of stencils.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Coarse points and weights of one stencil.
    pub fn of(&self, index: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[index] as usize..self.offsets[index + 1] as usize;
        self.points[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// One combination of per-point vectors.
    #[must_use]
    pub fn evaluate(&self, index: usize, values: &[Vec3]) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for &(point, weight) in self.terms_of(index) {
            sum += weight * values[point as usize];
        }
        sum
    }

    fn terms_of(&self, index: usize) -> &[(u32, f32)] {
        &self.terms[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    /// One combination of per-point pairs of vectors: positions and normals in one pass.
    #[must_use]
    #[inline]
    pub fn evaluate_pair(&self, index: usize, values: &[[Vec3A; 2]]) -> [Vec3A; 2] {
        let terms = self.terms_of(index);
        // The rule of regular edges, by far the most frequent, without a loop.
        match <&[(u32, f32); 8]>::try_from(terms) {
            Ok(eight) => combine(eight, values),
            Err(_) => combine(terms, values),
        }
    }

    /// All combinations at once, in parallel.
    pub fn evaluate_all(&self, values: &[Vec3], out: &mut Vec<Vec3>) {
        out.resize(self.len(), Vec3::ZERO);
        out.par_iter_mut()
            .with_min_len(1024)
            .enumerate()
            .for_each(|(index, value)| *value = self.evaluate(index, values));
    }
}

/// Sums of weighted pairs. Two sums, so that the processor need not wait for one addition to start the
/// next.
#[inline(always)]
fn combine(terms: &[(u32, f32)], values: &[[Vec3A; 2]]) -> [Vec3A; 2] {
    let (mut even, mut odd) = ([Vec3A::ZERO; 2], [Vec3A::ZERO; 2]);
    let add = |sum: &mut [Vec3A; 2], &(point, weight): &(u32, f32)| {
        let [a, b] = values[point as usize];
        sum[0] += weight * a;
        sum[1] += weight * b;
    };
    let pairs = terms.chunks_exact(2);
    pairs.remainder().iter().for_each(|t| add(&mut even, t));
    for pair in pairs {
        add(&mut even, &pair[0]);
        add(&mut odd, &pair[1]);
    }
    [even[0] + odd[0], even[1] + odd[1]]
}

/// Where a refined point lies in the coarse mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// A coarse triangle that holds it.
    pub triangle: u32,
    /// Its barycentric coordinates there.
    pub barycentric: [f32; 3],
}

/// Everything about a refined set of coarse triangles that does not change as they move.
#[derive(Clone, Debug, Default)]
pub struct Refined {
    /// Level of each coarse triangle, 0 where it stays as it is.
    pub levels: Vec<u8>,
    /// Stencils of the refined points, over the coarse topology's points.
    pub stencils: Stencils,
    /// The same, level by level: what a frame evaluates.
    pub cascade: Cascade,
    /// Where each refined point lies.
    pub places: Vec<Place>,
    /// Triangles that were asked for and left out: not manifold, or degenerate.
    pub left_out: Vec<u32>,
    /// Level of each coarse edge that has refined points, 0 elsewhere.
    pub(super) edge_levels: Vec<u8>,
    /// First refined point of each edge in `edge_points`; [`NONE`] without any.
    edge_starts: Vec<u32>,
    edge_points: Vec<u32>,
    triangle_starts: Vec<u32>,
    triangle_points: Vec<u32>,
}

/// A triangle at some level: corners as points of that level, and where they lie in the lattice of
/// its coarse triangle.
#[derive(Clone, Copy)]
struct SubTriangle {
    coarse: u32,
    corners: [u32; 3],
    /// Lattice coordinates (towards corner 1, towards corner 2) of each corner, at this level.
    lattice: [[u32; 2]; 3],
}

/// Points of all levels while they are being made. Coarse points come first, then refined ones.
struct Points {
    coarse: usize,
    stencils: Vec<Stencil>,
    /// How each was made from coarse and earlier points.
    rules: Vec<Stencil>,
    /// Points there are after each level.
    levels: Vec<usize>,
}

impl Points {
    /// Appends the combination of already known points.
    fn push_combined(&mut self, rule: &[(u32, f64)], scratch: &mut Stencil) -> u32 {
        scratch.clear();
        for &(point, weight) in rule {
            match (point as usize).checked_sub(self.coarse) {
                None => scratch.push((point, weight)),
                Some(refined) => {
                    scratch.extend(self.stencils[refined].iter().map(|&(p, w)| (p, w * weight)));
                }
            }
        }
        scratch.sort_by_key(|&(p, _)| p);
        let mut merged: Stencil = Vec::with_capacity(scratch.len());
        for &(p, w) in scratch.iter() {
            match merged.last_mut() {
                Some(last) if last.0 == p => last.1 += w,
                _ => merged.push((p, w)),
            }
        }
        merged.retain(|&(_, w)| w != 0.0);
        self.stencils.push(merged);
        self.rules.push(rule.to_vec());
        (self.coarse + self.stencils.len() - 1) as u32
    }
}

impl Refined {
    /// Refines every coarse triangle to its level (capped at [`MAX_LEVEL`]).
    #[must_use]
    pub fn build(topology: &Topology, levels: &[u8]) -> Self {
        let mut refined = Self::prepare(topology, levels);
        let deepest = refined.levels.iter().copied().max().unwrap_or(0);
        let mut points = Points {
            coarse: topology.point_count(),
            stencils: Vec::new(),
            rules: Vec::new(),
            levels: Vec::new(),
        };
        let mut mesh = LevelMesh::coarse(topology, &refined.levels);
        for level in 1..=deepest {
            let needed = expand(topology, &refined.levels, level, deepest);
            mesh = mesh.subdivide(topology, &needed, &mut points);
            refined.register(topology, &mesh, level, &mut points);
            points.levels.push(points.stencils.len());
        }
        refined.finish(topology, &points);
        refined
    }

    fn prepare(topology: &Topology, levels: &[u8]) -> Self {
        let mut refined = Self {
            levels: vec![0; topology.triangles.len()],
            edge_levels: vec![0; topology.edges.len()],
            edge_starts: vec![NONE; topology.edges.len()],
            triangle_starts: vec![NONE; topology.triangles.len()],
            ..Self::default()
        };
        for (t, &level) in levels.iter().enumerate().filter(|(_, l)| **l > 0) {
            let edges = topology.triangle_edges[t];
            let sound = |e: &u32| *e != NONE && topology.edge_triangles(*e).len() <= 2;
            if !edges.iter().all(sound) {
                refined.left_out.push(t as u32);
                continue;
            }
            let level = level.min(MAX_LEVEL);
            refined.levels[t] = level;
            for e in edges {
                let known = &mut refined.edge_levels[e as usize];
                *known = (*known).max(level);
            }
        }
        refined.lay_out();
        refined
    }

    /// Reserves places for the points on edges and inside triangles.
    fn lay_out(&mut self) {
        for (e, &level) in self.edge_levels.iter().enumerate().filter(|(_, l)| **l > 0) {
            self.edge_starts[e] = self.edge_points.len() as u32;
            let inner = (1usize << level) - 1;
            self.edge_points.resize(self.edge_points.len() + inner, NONE);
        }
        for (t, &level) in self.levels.iter().enumerate().filter(|(_, l)| **l > 0) {
            self.triangle_starts[t] = self.triangle_points.len() as u32;
            let n = 1usize << level;
            let inner = (n - 1) * (n.max(2) - 2) / 2;
            self.triangle_points.resize(self.triangle_points.len() + inner, NONE);
        }
    }

    /// Notes the points that a level has made, at their place in the lattices.
    fn register(&mut self, topology: &Topology, mesh: &LevelMesh, level: u8, points: &mut Points) {
        for sub in &mesh.triangles {
            for (&corner, &[i, j]) in sub.corners.iter().zip(&sub.lattice) {
                if (corner as usize) < points.coarse {
                    continue;
                }
                if let Some(slot) = self.slot(topology, sub.coarse, level, i, j) {
                    *slot = corner - points.coarse as u32;
                }
            }
        }
    }

    /// Storage of a lattice point at some level, if that point is kept.
    fn slot(
        &mut self,
        topology: &Topology,
        triangle: u32,
        level: u8,
        i: u32,
        j: u32,
    ) -> Option<&mut u32> {
        let index = self.index(topology, triangle, level, i, j)?;
        Some(match index {
            Slot::Edge(k) => &mut self.edge_points[k],
            Slot::Inside(k) => &mut self.triangle_points[k],
        })
    }

    fn index(&self, topology: &Topology, triangle: u32, level: u8, i: u32, j: u32) -> Option<Slot> {
        let n = 1u32 << level;
        let k = n - i - j;
        let on_side = match (i, j, k) {
            _ if [i, j, k].iter().filter(|&&c| c == 0).count() > 1 => return None,
            (0, _, _) => Some((1, j)),
            (_, 0, _) => Some((2, i)),
            (_, _, 0) => Some((0, j)),
            _ => None,
        };
        if let Some((side, along)) = on_side {
            let edge = topology.triangle_edges[triangle as usize][side];
            let edge_level = self.edge_levels[edge as usize];
            if edge_level < level {
                return None;
            }
            // Counted from the edge's first end. Side 0 runs from corner 1, sides 1 and 2 from 0.
            let corners = topology.triangles[triangle as usize];
            let start = if side == 0 { corners[1] } else { corners[0] };
            let forward = topology.edges[edge as usize][0] == start;
            let along = if forward { along } else { n - along };
            let along = along << (edge_level - level);
            return Some(Slot::Edge((self.edge_starts[edge as usize] + along - 1) as usize));
        }
        let own = self.levels[triangle as usize];
        if own < level {
            return None;
        }
        let (i, j) = (i << (own - level), j << (own - level));
        let n = 1u32 << own;
        // Rows i = 1 .. n - 2, each with n - 1 - i inner points.
        let before = (i - 1) * (n - 1) - (i - 1) * i / 2;
        Some(Slot::Inside((self.triangle_starts[triangle as usize] + before + j - 1) as usize))
    }

    /// The refined point at a lattice place of a triangle, or a corner of the triangle. Nothing if
    /// that place was not refined.
    pub(super) fn point(
        &self,
        topology: &Topology,
        triangle: u32,
        level: u8,
        i: u32,
        j: u32,
    ) -> Option<Corner> {
        let n = 1u32 << level;
        match (i, j) {
            (0, 0) => return Some(Corner::Coarse(0)),
            _ if i == n => return Some(Corner::Coarse(1)),
            _ if j == n => return Some(Corner::Coarse(2)),
            _ => {}
        }
        // The level at which the point first appears.
        let shift = (i | j).trailing_zeros().min(u32::from(level));
        let own = level - shift as u8;
        let point = match self.index(topology, triangle, own, i >> shift, j >> shift)? {
            Slot::Edge(k) => self.edge_points[k],
            Slot::Inside(k) => self.triangle_points[k],
        };
        (point != NONE).then_some(Corner::Refined(point))
    }

    /// Keeps the points that were registered, numbered edge by edge and triangle by triangle.
    fn finish(&mut self, topology: &Topology, points: &Points) {
        let mut number = vec![NONE; points.stencils.len()];
        for slot in self.edge_points.iter_mut().chain(&mut self.triangle_points) {
            if *slot == NONE {
                continue;
            }
            let known = &mut number[*slot as usize];
            if *known == NONE {
                *known = self.stencils.len() as u32;
                self.stencils.push(&points.stencils[*slot as usize]);
            }
            *slot = *known;
        }
        self.cascade = Cascade::new(points.coarse, &points.rules, &points.levels, &number);
        self.places =
            vec![Place { triangle: 0, barycentric: [1.0, 0.0, 0.0] }; self.stencils.len()];
        for t in 0..self.levels.len() as u32 {
            if self.levels[t as usize] > 0 {
                self.place_points(topology, t);
            }
        }
    }

    fn place_points(&mut self, topology: &Topology, triangle: u32) {
        let level = self.levels[triangle as usize];
        let n = 1u32 << level;
        for i in 0..=n {
            for j in 0..=n - i {
                if let Some(Corner::Refined(point)) = self.point(topology, triangle, level, i, j) {
                    let (u, v) = (i as f32 / n as f32, j as f32 / n as f32);
                    self.places[point as usize] =
                        Place { triangle, barycentric: [1.0 - u - v, u, v] };
                }
            }
        }
    }

    /// Number of refined points.
    #[must_use]
    pub fn point_count(&self) -> usize {
        self.stencils.len()
    }
}

enum Slot {
    Edge(usize),
    Inside(usize),
}

/// A corner of an emitted triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Corner {
    /// Corner 0, 1 or 2 of the coarse triangle.
    Coarse(usize),
    /// A refined point.
    Refined(u32),
}

/// The part of the uniformly subdivided mesh that is needed at one level.
struct LevelMesh {
    triangles: Vec<SubTriangle>,
    /// `None` at level 0, where the coarse topology itself serves.
    local: Option<(Topology, Vec<u32>)>,
}

impl LevelMesh {
    fn coarse(topology: &Topology, levels: &[u8]) -> Self {
        let needed = expand(topology, levels, 1, 1.max(levels.iter().copied().max().unwrap_or(0)));
        let triangles = (0..topology.triangles.len())
            .filter(|&t| needed[t])
            .map(|t| SubTriangle {
                coarse: t as u32,
                corners: topology.triangles[t],
                lattice: [[0, 0], [1, 0], [0, 1]],
            })
            .collect();
        Self { triangles, local: None }
    }

    /// The next level of the triangles whose coarse triangle is needed there.
    fn subdivide(&self, coarse: &Topology, needed: &[bool], points: &mut Points) -> Self {
        let mut rule = Stencil::new();
        let mut scratch = Stencil::new();
        let (topology, global): (&Topology, Option<&[u32]>) = match &self.local {
            None => (coarse, None),
            Some((topology, global)) => (topology, Some(global)),
        };
        let mut middles = vec![NONE; topology.edges.len()];
        let mut triangles = Vec::with_capacity(4 * self.triangles.len());
        for (index, sub) in self.triangles.iter().enumerate() {
            if !needed[sub.coarse as usize] {
                continue;
            }
            let row = if global.is_some() { index } else { sub.coarse as usize };
            let edges = topology.triangle_edges[row];
            if edges.contains(&NONE) {
                continue;
            }
            for e in edges {
                if middles[e as usize] == NONE {
                    compute_edge_stencil(topology, e, &mut rule);
                    if let Some(global) = global {
                        rule.iter_mut().for_each(|(p, _)| *p = global[*p as usize]);
                    }
                    middles[e as usize] = points.push_combined(&rule, &mut scratch);
                }
            }
            split(sub, edges.map(|e| middles[e as usize]), &mut triangles);
        }
        let local = Some(connect(&triangles));
        Self { triangles, local }
    }
}

/// The four children of a triangle. `middles[k]` is opposite corner `k`.
fn split(sub: &SubTriangle, middles: [u32; 3], out: &mut Vec<SubTriangle>) {
    let [a, b, c] = sub.corners;
    let [la, lb, lc] = sub.lattice.map(|[i, j]| [2 * i, 2 * j]);
    let [bc, ca, ab] = middles;
    let mid = |p: [u32; 2], q: [u32; 2]| [u32::midpoint(p[0], q[0]), u32::midpoint(p[1], q[1])];
    let (lab, lbc, lca) = (mid(la, lb), mid(lb, lc), mid(lc, la));
    let mut push =
        |corners, lattice| out.push(SubTriangle { coarse: sub.coarse, corners, lattice });
    push([a, ab, ca], [la, lab, lca]);
    push([ab, b, bc], [lab, lb, lbc]);
    push([ca, bc, c], [lca, lbc, lc]);
    push([ab, bc, ca], [lab, lbc, lca]);
}

/// Topology of sub-triangles over local numbers, and the global point of each.
fn connect(triangles: &[SubTriangle]) -> (Topology, Vec<u32>) {
    let mut global: Vec<u32> = triangles.iter().flat_map(|t| t.corners).collect();
    global.sort_unstable();
    global.dedup();
    let local = |p: u32| global.partition_point(|&g| g < p) as u32;
    let rows: Vec<[u32; 3]> = triangles.iter().map(|t| t.corners.map(local)).collect();
    (Topology::unwelded(global.len(), &rows), global)
}

/// Coarse triangles that must be subdivided to this level: those that want it, and two rings around
/// those that want more, because stencils reach two edges of the level before (see the module).
fn expand(topology: &Topology, levels: &[u8], level: u8, deepest: u8) -> Vec<bool> {
    let mut needed: Vec<bool> = levels.iter().map(|&l| l >= level).collect();
    if level == deepest {
        return needed;
    }
    let mut marked = vec![false; topology.point_count()];
    for (t, corners) in topology.triangles.iter().enumerate() {
        if levels[t] > level {
            corners.iter().for_each(|&p| marked[p as usize] = true);
        }
    }
    for _ in 0..2 {
        let touched: Vec<usize> = (0..topology.triangles.len())
            .filter(|&t| topology.triangles[t].iter().any(|&p| marked[p as usize]))
            .collect();
        for t in touched {
            needed[t] = true;
            topology.triangles[t].iter().for_each(|&p| marked[p as usize] = true);
        }
    }
    needed
}
