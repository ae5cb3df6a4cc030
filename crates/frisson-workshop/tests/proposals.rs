//! What is proposed for a character fits it, and can be switched on as it stands.

use std::path::Path;

use frisson::character::{Character, Clip, Interpolation, Track, TrackTarget};
use frisson_io::gltf::write_character;
use frisson_io::scene::SceneFile;
use frisson_workshop::garment::{Kind, Order, put_on};
use frisson_workshop::propose::{Proposal, Request};
use glam::Vec3;

fn propose(character: &str) -> Proposal {
    let request =
        Request { character: character.to_owned(), clip: None, fps: 30, with: Vec::new() };
    request.scene_for(Path::new("shot.toml")).unwrap()
}

#[test]
fn all_that_is_proposed_can_be_switched_on() {
    for name in ["figure", "cat", "mushroom", "head_a"] {
        let proposal = propose(&format!("builtin:{name}"));
        let scene = SceneFile::parse(Path::new("shot.toml"), &proposal.with_all()).unwrap();
        let given: Vec<&str> = scene.scene.layers.iter().map(|l| l.name()).collect();
        let proposed: Vec<&str> = proposal.layers.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(given, proposed, "{name}");
        assert!(!given.is_empty(), "{name}");
    }
}

#[test]
fn a_sword_in_the_hand_is_not_coated() {
    let mut figure = frisson_models::build("figure").unwrap();
    let alone = propose_file(&figure, "figure");
    assert!(coat_of(&alone).contains("hide = [\"figure\"]"), "{}", coat_of(&alone));
    // A blade without a skin, carried by a joint.
    let mut blade = frisson_models::build("sphere?radius=0.2").unwrap().meshes.remove(0);
    blade.mesh.name = "blade".to_owned();
    (blade.skin, blade.node) = (None, figure.skins[0].joints[0]);
    figure.meshes.push(blade);
    let armed = propose_file(&figure, "armed");
    let coat = coat_of(&armed);
    assert!(coat.contains("meshes = [\"armed/") && !coat.contains("blade"), "{coat}");
    SceneFile::parse(Path::new("shot.toml"), &armed.with_all()).unwrap();
}

#[test]
fn hard_parts_that_move_get_neither_coats_nor_folds() {
    let mut lamp = frisson_models::build("sphere?radius=0.2").unwrap();
    let mut arm = lamp.meshes[0].clone();
    arm.mesh.name = "arm".to_owned();
    lamp.meshes.push(arm);
    // It grows to twice its height, as a whole.
    lamp.clips = vec![Clip {
        name: "grow".to_owned(),
        tracks: vec![Track {
            target: TrackTarget::Scale(lamp.meshes[0].node),
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: [Vec3::ONE, Vec3::new(1.0, 0.4, 1.0)]
                .iter()
                .flat_map(|s| s.to_array())
                .collect(),
            width: 3,
        }],
    }];
    let proposal = propose_file(&lamp, "lamp");
    let names: Vec<&str> = proposal.layers.iter().map(|l| l.name.as_str()).collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn a_robot_with_skinned_hands_wears_its_skirt_on_its_rigid_trunk() {
    let figure = frisson_models::build("figure").unwrap();
    let order = Order {
        kind: Kind::Skirt,
        bodies: Vec::new(),
        top: None,
        hem: None,
        flare: None,
        edge: None,
    };
    let bodies_of = |proposal: &Proposal| {
        let skirt = proposal.layers.iter().find(|l| l.name == "skirt").unwrap();
        skirt.text.lines().find(|l| l.starts_with("bodies = ")).unwrap().to_owned()
    };
    let mut dressed = put_on(&figure, &order).unwrap();
    // A sword beside the skirt, carried by a joint.
    let mut sword = frisson_models::build("sphere?radius=0.2").unwrap().meshes.remove(0);
    sword.mesh.name = "sword".to_owned();
    (sword.skin, sword.node) = (None, figure.skins[0].joints[0]);
    dressed.meshes.push(sword.clone());
    let on_skin = bodies_of(&propose_file(&dressed, "knight"));
    assert!(on_skin.contains("knight/figure") && !on_skin.contains("sword"), "{on_skin}");
    // The body becomes a rigid part; what has a skin is a hand beside it, as high as the skirt.
    let body = dressed.meshes.iter().position(|m| m.mesh.name == "figure").unwrap();
    let mut hand = dressed.meshes[body].clone();
    hand.mesh.name = "hand".to_owned();
    hand.mesh.positions.iter_mut().for_each(|p| p.x += 0.6);
    (dressed.meshes[body].skin, dressed.meshes[body].node) = (None, 0);
    dressed.meshes.push(hand);
    let on_parts = bodies_of(&propose_file(&dressed, "robot"));
    assert!(on_parts.contains("robot/figure") && on_parts.contains("robot/hand"), "{on_parts}");
}

fn propose_file(character: &Character, name: &str) -> Proposal {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{name}.glb"));
    write_character(character, &path, true).unwrap();
    propose(&path.to_string_lossy())
}

fn coat_of(proposal: &Proposal) -> &str {
    &proposal.layers.iter().find(|l| l.name == "coat").unwrap().text
}
