//! A cache as a bake, a crash and a bad disk leave it.

use std::io::Cursor;
use std::sync::Arc;

use frisson::geometry::{Attribute, AttributeValues, Mesh, Texture};
use frisson::stage::{Curves, Frame, Image, LayerReport, Points};
use glam::{Vec2, Vec3};
use proptest::prelude::*;

use super::*;
use crate::source::{FrameSource, SourceError};

fn header(last_frame: i64) -> CacheHeader {
    CacheHeader {
        program: "test".to_owned(),
        scene_hash: 7,
        rate: Rate::whole(24),
        first_frame: 1,
        last_frame,
        sources: vec![("a".to_owned(), "a.glb".to_owned())],
        layers: Vec::new(),
        scene_text: "frisson = 1".to_owned(),
    }
}

fn wave(index: i64, topology: &Mesh) -> Frame {
    let height = |i: usize| (index as f32 * 0.1 + i as f32 * 0.37).sin();
    let mut mesh = topology.clone();
    mesh.positions = (0..100).map(|i| Vec3::new(i as f32, height(i), -0.0)).collect();
    mesh.set_scalar("strain", |v| v.iter_mut().enumerate().for_each(|(i, v)| *v = height(i)));
    let points = Points {
        name: "spray".to_owned(),
        positions: vec![Vec3::splat(index as f32); index as usize],
        widths: vec![0.1; index as usize],
        ids: (0..index as u64).map(|i| i << 40 | 3).collect(),
        ..Points::default()
    };
    // Wetness spreads over an image that grows on the way.
    let side = if index < 10 { 4u32 } else { 8 };
    let wet =
        |i: u32| if i64::from(i) < index { [250 - i as u8, 3, 0, 255] } else { [0, 0, 0, 255] };
    let rgba = (0..side * side).flat_map(wet).collect();
    let image = Image {
        name: "rain.wetness".to_owned(),
        mesh: "strip".to_owned(),
        texture: Arc::new(Texture { width: side, height: side, rgba }),
    };
    let time = index as f64 / 24.0;
    let (meshes, points, images) = (vec![mesh], vec![points], vec![image]);
    Frame { index, time, meshes, points, images, ..Frame::default() }
}

fn strip() -> Mesh {
    let triangles = (0..98).map(|i| [i, i + 1, i + 2]).collect();
    Mesh::new("strip", vec![Vec3::ZERO; 100], triangles)
}

fn write(
    path: &Path,
    from: i64,
    to: i64,
    if_exists: IfExists,
    finish: bool,
) -> Option<ResumePoint> {
    let (mut writer, resume) = CacheWriter::open(path, &header(to), if_exists).unwrap();
    let strip = strip();
    let first = resume.as_ref().map_or(from, |r| r.frame + 1);
    for frame in first..=to {
        let mut report = LayerReport::default();
        report.measure("height", "m", frame as f64);
        writer.write_frame(&wave(frame, &strip), &[report]).unwrap();
        if frame < to && writer.checkpoint_due() {
            writer.write_checkpoint(frame, &frame.to_le_bytes()).unwrap();
        }
    }
    if finish {
        writer.finish().unwrap();
    }
    resume
}

#[test]
fn frames_come_back_bit_for_bit_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.frisson");
    write(&path, 1, 30, IfExists::Refuse, true);
    assert!(!part_path(&path).exists());
    let mut reader = CacheReader::open(&path).unwrap();
    assert!(reader.is_finished() && reader.verify().unwrap().is_none());
    assert_eq!((reader.info().first_frame, reader.info().last_frame), (1, 30));
    let strip = strip();
    let mut out = Frame::default();
    let mut topology: Option<Arc<_>> = None;
    for frame in [30, 1, 17, 17, 2] {
        reader.read_frame(frame, &mut out).unwrap();
        assert_eq!(out, wave(frame, &strip));
        assert!(out.meshes[0].positions[5].z.is_sign_negative());
        let now = out.meshes[0].topology.clone();
        assert!(topology.is_none_or(|before| Arc::ptr_eq(&before, &now)));
        topology = Some(now);
        assert_eq!(reader.read_reports(frame).unwrap()[0].measures[0].value, frame as f64);
    }
    assert!(matches!(reader.read_frame(31, &mut out), Err(SourceError::NoSuchFrame(31))));
    let topologies = reader.blocks().iter().filter(|e| e.kind == Kind::Topology).count();
    assert_eq!(topologies, 1);
}

