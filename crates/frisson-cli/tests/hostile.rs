//! Physics that nobody would ask for: slivers, one-sided strips, doubled triangles, bodies that jump a
//! thousand kilometres, one frame a second and a thousand, stiffness without end. Every such scene
//! bakes to finite numbers or ends with an error that says what is wrong.
//!
//! `FRISSON_HOSTILE_SCENES` sets how many; `.ci/long` runs some hundred.

#[path = "hostile/mod.rs"]
mod workshop;

use std::path::Path;
use std::time::Duration;

use frisson::stage::Frame;
use frisson_io::bake::{BakeError, BakeOptions, bake};
use frisson_io::cache::{CacheReader, IfExists};
use frisson_io::scene::SceneFile;
use frisson_io::{FrameSource as _, Silent};

/// Longest that one of these small scenes may keep the processors busy, without optimisation.
const PATIENCE: Duration = Duration::from_secs(60);

/// Scenes in the short lane.
const SCENES: u64 = 12;

#[test]
fn hostile_scenes_end_with_finite_numbers_or_a_reason() {
    let count = std::env::var("FRISSON_HOSTILE_SCENES").map_or(SCENES, |n| n.parse().unwrap());
    let (mut baked, mut refused, mut stopped) = (0, 0, 0);
    for seed in 0..count {
        let text = workshop::scene(seed);
        let begun = workshop::busy();
        let ended = outcome(&text);
        let took = workshop::busy().saturating_sub(begun);
        assert!(took < PATIENCE, "seed {seed} took {took:?}\n{text}");
        match ended {
            Ok(frame) => {
                baked += 1;
                assert!(frame.find_non_finite().is_none(), "seed {seed}\n{text}");
            }
            Err(Ended::Refused(why)) => {
                refused += 1;
                assert!(!why.is_empty(), "seed {seed}\n{text}");
            }
            Err(Ended::Stopped(why)) => {
                stopped += 1;
                assert!(why.contains("layer"), "seed {seed}: {why}\n{text}");
            }
        }
    }
    println!("{count} scenes: {baked} baked, {refused} refused, {stopped} stopped");
    // A generator whose scenes are all refused would test nothing.
    assert!(baked * 3 > count, "only {baked} of {count} scenes were baked");
}

enum Ended {
    Refused(String),
    Stopped(String),
}

fn outcome(text: &str) -> Result<Frame, Ended> {
    let folder = tempfile::tempdir().unwrap();
    let scene = SceneFile::parse(Path::new("hostile.toml"), text)
        .map_err(|e| Ended::Refused(e.to_string()))?;
    let cache = folder.path().join("hostile.frisson");
    let options = BakeOptions { cache: cache.clone(), if_exists: IfExists::Refuse };
    bake(&scene, &workshop::Workshop, &options, &mut Silent).map_err(|e| match e {
        BakeError::Simulation { .. } => Ended::Stopped(e.to_string()),
        other => Ended::Refused(other.to_string()),
    })?;
    let mut reader = CacheReader::open(&cache).unwrap();
    let mut frame = Frame::default();
    let last = reader.info().last_frame;
    reader.read_frame(last, &mut frame).unwrap();
    Ok(frame)
}
