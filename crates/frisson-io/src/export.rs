//! From a baked shot to files other programs open.
//!
//! Every writer takes one frame at a time from a [`FrameSource`], so memory does not grow with the
//! shot. Files appear under their names only when they are whole.

mod caches;
mod file;
mod frames;
mod names;
mod selected;
mod tubes;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::source::{FrameSource, Progress, SourceError};
use crate::{alembic, gltf, mdd, obj, pc2, png_sequence, usd};
pub(crate) use caches::write_point_caches;
pub(crate) use file::PendingFile;
pub(crate) use frames::{Frames, clean_attribute_name};
pub(crate) use names::{NameRule, Names};
use selected::SelectedFrames;
pub use tubes::TubeParams;

/// One export of a scene: a format with its file, and what to write.
///
/// Exactly one of the format fields must be given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExportParams {
    /// Alembic file to write (`.abc`): meshes, curves, points, changing topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alembic: Option<PathBuf>,
    /// USD file to write: `.usdc` or `.usd` (binary), `.usda` (text, for small shots).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<PathBuf>,
    /// PC2 point cache to write (`.pc2`), one file per mesh; constant topology only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pc2: Option<PathBuf>,
    /// MDD point cache to write (`.mdd`), one file per mesh; constant topology only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mdd: Option<PathBuf>,
    /// OBJ sequence to write: `cat.obj` becomes `cat.0001.obj`, `cat.0002.obj`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obj: Option<PathBuf>,
    /// GLB file to write (`.glb`) with one morph target per frame; constant topology only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glb: Option<PathBuf>,
    /// PNG sequence to write of the images over meshes (wetness, stains): `wet.png` becomes
    /// `wet.0001.png`, … (`wet.NAME.0001.png` if there are several).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub png: Option<PathBuf>,
    /// Names of the shapes to write; empty: all.
    pub meshes: Vec<String>,
    /// Whether shading normals are written; if absent, in every format but GLB, where they double
    /// the size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normals: Option<bool>,
    /// Whether velocities [m/s] are written, for motion blur.
    pub velocities: bool,
    /// How morph targets are stored (GLB only).
    pub morphs: MorphStorage,
    /// Keep the rig alive (GLB only, of one character from a file): what the layers did becomes
    /// morph targets before the skin; joints, clips, facial morphs and VRM data stay as they were.
    pub keep_rig: bool,
    /// Most shapes that a mesh gets with `keep_rig`; longer shots share them. Viewers of the web take
    /// about 200.
    #[schemars(range(min = 1, max = 2000))]
    pub max_shapes: u32,
    /// Distance from the bake that fewer shapes may leave with `keep_rig` [m]; 0: one shape a frame
    /// where there are no more than `max_shapes`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub shape_error: f32,
    /// How strands become triangles (GLB only, which has no curves).
    pub strands: TubeParams,
    /// Units of the file per metre: 100 writes centimetres.
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub scale: f32,
    /// First and last frame to write; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<[i64; 2]>,
    /// Whether arrays are sampled at every frame even where they stay the same (USD only): a part of a
    /// shot cannot know what they do in the others.
    #[serde(skip)]
    #[schemars(skip)]
    pub is_part: bool,
}

impl Default for ExportParams {
    fn default() -> Self {
        Self {
            alembic: None,
            usd: None,
            pc2: None,
            mdd: None,
            obj: None,
            glb: None,
            png: None,
            meshes: Vec::new(),
            normals: None,
            velocities: true,
            morphs: MorphStorage::Dense,
            keep_rig: false,
            max_shapes: 200,
            shape_error: 0.0,
            strands: TubeParams::default(),
            scale: 1.0,
            frames: None,
            is_part: false,
        }
    }
}

