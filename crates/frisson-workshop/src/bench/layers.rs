//! Runs a scene's text and times its layers, one by one.

use std::path::Path;
use std::time::Instant;

use frisson::geometry::Mesh;
use frisson::stage::{Observer, Simulator};
use frisson_io::scene::SceneFile;

use crate::Loader;
use crate::WorkshopError;

/// Times of every layer in one frame [s].
struct LayerTimes {
    started: Instant,
    seconds: Vec<f64>,
}

impl Observer for LayerTimes {
    fn layer_start(&mut self, _: usize) {
        self.started = Instant::now();
    }
    fn layer_end(&mut self, layer: usize) {
        self.seconds[layer] += self.started.elapsed().as_secs_f64();
    }
}

/// A scene built from text, ready to run frame by frame.
pub struct TimedScene {
    stage: Simulator,
}

impl TimedScene {
    /// Builds the stage.
    pub fn new(text: &str) -> Result<Self, WorkshopError> {
        let file = SceneFile::parse(Path::new("bench.toml"), text).map_err(WorkshopError::of)?;
        let stage = file.build(&Loader).map_err(WorkshopError::of)?.stage;
        Ok(Self { stage })
    }

    /// Advances a frame; seconds of each layer.
    pub fn advance(&mut self) -> Result<Vec<f64>, WorkshopError> {
        let count = self.stage.layers().len();
        let mut times = LayerTimes { started: Instant::now(), seconds: vec![0.0; count] };
        self.stage.advance_frame(&mut times).map_err(WorkshopError::of)?;
        Ok(times.seconds)
    }

    /// Vertices of a mesh of the frame.
    pub fn vertices(&self, mesh: usize) -> usize {
        self.stage.frame().meshes.get(mesh).map_or(0, |m| m.positions.len())
    }

    /// A mesh of the frame, by name.
    pub fn mesh(&self, name: &str) -> Option<&Mesh> {
        let frame = self.stage.frame();
        frame.meshes.get(frame.mesh_index(name)?)
    }

    /// Largest value among a layer's measures whose name ends so.
    pub fn measure(&self, layer: usize, suffix: &str) -> f64 {
        let reports = self.stage.reports();
        let measures = reports.get(layer).map_or(&[][..], |r| &r.measures);
        let named = measures.iter().filter(|m| m.name.ends_with(suffix));
        named.map(|m| m.value).fold(0.0, f64::max)
    }
}

/// The middle value; 0 of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Runs on one core.
pub fn on_one_core<T: Send>(
    work: impl FnOnce() -> Result<T, WorkshopError> + Send,
) -> Result<T, WorkshopError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(WorkshopError::of)?;
    pool.install(work)
}
