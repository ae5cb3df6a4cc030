//! Bakes, exports, pictures and judgements: long jobs that go on when the page is closed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use frisson_io::Progress;
use frisson_io::bake::{BakeOptions, BakeOutcome, bake, export_cache};
use frisson_io::cache::{CacheReader, IfExists};
use frisson_io::export::ExportParams;
use frisson_io::scene::{CameraParams, SceneFile};
use frisson_judge::Limits;
use frisson_picture::RenderOptions;
use frisson_workshop::pictures::{Beside, Pictures, write_picture};
use frisson_workshop::shot::{Overlays, Shot};
use frisson_workshop::{Loader, judge_bake, report_page};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bell::{Bell, lock};

/// What a job shall do.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Simulate into a cache, export what the scene asks for, judge.
    Bake {
        /// `new`, `replace` or `resume`.
        mode: Mode,
    },
    /// Write a finished cache in another format.
    Export {
        /// As in `[[exports]]`.
        export: Box<ExportParams>,
        /// Replace what is there.
        replace: bool,
    },
    /// Look for what an animator would complain of.
    Judge,
    /// A ray-traced picture.
    Render {
        /// `sheet`, `still` or `animation`.
        kind: PictureKind,
        /// Frame of a still.
        frame: i64,
        /// The view.
        camera: Option<Box<CameraParams>>,
    },
}

/// What to do with a cache that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Say so.
    New,
    /// Start again.
    Replace,
    /// Go on where an interrupted bake stopped.
    Resume,
}

/// Which picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureKind {
    /// Telling frames on one sheet.
    Sheet,
    /// One frame.
    Still,
    /// All frames as an animated picture.
    Animation,
}

/// A job as the page sees it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Job {
    /// Grows with every job.
    pub number: u64,
    /// What is being done.
    pub what: String,
    /// Steps done.
    pub done: u64,
    /// Steps in all.
    pub total: u64,
    /// Time since it began [s].
    pub seconds: f64,
    /// `running`, `done`, `stopped` or `failed`.
    pub state: &'static str,
    /// What happened.
    pub message: String,
    /// Files written.
    pub files: Vec<String>,
    /// What readers, layers and writers had to say about it.
    pub remarks: Vec<String>,
    /// What the judge found; nothing before it looked.
    pub findings: Option<Value>,
}

/// The one job that runs, or the last that ran.
pub struct Jobs {
    job: Mutex<Option<Job>>,
    stop: AtomicBool,
    bell: Arc<Bell>,
}

struct Told<'a> {
    jobs: &'a Jobs,
    started: Instant,
}

impl Progress for Told<'_> {
    fn advance(&mut self, done: u64, total: u64) -> bool {
        let seconds = self.started.elapsed().as_secs_f64();
        self.jobs.change(|job| (job.done, job.total, job.seconds) = (done, total, seconds));
        !self.jobs.stop.load(Ordering::SeqCst)
    }
}

impl Jobs {
    /// No job yet.
    #[must_use]
    pub fn new(bell: Arc<Bell>) -> Self {
        Self { job: Mutex::default(), stop: AtomicBool::new(false), bell }
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> Option<Job> {
        lock(&self.job).clone()
    }

    /// Whether one runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.job().is_some_and(|j| j.state == "running")
    }