/// How the morph targets of a GLB are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MorphStorage {
    /// Every vertex, exact.
    #[default]
    Dense,
    /// Only the vertices that move.
    Sparse,
    /// Every vertex in 16 bits a number.
    Quantised,
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Alembic, Ogawa container.
    Alembic,
    /// USD, binary or text by the file's extension.
    Usd,
    /// 3ds Max and Blender point cache.
    Pc2,
    /// LightWave point cache.
    Mdd,
    /// Wavefront sequence.
    Obj,
    /// GLB with morph targets.
    MorphGlb,
    /// Images over meshes, as a sequence.
    Png,
}

impl ExportFormat {
    /// All formats.
    pub const ALL: [Self; 7] =
        [Self::Alembic, Self::Usd, Self::Pc2, Self::Mdd, Self::Obj, Self::MorphGlb, Self::Png];

    /// The format's key in a scene file.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Alembic => "alembic",
            Self::Usd => "usd",
            Self::Pc2 => "pc2",
            Self::Mdd => "mdd",
            Self::Obj => "obj",
            Self::MorphGlb => "glb",
            Self::Png => "png",
        }
    }

    /// The format that a file's extension asks for.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "abc" => Self::Alembic,
            "usd" | "usdc" | "usda" => Self::Usd,
            "pc2" => Self::Pc2,
            "mdd" => Self::Mdd,
            "obj" => Self::Obj,
            "glb" => Self::MorphGlb,
            "png" => Self::Png,
            _ => return None,
        })
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alembic => "Alembic",
            Self::Usd => "USD",
            Self::Pc2 => "PC2",
            Self::Mdd => "MDD",
            Self::Obj => "OBJ",
            Self::MorphGlb => "GLB",
            Self::Png => "PNG",
        })
    }
}

impl ExportParams {
    /// An export of everything to one file, in the format of its extension.
    pub fn to_file(path: &Path) -> Result<Self, ExportError> {
        let format = ExportFormat::from_path(path)
            .ok_or_else(|| ExportError::UnknownExtension(path.to_owned()))?;
        let mut params = Self::default();
        *params.slot(format) = Some(path.to_owned());
        Ok(params)
    }

    fn slot(&mut self, format: ExportFormat) -> &mut Option<PathBuf> {
        match format {
            ExportFormat::Alembic => &mut self.alembic,
            ExportFormat::Usd => &mut self.usd,
            ExportFormat::Pc2 => &mut self.pc2,
            ExportFormat::Mdd => &mut self.mdd,
            ExportFormat::Obj => &mut self.obj,
            ExportFormat::MorphGlb => &mut self.glb,
            ExportFormat::Png => &mut self.png,
        }
    }

    /// The format asked for and its file, as written in the scene.
    pub fn target(&self) -> Result<(ExportFormat, &Path), ExportError> {
        let given =
            [&self.alembic, &self.usd, &self.pc2, &self.mdd, &self.obj, &self.glb, &self.png];
        let mut targets = ExportFormat::ALL
            .into_iter()
            .zip(given)
            .filter_map(|(format, path)| path.as_deref().map(|p| (format, p)));
        match (targets.next(), targets.next()) {
            (Some(target), None) => Ok(target),
            (None, _) => Err(ExportError::NoFormat),
            (Some((first, _)), Some((second, _))) => {
                Err(ExportError::SeveralFormats(first.key(), second.key()))
            }
        }
    }

    /// Checks what can be checked without the shot.
    pub fn validate(&self) -> Result<(), ExportError> {
        self.target()?;
        if !(self.scale.is_finite() && self.scale >= 1e-6 && self.scale <= 1e6) {
            return Err(ExportError::BadScale(self.scale));
        }
        if !(self.shape_error.is_finite() && self.shape_error >= 0.0) {
            return Err(ExportError::NoRig(format!("shape_error {}", self.shape_error)));
        }
        if self.keep_rig && (self.scale != 1.0 || self.glb.is_none()) {
            let problem = "keep_rig is for GLB at its own scale".to_owned();
            return Err(ExportError::NoRig(problem));
        }
        match self.frames {
            Some([first, last]) if first > last => Err(ExportError::NoFrames { first, last }),
            _ => Ok(()),
        }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.meshes.is_empty() || self.meshes.iter().any(|m| m == name)
    }
}

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

