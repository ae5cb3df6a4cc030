//! Surfaces that go through nothing: what rims, creases and contacts have drawn too far goes back.

use glam::Vec3;
use rayon::prelude::*;

use super::label::LabelField;
use super::meshes::SurfaceMeshes;
use super::tool::Tools;
use crate::geometry::TriangleBvh;
use crate::geometry::isosurface::IsoSurface;
use crate::tolerances::soft as tolerances;

/// Edges that one task looks at: tasks are the same whatever the number of threads.
const TASK: usize = 256;

/// What is near contacts and creases, all surfaces together; points that surfaces share are one.
#[derive(Default)]
pub(super) struct Tangle {
    /// Whether something may go through something at a vertex.
    near: Vec<bool>,
    /// Where every vertex was before it was drawn to a contact, rim or crease [m].
    pub(super) before: Vec<Vec3>,
    /// Middle of each vertex's cube, and the mean of the edges that its sheet crosses there [m].
    safe: [Vec<Vec3>; 2],
    /// Where every point was drawn to, and where it is now [m].
    drawn: Vec<Vec3>,
    places: Vec<Vec3>,
    /// How often a point has gone back.
    backs: Vec<u8>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
}

impl SurfaceMeshes {
    /// Takes points back, step by step, until no edge goes through a triangle: first to where the extraction had put
    /// them, then to the mean of the lattice's edges that are crossed there, at last to the middle of their cube. With
    /// all of them there nothing crosses.
    pub(super) fn untangle(&mut self, tools: Tools<'_>, cell: f32) {
        let mut tangle = std::mem::take(&mut self.tangle);
        self.gather_near(tools, &mut tangle);
        if !tangle.triangles.is_empty() {
            let mut tree = TriangleBvh::build(&tangle.places, &tangle.triangles);
            for round in 0..tolerances::UNTANGLE_ROUNDS {
                let crossed = tangle.crossed(&tree, tolerances::CROSSED_CELLS * cell);
                if crossed.is_empty() {
                    break;
                }
                // Most frames have nothing crossed: the ways back are looked for only when they are needed.
                if round == 0 {
                    self.find_ways_back(cell, &mut tangle);
                }
                crossed.iter().for_each(|&v| tangle.go_back(v as usize));
                tree.refit(&tangle.places);
            }
            self.put_back(&tangle);
        }
        self.tangle = tangle;
    }

    /// Finds the triangles near contacts and creases, and their edges.
    fn gather_near(&self, tools: Tools<'_>, tangle: &mut Tangle) {
        let Tangle { near, places, triangles, edges, backs, .. } = tangle;
        triangles.clear();
        edges.clear();
        places.clear();
        backs.clear();
        for (label, surface) in self.surfaces.iter().enumerate() {
            let field = LabelField { field: &self.field, label: label as u32, tools };
            near.clear();
            near.resize(surface.positions.len(), false);
            mark_folded(surface, near);
            // Where all fields add up nothing was drawn anywhere: a surface of the lattice alone does not cross itself. A
            // skin that touches itself has a crease of its own: what is folded there was drawn into it.
            surface.fill_by_block(near, |parts, _, near| {
                let is_near = field.may_crease(parts) || near.contains(&true);
                near.fill(is_near);
            });
            let wanted = surface.triangles.iter().filter(|t| t.iter().any(|&v| near[v as usize]));
            triangles.extend(wanted.map(|t| t.map(|v| self.root(label, v as usize) as u32)));
            places.extend_from_slice(&surface.positions);
        }
        backs.resize(places.len(), 0);
        for &[a, b, c] in triangles.iter() {
            edges.extend([(a, b), (b, c), (c, a)].map(|(a, b)| [a.min(b), a.max(b)]));
        }
        // Every edge once; two triangles share it.
        edges.sort_unstable();
        edges.dedup();
    }

    /// Where points were before, those that are shared in the mean.
    fn find_ways_back(&self, cell: f32, tangle: &mut Tangle) {
        tangle.drawn.clone_from(&tangle.places);
        tangle.safe.iter_mut().for_each(Vec::clear);
        self.surfaces.iter().for_each(|s| s.safe_places(cell, &mut tangle.safe));
        let mut sums = vec![(Vec3::ZERO, 0.0f32); tangle.before.len()];
        for (label, surface) in self.surfaces.iter().enumerate() {
            for v in 0..surface.positions.len() {
                let vertex = self.firsts[label] as usize + v;
                let sum = &mut sums[self.root(label, v)];
                *sum = (sum.0 + tangle.before[vertex], sum.1 + 1.0);
            }
        }
        for (before, (sum, count)) in tangle.before.iter_mut().zip(sums) {
            if count > 0.0 {
                *before = sum / count;
            }
        }
    }

    /// Writes points that have gone back into their surfaces.
    fn put_back(&mut self, tangle: &Tangle) {
        for label in 0..self.surfaces.len() {
            for v in 0..self.surfaces[label].positions.len() {
                let root = self.root(label, v);
                if tangle.backs[root] > 0 {
                    self.surfaces[label].positions[v] = tangle.places[root];
                }
            }
        }
    }
}

/// Marks the vertices of triangles that face away from where the surface does.
fn mark_folded(surface: &IsoSurface, folded: &mut [bool]) {
    let IsoSurface { positions, normals, triangles, .. } = surface;
    for t in triangles {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        let facing = (b - a).cross(c - a);
        if t.iter().any(|&v| facing.dot(normals[v as usize]) < 0.0) {
            t.iter().for_each(|&v| folded[v as usize] = true);
        }
    }
}

impl Tangle {
    /// Points of edges and triangles that go through each other, ascending. What only touches does not: both ends of
    /// an edge are more than `deeper` [m] from the triangle's plane.
    fn crossed(&self, tree: &TriangleBvh, deeper: f32) -> Vec<u32> {
        let look = |edges: &[[u32; 2]]| {
            let mut found = Vec::new();
            for &[from, to] in edges {
                let (a, b) = (self.places[from as usize], self.places[to as usize]);
                tree.raycast_all(a, b - a, |t, s| {
                    let corners = tree.triangle(t);
                    let across = (b - a).dot(tree.face_normal(t)).abs();
                    // A triangle at whose corner an edge ends is touched there by necessity.
                    let own = corners.contains(&from) || corners.contains(&to);
                    if !own && across * s.min(1.0 - s) > deeper {
                        found.extend([from, to]);
                        found.extend(corners);
                    }
                });
            }
            found
        };
        let mut crossed: Vec<u32> = self.edges.par_chunks(TASK).flat_map_iter(look).collect();
        crossed.sort_unstable();
        crossed.dedup();
        crossed
    }

    /// Takes a point a step further back.
    fn go_back(&mut self, point: usize) {
        let [center, mean] = [0, 1].map(|k| self.safe[k][point]);
        let ways = [self.drawn[point], self.before[point], mean, center];
        let step = &mut self.backs[point];
        // All the way back after twelve: it stays there, whatever still crosses.
        *step = step.saturating_add(1);
        let gone = f32::from(*step) / tolerances::STEPS_BACK;
        let leg = (gone as usize).min(2);
        self.places[point] = ways[leg].lerp(ways[leg + 1], (gone - leg as f32).min(1.0));
    }
}
