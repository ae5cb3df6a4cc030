//! `frisson gallery`: every scene, as a page with pictures.

mod entry;
mod page;

use std::path::{Path, PathBuf};

use clap::Args;
use frisson_io::Progress;
use frisson_io::bake::{BakeOptions, BakeOutcome, BakeReport, bake};
use frisson_io::cache::{CacheError, IfExists, part_path};
use frisson_io::scene::{GalleryParams, SceneFile};
use serde_json::json;

use super::render::add_picture;
use super::render::overlays::Overlays;
use super::render::shot::{Shot, failure, spread};
use crate::failure::{Failure, file_error};
use crate::interrupt;
use crate::loader::Loader;
use crate::ui::{Bar, Ui};
use entry::Entry;
use frisson_picture::{RenderOptions, compose};

/// Bake every scene and write a page with pictures and tables.
///
/// Each scene that has a `[gallery]` table is baked and drawn; its source's table stands beside what
/// was measured in this run on this machine. Stop it at any time: finished scenes are not done again.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson gallery                       all of scenes/, into the folder gallery
  frisson gallery --only flesh --quick  scenes whose names contain `flesh`, roughly
  frisson gallery --force               everything anew")]
pub struct Gallery {
    /// Folder of scene files.
    #[arg(default_value = "scenes")]
    scenes: PathBuf,
    /// Folder to write to.
    #[arg(long, short, value_name = "FOLDER", default_value = "gallery")]
    output: PathBuf,
    /// Only scenes whose names contain this; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// The first second of each scene, small pictures, no animation.
    #[arg(long)]
    quick: bool,
    /// Do finished scenes again.
    #[arg(long)]
    force: bool,
}

