//! What a frame reads of the folds: flat tables, made once from what was drawn.
//!
//! Lengths across a fold are quadratic in the edges of the coarse triangles: a unit vector
//! `a e1 + b e2` is `sqrt(a² e1·e1 + 2ab e1·e2 + b² e2·e2)` long after any motion. So a frame computes
//! three products per coarse triangle (its metric), and each member of a fold takes its own mix of
//! them. How the normals turn across the fold is read in the same way.

use glam::Vec3A;

use super::params::Fold;
use super::rest::FoldRest;
use crate::geometry::{NONE, Topology};
use crate::tolerances::folds as tolerances;

/// The coarse triangles under the folds.
#[derive(Clone, Debug, Default)]
pub struct Faces {
    /// Their indices, ascending.
    pub triangles: Vec<u32>,
    corners: Vec<[u32; 3]>,
    drawn: Vec<Forms>,
    /// Change of the metric since the folds were drawn, and the bending as it is now.
    now: Vec<Forms>,
}

/// Two quadratic forms over the edges of a triangle: lengths, and how normals turn along them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Forms {
    metric: [f32; 3],
    bending: [f32; 3],
}

impl Faces {
    /// The triangles that some term reads, as the surface is drawn.
    pub fn new(topology: &Topology, mut triangles: Vec<u32>, surface: &[[Vec3A; 2]]) -> Self {
        triangles.sort_unstable();
        triangles.dedup();
        let corners: Vec<[u32; 3]> =
            triangles.iter().map(|&t| topology.triangles[t as usize]).collect();
        let drawn: Vec<Forms> = corners.iter().map(|&c| Forms::measure(c, surface)).collect();
        Self { triangles, corners, now: drawn.clone(), drawn }
    }

    /// Measures the triangles on the surface as it is now.
    pub fn update(&mut self, surface: &[[Vec3A; 2]]) {
        for ((&corners, drawn), now) in self.corners.iter().zip(&self.drawn).zip(&mut self.now) {
            let forms = Forms::measure(corners, surface);
            let metric = std::array::from_fn(|k| forms.metric[k] - drawn.metric[k]);
            *now = Forms { metric, ..forms };
        }
    }
}

impl Forms {
    fn measure(corners: [u32; 3], surface: &[[Vec3A; 2]]) -> Self {
        let [a, b, c] = corners.map(|p| surface[p as usize]);
        let (e1, e2, n1, n2) = (b[0] - a[0], c[0] - a[0], b[1] - a[1], c[1] - a[1]);
        Self {
            metric: [e1.dot(e1), e1.dot(e2), e2.dot(e2)],
            bending: [n1.dot(e1), 0.5 * (n1.dot(e2) + n2.dot(e1)), n2.dot(e2)],
        }
    }
}

/// A member's share of a triangle's forms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Term {
    face: u32,
    mix: [f32; 3],
}

impl Term {
    fn of(&self, form: [f32; 3]) -> f32 {
        self.mix[0] * form[0] + self.mix[1] * form[1] + self.mix[2] * form[2]
    }
}

/// One fold, member by member.
#[derive(Clone, Debug, Default)]
pub struct FoldPlan {
    terms: Vec<Term>,
    offsets: Vec<u32>,
    /// Bending across the fold when drawn [1/m].
    bending: Vec<f32>,
    /// Stretches beyond this bending change count; infinite without `curvature`.
    least_bending: f32,
    /// Stretch that one unit of bending stands for, at each member [m].
    bending_arms: Vec<f32>,
    speeds: [f32; 2],
    law: VertexLaw,
}

