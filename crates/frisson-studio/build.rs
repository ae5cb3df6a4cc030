//! Gathers the gallery's scenes into the program. `scenes` is a link to the repository's, and a folder in a package.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    // Asked when it runs: a build folder may outlive the clone that this was compiled in.
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // A clone without links (Windows) has a file in the link's place.
    let folder = ["scenes", "../../scenes"].map(|f| here.join(f)).into_iter().find(|f| f.is_dir());
    let folder = folder.expect("the gallery's scenes are beside the package's sources");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut scenes = entries(&folder);
    let folders: Vec<PathBuf> = scenes.iter().filter(|p| p.is_dir()).cloned().collect();
    scenes.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    assert!(!scenes.is_empty(), "no scene in {}", folder.display());
    let mut code = String::from("&[\n");
    for scene in scenes {
        let name = scene.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", scene.display().to_string());
    }
    write("scenes.rs", code);
    // What scenes name beside them.
    let mut code = String::from("&[\n");
    for file in folders.iter().flat_map(|f| entries(f)).filter(|p| p.is_file()) {
        let parts = file.strip_prefix(&folder).unwrap_or(&file).iter().map(|p| p.to_string_lossy());
        let name = parts.collect::<Vec<_>>().join("/");
        let _ = writeln!(code, "    ({name:?}, include_bytes!({:?})),", file.display().to_string());
    }
    write("companions.rs", code);
}

/// What is in a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).map(|all| all.flatten().map(|e| e.path()).collect());
    let mut found: Vec<PathBuf> = found.unwrap_or_default();
    found.sort();
    found
}

fn write(name: &str, code: String) {
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let written = std::fs::write(Path::new(&out).join(name), code + "]\n");
    written.expect("the build folder is writable");
}
