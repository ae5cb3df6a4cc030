//! When samples are: evenly spaced, in cycles, or each at a time of its own.

use super::{AlembicError, Result};

/// Part of a sample's distance to the next below which a time counts as the sample's own: frame
/// times are rounded, and a sample before a change of topology must not show in its place.
const SNAP: f64 = 1e-6;

/// Times of samples.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimeSampling {
    /// Seconds from one cycle to the next.
    cycle: f64,
    /// Times within a cycle [s].
    times: Vec<f64>,
    /// Whether every sample has a time of its own.
    acyclic: bool,
}

/// Where a time falls among samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub before: u64,
    pub after: u64,
    pub fraction: f32,
}

impl TimeSampling {
    pub fn read_all(block: &[u8]) -> Result<Vec<Self>> {
        let mut out = Vec::new();
        let mut rest = block;
        while !rest.is_empty() {
            let bad = || AlembicError::damaged("time samplings", "they are cut short");
            let (head, tail) = rest.split_at_checked(16).ok_or_else(bad)?;
            let cycle = f64::from_le_bytes(head[4..12].try_into().unwrap_or_default());
            let count = u32::from_le_bytes(head[12..16].try_into().unwrap_or_default()) as usize;
            let (body, tail) = tail.split_at_checked(8 * count).ok_or_else(bad)?;
            let number = |c: &[u8]| f64::from_le_bytes(c.try_into().unwrap_or_default());
            let times: Vec<f64> = body.chunks_exact(8).map(number).collect();
            out.push(Self::new(cycle, times)?);
            rest = tail;
        }
        Ok(out)
    }

    fn new(cycle: f64, times: Vec<f64>) -> Result<Self> {
        let wrong = |problem: &str| AlembicError::damaged("time samplings", problem);
        if times.is_empty() || times.iter().any(|t| !t.is_finite()) {
            return Err(wrong("a sampling has no usable times"));
        }
        if times.windows(2).any(|w| w[0] > w[1]) {
            return Err(wrong("times must ascend"));
        }
        // The library's mark for it is the largest number divided by 32.
        let acyclic = !(cycle.is_finite() && cycle < f64::MAX / 64.0);
        if !acyclic && cycle < 0.0 {
            return Err(wrong("time runs backwards"));
        }
        Ok(Self { cycle, times, acyclic })
    }

    /// Time of a sample [s].
    pub fn time(&self, sample: u64) -> f64 {
        let count = self.times.len() as u64;
        if self.acyclic {
            return self.times[sample.min(count - 1) as usize];
        }
        self.times[(sample % count) as usize] + self.cycle * (sample / count) as f64
    }

    /// The samples around a time, of `count` in all; the first and the last hold beyond them.
    pub fn locate(&self, time: f64, count: u64) -> Place {
        let at = |sample| Place { before: sample, after: sample, fraction: 0.0 };
        // By halves, and by formula: cycles have no list of times to search.
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.time(middle) <= time { low = middle + 1 } else { high = middle }
        }
        let Some(before) = low.checked_sub(1) else { return at(0) };
        if low >= count {
            return at(before);
        }
        let (start, end) = (self.time(before), self.time(low));
        let fraction = if end > start { (time - start) / (end - start) } else { 0.0 };
        if fraction > 1.0 - SNAP {
            at(low)
        } else if fraction < SNAP {
            at(before)
        } else {
            Place { before, after: low, fraction: fraction as f32 }
        }
    }
}
