//! From a scene to a cache: simulate, write, measure; stop and go on at any time.

mod exports;
mod normals;
mod preroll;
mod said;
mod timers;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use frisson::geometry::Channels;
use frisson::stage::{Frame, Simulator, SimulatorError};
use serde::Serialize;
use thiserror::Error;

use crate::cache::{CacheError, CacheHeader, CacheReader, CacheWriter, IfExists};
use crate::outputs::{self, OutputError};
use crate::scene::{ActorLoader, SceneError, SceneFile};
use crate::source::{Progress, SourceError};
use preroll::Preroll;

pub use exports::{cache_files, export_cache, planned_files, report_files};
pub use normals::OutputNormals;
pub use said::{MeasureSeries, Said, read_reports};
pub use timers::Timers;

/// Least time that a bake is said to take [s]: clocks are no finer, and nothing is divided by zero.
const LEAST_SECONDS: f64 = 1e-9;

/// Where to and how.
#[derive(Clone, Debug)]
pub struct BakeOptions {
    /// The cache to write.
    pub cache: PathBuf,
    /// What to do when it is already there.
    pub if_exists: IfExists,
}

/// How a bake ended.
#[derive(Clone, Debug)]
pub enum BakeOutcome {
    /// All frames are there and the cache has its name.
    Finished(BakeReport),
    /// Stopped on request; `--resume` goes on without losing a frame.
    Paused {
        /// Last frame in the cache, if any.
        last_frame: Option<i64>,
        /// What was measured until then.
        report: BakeReport,
    },
}

/// Why a bake stopped.
#[derive(Debug, Error)]
pub enum BakeError {
    /// The scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The cache.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The simulation. Finished frames are kept.
    #[error("{error}; {} finished frames are kept in {}", .kept, .cache.display())]
    Simulation {
        /// What happened.
        error: Box<SimulatorError>,
        /// Frames that are good.
        kept: u64,
        /// Where.
        cache: PathBuf,
    },
    /// The cache may not be written there.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// What was just written cannot be read back.
    #[error("the cache just written cannot be read back: {0}")]
    ReadBack(#[from] SourceError),
}

/// Time spent in one layer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LayerTime {
    /// Kind as spelled in the scene file.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Time in its steps [s].
    pub seconds: f64,
    /// Time of each frame of the shot [ms]; nothing for frames of an earlier run. Pre-roll counts
    /// towards the first.
    pub frames_ms: Vec<Option<f64>>,
}

/// What a bake says about itself; written as JSON beside the cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BakeReport {
    /// Scene file.
    pub scene: String,
    /// Cache.
    pub cache: String,
    /// First frame of the shot.
    pub first_frame: i64,
    /// Last frame in the cache.
    pub last_frame: i64,
    /// Frames per second of the shot.
    pub fps: f64,
    /// Frames simulated in this run, pre-roll included.
    pub frames_simulated: u64,
    /// Frame after which this run went on, when it resumed.
    pub resumed_after: Option<i64>,
    /// Threads used.
    pub threads: usize,
    /// Wall-clock time of this run [s].
    pub seconds: f64,
    /// Time for reading actors and building layers [s].
    pub build_seconds: f64,
    /// Time for posing and skinning the actors [s].
    pub actors_seconds: f64,
    /// Time in each layer.
    pub layers: Vec<LayerTime>,
    /// Time for compressing and writing [s].
    pub cache_seconds: f64,
    /// Simulated frames per second of wall-clock time.
    pub frames_per_second: f64,
    /// Largest resident memory of the process, where the system tells [bytes].
    pub peak_memory_bytes: Option<u64>,
    /// Size of the cache [bytes].
    pub cache_bytes: u64,
    /// What the layers warned about, each once.
    pub warnings: Vec<String>,
    /// What the layers measured.
    pub measures: Vec<MeasureSeries>,
    /// Files written, the cache included.
    pub files: Vec<String>,
}

impl BakeReport {
    /// Which part of the bake's time some seconds are [%].
    #[must_use]
    pub fn percent_of_all(&self, seconds: f64) -> f64 {
        100.0 * seconds / self.seconds.max(LEAST_SECONDS)
    }
}

/// Bakes a scene into a cache.
pub fn bake(
    scene: &SceneFile,
    loader: &dyn ActorLoader,
    options: &BakeOptions,
    progress: &mut dyn Progress,
) -> Result<BakeOutcome, BakeError> {
    let started = Instant::now();
    let built = scene.build(loader)?;
    // Only now is it known which files the actors are made of.
    outputs::refuse_inputs(&cache_files(&options.cache), &built.inputs)?;
    let header = header(scene, &built.stage, built.hash, built.sources);
    let remarks = built.remarks;
    let (writer, resume) = CacheWriter::open(&options.cache, &header, options.if_exists)?;
    // Of the first frame, before a resume moves the stage: see there.
    let normals = OutputNormals::new(built.stage.frame());
    let mut bake = Bake {
        timers: Timers::new(built.stage.layers().len()),
        stage: built.stage,
        writer,
        output: Frame::default(),
        normals,
        cache_time: Duration::ZERO,
        simulated: 0,
        kept: 0,
        cache: options.cache.clone(),
    };
    let build_seconds = started.elapsed().as_secs_f64();
    let resumed_after = match &resume {
        Some(point) => {
            let unfit = |error| BakeError::Simulation {
                error: Box::new(error),
                kept: 0,
                cache: options.cache.clone(),
            };
            bake.stage.load(&point.state).map_err(unfit)?;
            bake.kept = (point.frame - header.first_frame + 1).max(0) as u64;
            bake.timers.skip_frames(bake.kept as usize);
            Some(point.frame)
        }
        None => None,
    };
    let finished = bake.run(resumed_after, progress)?;
    let mut report = BakeReport {
        scene: scene.path.display().to_string(),
        cache: options.cache.display().to_string(),
        first_frame: header.first_frame,
        fps: header.rate.fps(),
        resumed_after,
        threads: rayon::current_num_threads(),
        build_seconds,
        ..BakeReport::default()
    };
    bake.describe(&mut report);
    let last_frame = bake.last_written(header.first_frame);
    if finished {
        bake.writer.finish()?;
    } else {
        pause(bake, last_frame)?;
    }
    report.seconds = started.elapsed().as_secs_f64();
    report.frames_per_second = report.frames_simulated as f64 / report.seconds.max(LEAST_SECONDS);
    report.peak_memory_bytes = peak_memory();
    // From the cache: it covers earlier runs too.
    let said = read_reports(&mut CacheReader::open(&options.cache)?)?;
    report.measures = said.measures;
    report.warnings = remarks.into_iter().chain(said.warnings).collect();
    report.files.push(report.cache.clone());
    Ok(if finished {
        BakeOutcome::Finished(report)
    } else {
        BakeOutcome::Paused { last_frame, report }
    })
}

