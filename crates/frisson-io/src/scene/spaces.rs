//! Scenes of version 1 gave points in three spaces; those whose points would move are told.

use frisson::layers::LayerParams;
use frisson::stage::{Actor, ActorSet, Clock, Reference, ReferencePose};
use serde_json::Value;

use super::SceneFile;
use super::problem::Problem;

/// Greatest distance between an old and a new place that nobody notices, beside the actor's size [-].
const SAME_PLACE: f32 = 1e-3;

impl SceneFile {
    /// Problems of a scene of version 1 whose points were meant elsewhere than where they are now.
    pub(super) fn moved_points(&self, actors: &[Actor], clock: &Clock) -> Vec<Problem> {
        if self.scene.frisson > 1 {
            return Vec::new();
        }
        let set = ActorSet::new(actors.to_vec());
        let reference = Reference::new(ReferencePose::Start, clock, &set);
        let layers = self.scene.layers.iter().enumerate();
        let moved = layers.filter(|(_, layer)| {
            let names = meshes_with_points(layer);
            names.iter().any(|name| has_moved(name, layer, &set, &reference))
        });
        moved.map(|(index, layer)| self.told(index, layer)).collect()
    }

    fn told(&self, index: usize, layer: &LayerParams) -> Problem {
        let text = format!(
            "layer {:?} gives points in the space of the file, as version 1 of scene files did",
            layer.name()
        );
        let (spans, _) = self.spans.locate(&format!("layers[{index}]"));
        Problem::new(text, spans.name()).help(
            "points are now in metres, in the scene's axes, on the actor as it stands at the first frame \
             (`frisson inspect` shows it). Move them and write `frisson = 2`; `reference = \"rest\"` takes \
             the rest pose instead; `frisson render SCENE --show LAYER` draws what they cover",
        )
    }
}

/// Meshes that a layer gives points on, as far as version 1 meant them in another space.
fn meshes_with_points(layer: &LayerParams) -> Vec<String> {
    let value = serde_json::to_value(layer).unwrap_or_default();
    let Some(params) = value.as_object().and_then(|o| o.values().next()) else {
        return Vec::new();
    };
    let given = match layer {
        LayerParams::Wrinkles(_) => {
            has_places(params, &["a", "b", "through"]) || has_shapes(params)
        }
        LayerParams::Folds(_) => {
            has_places(params, &["points", "from", "to"]) || has_shapes(params)
        }
        LayerParams::Hair(_) => params.get("scalp").is_some_and(has_shapes),
        LayerParams::Drops(_) => has_shapes(params),
        _ => false,
    };
    match params.get("on") {
        Some(Value::String(name)) if given => vec![name.clone()],
        Some(Value::Array(names)) if given => {
            names.iter().filter_map(|n| n.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a selection by shape is anywhere in some parameters.
fn has_shapes(value: &Value) -> bool {
    any_field(value, &|key, value| ["sphere", "capsule", "box"].contains(&key) && value.is_array())
}

/// Whether a field of these names holds coordinates.
fn has_places(value: &Value, names: &[&str]) -> bool {
    let is_place = |v: &Value| v.as_array().is_some_and(|a| a.iter().any(Value::is_number));
    any_field(value, &|key, value| {
        let nested = value.as_array().is_some_and(|a| a.iter().any(is_place));
        names.contains(&key) && (is_place(value) || nested)
    })
}

fn any_field(value: &Value, holds: &dyn Fn(&str, &Value) -> bool) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(k, v)| holds(k, v) || any_field(v, holds)),
        Value::Array(items) => items.iter().any(|v| any_field(v, holds)),
        _ => false,
    }
}

/// Whether the vertices of a mesh are elsewhere in the file than in the scene at its start.
fn has_moved(name: &str, layer: &LayerParams, actors: &ActorSet, reference: &Reference) -> bool {
    let owner = (0..actors.all().len()).find_map(|actor| {
        let meshes = actors.all()[actor].source_meshes();
        let local = meshes.iter().position(|m| m.name == name)?;
        Some((actor, meshes.into_iter().nth(local)?, actors.mesh_range(actor).start + local))
    });
    let Some((actor, mesh, index)) = owner else { return false };
    // Folds were drawn on the file's mesh at the size it is placed at.
    let is_folds = matches!(layer, LayerParams::Folds(_));
    let scale = if is_folds { actors.all()[actor].placement.scale } else { 1.0 };
    let size = mesh.bounds().diagonal() * actors.all()[actor].placement.scale;
    let now = reference.positions(index).unwrap_or_default();
    let places = mesh.positions.iter().zip(now);
    // Where both spaces are one, an old scene means what it always meant, and is read silently.
    places.map(|(was, now)| (scale * *was).distance(*now)).any(|d| d > SAME_PLACE * size)
}
