//! A whole shot into an archive.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek, Write};
use std::sync::Arc;

use bytemuck::cast_slice;
use frisson::geometry::{Attribute, AttributeValues, Mesh, MeshTopology};
use frisson::stage;

use super::archive::{Archive, ObjectId, SamplingId};
use super::geometry::{Appearance, Parameter, ParameterType, Scope, add_identity_xform};
use super::schemas::{
    Curves, CurvesSample, FaceSet, Faces, Points, PointsSample, PolyMesh, PolyMeshSample,
};
use crate::export::{
    ExportError, ExportFormat, Frames, NameRule, Names, ShapeWriter, clean_attribute_name,
    write_shapes,
};

const APPLICATION: &str = concat!("Frisson ", env!("CARGO_PKG_VERSION"));

/// Writes all frames.
pub(crate) fn write_shot<W: Write + Seek>(
    out: W,
    frames: &mut Frames<'_>,
) -> Result<W, ExportError> {
    let rate = frames.info().rate;
    let mut archive = Archive::create(out, APPLICATION, rate.fps())?;
    let start = frames.time(frames.info().first_frame);
    let sampling = archive.add_uniform_sampling(start, frames.time(1));
    let mut shot = Shot {
        archive,
        sampling,
        names: Names::new(NameRule::Plain),
        meshes: BTreeMap::new(),
        curves: BTreeMap::new(),
        points: BTreeMap::new(),
        written: 0,
    };
    write_shapes(frames, &mut shot, ExportFormat::Alembic)?;
    Ok(shot.archive.finish()?)
}

struct Shot<W> {
    archive: Archive<W>,
    sampling: SamplingId,
    names: Names,
    meshes: BTreeMap<String, MeshTrack>,
    curves: BTreeMap<String, Curves>,
    points: BTreeMap<String, Points>,
    written: u32,
}

/// A mesh with what was derived from its current topology.
struct MeshTrack {
    mesh: PolyMesh,
    face_sets: BTreeMap<usize, FaceSet>,
    set_names: Names,
    topology: Option<Arc<MeshTopology>>,
    arrays: TopologyArrays,
}

#[derive(Default)]
struct TopologyArrays {
    indices: Vec<i32>,
    counts: Vec<i32>,
    uvs: Vec<[f32; 2]>,
    uv_indices: Vec<u32>,
    rgb: Vec<[f32; 3]>,
    alpha: Vec<f32>,
}

impl TopologyArrays {
    fn fill(&mut self, topology: &MeshTopology) {
        // Clockwise, first corner kept.
        self.indices.clear();
        let turned = topology.triangles.iter().flat_map(|&[a, b, c]| [a, c, b]);
        self.indices.extend(turned.map(|i| i as i32));
        self.counts.clear();
        self.counts.resize(topology.triangles.len(), 3);
        self.uvs.clear();
        self.uvs.extend(topology.uvs.iter().map(|uv| [uv.x, 1.0 - uv.y]));
        self.uv_indices.clear();
        if !topology.uvs.is_empty() {
            // Corners ask for the texture coordinate of their vertex.
            self.uv_indices.extend(self.indices.iter().map(|&i| i as u32));
        }
        self.rgb.clear();
        self.rgb.extend(topology.colors.iter().map(|&[r, g, b, _]| [r, g, b]));
        self.alpha.clear();
        // An opacity of one everywhere says nothing.
        if topology.colors.iter().any(|c| c[3] != 1.0) {
            self.alpha.extend(topology.colors.iter().map(|c| c[3]));
        }
    }

    fn faces(&self) -> Faces<'_> {
        Faces {
            indices: &self.indices,
            counts: &self.counts,
            uvs: &self.uvs,
            uv_indices: &self.uv_indices,
        }
    }
}

