//! Exports of a baked cache.

use std::path::{Path, PathBuf};

use crate::cache::{CacheReader, part_path};
use crate::export::{self, ExportError, ExportFormat, ExportParams, WrittenFile};
use crate::gltf::Document;
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
    let is_glb = params.target()?.0 == ExportFormat::MorphGlb;
    let input = if is_glb { source_document(reader, source_dir) } else { None };
    export::export_keeping(reader, input.as_ref(), params, base_dir, overwrite, progress)
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
