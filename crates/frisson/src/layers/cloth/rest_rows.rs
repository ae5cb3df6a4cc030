//! The rows of the cloth: edges, hinges, shears and masses, from the mesh at rest.

use glam::DVec3;

use super::bend::{Hinge, angle_gradient, flat_weights};
use super::build_cloth::RestInput;
use super::local::{Bands, Local};
use super::params::{RestAngles, Threads};
use super::shear::Shear;
use super::stretch::Edge;
use super::strips::{Grouped, Strips, solving_order};
use crate::geometry::Topology;
use crate::tolerances::cloth as limits;

/// What rows are built from.
pub(super) struct RowBuilder<'a> {
    pub input: &'a RestInput<'a>,
    pub topology: &'a Topology,
    pub node_of_point: &'a [u32],
}

impl RowBuilder<'_> {
    fn place(&self, p: u32) -> DVec3 {
        self.input.positions[self.topology.vertex_of_point[p as usize] as usize].as_dvec3()
    }

    fn local(&self, p: u32) -> Local {
        let vertex = self.topology.vertex_of_point[p as usize] as usize;
        self.input.locals.get(vertex).copied().unwrap_or_default()
    }

    /// Heights of the contact band, as factors.
    pub(super) fn bands(&self, order: &[u32]) -> Bands {
        Bands::new(order.iter().map(|&p| self.local(p).thickness as f32).collect())
    }

    fn node(&self, p: u32) -> u32 {
        self.node_of_point[p as usize]
    }

    fn edge_area(&self, edge: u32, areas: &[f64]) -> f64 {
        self.topology.edge_triangles(edge).iter().map(|&t| areas[t as usize]).sum()
    }

    /// Edges in solving order.
    pub(super) fn edges(
        &self,
        areas: &[f64],
        strips: &Strips,
        levels: &[u32],
        warnings: &mut Vec<String>,
    ) -> Grouped<Edge> {
        let topology = self.topology;
        let mut edges = Vec::with_capacity(topology.edges.len());
        let mut branching = 0;
        for (index, &[p, q]) in topology.edges.iter().enumerate() {
            let index = index as u32;
            let [from, to] = [p, q].map(|p| self.local(p));
            let rest = 0.5 * (from.size + to.size) * self.place(p).distance(self.place(q));
            branching += usize::from(topology.edge_triangles(index).len() > 2);
            // An edge of shapeless triangles only: as one of a sliver of its own length.
            let area = self.edge_area(index, areas).max(limits::LEAST_AREA_SHARE * rest * rest);
            let modulus = 0.5 * (from.stretch + to.stretch) * self.edge_modulus(index);
            let compliance = 3.0 * rest * rest / (modulus * area);
            edges.push(Edge { nodes: [self.node(p), self.node(q)], rest, compliance });
        }
        if branching > 0 {
            warnings.push(format!(
                "{branching} edges have more than two triangles: the cloth stretches there as elsewhere, but does not resist bending"
            ));
        }
        let nodes: Vec<[u32; 2]> = edges.iter().map(|e| e.nodes).collect();
        let order = solving_order(strips, levels, &nodes);
        let sorted = order.iter().map(|&i| edges[i as usize]).collect();
        Grouped::build(strips, sorted, |e: &Edge| strips.of(e.nodes[0].min(e.nodes[1])))
    }

    /// Tensile modulus in the direction of an edge: that of an orthotropic sheet,
    /// `1/Y = c⁴/warp + s⁴/weft + c² s²/shear`, with the angle to the warp; the warp's without threads.
    fn edge_modulus(&self, edge: u32) -> f64 {
        let m = &self.input.moduli;
        if self.input.threads == Threads::None || self.input.uvs.is_empty() {
            return m.warp;
        }
        let [p, q] = self.topology.edges[edge as usize];
        let along = self.place(q) - self.place(p);
        let mut sum = (0.0, 0.0);
        for &t in self.topology.edge_triangles(edge) {
            if let Some((warp, weft)) = self.thread_axes(t) {
                sum.0 += along.dot(warp).powi(2);
                sum.1 += along.dot(weft).powi(2);
            }
        }
        let total = sum.0 + sum.1;
        if total <= 0.0 {
            return m.warp;
        }
        let (c2, s2) = (sum.0 / total, sum.1 / total);
        let shear = m.shear.max(limits::LEAST_SHEAR_SHARE * m.warp.min(m.weft));
        1.0 / (c2 * c2 / m.warp + s2 * s2 / m.weft + c2 * s2 / shear)
    }

    /// Unit directions of warp (u) and weft (across it, in the plane) of a triangle.
    fn thread_axes(&self, triangle: u32) -> Option<(DVec3, DVec3)> {
        let corners = self.input.triangles[triangle as usize];
        let [x0, x1, x2] = corners.map(|v| self.input.positions[v as usize].as_dvec3());
        let [t0, t1, t2] = corners.map(|v| self.input.uvs[v as usize].as_dvec2());
        let (e1, e2, f1, f2) = (x1 - x0, x2 - x0, t1 - t0, t2 - t0);
        let determinant = f1.perp_dot(f2);
        let warp = ((e1 * f2.y - e2 * f1.y) / determinant).try_normalize()?;
        let normal = e1.cross(e2).try_normalize()?;
        Some((warp, normal.cross(warp)))
    }

    /// Hinges between two triangles each, in solving order.
    pub(super) fn hinges(&self, areas: &[f64], strips: &Strips, levels: &[u32]) -> Grouped<Hinge> {
        let topology = self.topology;
        let mut hinges = Vec::new();
        for (index, &[p, q]) in topology.edges.iter().enumerate() {
            let &[t1, t2] = topology.edge_triangles(index as u32) else { continue };
            let area = areas[t1 as usize] + areas[t2 as usize];
            if areas[t1 as usize] <= 0.0
                || areas[t2 as usize] <= 0.0
                || self.input.moduli.bend <= 0.0
            {
                continue;
            }
            let opposite =
                |t: u32| topology.triangles[t as usize].into_iter().find(|&c| c != p && c != q);
            let (Some(c), Some(d)) = (opposite(t1), opposite(t2)) else { continue };
            if c == d {
                continue;
            }
            let points = [p, q, c, d];
            let x = points.map(|k| (self.place(k) - self.place(p)).as_vec3());
            let modelled = angle_gradient(x).map_or(0.0, |(angle, _)| angle);
            let rest = match self.input.rest_angles {
                RestAngles::Flat => 0.0,
                RestAngles::AsModelled => modelled,
            };
            let length_sq = self.place(p).distance_squared(self.place(q));
            // As stiff as its nodes are on average: a seam stiffens what runs along and across it.
            let stiffer = points.iter().map(|&k| self.local(k).bend).sum::<f64>() / 4.0;
            let ridge = [p, q].map(|k| topology.vertex_of_point[k as usize]);
            let rigidity = self.input.moduli.bend * stiffer + self.input.ridges.rigidity(ridge);
            let rigidity = rigidity.max(f64::MIN_POSITIVE);
            let compliance = area / (3.0 * length_sq * rigidity);
            let flat = flat_weights(points.map(|k| self.place(k)));
            let width = (area / length_sq.sqrt()) as f32;
            let nodes = points.map(|k| self.node(k));
            // A pleat from row to row is as stiff as its bars push: rigidity over the square of its width against theirs.
            let pushed = self.input.moduli.warp * f64::from(width).powi(2) / rigidity;
            let taut = (limits::TAUT_BEND * pushed).min(limits::MOST_TAUT) as f32;
            hinges.push(Hinge { nodes, rest, compliance, flat, width, taut });
        }
        let nodes: Vec<[u32; 4]> = hinges.iter().map(|h| h.nodes).collect();
        let order = solving_order(strips, levels, &nodes);
        let sorted = order.iter().map(|&i| hinges[i as usize]).collect();
        let lowest = |h: &Hinge| h.nodes.iter().copied().min().unwrap_or(0);
        Grouped::build(strips, sorted, |h| strips.of(lowest(h)))
    }

    /// Shears of triangles with threads, in solving order.
    pub(super) fn shears(
        &self,
        areas: &[f64],
        strips: &Strips,
        levels: &[u32],
        warnings: &mut Vec<String>,
    ) -> Grouped<Shear> {
        let mut shears = Vec::new();
        if self.input.threads == Threads::Uv && self.input.moduli.shear > 0.0 {
            let mut without = 0;
            for t in (0..areas.len()).filter(|&t| areas[t] > 0.0) {
                match self.shear(t as u32, areas[t]) {
                    Some(shear) => shears.push(shear),
                    None => without += 1,
                }
            }
            if without > 0 {
                warnings.push(format!(
                    "{without} triangles have no usable uv: they have no warp and weft there"
                ));
            }
        }
        let nodes: Vec<[u32; 3]> = shears.iter().map(|s| s.nodes).collect();
        let order = solving_order(strips, levels, &nodes);
        let sorted = order.iter().map(|&i| shears[i as usize]).collect();
        let lowest = |s: &Shear| s.nodes.iter().copied().min().unwrap_or(0);
        Grouped::build(strips, sorted, |s| strips.of(lowest(s)))
    }

    fn shear(&self, triangle: u32, area: f64) -> Option<Shear> {
        let (warp, weft) = self.thread_axes(triangle)?;
        let corners = self.topology.triangles[triangle as usize];
        let [x0, x1, x2] = corners.map(|p| self.place(p));
        let (e1, e2) = (x1 - x0, x2 - x0);
        let (a, b, c, d) = (e1.dot(warp), e2.dot(warp), e1.dot(weft), e2.dot(weft));
        let determinant = a * d - b * c;
        let inverse = [d, -b, -c, a].map(|v| v / determinant);
        if inverse.iter().any(|v| !v.is_finite()) {
            return None;
        }
        // [wu wv] = [e1 e2] D⁻¹ with D = [[a, b], [c, d]]: wu = e1 i00 + e2 i10.
        Some(Shear {
            nodes: corners.map(|p| self.node(p)),
            inverse: inverse.map(|v| v as f32),
            compliance: 1.0 / (self.input.moduli.shear * area),
        })
    }

    /// A third of each triangle's mass at each corner; points of shapeless triangles only take a
    /// small share of the mean, so that they can move at all.
    pub(super) fn masses(&self, areas: &[f64]) -> Vec<f64> {
        let mut mass = vec![0.0; self.node_of_point.len()];
        for (t, corners) in self.topology.triangles.iter().enumerate() {
            for &p in corners {
                let density =
                    self.input.moduli.density * self.local(p).weight + self.input.air_mass;
                mass[self.node(p) as usize] += density * areas[t] / 3.0;
            }
        }
        let mean = mass.iter().sum::<f64>() / mass.len() as f64;
        let least = (limits::LEAST_MASS_SHARE * mean).max(f64::MIN_POSITIVE);
        mass.iter_mut().for_each(|m| *m = m.max(least));
        mass
    }
}
