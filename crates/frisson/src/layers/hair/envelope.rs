//! The elastic envelope: small masses on half-axes around each particle.
//!
//! `m r'' = (F_ext - m a_p) . u - k (r - r0) - c r'`, implicit in the spring and the damper. What a
//! sample gains along its half-axis the particle loses: that is what gives a wisp its thickness
//! against bodies and neighbours.

use std::ops::Range;

use glam::{Vec3, Vec4};

use super::around::Around;
use super::chain::MAX_PARTICLES;
use super::lanes::Lanes;
use super::rest::WispRoot;
use super::sections::GROUPS;
use super::state::Wisp;
use super::tick::{HairDrive, TickInput};

/// Share of a particle's mass that one sample carries [-].
pub(super) fn sample_share(input: &TickInput) -> f32 {
    input.params.envelope.mass_share / input.rest.directions.len() as f32
}

/// Share of its radius that a wisp loses when it is soaked [-]: wet hairs cling to each other.
const WET_SHRINKS: f32 = 0.6;

/// Most acceleration that an envelope gives its particle [m/s²]: twenty times gravity, which only a crash reaches.
const STRONGEST_REACTION: f32 = 200.0;

/// Rest radius of a plane of a wisp [m].
pub(super) fn rest_radius(root: &WispRoot, wisp: &Wisp, plane: usize, wetness: f32) -> f32 {
    if plane < 2 {
        return root.radii[plane];
    }
    root.radii[plane] * wisp.radius_scale * (1.0 - WET_SHRINKS * wetness)
}

/// Advances the samples of a wisp by one tick, keeps them out of bodies, and notes what they give
/// back to the particles. `before` are the particles' velocities when the tick began; samples that are slower than
/// `resting` stay where they are [m/s].
pub(super) fn advance(
    input: &TickInput,
    wisp: &mut Wisp,
    drive: &HairDrive,
    (before, resting): (&[Vec3; MAX_PARTICLES], f32),
    around: &Around,
) {
    let root = &input.rest.roots[wisp.root as usize];
    let spring = Spring::new(input);
    let (dt, drag) = (input.dt as f32, input.drag as f32);
    let wet = input.wetness[wisp.root as usize];
    let samples = input.rest.directions.len();
    let rings: [Ring; GROUPS] = std::array::from_fn(|group| Ring::new(input, group));
    for i in 2..wisp.positions.len() {
        // As the chain has moved in this very tick, contacts included: a wisp that hits a body bulges at once.
        let own = (wisp.velocities[i] - before[i]) / dt;
        let outer = drive.accelerations[i] + drag * (drive.air[i] - wisp.velocities[i]);
        let rest = rest_radius(root, wisp, i, wet);
        let second = wisp.second_axis(i);
        let mut reaction = Vec3::ZERO;
        for (first, ring) in (0..samples).step_by(4).zip(&rings) {
            let range = i * samples + first..i * samples + samples.min(first + 4);
            let mut four = Samples::gather(wisp, (i, second), ring, range.clone());
            four.felt = four.axes.dot(outer - own);
            let radii = four.radii;
            four.integrate(&spring, dt, rest);
            four.collide(input, wisp, around, i);
            let moved = (four.radii - radii).abs().max_element();
            if moved < resting * dt {
                (four.radii, four.rates) = (radii, Vec4::ZERO);
            }
            reaction += four.reaction(&spring, rest);
            wisp.radii[range.clone()].copy_from_slice(&four.radii.to_array()[..range.len()]);
            wisp.radial_velocities[range.clone()]
                .copy_from_slice(&four.rates.to_array()[..range.len()]);
        }
        // Only a head-on crash gets near this; the chain must never be shot off by its envelope.
        wisp.reactions[i] = reaction.clamp_length_max(STRONGEST_REACTION);
    }
}

/// The spring and damper of a sample, per mass.
struct Spring {
    k: f32,
    c: f32,
    /// Share of a particle's mass with which a sample reacts [-].
    share: f32,
}

impl Spring {
    fn new(input: &TickInput) -> Self {
        let dt = input.dt as f32;
        let omega = std::f32::consts::TAU * input.params.envelope.frequency_hz;
        let (k, c) = (omega * omega, 2.0 * input.params.envelope.damping_ratio * omega);
        // The reaction acts one tick late: a spring too hard for the tick gives back less, not more.
        let share = sample_share(input) * (0.5 / (dt * dt * k * sample_share(input))).min(1.0);
        Self { k, c, share }
    }
}

/// Up to four samples of one particle.
struct Samples {
    axes: Lanes,
    radii: Vec4,
    rates: Vec4,
    /// 1 where there is a sample.
    present: Vec4,
    /// Acceleration along each half-axis, the particle's own taken off [m/s²].
    felt: Vec4,
}

