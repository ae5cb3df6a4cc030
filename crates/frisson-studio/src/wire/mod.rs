//! Frames and topologies as bytes for the page.
//!
//! ```text
//! u32 length of the JSON ─ JSON, padded to 4 bytes ─ arrays, each padded to 4 bytes
//! ```
//!
//! Positions are 16-bit whole numbers in the frame's own cube: a cube, not a box, so that one scale holds
//! for all axes and normals stay normals. Everything that is the same in the next frame (triangles,
//! colours, counts of curves) is a topology, sent once and named by its number.

mod parcel;
mod topology;

use std::sync::Arc;

use frisson::geometry::{Attribute, AttributeValues, Mesh};
use frisson::stage::{Curves, Frame, LayerReport, Points};
use glam::Vec3;
use serde_json::{Value, json};

pub use self::parcel::Parcel;
use self::parcel::{Cube, add_directions, add_points, add_scalars};
pub use self::topology::{SentTopology, Topologies};
use crate::insides::Inside;

/// A frame as the page gets it.
#[derive(Clone, Debug)]
pub struct SentFrame {
    /// Its bytes.
    pub bytes: Arc<Vec<u8>>,
    /// What its bytes refer to.
    pub topologies: Vec<SentTopology>,
    /// What the layers measured: layer, measure, unit, value.
    pub measures: Vec<(String, String, String, f64)>,
    /// Whether it was shown in haste: less of it than there is.
    pub is_rough: bool,
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
    let warnings: Vec<String> = names
        .iter()
        .zip(reports)
        .flat_map(|(layer, report)| report.warnings.iter().map(move |w| format!("{layer}: {w}")))
        .collect();
    let head = json!({
        "frame": frame.index, "time": frame.time, "meshes": meshes, "curves": curves,
        "points": points, "warnings": warnings,
        "insides": insides.iter().map(|i| pack_inside(i, &mut parcel)).collect::<Vec<_>>(),
    });
    SentFrame {
        bytes: Arc::new(parcel.close(&head)),
        topologies: used,
        measures: measures.collect(),
        is_rough: false,
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
        head["normals"] = add_directions(parcel, &mesh.normals, |_, n| (*n, 0)).into();
    }
    head["attributes"] = pack_scalars(&mesh.attributes, mesh.positions.len(), parcel);
    head
}

/// Attributes with a number for each of so many points.
fn pack_scalars(attributes: &[Attribute], points: usize, parcel: &mut Parcel) -> Value {
    let mut packed = Vec::new();
    for attribute in attributes {
        if let AttributeValues::Scalar(values) = &attribute.values
            && values.len() == points
        {
            let (place, low, high) = add_scalars(parcel, values);
            packed.push(json!({ "name": attribute.name, "at": place, "range": [low, high] }));
        }
    }
    packed.into()
}

fn pack_curves(curves: &Curves, topology: u64, parcel: &mut Parcel) -> Value {
    let cube = Cube::around(&curves.points);
    let positions = add_points(parcel, &cube, &curves.points);
    // Of every point: where it stands on its curve, and how many points that has.
    let mut stands = Vec::with_capacity(curves.points.len());
    for count in &curves.counts {
        stands.extend((0..*count).map(|at| (at, *count)));
    }
    // Points that no curve counts would otherwise shift all after them.
    stands.resize(curves.points.len(), (0, 1));
    let tangent = |index: usize, &(at, count): &(u32, u32)| {
        // From neighbour to neighbour: at the ends, where one is missing, from the point itself.
        let before = index - at.min(1) as usize;
        let after = if at + 1 < count { index + 1 } else { index };
        let along = 255.0 * at as f32 / (count - 1).max(1) as f32;
        let chord = curves.points.get(after).unwrap_or(&Vec3::ZERO) - curves.points[before];
        (chord.normalize_or(Vec3::Y), along as u8)
    };
    let tangents = add_directions(parcel, &stands, tangent);
    let width = curves.widths.iter().copied().fold(0.0, f32::max);
    json!({
        "name": curves.name, "topology": topology, "cube": cube.json(), "width": width,
        "count": curves.points.len(), "positions": positions,
        "tangents": tangents,
        "attributes": pack_scalars(&curves.attributes, curves.points.len(), parcel),
    })
}

fn pack_points(points: &Points, parcel: &mut Parcel) -> Value {
    let cube = Cube::around(&points.positions);
    let positions = add_points(parcel, &cube, &points.positions);
    let widths = parcel.add(points.widths.iter().flat_map(|w| w.to_le_bytes()));
    // Enough of an id to follow a point from frame to frame.
    let ids = parcel.add(points.ids.iter().flat_map(|id| (*id as u32).to_le_bytes()));
    json!({
        "name": points.name, "cube": cube.json(), "count": points.positions.len(),
        "positions": positions, "widths": widths, "ids": ids, "named": points.ids.len(),
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

    /// Curves of several pieces of packing: a tangent is the chord between a point's neighbours on its own curve.
    #[test]
    fn tangents_of_curves_do_not_reach_over_to_the_next() {
        let counts = vec![3; 6000];
        let points: Vec<Vec3> = (0..18_000)
            .map(|i| match i % 3 {
                0 => Vec3::ZERO,
                1 => Vec3::X,
                _ => Vec3::new(1.0, 1.0, 0.0),
            })
            .collect();
        let curves = Curves { counts, points, ..Curves::default() };
        let frame = Frame { curves: vec![curves], ..Frame::default() };
        let seen = Seen { frame: &frame, names: &[], reports: &[], insides: &[] };
        let sent = pack(&seen, &mut Topologies::numbered(1, 2));
        let head = head(&sent.bytes);
        let body = 4 + u32::from_le_bytes(sent.bytes[..4].try_into().unwrap()) as usize;
        let place = body + head["curves"][0]["tangents"].as_u64().unwrap() as usize;
        for curve in [0, 2730, 2731, 5999] {
            let own = &sent.bytes[place + 12 * curve..][..12];
            assert_eq!(own, [127, 0, 0, 0, 90, 90, 0, 127, 0, 127, 0, 255], "curve {curve}");
        }
    }

    #[test]
    fn a_topology_is_named_again_only_when_it_changes() {
        let mut topologies = Topologies::numbered(1, 2);
        let mut mesh = triangle();
        let frame = |mesh: &Mesh| Frame { meshes: vec![mesh.clone()], ..Frame::default() };
        let plain = |frame: &Frame, topologies: &mut Topologies| {
            pack(&Seen { frame, names: &[], reports: &[], insides: &[] }, topologies)
        };
        let first = plain(&frame(&mesh), &mut topologies);
        mesh.positions[0].x += 1.0;
        let moved = plain(&frame(&mesh), &mut topologies);
        assert_eq!(first.topologies[0].id, moved.topologies[0].id);
        assert_ne!(first.bytes, moved.bytes);
        let other = plain(&frame(&triangle()), &mut topologies);
        assert_ne!(first.topologies[0].id, other.topologies[0].id);
        assert_eq!(head(&other.bytes)["meshes"][0]["topology"], other.topologies[0].id);
        assert_eq!(head(&other.topologies[0].bytes)["triangles"], 1);
    }
}
