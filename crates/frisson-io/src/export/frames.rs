//! The frames of a shot as every writer wants them: checked, scaled, with velocities.

use std::collections::BTreeSet;
use std::sync::Arc;

use frisson::geometry::{Attribute, Mesh, MeshTopology};
use frisson::stage::{Curves, Frame, Points};
use glam::Vec3;

use super::{ExportError, ExportFormat, ExportParams};
use crate::source::{FrameSource, Progress, ShotInfo};

/// Reads frames in order. Three are in memory at a time, for velocities by differences.
pub(crate) struct Frames<'a> {
    source: &'a mut dyn FrameSource,
    progress: &'a mut dyn Progress,
    params: &'a ExportParams,
    info: ShotInfo,
    upcoming: i64,
    previous: Option<Frame>,
    current: Option<Frame>,
    next: Option<Frame>,
    spare: Vec<Frame>,
    with_normals: BTreeSet<String>,
    seen: BTreeSet<String>,
    normals: bool,
    velocities: bool,
}

impl<'a> Frames<'a> {
    pub(crate) fn new(
        source: &'a mut dyn FrameSource,
        params: &'a ExportParams,
        progress: &'a mut dyn Progress,
    ) -> Result<Self, ExportError> {
        let info = selected_range(source.info(), params)?;
        let (format, _) = params.target()?;
        let has_velocities = matches!(format, ExportFormat::Alembic | ExportFormat::Usd);
        let has_normals = has_velocities || format == ExportFormat::Obj;
        // One frame has no velocity.
        let several = source.info().last_frame > source.info().first_frame;
        Ok(Self {
            source,
            progress,
            params,
            upcoming: info.first_frame,
            info,
            previous: None,
            current: None,
            next: None,
            spare: Vec::new(),
            with_normals: BTreeSet::new(),
            seen: BTreeSet::new(),
            normals: has_normals && params.normals.unwrap_or(true),
            velocities: has_velocities && params.velocities && several,
        })
    }

    /// Rate and range that are written.
    pub(crate) fn info(&self) -> &ShotInfo {
        &self.info
    }

    pub(crate) fn params(&self) -> &'a ExportParams {
        self.params
    }

    pub(crate) fn frame_count(&self) -> u64 {
        (self.info.last_frame - self.info.first_frame + 1) as u64
    }

    /// Time of a frame [s].
    pub(crate) fn time(&self, frame: i64) -> f64 {
        frame as f64 * f64::from(self.info.rate.denominator) / f64::from(self.info.rate.numerator)
    }

    /// The next frame, or none after the last.
    pub(crate) fn next(&mut self) -> Result<Option<&Frame>, ExportError> {
        let done = (self.upcoming - self.info.first_frame) as u64;
        if !self.progress.advance(done, self.frame_count()) {
            return Err(ExportError::Stopped);
        }
        if self.upcoming > self.info.last_frame {
            self.check_wanted_names()?;
            return Ok(None);
        }
        let frame = self.upcoming;
        self.upcoming += 1;
        self.advance_window(frame)?;
        let step = self.time_step();
        let Some(current) = &mut self.current else { return Ok(None) };
        let neighbours = [self.previous.as_ref(), self.next.as_ref()];
        if self.velocities {
            complete_velocities(current, neighbours, step, self.params);
        } else {
            clear_velocities(current);
        }
        complete_normals(current, self.normals, &mut self.with_normals);
        Ok(Some(current))
    }

    fn time_step(&self) -> f32 {
        (f64::from(self.info.rate.denominator) / f64::from(self.info.rate.numerator)) as f32
    }

    fn advance_window(&mut self, frame: i64) -> Result<(), ExportError> {
        let whole = self.source.info().clone();
        // Storage of frames goes round: a shot of any length takes that of four.
        self.spare.extend(self.previous.take());
        self.previous = self.current.take();
        self.current = self.next.take();
        // Beyond the range, too: a part of a shot has the velocities that the whole has.
        if self.velocities && self.previous.is_none() && frame > whole.first_frame {
            self.previous = Some(self.read(frame - 1)?);
        }
        if self.current.is_none() {
            self.current = Some(self.read(frame)?);
        }
        if self.velocities && frame < whole.last_frame {
            self.next = Some(self.read(frame + 1)?);
        }
        if !self.velocities {
            self.spare.extend(self.previous.take());
        }
        Ok(())
    }

    fn read(&mut self, number: i64) -> Result<Frame, ExportError> {
        let mut frame = self.spare.pop().unwrap_or_default();
        self.source.read_frame(number, &mut frame)?;
        check_frame(&frame, number)?;
        let scale = self.params.scale;
        if scale != 1.0 {
            scale_frame(&mut frame, scale);
        }
        if let Some(last) = self.current.as_ref().or(self.previous.as_ref()) {
            // Once here, instead of a comparison of all triangles in every writer.
            share_topologies(&mut frame, last);
        }
        // Frames that are only read for velocities do not make a name known.
        if number >= self.info.first_frame && number <= self.info.last_frame {
            let names = frame.meshes.iter().map(|m| &m.name);
            let names = names.chain(frame.curves.iter().map(|c| &c.name));
            for name in names.chain(frame.points.iter().map(|p| &p.name)) {
                if !self.seen.contains(name) {
                    self.seen.insert(name.clone());
                }
            }
        }
        Ok(frame)
    }

    fn check_wanted_names(&self) -> Result<(), ExportError> {
        match self.params.meshes.iter().find(|m| !self.seen.contains(*m)) {
            None => Ok(()),
            Some(name) => {
                let known: Vec<&str> = self.seen.iter().map(String::as_str).collect();
                Err(ExportError::NoSuchShape { name: name.clone(), known: known.join(", ") })
            }
        }
    }
}

