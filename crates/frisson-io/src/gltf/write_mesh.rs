//! The parts of a mesh that do not move, as primitives: one per material, sharing their vertices.

use std::sync::Arc;

use frisson::geometry::{Material, MeshTopology, NormalGroups, NormalScratch, Texture, Topology};
use glam::Vec3;
use serde_json::{Map, Value, json};

use super::builder::{GlbBuilder, ViewUse};
use super::error::Result;
use super::texture::encode_png;

/// Materials written so far, so that equal ones are written once.
#[derive(Default)]
pub(super) struct MaterialTable {
    materials: Vec<(Material, usize)>,
    textures: Vec<(Arc<Texture>, usize)>,
}

impl MaterialTable {
    /// Index in the document of a material, written on first use.
    pub fn index(&mut self, builder: &mut GlbBuilder, material: &Material) -> Result<usize> {
        // A few materials to a character: a search in turn, as floats have no hash.
        if let Some((_, index)) = self.materials.iter().find(|(m, _)| m == material) {
            return Ok(*index);
        }
        let mut pbr = json!({
            // The format allows factors in [0, 1] only.
            "baseColorFactor": material.base_color.map(|c| c.clamp(0.0, 1.0)),
            "metallicFactor": material.metallic.clamp(0.0, 1.0),
            "roughnessFactor": material.roughness.clamp(0.0, 1.0),
        });
        if let Some(texture) = &material.texture
            && let Some(index) = self.texture(builder, texture)?
        {
            pbr["baseColorTexture"] = json!({ "index": index });
        }
        let mut value = json!({ "name": material.name, "pbrMetallicRoughness": pbr });
        if material.base_color[3] < 1.0 {
            value["alphaMode"] = json!("BLEND");
        }
        if material.transmission > 0.0 {
            builder.use_extension("KHR_materials_transmission", false);
            builder.use_extension("KHR_materials_ior", false);
            value["extensions"] = json!({
                "KHR_materials_transmission": { "transmissionFactor": material.transmission },
                "KHR_materials_ior": { "ior": material.ior.max(1.0) },
            });
        }
        let index = builder.push("materials", value);
        self.materials.push((material.clone(), index));
        Ok(index)
    }

    fn texture(
        &mut self,
        builder: &mut GlbBuilder,
        texture: &Arc<Texture>,
    ) -> Result<Option<usize>> {
        if let Some((_, index)) = self.textures.iter().find(|(t, _)| Arc::ptr_eq(t, texture)) {
            return Ok(Some(*index));
        }
        // A texture that is no picture costs its colour, not the whole bake.
        let Ok(bytes) = encode_png(texture) else { return Ok(None) };
        let view = builder.view(&bytes, ViewUse::Other, None)?;
        let image = builder.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
        // Empty: repeats, and the reader's own filter.
        let sampler = builder.push("samplers", json!({}));
        let index = builder.push("textures", json!({ "source": image, "sampler": sampler }));
        self.textures.push((Arc::clone(texture), index));
        Ok(Some(index))
    }
}

/// Where the materials of a mesh come from.
pub(super) enum Materials<'a> {
    /// Written anew.
    Own(&'a mut MaterialTable),
    /// Already in the document, by our index; a material beyond them is written anew.
    Slots(&'a [Option<usize>], &'a mut MaterialTable),
}

impl Materials<'_> {
    fn index(
        &mut self,
        builder: &mut GlbBuilder,
        topology: &MeshTopology,
        slot: usize,
    ) -> Result<Option<usize>> {
        let table = match self {
            Self::Slots(slots, _) if slot < slots.len() => return Ok(slots[slot]),
            Self::Slots(_, table) | Self::Own(table) => table,
        };
        let fallback = Material::default();
        let material = topology.materials.get(slot).unwrap_or(&fallback);
        table.index(builder, material).map(Some)
    }
}

/// Attributes that do not move: texture coordinates and colours.
pub(super) fn still_attributes(
    builder: &mut GlbBuilder,
    topology: &MeshTopology,
    attributes: &mut Map<String, Value>,
) -> Result<()> {
    if topology.uvs.len() == topology.vertex_count {
        let uvs = builder.floats(bytemuck::cast_slice(&topology.uvs), 2, ViewUse::Vertices)?;
        attributes.insert("TEXCOORD_0".into(), json!(uvs));
    }
    if topology.colors.len() == topology.vertex_count {
        let colors: Vec<[f32; 4]> =
            topology.colors.iter().map(|c| c.map(|v| v.clamp(0.0, 1.0))).collect();
        let colors = builder.floats(bytemuck::cast_slice(&colors), 4, ViewUse::Vertices)?;
        attributes.insert("COLOR_0".into(), json!(colors));
    }
    Ok(())
}

/// The primitives of a mesh: its triangles by material, all with the same attributes and targets.
pub(super) fn primitives(
    builder: &mut GlbBuilder,
    topology: &MeshTopology,
    materials: &mut Materials<'_>,
    attributes: &Value,
) -> Result<Vec<Value>> {
    let slot_of = |t: usize| topology.triangle_materials.get(t).map_or(0, |&m| usize::from(m));
    // From the triangles, which may name more materials than the mesh has.
    let slots = (0..topology.triangles.len()).map(slot_of).max().map_or(1, |m| m + 1);
    let mut by_slot: Vec<Vec<[u32; 3]>> = vec![Vec::new(); slots];
    for (t, triangle) in topology.triangles.iter().enumerate() {
        by_slot[slot_of(t)].push(*triangle);
    }
    let mut out = Vec::new();
    for (slot, triangles) in by_slot.iter().enumerate().filter(|(_, t)| !t.is_empty()) {
        let mut primitive = json!({
            "attributes": attributes,
            "indices": builder.triangles(triangles, topology.vertex_count)?,
        });
        if let Some(material) = materials.index(builder, topology, slot)? {
            primitive["material"] = json!(material);
        }
        out.push(primitive);
    }
    Ok(out)
}

/// Shading normals of a mesh whose topology stays.
pub(super) struct Shading {
    groups: NormalGroups,
    scratch: NormalScratch,
}

impl Shading {
    pub fn new(topology: &MeshTopology, positions: &[Vec3]) -> Self {
        // Welded, so that a seam of texture coordinates is no crease.
        let welded = Topology::build(positions, &topology.triangles);
        let groups = NormalGroups::for_shading(topology, &welded);
        Self { groups, scratch: NormalScratch::default() }
    }

    pub fn normals(&mut self, positions: &[Vec3], out: &mut Vec<Vec3>) {
        self.groups.compute(positions, &mut self.scratch, out);
    }
}
