//! Detail that costs nothing in simulation: curls and frizz.
//!
//! Both are sums of waves along the hair, whose points are evenly spaced: from point to point every
//! wave turns by a fixed angle, which takes a multiplication instead of a sine.

use glam::{Vec2, Vec4};

use super::strands::{StrandInput, Stream};
use crate::math::random;

/// The offsets of one hair across its wisp, point after point.
pub(super) struct Detail {
    curl_radius: f32,
    /// Where the curl is, and its turn from point to point (cosine, sine).
    curl: Vec2,
    curl_turn: Vec2,
    frizz: f32,
    /// The same of four waves.
    waves: [Vec4; 2],
    wave_turns: [Vec4; 2],
}

impl Detail {
    /// The detail of a hair whose points are `step` apart [m], or nothing when none is asked for.
    pub fn new(input: &StrandInput, wisp: u64, hair: u64, step: f32) -> Option<Self> {
        let params = input.params;
        if params.curl_radius <= 0.0 && params.frizz <= 0.0 {
            return None;
        }
        let mut stream = Stream::new(input.seed ^ 0xF122, hair);
        let alone = 1.0 - params.curl_together;
        let pi = std::f32::consts::PI;
        let of_wisp = |k| random::signed(0xC0A1, wisp, k) as f32;
        // Wisps differ more from each other than hairs within one: locks curl as one, each in its own way.
        let vary = 1.0 + 0.15 * of_wisp(1) + 0.3 * alone * stream.signed();
        let rate = 2.0 * pi / params.curl_pitch * vary;
        let handed = if of_wisp(2) < 0.0 { -rate } else { rate };
        let phase = pi * (of_wisp(0) + alone * stream.signed());
        let mut detail = Self {
            curl_radius: params.curl_radius * (1.0 + 0.2 * of_wisp(3)),
            curl: Vec2::from_angle(phase),
            curl_turn: Vec2::from_angle(handed * step),
            frizz: params.frizz,
            waves: [Vec4::ZERO; 2],
            wave_turns: [Vec4::ZERO; 2],
        };
        if params.frizz > 0.0 {
            // No two of them are multiples of each other, so that their sum hardly repeats along a hair.
            for (k, rate) in [90.0, 210.0, 110.0, 170.0].into_iter().enumerate() {
                let turn = rate * (1.0 + 0.3 * stream.signed()) * step;
                let (sine, cosine) = (pi * stream.signed()).sin_cos();
                (detail.waves[0][k], detail.waves[1][k]) = (cosine, sine);
                let (sine, cosine) = turn.sin_cos();
                (detail.wave_turns[0][k], detail.wave_turns[1][k]) = (cosine, sine);
            }
        }
        Some(detail)
    }

    /// Offset of the next point along the plane's axes [m], at a fraction of the hair.
    pub fn next(&mut self, along: f32) -> Vec2 {
        // Nothing at the root, all of it after the first tenth.
        let grown = (10.0 * along).min(1.0);
        let mut offset = self.curl_radius * self.curl;
        self.curl = self.curl.rotate(self.curl_turn);
        if self.frizz > 0.0 {
            let ([cosine, sine], [dc, ds]) = (self.waves, self.wave_turns);
            offset += 0.5 * self.frizz * Vec2::new(sine.x + sine.y, sine.z + sine.w);
            self.waves = [cosine * dc - sine * ds, sine * dc + cosine * ds];
        }
        grown * grown * offset
    }
}
