//! Any text as a scene: an error with a place, or a scene; never a panic.
#![no_main]

use std::path::Path;

use frisson_io::scene::SceneFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match SceneFile::parse(Path::new("fuzz.toml"), text) {
        Ok(file) => {
            let _ = file.scene;
        }
        Err(error) => {
            assert!(!error.problems.is_empty());
            for problem in &error.problems {
                let (line, column) = error.position(problem);
                assert!(line >= 1 && column >= 1);
            }
            let _ = error.to_string();
        }
    }
});
