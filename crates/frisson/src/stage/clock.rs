//! Time as integers: ticks of one fixed length, frames at any rate.

use serde::{Deserialize, Serialize};

use crate::tolerances;

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

/// The one clock: a tick of fixed physical length, and the frames that are looked at.
///
/// Layers advance by ticks, whatever the output rate. Frames that fall between two ticks are reached
/// from the tick before them on a copy of the state, so that the motion does not depend on when it is
/// looked at:
///
/// ```text
/// ticks    |----|----|----|----|----|----|      1/120 s each, from the start frame on
/// 30 fps   |                   |                every fourth tick
/// 25 fps   |                       |            4.8 ticks: a step of 0.8 ticks on a copy
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Output rate; also turns the key frames of parameters into times.
    pub rate: Rate,
    /// First output frame.
    pub first_frame: i64,
    /// Last output frame.
    pub last_frame: i64,
    /// Frames simulated before the first output frame.
    pub preroll_frames: u32,
    /// Ticks per second [Hz].
    pub tick_hz: u32,
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(Rate::whole(30), 0, i64::from(u32::MAX))
    }
}

impl Clock {
    /// Ticks per second unless asked otherwise [Hz]: 24, 30, 40, 60 and 120 frames per second fall on
    /// ticks; contacts and springs of all layers are tuned and tested at this and at twice this.
    pub const TICK_HZ: u32 = 120;

    /// A clock of the usual tick.
    #[must_use]
    pub const fn new(rate: Rate, first_frame: i64, last_frame: i64) -> Self {
        Self { rate, first_frame, last_frame, preroll_frames: 0, tick_hz: Self::TICK_HZ }
    }

    /// Length of a tick [s].
    #[must_use]
    pub fn tick_seconds(&self) -> f64 {
        1.0 / f64::from(self.tick_hz)
    }

    /// Ticks in one frame interval, mostly not a whole number.
    #[must_use]
    pub fn ticks_per_frame(&self) -> f64 {
        f64::from(self.tick_hz) / self.rate.fps()
    }

    /// Time of a tick after the start [s].
    #[must_use]
    pub fn tick_time(&self, tick: u64) -> f64 {
        (self.start_ticks() + tick as f64) * self.tick_seconds()
    }

    /// Time of a frame [s].
    #[must_use]
    pub fn frame_time(&self, frame: i64) -> f64 {
        let (whole, part) = self.ticks_at(frame);
        (whole as f64 + part) * self.tick_seconds()
    }

    /// Last tick at or before a time, and the seconds from there to the time: 0 where they meet up to
    /// rounding.
    #[must_use]
    pub fn tick_before(&self, time: f64) -> (u64, f64) {
        let ticks = (time * f64::from(self.tick_hz) - self.start_ticks()).max(0.0);
        let nearest = ticks.round();
        // A frame on a tick must be that tick, not a look of some nanoseconds beyond the one before.
        if (ticks - nearest).abs() < tolerances::stage::SAME_TICK {
            return (nearest as u64, 0.0);
        }
        (ticks.floor() as u64, (ticks - ticks.floor()) * self.tick_seconds())
    }

    /// First simulated frame, pre-roll included.
    #[must_use]
    pub fn start_frame(&self) -> i64 {
        self.first_frame.saturating_sub(i64::from(self.preroll_frames))
    }

    /// Number of output frames.
    #[must_use]
    pub fn frame_count(&self) -> u64 {
        (self.last_frame - self.first_frame + 1).max(0) as u64
    }

    /// Fractional frame number of a time, for key-framed parameters.
    #[must_use]
    pub fn frame_at(&self, time: f64) -> f64 {
        time * self.rate.fps()
    }

    /// Ticks from time 0 to a frame: whole ones and the rest.
    fn ticks_at(&self, frame: i64) -> (i64, f64) {
        // In whole numbers: 24000/1001 is no exact float, and its error would grow with the frame. i128, as frame numbers and
        // denominators of files may be as large as their types hold.
        let ticks =
            i128::from(frame) * i128::from(self.rate.denominator) * i128::from(self.tick_hz);
        let per = i128::from(self.rate.numerator.max(1));
        ((ticks.div_euclid(per)) as i64, ticks.rem_euclid(per) as f64 / per as f64)
    }

    /// Ticks from time 0 to the start.
    fn start_ticks(&self) -> f64 {
        let (whole, part) = self.ticks_at(self.start_frame());
        whole as f64 + part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tick_is_the_same_at_every_rate() {
        for fps in [24, 25, 30, 50, 60, 240] {
            let clock = Clock::new(Rate::whole(fps), 0, 10);
            assert_eq!(clock.tick_seconds(), 1.0 / 120.0, "{fps}");
        }
        let ntsc = Clock::new(Rate { numerator: 24000, denominator: 1001 }, 0, 10);
        assert!((ntsc.frame_time(24000) - 1001.0).abs() < 1e-9);
    }

    #[test]
    fn frames_lie_on_ticks_or_between_them() {
        let clock = Clock::new(Rate::whole(25), 0, 100);
        assert_eq!(clock.tick_before(clock.frame_time(5)), (24, 0.0));
        let (tick, rest) = clock.tick_before(clock.frame_time(1));
        assert_eq!(tick, 4);
        assert!((rest - 0.8 / 120.0).abs() < 1e-12, "{rest}");
        assert_eq!(clock.tick_time(24), clock.frame_time(5));
        // A start between ticks of time 0 begins its own row of ticks.
        let late = Clock::new(Rate::whole(25), 1, 100);
        assert_eq!(late.tick_before(late.frame_time(1)), (0, 0.0));
        assert_eq!(late.tick_before(late.frame_time(6)), (24, 0.0));
        assert_eq!(late.tick_time(0), late.frame_time(1));
    }
}
