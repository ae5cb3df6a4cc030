//! One open scene or cache: text, simulation, jobs, and the pages that look at it.

mod doing;
mod files;
mod opening;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::opening::{Open, opened};
use crate::bell::{Bell, lock};
use crate::document::Document;
use crate::engine::{Engine, Order};
use crate::jobs::Jobs;
use crate::problems::Trouble;

/// What is unsaved is kept, and the file looked at, once in this time.
const LOOK_AFTER: Duration = Duration::from_millis(500);
/// A page that has not asked for news for so long is gone.
const PAGE_GONE: Duration = Duration::from_secs(30);

/// Everything behind the page.
pub struct Studio {
    folder: PathBuf,
    open: Mutex<Open>,
    jobs: Arc<Jobs>,
    bell: Arc<Bell>,
    pages: Mutex<Vec<(String, Instant)>>,
}

/// A question that cannot be answered, in words for the person.
pub type Refusal = String;

/// How an edit is meant.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Moment {
    /// Frame that is looked at.
    pub frame: i64,
    /// Simulate again from the start.
    pub again: bool,
    /// Points of hair that the page draws in a twentieth of a second.
    pub room: u32,
    /// Whether more edits like it are on their way.
    #[serde(skip)]
    pub hasty: bool,
}

impl Studio {
    /// Opens a scene file, a character or a cache.
    pub fn open(what: &str) -> Result<Arc<Self>, Refusal> {
        let bell = Arc::new(Bell::default());
        let path = Path::new(what);
        let folder = match path.parent() {
            Some(parent) if !what.starts_with("builtin:") && !parent.as_os_str().is_empty() => {
                parent.to_owned()
            }
            _ => PathBuf::from("."),
        };
        let open = opened(what, &bell, 1)?;
        let jobs = Arc::new(Jobs::new(Arc::clone(&bell)));
        let pages = Mutex::default();
        let studio = Arc::new(Self { folder, open: Mutex::new(open), jobs, bell, pages });
        studio.simulate(Moment { frame: i64::MIN, again: true, ..Moment::default() });
        let watcher = Arc::downgrade(&studio);
        std::thread::spawn(move || {
            while let Some(studio) = watcher.upgrade() {
                studio.look_after();
                drop(studio);
                std::thread::sleep(LOOK_AFTER);
            }
        });
        Ok(studio)
    }

    /// The jobs.
    #[must_use]
    pub fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    /// The bell that rings for everything new.
    #[must_use]
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    /// Keeps unsaved text safe and looks at what others do to the file.
    fn look_after(&self) {
        let mut open = lock(&self.open);
        let Some(document) = &mut open.document else { return };
        document.keep_safe();
        if document.look_outside() {
            drop(open);
            self.simulate(Moment { frame: i64::MIN, again: true, ..Moment::default() });
        }
    }

    /// Lets the simulation follow the text, where the text is whole.
    fn simulate(&self, moment: Moment) {
        let open = lock(&self.open);
        if let Some(document) = &open.document
            && let Ok(scene) = document.parse()
        {
            open.engine.order(Order {
                scene,
                draft: open.draft,
                reveal: open.reveal,
                at: moment.frame,
                again: moment.again,
                revision: document.revision(),
                hasty: moment.hasty.then_some(moment.room),
            });
        }
        drop(open);
        self.bell.ring();
    }

    /// The simulation, or the one it is compared with.
    pub fn engine(&self, side: &str) -> Result<Arc<Engine>, Refusal> {
        let open = lock(&self.open);
        match (side, &open.compared) {
            ("b", Some((engine, _))) => Ok(Arc::clone(engine)),
            ("b", None) => Err("nothing is compared".to_owned()),
            _ => Ok(Arc::clone(&open.engine)),
        }
    }

    /// Everything the page has to know; the text only where it has another than `have`.
    #[must_use]
    pub fn state(&self, page: &str, have: u64, opened: u64) -> Value {
        // Counted before anything is read: what changes meanwhile is told once more, not never.
        let seq = self.bell.count();
        let pages = self.count_pages(page);
        let open = lock(&self.open);
        let known = open.number == opened;
        let document = open.document.as_ref().map(|d| {
            // The text and what it says are long; a page that has them is not told again.
            if known && d.revision() == have { d.json() } else { d.whole_json() }
        });
        let cache = open.cache.as_ref().map(|c| c.display().to_string());
        let target = open.baked();
        let baked = target.as_ref().is_some_and(|c| c.exists());
        // A bake that was stopped, or that somebody killed.
        let resumable = target.is_some_and(|c| frisson_io::cache::part_path(&c).exists());
        json!({
            "seq": seq, "opened": open.number, "document": document, "cache": cache,
            "baked": baked, "resumable": resumable, "engine": open.engine.json(), "draft": open.draft, "reveal": open.reveal,
            "compared": open.compared.as_ref().map(|(e, how)| json!({ "how": how, "engine": e.json() })),
            "places": *open.engine.news().places, "job": self.jobs.job(), "pages": pages,
            "camera": open.document.as_ref().and_then(Document::camera).unwrap_or(&open.camera),
        })
    }

    fn count_pages(&self, page: &str) -> usize {
        let mut pages = lock(&self.pages);
        let before = pages.len();
        pages.retain(|(name, seen)| name != page && seen.elapsed() < PAGE_GONE);
        if !page.is_empty() {
            pages.push((page.to_owned(), Instant::now()));
        }
        if pages.len() != before {
            self.bell.ring();
        }
        pages.len()
    }

    /// A page says goodbye.
    pub fn leave(&self, page: &str) {
        lock(&self.pages).retain(|(name, _)| name != page);
        self.bell.ring();
    }

    /// Changes the text and simulates what it says.
    pub fn change<T>(
        &self,
        moment: Moment,
        change: impl FnOnce(&mut Document) -> Result<T, Refusal>,
    ) -> Result<(u64, T), Refusal> {
        let mut open = lock(&self.open);
        let document = open.document.as_mut().ok_or("a cache has no text to change")?;
        let answer = change(document)?;
        let revision = document.revision();
        drop(open);
        self.simulate(moment);
        Ok((revision, answer))
    }

    /// The edits that followed each other have ended.
    pub fn rest(&self) {
        lock(&self.open).engine.rest();
    }

    /// What is wrong with the text.
    #[must_use]
    pub fn trouble(&self) -> Vec<Trouble> {
        let open = lock(&self.open);
        open.document.as_ref().map(|d| d.trouble().to_vec()).unwrap_or_default()
    }
}
