//! Throughput and peak memory of the Alembic and USD writers, beside a plain write of the same bytes.
//!
//! `cargo bench -p frisson-io --bench export` runs all; peak memory is of the process, so each
//! measure runs in a process of its own (`-- alembic 240`).

use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use frisson::geometry::{Mesh, MeshTopology};
use frisson::stage::{Frame, Rate};
use frisson_io::export::{ExportParams, export};
use frisson_io::{FrameSource, ShotInfo, Silent, SourceError};
use glam::{Vec3, vec3};

const SIDE: u32 = 100;
const REPEATS: usize = 5;

/// 10 000 vertices that all move, made on the fly so that the shot itself takes no memory.
struct Wave {
    info: ShotInfo,
    topology: Arc<MeshTopology>,
}

impl Wave {
    fn new(frames: i64) -> Self {
        let cells = (0..SIDE - 1).flat_map(|r| (0..SIDE - 1).map(move |c| r * SIDE + c));
        let triangles = cells.flat_map(|a| [[a, a + SIDE, a + 1], [a + 1, a + SIDE, a + SIDE + 1]]);
        let topology = MeshTopology {
            vertex_count: (SIDE * SIDE) as usize,
            triangles: triangles.collect(),
            ..MeshTopology::default()
        };
        let info = ShotInfo { rate: Rate::whole(24), first_frame: 1, last_frame: frames };
        Self { info, topology: Arc::new(topology) }
    }
}

impl FrameSource for Wave {
    fn info(&self) -> &ShotInfo {
        &self.info
    }

    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
        out.index = frame;
        if out.meshes.is_empty() {
            out.meshes.push(Mesh { name: "wave".to_owned(), ..Mesh::default() });
        }
        let mesh = &mut out.meshes[0];
        mesh.topology = Arc::clone(&self.topology);
        mesh.velocities.clear();
        mesh.positions.clear();
        // No two frames are equal; a sine per vertex would be what is measured.
        let phase = frame as f32 * 0.37;
        let points = (0..SIDE * SIDE).map(|i| {
            let (x, z) = ((i % SIDE) as f32, (i / SIDE) as f32);
            vec3(x, (x * z + phase).fract() + phase, z)
        });
        mesh.positions.extend(points);
        Ok(())
    }
}

fn write_shot(format: &str, frames: i64, folder: &Path) -> Result<u64, Box<dyn Error>> {
    let mut params = ExportParams::to_file(Path::new(&format!("shot.{format}")))?;
    params.velocities = false;
    let files = export(&mut Wave::new(frames), &params, folder, true, &mut Silent)?;
    Ok(files.iter().map(|f| f.bytes).sum())
}

/// The same bytes in blocks of a frame's positions, synchronised to the disk as the exporter does.
fn write_plain(bytes: u64, folder: &Path) -> Result<(), Box<dyn Error>> {
    let block: Vec<Vec3> = (0..SIDE * SIDE).map(|i| Vec3::splat(i as f32)).collect();
    let block: &[u8] = bytemuck::cast_slice(&block);
    let mut file = File::create(folder.join("plain"))?;
    let mut left = bytes as usize;
    while left > 0 {
        let size = left.min(block.len());
        file.write_all(&block[..size])?;
        left -= size;
    }
    file.sync_data()?;
    Ok(())
}

/// Peak resident memory of this process [kB], where the system tells.
fn peak_memory_kb() -> Option<u64> {
    let mut text = String::new();
    File::open("/proc/self/status").ok()?.read_to_string(&mut text).ok()?;
    let line = text.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn measure_throughput(format: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let (mut ours, mut plain, mut frames_only) = (Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0;
    for _ in 0..REPEATS {
        let start = Instant::now();
        bytes = write_shot(format, 240, folder)?;
        ours.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        write_plain(bytes, folder)?;
        plain.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let (mut wave, mut frame) = (Wave::new(240), Frame::default());
        for number in 1..=240 {
            wave.read_frame(number, &mut frame)?;
        }
        std::hint::black_box(&frame);
        frames_only.push(start.elapsed().as_secs_f64());
    }
    let (ours, plain, made) = (median(ours), median(plain), median(frames_only));
    let speed = |seconds: f64| bytes as f64 / 1e6 / seconds;
    println!(
        "{format}: {:.1} MB, {:.0} MB/s; plain write {:.0} MB/s (ratio {:.2}); of {:.0} ms, making the frames took {:.0}",
        bytes as f64 / 1e6,
        speed(ours),
        speed(plain),
        ours / plain,
        ours * 1e3,
        made * 1e3
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder =
        tempfile::tempdir_in(std::env::var("CARGO_TARGET_TMPDIR").unwrap_or(".".to_owned()))?;
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [format, frames] = arguments.as_slice() {
        let bytes = write_shot(format, frames.parse()?, folder.path())?;
        let peak = peak_memory_kb().map_or("unknown".to_owned(), |kb| format!("{kb} kB"));
        println!("{format}, {frames} frames: {bytes} bytes, peak memory {peak}");
        return Ok(());
    }
    for format in ["abc", "usdc"] {
        measure_throughput(format, folder.path())?;
    }
    for format in ["abc", "usdc"] {
        for frames in ["240", "2400"] {
            let status = Command::new(std::env::current_exe()?).args([format, frames]).status()?;
            if !status.success() {
                return Err(format!("{format} {frames} failed").into());
            }
        }
    }
    Ok(())
}
