//! Wisp against wisp: who overlaps, what happens, and one impulse per pair of sections.
//!
//! Detection runs in parallel and finds, for every pair, how the relative velocity depends on the
//! particles and samples of both (`coefficients`). Impulses are then applied pair after pair, always
//! in the same order, along the same coefficients with opposite signs: momentum is kept to rounding.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::params::InteractionParams;
use super::rest::HairRest;
use super::sections::{End, Inside, closest_on_segments, envelope_radius, point_in_section};
use super::state::Wisp;
use crate::geometry::Grid;

/// Most samples around a particle.
pub(super) const MAX_SAMPLES: usize = 8;

/// Sections a task searches at once.
const CHUNK: usize = 32;

/// Two sections that overlap.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// First node of each section in the flat arrays.
    pub nodes: [u32; 2],
    /// Shares of the four nodes (first section's two, second's two) in the relative velocity.
    pub node_shares: [f32; 4],
    /// Shares of their samples.
    pub sample_shares: [[f32; MAX_SAMPLES]; 4],
    /// From the first section towards the second.
    pub normal: Vec3,
    /// Density of hair relative to that at rest, times the share of both that overlaps [-].
    pub density: f32,
}

/// Flat copies of what the wisps' interactions need, reused from tick to tick.
#[derive(Default)]
pub(super) struct Interactions {
    samples: usize,
    count: usize,
    centers: Vec<Vec3>,
    normals: Vec<Vec3>,
    across: Vec<Vec3>,
    second: Vec<Vec3>,
    widest: Vec<f32>,
    radii: Vec<f32>,
    pub velocities: Vec<Vec3>,
    pub rates: Vec<f32>,
    pub masses: Vec<f32>,
    densities: Vec<f32>,
    wetness: Vec<f32>,
    middles: Vec<Vec3>,
    extents: Vec<Vec3>,
    grid: Grid,
    found: Vec<Vec<Pair>>,
    /// Pairs treated in the last pass: interpenetrations, collisions.
    pub treated: [u32; 2],
}

/// What the pass may know of the wisps besides their shape.
pub(super) struct InteractionInput<'a> {
    pub rest: &'a HairRest,
    pub params: &'a InteractionParams,
    /// Share of a node's mass that its samples carry [-].
    pub mass_share: f32,
    pub wetness: &'a [f32],
    /// Time since the last pass [s].
    pub dt: f32,
    /// Particles of a wisp that the scalp carries and no impulse moves.
    pub carried: usize,
}

impl Interactions {
    /// Finds overlapping sections and changes the wisps' velocities.
    pub fn apply(&mut self, input: &InteractionInput, wisps: &mut [Wisp]) {
        self.gather(input, wisps);
        self.find_pairs(input, wisps);
        self.apply_impulses(input);
        self.scatter(wisps);
    }

    pub fn gather(&mut self, input: &InteractionInput, wisps: &[Wisp]) {
        let n = input.rest.count;
        self.count = n;
        self.samples = input.rest.directions.len();
        let s = self.samples;
        let total = wisps.len() * n;
        self.centers.resize(total, Vec3::ZERO);
        self.normals.resize(total, Vec3::ZERO);
        self.across.resize(total, Vec3::ZERO);
        self.second.resize(total, Vec3::ZERO);
        self.velocities.resize(total, Vec3::ZERO);
        self.widest.resize(total, 0.0);
        self.masses.resize(total, 0.0);
        self.densities.resize(total, 0.0);
        self.wetness.resize(total, 0.0);
        self.radii.resize(total * s, 0.0);
        self.rates.resize(total * s, 0.0);
        for (w, wisp) in wisps.iter().enumerate() {
            let range = w * n..(w + 1) * n;
            let fine = w * n * s..(w + 1) * n * s;
            self.centers[range.clone()].copy_from_slice(&wisp.positions);
            self.normals[range.clone()].copy_from_slice(&wisp.normals);
            self.across[range.clone()].copy_from_slice(&wisp.across);
            self.velocities[range].copy_from_slice(&wisp.velocities);
            self.radii[fine.clone()].copy_from_slice(&wisp.radii);
            self.rates[fine].copy_from_slice(&wisp.radial_velocities);
            let root = &input.rest.roots[wisp.root as usize];
            let wet = input.wetness[wisp.root as usize];
            let heavier = 1.0 + wet;
            for i in 0..n {
                let node = w * n + i;
                self.wetness[node] = wet;
                self.second[node] = wisp.second_axis(i);
                let radii = &wisp.radii[i * s..(i + 1) * s];
                self.widest[node] = radii.iter().copied().fold(0.0, f32::max);
                self.masses[node] = root.masses[i] as f32 * wisp.share * heavier;
                let mean = radii.iter().sum::<f32>() / s as f32;
                let ratio = root.radii[i] / mean.max(0.1 * root.radii[i]);
                self.densities[node] = wisp.share * ratio * ratio;
            }
        }
    }