fn header(
    scene: &SceneFile,
    stage: &Simulator,
    scene_hash: u128,
    sources: Vec<(String, String)>,
) -> CacheHeader {
    CacheHeader {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        scene_hash,
        rate: stage.clock().rate,
        first_frame: stage.clock().first_frame,
        last_frame: stage.clock().last_frame,
        sources,
        layers: stage.layers().iter().map(|l| (l.kind().to_owned(), l.name().to_owned())).collect(),
        scene_text: scene.text.clone(),
    }
}

struct Bake {
    stage: Simulator,
    writer: CacheWriter,
    timers: Timers,
    output: Frame,
    normals: OutputNormals,
    cache_time: Duration,
    simulated: u64,
    kept: u64,
    cache: PathBuf,
}

impl Bake {
    /// Simulates to the last frame, or until told to stop; returns whether it came to the end.
    fn run(
        &mut self,
        resumed_after: Option<i64>,
        progress: &mut dyn Progress,
    ) -> Result<bool, BakeError> {
        let clock = *self.stage.clock();
        let mut preroll = Preroll::default();
        let total = clock.frame_count() + u64::from(clock.preroll_frames);
        // The first frame needs no step; with a pre-roll it is stepped to, and resumed it is in the file.
        if resumed_after.is_none() && clock.preroll_frames == 0 {
            self.simulated += 1;
            self.output_frame()?;
        }
        loop {
            let at = self.stage.frame_number();
            let done = (at - clock.start_frame() + 1).max(0) as u64;
            // Asked before the end is looked at, so that the bar comes to 100 %.
            let go_on = progress.advance(done.min(total), total);
            if at >= clock.last_frame {
                return Ok(true);
            }
            if !go_on {
                return Ok(false);
            }
            if let Err(error) = self.stage.advance_frame(&mut self.timers) {
                return Err(self.failed(error));
            }
            self.simulated += 1;
            if at + 1 >= clock.first_frame {
                self.output_frame()?;
            } else if preroll.is_due() {
                let state = self.stage.save().map_err(|e| self.failed(e))?;
                self.writer.leave(at + 1, &state)?;
            }
        }
    }

    fn output_frame(&mut self) -> Result<(), BakeError> {
        let started = Instant::now();
        let reports = self.stage.reports();
        self.output.clone_from(self.stage.frame());
        for mesh in &mut self.output.meshes {
            // What layers leave for each other is not for anyone else.
            mesh.channels = Channels::default();
        }
        self.normals.complete(&mut self.output);
        let number = self.stage.frame_number();
        self.writer.write_frame(&self.output, &reports)?;
        self.timers.end_frame();
        self.kept += 1;
        // Nobody resumes behind the last frame.
        let is_last = number >= self.stage.clock().last_frame;
        if !is_last && self.writer.checkpoint_due() {
            let state = self.stage.save().map_err(|e| self.failed(e))?;
            self.writer.write_checkpoint(number, &state)?;
        }
        self.cache_time += started.elapsed();
        Ok(())
    }

    fn failed(&self, error: SimulatorError) -> BakeError {
        BakeError::Simulation { error: Box::new(error), kept: self.kept, cache: self.cache.clone() }
    }

    fn last_written(&self, first_frame: i64) -> Option<i64> {
        (self.kept > 0).then(|| first_frame + self.kept as i64 - 1)
    }

    fn describe(&self, report: &mut BakeReport) {
        report.frames_simulated = self.simulated;
        report.last_frame = report.first_frame + self.kept as i64 - 1;
        report.actors_seconds = self.timers.actors.as_secs_f64();
        report.cache_seconds = self.cache_time.as_secs_f64();
        report.cache_bytes = self.writer.length();
        report.layers = self
            .stage
            .layers()
            .iter()
            .zip(self.timers.layers.iter().zip(&self.timers.frames_ms))
            .map(|(layer, (time, frames_ms))| LayerTime {
                kind: layer.kind().to_owned(),
                name: layer.name().to_owned(),
                seconds: time.as_secs_f64(),
                frames_ms: frames_ms.clone(),
            })
            .collect();
    }
}

/// Leaves the states for a resume: after the last frame, or in the middle of the pre-roll.
fn pause(bake: Bake, last_frame: Option<i64>) -> Result<(), BakeError> {
    let frame = last_frame.unwrap_or_else(|| bake.stage.frame_number());
    let state = bake.stage.save().map_err(|e| bake.failed(e))?;
    Ok(bake.writer.pause(frame, &state)?)
}

/// Largest resident memory of this process so far [bytes]; Linux only.
#[must_use]
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
