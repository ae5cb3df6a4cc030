//! The text of a scene: edited, undone, saved, and kept safe between saves.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use frisson_io::scene::{CameraParams, SceneFile};
use serde_json::{Value, json};

use crate::patch::{Edit, patch, written};
use crate::problems::{Trouble, troubles};
use crate::switches::off_layers;

/// Steps that can be undone.
const MOST_STEPS: usize = 1000;

/// A text as it was.
#[derive(Clone)]
struct Step {
    text: String,
    /// What was done to come to the next.
    label: String,
    /// Edits of the same thing that follow each other are one step.
    merge: Option<String>,
}

/// A scene's text with its history.
pub struct Document {
    path: PathBuf,
    text: String,
    /// What the text says: read once for each text, asked for many times a second.
    parsed: Result<SceneFile, Vec<Trouble>>,
    /// The text as it is in the file; nothing where there is no file yet.
    saved: Option<String>,
    saved_at: Option<SystemTime>,
    undo: Vec<Step>,
    redo: Vec<Step>,
    revision: u64,
    /// What the file says where somebody else changed it under unsaved edits.
    outside: Option<String>,
    /// Unsaved text that an earlier run left.
    recovered: Option<String>,
    kept: Option<String>,
}

/// Where the unsaved text of a scene is kept.
#[must_use]
pub fn recovery_path(scene: &Path) -> PathBuf {
    let mut name = scene.file_name().unwrap_or_default().to_owned();
    name.push(".unsaved");
    scene.with_file_name(name)
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

impl Document {
    /// A text that belongs to a path, whether there is a file yet or not.
    #[must_use]
    pub fn new(path: PathBuf, text: String, saved: Option<String>) -> Self {
        let recovered = std::fs::read_to_string(recovery_path(&path)).ok().filter(|t| *t != text);
        let saved_at = modified(&path);
        Self {
            parsed: read(&path, &text),
            path,
            text,
            saved,
            saved_at,
            undo: Vec::new(),
            redo: Vec::new(),
            revision: 1,
            outside: None,
            recovered,
            kept: None,
        }
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Grows with every change of the text.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether the text is in no file.
    #[must_use]
    pub fn is_unsaved(&self) -> bool {
        self.saved.as_deref() != Some(&self.text)
    }

    /// What the text says, or what is wrong with it.
    pub fn parse(&self) -> Result<SceneFile, Vec<Trouble>> {
        self.parsed.clone()
    }

    /// The camera that the text gives, where it can be read.
    #[must_use]
    pub fn camera(&self) -> Option<&CameraParams> {
        self.parsed.as_ref().ok().map(|file| &file.scene.camera)
    }

    /// What is wrong with the text.
    #[must_use]
    pub fn trouble(&self) -> &[Trouble] {
        self.parsed.as_ref().err().map_or(&[], Vec::as_slice)
    }

    /// Takes another text; answers with the one before.
    fn turn_into(&mut self, text: String) -> String {
        self.parsed = read(&self.path, &text);
        self.revision += 1;
        std::mem::replace(&mut self.text, text)
    }

    /// Another text.
    pub fn write(&mut self, text: String, label: &str, merge: Option<String>) {
        if text == self.text {
            return;
        }
        // After an undo the next edit is a step of its own, even by the same slider: else it could not be undone alone.
        let goes_on = merge.is_some()
            && self.redo.is_empty()
            && self.undo.last().is_some_and(|step| step.merge == merge);
        if !goes_on {
            let step = Step { text: self.text.clone(), label: label.to_owned(), merge };
            self.undo.push(step);
            if self.undo.len() > MOST_STEPS {
                self.undo.remove(0);
            }
        }
        self.redo.clear();
        self.turn_into(text);
    }

    /// Makes edits, all or none.
    pub fn edit(
        &mut self,
        edits: &[Edit],
        label: &str,
        merge: Option<String>,
    ) -> Result<(), String> {
        let mut text = self.text.clone();
        for edit in edits {
            text = patch(&text, edit).map_err(|e| e.to_string())?;
        }
        self.write(text, label, merge);
        Ok(())
    }

    /// Takes the last step back; says which.
    pub fn undo(&mut self) -> Option<String> {
        let step = self.undo.pop()?;
        let label = step.label.clone();
        let text = self.turn_into(step.text);
        self.redo.push(Step { text, label: step.label, merge: None });
        Some(label)
    }

    /// Does the last undone step again; says which.
    pub fn redo(&mut self) -> Option<String> {
        let step = self.redo.pop()?;
        let label = step.label.clone();
        let text = self.turn_into(step.text);
        self.undo.push(Step { text, label: step.label, merge: None });
        Some(label)
    }

    /// Writes the file; beside it first, then under its name.
    pub fn save(&mut self) -> std::io::Result<()> {
        write_whole(&self.path, &self.text)?;
        self.saved = Some(self.text.clone());
        self.saved_at = modified(&self.path);
        self.outside = None;
        self.forget_recovery();
        Ok(())
    }

    /// The same under another name.
    pub fn save_as(&mut self, path: PathBuf) -> std::io::Result<()> {
        // Before anything is given up: a folder that cannot be written in must not cost what was kept safe.
        write_whole(&path, &self.text)?;
        self.forget_recovery();
        self.path = path;
        // Names of files in the text are beside it.
        self.turn_into(self.text.clone());
        self.save()
    }

    /// Keeps what is unsaved, for the case that the program dies.
    pub fn keep_safe(&mut self) {
        if !self.is_unsaved() || self.undo.is_empty() {
            // Undone to what the file says: there is nothing left to lose.
            if self.kept.is_some() {
                self.forget_recovery();
            }
            return;
        }
        if self.kept.as_deref() != Some(&self.text)
            && write_whole(&recovery_path(&self.path), &self.text).is_ok()
        {
            self.kept = Some(self.text.clone());
        }
    }

    fn forget_recovery(&mut self) {
        // Nothing is lost where it cannot be removed: it is offered once more.
        let _ = std::fs::remove_file(recovery_path(&self.path));
        self.kept = None;
        self.recovered = None;
    }

    /// Takes the text that an earlier run left, or lets it go.
    pub fn recover(&mut self, take: bool) {
        match self.recovered.take() {
            Some(text) if take => self.write(text, "recover unsaved text", None),
            _ => self.forget_recovery(),
        }
    }

    /// Looks whether somebody else changed the file; says whether anything is new.
    pub fn look_outside(&mut self) -> bool {
        // Times first: the file is looked at twice a second, and read only when somebody wrote it.
        let now = modified(&self.path);
        if now == self.saved_at || now.is_none() {
            return false;
        }
        self.saved_at = now;
        let Ok(text) = std::fs::read_to_string(&self.path) else { return false };
        if self.saved.as_deref() == Some(&text) {
            return false;
        }
        // Where nothing would be lost nobody is asked.
        if self.is_unsaved() && self.saved.is_some() {
            self.outside = Some(text);
        } else {
            self.saved = Some(text.clone());
            self.write(text, "change from outside", None);
        }
        true
    }

    /// Takes what the file says, or stays with what is here.
    pub fn settle_outside(&mut self, take: bool) {
        let Some(text) = self.outside.take() else { return };
        self.saved = Some(text.clone());
        if take {
            self.write(text, "change from outside", None);
        }
    }

    /// What changes without the text, for the page.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "path": self.path.display().to_string(),
            "name": self.path.file_name().map(|n| n.to_string_lossy()),
            "revision": self.revision, "unsaved": self.is_unsaved(),
            "in_file": self.saved.is_some(),
            "undo": self.undo.last().map(|s| &s.label), "redo": self.redo.last().map(|s| &s.label),
            "trouble": self.trouble(),
            "outside": self.outside.is_some(), "recovered": self.recovered.is_some(),
        })
    }

    /// The same with the text and what it says.
    #[must_use]
    pub fn whole_json(&self) -> Value {
        let mut whole = self.json();
        let scene = self.parsed.as_ref().ok().map(|file| &file.scene);
        whole["scene"] = serde_json::to_value(scene).unwrap_or_default();
        whole["text"] = self.text.as_str().into();
        whole["written"] = written(&self.text).into();
        whole["off"] = serde_json::to_value(off_layers(&self.text)).unwrap_or_default();
        whole
    }
}

