//! From a baked shot to files other programs open.
//!
//! Every writer takes one frame at a time from a [`FrameSource`], so memory does not grow with the
//! shot. Files appear under their names only when they are whole.

mod caches;
mod error;
mod file;
mod format;
mod frames;
mod names;
mod outputs;
mod params;
mod selected;
mod shapes;
mod tubes;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::source::{FrameSource, Progress};
use crate::{alembic, gltf, mdd, pc2};
pub(crate) use caches::write_point_caches;
pub use error::ExportError;
pub(crate) use file::PendingFile;
pub use format::ExportFormat;
pub(crate) use frames::{Frames, clean_attribute_name};
pub(crate) use names::{NameRule, Names};
use outputs::{Outputs, write_usd};
pub use params::{ExportParams, MorphStorage};
use selected::SelectedFrames;
pub(crate) use shapes::{ShapeWriter, write_shapes};
pub use tubes::TubeParams;

/// A file that an export wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrittenFile {
    /// Where.
    pub path: PathBuf,
    /// How large.
    pub bytes: u64,
    /// What whoever asked for it should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// Writes a shot. Relative paths are relative to `base_dir`; existing files are refused unless
/// `overwrite`.
pub fn export(
    source: &mut dyn FrameSource,
    params: &ExportParams,
    base_dir: &Path,
    overwrite: bool,
    progress: &mut dyn Progress,
) -> Result<Vec<WrittenFile>, ExportError> {
    export_keeping(source, None, params, base_dir, overwrite, progress)
}

/// Like [`export`]; a GLB keeps everything of `input` but the meshes that were baked.
pub fn export_keeping(
    source: &mut dyn FrameSource,
    input: Option<&gltf::Document>,
    params: &ExportParams,
    base_dir: &Path,
    overwrite: bool,
    progress: &mut dyn Progress,
) -> Result<Vec<WrittenFile>, ExportError> {
    params.validate()?;
    let (format, path) = params.target()?;
    let path = base_dir.join(path);
    if format == ExportFormat::MorphGlb {
        return write_morph_glb(source, input, params, &path, overwrite, progress);
    }
    let mut frames = Frames::new(source, params, progress)?;
    let outputs = Outputs { path: &path, overwrite };
    match format {
        ExportFormat::Alembic => {
            outputs.write_one(|file| alembic::write_shot(file, &mut frames).map(drop))
        }
        ExportFormat::Usd => outputs.write_one(|file| write_usd(file, &path, &mut frames)),
        ExportFormat::Pc2 => outputs.write_caches(|create| pc2::write_shot(&mut frames, create)),
        ExportFormat::Mdd => outputs.write_caches(|create| mdd::write_shot(&mut frames, create)),
        ExportFormat::Obj => outputs.write_sequence(&mut frames),
        ExportFormat::Png => outputs.write_images(&mut frames),
        // Taken above: it reads the shot twice, in an order of its own.
        ExportFormat::MorphGlb => Ok(Vec::new()),
    }
}

fn write_morph_glb(
    source: &mut dyn FrameSource,
    input: Option<&gltf::Document>,
    params: &ExportParams,
    path: &Path,
    overwrite: bool,
    progress: &mut dyn Progress,
) -> Result<Vec<WrittenFile>, ExportError> {
    let mut selected = SelectedFrames::new(source, params)?;
    let encoding = match params.morphs {
        MorphStorage::Dense => gltf::MorphEncoding::Dense,
        MorphStorage::Sparse => gltf::MorphEncoding::Sparse,
        MorphStorage::Quantised => gltf::MorphEncoding::Quantised,
    };
    let normals = params.normals.unwrap_or(false);
    let options = gltf::MorphOptions { encoding, normals, overwrite, ..Default::default() };
    let report = gltf::export_morph_bake(&mut selected, input, path, &options, progress)?;
    let (bytes, remarks) = (report.bytes, report.warnings);
    Ok(vec![WrittenFile { path: path.to_owned(), bytes, remarks }])
}

/// Writes a GLB that keeps its rig alive; `rig` says how the document's character was moved.
pub fn export_rig(
    source: &mut dyn FrameSource,
    input: &gltf::Document,
    params: &ExportParams,
    path: &Path,
    rig: gltf::LivingOptions,
    progress: &mut dyn Progress,
) -> Result<Vec<WrittenFile>, ExportError> {
    params.validate()?;
    let mut selected = SelectedFrames::new(source, params)?;
    let options = gltf::LivingOptions {
        max_shapes: params.max_shapes as usize,
        shape_error: params.shape_error,
        ..rig
    };
    let report = gltf::export_living(&mut selected, input, path, &options, progress)?;
    let mut remarks = report.warnings;
    remarks.push(format!(
        "{} shapes for {} frames, {:.3} mm off the bake at most",
        report.shapes,
        report.frames,
        1e3 * report.max_error
    ));
    Ok(vec![WrittenFile { path: path.to_owned(), bytes: report.bytes, remarks }])
}

#[cfg(test)]
pub(crate) mod tests;
