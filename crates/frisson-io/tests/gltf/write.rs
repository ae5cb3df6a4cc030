//! What we write is what we read, and the rest of the input comes through.

use std::sync::Arc;

use frisson::geometry::{Material, MeshTopology};
use frisson_io::Silent;
use frisson_io::gltf::{
    Document, GltfError, MorphEncoding, MorphOptions, ReadOptions, export_morph_bake, read_bytes,
    read_file, write_character,
};
use glam::Vec3;
use serde_json::json;

use crate::files::*;

#[test]
fn a_character_comes_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("strip.glb");
    let before = import(bent_strip()).character;
    write_character(&before, &path, false).unwrap();
    let after = read_file(&path).unwrap().character;
    for clip in [None, Some("bend"), Some("bulge"), Some("slide")] {
        for time in [0.0, 0.3, 0.77, 1.0, 2.0] {
            let (a, b) = (positions(&before, clip, time), positions(&after, clip, time));
            assert_close(&a, &b, 1e-6);
        }
    }
    // Written and read once more, no name gets a number behind it.
    let names = |c: &frisson::character::Character| -> Vec<String> {
        c.skeleton.nodes().iter().map(|n| n.name.clone()).collect()
    };
    assert!(names(&after).iter().all(|n| !n.ends_with(".2")), "{:?}", names(&after));
    assert!(matches!(write_character(&before, &path, false), Err(GltfError::Exists(_))));
    write_character(&before, &path, true).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no left-overs");
}

const COUNT: usize = 40;

fn topology() -> Arc<MeshTopology> {
    let materials = vec![Material::default()];
    let triangles = (0..COUNT as u32 - 2).map(|k| [k, k + 1, k + 2]).collect();
    Arc::new(MeshTopology { vertex_count: COUNT, triangles, materials, ..MeshTopology::default() })
}

/// A wave in the first half of the vertices; the others stay.
fn wave(frame: i64) -> Vec<Vec3> {
    (0..COUNT)
        .map(|k| {
            let height = if k < COUNT / 2 { (0.3 * frame as f32 + k as f32).sin() } else { 0.0 };
            Vec3::new(k as f32, 0.1 * (k % 2) as f32, 2.0 * height)
        })
        .collect()
}

fn bake(frames: i64, options: &MorphOptions) -> (Vec<u8>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wave.glb");
    let topology = topology();
    let mut shot = Shot::new(5..=4 + frames, |frame| vec![mesh("wave", &topology, wave(frame))]);
    let report = export_morph_bake(&mut shot, None, &path, options, &mut Silent).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no left-overs");
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(report.bytes, bytes.len() as u64);
    (bytes, report.warnings)
}

/// The mesh that is to be seen at a time: the one that is not scaled away.
fn seen(bytes: &[u8], time: f64) -> Vec<Vec3> {
    let character = read_bytes(bytes, None).unwrap().character;
    let clip = character.clips.first();
    let mut pose = frisson::character::Pose::default();
    let sampling = frisson::character::Sampling::AsAuthored;
    pose.set(&character, clip, time, sampling, glam::Mat4::IDENTITY);
    let mut out = Vec::new();
    let mut shown = 0;
    for index in 0..character.meshes.len() {
        let mut positions = Vec::new();
        character.deform_mesh_positions(index, &pose, &mut positions);
        if positions.iter().any(|p| *p != Vec3::ZERO) {
            out = positions;
            shown += 1;
        }
    }
    assert_eq!(shown, 1, "exactly one mesh is seen at {time}");
    out
}

#[test]
fn every_encoding_plays_the_frames_and_blends_between_them() {
    for encoding in [MorphEncoding::Dense, MorphEncoding::Sparse, MorphEncoding::Quantised] {
        for (frames, max_targets) in [(1, 200), (2, 200), (12, 200), (12, 4), (13, 4), (11, 3)] {
            let options = MorphOptions { encoding, max_targets, ..MorphOptions::default() };
            let (bytes, warnings) = bake(frames, &options);
            assert!(warnings.is_empty());
            // Quantised moves are exact to a 32767th of the largest, 4 m; the time is a microsecond late.
            let tolerance = if encoding == MorphEncoding::Quantised { 2e-4 } else { 3e-5 };
            for k in 0..frames {
                assert_close(&seen(&bytes, k as f64 / 24.0 + 1e-6), &wave(5 + k), tolerance);
            }
            for k in 0..frames - 1 {
                let (a, b) = (wave(5 + k), wave(6 + k));
                let between: Vec<Vec3> = a.iter().zip(&b).map(|(a, b)| a.lerp(*b, 0.5)).collect();
                assert_close(&seen(&bytes, (k as f64 + 0.5) / 24.0), &between, tolerance);
            }
        }
    }
}

