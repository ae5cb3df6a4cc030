//! The cloth as cut and sewn: welds and numbers the nodes, and makes the rows that hold them together.

use glam::{Vec2, Vec3};

use super::hierarchy::{Hierarchy, HierarchyInput};
use super::local::Local;
use super::material::Moduli;
use super::params::{RestAngles, Threads};
use super::pulled::Pulled;
use super::rest::ClothRest;
use super::rest_rows::RowBuilder;
use super::ridges::Ridges;
use super::strips::Strips;
use super::tether;
use crate::geometry::{Lists, NONE, Topology};
use crate::tolerances::{self, cloth as limits};

/// What the rest data are made from.
pub struct RestInput<'a> {
    /// World positions at rest, per vertex.
    pub positions: &'a [Vec3],
    /// Triangles over vertices.
    pub triangles: &'a [[u32; 3]],
    /// Point of every vertex; empty: those at the same place are one. Torn edges lie at the same place.
    pub points: &'a [u32],
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

impl ClothRest {
    /// Builds everything. `Err` says why the mesh cannot be cloth.
    pub fn build(input: &RestInput) -> Result<Self, String> {
        let mut warnings = Vec::new();
        let topology = if input.points.is_empty() {
            Topology::build(input.positions, input.triangles)
        } else {
            Topology::of_points(input.points, input.triangles)
        };
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
        let context = RowBuilder { input, topology: &topology, node_of_point: &node_of_point };
        let edges = context.edges(&areas, &strips, &levels, &mut warnings);
        let hinges = context.hinges(&areas, &strips, &levels);
        let shears = context.shears(&areas, &strips, &levels, &mut warnings);
        let mass = context.masses(&areas);
        // Over edges as cut and not as modelled: regions may be larger than they are drawn.
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
        // Cords are for cloth that hangs from something and hardly stretches by its own weight.
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
        // From its pins, where it hangs; loose cloth may fall on a corner, and then hangs by its whole size.
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
    // By place, not by number: a mesh with its vertices in another order is solved alike.
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
