//! One open scene or cache: text, simulation, jobs, and the pages that look at it.

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use frisson_io::cache::CacheReader;
use frisson_io::scene::{CameraParams, SceneFile};
use frisson_workshop::propose::Request;
use serde_json::{Value, json};

use crate::bell::{Bell, lock};
use crate::document::Document;
use crate::engine::{Engine, Order};
use crate::jobs::{Jobs, Task};
use crate::problems::Trouble;
use crate::switches::{switch_off, switch_on};

/// The gallery's scenes: name and text.
pub const GALLERY: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenes.rs"));

/// Endings of characters that can be opened.
const CHARACTERS: [&str; 4] = ["glb", "gltf", "vrm", "fbx"];
/// A page that has not asked for news for so long is gone.
const PAGE_GONE: Duration = Duration::from_secs(30);

/// What is looked at.
struct Open {
    document: Option<Document>,
    cache: Option<PathBuf>,
    engine: Arc<Engine>,
    compared: Option<(Arc<Engine>, Value)>,
    camera: CameraParams,
    draft: bool,
    /// Grows with everything that is opened.
    number: u64,
}

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
        studio.simulate(Moment { frame: i64::MIN, again: true });
        let watcher = Arc::downgrade(&studio);
        std::thread::spawn(move || {
            while let Some(studio) = watcher.upgrade() {
                studio.look_after();
                drop(studio);
                std::thread::sleep(Duration::from_millis(500));
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
            self.simulate(Moment { frame: i64::MIN, again: true });
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
                at: moment.frame,
                again: moment.again,
                revision: document.revision(),
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
        let seq = self.bell.count();
        let pages = self.count_pages(page);
        let open = lock(&self.open);
        let known = open.number == opened;
        let document = open.document.as_ref().map(|d| {
            let whole = !known || d.revision() != have;
            let mut json = d.json();
            if !whole {
                // The text and what it says are long, and the page has them.
                for key in ["text", "scene", "written"] {
                    json.as_object_mut().map(|o| o.shift_remove(key));
                }
            }
            json
        });
        let cache = open.cache.as_ref().map(|c| c.display().to_string());
        let baked = open.baked().filter(|c| c.exists()).is_some();
        json!({
            "seq": seq, "opened": open.number, "document": document, "cache": cache,
            "baked": baked, "engine": open.engine.json(), "draft": open.draft,
            "compared": open.compared.as_ref().map(|(e, how)| json!({ "how": how, "engine": e.json() })),
            "places": *open.engine.news().places, "job": self.jobs.job(), "pages": pages,
            "camera": open.camera,
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

    /// What is wrong with the text.
    #[must_use]
    pub fn trouble(&self) -> Vec<Trouble> {
        let open = lock(&self.open);
        open.document.as_ref().and_then(|d| d.parse().err()).unwrap_or_default()
    }

    /// Switches a layer off, or one that is off on.
    pub fn switch(
        &self,
        moment: Moment,
        layer: Option<usize>,
        line: Option<usize>,
    ) -> Result<u64, Refusal> {
        let done = self.change(moment, |document| {
            let text = match (layer, line) {
                (Some(layer), _) => switch_off(document.text(), layer),
                (_, Some(line)) => switch_on(document.text(), line),
                _ => None,
            };
            let label = if layer.is_some() { "switch a layer off" } else { "switch a layer on" };
            document.write(text.ok_or("there is no such layer")?, label, None);
            Ok(())
        });
        done.map(|(revision, ())| revision)
    }

    /// Saves, under another name where one is given.
    pub fn save(&self, name: Option<&str>, replace: bool) -> Result<(), Refusal> {
        let path = name.map(|n| self.inside(n)).transpose()?;
        let mut open = lock(&self.open);
        let document = open.document.as_mut().ok_or("a cache has no text to save")?;
        let target = path.clone().unwrap_or_else(|| document.path().to_owned());
        if target.extension().is_none_or(|e| e != "toml") {
            return Err("scene files end in .toml".to_owned());
        }
        let is_own = document.path() == target && document.json()["in_file"] == true;
        if target.exists() && !is_own && !replace {
            return Err(format!("{} is already there", target.display()));
        }
        let saved = match path {
            Some(path) => document.save_as(path),
            None => document.save(),
        };
        drop(open);
        self.bell.ring();
        saved.map_err(|e| format!("{}: {e}", target.display()))
    }

    /// A file of the scene's folder: a plain name, nothing that leads elsewhere.
    pub fn inside(&self, name: &str) -> Result<PathBuf, Refusal> {
        let mut parts = Path::new(name).components();
        let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        let odd = name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\' | ':'));
        if !plain || odd || name.starts_with('.') || name.len() > 200 {
            return Err("give a plain file name: everything stays in the scene's folder".to_owned());
        }
        Ok(self.folder.join(name))
    }

    /// What can be opened: files beside the scene, the cast, the gallery.
    #[must_use]
    pub fn choices(&self) -> Value {
        let entries = std::fs::read_dir(&self.folder).map(|all| all.flatten().collect());
        let entries: Vec<std::fs::DirEntry> = entries.unwrap_or_default();
        let mut files: Vec<String> =
            entries.iter().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        files.retain(|name| kind_of(name).is_some());
        files.sort();
        let about = |text: &str, key: &str| {
            let line = text.lines().find_map(|l| l.strip_prefix(key)?.trim().strip_prefix("= "));
            line.map(|l| l.trim_matches('"').to_owned())
        };
        let gallery = GALLERY.iter().map(|(name, text)| {
            json!({ "name": name, "title": about(text, "title"), "look_for": about(text, "look_for") })
        });
        let cast: Vec<String> =
            frisson_models::catalog().iter().map(|e| e.name.to_string()).collect();
        json!({ "files": files, "gallery": gallery.collect::<Vec<_>>(), "cast": cast })
    }

    /// Opens something else; what is unsaved stays beside its file.
    pub fn open_other(&self, what: &str) -> Result<(), Refusal> {
        let full = match what.split_once(':') {
            Some(("builtin" | "gallery", _)) => what.to_owned(),
            _ => self.inside(what)?.to_string_lossy().into_owned(),
        };
        let number = lock(&self.open).number + 1;
        let mut new = match full.strip_prefix("gallery:") {
            Some(name) => from_gallery(name, &self.folder, &self.bell, number)?,
            None => opened(&full, &self.bell, number)?,
        };
        let mut open = lock(&self.open);
        if let Some(document) = &mut open.document {
            document.keep_safe();
        }
        new.draft = open.draft;
        let old = std::mem::replace(&mut *open, new);
        drop(open);
        old.engine.stop();
        if let Some((engine, _)) = old.compared {
            engine.stop();
        }
        self.simulate(Moment { frame: i64::MIN, again: true });
        Ok(())
    }

    /// Takes a file that was dropped on the page, and opens it.
    pub fn drop_file(&self, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
        let path = self.inside(name)?;
        if kind_of(name).is_none() {
            return Err(format!("{name} is neither a scene, a character nor a cache"));
        }
        if path.exists() && std::fs::read(&path).ok().as_deref() != Some(bytes) {
            return Err(format!("{} is already there and differs", path.display()));
        }
        std::fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        self.open_other(name)
    }

    /// Light layers for a first look, or all of them.
    pub fn set_draft(&self, draft: bool, moment: Moment) {
        lock(&self.open).draft = draft;
        self.simulate(Moment { again: true, ..moment });
    }

    /// Compares with another text: the present one as it is now, or without a layer.
    pub fn compare(&self, how: &Value, frame: i64) -> Result<(), Refusal> {
        let mut open = lock(&self.open);
        if let Some((engine, _)) = open.compared.take() {
            engine.stop();
        }
        if how.is_null() {
            drop(open);
            self.bell.ring();
            return Ok(());
        }
        let document = open.document.as_ref().ok_or("a cache is compared by `frisson render`")?;
        let mut scene = document.parse().map_err(|_| "the text has mistakes: mend them first")?;
        match how.get("without") {
            Some(Value::Number(n)) => {
                let index = n.as_u64().unwrap_or(u64::MAX) as usize;
                if index >= scene.scene.layers.len() {
                    return Err("there is no such layer".to_owned());
                }
                scene.scene.layers.remove(index);
            }
            Some(_) => scene.scene.layers.clear(),
            None => {}
        }
        let engine = Engine::simulate(Arc::clone(&self.bell), 8 + open.number % 8);
        engine.order(Order { scene, draft: open.draft, at: frame, again: true, revision: 1 });
        open.compared = Some((engine, how.clone()));
        drop(open);
        self.bell.ring();
        Ok(())
    }

    /// Starts a job on what the text says now.
    pub fn start(&self, task: Task) -> Result<(), Refusal> {
        let open = lock(&self.open);
        let cache = open.baked().ok_or("there is nothing to work on")?;
        let mut scene = match &open.document {
            Some(document) => {
                document.parse().map_err(|_| "the text has mistakes: mend them first")?
            }
            None => {
                let reader = CacheReader::open(&cache).map_err(|e| e.to_string())?;
                SceneFile::parse(&cache, &reader.header().scene_text).map_err(|e| e.to_string())?
            }
        };
        drop(open);
        // Promises are held by `check --bake`; those of layers that are off must not stop a bake.
        scene.scene.expect.clear();
        self.jobs.start(task, scene, cache)
    }
}

impl Open {
    /// The cache that jobs are about.
    fn baked(&self) -> Option<PathBuf> {
        let of_scene = self.document.as_ref().map(|d| d.path().with_extension("frisson"));
        self.cache.clone().or(of_scene)
    }
}

/// What a file is, by its ending.
fn kind_of(name: &str) -> Option<&'static str> {
    let ending = Path::new(name).extension()?.to_string_lossy().to_lowercase();
    match ending.as_str() {
        "toml" => Some("scene"),
        "frisson" => Some("cache"),
        other if CHARACTERS.contains(&other) => Some("character"),
        _ => None,
    }
}

fn opened(what: &str, bell: &Arc<Bell>, number: u64) -> Result<Open, Refusal> {
    let kind = if what.starts_with("builtin:") { Some("character") } else { kind_of(what) };
    match kind {
        Some("cache") => {
            let path = PathBuf::from(what);
            let reader = CacheReader::open(&path).map_err(|e| e.to_string())?;
            let camera = frisson_workshop::pictures::scene_camera(&path);
            Ok(Open {
                document: None,
                engine: Engine::play(Arc::clone(bell), reader),
                cache: Some(path),
                compared: None,
                camera,
                draft: false,
                number,
            })
        }
        Some("character") => {
            let character = what.to_owned();
            let request = Request { character, clip: None, fps: 30, with: Vec::new() };
            let output = request.default_output();
            let text = request.scene_for(&output).map_err(|e| e.to_string())?.text;
            Ok(with_text(Document::new(output, text, None), bell, number))
        }
        _ => {
            let path = PathBuf::from(what);
            // Reading through the scene reader keeps to its limits; mistakes in it are for the text pane.
            let text = match SceneFile::read(&path) {
                Ok(file) => file.text,
                Err(frisson_io::scene::ReadSceneError::Scene(error)) => error.text,
                Err(other) => return Err(other.to_string()),
            };
            Ok(with_text(Document::new(path, text.clone(), Some(text)), bell, number))
        }
    }
}

fn from_gallery(name: &str, folder: &Path, bell: &Arc<Bell>, number: u64) -> Result<Open, Refusal> {
    let found = GALLERY.iter().find(|(n, _)| *n == name);
    let (name, text) = found.ok_or("the gallery has no such scene")?;
    let path = folder.join(format!("{name}.toml"));
    let there = std::fs::read_to_string(&path).ok().filter(|t| t == text);
    Ok(with_text(Document::new(path, (*text).to_owned(), there), bell, number))
}

fn with_text(document: Document, bell: &Arc<Bell>, number: u64) -> Open {
    let camera = document.parse().map(|s| s.scene.camera).unwrap_or_default();
    let engine = Engine::simulate(Arc::clone(bell), number % 8);
    Open {
        document: Some(document),
        cache: None,
        engine,
        compared: None,
        camera,
        draft: false,
        number,
    }
}
