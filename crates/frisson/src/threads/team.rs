//! Threads that stay together over many short passes.
//!
//! A solver goes over its rows some hundred times in a tick, each time for some ten microseconds a core. To wake a
//! sleeping thread takes as long. So the threads of the pool are called together once, look out for the next pass all
//! the time, and take its tasks:
//!
//! ```text
//!   leader   ── pass 1 ─ alone ─ pass 2 ── pass 3 ──►  everybody goes
//!   thread 1 .. pass 1 ........ pass 2 ── pass 3 ..    (.. looks out)
//!   thread 2 .. pass 1 ........ pass 2 ── pass 3 ..
//! ```
//!
//! Every thread has a range of the tasks of its own, the same in every pass of as many tasks, so that what it works on stays in its
//! cache; when that is done it helps others. Nobody waits for a thread that is not there: others do what it would have done.
//! Which thread does a task must not matter to what comes out, as everywhere.
//!
//! Limits: while a team is together its threads do nothing else of the pool; passes of others' making (`rayon`) run on the
//! leader alone. A team parts when every thread of the pool has been there: one that is busy with something long of
//! others' is waited for, once.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::Cut;

/// Threads of a team, at most.
const MOST_THREADS: usize = 64;
/// Pieces that something is cut into for a pass, at most.
pub const MOST_PIECES: usize = 128;
/// Looks for something to do before other programs are let have the core.
const LOOKS: u32 = 512;
/// The number of a pass that is none: the team parts.
const OVER: u32 = u32::MAX;

thread_local! {
    /// Whether this thread leads a team.
    static LEADS: Cell<bool> = const { Cell::new(false) };
}

/// What a thread does with each of its tasks.
type Task<'a> = dyn Fn(usize) + Sync + 'a;

/// A number that has a line of the cache to itself.
#[derive(Default)]
#[repr(align(128))]
struct Alone<T>(T);

/// What all threads of a team see. Words of 64 bits hold the number of a pass above, a count of tasks below: read at once,
/// they belong together.
struct Board {
    threads: usize,
    /// The present pass, and how many tasks it has.
    pass: Alone<AtomicU64>,
    /// For each thread, the pass that its range of tasks was last taken from, and how many were taken in it.
    taken: [Alone<AtomicU64>; MOST_THREADS],
    /// Tasks of the present pass that are not done.
    left: Alone<AtomicU32>,
    /// What is done in the present pass. Written by the leader between passes only.
    task: UnsafeCell<Option<*const Task<'static>>>,
    /// What the first task that panicked said.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: all fields but `task` are shared as they are. `task` is written by the leader alone, while no task of any pass is
// taken and not done; it is read by threads that have taken one (see `Board::help`). Both are ordered by `pass` and `left`.
#[allow(unsafe_code)]
unsafe impl Sync for Board {}

/// A team, as its leader has it. It stays on the leader's thread: tasks cannot call it.
pub struct Team<'a> {
    board: Option<&'a Board>,
    /// Own place among the threads.
    own: usize,
    here: PhantomData<*mut ()>,
}

/// Calls the threads of the pool together, does `work` as their leader, and lets them go.
pub fn together<R: Send>(work: impl FnOnce(&mut Team) -> R + Send) -> R {
    let threads = rayon::current_num_threads().min(MOST_THREADS);
    if threads < 2 {
        return work(&mut Team::alone());
    }
    let board = Board::new(threads);
    let on_board = &board;
    rayon::scope(|scope| {
        let own = rayon::current_thread_index().unwrap_or(0);
        // A leader that waits for something else of the pool may come upon this call, its own or that of another team: it
        // must not follow then, or nobody would lead.
        scope.spawn_broadcast(|_, thread| {
            if !LEADS.get() {
                on_board.follow(thread.index());
            }
        });
        let led = LEADS.replace(true);
        // Also when `work` panics: the others would look out for ever.
        let _dismiss = Dismiss { board: on_board, led };
        work(&mut Team { board: Some(on_board), own, here: PhantomData })
    })
}

/// Lets a team go when it is dropped.
struct Dismiss<'a> {
    board: &'a Board,
    /// Whether its leader leads another team, too.
    led: bool,
}

impl Drop for Dismiss<'_> {
    fn drop(&mut self) {
        self.board.pass.0.store(word(OVER, 0), Ordering::Release);
        LEADS.set(self.led);
    }
}

