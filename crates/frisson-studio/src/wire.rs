//! Frames and topologies as bytes for the page.
//!
//! ```text
//! u32 length of the JSON ─ JSON, padded to 4 bytes ─ arrays, each padded to 4 bytes
//! ```
//!
//! Positions are 16-bit whole numbers in the frame's own cube: a cube, not a box, so that one scale holds
//! for all axes and normals stay normals. Everything that is the same in the next frame (triangles,
//! colours, counts of curves) is a topology, sent once and named by its number.

use std::sync::Arc;

use frisson::geometry::{AttributeValues, Bounds, Material, Mesh, MeshTopology};
use frisson::stage::{Curves, Frame, LayerReport, Points};
use glam::Vec3;
use serde_json::{Value, json};

use crate::insides::Inside;

/// Steps of a 16-bit position along an edge of its cube.
const STEPS: f32 = 65535.0;
/// Steps of an 8-bit normal along an axis.
const NORMAL_STEPS: f32 = 127.0;

/// Bytes in the making: arrays after a JSON head that names their places.
#[derive(Default)]
pub struct Parcel {
    body: Vec<u8>,
}

impl Parcel {
    /// Adds an array; returns where it begins.
    pub fn add(&mut self, bytes: impl IntoIterator<Item = u8>) -> usize {
        let place = self.body.len();
        self.body.extend(bytes);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
        place
    }

    /// The head and everything that was added.
    #[must_use]
    pub fn close(self, head: &Value) -> Vec<u8> {
        let mut text = head.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut bytes = Vec::with_capacity(4 + text.len() + self.body.len());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
        bytes.extend(self.body);
        bytes
    }
}

/// The cube that some points lie in: its lowest corner and its edge [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cube {
    low: Vec3,
    edge: f32,
}

impl Cube {
    /// Around some points; a point alone gets a cube that is not flat.
    #[must_use]
    pub fn around(points: &[Vec3]) -> Self {
        let bounds = Bounds::of(points);
        if points.is_empty() {
            return Self { low: Vec3::ZERO, edge: 1.0 };
        }
        Self { low: bounds.min, edge: (bounds.max - bounds.min).max_element().max(1e-9) }
    }

    fn quantise(&self, point: Vec3) -> [u16; 3] {
        let scaled = (point - self.low) * (STEPS / self.edge);
        scaled.to_array().map(|x| (x + 0.5).clamp(0.0, STEPS) as u16)
    }

    /// What the page sees of a point.
    #[cfg(test)]
    fn shown(&self, point: Vec3) -> Vec3 {
        let steps = self.quantise(point).map(f32::from);
        self.low + Vec3::from_array(steps) * (self.edge / STEPS)
    }

    fn json(&self) -> Value {
        json!([self.low.x, self.low.y, self.low.z, self.edge])
    }
}

fn add_points(parcel: &mut Parcel, cube: &Cube, points: &[Vec3]) -> usize {
    parcel.add(points.iter().flat_map(|p| cube.quantise(*p)).flat_map(u16::to_le_bytes))
}

/// Unit vectors in three signed bytes; the fourth is free for the caller.
fn add_directions(parcel: &mut Parcel, directions: impl Iterator<Item = (Vec3, u8)>) -> usize {
    let packed = |(d, extra): (Vec3, u8)| {
        let [x, y, z] = (d * NORMAL_STEPS).to_array().map(|v| v.round() as i8 as u8);
        [x, y, z, extra]
    };
    parcel.add(directions.flat_map(packed))
}

/// Scalars in a byte each, with the range they span.
fn add_scalars(parcel: &mut Parcel, values: &[f32]) -> (usize, f32, f32) {
    let low = values.iter().copied().fold(f32::INFINITY, f32::min);
    let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let scale = if high > low { 255.0 / (high - low) } else { 0.0 };
    let place = parcel.add(values.iter().map(|v| ((v - low) * scale) as u8));
    (place, low, high)
}

/// A topology that the page has been, or can be, sent.
#[derive(Clone, Debug)]
pub struct SentTopology {
    /// Its number.
    pub id: u64,
    /// Its bytes.
    pub bytes: Arc<Vec<u8>>,
    /// Textures it names, by number.
    pub textures: Vec<(u64, Arc<Vec<u8>>)>,
}

