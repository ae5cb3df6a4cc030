//! One mesh of the shot: what all its segments share.

use std::ops::Range;
use std::sync::Arc;

use frisson::character::CharacterMesh;
use frisson::geometry::{Mesh, MeshTopology};
use glam::Vec3;
use serde_json::{Map, Value};

use super::MorphEncoding;
use crate::gltf::document::Document;
use crate::gltf::error::Result;
use crate::gltf::kept::Kept;
use crate::gltf::write_mesh::Shading;

/// A mesh of the shot that keeps its topology.
pub(super) struct Baked {
    pub(super) name: String,
    pub(super) topology: Arc<MeshTopology>,
    /// Positions at the start of the current segment.
    pub(super) base: Vec<Vec3>,
    pub(super) base_normals: Vec<Vec3>,
    pub(super) shading: Option<Shading>,
    /// Largest coordinate of a move within each segment [m].
    reach: Vec<f32>,
    /// Vertices that share primitives, with their attributes that all segments share.
    pub(super) parts: Vec<Part>,
    /// Node of the input whose mesh this one replaces, and that mesh.
    pub(super) replaces: Option<(usize, usize)>,
    pub(super) slots: Vec<Option<usize>>,
    /// The primitives of the input, where the mesh still has their vertices.
    pub(super) kept: Option<Kept>,
}

/// Vertices that the same primitives draw.
pub(super) struct Part {
    pub(super) range: Range<usize>,
    pub(super) still: Map<String, Value>,
}

impl Baked {
    pub(super) fn new(mesh: &Mesh) -> Self {
        Self {
            name: mesh.name.clone(),
            topology: Arc::clone(&mesh.topology),
            base: mesh.positions.clone(),
            base_normals: Vec::new(),
            shading: None,
            reach: vec![0.0],
            parts: vec![Part { range: 0..mesh.positions.len(), still: Map::new() }],
            replaces: None,
            slots: Vec::new(),
            kept: None,
        }
    }

    /// Keeps the primitives of the input where the mesh still has their vertices and triangles.
    pub(super) fn keep_primitives(
        &mut self,
        document: &Document,
        mesh: &CharacterMesh,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        if mesh.mesh.topology.triangles != self.topology.triangles
            || mesh.mesh.positions.len() != self.base.len()
        {
            warnings.push(format!(
                "{:?} has other vertices than the input: its colours and the texture coordinates \
                 of its pictures are kept, other attributes are not",
                self.name
            ));
            return Ok(());
        }
        let Some(kept) = Kept::new(document, mesh)? else { return Ok(()) };
        self.parts.clear();
        for (index, range) in kept.ranges().into_iter().enumerate() {
            self.parts.push(Part { range, still: kept.still(document, index, warnings)? });
        }
        self.kept = Some(kept);
        Ok(())
    }

    pub(super) fn keeps(&self, mesh: &Mesh) -> bool {
        let same = Arc::ptr_eq(&self.topology, &mesh.topology)
            || self.topology.triangles == mesh.topology.triangles;
        same && mesh.positions.len() == self.base.len() && !self.topology.triangles.is_empty()
    }

    pub(super) fn measure(&mut self, positions: &[Vec3], segment: usize, begins: bool) {
        let moves = positions.iter().zip(&self.base);
        let reach = moves.fold(0.0f32, |a, (p, b)| a.max((*p - *b).abs().max_element()));
        self.reach.resize(self.reach.len().max(segment + 1), 0.0);
        self.reach[segment] = self.reach[segment].max(reach);
        if begins {
            self.base.copy_from_slice(positions);
        }
    }

    /// What the node is scaled by: quantised moves are fractions of it.
    pub(super) fn scale(&self, encoding: MorphEncoding, segment: usize) -> f32 {
        let reach = self.reach.get(segment).copied().unwrap_or(0.0);
        if encoding == MorphEncoding::Quantised && reach > 0.0 { reach } else { 1.0 }
    }
}
