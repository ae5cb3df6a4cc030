//! Stiff hinges, solved together.
//!
//! The sweep over hinges turns each by what it sees and moves its own four nodes: how a whole ridge is
//! held up has to travel from hinge to hinge. Where bending is weak that is enough; a chain of `N` stiff
//! ones droops by about `g T² N³ / l` more than its rigidity says, whatever that is. So hinges that one
//! sweep cannot hold are taken out of it and solved at once, implicitly over the span `T` of the pass:
//!
//! ```text
//!   (M / T² + Q) d = -Q x          Q = sum over hinges of  a aᵀ / alpha
//! ```
//!
//! `a · x` is the angle of a nearly flat hinge, as a vector along its normal: for cloth that does not
//! stretch, the energy is exact up to `2 sin(θ/2)` for the angle, and the matrix never changes (Bergou,
//! Wardetzky, Harmon, Zorin, Grinspun 2006). It keeps both momenta, as `Q` knows no rigid motion.
//!
//! Limits: cloth that may stretch, and hinges that are folded at rest, stay with the sweep. Where the matrix
//! would grow too large, the stiffest hinges are solved so and the others are swept.

use glam::DVec3;

use super::bend::Hinge;
use super::lanes::Moving;
use super::stretch::StretchLimits;
use crate::math::skyline::Skyline;
use crate::tolerances::cloth as limits;

/// No row.
const NONE: u32 = u32::MAX;

/// The hinges of a cloth that are solved together.
#[derive(Default)]
pub struct StiffBending {
    hinges: Vec<Hinge>,
    /// Node of each row.
    nodes: Vec<u32>,
    /// Row of each place of each hinge, or [`NONE`] where the node is held.
    rows: Vec<[u32; 4]>,
    factors: Skyline,
    moved: Vec<DVec3>,
}

/// How well one sweep over a span `T` holds a hinge [-]: well above 1, as its rigidity says; well below,
/// only as far as its nodes are heavy.
fn softness(hinge: &Hinge, inverse_mass: &[f64], span: f64) -> f64 {
    let weight: f64 =
        (0..4).map(|k| inverse_mass[hinge.nodes[k] as usize] * hinge.flat[k] * hinge.flat[k]).sum();
    if weight > 0.0 { hinge.compliance / (span * span * weight) } else { f64::INFINITY }
}

impl StiffBending {
    /// Whether a cloth of such limits keeps its shape enough for angles to be sums of positions.
    pub fn suits(bounds: &StretchLimits) -> bool {
        bounds.stretch_limit <= limits::STIFF_STRETCH && bounds.in_compression == 1.0
    }

    /// Chooses the hinges and factors their matrix; also, how soft a hinge must be to be left to the sweep.
    pub fn build(hinges: &[Hinge], inverse_mass: &[f64], span: f64) -> (Self, f64) {
        let mut bound = limits::STIFF_HINGE;
        loop {
            let is_stiff = |h: &&Hinge| Self::takes(h, inverse_mass, span, bound);
            let chosen: Vec<Hinge> = hinges.iter().filter(is_stiff).copied().collect();
            if chosen.is_empty() {
                return (Self::default(), 0.0);
            }
            let (nodes, first) = number(&chosen, inverse_mass);
            if Skyline::room(&first) <= limits::STIFF_ENTRIES {
                let stiff = Self::assemble(chosen, nodes, first, (inverse_mass, span));
                // Never seen to fail; if it did, the sweep is there.
                return stiff.map_or_else(|| (Self::default(), 0.0), |stiff| (stiff, bound));
            }
            bound *= limits::STIFFER_HINGES;
        }
    }

    /// Whether a hinge is solved here, for the bound that [`Self::build`] found.
    pub fn takes(hinge: &Hinge, inverse_mass: &[f64], span: f64, bound: f64) -> bool {
        hinge.rest == 0.0 && softness(hinge, inverse_mass, span) < bound
    }

