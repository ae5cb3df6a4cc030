//! A bake as morph targets: one target per frame, blended by a weights channel.
//!
//! ```text
//! segment 0: base = frame 0, targets 1 … 200      segment 1: base = frame 200, targets 201 … 400
//! weights of target k:  ╱╲ one at its own frame, zero at its neighbours
//! ```
//! Viewers keep the weights in the graphics card's few uniforms, so a mesh carries at most
//! [`MorphOptions::max_targets`] targets; longer shots go on in another mesh, and only the one whose
//! time it is has a scale other than zero.
//!
//! Two passes over the shot: the first finds which meshes keep their topology and how far vertices
//! go, the second writes each frame's target to a file as it comes. Memory holds one frame and one
//! base, however long the shot.

mod baked;
mod replace;
mod segment;

use std::path::Path;

use frisson::stage::Frame;

use super::builder::{GlbBuilder, refuse_existing};
use super::document::Document;
use super::error::{GltfError, Result};
use crate::{FrameSource, Progress};
use baked::Baked;

/// How targets are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MorphEncoding {
    /// Every vertex, 12 bytes each.
    #[default]
    Dense,
    /// Only vertices that moved from the base, 14 to 16 bytes each.
    Sparse,
    /// Every vertex, 8 bytes each: 16-bit fractions of the largest move.
    Quantised,
}

/// How a bake is written.
#[derive(Clone, Debug)]
pub struct MorphOptions {
    /// How targets are stored.
    pub encoding: MorphEncoding,
    /// Whether normals are baked too (doubles the size); else viewers shade flat or make their own.
    pub normals: bool,
    /// Most targets a mesh carries.
    pub max_targets: usize,
    /// Name of the animation.
    pub animation: String,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
}

impl Default for MorphOptions {
    fn default() -> Self {
        Self {
            encoding: MorphEncoding::Dense,
            normals: false,
            max_targets: 200,
            animation: "frisson".to_owned(),
            overwrite: false,
        }
    }
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct MorphReport {
    /// Size of the file.
    pub bytes: u64,
    /// What was left out, for people.
    pub warnings: Vec<String>,
}

/// Writes a shot as a GLB with morph targets. With an `input`, everything else of that document is
/// kept and its meshes are replaced by the baked ones of the same name, unskinned, at the root.
pub fn export_morph_bake(
    source: &mut dyn FrameSource,
    input: Option<&Document>,
    path: &Path,
    options: &MorphOptions,
    progress: &mut dyn Progress,
) -> Result<MorphReport> {
    refuse_existing(path, options.overwrite)?;
    let mut bake = MorphBake::new(source, options, progress);
    bake.survey()?;
    let mut builder = GlbBuilder::spooled(path)?;
    if let Some(document) = input {
        let document = document.plain()?;
        bake.report.warnings.extend(builder.adopt(&document)?);
        bake.match_input(&document)?;
        bake.detach_replaced(&mut builder);
    }
    bake.write(&mut builder)?;
    let mut report = bake.report;
    report.bytes = builder.finish(path, options.overwrite)?;
    Ok(report)
}

struct MorphBake<'a> {
    source: &'a mut dyn FrameSource,
    options: &'a MorphOptions,
    progress: &'a mut dyn Progress,
    frame: Frame,
    meshes: Vec<Baked>,
    report: MorphReport,
    first: i64,
    count: usize,
    fps: f64,
    done: u64,
}

impl<'a> MorphBake<'a> {
    fn new(
        source: &'a mut dyn FrameSource,
        options: &'a MorphOptions,
        progress: &'a mut dyn Progress,
    ) -> Self {
        let info = source.info().clone();
        let count = usize::try_from(info.last_frame - info.first_frame + 1).unwrap_or(0);
        Self {
            source,
            options,
            progress,
            frame: Frame::default(),
            meshes: Vec::new(),
            report: MorphReport::default(),
            first: info.first_frame,
            count,
            fps: info.rate.fps(),
            done: 0,
        }
    }

    /// Intervals between frames that one mesh covers.
    fn span(&self) -> usize {
        self.options.max_targets.max(1)
    }

    fn segments(&self) -> usize {
        self.count.saturating_sub(1).div_ceil(self.span()).max(1)
    }

    fn read(&mut self, offset: usize) -> Result<()> {
        self.source.read_frame(self.first + offset as i64, &mut self.frame)?;
        self.done += 1;
        // Both passes read every frame.
        if !self.progress.advance(self.done, 2 * self.count as u64) {
            return Err(GltfError::Stopped);
        }
        if let Some((name, vertex)) = self.frame.find_non_finite() {
            let place = format!("frame {}, {name:?}", self.first + offset as i64);
            return Err(GltfError::invalid(place, format!("vertex {vertex} is not finite")));
        }
        Ok(())
    }

    /// First pass: which meshes stay the same, and how far they move.
    fn survey(&mut self) -> Result<()> {
        if self.count == 0 {
            return Err(GltfError::invalid("shot", "it has no frames"));
        }
        self.read(0)?;
        self.meshes = self.frame.meshes.iter().map(Baked::new).collect();
        let shapes = self.frame.curves.iter().map(|c| &c.name);
        let shapes = shapes.chain(self.frame.points.iter().map(|p| &p.name));
        let left_out =
            shapes.map(|name| format!("{name:?} is left out: glTF has no curves or points"));
        self.report.warnings.extend(left_out);
        for offset in 1..self.count {
            self.read(offset)?;
            let segment = (offset - 1) / self.span();
            let begins = offset.is_multiple_of(self.span());
            let (frame, warnings) = (&self.frame, &mut self.report.warnings);
            self.meshes.retain_mut(|baked| {
                let now = frame.meshes.iter().find(|m| m.name == baked.name);
                let same = now.is_some_and(|mesh| baked.keeps(mesh));
                if let Some(mesh) = now.filter(|_| same) {
                    baked.measure(&mesh.positions, segment, begins);
                } else {
                    let name = &baked.name;
                    warnings.push(format!("{name:?} is left out: its topology changes"));
                }
                same
            });
            for mesh in &frame.meshes {
                let known = self.meshes.iter().any(|b| b.name == mesh.name);
                let word = format!("{:?} is left out: its topology changes", mesh.name);
                if !known && !warnings.contains(&word) {
                    warnings.push(word);
                }
            }
        }
        Ok(())
    }
}
