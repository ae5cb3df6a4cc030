//! The gallery: every scene, as a page with pictures.
//!
//! [`Gallery::add`] bakes and draws one scene and writes the page anew, so that a stopped run leaves a
//! page too; what is finished is not done again.

mod entry;
mod expectation;
mod page;

use std::path::{Path, PathBuf};

use frisson_io::Progress;
use frisson_io::bake::{BakeError, BakeOptions, BakeOutcome, BakeReport, bake};
use frisson_io::cache::{CacheError, IfExists, part_path};
use frisson_io::scene::{ExpectParams, GalleryParams, SceneFile};
use frisson_judge::{Bakery, hold, is_slow};
use frisson_picture::output::write_text;
use frisson_picture::{RenderOptions, compose};

pub use self::entry::Entry;
pub use self::expectation::{Expectation, Verdict};
use crate::jobs::{Jobs, go_on};
use crate::pictures::{add_picture, finish};
use crate::shot::{Overlays, Shot};
use crate::{Loader, WorkshopError};

/// A page in the making.
#[derive(Debug, Default)]
pub struct Gallery {
    /// Folder to write to.
    pub output: PathBuf,
    /// The first second of each scene, small pictures, no animation.
    pub quick: bool,
    /// Do finished scenes again.
    pub force: bool,
    /// Also what needs bakes at other rates or beyond the shot's end.
    pub all_promises: bool,
    /// What is on the page so far.
    pub entries: Vec<Entry>,
}

/// What became of a scene.
#[derive(Debug)]
pub enum Added {
    /// It is on the page.
    Shown,
    /// It has no `[gallery]` table.
    LeftOut,
    /// It is on the page with what went wrong.
    Failed(WorkshopError),
}