    /// Asks the job to stop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    fn change(&self, change: impl FnOnce(&mut Job)) {
        if let Some(job) = lock(&self.job).as_mut() {
            change(job);
        }
        self.bell.ring();
    }

    fn begin(&self, what: &str) -> Told<'_> {
        self.change(|job| (job.what, job.done, job.total) = (what.to_owned(), 0, 0));
        Told { jobs: self, started: Instant::now() }
    }

    fn wrote(&self, file: &Path) {
        self.change(|job| job.files.push(file.display().to_string()));
    }

    /// Starts a job in a thread of its own; refused where one runs.
    pub fn start(
        self: &Arc<Self>,
        task: Task,
        scene: SceneFile,
        cache: PathBuf,
    ) -> Result<(), String> {
        let mut job = lock(&self.job);
        if job.as_ref().is_some_and(|j| j.state == "running") {
            return Err("another job is running: wait for it or stop it".to_owned());
        }
        let number = job.as_ref().map_or(1, |j| j.number + 1);
        // What the judge found is still true while a picture is made of the same bake.
        let findings = job.take().and_then(|j| j.findings);
        *job = Some(Job { number, state: "running", findings, ..Job::default() });
        drop(job);
        self.stop.store(false, Ordering::SeqCst);
        let own = Arc::clone(self);
        std::thread::spawn(move || own.run(&task, &scene, &cache));
        Ok(())
    }

    fn run(&self, task: &Task, scene: &SceneFile, cache: &Path) {
        let outcome = match task {
            Task::Bake { mode } => self.bake(scene, cache, *mode),
            Task::Export { export, replace } => self.export(scene, cache, export, *replace),
            Task::Judge => self.judge(cache),
            Task::Render { kind, frame, camera } => {
                self.render(cache, *kind, *frame, camera.as_deref())
            }
        };
        let stopped = self.stop.load(Ordering::SeqCst);
        self.change(|job| match outcome {
            // Asked to stop too late: all of it was done.
            Ok(message) => (job.state, job.message) = ("done", message),
            Err(message) if stopped => (job.state, job.message) = ("stopped", message),
            Err(message) => (job.state, job.message) = ("failed", message),
        });
    }

    fn bake(&self, scene: &SceneFile, cache: &Path, mode: Mode) -> Result<String, String> {
        let if_exists = match mode {
            Mode::New => IfExists::Refuse,
            Mode::Replace => IfExists::Replace,
            Mode::Resume => IfExists::Resume,
        };
        let options = BakeOptions { cache: cache.to_owned(), if_exists };
        let mut told = self.begin("baking");
        let baked = bake(scene, &Loader, &options, &mut told).map_err(|e| e.to_string())?;
        let mut report = match baked {
            BakeOutcome::Finished(report) => report,
            BakeOutcome::Paused { last_frame, .. } => {
                let kept =
                    last_frame.map_or("no frame".to_owned(), |f| format!("frames up to {f}"));
                return Err(format!("stopped; {kept} kept: bake again to resume"));
            }
        };
        self.wrote(cache);
        self.change(|job| job.remarks.clone_from(&report.warnings));
        for export in &scene.scene.exports {
            self.export(scene, cache, export, mode != Mode::New)?;
        }
        let judgement = self.judgement(cache)?;
        report_page::write(cache, &mut report, Some(&judgement)).map_err(|e| e.to_string())?;
        let frames = report.frames_simulated;
        Ok(format!("{frames} frames in {:.1} s; {}", report.seconds, complaint(&judgement)))
    }

    fn export(
        &self,
        scene: &SceneFile,
        cache: &Path,
        export: &ExportParams,
        replace: bool,
    ) -> Result<String, String> {
        let mut told = self.begin("exporting");
        let mut reader = CacheReader::open(cache).map_err(|e| e.to_string())?;
        let folder = scene.folder();
        let (_, name) = export.target().map_err(|e| e.to_string())?;
        // The name comes from the page, and pages can be made to say anything.
        frisson_io::outputs::refuse_outside(&folder, name).map_err(|e| e.to_string())?;
        let written = export_cache(&mut reader, export, &folder, &folder, replace, &mut told)
            .map_err(|e| e.to_string())?;
        written.iter().for_each(|w| self.wrote(&w.path));
        let remarks = written.into_iter().flat_map(|w| w.remarks);
        self.change(|job| job.remarks.extend(remarks));
        Ok("exported".to_owned())
    }

    fn judge(&self, cache: &Path) -> Result<String, String> {
        self.judgement(cache).map(|j| complaint(&j))
    }

    fn judgement(&self, cache: &Path) -> Result<frisson_judge::Judgement, String> {
        let mut told = self.begin("judging");
        let mut reader = CacheReader::open(cache).map_err(|e| e.to_string())?;
        let judgement = judge_bake(&mut reader, cache, &Limits::default(), None, &mut told)
            .map_err(|e| e.to_string())?;
        let findings = serde_json::to_value(&judgement.findings).unwrap_or_default();
        self.change(|job| job.findings = Some(findings));
        Ok(judgement)
    }

    fn render(
        &self,
        cache: &Path,
        kind: PictureKind,
        frame: i64,
        camera: Option<&CameraParams>,
    ) -> Result<String, String> {
        let mut told = self.begin("rendering");
        let size = if kind == PictureKind::Sheet { (480, 270) } else { (960, 540) };
        let options = match kind {
            PictureKind::Still => RenderOptions::fine(1280, 720),
            _ => RenderOptions::preview(size.0, size.1),
        };
        let words = |e: frisson_workshop::WorkshopError| e.to_string();
        let shot =
            Shot::open(cache, camera.cloned(), Overlays::default(), options).map_err(words)?;
        let label = cache.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (first, last) = (shot.first(), shot.last());
        let telling = shot.telling_frames(first, last, 8);
        let mut pictures = Pictures { shot, beside: Beside::Nothing, label };
        let file = match kind {
            PictureKind::Sheet => cache.with_extension("png"),
            PictureKind::Still => cache.with_extension(format!("{frame}.png")),
            PictureKind::Animation => cache.with_extension("webp"),
        };
        match kind {
            PictureKind::Sheet => {
                let sheet = pictures.sheet(&telling, &mut told).map_err(words)?;
                write_picture(&sheet, &file).map_err(words)?;
            }
            PictureKind::Still => {
                let still = pictures.panel(frame.clamp(first, last)).map_err(words)?;
                write_picture(&still, &file).map_err(words)?;
            }
            PictureKind::Animation => {
                let all: Vec<i64> = (first..=last).collect();
                let fps = pictures.shot.fps();
                pictures.animation(&all, fps, &file, &mut told).map_err(words)?;
            }
        }
        self.wrote(&file);
        Ok("rendered".to_owned())
    }
}

fn complaint(judgement: &frisson_judge::Judgement) -> String {
    match judgement.findings.len() {
        0 => "the judge has no complaint".to_owned(),
        1 => "the judge has one complaint".to_owned(),
        n => format!("the judge has {n} complaints"),
    }
}
