//! A whole character as a GLB: skeleton, skins, meshes, morphs, clips, materials.

use std::ops::Range;
use std::path::Path;

use frisson::character::{
    Character, CharacterMesh, Clip, Influences, Interpolation, Track, TrackTarget,
};
use serde_json::{Map, Value, json};

use super::builder::{GlbBuilder, ViewUse};
use super::error::Result;
use super::write_mesh::{MaterialTable, Materials, Shading, primitives, still_attributes};

/// Writes a character as a GLB; refuses to replace a file unless `overwrite`.
pub fn write_character(character: &Character, path: &Path, overwrite: bool) -> Result<u64> {
    super::builder::refuse_existing(path, overwrite)?;
    build_character(character)?.finish(path, overwrite)
}

/// The GLB of a character, ready to be added to or finished.
pub fn build_character(character: &Character) -> Result<GlbBuilder> {
    let mut builder = GlbBuilder::new();
    let own: Vec<Option<usize>> =
        character.meshes.iter().map(|mesh| own_node(character, mesh)).collect();
    // A skin moves its mesh, whatever node carries it: that stands by itself, or validators wonder.
    let skinned = character.meshes.iter().zip(&own).filter(|(mesh, _)| mesh.skin.is_some());
    let free: Vec<usize> = skinned.filter_map(|(_, own)| *own).collect();
    write_nodes(&mut builder, character, &free);
    for skin in &character.skins {
        let matrices = builder.matrices(&skin.inverse_bind)?;
        let value =
            json!({ "name": skin.name, "joints": skin.joints, "inverseBindMatrices": matrices });
        builder.push("skins", value);
    }
    let mut table = MaterialTable::default();
    let mut mesh_nodes = Vec::new();
    for (mesh, own) in character.meshes.iter().zip(own) {
        mesh_nodes.push(write_mesh(&mut builder, &mut table, mesh, own)?);
    }
    for clip in &character.clips {
        write_clip(&mut builder, character, &mesh_nodes, clip)?;
    }
    Ok(builder)
}

/// Writes the skeleton; `free` are nodes that stand by themselves.
fn write_nodes(builder: &mut GlbBuilder, character: &Character, free: &[usize]) {
    let nodes = character.skeleton.nodes();
    for (index, node) in nodes.iter().enumerate() {
        if free.contains(&index) {
            builder.push("nodes", json!({ "name": node.name }));
            builder.add_to_scene(index);
            continue;
        }
        builder.push(
            "nodes",
            json!({
                "name": node.name,
                "translation": node.rest.translation.to_array(),
                "rotation": node.rest.rotation.to_array(),
                "scale": node.rest.scale.to_array(),
            }),
        );
    }
    let bound = |index: &usize| !free.contains(index);
    for index in (0..nodes.len()).filter(bound) {
        if let Some(parent) = nodes[index].parent {
            add_child(builder, parent, index);
        }
    }
    // The joints of a skin must have a common root.
    let roots: Vec<usize> =
        (0..nodes.len()).filter(|&i| nodes[i].parent.is_none() && bound(&i)).collect();
    match roots[..] {
        [] => {}
        [root] => builder.add_to_scene(root),
        _ => {
            let name = format!("{} root", character.name);
            let root = builder.push("nodes", json!({ "name": name, "children": roots }));
            builder.add_to_scene(root);
        }
    }
}

pub(super) fn add_child(builder: &mut GlbBuilder, parent: usize, child: usize) {
    if let Some(object) = builder.object_mut("nodes", parent)
        && let Some(children) = object.entry("children").or_insert_with(|| json!([])).as_array_mut()
    {
        children.push(json!(child));
    }
}

/// The node that a mesh is alone on and shares its name with: where it was in the file it came from. Beside it,
/// a second of that name would get a number in every program that wants them different.
fn own_node(character: &Character, mesh: &CharacterMesh) -> Option<usize> {
    let nodes = character.skeleton.nodes();
    let alone = character.meshes.iter().filter(|m| m.node == mesh.node).count() == 1;
    let named = nodes.get(mesh.node)?.name == mesh.mesh.name;
    let is_joint = character.skins.iter().any(|s| s.joints.contains(&mesh.node));
    let carries = mesh.skin.is_some() && nodes.iter().any(|n| n.parent == Some(mesh.node));
    (alone && named && !is_joint && !carries).then_some(mesh.node)
}

