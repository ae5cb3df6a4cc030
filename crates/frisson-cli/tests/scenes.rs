//! Every scene of the repository says only what it may.

use std::path::Path;

use frisson_io::scene::SceneFile;

#[test]
fn every_scene_file_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            count += 1;
            if let Err(error) = SceneFile::read(&path) {
                panic!("{error}");
            }
        }
    }
    assert!(count > 0);
}
