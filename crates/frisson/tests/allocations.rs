//! No allocation in a step once everything has found its size: one-thread pool, counting allocator.

mod limb;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use frisson::layers::LayerParams;
use frisson::stage::{ColliderParams, ColliderShape, Simulator};
use limb::{layer, setup};
use serde_json::json;

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

/// Allocations while something is done.
fn counted(work: impl FnOnce()) -> usize {
    COUNT.store(0, Ordering::Relaxed);
    COUNTING.store(true, Ordering::Relaxed);
    work();
    COUNTING.store(false, Ordering::Relaxed);
    COUNT.load(Ordering::Relaxed)
}

/// What `work` gives on one thread.
fn on_one_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(work)
}

/// Allocations in ten ticks after a second of running, the least of three times: what is allocated in every step shows in
/// each of them, a list that doubles because trails have grown only in one.
fn allocations(kinds: &[&str]) -> usize {
    on_one_thread(|| {
        let layers = kinds.iter().map(|k| layer(k, k)).collect();
        let mut simulator = Simulator::new(setup(layers)).unwrap();
        let tick = simulator.clock().tick_seconds();
        for _ in 0..150 {
            simulator.step(tick).unwrap();
        }
        let mut ten_ticks = || {
            counted(|| {
                for _ in 0..10 {
                    simulator.step(tick).unwrap();
                }
            })
        };
        let times = [ten_ticks(), ten_ticks(), ten_ticks()];
        times.into_iter().min().unwrap_or_default()
    })
}

/// Allocations in nine ticks that nobody looks at, beside one that is shown: soft bodies lay a new mesh
/// out whenever they are shown.
fn unseen_allocations(layers: Vec<LayerParams>) -> isize {
    on_one_thread(|| {
        let mut all = setup(layers);
        all.colliders = vec![ColliderParams {
            name: "floor".to_owned(),
            shape: ColliderShape::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] },
            ..ColliderParams::default()
        }];
        let mut simulator = Simulator::new(all).unwrap();
        let tick = simulator.clock().tick_seconds();
        simulator.step(300.0 * tick).unwrap();
        simulator.step(tick).unwrap();
        let mut after = |ticks: f64| {
            counted(|| {
                simulator.step(ticks * tick).unwrap();
            })
        };
        let shown = after(1.0);
        after(10.0) as isize - shown as isize
    })
}

/// A coat on the limb and a dough that has come to rest, shown by their seeds.
fn soft_at_rest() -> LayerParams {
    let value = json!({ "soft": { "name": "soft", "surface": "seeds", "seeds": 32, "objects": [
        { "name": "coat", "thickness": 0.05, "support": 0.065, "coat": { "on": "limb", "balls": 30 } },
        { "name": "dough", "thickness": 0.05, "stiffness": 3e5,
          "dough": { "ball": [0.6, 0.1, 0.0], "radius": 0.1 } } ] } });
    serde_json::from_value(value).unwrap()
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
    assert_eq!(unseen_allocations(vec![soft_at_rest()]), 0, "soft bodies at rest");
}
