//! How long jobs say how far they are.

use frisson_io::Progress;

use crate::WorkshopError;

/// Listens to a job that has several parts, and may stop it.
pub trait Jobs: Progress {
    /// A part begins; `what` says it in a few words.
    fn begin(&mut self, what: &str);
}

/// Nobody listens; never stops.
pub struct SilentJobs;

impl Progress for SilentJobs {
    fn advance(&mut self, _done: u64, _total: u64) -> bool {
        true
    }
}

impl Jobs for SilentJobs {
    fn begin(&mut self, _what: &str) {}
}

/// Says how far a job is; an error where somebody asked to stop.
pub fn go_on(progress: &mut dyn Progress, done: usize, total: usize) -> Result<(), WorkshopError> {
    if progress.advance(done as u64, total as u64) { Ok(()) } else { Err(WorkshopError::Stopped) }
}
