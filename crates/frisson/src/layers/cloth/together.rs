//! Several meshes as one cloth: garments that lie over each other and feel each other both ways.
//!
//! Layers run one after the other, so an earlier garment never feels what a later one does. Garments that press on
//! each other are therefore nodes of one solver. Their meshes stand behind each other in one list of vertices, and what
//! keeps a cloth from going through itself keeps them apart, by the masses of both:
//!
//! ```text
//!   vertices   0 ............ first ............ first ........
//!              the cloth `on` | first of `with` | second | ...
//! ```
//!
//! Nothing joins them: they are never welded, even where two of their vertices lie in one place.

use std::sync::Arc;

use glam::Vec3;

use super::lookup::{find_mesh, select_vertices};
use super::params::ClothParams;
use crate::geometry::{Mesh, MeshTopology, Topology};
use crate::stage::{BuildContext, Frame, LayerError, Selection, check_vertices};

/// A mesh that is simulated with the cloth's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index in [`Frame::meshes`].
    pub mesh: usize,
    /// Its first vertex in the list of all.
    pub first: usize,
    /// How many it has.
    pub count: usize,
    /// Its name in the scene.
    name: String,
}

impl Part {
    /// Its vertices in the list of all.
    pub fn vertices(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }
}

/// Finds the meshes that are simulated with the one at index `own`.
pub fn find_parts(
    params: &ClothParams,
    context: &BuildContext,
    own: usize,
) -> Result<Vec<Part>, LayerError> {
    let mut parts: Vec<Part> = Vec::new();
    let mut first = context.frame.meshes[own].positions.len();
    for (index, companion) in params.with.iter().enumerate() {
        let field = format!("with[{index}].on");
        let mesh = find_mesh(context, &field, &companion.on)?;
        if mesh == own || parts.iter().any(|p| p.mesh == mesh) {
            return Err(LayerError::parameter(field, "this mesh is in the cloth already"));
        }
        let count = context.frame.meshes[mesh].positions.len();
        parts.push(Part { mesh, first, count, name: companion.on.clone() });
        first += count;
    }
    Ok(parts)
}

/// All meshes as one, with the regions of the cloth's own.
pub fn join(frame: &Frame, own: usize, parts: &[Part]) -> Mesh {
    let mut all = frame.meshes[own].clone();
    if parts.is_empty() {
        return all;
    }
    let meshes = || parts.iter().map(|part| (part, &frame.meshes[part.mesh]));
    let mut triangles = all.topology.triangles.clone();
    let mut uvs = all.topology.uvs.clone();
    for (part, mesh) in meshes() {
        all.positions.extend_from_slice(&mesh.positions);
        let corner = |v: u32| v + part.first as u32;
        triangles.extend(mesh.topology.triangles.iter().map(|t| t.map(corner)));
        uvs.extend_from_slice(&mesh.topology.uvs);
    }
    if uvs.len() != all.positions.len() {
        // Where one has none, threads cannot be told for all.
        uvs.clear();
    }
    let topology = MeshTopology {
        vertex_count: all.positions.len(),
        triangles,
        uvs,
        regions: all.topology.regions.clone(),
        ..MeshTopology::default()
    };
    all.topology = Arc::new(topology);
    all
}

/// Point of every vertex: those of one mesh in one place are one point, those of two meshes never. Empty without
/// companions: then places say it all.
pub fn points(frame: &Frame, own: usize, parts: &[Part]) -> Vec<u32> {
    if parts.is_empty() {
        return Vec::new();
    }
    let mut points: Vec<u32> = Vec::new();
    for mesh in std::iter::once(own).chain(parts.iter().map(|p| p.mesh)) {
        let mesh = &frame.meshes[mesh];
        // Welded within each mesh only: two garments that touch at rest are not one.
        let before = points.iter().max().map_or(0, |p| p + 1);
        let topology = Topology::build(&mesh.positions, &mesh.topology.triangles);
        points.extend(topology.point_of_vertex.iter().map(|p| before + p));
    }
    points
}

/// What holds the companions: vertices in the list of all.
pub fn held(
    params: &ClothParams,
    context: &BuildContext,
    parts: &[Part],
) -> Result<Vec<u32>, LayerError> {
    let mut held = Vec::new();
    for (index, (part, companion)) in parts.iter().zip(&params.with).enumerate() {
        let own = context.frame.meshes[part.mesh].topology.regions.contains_key("pins");
        let by_default = Selection { region: Some("pins".to_owned()), ..Selection::default() };
        let wanted = companion.pins.as_ref().or(own.then_some(&by_default));
        if let Some(pins) = wanted.filter(|pins| !pins.is_empty_list()) {
            let chosen = select_vertices(context, part.mesh, &format!("with[{index}].pins"), pins)?;
            held.extend(chosen.into_iter().map(|v| v + part.first as u32));
        }
    }
    Ok(held)
}

/// Adds the companions as they come in behind the cloth's own vertices.
pub fn take_incoming(
    parts: &[Part],
    frame: &Frame,
    incoming: &mut Vec<Vec3>,
) -> Result<(), LayerError> {
    for part in parts {
        let mesh = &frame.meshes[part.mesh];
        check_vertices(mesh, part.count, &part.name, "cloth")?;
        incoming.extend_from_slice(&mesh.positions);
    }
    Ok(())
}