    fn scatter(&self, wisps: &mut [Wisp]) {
        let (n, s) = (self.count, self.samples);
        for (w, wisp) in wisps.iter_mut().enumerate() {
            wisp.velocities.copy_from_slice(&self.velocities[w * n..(w + 1) * n]);
            wisp.radial_velocities.copy_from_slice(&self.rates[w * n * s..(w + 1) * n * s]);
        }
    }

    /// First node of a section; the first section of a wisp starts at particle 1.
    fn first_node(&self, section: usize) -> usize {
        let per_wisp = self.count - 2;
        section / per_wisp * self.count + 1 + section % per_wisp
    }

    /// All overlapping pairs, each once, in ascending order.
    pub fn find_pairs(&mut self, input: &InteractionInput, wisps: &[Wisp]) {
        let per_wisp = self.count - 2;
        let sections = wisps.len() * per_wisp;
        self.middles.clear();
        self.extents.clear();
        let mut largest = 0.0f32;
        for section in 0..sections {
            let a = self.first_node(section);
            let (p, q) = (self.centers[a], self.centers[a + 1]);
            let wide = self.widest[a].max(self.widest[a + 1]);
            let extent = 0.5 * (p - q).abs() + Vec3::splat(wide);
            self.middles.push(0.5 * (p + q));
            self.extents.push(extent);
            largest = largest.max(extent.max_element());
        }
        let mut grid = std::mem::take(&mut self.grid);
        grid.build_points(&self.middles, (2.0 * largest).max(1.0e-4));
        let mut found = std::mem::take(&mut self.found);
        found.resize_with(sections.div_ceil(CHUNK), Vec::new);
        let this = &*self;
        found.par_iter_mut().enumerate().for_each(|(chunk, found)| {
            found.clear();
            for a in chunk * CHUNK..((chunk + 1) * CHUNK).min(sections) {
                let begin = found.len();
                let reach = this.extents[a] + Vec3::splat(largest);
                let middle = this.middles[a];
                grid.query(middle - reach, middle + reach, |b| {
                    let b = b as usize;
                    if b > a && this.may_meet(input, wisps, a, b) {
                        found.extend(this.overlap(a, b));
                    }
                });
                found[begin..].sort_unstable_by_key(|p| p.nodes[1]);
            }
        });
        (self.grid, self.found) = (grid, found);
    }

