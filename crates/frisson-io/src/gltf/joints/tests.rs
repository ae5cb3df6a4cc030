//! Joints against the layer they stand for, in files of our own and of others.

use frisson::character::{Influences, Node, Skeleton, Skin, Transform};
use frisson::geometry::Mesh;
use frisson::layers::LayerParams;
use frisson::layers::flesh::FleshParams;
use frisson::stage::{ClipPlay, Clock, EARTH_GRAVITY, Forces, Placement, Rate, Setup};
use glam::Mat4;

use super::*;
use crate::Silent;

/// A tube along y around four joints that bend, shaken sideways.
fn tube(influences: usize) -> Character {
    let node = |i: usize| Node {
        name: format!("j{i}"),
        parent: i.checked_sub(1),
        rest: Transform::from_translation(Vec3::Y * if i == 0 { 0.0 } else { 0.5 }),
    };
    let inverse = |i: usize| Mat4::from_translation(-0.5 * i as f32 * Vec3::Y);
    let (mut positions, mut lists) = (Vec::new(), Vec::new());
    for ring in 0..16 {
        for side in 0..8 {
            let angle = std::f32::consts::TAU * side as f32 / 8.0;
            let y = 0.1 * ring as f32;
            positions.push(Vec3::new(0.2 * angle.cos(), y, 0.2 * angle.sin()));
            let weight = |j: usize| 1.0 / (0.1 + (y - 0.5 * j as f32).abs());
            let mut list: Vec<(u16, f32)> = (0..4).map(|j| (j as u16, weight(j))).collect();
            list.sort_by(|a, b| b.1.total_cmp(&a.1));
            list.truncate(influences);
            lists.push(list);
        }
    }
    let times: Vec<f32> = (0..31).map(|i| i as f32 / 30.0).collect();
    let wave = |t: &f32| (std::f32::consts::TAU * t).sin();
    let track = |target, width, values| Track {
        target,
        interpolation: Interpolation::Linear,
        times: times.clone(),
        values,
        width,
    };
    let slide = times.iter().flat_map(|t| [0.2 * wave(t), 0.0, 0.0]).collect();
    let bend = times.iter().flat_map(|t| Quat::from_rotation_z(0.4 * wave(t)).to_array()).collect();
    let tracks = vec![
        track(TrackTarget::Translation(0), 3, slide),
        track(TrackTarget::Rotation(1), 4, bend),
    ];
    let mesh = frisson::character::CharacterMesh::skinned(
        Mesh::new("tube", positions, vec![[0, 1, 8], [1, 9, 8]]),
        Influences::from_lists(&lists),
    );
    Character {
        name: "tube".to_owned(),
        skeleton: Skeleton::new((0..4).map(node).collect()).unwrap(),
        skins: vec![Skin {
            name: "skin".to_owned(),
            joints: (0..4).collect(),
            inverse_bind: (0..4).map(inverse).collect(),
        }],
        meshes: vec![mesh],
        clips: vec![Clip { name: "move".to_owned(), tracks }],
    }
}

fn stage(influences: usize) -> Simulator {
    stage_of(Arc::new(tube(influences)))
}

fn stage_of(character: Arc<Character>) -> Simulator {
    let placement = Placement { scale: 2.0, rotate_deg: [0.0, 30.0, 0.0], ..Placement::default() };
    let tube = Actor::character_named("tube", character).placed(placement);
    let actor = tube.playing(ClipPlay::new(0));
    let mut element = FleshParams::new("belly", "tube", "j0", &["j3"]);
    element.frequency_hz = Some(3.0);
    let clock = Clock::new(Rate::whole(24), 0, 20);
    let forces = Forces::new(EARTH_GRAVITY, vec![], 24.0);
    let (actors, layers) = (vec![actor], vec![LayerParams::Flesh(element)]);
    Simulator::new(Setup { clock, actors, forces, layers, ..Setup::default() }).unwrap()
}

fn export(influences: usize, limit: usize) -> (JointsReport, Character) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tube.glb");
    let options = JointsOptions { max_influences: limit, ..JointsOptions::default() };
    let report =
        export_joints(&mut stage(influences), 0, None, &path, &options, &mut Silent).unwrap();
    let again = export_joints(&mut stage(influences), 0, None, &path, &options, &mut Silent);
    assert!(matches!(again, Err(GltfError::Exists(_))));
    (report, crate::gltf::read_file(&path).unwrap().character)
}