enum Known {
    Mesh(Arc<MeshTopology>),
    Curves { counts: Vec<u32>, color: Vec3 },
}

/// Names topologies: the same one gets the same number in the next frame.
pub struct Topologies {
    /// Those of the latest frames.
    recent: Vec<(Known, SentTopology)>,
    next: u64,
    step: u64,
}

/// Topologies remembered: enough for every shape of a frame and a few before it.
const REMEMBERED: usize = 64;

impl Topologies {
    /// Numbers from `first` on in steps of `step`, so that two simulations never share one.
    #[must_use]
    pub fn numbered(first: u64, step: u64) -> Self {
        Self { recent: Vec::new(), next: first, step }
    }

    fn take_number(&mut self) -> u64 {
        let id = self.next;
        self.next += self.step;
        id
    }

    fn remember(&mut self, known: Known, sent: SentTopology) -> SentTopology {
        if self.recent.len() >= REMEMBERED {
            self.recent.remove(0);
        }
        self.recent.push((known, sent.clone()));
        sent
    }

    fn of_mesh(&mut self, mesh: &Mesh) -> SentTopology {
        let is_same = |(known, _): &&(Known, _)| matches!(known, Known::Mesh(t) if Arc::ptr_eq(t, &mesh.topology));
        if let Some((_, sent)) = self.recent.iter().find(is_same) {
            return sent.clone();
        }
        let id = self.take_number();
        let mut textures = Vec::new();
        for material in &mesh.topology.materials {
            if let Some(texture) = &material.texture {
                let mut bytes = Vec::with_capacity(8 + texture.rgba.len());
                bytes.extend(texture.width.to_le_bytes());
                bytes.extend(texture.height.to_le_bytes());
                bytes.extend(&texture.rgba);
                textures.push((self.take_number(), Arc::new(bytes)));
            }
        }
        let ids: Vec<u64> = textures.iter().map(|(id, _)| *id).collect();
        let bytes = Arc::new(mesh_topology(mesh, &ids));
        self.remember(Known::Mesh(mesh.topology.clone()), SentTopology { id, bytes, textures })
    }

    fn of_curves(&mut self, curves: &Curves) -> SentTopology {
        let is_same = |(known, _): &&(Known, _)| {
            matches!(known, Known::Curves { counts, color }
                if *counts == curves.counts && *color == curves.color)
        };
        if let Some((_, sent)) = self.recent.iter().find(is_same) {
            return sent.clone();
        }
        let mut parcel = Parcel::default();
        let counts = parcel.add(curves.counts.iter().flat_map(|c| c.to_le_bytes()));
        let head = json!({
            "kind": "curves", "counts": [counts, curves.counts.len()],
            "color": curves.color.to_array(),
        });
        let sent = SentTopology {
            id: self.take_number(),
            bytes: Arc::new(parcel.close(&head)),
            textures: Vec::new(),
        };
        let known = Known::Curves { counts: curves.counts.clone(), color: curves.color };
        self.remember(known, sent)
    }
}

fn mesh_topology(mesh: &Mesh, textures: &[u64]) -> Vec<u8> {
    let topology = &mesh.topology;
    let mut parcel = Parcel::default();
    // Triangles of one material lie together, so that the page draws each material at once.
    let material = |t: usize| topology.triangle_materials.get(t).copied().unwrap_or(0);
    let mut order: Vec<u32> = (0..topology.triangles.len() as u32).collect();
    order.sort_by_key(|t| material(*t as usize));
    let corners = order.iter().flat_map(|t| topology.triangles[*t as usize]);
    let indices = parcel.add(corners.flat_map(u32::to_le_bytes));
    let numbers = parcel.add(order.iter().flat_map(|t| t.to_le_bytes()));
    let mut groups = Vec::new();
    for (place, t) in order.iter().enumerate() {
        let m = material(*t as usize);
        match groups.last_mut() {
            Some((last, _, count)) if *last == m => *count += 3,
            _ => groups.push((m, 3 * place, 3)),
        }
    }
    let mut head = json!({
        "kind": "mesh", "vertices": topology.vertex_count, "triangles": topology.triangles.len(),
        "indices": indices, "numbers": numbers, "groups": groups,
        "materials": materials(&topology.materials, textures),
    });
    if !topology.uvs.is_empty() {
        let uvs = topology.uvs.iter().flat_map(|uv| uv.to_array()).flat_map(f32::to_le_bytes);
        head["uvs"] = parcel.add(uvs).into();
    }
    if !topology.colors.is_empty() {
        let byte = |c: &f32| (c.clamp(0.0, 1.0) * 255.0) as u8;
        let bytes: Vec<u8> = topology.colors.iter().flatten().map(byte).collect();
        head["colors"] = parcel.add(bytes).into();
    }
    // Vertices that refinement has added come after the actor's own.
    head["own_vertices"] = topology.root_vertex_count().into();
    head["is_refined"] = topology.ancestry.is_some().into();
    parcel.close(&head)
}