impl Team<'_> {
    /// Nobody but the leader.
    pub fn alone() -> Self {
        Self { board: None, own: 0, here: PhantomData }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.board.map_or(1, |board| board.threads)
    }

    /// Does `task` for every number below `count`, each once, on all threads.
    pub fn run(&mut self, count: usize, task: &Task<'_>) {
        let Some(board) = self.board.filter(|_| count > 1) else {
            return (0..count).for_each(task);
        };
        board.lead(self.own, count, task);
        if let Some(said) = board.panic.lock().ok().and_then(|mut said| said.take()) {
            resume_unwind(said);
        }
    }

    /// Cuts `all` into `count` pieces, at most [`MOST_PIECES`], of which the `k`-th ends before `end(k)`, and does `work` with
    /// each of them.
    pub fn pieces<N: Cut>(
        &mut self,
        all: N,
        count: usize,
        end: impl Fn(usize) -> usize,
        work: impl Fn(usize, N) + Sync,
    ) {
        let (mut rest, mut start) = (Some(all), 0);
        let mut next = |k: usize| {
            let (own, others) = rest.take()?.cut(end(k) - start);
            (rest, start) = (Some(others), end(k));
            Some(own)
        };
        if self.board.is_none() || count == 1 {
            return (0..count).for_each(|k| next(k).into_iter().for_each(|own| work(k, own)));
        }
        assert!(count <= MOST_PIECES, "{count} pieces");
        let rooms = [const { Mutex::new(None) }; MOST_PIECES];
        for (k, room) in rooms[..count].iter().enumerate() {
            // Nobody else knows of it yet.
            if let Ok(mut room) = room.try_lock() {
                *room = next(k);
            }
        }
        self.run(count, &|k| {
            let own = rooms[k].try_lock().ok().and_then(|mut room| room.take());
            own.into_iter().for_each(|own| work(k, own));
        });
    }

    /// Does `work` with pieces of `all`, which has `length` elements; each piece comes with its first element. Pieces have
    /// `least` elements or more.
    pub fn chunks<N: Cut>(
        &mut self,
        all: N,
        length: usize,
        least: usize,
        work: impl Fn(usize, N) + Sync,
    ) {
        let count = (length / least.max(1)).clamp(1, MOST_PIECES);
        let end = |k: usize| (k + 1) * length / count;
        self.pieces(all, count, end, |k, own| work(k * length / count, own));
    }
}

impl Board {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            pass: Alone::default(),
            taken: [const { Alone(AtomicU64::new(0)) }; MOST_THREADS],
            left: Alone::default(),
            task: UnsafeCell::new(None),
            panic: Mutex::new(None),
        }
    }

    /// Begins a pass, does what falls to the leader, and waits until all of it is done.
    fn lead(&self, own: usize, count: usize, task: &Task<'_>) {
        let (pass, _) = parts(self.pass.0.load(Ordering::Relaxed));
        let pass = pass + 1;
        let tasks = u32::try_from(count).expect("fewer tasks than four billions");
        // SAFETY: no task of an earlier pass is left (waited for below), so nobody reads `task` (see `help`). That `task` lives
        // shorter than `'static` does no harm: this function returns after the last task of the pass is done, and never
        // unwinds before (what tasks do is caught), and from then on nobody reads it.
        #[allow(unsafe_code)]
        unsafe {
            let task: *const Task<'_> = task;
            *self.task.get() =
                Some(std::mem::transmute::<*const Task<'_>, *const Task<'static>>(task));
        }
        self.left.0.store(tasks, Ordering::Relaxed);
        self.pass.0.store(word(pass, tasks), Ordering::Release);
        self.help(own, pass, tasks);
        let mut looks = 0;
        while self.left.0.load(Ordering::Acquire) > 0 {
            look_out(&mut looks);
        }
    }

    /// What a thread does until the team parts.
    fn follow(&self, own: usize) {
        let (mut last, mut looks) = (0, 0);
        loop {
            let (pass, tasks) = parts(self.pass.0.load(Ordering::Acquire));
            if pass == OVER {
                return;
            }
            if pass == last {
                look_out(&mut looks);
                continue;
            }
            (last, looks) = (pass, 0);
            self.help(own, pass, tasks);
        }
    }

    /// Does tasks of a pass until none is left to be taken: of the own range first, then of those of others.
    fn help(&self, own: usize, pass: u32, tasks: u32) {
        let mut done = 0;
        for k in 0..self.threads {
            let thread = (own + k) % self.threads;
            while let Some(task) = self.take(thread, pass, tasks) {
                // SAFETY: a task of `pass` is taken and not done, so the leader waits and `self.task` is what it wrote before
                // that pass began, and lives. Its writing happened before `pass` was read.
                #[allow(unsafe_code)]
                let work = unsafe { (*self.task.get()).map(|work| &*work) };
                let Some(work) = work else { continue };
                let outcome = catch_unwind(AssertUnwindSafe(|| work(task)));
                if let (Err(said), Ok(mut first)) = (outcome, self.panic.lock()) {
                    first.get_or_insert(said);
                }
                done += 1;
            }
        }
        if done > 0 {
            self.left.0.fetch_sub(done, Ordering::Release);
        }
    }

    /// Takes a task of a thread's range, if one is left. None is ever taken twice, nor after its pass: a range is last written when its
    /// last task is taken, and then for later passes only.
    fn take(&self, thread: usize, pass: u32, tasks: u32) -> Option<usize> {
        let start = |thread: usize| thread * tasks as usize / self.threads;
        let (first, end) = (start(thread), start(thread + 1));
        let taken = &self.taken[thread].0;
        let mut seen = taken.load(Ordering::Relaxed);
        loop {
            let (of, count) = parts(seen);
            let count = if of < pass { 0 } else { count };
            if of > pass || first + count as usize >= end {
                return None;
            }
            let mine = word(pass, count + 1);
            match taken.compare_exchange_weak(seen, mine, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(first + count as usize),
                Err(now) => seen = now,
            }
        }
    }
}

