//! Whole small bakes: hostile scenes, and scenes made from the schema.

use std::path::Path;
use std::time::Duration;

use frisson_io::Silent;
use frisson_io::bake::{BakeOptions, bake};
use frisson_io::cache::IfExists;
use frisson_io::scene::SceneFile;

use crate::Target;
use crate::random::Random;

#[path = "../../tests/hostile/mod.rs"]
pub mod workshop;

pub struct Bakes {
    folder: tempfile::TempDir,
}

impl Bakes {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }
}

impl Target for Bakes {
    fn make(&mut self, random: &mut Random) -> Vec<u8> {
        workshop::scene(random.next()).into_bytes()
    }

    fn feed(&mut self, input: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(input).map_err(|e| e.to_string())?;
        let Ok(scene) = SceneFile::parse(Path::new("fuzz.toml"), text) else { return Ok(()) };
        let cache = self.folder.path().join("fuzz.frisson");
        let options = BakeOptions { cache, if_exists: IfExists::Replace };
        // An error with a reason is as good as a shot; only a panic or a hang is not.
        let _ = bake(&scene, &workshop::Workshop, &options, &mut Silent);
        Ok(())
    }

    fn extension(&self) -> &str {
        "toml"
    }

    // A coat of 100,000 points that drops look at in each of 360 ticks is work, not a hang.
    fn patience(&self) -> Duration {
        Duration::from_secs(30)
    }
}
