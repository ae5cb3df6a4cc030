//! PC2 and MDD point caches: positions for the vertices of a mesh that another file describes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use frisson::geometry::Mesh;
use frisson::stage::MeshSequence;
use glam::Vec3;

use super::{GivenError, SampleSource, SampledMeshes};
use crate::inputs::InputSet;

/// A point cache on disk; samples are read when they are asked for.
pub struct PointCache {
    path: PathBuf,
    file: Mutex<File>,
    /// Points of a sample.
    points: usize,
    times: Vec<f64>,
    /// Where samples begin [bytes].
    start: u64,
    big_endian: bool,
}

/// Bytes of one point.
const POINT: u64 = 12;

impl PointCache {
    /// Opens a `.pc2` or `.mdd` file. PC2 counts in frames: `fps` makes them times.
    pub fn open(path: &Path, fps: f64, inputs: &InputSet) -> Result<Self, GivenError> {
        let mut file = inputs.open(path)?;
        let length = file.metadata().map_err(|e| GivenError::io(path, e))?.len();
        let mdd = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("mdd"));
        let header =
            if mdd { read_mdd(&mut file, length) } else { read_pc2(&mut file, length, fps) };
        let header = header.map_err(|problem| GivenError::damaged(path, problem))?;
        // Checked as a product, not by reading: a header may promise more than any disk holds.
        let needed = (header.points as u64)
            .checked_mul(POINT)
            .and_then(|sample| sample.checked_mul(header.times.len() as u64))
            .and_then(|all| all.checked_add(header.start));
        if needed.is_none_or(|needed| needed > length) {
            let (samples, points) = (header.times.len(), header.points);
            let problem = format!("{samples} samples of {points} points do not fit {length} bytes");
            return Err(GivenError::damaged(path, problem));
        }
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            points: header.points,
            times: header.times,
            start: header.start,
            big_endian: mdd,
        })
    }

    /// Points of every sample.
    #[must_use]
    pub fn points(&self) -> usize {
        self.points
    }

    /// Times of the samples [s].
    #[must_use]
    pub fn times(&self) -> &[f64] {
        &self.times
    }
}

impl SampleSource for PointCache {
    fn read(&self, sample: usize) -> Result<Vec<Vec3>, GivenError> {
        let size = POINT * self.points as u64;
        let mut bytes = vec![0; size as usize];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let at = SeekFrom::Start(self.start + size * sample as u64);
        let read = file.seek(at).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|e| GivenError::io(&self.path, e))?;
        let number = |b: &[u8]| {
            let word = [b[0], b[1], b[2], b[3]];
            if self.big_endian { f32::from_be_bytes(word) } else { f32::from_le_bytes(word) }
        };
        let point = |c: &[u8]| Vec3::new(number(&c[..4]), number(&c[4..8]), number(&c[8..12]));
        let points: Vec<Vec3> = bytes.chunks_exact(POINT as usize).map(point).collect();
        match points.iter().position(|p| !p.is_finite()) {
            Some(at) => {
                let problem = format!("sample {sample}: point {at} is not finite");
                Err(GivenError::damaged(&self.path, problem))
            }
            None => Ok(points),
        }
    }
}

/// Meshes of another file moved by a point cache; their vertices in the order of the file must be as
/// many as the cache has points.
pub fn cached_meshes(
    meshes: Vec<Mesh>,
    cache: PointCache,
) -> Result<(Arc<dyn MeshSequence>, f64), GivenError> {
    let count: usize = meshes.iter().map(|m| m.positions.len()).sum();
    if count != cache.points {
        let points = cache.points;
        let problem = format!("it moves {points} points, the meshes have {count} vertices");
        return Err(GivenError::damaged(&cache.path, problem));
    }
    let times = cache.times.clone();
    let sequence = SampledMeshes::new(meshes, times, cache)?;
    let seconds = sequence.seconds();
    Ok((Arc::new(sequence), seconds))
}

struct Header {
    points: usize,
    times: Vec<f64>,
    start: u64,
}

fn take<const N: usize>(file: &mut File) -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes).map_err(|_| "its header is cut short".to_owned())?;
    Ok(bytes)
}

fn count(number: i32, what: &str) -> Result<usize, String> {
    usize::try_from(number).ok().filter(|&n| n > 0).ok_or_else(|| format!("{number} {what}"))
}

/// `"POINTCACHE2\0" version(i32) points(i32) start(f32) frames a sample(f32) samples(i32)`.
fn read_pc2(file: &mut File, length: u64, fps: f64) -> Result<Header, String> {
    if take::<12>(file)? != *b"POINTCACHE2\0" {
        return Err("it does not begin like a PC2 point cache".to_owned());
    }
    // There has only ever been one.
    let _version = take::<4>(file)?;
    let points = count(i32::from_le_bytes(take(file)?), "points")?;
    let first = f64::from(f32::from_le_bytes(take(file)?));
    let step = f64::from(f32::from_le_bytes(take(file)?));
    let samples = count(i32::from_le_bytes(take(file)?), "samples")?;
    if !(first.is_finite() && step.is_finite() && step > 0.0) {
        return Err("its first frame or its frames a sample are no numbers".to_owned());
    }
    // Before times are made for samples that are not there.
    if samples as u64 > length / POINT {
        return Err(format!("{samples} samples do not fit {length} bytes"));
    }
    let times = (0..samples).map(|s| (first + step * s as f64) / fps).collect();
    Ok(Header { points, times, start: 32 })
}

/// `samples(i32) points(i32) time of each(f32)`, all with the high byte first.
fn read_mdd(file: &mut File, length: u64) -> Result<Header, String> {
    let samples = count(i32::from_be_bytes(take(file)?), "samples")?;
    let points = count(i32::from_be_bytes(take(file)?), "points")?;
    if samples as u64 > length / 4 {
        return Err(format!("{samples} samples do not fit {length} bytes"));
    }
    let mut times = Vec::with_capacity(samples);
    for _ in 0..samples {
        times.push(f64::from(f32::from_be_bytes(take(file)?)));
    }
    if times.iter().any(|t| !t.is_finite()) || times.windows(2).any(|w| w[0] > w[1]) {
        return Err("its times do not ascend".to_owned());
    }
    Ok(Header { points, times, start: 8 + 4 * samples as u64 })
}
