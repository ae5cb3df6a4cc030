//! What a USD layer holds, whatever its encoding.
//!
//! Arrays go to the file as they come and are named by [`ArrayId`]; the tree of prims that uses them
//! is small and written at the end.

use std::io;

/// Numbers of one array value.
#[derive(Clone, Copy, Debug)]
pub enum ArrayData<'a> {
    /// `int[]`
    Int(&'a [i32]),
    /// `int64[]`
    Int64(&'a [i64]),
    /// `float[]`
    Float(&'a [f32]),
    /// `float2[]`, `texCoord2f[]`
    Vec2(&'a [[f32; 2]]),
    /// `float3[]`, `point3f[]`, `normal3f[]`, `vector3f[]`, `color3f[]`
    Vec3(&'a [[f32; 3]]),
}

impl<'a> ArrayData<'a> {
    /// No numbers of the same kind.
    #[must_use]
    pub fn emptied(self) -> ArrayData<'static> {
        match self {
            Self::Int(_) => ArrayData::Int(&[]),
            Self::Int64(_) => ArrayData::Int64(&[]),
            Self::Float(_) => ArrayData::Float(&[]),
            Self::Vec2(_) => ArrayData::Vec2(&[]),
            Self::Vec3(_) => ArrayData::Vec3(&[]),
        }
    }

    /// The numbers, little-endian.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Int(v) => bytemuck::cast_slice(v),
            Self::Int64(v) => bytemuck::cast_slice(v),
            Self::Float(v) => bytemuck::cast_slice(v),
            Self::Vec2(v) => bytemuck::cast_slice(v),
            Self::Vec3(v) => bytemuck::cast_slice(v),
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::Int(v) => v.len(),
            Self::Int64(v) => v.len(),
            Self::Float(v) => v.len(),
            Self::Vec2(v) => v.len(),
            Self::Vec3(v) => v.len(),
        }
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// An array that is already in the file; equal arrays of one kind may share an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArrayId(pub(super) u64);

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Declared only.
    None,
    /// A token.
    Token(String),
    /// A number.
    Float(f32),
    /// Three numbers.
    Vec3([f32; 3]),
    /// An array that does not change.
    Array(ArrayId),
    /// One array for each of the layer's times.
    Samples(Vec<ArrayId>),
    /// The path of the attribute that drives this one.
    Connection(String),
}

/// A property of a prim.
#[derive(Clone, Debug, PartialEq)]
pub enum Property {
    /// A typed value.
    Attribute {
        /// Name, with namespaces.
        name: String,
        /// Type as in text: `point3f[]`.
        type_name: &'static str,
        /// Whether it may not vary over time.
        uniform: bool,
        /// Elements that an array's values belong to.
        interpolation: Option<&'static str>,
        /// The value.
        value: Value,
    },
    /// A path to another prim.
    Relationship {
        /// Name, with namespaces.
        name: String,
        /// Path of the target.
        target: String,
    },
}

impl Property {
    /// Name, with namespaces.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Attribute { name, .. } | Self::Relationship { name, .. } => name,
        }
    }

    pub(super) fn token(name: &str, value: &str) -> Self {
        Self::Attribute {
            name: name.to_owned(),
            type_name: "token",
            uniform: true,
            interpolation: None,
            value: Value::Token(value.to_owned()),
        }
    }

    pub(super) fn plain(name: &str, type_name: &'static str, value: Value) -> Self {
        let name = name.to_owned();
        Self::Attribute { name, type_name, uniform: false, interpolation: None, value }
    }
}

/// A node of the scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prim {
    /// Name, an identifier.
    pub name: String,
    /// Schema: `Mesh`, `Xform`, …
    pub type_name: &'static str,
    /// Applied schemas.
    pub api_schemas: Vec<&'static str>,
    /// Properties.
    pub properties: Vec<Property>,
    /// Prims below.
    pub children: Vec<Prim>,
}

/// Metadata of the layer.
#[derive(Clone, Debug, PartialEq)]
pub enum Metadata {
    /// A token.
    Token(String),
    /// A number.
    Double(f64),
}

/// A whole layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Simulator metadata, by name.
    pub metadata: Vec<(&'static str, Metadata)>,
    /// Time codes of all samples.
    pub times: Vec<f64>,
    /// Prims at the top.
    pub prims: Vec<Prim>,
}

/// An encoding of layers.
pub trait LayerWriter {
    /// Puts an array into the file.
    fn write_array(&mut self, data: ArrayData<'_>) -> io::Result<ArrayId>;

    /// Writes the tree and closes the file.
    fn finish(&mut self, layer: &Layer) -> io::Result<()>;
}
