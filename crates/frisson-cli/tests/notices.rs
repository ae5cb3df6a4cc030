//! NOTICES names every package that frisson is built from, in the version of Cargo.lock, and holds the
//! licences that must travel with the program. `tests/notices.py` writes it.

use std::path::Path;

fn read(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(name)).unwrap()
}

/// Name and version of the packages of Cargo.lock that come from elsewhere.
fn locked(lock: &str) -> Vec<(String, String)> {
    let field = |block: &str, key: &str| {
        let line = block.lines().find_map(|l| l.strip_prefix(&format!("{key} = ")))?;
        Some(line.trim_matches('"').to_owned())
    };
    let blocks = lock.split("[[package]]").skip(1);
    let foreign = blocks.filter(|b| field(b, "source").is_some());
    foreign.filter_map(|b| Some((field(b, "name")?, field(b, "version")?))).collect()
}

#[test]
fn notices_names_every_package_of_the_lock_file() {
    let (notices, lock) = (read("NOTICES"), read("Cargo.lock"));
    let packages = locked(&lock);
    assert!(packages.len() > 100, "{}", packages.len());
    let listed = notices.split_once("\nLICENCES\n").unwrap().0;
    let missing: Vec<String> = packages
        .iter()
        .map(|(name, version)| format!("{name} {version}: "))
        .filter(|entry| !listed.lines().any(|line| line.starts_with(entry)))
        .collect();
    assert!(missing.is_empty(), "run tests/notices.py: NOTICES lacks {missing:?}");
    let entries = listed.lines().filter(|l| l.contains(": ") && l.contains(" (")).count();
    assert!(entries <= packages.len() + 2, "run tests/notices.py: NOTICES names too many");
}

#[test]
fn licences_that_must_travel_are_there_in_full() {
    let notices = read("NOTICES");
    for words in [
        "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION",
        "UNICODE LICENSE V3",
        "Permission is hereby granted, free of charge",
        "Boost Software License",
    ] {
        assert!(notices.contains(words), "{words}");
    }
}

#[test]
fn every_licence_of_the_list_is_allowed() {
    let allowed = read("deny.toml");
    let notices = read("NOTICES");
    let listed = notices.split_once("\nLICENCES\n").unwrap().0;
    let is_allowed = |licence: &str| {
        let choices = licence.split(" OR ").flat_map(|l| l.split('/'));
        choices.map(|l| l.trim_matches(['(', ')', ' '])).any(|choice| {
            choice.split(" AND ").all(|part| {
                let part = part.trim_matches(['(', ')', ' ']);
                allowed.lines().any(|l| l.trim() == format!("\"{part}\","))
            })
        })
    };
    let entries = listed.lines().skip_while(|l| *l != "PACKAGES").filter(|l| l.contains(" ("));
    for entry in entries {
        let licence = entry.split_once(": ").unwrap().1.rsplit_once(" (").unwrap().0;
        let licence = licence.split(" (").next().unwrap_or(licence);
        assert!(is_allowed(licence), "{entry}");
    }
}
