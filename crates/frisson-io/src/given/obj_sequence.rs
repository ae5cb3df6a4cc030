//! One OBJ file, or a file a frame: `cat.####.obj`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use frisson::geometry::Mesh;
use frisson::stage::{Curves, Points};
use glam::Vec3;

use super::obj::{ObjScene, read_obj};
use super::{CurveSequence, Given, GivenError, PointSequence, SampleSource, SampledMeshes};
use crate::inputs::InputSet;

/// How long before a frame a time is that frame [s]: frame times are rounded.
const SAME_TIME: f64 = 1e-6;

/// Whether a file name stands for a sequence: it has a run of `#` where the frame's number goes.
#[must_use]
pub fn is_pattern(path: &Path) -> bool {
    path.file_name().is_some_and(|n| n.to_string_lossy().contains('#'))
}

/// The file of a frame.
#[must_use]
pub fn frame_file(pattern: &Path, frame: i64) -> PathBuf {
    let name = pattern.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (Some(first), Some(last)) = (name.find('#'), name.rfind('#')) else {
        return pattern.to_owned();
    };
    let width = last + 1 - first;
    let name = format!("{}{frame:0width$}{}", &name[..first], &name[last + 1..]);
    pattern.with_file_name(name)
}

/// Frames that are there, ascending.
fn frames(pattern: &Path) -> Result<Vec<(i64, PathBuf)>, GivenError> {
    let folder = match pattern.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let name = pattern.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (before, after) = (name.find('#').unwrap_or(0), name.rfind('#').unwrap_or(0) + 1);
    let (before, after) = (&name[..before], &name[after..]);
    let entries = std::fs::read_dir(folder).map_err(|e| GivenError::io(folder, e))?;
    let mut found: Vec<(i64, PathBuf)> = Vec::new();
    for entry in entries {
        let file = entry.map_err(|e| GivenError::io(folder, e))?.file_name();
        let file = file.to_string_lossy();
        let number = file.strip_prefix(before).and_then(|f| f.strip_suffix(after));
        if let Some(number) = number.and_then(|n| n.parse::<i64>().ok()) {
            found.push((number, folder.join(file.as_ref())));
        }
    }
    found.sort();
    // `cat.1.obj` beside `cat.0001.obj`: the first by name.
    found.dedup_by_key(|(frame, _)| *frame);
    if found.is_empty() {
        return Err(GivenError::damaged(pattern, "there is no file of this sequence"));
    }
    Ok(found)
}

fn read_file(path: &Path, inputs: &InputSet) -> Result<ObjScene, GivenError> {
    let bytes = inputs.read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    read_obj(&text).map_err(|problem| GivenError::Obj { path: path.to_owned(), problem })
}

pub(super) fn open(path: &Path, fps: f64, inputs: &InputSet) -> Result<Given, GivenError> {
    let files = if is_pattern(path) { frames(path)? } else { vec![(0, path.to_owned())] };
    let first = read_file(&files[0].1, inputs)?;
    // Every file counts for what a bake is made of; what is read again while it plays does not.
    for (_, file) in &files[1..] {
        inputs.read(file)?;
    }
    let times: Vec<f64> = files.iter().map(|(frame, _)| *frame as f64 / fps).collect();
    let paths: Arc<[PathBuf]> = files.into_iter().map(|(_, path)| path).collect();
    let seconds = times.last().copied().unwrap_or(0.0);
    let mut given = Given { seconds, ..Given::default() };
    let part = |index: usize, name: &str| {
        let (paths, times) = (Arc::clone(&paths), times.clone());
        Arc::new(Part { paths, times, index, name: name.to_owned() })
    };
    for (index, curves) in first.curves.iter().enumerate() {
        given.curves.push(part(index, &curves.name));
    }
    for (index, points) in first.points.iter().enumerate() {
        given.points.push(part(index, &points.name));
    }
    if !first.meshes.is_empty() {
        let shapes = Shapes { paths, meshes: first.meshes.clone() };
        given.meshes = Some(Arc::new(SampledMeshes::new(first.meshes, times, shapes)?));
    }
    Ok(given)
}

/// The meshes of all files; each must have those of the first.
struct Shapes {
    paths: Arc<[PathBuf]>,
    meshes: Vec<Mesh>,
}

impl SampleSource for Shapes {
    fn read(&self, sample: usize) -> Result<Vec<Vec3>, GivenError> {
        let path = &self.paths[sample];
        let scene = read_file(path, &InputSet::new())?;
        let same = scene.meshes.len() == self.meshes.len()
            && scene.meshes.iter().zip(&self.meshes).all(|(a, b)| {
                a.topology.triangles == b.topology.triangles
                    && a.positions.len() == b.positions.len()
            });
        if !same {
            let problem = "its triangles differ from the first file's: layers need the same \
                           vertices at all times";
            return Err(GivenError::damaged(path, problem));
        }
        Ok(scene.meshes.into_iter().flat_map(|m| m.positions).collect())
    }
}

/// Curves or points of all files, held until the next.
struct Part {
    paths: Arc<[PathBuf]>,
    times: Vec<f64>,
    index: usize,
    name: String,
}

impl Part {
    fn scene_at(&self, time: f64) -> Result<ObjScene, GivenError> {
        let file = self.times.partition_point(|&t| t <= time + SAME_TIME).saturating_sub(1);
        read_file(&self.paths[file], &InputSet::new())
    }
}

impl CurveSequence for Part {
    fn name(&self) -> &str {
        &self.name
    }

    fn curves_at(&self, time: f64) -> Result<Curves, GivenError> {
        let found = self.scene_at(time)?.curves.into_iter().nth(self.index);
        Ok(found.unwrap_or_else(|| Curves { name: self.name.clone(), ..Curves::default() }))
    }
}

impl PointSequence for Part {
    fn name(&self) -> &str {
        &self.name
    }

    fn points_at(&self, time: f64) -> Result<Points, GivenError> {
        let found = self.scene_at(time)?.points.into_iter().nth(self.index);
        Ok(found.unwrap_or_else(|| Points { name: self.name.clone(), ..Points::default() }))
    }
}
