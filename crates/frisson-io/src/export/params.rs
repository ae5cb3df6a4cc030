//! What an export is asked to write.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ExportError, ExportFormat, TubeParams};

/// Units of a file per metre that make sense: a unit of a thousand kilometres down to one of a micrometre. Beyond,
/// single precision loses the shape.
const LEAST_SCALE: f32 = 1e-6;
const MOST_SCALE: f32 = 1e6;

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
        if !(LEAST_SCALE..=MOST_SCALE).contains(&self.scale) {
            return Err(ExportError::BadScale(self.scale));
        }
        if !(self.shape_error.is_finite() && self.shape_error >= 0.0) {
            return Err(ExportError::NoRig(format!("shape_error {}", self.shape_error)));
        }
        // Joints and clips of the document stay as they are, in metres.
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
