//! Every scene of the repository, interrupted and resumed: the cache ends with the same bytes as that
//! of a straight run, what the layers measured and warned about included.
//!
//! `cargo test` interrupts a short beginning of each scene; `.ci/long` runs
//! `FRISSON_RESUME_FRAMES=all` over whole scenes.

mod common;

use std::path::Path;

use frisson_io::Progress;
use frisson_io::bake::{BakeOptions, BakeOutcome, BakeReport, bake};
use frisson_io::cache::IfExists;
use frisson_io::scene::SceneFile;
use frisson_workshop::Loader;

/// Frames that are baked of each scene, and after how many of them it is interrupted: late enough
/// for contacts to be there, early enough for them to go on.
const SHORT: [u64; 2] = [5, 3];

/// Scenes that end with other bytes after an interruption, and why. Whoever cures one takes it out of
/// the list: the test fails while a cured scene is still in it.
const NOT_YET: &[(&str, &str)] = &[];

#[test]
fn every_scene_ends_with_the_same_bytes_after_an_interruption() {
    let all = std::env::var("FRISSON_RESUME_FRAMES").is_ok_and(|f| f == "all");
    let only = std::env::var("FRISSON_RESUME_SCENE").ok();
    let mut problems = Vec::new();
    for path in common::scenes() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|o| *o != name) {
            continue;
        }
        let differs = difference(&path, all);
        let excuse = NOT_YET.iter().find(|(scene, _)| *scene == name).map(|(_, why)| *why);
        match (differs, excuse) {
            (Some(difference), None) => problems.push(format!("{name}: {difference}")),
            (None, Some(why)) => problems.push(format!(
                "{name} resumes to the same bytes now: take it out of NOT_YET ({why})"
            )),
            _ => {}
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A pre-roll that is interrupted goes on where it was, and leaves nothing in the finished cache.
#[test]
fn an_interrupted_preroll_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/demo-cat.toml");
    let mut scene = SceneFile::read(&path).unwrap();
    scene.scene.preroll = 0.5;
    scene.scene.frames = Some([0, 2]);
    let [straight, broken] = ["a.frisson", "b.frisson"].map(|name| folder.path().join(name));
    run(&scene, &straight, u64::MAX);
    let paused = run(&scene, &broken, 6);
    assert_eq!(paused.frames_simulated, 5, "stopped in the pre-roll");
    let resumed = run(&scene, &broken, u64::MAX);
    assert!(resumed.resumed_after.is_some_and(|frame| frame < 0), "{:?}", resumed.resumed_after);
    assert!(std::fs::read(&straight).unwrap() == std::fs::read(&broken).unwrap());
}

/// How a resumed bake differs from a straight one, if it does.
fn difference(path: &Path, all: bool) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = SceneFile::read(path).unwrap();
    let [first, last] = scene.scene.frames.unwrap_or([0, 100]);
    let whole = (last - first + 1) as u64;
    let [count, stop] = if all { [whole, 8] } else { [SHORT[0].min(whole), SHORT[1]] };
    scene.scene.preroll = 0.0;
    scene.scene.frames = Some([first, last.min(first + count as i64 - 1)]);
    let [straight, broken] = ["a.frisson", "b.frisson"].map(|name| folder.path().join(name));
    let said = run(&scene, &straight, u64::MAX);
    // Whole scenes are interrupted again and again.
    let mut after = stop;
    while after < count {
        run(&scene, &broken, after);
        after += if all { count.div_ceil(4) } else { count };
    }
    let resumed = run(&scene, &broken, u64::MAX);
    let [a, b] = [straight, broken].map(|cache| std::fs::read(cache).unwrap());
    if said.measures != resumed.measures {
        let changed = said.measures.iter().zip(&resumed.measures).find(|(a, b)| a != b);
        let name = changed.map_or("their number", |(a, _)| a.name.as_str());
        return Some(format!("its measures differ: {name}"));
    }
    if said.warnings != resumed.warnings {
        return Some("its warnings differ".to_owned());
    }
    (a != b).then(|| {
        let at = a.iter().zip(&b).position(|(a, b)| a != b);
        format!("caches of {} and {} bytes differ at byte {at:?}", a.len(), b.len())
    })
}

/// Bakes, resuming what is there, until `frames` are done.
fn run(scene: &SceneFile, cache: &Path, frames: u64) -> BakeReport {
    let options = BakeOptions { cache: cache.to_owned(), if_exists: IfExists::Resume };
    match bake(scene, &Loader, &options, &mut Until(frames)).unwrap() {
        BakeOutcome::Finished(report) | BakeOutcome::Paused { report, .. } => report,
    }
}

/// Stops after a number of frames.
struct Until(u64);

impl Progress for Until {
    fn advance(&mut self, done: u64, _total: u64) -> bool {
        done < self.0
    }
}