/// Scene files in a folder whose names contain one of some words, sorted; all without any word.
pub fn scenes_in(folder: &Path, only: &[String]) -> Result<Vec<PathBuf>, WorkshopError> {
    let listing = std::fs::read_dir(folder).map_err(|e| WorkshopError::file(folder, e))?;
    let mut scenes: Vec<PathBuf> = listing
        .filter_map(|item| Some(item.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .filter(|p| only.is_empty() || only.iter().any(|o| stem(p).contains(o)))
        .collect();
    scenes.sort();
    if scenes.is_empty() {
        return Err(WorkshopError::input(format!("{}: no scene to show", folder.display())));
    }
    Ok(scenes)
}

impl Gallery {
    /// The page's file.
    pub fn page(&self) -> PathBuf {
        self.output.join("index.html")
    }

    /// Scenes on the page that could not be shown.
    pub fn failed(&self) -> usize {
        self.entries.iter().filter(|e| e.problem.is_some()).count()
    }

    /// Bakes and draws a scene, and writes the page. An error means that the page itself could not be
    /// written, or that somebody asked to stop.
    pub fn add(&mut self, path: &Path, jobs: &mut dyn Jobs) -> Result<Added, WorkshopError> {
        let folder = &self.output;
        std::fs::create_dir_all(folder).map_err(|e| WorkshopError::file(folder, e))?;
        let name = stem(path);
        let added = match self.one(path, &name, jobs) {
            Ok(Some(entry)) => {
                self.entries.push(entry);
                Added::Shown
            }
            Ok(None) => Added::LeftOut,
            Err(WorkshopError::Stopped) => return Err(WorkshopError::Stopped),
            Err(problem) => {
                self.entries.push(Entry::failed(&name, &problem.to_string()));
                Added::Failed(problem)
            }
        };
        write_text(&self.page(), &page::html(&self.entries))?;
        Ok(added)
    }

    /// Bakes and draws a scene, or takes what is already there; nothing if it is not for the gallery.
    fn one(
        &self,
        path: &Path,
        name: &str,
        jobs: &mut dyn Jobs,
    ) -> Result<Option<Entry>, WorkshopError> {
        let mut scene = SceneFile::read(path)?;
        let Some(params) = scene.scene.gallery.clone() else { return Ok(None) };
        scene.scene.exports = Vec::new();
        let record = self.output.join(format!("{name}.json"));
        if !self.force
            && let Some(done) = Entry::read(&record, &self.output)
            && done.scene_text == scene.text
            // A whole one serves a quick run; a quick one does not serve a whole run.
            && (self.quick || !done.quick)
        {
            return Ok(Some(done));
        }
        let cache = self.output.join(format!("{name}.frisson"));
        jobs.begin(&format!("baking {name}"));
        let report = self.bake(&scene, &cache, jobs)?;
        let mut entry = Entry::new(name, &scene, &params, &report, self.quick);
        jobs.begin(&format!("drawing {name}"));
        self.draw(&cache, &params, &mut entry, jobs)?;
        // The first second alone keeps few promises of a whole shot.
        if !self.quick {
            jobs.begin(&format!("judging {name}"));
            entry.expectations = self.judge(&scene, &cache, jobs)?;
        }
        entry.write(&record)?;
        Ok(Some(entry))
    }

    /// What becomes of the scene's promises; those that take other bakes are named only, unless all are
    /// wanted.
    fn judge(
        &self,
        scene: &SceneFile,
        cache: &Path,
        jobs: &mut dyn Jobs,
    ) -> Result<Vec<Expectation>, WorkshopError> {
        // Beside the page: bakes without a layer are as large as the shot.
        let folder = self.output.join("judged");
        std::fs::create_dir_all(&folder).map_err(|e| WorkshopError::file(&folder, e))?;
        let mut bakery = Bakery::new(scene, &Loader, &folder, jobs).with_cache(cache);
        let outcomes = hold(&mut bakery, &|_, e| self.all_promises || !is_slow(e));
        // Removed whatever the judge says, and only then is either error told.
        let removed = std::fs::remove_dir_all(&folder);
        let outcomes = outcomes.map_err(WorkshopError::of)?;
        removed.map_err(|e| WorkshopError::file(&folder, e))?;
        let promises = scene.scene.expect.iter().enumerate();
        let shown = |(index, expect): (usize, &ExpectParams)| match outcomes
            .iter()
            .find(|o| o.index == index)
        {
            Some(outcome) => Expectation::of(outcome),
            None => Expectation::later(&expect.why),
        };
        Ok(promises.map(shown).collect())
    }

    fn bake(
        &self,
        scene: &SceneFile,
        cache: &Path,
        jobs: &mut dyn Jobs,
    ) -> Result<BakeReport, WorkshopError> {
        let fresh = self.force || !part_path(cache).exists();
        let mut if_exists = if fresh { IfExists::Replace } else { IfExists::Resume };
        loop {
            let options = BakeOptions { cache: cache.to_owned(), if_exists };
            let limit = self.quick.then(|| scene.scene.fps.0.fps().ceil() as u64);
            let mut progress = Limited { jobs: &mut *jobs, limit, asked_to_stop: false };
            match bake(scene, &Loader, &options, &mut progress) {
                Ok(BakeOutcome::Finished(report)) => return Ok(report),
                Ok(BakeOutcome::Paused { .. }) if progress.asked_to_stop => {
                    return Err(WorkshopError::Stopped);
                }
                Ok(BakeOutcome::Paused { report, .. }) => return Ok(report),
                Err(BakeError::Cache(CacheError::SceneChanged(_)))
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
        cache: &Path,
        params: &GalleryParams,
        entry: &mut Entry,
        progress: &mut dyn Progress,
    ) -> Result<(), WorkshopError> {
        let overlays = Overlays::parse(&params.overlay)?;
        let options = if self.quick {
            RenderOptions::preview(320, 180)
        } else {
            RenderOptions { samples: 8, ..RenderOptions::preview(480, 270) }
        };
        let mut shot = Shot::open(cache, None, overlays, options)?;
        shot.fit_shape()?;
        let (first, last) = (shot.first(), shot.last());
        let mut frames: Vec<i64> =
            params.frames.iter().copied().filter(|f| (first..=last).contains(f)).collect();
        if frames.is_empty() {
            frames = shot.telling_frames(first, last, 6);
        }
        let fps = shot.fps();
        let mut panels = Vec::new();
        for (done, &frame) in frames.iter().enumerate() {
            go_on(progress, done, frames.len())?;
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
        let strip = compose::contact_sheet(&panels, columns, None)?;
        entry.strip = Some(format!("{}.png", entry.name));
        strip.write_png(self.output.join(format!("{}.png", entry.name)))?;
        if params.animate.unwrap_or(true) && !self.quick {
            let path = self.output.join(format!("{}.webp", entry.name));
            animate(progress, &mut shot, &path)?;
            entry.animation = Some(format!("{}.webp", entry.name));
        }
        Ok(())
    }
}

/// An animation of about sixty frames.
fn animate(progress: &mut dyn Progress, shot: &mut Shot, path: &Path) -> Result<(), WorkshopError> {
    const FRAMES: i64 = 60;
    let (first, last) = (shot.first(), shot.last());
    let every = ((last - first + FRAMES) / FRAMES).max(1);
    let frames: Vec<i64> = (first..=last).step_by(every as usize).collect();
    shot.options.samples = 4;
    let mut writer = None;
    for (done, &frame) in frames.iter().enumerate() {
        go_on(progress, done, frames.len())?;
        let image = shot.picture(frame)?;
        let fps = shot.fps() / every as f64;
        add_picture(&mut writer, &image, frames.len() as u32, fps, path)?;
    }
    finish(writer)
}

/// Stops a bake after some frames.
struct Limited<'a> {
    jobs: &'a mut dyn Jobs,
    limit: Option<u64>,
    /// Whether it was the listener who asked to stop.
    asked_to_stop: bool,
}

impl Progress for Limited<'_> {
    fn advance(&mut self, done: u64, total: u64) -> bool {
        self.asked_to_stop |= !self.jobs.advance(done, total);
        !self.asked_to_stop && self.limit.is_none_or(|limit| done <= limit)
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
