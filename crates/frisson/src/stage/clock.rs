//! Time as integers: frame / rate, never accumulated.

use serde::{Deserialize, Serialize};

/// Frames per second as a fraction (24000/1001 is not a decimal).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Frames …
    pub numerator: u32,
    /// … per that many seconds.
    pub denominator: u32,
}

impl Rate {
    /// A whole number of frames per second.
    #[must_use]
    pub const fn whole(fps: u32) -> Self {
        Self { numerator: fps, denominator: 1 }
    }

    /// Frames per second.
    #[must_use]
    pub fn fps(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

/// Frame range and sub-steps of a bake.
///
/// Every frame interval is cut into `ticks_per_frame` equal ticks, about [`Clock::TICK_HZ`] a second
/// whatever the output rate: that is why 24, 30, 60 and 120 fps bakes show the same motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Output rate.
    pub rate: Rate,
    /// First output frame.
    pub first_frame: i64,
    /// Last output frame.
    pub last_frame: i64,
    /// Frames simulated before the first output frame.
    pub preroll_frames: u32,
    /// Ticks in one frame interval.
    pub ticks_per_frame: u32,
}

impl Clock {
    /// Least tick rate [Hz]: a common multiple of 24, 30, 40, 60 and 120.
    pub const TICK_HZ: f64 = 120.0;

    /// A clock whose tick is at most 1 / [`Clock::TICK_HZ`].
    #[must_use]
    pub fn new(rate: Rate, first_frame: i64, last_frame: i64) -> Self {
        let ticks_per_frame = (Self::TICK_HZ / rate.fps() - 1e-9).ceil().max(1.0) as u32;
        Self { rate, first_frame, last_frame, preroll_frames: 0, ticks_per_frame }
    }

    /// Time of a frame [s].
    #[must_use]
    pub fn frame_time(&self, frame: i64) -> f64 {
        self.tick_time(frame, 0)
    }

    /// Time of a tick after a frame [s].
    #[must_use]
    pub fn tick_time(&self, frame: i64, tick: u32) -> f64 {
        let ticks = frame * i64::from(self.ticks_per_frame) + i64::from(tick);
        ticks as f64 * self.tick_seconds()
    }

    /// Length of a tick [s].
    #[must_use]
    pub fn tick_seconds(&self) -> f64 {
        f64::from(self.rate.denominator)
            / (f64::from(self.rate.numerator) * f64::from(self.ticks_per_frame))
    }

    /// First simulated frame, pre-roll included.
    #[must_use]
    pub fn start_frame(&self) -> i64 {
        self.first_frame - i64::from(self.preroll_frames)
    }

    /// Number of output frames.
    #[must_use]
    pub fn frame_count(&self) -> u64 {
        (self.last_frame - self.first_frame + 1).max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_rates_share_one_tick() {
        for fps in [24, 30, 40, 60, 120] {
            let clock = Clock::new(Rate::whole(fps), 0, 10);
            assert!((clock.tick_seconds() - 1.0 / 120.0).abs() < 1e-15, "{fps}");
        }
        let ntsc = Clock::new(Rate { numerator: 24000, denominator: 1001 }, 0, 10);
        assert_eq!(ntsc.ticks_per_frame, 6);
        assert!((ntsc.frame_time(24000) - 1001.0).abs() < 1e-9);
    }
}