    /// The pairs found last.
    #[cfg(test)]
    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.found.iter().flatten()
    }

    fn may_meet(&self, input: &InteractionInput, wisps: &[Wisp], a: usize, b: usize) -> bool {
        let apart = (self.middles[a] - self.middles[b]).abs();
        if apart.cmpgt(self.extents[a] + self.extents[b]).any() {
            return false;
        }
        if self.move_together(a, b) {
            return false;
        }
        let per_wisp = self.count - 2;
        let (wa, wb) = (a / per_wisp, b / per_wisp);
        if wa == wb {
            return input.params.with_itself && b - a > 1;
        }
        let (x, y) = (&wisps[wa], &wisps[wb]);
        // Fresh halves lie in each other: they do not rub before they have been apart.
        !(x.root == y.root && x.splits.last() == y.splits.last() && !(x.apart && y.apart))
    }

    /// Whether two sections hardly move against each other: then there is nothing to rub or stop, and
    /// hair at rest costs nothing.
    fn move_together(&self, a: usize, b: usize) -> bool {
        let (na, nb) = (self.first_node(a), self.first_node(b));
        let slow = super::limits::SLOW * super::limits::SLOW;
        let apart =
            |x: usize, y: usize| self.velocities[x].distance_squared(self.velocities[y]) < slow;
        apart(na, nb) && apart(na + 1, nb + 1) && apart(na, nb + 1) && apart(na + 1, nb)
    }

    fn ends(&self, node: usize) -> [End<'_>; 2] {
        let s = self.samples;
        [node, node + 1].map(|k| End {
            center: self.centers[k],
            normal: self.normals[k],
            across: self.across[k],
            second: self.second[k],
            radii: &self.radii[k * s..(k + 1) * s],
        })
    }

    /// The overlap of two sections, if there is one.
    fn overlap(&self, a: usize, b: usize) -> Option<Pair> {
        let (na, nb) = (self.first_node(a), self.first_node(b));
        let (ea, eb) = (self.ends(na), self.ends(nb));
        let axes = [[ea[0].center, ea[1].center], [eb[0].center, eb[1].center]];
        let (s, t) = closest_on_segments(axes[0], axes[1]);
        let (pa, pb) = (axes[0][0].lerp(axes[0][1], s), axes[1][0].lerp(axes[1][1], t));
        let gap = pb - pa;
        let distance = gap.length();
        let wide = |n: usize| self.widest[n].max(self.widest[n + 1]);
        // Nothing of either can be inside the other beyond the sum of the widest radii.
        if distance > wide(na) + wide(nb) {
            return None;
        }
        let mut sum = Overlap::default();
        self.add_points(&ea, wide(na), nb, 2, &mut sum, 1.0);
        self.add_points(&eb, wide(nb), na, 0, &mut sum, -1.0);
        let direction = if distance > 1.0e-6 {
            gap / distance
        } else {
            (axes[0][1] - axes[0][0]).cross(axes[1][1] - axes[1][0]).normalize_or(Vec3::Y)
        };
        let ra = radius_towards(&ea, direction, s);
        let rb = radius_towards(&eb, -direction, t);
        if distance < ra + rb {
            sum.weight += 1.0;
            sum.normal += direction;
            for (k, share) in [s - 1.0, -s, 1.0 - t, t].into_iter().enumerate() {
                sum.node_shares[k] += share;
            }
        }
        if sum.weight <= 0.0 {
            return None;
        }
        let scale = 1.0 / sum.weight;
        // Two particles and two rings of samples on either side: all of them inside is a full overlap.
        let overlap = (sum.weight / 8.0).min(1.0);
        let nodes = [na, na + 1, nb, nb + 1];
        let density = 0.25 * nodes.iter().map(|&k| self.densities[k]).sum::<f32>();
        Some(Pair {
            nodes: [na as u32, nb as u32],
            node_shares: sum.node_shares.map(|x| x * scale),
            sample_shares: sum.sample_shares.map(|x| x.map(|y| y * scale)),
            normal: sum.normal.normalize_or(direction),
            density: density * overlap,
        })
    }

    /// Adds the particles and samples at node `n` and `n + 1` that are inside the section `ends`.
    /// `slot` is where that node's shares are; `sign` makes all velocities second minus first.
    fn add_points(
        &self,
        ends: &[End; 2],
        wide: f32,
        n: usize,
        slot: usize,
        sum: &mut Overlap,
        sign: f32,
    ) {
        let s = self.samples;
        let other = 2 - slot;
        let per_sample = 1.0 / s as f32;
        let bound = Bound::new(ends, wide);
        for k in 0..2 {
            let node = n + k;
            let center = self.centers[node];
            if bound.may_hold(center)
                && let Some(inside) = point_in_section(center, ends)
            {
                sum.node_shares[slot + k] += sign;
                sum.add_volume(&inside, other, s, sign);
            }
            for sample in 0..s {
                let p = center + self.radii[node * s + sample] * self.axis(node, sample);
                if bound.may_hold(p)
                    && let Some(inside) = point_in_section(p, ends)
                {
                    sum.sample_shares[slot + k][sample] += sign * per_sample;
                    sum.add_volume(&inside, other, s, sign * per_sample);
                }
            }
        }
    }
}

/// A quick no for points that are far from a section: beyond its widest radius from the axis' line.
struct Bound {
    origin: Vec3,
    along: Vec3,
    length: f32,
    wide: f32,
}

impl Bound {
    fn new(ends: &[End; 2], wide: f32) -> Self {
        let axis = ends[1].center - ends[0].center;
        let length = axis.length();
        let along = axis / length.max(1.0e-9);
        Self { origin: ends[0].center, along, length, wide }
    }

