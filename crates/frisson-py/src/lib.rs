//! The Python module `frisson._native`: thin. What it gives is plain (numbers, arrays, JSON); the package
//! in `python/` makes it pleasant. Built with the feature `python` only.
#![cfg(feature = "python")]

mod arrays;
mod bake;
mod cache;
mod character;
mod frame;
mod pictures;
mod scene;
mod simulator;
mod trouble;

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::trouble::Trouble;

/// The JSON schema of scene files, as text.
#[pyfunction]
fn schema() -> String {
    frisson_io::scene::scene_schema().to_string()
}

/// Everything of a scene file with that name, as JSON.
#[pyfunction]
fn explain(name: &str) -> Result<String, Trouble> {
    match frisson_io::scene::explain(name) {
        Ok(found) => Trouble::json(&found),
        Err(nearest) => {
            let help = nearest.map(|n| format!("did you mean {n:?}?"));
            Err(Trouble::Input(format!("nothing in a scene file is named {name:?}"), help))
        }
    }
}

/// The built-in cast: name, what it is, its clips.
#[pyfunction]
fn cast() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    frisson_models::catalog().iter().map(|e| (e.name, e.about, e.clips.to_vec())).collect()
}

/// Scenes that need no file: name, what is to be seen, text.
#[pyfunction]
fn demos() -> Vec<(&'static str, &'static str, &'static str)> {
    frisson_workshop::demos::DEMOS.iter().map(|d| (d.name, d.about, d.text)).collect()
}

/// The `frisson` command; the first argument is its name. Answers the exit code.
#[pyfunction]
fn run(py: Python<'_>, arguments: Vec<String>) -> u8 {
    let code = py.detach(|| frisson_cli::run(arguments));
    // An exit code cannot be read back other than by its name.
    (0..=u8::MAX).find(|n| std::process::ExitCode::from(*n) == code).unwrap_or(1)
}

/// Names the program that unpacks Draco blocks: damage in one ends that program only.
#[pyfunction]
fn set_draco_helper(program: PathBuf, arguments: Vec<String>) {
    frisson_io::gltf::set_draco_helper(program, arguments);
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<scene::Scene>()?;
    module.add_class::<cache::Cache>()?;
    module.add_class::<character::Character>()?;
    module.add_class::<simulator::Simulator>()?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(cast, module)?)?;
    module.add_function(wrap_pyfunction!(demos, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(set_draco_helper, module)?)?;
    module.add_function(wrap_pyfunction!(bake::bake, module)?)?;
    module.add_function(wrap_pyfunction!(scene::propose, module)?)?;
    module.add_function(wrap_pyfunction!(scene::toml_of, module)?)?;
    module.add_function(wrap_pyfunction!(pictures::encode_png, module)?)?;
    Ok(())
}
