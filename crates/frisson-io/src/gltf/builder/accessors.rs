//! Numbers as the format stores them: accessors, each over a view of its own.

use glam::{Mat4, Vec3};
use serde_json::json;

use super::{GlbBuilder, ViewUse};
use crate::gltf::accessor::Component;
use crate::gltf::error::{GltfError, Result};

impl GlbBuilder {
    /// An accessor over a view of its own.
    fn accessor(
        &mut self,
        bytes: &[u8],
        purpose: ViewUse,
        count: usize,
        component: Component,
        shape: &str,
    ) -> Result<usize> {
        let view = self.view(bytes, purpose, None)?;
        let accessor = json!({
            "bufferView": view, "componentType": component.code(), "count": count, "type": shape,
        });
        Ok(self.push("accessors", accessor))
    }

    /// Floats, `width` per element: 1, 2, 3, 4, or 16 for matrices.
    pub fn floats(&mut self, numbers: &[f32], width: usize, purpose: ViewUse) -> Result<usize> {
        let shape = match width {
            1 => "SCALAR",
            2 => "VEC2",
            3 => "VEC3",
            4 => "VEC4",
            16 => "MAT4",
            _ => return Err(GltfError::invalid("accessor", format!("{width} numbers an element"))),
        };
        let bytes = bytemuck::cast_slice(numbers);
        self.accessor(bytes, purpose, numbers.len() / width, Component::F32, shape)
    }

    /// Positions: vectors with the bounds that the format demands of them.
    pub fn positions(&mut self, positions: &[Vec3]) -> Result<usize> {
        let accessor = self.floats(bytemuck::cast_slice(positions), 3, ViewUse::Vertices)?;
        self.set_bounds(accessor, positions);
        Ok(accessor)
    }

    /// Writes the bounds of an accessor of vectors.
    pub(crate) fn set_bounds(&mut self, accessor: usize, vectors: &[Vec3]) {
        if let (Some(&first), Some(object)) =
            (vectors.first(), self.object_mut("accessors", accessor))
        {
            let low = vectors.iter().fold(first, |a, &v| a.min(v));
            let high = vectors.iter().fold(first, |a, &v| a.max(v));
            object.insert("min".into(), json!(low.to_array()));
            object.insert("max".into(), json!(high.to_array()));
        }
    }

    /// Key times [s], ascending, with their bounds.
    pub fn times(&mut self, times: &[f32]) -> Result<usize> {
        let accessor = self.floats(times, 1, ViewUse::Other)?;
        if let (Some(first), Some(last), Some(object)) =
            (times.first(), times.last(), self.object_mut("accessors", accessor))
        {
            object.insert("min".into(), json!([first]));
            object.insert("max".into(), json!([last]));
        }
        Ok(accessor)
    }

    /// Triangle corners, in the smallest type that holds them.
    pub fn triangles(&mut self, triangles: &[[u32; 3]], vertex_count: usize) -> Result<usize> {
        let corners: &[u32] = bytemuck::cast_slice(triangles);
        // The largest value of each type is reserved by the format.
        if vertex_count <= usize::from(u16::MAX) {
            let small: Vec<u16> = corners.iter().map(|&c| c as u16).collect();
            let bytes = bytemuck::cast_slice(&small);
            self.accessor(bytes, ViewUse::Indices, corners.len(), Component::U16, "SCALAR")
        } else {
            let bytes = bytemuck::cast_slice(corners);
            self.accessor(bytes, ViewUse::Indices, corners.len(), Component::U32, "SCALAR")
        }
    }

    /// Four joint numbers a vertex (`JOINTS_n`).
    pub fn joints(&mut self, joints: &[[u16; 4]]) -> Result<usize> {
        let bytes = bytemuck::cast_slice(joints);
        self.accessor(bytes, ViewUse::Vertices, joints.len(), Component::U16, "VEC4")
    }

