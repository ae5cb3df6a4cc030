//! Layers that a scene could have: what its characters' rigs and clips propose, and the plain kinds.

use frisson_io::scene::{ActorContent, ActorLoader as _, SceneFile};
use frisson_workshop::Loader;
use frisson_workshop::propose::{Proposal, Proposed, Request};
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item};

/// What can be added to a scene: for each actor its joints and what is proposed for it.
#[must_use]
pub fn proposals(scene: &SceneFile) -> Value {
    let one = |(name, actor): &(String, frisson_io::scene::ActorParams)| {
        let mut found = json!({ "actor": name, "joints": [], "layers": [] });
        let character = match actor.source.strip_prefix("builtin:") {
            Some(_) => actor.source.clone(),
            None => scene.folder().join(&actor.source).to_string_lossy().into_owned(),
        };
        if let Ok(loaded) = Loader.load(&actor.source, &scene.folder())
            && let ActorContent::Character(character) = loaded.content
        {
            let joints = character.skeleton.nodes().iter().map(|n| n.name.clone());
            found["joints"] = joints.collect::<Vec<String>>().into();
        }
        // A clip by its name moves what is proposed; the first one does otherwise.
        let clip = serde_json::to_value(&actor.clip).ok();
        let clip = clip.and_then(|c| c.as_str().map(str::to_owned));
        let request = Request { character, clip, fps: 30, with: Vec::new() };
        // What proposes nothing has no proposals.
        if let Ok(proposal) = request.scene_for(&request.default_output()) {
            let own = proposed_actor(&proposal);
            let layers = proposal.layers.iter();
            let layers = layers.filter_map(|l| described(l, own.as_deref(), name));
            found["layers"] = layers.collect::<Vec<_>>().into();
        }
        found
    };
    json!(scene.scene.actors.0.iter().map(one).collect::<Vec<_>>())
}

/// The actor's name in a proposed scene.
fn proposed_actor(proposal: &Proposal) -> Option<String> {
    let document: DocumentMut = proposal.text.parse().ok()?;
    let actors = document.get("actors")?.as_table_like()?;
    actors.iter().next().map(|(name, _)| name.to_owned())
}

fn described(layer: &Proposed, own: Option<&str>, actor: &str) -> Option<Value> {
    let mut text = layer.text.clone();
    if let Some(own) = own.filter(|o| *o != actor) {
        // Meshes are named after the actor, which has another name in this scene.
        text = text.replace(&format!("\"{own}\""), &format!("\"{actor}\""));
        text = text.replace(&format!("\"{own}/"), &format!("\"{actor}/"));
    }
    let document: DocumentMut = text.parse().ok()?;
    let layer_json = to_json(document.get("layers")?)?;
    let value = layer_json.get(0)?.clone();
    let kind = value.as_object()?.keys().next()?.clone();
    Some(json!({ "name": layer.name, "kind": kind, "why": layer.why, "value": value }))
}

/// A piece of TOML as JSON; dates have no form there.
fn to_json(item: &Item) -> Option<Value> {
    if let Some(tables) = item.as_array_of_tables() {
        let all = tables.iter().map(|t| to_json(&Item::Table(t.clone())));
        return all.collect::<Option<Vec<Value>>>().map(Value::Array);
    }
    if let Some(table) = item.as_table_like() {
        let all = table.iter().map(|(k, v)| Some((k.to_owned(), to_json(v)?)));
        return all.collect::<Option<serde_json::Map<String, Value>>>().map(Value::Object);
    }
    if let Some(array) = item.as_array() {
        let all = array.iter().map(|v| to_json(&Item::Value(v.clone())));
        return all.collect::<Option<Vec<Value>>>().map(Value::Array);
    }
    let plain = item.as_bool().map(Value::from).or_else(|| item.as_integer().map(Value::from));
    plain.or_else(|| item.as_float().map(Value::from)).or_else(|| item.as_str().map(Value::from))
}

/// A proposed scene's text with a switch for every layer: those that are off can be switched on.
#[must_use]
pub fn with_switches(proposal: &Proposal) -> String {
    let mut text = proposal.text.clone();
    for layer in proposal.layers.iter().filter(|l| !l.is_on) {
        let marked = |mark: &str| -> String {
            layer.text.lines().map(|line| format!("{mark}{line}\n")).collect()
        };
        text = text.replace(&marked("# "), &marked("#off "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switches::{off_layers, switch_on};
    use std::path::Path;

    #[test]
    fn every_proposed_layer_of_a_character_has_a_switch_that_works() {
        let character = "builtin:figure".to_owned();
        let request = Request { character, clip: None, fps: 30, with: Vec::new() };
        let proposal = request.scene_for(Path::new("figure.toml")).unwrap();
        let text = with_switches(&proposal);
        let off = off_layers(&text);
        let wanted: Vec<&str> =
            proposal.layers.iter().filter(|l| !l.is_on).map(|l| l.name.as_str()).collect();
        assert_eq!(off.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), wanted, "{text}");
        assert!(!wanted.is_empty());
        for layer in off {
            let on = switch_on(&text, layer.line).unwrap();
            let scene = SceneFile::parse(Path::new("figure.toml"), &on).map_err(|e| e.problems);
            let scene = scene.unwrap_or_else(|p| panic!("{}: {p:?}\n{on}", layer.name));
            assert!(scene.scene.layers.iter().any(|l| l.name() == layer.name));
        }
    }

    #[test]
    fn proposals_are_for_the_actors_of_this_scene() {
        let text = "frisson = 2\n[actors.tom]\nsource = \"builtin:cat\"\nclip = \"leap\"\n";
        let text = text.replace("clip = \"leap\"\n", "");
        let scene = SceneFile::parse(Path::new("x.toml"), &text).unwrap();
        let found = proposals(&scene);
        assert_eq!(found[0]["actor"], "tom");
        assert!(found[0]["joints"].as_array().unwrap().len() > 5);
        let first = &found[0]["layers"][0];
        let kind = first["kind"].as_str().unwrap();
        assert_eq!(first["value"][kind]["on"], "tom", "{first}");
    }
}
