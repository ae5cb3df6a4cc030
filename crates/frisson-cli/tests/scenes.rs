//! Every scene of the repository: says only what it may, and bakes to the bits it is known for.

mod common;

use std::path::Path;

use frisson::geometry::{Topology, TriangleBvh};
use frisson::stage::{Frame, NoObserver};
use frisson_io::bake::{BakeOptions, bake};
use frisson_io::cache::{CacheReader, IfExists, part_path};
use frisson_io::scene::SceneFile;
use frisson_io::{FrameSource as _, Progress};
use frisson_judge::{Bakery, hold, is_slow};
use frisson_workshop::Loader;
use glam::Vec3;
use xxhash_rust::xxh3::Xxh3;

/// Frames of each scene that are baked: enough for contacts, events and a checkpoint to come.
const FRAMES: u64 = 6;

#[test]
fn every_scene_file_is_valid_and_in_the_gallery() {
    for path in common::scenes() {
        let scene = SceneFile::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let gallery = scene.scene.gallery.unwrap_or_default();
        let said = [gallery.title, gallery.look_for];
        assert!(
            said.iter().all(|s| !s.is_empty()),
            "{}: [gallery] says too little",
            path.display()
        );
    }
}

#[test]
fn every_scene_promises_something_in_words() {
    for path in common::scenes() {
        let scene = SceneFile::read(&path).unwrap_or_else(|error| panic!("{error}")).scene;
        let name = path.display();
        assert!(!scene.expect.is_empty(), "{name}: its caption promises nothing that is measured");
        for expect in &scene.expect {
            // A mark that does not say what was measured cannot be told from an excuse.
            let says = |k: &String| k.contains(|c: char| c.is_ascii_digit());
            assert!(expect.known.as_ref().is_none_or(says), "{name}: {:?}", expect.known);
        }
    }
}

/// Scenes that bake in a second or two; `.ci/long` holds all of them, at other rates too.
const QUICK: [&str; 8] = [
    "cloth-balloon",
    "demo-cat",
    "drops-masses",
    "drops-roughness",
    "drops-turning-field",
    "drops-viscosity",
    "folds-parameters",
    "wrinkles-wrist",
];

#[test]
fn quick_scenes_keep_what_they_promise() {
    for name in QUICK {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenes/{name}.toml"));
        let scene = SceneFile::read(&path).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut progress = frisson_io::Silent;
        let mut bakery = Bakery::new(&scene, &Loader, folder.path(), &mut progress);
        let outcomes = hold(&mut bakery, &|_, e| !is_slow(e));
        let outcomes = outcomes.unwrap_or_else(|error| panic!("{name}: {error}"));
        let bad: Vec<_> = outcomes.iter().filter(|o| !o.held.is_good()).collect();
        assert!(bad.is_empty(), "{name}: {bad:#?}");
    }
}

/// Numbers of threads that are held against one, in turn; `FRISSON_ALL_THREADS` tries all for each scene.
const THREADS: [usize; 3] = [2, 3, 8];

/// The first frames of every scene and the whole of the quick ones, on one thread and on several, against
/// the hashes of `tests/golden/scenes-ARCHITECTURE.txt`.
///
/// A change of motion is either a mistake or meant; in the latter case look at the scene, mark the
/// change `[RESULTS]` in the changelog, and write the hashes anew:
/// `FRISSON_UPDATE_GOLDEN=1 cargo test -p frisson-cli --test scenes`.
#[test]
fn every_scene_bakes_to_its_known_bits() {
    // Sines and exponentials come from the platform: bits are known where they were written down.
    let file = format!("tests/golden/scenes-{}.txt", std::env::consts::ARCH);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let mut found = String::new();
    for (index, path) in common::scenes().iter().enumerate() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        // After the action, too, where that takes a second or two.
        let frames = if QUICK.contains(&name.as_str()) { u64::MAX } else { FRAMES };
        let one = hash_of_bake(path, frames, 1);
        let all = std::env::var_os("FRISSON_ALL_THREADS").is_some();
        let several = if all { &THREADS[..] } else { &THREADS[index % 3..=index % 3] };
        for &threads in several {
            let other = hash_of_bake(path, frames, threads);
            assert_eq!(one, other, "{name}: one and {threads} threads bake different bits");
        }
        found += &format!("{name} {one:016x}\n");
    }
    if std::env::var_os("FRISSON_UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(golden.parent().unwrap()).unwrap();
        std::fs::write(&golden, found).unwrap();
        return;
    }
    let Ok(known) = std::fs::read_to_string(&golden) else {
        println!("no known bits for this architecture: only threads were compared");
        return;
    };
    let changed: Vec<&str> = found.lines().filter(|l| !known.lines().any(|k| k == *l)).collect();
    assert!(changed.is_empty(), "scenes whose motion changed:\n{}", changed.join("\n"));
}

