//! Jobs side by side, each on its own share of the threads.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use frisson_io::Progress;

use crate::WorkshopError;

/// Steps that a job counts for, whatever its length.
const STEPS: u64 = 100;
/// How often the listener is told.
const EVERY: Duration = Duration::from_millis(100);

/// How many jobs run at once, and on how many threads each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crew {
    /// Jobs at once.
    pub workers: usize,
    /// Threads of each.
    pub threads: usize,
}

impl Crew {
    /// Shares the threads of this process among at most `workers` jobs.
    pub fn new(workers: Option<usize>) -> Self {
        let all = rayon::current_num_threads().max(1);
        let workers = workers.unwrap_or(all).max(1);
        Self { workers, threads: (all / workers).max(1) }
    }

    /// Does every job, and gives their results in order; `Stopped` when somebody asked to stop.
    pub fn run<T: Send>(
        self,
        jobs: usize,
        progress: &mut dyn Progress,
        work: impl Fn(usize, &mut dyn Progress) -> Result<T, WorkshopError> + Sync,
    ) -> Result<Vec<T>, WorkshopError> {
        let done: Vec<AtomicU64> = (0..jobs).map(|_| AtomicU64::new(0)).collect();
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let mut results: Vec<Option<T>> = (0..jobs).map(|_| None).collect();
        let mut failure = None;
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            for _ in 0..self.workers.min(jobs) {
                let sender = sender.clone();
                let (done, next, stop, work) = (&done, &next, &stop, &work);
                scope.spawn(move || {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
                    loop {
                        // Taken one by one: variants differ in length, and fixed shares would leave workers idle.
                        let job = next.fetch_add(1, Ordering::SeqCst);
                        if job >= jobs || stop.load(Ordering::SeqCst) {
                            return;
                        }
                        let mut told = Told { done: &done[job], stop };
                        let result = match &pool {
                            Ok(pool) => pool.install(|| work(job, &mut told)),
                            // Without threads of its own it takes everybody's.
                            Err(_) => work(job, &mut told),
                        };
                        done[job].store(STEPS, Ordering::SeqCst);
                        if sender.send((job, result)).is_err() {
                            return;
                        }
                    }
                });
            }
            // The last sender is gone when the last worker is: that is how the loop below ends.
            drop(sender);
            loop {
                match receiver.recv_timeout(EVERY) {
                    Ok((job, Ok(result))) => results[job] = Some(result),
                    Ok((_, Err(error))) => {
                        stop.store(true, Ordering::SeqCst);
                        // The first one that comes in; the others are mostly its consequences.
                        failure.get_or_insert(error);
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                let sum = done.iter().map(|d| d.load(Ordering::SeqCst)).sum();
                if !progress.advance(sum, STEPS * jobs as u64) {
                    stop.store(true, Ordering::SeqCst);
                }
            }
        });
        match failure {
            Some(error) => Err(error),
            None => results.into_iter().collect::<Option<_>>().ok_or(WorkshopError::Stopped),
        }
    }
}

/// How a job says how far it is.
struct Told<'a> {
    done: &'a AtomicU64,
    stop: &'a AtomicBool,
}

impl Progress for Told<'_> {
    fn advance(&mut self, done: u64, total: u64) -> bool {
        let share = STEPS * done.min(total) / total.max(1);
        // A job is done when its result is there, not when its last frame is.
        self.done.store(share.min(STEPS - 1), Ordering::SeqCst);
        !self.stop.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisson_io::Silent;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let crew = Crew { workers: 3, threads: 1 };
        let squares = crew.run(10, &mut Silent, |job, _| Ok(job * job)).expect("squares");
        assert_eq!(squares, (0..10).map(|i| i * i).collect::<Vec<_>>());
        assert!(crew.run(0, &mut Silent, |_, _| Ok(())).expect("nothing").is_empty());
    }

    #[test]
    fn a_failure_stops_the_others_and_is_told() {
        let crew = Crew { workers: 2, threads: 1 };
        let failed = crew.run(50, &mut Silent, |job, _| match job {
            3 => Err(WorkshopError::input("the third")),
            _ => Ok(()),
        });
        assert!(failed.is_err_and(|e| e.to_string() == "the third"));
    }

    #[test]
    fn whoever_listens_can_stop_it() {
        struct No;
        impl Progress for No {
            fn advance(&mut self, _: u64, _: u64) -> bool {
                false
            }
        }
        let crew = Crew { workers: 1, threads: 1 };
        let work = |_: usize, told: &mut dyn Progress| {
            // Works until it is told to stop, as a bake does.
            while told.advance(1, 2) {
                std::thread::yield_now();
            }
            Err::<(), _>(WorkshopError::Stopped)
        };
        assert!(matches!(crew.run(4, &mut No, work), Err(WorkshopError::Stopped)));
    }
}
