//! Baking into a cache.

use std::path::PathBuf;

use frisson_io::bake::{BakeOptions, BakeOutcome, cache_files};
use frisson_io::cache::IfExists;
use frisson_io::outputs;
use pyo3::prelude::*;

use crate::scene::{Actors, Given, Scene};
use crate::trouble::{Listener, Trouble};

/// Bakes a scene; answers the report as JSON. `if_exists` is `refuse`, `replace` or `resume`.
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
    let baked = py.detach(|| -> Result<BakeOutcome, Trouble> {
        let inputs = [scene.file.path.clone()];
        outputs::prepare(&cache_files(&options.cache), &inputs)
            .map_err(|e| Trouble::input(e.to_string()))?;
        Ok(frisson_io::bake::bake(&scene.file, &given, &options, &mut listener)?)
    });
    match listener.end(baked)? {
        BakeOutcome::Finished(report) => Trouble::json(&report),
        BakeOutcome::Paused { last_frame, .. } => Err(Trouble::Stopped(last_frame)),
    }
}
