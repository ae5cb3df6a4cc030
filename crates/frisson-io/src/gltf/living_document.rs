//! Morph targets, weights and an animation added to a document, behind what is there.

use std::path::Path;

use frisson::character::{Character, Clip, Sampling, Track, TrackTarget};
use serde_json::{Value, json};

use super::accessor::{Accessors, Shape};
use super::builder::{GlbBuilder, ViewUse};
use super::document::Document;
use super::error::{GltfError, Result};
use super::json::{array, whole_number};
use super::kept::Kept;
use super::living::{LivingOptions, MeshMoves};
use super::write_character::write_sampler;

/// What is written.
pub(super) struct LivingFile<'a> {
    pub character: &'a Character,
    pub moves: &'a [MeshMoves],
    pub clip: Option<&'a Clip>,
    /// Key times [s].
    pub times: Vec<f32>,
    /// Clip time at each key [s].
    pub clip_times: Vec<f64>,
    pub options: &'a LivingOptions,
}

impl LivingFile<'_> {
    pub fn write(&self, document: &Document, path: &Path) -> Result<(u64, Vec<String>)> {
        let mut builder = GlbBuilder::new();
        let warnings = builder.adopt(document)?;
        let moving = || self.moves.iter().filter(|m| !m.shapes.shapes.is_empty());
        for moves in moving() {
            self.add_targets(&mut builder, document, moves)?;
        }
        for moves in moving() {
            let node = self.character.meshes[moves.mesh].node;
            let old = self.character.meshes[moves.mesh].morphs.len();
            let count = moves.shapes.shapes.len();
            widen_weights(&mut builder, document, node, old, count)?;
            if old == 0 {
                rest_weights(&mut builder, document, node, count)?;
            }
        }
        self.add_animation(&mut builder)?;
        Ok((builder.finish(path, self.options.overwrite)?, warnings))
    }

    fn add_targets(
        &self,
        builder: &mut GlbBuilder,
        document: &Document,
        moves: &MeshMoves,
    ) -> Result<()> {
        let mesh = &self.character.meshes[moves.mesh];
        let Some(kept) = Kept::new(document, mesh)? else {
            let problem = "its vertices are not those of the file";
            return Err(GltfError::invalid(format!("mesh {:?}", mesh.mesh.name), problem));
        };
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for range in kept.ranges() {
            let mut targets = Vec::new();
            for shape in &moves.shapes.shapes {
                targets.push(builder.moves(&shape[range.clone()])?);
            }
            parts.push(targets);
        }
        let old = mesh.morphs.len();
        let mut value = document.items("meshes")?[kept.mesh].clone();
        let primitives = value.get_mut("primitives").and_then(Value::as_array_mut);
        for (index, primitive) in primitives.into_iter().flatten().enumerate() {
            let vertices = vertex_count(document, primitive);
            let range = kept.range_of_primitive(index);
            let accessors = range.map(|r| parts[r].clone()).unwrap_or_default();
            extend_targets(builder, primitive, &accessors, vertices, moves.shapes.shapes.len());
        }
        let count = moves.shapes.shapes.len();
        extend_numbers(&mut value, "weights", old, count);
        let mut names: Vec<Value> = array(&value["extras"], "targetNames").unwrap_or(&[]).to_vec();
        // Names count from the first target: those that have none must not take ours.
        (names.len()..old).for_each(|k| names.push(json!(format!("target_{k}"))));
        names.truncate(old);
        names.extend((0..count).map(|k| json!(format!("frisson_{k:03}"))));
        if !value["extras"].is_object() {
            value["extras"] = json!({});
        }
        value["extras"]["targetNames"] = json!(names);
        let shared = {
            let nodes = document.items("nodes")?.iter();
            nodes.filter(|n| n.get("mesh").and_then(whole_number) == Some(kept.mesh)).count() > 1
        };
        let index = if shared {
            builder.push("meshes", value)
        } else {
            builder.json["meshes"][kept.mesh] = value;
            kept.mesh
        };
        let node = &mut builder.json["nodes"][kept.node];
        node["mesh"] = json!(index);
        if node.get("weights").is_some() {
            extend_numbers(node, "weights", old, count);
        }
        Ok(())
    }

    /// The shot: the clip's channels and the weights of every mesh.
    fn add_animation(&self, builder: &mut GlbBuilder) -> Result<()> {
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        let mut push = |sampler: Value, node: usize, path: &str| {
            let target = json!({ "node": node, "path": path });
            channels.push(json!({ "sampler": samplers.len(), "target": target }));
            samplers.push(sampler);
        };
        let moved = |node: usize| {
            let of = |m: &&MeshMoves| self.character.meshes[m.mesh].node == node;
            self.moves.iter().find(of).filter(|m| !m.shapes.shapes.is_empty())
        };
        for track in self.clip.map_or(&[][..], |c| &c.tracks) {
            let (node, path) = match track.target {
                TrackTarget::Translation(node) => (node, "translation"),
                TrackTarget::Rotation(node) => (node, "rotation"),
                TrackTarget::Scale(node) => (node, "scale"),
                // Written below, together with the weights of the new targets: a node has one channel of weights.
                TrackTarget::MorphWeights(node) if moved(node).is_some() => continue,
                TrackTarget::MorphWeights(node) => (node, "weights"),
            };
            // At the shot's frames: programs do not agree on what is between keys, and these are where the bake is.
            push(write_sampler(builder, &self.sampled(track))?, node, path);
        }
        for moves in self.moves.iter().filter(|m| !m.shapes.shapes.is_empty()) {
            let node = self.character.meshes[moves.mesh].node;
            let input = builder.times(&self.times)?;
            let output = builder.floats(&self.weights(moves), 1, ViewUse::Other)?;
            let sampler = json!({ "input": input, "output": output, "interpolation": "LINEAR" });
            push(sampler, node, "weights");
        }
        if channels.is_empty() {
            return Ok(());
        }
        let name = &self.options.animation;
        let animation = json!({ "name": name, "samplers": samplers, "channels": channels });
        builder.push_first_animation(animation);
        Ok(())
    }

    /// A track at the shot's own frames.
    fn sampled(&self, track: &Track) -> Track {
        let mut values = Vec::with_capacity(track.width * self.times.len());
        for &time in &self.clip_times {
            let start = values.len();
            values.resize(start + track.width, 0.0);
            track.sample(time, Sampling::AsAuthored, &mut values[start..]);
        }
        Track {
            target: track.target,
            interpolation: frisson::character::Interpolation::Linear,
            times: self.times.clone(),
            values,
            width: track.width,
        }
    }

    /// The face's own weights, then those of the shapes, at every key.
    fn weights(&self, moves: &MeshMoves) -> Vec<f32> {
        let mesh = &self.character.meshes[moves.mesh];
        let mut own = mesh.morph_weights.clone();
        own.resize(mesh.morphs.len(), 0.0);
        let drives = |t: &&Track| t.target == TrackTarget::MorphWeights(mesh.node);
        let track = self.clip.and_then(|c| c.tracks.iter().find(drives));
        let mut out = Vec::new();
        for (frame, &time) in self.clip_times.iter().enumerate() {
            let mut face = own.clone();
            if let Some(track) = track {
                let mut sampled = vec![0.0; track.width];
                track.sample(time, Sampling::AsAuthored, &mut sampled);
                let count = face.len().min(sampled.len());
                face[..count].copy_from_slice(&sampled[..count]);
            }
            out.extend(face);
            out.extend_from_slice(&moves.shapes.weights[frame]);
        }
        out
    }
}

