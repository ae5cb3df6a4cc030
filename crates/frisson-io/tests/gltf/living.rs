//! A GLB that keeps its rig alive, and joints added to a file: what was there still means what it
//! meant.

use frisson::character::Character;
use frisson_io::Silent;
use frisson_io::gltf::{Document, LivingOptions, LivingReport, ReadOptions, Vrm, export_living};
use frisson_io::gltf::{Imported, read_file, to_character};
use glam::Vec3;
use serde_json::json;

use crate::files::*;

/// The strip with a face morph that plays while it bends, as a VRM.
fn strip() -> Document {
    let mut builder = bent_strip();
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let rotation = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half];
    let times = builder.times(&[0.0, 1.0]).unwrap();
    let turns = builder.floats(&rotation, 4, frisson_io::gltf::ViewUse::Other).unwrap();
    let weights = builder.floats(&[0.0, 0.5], 1, frisson_io::gltf::ViewUse::Other).unwrap();
    builder.push(
        "animations",
        json!({
            "name": "act",
            "samplers": [{ "input": times, "output": turns }, { "input": times, "output": weights }],
            "channels": [
                { "sampler": 0, "target": { "node": 0, "path": "rotation" } },
                { "sampler": 1, "target": { "node": 1, "path": "weights" } },
            ],
        }),
    );
    builder.push("materials", json!({ "name": "skin", "extras": { "mine": 7 } }));
    primitive_mut(&mut builder)["material"] = json!(0);
    builder.json["extensions"] = json!({ "VRM": {
        "humanoid": { "humanBones": [{ "bone": "hips", "node": 2 }] },
        "blendShapeMaster": { "blendShapeGroups": [{ "binds": [{ "mesh": 0, "index": 0 }] }] },
    }});
    builder.use_extension("VRM", false);
    Document::parse(&builder.into_bytes().unwrap(), None).unwrap()
}

fn character(document: &Document) -> Character {
    to_character(document, &ReadOptions::default()).unwrap().0
}

/// What a layer might add: a wave over the posed strip.
fn wobble(posed: &[Vec3], frame: i64) -> Vec<Vec3> {
    let lift = |k: usize| 0.1 * (0.7 * frame as f32 + k as f32).sin();
    posed.iter().enumerate().map(|(k, p)| *p + Vec3::new(0.2 * lift(k), lift(k), 0.05)).collect()
}

const FRAMES: i64 = 20;

fn write(document: &Document, options: LivingOptions) -> (LivingReport, Imported) {
    let character = character(document);
    let topology = character.meshes[0].mesh.topology.clone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.glb");
    let mut shot = Shot::new(0..=FRAMES, |frame| {
        let at = positions(&character, Some("act"), frame as f64 / 24.0);
        vec![mesh("hero", &topology, wobble(&at, frame))]
    });
    let index = character.clip_index("act").unwrap();
    let clip = Some(character.clips[index].clone());
    let options = LivingOptions { actor: "hero".to_owned(), clip, ..options };
    let report = export_living(&mut shot, document, &path, &options, &mut Silent).unwrap();
    (report, read_file(&path).unwrap())
}

#[test]
fn the_shot_plays_and_the_rig_lives_on() {
    let document = strip();
    let before = character(&document);
    let (report, after) = write(&document, LivingOptions::default());
    assert_eq!(report.shapes, FRAMES as usize + 1);
    assert!(report.max_error < 1e-6, "{}", report.max_error);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    for frame in 0..=FRAMES {
        let time = frame as f64 / 24.0;
        let wanted = wobble(&positions(&before, Some("act"), time), frame);
        assert_close(&positions(&after.character, Some("frisson"), time), &wanted, 1e-5);
    }
    // Everything else plays as it did, the face included.
    assert_eq!(after.character.clips[0].name, "frisson");
    for clip in [None, Some("bend"), Some("bulge"), Some("slide"), Some("act")] {
        for time in [0.0, 0.3, 1.0] {
            let (a, b) = (positions(&before, clip, time), positions(&after.character, clip, time));
            assert_close(&a, &b, 1e-6);
        }
    }
    let json = &after.document.json;
    assert_eq!(json["extensions"], document.json["extensions"]);
    assert_eq!(json["materials"], document.json["materials"]);
    assert_eq!(json["skins"], document.json["skins"]);
    assert_eq!(json["nodes"][1]["skin"], 0);
    assert_eq!(json["meshes"][0]["extras"]["targetNames"][1], "frisson_000");
    assert!(after.character.meshes[0].skin.is_some());
    let vrm = Vrm::read(&after.document, &after.character.skeleton).unwrap().unwrap();
    assert_eq!(vrm.humanoid["hips"], 2);
}