fn word(pass: u32, count: u32) -> u64 {
    u64::from(pass) << 32 | u64::from(count)
}

fn parts(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

/// Waits for the blink of an eye; for longer if it was in vain for long.
fn look_out(looks: &mut u32) {
    if *looks < LOOKS {
        *looks += 1;
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
    }

    #[test]
    fn every_task_of_every_pass_is_done_once_and_in_its_pass() {
        for threads in [1, 2, 3, 8] {
            let done: Vec<AtomicUsize> = (0..300).map(|_| AtomicUsize::new(0)).collect();
            on(threads, || {
                together(|team| {
                    for pass in 0..3000 {
                        // Few, many, none; sometimes fewer than threads.
                        let count = (pass * 7919) % 300 / (1 + pass % 5);
                        team.run(count, &|k| {
                            done[k].fetch_add(1, Ordering::Relaxed);
                        });
                        for (k, done) in done.iter().enumerate() {
                            let times = done.swap(0, Ordering::Relaxed);
                            assert_eq!(times, usize::from(k < count), "{threads} {pass} {k}");
                        }
                    }
                });
            });
        }
    }

    #[test]
    fn pieces_are_cut_where_they_end_and_hold_everything() {
        for threads in [1, 4] {
            let mut numbers = vec![0usize; 1000];
            let squares: Vec<usize> = (0..1000).map(|k| k * k).collect();
            on(threads, || {
                together(|team| {
                    let both = (numbers.as_mut_slice(), squares.as_slice());
                    team.chunks(
                        both,
                        1000,
                        7,
                        |first, (numbers, squares): (&mut [usize], &[usize])| {
                            for (k, (number, square)) in numbers.iter_mut().zip(squares).enumerate()
                            {
                                *number += square + first + k;
                            }
                        },
                    );
                });
            });
            assert!(numbers.iter().enumerate().all(|(k, n)| *n == k * k + k));
        }
    }

    #[test]
    fn what_a_task_panics_of_is_heard_and_the_others_are_done() {
        let done = AtomicUsize::new(0);
        let heard = on(3, || {
            catch_unwind(AssertUnwindSafe(|| {
                together(|team| {
                    team.run(50, &|k| {
                        done.fetch_add(1, Ordering::Relaxed);
                        assert_ne!(k, 31, "that one");
                    });
                    unreachable!("the pass has panicked");
                });
            }))
        });
        let said = heard.expect_err("it panicked");
        assert!(said.downcast_ref::<String>().is_some_and(|s| s.contains("that one")));
        assert_eq!(done.into_inner(), 50);
    }

    #[test]
    fn teams_of_one_pool_get_along() {
        let sums: Vec<usize> = on(3, || {
            use rayon::prelude::*;
            let sum = |own: usize| {
                let sum = AtomicUsize::new(0);
                together(|team| {
                    for pass in 0..200 {
                        team.run(20, &|k| {
                            sum.fetch_add(own * k * pass, Ordering::Relaxed);
                        });
                        // A leader that waits for the pool leads on.
                        let some = (0..64usize).into_par_iter().with_max_len(1);
                        assert_eq!(some.filter(|k| k % 2 == 0).count(), 32);
                    }
                });
                sum.into_inner()
            };
            (0..8usize).into_par_iter().map(sum).collect()
        });
        let expected: Vec<usize> = (0..8).map(|own| own * 190 * 19900).collect();
        assert_eq!(sums, expected);
    }
}
