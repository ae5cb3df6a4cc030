//! Volume control: each territory thickens or thins its own coat until it has its volume.
//!
//! `f(r)` becomes `f(r - eps)` with `eps' = -(alpha D + beta D')`, `D = (V - V0) / V0`. A translation
//! keeps the slope of the field: the stiffness is untouched. The gains are in units of
//! `s = dV/deps / V0`, so that a time constant and a ratio say everything.

use super::field::FieldProfile;
use super::follow::place_coats;
use super::params::SoftParams;
use super::primitive_fields::PrimitiveFields;
use super::rest::{PrimitiveRest, SoftRest};
use super::sample::Territory;
use super::scratch::SoftScratch;
use super::state::SoftState;
use super::step::{Given, Instant, Which, slide_seeds};
use super::weld::blend_weight;
use crate::tolerances::soft as tolerances;

/// A controller's settings for one step.
#[derive(Clone, Copy, Debug)]
pub struct VolumeControl {
    /// Time constant [s]; 0 is off.
    pub seconds: f64,
    /// Derivative gain as a share of the stable limit [-].
    pub damping: f64,
    /// Length of the step [s].
    pub dt: f64,
}

/// Volumes of a territory, or of one with its neighbours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Volumes {
    /// Now [m³].
    pub now: f64,
    /// At the step before [m³].
    pub before: f64,
    /// Wanted [m³].
    pub wanted: f64,
    /// Change per metre of thickness [m²].
    pub gain: f64,
}

impl Volumes {
    /// Adds another's, with a weight.
    pub fn add(&mut self, other: &Self, weight: f64) {
        self.now += weight * other.now;
        self.before += weight * other.before;
        self.wanted += weight * other.wanted;
        self.gain += weight * other.gain;
    }

    /// Relative error and its rate [1/s].
    fn error(&self, dt: f64) -> (f64, f64) {
        ((self.now - self.wanted) / self.wanted, (self.now - self.before) / (self.wanted * dt))
    }
}

impl VolumeControl {
    /// The controllers of a step, as the artist set them.
    #[must_use]
    pub fn of(params: &SoftParams, dt: f64) -> Self {
        Self { seconds: params.volume_time, damping: params.volume_damping, dt }
    }

    /// The new translation of a primitive's field [m].
    ///
    /// What a territory and its neighbours lack together, they get from the free surface: `around`.
    /// What it lacks against them, it gets by moving the borders: `own`, whose gain grows without
    /// bound where two primitives nearly coincide. One gain for both would let them push each other
    /// out in turns, or let the sum drift. `apart` fades the second as two primitives become one (0):
    /// who owns which half is no question then, and the smallest error would bury one of them.
    #[must_use]
    pub fn next_offset(
        &self,
        profile: &FieldProfile,
        offset: f64,
        own: &Volumes,
        around: &Volumes,
        apart: f64,
    ) -> f64 {
        if self.seconds <= 0.0 || own.wanted <= 0.0 || around.wanted <= 0.0 {
            return offset;
        }
        // Twice the step: `s alpha dt` stays at most one half, far from the limit of 2.
        let seconds = self.seconds.max(2.0 * self.dt);
        // A territory that is buried has hardly any surface left to thicken: without a floor its gain would be
        // infinite, and it would come out of the ground like a mushroom.
        let gain = |v: &Volumes| (v.gain / v.wanted).max(1.0 / profile.thickness);
        let (s_own, s_around) = (gain(own), gain(around));
        let ((d_own, r_own), (d, r)) = (own.error(self.dt), around.error(self.dt));
        let pull = |error: f64, rate: f64, s: f64| -(error / seconds + self.damping * rate) / s;
        // The larger of both gains: borders move no faster than the free surface does.
        let speed = pull(d, r, s_around) + apart * pull(d_own - d, r_own - r, s_own.max(s_around));
        let most = tolerances::SLEW * profile.thickness / seconds;
        let next = offset + self.dt * speed.clamp(-most, most);
        // A coat thinner than nothing has no seeds, and one thicker than its support reaches whatever is beside it.
        next.clamp(-tolerances::THINNEST * profile.thickness, profile.support)
    }
}