/// Every scene, from its first frame to its last, gives the same bits on any number of threads. Takes
/// long: `cargo test --release -p frisson-cli --test scenes -- --ignored whole_shots`.
#[test]
#[ignore = "bakes every scene twice; in the long lane"]
fn whole_shots_bake_alike_on_any_number_of_threads() {
    for (index, path) in common::scenes().iter().enumerate() {
        let threads = THREADS[index % 3];
        let [one, other] = [1, threads].map(|threads| hash_of_bake(path, u64::MAX, threads));
        assert_eq!(one, other, "{}: one and {threads} threads differ", path.display());
    }
}

fn hash_of_bake(scene: &Path, frames: u64, threads: usize) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("x.frisson");
    let mut scene = SceneFile::read(scene).unwrap();
    scene.scene.preroll = 0.0;
    let options = BakeOptions { cache: cache.clone(), if_exists: IfExists::Replace };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| bake(&scene, &Loader, &options, &mut FirstFrames(frames)).unwrap());
    let written = if cache.exists() { cache } else { part_path(&cache) };
    let mut reader = CacheReader::open(&written).unwrap();
    let (mut hash, mut frame) = (Xxh3::new(), Frame::default());
    for number in reader.info().first_frame..=reader.info().last_frame {
        reader.read_frame(number, &mut frame).unwrap();
        let bytes = postcard::to_stdvec(&frame).unwrap();
        hash.update(&bytes);
    }
    hash.digest()
}

/// Stops a bake after so many frames.
struct FirstFrames(u64);

impl Progress for FirstFrames {
    fn advance(&mut self, done: u64, _total: u64) -> bool {
        done < self.0
    }
}

/// Deepest that a point of a hair may lie inside the head [m]: hairs are lifted a millimetre above it,
/// and this is a fifth of that, below what a picture shows.
const DEEPEST: f32 = 2.0e-4;

/// The head in the wind, while it blows hardest: no hair is in the face, the neck or the shoulders.
#[test]
fn no_hair_of_the_head_in_the_wind_is_inside_the_head() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/hair-head-wind.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("per_wisp = 120"));
    let scene = SceneFile::parse(&path, &text.replace("per_wisp = 120", "per_wisp = 12")).unwrap();
    let mut stage = scene.build(&Loader).unwrap().stage;
    for number in 0..45 {
        stage.advance_frame(&mut NoObserver).unwrap();
        if number % 4 != 0 {
            continue;
        }
        let frame = stage.frame();
        let head = frame.meshes.iter().find(|m| m.name == "head").unwrap();
        let bvh = TriangleBvh::build(&head.positions, &head.topology.triangles);
        let hair = &frame.curves[0];
        let mut start = 0;
        for &count in &hair.counts {
            let points = &hair.points[start..start + count as usize];
            start += count as usize;
            for (k, &p) in points.iter().enumerate().skip(1) {
                let depth = depth_inside(&bvh, p);
                assert!(depth < DEEPEST, "frame {number}, point {k} of a hair: {depth} m inside");
            }
        }
    }
}

/// The coat that is fitted to a character follows its limbs: nothing floats beside it while the arms
/// go up.
#[test]
fn the_coat_of_a_character_stays_in_one_piece() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/soft-character.toml");
    let mut text = std::fs::read_to_string(&path).unwrap();
    for (given, coarse) in [("seeds = 48", "seeds = 16"), ("cell = 0.012", "cell = 0.02")] {
        assert!(text.contains(given));
        text = text.replace(given, coarse);
    }
    let mut stage = SceneFile::parse(&path, &text).unwrap().build(&Loader).unwrap().stage;
    for number in 0..49 {
        stage.advance_frame(&mut NoObserver).unwrap();
        if number % 8 == 0 {
            let coat = stage.frame().meshes.iter().find(|m| m.name == "flesh").unwrap();
            let (_, pieces) =
                Topology::build(&coat.positions, &coat.topology.triangles).components();
            assert_eq!(pieces, 1, "pieces at frame {number}");
        }
    }
}

/// How deep a point is inside a closed mesh [m]; 0 outside. Three rays vote: one may graze an edge.
fn depth_inside(bvh: &TriangleBvh, p: Vec3) -> f32 {
    let Some(near) = bvh.closest_point(p, 0.2) else { return 0.0 };
    let inside = |direction: Vec3| {
        let mut crossings = 0;
        bvh.raycast_all(p, 2.0 * direction, |_, _| crossings += 1);
        crossings % 2 == 1
    };
    let rays = [Vec3::new(0.1, 1.0, 0.05), Vec3::new(0.98, 0.1, -0.3), Vec3::new(-0.3, 0.2, -1.0)];
    if rays.into_iter().filter(|&d| inside(d)).count() >= 2 { near.distance } else { 0.0 }
}
