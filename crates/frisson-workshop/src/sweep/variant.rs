//! One variant: a scene with some values changed, its bake and what was measured of it.

use std::path::{Path, PathBuf};

use frisson_io::bake::{BakeError, BakeOptions, BakeOutcome, bake};
use frisson_io::cache::{CacheError, CacheReader, IfExists, part_path};
use frisson_io::scene::{ActorLoader, SceneFile};
use frisson_io::{FrameSource, Progress};
use frisson_judge::{JudgeError, Limits, Request, measure};
use frisson_picture::output::write_text;
use serde::{Deserialize, Serialize};
use toml_edit::DocumentMut;

use super::address::Address;
use super::columns::{COMPLAINTS, Columns};
use crate::{WorkshopError, judge_bake};

/// A scene with values of its own.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Of every axis, as TOML spells them; none for the scene as it is.
    pub values: Vec<String>,
    /// What is baked.
    pub scene: SceneFile,
    /// What its motion depends on.
    pub hash: u128,
}

impl Variant {
    /// The scene with some values changed; a value that the scene may not have is told with its place.
    pub fn new(
        base: &SceneFile,
        changes: &[(&Address, &str)],
        values: Vec<String>,
        loader: &dyn ActorLoader,
    ) -> Result<Self, WorkshopError> {
        let text = changed_text(&base.text, changes)?;
        let mut scene = SceneFile::parse(&base.path, &text)?;
        scene.scene.exports = Vec::new();
        // Promises speak of the scene as it is.
        scene.scene.expect = Vec::new();
        let hash = scene.identity(loader)?.hash;
        Ok(Self { values, scene, hash })
    }

    /// The same without some layers: what their effect is measured against.
    pub fn without(&self, layers: &[String], loader: &dyn ActorLoader) -> Option<Self> {
        let mut scene = self.scene.clone();
        scene.scene.layers.retain(|l| !layers.iter().any(|name| l.name() == name));
        let hash = scene.identity(loader).ok()?.hash;
        Some(Self { values: Vec::new(), scene, hash })
    }

    /// Its file in a folder, without an ending. Named by what it is: any later sweep finds it again.
    pub fn file(&self, folder: &Path, ending: &str) -> PathBuf {
        // 48 bits of 128: names stay short, and a thousand variants meet by chance once in 10^8 sweeps; `is_baked`
        // compares the whole hash.
        folder.join(format!("{:012x}.{ending}", self.hash >> 80))
    }
}

/// A scene's text with some values changed.
pub fn changed_text(text: &str, changes: &[(&Address, &str)]) -> Result<String, WorkshopError> {
    let mut document: DocumentMut = text.parse().map_err(WorkshopError::of)?;
    for (address, value) in changes {
        address.set(&mut document, value)?;
    }
    Ok(document.to_string())
}

/// Bakes a variant, unless it is baked; gives what went wrong with it, if that is its own fault.
pub fn bake_variant(
    variant: &Variant,
    folder: &Path,
    loader: &dyn ActorLoader,
    progress: &mut dyn Progress,
) -> Result<Option<String>, WorkshopError> {
    let cache = variant.file(folder, "frisson");
    if is_baked(variant, &cache) {
        return Ok(None);
    }
    let mut if_exists =
        if part_path(&cache).exists() { IfExists::Resume } else { IfExists::Replace };
    loop {
        let options = BakeOptions { cache: cache.clone(), if_exists };
        return match bake(&variant.scene, loader, &options, progress) {
            Ok(BakeOutcome::Finished(_)) => Ok(None),
            Ok(BakeOutcome::Paused { .. }) => Err(WorkshopError::Stopped),
            // A half bake of another text under this name: begun anew.
            Err(BakeError::Cache(CacheError::SceneChanged(_))) if if_exists == IfExists::Resume => {
                if_exists = IfExists::Replace;
                continue;
            }
            // These are about this variant alone; a full disk is about all of them.
            Err(error @ (BakeError::Simulation { .. } | BakeError::Scene(_))) => {
                Ok(Some(error.to_string()))
            }
            Err(error) => Err(error.into()),
        };
    }
}

fn is_baked(variant: &Variant, cache: &Path) -> bool {
    CacheReader::open(cache).is_ok_and(|r| r.is_finished() && r.header().scene_hash == variant.hash)
}

/// What was measured of a variant; kept beside its bake.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Hash of the bake it was compared with, if it was.
    pub against: String,
    /// By the key of the column.
    pub values: Vec<(String, Option<f64>)>,
    /// What the judge complains of.
    pub complaints: Vec<String>,
}

impl Measured {
    /// The value of a column.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<f64> {
        if key == COMPLAINTS {
            return Some(self.complaints.len() as f64);
        }
        self.values.iter().find(|(k, _)| k == key).and_then(|(_, v)| *v)
    }
}

/// Measures a baked variant, unless all of it was measured before.
pub fn measure_variant(
    variant: &Variant,
    folder: &Path,
    columns: &Columns,
    reference: Option<&Variant>,
    progress: &mut dyn Progress,
) -> Result<Measured, WorkshopError> {
    let record = variant.file(folder, "json");
    let against = reference.map_or_else(String::new, |r| format!("{:032x}", r.hash));
    // Measuring costs as much as baking a short shot; a record counts only beside the same reference.
    if let Some(known) = read_record(&record)
        && known.against == against
        && columns
            .shown
            .iter()
            .all(|c| c.key == COMPLAINTS || known.values.iter().any(|(k, _)| *k == c.key))
    {
        return Ok(known);
    }
    let mut reader = CacheReader::open(&variant.file(folder, "frisson"))?;
    let beside = variant.file(folder, "frisson");
    let judged = judge_bake(&mut reader, &beside, &Limits::default(), None, progress)
        .map_err(judge_failure)?;
    let mut other = reference.map(|r| CacheReader::open(&r.file(folder, "frisson"))).transpose()?;
    let beside = other.as_mut().map(|o| o as &mut dyn FrameSource);
    let asked = columns.requests.iter().flatten();
    let requests: Vec<Request> = asked.map(|(request, _)| request.clone()).collect();
    let series = measure(&mut reader, beside, &requests, progress).map_err(judge_failure)?;
    let mut series = series.iter();
    let mut values = Vec::new();
    for (column, request) in columns.shown.iter().zip(&columns.requests) {
        let Some((_, over)) = request else { continue };
        let reading = series.next().and_then(|s| s.over(*over));
        values.push((column.key.clone(), reading.map(|r| r.value).filter(|v| v.is_finite())));
    }
    let complaints = judged.findings.iter().map(|f| format!("frame {}: {}", f.frame, f.text));
    let measured = Measured { against, values, complaints: complaints.collect() };
    let text = serde_json::to_string_pretty(&measured).map_err(WorkshopError::of)?;
    write_text(&record, &text)?;
    Ok(measured)
}

fn read_record(path: &Path) -> Option<Measured> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

fn judge_failure(error: JudgeError) -> WorkshopError {
    match error {
        JudgeError::Stopped => WorkshopError::Stopped,
        other => WorkshopError::of(other),
    }
}
