//! A character that grew joints, back into the file it came from: everything else of that file stays.

use std::path::Path;

use frisson::character::{Character, Clip, TrackTarget};
use serde_json::{Value, json};

use super::builder::GlbBuilder;
use super::document::Document;
use super::error::{GltfError, Result};
use super::json::whole_number;
use super::kept::{Kept, follows_joints};
use super::write_character::{add_child, write_influence_range, write_sampler};

/// What is written: who it was, who it became, and how it moves.
pub(super) struct GrownFile<'a> {
    pub original: &'a Character,
    /// Has the nodes of the original first, then those that grew.
    pub grown: &'a Character,
    /// Meshes whose weights changed.
    pub reskinned: &'a [usize],
    pub clip: &'a Clip,
}

impl GrownFile<'_> {
    /// Writes a GLB with everything of the document.
    pub fn write(
        &self,
        document: &Document,
        path: &Path,
        overwrite: bool,
    ) -> Result<(u64, Vec<String>)> {
        let document = document.plain()?;
        let known = self.original.skeleton.nodes().len();
        if document.items("nodes")?.len() != known {
            let problem = "the file has other nodes than the character that was read from it";
            return Err(GltfError::invalid("nodes", problem));
        }
        let mut builder = GlbBuilder::new();
        let warnings = builder.adopt(&document)?;
        for (index, node) in self.grown.skeleton.nodes().iter().enumerate().skip(known) {
            builder.push("nodes", json!({ "name": node.name }));
            node.parent.into_iter().for_each(|parent| add_child(&mut builder, parent, index));
        }
        for &index in self.reskinned {
            self.reskin(&mut builder, &document, index)?;
        }
        write_clip_first(&mut builder, self.clip)?;
        Ok((builder.finish(path, overwrite)?, warnings))
    }

    fn reskin(&self, builder: &mut GlbBuilder, document: &Document, index: usize) -> Result<()> {
        let (old, new) = (&self.original.meshes[index], &self.grown.meshes[index]);
        let Some(kept) = Kept::new(document, old)? else {
            let problem = "its vertices are not those of the file";
            return Err(GltfError::invalid(format!("mesh {:?}", old.mesh.name), problem));
        };
        let Some(skin) = new.skin.map(|s| &self.grown.skins[s]) else { return Ok(()) };
        let matrices = builder.matrices(&skin.inverse_bind)?;
        let value =
            json!({ "name": skin.name, "joints": skin.joints, "inverseBindMatrices": matrices });
        let skin = builder.push("skins", value);
        let mut influences = Vec::new();
        for range in kept.ranges() {
            influences.push(write_influence_range(builder, &new.influences, range)?);
        }
        let mut mesh = document.items("meshes")?[kept.mesh].clone();
        let primitives = mesh.get_mut("primitives").and_then(Value::as_array_mut);
        for (primitive, value) in primitives.into_iter().flatten().enumerate() {
            let Some(range) = kept.range_of_primitive(primitive) else { continue };
            let Some(attributes) = value.get_mut("attributes").and_then(Value::as_object_mut)
            else {
                continue;
            };
            attributes.retain(|name, _| !follows_joints(name));
            attributes.extend(influences[range].clone());
        }
        // Another node may carry the same mesh without flesh: it keeps the old weights.
        let shared = uses_of_mesh(&document.json, kept.mesh) > 1;
        let mesh = if shared {
            builder.push("meshes", mesh)
        } else {
            builder.json["meshes"][kept.mesh] = mesh;
            kept.mesh
        };
        if let Some(node) = builder.object_mut("nodes", kept.node) {
            node.insert("mesh".into(), json!(mesh));
            node.insert("skin".into(), json!(skin));
        }
        Ok(())
    }
}

fn uses_of_mesh(json: &Value, mesh: usize) -> usize {
    let nodes = json.get("nodes").and_then(Value::as_array);
    let meshes = nodes.into_iter().flatten().map(|n| n.get("mesh").and_then(whole_number));
    meshes.filter(|m| *m == Some(mesh)).count()
}

/// Writes a clip over the document's own nodes, before all others: viewers play the first.
pub(super) fn write_clip_first(builder: &mut GlbBuilder, clip: &Clip) -> Result<()> {
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for track in clip.tracks.iter().filter(|t| !t.times.is_empty()) {
        let (node, path) = match track.target {
            TrackTarget::Translation(node) => (node, "translation"),
            TrackTarget::Rotation(node) => (node, "rotation"),
            TrackTarget::Scale(node) => (node, "scale"),
            TrackTarget::MorphWeights(node) => (node, "weights"),
        };
        channels.push(json!({
            "sampler": samplers.len(), "target": { "node": node, "path": path },
        }));
        samplers.push(write_sampler(builder, track)?);
    }
    if channels.is_empty() {
        return Ok(());
    }
    let animation = json!({ "name": clip.name, "samplers": samplers, "channels": channels });
    builder.push_first_animation(animation);
    Ok(())
}