fn vertex_count(document: &Document, primitive: &Value) -> usize {
    let accessor = primitive.get("attributes").and_then(|a| a.get("POSITION"));
    let accessor = accessor.and_then(whole_number);
    let entry = accessor.and_then(|a| document.json["accessors"].get(a));
    entry.and_then(|e| e.get("count")).and_then(whole_number).unwrap_or(0)
}

/// Adds targets to a primitive; what existing targets move besides positions does not move in ours.
fn extend_targets(
    builder: &mut GlbBuilder,
    primitive: &mut Value,
    accessors: &[usize],
    vertices: usize,
    count: usize,
) {
    let mut targets: Vec<Value> = array(primitive, "targets").unwrap_or(&[]).to_vec();
    let first = targets.first().and_then(Value::as_object);
    let others: Vec<String> =
        first.into_iter().flatten().map(|(k, _)| k.clone()).filter(|k| k != "POSITION").collect();
    // An accessor without a view is all zeros: it takes no bytes.
    let zeros = json!({ "componentType": 5126, "count": vertices, "type": "VEC3" });
    let needs_zeros = !others.is_empty() || accessors.is_empty();
    let zeros = needs_zeros.then(|| builder.push("accessors", zeros));
    for k in 0..count {
        let mut target = json!({ "POSITION": accessors.get(k).copied().or(zeros) });
        others.iter().for_each(|name| target[name.as_str()] = json!(zeros));
        targets.push(target);
    }
    primitive["targets"] = Value::Array(targets);
}