/// Coats that are set to another volume than their own at the start begin with it.
pub(super) fn settle_volumes(
    given: Given<'_>,
    state: &mut SoftState,
    scratch: &mut SoftScratch,
    now: Instant<'_>,
) {
    let Given { params, rest } = given;
    let frame = now.frame();
    let factor =
        |(i, p): (usize, &PrimitiveRest)| p.volume_factor(rest.object_of(i, params), frame);
    let all = rest.primitives.iter().enumerate();
    if params.volume_time <= 0.0 || all.map(factor).all(|f| f == 1.0) {
        return;
    }
    // Half of what is lacking in every round: the controllers are stable up to four times that.
    let control = VolumeControl { seconds: 2.0, damping: 0.0, dt: 1.0 };
    for _ in 0..tolerances::VOLUME_ROUNDS {
        control_volumes(given, state, scratch, now, control);
        place_coats(given, state, scratch, now);
        slide_seeds(given, &mut state.distances, scratch, now, Which::All);
    }
    state.felt.clone_from(&state.offsets);
    place_coats(given, state, scratch, now);
    for (volume, territory) in state.volumes.iter_mut().zip(&scratch.territories) {
        *volume = territory.volume;
    }
}

/// Moves every coat towards its volume by a step of the controllers.
pub(super) fn control_volumes(
    given: Given<'_>,
    state: &mut SoftState,
    scratch: &mut SoftScratch,
    now: Instant<'_>,
    control: VolumeControl,
) {
    let rest = given.rest;
    let SoftScratch { fields, territories, own_volumes, .. } = scratch;
    measure_volumes(given, state, territories, now.frame(), own_volumes);
    let is_controlled = f64::from(u8::from(control.seconds > 0.0));
    for (index, p) in rest.primitives.iter().enumerate() {
        let own = own_volumes[index];
        let (around, apart) = volumes_around(rest, (fields, territories), own_volumes, index);
        let offset = &mut state.offsets[index];
        *offset = control.next_offset(&p.profile, *offset, &own, &around, apart);
        state.volumes[index] = own.now;
        state.gains[index] = territories[index].common_gain;
        state.wanted[index] = is_controlled * own.wanted;
    }
    // A coat that thickens while it is pressed pushes back late, and would give a bouncing body
    // more than it took from it: contacts feel what the controllers do slowly.
    let share = 1.0 - (-now.dt / tolerances::SWELLING_TIME).exp();
    for (felt, offset) in state.felt.iter_mut().zip(&state.offsets) {
        *felt += share * (offset - *felt);
    }
}

/// What every territory has, had and should have.
fn measure_volumes(
    Given { params, rest }: Given<'_>,
    state: &SoftState,
    territories: &[Territory],
    frame: f64,
    out: &mut Vec<Volumes>,
) {
    out.clear();
    for (index, (p, territory)) in rest.primitives.iter().zip(territories).enumerate() {
        let wanted =
            state.rest_volumes[index] * p.volume_factor(rest.object_of(index, params), frame);
        // What nobody looks at is as it should be.
        let (now, before) = match territory.quiet {
            true => (wanted, wanted),
            false => (territory.volume, state.volumes[index]),
        };
        out.push(Volumes { now, before, wanted, gain: territory.gain });
    }
}

/// Volumes of a primitive and of those it blends with, the closer the more; and whether those
/// are far enough (1) to have territories of their own.
fn volumes_around(
    rest: &SoftRest,
    (fields, territories): (&PrimitiveFields, &[Territory]),
    own_volumes: &[Volumes],
    index: usize,
) -> (Volumes, f64) {
    let middle = fields.middle(index);
    let mut sum = Volumes::default();
    let room = tolerances::SEPARATE * rest.primitives[index].profile.thickness;
    let mut apart = 1.0f64;
    for &other in territories[index].near() {
        let o = other as usize;
        // Weighted by the field at its middle: a neighbour that drifts out of reach leaves the sum smoothly.
        let weight = if o == index {
            1.0
        } else {
            let blended = blend_weight(fields, &territories[index], index, o);
            if blended == 0.0 {
                continue;
            }
            let (field, _, away) = fields.field_of(o, middle);
            // The closest one decides: two that coincide share their volume whoever else is around.
            apart = apart.min(1.0 - blended + blended * away.length() / room);
            blended * (field / fields.level).min(1.0)
        };
        sum.add(&Volumes { gain: territories[o].common_gain, ..own_volumes[o] }, weight);
    }
    // Squared: fades with no slope at the place where it is 0, or the last bit of it would be fought over.
    (sum, apart * apart)
}