impl<W: Write + Seek> ShapeWriter for Shot<W> {
    fn write_mesh(&mut self, mesh: &Mesh) -> Result<(), ExportError> {
        if !self.meshes.contains_key(&mesh.name) {
            let (parent, name) = self.add_parent(&mesh.name);
            let at = self.appearance(parent, &name);
            let object = PolyMesh::new(&mut self.archive, at);
            let track = MeshTrack {
                mesh: object,
                face_sets: BTreeMap::new(),
                set_names: Names::new(NameRule::Plain),
                topology: None,
                arrays: TopologyArrays::default(),
            };
            self.meshes.insert(mesh.name.clone(), track);
        }
        let Some(track) = self.meshes.get_mut(&mesh.name) else { return Ok(()) };
        let unchanged =
            track.topology.as_ref().is_some_and(|last| Arc::ptr_eq(last, &mesh.topology));
        if !unchanged {
            track.arrays.fill(&mesh.topology);
            track.topology = Some(Arc::clone(&mesh.topology));
        }
        let arrays = &track.arrays;
        let names = AttributeNames::of(&mesh.attributes);
        let mut parameters = names.parameters(|_| Scope::Vertex);
        parameters.push(parameter(
            "Cd",
            ParameterType::Rgb,
            Scope::Vertex,
            cast_slice(&arrays.rgb),
        ));
        let alpha = cast_slice(&arrays.alpha);
        parameters.push(parameter("Alpha", ParameterType::Float, Scope::Vertex, alpha));
        let sample = PolyMeshSample {
            positions: cast_slice(&mesh.positions),
            faces: (!unchanged).then(|| arrays.faces()),
            normals: cast_slice(&mesh.normals),
            velocities: cast_slice(&mesh.velocities),
            parameters: &parameters,
        };
        track.mesh.write(&mut self.archive, &sample)?;
        self.write_face_sets(mesh)
    }

    fn write_curves(&mut self, curves: &stage::Curves) -> Result<(), ExportError> {
        if !self.curves.contains_key(&curves.name) {
            let (parent, name) = self.add_parent(&curves.name);
            let at = self.appearance(parent, &name);
            let object = Curves::new(&mut self.archive, at);
            self.curves.insert(curves.name.clone(), object);
        }
        let Some(object) = self.curves.get_mut(&curves.name) else { return Ok(()) };
        let counts: Vec<i32> = curves.counts.iter().map(|&c| c as i32).collect();
        let root_uvs: Vec<[f32; 2]> = curves.root_uvs.iter().map(|uv| [uv.x, 1.0 - uv.y]).collect();
        let ids: Vec<i32> = curves.ids.iter().map(|&id| id as i32).collect();
        let color = [curves.color];
        let names = AttributeNames::of(&curves.attributes);
        let mut parameters = names.parameters(|values| {
            if values.len() == counts.len() { Scope::Uniform } else { Scope::Vertex }
        });
        let uniform = Scope::Uniform;
        let uvs = cast_slice(&root_uvs);
        parameters.push(parameter("Cd", ParameterType::Rgb, Scope::Constant, cast_slice(&color)));
        // Unreal's groom importer looks for these two by name.
        parameters.push(parameter("groom_root_uv", ParameterType::Vector2, uniform, uvs));
        parameters.push(parameter("groom_id", ParameterType::Int, uniform, cast_slice(&ids)));
        let sample = CurvesSample {
            positions: cast_slice(&curves.points),
            counts: &counts,
            widths: &curves.widths,
            velocities: cast_slice(&curves.velocities),
            parameters: &parameters,
        };
        Ok(object.write(&mut self.archive, &sample)?)
    }

    fn write_points(&mut self, points: &stage::Points) -> Result<(), ExportError> {
        if !self.points.contains_key(&points.name) {
            let (parent, name) = self.add_parent(&points.name);
            let at = self.appearance(parent, &name);
            let object = Points::new(&mut self.archive, at);
            self.points.insert(points.name.clone(), object);
        }
        let Some(object) = self.points.get_mut(&points.name) else { return Ok(()) };
        // Readers want as many ids as points.
        let numbers: Vec<u64> = match points.ids.is_empty() {
            true => (0..points.positions.len() as u64).collect(),
            false => Vec::new(),
        };
        let ids = if points.ids.is_empty() { &numbers } else { &points.ids };
        let names = AttributeNames::of(&points.attributes);
        let parameters = names.parameters(|_| Scope::Varying);
        let sample = PointsSample {
            positions: cast_slice(&points.positions),
            ids,
            widths: &points.widths,
            velocities: cast_slice(&points.velocities),
            parameters: &parameters,
        };
        Ok(object.write(&mut self.archive, &sample)?)
    }

