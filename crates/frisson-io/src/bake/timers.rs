//! What the parts of a bake cost.

use std::time::{Duration, Instant};

use frisson::stage::Observer;

/// Adds up the time of every layer; the engine itself has no clock.
pub struct Timers {
    started: Instant,
    /// All actors together.
    pub actors: Duration,
    /// Each layer.
    pub layers: Vec<Duration>,
    /// What `layers` had come to at the end of the last frame.
    before: Vec<Duration>,
    pub(super) frames_ms: Vec<Vec<Option<f64>>>,
}

impl Timers {
    /// Nothing measured yet, for so many layers.
    #[must_use]
    pub fn new(layers: usize) -> Self {
        Self {
            started: Instant::now(),
            actors: Duration::ZERO,
            layers: vec![Duration::ZERO; layers],
            before: vec![Duration::ZERO; layers],
            frames_ms: vec![Vec::new(); layers],
        }
    }

    /// Frames that an earlier run has baked.
    pub(super) fn skip_frames(&mut self, count: usize) {
        self.frames_ms.iter_mut().for_each(|f| f.resize(count, None));
    }

    pub(super) fn end_frame(&mut self) {
        let totals = self.layers.iter().zip(&mut self.before);
        for (frames, (now, before)) in self.frames_ms.iter_mut().zip(totals) {
            // Whole nanoseconds by a million: the nearest number to few digits, which the report then writes.
            frames.push(Some((*now - *before).as_nanos() as f64 / 1e6));
            *before = *now;
        }
    }
}

impl Observer for Timers {
    fn actors_start(&mut self) {
        self.started = Instant::now();
    }
    fn actors_end(&mut self) {
        self.actors += self.started.elapsed();
    }
    fn layer_start(&mut self, _layer: usize) {
        self.started = Instant::now();
    }
    fn layer_end(&mut self, layer: usize) {
        self.layers[layer] += self.started.elapsed();
    }
}
