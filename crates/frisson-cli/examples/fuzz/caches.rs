//! Damaged caches whose checksums are right, so that what lies behind them is reached.

use std::io::Cursor;
use std::path::Path;

use frisson::geometry::Mesh;
use frisson::stage::{Curves, Frame, LayerReport, Points, Rate};
use frisson_io::FrameSource as _;
use frisson_io::cache::{CacheHeader, CacheReader, CacheWriter, IfExists, seal};
use glam::Vec3;

use crate::Target;
use crate::random::Random;

/// Frames that are read of each cache.
const FRAMES: i64 = 6;

pub struct Caches {
    whole: Vec<Vec<u8>>,
}

impl Caches {
    pub fn new() -> Self {
        Self { whole: (0..4).map(sample).collect() }
    }
}

/// A small, whole cache.
fn sample(kind: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.frisson");
    let header = CacheHeader {
        program: "fuzz".to_owned(),
        scene_hash: 7,
        rate: Rate::whole(24),
        first_frame: 1,
        last_frame: FRAMES,
        sources: vec![("a".to_owned(), "a.glb".to_owned())],
        layers: vec![("flesh".to_owned(), "belly".to_owned())],
        scene_text: "frisson = 1".to_owned(),
    };
    let (mut writer, _) = CacheWriter::open(&path, &header, IfExists::Refuse).unwrap();
    let triangles = (0..10).map(|i| [i, i + 1, i + 2]).collect();
    let mesh = Mesh::new("strip", vec![Vec3::ZERO; 12], triangles);
    for index in 1..=FRAMES {
        let at = |i: usize| Vec3::new(i as f32, (index as f32 + i as f32).sin(), 0.5);
        let mut moved = mesh.clone();
        moved.positions = (0..12).map(at).collect();
        moved.set_scalar("strain", |v| v.iter_mut().for_each(|v| *v = index as f32));
        let curves = Curves {
            name: "hair".to_owned(),
            counts: vec![3, 4],
            points: (0..7).map(at).collect(),
            widths: vec![0.01; 7],
            ids: vec![1, 2],
            ..Curves::default()
        };
        let count = index as usize;
        let points = Points {
            name: "drops".to_owned(),
            positions: (0..count).map(at).collect(),
            widths: vec![0.1; count],
            ids: (0..count as u64).collect(),
            ..Points::default()
        };
        let mut frame = Frame { index, time: index as f64 / 24.0, ..Frame::default() };
        match kind {
            0 => frame.meshes.push(moved),
            1 => frame.curves.push(curves),
            2 => frame.points.push(points),
            _ => {
                frame.meshes.push(moved);
                frame.curves.push(curves);
                frame.points.push(points);
            }
        }
        let mut report = LayerReport::default();
        report.measure("height", "m", index as f64);
        writer.write_frame(&frame, &[report]).unwrap();
        if writer.checkpoint_due() {
            writer.write_checkpoint(index, &[1; 40]).unwrap();
        }
    }
    writer.finish().unwrap();
    std::fs::read(path).unwrap()
}

impl Target for Caches {
    fn make(&mut self, random: &mut Random) -> Vec<u8> {
        let mut bytes = random.pick(&self.whole).clone();
        random.damage(&mut bytes);
        if !random.one_in(10) {
            seal(&mut bytes);
        }
        bytes
    }

    fn feed(&mut self, input: &[u8]) -> Result<(), String> {
        let bytes = Box::new(Cursor::new(input.to_vec()));
        let Ok(mut reader) = CacheReader::from_bytes(bytes, Path::new("fuzz.frisson")) else {
            return Ok(());
        };
        let _ = reader.verify();
        let info = reader.info().clone();
        let mut frame = Frame::default();
        for number in info.first_frame..=info.last_frame.min(info.first_frame + FRAMES + 2) {
            let _ = reader.read_reports(number);
            if reader.read_frame(number, &mut frame).is_ok() {
                check(&frame)?;
            }
        }
        let _ = frisson_io::bake::read_reports(&mut reader);
        Ok(())
    }

    fn extension(&self) -> &str {
        "frisson"
    }
}

/// Whoever reads frames may trust indices and lengths.
fn check(frame: &Frame) -> Result<(), String> {
    for mesh in &frame.meshes {
        let count = mesh.positions.len();
        let inside = mesh.topology.triangles.iter().flatten().all(|&c| (c as usize) < count);
        if count != mesh.topology.vertex_count || !inside {
            return Err(format!("mesh {:?} contradicts itself", mesh.name));
        }
    }
    for curves in &frame.curves {
        let points: u64 = curves.counts.iter().map(|&c| u64::from(c)).sum();
        if points != curves.points.len() as u64 {
            return Err(format!("curves {:?} contradict themselves", curves.name));
        }
    }
    Ok(())
}