/// Where up to four samples sit around any particle: what all planes of all wisps share.
struct Ring {
    cosines: Vec4,
    sines: Vec4,
    /// 1 where there is a sample.
    present: Vec4,
}

impl Ring {
    fn new(input: &TickInput, group: usize) -> Self {
        let of = |f: &dyn Fn((f32, f32)) -> f32| {
            let at = |k: usize| input.rest.directions.get(4 * group + k);
            Vec4::from_array(std::array::from_fn(|k| at(k).map_or(0.0, |d| f(*d))))
        };
        Self { cosines: of(&|d| d.0), sines: of(&|d| d.1), present: of(&|_| 1.0) }
    }
}

/// Up to four numbers, 0 where there are fewer.
fn four_of(values: &[f32]) -> Vec4 {
    if let [a, b, c, d] = *values {
        return Vec4::new(a, b, c, d);
    }
    Vec4::from_array(std::array::from_fn(|k| values.get(k).copied().unwrap_or(0.0)))
}

impl Samples {
    fn gather(
        wisp: &Wisp,
        (particle, second): (usize, Vec3),
        ring: &Ring,
        range: Range<usize>,
    ) -> Self {
        let across = Lanes::splat(wisp.across[particle]);
        Self {
            axes: across * ring.cosines + Lanes::splat(second) * ring.sines,
            radii: four_of(&wisp.radii[range.clone()]),
            rates: four_of(&wisp.radial_velocities[range]),
            present: ring.present,
            felt: Vec4::ZERO,
        }
    }

    /// One implicit step of the springs.
    fn integrate(&mut self, spring: &Spring, dt: f32, rest: f32) {
        let push = self.felt - spring.k * (self.radii - rest);
        let rates = (self.rates + dt * push) / (1.0 + dt * spring.c + dt * dt * spring.k);
        // Never across the axis, where a radius would change sides.
        let (least, most) = (Vec4::splat(0.02 * rest), Vec4::splat(super::limits::WIDEST * rest));
        let radii = (self.radii + dt * rates).clamp(least, most);
        // From what it really moved: a sample that was stopped at its bounds has lost its speed.
        self.rates = (radii - self.radii) / dt;
        self.radii = radii;
    }

    /// Keeps the samples out of bodies: back along the half-axis to the crossing nearest the particle.
    fn collide(&mut self, input: &TickInput, wisp: &Wisp, around: &Around, i: usize) {
        // Half: the particles keep the whole margin, and an envelope as far off would press them away from the body.
        let margin = 0.5 * input.params.body.margin;
        let Some(bodies) = input.bodies.last() else { return };
        let (p, own) = (wisp.positions[i], wisp.velocities[i]);
        let mut bits = around.near_envelope[i];
        while bits != 0 {
            let k = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            // Bodies beyond the sixty-third share its bit.
            for (k, body) in
                bodies.iter().enumerate().skip(k).take(if k < 63 { 1 } else { usize::MAX })
            {
                // A root that the body swallows takes its envelope along.
                let margin = margin.min(around.heights.at(i, k) - margin);
                let met = body.crossings(p, &self.axes, margin, self.radii);
                if met.cmplt(self.radii).any() {
                    let per_second = input.bodies.len() as f32 / input.dt as f32;
                    self.stop(met, self.axes.dot(body.carried(p) * per_second - own));
                }
            }
        }
        if let Some(plane) = &around.planes[i] {
            // A wall that has just come into sight narrows the wisp quickly, but not at once.
            let least = self.radii - super::limits::NARROWING * input.dt as f32;
            let met = plane.meets(p, &self.axes, margin).max(least);
            if met.cmplt(self.radii).any() {
                self.stop(met, self.axes.dot(plane.carried / input.dt as f32 - own));
            }
        }
    }

    /// Samples that met a body stay at the crossing and do not move into the body.
    fn stop(&mut self, met: Vec4, closing: Vec4) {
        let stopped = met.cmplt(self.radii);
        self.radii = Vec4::select(stopped, met.max(Vec4::splat(1.0e-5)), self.radii);
        self.rates = Vec4::select(stopped, self.rates.min(closing), self.rates);
    }

    /// What the samples give back to the particle during the next tick: `-m r''` along each half-axis,
    /// where a sample held by a body still pushes with its whole spring.
    fn reaction(&self, spring: &Spring, rest: f32) -> Vec3 {
        let pull = spring.k * (self.radii - rest) + spring.c * self.rates;
        let push = self.present * spring.share * (pull - self.felt);
        Vec3::new(self.axes.x.dot(push), self.axes.y.dot(push), self.axes.z.dot(push))
    }
}
