//! How much of its drawn height a fold shows, from the stretch of the mesh under it.

use super::fold_tables::FoldTables;
use super::params::{Conserve, FactorLaw, Fold};
use super::rest::FoldRest;
use super::stretch_response::ResponseScratch;
use crate::tolerances::folds as tolerances;

/// Storage reused from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct FactorScratch {
    /// Stretch across the fold at each member.
    pub stretches: Vec<f32>,
    response: ResponseScratch,
    weights: Vec<f32>,
    sections: Vec<(f64, f64)>,
    known: Vec<bool>,
}

/// Factors of a fold's members from their stretches; `base_length` gives the current length of a
/// member's edge.
pub fn compute_factors(
    fold: &Fold,
    rest: &FoldRest,
    table: &FoldTables,
    base_length: impl Fn(usize, u32) -> f32,
    scratch: &mut FactorScratch,
    out: &mut [f32],
) {
    match (fold.stiff, fold.conserve, fold.factor) {
        // What is stiff keeps its drawn height, whatever else is set.
        (true, _, _) => out.fill(1.0),
        (_, Conserve::Length, _) => {
            scratch.weights.clear();
            // Never quite 0: a section without any slope is shared evenly.
            let steepness = (0..out.len()).map(|m| {
                rest.edges_of(m).iter().map(|e| (e.r0 - 1.0).max(0.0)).sum::<f32>() + 1e-12
            });
            scratch.weights.extend(steepness);
            let FactorScratch { stretches, weights, sections, .. } = scratch;
            rest.sections.compute_factors(stretches, weights, sections, out);
        }
        (_, _, FactorLaw::Vertex) => {
            table.compute_factors(fold, &scratch.stretches, &mut scratch.response, out);
        }
        (_, _, FactorLaw::Mean) => {
            scratch.known.clear();
            for (m, factor) in out.iter_mut().enumerate() {
                let own = by_edges(fold, rest, m, &base_length);
                scratch.known.push(own.is_some());
                *factor = own.unwrap_or(1.0);
            }
            fill_unknown(rest, &scratch.known, out);
        }
    }
}

/// The source's law: `(R - r) / (R - 1)` with `R = (r0 - 1)/k + 1`, meaned over the edges.
fn by_edges(
    fold: &Fold,
    rest: &FoldRest,
    member: usize,
    base_length: &impl Fn(usize, u32) -> f32,
) -> Option<f32> {
    let (mut sum, mut count) = (0.0f64, 0u32);
    for edge in rest.edges_of(member) {
        let depth = f64::from(edge.r0 - 1.0);
        if depth.abs() < tolerances::FLAT_EDGE || edge.rest <= 0.0 {
            continue;
        }
        // The edge itself and not the direction across: this law is kept as the source has it, to be compared with.
        let mut r = f64::from(base_length(member, edge.other_point) / edge.rest);
        // Rounding must not choose between the two speeds: at rest a fold shows exactly what was drawn.
        if (r - 1.0).abs() < tolerances::SAME_LENGTH {
            r = 1.0;
        }
        let speed = if r >= 1.0 { fold.k_flat } else { fold.k_rise };
        // (R - r) / (R - 1) with R - 1 = depth / k.
        sum += 1.0 - speed * (r - 1.0) / depth;
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count)).max(0.0) as f32)
}

/// Members that no edge says anything about take the mean of their neighbours', in one pass.
fn fill_unknown(rest: &FoldRest, known: &[bool], factors: &mut [f32]) {
    for m in (0..factors.len()).filter(|&m| !known[m]) {
        let others = rest.edges_of(m).iter().map(|e| e.other as usize);
        // `NONE` is beyond all members, so the bound also drops neighbours outside the fold.
        let sure = others.filter(|&o| o < known.len() && known[o]);
        let (sum, count) = sure.fold((0.0, 0u32), |(s, n), o| (s + factors[o], n + 1));
        if count > 0 {
            factors[m] = sum / count as f32;
        }
    }
}
