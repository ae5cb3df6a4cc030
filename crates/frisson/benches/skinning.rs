//! Linear-blend skinning of 100k vertices by 50 joints, 4 influences each, beside a plain copy that
//! reads and writes as many bytes in all.
//!
//! `cargo bench -p frisson --bench skinning`

use std::hint::black_box;
use std::time::Instant;

use frisson::character::{
    Character, CharacterMesh, Influences, Node, Pose, Sampling, Skeleton, Skin, Transform,
};
use frisson::geometry::Mesh;
use glam::{Mat4, Vec3};

const VERTICES: usize = 100_000;
const JOINTS: usize = 50;
const ROUNDS: usize = 201;

fn character() -> Character {
    let node = |index: usize| Node {
        name: format!("joint {index}"),
        parent: index.checked_sub(1),
        rest: Transform::from_translation(Vec3::new(0.01, 0.1, 0.0)),
    };
    let skeleton = Skeleton::new((0..JOINTS).map(node).collect()).expect("a chain has no cycle");
    let skin = Skin {
        name: "skin".to_owned(),
        joints: (0..JOINTS).collect(),
        inverse_bind: vec![Mat4::IDENTITY; JOINTS],
    };
    let joint = |v: usize, k: usize| ((v * JOINTS / VERTICES + k) % JOINTS) as u16;
    let lists: Vec<Vec<(u16, f32)>> = (0..VERTICES)
        .map(|v| (0..4).map(|k| (joint(v, k), 1.0 + ((v + k) % 5) as f32)).collect())
        .collect();
    let positions = (0..VERTICES).map(|v| Vec3::new(v as f32 * 1e-5, (v % 100) as f32 * 0.01, 0.5));
    let mesh = CharacterMesh::skinned(
        Mesh::new("body", positions.collect(), Vec::new()),
        Influences::from_lists(&lists),
    );
    Character {
        name: "bench".to_owned(),
        skeleton,
        skins: vec![skin],
        meshes: vec![mesh],
        clips: Vec::new(),
    }
}

/// Median of the times of a run, and the least [ms].
fn measure(mut run: impl FnMut()) -> (f64, f64) {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[ROUNDS / 2], times[0])
}

fn main() {
    let character = character();
    let mut pose = Pose::default();
    pose.set(&character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
    let influences = &character.meshes[0].influences;
    // What skinning must touch: positions in and out, offsets, joints, weights.
    let bytes = VERTICES * (12 + 12)
        + 4 * influences.offsets.len()
        + 2 * influences.joints.len()
        + 4 * influences.weights.len();
    let source = vec![1u8; bytes / 2];
    let mut target = vec![0u8; bytes / 2];
    let copy = measure(|| black_box(&mut target).copy_from_slice(black_box(&source)));
    println!("skinning: {VERTICES} vertices, {JOINTS} joints, 4 influences");
    println!("{:<28} {:>9} {:>9} {:>8}", "", "median ms", "least ms", "x copy");
    let row = |name: &str, (median, least): (f64, f64)| {
        println!("{name:<28} {median:>9.3} {least:>9.3} {:>8.1}", median / copy.0);
    };
    row(&format!("copy of {} kB", bytes / 2000), copy);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let Ok(pool) = pool else { continue };
        let mut out = Vec::new();
        let time = pool.install(|| {
            measure(|| {
                character.deform_mesh_positions(0, black_box(&pose), &mut out);
                black_box(&out);
            })
        });
        row(&format!("skinning, {threads} thread(s)"), time);
    }
    let setting = measure(|| {
        pose.set(&character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
        black_box(&pose);
    });
    row("pose of 50 joints", setting);
}