#[test]
fn the_file_read_back_moves_like_the_layer() {
    let (report, character) = export(2, 4);
    assert!(report.peak > 0.02, "{}", report.peak);
    assert!(report.max_error() < 2e-5 * report.peak.max(1.0), "{}", report.max_error());
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    let clip = &character.clips[0];
    assert_eq!(clip.name, "frisson");
    let mut stage = stage(2);
    let world = stage.actors().all()[0].placement.world_from_actor();
    let (mut pose, mut positions) = (Pose::default(), Vec::new());
    for frame in 0..=20 {
        let time = f64::from(frame) / 24.0;
        pose.set(&character, Some(clip), time, Sampling::AsAuthored, world);
        character.deform_mesh_positions(0, &pose, &mut positions);
        let exact = &stage.frame().meshes[0].positions;
        let off = positions.iter().zip(exact).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(off < 1e-4, "frame {frame}: {off}");
        if frame < 20 {
            stage.advance_frame(&mut NoObserver).unwrap();
        }
    }
}

#[test]
fn a_crowded_vertex_is_reported_and_more_room_makes_it_exact() {
    let (tight, _) = export(4, 4);
    assert!(tight.max_error() > 1e-4 && tight.far_vertices() > 0);
    assert!(tight.warnings.iter().any(|w| w.contains("morph targets")));
    let (roomy, _) = export(4, 8);
    assert!(roomy.max_error() < 2e-5 && roomy.far_vertices() == 0, "{}", roomy.max_error());
}

#[test]
fn joints_go_into_the_file_they_came_from_and_the_rest_of_it_stays() {
    use crate::gltf::{GlbBuilder, ReadOptions, build_character, read_file, to_character};
    use serde_json::json;
    let mut builder: GlbBuilder = build_character(&tube(2)).unwrap();
    // A hat that no flesh moves, second texture coordinates, a VRM, a material of its own.
    let hat = builder.json["meshes"][0].clone();
    builder.push("meshes", hat);
    builder.push("nodes", json!({ "name": "hat", "mesh": 1 }));
    let node = builder.json["nodes"].as_array().unwrap().len() - 1;
    builder.add_to_scene(node);
    let pairs = vec![0.25f32; 256];
    let second = builder.floats(&pairs, 2, crate::gltf::ViewUse::Vertices).unwrap();
    for name in ["TEXCOORD_0", "TEXCOORD_1"] {
        builder.json["meshes"][0]["primitives"][0]["attributes"][name] = json!(second);
    }
    builder.json["extensions"] = json!({ "VRM": { "meta": { "title": "tube" } } });
    builder.use_extension("VRM", false);
    builder.json["materials"][0]["normalTexture"] = json!({ "index": 0, "texCoord": 1 });
    builder.push("images", json!({ "uri": "data:image/png;base64,AAAA" }));
    builder.push("textures", json!({ "source": 0 }));
    let document = Document::parse(&builder.into_bytes().unwrap(), None).unwrap();
    let (character, _) = to_character(&document, &ReadOptions::default()).unwrap();
    let moved = character.meshes.iter().position(|m| m.skin.is_some()).unwrap();
    let vertices = character.meshes[moved].mesh.positions.len();
    let mut stage = stage_of(Arc::new(character));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tube.glb");
    let options = JointsOptions::default();
    let report =
        export_joints(&mut stage, 0, Some(&document), &path, &options, &mut Silent).unwrap();
    assert_eq!(report.errors.len(), vertices, "only what flesh moves is measured");
    assert!(report.max_error() < 2e-5 * report.peak.max(1.0), "{}", report.max_error());
    let after = read_file(&path).unwrap();
    let json = &after.document.json;
    for key in ["extensions", "materials", "textures", "extensionsUsed"] {
        assert_eq!(json[key], document.json[key], "{key}");
    }
    let attributes = &json["meshes"][0]["primitives"][0]["attributes"];
    assert_eq!(attributes["TEXCOORD_1"], json!(second));
    assert_eq!(json["meshes"][1], document.json["meshes"][1], "the hat is as it was");
    assert_eq!(after.character.clips[0].name, "frisson");
    assert_eq!(after.character.clips[1].name, "move");
    // The stage stands at its last frame: so does the file.
    let world = stage.actors().all()[0].placement.world_from_actor();
    let (mut pose, mut positions) = (Pose::default(), Vec::new());
    let clip = Some(&after.character.clips[0]);
    pose.set(&after.character, clip, 20.0 / 24.0, Sampling::AsAuthored, world);
    after.character.deform_mesh_positions(moved, &pose, &mut positions);
    let exact = &stage.frame().meshes[moved].positions;
    let off = positions.iter().zip(exact).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(off < 1e-4, "{off}");
}