    fn may_hold(&self, p: Vec3) -> bool {
        let away = p - self.origin;
        let x = self.along.dot(away);
        let across_sq = away.length_squared() - x * x;
        across_sq <= self.wide * self.wide && x > -self.wide && x < self.length + self.wide
    }
}

/// Radius of a section at a fraction of its axis towards a world direction.
fn radius_towards(ends: &[End; 2], direction: Vec3, fraction: f32) -> f32 {
    let at = |end: &End| {
        let flat = Vec2::new(direction.dot(end.across), direction.dot(end.second));
        envelope_radius(end.radii, if flat == Vec2::ZERO { Vec2::X } else { flat })
    };
    (1.0 - fraction) * at(&ends[0]) + fraction * at(&ends[1])
}

/// The sample before a direction of the plane, and the share of the one after it. Four samples share
/// by the squares of the direction's coordinates, which needs no angle; others by the angle.
fn neighbours(direction: Vec2, samples: usize) -> (usize, f32) {
    if samples == 4 {
        let total = direction.length_squared().max(1.0e-12);
        let (x, y) = (direction.x, direction.y);
        return match (x >= 0.0, y >= 0.0) {
            (true, true) => (0, y * y / total),
            (false, true) => (1, x * x / total),
            (false, false) => (2, y * y / total),
            (true, false) => (3, x * x / total),
        };
    }
    let turn = direction.y.atan2(direction.x) / std::f32::consts::TAU;
    let at = (turn - turn.floor()) * samples as f32;
    let below = (at as usize).min(samples - 1);
    (below, at - below as f32)
}

/// Sums over the points of two sections that are inside one another.
#[derive(Default)]
struct Overlap {
    weight: f32,
    node_shares: [f32; 4],
    sample_shares: [[f32; MAX_SAMPLES]; 4],
    normal: Vec3,
}

impl Overlap {
    /// The volume's own velocity at a point inside it, by the weights of what defines it there.
    fn add_volume(&mut self, inside: &Inside, slot: usize, samples: usize, signed: f32) {
        self.weight += signed.abs();
        self.normal += signed * inside.normal;
        for k in 0..2 {
            let share = if k == 0 { 1.0 - inside.along } else { inside.along };
            let envelope = share * inside.outward;
            self.node_shares[slot + k] -= signed * (share - envelope);
            let (below, t) = neighbours(inside.directions[k], samples);
            self.sample_shares[slot + k][below] -= signed * envelope * (1.0 - t);
            self.sample_shares[slot + k][(below + 1) % samples] -= signed * envelope * t;
        }
    }
}

impl Interactions {
    /// One impulse per pair, in order.
    pub fn apply_impulses(&mut self, input: &InteractionInput) {
        self.treated = [0; 2];
        let found = std::mem::take(&mut self.found);
        for pair in found.iter().flatten() {
            self.apply_pair(input, pair);
        }
        self.found = found;
    }

    fn apply_pair(&mut self, input: &InteractionInput, pair: &Pair) {
        let [a, b] = pair.nodes.map(|n| n as usize);
        let nodes = [a, a + 1, b, b + 1];
        let velocity = self.relative_velocity(pair, &nodes);
        let Some((changes, kind)) = self.wanted_changes(input, pair, velocity) else { return };
        self.treated[kind] += 1;
        for change in changes {
            let size = change.length();
            if size > super::limits::STILL {
                let direction = change / size;
                self.push(input, pair, &nodes, direction, size);
            }
        }
    }

