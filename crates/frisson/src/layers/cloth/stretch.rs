//! Stretch: every edge wants its rest length.
//!
//! XPBD (Macklin, Müller, Chentanez 2016) with one iteration per small step: the correction along
//! the edge is `C / (wa + wb + alpha / h²)`, shared by inverse mass. With `r = |a - b|²` and rest
//! length `L`, `(r - L²) / (r + L²)` equals `C / |a - b|` to second order and is 0 with it, so no
//! square root is needed.

use glam::{DVec3, Vec4};

use super::lanes::{Moving, Vec3x4};
use super::strips::{Grouped, Strips, Way};
use crate::tolerances::cloth as limits;

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

/// Four edges without a common node, ready to be solved at once: node indices count from the start of
/// their strip. Empty lanes have no share.
#[derive(Clone, Copy, Debug)]
pub struct StretchPack {
    a: [u32; 4],
    b: [u32; 4],
    rest_sq: Vec4,
    /// Share of the correction that each end takes.
    share_a: Vec4,
    share_b: Vec4,
    /// How much more than the limit each may stretch, because pins are pulled apart [-].
    allowance: Vec4,
    /// Share of its correction that a sweep makes [-]: 1, or less where the cloth cannot have its lengths.
    /// Sequential projections onto what cannot all be met end uneven; small ones end in balance.
    ease: Vec4,
}

impl Default for StretchPack {
    fn default() -> Self {
        let none = Vec4::ZERO;
        Self {
            a: [0; 4],
            b: [0; 4],
            rest_sq: Vec4::ONE,
            share_a: none,
            share_b: none,
            allowance: none,
            ease: Vec4::ONE,
        }
    }
}

/// Limits and modes of the pass.
#[derive(Clone, Copy, Debug)]
pub struct StretchLimits {
    /// Greatest stretch [-].
    pub stretch_limit: f64,
    /// Greatest compression [-].
    pub compression_limit: f64,
    /// Share of the stiffness that resists compression, 0 or 1 [-].
    pub in_compression: f64,
    /// Lengths that edges want, in rest lengths [-]: more than 1 where air stretches the cloth evenly.
    pub swell: f64,
}

/// Packs that are looked at for a free lane.
const OPEN_PACKS: usize = 12;

/// Packs the edges of every strip, for a step length and the present inverse masses. An edge joins an
/// earlier pack that has room, but never overtakes one that it shares a node with.
pub fn compile(
    edges: &Grouped<Edge>,
    strips: &Strips,
    inverse_mass: &[f64],
    step: f64,
) -> Grouped<StretchPack> {
    Grouped::collect(strips.len(), |strip, packs: &mut Vec<StretchPack>| {
        let base = strips.start(strip);
        let mut lanes: Vec<usize> = Vec::new();
        for edge in edges.of(strip) {
            let [wa, wb] = edge.nodes.map(|n| inverse_mass[n as usize]);
            // Both ends held: nothing can move, and the quotient below would be none.
            if wa + wb <= 0.0 {
                continue;
            }
            let [a, b] = edge.nodes.map(|n| n - base);
            let clash = |p: usize| {
                let used = lanes[p];
                let has =
                    |n: &u32| packs[p].a[..used].contains(n) || packs[p].b[..used].contains(n);
                has(&a) || has(&b)
            };
            // Earlier packs are full mostly; looking through all would take the square of their number.
            let first = packs.len().saturating_sub(OPEN_PACKS);
            // Back until one shares a node: an edge may not overtake a neighbour, or the order that carries a pull is lost.
            let free = (first..packs.len()).rev().take_while(|&p| !clash(p));
            let into = free.filter(|&p| lanes[p] < 4).last().unwrap_or_else(|| {
                packs.push(StretchPack::default());
                lanes.push(0);
                packs.len() - 1
            });
            let lane = lanes[into];
            lanes[into] += 1;
            // Solved twice a step, there and back: each way has half the stiffness.
            let soft = wa + wb + 2.0 * edge.compliance / (step * step);
            let pack = &mut packs[into];
            (pack.a[lane], pack.b[lane]) = (a, b);
            pack.rest_sq[lane] = (edge.rest * edge.rest) as f32;
            pack.share_a[lane] = (wa / soft) as f32;
            pack.share_b[lane] = (wb / soft) as f32;
        }
    })
}

