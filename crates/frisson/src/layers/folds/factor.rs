//! How much of its drawn height a fold shows, from the stretch of the mesh under it.

use super::params::{FactorLaw, Fold};
use super::rest::FoldRest;
use crate::geometry::NONE;
use crate::tolerances::folds as tolerances;

/// Storage reused from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct FactorScratch {
    /// Stretch across the fold at each member.
    pub stretches: Vec<f32>,
    /// Factor of each member.
    pub factors: Vec<f32>,
    weights: Vec<f32>,
    sections: Vec<(f64, f64)>,
    /// `sum w k (r - 1)` and `sum w^2` of each member, and their means over sections.
    drives: Vec<[f64; 2]>,
    means: Vec<[f64; 3]>,
    known: Vec<bool>,
}

/// Factors of a fold by the drawn speeds; `base_length` gives the current length of a member's edge.
pub fn compute_factors(
    fold: &Fold,
    rest: &FoldRest,
    base_length: impl Fn(usize, u32) -> f32,
    scratch: &mut FactorScratch,
) {
    let count = rest.points.len();
    scratch.factors.clear();
    scratch.factors.resize(count, 1.0);
    if fold.stiff {
        return;
    }
    if fold.conserve == super::params::Conserve::Length {
        scratch.weights.clear();
        let steepness = (0..count)
            .map(|m| edges(rest, m).iter().map(|e| (e.r0 - 1.0).max(0.0)).sum::<f32>() + 1e-12);
        scratch.weights.extend(steepness);
        rest.sections.compute_factors(
            &scratch.stretches,
            &scratch.weights,
            &mut scratch.sections,
            &mut scratch.factors,
        );
        return;
    }
    scratch.known.clear();
    scratch.known.resize(count, false);
    if fold.factor == FactorLaw::Vertex {
        scratch.drives.clear();
        scratch.drives.extend((0..count).map(|m| drive(fold, rest, m, &scratch.stretches)));
        rest.sections.average(&scratch.drives, &mut scratch.means);
    }
    for m in 0..count {
        let own = match fold.factor {
            FactorLaw::Vertex => {
                by_vertex(scratch.drives[m], rest.sections.average_at(m, &scratch.means))
            }
            FactorLaw::Mean => by_edges(fold, rest, m, &base_length),
        };
        if let Some(f) = own {
            scratch.factors[m] = f;
            scratch.known[m] = true;
        }
    }
    fill_unknown(rest, scratch);
}

fn edges(rest: &FoldRest, member: usize) -> &[super::rest::FoldEdge] {
    &rest.edges[rest.edge_offsets[member] as usize..rest.edge_offsets[member + 1] as usize]
}

/// `sum(w k (r - 1))` and `sum(w^2)` over the edges of a member, `w = max(r0 - 1, 0)`.
fn drive(fold: &Fold, rest: &FoldRest, member: usize, stretches: &[f32]) -> [f64; 2] {
    let (mut drive, mut norm) = (0.0f64, 0.0f64);
    for edge in edges(rest, member) {
        let w = f64::from((edge.r0 - 1.0).max(0.0));
        let other = if edge.other == NONE { member } else { edge.other as usize };
        let r = 0.5 * f64::from(stretches[member] + stretches[other]);
        let speed = if r >= 1.0 { fold.k_flat } else { fold.k_rise };
        drive += w * speed * (r - 1.0);
        norm += w * w;
    }
    [drive, norm]
}

/// `max(0, 1 - drive / norm)`. A member's own sums are joined with the means over its cross-section:
/// on the crest edges are hardly folded, and the few that are would decide alone how high it stands.
fn by_vertex(own: [f64; 2], section: [f64; 2]) -> Option<f32> {
    let [drive, norm] = [0, 1].map(|k| tolerances::OWN_SHARE * own[k] + section[k]);
    (norm > tolerances::FLAT_NORM).then(|| (1.0 - drive / norm).max(0.0) as f32)
}

/// The source's law: `(R - r) / (R - 1)` with `R = (r0 - 1)/k + 1`, meaned over the edges.
fn by_edges(
    fold: &Fold,
    rest: &FoldRest,
    member: usize,
    base_length: &impl Fn(usize, u32) -> f32,
) -> Option<f32> {
    let (mut sum, mut count) = (0.0f64, 0u32);
    for edge in edges(rest, member) {
        let depth = f64::from(edge.r0 - 1.0);
        if depth.abs() < tolerances::FLAT_EDGE || edge.rest <= 0.0 {
            continue;
        }
        let mut r = f64::from(base_length(member, edge.other_point) / edge.rest);
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
fn fill_unknown(rest: &FoldRest, scratch: &mut FactorScratch) {
    for m in 0..rest.points.len() {
        if scratch.known[m] {
            continue;
        }
        let (mut sum, mut count) = (0.0, 0u32);
        for edge in edges(rest, m).iter().filter(|e| e.other != NONE) {
            if scratch.known[edge.other as usize] {
                sum += scratch.factors[edge.other as usize];
                count += 1;
            }
        }
        if count > 0 {
            scratch.factors[m] = sum / count as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crest_that_is_hardly_folded_follows_its_section() {
        // 3% compression; the flanks are folded by 20%, the crest by 0.1%.
        let at = |w: f64| [w * -0.03, w * w];
        let section = at(0.2);
        let flank = by_vertex(at(0.2), section).unwrap();
        let crest = by_vertex(at(1e-3), section).unwrap();
        assert!((flank - 1.15).abs() < 1e-6, "{flank}");
        assert!((crest - flank).abs() < 0.01, "{crest} {flank}");
        assert_eq!(by_vertex([0.0; 2], [0.0; 2]), None);
    }
}