fn read(path: &Path, text: &str) -> Result<SceneFile, Vec<Trouble>> {
    SceneFile::parse(path, text).map_err(|e| troubles(&e))
}

/// A file that is never there by half.
pub fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".writing");
    let beside = path.with_file_name(name);
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "frisson = 2\nframes = [0, 9] # short\n";

    fn set(path: &str, value: Value) -> Vec<Edit> {
        vec![Edit::Set { path: path.to_owned(), value }]
    }

    fn fresh(folder: &Path) -> Document {
        let path = folder.join("shot.toml");
        std::fs::write(&path, TEXT).unwrap();
        Document::new(path, TEXT.to_owned(), Some(TEXT.to_owned()))
    }

    #[test]
    fn a_drag_of_a_slider_is_one_step() {
        let folder = tempfile::tempdir().unwrap();
        let mut document = fresh(folder.path());
        for seed in 1..20 {
            document.edit(&set("seed", json!(seed)), "seed", Some("seed/1".into())).unwrap();
        }
        document.edit(&set("seed", json!(50)), "seed", Some("seed/2".into())).unwrap();
        assert_eq!(document.undo(), Some("seed".to_owned()));
        assert!(document.text().contains("seed = 19"));
        document.undo();
        assert_eq!(document.text(), TEXT);
        assert_eq!(document.undo(), None);
        document.redo();
        document.redo();
        assert!(document.text().contains("seed = 50"));
        assert!(document.redo().is_none());
    }

    #[test]
    fn a_name_that_cannot_be_written_costs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut document = fresh(folder.path());
        document.edit(&set("seed", json!(7)), "seed", None).unwrap();
        document.keep_safe();
        let path = document.path().to_owned();
        assert!(document.save_as(folder.path().join("nowhere/shot.toml")).is_err());
        assert_eq!(document.path(), path);
        assert!(recovery_path(&path).exists(), "what was kept is kept on");
        document.save_as(folder.path().join("other.toml")).unwrap();
        assert!(!recovery_path(&path).exists() && !document.is_unsaved());
    }

    #[test]
    fn what_is_unsaved_survives_a_death_and_goes_with_a_save() {
        let folder = tempfile::tempdir().unwrap();
        let mut document = fresh(folder.path());
        document.edit(&set("seed", json!(7)), "seed", None).unwrap();
        document.keep_safe();
        let path = document.path().to_owned();
        drop(document);
        let mut next = Document::new(path.clone(), TEXT.to_owned(), Some(TEXT.to_owned()));
        assert_eq!(next.json()["recovered"], true);
        next.recover(true);
        assert!(next.text().contains("seed = 7"));
        next.save().unwrap();
        assert!(!recovery_path(&path).exists());
        assert!(std::fs::read_to_string(&path).unwrap().contains("# short"));
    }

    #[test]
    fn a_change_from_outside_is_taken_or_asked_about() {
        let folder = tempfile::tempdir().unwrap();
        let mut document = fresh(folder.path());
        let change = |document: &mut Document, text: &str| {
            std::fs::write(document.path(), text).unwrap();
            // Some file systems count whole seconds.
            document.saved_at = None;
            document.look_outside()
        };
        assert!(change(&mut document, "frisson = 2\nseed = 1\n"));
        assert_eq!(document.text(), "frisson = 2\nseed = 1\n");
        document.edit(&set("seed", json!(2)), "seed", None).unwrap();
        assert!(change(&mut document, "frisson = 2\nseed = 3\n"));
        assert!(document.text().contains("seed = 2"), "unsaved edits are not overwritten");
        assert_eq!(document.json()["outside"], true);
        document.settle_outside(true);
        assert!(document.text().contains("seed = 3"));
        assert!(!document.is_unsaved());
    }
}