/// Raises the limits by what pulled pins ask of each node; empty `needs` put them back.
pub fn raise_limits(packs: &mut Grouped<StretchPack>, strips: &Strips, needs: &[f32]) {
    for strip in 0..strips.len() {
        let base = strips.start(strip);
        let need = |n: u32| needs.get((base + n) as usize).copied().unwrap_or(0.0);
        for pack in packs.of_mut(strip) {
            let allowance = [0, 1, 2, 3].map(|k: usize| need(pack.a[k]).max(need(pack.b[k])));
            pack.allowance = Vec4::from_array(allowance);
            let ease = |need: f32| (1.0 / (1.0 + limits::EASE_PER_NEED * need)).max(limits::EASE);
            // What holds but one end moves it alone: twice as far as it should against the others.
            let held = pack.share_a.cmpeq(Vec4::ZERO) | pack.share_b.cmpeq(Vec4::ZERO);
            let eased = Vec4::from_array(allowance.map(ease));
            let halved = held & eased.cmplt(Vec4::ONE);
            pack.ease = Vec4::select(halved, 0.5 * eased, eased);
        }
    }
}

/// Solves the packs of one strip, one after the other.
pub fn solve(packs: &[StretchPack], bounds: StretchLimits, way: Way, nodes: &mut [Moving]) {
    // The case of nearly all cloth, apart: it is shorter.
    let plain = bounds.in_compression == 1.0 && bounds.compression_limit >= 1.0;
    // Limits are told in rest lengths, stretch in those that edges want.
    let limit = Vec4::splat(((1.0 + bounds.stretch_limit) / bounds.swell - 1.0) as f32);
    let swell_sq = Vec4::splat((bounds.swell * bounds.swell) as f32);
    let softness = Vec4::splat(bounds.in_compression as f32);
    let shortest = Vec4::splat(bounds.compression_limit as f32);
    // Stretch to correct: the fabric's share of it, or what is beyond the limit if that is more.
    let pull = |s: Vec4, rigid: Vec4, allowance: Vec4| s.max((s - limit - allowance) * rigid);
    let either = |s: Vec4, rigid: Vec4, allowance: Vec4| {
        let hard = ((s + shortest) * rigid).min(Vec4::ZERO);
        let push = (s * softness).min(hard);
        Vec4::select(s.cmpge(Vec4::ZERO), pull(s, rigid, allowance), push)
    };
    let one = |p: &StretchPack, nodes: &mut [Moving]| solve_pack(p, swell_sq, nodes, pull);
    let other = |p: &StretchPack, nodes: &mut [Moving]| solve_pack(p, swell_sq, nodes, either);
    match (plain, way) {
        (true, Way::There) => packs.iter().for_each(|p| one(p, nodes)),
        (true, Way::Back) => packs.iter().rev().for_each(|p| one(p, nodes)),
        (false, Way::There) => packs.iter().for_each(|p| other(p, nodes)),
        (false, Way::Back) => packs.iter().rev().for_each(|p| other(p, nodes)),
    }
}

#[inline(always)]
fn solve_pack(
    pack: &StretchPack,
    swell_sq: Vec4,
    nodes: &mut [Moving],
    correct: impl Fn(Vec4, Vec4, Vec4) -> Vec4,
) {
    let d = Vec3x4::gather(nodes, pack.a) - Vec3x4::gather(nodes, pack.b);
    let r = d.length_squared();
    let rest_sq = pack.rest_sq * swell_sq;
    // From a compliant to a rigid correction, for the limits.
    let rigid = Vec4::ONE / (pack.share_a + pack.share_b).max(Vec4::splat(f32::MIN_POSITIVE));
    let s = correct((r - rest_sq) / (r + rest_sq), rigid, pack.allowance) * pack.ease;
    (d * (s * -pack.share_a)).add_to(nodes, pack.a);
    (d * (s * pack.share_b)).add_to(nodes, pack.b);
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
        // Along the edge, where stiff threads ring, and all else: bending and swinging must not be damped as hard.
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
