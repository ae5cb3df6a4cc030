//! ARCHITECTURE.md says what is there, and dependencies go one way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Folders inside a folder, sorted.
fn folders(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    let mut found: Vec<PathBuf> =
        entries.map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    found.sort();
    found
}

/// All Rust files below a folder.
fn sources(path: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The folders that the map names.
fn mapped() -> BTreeSet<String> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let map = text.split("## The map").nth(1).unwrap().split("\n## ").next().unwrap().to_owned();
    map.split('`')
        .skip(1)
        .step_by(2)
        .filter(|p| p.starts_with("crates/"))
        .map(str::to_owned)
        .collect()
}

/// The folders that the map must name: crates, their modules, the layers' rooms.
fn existing() -> BTreeSet<String> {
    let root = root();
    let mut found = BTreeSet::new();
    let mut add = |path: &Path| {
        found.insert(path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"));
    };
    for krate in folders(&root.join("crates")) {
        add(&krate);
        for module in folders(&krate.join("src")) {
            add(&module);
            if module.ends_with("layers") {
                folders(&module).iter().for_each(|layer| add(layer));
            }
        }
    }
    found
}

#[test]
fn the_map_names_every_folder_and_no_other() {
    let (mapped, existing) = (mapped(), existing());
    let gone: Vec<_> = mapped.difference(&existing).collect();
    let missing: Vec<_> = existing.difference(&mapped).collect();
    assert!(gone.is_empty(), "ARCHITECTURE.md names what is not there: {gone:?}");
    assert!(missing.is_empty(), "ARCHITECTURE.md misses: {missing:?}");
}

#[test]
fn crates_depend_one_way() {
    // From the ground up: `UP_TO_WORKSHOP[..n]` is what stands below.
    const UP_TO_WORKSHOP: [&str; 6] = [
        "frisson",
        "frisson-io",
        "frisson-models",
        "frisson-judge",
        "frisson-picture",
        "frisson-workshop",
    ];
    let with = |more: &[&'static str]| [&UP_TO_WORKSHOP, more].concat();
    let allowed: [(&str, Vec<&str>); 9] = [
        ("frisson", vec![]),
        ("frisson-models", vec!["frisson"]),
        ("frisson-io", vec!["frisson"]),
        ("frisson-judge", vec!["frisson", "frisson-io"]),
        ("frisson-picture", vec!["frisson"]),
        ("frisson-workshop", UP_TO_WORKSHOP[..5].to_vec()),
        ("frisson-studio", with(&[])),
        ("frisson-cli", with(&["frisson-studio"])),
        ("frisson-py", with(&["frisson-cli"])),
    ];
    for krate in folders(&root().join("crates")) {
        let name = krate.file_name().unwrap().to_string_lossy().into_owned();
        let (_, may) = allowed.iter().find(|(n, _)| *n == name).unwrap_or_else(|| {
            panic!("crate {name} is not in the list of this test: say what it may depend on")
        });
        // What tests use may point anywhere; what ships may not.
        let manifest = read(&krate.join("Cargo.toml"));
        let shipped = manifest.split("[dev-dependencies]").next().unwrap();
        let dependencies = shipped.split("[dependencies]").nth(1).unwrap_or_default();
        for line in dependencies.lines().filter(|l| l.starts_with("frisson")) {
            let used = line.split(['.', ' ', '=']).next().unwrap();
            assert!(may.contains(&used), "{name} must not depend on {used}");
        }
    }
}

/// Modules of the engine that a line of code names.
fn named_modules(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    let word = |rest: &str| {
        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    };
    code.split("crate::").skip(1).map(word).filter(|w| !w.is_empty()).collect()
}

#[test]
fn engine_modules_depend_one_way() {
    let allowed: &[(&str, &[&str])] = &[
        ("math", &["math", "tolerances"]),
        ("threads", &["threads"]),
        ("geometry", &["math", "threads", "geometry", "tolerances"]),
        ("character", &["math", "threads", "geometry", "character", "tolerances"]),
        ("stage", &["math", "threads", "geometry", "character", "stage", "tolerances"]),
        ("layers", &["math", "threads", "geometry", "character", "stage", "layers", "tolerances"]),
    ];
    let src = root().join("crates/frisson/src");
    for (module, may) in allowed {
        let mut files = Vec::new();
        sources(&src.join(module), &mut files);
        for file in files {
            for line in read(&file).lines() {
                // The one knot: the stage builds the stack from its parameters.
                let in_simulator = file.parent().is_some_and(|p| p.ends_with("stage/simulator"));
                let knot = in_simulator && line.contains("layers::LayerParams");
                for used in named_modules(line).iter().filter(|_| !knot) {
                    let known = allowed.iter().any(|(m, _)| m == used) || used == "tolerances";
                    let fine = !known || may.contains(&used.as_str());
                    assert!(fine, "{}: {module} must not use {used}: {line}", file.display());
                }
            }
        }
    }
}

#[test]
fn layers_never_import_each_other() {
    let layers = root().join("crates/frisson/src/layers");
    let rooms: Vec<String> = folders(&layers)
        .iter()
        .map(|p| p.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    for room in &rooms {
        let mut files = Vec::new();
        sources(&layers.join(room), &mut files);
        for file in files {
            for line in read(&file).lines() {
                let code = line.split("//").next().unwrap_or_default();
                for other in rooms.iter().filter(|r| *r != room) {
                    let imports = code.contains(&format!("layers::{other}::"))
                        || code.contains(&format!("super::super::{other}"));
                    assert!(!imports, "{}: {room} imports {other}: {line}", file.display());
                }
            }
        }
    }
}

/// Files that every layer's room has, in the same roles (CONTRIBUTING.md, "A layer's room").
const ROLES: [&str; 10] = [
    "mod.rs",
    "params.rs",
    "build.rs",
    "rest.rs",
    "state.rs",
    "scratch.rs",
    "step.rs",
    "layer.rs",
    "tests/mod.rs",
    "tests/contract.rs",
];

#[test]
fn every_layers_room_has_the_same_files() {
    for room in folders(&root().join("crates/frisson/src/layers")) {
        for role in ROLES {
            assert!(room.join(role).is_file(), "{} has no {role}", room.display());
        }
        let mut files = Vec::new();
        sources(&room, &mut files);
        for file in files.iter().filter(|f| !f.ends_with("layer.rs")) {
            let signs = read(file).lines().any(|line| line.starts_with("impl Layer for"));
            assert!(!signs, "{}: a layer signs its contract in layer.rs", file.display());
        }
    }
}

/// Lines of a file before its tests.
fn shipped_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split("#[cfg(test)]").next().unwrap_or_default().lines()
}

#[test]
fn only_the_command_prints() {
    for krate in ["frisson", "frisson-models", "frisson-io", "frisson-picture", "frisson-workshop"]
    {
        let mut files = Vec::new();
        sources(&root().join("crates").join(krate).join("src"), &mut files);
        let is_test =
            |f: &Path| f.ends_with("tests.rs") || f.components().any(|c| c.as_os_str() == "tests");
        for file in files.iter().filter(|f| !is_test(f)) {
            for line in shipped_lines(&read(file)) {
                let code = line.split("//").next().unwrap_or_default();
                let prints = ["println!(", "print!("].iter().any(|p| code.contains(p));
                assert!(
                    !prints,
                    "{}: libraries return data, they do not print: {line}",
                    file.display()
                );
            }
        }
    }
}

/// What a page of the book links to, as far as it lies in the book.
fn links(page: &str) -> Vec<String> {
    let inside = |target: &&str| !target.contains("://") && !target.starts_with('#');
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '#']).next());
    targets.filter(inside).filter(|t| !t.is_empty()).map(str::to_owned).collect()
}

#[test]
fn every_page_of_the_book_is_listed_and_every_link_leads_somewhere() {
    let book = root().join("book/src");
    let listed = links(&read(&book.join("SUMMARY.md")));
    for entry in std::fs::read_dir(&book).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".md") {
            continue;
        }
        assert!(name == "SUMMARY.md" || listed.contains(&name), "SUMMARY.md misses {name}");
        for target in links(&read(&book.join(&name))) {
            assert!(book.join(&target).exists(), "{name} links to {target}, which is not there");
        }
    }
}
