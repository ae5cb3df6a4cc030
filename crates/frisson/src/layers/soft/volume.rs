//! Volume control: each territory thickens or thins its own coat until it has its volume.
//!
//! `f(r)` becomes `f(r - eps)` with `eps' = -(alpha D + beta D')`, `D = (V - V0) / V0`. A translation
//! keeps the slope of the field: the stiffness is untouched. The gains are in units of
//! `s = dV/deps / V0`, so that a time constant and a ratio say everything.

use super::field::Coat;
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

impl VolumeControl {
    /// The new translation of a primitive's field [m].
    #[must_use]
    pub fn next_offset(
        &self,
        coat: &Coat,
        offset: f64,
        wanted: f64,
        volume: f64,
        before: f64,
        gain: f64,
    ) -> f64 {
        if self.seconds <= 0.0 || wanted <= 0.0 {
            return offset;
        }
        // Twice the step: `s alpha dt` stays at most one half, far from the limit of 2.
        let seconds = self.seconds.max(2.0 * self.dt);
        // A territory without free surface still moves its borders.
        let s = (gain / wanted).max(1.0 / coat.thickness);
        let error = (volume - wanted) / wanted;
        let rate = (volume - before) / (wanted * self.dt);
        let speed = -(error / (s * seconds) + self.damping / s * rate);
        let most = tolerances::SLEW * coat.thickness / seconds;
        let next = offset + self.dt * speed.clamp(-most, most);
        next.clamp(-tolerances::THINNEST * coat.thickness, coat.support)
    }
}