impl FoldPlan {
    /// Flattens a drawn fold.
    pub fn new(fold: &Fold, drawn: &FoldRest, faces: &Faces) -> Self {
        let mut plan = Self {
            least_bending: tolerances::SAME_BENDING / fold.width,
            bending_arms: drawn.heights.iter().map(|h| fold.curvature * h).collect(),
            speeds: [fold.k_flat as f32, fold.k_rise as f32],
            offsets: vec![0],
            law: VertexLaw::new(drawn),
            ..Self::default()
        };
        if fold.curvature == 0.0 {
            plan.least_bending = f32::INFINITY;
        }
        for range in drawn.term_offsets.windows(2) {
            let terms = &drawn.terms[range[0] as usize..range[1] as usize];
            let share = 1.0 / terms.len().max(1) as f32;
            for term in terms {
                let Ok(face) = faces.triangles.binary_search(&term.triangle) else { continue };
                let (a, b) = (term.first, term.second);
                let mix = [share * a * a, share * 2.0 * a * b, share * b * b];
                plan.terms.push(Term { face: face as u32, mix });
            }
            plan.offsets.push(plan.terms.len() as u32);
        }
        plan.bending = (0..drawn.points.len())
            .map(|m| plan.terms(m).iter().map(|t| t.of(faces.drawn[t.face as usize].bending)).sum())
            .collect();
        plan
    }

    fn terms(&self, member: usize) -> &[Term] {
        &self.terms[self.offsets[member] as usize..self.offsets[member + 1] as usize]
    }

    /// Stretch of the coarse mesh across the fold at a member; exactly 1 as drawn. Where the mesh has
    /// bent meanwhile, the fold's own height makes it longer or shorter.
    #[must_use]
    pub fn stretch(&self, member: usize, faces: &Faces) -> f32 {
        let (mut change, mut bending) = (0.0, 0.0);
        for term in self.terms(member) {
            let now = &faces.now[term.face as usize];
            change += term.of(now.metric);
            bending += term.of(now.bending);
        }
        let square = (1.0 + change).max(0.0);
        let mut r = square.sqrt();
        let bent = bending / square.max(1e-12) - self.bending[member];
        if bent.abs() > self.least_bending {
            r += bent * self.bending_arms[member];
        }
        if (r - 1.0).abs() < tolerances::SAME_LENGTH as f32 { 1.0 } else { r }
    }

    /// Factors by the least-squares law, from the stretches.
    pub fn compute_factors(&self, stretches: &[f32], scratch: &mut LawScratch, out: &mut [f32]) {
        let [flat, rise] = self.speeds;
        let push = |&r: &f32| (r - 1.0) * if r >= 1.0 { flat } else { rise };
        scratch.pushes.clear();
        scratch.pushes.extend(stretches.iter().map(push));
        self.law.compute_factors(scratch, out);
    }
}

/// Storage reused from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct LawScratch {
    /// `k (r - 1)` at each member.
    pushes: Vec<f32>,
    /// `sum w k (r - 1)` of each member, and its means over sections.
    drives: Vec<f32>,
    means: Vec<f32>,
}

/// The law `f = max(0, 1 - sum(w k (r - 1)) / sum(w²))` over the edges of a member,
/// `w = max(r0 - 1, 0)`, `r` the mean of its ends'. A member's own sums are joined with the means over
/// its cross-section: on the crest edges are hardly folded, and the few that are would decide alone
/// how high it stands.
#[derive(Clone, Debug, Default)]
struct VertexLaw {
    /// Weight of a member's own push in its drive, then those of its neighbours.
    own: Vec<f32>,
    neighbours: Vec<(u32, f32)>,
    offsets: Vec<u32>,
    /// The section that each member counts for; `1 / members` of each section, 0 without any.
    section_of: Vec<u32>,
    shares: Vec<f32>,
    /// The sections whose means a member takes: the first, and how much of the next.
    between: Vec<(u32, f32)>,
    /// `1 / sum(w²)`, own and section's together; 0 where that says nothing.
    inverse_norms: Vec<f32>,
    /// Members that no edge says anything about, with neighbours that know.
    unknown: Vec<(u32, u32, u32)>,
    known_neighbours: Vec<u32>,
}

