//! Actors of a scene from files of every kind.

use std::path::Path;

use frisson::stage::NoObserver;
use frisson_io::gltf::{GlbBuilder, read_bytes};
use frisson_io::scene::{FileLoader, SceneFile};
use glam::Vec3;
use serde_json::json;

const CORNERS: [Vec3; 3] = [Vec3::ZERO, Vec3::X, Vec3::Y];

/// A triangle on a joint called Hips.
fn hips() -> Vec<u8> {
    let mut builder = GlbBuilder::new();
    let positions = builder.positions(&CORNERS).unwrap();
    let joints = builder.joints(&[[0; 4]; 3]).unwrap();
    let weights = builder.weights(&[[1.0, 0.0, 0.0, 0.0]; 3]).unwrap();
    let attributes = json!({ "POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights });
    builder.push("meshes", json!({ "primitives": [{ "attributes": attributes }] }));
    builder.push("nodes", json!({ "name": "rig:hips" }));
    builder.push("skins", json!({ "joints": [0] }));
    builder.push("nodes", json!({ "name": "body", "mesh": 0, "skin": 0 }));
    builder.add_to_scene(0);
    builder.add_to_scene(1);
    builder.into_bytes().unwrap()
}

/// Positions of the first mesh at frames 0 to 2 of a scene at 10 frames a second.
fn frames(folder: &Path, actor: &str) -> Result<Vec<Vec<Vec3>>, String> {
    let scene = folder.join("scene.toml");
    let text = format!("frisson = 2\nfps = 10\nframes = [0, 2]\n\n[actors.it]\n{actor}\n");
    std::fs::write(&scene, text).unwrap();
    let file = SceneFile::read(&scene).map_err(|e| e.to_string())?;
    let mut stage = file.build(&FileLoader).map_err(|e| e.to_string())?.stage;
    let mut out = vec![stage.frame().meshes[0].positions.clone()];
    for _ in 0..2 {
        stage.advance_frame(&mut NoObserver).unwrap();
        out.push(stage.frame().meshes[0].positions.clone());
    }
    Ok(out)
}

fn lifted(by: f32) -> Vec<Vec3> {
    CORNERS.iter().map(|p| *p + by * Vec3::Y).collect()
}

fn assert_lifts(frames: &[Vec<Vec3>], lifts: [f32; 3]) {
    for (frame, lift) in frames.iter().zip(lifts) {
        for (a, b) in frame.iter().zip(lifted(lift)) {
            assert!(a.distance(b) < 1e-5, "{a} is not {b}");
        }
    }
}

fn write_obj(folder: &Path, name: &str, lift: f32) {
    let line = |p: &Vec3| format!("v {} {} {}\n", p.x, p.y, p.z);
    let text: String = lifted(lift).iter().map(line).chain(["f 1 2 3\n".to_owned()]).collect();
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn numbered_files_play_at_the_scenes_rate() {
    let folder = tempfile::tempdir().unwrap();
    // Frame 1 is missing: it lies between its neighbours.
    write_obj(folder.path(), "a.0000.obj", 0.0);
    write_obj(folder.path(), "a.0002.obj", 2.0);
    let played = frames(folder.path(), "source = \"a.####.obj\"").unwrap();
    assert_lifts(&played, [0.0, 1.0, 2.0]);
    let still = frames(folder.path(), "source = \"a.0002.obj\"").unwrap();
    assert_lifts(&still, [2.0, 2.0, 2.0]);
    let said = frames(folder.path(), "source = \"b.####.obj\"").unwrap_err();
    assert!(said.contains("no file of this sequence"), "{said}");
}

#[test]
fn a_point_cache_moves_the_vertices_of_another_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("it.glb"), hips()).unwrap();
    let mut cache = b"POINTCACHE2\0".to_vec();
    cache.extend(1i32.to_le_bytes());
    cache.extend(3i32.to_le_bytes());
    cache.extend(0f32.to_le_bytes());
    cache.extend(1f32.to_le_bytes());
    cache.extend(3i32.to_le_bytes());
    for lift in [0.0, 0.5, 3.0] {
        let numbers = lifted(lift).into_iter().flat_map(|p| p.to_array());
        cache.extend(numbers.flat_map(f32::to_le_bytes));
    }
    std::fs::write(folder.path().join("it.pc2"), &cache).unwrap();
    let actor = "source = \"it.glb\"\npoints = \"it.pc2\"";
    assert_lifts(&frames(folder.path(), actor).unwrap(), [0.0, 0.5, 3.0]);
    std::fs::write(folder.path().join("it.pc2"), &cache[..40]).unwrap();
    let said = frames(folder.path(), actor).unwrap_err();
    assert!(said.contains("do not fit"), "{said}");
}

#[test]
fn a_clip_of_a_bvh_file_drives_the_joints_of_the_same_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("it.glb"), hips()).unwrap();
    let bvh = "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n\
               End Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 3\nFrame Time: 0.1\n\
               0 0 0\n0 0.5 0\n0 3 0\n";
    std::fs::write(folder.path().join("walk.bvh"), bvh).unwrap();
    let actor = "source = \"it.glb\"\nclip_from = \"walk.bvh\"";
    assert_lifts(&frames(folder.path(), actor).unwrap(), [0.0, 0.5, 3.0]);
    let table = format!("{actor}\njoints = {{ \"rig:hips\" = \"Nobody\" }}");
    let said = frames(folder.path(), &table).unwrap_err();
    assert!(said.contains("none of the 1 joints"), "{said}");
    let missing = format!("{actor}\nclip = \"run\"");
    let said = frames(folder.path(), &missing).unwrap_err();
    assert!(said.contains("it has: motion"), "{said}");
    assert!(read_bytes(&hips(), None).unwrap().character.clips.is_empty());
}
