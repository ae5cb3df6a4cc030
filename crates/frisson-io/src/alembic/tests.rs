//! What the archive holds, read back by an independent reader.

use std::io::Cursor;

use glam::Vec3;
use proptest::prelude::*;

use super::reader::{self, ReadArchive};
use crate::export::tests::{MemorySource, random_shot, small_shot};
use crate::export::{ExportParams, Frames};
use crate::source::Silent;

fn params() -> ExportParams {
    ExportParams { alembic: Some("x.abc".into()), ..ExportParams::default() }
}

fn write(source: &mut MemorySource, params: &ExportParams) -> Vec<u8> {
    let mut silent = Silent;
    let mut frames = Frames::new(source, params, &mut silent).unwrap();
    super::write_shot(Cursor::new(Vec::new()), &mut frames).unwrap().into_inner()
}

fn read_back(source: &mut MemorySource) -> ReadArchive {
    reader::read(&write(source, &params()))
}

#[test]
fn a_mesh_is_read_back_as_it_was_clockwise_with_v_up() {
    let mut source = small_shot();
    let archive = read_back(&mut source);
    assert!(archive.application.contains("_ai_DCC_FPS=25"), "{}", archive.application);
    assert_eq!(archive.samplings[1], (4, 0.04, 0.4));
    let wave = archive.top.child("wave").child("waveShape");
    assert!(wave.metadata.contains("schema=AbcGeom_PolyMesh_v1"));
    let positions = wave.samples::<Vec3>(".geom/P");
    for (frame, read) in source.frames.iter().zip(&positions) {
        assert_eq!(&frame.meshes[0].positions, read);
    }
    let first = source.frames[0].meshes[0].topology.triangles[0];
    let indices = &wave.samples::<i32>(".geom/.faceIndices")[0];
    assert_eq!(indices[..3], [first[0] as i32, first[2] as i32, first[1] as i32]);
    let uv = source.frames[0].meshes[0].topology.uvs[1];
    assert_eq!(wave.samples::<[f32; 2]>(".geom/uv/.vals")[0][1], [uv.x, 1.0 - uv.y]);
    assert_eq!(wave.samples::<i32>(".geom/uv/.indices")[0], *indices);
    assert!(wave.properties[".geom/uv/.vals"].metadata.contains("geoScope=fvr"));
    let bounds = wave.samples::<f64>(".geom/.selfBnds");
    assert_eq!(bounds[2][1], f64::from(source.frames[2].meshes[0].bounds().min.y));
}

#[test]
fn static_arrays_are_stored_once() {
    let mut source = small_shot();
    let bytes = write(&mut source, &params());
    let faces: Vec<u8> = {
        let triangles = &source.frames[0].meshes[0].topology.triangles;
        let turned = triangles.iter().flat_map(|t| [t[0], t[2], t[1]]);
        turned.flat_map(u32::to_le_bytes).collect()
    };
    // Faces and uv indices share one block, in all frames.
    let found = bytes.windows(faces.len()).filter(|w| *w == faces).count();
    assert_eq!(found, 1);
}

#[test]
fn shapes_come_and_go_and_change() {
    let archive = read_back(&mut small_shot());
    let blob = archive.top.child("blob").child("blobShape");
    let sizes: Vec<usize> = blob.samples::<Vec3>(".geom/P").iter().map(Vec::len).collect();
    // Not there, three vertices, none, four.
    assert_eq!(sizes, [0, 3, 0, 4]);
    let corners: Vec<usize> =
        blob.samples::<i32>(".geom/.faceIndices").iter().map(Vec::len).collect();
    assert_eq!(corners, [0, 3, 0, 6]);
    let spray = archive.top.child("spray").child("sprayShape");
    let ids: Vec<usize> = spray.samples::<u64>(".geom/.pointIds").iter().map(Vec::len).collect();
    assert_eq!(ids, [1, 2, 3, 0]);
}

#[test]
fn strands_carry_widths_colour_and_groom_names() {
    let archive = read_back(&mut small_shot());
    let hair = archive.top.child("hair").child("hairShape");
    assert!(hair.metadata.contains("AbcGeom_Curve_v2"));
    assert_eq!(hair.samples::<i32>(".geom/nVertices")[0], [3, 2]);
    assert_eq!(hair.samples::<u8>(".geom/curveBasisAndType")[0], [1, 0, 0, 0]);
    assert_eq!(hair.samples::<f32>(".geom/width")[0].len(), 5);
    assert_eq!(hair.samples::<f32>(".geom/.arbGeomParams/groom_root_uv")[0].len(), 4);
    assert_eq!(hair.samples::<f32>(".geom/.arbGeomParams/Cd")[0].len(), 3);
}

#[test]
fn velocities_are_differences_of_neighbours() {
    let mut source = small_shot();
    let archive = read_back(&mut source);
    let wave = archive.top.child("wave").child("waveShape");
    let velocities = wave.samples::<Vec3>(".geom/.velocities");
    let at = |frame: usize| source.frames[frame].meshes[0].positions[3];
    assert!((velocities[0][3] - (at(1) - at(0)) / 0.04).length() < 1e-4);
    assert!((velocities[1][3] - (at(2) - at(0)) / 0.08).length() < 1e-4);
    assert!((velocities[3][3] - (at(3) - at(2)) / 0.04).length() < 1e-4);
}

#[test]
fn a_part_of_the_range_is_the_same_frames() {
    let mut source = small_shot();
    let part = ExportParams { frames: Some([11, 12]), scale: 100.0, ..params() };
    let part = reader::read(&write(&mut source, &part));
    let whole = reader::read(&write(&mut source, &params()));
    let wave = |archive: &ReadArchive, path: &str| {
        archive.top.child("wave").child("waveShape").samples::<Vec3>(path)
    };
    for path in [".geom/P", ".geom/.velocities"] {
        let (part, whole) = (wave(&part, path), wave(&whole, path));
        assert_eq!(part.len(), 2);
        for (a, b) in part[0].iter().zip(&whole[1]) {
            assert!((*a - *b * 100.0).length() < 1e-3, "{path}: {a} {b}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_shot_is_read_back(seed in any::<u64>(), frames in 1_usize..9) {
        let mut source = random_shot(seed, frames);
        let shapes = source.frames.iter().any(|f| {
            !(f.meshes.is_empty() && f.curves.is_empty() && f.points.is_empty())
        });
        prop_assume!(shapes);
        let archive = read_back(&mut source);
        for (index, frame) in source.frames.iter().enumerate() {
            for mesh in &frame.meshes {
                let object = archive.top.child(&mesh.name).children.first().unwrap();
                prop_assert_eq!(&object.samples::<Vec3>(".geom/P")[index], &mesh.positions);
                let corners = object.samples::<i32>(".geom/.faceIndices")[index].len();
                prop_assert_eq!(corners, mesh.topology.triangles.len() * 3);
            }
        }
        fn one_sample_per_frame(object: &reader::ReadObject, frames: usize) {
            for (path, property) in &object.properties {
                if property.flags & 3 != 0 {
                    assert_eq!(property.samples.len(), frames, "{path}");
                    assert_eq!(property.sampling, 1, "{path}");
                }
            }
            object.children.iter().for_each(|c| one_sample_per_frame(c, frames));
        }
        one_sample_per_frame(&archive.top, frames);
    }
}
