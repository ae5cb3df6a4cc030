//! `frisson bake`: simulate a scene into a cache.

use std::path::{Path, PathBuf};

use clap::Args;
use frisson_io::bake::{
    BakeOptions, BakeOutcome, BakeReport, bake, cache_files, export_cache, planned_files,
    report_files,
};
use frisson_io::cache::{CacheReader, IfExists};
use frisson_io::export::ExportError;
use frisson_io::outputs::{self, OutputError};
use frisson_io::scene::SceneFile;
use frisson_judge::{JudgeError, Judgement, Limits};
use frisson_workshop::{Loader, human_bytes, judge_bake, report_page};

use super::judge::judgement_lines;
use crate::failure::{Failure, file_error};
use crate::interrupt;
use crate::ui::Ui;

/// Simulate a scene into a cache, then export what the scene asks for.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson bake shot.toml              writes shot.frisson beside the scene
  frisson bake shot.toml --resume     goes on after Ctrl-C, a crash or a full disk
  frisson bake shot.toml --force      starts again; the old cache stays until the new one is whole

The cache is named shot.frisson.part until it is whole. Finished frames in it are good at any time:
`frisson inspect`, `export` and `render` read it while the bake runs. However often a bake is
interrupted and resumed, and on any number of threads, it ends with the same bytes.")]
pub struct Bake {
    /// Scene file.
    pub scene: PathBuf,
    /// Cache to write [default: the scene's name with .frisson, beside it].
    #[arg(long, short, value_name = "CACHE")]
    pub output: Option<PathBuf>,
    /// Go on where an interrupted bake stopped; does nothing to a finished one.
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Replace outputs that are already there.
    #[arg(long)]
    pub force: bool,
    /// Do not look for what an animator would complain of; the report goes without it.
    #[arg(long)]
    pub no_judge: bool,
    /// Leave out what the scene's [[exports]] ask for.
    #[arg(long)]
    pub no_exports: bool,
}

impl Bake {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let mut scene = SceneFile::read(&self.scene)?;
        if self.no_exports {
            scene.scene.exports = Vec::new();
        }
        let cache = self.output.clone().unwrap_or_else(|| self.scene.with_extension("frisson"));
        // Before the first tick: nobody wants to hear after an hour that the disk has another file there.
        self.check_outputs(&scene, &cache)?;
        self.refuse_existing_exports(&scene)?;
        // A person who names a folder that is not there has mistyped it; the first task of a job has not.
        if let Some(folder) = cache.parent().filter(|_| ui.farm) {
            std::fs::create_dir_all(folder).map_err(|e| file_error(folder, &e))?;
        }
        interrupt::listen();
        if self.resume && is_finished(&scene, &cache)? {
            ui.say(format!("{} is already finished.", cache.display()));
            for file in self.export_all(&scene, &cache, ui)? {
                ui.say(format!("wrote {file}{}", how_to_open(&file)));
            }
            return Ok(());
        }
        let if_exists = match (self.resume, self.force) {
            (true, _) => IfExists::Resume,
            (_, true) => IfExists::Replace,
            _ => IfExists::Refuse,
        };
        let options = BakeOptions { cache: cache.clone(), if_exists };
        let mut progress = ui.progress("baking");
        let outcome = bake(&scene, &Loader, &options, &mut progress)?;
        // Its bar would draw over what is said next.
        drop(progress);
        match outcome {
            BakeOutcome::Finished(mut report) => {
                let exported = self.export_all(&scene, &cache, ui)?;
                report.files.extend(exported);
                let judgement = self.judge(&cache, ui)?;
                report_page::write(&cache, &mut report, judgement.as_ref())?;
                summarise(ui, &report);
                judgement
                    .iter()
                    .flat_map(|j| judgement_lines(j, false))
                    .for_each(|line| ui.say(line));
                Ok(())
            }
            BakeOutcome::Paused { last_frame, .. } => Err(interrupted(&self.scene, last_frame)),
        }
    }

    /// What an animator would complain of, for the report.
    fn judge(&self, cache: &Path, ui: &Ui) -> Result<Option<Judgement>, Failure> {
        if self.no_judge {
            return Ok(None);
        }
        let mut reader = CacheReader::open(cache)?;
        let mut progress = ui.progress("judging");
        match judge_bake(&mut reader, &self.scene, &Limits::default(), None, &mut progress) {
            // The bake itself is whole: an interrupt only leaves the page without its section.
            Err(JudgeError::Stopped) => Ok(None),
            judged => Ok(Some(judged?)),
        }
    }

    /// What cannot or may not be written is said before anything is simulated. The scene's own files
    /// come first: nobody must be told to replace them with --force.
    fn check_outputs(&self, scene: &SceneFile, cache: &Path) -> Result<(), Failure> {
        let exports = planned_files(&scene.scene.exports, &scene.folder());
        let all: Vec<PathBuf> = cache_files(cache).into_iter().chain(exports).collect();
        let actors = scene.scene.actors.0.iter().map(|(_, a)| scene.folder().join(&a.source));
        let inputs: Vec<PathBuf> = std::iter::once(self.scene.clone()).chain(actors).collect();
        outputs::prepare(&all, &inputs)?;
        for report in report_files(cache) {
            refuse_foreign_report(&report)?;
        }
        Ok(())
    }

    /// A long bake must not end with a refusal that was known from the start.
    fn refuse_existing_exports(&self, scene: &SceneFile) -> Result<(), Failure> {
        let planned = planned_files(&scene.scene.exports, &scene.folder());
        match planned.iter().find(|f| f.exists()) {
            Some(file) if !self.force && !self.resume => {
                let text = format!("{} is already there", file.display());
                Err(Failure::input(text)
                    .help("use --force to replace it when the new one is whole"))
            }
            _ => Ok(()),
        }
    }

    fn export_all(&self, scene: &SceneFile, cache: &Path, ui: &Ui) -> Result<Vec<String>, Failure> {
        let folder = scene.folder();
        let mut reader = CacheReader::open(cache)?;
        let mut files = Vec::new();
        for export in &scene.scene.exports {
            let planned = planned_files(std::slice::from_ref(export), &folder);
            // Resumed after exporting had begun: what is there is whole, as outputs appear only when they are.
            if self.resume && planned.iter().any(|f| f.exists()) {
                ui.remark(format!("{} is left as it is", planned[0].display()));
                continue;
            }
            let mut progress = ui.progress("exporting");
            let written =
                export_cache(&mut reader, export, &folder, &folder, self.force, &mut progress)
                    .map_err(|e| export_failure(&e, cache))?;
            let remarks = written.iter().flat_map(|w| &w.remarks);
            remarks.for_each(|remark| ui.remark(format!("note: {remark}")));
            files.extend(written.iter().map(|w| w.path.display().to_string()));
        }
        Ok(files)
    }
}

