//! A character whose vertices another program moved: the point cache has the vertices, the clip the joints.

use std::path::Path;

use frisson::stage::{Motion, NoObserver};
use frisson_io::Silent;
use frisson_io::bake::{BakeOptions, bake, export_cache};
use frisson_io::cache::{CacheReader, IfExists};
use frisson_io::export::ExportParams;
use frisson_io::scene::SceneFile;
use frisson_workshop::Loader;
use glam::Vec3;

const CAT: &str = "frisson = 2\nfps = 30\nframes = [0, 6]\n[actors.cat]\nsource = \"builtin:cat\"\nclip = \"leap\"\n";
const FLESH: &str = "[[layers]]\nflesh = { name = \"belly\", on = \"cat\", from = \"pelvis\", to = [\"chest\"], \
                     frequency_hz = 2.5 }\n";

fn last_positions(folder: &Path, text: &str) -> Vec<Vec3> {
    let scene = SceneFile::parse(&folder.join("scene.toml"), text).expect("a scene");
    let mut stage = scene.build(&Loader).expect("a stage").stage;
    for _ in 0..6 {
        stage.advance_frame(&mut NoObserver).expect("a frame");
    }
    stage.frame().meshes[0].positions.clone()
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn flesh_swings_on_given_vertices_as_on_skinned_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene = SceneFile::parse(&folder.path().join("scene.toml"), CAT).expect("a scene");
    let options =
        BakeOptions { cache: folder.path().join("cat.frisson"), if_exists: IfExists::Refuse };
    bake(&scene, &Loader, &options, &mut Silent).expect("a bake");
    let params = ExportParams { pc2: Some("cat.pc2".into()), ..ExportParams::default() };
    let mut reader = CacheReader::open(&options.cache).expect("a cache");
    let place = folder.path();
    export_cache(&mut reader, &params, place, place, false, &mut Silent).expect("a point cache");

    let pointed = CAT.replace("clip = ", "points = \"cat.pc2\"\nclip = ");
    let plain = last_positions(place, CAT);
    assert!(
        farthest(&plain, &last_positions(place, &pointed)) < 1e-6,
        "the vertices are those given"
    );
    let swung = last_positions(place, &format!("{CAT}{FLESH}"));
    let given = last_positions(place, &format!("{pointed}{FLESH}"));
    assert!(farthest(&plain, &swung) > 1e-3, "it swings");
    assert!(farthest(&swung, &given) < 1e-5, "{}", farthest(&swung, &given));
}

#[test]
fn a_point_cache_leaves_the_joints_their_clip() {
    let folder = tempfile::tempdir().expect("a folder");
    let cat = frisson_models::build("cat").expect("a cat");
    let points: Vec<Vec3> = cat.meshes.iter().flat_map(|m| m.mesh.positions.clone()).collect();
    let mut bytes = b"POINTCACHE2\0".to_vec();
    bytes.extend(1_i32.to_le_bytes());
    bytes.extend((points.len() as i32).to_le_bytes());
    [0.0_f32, 1.0].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    bytes.extend(2_i32.to_le_bytes());
    for _ in 0..2 {
        points.iter().flat_map(|p| p.to_array()).for_each(|n| bytes.extend(n.to_le_bytes()));
    }
    std::fs::write(folder.path().join("cat.pc2"), bytes).expect("written");
    let text = CAT.replace("clip = ", "points = \"cat.pc2\"\nclip = ");
    let scene = SceneFile::parse(&folder.path().join("scene.toml"), &text).expect("a scene");
    let stage = scene.build(&Loader).expect("a stage").stage;
    let actor = stage.actors().get("cat").expect("the cat");
    assert!(actor.points.is_some() && matches!(actor.motion, Motion::Clip(_)));
    assert!(!actor.is_skinned() && actor.deforms());
}
