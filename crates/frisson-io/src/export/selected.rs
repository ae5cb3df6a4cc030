//! A shot with only the shapes and frames that an export asks for, in its units, with strands as
//! triangles.

use frisson::stage::Frame;

use super::frames::{scale_frame, selected_range};
use super::tubes::Tubes;
use super::{ExportError, ExportParams};
use crate::source::{FrameSource, ShotInfo, SourceError};

pub(super) struct SelectedFrames<'a> {
    source: &'a mut dyn FrameSource,
    params: &'a ExportParams,
    info: ShotInfo,
    tubes: Tubes,
}

impl<'a> SelectedFrames<'a> {
    pub(super) fn new(
        source: &'a mut dyn FrameSource,
        params: &'a ExportParams,
    ) -> Result<Self, ExportError> {
        let info = selected_range(source.info(), params)?;
        Ok(Self { source, params, info, tubes: Tubes::default() })
    }
}

impl FrameSource for SelectedFrames<'_> {
    fn info(&self) -> &ShotInfo {
        &self.info
    }

    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
        if frame < self.info.first_frame || frame > self.info.last_frame {
            return Err(SourceError::NoSuchFrame(frame));
        }
        self.source.read_frame(frame, out)?;
        out.meshes.retain(|m| self.params.wants(&m.name));
        out.curves.retain(|c| self.params.wants(&c.name));
        out.points.retain(|p| self.params.wants(&p.name));
        if self.params.scale != 1.0 {
            scale_frame(out, self.params.scale);
        }
        self.tubes.convert(&self.params.strands, out);
        Ok(())
    }
}
