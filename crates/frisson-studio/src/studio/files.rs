//! Files: what can be opened, what is opened instead, what is saved.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use super::opening::{GALLERY, from_gallery, kind_of, opened};
use super::{Moment, Refusal, Studio};
use crate::bell::lock;

impl Studio {
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
        (new.draft, new.reveal) = (open.draft, open.reveal);
        let old = std::mem::replace(&mut *open, new);
        drop(open);
        old.engine.stop();
        if let Some((engine, _)) = old.compared {
            engine.stop();
        }
        self.simulate(Moment { frame: i64::MIN, again: true, ..Moment::default() });
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
}
