//! A whole shot into a layer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytemuck::cast_slice;
use frisson::geometry::{Attribute, AttributeValues, Mesh, MeshTopology};
use frisson::stage::{Curves, Points};
use glam::Vec3;

use super::layer::{ArrayData, ArrayId, Layer, LayerWriter, Metadata, Prim, Property};
use super::materials::{Materials, bind};
use super::track::{ColumnType, Track};
use crate::export::{
    ExportError, ExportFormat, Frames, NameRule, Names, ShapeWriter, clean_attribute_name,
    write_shapes,
};

pub(super) const ROOT: &str = "World";

/// Writes all frames.
pub(crate) fn write_shot(
    writer: &mut dyn LayerWriter,
    frames: &mut Frames<'_>,
) -> Result<(), ExportError> {
    let mut names = Names::new(NameRule::Identifier);
    // Taken: a shape of that name gets another.
    names.get("Materials");
    let mut shot = Shot {
        writer,
        names,
        materials: Materials::new(),
        meshes: BTreeMap::new(),
        curves: BTreeMap::new(),
        points: BTreeMap::new(),
        written: 0,
    };
    write_shapes(frames, &mut shot, ExportFormat::Usd)?;
    shot.finish(frames)
}

struct Shot<'w> {
    writer: &'w mut dyn LayerWriter,
    names: Names,
    materials: Materials,
    meshes: BTreeMap<String, MeshTrack>,
    curves: BTreeMap<String, Track>,
    points: BTreeMap<String, Track>,
    written: usize,
}

/// A mesh with what was derived from its current topology.
struct MeshTrack {
    track: Track,
    /// By material number.
    subsets: BTreeMap<usize, Track>,
    subset_names: Names,
    topology: Option<Arc<MeshTopology>>,
    /// Counts, indices, texture coordinates.
    arrays: [Option<ArrayId>; 3],
}

impl ShapeWriter for Shot<'_> {
    fn write_mesh(&mut self, mesh: &Mesh) -> Result<(), ExportError> {
        let names = &mut self.names;
        let entry = self.meshes.entry(mesh.name.clone()).or_insert_with(|| {
            let mut track = Track::new(names.get(&mesh.name), "Mesh");
            track.prim.properties.push(Property::token("subdivisionScheme", "none"));
            MeshTrack {
                track,
                subsets: BTreeMap::new(),
                subset_names: Names::new(NameRule::Identifier),
                topology: None,
                arrays: [None; 3],
            }
        });
        entry.track.begin(self.written);
        let same = entry.topology.as_ref().is_some_and(|last| Arc::ptr_eq(last, &mesh.topology));
        if !same {
            entry.arrays = write_topology(self.writer, &mesh.topology)?;
            entry.topology = Some(Arc::clone(&mesh.topology));
        }
        let (track, writer) = (&mut entry.track, &mut *self.writer);
        let columns = [
            ("faceVertexCounts", "int[]", None, ArrayData::Int(&[])),
            ("faceVertexIndices", "int[]", None, ArrayData::Int(&[])),
            ("primvars:st", "texCoord2f[]", Some("vertex"), ArrayData::Vec2(&[])),
        ];
        for ((name, type_name, interpolation, data), id) in columns.into_iter().zip(entry.arrays) {
            if let Some(id) = id {
                track.set_id(writer, ColumnType { name, type_name, interpolation }, data, id)?;
            }
        }
        set_points(track, writer, &mesh.positions, 0.0)?;
        set_vectors(track, writer, "velocities", "vector3f[]", None, &mesh.velocities)?;
        set_vectors(track, writer, "normals", "normal3f[]", Some("vertex"), &mesh.normals)?;
        set_attributes(track, writer, &mesh.attributes, |_| "vertex")?;
        set_mesh_color(track, writer, &mesh.topology)?;
        self.write_materials(mesh)
    }

    fn write_curves(&mut self, curves: &Curves) -> Result<(), ExportError> {
        let names = &mut self.names;
        let track = self.curves.entry(curves.name.clone()).or_insert_with(|| {
            let mut track = Track::new(names.get(&curves.name), "BasisCurves");
            let tokens = [("type", "linear"), ("wrap", "nonperiodic")];
            track.prim.properties.extend(tokens.map(|(name, value)| Property::token(name, value)));
            track
        });
        let writer = &mut *self.writer;
        track.begin(self.written);
        let counts: Vec<i32> = curves.counts.iter().map(|&c| c as i32).collect();
        track.set(writer, "curveVertexCounts", "int[]", None, ArrayData::Int(&counts))?;
        set_points(track, writer, &curves.points, largest(&curves.widths))?;
        set_vectors(track, writer, "velocities", "vector3f[]", None, &curves.velocities)?;
        set_floats(track, writer, "widths", "vertex", &curves.widths)?;
        // Hosts turn 32-bit primvars into attributes, 64-bit ones they leave out.
        let ids: Vec<i32> = curves.ids.iter().map(|&id| id as i32).collect();
        if !ids.is_empty() {
            track.set(writer, "primvars:id", "int[]", Some("uniform"), ArrayData::Int(&ids))?;
        }
        let uvs: Vec<[f32; 2]> = curves.root_uvs.iter().map(|uv| [uv.x, 1.0 - uv.y]).collect();
        if !uvs.is_empty() {
            let name = "primvars:st";
            track.set(writer, name, "texCoord2f[]", Some("uniform"), ArrayData::Vec2(&uvs))?;
        }
        let color = [curves.color];
        set_vectors(track, writer, DISPLAY_COLOR, "color3f[]", Some("constant"), &color)?;
        let strands = counts.len();
        set_attributes(track, writer, &curves.attributes, |values| {
            if values.len() == strands { "uniform" } else { "vertex" }
        })
    }

    fn write_points(&mut self, points: &Points) -> Result<(), ExportError> {
        let names = &mut self.names;
        let track = self
            .points
            .entry(points.name.clone())
            .or_insert_with(|| Track::new(names.get(&points.name), "Points"));
        let writer = &mut *self.writer;
        track.begin(self.written);
        set_points(track, writer, &points.positions, largest(&points.widths))?;
        set_vectors(track, writer, "velocities", "vector3f[]", None, &points.velocities)?;
        set_floats(track, writer, "widths", "vertex", &points.widths)?;
        if !points.ids.is_empty() {
            let ids = ArrayData::Int64(cast_slice(&points.ids));
            track.set(writer, "ids", "int64[]", None, ids)?;
        }
        set_attributes(track, writer, &points.attributes, |_| "vertex")
    }

    fn end_frame(&mut self, _: &BTreeSet<&str>) -> Result<(), ExportError> {
        self.written += 1;
        Ok(())
    }
}