#[test]
fn frame_numbers_at_the_end_of_their_range_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    for (index, (first, last)) in [(i64::MIN, 0), (0, i64::MAX)].into_iter().enumerate() {
        let path = folder.path().join(format!("{index}.frisson"));
        let header = CacheHeader { first_frame: first, ..header(last) };
        let (writer, _) = CacheWriter::open(&path, &header, IfExists::Refuse).unwrap();
        writer.finish().unwrap();
        let error = CacheReader::open(&path).err().unwrap().to_string();
        assert!(error.contains("its frame numbers make no sense"), "{error}");
    }
}

#[test]
fn a_state_that_was_left_is_found_by_a_resume_and_gone_from_the_finished_cache() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, left] = ["a.frisson", "b.frisson"].map(|name| folder.path().join(name));
    write(&plain, 1, 3, IfExists::Refuse, true);
    let (mut writer, _) = CacheWriter::open(&left, &header(3), IfExists::Refuse).unwrap();
    for frame in [-9, -5] {
        writer.leave(frame, &[7; 1000]).unwrap();
    }
    drop(writer);
    let (mut writer, resume) = CacheWriter::open(&left, &header(3), IfExists::Resume).unwrap();
    let resume = resume.unwrap();
    assert_eq!((resume.frame, resume.state), (-5, vec![7; 1000]));
    writer.leave(-1, &[8; 100_000]).unwrap();
    drop(writer);
    let (mut writer, resume) = CacheWriter::open(&left, &header(3), IfExists::Resume).unwrap();
    assert_eq!(resume.unwrap().frame, -1);
    writer.leave(0, &[9; 100_000]).unwrap();
    let strip = strip();
    for frame in 1..=3 {
        let mut report = LayerReport::default();
        report.measure("height", "m", frame as f64);
        writer.write_frame(&wave(frame, &strip), &[report]).unwrap();
        if frame < 3 && writer.checkpoint_due() {
            writer.write_checkpoint(frame, &frame.to_le_bytes()).unwrap();
        }
    }
    writer.finish().unwrap();
    assert_eq!(std::fs::read(&plain).unwrap(), std::fs::read(&left).unwrap());
}

#[test]
fn a_cache_cut_anywhere_keeps_its_frames_and_resumes_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let straight = folder.path().join("straight.frisson");
    write(&straight, 1, 25, IfExists::Refuse, true);
    let whole = std::fs::read(&straight).unwrap();
    let path = folder.path().join("cut.frisson");
    let strip = strip();
    for cut in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        std::fs::write(part_path(&path), &whole[..cut]).unwrap();
        let mut out = Frame::default();
        if let Ok(mut reader) = CacheReader::open(&path) {
            for frame in 1..=reader.info().last_frame {
                reader.read_frame(frame, &mut out).unwrap();
                assert_eq!(out, wave(frame, &strip));
            }
        }
        let resume = write(&path, 1, 25, IfExists::Resume, true);
        assert_eq!(resume.is_some(), resume.as_ref().is_some_and(|r| r.state.len() == 8));
        assert!(std::fs::read(&path).unwrap() == whole, "cut at {cut}");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_paused_cache_resumes_without_losing_a_frame() {
    let folder = tempfile::tempdir().unwrap();
    let straight = folder.path().join("straight.frisson");
    write(&straight, 1, 25, IfExists::Refuse, true);
    let path = folder.path().join("paused.frisson");
    let (mut writer, _) = CacheWriter::open(&path, &header(25), IfExists::Refuse).unwrap();
    let strip = strip();
    for frame in 1..=3 {
        let mut report = LayerReport::default();
        report.measure("height", "m", frame as f64);
        writer.write_frame(&wave(frame, &strip), &[report]).unwrap();
        if writer.checkpoint_due() {
            writer.write_checkpoint(frame, &frame.to_le_bytes()).unwrap();
        }
    }
    writer.pause(3, b"here").unwrap();
    let resume = write(&path, 1, 25, IfExists::Resume, true).unwrap();
    assert_eq!((resume.frame, resume.state.as_slice()), (3, b"here".as_slice()));
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&straight).unwrap());
}

