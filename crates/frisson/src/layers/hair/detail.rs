//! Detail that costs nothing in simulation: curls and frizz.

use glam::Vec2;

use super::params::StrandParams;
use crate::math::random;

/// The offsets of one hair across its wisp.
pub(super) struct Detail {
    curl_radius: f32,
    curl_rate: f32,
    curl_phase: f32,
    frizz: f32,
    waves: [(f32, f32); 4],
}

impl Detail {
    /// The detail of a hair, or nothing when none is asked for.
    pub fn new(params: &StrandParams, wisp: u64, mut signed: impl FnMut() -> f32) -> Option<Self> {
        if params.curl_radius <= 0.0 && params.frizz <= 0.0 {
            return None;
        }
        let alone = 1.0 - params.curl_together;
        let pi = std::f32::consts::PI;
        let of_wisp = |k| random::signed(0xC0A1, wisp, k) as f32;
        let rate =
            2.0 * pi / params.curl_pitch * (1.0 + 0.15 * of_wisp(1) + 0.3 * alone * signed());
        let handed = if of_wisp(2) < 0.0 { -rate } else { rate };
        let mut wave = |k: f32| (k * (1.0 + 0.3 * signed()), pi * signed());
        Some(
            Self {
                curl_radius: params.curl_radius * (1.0 + 0.2 * of_wisp(3)),
                curl_rate: handed,
                curl_phase: pi * of_wisp(0),
                frizz: params.frizz,
                waves: [wave(90.0), wave(210.0), wave(110.0), wave(170.0)],
            }
            .with_phase(alone * pi * signed()),
        )
    }

    fn with_phase(mut self, phase: f32) -> Self {
        self.curl_phase += phase;
        self
    }

    /// Offset along the plane's axes [m] at a fraction of the hair and a length from its root [m].
    pub fn offset(&self, along: f32, length: f32) -> Vec2 {
        // Nothing at the root, all of it after the first tenth.
        let grown = (10.0 * along).min(1.0);
        let (s, c) = (self.curl_rate * length + self.curl_phase).sin_cos();
        let [a, b, d, e] = self.waves.map(|(k, phase)| (k * length + phase).sin());
        let frizz = 0.5 * self.frizz * Vec2::new(a + b, d + e);
        grown * grown * (self.curl_radius * Vec2::new(c, s) + frizz)
    }
}