    /// Four weights a vertex (`WEIGHTS_n`).
    pub fn weights(&mut self, weights: &[[f32; 4]]) -> Result<usize> {
        self.floats(bytemuck::cast_slice(weights), 4, ViewUse::Vertices)
    }

    /// Inverse bind matrices.
    pub fn matrices(&mut self, matrices: &[Mat4]) -> Result<usize> {
        let numbers: Vec<f32> = matrices.iter().flat_map(|m| m.to_cols_array()).collect();
        self.floats(&numbers, 16, ViewUse::Other)
    }

    /// An accessor of vectors that are zero but for some; `places` ascend.
    pub fn sparse_vectors(
        &mut self,
        count: usize,
        places: &[u32],
        vectors: &[Vec3],
    ) -> Result<usize> {
        let mut accessor =
            json!({ "componentType": Component::F32.code(), "count": count, "type": "VEC3" });
        if !places.is_empty() {
            let (bytes, component) = if count <= usize::from(u16::MAX) {
                let small: Vec<u16> = places.iter().map(|&p| p as u16).collect();
                (bytemuck::cast_slice(&small).to_vec(), Component::U16)
            } else {
                (bytemuck::cast_slice(places).to_vec(), Component::U32)
            };
            let indices = self.view(&bytes, ViewUse::Other, None)?;
            let values = self.view(bytemuck::cast_slice(vectors), ViewUse::Other, None)?;
            accessor["sparse"] = json!({
                "count": places.len(),
                "indices": { "bufferView": indices, "componentType": component.code() },
                "values": { "bufferView": values },
            });
        }
        let accessor = self.push("accessors", accessor);
        // Where some are not listed, zero is among the values, and belongs to the bounds.
        let all = places.len() == count;
        let zero = [Vec3::ZERO];
        let bounds: Vec<Vec3> =
            vectors.iter().copied().chain(zero.into_iter().filter(|_| !all)).collect();
        self.set_bounds(accessor, &bounds);
        Ok(accessor)
    }

    /// Moves of morph targets, most of which are none: sparse, or as they are where that is smaller.
    pub(crate) fn moves(&mut self, moves: &[Vec3]) -> Result<usize> {
        let moving: Vec<u32> =
            (0..moves.len() as u32).filter(|&v| moves[v as usize] != Vec3::ZERO).collect();
        // An entry costs its index as well: beyond 3/4 of the vertices dense is smaller.
        if 4 * moving.len() > 3 * moves.len() {
            return self.positions(moves);
        }
        let vectors: Vec<Vec3> = moving.iter().map(|&v| moves[v as usize]).collect();
        self.sparse_vectors(moves.len(), &moving, &vectors)
    }

    /// Vectors as 16-bit fractions of 1 (`KHR_mesh_quantization`); all must be within ±1.
    pub(crate) fn quantised_vectors(&mut self, vectors: &[Vec3]) -> Result<usize> {
        let quantise = |v: &Vec3| (*v * f32::from(i16::MAX)).round().as_i16vec3().to_array();
        let whole: Vec<[i16; 3]> = vectors.iter().map(quantise).collect();
        // Elements begin at multiples of four bytes.
        let padded: Vec<[i16; 4]> = whole.iter().map(|&[x, y, z]| [x, y, z, 0]).collect();
        let view = self.view(bytemuck::cast_slice(&padded), ViewUse::Vertices, Some(8))?;
        let bound = |pick: fn(i16, i16) -> i16| {
            let all = whole.iter().copied();
            all.reduce(|a, b| [pick(a[0], b[0]), pick(a[1], b[1]), pick(a[2], b[2])])
        };
        let accessor = json!({
            "bufferView": view, "componentType": Component::I16.code(), "normalized": true, "count": whole.len(),
            "type": "VEC3", "min": bound(i16::min), "max": bound(i16::max),
        });
        Ok(self.push("accessors", accessor))
    }
}