/// An export that did not happen; nothing is left under the final names.
#[derive(Debug, Error)]
pub enum ExportError {
    /// No format was named.
    #[error("an export needs a format: one of alembic, usd, pc2, mdd, obj, glb, png")]
    NoFormat,
    /// Two formats were named.
    #[error("an export writes one format, but both `{0}` and `{1}` are given: make two exports")]
    SeveralFormats(&'static str, &'static str),
    /// The extension is of no format we write.
    #[error("{}: no format has this extension (abc, usd, usdc, usda, pc2, mdd, obj, glb, png)", .0.display())]
    UnknownExtension(PathBuf),
    /// The path ends in no file name.
    #[error("{}: not the name of a file", .0.display())]
    NotAFile(PathBuf),
    /// The file is there already.
    #[error("{} exists already: choose another name or allow overwriting", .0.display())]
    Exists(PathBuf),
    /// The scale is no usable number.
    #[error("scale {0} is not between 1e-6 and 1e6")]
    BadScale(f32),
    /// There is no frame to write.
    #[error("there is no frame from {first} to {last}")]
    NoFrames {
        /// First frame asked for.
        first: i64,
        /// Last frame asked for.
        last: i64,
    },
    /// A shape that was asked for is in no frame.
    #[error("no shape is called `{name}`; there are: {known}")]
    NoSuchShape {
        /// The name.
        name: String,
        /// What there is.
        known: String,
    },
    /// The shot has nothing this format can hold.
    #[error("the shot has nothing that {0} can hold")]
    Nothing(ExportFormat),
    /// The format needs the same vertices in every frame.
    #[error(
        "`{mesh}` changes its vertices at frame {frame}, which {format} cannot hold: use Alembic or USD"
    )]
    ChangingTopology {
        /// The format.
        format: ExportFormat,
        /// The mesh.
        mesh: String,
        /// The first frame that differs.
        frame: i64,
    },
    /// A frame contradicts itself.
    #[error("frame {frame}, `{shape}`: {problem}")]
    Malformed {
        /// Frame number.
        frame: i64,
        /// Shape.
        shape: String,
        /// What is wrong.
        problem: String,
    },
    /// The shot cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file cannot be written.
    #[error("{}: {}", .path.display(), explain(.problem))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        problem: io::Error,
    },
    /// Writing failed; the file is not yet known.
    #[error("{}", explain(.0))]
    Write(#[from] io::Error),
    /// The listener asked to stop.
    #[error("stopped; nothing was written")]
    Stopped,
    /// There is no rig to keep.
    #[error("the rig cannot be kept: {0}")]
    NoRig(String),
    /// The GLB writer says no.
    #[error(transparent)]
    Gltf(gltf::GltfError),
}

fn explain(problem: &io::Error) -> String {
    match problem.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; nothing was left under this name".to_owned()
        }
        io::ErrorKind::ReadOnlyFilesystem => "the disk cannot be written to".to_owned(),
        io::ErrorKind::PermissionDenied => "no permission to write here".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is a file, not a folder".to_owned(),
        _ => problem.to_string(),
    }
}

impl From<gltf::GltfError> for ExportError {
    fn from(error: gltf::GltfError) -> Self {
        match error {
            gltf::GltfError::Stopped => Self::Stopped,
            gltf::GltfError::Exists(path) => Self::Exists(path),
            gltf::GltfError::Io { path, source } => Self::File { path, problem: source },
            other => Self::Gltf(other),
        }
    }
}

impl ExportError {
    pub(crate) fn at(path: &Path, problem: io::Error) -> Self {
        Self::File { path: path.to_owned(), problem }
    }

    fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Write(problem) => Self::at(path, problem),
            other => other,
        }
    }
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

fn write_usd(
    file: &mut PendingFile,
    path: &Path,
    frames: &mut Frames<'_>,
) -> Result<(), ExportError> {
    match path.extension().is_some_and(|e| e.eq_ignore_ascii_case("usda")) {
        true => usd::write_shot(&mut usd::TextWriter::create(file), frames),
        false => usd::write_shot(&mut usd::BinaryWriter::create(file)?, frames),
    }
}

