//! Contact surfaces that two bodies share, vertex by vertex, and the rims where their free surfaces meet.

use glam::Vec3;

use super::label::LabelField;
use super::meshes::SurfaceMeshes;
use super::tool::Tools;
use crate::geometry::isosurface::CrossedEdge;

/// A vertex that may lie on the rim of a contact.
#[derive(Clone, Copy, Default)]
struct RimVertex {
    /// Labels that meet there, as bits; none: it does not.
    others: u64,
    /// Where that is, and the normal there.
    line: Option<(Vec3, Vec3)>,
}

/// Distance from another body's surface within which a vertex lies on it, in cells [-].
const NEAR: f32 = 0.02;

/// Distance from a rim within which a vertex is drawn to it although its body touches no other there, in cells [-]:
/// then the last vertex of the contact is not far from it either.
const ON_RIM: f32 = 0.6;

/// Whether a vertex lies on the free surface of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Free {
    /// Another body is there.
    No,
    /// It does, and the rim is near.
    Rim,
    /// It does.
    Yes,
    /// It does, and the lattice took it for a contact.
    LetGo,
}

/// A cube of the lattice that has one vertex of a label: its number, the label, the vertex.
type CubeVertex = (u64, usize, usize);

impl SurfaceMeshes {
    /// Where one body's inside borders on another's, both have the same lattice edge crossed, in
    /// opposite senses: the vertices around it become the same points. On the contact surface they
    /// are all but equal; at its rim, where the outside meets both, they are near. Beyond the rim the gap may
    /// be narrower than a cell, with no point of the lattice in it: there each body keeps its own.
    pub(super) fn share_vertices(&mut self, tools: Tools<'_>, cell: f32) {
        let mut next = 0;
        self.firsts.clear();
        self.edges.clear();
        for (label, surface) in self.surfaces.iter().enumerate() {
            self.firsts.push(next);
            let first_edge = self.edges.len();
            let meets_others = |parts: &[u32]| self.field.meets_bodies(label as u32, parts);
            surface.crossed_edges(meets_others, &mut self.edges);
            for edge in &mut self.edges[first_edge..] {
                edge.vertices = edge.vertices.map(|v| v + next);
            }
            next += surface.positions.len() as u32;
        }
        self.firsts.push(next);
        // By the lattice's edge: the two bodies on its ends come to lie beside each other.
        self.edges.sort_unstable();
        self.same.reset(next as usize);
        self.find_free(tools, cell);
        let both_sides =
            |p: &[CrossedEdge]| p[0].key == p[1].key && p[0].low_end_inside != p[1].low_end_inside;
        for pair in self.edges.windows(2).filter(|p| both_sides(p)) {
            for (a, b) in pair[0].vertices.into_iter().zip(pair[1].vertices) {
                // A vertex near the rim is no longer in the contact, and yet must be shared, or the rim would open.
                let off = |v: u32| matches!(self.free[v as usize], Free::Yes | Free::LetGo);
                let (free_a, free_b) = (off(a), off(b));
                if free_a && free_b {
                    (self.free[a as usize], self.free[b as usize]) = (Free::LetGo, Free::LetGo);
                } else {
                    self.same.join(a, b);
                }
            }
        }
        self.shared_points.clear();
        self.shared_points.resize(next as usize, (Vec3::ZERO, 0));
        for (label, surface) in self.surfaces.iter().enumerate() {
            for (v, position) in surface.positions.iter().enumerate() {
                let sum =
                    &mut self.shared_points[self.same.root(self.firsts[label] + v as u32) as usize];
                *sum = (sum.0 + *position, sum.1 + 1);
            }
        }
        for (label, surface) in self.surfaces.iter_mut().enumerate() {
            for (v, position) in surface.positions.iter_mut().enumerate() {
                let (sum, count) =
                    self.shared_points[self.same.root(self.firsts[label] + v as u32) as usize];
                // Alone it stays where it is to the bit: a mean of one would round.
                if count > 1 {
                    *position = sum / count as f32;
                }
            }
        }
    }

    /// Finds the vertices that lie on the free surface of their body, off all others and off the rim.
    fn find_free(&mut self, tools: Tools<'_>, cell: f32) {
        self.free.clear();
        for (label, surface) in self.surfaces.iter().enumerate() {
            let first = self.free.len();
            self.free.resize(first + surface.positions.len(), Free::No);
            let field = LabelField { field: &self.field, label: label as u32, tools };
            surface.fill_by_block(&mut self.free[first..], |parts, positions, free| {
                if !self.field.meets_bodies(label as u32, parts) {
                    return;
                }
                for (free, &at) in free.iter_mut().zip(positions) {
                    let (away, other) = self.field.others_away(label as u32, parts, at);
                    if away <= NEAR * cell {
                        continue;
                    }
                    let rim = field.onto_rim(parts, at, cell, 1 << (other % 64));
                    let near = rim.is_some_and(|(rim, _)| rim.distance(at) < ON_RIM * cell);
                    // Bulges close the gap beside a contact.
                    let stays = near || self.field.most_bulge > 0.0;
                    *free = if stays { Free::Rim } else { Free::Yes };
                }
            });
        }
    }

