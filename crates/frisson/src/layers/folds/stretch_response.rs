//! The least-squares law: how the stretches across a fold become one factor per vertex.

use glam::Vec4;

use super::rest::FoldRest;
use crate::geometry::NONE;
use crate::tolerances::folds as tolerances;

/// Storage reused from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct ResponseScratch {
    /// `k (r - 1)` at each member.
    pub pushes: Vec<f32>,
    /// `sum w k (r - 1)` of each member, and its means over sections.
    drives: Vec<f32>,
    means: Vec<f32>,
}

/// Neighbours of a member that are read without a loop: a regular vertex has six.
const NEIGHBOURS: usize = 6;

/// How the pushes around a member drive it.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Weight of its own push, then those of neighbours; 0 where there are fewer.
    own: f32,
    weights: [f32; NEIGHBOURS],
    others: [u32; NEIGHBOURS],
}

/// What a member takes of the sections around it.
#[derive(Clone, Copy, Debug)]
struct Blend {
    /// The first of two sections, and how much of the next one.
    low: u32,
    next: f32,
    /// `1 / sum(w²)`, own and sections' together; 0 where that says nothing.
    inverse_norm: f32,
}

/// The law `f = max(0, 1 - sum(w k (r - 1)) / sum(w²))` over the edges of a member,
/// `w = max(r0 - 1, 0)`, `r` the mean of its ends'. A member's own sums are joined with the means over
/// its cross-section: on the crest edges are hardly folded, and the few that are would decide alone
/// how high it stands.
#[derive(Clone, Debug, Default)]
pub struct StretchResponse {
    rows: Vec<Row>,
    /// Further neighbours: member, neighbour, weight.
    more: Vec<(u32, u32, f32)>,
    /// Runs of members of one section: the section and their end.
    runs: Vec<(u32, u32)>,
    /// `1 / members` of each section, 0 without any.
    shares: Vec<f32>,
    blends: Vec<Blend>,
    /// Members that no edge says anything about, with neighbours that know.
    unknown: Vec<(u32, u32, u32)>,
    known_neighbours: Vec<u32>,
}

impl StretchResponse {
    /// Flattens the edges and sections of a drawn fold.
    pub fn new(drawn: &FoldRest) -> Self {
        let count = drawn.points.len();
        let sections = &drawn.sections;
        let weight = |r0: f32| (r0 - 1.0).max(0.0);
        let norms: Vec<f64> = (0..count)
            .map(|m| drawn.edges_of(m).iter().map(|e| f64::from(weight(e.r0)).powi(2)).sum())
            .collect();
        let (norm_means, counts) = sections.average(&norms);
        let mut response = Self {
            shares: counts.iter().map(|&n| if n > 0 { 1.0 / n as f32 } else { 0.0 }).collect(),
            ..Self::default()
        };
        for m in 0..count {
            response.push_row(m, drawn);
            let (low, next) = sections.between(m);
            // Sums first, then the quotient: quotients of nearly flat members would be mostly noise.
            let above = (low as usize + 1).min(norm_means.len() - 1);
            let (a, b) = (norm_means[low as usize], norm_means[above]);
            let norm = tolerances::OWN_SHARE * norms[m] + a + (b - a) * f64::from(next);
            let says = norm > tolerances::FLAT_NORM;
            let inverse_norm = if says { (1.0 / norm) as f32 } else { 0.0 };
            response.blends.push(Blend { low, next, inverse_norm });
        }
        let section_of: Vec<u32> = (0..count).map(|m| sections.section_of(m)).collect();
        // Members of one section lie side by side, so means are sums over runs.
        let mut end = 0;
        for run in section_of.chunk_by(|a, b| a == b) {
            end += run.len() as u32;
            response.runs.push((run[0], end));
        }
        response.find_unknown(drawn);
        response
    }