#[test]
fn every_flipped_bit_is_found_and_earlier_frames_stay_good() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.frisson");
    write(&path, 1, 6, IfExists::Refuse, true);
    let whole = std::fs::read(&path).unwrap();
    let strip = strip();
    for at in (0..whole.len()).step_by(13) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        let Ok(mut reader) = CacheReader::from_bytes(Box::new(Cursor::new(bytes)), &path) else {
            continue;
        };
        let detected = !reader.is_finished() || reader.verify().unwrap().is_some();
        // Four reserved bytes of the preamble are not read.
        assert!(detected || (12..16).contains(&at), "byte {at}");
        let mut out = Frame::default();
        for frame in 1..=reader.info().last_frame {
            if reader.read_frame(frame, &mut out).is_ok() {
                assert_eq!(out, wave(frame, &strip), "byte {at}");
            }
        }
    }
}

#[test]
fn files_that_are_there_are_not_touched_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.frisson");
    let open = |if_exists| CacheWriter::open(&path, &header(3), if_exists).map(|_| ());
    write(&path, 1, 3, IfExists::Refuse, true);
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(open(IfExists::Refuse), Err(CacheError::Exists(_))));
    assert!(matches!(open(IfExists::Resume), Err(CacheError::Exists(_))));
    write(&path, 1, 2, IfExists::Replace, false);
    assert_eq!(std::fs::read(&path).unwrap(), before, "replaced only when whole");
    write(&path, 1, 2, IfExists::Replace, true);
    assert_ne!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_second_writer_is_refused_and_another_scene_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.frisson");
    let (first, _) = CacheWriter::open(&path, &header(3), IfExists::Refuse).unwrap();
    for if_exists in [IfExists::Refuse, IfExists::Resume, IfExists::Replace] {
        let second = CacheWriter::open(&path, &header(3), if_exists);
        assert!(matches!(second, Err(CacheError::Locked(_))), "{if_exists:?}");
    }
    drop(first);
    let refused = CacheWriter::open(&path, &header(3), IfExists::Refuse);
    assert!(matches!(refused, Err(CacheError::Unfinished(_))));
    let other = CacheHeader { scene_hash: 8, ..header(3) };
    let changed = CacheWriter::open(&path, &other, IfExists::Resume);
    assert!(matches!(changed, Err(CacheError::SceneChanged(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bits_survive(words in proptest::collection::vec(any::<u32>(), 0..60)) {
        let f: Vec<f32> = words.iter().map(|&w| f32::from_bits(w)).collect();
        let v: Vec<Vec3> = f.chunks_exact(3).map(Vec3::from_slice).collect();
        let curves = Curves {
            name: "c".to_owned(),
            counts: vec![v.len() as u32],
            points: v.clone(),
            widths: f.clone(),
            ids: words.iter().map(|&w| u64::from(w) << 13).collect(),
            root_uvs: f.chunks_exact(2).map(Vec2::from_slice).collect(),
            velocities: v.clone(),
            color: Vec3::X,
            attributes: vec![Attribute { name: "n".to_owned(), values: AttributeValues::Color(v) }],
        };
        let frame = Frame { curves: vec![curves], ..Frame::default() };
        let mut bytes = Vec::new();
        codec::encode_frame(&frame, &[], &mut codec::Scratch::default(), &mut bytes).unwrap();
        let mut back = Frame::default();
        codec::decode_frame(&bytes, &mut back, |_| Err(String::new())).unwrap();
        let (a, b) = (&frame.curves[0], &back.curves[0]);
        let bits = |v: &[f32]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&a.widths), bits(&b.widths));
        prop_assert_eq!(&a.ids, &b.ids);
        let mut again = Vec::new();
        codec::encode_frame(&back, &[], &mut codec::Scratch::default(), &mut again).unwrap();
        prop_assert_eq!(&bytes, &again);
        for cut in 0..bytes.len() {
            let cut = codec::decode_frame(&bytes[..cut], &mut back, |_| Err(String::new()));
            prop_assert!(cut.is_err());
        }
    }
}

/// With right checksums everywhere, what the blocks hold is refused or sound, never a panic.
#[test]
fn sealed_nonsense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.frisson");
    write(&path, 1, 4, IfExists::Refuse, true);
    let whole = std::fs::read(&path).unwrap();
    for at in (16..whole.len()).step_by(3) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        seal(&mut bytes);
        let Ok(mut reader) = CacheReader::from_bytes(Box::new(Cursor::new(bytes)), &path) else {
            continue;
        };
        let mut out = Frame::default();
        for frame in 1..=reader.info().last_frame.min(8) {
            let _ = reader.read_reports(frame);
            if reader.read_frame(frame, &mut out).is_ok() {
                let mesh_fits = |m: &Mesh| m.positions.len() == m.topology.vertex_count;
                assert!(out.meshes.iter().all(mesh_fits));
            }
        }
    }
}
