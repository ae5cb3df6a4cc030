//! What the format allows and we must understand.

use frisson_io::gltf::{GlbBuilder, ReadOptions, SceneChoice, ViewUse, to_character};
use glam::{Quat, Vec3};
use serde_json::json;

use crate::files::*;

#[test]
fn a_skin_bends_by_its_joints_and_ignores_the_mesh_node() {
    let imported = import(bent_strip());
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    let character = &imported.character;
    let rest = positions(character, None, 0.0);
    assert_close(&rest, &character.meshes[0].mesh.positions, 1e-6);
    // At the end the tip joint has turned a quarter about (0, 1, 0).
    let bent = positions(character, Some("bend"), 1.0);
    let turned = Vec3::Y + Quat::from_rotation_z(std::f32::consts::FRAC_PI_2) * (rest[9] - Vec3::Y);
    assert_close(&bent[9..], &[turned], 1e-6);
    // Half way in time is half way in angle; vertex 4 follows both joints equally.
    let half = positions(character, Some("bend"), 0.5);
    let turn = Quat::from_rotation_z(std::f32::consts::FRAC_PI_4);
    let expected = 0.5 * rest[4] + 0.5 * (Vec3::Y + turn * (rest[4] - Vec3::Y));
    assert_close(&half[4..5], &[expected], 1e-6);
}

#[test]
fn steps_hold_and_cubic_splines_follow_their_tangents() {
    let character = import(bent_strip()).character;
    let rest = positions(&character, None, 0.0);
    let held = positions(&character, Some("bulge"), 0.99);
    assert!((held[2].z - 0.25).abs() < 1e-6 && held[4].z == 0.0);
    assert!((positions(&character, Some("bulge"), 1.0)[3].z - 1.0).abs() < 1e-6);
    // From 0 to 1 with both tangents 1 is a straight line.
    let slid = positions(&character, Some("slide"), 0.3);
    assert_close(&slid, &rest.iter().map(|p| *p + 0.3 * Vec3::X).collect::<Vec<_>>(), 1e-6);
}

#[test]
fn names_are_made_unique_and_made_up() {
    let mut builder = triangle();
    builder.push("nodes", json!({ "name": "body" }));
    builder.push("nodes", json!({}));
    let character = import(builder).character;
    let names: Vec<&str> = character.skeleton.nodes().iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["body", "body.2", "node_2"]);
}

#[test]
fn missing_inverse_bind_matrices_are_identities() {
    let mut builder = bent_strip();
    builder.object_mut("skins", 0).unwrap().shift_remove("inverseBindMatrices");
    let character = import(builder).character;
    // The tip joint stands at height 1 and now moves its vertices up by that.
    let moved = positions(&character, None, 0.0);
    assert_close(&moved[8..9], &[character.meshes[0].mesh.positions[8] + Vec3::Y], 1e-6);
}