#[test]
fn sparse_is_smaller_where_half_stays() {
    let size = |encoding| bake(60, &MorphOptions { encoding, ..MorphOptions::default() }).0.len();
    assert!(size(MorphEncoding::Sparse) < size(MorphEncoding::Dense));
}

#[test]
fn the_rest_of_the_input_is_kept() {
    let mut builder = bent_strip();
    builder.push("materials", json!({ "name": "skin", "extras": { "mine": 7 } }));
    primitive_mut(&mut builder)["material"] = json!(0);
    builder.json["extras"] = json!({ "author": "someone" });
    builder.json["extensions"] = json!({ "ACME_wobble": { "mesh": 0 } });
    builder.use_extension("ACME_wobble", false);
    let input = Document::parse(&builder.into_bytes().unwrap(), None).unwrap();
    let character = import(bent_strip()).character;
    let source = character.meshes[0].mesh.clone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.glb");
    let mut shot = Shot::new(0..=10, |frame| {
        let at = positions(&character, Some("bend"), frame as f64 / 24.0);
        vec![mesh("strip", &source.topology, at)]
    });
    let options = MorphOptions { normals: true, ..MorphOptions::default() };
    export_morph_bake(&mut shot, Some(&input), &path, &options, &mut Silent).unwrap();
    let baked = read_file(&path).unwrap();
    let json = &baked.document.json;
    assert_eq!(json["extras"], input.json["extras"]);
    assert_eq!(json["extensions"], input.json["extensions"]);
    assert_eq!(json["materials"], input.json["materials"]);
    assert_eq!(json["nodes"][2], input.json["nodes"][2]);
    assert!(json["nodes"][1].get("mesh").is_none() && json["nodes"][1].get("skin").is_none());
    assert_eq!(json["meshes"][0]["primitives"][0]["material"], 0);
    assert_eq!(json["meshes"][0]["extras"]["targetNames"][0], "frame_0001");
    // The bake comes first; the channel that drove the old morph is gone, the other clips stay.
    let names: Vec<_> = json["animations"].as_array().unwrap().iter().map(|a| &a["name"]).collect();
    assert_eq!(names, ["frisson", "bend", "slide"]);
    let at = positions(&baked.character, Some("frisson"), 7.0 / 24.0);
    assert_close(&at, &positions(&character, Some("bend"), 7.0 / 24.0), 1e-5);
}

#[test]
fn a_changing_mesh_is_left_out_by_name_and_numbers_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.glb");
    let (still, other) = (topology(), Arc::new(MeshTopology::default()));
    let mut shot = Shot::new(0..=3, |frame| {
        let changed = if frame == 2 { &other } else { &still };
        vec![mesh("good", &still, wave(frame)), mesh("drops", changed, wave(frame))]
    });
    let report =
        export_morph_bake(&mut shot, None, &path, &MorphOptions::default(), &mut Silent).unwrap();
    assert_eq!(report.warnings, ["\"drops\" is left out: its topology changes"]);
    let mut bad = Shot::new(0..=3, |_| vec![mesh("bad", &still, vec![Vec3::NAN; COUNT])]);
    let path = folder.path().join("bad.glb");
    let said = export_morph_bake(&mut bad, None, &path, &MorphOptions::default(), &mut Silent);
    assert!(said.unwrap_err().to_string().contains("\"bad\""));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no left-overs");
}

/// Bakes an input over a few frames and reads the file back.
fn rebake(input: &Document, options: &MorphOptions) -> frisson_io::gltf::Imported {
    let character = frisson_io::gltf::to_character(input, &ReadOptions::default()).unwrap().0;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.glb");
    let source = character.meshes[0].mesh.clone();
    let mut shot = Shot::new(0..=4, |frame| {
        let lift = Vec3::Y * 0.1 * frame as f32;
        let at = source.positions.iter().map(|p| *p + lift).collect();
        vec![mesh(&source.name, &source.topology, at)]
    });
    export_morph_bake(&mut shot, Some(input), &path, options, &mut Silent).unwrap();
    read_file(&path).unwrap()
}

fn values(document: &Document, name: &str) -> serde_json::Value {
    document.json["meshes"][0]["primitives"][0]["attributes"][name].clone()
}

