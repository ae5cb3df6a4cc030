//! The meshes of an Alembic file as an actor.

use std::sync::Arc;

use frisson::geometry::Mesh;
use frisson::stage::MeshSequence;
use glam::Vec3;

use super::file::AlembicFile;
use super::{AlembicError, Result};
use crate::faces::Shape;

/// Meshes of constant topology, played as they are stored: straight lines between samples, held at
/// both ends.
pub struct AlembicMeshes {
    file: Arc<AlembicFile>,
    meshes: Vec<Mesh>,
    /// Mesh of the file and its triangles.
    shapes: Vec<(usize, Shape)>,
}

impl AlembicMeshes {
    /// The meshes of a file that are shown at its start. All samples are read once, so that nothing
    /// can fail while they play; a mesh whose topology changes is an error.
    pub fn new(file: Arc<AlembicFile>) -> Result<Self> {
        let mut out = Self { file: Arc::clone(&file), meshes: Vec::new(), shapes: Vec::new() };
        let infos: Vec<_> = file.meshes().cloned().collect();
        let start = file.span().0;
        for (index, info) in infos.iter().enumerate() {
            if !file.mesh_is_visible(index, start)? {
                continue;
            }
            if !info.constant_topology {
                let problem = "its topology changes: layers need the same vertices at all times";
                return Err(AlembicError::damaged(info.path.clone(), problem));
            }
            let shape = file.shape_at(index, start)?;
            if shape.topology.triangles.is_empty() {
                continue;
            }
            let positions = file.positions_at(index, &shape, start)?;
            let topology = Arc::clone(&shape.topology);
            out.meshes.push(Mesh {
                name: info.name.clone(),
                topology,
                positions,
                ..Mesh::default()
            });
            out.shapes.push((index, shape));
        }
        out.check()?;
        make_names_unique(&mut out.meshes);
        Ok(out)
    }

    /// Reads every sample once.
    fn check(&self) -> Result<()> {
        for (index, shape) in &self.shapes {
            for time in self.file.sample_times(*index)? {
                self.file.positions_at(*index, shape, time)?;
            }
        }
        Ok(())
    }

    /// Time of the last sample [s].
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.file.span().1
    }
}

impl MeshSequence for AlembicMeshes {
    fn meshes(&self) -> &[Mesh] {
        &self.meshes
    }

    fn positions_at(&self, mesh: usize, time: f64, out: &mut Vec<Vec3>) {
        let (index, shape) = &self.shapes[mesh];
        out.clear();
        match self.file.positions_at(*index, shape, time) {
            Ok(positions) => out.extend(positions),
            // Only a file that changed under our hands comes here.
            Err(_) => out.extend_from_slice(&self.meshes[mesh].positions),
        }
    }
}

fn make_names_unique(meshes: &mut [Mesh]) {
    let mut names = crate::gltf::UniqueNames::default();
    for mesh in meshes {
        mesh.name = names.make_unique(&mesh.name);
    }
}