/// The shot's rate and the frames of it that are asked for.
pub(super) fn selected_range(
    whole: &ShotInfo,
    params: &ExportParams,
) -> Result<ShotInfo, ExportError> {
    let mut info = whole.clone();
    if let Some([first, last]) = params.frames {
        info.first_frame = info.first_frame.max(first);
        info.last_frame = info.last_frame.min(last);
    }
    let (first, last) = (info.first_frame, info.last_frame);
    if first > last || info.rate.numerator == 0 || info.rate.denominator == 0 {
        return Err(ExportError::NoFrames { first, last });
    }
    Ok(info)
}

/// Equal topologies read into different buffers become one, so that writers compare addresses.
fn share_topologies(frame: &mut Frame, last: &Frame) {
    for (index, mesh) in frame.meshes.iter_mut().enumerate() {
        if let Some(other) = find(&last.meshes, index, |m| m.name == mesh.name)
            && !Arc::ptr_eq(&mesh.topology, &other.topology)
            && mesh.topology == other.topology
        {
            mesh.topology = Arc::clone(&other.topology);
        }
    }
}

/// The element that matches, looked for at `hint` first.
fn find<T>(all: &[T], hint: usize, matches: impl Fn(&T) -> bool) -> Option<&T> {
    all.get(hint).filter(|e| matches(e)).or_else(|| all.iter().find(|e| matches(e)))
}

pub(super) fn scale_frame(frame: &mut Frame, scale: f32) {
    let by = |values: &mut Vec<Vec3>| values.iter_mut().for_each(|v| *v *= scale);
    for mesh in &mut frame.meshes {
        by(&mut mesh.positions);
        by(&mut mesh.velocities);
    }
    for curves in &mut frame.curves {
        by(&mut curves.points);
        by(&mut curves.velocities);
        curves.widths.iter_mut().for_each(|w| *w *= scale);
    }
    for points in &mut frame.points {
        by(&mut points.positions);
        by(&mut points.velocities);
        points.widths.iter_mut().for_each(|w| *w *= scale);
    }
}