    fn assemble(
        hinges: Vec<Hinge>,
        nodes: Vec<u32>,
        first: Vec<u32>,
        (inverse_mass, span): (&[f64], f64),
    ) -> Option<Self> {
        let mut row_of_node = vec![NONE; inverse_mass.len()];
        nodes.iter().enumerate().for_each(|(row, &n)| row_of_node[n as usize] = row as u32);
        let rows: Vec<[u32; 4]> =
            hinges.iter().map(|h| h.nodes.map(|n| row_of_node[n as usize])).collect();
        let mut factors = Skyline::new(first);
        for (row, &node) in nodes.iter().enumerate() {
            factors.add(row, row, 1.0 / (inverse_mass[node as usize] * span * span));
        }
        for (hinge, rows) in hinges.iter().zip(&rows) {
            for (i, &row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
                for (j, &column) in rows.iter().enumerate().filter(|(_, c)| **c <= row) {
                    let value = hinge.flat[i] * hinge.flat[j] / hinge.compliance;
                    factors.add(row as usize, column as usize, value);
                }
            }
        }
        let moved = vec![DVec3::ZERO; nodes.len()];
        factors.factor().then_some(Self { hinges, nodes, rows, factors, moved })
    }

    /// Moves the nodes as the hinges want, from where they are coming to.
    pub fn solve(&mut self, coming: impl Fn(usize) -> DVec3, nodes: &mut [Moving]) {
        if self.hinges.is_empty() {
            return;
        }
        let place = |n: u32| coming(n as usize) + nodes[n as usize].moved.truncate().as_dvec3();
        self.moved.fill(DVec3::ZERO);
        for (hinge, rows) in self.hinges.iter().zip(&self.rows) {
            // Relative to one node: the four weights add up to nothing.
            let origin = place(hinge.nodes[0]);
            let angle: DVec3 =
                (1..4).map(|k| (place(hinge.nodes[k]) - origin) * hinge.flat[k]).sum();
            let pull = angle / hinge.compliance;
            for (weight, &row) in hinge.flat.iter().zip(rows).filter(|(_, row)| **row != NONE) {
                self.moved[row as usize] -= pull * *weight;
            }
        }
        self.factors.solve(&mut self.moved);
        for (&node, moved) in self.nodes.iter().zip(&self.moved) {
            nodes[node as usize].moved += moved.as_vec3().extend(0.0);
        }
    }
}

/// The free nodes of some hinges, numbered so that those of a hinge are near each other (breadth first, from
/// an end: Cuthill and McKee), and the first row that each is joined with.
fn number(hinges: &[Hinge], inverse_mass: &[f64]) -> (Vec<u32>, Vec<u32>) {
    let of_node = crate::geometry::Lists::from_pairs(
        inverse_mass.len(),
        hinges.iter().enumerate().flat_map(|(h, hinge)| hinge.nodes.map(|n| (n, h as u32))),
    );
    let mut used: Vec<u32> = hinges.iter().flat_map(|h| h.nodes).collect();
    used.sort_unstable();
    used.dedup();
    let mut seen = vec![false; inverse_mass.len()];
    let mut order: Vec<u32> = Vec::with_capacity(used.len());
    for &start in &used {
        if seen[start as usize] {
            continue;
        }
        // Twice: the last that is reached from anywhere is at an end.
        let mut piece = Vec::new();
        walk(start, hinges, &of_node, &mut seen, &mut piece);
        let end = piece.last().copied().unwrap_or(start);
        piece.iter().for_each(|&n| seen[n as usize] = false);
        walk(end, hinges, &of_node, &mut seen, &mut order);
    }
    let free: Vec<u32> = order.into_iter().filter(|&n| inverse_mass[n as usize] > 0.0).collect();
    let mut row_of_node = vec![NONE; inverse_mass.len()];
    free.iter().enumerate().for_each(|(row, &n)| row_of_node[n as usize] = row as u32);
    let mut first: Vec<u32> = (0..free.len() as u32).collect();
    for hinge in hinges {
        let rows = hinge.nodes.map(|n| row_of_node[n as usize]);
        let least = rows.into_iter().min().unwrap_or(NONE);
        for row in rows.into_iter().filter(|row| *row != NONE) {
            first[row as usize] = first[row as usize].min(least);
        }
    }
    (free, first)
}

/// Appends all nodes that hinges join to `start`, the nearest first.
fn walk(
    start: u32,
    hinges: &[Hinge],
    of_node: &crate::geometry::Lists,
    seen: &mut [bool],
    order: &mut Vec<u32>,
) {
    let mut next = order.len();
    order.push(start);
    seen[start as usize] = true;
    while next < order.len() {
        for &hinge in of_node.of(order[next]) {
            for node in hinges[hinge as usize].nodes {
                if !std::mem::replace(&mut seen[node as usize], true) {
                    order.push(node);
                }
            }
        }
        next += 1;
    }
}