#[test]
fn clips_hold_the_new_targets_at_rest_unless_there_is_a_face() {
    let weights = |document: &Document, clip: usize| {
        let animation = document.json["animations"][clip].clone();
        let channels = animation["channels"].as_array().unwrap().clone();
        channels.iter().filter(|c| c["target"]["path"] == "weights").count()
    };
    // Without a face: every clip of the file says that they are at rest.
    let mut plain = strip();
    let mesh = plain.json["meshes"][0].as_object_mut().unwrap();
    mesh.remove("weights");
    mesh["primitives"][0].as_object_mut().unwrap().remove("targets");
    let animations = plain.json["animations"].as_array_mut().unwrap();
    for animation in animations.iter_mut() {
        let channels = animation["channels"].as_array_mut().unwrap();
        channels.retain(|c| c["target"]["path"] != "weights");
    }
    animations.retain(|a| !a["channels"].as_array().unwrap().is_empty());
    let count = animations.len();
    let (_, after) = write(&plain, LivingOptions::default());
    assert!(count >= 2 && (0..=count).all(|clip| weights(&after.document, clip) == 1));
    let before = character(&plain);
    for time in [0.0, 0.3, 1.0] {
        let [a, b] = [&before, &after.character].map(|c| positions(c, Some("act"), time));
        assert_close(&a, &b, 1e-6);
    }
    // With one: clips that leave it alone still do.
    let document = strip();
    let (_, after) = write(&document, LivingOptions::default());
    for clip in 0..document.json["animations"].as_array().unwrap().len() {
        assert_eq!(weights(&after.document, clip + 1), weights(&document, clip), "{clip}");
    }
}

#[test]
fn fewer_shapes_leave_no_more_than_was_asked_for() {
    let document = strip();
    let options = LivingOptions { shape_error: 0.01, ..LivingOptions::default() };
    let (report, after) = write(&document, options);
    assert!(report.shapes < 12, "{}", report.shapes);
    assert!(report.max_error < 0.011, "{}", report.max_error);
    let before = character(&document);
    for frame in 0..=FRAMES {
        let time = frame as f64 / 24.0;
        let wanted = wobble(&positions(&before, Some("act"), time), frame);
        let shown = positions(&after.character, Some("frisson"), time);
        assert_close(&shown, &wanted, report.max_error + 1e-5);
    }
    let tight = LivingOptions { max_shapes: 2, ..LivingOptions::default() };
    let (report, _) = write(&document, tight);
    assert_eq!(report.shapes, 2);
    assert!(report.max_error > 0.01, "{}", report.max_error);
}

#[test]
fn another_time_and_place_are_taken_back() {
    let document = strip();
    let before = character(&document);
    let topology = before.meshes[0].mesh.topology.clone();
    let placed = glam::Mat4::from_scale_rotation_translation(
        Vec3::splat(0.01),
        glam::Quat::from_rotation_y(0.5),
        Vec3::new(3.0, 0.0, 1.0),
    );
    let index = before.clip_index("act").unwrap();
    let posed = |frame: i64| {
        let time = (0.5 + 0.5 * frame as f64 / 24.0).rem_euclid(before.clips[index].duration());
        let at = positions(&before, Some("act"), time);
        let at: Vec<Vec3> = at.iter().map(|p| placed.transform_point3(*p)).collect();
        at.iter().map(|p| *p + Vec3::Y * 1e-3).collect::<Vec<Vec3>>()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.glb");
    let mut shot = Shot::new(5..=15, |frame| vec![mesh("hero", &topology, posed(frame))]);
    let options = LivingOptions {
        actor: "hero".to_owned(),
        clip: Some(before.clips[index].clone()),
        offset: 0.5,
        speed: 0.5,
        looped: true,
        world_from_actor: placed,
        ..LivingOptions::default()
    };
    let report = export_living(&mut shot, &document, &path, &options, &mut Silent).unwrap();
    assert!(report.max_error < 2e-6, "{}", report.max_error);
    let after = read_file(&path).unwrap().character;
    for frame in 5..=15 {
        let shown = positions(&after, Some("frisson"), (frame - 5) as f64 / 24.0);
        let shown: Vec<Vec3> = shown.iter().map(|p| placed.transform_point3(*p)).collect();
        assert_close(&shown, &posed(frame), 1e-6);
    }
}
