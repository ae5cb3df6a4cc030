//! What PC2 and MDD have in common: one file per mesh, the same vertices in every frame.

use std::collections::BTreeMap;
use std::sync::Arc;

use frisson::geometry::{Mesh, MeshTopology};
use glam::Vec3;

use super::{ExportError, ExportFormat, Frames, PendingFile};

struct Cache {
    file: PendingFile,
    topology: Arc<MeshTopology>,
    frames: u64,
}

/// Streams the positions of every wanted mesh into its file. `create` is told the mesh's name and
/// whether it is the only one.
pub(crate) fn write_point_caches(
    frames: &mut Frames<'_>,
    format: ExportFormat,
    create: &mut dyn FnMut(&str, bool) -> Result<PendingFile, ExportError>,
    begin: &mut dyn FnMut(&mut PendingFile, usize) -> Result<(), ExportError>,
    append: &mut dyn FnMut(&mut PendingFile, &[Vec3]) -> Result<(), ExportError>,
) -> Result<Vec<PendingFile>, ExportError> {
    let params = frames.params();
    let total = frames.frame_count();
    let changing =
        |mesh: &str, frame| ExportError::ChangingTopology { format, mesh: mesh.to_owned(), frame };
    let mut caches: BTreeMap<String, Cache> = BTreeMap::new();
    let mut done = 0;
    let mut number = frames.info().first_frame;
    while let Some(frame) = frames.next()? {
        let wanted: Vec<&Mesh> = frame.meshes.iter().filter(|m| params.wants(&m.name)).collect();
        for mesh in &wanted {
            if done == 0 {
                let mut file = create(&mesh.name, wanted.len() == 1)?;
                begin(&mut file, mesh.positions.len())?;
                let topology = Arc::clone(&mesh.topology);
                caches.insert(mesh.name.clone(), Cache { file, topology, frames: 0 });
            }
            let cache = caches.get_mut(&mesh.name).ok_or_else(|| changing(&mesh.name, number))?;
            let same = Arc::ptr_eq(&cache.topology, &mesh.topology)
                || (cache.topology.vertex_count == mesh.topology.vertex_count
                    && cache.topology.triangles == mesh.topology.triangles);
            if !same {
                return Err(changing(&mesh.name, number));
            }
            append(&mut cache.file, &mesh.positions)?;
            cache.frames += 1;
        }
        done += 1;
        // A mesh that is missing in a frame: these formats have no holes.
        if let Some((name, _)) = caches.iter().find(|(_, cache)| cache.frames != done) {
            return Err(changing(name, number));
        }
        number += 1;
    }
    if caches.is_empty() || done != total {
        return Err(ExportError::Nothing(format));
    }
    Ok(caches.into_values().map(|cache| cache.file).collect())
}