/// Makes a list of weights longer by zeros.
fn extend_numbers(value: &mut Value, key: &str, old: usize, more: usize) {
    let mut numbers: Vec<Value> = array(value, key).unwrap_or(&[]).to_vec();
    numbers.resize(old, json!(0.0));
    numbers.resize(old + more, json!(0.0));
    value[key] = Value::Array(numbers);
}

/// Holds new targets at zero in the clips of the file. Many programs leave weights as another clip has set them where a
/// clip does not say; faces that something else moves (expressions of a VRM) are left to it.
fn rest_weights(
    builder: &mut GlbBuilder,
    document: &Document,
    node: usize,
    count: usize,
) -> Result<()> {
    let mut sampler = None;
    for index in 0..document.items("animations")?.len() {
        if sampler.is_none() {
            let input = builder.times(&[0.0])?;
            let output = builder.floats(&vec![0.0; count], 1, ViewUse::Other)?;
            sampler = Some(json!({ "input": input, "output": output, "interpolation": "STEP" }));
        }
        let animation = &mut builder.json["animations"][index];
        let samplers = animation.get_mut("samplers").and_then(Value::as_array_mut);
        let Some(samplers) = samplers else { continue };
        samplers.extend(sampler.clone());
        let last = samplers.len() - 1;
        let channels = animation.get_mut("channels").and_then(Value::as_array_mut);
        let target = json!({ "node": node, "path": "weights" });
        let channel = json!({ "sampler": last, "target": target });
        channels.into_iter().for_each(|c| c.push(channel.clone()));
    }
    Ok(())
}

/// Gives every weights channel of a node room for the new targets, at rest.
fn widen_weights(
    builder: &mut GlbBuilder,
    document: &Document,
    node: usize,
    old: usize,
    more: usize,
) -> Result<()> {
    let accessors = Accessors::new(document);
    for (index, animation) in document.items("animations")?.iter().enumerate() {
        for (channel, value) in array(animation, "channels").unwrap_or(&[]).iter().enumerate() {
            let target = &value["target"];
            let drives = target["path"] == "weights"
                && target.get("node").and_then(whole_number) == Some(node);
            let sampler = value.get("sampler").and_then(whole_number);
            let samplers = array(animation, "samplers").unwrap_or(&[]);
            let Some(sampler) = sampler.and_then(|s| samplers.get(s)).filter(|_| drives) else {
                continue;
            };
            let mut sampler = sampler.clone();
            if old > 0
                && let Some(output) = sampler.get("output").and_then(whole_number)
            {
                let (_, numbers) = accessors.floats(output, &[Shape::Scalar])?;
                let wide: Vec<f32> = numbers
                    .chunks(old)
                    .flat_map(|c| c.iter().copied().chain(std::iter::repeat_n(0.0, more)))
                    .collect();
                sampler["output"] = json!(builder.floats(&wide, 1, ViewUse::Other)?);
            }
            let animation = &mut builder.json["animations"][index];
            let samplers = animation.get_mut("samplers").and_then(Value::as_array_mut);
            let Some(samplers) = samplers else { continue };
            // A new sampler, not the old one changed: another channel may use that too.
            samplers.push(sampler);
            let last = samplers.len() - 1;
            animation["channels"][channel]["sampler"] = json!(last);
        }
    }
    Ok(())
}
