//! The refined mesh over points, as drawn: members of folds, their stretch terms and edges.

use glam::Vec3;

use super::params::{Fold, RestSurface};
use super::rest::{FoldEdge, FoldRest, StretchTerm};
use super::section::Sections;
use super::surface_curve::{SurfaceCurve, seeds, settle_distance};
use crate::geometry::butterfly::{Emission, Refined};
use crate::geometry::{NONE, Topology, TriangleBvh, march_geodesic};

/// The refined mesh over points, as drawn.
pub(super) struct FineMesh<'a> {
    coarse: &'a Topology,
    refined: &'a Refined,
    topology: Topology,
    surface: TriangleBvh,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl<'a> FineMesh<'a> {
    /// Refines places and normals of the coarse points.
    pub fn new(
        coarse: &'a Topology,
        refined: &'a Refined,
        emission: &Emission,
        mut positions: Vec<Vec3>,
    ) -> Self {
        let count = coarse.point_count();
        let vertices = coarse.point_of_vertex.len();
        let point = |v: u32| match (v as usize).checked_sub(vertices) {
            None => coarse.point_of_vertex[v as usize],
            Some(new) => count as u32 + emission.vertices[new].point,
        };
        let triangles: Vec<[u32; 3]> = emission.triangles.iter().map(|t| t.map(point)).collect();
        let normals: Vec<Vec3> =
            (0..count as u32).map(|p| coarse.point_normal(&positions, p)).collect();
        let mut fine_normals = normals.clone();
        let refined_positions: Vec<Vec3> =
            (0..refined.point_count()).map(|i| refined.stencils.evaluate(i, &positions)).collect();
        fine_normals.extend(
            (0..refined.point_count())
                .map(|i| refined.stencils.evaluate(i, &normals).normalize_or(Vec3::Y)),
        );
        positions.extend(refined_positions);
        // Points are welded already; welding again would join layers that lie on each other.
        let topology = Topology::unwelded(positions.len(), &triangles);
        let surface = TriangleBvh::build(&positions, &triangles);
        Self { coarse, refined, topology, surface, positions, normals: fine_normals }
    }

    /// Lays one fold on the mesh.
    pub fn lay(&self, fold: &Fold, curve: &SurfaceCurve, mask: &[f32]) -> FoldRest {
        let near =
            |p: &Vec3| self.surface.closest_point(*p, f32::INFINITY).map_or(0, |h| h.triangle);
        // Of the refined mesh: the curve was found on the coarse one.
        let triangles: Vec<u32> = curve.places.iter().map(near).collect();
        let corners = |t: u32| self.topology.triangles[t as usize];
        let seeds = seeds(curve, corners, &self.positions, &triangles);
        let place = |p: u32| self.positions[p as usize];
        let (distances, labels) =
            // A little beyond the width: marched distances err by a percent or two, and are corrected below.
            march_geodesic(&self.topology, place, &seeds, 1.1 * f64::from(fold.width));
        let distances: Vec<f32> = (0..self.positions.len())
            .map(|p| settle_distance(self.positions[p], distances[p], labels[p], curve))
            .collect();
        let inside = |p: &u32| distances[*p as usize] < fold.width;
        let mut points: Vec<u32> = (0..self.positions.len() as u32).filter(inside).collect();
        let sections_of = |points: &[u32]| {
            let labels: Vec<u32> = points.iter().map(|&p| labels[p as usize]).collect();
            Sections::new(fold, &curve.places, &labels)
        };
        // A frame reads refined points four at a time, and sums them up by section.
        // Made twice: members are sorted by their section, and the second one counts them in that order.
        let sections = sections_of(&points);
        let mut order: Vec<(bool, u32, u32)> = (0..points.len())
            .map(|m| (self.is_coarse(points[m]), sections.section_of(m), points[m]))
            .collect();
        order.sort_unstable();
        points.clear();
        points.extend(order.iter().map(|o| o.2));
        let sections = sections_of(&points);
        let mut rest = FoldRest { points, sections, ..FoldRest::default() };
        rest.term_offsets.push(0);
        rest.edge_offsets.push(0);
        for &p in &rest.points {
            let x = distances[p as usize] / fold.width;
            let height = fold.amplitude * fold.attenuation.at(x) * self.mask(mask, p);
            rest.heights.push(height);
        }
        // Heights of all members first: an edge compares those of both its ends.
        let mut member_of = vec![NONE; self.positions.len()];
        for (m, &p) in (0u32..).zip(&rest.points) {
            member_of[p as usize] = m;
        }
        for m in 0..rest.points.len() {
            let p = rest.points[m];
            let tangent = curve.tangents[labels[p as usize] as usize];
            // A fold flattens by what happens across it; along it the mesh may stretch as it likes.
            let across = self.normals[p as usize].cross(tangent).normalize_or(Vec3::X);
            self.push_terms(p, across, &mut rest.terms);
            rest.term_offsets.push(rest.terms.len() as u32);
            self.push_edges(fold.r0_on, &member_of, &mut rest);
        }
        rest
    }

    fn is_coarse(&self, point: u32) -> bool {
        (point as usize) < self.coarse.point_count()
    }

    fn mask(&self, mask: &[f32], point: u32) -> f32 {
        let of_coarse = |p: u32| {
            let vertex = self.coarse.vertex_of_point[p as usize] as usize;
            mask.get(vertex).copied().unwrap_or(1.0)
        };
        match (point as usize).checked_sub(self.coarse.point_count()) {
            None => of_coarse(point),
            Some(i) => {
                let at = self.refined.places[i];
                let corners = self.coarse.triangles[at.triangle as usize];
                corners.iter().zip(at.barycentric).map(|(&c, w)| w * of_coarse(c)).sum()
            }
        }
    }

    /// Expresses the unit direction across the fold in the coarse triangles around a point.
    fn push_terms(&self, point: u32, across: Vec3, out: &mut Vec<StretchTerm>) {
        let one;
        // A corner has several triangles and takes the mean over them, so that no step shows from one to the next.
        let triangles = match (point as usize).checked_sub(self.coarse.point_count()) {
            None => self.coarse.point_triangles(point),
            Some(i) => {
                one = [self.refined.places[i].triangle];
                &one[..]
            }
        };
        for &triangle in triangles {
            let [a, b, c] =
                self.coarse.triangles[triangle as usize].map(|p| self.positions[p as usize]);
            let (e1, e2) = (b - a, c - a);
            let normal = e1.cross(e2);
            // The smooth normal leans against the triangle's own: only what lies in the triangle can be measured by its edges.
            let flat = across - normal * (normal.dot(across) / normal.length_squared().max(1e-20));
            let Some(flat) = flat.try_normalize() else { continue };
            let (d11, d12, d22) = (e1.dot(e1), e1.dot(e2), e2.dot(e2));
            let determinant = d11 * d22 - d12 * d12;
            // Without an area it knows no direction; the other triangles of the point answer.
            if determinant <= 0.0 {
                continue;
            }
            let (f1, f2) = (flat.dot(e1), flat.dot(e2));
            out.push(StretchTerm {
                triangle,
                first: (d22 * f1 - d12 * f2) / determinant,
                second: (d11 * f2 - d12 * f1) / determinant,
            });
        }
    }

    /// Adds the edges of the next member: those around it, and how much longer the fold makes each.
    fn push_edges(&self, surface: RestSurface, member_of: &[u32], rest: &mut FoldRest) {
        let member = rest.edge_offsets.len() - 1;
        let (p, height) = (rest.points[member], rest.heights[member]);
        for q in self.topology.neighbours(p) {
            let other = member_of[q as usize];
            let other_height = rest.heights.get(other as usize).copied().unwrap_or(0.0);
            let length = self.positions[p as usize].distance(self.positions[q as usize]);
            let folded = match surface {
                RestSurface::Flat => length.hypot(height - other_height),
                RestSurface::Base => {
                    let lifted =
                        |x: u32, h: f32| self.positions[x as usize] + h * self.normals[x as usize];
                    lifted(p, height).distance(lifted(q, other_height))
                }
            };
            rest.edges.push(FoldEdge {
                other,
                other_point: q,
                r0: if length > 0.0 { folded / length } else { 1.0 },
                rest: length,
            });
        }
        rest.edge_offsets.push(rest.edges.len() as u32);
    }
}
