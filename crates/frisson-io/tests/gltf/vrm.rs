//! Synthetic VRMs of both versions.

use frisson_io::gltf::{Document, ReadOptions, Vrm, to_character};
use glam::Vec3;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files::*;

/// A head with a chain of three and a branch.
fn document(extensions: Value) -> Document {
    let mut builder = triangle();
    let first = 1;
    for (name, children) in [
        ("head", vec![2, 5]),
        ("hair1", vec![3]),
        ("hair2", vec![4]),
        ("hair3", vec![]),
        ("side", vec![]),
    ] {
        let mut node = json!({ "name": name, "translation": [0.0, -0.1, 0.0] });
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        builder.push("nodes", node);
    }
    builder.add_to_scene(first);
    builder.json["extensions"] = extensions;
    Document::parse(&builder.into_bytes().unwrap(), None).unwrap()
}

fn read(extensions: Value) -> Result<Option<Vrm>, String> {
    let document = document(extensions);
    let (character, _) = to_character(&document, &ReadOptions::default()).unwrap();
    Vrm::read(&document, &character.skeleton).map_err(|e| e.to_string())
}

fn version_0() -> Value {
    json!({ "VRM": {
        "humanoid": { "humanBones": [{ "bone": "head", "node": 1 }] },
        "secondaryAnimation": {
            "boneGroups": [{
                "stiffiness": 0.8, "gravityPower": 0.1, "gravityDir": { "x": 0, "y": -1, "z": 0 },
                "dragForce": 0.3, "center": -1, "hitRadius": 0.02, "bones": [2], "colliderGroups": [0],
            }],
            "colliderGroups": [{
                "node": 1, "colliders": [{ "offset": { "x": 0, "y": 0.1, "z": 0.2 }, "radius": 0.1 }],
            }],
        },
    }})
}

fn version_1() -> Value {
    json!({
        "VRMC_vrm": { "specVersion": "1.0", "humanoid": { "humanBones": { "head": { "node": 1 } } } },
        "VRMC_springBone": {
            "colliders": [
                { "node": 1, "shape": { "sphere": { "offset": [0, 0.1, 0.2], "radius": 0.1 } } },
                { "node": 1, "shape": { "capsule": { "offset": [0, 0, 0], "tail": [0, 1, 0], "radius": 0.05 } } },
            ],
            "colliderGroups": [{ "colliders": [0, 1] }],
            "springs": [{
                "name": "fringe",
                "joints": [
                    { "node": 2, "stiffness": 0.8, "dragForce": 0.3, "hitRadius": 0.02 },
                    { "node": 3 },
                    { "node": 4 },
                ],
                "colliderGroups": [0],
            }],
        },
    })
}

#[test]
fn both_versions_say_the_same_in_their_own_ways() {
    let old = read(version_0()).unwrap().unwrap();
    assert_eq!((old.version, old.humanoid["head"]), (0, 1));
    let nodes: Vec<usize> = old.springs[0].joints.iter().map(|j| j.node).collect();
    assert_eq!(nodes, [2, 3, 4]);
    assert_eq!(old.springs[0].name, "hair1");
    // Unity's z is turned round.
    assert_eq!(old.colliders[0].offset, Vec3::new(0.0, 0.1, -0.2));
    assert_eq!((old.springs[0].joints[0].stiffness, old.springs[0].center), (0.8, None));
    let new = read(version_1()).unwrap().unwrap();
    assert_eq!((new.version, new.springs[0].name.as_str()), (1, "fringe"));
    assert_eq!(new.colliders[1].tail, Some(Vec3::Y));
    assert_eq!(new.springs[0].colliders, [0, 1]);
    assert_eq!(new.springs[0].joints[1].drag, 0.5);
    assert_eq!(read(json!({})).unwrap(), None);
}

#[test]
fn wrong_nodes_and_groups_are_named() {
    let mut wrong = version_0();
    wrong["VRM"]["secondaryAnimation"]["boneGroups"][0]["bones"] = json!([77]);
    assert!(read(wrong).unwrap_err().contains("there is no node 77"));
    let mut wrong = version_1();
    wrong["VRMC_springBone"]["springs"][0]["colliderGroups"] = json!([4]);
    assert!(read(wrong).unwrap_err().contains("group of colliders"));
}

/// Replaces the value at a place counted through the tree.
fn replace(value: &mut Value, place: &mut usize, with: &Value) {
    if *place == 0 {
        *value = with.clone();
    }
    *place = place.wrapping_sub(1);
    match value {
        Value::Array(entries) => entries.iter_mut().for_each(|e| replace(e, place, with)),
        Value::Object(object) => object.values_mut().for_each(|e| replace(e, place, with)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn changed_values_never_panic(place in 0usize..60, kind in 0usize..6, old in any::<bool>()) {
        let with = [json!(null), json!(-1), json!(1e300), json!("x"), json!([1]), json!({})];
        let mut extensions = if old { version_0() } else { version_1() };
        replace(&mut extensions, &mut place.clone(), &with[kind]);
        if extensions.is_object() {
            let _ = read(extensions);
        }
    }
}
