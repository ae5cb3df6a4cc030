//! One walk over a shot for every format that holds meshes, curves and points.

use std::collections::BTreeSet;

use frisson::geometry::Mesh;
use frisson::stage::{Curves, Points};

use super::{ExportError, ExportFormat, Frames};

/// What takes the shapes of a shot, frame after frame.
pub(crate) trait ShapeWriter {
    fn write_mesh(&mut self, mesh: &Mesh) -> Result<(), ExportError>;
    fn write_curves(&mut self, curves: &Curves) -> Result<(), ExportError>;
    fn write_points(&mut self, points: &Points) -> Result<(), ExportError>;
    /// After the last shape of a frame; `present` are the names of those that were in it.
    fn end_frame(&mut self, present: &BTreeSet<&str>) -> Result<(), ExportError>;
}

/// Writes the shapes that were asked for; an error if no frame has any.
pub(crate) fn write_shapes(
    frames: &mut Frames<'_>,
    writer: &mut impl ShapeWriter,
    format: ExportFormat,
) -> Result<(), ExportError> {
    let params = frames.params();
    let mut any = false;
    while let Some(frame) = frames.next()? {
        let mut present = BTreeSet::new();
        for mesh in frame.meshes.iter().filter(|m| params.wants(&m.name)) {
            present.insert(mesh.name.as_str());
            writer.write_mesh(mesh)?;
        }
        for curves in frame.curves.iter().filter(|c| params.wants(&c.name)) {
            present.insert(curves.name.as_str());
            writer.write_curves(curves)?;
        }
        for points in frame.points.iter().filter(|p| params.wants(&p.name)) {
            present.insert(points.name.as_str());
            writer.write_points(points)?;
        }
        any |= !present.is_empty();
        writer.end_frame(&present)?;
    }
    if any { Ok(()) } else { Err(ExportError::Nothing(format)) }
}