impl Shot<'_> {
    /// One material is bound to the mesh, several to subsets of its faces.
    fn write_materials(&mut self, mesh: &Mesh) -> Result<(), ExportError> {
        let Some(entry) = self.meshes.get_mut(&mesh.name) else { return Ok(()) };
        let topology = &mesh.topology;
        let several = topology.materials.len() > 1 && !topology.triangle_materials.is_empty();
        if !several {
            if let Some(material) = topology.materials.first() {
                bind(&mut entry.track.prim, self.materials.path(material));
            }
            return Ok(());
        }
        for (number, material) in topology.materials.iter().enumerate() {
            let faces = topology.triangle_materials.iter().enumerate();
            let faces = faces.filter(|&(_, &m)| usize::from(m) == number);
            let faces: Vec<i32> = faces.map(|(face, _)| face as i32).collect();
            let (names, materials) = (&mut entry.subset_names, &mut self.materials);
            let subset = entry.subsets.entry(number).or_insert_with(|| {
                let mut track = Track::new(names.fresh(&material.name), "GeomSubset");
                track.prim.properties.push(Property::token("elementType", "face"));
                track.prim.properties.push(Property::token("familyName", "materialBind"));
                bind(&mut track.prim, materials.path(material));
                track
            });
            subset.begin(self.written);
            subset.set(self.writer, "indices", "int[]", None, ArrayData::Int(&faces))?;
        }
        Ok(())
    }

    fn finish(self, frames: &Frames<'_>) -> Result<(), ExportError> {
        let (count, all) = (self.written, frames.params().is_part);
        let mut shapes = Vec::new();
        for entry in self.meshes.into_values() {
            let mut prim = entry.track.finish(count, all);
            if !entry.subsets.is_empty() {
                let name = "subsetFamily:materialBind:familyType";
                prim.properties.push(Property::token(name, "nonOverlapping"));
                prim.children = entry.subsets.into_values().map(|s| s.finish(count, all)).collect();
            }
            shapes.push(prim);
        }
        let others = self.curves.into_values().chain(self.points.into_values());
        shapes.extend(others.map(|track| track.finish(count, all)));
        shapes.extend(self.materials.finish());
        let root =
            Prim { name: ROOT.to_owned(), type_name: "Xform", children: shapes, ..Prim::default() };
        let info = frames.info();
        let fps = info.rate.fps();
        let number = |value: f64| Metadata::Double(value);
        let metadata = vec![
            ("defaultPrim", Metadata::Token(ROOT.to_owned())),
            ("endTimeCode", number(info.last_frame as f64)),
            ("framesPerSecond", number(fps)),
            ("metersPerUnit", number(1.0 / f64::from(frames.params().scale))),
            ("startTimeCode", number(info.first_frame as f64)),
            ("timeCodesPerSecond", number(fps)),
            ("upAxis", Metadata::Token("Y".to_owned())),
        ];
        let times = (info.first_frame..=info.last_frame).map(|f| f as f64).collect();
        Ok(self.writer.finish(&Layer { metadata, times, prims: vec![root] })?)
    }
}