fn materials(materials: &[Material], textures: &[u64]) -> Vec<Value> {
    let mut textures = textures.iter();
    let one = |m: &Material| {
        let texture = m.texture.as_ref().and_then(|_| textures.next());
        json!({
            "name": m.name, "color": m.base_color, "roughness": m.roughness,
            "metallic": m.metallic, "transmission": m.transmission, "ior": m.ior,
            "texture": texture,
        })
    };
    materials.iter().map(one).collect()
}

/// A frame as the page gets it.
#[derive(Clone, Debug)]
pub struct SentFrame {
    /// Its bytes.
    pub bytes: Arc<Vec<u8>>,
    /// What its bytes refer to.
    pub topologies: Vec<SentTopology>,
    /// What the layers measured: layer, measure, unit, value.
    pub measures: Vec<(String, String, String, f64)>,
}

/// All that is to be seen of a frame.
pub struct Seen<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// Names of the layers that report.
    pub names: &'a [String],
    /// What they measured.
    pub reports: &'a [LayerReport],
    /// What goes on inside them.
    pub insides: &'a [Inside],
}

/// Packs a frame.
#[must_use]
pub fn pack(seen: &Seen, topologies: &mut Topologies) -> SentFrame {
    let Seen { frame, names, reports, insides } = *seen;
    let mut parcel = Parcel::default();
    let mut used = Vec::new();
    let meshes: Vec<Value> = frame
        .meshes
        .iter()
        .map(|mesh| {
            used.push(topologies.of_mesh(mesh));
            pack_mesh(mesh, used.last().map_or(0, |t| t.id), &mut parcel)
        })
        .collect();
    let curves: Vec<Value> = frame
        .curves
        .iter()
        .map(|curves| {
            used.push(topologies.of_curves(curves));
            pack_curves(curves, used.last().map_or(0, |t| t.id), &mut parcel)
        })
        .collect();
    let points: Vec<Value> = frame.points.iter().map(|p| pack_points(p, &mut parcel)).collect();
    let measures = names.iter().zip(reports).flat_map(|(layer, report)| {
        let one =
            |m: &frisson::stage::Measure| (layer.clone(), m.name.clone(), m.unit.clone(), m.value);
        report.measures.iter().map(one)
    });
    let warnings: Vec<&String> = reports.iter().flat_map(|r| &r.warnings).collect();
    let head = json!({
        "frame": frame.index, "time": frame.time, "meshes": meshes, "curves": curves,
        "points": points, "warnings": warnings,
        "insides": insides.iter().map(|i| pack_inside(i, &mut parcel)).collect::<Vec<_>>(),
    });
    SentFrame {
        bytes: Arc::new(parcel.close(&head)),
        topologies: used,
        measures: measures.collect(),
    }
}

fn pack_mesh(mesh: &Mesh, topology: u64, parcel: &mut Parcel) -> Value {
    let cube = Cube::around(&mesh.positions);
    let positions = add_points(parcel, &cube, &mesh.positions);
    let mut head = json!({
        "name": mesh.name, "topology": topology, "cube": cube.json(),
        "count": mesh.positions.len(), "positions": positions,
    });
    if mesh.normals.len() == mesh.positions.len() {
        head["normals"] = add_directions(parcel, mesh.normals.iter().map(|n| (*n, 0))).into();
    }
    let mut attributes = Vec::new();
    for attribute in &mesh.attributes {
        if let AttributeValues::Scalar(values) = &attribute.values
            && values.len() == mesh.positions.len()
        {
            let (place, low, high) = add_scalars(parcel, values);
            attributes.push(json!({ "name": attribute.name, "at": place, "range": [low, high] }));
        }
    }
    head["attributes"] = attributes.into();
    head
}

