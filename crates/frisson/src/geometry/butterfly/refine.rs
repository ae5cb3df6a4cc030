//! A refined set of triangles: which points it has, and where each of them is found.

use super::MAX_LEVEL;
use super::cascade::Cascade;
use super::level::{LevelMesh, Points, expand};
use super::stencils::Stencils;
use crate::geometry::{NONE, Topology};

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
            // Three triangles on an edge have no inside to interpolate: the triangle stays coarse, and is reported.
            if !edges.iter().all(sound) {
                refined.left_out.push(t as u32);
                continue;
            }
            let level = level.min(MAX_LEVEL);
            refined.levels[t] = level;
            for e in edges {
                let known = &mut refined.edge_levels[e as usize];
                // The finer of the two sides decides: the coarser one takes those points when it is emitted.
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
            // Points of a lattice of n on a side that are on no side of it.
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
            // Two coordinates zero: a corner, which is a coarse point.
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
            // A point on an edge may be noted by both triangles: it gets one number.
            let known = &mut number[*slot as usize];
            if *known == NONE {
                *known = self.stencils.count() as u32;
                self.stencils.push(&points.stencils[*slot as usize]);
            }
            *slot = *known;
        }
        self.cascade = Cascade::new(points.coarse, &points.rules, &points.levels, &number);
        self.places =
            vec![Place { triangle: 0, barycentric: [1.0, 0.0, 0.0] }; self.stencils.count()];
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
        self.stencils.count()
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
