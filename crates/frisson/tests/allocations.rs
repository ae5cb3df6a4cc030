//! No allocation in a step once everything has found its size: one-thread pool, counting allocator.

mod limb;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use frisson::stage::Simulator;
use limb::{layer, setup};

static COUNTING: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is handed to the system's allocator with the very arguments; counting touches
// only two atomics and allocates nothing itself.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTING.load(Ordering::Relaxed) {
            COUNT.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the caller keeps `alloc`'s contract, which is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above, which is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if COUNTING.load(Ordering::Relaxed) {
            COUNT.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: `pointer` came from `alloc` above, which is the system's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations in ten ticks after a second of running.
fn allocations(kinds: &[&str]) -> usize {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let layers = kinds.iter().map(|k| layer(k, k)).collect();
        let mut simulator = Simulator::new(setup(layers)).unwrap();
        let tick = simulator.clock().tick_seconds();
        for _ in 0..150 {
            simulator.step(tick).unwrap();
        }
        COUNT.store(0, Ordering::Relaxed);
        COUNTING.store(true, Ordering::Relaxed);
        for _ in 0..10 {
            simulator.step(tick).unwrap();
        }
        COUNTING.store(false, Ordering::Relaxed);
        COUNT.load(Ordering::Relaxed)
    })
}

// One test: the counter is the process's.
#[test]
fn steps_allocate_nothing_in_steady_state() {
    assert_eq!(allocations(&[]), 0, "no layer");
    let mut found = Vec::new();
    for kind in ["flesh", "wrinkles", "cloth", "folds", "hair", "drops"] {
        let count = allocations(&[kind]);
        if count > 0 {
            found.push(format!("{kind}: {count}"));
        }
    }
    assert!(found.is_empty(), "allocations in ten ticks: {}", found.join(", "));
}