fn pack_curves(curves: &Curves, topology: u64, parcel: &mut Parcel) -> Value {
    let cube = Cube::around(&curves.points);
    let positions = add_points(parcel, &cube, &curves.points);
    let mut tangents = Vec::with_capacity(curves.points.len());
    let mut first = 0;
    for count in curves.counts.iter().map(|c| *c as usize) {
        let points = curves.points.get(first..first + count).unwrap_or_default();
        for at in 0..points.len() {
            let (a, b) = (at.saturating_sub(1), (at + 1).min(points.len() - 1));
            let along = 255.0 * at as f32 / (points.len() - 1).max(1) as f32;
            tangents.push(((points[b] - points[a]).normalize_or(Vec3::Y), along as u8));
        }
        first += count;
    }
    let width = curves.widths.iter().copied().fold(0.0, f32::max);
    json!({
        "name": curves.name, "topology": topology, "cube": cube.json(), "width": width,
        "count": curves.points.len(), "positions": positions,
        "tangents": add_directions(parcel, tangents.into_iter()),
    })
}

fn pack_points(points: &Points, parcel: &mut Parcel) -> Value {
    let cube = Cube::around(&points.positions);
    let positions = add_points(parcel, &cube, &points.positions);
    let widths = parcel.add(points.widths.iter().flat_map(|w| w.to_le_bytes()));
    json!({
        "name": points.name, "cube": cube.json(), "count": points.positions.len(),
        "positions": positions, "widths": widths,
    })
}

fn pack_inside(inside: &Inside, parcel: &mut Parcel) -> Value {
    let cube = Cube::around(&inside.places);
    let positions = add_points(parcel, &cube, &inside.places);
    json!({
        "kind": inside.kind, "layer": inside.layer, "lines": inside.is_lines, "cube": cube.json(),
        "count": inside.places.len(), "positions": positions,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(bytes: &[u8]) -> Value {
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        serde_json::from_slice(&bytes[4..4 + length]).unwrap()
    }

    fn triangle() -> Mesh {
        Mesh::new("t", vec![Vec3::ZERO, Vec3::X, 3.0 * Vec3::Y], vec![[0, 1, 2]])
    }

    #[test]
    fn positions_keep_to_a_part_in_a_hundred_thousand_of_the_frame() {
        let points: Vec<Vec3> =
            (0..500).map(|i| Vec3::new((i as f32).sin(), (0.7 * i as f32).cos(), 4.0)).collect();
        let cube = Cube::around(&points);
        let worst = points.iter().map(|p| p.distance(cube.shown(*p))).fold(0.0, f32::max);
        assert!(worst < 1e-5 * 2.0 * 3f32.sqrt(), "{worst}");
        assert_eq!(Cube::around(&[Vec3::ONE]).shown(Vec3::ONE), Vec3::ONE);
    }

    #[test]
    fn a_topology_is_named_again_only_when_it_changes() {
        let mut topologies = Topologies::numbered(1, 2);
        let mut mesh = triangle();
        let frame = |mesh: &Mesh| Frame { meshes: vec![mesh.clone()], ..Frame::default() };
        let pack = |frame: &Frame, topologies: &mut Topologies| {
            super::pack(&Seen { frame, names: &[], reports: &[], insides: &[] }, topologies)
        };
        let first = pack(&frame(&mesh), &mut topologies);
        mesh.positions[0].x += 1.0;
        let moved = pack(&frame(&mesh), &mut topologies);
        assert_eq!(first.topologies[0].id, moved.topologies[0].id);
        assert_ne!(first.bytes, moved.bytes);
        let other = pack(&frame(&triangle()), &mut topologies);
        assert_ne!(first.topologies[0].id, other.topologies[0].id);
        assert_eq!(head(&other.bytes)["meshes"][0]["topology"], other.topologies[0].id);
        assert_eq!(head(&other.topologies[0].bytes)["triangles"], 1);
    }
}