#[test]
fn a_second_set_of_influences_counts() {
    let mut builder = bent_strip();
    let half = builder.weights(&[[0.5, 0.0, 0.0, 0.0]; 10]).unwrap();
    let joints = builder.joints(&[[1, 0, 0, 0]; 10]).unwrap();
    let first = builder.joints(&[[0, 0, 0, 0]; 10]).unwrap();
    let attributes = &mut primitive_mut(&mut builder)["attributes"];
    attributes["JOINTS_0"] = json!(first);
    attributes["WEIGHTS_0"] = json!(half);
    attributes["JOINTS_1"] = json!(joints);
    attributes["WEIGHTS_1"] = json!(half);
    let character = import(builder).character;
    let influences = &character.meshes[0].influences;
    assert_eq!(influences.of(7).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
}

#[test]
fn a_mirrored_non_uniform_parent_carries_a_rigid_mesh() {
    let mut builder = triangle();
    builder.push(
        "nodes",
        json!({ "name": "hand", "children": [0], "scale": [-2.0, 3.0, 1.0],
                "translation": [1.0, 0.0, 0.0] }),
    );
    builder.json["scenes"][0]["nodes"] = json!([1]);
    let character = import(builder).character;
    let expected = TRIANGLE.map(|p| Vec3::new(1.0 - 2.0 * p.x, 3.0 * p.y, p.z));
    assert_close(&positions(&character, None, 0.0), &expected, 1e-6);
    // Turned round, so that it still faces +z.
    assert_eq!(character.meshes[0].mesh.topology.triangles, [[0, 2, 1]]);
}

#[test]
fn a_matrix_is_taken_apart() {
    let mut builder = triangle();
    let matrix = glam::Mat4::from_scale_rotation_translation(
        Vec3::new(1.0, 2.0, -3.0),
        Quat::from_rotation_y(0.7),
        Vec3::new(4.0, 5.0, 6.0),
    );
    builder.object_mut("nodes", 0).unwrap()["mesh"] = json!(0);
    builder.json["nodes"][0]["matrix"] = json!(matrix.to_cols_array());
    let character = import(builder).character;
    let expected = TRIANGLE.map(|p| matrix.transform_point3(p));
    assert_close(&positions(&character, None, 0.0), &expected, 1e-5);
}

#[test]
fn shear_is_said_not_swallowed() {
    let mut builder = triangle();
    builder.json["nodes"][0]["matrix"] = json!([1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    assert!(import(builder).warnings[0].contains("shear"));
}

#[test]
fn strips_and_fans_keep_their_facing() {
    let square = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y];
    for (mode, order) in [(5, [0, 1, 2, 3]), (6, [0, 1, 3, 2])] {
        let mut builder = triangle();
        let points: Vec<Vec3> = order.iter().map(|&k: &usize| square[k]).collect();
        let accessor = builder.positions(&points).unwrap();
        let primitive = primitive_mut(&mut builder);
        primitive["attributes"]["POSITION"] = json!(accessor);
        primitive["mode"] = json!(mode);
        let mesh = import(builder).character.meshes.remove(0).mesh;
        assert_eq!(mesh.topology.triangles.len(), 2);
        for t in &mesh.topology.triangles {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
            assert!((b - a).cross(c - a).z > 0.0, "mode {mode}: {t:?}");
        }
    }
}

#[test]
fn points_and_lines_are_left_out_with_a_word() {
    let mut builder = triangle();
    primitive_mut(&mut builder)["mode"] = json!(1);
    let imported = import(builder);
    assert!(imported.character.meshes.is_empty());
    assert!(imported.warnings[0].contains("points and lines"), "{:?}", imported.warnings);
}

#[test]
fn primitives_join_and_share_vertices() {
    let mut builder = triangle();
    let indices = builder.triangles(&[[2, 1, 0]], 3).unwrap();
    let own = builder.positions(&TRIANGLE.map(|p| p + Vec3::Z)).unwrap();
    builder.push("materials", json!({ "name": "red" }));
    let first = primitive_mut(&mut builder).clone();
    let mut second = first.clone();
    second["indices"] = json!(indices);
    second["material"] = json!(0);
    let third = json!({ "attributes": { "POSITION": own } });
    builder.json["meshes"][0]["primitives"] = json!([first, second, third]);
    let mesh = import(builder).character.meshes.remove(0);
    assert_eq!(mesh.source.as_ref().unwrap().primitives, [(0, 3), (1, 0), (2, 3)]);
    assert_eq!(mesh.mesh.topology.triangles, [[0, 1, 2], [2, 1, 0], [3, 4, 5]]);
    assert_eq!(mesh.mesh.topology.triangle_materials, [0, 1, 0]);
    assert_eq!(mesh.mesh.topology.materials[1].name, "red");
}

/// The same triangle, its positions stored in another way.
fn stored(store: impl FnOnce(&mut GlbBuilder) -> serde_json::Value) -> Vec<Vec3> {
    let mut builder = triangle();
    let accessor = store(&mut builder);
    let accessor = builder.push("accessors", accessor);
    primitive_mut(&mut builder)["attributes"]["POSITION"] = json!(accessor);
    import(builder).character.meshes[0].mesh.positions.clone()
}

#[test]
fn interleaved_normalised_quantised_and_sparse_positions() {
    let interleaved = stored(|b| {
        let rows: Vec<[f32; 5]> = TRIANGLE.iter().map(|p| [7.0, p.x, p.y, p.z, 7.0]).collect();
        let view = b.view(bytemuck::cast_slice(&rows), ViewUse::Vertices, Some(20)).unwrap();
        json!({ "bufferView": view, "byteOffset": 4, "componentType": 5126, "count": 3, "type": "VEC3" })
    });
    assert_eq!(interleaved, TRIANGLE);
    for (normalized, one) in [(true, 127i8), (false, 1)] {
        let rows = TRIANGLE.map(|p| [p.x as i8 * one, p.y as i8 * one, p.z as i8 * one, 0]);
        let bytes = stored(|b| {
            let view = b.view(bytemuck::cast_slice(&rows), ViewUse::Vertices, Some(4)).unwrap();
            json!({ "bufferView": view, "componentType": 5120, "normalized": normalized,
                    "count": 3, "type": "VEC3" })
        });
        assert_eq!(bytes, TRIANGLE);
    }
    let sparse = stored(|b| {
        let places = b.view(&[1, 2], ViewUse::Other, None).unwrap();
        let values = [Vec3::X, Vec3::Y];
        let values = b.view(bytemuck::cast_slice(&values), ViewUse::Other, None).unwrap();
        json!({ "componentType": 5126, "count": 3, "type": "VEC3", "sparse": {
            "count": 2, "indices": { "bufferView": places, "componentType": 5121 },
            "values": { "bufferView": values } } })
    });
    assert_eq!(sparse, TRIANGLE);
}

#[cfg(feature = "meshopt")]
#[test]
fn meshopt_views_unpack_under_both_names() {
    for name in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
        let unpacked = stored(|b| {
            let packed = meshopt::encode_vertex_buffer(&TRIANGLE.map(|p| p.to_array())).unwrap();
            let view = b.view(&packed, ViewUse::Other, None).unwrap();
            let mut object = b.json["bufferViews"][view].take();
            let mut extension = object.clone();
            extension["byteStride"] = json!(12);
            extension["count"] = json!(3);
            extension["mode"] = json!("ATTRIBUTES");
            object["byteLength"] = json!(36);
            object["extensions"] = json!({ name: extension });
            b.json["bufferViews"][view] = object;
            b.use_extension(name, true);
            json!({ "bufferView": view, "componentType": 5126, "count": 3, "type": "VEC3" })
        });
        assert_eq!(unpacked, TRIANGLE);
    }
}

#[test]
fn scenes_are_chosen_by_default_index_and_name() {
    let mut builder = triangle();
    builder.push("nodes", json!({ "name": "other", "mesh": 0 }));
    builder.push("scenes", json!({ "name": "second", "nodes": [1] }));
    builder.json["scene"] = json!(1);
    let document = import(builder).document;
    let name = |scene: SceneChoice| {
        let options = ReadOptions { scene, ..ReadOptions::default() };
        let (character, _) = to_character(&document, &options).unwrap();
        character.meshes.iter().map(|m| m.mesh.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(name(SceneChoice::Default), ["other"]);
    assert_eq!(name(SceneChoice::Index(0)), ["body"]);
    assert_eq!(name(SceneChoice::Name("second".to_owned())), ["other"]);
}

#[test]
fn hard_edges_and_seams_are_told_apart_by_normals() {
    let mut builder = triangle();
    let positions = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ZERO, Vec3::X, Vec3::Z];
    let slant = Vec3::new(0.0, -1.0, 0.0);
    let normals = [Vec3::Z, Vec3::Z, Vec3::Z, Vec3::Z, slant, slant];
    let positions = builder.positions(&positions).unwrap();
    let normals = builder.floats(bytemuck::cast_slice(&normals), 3, ViewUse::Vertices).unwrap();
    primitive_mut(&mut builder)["attributes"] = json!({ "POSITION": positions, "NORMAL": normals });
    let groups = &import(builder).character.meshes[0].mesh.topology.smoothing.clone();
    assert_eq!(groups[0], groups[3], "a seam shares its normal");
    assert_ne!(groups[1], groups[4], "a hard edge does not");
}

#[test]
fn a_texture_transform_moves_the_coordinates_and_a_bad_image_is_a_warning() {
    let mut builder = triangle();
    let uvs = [[0.0f32, 0.0], [1.0, 0.0], [0.0, 1.0]];
    let uvs = builder.floats(bytemuck::cast_slice(&uvs), 2, ViewUse::Vertices).unwrap();
    builder.push("images", json!({ "uri": "data:image/png;base64,AAAA" }));
    builder.push("textures", json!({ "source": 0 }));
    builder.push(
        "materials",
        json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0, "extensions": {
            "KHR_texture_transform": { "offset": [0.5, 0.0], "scale": [2.0, 3.0] } } } } }),
    );
    let primitive = primitive_mut(&mut builder);
    primitive["attributes"]["TEXCOORD_0"] = json!(uvs);
    primitive["material"] = json!(0);
    let imported = import(builder);
    let moved: Vec<[f32; 2]> =
        imported.character.meshes[0].mesh.topology.uvs.iter().map(|uv| uv.to_array()).collect();
    assert_eq!(moved, [[0.5, 0.0], [2.5, 0.0], [0.5, 3.0]]);
    assert!(imported.warnings[0].contains("image 0"), "{:?}", imported.warnings);
}

#[test]
fn channels_without_a_node_are_left_out() {
    let mut builder = bent_strip();
    builder.json["animations"][0]["channels"][0]["target"] = json!({ "path": "pointer" });
    let imported = import(builder);
    assert!(imported.character.clips[0].tracks.is_empty());
    assert!(imported.warnings[0].contains("without a node"));
}
