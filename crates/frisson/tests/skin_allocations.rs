//! Flesh and wrinkles take nothing from the heap in a step once they run: what they need is kept.

// Counting what is taken means standing in for the allocator, which is an unsafe trait.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use frisson::character::{
    Character, CharacterMesh, Clip, Influences, Interpolation, Node, Skeleton, Skin, Track,
    TrackTarget, Transform,
};
use frisson::geometry::Mesh;
use frisson::layers::LayerParams;
use frisson::layers::flesh::FleshParams;
use frisson::layers::wrinkles::{Emit, RestLength, WrinkleTool, WrinklesParams};
use frisson::stage::{Actor, ClipPlay, Clock, Observer, Rate, Setup, Simulator};
use glam::{Mat4, Vec3};

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed to the system's allocator with the very arguments it came with; counting
// touches a constant-initialised thread-local cell, which takes no memory itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.with(|taken| taken.set(taken.get() + 1));
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above, that is from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn taken() -> usize {
    TAKEN.with(Cell::get)
}

/// What each layer took.
#[derive(Default)]
struct Counts {
    start: usize,
    layers: [usize; 2],
}

impl Observer for Counts {
    fn layer_start(&mut self, _layer: usize) {
        self.start = taken();
    }
    fn layer_end(&mut self, layer: usize) {
        self.layers[layer] += taken() - self.start;
    }
}

const CELLS: usize = 16;

/// A sheet of 1 m on a joint that is shaken.
fn character() -> Character {
    let at = |x: usize, z: usize| (z * (CELLS + 1) + x) as u32;
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for z in 0..=CELLS {
        for x in 0..=CELLS {
            positions.push(Vec3::new(x as f32, 2.0, z as f32) / CELLS as f32);
            if x < CELLS && z < CELLS {
                triangles.push([at(x, z), at(x, z + 1), at(x + 1, z)]);
                triangles.push([at(x + 1, z), at(x, z + 1), at(x + 1, z + 1)]);
            }
        }
    }
    let node = |name: &str, parent, place: Vec3| Node {
        name: name.to_owned(),
        parent,
        rest: Transform::from_translation(place),
    };
    let times: Vec<f32> = (0..=60).map(|k| k as f32 / 30.0).collect();
    let values = times.iter().flat_map(|t| [0.1 * (9.0 * t).sin(), 0.0, 0.0]).collect();
    let shake = Track {
        target: TrackTarget::Translation(0),
        interpolation: Interpolation::Linear,
        times,
        values,
        width: 3,
    };
    let lists = vec![vec![(0u16, 1.0f32)]; positions.len()];
    Character {
        name: "sheet".to_owned(),
        skeleton: Skeleton::new(vec![
            node("root", None, Vec3::ZERO),
            node("tip", Some(0), Vec3::new(1.0, 0.0, 1.0)),
        ])
        .expect("a tree"),
        skins: vec![Skin {
            name: "skin".to_owned(),
            joints: vec![0, 1],
            inverse_bind: vec![Mat4::IDENTITY, Mat4::from_translation(-Vec3::new(1.0, 0.0, 1.0))],
        }],
        meshes: vec![CharacterMesh::skinned(
            Mesh::new("sheet", positions, triangles),
            Influences::from_lists(&lists),
        )],
        clips: vec![Clip { name: "shake".to_owned(), tracks: vec![shake] }],
    }
}

fn setup(emit: Emit, live: bool) -> Setup {
    let mut flesh = FleshParams::new("flesh", "sheet", "root", &["tip"]);
    (flesh.rotation, flesh.volume) = (0.5, 0.5);
    let vertex = |x: usize, z: usize| (z * (CELLS + 1) + x) as u32;
    let mut tool = WrinkleTool::new("fold", vertex(2, 8), vertex(14, 8), 0.2);
    tool.rest = RestLength::Length(0.9);
    tool.live = live;
    let wrinkles = WrinklesParams {
        name: "wrinkles".to_owned(),
        on: "sheet".to_owned(),
        tools: vec![tool],
        max_level: 2,
        emit,
        guard: true,
        attributes: false,
    };
    let actor = Actor::character_named("sheet", Arc::new(character())).playing(ClipPlay::new(0));
    Setup {
        clock: Clock::new(Rate::whole(30), 0, 60),
        actors: vec![actor],
        layers: vec![LayerParams::Flesh(flesh), LayerParams::Wrinkles(wrinkles)],
        ..Setup::default()
    }
}

#[test]
fn steps_take_nothing_from_the_heap() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    for (emit, live) in [(Emit::Static, false), (Emit::Adaptive, false), (Emit::Static, true)] {
        let counts = pool.install(|| {
            let mut simulator = Simulator::new(setup(emit, live)).expect("a simulator");
            let mut counts = Counts::default();
            // Storage grows until everything has been seen once.
            for _ in 0..4 {
                simulator.advance_frame(&mut counts).expect("a sound frame");
            }
            counts.layers = [0; 2];
            for _ in 0..10 {
                simulator.advance_frame(&mut counts).expect("a sound frame");
            }
            counts.layers
        });
        assert_eq!(counts, [0, 0], "{emit:?}, live {live}");
    }
}
