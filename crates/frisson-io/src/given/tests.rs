//! Files that give shapes: what was written comes back, damage is an error.

use std::path::Path;

use frisson::stage::MeshSequence;
use glam::Vec3;
use proptest::prelude::*;

use super::*;
use crate::export::tests::{MemorySource, export_with, small_shot};

fn wave_only() -> MemorySource {
    let mut source = small_shot();
    source.frames.iter_mut().for_each(|f| f.meshes.truncate(1));
    source
}

fn positions(meshes: &dyn MeshSequence, mesh: usize, time: f64) -> Vec<Vec3> {
    let mut out = Vec::new();
    meshes.positions_at(mesh, time, &mut out);
    out
}

#[test]
fn point_caches_move_the_mesh_they_were_written_from() {
    for extension in ["pc2", "mdd"] {
        let folder = tempfile::tempdir().unwrap();
        let mut source = wave_only();
        let text = format!("{extension} = \"a.{extension}\"");
        export_with(&mut source, folder.path(), &text).unwrap();
        let path = folder.path().join(format!("a.{extension}"));
        let cache = PointCache::open(&path, 25.0, &InputSet::new()).unwrap();
        assert_eq!((cache.points(), cache.times().len()), (9, 4));
        // PC2 keeps the first frame, MDD begins at 0.
        let start = if extension == "pc2" { 0.4 } else { 0.0 };
        let mesh = source.frames[0].meshes[0].clone();
        let (meshes, seconds) = cached_meshes(vec![mesh.clone()], cache).unwrap();
        assert!((seconds - start - 0.12).abs() < 1e-6, "{seconds}");
        for (k, frame) in source.frames.iter().enumerate() {
            let at = start + 0.04 * k as f64;
            let off = |(a, b): (&Vec3, &Vec3)| a.distance(*b);
            let read = positions(&*meshes, 0, at);
            let worst = read.iter().zip(&frame.meshes[0].positions).map(off).fold(0.0, f32::max);
            assert!(worst < 1e-5, "{extension}, frame {k}: {worst}");
        }
        let cache = PointCache::open(&path, 25.0, &InputSet::new()).unwrap();
        let said = cached_meshes(vec![mesh.clone(), mesh], cache).err().unwrap().to_string();
        assert!(said.contains("9 points, the meshes have 18 vertices"), "{said}");
    }
}

#[test]
fn damaged_point_caches_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    export_with(&mut wave_only(), folder.path(), "pc2 = \"a.pc2\"").unwrap();
    let bytes = std::fs::read(folder.path().join("a.pc2")).unwrap();
    let path = folder.path().join("b.pc2");
    let said = |bytes: &[u8], path: &Path| {
        std::fs::write(path, bytes).unwrap();
        PointCache::open(path, 25.0, &InputSet::new())
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default()
    };
    assert!(said(&bytes[..bytes.len() - 1], &path).contains("do not fit"));
    assert!(said(b"POINTCACHE2", &path).contains("cut short"));
    let mut huge = bytes.clone();
    huge[28..32].copy_from_slice(&i32::MAX.to_le_bytes());
    assert!(said(&huge, &path).contains("do not fit"));
    let mut none = bytes;
    none[16..20].copy_from_slice(&(-1i32).to_le_bytes());
    assert!(said(&none, &path).contains("-1 points"));
}

#[test]
fn a_sequence_of_files_plays_and_gives_curves_and_points() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = wave_only();
    export_with(&mut source, folder.path(), "obj = \"a.obj\"").unwrap();
    let pattern = folder.path().join("a.####.obj");
    assert_eq!(frame_file(&pattern, 11), folder.path().join("a.0011.obj"));
    let given = open(&pattern, 25.0, &InputSet::new()).unwrap();
    let meshes = given.meshes.unwrap();
    assert!((given.seconds - 0.52).abs() < 1e-9);
    assert_eq!(given.curves.len(), 1);
    for frame in &source.frames {
        let read = positions(&*meshes, 0, frame.time);
        for p in &frame.meshes[0].positions {
            let nearest = read.iter().map(|q| q.distance(*p)).fold(f32::MAX, f32::min);
            assert!(nearest < 1e-5, "{nearest}");
        }
        let hair = given.curves[0].curves_at(frame.time).unwrap();
        assert_eq!(hair.points, frame.curves[0].points);
        assert_eq!(hair.counts, frame.curves[0].counts);
    }
    // A frame with other triangles is named.
    std::fs::write(folder.path().join("a.0012.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        .unwrap();
    let said = open(&pattern, 25.0, &InputSet::new()).err().unwrap().to_string();
    assert!(said.contains("a.0012.obj") && said.contains("differ"), "{said}");
}

#[test]
fn obj_faces_of_every_spelling() {
    let text = "o quad\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 1\nvn 0 0 1\n\
                f 1/1/1 2/1/1 3/2/1 4/2/1\no tail\nf -4//1 -3//1 -2//1\np 1 2\nl 1 2 3\n";
    let scene = read_obj(text).unwrap();
    assert_eq!(scene.meshes.len(), 2);
    assert_eq!(scene.meshes[0].topology.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(scene.meshes[0].topology.uvs[2], glam::Vec2::new(1.0, 0.0));
    assert_eq!(scene.meshes[1].positions, [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0)]);
    assert_eq!((scene.points[0].positions.len(), scene.curves[0].counts[0]), (2, 3));
    let said = |text: &str| read_obj(text).unwrap_err().to_string();
    assert_eq!(said("v 0 0 0\nf 1 2 3"), "line 2: \"2\" names what is not there (1 so far)");
    assert_eq!(said("v 0 nan 0"), "line 1: \"v\" needs finite numbers");
    assert!(said("v 0 0 0\nf -2 1 1").contains("\"-2\""));
}

proptest! {
    #[test]
    fn any_text_is_an_obj_or_an_error(text in "([vfolp]|vt|vn|usemtl)( [-0-9./e]{1,6}){0,5}\n{0,2}") {
        let _ = read_obj(&text);
    }

    #[test]
    fn any_bytes_are_a_cache_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.pc2", "a.mdd"] {
            let mut bytes = bytes.clone();
            if name == "a.pc2" && bytes.len() > 12 {
                bytes[..12].copy_from_slice(b"POINTCACHE2\0");
            }
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            if let Ok(cache) = PointCache::open(&path, 25.0, &InputSet::new()) {
                let _ = cache.read(0);
            }
        }
    }
}