fn clear_velocities(frame: &mut Frame) {
    frame.meshes.iter_mut().for_each(|m| m.velocities.clear());
    frame.curves.iter_mut().for_each(|c| c.velocities.clear());
    frame.points.iter_mut().for_each(|p| p.velocities.clear());
}

fn complete_velocities(
    frame: &mut Frame,
    neighbours: [Option<&Frame>; 2],
    step: f32,
    params: &ExportParams,
) {
    for (index, mesh) in frame.meshes.iter_mut().enumerate() {
        if params.wants(&mesh.name) && mesh.velocities.is_empty() {
            let same = |m: &Mesh| m.name == mesh.name && same_faces(&m.topology, &mesh.topology);
            // Vertices that were renumbered have no velocity.
            let positions = neighbours.map(|n| find(&n?.meshes, index, same));
            let positions = positions.map(|m| m.map(|m| m.positions.as_slice()));
            differentiate(positions, &mesh.positions, step, &mut mesh.velocities);
        }
    }
    for (index, curves) in frame.curves.iter_mut().enumerate() {
        if params.wants(&curves.name) && curves.velocities.is_empty() {
            let same = |c: &Curves| {
                c.name == curves.name && c.counts == curves.counts && c.ids == curves.ids
            };
            let positions = neighbours.map(|n| find(&n?.curves, index, same));
            let positions = positions.map(|c| c.map(|c| c.points.as_slice()));
            differentiate(positions, &curves.points, step, &mut curves.velocities);
        }
    }
    for (index, points) in frame.points.iter_mut().enumerate() {
        if params.wants(&points.name) && points.velocities.is_empty() {
            let same = |p: &Points| p.name == points.name && p.ids == points.ids;
            let positions = neighbours.map(|n| find(&n?.points, index, same));
            let positions = positions.map(|p| p.map(|p| p.positions.as_slice()));
            differentiate(positions, &points.positions, step, &mut points.velocities);
        }
    }
}

fn same_faces(a: &Arc<MeshTopology>, b: &Arc<MeshTopology>) -> bool {
    Arc::ptr_eq(a, b) || (a.vertex_count == b.vertex_count && a.triangles == b.triangles)
}

/// Central differences where both neighbours are known, one-sided where one is, else zero.
fn differentiate(
    neighbours: [Option<&[Vec3]>; 2],
    current: &[Vec3],
    step: f32,
    out: &mut Vec<Vec3>,
) {
    let neighbours = neighbours.map(|n| n.filter(|n| n.len() == current.len()));
    let (from, to, time) = match neighbours {
        [Some(before), Some(after)] => (before, after, 2.0 * step),
        [Some(before), None] => (before, current, step),
        [None, Some(after)] => (current, after, step),
        [None, None] => (current, current, step),
    };
    out.extend(from.iter().zip(to).map(|(a, b)| (*b - *a) / time));
}

/// A mesh that had normals once has them in every frame.
fn complete_normals(frame: &mut Frame, wanted: bool, with_normals: &mut BTreeSet<String>) {
    for mesh in &mut frame.meshes {
        if !wanted {
            mesh.normals.clear();
        } else if !mesh.normals.is_empty() {
            if !with_normals.contains(&mesh.name) {
                with_normals.insert(mesh.name.clone());
            }
        } else if with_normals.contains(&mesh.name) {
            area_weighted_normals(mesh);
        }
    }
}

fn area_weighted_normals(mesh: &mut Mesh) {
    mesh.normals.resize(mesh.positions.len(), Vec3::ZERO);
    for triangle in &mesh.topology.triangles {
        let [a, b, c] = triangle.map(|i| mesh.positions[i as usize]);
        let normal = (b - a).cross(c - a);
        for &vertex in triangle {
            mesh.normals[vertex as usize] += normal;
        }
    }
    for normal in &mut mesh.normals {
        *normal = normal.try_normalize().unwrap_or(Vec3::Y);
    }
}

