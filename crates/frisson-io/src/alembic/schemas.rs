//! The schemas hosts understand: polygons, face sets, strands, particles.

use std::io::{self, Seek, Write};

use super::archive::{Archive, ObjectId};
use super::geometry::{Appearance, Folder, Geometry, Parameter, ParameterType, Schema, Scope};
use super::property::{DataType, Pod, SampleType};

const BOX: DataType = DataType::new(Pod::F64, 6);
const VECTOR: DataType = DataType::new(Pod::F32, 3);
const INT: DataType = DataType::new(Pod::I32, 1);
const ID: DataType = DataType::new(Pod::U64, 1);

/// Columns that follow from the topology alone.
const TOPOLOGY_COLUMNS: [&str; 3] = [".faceIndices", ".faceCounts", "uv"];

/// Faces and texture coordinates of one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faces<'a> {
    /// Vertex of each corner, **clockwise** seen from outside: the opposite of glTF and USD.
    pub indices: &'a [i32],
    /// Corners of each face.
    pub counts: &'a [i32],
    /// Texture coordinates, v up; none if empty.
    pub uvs: &'a [[f32; 2]],
    /// Texture coordinate of each corner.
    pub uv_indices: &'a [u32],
}

/// A mesh in one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct PolyMeshSample<'a> {
    /// Positions.
    pub positions: &'a [[f32; 3]],
    /// Faces; none: as in the frame before.
    pub faces: Option<Faces<'a>>,
    /// Shading normals per vertex; none if empty.
    pub normals: &'a [[f32; 3]],
    /// Velocities per vertex, in units per second; none if empty.
    pub velocities: &'a [[f32; 3]],
    /// Further values.
    pub parameters: &'a [Parameter<'a>],
}

/// A mesh being written.
pub struct PolyMesh(Geometry);

impl PolyMesh {
    /// Adds a mesh.
    pub fn new<W: Write + Seek>(archive: &mut Archive<W>, at: Appearance<'_>) -> Self {
        Self(Geometry::new(archive, Schema::PolyMesh, at))
    }

    /// The archive's object, for face sets below it.
    #[must_use]
    pub fn object(&self) -> ObjectId {
        self.0.object
    }

    /// Writes one frame.
    pub fn write<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        sample: &PolyMeshSample<'_>,
    ) -> io::Result<()> {
        let geometry = &mut self.0;
        write_positions(geometry, archive, Scope::Vertex, sample.positions)?;
        match &sample.faces {
            Some(faces) => write_faces(geometry, archive, faces)?,
            None => geometry.repeat(archive, &TOPOLOGY_COLUMNS),
        }
        if !sample.normals.is_empty() {
            let normals = Parameter {
                name: "N",
                kind: ParameterType::Normal,
                scope: Scope::Vertex,
                values: bytemuck::cast_slice(sample.normals),
                indices: None,
            };
            geometry.write_parameter(archive, Folder::Geometry, &normals)?;
        }
        end_sample(geometry, archive, sample.velocities, sample.parameters)
    }
}

fn write_faces<W: Write + Seek>(
    geometry: &mut Geometry,
    archive: &mut Archive<W>,
    faces: &Faces<'_>,
) -> io::Result<()> {
    let indices = bytemuck::cast_slice(faces.indices);
    geometry.write(archive, ".faceIndices", SampleType::array(INT, ""), indices)?;
    let counts = bytemuck::cast_slice(faces.counts);
    geometry.write(archive, ".faceCounts", SampleType::array(INT, ""), counts)?;
    if faces.uvs.is_empty() {
        return Ok(());
    }
    let uvs = Parameter {
        name: "uv",
        kind: ParameterType::Vector2,
        scope: Scope::FaceVarying,
        values: bytemuck::cast_slice(faces.uvs),
        indices: Some(faces.uv_indices),
    };
    geometry.write_parameter(archive, Folder::Geometry, &uvs)
}

/// Faces of a mesh that share a material, being written.
pub struct FaceSet(Geometry);

impl FaceSet {
    /// Adds a face set; what it appears below is its mesh.
    pub fn new<W: Write + Seek>(archive: &mut Archive<W>, at: Appearance<'_>) -> Self {
        Self(Geometry::new(archive, Schema::FaceSet, at))
    }

    /// Writes the faces of one frame, by index.
    pub fn write<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        faces: &[i32],
    ) -> io::Result<()> {
        write_bounds(&mut self.0, archive, &[])?;
        // Every face is in one set: hosts need not look for overlaps.
        let exclusive = 1_u32.to_le_bytes();
        let flag = DataType::new(Pod::U32, 1);
        self.0.write(archive, ".facesExclusive", SampleType::scalar(flag, ""), &exclusive)?;
        let faces = bytemuck::cast_slice(faces);
        self.0.write(archive, ".faces", SampleType::array(INT, ""), faces)?;
        self.0.end_sample(archive)
    }
}

/// Strands in one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct CurvesSample<'a> {
    /// Points, one curve after the other.
    pub positions: &'a [[f32; 3]],
    /// Points of each curve.
    pub counts: &'a [i32],
    /// Diameter at each point; none if empty.
    pub widths: &'a [f32],
    /// Velocity at each point; none if empty.
    pub velocities: &'a [[f32; 3]],
    /// Further values.
    pub parameters: &'a [Parameter<'a>],
}