impl Gallery {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        interrupt::listen();
        let scenes = self.scenes()?;
        std::fs::create_dir_all(&self.output).map_err(|e| file_error(&self.output, &e))?;
        let mut entries = Vec::new();
        for (index, path) in scenes.iter().enumerate() {
            let name = stem(path);
            let mut remark = String::new();
            match self.one(ui, path, &name) {
                Ok(Some(entry)) => entries.push(entry),
                Ok(None) => remark.push_str(": left out, it has no [gallery] table"),
                Err(Failure::Message { code: 130, text, .. }) => {
                    return Err(Failure::interrupted(text).help("run it again to go on"));
                }
                Err(problem) => {
                    ui.show_failure(&problem);
                    entries.push(Entry::failed(&name, &describe(&problem)));
                }
            }
            // After every scene, so that a stopped run leaves a page too.
            let html = page::html(&entries, &self.output);
            let index_path = self.output.join("index.html");
            frisson_picture::output::write_text(&index_path, &html).map_err(failure)?;
            ui.remark(format!("{}/{} {name}{remark}", index + 1, scenes.len()));
        }
        let page = self.output.join("index.html");
        let failed = entries.iter().filter(|e| e.problem.is_some()).count();
        ui.say(format!("{} ({} scenes, {failed} failed)", page.display(), entries.len()));
        ui.result(|| json!({ "page": page, "scenes": entries.len(), "failed": failed }));
        Ok(())
    }

    fn scenes(&self) -> Result<Vec<PathBuf>, Failure> {
        let listing = std::fs::read_dir(&self.scenes).map_err(|e| file_error(&self.scenes, &e))?;
        let mut scenes: Vec<PathBuf> = listing
            .filter_map(|item| Some(item.ok()?.path()))
            .filter(|p| p.extension().is_some_and(|e| e == "toml"))
            .filter(|p| self.only.is_empty() || self.only.iter().any(|o| stem(p).contains(o)))
            .collect();
        scenes.sort();
        if scenes.is_empty() {
            return Err(Failure::input(format!("{}: no scene to show", self.scenes.display())));
        }
        Ok(scenes)
    }

    /// Bakes and draws a scene, or takes what is already there; nothing if it is not for the gallery.
    fn one(&self, ui: &Ui, path: &Path, name: &str) -> Result<Option<Entry>, Failure> {
        let mut scene = SceneFile::read(path)?;
        let Some(params) = scene.scene.gallery.clone() else { return Ok(None) };
        scene.scene.exports = Vec::new();
        let record = self.output.join(format!("{name}.json"));
        if !self.force
            && let Some(done) = Entry::read(&record, &self.output)
            && done.scene_text == scene.text
            && (self.quick || !done.quick)
        {
            return Ok(Some(done));
        }
        let cache = self.output.join(format!("{name}.frisson"));
        let report = self.bake(ui, &scene, &cache, name)?;
        let mut entry = Entry::new(name, &scene, &params, &report, self.quick);
        self.draw(ui, &cache, &params, &mut entry)?;
        entry.write(&record)?;
        Ok(Some(entry))
    }

    fn bake(
        &self,
        ui: &Ui,
        scene: &SceneFile,
        cache: &Path,
        name: &str,
    ) -> Result<BakeReport, Failure> {
        let fresh = self.force || !part_path(cache).exists();
        let mut if_exists = if fresh { IfExists::Replace } else { IfExists::Resume };
        loop {
            let options = BakeOptions { cache: cache.to_owned(), if_exists };
            let limit = self.quick.then(|| scene.scene.fps.0.fps().ceil() as u64);
            let mut progress = Limited { bar: ui.progress(&format!("baking {name}")), limit };
            match bake(scene, &Loader, &options, &mut progress) {
                Ok(BakeOutcome::Finished(report)) => return Ok(report),
                Ok(BakeOutcome::Paused { report, .. }) if !interrupt::asked() => {
                    return Ok(report);
                }
                Ok(BakeOutcome::Paused { .. }) => {
                    return Err(Failure::interrupted("interrupted"));
                }
                Err(frisson_io::bake::BakeError::Cache(CacheError::SceneChanged(_)))
                    if if_exists == IfExists::Resume =>
                {
                    if_exists = IfExists::Replace;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn draw(
        &self,
        ui: &Ui,
        cache: &Path,
        params: &GalleryParams,
        entry: &mut Entry,
    ) -> Result<(), Failure> {
        let overlays = Overlays::parse(&params.overlay)?;
        let options = if self.quick {
            RenderOptions::preview(320, 180)
        } else {
            RenderOptions { samples: 8, ..RenderOptions::preview(480, 270) }
        };
        let mut shot = Shot::open(cache, None, overlays, options)?;
        let (first, last) = (shot.first(), shot.last());
        let mut frames: Vec<i64> =
            params.frames.iter().copied().filter(|f| (first..=last).contains(f)).collect();
        if frames.is_empty() {
            frames = spread(first, last, 6);
        }
        let mut progress = ui.progress(&format!("drawing {}", entry.name));
        let fps = shot.fps();
        let mut panels = Vec::new();
        for (done, &frame) in frames.iter().enumerate() {
            check(&mut progress, done, frames.len())?;
            let label = format!("frame {frame}  {:.2} s", frame as f64 / fps);
            if params.compare {
                panels.push((shot.primary_picture(frame)?, "without layers".to_owned()));
            }
            panels.push((shot.picture(frame)?, label));
        }
        let columns = match (params.compare, frames.len()) {
            (true, 4..) => 4,
            (true, _) | (false, 4) => 2,
            _ => 3,
        };
        let strip = compose::contact_sheet(&panels, columns, None).map_err(failure)?;
        entry.strip = Some(format!("{}.png", entry.name));
        strip.write_png(self.output.join(format!("{}.png", entry.name))).map_err(failure)?;
        if params.animate && !self.quick {
            let path = self.output.join(format!("{}.webp", entry.name));
            animate(&mut progress, &mut shot, &path)?;
            entry.animation = Some(format!("{}.webp", entry.name));
        }
        Ok(())
    }
}

/// An animation of about sixty frames.
fn animate(progress: &mut Bar, shot: &mut Shot, path: &Path) -> Result<(), Failure> {
    const FRAMES: i64 = 60;
    let (first, last) = (shot.first(), shot.last());
    let every = ((last - first + FRAMES) / FRAMES).max(1);
    let frames: Vec<i64> = (first..=last).step_by(every as usize).collect();
    shot.options.samples = 4;
    let mut writer = None;
    for (done, &frame) in frames.iter().enumerate() {
        check(progress, done, frames.len())?;
        let image = shot.picture(frame)?;
        let fps = shot.fps() / every as f64;
        add_picture(&mut writer, &image, frames.len() as u32, fps, path)?;
    }
    writer.map_or(Ok(()), |w| w.finish().map_err(failure))
}

fn check(progress: &mut Bar, done: usize, total: usize) -> Result<(), Failure> {
    if progress.advance(done as u64, total as u64) {
        return Ok(());
    }
    Err(Failure::interrupted("interrupted"))
}

/// Stops a bake after some frames.
struct Limited {
    bar: Bar,
    limit: Option<u64>,
}

impl Progress for Limited {
    fn advance(&mut self, done: u64, total: u64) -> bool {
        self.bar.advance(done, total) && self.limit.is_none_or(|limit| done <= limit)
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn describe(problem: &Failure) -> String {
    match problem {
        Failure::Scene(error) => error.to_string(),
        Failure::Message { text, .. } => text.clone(),
    }
}
