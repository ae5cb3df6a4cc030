//! Exports of a baked cache.

use std::path::{Path, PathBuf};

use crate::cache::CacheReader;
use crate::export::{self, ExportError, ExportFormat, ExportParams, WrittenFile};
use crate::gltf::{Document, MorphOptions, export_morph_bake};
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
    params.validate()?;
    let (format, path) = params.target()?;
    if format != ExportFormat::MorphGlb {
        return export::export(reader, params, base_dir, overwrite, progress);
    }
    let path = base_dir.join(path);
    if path.exists() && !overwrite {
        return Err(ExportError::Exists(path));
    }
    let input = source_document(reader, source_dir);
    let options = MorphOptions { normals: params.normals, overwrite, ..MorphOptions::default() };
    let report = export_morph_bake(reader, input.as_ref(), &path, &options, progress)
        .map_err(|e| ExportError::Unsupported(format!("{}: {e}", path.display())))?;
    for warning in &report.warnings {
        tracing::warn!("{warning}");
    }
    Ok(vec![WrittenFile { path, bytes: report.bytes }])
}

fn source_document(reader: &CacheReader, source_dir: &Path) -> Option<Document> {
    let [(_, source)] = reader.header().sources.as_slice() else { return None };
    let is_gltf = [".glb", ".gltf"].iter().any(|e| source.to_ascii_lowercase().ends_with(e));
    if is_gltf { Document::open(&source_dir.join(source)).ok() } else { None }
}

/// The files that a scene's exports name.
#[must_use]
pub fn planned_files(exports: &[ExportParams], base_dir: &Path) -> Vec<PathBuf> {
    exports.iter().filter_map(|e| Some(base_dir.join(e.target().ok()?.1))).collect()
}