    fn push_row(&mut self, member: usize, drawn: &FoldRest) {
        let mut row =
            Row { own: 0.0, weights: [0.0; NEIGHBOURS], others: [member as u32; NEIGHBOURS] };
        let mut count = 0;
        for edge in drawn.edges_of(member) {
            let half = 0.5 * (edge.r0 - 1.0).max(0.0);
            // Beyond the fold nobody knows the stretch: the member's own stands for both ends.
            row.own += if edge.other == NONE { 2.0 * half } else { half };
            if edge.other == NONE || half == 0.0 {
                continue;
            }
            // Loops of one length need no branches; what has more neighbours is rare and comes after.
            if count < NEIGHBOURS {
                (row.others[count], row.weights[count]) = (edge.other, half);
                count += 1;
            } else {
                self.more.push((member as u32, edge.other, half));
            }
        }
        self.rows.push(row);
    }

    fn find_unknown(&mut self, drawn: &FoldRest) {
        let says = |m: usize| self.blends[m].inverse_norm > 0.0;
        for m in (0..drawn.points.len()).filter(|&m| !says(m)) {
            let start = self.known_neighbours.len() as u32;
            let others = drawn.edges_of(m).iter().map(|e| e.other).filter(|&o| o != NONE);
            self.known_neighbours.extend(others.filter(|&o| says(o as usize)));
            self.unknown.push((m as u32, start, self.known_neighbours.len() as u32));
        }
    }

    /// Factors of all members from the pushes.
    pub fn compute_factors(&self, scratch: &mut ResponseScratch, out: &mut [f32]) {
        let ResponseScratch { pushes, drives, means } = scratch;
        drives.clear();
        drives.extend(self.rows.iter().zip(pushes.iter()).map(|(row, push)| {
            let at = |k: usize| row.weights[k] * pushes[row.others[k] as usize];
            // Added in two halves that do not wait for each other.
            (row.own * push + at(0) + at(1) + at(2)) + (at(3) + at(4) + at(5))
        }));
        for &(member, other, weight) in &self.more {
            drives[member as usize] += weight * pushes[other as usize];
        }
        self.average(drives, means);
        for ((factor, blend), drive) in out.iter_mut().zip(&self.blends).zip(drives.iter()) {
            // There is one mean more than sections, so the last has a next one, too.
            let (a, b) = (means[blend.low as usize], means[blend.low as usize + 1]);
            let drive = tolerances::OWN_SHARE as f32 * drive + a + (b - a) * blend.next;
            *factor = (1.0 - drive * blend.inverse_norm).max(0.0);
        }
        // One pass: members that know nothing take the mean of their neighbours'.
        for &(m, start, end) in &self.unknown {
            let known = &self.known_neighbours[start as usize..end as usize];
            let sum: f32 = known.iter().map(|&o| out[o as usize]).sum();
            out[m as usize] = if known.is_empty() { 1.0 } else { sum / known.len() as f32 };
        }
    }

    /// Means of the drives over sections, the last one twice; sections without members take that of all.
    fn average(&self, drives: &[f32], means: &mut Vec<f32>) {
        means.clear();
        means.resize(self.shares.len() + 1, 0.0);
        let (mut start, mut overall) = (0, 0.0);
        for &(section, end) in &self.runs {
            let sum = sum(&drives[start..end as usize]);
            means[section as usize] += sum;
            overall += sum;
            start = end as usize;
        }
        overall /= drives.len().max(1) as f32;
        for (mean, &share) in means.iter_mut().zip(&self.shares) {
            *mean = if share > 0.0 { *mean * share } else { overall };
        }
        let last = self.shares.len();
        means[last] = means[last.saturating_sub(1)];
    }
}

/// Sum in four strands, so that no addition waits for the one before.
fn sum(values: &[f32]) -> f32 {
    let fours = values.chunks_exact(4);
    let rest: f32 = fours.remainder().iter().sum();
    let strands: Vec4 = fours.map(Vec4::from_slice).sum();
    strands.element_sum() + rest
}