/// What an export's error means for the person.
pub fn export_failure(error: &ExportError, cache: &Path) -> Failure {
    let help = format!("the cache is whole: try again with frisson export {}", cache.display());
    match error {
        ExportError::Stopped => Failure::interrupted("interrupted while exporting").help(help),
        ExportError::Exists(path) => Failure::input(format!("{} is already there", path.display()))
            .help("use --force to replace it"),
        other => Failure::input(other.to_string()).help(help),
    }
}

/// Whether a whole cache of this very scene is there.
fn is_finished(scene: &SceneFile, cache: &Path) -> Result<bool, Failure> {
    if !cache.exists() {
        return Ok(false);
    }
    let reader = CacheReader::open(cache)?;
    // The hash holds the scene and every byte of its files: a cache of the same name may be of another shot.
    let same = reader.header().scene_hash == scene.identity(&Loader)?.hash;
    if same && reader.is_finished() {
        return Ok(true);
    }
    let text = format!("{} is a bake of another scene", cache.display());
    Err(Failure::input(text).help("start again with --force, or give another --output"))
}

fn interrupted(scene: &Path, last_frame: Option<i64>) -> Failure {
    let kept = match last_frame {
        Some(frame) => format!("frames up to {frame} are kept"),
        None => "no frame was finished".to_owned(),
    };
    Failure::interrupted(format!("interrupted; {kept}"))
        .help(format!("go on with: frisson bake {} --resume", scene.display()))
}

/// A file of a report's name that frisson did not write is not overwritten, whatever was asked.
fn refuse_foreign_report(path: &Path) -> Result<(), Failure> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
    let ours = match path.extension().and_then(|e| e.to_str()) {
        // By what only our own pages and reports hold: names alone do not say whose a file is.
        Some("html") => text.contains("<h1>Bake of "),
        _ => serde_json::from_str::<serde_json::Value>(&text)
            .is_ok_and(|report| report.get("frames_simulated").is_some()),
    };
    if ours { Ok(()) } else { Err(OutputError::NotOurs(path.to_owned()).into()) }
}

/// What a bake did: time per layer, speed, memory, files.
pub fn summarise(ui: &Ui, report: &BakeReport) {
    ui.result(|| serde_json::to_value(report).unwrap_or_default());
    ui.say(format!(
        "frames {} to {} at {} fps: {:.2} s, {:.1} frames/s on {} threads",
        report.first_frame,
        report.last_frame,
        report.fps,
        report.seconds,
        report.frames_per_second,
        report.threads
    ));
    if let Some(frame) = report.resumed_after {
        ui.say(format!("resumed after frame {frame}; {} frames now", report.frames_simulated));
    }
    let row = |name: &str, seconds: f64| {
        let share = report.percent_of_all(seconds);
        ui.say(format!("  {name:<28} {seconds:>9.3} s {share:>4.0} %"));
    };
    row("reading and building", report.build_seconds);
    row("actors", report.actors_seconds);
    for layer in &report.layers {
        row(&format!("{} {}", layer.kind, layer.name), layer.seconds);
    }
    row("cache", report.cache_seconds);
    let memory = report.peak_memory_bytes.map_or_else(|| "unknown".to_owned(), human_bytes);
    ui.say(format!("memory peak {memory}, cache {}", human_bytes(report.cache_bytes)));
    for warning in &report.warnings {
        ui.remark(format!("warning: {warning}"));
    }
    for file in &report.files {
        ui.say(format!("wrote {file}{}", how_to_open(file)));
    }
}

/// What opens a file.
pub fn how_to_open(file: &str) -> &'static str {
    let extension = file.rsplit('.').next().unwrap_or_default();
    match extension {
        "abc" => "  (Blender, Maya, Houdini, Unreal: import Alembic)",
        "usd" | "usdc" | "usda" => "  (Blender, Houdini, Maya, usdview: import USD)",
        "glb" => "  (Blender, three.js, any glTF viewer)",
        "pc2" | "mdd" => "  (Mesh Cache modifier on the same mesh)",
        "frisson" => "  (frisson export, frisson render)",
        "html" => "  (a browser)",
        _ => "",
    }
}
