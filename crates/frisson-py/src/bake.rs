//! Baking into a cache.

use std::path::{Path, PathBuf};

use frisson_io::bake::{BakeOptions, BakeOutcome, cache_files};
use frisson_io::cache::{CacheReader, IfExists};
use frisson_io::outputs;
use pyo3::prelude::*;

use crate::scene::{Actors, Given, Scene};
use crate::trouble::{Listener, Trouble};

/// Bakes a scene; answers the report as JSON, `null` where a bake to be resumed is finished already.
/// `if_exists` is `refuse`, `replace` or `resume`.
#[pyfunction]
pub fn bake(
    py: Python<'_>,
    scene: &Scene,
    output: PathBuf,
    if_exists: &str,
    progress: Option<Py<PyAny>>,
    actors: Actors,
) -> Result<String, Trouble> {
    let if_exists = match if_exists {
        "replace" => IfExists::Replace,
        "resume" => IfExists::Resume,
        _ => IfExists::Refuse,
    };
    let given = Given::new(py, &actors);
    let mut listener = Listener::new(progress);
    let options = BakeOptions { cache: output, if_exists };
    let baked = py.detach(|| -> Result<Option<BakeOutcome>, Trouble> {
        let inputs = [scene.file.path.clone()];
        outputs::prepare(&cache_files(&options.cache), &inputs)
            .map_err(|e| Trouble::input(e.to_string()))?;
        if options.if_exists == IfExists::Resume && is_finished(scene, &given, &options.cache)? {
            return Ok(None);
        }
        Ok(Some(frisson_io::bake::bake(&scene.file, &given, &options, &mut listener)?))
    });
    match listener.end(baked)? {
        None => Ok("null".to_owned()),
        Some(BakeOutcome::Finished(report)) => Trouble::json(&report),
        Some(BakeOutcome::Paused { last_frame, .. }) => Err(Trouble::Stopped(last_frame)),
    }
}

/// Whether a whole cache of this very scene is there.
fn is_finished(scene: &Scene, given: &Given, cache: &Path) -> Result<bool, Trouble> {
    if !cache.exists() {
        return Ok(false);
    }
    let reader = CacheReader::open(cache)?;
    if reader.is_finished() && reader.header().scene_hash == scene.file.identity(given)?.hash {
        return Ok(true);
    }
    let text = format!("{} is a bake of another scene", cache.display());
    Err(Trouble::Input(
        text,
        Some("start again with force=True, or give another output".to_owned()),
    ))
}