    /// Puts the rim of every contact, which the bodies on both sides share, onto the line where their
    /// free surfaces meet.
    pub(super) fn draw_rims(&mut self, tools: Tools<'_>, cell: f32) {
        // Who shares each point, as bits.
        let mut sharers = vec![0u64; self.shared_points.len()];
        for (label, surface) in self.surfaces.iter().enumerate() {
            for v in 0..surface.positions.len() {
                sharers[self.root(label, v)] |= 1 << (label % 64);
            }
        }
        let mut moved: Vec<Option<Vec3>> = vec![None; self.shared_points.len()];
        for label in 0..self.surfaces.len() {
            let count = self.surfaces[label].positions.len();
            let shared: Vec<bool> = (0..count).map(|v| self.is_shared(label, v)).collect();
            let mut rims = vec![RimVertex::default(); count];
            for t in &self.surfaces[label].triangles {
                let [a, b, c] = t.map(|v| v as usize);
                for (rim, free) in [(a, b), (b, a), (b, c), (c, b), (c, a), (a, c)] {
                    // The last that is shared before one that is not: the rim runs through it.
                    if shared[rim] && !shared[free] {
                        rims[rim].others = sharers[self.root(label, rim)];
                    }
                }
            }
            self.find_rim(tools, label, cell, &mut rims);
            for (v, rim) in rims.iter().enumerate() {
                let Some((at, normal)) = rim.line else { continue };
                // Whoever came first has said where it is.
                let root = self.root(label, v);
                self.surfaces[label].positions[v] = *moved[root].get_or_insert(at);
                self.surfaces[label].normals[v] = normal;
            }
        }
        // Also where one body's rim is another's inner contact.
        for label in 0..self.surfaces.len() {
            for v in 0..self.surfaces[label].positions.len() {
                if let Some(at) = moved[self.root(label, v)] {
                    self.surfaces[label].positions[v] = at;
                }
            }
        }
    }

    /// Where a rim passes through a cube of the lattice in which no edge goes from one body into the other,
    /// they share no vertex and the rim would have a notch: their vertices of that cube go to the same
    /// place on it.
    pub(super) fn close_rims(&mut self, tools: Tools<'_>, cell: f32) {
        let (mut cubes, mut here) = (Vec::new(), Vec::new());
        for (label, surface) in self.surfaces.iter().enumerate() {
            here.clear();
            surface.single_cubes(|parts| self.field.meets_bodies(label as u32, parts), &mut here);
            cubes.extend(here.iter().map(|&(key, v)| (key, label, v as usize)));
        }
        cubes.sort_unstable();
        let runs = || cubes.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1);
        let bit = |label: usize| 1u64 << (label % 64);
        let mut rims: Vec<Vec<RimVertex>> = Vec::new();
        for (label, surface) in self.surfaces.iter().enumerate() {
            let mut of_label = vec![RimVertex::default(); surface.positions.len()];
            for run in runs() {
                let let_go =
                    |c: &CubeVertex| self.free[self.firsts[c.1] as usize + c.2] == Free::LetGo;
                let alone =
                    |c: &&CubeVertex| c.1 == label && !self.is_shared(c.1, c.2) && !let_go(c);
                for c in run.iter().filter(alone) {
                    of_label[c.2].others = run.iter().fold(0, |m, o| m | bit(o.1));
                }
            }
            self.find_rim(tools, label, cell, &mut of_label);
            rims.push(of_label);
        }
        let mut moves: Vec<(CubeVertex, CubeVertex, Vec3, Vec3)> = Vec::new();
        for run in runs() {
            let line = |c: &CubeVertex| rims[c.1][c.2].line;
            let alone = run.iter().filter(|c| line(c).is_some()).count();
            // One body alone has nobody to meet.
            let first = run.iter().find(|c| line(c).is_some()).filter(|_| alone > 1);
            let shared = run.iter().find(|c| self.is_shared(c.1, c.2));
            let Some(&met) = shared.or(first) else { continue };
            let place = match line(&met) {
                Some((at, _)) => at,
                None => self.surfaces[met.1].positions[met.2],
            };
            for c in run {
                let Some((at, normal)) = line(c) else { continue };
                let from = self.surfaces[c.1].positions[c.2];
                // Less than a cell: a vertex drawn further would pull its triangles over those of the next cube.
                if at.distance(place).max(from.distance(place)) < 0.7 * cell {
                    moves.push((*c, met, place, normal));
                }
            }
        }
        for &((_, label, v), met, place, normal) in &moves {
            self.surfaces[label].positions[v] = place;
            self.surfaces[label].normals[v] = normal;
            self.same.join(self.firsts[label] + v as u32, self.firsts[met.1] + met.2 as u32);
        }
        for ((_, label, v), met, ..) in moves.into_iter().filter(|(c, met, ..)| c != met) {
            let root = self.root(label, v);
            self.shared_points[root].1 = 2;
            // Who was to be met may have stayed where it was.
            let place = self.surfaces[label].positions[v];
            self.surfaces[met.1].positions[met.2] = place;
        }
    }

    /// Finds the rim for the vertices of a label that have others to meet.
    fn find_rim(&self, tools: Tools<'_>, label: usize, cell: f32, rims: &mut [RimVertex]) {
        let field = LabelField { field: &self.field, label: label as u32, tools };
        self.surfaces[label].fill_by_block(rims, |parts, positions, rims| {
            for (rim, at) in rims.iter_mut().zip(positions).filter(|(r, _)| r.others != 0) {
                rim.line = field.onto_rim(parts, *at, cell, rim.others);
            }
        });
    }

    /// The first of the vertices of all labels that are the same point as a label's vertex.
    pub(super) fn root(&self, label: usize, vertex: usize) -> usize {
        self.same.root(self.firsts[label] + vertex as u32) as usize
    }

    /// Whether a vertex of a label is also another label's.
    pub(super) fn is_shared(&self, label: usize, vertex: usize) -> bool {
        let Some(first) = self.firsts.get(label) else { return false };
        let root = self.same.root(first + vertex as u32);
        self.shared_points[root as usize].1 > 1
    }

    /// Whether a vertex is shared with a label before its own.
    pub(super) fn is_anothers(&self, label: usize, vertex: u32) -> bool {
        self.firsts.get(label).is_some_and(|first| self.same.root(first + vertex) < *first)
    }
}
