//! Shear: in a woven cloth warp and weft want to stay at right angles, weakly.
//!
//! Per triangle, with `wu` and `wv` the images of the unit warp and weft (Baraff, Witkin 1998),
//! `C = wu · wv`, energy `G A C² / 2`, so the compliance is `1 / (G A)`.

use glam::Vec3;

use super::lanes::Moving;
use super::strips::Grouped;

/// A triangle's shear as the mesh gives it.
#[derive(Clone, Copy, Debug)]
pub struct Shear {
    /// Corners.
    pub nodes: [u32; 3],
    /// Rows of the inverse of the rest edges in thread coordinates: `[i00, i01, i10, i11]` [1/m].
    pub inverse: [f32; 4],
    /// Compliance `1 / (G A)`.
    pub compliance: f64,
}

/// A triangle ready to be solved: node indices count from the start of its strip.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShearRow {
    nodes: [u32; 3],
    inverse: [f32; 4],
    compliance: f32,
    inverse_mass: [f32; 3],
}

/// Fills the rows; like hinges, they run once for several steps, `span` seconds together.
pub fn compile(
    shears: &Grouped<Shear>,
    starts: impl Fn(u32) -> u32,
    inverse_mass: &[f64],
    span: f64,
    rows: &mut Grouped<ShearRow>,
) {
    for (row, shear) in rows.rows.iter_mut().zip(&shears.rows) {
        let base = starts(shear.nodes.iter().copied().min().unwrap_or(0));
        *row = ShearRow {
            nodes: shear.nodes.map(|n| n - base),
            inverse: shear.inverse,
            compliance: (shear.compliance / (span * span)) as f32,
            inverse_mass: shear.nodes.map(|n| inverse_mass[n as usize] as f32),
        };
    }
}

/// Solves the rows of one strip, one after the other.
pub fn solve(rows: &[ShearRow], nodes: &mut [Moving]) {
    let edge = |nodes: &[Moving], a: usize, b: usize| {
        (nodes[a].start - nodes[b].start + (nodes[a].moved - nodes[b].moved)).truncate()
    };
    for row in rows {
        let at = row.nodes.map(|n| n as usize);
        let e1 = edge(nodes, at[1], at[0]);
        let e2 = edge(nodes, at[2], at[0]);
        let [i00, i01, i10, i11] = row.inverse;
        // The threads as they lie now: their dot product is the shear, 0 where they are square to each other.
        let wu = e1 * i00 + e2 * i10;
        let wv = e1 * i01 + e2 * i11;
        let g1 = wv * i00 + wu * i01;
        let g2 = wv * i10 + wu * i11;
        let gradient: [Vec3; 3] = [-(g1 + g2), g1, g2];
        let weight: f32 = (0..3).map(|k| row.inverse_mass[k] * gradient[k].length_squared()).sum();
        let total = weight + row.compliance;
        // All three held, or a triangle that has left the world: the end of the tick says where.
        if weight <= 0.0 || !total.is_finite() {
            continue;
        }
        let lambda = -wu.dot(wv) / total;
        for k in 0..3 {
            nodes[at[k]].moved += (gradient[k] * (lambda * row.inverse_mass[k])).extend(0.0);
        }
    }
}
