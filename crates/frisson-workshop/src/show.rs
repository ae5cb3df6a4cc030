//! What a selection, a pin set, a scalp or a tool covers, before anything is baked: the actors
//! in the reference pose, with the chosen vertices marked and the given points as beads.

use std::path::Path;
use std::sync::Arc;

use frisson::geometry::{Bounds, Material, Mesh};
use frisson::layers::LayerParams;
use frisson::stage::{Anchor, Frame, Selection, Simulator};
use frisson_io::cache::{CacheHeader, CacheWriter, IfExists};
use frisson_io::scene::SceneFile;
use glam::Vec3;
use serde_json::Value;

use crate::{Loader, WorkshopError};

/// Attribute that marks what is covered, 0 to 1.
pub const COVERED: &str = "covered";

/// Fields that hold places, wherever they are in a layer's parameters.
const PLACES: [&str; 7] = ["a", "b", "through", "points", "from", "to", "at"];

/// Size of a bead beside the scene's [-].
const BEAD: f32 = 0.012;
/// Colour of beads, linear.
const RED: [f32; 4] = [0.8, 0.03, 0.02, 1.0];

/// Writes a cache of one frame that shows what `what` covers: a layer's name, or a layer's name and a
/// parameter (`cape.pins`). Returns how many vertices and points it found.
pub fn write_shown(
    scene: &SceneFile,
    what: &str,
    cache: &Path,
) -> Result<(usize, usize), WorkshopError> {
    let built = scene.build(&Loader)?;
    let simulator = built.stage;
    let (layer, path) = find_layer(simulator.params(), what)?;
    let value = serde_json::to_value(layer).map_err(WorkshopError::of)?;
    let params = value.as_object().and_then(|o| o.values().next()).unwrap_or(&Value::Null);
    let wanted = path.iter().try_fold(params, |at, key| {
        at.get(*key).ok_or_else(|| {
            let own: Vec<&str> =
                at.as_object().map(|o| o.keys().map(String::as_str).collect()).unwrap_or_default();
            let text = format!("layer {:?} gives no {key:?}", layer.name());
            WorkshopError::advised(text, format!("it has: {}", own.join(", ")))
        })
    })?;
    let meshes: Vec<String> = match params.get("on") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => {
            names.iter().filter_map(|n| n.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    };
    let mut frame = simulator.frame().clone();
    for index in 0..frame.meshes.len() {
        frame.meshes[index] = simulator.reference_mesh(index);
    }
    let mut found = (0, 0);
    let mut places = Vec::new();
    let indices: Vec<usize> = meshes.iter().filter_map(|name| frame.mesh_index(name)).collect();
    for mesh in indices {
        found.0 += mark(&simulator, &mut frame, mesh, wanted)?;
        gather_places(wanted, path.last().copied(), &mut |anchor| {
            if let Ok(place) = simulator.place("show", mesh, anchor) {
                places.push(place);
            }
        });
    }
    found.1 = places.len();
    let all = frame.meshes.iter().fold(Bounds::EMPTY, |b, m| b.union(m.bounds()));
    if !places.is_empty() {
        frame.meshes.push(beads(&places, 0.5 * BEAD * all.diagonal()));
    }
    write(scene, &simulator, &frame, cache)?;
    Ok(found)
}

fn find_layer<'a, 'b>(
    layers: &'a [LayerParams],
    what: &'b str,
) -> Result<(&'a LayerParams, Vec<&'b str>), WorkshopError> {
    let named = |l: &&LayerParams| {
        what == l.name() || what.strip_prefix(l.name()).is_some_and(|r| r.starts_with('.'))
    };
    // Names may hold dots themselves: the longest that fits is meant.
    let layer = layers.iter().filter(named).max_by_key(|l| l.name().len()).ok_or_else(|| {
        let names: Vec<&str> = layers.iter().map(LayerParams::name).collect();
        let text = format!("there is no layer named as in {what:?}");
        WorkshopError::advised(text, format!("layers: {}", names.join(", ")))
    })?;
    let rest = what[layer.name().len()..].split('.').filter(|k| !k.is_empty()).collect();
    Ok((layer, rest))
}

/// Marks the vertices of every selection in some parameters; a vertex counts with its largest weight.
fn mark(
    simulator: &Simulator,
    frame: &mut Frame,
    mesh: usize,
    value: &Value,
) -> Result<usize, WorkshopError> {
    let mut covered = vec![0.0f32; frame.meshes[mesh].positions.len()];
    let mut failed = None;
    gather_selections(value, &mut |selection| match simulator.select("show", mesh, selection) {
        Ok(weights) => covered.iter_mut().zip(weights).for_each(|(c, w)| *c = c.max(w)),
        Err(error) => failed = Some(error),
    });
    if let Some(error) = failed {
        return Err(WorkshopError::of(error));
    }
    let count = covered.iter().filter(|c| **c > 0.0).count();
    frame.meshes[mesh].set_scalar(COVERED, |values| values.copy_from_slice(&covered));
    Ok(count)
}

/// Small red eight-sided bodies at some places.
fn beads(places: &[Vec3], radius: f32) -> Mesh {
    let corners = [Vec3::X, Vec3::Z, -Vec3::X, -Vec3::Z, Vec3::Y, -Vec3::Y];
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for place in places {
        let first = positions.len() as u32;
        positions.extend(corners.map(|c| *place + radius * c));
        for k in 0..4 {
            let (a, b) = (first + k, first + (k + 1) % 4);
            triangles.push([a, first + 4, b]);
            triangles.push([a, b, first + 5]);
        }
    }
    let mut mesh = Mesh::new("given points", positions, triangles);
    let topology = Arc::make_mut(&mut mesh.topology);
    topology.materials = vec![Material { base_color: RED, ..Material::default() }];
    mesh
}

/// Words that only selections have.
const SHAPES: [&str; 7] = ["region", "material", "joints", "sphere", "capsule", "box", "vertices"];

fn gather_selections(value: &Value, found: &mut dyn FnMut(&Selection)) {
    match value {
        Value::Object(fields) => {
            let chosen = fields
                .iter()
                .any(|(k, v)| SHAPES.contains(&k.as_str()) && !v.is_null() && !v.is_object());
            match serde_json::from_value::<Selection>(value.clone()) {
                Ok(selection) if chosen => found(&selection),
                _ => fields.values().for_each(|v| gather_selections(v, found)),
            }
        }
        Value::Array(items) => items.iter().for_each(|v| gather_selections(v, found)),
        _ => {}
    }
}

fn gather_places(value: &Value, key: Option<&str>, found: &mut dyn FnMut(&Anchor)) {
    let is_place = key.is_some_and(|k| PLACES.contains(&k));
    if is_place && let Ok(anchor) = serde_json::from_value::<Anchor>(value.clone()) {
        found(&anchor);
        return;
    }
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(k, v)| gather_places(v, Some(k), found));
        }
        Value::Array(items) => items.iter().for_each(|v| gather_places(v, key, found)),
        _ => {}
    }
}

