//! Volume control: each territory thickens or thins its own coat until it has its volume.
//!
//! `f(r)` becomes `f(r - eps)` with `eps' = -(alpha D + beta D')`, `D = (V - V0) / V0`. A translation
//! keeps the slope of the field: the stiffness is untouched. The gains are in units of
//! `s = dV/deps / V0`, so that a time constant and a ratio say everything.

use super::field::FieldProfile;
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
        coat: &FieldProfile,
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
        let gain = |v: &Volumes| (v.gain / v.wanted).max(1.0 / coat.thickness);
        let (s_own, s_around) = (gain(own), gain(around));
        let ((d_own, r_own), (d, r)) = (own.error(self.dt), around.error(self.dt));
        let pull = |error: f64, rate: f64, s: f64| -(error / seconds + self.damping * rate) / s;
        let speed = pull(d, r, s_around) + apart * pull(d_own - d, r_own - r, s_own.max(s_around));
        let most = tolerances::SLEW * coat.thickness / seconds;
        let next = offset + self.dt * speed.clamp(-most, most);
        next.clamp(-tolerances::THINNEST * coat.thickness, coat.support)
    }
}