    /// Changes the relative velocity by `size` along `direction`, with an impulse along it.
    ///
    /// A node with its samples has kinetic energy `M |v|^2 / 2 + sum m r' u . v + sum m r'^2 / 2`.
    /// Of an impulse on a sample the radial part goes to the sample, the rest to the particle; when a
    /// particle is pushed its samples keep their own momentum (`r'` drops by `u . dv`). Both are what
    /// that energy asks for, so a push never adds energy.
    fn push(
        &mut self,
        input: &InteractionInput,
        pair: &Pair,
        nodes: &[usize; 4],
        direction: Vec3,
        size: f32,
    ) {
        let s = self.samples;
        let sample_mass = input.mass_share / s as f32;
        let mut on_nodes = [Vec3::ZERO; 4];
        let mut response = 0.0;
        for k in 0..4 {
            let node = nodes[k];
            if node % self.count < input.carried {
                continue;
            }
            let inverse = 1.0 / self.masses[node];
            let (mut total, mut impulse) = (pair.node_shares[k], pair.node_shares[k] * direction);
            let mut radial_response = 0.0;
            let mut answer = Vec3::ZERO;
            for sample in 0..s {
                let share = pair.sample_shares[k][sample];
                if share != 0.0 {
                    let axis = self.axis(node, sample);
                    let radial = direction.dot(axis);
                    total += share;
                    impulse += share * (direction - radial * axis);
                    radial_response += share * share * radial * radial;
                    answer += (share * radial) * axis;
                }
            }
            let change = self.node_response(input, node, impulse, inverse);
            on_nodes[k] = change;
            response += total * change.dot(direction) - answer.dot(change)
                + radial_response * inverse / sample_mass;
        }
        if response <= 0.0 {
            return;
        }
        let strength = size / response;
        for k in 0..4 {
            let node = nodes[k];
            if node % self.count < input.carried {
                continue;
            }
            let change = strength * on_nodes[k];
            self.velocities[node] += change;
            let per_mass = strength / (sample_mass * self.masses[node]);
            for sample in 0..s {
                let axis = self.axis(node, sample);
                let share = pair.sample_shares[k][sample];
                let gain = share * direction.dot(axis) * per_mass - axis.dot(change);
                self.rates[node * s + sample] += gain;
            }
        }
    }

    /// Velocity that a particle takes from an impulse: its samples' radial masses stay behind.
    fn node_response(
        &self,
        input: &InteractionInput,
        node: usize,
        impulse: Vec3,
        inverse: f32,
    ) -> Vec3 {
        let across = inverse / (1.0 - 0.5 * input.mass_share);
        let normal = self.normals[node];
        across * impulse + (inverse - across) * normal.dot(impulse) * normal
    }

    fn axis(&self, node: usize, sample: usize) -> Vec3 {
        if self.samples == 4 {
            let axis = if sample & 1 == 0 { self.across[node] } else { self.second[node] };
            return if sample < 2 { axis } else { -axis };
        }
        let angle = std::f32::consts::TAU * sample as f32 / self.samples as f32;
        let (sine, cosine) = angle.sin_cos();
        cosine * self.across[node] + sine * self.second[node]
    }

    /// Velocity of the second section against the first [m/s].
    fn relative_velocity(&self, pair: &Pair, nodes: &[usize; 4]) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for k in 0..4 {
            let node = nodes[k];
            let mut share = pair.node_shares[k];
            for s in 0..self.samples {
                let of_sample = pair.sample_shares[k][s];
                if of_sample != 0.0 {
                    share += of_sample;
                    let rate = self.rates[node * self.samples + s];
                    sum += (of_sample * rate) * self.axis(node, s);
                }
            }
            sum += share * self.velocities[node];
        }
        sum
    }

    /// How the relative velocity should change, in two steps, and by which phenomenon (0 rubbing,
    /// 1 collision).
    fn wanted_changes(
        &self,
        input: &InteractionInput,
        pair: &Pair,
        velocity: Vec3,
    ) -> Option<([Vec3; 2], usize)> {
        let params = input.params;
        let speed = velocity.length();
        if speed < super::limits::STILL {
            return None;
        }
        let [a, b] = pair.nodes.map(|n| n as usize);
        let along = |n: usize| (self.centers[n + 1] - self.centers[n]).normalize_or_zero();
        let across = along(a).cross(along(b));
        let parallel = across.length() < super::limits::PARALLEL;
        let forbidden = if parallel { Vec3::ZERO } else { across.normalize() };
        let steep = forbidden.dot(velocity).abs() / speed;
        if parallel || steep < params.threshold {
            if !params.friction {
                return None;
            }
            let wet = 1.0 + 4.0 * self.wetness[a].max(self.wetness[b]);
            let decay = -(-params.viscosity * wet * pair.density * input.dt).exp_m1();
            let barred = forbidden * forbidden.dot(velocity);
            return Some(([-barred, -decay * (velocity - barred)], 0));
        }
        let approach = pair.normal.dot(velocity);
        if !params.collisions || approach >= 0.0 {
            return None;
        }
        let change = if params.full { -velocity } else { -approach * pair.normal };
        Some(([change, Vec3::ZERO], 1))
    }
}
