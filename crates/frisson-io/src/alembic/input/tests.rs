//! What the writer wrote is read back; damage is an error.

use std::io::Cursor;
use std::sync::Arc;

use frisson::stage::MeshSequence;
use glam::Vec3;
use proptest::prelude::*;

use super::*;
use crate::export::tests::{MemorySource, random_shot, small_shot};
use crate::export::{ExportParams, Frames};
use crate::source::Silent;

fn write(source: &mut MemorySource, params: &ExportParams) -> Vec<u8> {
    let mut silent = Silent;
    let mut frames = Frames::new(source, params, &mut silent).unwrap();
    crate::alembic::write_shot(Cursor::new(Vec::new()), &mut frames).unwrap().into_inner()
}

fn params(meshes: &[&str]) -> ExportParams {
    let meshes = meshes.iter().map(|m| (*m).to_owned()).collect();
    ExportParams { alembic: Some("x.abc".into()), meshes, ..ExportParams::default() }
}

/// Positions of the corners of all triangles, which do not depend on how vertices are numbered.
fn corners(mesh: &frisson::geometry::Mesh) -> Vec<[Vec3; 3]> {
    let corner = |t: &[u32; 3]| {
        let three = t.map(|c| mesh.positions[c as usize]);
        // Where a triangle begins is not part of it.
        let key = |p: &Vec3| p.to_array().map(f32::to_bits);
        let first = (0..3).min_by_key(|&k| key(&three[k])).unwrap();
        [three[first], three[(first + 1) % 3], three[(first + 2) % 3]]
    };
    let mut all: Vec<_> = mesh.topology.triangles.iter().map(corner).collect();
    all.sort_by_key(|t| t.map(|p| p.to_array().map(f32::to_bits)));
    all
}

#[test]
fn meshes_curves_and_points_come_back() {
    let mut source = small_shot();
    let file = AlembicFile::parse(write(&mut source, &params(&[]))).unwrap();
    let names: Vec<&str> = file.meshes().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["wave", "blob"]);
    assert_eq!(file.meshes().map(|m| m.constant_topology).collect::<Vec<_>>(), [true, false]);
    assert!((file.span().0 - 0.4).abs() < 1e-12 && (file.span().1 - 0.52).abs() < 1e-12);
    for frame in &source.frames {
        let wave = file.mesh_at(0, frame.time).unwrap();
        assert_eq!(corners(&wave), corners(&frame.meshes[0]), "frame {}", frame.index);
        let shown = file.mesh_at(1, frame.time).unwrap();
        let blob = frame.meshes.get(1).map(corners).unwrap_or_default();
        assert_eq!(corners(&shown), blob, "frame {}", frame.index);
        let hair = file.curves_at(0, frame.time).unwrap();
        let wanted = &frame.curves[0];
        assert_eq!((&hair.counts, &hair.points), (&wanted.counts, &wanted.points));
        assert_eq!((&hair.widths, &hair.ids), (&wanted.widths, &wanted.ids));
        let spray = file.points_at(0, frame.time).unwrap();
        let wanted = &frame.points[0];
        assert_eq!((&spray.positions, &spray.ids), (&wanted.positions, &wanted.ids));
        assert_eq!((&spray.widths, &spray.velocities), (&wanted.widths, &wanted.velocities));
    }
    // The texture coordinates are those that went in.
    let wave = file.mesh_at(0, 0.4).unwrap();
    let source = &source.frames[0].meshes[0];
    for (p, uv) in wave.positions.iter().zip(&wave.topology.uvs) {
        let k = source.positions.iter().position(|q| q == p).unwrap();
        assert!(uv.distance(source.topology.uvs[k]) < 1e-6);
    }
}

