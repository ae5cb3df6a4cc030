//! What is computed once: nodes in solving order, masses, constraints, tethers.

use glam::{DVec3, Vec2, Vec3};

use super::bend::{Hinge, angle_gradient, flat_weights};
use super::hierarchy::{Hierarchy, HierarchyInput};
use super::local::{Bands, Local};
use super::material::Moduli;
use super::params::{RestAngles, Threads};
use super::pulled::Pulled;
use super::ridges::Ridges;
use super::shear::Shear;
use super::stretch::Edge;
use super::strips::{Grouped, Strips, solving_order};
use super::tether::{self, Tethers};
use crate::geometry::{Lists, NONE, Topology};
use crate::tolerances::{self, cloth as limits};

/// What the rest data are made from.
pub struct RestInput<'a> {
    /// World positions at rest, per vertex.
    pub positions: &'a [Vec3],
    /// Triangles over vertices.
    pub triangles: &'a [[u32; 3]],
    /// Texture coordinates per vertex, or empty.
    pub uvs: &'a [Vec2],
    /// Vertices that are always held.
    pub held: &'a [bool],
    /// What differs from vertex to vertex; empty where nothing does.
    pub locals: &'a [Local],
    /// Folds that stiffen the cloth along them.
    pub ridges: &'a Ridges,
    /// The fabric.
    pub moduli: Moduli,
    /// Mass of the air that moves with it, per area [kg/m²].
    pub air_mass: f64,
    /// Where the threads run.
    pub threads: Threads,
    /// Angles at rest.
    pub rest_angles: RestAngles,
    /// Whether to tether vertices to what is held.
    pub tethers: bool,
    /// Size of gravity [m/s²].
    pub gravity: f64,
}

/// The cloth as cut and sewn. **Nodes** are welded vertices, numbered outwards from what is held.
pub struct ClothRest {
    /// Node of each vertex.
    pub node_of_vertex: Vec<u32>,
    /// First vertex of each node.
    pub vertex_of_node: Vec<u32>,
    /// Triangles over nodes, those without area left out.
    pub triangles: Vec<[u32; 3]>,
    /// Triangles of each node.
    pub node_triangles: Lists,
    /// Mass of each node [kg].
    pub mass: Vec<f64>,
    /// How thick each node is.
    pub bands: Bands,
    /// Sharing of the work.
    pub strips: Strips,
    /// Edges in solving order.
    pub edges: Grouped<Edge>,
    /// Hinges in solving order.
    pub hinges: Grouped<Hinge>,
    /// Sheared triangles in solving order.
    pub shears: Grouped<Shear>,
    /// Long-range tethers to what is held.
    pub tethers: Tethers,
    /// What pins that are moved apart ask of the cloth.
    pub pulled: Pulled,
    /// Coarse levels; empty when nothing is held.
    pub hierarchy: Hierarchy,
    /// Whether every edge has exactly two triangles.
    pub closed: bool,
    /// Enclosed volume, when closed [m³].
    pub volume: f64,
    /// Area [m²].
    pub area: f64,
    /// Stretch limit when none is given [-].
    pub default_limit: f64,
    /// Mean edge length [m].
    pub mean_edge: f64,
    /// Greatest distance of a node from what holds it, or the size of the cloth [m].
    pub depth: f64,
    /// What the person should know about the mesh.
    pub warnings: Vec<String>,
}

