//! What the writer wrote is read back, texts mean what they say, damage is an error.

mod characters;
mod scenes;

use std::io::Cursor;
use std::sync::Arc;

use frisson::stage::MeshSequence as _;
use glam::Vec3;
use proptest::prelude::*;

use super::*;
use crate::export::tests::{MemorySource, random_shot, small_shot};
use crate::export::{ExportError, ExportParams, Frames};
use crate::source::Silent;
use crate::usd::{BinaryWriter, TextWriter, write_shot};

fn write(source: &mut MemorySource, text: bool) -> std::result::Result<Vec<u8>, ExportError> {
    let params = ExportParams { usd: Some("x.usdc".into()), ..ExportParams::default() };
    let mut silent = Silent;
    let mut frames = Frames::new(source, &params, &mut silent)?;
    if text {
        let mut out = Vec::new();
        write_shot(&mut TextWriter::create(&mut out), &mut frames)?;
        return Ok(out);
    }
    let mut out = Cursor::new(Vec::new());
    write_shot(&mut BinaryWriter::create(&mut out)?, &mut frames)?;
    Ok(out.into_inner())
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
fn meshes_curves_and_points_come_back_from_both_encodings() {
    for text in [false, true] {
        let mut source = small_shot();
        let file = UsdFile::parse(write(&mut source, text).unwrap()).unwrap();
        assert_eq!(file.warnings(), [""; 0]);
        let shapes: Vec<_> = file.meshes().map(|m| (&*m.name, m.constant_topology)).collect();
        assert_eq!(shapes, [("blob", false), ("wave", true)]);
        assert!((file.span().0 - 0.4).abs() < 1e-12 && (file.span().1 - 0.52).abs() < 1e-12);
        for frame in &source.frames {
            let wave = file.mesh_at(1, frame.time).unwrap();
            assert_eq!(corners(&wave), corners(&frame.meshes[0]), "frame {}", frame.index);
            let shown = file.mesh_at(0, frame.time).unwrap();
            let blob = frame.meshes.get(1).map(corners).unwrap_or_default();
            assert_eq!(corners(&shown), blob, "frame {}", frame.index);
            let hair = file.curves_at(0, frame.time).unwrap();
            let wanted = &frame.curves[0];
            assert_eq!((&hair.counts, &hair.points), (&wanted.counts, &wanted.points));
            assert_eq!((&hair.widths, &hair.ids), (&wanted.widths, &wanted.ids));
            assert_eq!((&hair.root_uvs, hair.color), (&wanted.root_uvs, wanted.color));
            let spray = file.points_at(0, frame.time).unwrap();
            let wanted = &frame.points[0];
            assert_eq!((&spray.positions, &spray.ids), (&wanted.positions, &wanted.ids));
            assert_eq!(spray.widths, wanted.widths);
        }
        let wave = file.mesh_at(1, 0.4).unwrap();
        let source = &source.frames[0].meshes[0];
        for (p, uv) in wave.positions.iter().zip(&wave.topology.uvs) {
            let k = source.positions.iter().position(|q| q == p).unwrap();
            assert!(uv.distance(source.topology.uvs[k]) < 1e-6);
        }
        let names: Vec<_> = wave.topology.materials.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names[1..], ["default", "_2nd"]);
    }
}

#[test]
fn an_actor_plays_on_straight_lines_and_holds_at_the_ends() {
    let mut source = small_shot();
    source.frames.iter_mut().for_each(|f| f.meshes.truncate(1));
    let bytes = write(&mut source, false).unwrap();
    let actor = UsdMeshes::new(Arc::new(UsdFile::parse(bytes).unwrap())).unwrap();
    assert!((actor.seconds() - 0.52).abs() < 1e-12);
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
    let bytes = write(&mut small_shot(), false).unwrap();
    let refused = UsdMeshes::new(Arc::new(UsdFile::parse(bytes).unwrap()));
    assert!(refused.err().unwrap().to_string().contains("topology changes"));
}

/// Reads everything that can be read.
fn read_all(bytes: Vec<u8>) {
    let Ok(mut file) = UsdFile::parse(bytes) else { return };
    for time in [-1.0, 0.4, 0.45, 0.6, 1e9] {
        (0..file.meshes().len()).for_each(|i| drop(file.mesh_at(i, time)));
        (0..file.curves().len()).for_each(|i| drop(file.curves_at(i, time)));
        (0..file.points().len()).for_each(|i| drop(file.points_at(i, time)));
    }
    drop(read_usd_character(&mut file, "x"));
    drop(UsdMeshes::new(Arc::new(file)));
}

#[test]
fn every_prefix_and_every_byte_may_be_wrong() {
    let bytes = write(&mut small_shot(), false).unwrap();
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
    let said = |bytes: &[u8]| UsdFile::parse(bytes.to_vec()).err().unwrap().to_string();
    assert!(said(b"nonsense").contains("does not begin like"));
    let mut old = bytes;
    old[9] = 3;
    assert!(said(&old).contains("version 0.3.0"));
}

#[test]
fn a_huge_count_is_refused_before_it_takes_memory() {
    let bytes = write(&mut small_shot(), false).unwrap();
    let count = bytes.len() as u64;
    // Every word of the file promises more than any disk holds.
    for at in (88..bytes.len() - 8).step_by(8) {
        let mut changed = bytes.clone();
        changed[at..at + 8].copy_from_slice(&(count << 24).to_le_bytes());
        read_all(changed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn random_shots_come_back(seed in any::<u64>(), frames in 1_usize..5, text: bool) {
        let mut source = random_shot(seed, frames);
        let Ok(bytes) = write(&mut source, text) else { return Ok(()) };
        let file = UsdFile::parse(bytes).unwrap();
        for (index, frame) in source.frames.iter().enumerate() {
            let time = (10 + index) as f64 / 25.0;
            let mut wanted: Vec<_> = frame.meshes.to_vec();
            for mesh in &mut wanted {
                let topology = Arc::make_mut(&mut mesh.topology);
                topology.triangles.retain(|t| t[0] != t[1] && t[1] != t[2] && t[0] != t[2]);
            }
            let mut wanted: Vec<_> = wanted.iter().flat_map(corners).collect();
            let mut read = Vec::new();
            for k in 0..file.meshes().len() {
                read.extend(corners(&file.mesh_at(k, time).unwrap()));
            }
            let key = |t: &[Vec3; 3]| t.map(|p| p.to_array().map(f32::to_bits));
            wanted.sort_by_key(key);
            read.sort_by_key(key);
            prop_assert_eq!(read, wanted);
        }
    }

    #[test]
    fn mutated_files_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        text: bool,
    ) {
        let mut bytes = write(&mut small_shot(), text).unwrap();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        read_all(bytes);
    }
}
