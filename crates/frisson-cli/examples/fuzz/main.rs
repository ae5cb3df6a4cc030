//! Random inputs for every reader, and whole small bakes of random scenes; the same seed gives the
//! same inputs.
//!
//! ```text
//! cargo run --release -p frisson-cli --example fuzz -- cache 2000000 [SEED [FIRST]] [--keep FOLDER]
//! targets: cache scene gltf draco files (or fbx usd abc obj bvh pc2 mdd) bake all
//! ```
//! An input that panics, takes long or breaks a promise is written to the folder and counted; the
//! program ends with code 1 if there was one. Where the memory of the process can be bounded
//! (`ulimit -v`), a flood ends it: the number of the last input is in `FOLDER/TARGET.last`.

mod bakes;
mod caches;
mod characters;
mod files;
mod random;
mod scenes;

use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use frisson_io::gltf::{serve_draco, set_draco_helper};
use random::Random;

/// Longest that one file may keep the processors busy that is only read.
const READERS_PATIENCE: Duration = Duration::from_secs(10);

/// Word by which the program unpacks Draco blocks for itself.
const HELPER: &str = "unpack-draco";

/// One kind of input: makes it and feeds it. `Err` says which promise was broken.
pub trait Target {
    /// Makes the input.
    fn make(&mut self, random: &mut Random) -> Vec<u8>;
    /// Feeds it.
    fn feed(&mut self, input: &[u8]) -> Result<(), String>;
    /// How its files end.
    fn extension(&self) -> &str;
    /// Longest that one input may keep the processors busy.
    fn patience(&self) -> Duration {
        READERS_PATIENCE
    }
}

fn main() -> std::process::ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|w| w == HELPER) {
        let served = serve_draco(&mut std::io::stdin(), &mut std::io::stdout());
        return std::process::ExitCode::from(u8::from(served.is_err()));
    }
    set_draco_helper(std::env::current_exe().unwrap(), vec![HELPER.to_owned()]);
    let keep = match words.iter().position(|w| w == "--keep") {
        Some(at) if at + 1 < words.len() => PathBuf::from(words.drain(at..at + 2).nth(1).unwrap()),
        _ => std::env::temp_dir().join("frisson-fuzz"),
    };
    let name = words.first().map_or("all", String::as_str);
    let number = |at: usize, default: u64| words.get(at).map_or(default, |w| w.parse().unwrap());
    let inputs = Inputs { seed: number(2, 1), first: number(3, 0), count: number(1, 1000) };
    std::fs::create_dir_all(&keep).unwrap();
    let names: Vec<&str> = match name {
        "all" => vec!["cache", "scene", "gltf", "bake"],
        one => vec![one],
    };
    // The hook would print every one of them.
    std::panic::set_hook(Box::new(|_| {}));
    let found: u64 = names.into_iter().map(|name| storm(name, inputs, &keep)).sum();
    std::process::ExitCode::from(u8::from(found > 0))
}

fn target(name: &str) -> Box<dyn Target> {
    match name {
        "cache" => Box::new(caches::Caches::new()),
        "scene" => Box::new(scenes::Scenes::new()),
        "gltf" => Box::new(characters::Characters::new()),
        "files" => Box::new(files::Files::new(None)),
        "fbx" | "usd" | "abc" | "obj" | "bvh" | "pc2" | "mdd" => {
            Box::new(files::Files::new(Some(name)))
        }
        "draco" => Box::new(characters::DracoBlocks::new()),
        "bake" => Box::new(bakes::Bakes::new()),
        other => panic!("there is no target named {other}"),
    }
}

/// Which inputs.
#[derive(Clone, Copy)]
struct Inputs {
    seed: u64,
    first: u64,
    count: u64,
}

/// Feeds inputs; returns how many were wrong.
fn storm(name: &str, Inputs { seed, first, count }: Inputs, keep: &Path) -> u64 {
    let mut target = target(name);
    let last = std::fs::File::create(keep.join(format!("{name}.last"))).unwrap();
    let (started, mut found, mut slowest) = (Instant::now(), 0, Duration::ZERO);
    for index in first..first + count {
        last.write_all_at(&index.to_string().into_bytes(), 0).unwrap();
        let mut random = Random::new(seed, index);
        let input = target.make(&mut random);
        if name == "bake" {
            // One that does not come back is found here.
            std::fs::write(keep.join("bake.last.toml"), &input).unwrap();
        }
        let begun = bakes::workshop::busy();
        let outcome = catch_unwind(AssertUnwindSafe(|| target.feed(&input)));
        let took = bakes::workshop::busy().saturating_sub(begun);
        slowest = slowest.max(took);
        let wrong = match outcome {
            Err(cause) => Some(format!("panic: {}", message(&*cause))),
            Ok(Err(broken)) => Some(broken),
            Ok(Ok(())) if took > target.patience() => Some(format!("took {took:?}")),
            Ok(Ok(())) => None,
        };
        if let Some(wrong) = wrong {
            found += 1;
            let file = keep.join(format!("{name}-{seed}-{index}.{}", target.extension()));
            std::fs::write(&file, &input).unwrap();
            println!("{name} {index}: {wrong} ({})", file.display());
        }
    }
    println!(
        "{name}: {count} inputs, seed {seed}, {found} wrong, slowest {slowest:.1?}, in {:.0} s",
        started.elapsed().as_secs_f64()
    );
    found
}

fn message(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().cloned();
    text.or_else(|| cause.downcast_ref::<&str>().map(|t| (*t).to_owned())).unwrap_or_default()
}