impl VertexLaw {
    fn new(drawn: &FoldRest) -> Self {
        let count = drawn.points.len();
        let sections = &drawn.sections;
        let weight = |r0: f32| (r0 - 1.0).max(0.0);
        let norms: Vec<f64> = (0..count)
            .map(|m| drawn.edges_of(m).iter().map(|e| f64::from(weight(e.r0)).powi(2)).sum())
            .collect();
        let (norm_means, counts) = sections.average(&norms);
        let between: Vec<(u32, f32)> = (0..count).map(|m| sections.between(m)).collect();
        let mut law = Self {
            section_of: (0..count).map(|m| sections.section_of(m)).collect(),
            shares: counts.iter().map(|&n| if n > 0 { 1.0 / n as f32 } else { 0.0 }).collect(),
            offsets: vec![0],
            ..Self::default()
        };
        for m in 0..count {
            let mut own = 0.0;
            for edge in drawn.edges_of(m) {
                let half = 0.5 * weight(edge.r0);
                own += half;
                if edge.other == NONE {
                    own += half;
                } else if half > 0.0 {
                    law.neighbours.push((edge.other, half));
                }
            }
            law.own.push(own);
            law.offsets.push(law.neighbours.len() as u32);
            let (low, t) = between[m];
            let next = (low as usize + 1).min(norm_means.len() - 1);
            let (a, b) = (norm_means[low as usize], norm_means[next]);
            let norm = tolerances::OWN_SHARE * norms[m] + a + (b - a) * f64::from(t);
            let says = norm > tolerances::FLAT_NORM;
            law.inverse_norms.push(if says { (1.0 / norm) as f32 } else { 0.0 });
        }
        law.between = between;
        law.find_unknown(drawn);
        law
    }

    fn find_unknown(&mut self, drawn: &FoldRest) {
        for m in (0..drawn.points.len()).filter(|&m| self.inverse_norms[m] == 0.0) {
            let start = self.known_neighbours.len() as u32;
            let others = drawn.edges_of(m).iter().map(|e| e.other).filter(|&o| o != NONE);
            let known = others.filter(|&o| self.inverse_norms[o as usize] > 0.0);
            self.known_neighbours.extend(known);
            self.unknown.push((m as u32, start, self.known_neighbours.len() as u32));
        }
    }

    fn compute_factors(&self, scratch: &mut LawScratch, out: &mut [f32]) {
        let LawScratch { pushes, drives, means } = scratch;
        means.clear();
        means.resize(self.shares.len(), 0.0);
        drives.clear();
        let mut overall = 0.0;
        for (m, range) in self.offsets.windows(2).enumerate() {
            let mut drive = self.own[m] * pushes[m];
            for &(other, weight) in &self.neighbours[range[0] as usize..range[1] as usize] {
                drive += weight * pushes[other as usize];
            }
            drives.push(drive);
            means[self.section_of[m] as usize] += drive;
            overall += drive;
        }
        overall /= drives.len().max(1) as f32;
        for (mean, &share) in means.iter_mut().zip(&self.shares) {
            *mean = if share > 0.0 { *mean * share } else { overall };
        }
        let last = means.len() - 1;
        for (m, factor) in out.iter_mut().enumerate() {
            let (low, t) = self.between[m];
            let (a, b) = (means[low as usize], means[(low as usize + 1).min(last)]);
            let drive = tolerances::OWN_SHARE as f32 * drives[m] + a + (b - a) * t;
            *factor = (1.0 - drive * self.inverse_norms[m]).max(0.0);
        }
        // One pass: members that know nothing take the mean of their neighbours'.
        for &(m, start, end) in &self.unknown {
            let known = &self.known_neighbours[start as usize..end as usize];
            let sum: f32 = known.iter().map(|&o| out[o as usize]).sum();
            out[m as usize] = if known.is_empty() { 1.0 } else { sum / known.len() as f32 };
        }
    }
}
