//! Skin weights: each primitive belongs to a joint (or a chain of joints); a vertex follows the
//! primitives nearest to it, and the weights are then spread along the surface.

use glam::Vec3;
use rayon::prelude::*;

use super::field::{Clay, Part};
use super::rig::{Joint, Rig};

/// Weight that is too small to see [-]: 4 mm of a metre's motion.
const LEAST_SEEN: f32 = 0.004;
/// Over which part of a shape's thickness its weight fades beside another, and over which length at
/// least [-, m].
const SOFTNESS: f32 = 0.3;
const LEAST_SOFTNESS: f32 = 0.003;
/// Weight of a shape that is not worth asking its bones for [-].
const LEAST_WEIGHT: f32 = 1e-3;
/// Shortest bone [m].
const LEAST_BONE: f32 = 1e-4;
/// How fast a bone's share falls beside its middle, in squared lengths of it [-].
const FALL: f32 = 1.4;
/// Least sum of shares that is divided by [-].
const LEAST_TOTAL: f32 = 1e-6;

/// Influences a vertex may have.
pub(crate) const MAX_INFLUENCES: usize = 4;

/// Weights of all vertices: spread over `passes` rings of neighbours, then the four largest kept.
pub(crate) fn compute(
    clay: &Clay,
    rig: &Rig,
    positions: &[Vec3],
    neighbours: &[Vec<u32>],
    passes: usize,
) -> Vec<Vec<(u16, f32)>> {
    let count = rig.len();
    let mut weights: Vec<Vec<f32>> =
        positions.par_iter().map(|&p| at(clay, rig, p, count)).collect();
    for _ in 0..passes {
        weights = (0..weights.len())
            .into_par_iter()
            .map(|v| {
                let around = &neighbours[v];
                let share = 0.5 / around.len().max(1) as f32;
                (0..count)
                    .map(|j| {
                        let sum: f32 = around.iter().map(|&n| weights[n as usize][j]).sum();
                        // Half of its own: a plain mean of neighbours would flip back and forth between passes.
                        0.5 * weights[v][j] + share * sum
                    })
                    .collect()
            })
            .collect();
    }
    weights.iter().map(|w| strongest(w)).collect()
}

/// The four largest, ignoring what is too small to see, scaled to sum to 1.
pub(crate) fn strongest(weights: &[f32]) -> Vec<(u16, f32)> {
    let mut list: Vec<(u16, f32)> = weights
        .iter()
        .enumerate()
        .filter(|(_, w)| **w > LEAST_SEEN)
        .map(|(joint, &w)| (joint as u16, w))
        .collect();
    // Ties by joint: which four are kept must not depend on the sort.
    list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    list.truncate(MAX_INFLUENCES);
    let total: f32 = list.iter().map(|(_, w)| w).sum();
    list.iter_mut().for_each(|(_, w)| *w /= total);
    list
}

fn at(clay: &Clay, rig: &Rig, p: Vec3, count: usize) -> Vec<f32> {
    let parts: Vec<(f32, &Part)> = clay
        .parts
        .iter()
        .filter(|part| !part.carve && !part.joints.is_empty())
        .map(|part| (part.shape.distance(p), part))
        .collect();
    let nearest = parts.iter().map(|(d, _)| *d).fold(f32::MAX, f32::min);
    let mut out = vec![0.0; count];
    for (distance, part) in parts {
        let softness = (SOFTNESS * part.shape.thickness()).max(LEAST_SOFTNESS);
        // Relative to the nearest, so that the largest is 1 and none underflows far from the body.
        let weight = (-(distance - nearest) / softness).exp();
        if weight > LEAST_WEIGHT {
            along_chain(rig, &part.joints, p, weight, &mut out);
        }
    }
    let total: f32 = out.iter().sum();
    out.iter_mut().for_each(|w| *w /= total);
    out
}

/// Shares a weight among the bones of a chain by how near their middles are along the bones.
fn along_chain(rig: &Rig, joints: &[Joint], p: Vec3, weight: f32, out: &mut [f32]) {
    let [_, _, ..] = joints else {
        out[joints[0]] += weight;
        return;
    };
    let share = |i: usize| {
        let a = rig.place(joints[i]);
        let (from, to) = if i + 1 < joints.len() {
            (a, rig.place(joints[i + 1]))
        } else {
            // The last bone has no end: as long again as the one before.
            (a, 2.0 * a - rig.place(joints[i - 1]))
        };
        let length = from.distance(to).max(LEAST_BONE);
        let along = (p - 0.5 * (from + to)).dot((to - from) / length) / length;
        // Outer bones also own what lies beyond the chain's ends.
        let beyond = (i == 0 && along < 0.0) || (i + 1 == joints.len() && along > 0.0);
        if beyond { 1.0 } else { (-FALL * along * along).exp() }
    };
    let shares: Vec<f32> = (0..joints.len()).map(share).collect();
    let total: f32 = shares.iter().sum::<f32>().max(LEAST_TOTAL);
    for (&joint, share) in joints.iter().zip(shares) {
        out[joint] += weight * share / total;
    }
}
