//! A pre-roll may take longer than the shot: what it has come to is not lost when it is killed.

use std::time::{Duration, Instant};

/// How much of a pre-roll a kill may cost, at most.
const EVERY: Duration = Duration::from_secs(5);

/// Says when the states are to be left again. The clock has no say in the finished cache: what was
/// left is overwritten by the first frame.
pub struct Preroll {
    last: Instant,
}

impl Default for Preroll {
    fn default() -> Self {
        Self { last: Instant::now() }
    }
}

impl Preroll {
    /// Whether enough time has passed.
    pub fn is_due(&mut self) -> bool {
        let due = self.last.elapsed() >= EVERY;
        if due {
            self.last = Instant::now();
        }
        due
    }
}
