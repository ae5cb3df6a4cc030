//! The document that the bake goes into: whose meshes it replaces.

use serde_json::Value;

use super::MorphBake;
use crate::gltf::builder::GlbBuilder;
use crate::gltf::document::Document;
use crate::gltf::error::Result;
use crate::gltf::import::{ReadOptions, to_character};
use crate::gltf::json::whole_number;
use crate::gltf::mesh::material_slots;

impl MorphBake<'_> {
    /// Finds the node of the input that each mesh came from, by name.
    pub(super) fn match_input(&mut self, document: &Document) -> Result<()> {
        let options = ReadOptions { textures: false, ..ReadOptions::default() };
        let (character, _) = to_character(document, &options)?;
        let mut free: Vec<_> = character.meshes.iter().collect();
        for baked in &mut self.meshes {
            let own = baked.name.split_once('/').map(|(_, mesh)| mesh);
            let found = free.iter().position(|m| match own {
                Some(own) => m.mesh.name == own,
                None => m.mesh.name == baked.name || character.meshes.len() == 1,
            });
            let Some(mesh) = found.map(|index| free.remove(index)) else { continue };
            if let Some(source) = &mesh.source {
                baked.replaces = Some((source.node, source.mesh));
                baked.slots = material_slots(document, source.mesh)?;
                let warnings = &mut self.report.warnings;
                baked.keep_primitives(document, mesh, warnings)?;
            }
        }
        Ok(())
    }

    /// Takes the replaced meshes off their nodes, with the channels that drove their morphs.
    pub(super) fn detach_replaced(&self, builder: &mut GlbBuilder) {
        let nodes: Vec<usize> =
            self.meshes.iter().filter_map(|m| m.replaces).map(|(node, _)| node).collect();
        for &node in &nodes {
            if let Some(object) = builder.object_mut("nodes", node) {
                ["mesh", "skin", "weights"].iter().for_each(|key| {
                    object.shift_remove(*key);
                });
            }
        }
        let Some(animations) = builder.json.get_mut("animations").and_then(Value::as_array_mut)
        else {
            return;
        };
        let drives_replaced = |channel: &Value| {
            let target = &channel["target"];
            let node = target.get("node").and_then(whole_number);
            target["path"] == "weights" && node.is_some_and(|n| nodes.contains(&n))
        };
        for animation in animations.iter_mut() {
            if let Some(channels) = animation.get_mut("channels").and_then(Value::as_array_mut) {
                channels.retain(|channel| !drives_replaced(channel));
            }
        }
        animations.retain(|a| a["channels"].as_array().is_some_and(|c| !c.is_empty()));
        if animations.is_empty()
            && let Some(object) = builder.json.as_object_mut()
        {
            object.shift_remove("animations");
        }
    }
}

/// Whether any node shows a mesh.
pub(super) fn mesh_is_used(json: &Value, mesh: usize) -> bool {
    let nodes = json.get("nodes").and_then(Value::as_array);
    let mut used = nodes.into_iter().flatten().map(|n| n.get("mesh"));
    used.any(|m| m.and_then(whole_number) == Some(mesh))
}