/// Refuses frames that would make files other programs crash on.
fn check_frame(frame: &Frame, number: i64) -> Result<(), ExportError> {
    let malformed = |shape: &str, problem: String| ExportError::Malformed {
        frame: number,
        shape: shape.to_owned(),
        problem,
    };
    if let Some((shape, element)) = frame.find_non_finite() {
        return Err(malformed(shape, format!("point {element} is not finite")));
    }
    let mut names = BTreeSet::new();
    let all = frame.meshes.iter().map(|m| &m.name).chain(frame.curves.iter().map(|c| &c.name));
    for name in all.chain(frame.points.iter().map(|p| &p.name)) {
        if !names.insert(name) {
            return Err(malformed(name, "the name is used twice".to_owned()));
        }
    }
    for mesh in &frame.meshes {
        check_mesh(mesh).map_err(|problem| malformed(&mesh.name, problem))?;
    }
    for curves in &frame.curves {
        check_curves(curves).map_err(|problem| malformed(&curves.name, problem))?;
    }
    for points in &frame.points {
        check_points(points).map_err(|problem| malformed(&points.name, problem))?;
    }
    Ok(())
}

fn check_mesh(mesh: &Mesh) -> Result<(), String> {
    let count = mesh.positions.len();
    let topology = &mesh.topology;
    expect("positions", count, &[topology.vertex_count])?;
    expect("normals", mesh.normals.len(), &[0, count])?;
    expect("velocities", mesh.velocities.len(), &[0, count])?;
    expect("uvs", topology.uvs.len(), &[0, count])?;
    expect("colours", topology.colors.len(), &[0, count])?;
    expect(
        "triangle materials",
        topology.triangle_materials.len(),
        &[0, topology.triangles.len()],
    )?;
    if let Some(bad) = topology.triangles.iter().flatten().find(|&&i| i as usize >= count) {
        return Err(format!("a triangle names vertex {bad} of {count}"));
    }
    // Indices of corners are signed 32 bits in all of these formats.
    if topology.triangles.len() > i32::MAX as usize / 3 {
        return Err("too many triangles for the format".to_owned());
    }
    check_attributes(&mesh.attributes, &[count])
}

fn check_curves(curves: &Curves) -> Result<(), String> {
    let count = curves.points.len();
    let total: usize = curves.counts.iter().map(|&c| c as usize).sum();
    expect("points", count, &[total])?;
    expect("widths", curves.widths.len(), &[0, count])?;
    expect("velocities", curves.velocities.len(), &[0, count])?;
    expect("ids", curves.ids.len(), &[0, curves.counts.len()])?;
    expect("root uvs", curves.root_uvs.len(), &[0, curves.counts.len()])?;
    check_attributes(&curves.attributes, &[curves.counts.len(), count])
}

fn check_points(points: &Points) -> Result<(), String> {
    let count = points.positions.len();
    expect("widths", points.widths.len(), &[0, count])?;
    expect("velocities", points.velocities.len(), &[0, count])?;
    expect("ids", points.ids.len(), &[0, count])?;
    check_attributes(&points.attributes, &[count])
}

fn check_attributes(attributes: &[Attribute], lengths: &[usize]) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for attribute in attributes {
        expect(&attribute.name, attribute.values.len(), lengths)?;
        if !names.insert(clean_attribute_name(&attribute.name)) {
            return Err(format!("the attribute `{}` is there twice", attribute.name));
        }
    }
    Ok(())
}

fn expect(what: &str, found: usize, allowed: &[usize]) -> Result<(), String> {
    match allowed.contains(&found) {
        true => Ok(()),
        false => {
            Err(format!("{found} {what} where there should be {}", allowed[allowed.len() - 1]))
        }
    }
}

/// An attribute's name in every format: letters, digits and underscores, no digit first.
pub(crate) fn clean_attribute_name(name: &str) -> String {
    let mut clean: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if clean.is_empty() || clean.as_bytes()[0].is_ascii_digit() {
        clean.insert(0, '_');
    }
    clean
}
