//! `KHR_draco_mesh_compression`: a primitive's triangles and vertices from one compressed block.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::accessor::Component;

/// An unpacked primitive.
pub(super) struct DracoMesh {
    pub indices: Vec<u32>,
    pub vertex_count: usize,
    pub attributes: Vec<DracoAttribute>,
}

/// One attribute, one value per vertex.
pub(super) struct DracoAttribute {
    /// The id by which the glTF extension names it.
    pub id: usize,
    pub component: Component,
    pub width: usize,
    pub bytes: Vec<u8>,
}

/// Unpacks a block.
pub(super) fn unpack(block: &[u8]) -> Result<DracoMesh, String> {
    // The decoder is a pre-release that still asserts its own invariants: a damaged block must come
    // back as an error even where it does not foresee the damage.
    let decoded = catch_unwind(AssertUnwindSafe(|| draco_oxide_decoder::decode_mesh(block)))
        .map_err(|_| "the Draco decoder gave up on damaged data".to_owned())?;
    let mesh = decoded.map_err(|error| format!("the Draco data is damaged: {error}"))?;
    let indices = mesh.faces.iter().flatten().map(|&p| usize::from(p) as u32).collect();
    let vertex_count = mesh.attributes.iter().map(|a| a.len()).max().unwrap_or(0);
    let attributes = mesh.attributes.iter().map(|attribute| {
        let component = match attribute.get_component_type().get_id() {
            1 => Component::I8,
            2 => Component::U8,
            3 => Component::I16,
            4 => Component::U16,
            6 => Component::U32,
            9 => Component::F32,
            other => return Err(format!("Draco component type {other}")),
        };
        let width = attribute.get_num_components();
        let values = attribute.get_data_as_bytes();
        let bytes = match attribute.point_map_as_slice() {
            None => values.to_vec(),
            Some(map) => gather(values, width * component.size(), map)
                .ok_or("a Draco vertex has a value that does not exist")?,
        };
        Ok(DracoAttribute { id: attribute.get_id().as_usize(), component, width, bytes })
    });
    Ok(DracoMesh { indices, vertex_count, attributes: attributes.collect::<Result<_, _>>()? })
}

fn gather<T: Copy + Into<usize>>(values: &[u8], size: usize, map: &[T]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(map.len() * size);
    for &value in map {
        let start = value.into().checked_mul(size)?;
        bytes.extend_from_slice(values.get(start..start.checked_add(size)?)?);
    }
    Some(bytes)
}