/// The files of one export.
struct Outputs<'a> {
    path: &'a Path,
    overwrite: bool,
}

impl Outputs<'_> {
    fn write_one(
        &self,
        write: impl FnOnce(&mut PendingFile) -> Result<(), ExportError>,
    ) -> Result<Vec<WrittenFile>, ExportError> {
        let mut file = PendingFile::create(self.path, self.overwrite)?;
        write(&mut file).map_err(|e| e.in_file(self.path))?;
        Ok(vec![file.finish()?])
    }

    /// `cat.pc2` for one mesh, `cat.body.pc2` and so on for several.
    fn write_caches(
        &self,
        write: impl FnOnce(
            &mut dyn FnMut(&str, bool) -> Result<PendingFile, ExportError>,
        ) -> Result<Vec<PendingFile>, ExportError>,
    ) -> Result<Vec<WrittenFile>, ExportError> {
        let mut names = Names::new(NameRule::Plain);
        let mut create = |mesh: &str, alone: bool| {
            let path = match alone {
                true => self.path.to_owned(),
                false => self.with_part(&names.get(mesh)),
            };
            PendingFile::create(&path, self.overwrite)
        };
        let files = write(&mut create).map_err(|e| e.in_file(self.path))?;
        files.into_iter().map(PendingFile::finish).collect()
    }

    /// `cat.obj` becomes `cat.0001.obj` …, with `cat.mtl`.
    fn write_sequence(&self, frames: &mut Frames<'_>) -> Result<Vec<WrittenFile>, ExportError> {
        let library_path = self.path.with_extension("mtl");
        let paths = (frames.info().first_frame..=frames.info().last_frame)
            .map(|frame| self.with_part(&format!("{frame:04}")));
        let mut paths: Vec<PathBuf> = paths.collect();
        paths.push(library_path.clone());
        paths.iter().try_for_each(|path| file::refuse_existing(path, self.overwrite))?;
        let library_name = library_path.file_name().unwrap_or_default().to_string_lossy();
        let mut library = obj::Library::new();
        let mut written = Vec::new();
        let params = frames.params();
        for path in &paths[..paths.len() - 1] {
            let Some(frame) = frames.next()? else { break };
            let mut file = PendingFile::create(path, self.overwrite)?;
            obj::write_frame(&mut file, frame, params, &library_name, &mut library)
                .map_err(|e| e.in_file(path))?;
            written.push(file.finish()?);
        }
        frames.next()?;
        if !library.is_empty() {
            let mut file = PendingFile::create(&library_path, self.overwrite)?;
            library.write(&mut file)?;
            written.push(file.finish()?);
        }
        Ok(written)
    }

    /// `wet.png` becomes `wet.0001.png` …, or `wet.NAME.0001.png` … for several images.
    fn write_images(&self, frames: &mut Frames<'_>) -> Result<Vec<WrittenFile>, ExportError> {
        let mut names = Names::new(NameRule::Plain);
        let mut written = Vec::new();
        while let Some(frame) = frames.next()? {
            let alone = frame.images.len() == 1;
            for image in &frame.images {
                let path = match alone {
                    true => self.with_part(&format!("{:04}", frame.index)),
                    false => {
                        self.with_part(&format!("{}.{:04}", names.get(&image.name), frame.index))
                    }
                };
                let mut file = PendingFile::create(&path, self.overwrite)?;
                png_sequence::write_image(&mut file, image).map_err(|e| e.in_file(&path))?;
                written.push(file.finish()?);
            }
        }
        match written.is_empty() {
            true => Err(ExportError::Nothing(ExportFormat::Png)),
            false => Ok(written),
        }
    }

    fn with_part(&self, part: &str) -> PathBuf {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let extension = self.path.extension().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!("{stem}.{part}.{extension}"))
    }
}

#[cfg(test)]
pub(crate) mod tests;
