//! Exports of a baked cache.

use std::path::{Path, PathBuf};

use frisson::character::{Character, Clip};

use crate::cache::{CacheReader, part_path};
use crate::export::{self, ExportError, ExportFormat, ExportParams, WrittenFile};
use crate::gltf::{
    Document, GlbBuilder, LivingOptions, ReadOptions, build_character, to_character,
};
use crate::inputs::InputSet;
use crate::motion::retarget;
use crate::scene::{ActorParams, Scene, clip_index, read_character};
use crate::source::Progress;

/// Writes one export of a cache. Relative paths start at `base_dir`; existing files are refused
/// unless `overwrite`. A GLB keeps everything of the glTF file that the cache's only actor came
/// from, where that file is still beside `source_dir`.
pub fn export_cache(
    reader: &mut CacheReader,
    params: &ExportParams,
    base_dir: &Path,
    source_dir: &Path,
    overwrite: bool,
    progress: &mut dyn Progress,
) -> Result<Vec<WrittenFile>, ExportError> {
    let (format, path) = params.target()?;
    let is_glb = format == ExportFormat::MorphGlb;
    if params.keep_rig {
        let (input, mut rig) = rig_of(reader, source_dir).map_err(ExportError::NoRig)?;
        rig.overwrite = overwrite;
        return export::export_rig(reader, &input, params, &base_dir.join(path), rig, progress);
    }
    let input = if is_glb { source_document(reader, source_dir) } else { None };
    export::export_keeping(reader, input.as_ref(), params, base_dir, overwrite, progress)
}

/// The document of the only actor and how the scene moved it.
fn rig_of(reader: &CacheReader, source_dir: &Path) -> Result<(Document, LivingOptions), String> {
    // From the cache, not from the scene file, which may have changed since.
    let scene: Scene = toml::from_str(&reader.header().scene_text).map_err(|e| e.to_string())?;
    let [(name, actor)] = scene.actors.0.as_slice() else {
        return Err("the scene has several actors".to_owned());
    };
    if actor.points.is_some() || !actor.path.is_empty() {
        return Err(format!("{name:?} is not moved by its joints"));
    }
    let path = source_dir.join(&actor.source);
    let inputs = InputSet::new();
    let document = if Document::is_kind(&path) {
        Document::open_with(&path, &inputs).map_err(|e| e.to_string())?
    } else if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("fbx")) {
        let (character, _) = read_character(&path, &inputs)?;
        let bytes = build_character(&character).and_then(GlbBuilder::into_bytes);
        let bytes = bytes.map_err(|e| e.to_string())?;
        Document::parse(&bytes, None).map_err(|e| e.to_string())?
    } else {
        return Err(format!("{} is no file with a rig (.glb, .gltf, .vrm, .fbx)", actor.source));
    };
    // Only clips and joints are wanted here; the document itself is written with its textures.
    let options = ReadOptions { textures: false, ..ReadOptions::default() };
    let (character, _) = to_character(&document, &options).map_err(|e| e.to_string())?;
    let rig = LivingOptions {
        actor: name.clone(),
        clip: played_clip(actor, &character, source_dir, &inputs)?,
        offset: actor.offset,
        speed: actor.speed,
        looped: actor.looped,
        world_from_actor: actor.placement.world_from_actor(),
        ..LivingOptions::default()
    };
    Ok((document, rig))
}

fn played_clip(
    actor: &ActorParams,
    character: &Character,
    source_dir: &Path,
    inputs: &InputSet,
) -> Result<Option<Clip>, String> {
    if actor.is_static {
        return Ok(None);
    }
    if let Some(from) = &actor.clip_from {
        let (source, _) = read_character(&source_dir.join(from), inputs)?;
        let index = clip_index(&source, actor.clip.as_ref()).ok_or("its clip is gone")?;
        let done = retarget(&source, index, character, &actor.joints);
        return done.map(|d| Some(d.clip)).map_err(|e| e.to_string());
    }
    Ok(clip_index(character, actor.clip.as_ref()).map(|c| character.clips[c].clone()))
}

fn source_document(reader: &CacheReader, source_dir: &Path) -> Option<Document> {
    let [(_, source)] = reader.header().sources.as_slice() else { return None };
    let path = source_dir.join(source);
    if Document::is_kind(&path) { Document::open(&path).ok() } else { None }
}

/// Everything that baking a cache writes beside its exports.
#[must_use]
pub fn cache_files(cache: &Path) -> Vec<PathBuf> {
    let mut files = vec![cache.to_owned(), part_path(cache)];
    files.extend(report_files(cache));
    files
}

/// The reports of a cache: for programs (JSON) and for people (HTML).
#[must_use]
pub fn report_files(cache: &Path) -> [PathBuf; 2] {
    ["json", "html"].map(|kind| cache.with_extension(format!("bake-report.{kind}")))
}

/// The files that a scene's exports name.
#[must_use]
pub fn planned_files(exports: &[ExportParams], base_dir: &Path) -> Vec<PathBuf> {
    exports.iter().filter_map(|e| Some(base_dir.join(e.target().ok()?.1))).collect()
}