#[test]
fn attributes_that_do_not_move_are_the_same_accessors() {
    let mut builder = bent_strip();
    let pairs: Vec<f32> = (0..20).map(|k| k as f32).collect();
    let second = builder.floats(&pairs, 2, frisson_io::gltf::ViewUse::Vertices).unwrap();
    let own = builder.floats(&pairs[..10], 1, frisson_io::gltf::ViewUse::Vertices).unwrap();
    let short = builder.floats(&pairs[..4], 1, frisson_io::gltf::ViewUse::Vertices).unwrap();
    let attributes = &mut primitive_mut(&mut builder)["attributes"];
    attributes["TEXCOORD_0"] = json!(second);
    attributes["TEXCOORD_1"] = json!(second);
    attributes["_HEAT"] = json!(own);
    attributes["_SHORT"] = json!(short);
    primitive_mut(&mut builder)["extras"] = json!({ "mine": 3 });
    let input = Document::parse(&builder.into_bytes().unwrap(), None).unwrap();
    let baked = rebake(&input, &MorphOptions::default());
    for name in ["TEXCOORD_0", "TEXCOORD_1", "_HEAT"] {
        assert_eq!(values(&baked.document, name), values(&input, name), "{name}");
    }
    // What does not fit the vertices, and what belongs to the joints, is gone.
    for name in ["_SHORT", "JOINTS_0", "WEIGHTS_0"] {
        assert!(values(&baked.document, name).is_null(), "{name}");
    }
    assert_eq!(baked.document.json["meshes"][0]["primitives"][0]["extras"]["mine"], 3);
    assert_eq!(baked.character.meshes[0].morphs.len(), 4);
}

#[test]
fn two_primitives_keep_their_own_vertices_and_materials() {
    let mut builder = triangle();
    let others = builder.positions(&TRIANGLE.map(|p| p + Vec3::Z)).unwrap();
    builder.push("materials", json!({ "name": "a" }));
    builder.push("materials", json!({ "name": "b" }));
    let first = primitive_mut(&mut builder).clone();
    builder.json["meshes"][0]["primitives"] = json!([
        { "attributes": first["attributes"], "material": 1 },
        { "attributes": { "POSITION": others }, "material": 0 },
    ]);
    let input = Document::parse(&builder.into_bytes().unwrap(), None).unwrap();
    let baked = rebake(&input, &MorphOptions { normals: true, ..MorphOptions::default() });
    let primitives = baked.document.json["meshes"][0]["primitives"].as_array().unwrap();
    assert_eq!(primitives.iter().map(|p| &p["material"]).collect::<Vec<_>>(), [1, 0]);
    let counts = primitives.iter().map(|p| {
        let accessor = p["attributes"]["POSITION"].as_u64().unwrap() as usize;
        baked.document.json["accessors"][accessor]["count"].clone()
    });
    assert_eq!(counts.collect::<Vec<_>>(), [3, 3]);
    let at = positions(&baked.character, Some("frisson"), 4.0 / 24.0);
    assert_eq!(at.len(), 6);
    assert!((at[3].z - 1.0).abs() < 1e-6 && (at[0].y - 0.4).abs() < 1e-6, "{at:?}");
}

#[cfg(feature = "meshopt")]
#[test]
fn a_packed_input_declares_no_packing_when_it_comes_out() {
    for name in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
        let mut builder = triangle();
        let packed = meshopt::encode_vertex_buffer(&TRIANGLE.map(|p| p.to_array())).unwrap();
        let view = builder.view(&packed, frisson_io::gltf::ViewUse::Other, None).unwrap();
        let block = json!({
            "buffer": 0, "byteOffset": builder.json["bufferViews"][view]["byteOffset"],
            "byteLength": packed.len(), "byteStride": 12, "count": 3, "mode": "ATTRIBUTES",
        });
        builder.json["bufferViews"][0]["extensions"] = json!({ name: block });
        builder.json["bufferViews"][0]["byteStride"] = json!(12);
        builder.use_extension(name, true);
        builder.json["extensions"] = json!({ "ACME_wobble": {} });
        builder.use_extension("ACME_wobble", false);
        let input = Document::parse(&builder.into_bytes().unwrap(), None).unwrap();
        let plain = input.plain().unwrap();
        assert!(!serde_json::to_string(&plain.json).unwrap().contains("meshopt"));
        // The packed bytes are gone, the positions are there.
        assert_eq!(plain.json["bufferViews"].as_array().unwrap().len(), 1);
        let character = frisson_io::gltf::to_character(&plain, &ReadOptions::default()).unwrap().0;
        assert_eq!(character.meshes[0].mesh.positions, TRIANGLE);
        let baked = rebake(&input, &MorphOptions::default());
        assert_eq!(baked.document.json["extensionsUsed"], json!(["ACME_wobble"]));
        assert!(baked.document.json.get("extensionsRequired").is_none());
    }
}
