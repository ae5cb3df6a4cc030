//! A USD file as what it gives.

use std::path::Path;
use std::sync::Arc;

use frisson::stage::{Curves, Points};

use super::{CurveSequence, Given, GivenError, PointSequence};
use crate::inputs::InputSet;
use crate::usd::input::{UsdFile, UsdMeshes};

struct Part {
    file: Arc<UsdFile>,
    index: usize,
    name: String,
}

impl CurveSequence for Part {
    fn name(&self) -> &str {
        &self.name
    }

    fn curves_at(&self, time: f64) -> Result<Curves, GivenError> {
        Ok(self.file.curves_at(self.index, time)?)
    }
}

impl PointSequence for Part {
    fn name(&self) -> &str {
        &self.name
    }

    fn points_at(&self, time: f64) -> Result<Points, GivenError> {
        Ok(self.file.points_at(self.index, time)?)
    }
}

pub(super) fn open(path: &Path, inputs: &InputSet) -> Result<Given, GivenError> {
    let file = Arc::new(UsdFile::open_with(path, inputs)?);
    let mut given = Given { seconds: file.span().1, ..Given::default() };
    given.warnings.extend_from_slice(file.warnings());
    // Skinned meshes are a character, not shapes over time.
    if file.meshes().len() > 0 && !file.has_skeleton() {
        match UsdMeshes::new(Arc::clone(&file)) {
            Ok(meshes) if !frisson::stage::MeshSequence::meshes(&meshes).is_empty() => {
                given.meshes = Some(Arc::new(meshes));
            }
            Ok(_) => {}
            // Curves and points of the same file may be what is wanted.
            Err(problem) => given.warnings.push(format!("meshes are left out: {problem}")),
        }
    }
    let part = |index: usize, name: &str| {
        Arc::new(Part { file: Arc::clone(&file), index, name: name.to_owned() })
    };
    for (index, info) in file.curves().enumerate() {
        given.curves.push(part(index, &info.name));
    }
    for (index, info) in file.points().enumerate() {
        given.points.push(part(index, &info.name));
    }
    Ok(given)
}
