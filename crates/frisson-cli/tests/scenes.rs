//! Every scene of the repository: says only what it may, and bakes to the bits it is known for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use frisson::stage::Frame;
use frisson_io::bake::{BakeOptions, bake};
use frisson_io::cache::{CacheReader, IfExists, part_path};
use frisson_io::scene::{ActorContent, ActorLoader, LoadError, LoadedActor, SceneFile};
use frisson_io::{FrameSource as _, Progress};
use xxhash_rust::xxh3::Xxh3;

/// Frames of each scene that are baked: enough for contacts, events and a checkpoint to come.
const FRAMES: u64 = 6;

fn scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut scenes: Vec<PathBuf> =
        files.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
    scenes.sort();
    assert!(!scenes.is_empty());
    scenes
}

#[test]
fn every_scene_file_is_valid_and_in_the_gallery() {
    for path in scenes() {
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

/// The first frames of every scene, on one thread and on two, against the hashes of
/// `tests/golden/scenes.txt`.
///
/// A change of motion is either a mistake or meant; in the latter case look at the scene, mark the
/// change `[RESULTS]` in the changelog, and write the hashes anew:
/// `FRISSON_UPDATE_GOLDEN=1 cargo test -p frisson-cli --test scenes`.
#[test]
fn every_scene_bakes_to_its_known_bits() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/scenes.txt");
    let mut found = String::new();
    for path in scenes() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let [one, two] = [1, 2].map(|threads| hash_of_bake(&path, threads));
        assert_eq!(one, two, "{name}: one and two threads bake different bits");
        found += &format!("{name} {one:016x}\n");
    }
    if std::env::var_os("FRISSON_UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(golden.parent().unwrap()).unwrap();
        std::fs::write(&golden, found).unwrap();
        return;
    }
    let known = std::fs::read_to_string(&golden).expect("golden hashes");
    let changed: Vec<&str> = found.lines().filter(|l| !known.lines().any(|k| k == *l)).collect();
    assert!(changed.is_empty(), "scenes whose motion changed:\n{}", changed.join("\n"));
}

fn hash_of_bake(scene: &Path, threads: usize) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("x.frisson");
    let mut scene = SceneFile::read(scene).unwrap();
    scene.scene.preroll = 0.0;
    let options = BakeOptions { cache: cache.clone(), if_exists: IfExists::Replace };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| bake(&scene, &Cast, &options, &mut FirstFrames).unwrap());
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

struct FirstFrames;

impl Progress for FirstFrames {
    fn advance(&mut self, done: u64, _total: u64) -> bool {
        done < FRAMES
    }
}

/// Scenes of the repository use the built-in cast only.
struct Cast;

impl ActorLoader for Cast {
    fn load(&self, source: &str, _folder: &Path) -> Result<LoadedActor, LoadError> {
        let name = source.strip_prefix("builtin:").unwrap_or(source);
        let character =
            frisson_models::build(name).map_err(|e| LoadError::Builtin(e.to_string()))?;
        Ok(LoadedActor { content: ActorContent::Character(Arc::new(character)), hash: 0 })
    }
}