fn write(
    scene: &SceneFile,
    simulator: &Simulator,
    frame: &Frame,
    cache: &Path,
) -> Result<(), WorkshopError> {
    let number = simulator.clock().first_frame;
    let header = CacheHeader {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        scene_hash: 0,
        rate: simulator.clock().rate,
        first_frame: number,
        last_frame: number,
        sources: Vec::new(),
        layers: Vec::new(),
        scene_text: scene.text.clone(),
    };
    let (mut writer, _) = CacheWriter::open(cache, &header, IfExists::Replace)?;
    let mut shown = frame.clone();
    shown.index = number;
    // A look at vertices needs no shading of its own.
    shown.meshes.iter_mut().for_each(|m| m.velocities.clear());
    writer.write_frame(&shown, &[])?;
    writer.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn selections_and_places_are_found_wherever_they_are() {
        let params = json!({
            "on": "cat", "tools": [{ "a": [1.0, 2.0, 3.0], "b": 7, "mask": { "region": "nape" } }],
            "scalp": { "sphere": [0, 0, 0, 1] }, "folds": [{ "points": [[0, 0, 0], [1, 0, 0]] }]
        });
        let (mut selections, mut places) = (0, Vec::new());
        gather_selections(&params, &mut |_| selections += 1);
        gather_places(&params, None, &mut |a| places.push(a.clone()));
        assert_eq!(selections, 2);
        assert_eq!(places.len(), 4);
        assert!(places.contains(&Anchor::Vertex(7)));
        assert!(places.contains(&Anchor::Position([0.0; 3])));
    }
}