impl ClothRest {
    /// Builds everything. `Err` says why the mesh cannot be cloth.
    pub fn build(input: &RestInput) -> Result<Self, String> {
        let mut warnings = Vec::new();
        let topology = Topology::build(input.positions, input.triangles);
        if topology.edges.is_empty() {
            return Err("the mesh has no triangle with an area".to_owned());
        }
        let held = hold_points(&topology, input.held);
        let (order, levels) = number_nodes(&topology, input.positions, &held);
        let mut node_of_point = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(n, &p)| node_of_point[p as usize] = n as u32);
        let place = |p: u32| input.positions[topology.vertex_of_point[p as usize] as usize];
        let areas = triangle_areas(&topology, place, &mut warnings);
        let strips = Strips::build(&levels);
        let context = Build { input, topology: &topology, node_of_point: &node_of_point };
        let edges = context.edges(&areas, &strips, &levels, &mut warnings);
        let hinges = context.hinges(&areas, &strips, &levels);
        let shears = context.shears(&areas, &strips, &levels, &mut warnings);
        let mass = context.masses(&areas);
        let mean_edge =
            edges.rows.iter().map(|e| e.rest).sum::<f64>() / edges.rows.len().max(1) as f64;
        let tethers = tether::build(&tether::TetherInput {
            topology: &topology,
            positions: input.positions,
            held: &held,
            node_of_point: &node_of_point,
            wanted: input.tethers,
            slack: tether_slack(input),
            longer: largest(input),
        });
        let held_count = held.iter().filter(|h| **h).count();
        let slack = tether_slack(input);
        let coarse = input.tethers && held_count > 0 && slack < limits::TETHER_MAX_SLACK;
        let hierarchy = if coarse {
            Hierarchy::build(&HierarchyInput {
                topology: &topology,
                positions: input.positions,
                order: &order,
                node_of_point: &node_of_point,
                held: held_count,
                mass: &mass,
                mean_edge,
                slack: (1.0 + slack) * largest(input) - 1.0,
            })
        } else {
            Hierarchy::default()
        };
        let extent = crate::geometry::Bounds::of(input.positions).diagonal();
        let depth = if tethers.reach > 0.0 { tethers.reach } else { f64::from(extent) };
        let triangles: Vec<[u32; 3]> = (0..topology.triangles.len())
            .filter(|&t| areas[t] > 0.0)
            .map(|t| topology.triangles[t].map(|p| node_of_point[p as usize]))
            .collect();
        let corners = triangles.iter().enumerate();
        let pairs: Vec<(u32, u32)> = corners.flat_map(|(i, t)| t.map(|n| (n, i as u32))).collect();
        let mut rest = Self {
            node_of_vertex: topology
                .point_of_vertex
                .iter()
                .map(|&p| node_of_point[p as usize])
                .collect(),
            vertex_of_node: order.iter().map(|&p| topology.vertex_of_point[p as usize]).collect(),
            node_triangles: Lists::from_pairs(order.len(), pairs.iter().copied()),
            triangles,
            mass,
            bands: context.bands(&order),
            strips,
            edges,
            hinges,
            shears,
            tethers,
            pulled: Pulled::build(&topology, input.positions, &held, &node_of_point),
            hierarchy,
            closed: topology.is_closed(),
            volume: 0.0,
            area: 0.0,
            default_limit: limits::STRETCH_LIMIT + 2.0 * (slack - limits::TETHER_SLACK),
            mean_edge,
            depth,
            warnings,
        };
        let positions = rest.node_positions(input.positions);
        rest.volume = super::pressure::volume(&rest.triangles, &positions);
        rest.area = super::pressure::area(&rest.triangles, &positions);
        Ok(rest)
    }

    /// Tells numberings of nodes apart (FNV-1a over the vertex of each): a state belongs to one of them.
    pub fn numbering(&self) -> u64 {
        let bytes = self.vertex_of_node.iter().flat_map(|v| v.to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.vertex_of_node.len()
    }

    /// Positions of the nodes from those of the vertices.
    pub fn node_positions(&self, vertices: &[Vec3]) -> Vec<DVec3> {
        self.vertex_of_node.iter().map(|&v| vertices[v as usize].as_dvec3()).collect()
    }
}

/// Stretch that the fabric itself shows when it hangs from one end, with room: the tethers must only
/// take away what the solver would add to it.
fn tether_slack(input: &RestInput) -> f64 {
    let m = &input.moduli;
    let size = f64::from(crate::geometry::Bounds::of(input.positions).diagonal());
    let softest = m.warp.min(m.weft);
    limits::TETHER_SLACK + 2.0 * m.density * input.gravity * size / softest
}

/// How many times as long as it is modelled the cloth is where it is longest, at least 1 [-]: cords must not
/// take away what ruffles are made of.
fn largest(input: &RestInput) -> f64 {
    input.locals.iter().fold(1.0, |most: f64, local| most.max(local.size))
}