/// Writes a mesh on its own node, or on a new one, and answers that: several of our meshes may ride on one
/// joint, where glTF has room for one.
fn write_mesh(
    builder: &mut GlbBuilder,
    table: &mut MaterialTable,
    mesh: &CharacterMesh,
    own: Option<usize>,
) -> Result<usize> {
    let topology = &mesh.mesh.topology;
    let mut attributes = Map::new();
    attributes.insert("POSITION".into(), json!(builder.positions(&mesh.mesh.positions)?));
    let mut normals = Vec::new();
    Shading::new(topology, &mesh.mesh.positions).normals(&mesh.mesh.positions, &mut normals);
    let normals = builder.floats(bytemuck::cast_slice(&normals), 3, ViewUse::Vertices)?;
    attributes.insert("NORMAL".into(), json!(normals));
    still_attributes(builder, topology, &mut attributes)?;
    if mesh.skin.is_some() {
        let all = 0..mesh.influences.vertex_count();
        attributes.extend(write_influence_range(builder, &mesh.influences, all)?);
    }
    let attributes = Value::Object(attributes);
    let mut parts = primitives(builder, topology, &mut Materials::Own(table), &attributes)?;
    let mut value = json!({ "name": mesh.mesh.name });
    if !mesh.morphs.is_empty() {
        let mut targets = Vec::new();
        for morph in &mesh.morphs {
            let count = topology.vertex_count;
            let accessor = builder.sparse_vectors(count, &morph.vertices, &morph.offsets)?;
            targets.push(json!({ "POSITION": accessor }));
        }
        parts.iter_mut().for_each(|part| part["targets"] = json!(targets));
        let mut weights = mesh.morph_weights.clone();
        weights.resize(mesh.morphs.len(), 0.0);
        value["weights"] = json!(weights);
        let names: Vec<&str> = mesh.morphs.iter().map(|m| m.name.as_str()).collect();
        value["extras"] = json!({ "targetNames": names });
    }
    value["primitives"] = Value::Array(parts);
    let index = builder.push("meshes", value);
    let mut carried = Map::from_iter([("mesh".to_owned(), json!(index))]);
    carried.extend(mesh.skin.map(|skin| ("skin".to_owned(), json!(skin))));
    if let Some((own, object)) = own.and_then(|n| Some((n, builder.object_mut("nodes", n)?))) {
        object.extend(carried);
        return Ok(own);
    }
    carried.insert("name".to_owned(), json!(mesh.mesh.name));
    let node = builder.push("nodes", Value::Object(carried));
    match mesh.skin {
        // A skinned mesh goes where its joints are, whatever node it hangs from: validators want it at a root.
        Some(_) => builder.add_to_scene(node),
        None => add_child(builder, mesh.node, node),
    }
    Ok(node)
}

/// Sets of four joints and weights for some vertices; as many as the busiest of them needs.
pub(super) fn write_influence_range(
    builder: &mut GlbBuilder,
    influences: &Influences,
    vertices: Range<usize>,
) -> Result<Map<String, Value>> {
    let mut attributes = Map::new();
    let lists: Vec<Vec<(u16, f32)>> = vertices.map(|v| exact_list(influences, v)).collect();
    let sets = lists.iter().map(|l| l.len().div_ceil(4)).max().unwrap_or(1).max(1);
    for set in 0..sets {
        let entry = |list: &Vec<(u16, f32)>, k: usize| list.get(4 * set + k).copied();
        let four =
            |list: &Vec<(u16, f32)>| [0, 1, 2, 3].map(|k| entry(list, k).unwrap_or((0, 0.0)));
        let joints: Vec<[u16; 4]> = lists.iter().map(|l| four(l).map(|e| e.0)).collect();
        let weights: Vec<[f32; 4]> = lists.iter().map(|l| four(l).map(|e| e.1)).collect();
        attributes.insert(format!("JOINTS_{set}"), json!(builder.joints(&joints)?));
        attributes.insert(format!("WEIGHTS_{set}"), json!(builder.weights(&weights)?));
    }
    Ok(attributes)
}

/// A vertex's influences, heaviest first, each joint once, summing to 1 to the last bit: validators
/// check that.
fn exact_list(influences: &Influences, vertex: usize) -> Vec<(u16, f32)> {
    let mut list: Vec<(u16, f32)> = Vec::new();
    for (joint, weight) in influences.of(vertex) {
        match list.iter_mut().find(|(j, _)| *j == joint) {
            Some((_, sum)) => *sum += weight,
            None => list.push((joint, weight)),
        }
    }
    list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let others: f32 = list.iter().skip(1).map(|e| e.1).sum();
    if let Some(first) = list.first_mut() {
        // The heaviest takes what rounding left.
        first.1 = 1.0 - others;
    }
    list
}

fn write_clip(
    builder: &mut GlbBuilder,
    character: &Character,
    mesh_nodes: &[usize],
    clip: &Clip,
) -> Result<()> {
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for track in clip.tracks.iter().filter(|t| !t.times.is_empty()) {
        let nodes: Vec<(usize, &str)> = match track.target {
            TrackTarget::Translation(node) => vec![(node, "translation")],
            TrackTarget::Rotation(node) => vec![(node, "rotation")],
            TrackTarget::Scale(node) => vec![(node, "scale")],
            TrackTarget::MorphWeights(node) => {
                let driven = character.meshes.iter().zip(mesh_nodes);
                let driven =
                    driven.filter(|(m, _)| m.node == node && m.morphs.len() == track.width);
                driven.map(|(_, &mesh_node)| (mesh_node, "weights")).collect()
            }
        };
        if nodes.is_empty() {
            continue;
        }
        samplers.push(write_sampler(builder, track)?);
        for (node, path) in nodes {
            channels.push(json!({
                "sampler": samplers.len() - 1, "target": { "node": node, "path": path },
            }));
        }
    }
    if !channels.is_empty() {
        let value = json!({ "name": clip.name, "samplers": samplers, "channels": channels });
        builder.push("animations", value);
    }
    Ok(())
}

pub(super) fn write_sampler(builder: &mut GlbBuilder, track: &Track) -> Result<Value> {
    // Weights are scalars, one after the other; the format counts them by the mesh's targets.
    let width = if matches!(track.target, TrackTarget::MorphWeights(_)) { 1 } else { track.width };
    let interpolation = match track.interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear => "LINEAR",
        Interpolation::CubicSpline => "CUBICSPLINE",
    };
    let input = builder.times(&track.times)?;
    let output = builder.floats(&track.values, width, ViewUse::Other)?;
    Ok(json!({ "input": input, "output": output, "interpolation": interpolation }))
}
