//! What a sweep found, as a table: for the page, for programs and for picking later.

use std::path::{Path, PathBuf};

use frisson_io::outputs;
use frisson_io::scene::SceneFile;
use frisson_picture::output::write_text;
use serde::{Deserialize, Serialize};

use super::address::Address;
use super::columns::Column;
use super::variant::changed_text;
use crate::WorkshopError;

/// The file of a sweep's table.
pub const TABLE: &str = "sweep.json";

/// All variants of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Scene file.
    pub scene: String,
    /// Parameters that vary.
    pub parameters: Vec<String>,
    /// What was measured.
    pub columns: Vec<Column>,
    /// What was searched for, as asked.
    pub goal: Option<String>,
    /// Number of the best variant, where something was searched for.
    pub best: Option<usize>,
    /// Frame of the sheet.
    pub frame: Option<i64>,
    /// From 0, the scene as it is.
    pub variants: Vec<Row>,
}

/// One variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its number; 0 is the scene as it is.
    pub number: usize,
    /// Of every parameter, as TOML spells it; nothing where the scene does not say.
    pub values: Vec<Option<String>>,
    /// Of every column; nothing where there was nothing to measure.
    pub measures: Vec<Option<f64>>,
    /// What the judge complains of.
    pub complaints: Vec<String>,
    /// Its bake, beside the table.
    pub cache: String,
    /// Its picture, beside the table.
    pub picture: Option<String>,
    /// Why there is none.
    pub problem: Option<String>,
}

impl Table {
    /// Reads the table of a finished sweep.
    pub fn read(folder: &Path) -> Result<Self, WorkshopError> {
        let path = folder.join(TABLE);
        let text = std::fs::read_to_string(&path).map_err(|e| {
            WorkshopError::advised(
                format!("{}: {e}", path.display()),
                "sweep first: frisson sweep SCENE --set PATH=VALUES",
            )
        })?;
        serde_json::from_str(&text)
            .map_err(|e| WorkshopError::input(format!("{}: {e}", path.display())))
    }

    /// Writes it.
    pub fn write(&self, folder: &Path) -> Result<(), WorkshopError> {
        let text = serde_json::to_string_pretty(self).map_err(WorkshopError::of)?;
        Ok(write_text(&folder.join(TABLE), &text)?)
    }

    /// Names of the parameters, as short as they can be without meaning two.
    #[must_use]
    pub fn short_names(&self) -> Vec<String> {
        let short = |path: &str, words: usize| {
            let all: Vec<&str> = path.split('.').collect();
            all[all.len().saturating_sub(words)..].join(".")
        };
        let one = |path: &String| {
            let unique = |words: &usize| {
                let name = short(path, *words);
                self.parameters.iter().filter(|p| short(p, *words) == name).count() == 1
            };
            let words = (1..=path.split('.').count()).find(unique);
            words.map_or_else(|| path.clone(), |w| short(path, w))
        };
        self.parameters.iter().map(one).collect()
    }

    /// What tells a variant from the others: `frequency_hz 3.0, damping_ratio 0.1`.
    #[must_use]
    pub fn label(&self, row: &Row) -> String {
        let names = self.short_names();
        let said = names.iter().zip(&row.values).filter_map(|(name, value)| {
            Some(format!("{name} {}", value.as_deref()?.trim_matches('"')))
        });
        let said = said.collect::<Vec<_>>().join(", ");
        match (row.number, said.is_empty()) {
            (0, true) => "as it is".to_owned(),
            (0, false) => format!("as it is ({said})"),
            _ => said,
        }
    }

    /// The values alone, where there is little room.
    #[must_use]
    pub fn short_label(&self, row: &Row) -> String {
        let values = row.values.iter().flatten().map(|v| v.trim_matches('"'));
        format!("{}: {}", row.number, values.collect::<Vec<_>>().join(", "))
    }
}

/// What was written back into a scene.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Picked {
    /// The scene.
    pub scene: PathBuf,
    /// Parameter, value before (nothing where it was not written) and value now.
    pub changes: Vec<(String, Option<String>, String)>,
}

/// Writes the values of a variant into the scene; comments, order and spelling of all else stay.
pub fn pick(scene_path: &Path, folder: &Path, number: usize) -> Result<Picked, WorkshopError> {
    let table = Table::read(folder)?;
    let Some(row) = table.variants.iter().find(|r| r.number == number) else {
        let last = table.variants.len().saturating_sub(1);
        return Err(WorkshopError::input(format!("there is no variant {number}: 0 to {last}")));
    };
    let scene = SceneFile::read(scene_path)?;
    let mut changes = Vec::new();
    for (path, value) in table.parameters.iter().zip(&row.values) {
        let Some(value) = value else { continue };
        changes.push((path, Address::find(&scene, path)?, value.as_str()));
    }
    let set: Vec<(&Address, &str)> = changes.iter().map(|(_, a, v)| (a, *v)).collect();
    let text = changed_text(&scene.text, &set)?;
    SceneFile::parse(scene_path, &text)?;
    outputs::check_writable(scene_path).map_err(WorkshopError::of)?;
    write_text(scene_path, &text)?;
    let changes = changes
        .iter()
        .map(|(path, address, value)| {
            ((*path).clone(), address.value(&scene.text), (*value).to_owned())
        })
        .collect();
    Ok(Picked { scene: scene_path.to_owned(), changes })
}
