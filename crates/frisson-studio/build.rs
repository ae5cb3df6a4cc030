//! Gathers the gallery's scenes into the program: `scenes` is the repository's folder, and part of the packed crate.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(&folder).map(|all| all.flatten().map(|e| e.path()).collect());
    let mut scenes: Vec<PathBuf> = entries.unwrap_or_default();
    scenes.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    scenes.sort();
    let mut code = String::from("&[\n");
    for scene in scenes {
        let name = scene.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", scene.display().to_string());
    }
    code.push_str("]\n");
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    std::fs::write(Path::new(&out).join("scenes.rs"), code).expect("the build folder is writable");
}
