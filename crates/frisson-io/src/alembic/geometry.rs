//! An object with a geometry schema: named columns that all have one sample per frame.
//!
//! Readers index every property of a schema by the same sample number, so a column that appears late
//! is filled up from the front, and one that is not given in a frame gets an empty sample.

use std::io::{self, Seek, Write};

use super::archive::{Archive, CompoundId, ObjectId, PropertyId, SamplingId};
use super::property::{DataType, Pod, SampleType, Shape};

/// What an object is to its readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// A transform.
    Xform,
    /// Polygons.
    PolyMesh,
    /// A named set of a mesh's faces.
    FaceSet,
    /// Strands.
    Curves,
    /// Particles.
    Points,
}

impl Schema {
    fn name(self) -> &'static str {
        match self {
            Self::Xform => "AbcGeom_Xform_v3",
            Self::PolyMesh => "AbcGeom_PolyMesh_v1",
            Self::FaceSet => "AbcGeom_FaceSet_v1",
            Self::Curves => "AbcGeom_Curve_v2",
            Self::Points => "AbcGeom_Points_v1",
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Self::Xform => ".xform",
            Self::FaceSet => ".faceset",
            Self::PolyMesh | Self::Curves | Self::Points => ".geom",
        }
    }

    fn metadata(self) -> String {
        let name = self.name();
        match self {
            Self::Xform => format!("schema={name}"),
            _ => format!("schema={name};schemaBaseType=AbcGeom_GeomBase_v1"),
        }
    }
}

/// Adds an object of a schema, with its folder of properties.
pub(super) fn add_schema_object<W: Write + Seek>(
    archive: &mut Archive<W>,
    parent: ObjectId,
    name: &str,
    schema: Schema,
) -> (ObjectId, CompoundId) {
    let metadata = schema.metadata();
    let title = format!("{metadata};schemaObjTitle={}:{}", schema.name(), schema.folder());
    let object = archive.add_object(parent, name, title);
    let properties = archive.properties_of(object);
    let folder = archive.add_compound(properties, schema.folder(), metadata);
    (object, folder)
}

/// Adds a transform that does nothing: hosts make one scene object of it and the shape below.
pub fn add_identity_xform<W: Write + Seek>(
    archive: &mut Archive<W>,
    parent: ObjectId,
    name: &str,
) -> ObjectId {
    add_schema_object(archive, parent, name, Schema::Xform).0
}

/// Which elements the values of a parameter belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One value for the object.
    Constant,
    /// One per face or curve.
    Uniform,
    /// One per point, interpolated along curves and over points.
    Varying,
    /// One per vertex.
    Vertex,
    /// One per face corner.
    FaceVarying,
}

impl Scope {
    fn code(self) -> &'static str {
        match self {
            Self::Constant => "con",
            Self::Uniform => "uni",
            Self::Varying => "var",
            Self::Vertex => "vtx",
            Self::FaceVarying => "fvr",
        }
    }
}

/// What the numbers of a parameter stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// A number.
    Float,
    /// An integer.
    Int,
    /// A texture coordinate or another pair.
    Vector2,
    /// A direction or velocity.
    Vector3,
    /// A unit normal.
    Normal,
    /// Linear RGB.
    Rgb,
}

impl ParameterType {
    fn data_type(self) -> DataType {
        match self {
            Self::Float => DataType::new(Pod::F32, 1),
            Self::Int => DataType::new(Pod::I32, 1),
            Self::Vector2 => DataType::new(Pod::F32, 2),
            Self::Vector3 | Self::Normal | Self::Rgb => DataType::new(Pod::F32, 3),
        }
    }

    fn interpretation(self) -> &'static str {
        match self {
            Self::Float | Self::Int => "",
            Self::Vector2 | Self::Vector3 => "vector",
            Self::Normal => "normal",
            Self::Rgb => "rgb",
        }
    }

    fn metadata(self, scope: Scope) -> String {
        let data_type = self.data_type();
        let interpretation = match self.interpretation() {
            "" => String::new(),
            text => format!("interpretation={text};"),
        };
        format!(
            "arrayExtent=1;geoScope={};{interpretation}isGeomParam=true;podExtent={};podName={}",
            scope.code(),
            data_type.extent,
            data_type.pod.name()
        )
    }
}

/// Values attached to geometry, in one frame.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    /// Name as hosts show it.
    pub name: &'a str,
    /// What the numbers stand for.
    pub kind: ParameterType,
    /// Which elements they belong to.
    pub scope: Scope,
    /// The numbers, little-endian.
    pub values: &'a [u8],
    /// If given, element `i` has value `indices[i]`.
    pub indices: Option<&'a [u32]>,
}

/// Where in the tree and when in the shot an object appears.
#[derive(Clone, Copy, Debug)]
pub struct Appearance<'a> {
    /// The object above it.
    pub parent: ObjectId,
    /// Its name.
    pub name: &'a str,
    /// The times of its samples.
    pub sampling: SamplingId,
    /// Frames of the shot that passed before it appeared.
    pub samples_before: u32,
}

/// Where a column lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Folder {
    Geometry,
    Arbitrary,
}