    fn end_frame(&mut self, present: &BTreeSet<&str>) -> Result<(), ExportError> {
        self.write_absent(present)?;
        self.written += 1;
        Ok(())
    }
}

impl<W: Write + Seek> Shot<W> {
    /// An object that is first seen in the frame in hand.
    fn appearance<'n>(&self, parent: ObjectId, name: &'n str) -> Appearance<'n> {
        Appearance { parent, name, sampling: self.sampling, samples_before: self.written }
    }

    fn add_parent(&mut self, name: &str) -> (ObjectId, String) {
        let name = self.names.get(name);
        let parent = add_identity_xform(&mut self.archive, Archive::<W>::TOP, &name);
        (parent, format!("{name}Shape"))
    }

    /// One face set per material, where there are several.
    fn write_face_sets(&mut self, mesh: &Mesh) -> Result<(), ExportError> {
        let Some(track) = self.meshes.get_mut(&mesh.name) else { return Ok(()) };
        let topology = &mesh.topology;
        let several = topology.materials.len() > 1 && !topology.triangle_materials.is_empty();
        let materials = topology.materials.iter().enumerate().filter(|_| several);
        let given = if several { topology.materials.len() } else { 0 };
        for (index, material) in materials {
            let faces = topology.triangle_materials.iter().enumerate();
            let faces: Vec<i32> = faces
                .filter(|&(_, &m)| usize::from(m) == index)
                .map(|(face, _)| face as i32)
                .collect();
            let set = track.face_sets.entry(index).or_insert_with(|| {
                let name = track.set_names.fresh(&material.name);
                let (parent, name) = (track.mesh.object(), name.as_str());
                let (sampling, samples_before) = (self.sampling, self.written);
                let at = Appearance { parent, name, sampling, samples_before };
                FaceSet::new(&mut self.archive, at)
            });
            set.write(&mut self.archive, &faces)?;
        }
        for (_, set) in track.face_sets.range_mut(given..) {
            set.write(&mut self.archive, &[])?;
        }
        Ok(())
    }

    /// Shapes that are not in this frame are there without points.
    fn write_absent(&mut self, present: &BTreeSet<&str>) -> Result<(), ExportError> {
        let archive = &mut self.archive;
        for (name, track) in &mut self.meshes {
            if !present.contains(name.as_str()) {
                // When it comes back it is written whole: the frame before had no faces to repeat.
                track.topology = None;
                let faces = Some(Faces::default());
                track.mesh.write(archive, &PolyMeshSample { faces, ..Default::default() })?;
                for set in track.face_sets.values_mut() {
                    set.write(archive, &[])?;
                }
            }
        }
        for (name, curves) in &mut self.curves {
            if !present.contains(name.as_str()) {
                curves.write(archive, &CurvesSample::default())?;
            }
        }
        for (name, points) in &mut self.points {
            if !present.contains(name.as_str()) {
                points.write(archive, &PointsSample::default())?;
            }
        }
        Ok(())
    }
}

fn parameter<'a>(
    name: &'a str,
    kind: ParameterType,
    scope: Scope,
    values: &'a [u8],
) -> Parameter<'a> {
    Parameter { name, kind, scope, values, indices: None }
}

/// Attributes with names that every host accepts.
struct AttributeNames<'a>(Vec<(String, &'a AttributeValues)>);

impl<'a> AttributeNames<'a> {
    fn of(attributes: &'a [Attribute]) -> Self {
        let named = attributes.iter().map(|a| (clean_attribute_name(&a.name), &a.values));
        // `Cd` and `Alpha` are the mesh's own colours.
        Self(named.filter(|(name, _)| name != "Cd" && name != "Alpha").collect())
    }

    fn parameters(&self, scope: impl Fn(&AttributeValues) -> Scope) -> Vec<Parameter<'_>> {
        let parameters = self.0.iter().map(|(name, values)| {
            let (kind, bytes): (_, &[u8]) = match values {
                AttributeValues::Scalar(v) => (ParameterType::Float, cast_slice(v)),
                AttributeValues::Vector(v) => (ParameterType::Vector3, cast_slice(v)),
                AttributeValues::Color(v) => (ParameterType::Rgb, cast_slice(v)),
            };
            parameter(name, kind, scope(values), bytes)
        });
        parameters.collect()
    }
}
