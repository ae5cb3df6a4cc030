//! Stretch: every edge wants its rest length.
//!
//! XPBD (Macklin, Müller, Chentanez 2016) with one iteration per small step: the correction along
//! the edge is `C / (wa + wb + alpha / h²)`, shared by inverse mass. With `r = |a - b|²` and rest
//! length `L`, `(r - L²) / (r + L²)` equals `C / |a - b|` to second order and is 0 with it, so no
//! square root is needed.

use glam::DVec3;

use super::strips::{Grouped, Way};

/// An edge as the mesh gives it.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Its nodes.
    pub nodes: [u32; 2],
    /// Rest length [m].
    pub rest: f64,
    /// Compliance `3 L² / (Y (A1 + A2))` [m/N].
    pub compliance: f64,
}

/// An edge ready to be solved: node indices count from the start of its strip.
#[derive(Clone, Copy, Debug, Default)]
pub struct StretchRow {
    a: u32,
    b: u32,
    rest_sq: f64,
    /// Share of the correction that each end takes.
    share_a: f32,
    share_b: f32,
    /// Factor from a compliant to a rigid correction, for the limits.
    rigid: f32,
}

/// Limits and modes of the pass.
#[derive(Clone, Copy, Debug)]
pub struct StretchLaw {
    /// Greatest stretch [-].
    pub stretch_limit: f64,
    /// Greatest compression [-].
    pub compression_limit: f64,
    /// Share of the stiffness that resists compression, 0 or 1 [-].
    pub in_compression: f64,
}

/// Fills the rows for a step length and the present inverse masses.
pub fn compile(
    edges: &Grouped<Edge>,
    starts: impl Fn(u32) -> u32,
    inverse_mass: &[f64],
    step: f64,
    rows: &mut Grouped<StretchRow>,
) {
    for (row, edge) in rows.rows.iter_mut().zip(&edges.rows) {
        let [a, b] = edge.nodes;
        let base = starts(a.min(b));
        let (wa, wb) = (inverse_mass[a as usize], inverse_mass[b as usize]);
        // Solved twice a step, there and back: each way has half the stiffness.
        let soft = wa + wb + 2.0 * edge.compliance / (step * step);
        if wa + wb <= 0.0 {
            // A row from a node to itself does nothing.
            *row = StretchRow { rest_sq: 1.0, ..StretchRow::default() };
            continue;
        }
        *row = StretchRow {
            a: a - base,
            b: b - base,
            rest_sq: edge.rest * edge.rest,
            share_a: (wa / soft) as f32,
            share_b: (wb / soft) as f32,
            rigid: (soft / (wa + wb)) as f32,
        };
    }
}

/// Solves the rows of one strip, one after the other.
pub fn solve(rows: &[StretchRow], law: StretchLaw, way: Way, nodes: &mut [DVec3]) {
    // The law of nearly all cloth, apart: it has no branch, and which edges are compressed cannot
    // be foreseen by the processor.
    let plain = law.in_compression == 1.0 && law.compression_limit >= 1.0;
    let limit = law.stretch_limit;
    match (plain, way) {
        (true, Way::There) => rows.iter().for_each(|r| solve_row(r, nodes, |s| pull(s, r, limit))),
        (true, Way::Back) => {
            rows.iter().rev().for_each(|r| solve_row(r, nodes, |s| pull(s, r, limit)));
        }
        (false, Way::There) => {
            rows.iter().for_each(|r| solve_row(r, nodes, |s| pull_or_push(s, r, law)));
        }
        (false, Way::Back) => {
            rows.iter().rev().for_each(|r| solve_row(r, nodes, |s| pull_or_push(s, r, law)));
        }
    }
}

/// Stretch to correct: the fabric's share of it, or what is beyond the limit if that is more.
#[inline(always)]
fn pull(s: f64, row: &StretchRow, limit: f64) -> f64 {
    s.max((s - limit) * f64::from(row.rigid))
}

#[inline(always)]
fn pull_or_push(s: f64, row: &StretchRow, law: StretchLaw) -> f64 {
    if s >= 0.0 {
        return pull(s, row, law.stretch_limit);
    }
    let hard = ((s + law.compression_limit) * f64::from(row.rigid)).min(0.0);
    (s * law.in_compression).min(hard)
}

#[inline(always)]
fn solve_row(row: &StretchRow, nodes: &mut [DVec3], correct: impl Fn(f64) -> f64) {
    let (a, b) = (row.a as usize, row.b as usize);
    let d = nodes[a] - nodes[b];
    let r = d.length_squared();
    let s = correct((r - row.rest_sq) / (r + row.rest_sq));
    nodes[a] -= d * (s * f64::from(row.share_a));
    nodes[b] += d * (s * f64::from(row.share_b));
}

/// Takes away relative velocity of edges' ends, one strip: all that stretches the edge by `along`,
/// any by `any` (shares, 0 to 1). `velocities` start at node `base`.
///
/// One sweep per small step does not stop the ringing of stiff edges; cloth itself does, by friction
/// between its fibres.
pub fn damp(
    edges: &[Edge],
    base: u32,
    (along, any): (f64, f64),
    inverse_mass: &[f64],
    positions: &[DVec3],
    velocities: &mut [DVec3],
) {
    for edge in edges {
        let [a, b] = edge.nodes.map(|n| n as usize);
        let total = inverse_mass[a] + inverse_mass[b];
        if total <= 0.0 {
            continue;
        }
        let (i, j) = (a - base as usize, b - base as usize);
        let d = positions[a] - positions[b];
        let rate = velocities[i] - velocities[j];
        let stretching = d * (rate.dot(d) / d.length_squared().max(f64::MIN_POSITIVE));
        let taken = (stretching * along + (rate - stretching) * any) / total;
        velocities[i] -= taken * inverse_mass[a];
        velocities[j] += taken * inverse_mass[b];
    }
}

/// Relative elongation of an edge.
pub fn strain(edge: &Edge, positions: &[DVec3]) -> f64 {
    let [a, b] = edge.nodes;
    positions[a as usize].distance(positions[b as usize]) / edge.rest - 1.0
}