/// Piecewise linear strands being written: hosts resample smooth ones and lose the point count.
pub struct Curves(Geometry);

impl Curves {
    /// Type (1: linear), wrap (0: open), basis and its parameters (none).
    const LINEAR_OPEN: [u8; 4] = [1, 0, 0, 0];

    /// Adds strands.
    pub fn new<W: Write + Seek>(archive: &mut Archive<W>, at: Appearance<'_>) -> Self {
        Self(Geometry::new(archive, Schema::Curves, at))
    }

    /// Writes one frame.
    pub fn write<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        sample: &CurvesSample<'_>,
    ) -> io::Result<()> {
        let geometry = &mut self.0;
        write_positions(geometry, archive, Scope::Vertex, sample.positions)?;
        let counts = bytemuck::cast_slice(sample.counts);
        geometry.write(archive, "nVertices", SampleType::array(INT, ""), counts)?;
        let basis = DataType::new(Pod::U8, 4);
        let name = "curveBasisAndType";
        geometry.write(archive, name, SampleType::scalar(basis, ""), &Self::LINEAR_OPEN)?;
        write_widths(geometry, archive, "width", Scope::Vertex, sample.widths)?;
        end_sample(geometry, archive, sample.velocities, sample.parameters)
    }
}

/// Particles in one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointsSample<'a> {
    /// Centres.
    pub positions: &'a [[f32; 3]],
    /// Stable ids, one per point.
    pub ids: &'a [u64],
    /// Diameters; none if empty.
    pub widths: &'a [f32],
    /// Velocities; none if empty.
    pub velocities: &'a [[f32; 3]],
    /// Further values.
    pub parameters: &'a [Parameter<'a>],
}

/// Particles being written.
pub struct Points(Geometry);

impl Points {
    /// Adds particles.
    pub fn new<W: Write + Seek>(archive: &mut Archive<W>, at: Appearance<'_>) -> Self {
        Self(Geometry::new(archive, Schema::Points, at))
    }

    /// Writes one frame.
    pub fn write<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        sample: &PointsSample<'_>,
    ) -> io::Result<()> {
        let geometry = &mut self.0;
        write_positions(geometry, archive, Scope::Varying, sample.positions)?;
        let ids = bytemuck::cast_slice(sample.ids);
        geometry.write(archive, ".pointIds", SampleType::array(ID, "geoScope=var"), ids)?;
        write_widths(geometry, archive, ".widths", Scope::Varying, sample.widths)?;
        end_sample(geometry, archive, sample.velocities, sample.parameters)
    }
}

/// The box of nothing is written as a point at the origin: hosts that add boxes without asking
/// whether they are empty would otherwise overflow.
fn write_bounds<W: Write + Seek>(
    geometry: &mut Geometry,
    archive: &mut Archive<W>,
    positions: &[[f32; 3]],
) -> io::Result<()> {
    let mut bounds = [0.0_f64; 6];
    for axis in 0..3 {
        let values = positions.iter().map(|p| p[axis]);
        let (low, high) = values
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low <= high {
            bounds[axis] = f64::from(low);
            bounds[axis + 3] = f64::from(high);
        }
    }
    let bytes = bytemuck::cast_slice(&bounds);
    geometry.write(archive, ".selfBnds", SampleType::scalar(BOX, "interpretation=box"), bytes)
}

/// Positions and the box around them.
fn write_positions<W: Write + Seek>(
    geometry: &mut Geometry,
    archive: &mut Archive<W>,
    scope: Scope,
    positions: &[[f32; 3]],
) -> io::Result<()> {
    write_bounds(geometry, archive, positions)?;
    let metadata = match scope {
        Scope::Varying => "geoScope=var;interpretation=point",
        _ => "geoScope=vtx;interpretation=point",
    };
    let bytes = bytemuck::cast_slice(positions);
    geometry.write(archive, "P", SampleType::array(VECTOR, metadata), bytes)
}

/// What every kind of shape ends with, and the end of the frame.
fn end_sample<W: Write + Seek>(
    geometry: &mut Geometry,
    archive: &mut Archive<W>,
    velocities: &[[f32; 3]],
    parameters: &[Parameter<'_>],
) -> io::Result<()> {
    write_velocities(geometry, archive, velocities)?;
    let given = parameters.iter().filter(|p| !p.values.is_empty());
    for parameter in given {
        geometry.write_parameter(archive, Folder::Arbitrary, parameter)?;
    }
    geometry.end_sample(archive)
}

fn write_velocities<W: Write + Seek>(
    geometry: &mut Geometry,
    archive: &mut Archive<W>,
    velocities: &[[f32; 3]],
) -> io::Result<()> {
    if velocities.is_empty() {
        return Ok(());
    }
    let bytes = bytemuck::cast_slice(velocities);
    geometry.write(
        archive,
        ".velocities",
        SampleType::array(VECTOR, "interpretation=vector"),
        bytes,
    )
}

fn write_widths<W: Write + Seek>(
    geometry: &mut Geometry,
    archive: &mut Archive<W>,
    name: &str,
    scope: Scope,
    widths: &[f32],
) -> io::Result<()> {
    if widths.is_empty() {
        return Ok(());
    }
    let values = bytemuck::cast_slice(widths);
    let kind = ParameterType::Float;
    let parameter = Parameter { name, kind, scope, values, indices: None };
    geometry.write_parameter(archive, Folder::Geometry, &parameter)
}
