//! A file of shapes over time as what it gives.

use std::path::Path;
use std::sync::Arc;

use frisson::stage::{Curves, MeshSequence as _, Points};

use super::{CurveSequence, Given, GivenError, PointSequence};
use crate::alembic::input::AlembicFile;
use crate::inputs::InputSet;
use crate::shape_file::{FileMeshes, ShapeFile};
use crate::usd::input::UsdFile;

struct Part<F> {
    file: Arc<F>,
    index: usize,
    name: String,
}

impl<F: ShapeFile<Error: Into<GivenError>>> CurveSequence for Part<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn curves_at(&self, time: f64) -> Result<Curves, GivenError> {
        self.file.strands(self.index, time).map_err(Into::into)
    }
}

impl<F: ShapeFile<Error: Into<GivenError>>> PointSequence for Part<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn points_at(&self, time: f64) -> Result<Points, GivenError> {
        self.file.beads(self.index, time).map_err(Into::into)
    }
}

pub(super) fn open_alembic(path: &Path, inputs: &InputSet) -> Result<Given, GivenError> {
    let file = Arc::new(AlembicFile::open_with(path, inputs)?);
    let meshes = FileMeshes::new(Arc::clone(&file))?;
    Ok(gather(&file, Some(meshes)))
}

pub(super) fn open_usd(path: &Path, inputs: &InputSet) -> Result<Given, GivenError> {
    let file = Arc::new(UsdFile::open_with(path, inputs)?);
    // Skinned meshes are a character, not shapes over time.
    if file.has_skeleton() {
        return Ok(gather(&file, None));
    }
    match FileMeshes::new(Arc::clone(&file)) {
        Ok(meshes) => Ok(gather(&file, Some(meshes))),
        // Curves and points of the same file may be what is wanted.
        Err(problem) => {
            let mut given = gather(&file, None);
            given.warnings.push(format!("meshes are left out: {problem}"));
            Ok(given)
        }
    }
}

fn gather<F>(file: &Arc<F>, meshes: Option<FileMeshes<F>>) -> Given
where
    F: ShapeFile<Error: Into<GivenError>>,
{
    let mut given = Given { seconds: file.times().1, ..Given::default() };
    given.warnings.extend_from_slice(file.remarks());
    if let Some(meshes) = meshes.filter(|m| !m.meshes().is_empty()) {
        given.meshes = Some(Arc::new(meshes));
    }
    let part = |index: usize, name: String| Arc::new(Part { file: Arc::clone(file), index, name });
    for (index, info) in file.curve_infos().into_iter().enumerate() {
        given.curves.push(part(index, info.name));
    }
    for (index, info) in file.point_infos().into_iter().enumerate() {
        given.points.push(part(index, info.name));
    }
    given
}