fn hold_points(topology: &Topology, held: &[bool]) -> Vec<bool> {
    let mut points = vec![false; topology.point_count()];
    for (vertex, &is_held) in held.iter().enumerate() {
        points[topology.point_of_vertex[vertex] as usize] |= is_held;
    }
    points
}

/// Breadth-first from what is held (or from one end of each loose piece): points in order, levels.
fn number_nodes(topology: &Topology, positions: &[Vec3], held: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let count = topology.point_count();
    let place = |p: u32| positions[topology.vertex_of_point[p as usize] as usize];
    let (component, components) = topology.components();
    let mut sources: Vec<u32> = (0..count as u32).filter(|&p| held[p as usize]).collect();
    let mut rooted = vec![false; components];
    sources.iter().for_each(|&p| rooted[component[p as usize] as usize] = true);
    let mut lowest: Vec<Option<u32>> = vec![None; components];
    for p in 0..count as u32 {
        let best = &mut lowest[component[p as usize] as usize];
        let key = |q: u32| place(q).to_array();
        if best.is_none_or(|b| key(p) < key(b)) {
            *best = Some(p);
        }
    }
    let loose = (0..components).filter(|&c| !rooted[c]).filter_map(|c| lowest[c]);
    sources.extend(loose);
    let mut level = vec![NONE; count];
    let mut order = sources;
    order.iter().for_each(|&p| level[p as usize] = 0);
    let mut next = 0;
    while next < order.len() {
        let p = order[next];
        next += 1;
        for q in topology.neighbours(p) {
            if level[q as usize] == NONE {
                level[q as usize] = level[p as usize] + 1;
                order.push(q);
            }
        }
    }
    let levels = order.iter().map(|&p| level[p as usize]).collect();
    (order, levels)
}

/// Area of each triangle, 0 for those without a shape.
fn triangle_areas(
    topology: &Topology,
    place: impl Fn(u32) -> Vec3,
    warnings: &mut Vec<String>,
) -> Vec<f64> {
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|p| place(p).as_dvec3());
        let longest = (b - a).length().max((c - b).length()).max((a - c).length());
        let area = 0.5 * (b - a).cross(c - a).length();
        let least = f64::from(tolerances::DEGENERATE_AREA_FRACTION) * longest * longest;
        if area > least { area } else { 0.0 }
    };
    let areas: Vec<f64> = topology.triangles.iter().map(area).collect();
    let flat = areas.iter().filter(|a| **a == 0.0).count();
    if flat > 0 {
        warnings.push(format!(
            "{flat} of {} triangles have no area at rest: they neither bend nor carry weight",
            areas.len()
        ));
    }
    areas
}

struct Build<'a> {
    input: &'a RestInput<'a>,
    topology: &'a Topology,
    node_of_point: &'a [u32],
}

impl Build<'_> {
    fn place(&self, p: u32) -> DVec3 {
        self.input.positions[self.topology.vertex_of_point[p as usize] as usize].as_dvec3()
    }

    fn local(&self, p: u32) -> Local {
        let vertex = self.topology.vertex_of_point[p as usize] as usize;
        self.input.locals.get(vertex).copied().unwrap_or_default()
    }

    fn bands(&self, order: &[u32]) -> Bands {
        Bands::new(order.iter().map(|&p| self.local(p).thickness as f32).collect())
    }

    fn node(&self, p: u32) -> u32 {
        self.node_of_point[p as usize]
    }

    fn edge_area(&self, edge: u32, areas: &[f64]) -> f64 {
        self.topology.edge_triangles(edge).iter().map(|&t| areas[t as usize]).sum()
    }

    fn edges(
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

    fn hinges(&self, areas: &[f64], strips: &Strips, levels: &[u32]) -> Grouped<Hinge> {
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
            hinges.push(Hinge { nodes, rest, compliance, flat, width });
        }
        let nodes: Vec<[u32; 4]> = hinges.iter().map(|h| h.nodes).collect();
        let order = solving_order(strips, levels, &nodes);
        let sorted = order.iter().map(|&i| hinges[i as usize]).collect();
        let lowest = |h: &Hinge| h.nodes.iter().copied().min().unwrap_or(0);
        Grouped::build(strips, sorted, |h| strips.of(lowest(h)))
    }

    fn shears(
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
    fn masses(&self, areas: &[f64]) -> Vec<f64> {
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