struct Column {
    folder: Folder,
    compound: Option<String>,
    name: String,
    property: PropertyId,
    shape: Shape,
    data_type: DataType,
}

/// A geometry object being written.
pub(super) struct Geometry {
    pub(super) object: ObjectId,
    folder: CompoundId,
    arbitrary: Option<CompoundId>,
    compounds: Vec<(Folder, String, CompoundId)>,
    sampling: SamplingId,
    columns: Vec<Column>,
    samples: u32,
}

impl Geometry {
    pub(super) fn new<W: Write + Seek>(
        archive: &mut Archive<W>,
        schema: Schema,
        at: Appearance<'_>,
    ) -> Self {
        let (object, folder) = add_schema_object(archive, at.parent, at.name, schema);
        Self {
            object,
            folder,
            arbitrary: None,
            compounds: Vec::new(),
            sampling: at.sampling,
            columns: Vec::new(),
            samples: at.samples_before,
        }
    }

    pub(super) fn write<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        name: &str,
        samples: SampleType<'_>,
        bytes: &[u8],
    ) -> io::Result<()> {
        self.write_column(archive, (Folder::Geometry, None, name), samples, bytes)
    }

    fn write_column<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        (folder, compound, name): (Folder, Option<(&str, &str)>, &str),
        samples: SampleType<'_>,
        bytes: &[u8],
    ) -> io::Result<()> {
        let compound_name = compound.map(|(name, _)| name);
        let known = self.columns.iter().find(|c| {
            c.folder == folder && c.name == name && c.compound.as_deref() == compound_name
        });
        if let Some(column) = known {
            if column.data_type != samples.data_type {
                let problem = format!("`{name}` changes its type from one frame to the next");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
            }
            return archive.write_sample(column.property, bytes);
        }
        let parent = match compound {
            Some((name, metadata)) => self.compound(archive, folder, name, metadata),
            None => self.folder(archive, folder),
        };
        let property = archive.add_property(parent, name, samples, self.sampling);
        self.columns.push(Column {
            folder,
            compound: compound_name.map(str::to_owned),
            name: name.to_owned(),
            property,
            shape: samples.shape,
            data_type: samples.data_type,
        });
        // Frames before the column appeared: a scalar has no empty value and takes its first one.
        for before in 0..self.samples {
            match (before, samples.shape) {
                (0, Shape::Scalar) => archive.write_sample(property, bytes)?,
                (0, Shape::Array) => archive.write_sample(property, &[])?,
                _ => archive.repeat_sample(property),
            }
        }
        archive.write_sample(property, bytes)
    }

    fn folder<W: Write + Seek>(&mut self, archive: &mut Archive<W>, folder: Folder) -> CompoundId {
        match folder {
            Folder::Geometry => self.folder,
            Folder::Arbitrary => *self.arbitrary.get_or_insert_with(|| {
                archive.add_compound(self.folder, ".arbGeomParams", String::new())
            }),
        }
    }

    fn compound<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        folder: Folder,
        name: &str,
        metadata: &str,
    ) -> CompoundId {
        if let Some(known) = self.compounds.iter().find(|c| c.0 == folder && c.1 == name) {
            return known.2;
        }
        let parent = self.folder(archive, folder);
        let id = archive.add_compound(parent, name, metadata.to_owned());
        self.compounds.push((folder, name.to_owned(), id));
        id
    }

    /// Repeats the last sample of a column that exists.
    pub(super) fn repeat<W: Write + Seek>(&mut self, archive: &mut Archive<W>, names: &[&str]) {
        for column in &self.columns {
            let name = column.compound.as_deref().unwrap_or(&column.name);
            let behind = archive.sample_count(column.property) == self.samples;
            if column.folder == Folder::Geometry && names.contains(&name) && behind {
                archive.repeat_sample(column.property);
            }
        }
    }

    pub(super) fn write_parameter<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        folder: Folder,
        parameter: &Parameter<'_>,
    ) -> io::Result<()> {
        let metadata = parameter.kind.metadata(parameter.scope);
        let values = SampleType::array(parameter.kind.data_type(), &metadata);
        let Some(indices) = parameter.indices else {
            let place = (folder, None, parameter.name);
            return self.write_column(archive, place, values, parameter.values);
        };
        let compound = Some((parameter.name, metadata.as_str()));
        // Readers look for the scope on the values, not on their folder.
        self.write_column(archive, (folder, compound, ".vals"), values, parameter.values)?;
        let numbers = SampleType::array(DataType::new(Pod::U32, 1), "");
        let indices = bytemuck::cast_slice(indices);
        self.write_column(archive, (folder, compound, ".indices"), numbers, indices)
    }

    /// Ends the frame: columns that were not given get an empty sample.
    pub(super) fn end_sample<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
    ) -> io::Result<()> {
        self.samples += 1;
        for column in &self.columns {
            while archive.sample_count(column.property) < self.samples {
                match column.shape {
                    Shape::Scalar => archive.repeat_sample(column.property),
                    Shape::Array => archive.write_sample(column.property, &[])?,
                }
            }
        }
        Ok(())
    }
}