#[test]
fn an_actor_plays_on_straight_lines_and_holds_at_the_ends() {
    let mut source = small_shot();
    let bytes = write(&mut source, &params(&["wave"]));
    let actor = AlembicMeshes::new(Arc::new(AlembicFile::parse(bytes).unwrap())).unwrap();
    let mut out = Vec::new();
    let find = |out: &[Vec3], k: usize| {
        let x = source.frames[0].meshes[0].positions[k];
        *out.iter().find(|p| p.x == x.x && p.z == x.z).unwrap()
    };
    let at = |frame: usize, k: usize| source.frames[frame].meshes[0].positions[k];
    for k in 0..9 {
        actor.positions_at(0, 0.46, &mut out);
        assert!(find(&out, k).distance(at(1, k).lerp(at(2, k), 0.5)) < 1e-6);
        actor.positions_at(0, -3.0, &mut out);
        assert_eq!(find(&out, k), at(0, k));
        actor.positions_at(0, 99.0, &mut out);
        assert_eq!(find(&out, k), at(3, k));
    }
    let bytes = write(&mut small_shot(), &params(&["blob"]));
    let refused = AlembicMeshes::new(Arc::new(AlembicFile::parse(bytes).unwrap()));
    assert!(refused.err().unwrap().to_string().contains("topology changes"));
}

/// Reads everything that can be read.
fn read_all(bytes: Vec<u8>) {
    let Ok(file) = AlembicFile::parse(bytes) else { return };
    for time in [-1.0, 0.4, 0.45, 0.6, 1e9] {
        (0..file.meshes().len()).for_each(|i| drop(file.mesh_at(i, time)));
        (0..file.curves().len()).for_each(|i| drop(file.curves_at(i, time)));
        (0..file.points().len()).for_each(|i| drop(file.points_at(i, time)));
    }
    drop(AlembicMeshes::new(Arc::new(file)));
}

#[test]
fn every_prefix_and_every_byte_may_be_wrong() {
    let bytes = write(&mut small_shot(), &params(&[]));
    for cut in (0..bytes.len()).step_by(61) {
        read_all(bytes[..cut].to_vec());
    }
    for at in (0..bytes.len()).step_by(29) {
        for value in [0, 0x7f, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            read_all(changed);
        }
    }
    let said = |bytes: &[u8]| AlembicFile::parse(bytes.to_vec()).err().unwrap().to_string();
    assert!(said(b"\x89HDF\r\n").contains("HDF5"));
    assert!(said(b"nonsense").contains("does not begin like"));
}

#[test]
fn a_group_that_holds_itself_is_refused() {
    // header, root group of six parts that all are the root, and again.
    let mut bytes = b"Ogawa\xff\x00\x01".to_vec();
    bytes.extend(16u64.to_le_bytes());
    bytes.extend(6u64.to_le_bytes());
    for part in [1u64 << 63, 1 << 63, 16, 1 << 63, 1 << 63, 1 << 63] {
        bytes.extend(part.to_le_bytes());
    }
    assert!(AlembicFile::parse(bytes).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn random_shots_come_back(seed in any::<u64>(), frames in 1usize..5) {
        let mut source = random_shot(seed, frames);
        let mut silent = Silent;
        let params = params(&[]);
        let written = Frames::new(&mut source, &params, &mut silent).ok().and_then(|mut frames| {
            crate::alembic::write_shot(Cursor::new(Vec::new()), &mut frames).ok()
        });
        let Some(bytes) = written.map(Cursor::into_inner) else { return Ok(()) };
        let file = AlembicFile::parse(bytes).unwrap();
        for (index, frame) in source.frames.iter().enumerate() {
            let time = (10 + index) as f64 / 25.0;
            for (k, info) in file.meshes().enumerate() {
                let wanted = frame.meshes.iter().find(|m| m.name == info.name);
                let mut wanted = wanted.cloned().unwrap_or_default();
                let topology = Arc::make_mut(&mut wanted.topology);
                topology.triangles.retain(|t| t[0] != t[1] && t[1] != t[2] && t[0] != t[2]);
                prop_assert_eq!(corners(&file.mesh_at(k, time).unwrap()), corners(&wanted));
            }
            for k in 0..file.curves().len() {
                let wanted = frame.curves.first().map(|c| c.points.clone()).unwrap_or_default();
                prop_assert_eq!(file.curves_at(k, time).unwrap().points, wanted);
            }
        }
    }

    #[test]
    fn mutated_files_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let mut bytes = write(&mut small_shot(), &params(&[]));
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        read_all(bytes);
    }
}
