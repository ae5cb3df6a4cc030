//! Small glTF files and shots.

use std::sync::Arc;

use frisson::character::{Character, Pose, Sampling};
use frisson::geometry::{Mesh, MeshTopology};
use frisson::stage::{Frame, Rate};
use frisson_io::gltf::{GlbBuilder, Imported, ViewUse, read_bytes};
use frisson_io::{FrameSource, ShotInfo, SourceError};
use glam::{Mat4, Vec3};
use serde_json::{Value, json};

pub const TRIANGLE: [Vec3; 3] = [Vec3::ZERO, Vec3::X, Vec3::Y];

/// One triangle on one node, to be changed.
pub fn triangle() -> GlbBuilder {
    let mut builder = GlbBuilder::new();
    let positions = builder.positions(&TRIANGLE).unwrap();
    let primitive = json!({ "attributes": { "POSITION": positions } });
    builder.push("meshes", json!({ "name": "Body", "primitives": [primitive] }));
    let node = builder.push("nodes", json!({ "name": "body", "mesh": 0 }));
    builder.add_to_scene(node);
    builder
}

/// A strip of quads bent by two joints, with a morph target and a clip of each interpolation.
pub fn bent_strip() -> GlbBuilder {
    let mut builder = GlbBuilder::new();
    let positions: Vec<Vec3> =
        (0..10).map(|k| Vec3::new((k % 2) as f32, (k / 2) as f32 * 0.5, 0.0)).collect();
    let triangles: Vec<[u32; 3]> = (0..4)
        .flat_map(|q| [[2 * q, 2 * q + 1, 2 * q + 3], [2 * q, 2 * q + 3, 2 * q + 2]])
        .collect();
    let weights: Vec<[f32; 4]> =
        (0..10).map(|k| (k / 2) as f32 / 4.0).map(|w| [1.0 - w, w, 0.0, 0.0]).collect();
    let attributes = json!({
        "POSITION": builder.positions(&positions).unwrap(),
        "JOINTS_0": builder.joints(&[[0, 1, 0, 0]; 10]).unwrap(),
        "WEIGHTS_0": builder.weights(&weights).unwrap(),
    });
    let indices = builder.triangles(&triangles, 10).unwrap();
    let target = builder.sparse_vectors(10, &[2, 3], &[Vec3::Z, Vec3::Z]).unwrap();
    let primitive = json!({
        "attributes": attributes, "indices": indices, "targets": [{ "POSITION": target }],
    });
    builder.push("meshes", json!({ "name": "Strip", "primitives": [primitive], "weights": [0.0] }));
    let bind = [Mat4::IDENTITY, Mat4::from_translation(Vec3::new(0.0, -1.0, 0.0))];
    let matrices = builder.matrices(&bind).unwrap();
    builder.push("skins", json!({ "joints": [2, 0], "inverseBindMatrices": matrices }));
    builder.push("nodes", json!({ "name": "tip", "translation": [0.0, 1.0, 0.0] }));
    builder
        .push("nodes", json!({ "name": "strip", "mesh": 0, "skin": 0, "translation": [9, 9, 9] }));
    builder.push("nodes", json!({ "name": "root", "children": [0] }));
    builder.add_to_scene(2);
    builder.add_to_scene(1);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let rotation = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half];
    let track =
        |target, interpolation, width| OneTrack { target, interpolation, values: &[], width };
    let bend = OneTrack { values: &rotation, ..track((0, "rotation"), "LINEAR", 4) };
    add_clip(&mut builder, "bend", &bend);
    let bulge = OneTrack { values: &[0.25, 1.0], ..track((1, "weights"), "STEP", 1) };
    add_clip(&mut builder, "bulge", &bulge);
    let cubic = [0., 0., 0., 0., 0., 0., 1., 0., 0., 1., 0., 0., 1., 0., 0., 0., 0., 0.];
    let slide = OneTrack { values: &cubic, ..track((2, "translation"), "CUBICSPLINE", 3) };
    add_clip(&mut builder, "slide", &slide);
    builder
}

/// Keys at 0 and 1 s of one property of a node; `width` numbers a key.
struct OneTrack<'a> {
    target: (usize, &'a str),
    interpolation: &'a str,
    values: &'a [f32],
    width: usize,
}

fn add_clip(builder: &mut GlbBuilder, name: &str, track: &OneTrack<'_>) {
    let input = builder.times(&[0.0, 1.0]).unwrap();
    let output = builder.floats(track.values, track.width, ViewUse::Other).unwrap();
    let (node, path) = track.target;
    let interpolation = track.interpolation;
    builder.push(
        "animations",
        json!({
            "name": name,
            "samplers": [{ "input": input, "output": output, "interpolation": interpolation }],
            "channels": [{ "sampler": 0, "target": { "node": node, "path": path } }],
        }),
    );
}

pub fn import(builder: GlbBuilder) -> Imported {
    read_bytes(&builder.into_bytes().unwrap(), None).unwrap()
}

/// What a broken file says.
pub fn problem(builder: GlbBuilder) -> String {
    read_bytes(&builder.into_bytes().unwrap(), None).unwrap_err().to_string()
}

/// World positions of the first mesh.
pub fn positions(character: &Character, clip: Option<&str>, time: f64) -> Vec<Vec3> {
    let clip = clip.map(|name| &character.clips[character.clip_index(name).unwrap()]);
    let (mut pose, mut out) = (Pose::default(), Vec::new());
    pose.set(character, clip, time, Sampling::AsAuthored, Mat4::IDENTITY);
    character.deform_mesh_positions(0, &pose, &mut out);
    out
}

pub fn assert_close(a: &[Vec3], b: &[Vec3], tolerance: f32) {
    assert_eq!(a.len(), b.len());
    for (index, (a, b)) in a.iter().zip(b).enumerate() {
        assert!(a.distance(*b) <= tolerance, "vertex {index}: {a} is not {b}");
    }
}

/// A shot made by a function of the frame number.
pub struct Shot<F: Fn(i64) -> Vec<Mesh>> {
    info: ShotInfo,
    meshes: F,
}

impl<F: Fn(i64) -> Vec<Mesh>> Shot<F> {
    pub fn new(frames: std::ops::RangeInclusive<i64>, meshes: F) -> Self {
        let (first_frame, last_frame) = (*frames.start(), *frames.end());
        Self { info: ShotInfo { rate: Rate::whole(24), first_frame, last_frame }, meshes }
    }
}

impl<F: Fn(i64) -> Vec<Mesh>> FrameSource for Shot<F> {
    fn info(&self) -> &ShotInfo {
        &self.info
    }

    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
        if !(self.info.first_frame..=self.info.last_frame).contains(&frame) {
            return Err(SourceError::NoSuchFrame(frame));
        }
        out.index = frame;
        out.meshes = (self.meshes)(frame);
        Ok(())
    }
}

/// A mesh of the given positions with a topology that can be shared.
pub fn mesh(name: &str, topology: &Arc<MeshTopology>, positions: Vec<Vec3>) -> Mesh {
    Mesh { name: name.to_owned(), topology: Arc::clone(topology), positions, ..Mesh::default() }
}

pub fn primitive_mut(builder: &mut GlbBuilder) -> &mut Value {
    &mut builder.json["meshes"][0]["primitives"][0]
}
