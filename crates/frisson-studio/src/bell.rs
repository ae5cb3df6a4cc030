//! Rings whenever anything changes, so that the page can wait for news.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Locks, whatever happened to the thread that held it: what is behind our locks is replaced whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number that grows with every change.
#[derive(Default)]
pub struct Bell {
    count: Mutex<u64>,
    rung: Condvar,
}

impl Bell {
    /// Something changed.
    pub fn ring(&self) {
        *lock(&self.count) += 1;
        self.rung.notify_all();
    }

    /// How often it rang.
    #[must_use]
    pub fn count(&self) -> u64 {
        *lock(&self.count)
    }

    /// Waits until it has rung more than `seen` times, or until the time is over.
    pub fn wait(&self, seen: u64, longest: Duration) -> u64 {
        let end = Instant::now() + longest;
        let mut count = lock(&self.count);
        while *count <= seen {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let (again, _) =
                self.rung.wait_timeout(count, left).unwrap_or_else(PoisonError::into_inner);
            count = again;
        }
        *count
    }
}
