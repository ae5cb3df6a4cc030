//! Damaged files of every kind that an actor or its points come from, as the loader meets them: on the
//! disk, by their ending. The whole ones lie in `FRISSON_FUZZ_SEEDS`.

use std::ffi::OsStr;
use std::path::Path;

use frisson_io::given::{GivenError, PointCache, SampleSource as _};
use frisson_io::inputs::InputSet;
use frisson_io::scene::{ActorLoader as _, FileLoader};

use crate::Target;
use crate::random::Random;

/// Largest whole file that is taken: most inputs are about structure.
const LARGEST: u64 = 300_000;

pub struct Files {
    whole: Vec<(String, Vec<u8>)>,
    ending: String,
    folder: tempfile::TempDir,
}

impl Files {
    /// Files of all kinds, or of one ending only.
    pub fn new(only: Option<&str>) -> Self {
        let seeds = std::env::var_os("FRISSON_FUZZ_SEEDS").expect("FRISSON_FUZZ_SEEDS is not set");
        let mut paths: Vec<_> =
            std::fs::read_dir(seeds).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        let small = |p: &std::path::PathBuf| p.metadata().is_ok_and(|m| m.len() <= LARGEST);
        let whole: Vec<(String, Vec<u8>)> = paths
            .iter()
            .filter(|p| small(p))
            .filter(|p| only.is_none_or(|only| p.extension().is_some_and(|e| is_kind(e, only))))
            .filter_map(|p| Some((p.extension()?.to_str()?.to_owned(), std::fs::read(p).ok()?)))
            .collect();
        assert!(!whole.is_empty(), "FRISSON_FUZZ_SEEDS holds no small file of that kind");
        Self { whole, ending: String::new(), folder: tempfile::tempdir().unwrap() }
    }
}

impl Target for Files {
    fn make(&mut self, random: &mut Random) -> Vec<u8> {
        let (ending, bytes) = random.pick(&self.whole);
        let mut bytes = bytes.clone();
        random.damage(&mut bytes);
        self.ending.clone_from(ending);
        bytes
    }

    fn feed(&mut self, input: &[u8]) -> Result<(), String> {
        let name = format!("input.{}", self.ending);
        std::fs::write(self.folder.path().join(&name), input).map_err(|e| e.to_string())?;
        let refused = match self.ending.as_str() {
            "pc2" | "mdd" => {
                read_points(&self.folder.path().join(&name)).err().map(|e| e.to_string())
            }
            kind if kind.starts_with("usd") => {
                let given = read_given(&self.folder.path().join(&name)).err();
                let loaded = FileLoader.load(&name, self.folder.path()).err();
                loaded.map(|e| e.to_string()).or(given.map(|e| e.to_string()))
            }
            _ => FileLoader.load(&name, self.folder.path()).err().map(|e| e.to_string()),
        };
        match refused {
            Some(text) if text.is_empty() => Err("refused without a word".to_owned()),
            _ => Ok(()),
        }
    }

    fn extension(&self) -> &str {
        &self.ending
    }
}

/// Whether an ending is of a kind; USD has several.
fn is_kind(ending: &OsStr, kind: &str) -> bool {
    ending == kind || kind == "usd" && ["usda", "usdc", "usdz"].iter().any(|e| ending == *e)
}

/// Reads all that a file gives at some times.
fn read_given(path: &Path) -> Result<(), GivenError> {
    let given = frisson_io::given::open(path, 24.0, &InputSet::default())?;
    for time in [-1.0, 0.1, 0.27, 1e6] {
        given.curves.iter().try_for_each(|c| c.curves_at(time).map(drop))?;
        given.points.iter().try_for_each(|p| p.points_at(time).map(drop))?;
    }
    Ok(())
}

/// Reads every sample of a point cache.
fn read_points(path: &Path) -> Result<(), GivenError> {
    let cache = PointCache::open(path, 24.0, &InputSet::default())?;
    (0..cache.times().len()).try_for_each(|sample| cache.read(sample).map(drop))
}