const DISPLAY_COLOR: &str = "primvars:displayColor";

fn write_topology(
    writer: &mut dyn LayerWriter,
    topology: &MeshTopology,
) -> Result<[Option<ArrayId>; 3], ExportError> {
    let counts = vec![3_i32; topology.triangles.len()];
    // USD counts v from the bottom of the picture.
    let uvs: Vec<[f32; 2]> = topology.uvs.iter().map(|uv| [uv.x, 1.0 - uv.y]).collect();
    let uvs = match uvs.is_empty() {
        true => None,
        false => Some(writer.write_array(ArrayData::Vec2(&uvs))?),
    };
    Ok([
        Some(writer.write_array(ArrayData::Int(&counts))?),
        Some(writer.write_array(ArrayData::Int(cast_slice(&topology.triangles)))?),
        uvs,
    ])
}

/// Vertex colours, or one colour for viewers that know no materials.
fn set_mesh_color(
    track: &mut Track,
    writer: &mut dyn LayerWriter,
    topology: &MeshTopology,
) -> Result<(), ExportError> {
    if topology.colors.is_empty() {
        if let Some(material) = topology.materials.first() {
            let color = [Vec3::from_slice(&material.base_color)];
            set_vectors(track, writer, DISPLAY_COLOR, "color3f[]", Some("constant"), &color)?;
        }
        return Ok(());
    }
    let colors: Vec<Vec3> = topology.colors.iter().map(|c| Vec3::from_slice(c)).collect();
    set_vectors(track, writer, DISPLAY_COLOR, "color3f[]", Some("vertex"), &colors)?;
    let opacities: Vec<f32> = topology.colors.iter().map(|c| c[3]).collect();
    set_floats(track, writer, "primvars:displayOpacity", "vertex", &opacities)
}

fn largest(widths: &[f32]) -> f32 {
    widths.iter().copied().fold(0.0, f32::max)
}

/// Positions and the box around them, which holds the widths too.
fn set_points(
    track: &mut Track,
    writer: &mut dyn LayerWriter,
    positions: &[Vec3],
    width: f32,
) -> Result<(), ExportError> {
    let points = ArrayData::Vec3(cast_slice(positions));
    track.set(writer, "points", "point3f[]", None, points)?;
    let (mut low, mut high) = (Vec3::ZERO, Vec3::ZERO);
    if let Some(&first) = positions.first() {
        (low, high) =
            positions.iter().fold((first, first), |(low, high), &p| (low.min(p), high.max(p)));
    }
    // Widths are diameters.
    let margin = Vec3::splat(0.5 * width);
    let extent = [(low - margin).to_array(), (high + margin).to_array()];
    track.set(writer, "extent", "float3[]", None, ArrayData::Vec3(&extent))?;
    Ok(())
}

fn set_vectors(
    track: &mut Track,
    writer: &mut dyn LayerWriter,
    name: &str,
    type_name: &'static str,
    interpolation: Option<&'static str>,
    values: &[Vec3],
) -> Result<(), ExportError> {
    if !values.is_empty() {
        let data = ArrayData::Vec3(cast_slice(values));
        track.set(writer, name, type_name, interpolation, data)?;
    }
    Ok(())
}

fn set_floats(
    track: &mut Track,
    writer: &mut dyn LayerWriter,
    name: &str,
    interpolation: &'static str,
    values: &[f32],
) -> Result<(), ExportError> {
    if !values.is_empty() {
        track.set(writer, name, "float[]", Some(interpolation), ArrayData::Float(values))?;
    }
    Ok(())
}

fn set_attributes(
    track: &mut Track,
    writer: &mut dyn LayerWriter,
    attributes: &[Attribute],
    interpolation: impl Fn(&AttributeValues) -> &'static str,
) -> Result<(), ExportError> {
    for attribute in attributes {
        let clean = clean_attribute_name(&attribute.name);
        // These are the shape's own.
        if ["st", "displayColor", "displayOpacity", "id"].contains(&clean.as_str()) {
            continue;
        }
        let name = format!("primvars:{clean}");
        let elements = interpolation(&attribute.values);
        match &attribute.values {
            AttributeValues::Scalar(values) => set_floats(track, writer, &name, elements, values)?,
            AttributeValues::Vector(values) => {
                set_vectors(track, writer, &name, "vector3f[]", Some(elements), values)?;
            }
            AttributeValues::Color(values) => {
                set_vectors(track, writer, &name, "color3f[]", Some(elements), values)?;
            }
        }
    }
    Ok(())
}
