//! The one place where numbers are taken out of buffers. Every offset is checked, every count is
//! paid for from a budget before anything is allocated, and every number is finite.

use std::cell::Cell;

use glam::Vec3;

use super::document::{Document, Kind};
use super::error::{GltfError, Result};
use super::json::{Item, index, whole_number};

/// Numbers a file of any size may ask for: enough for a small mesh placed many times.
const FREE_NUMBERS: usize = 16 << 20;
/// Numbers it may ask for besides, per byte of its buffers: accessors may overlap and meshes may be
/// placed several times, but a small file that unpacks to gigabytes is an attack or an accident.
const NUMBERS_PER_BYTE: usize = 64;
/// Numbers in all, whatever the size of the file.
const MAX_NUMBERS: usize = 1 << 30;

/// How one number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "draco", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    const ALL: [Self; 6] = [Self::I8, Self::U8, Self::I16, Self::U16, Self::U32, Self::F32];

    pub fn from_code(code: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.code() as usize == code)
    }

    /// The format's number for it, which is OpenGL's.
    pub fn code(self) -> u32 {
        match self {
            Self::I8 => 5120,
            Self::U8 => 5121,
            Self::I16 => 5122,
            Self::U16 => 5123,
            Self::U32 => 5125,
            Self::F32 => 5126,
        }
    }

    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// The number in the first bytes; `bytes` is long enough.
    fn float(self, normalized: bool, bytes: &[u8]) -> f32 {
        let short = || [bytes[0], bytes[1]];
        let long = || [bytes[0], bytes[1], bytes[2], bytes[3]];
        let (value, largest) = match self {
            Self::I8 => (f32::from(bytes[0] as i8), 127.0),
            Self::U8 => (f32::from(bytes[0]), 255.0),
            Self::I16 => (f32::from(i16::from_le_bytes(short())), 32767.0),
            Self::U16 => (f32::from(u16::from_le_bytes(short())), 65535.0),
            Self::U32 => (u32::from_le_bytes(long()) as f32, u32::MAX as f32),
            Self::F32 => return f32::from_le_bytes(long()),
        };
        // The least signed number has no positive twin and would be below -1.
        if normalized { (value / largest).max(-1.0) } else { value }
    }

    /// The unsigned number in the first bytes, if the type is one.
    fn unsigned(self, bytes: &[u8]) -> Option<u32> {
        match self {
            Self::U8 => Some(u32::from(bytes[0])),
            Self::U16 => Some(u32::from(u16::from_le_bytes([bytes[0], bytes[1]]))),
            Self::U32 => Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            _ => None,
        }
    }
}

/// Numbers per element, by rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat2,
    Mat3,
    Mat4,
}

impl Shape {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "SCALAR" => Self::Scalar,
            "VEC2" => Self::Vec2,
            "VEC3" => Self::Vec3,
            "VEC4" => Self::Vec4,
            "MAT2" => Self::Mat2,
            "MAT3" => Self::Mat3,
            "MAT4" => Self::Mat4,
            _ => return None,
        })
    }

    fn rows_columns(self) -> (usize, usize) {
        match self {
            Self::Scalar => (1, 1),
            Self::Vec2 => (2, 1),
            Self::Vec3 => (3, 1),
            Self::Vec4 => (4, 1),
            Self::Mat2 => (2, 2),
            Self::Mat3 => (3, 3),
            Self::Mat4 => (4, 4),
        }
    }

    /// Numbers per element.
    pub fn width(self) -> usize {
        let (rows, columns) = self.rows_columns();
        rows * columns
    }
}

/// What an accessor says of itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub count: usize,
    pub shape: Shape,
    pub component: Component,
    pub normalized: bool,
}

impl Layout {
    /// Matrix columns begin at multiples of four bytes.
    fn column_bytes(self) -> usize {
        let (rows, columns) = self.shape.rows_columns();
        let bytes = rows * self.component.size();
        if columns > 1 { bytes.next_multiple_of(4) } else { bytes }
    }

    fn element_bytes(self) -> usize {
        self.column_bytes() * self.shape.rows_columns().1
    }
}

/// Values changed by a sparse accessor.
pub(super) struct SparseVectors {
    pub vertices: Vec<u32>,
    pub vectors: Vec<Vec3>,
}

/// Reads accessors of one document within a budget.
pub(super) struct Accessors<'a> {
    document: &'a Document,
    numbers_left: Cell<usize>,
}

impl<'a> Accessors<'a> {
    pub fn new(document: &'a Document) -> Self {
        let earned = document.total_bytes().saturating_mul(NUMBERS_PER_BYTE);
        let numbers_left = Cell::new(earned.saturating_add(FREE_NUMBERS).min(MAX_NUMBERS));
        Self { document, numbers_left }
    }

    /// What accessor `index` says of itself.
    pub fn layout(&self, index: usize) -> Result<Layout> {
        let item = self.document.item(Kind::Accessor, index)?;
        let shape = item.value.get("type").and_then(|t| t.as_str()).and_then(Shape::from_name);
        let shape = shape.ok_or_else(|| item.invalid("\"type\" is missing or not known"))?;
        let component = Component::from_code(item.required_index("componentType")?)
            .ok_or_else(|| item.invalid("\"componentType\" is not known"))?;
        let normalized = item.value.get("normalized").and_then(|n| n.as_bool()).unwrap_or(false);
        let count = item.required_index("count")?;
        if count == 0 {
            return Err(item.invalid("\"count\" is 0"));
        }
        Ok(Layout { count, shape, component, normalized })
    }

    /// Pays for numbers that are about to be stored.
    pub fn pay(&self, place: impl FnOnce() -> String, numbers: usize) -> Result<()> {
        match self.numbers_left.get().checked_sub(numbers) {
            Some(left) => self.numbers_left.set(left),
            None => {
                let problem = format!("{numbers} more numbers do not fit a file of this size");
                return Err(GltfError::too_large(place(), problem));
            }
        }
        Ok(())
    }

    /// All numbers of an accessor as floats; its shape must be one of `shapes`.
    pub fn floats(&self, index: usize, shapes: &[Shape]) -> Result<(Layout, Vec<f32>)> {
        let convert = |layout: Layout, bytes: &[u8]| {
            let value = layout.component.float(layout.normalized, bytes);
            if value.is_finite() { Ok(value) } else { Err(format!("it holds {value}")) }
        };
        self.decode(index, shapes, convert)
    }

    /// All numbers of an accessor as unsigned integers.
    pub fn unsigned(&self, index: usize, shapes: &[Shape]) -> Result<(Layout, Vec<u32>)> {
        let convert = |layout: Layout, bytes: &[u8]| {
            let wrong = || "its numbers must be unsigned integers".to_owned();
            layout.component.unsigned(bytes).ok_or_else(wrong)
        };
        self.decode(index, shapes, convert)
    }

    /// Vectors of a morph target: only those that are not zero.
    pub fn sparse_vectors(&self, index: usize) -> Result<(usize, SparseVectors)> {
        let item = self.document.item(Kind::Accessor, index)?;
        if item.index("bufferView")?.is_some() || item.value.get("sparse").is_none() {
            let (layout, numbers) = self.floats(index, &[Shape::Vec3])?;
            return Ok((layout.count, keep_moving(&numbers)));
        }
        let layout = self.checked_layout(&item, index, &[Shape::Vec3])?;
        let mut out = SparseVectors { vertices: Vec::new(), vectors: Vec::new() };
        self.each_sparse(&item, layout, |element, bytes| {
            let mut vector = [0.0; 3];
            for (number, raw) in vector.iter_mut().zip(bytes.chunks(layout.component.size())) {
                *number = layout.component.float(layout.normalized, raw);
            }
            let vector = Vec3::from_array(vector);
            if !vector.is_finite() {
                return Err(item.invalid(format!("it holds {vector}")));
            }
            if vector != Vec3::ZERO {
                out.vertices.push(element as u32);
                out.vectors.push(vector);
            }
            Ok(())
        })?;
        Ok((layout.count, out))
    }

    fn checked_layout(&self, item: &Item<'_>, index: usize, shapes: &[Shape]) -> Result<Layout> {
        let layout = self.layout(index)?;
        if !shapes.contains(&layout.shape) {
            return Err(item.invalid(format!("{:?} where {shapes:?} is needed", layout.shape)));
        }
        Ok(layout)
    }

    fn decode<T: Copy + Default>(
        &self,
        index: usize,
        shapes: &[Shape],
        convert: impl Fn(Layout, &[u8]) -> std::result::Result<T, String>,
    ) -> Result<(Layout, Vec<T>)> {
        let item = self.document.item(Kind::Accessor, index)?;
        let layout = self.checked_layout(&item, index, shapes)?;
        let numbers = layout.count.saturating_mul(layout.shape.width());
        // Before the allocation: a count is only a number in a text.
        self.pay(|| item.place(), numbers)?;
        let invalid = |problem: String| item.invalid(problem);
        let mut out = Vec::new();
        if let Some(view) = item.index("bufferView")? {
            let offset = item.index_or("byteOffset", 0)?;
            let elements = self.elements(&item, view, offset, layout, true)?;
            out.reserve_exact(numbers);
            elements.each(layout.count, |_, bytes| {
                for_each_number(layout, bytes, |raw| {
                    out.push(convert(layout, raw).map_err(invalid)?);
                    Ok(())
                })
            })?;
        } else {
            // Without a view all numbers are zero; the type may still be one that is not wanted.
            convert(layout, &[0; 4]).map_err(invalid)?;
            out.resize(numbers, T::default());
        }
        if item.value.get("sparse").is_some() {
            let width = layout.shape.width();
            self.each_sparse(&item, layout, |element, bytes| {
                let mut at = element * width;
                for_each_number(layout, bytes, |raw| {
                    out[at] = convert(layout, raw).map_err(invalid)?;
                    at += 1;
                    Ok(())
                })
            })?;
        }
        Ok((layout, out))
    }

    /// Calls back with every changed element of a sparse accessor and its bytes.
    fn each_sparse(
        &self,
        item: &Item<'_>,
        layout: Layout,
        mut take: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let sparse = item.value.get("sparse").filter(|s| s.is_object());
        let missing = |what: &str| item.invalid(format!("sparse {what} is missing or wrong"));
        let sparse = sparse.ok_or_else(|| missing("object"))?;
        let part = |key: &str| sparse.get(key).filter(|p| p.is_object());
        let number = |object: Option<&serde_json::Value>, key: &str| {
            object.and_then(|o| o.get(key)).and_then(whole_number).ok_or_else(|| missing(key))
        };
        let offset = |object: Option<&serde_json::Value>| {
            object.map_or(Ok(None), |o| index(o, "byteOffset")).map_err(|p| item.invalid(p))
        };
        let count = number(Some(sparse), "count")?;
        if count == 0 || count > layout.count {
            return Err(item.invalid(format!("{count} sparse elements of {}", layout.count)));
        }
        self.pay(|| item.place(), count.saturating_mul(layout.shape.width()))?;
        let (places, values) = (part("indices"), part("values"));
        let component = Component::from_code(number(places, "componentType")?)
            .filter(|c| matches!(c, Component::U8 | Component::U16 | Component::U32))
            .ok_or_else(|| missing("indices' componentType"))?;
        let index_layout = Layout { count, shape: Shape::Scalar, component, normalized: false };
        let places = self.elements(
            item,
            number(places, "bufferView")?,
            offset(places)?.unwrap_or(0),
            index_layout,
            false,
        )?;
        let value_layout = Layout { count, ..layout };
        let values = self.elements(
            item,
            number(values, "bufferView")?,
            offset(values)?.unwrap_or(0),
            value_layout,
            false,
        )?;
        let mut previous = None;
        places.each(count, |k, bytes| {
            let element = component.unsigned(bytes).unwrap_or(0) as usize;
            // The format demands it, and whoever uses the list searches it by halves.
            if element >= layout.count || previous.is_some_and(|p| p >= element) {
                return Err(item.invalid("sparse indices must ascend and stay below the count"));
            }
            previous = Some(element);
            take(element, values.get(k))
        })
    }

    /// Checks that all elements lie inside a view.
    fn elements(
        &self,
        item: &Item<'_>,
        view: usize,
        offset: usize,
        layout: Layout,
        strided: bool,
    ) -> Result<Elements<'a>> {
        let size = layout.element_bytes();
        let data = self.document.view(view)?;
        // Sparse parts are packed tightly, whatever their view says.
        let stride = data.stride.filter(|_| strided).unwrap_or(size);
        if stride < size {
            let problem = format!("a stride of {stride} bytes is less than an element ({size})");
            return Err(item.invalid(problem));
        }
        let reach = (layout.count - 1)
            .checked_mul(stride)
            .and_then(|n| n.checked_add(size))
            .and_then(|n| n.checked_add(offset));
        if reach.is_none_or(|reach| reach > data.bytes.len()) {
            let problem = format!(
                "{} elements from byte {offset} reach past the end of buffer view {view} ({} bytes)",
                layout.count,
                data.bytes.len()
            );
            return Err(item.invalid(problem));
        }
        Ok(Elements { bytes: data.bytes, offset, stride, size })
    }
}

/// Equally spaced elements that are known to be inside their view.
struct Elements<'a> {
    bytes: std::borrow::Cow<'a, [u8]>,
    offset: usize,
    stride: usize,
    size: usize,
}

impl Elements<'_> {
    fn get(&self, element: usize) -> &[u8] {
        let start = self.offset + element * self.stride;
        &self.bytes[start..start + self.size]
    }

    fn each(&self, count: usize, mut take: impl FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
        (0..count).try_for_each(|element| take(element, self.get(element)))
    }
}

/// Calls back with the bytes of every number of an element, column by column.
fn for_each_number(
    layout: Layout,
    element: &[u8],
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let size = layout.component.size();
    let (rows, _) = layout.shape.rows_columns();
    for column in element.chunks_exact(layout.column_bytes()) {
        for raw in column[..rows * size].chunks_exact(size) {
            take(raw)?;
        }
    }
    Ok(())
}

fn keep_moving(numbers: &[f32]) -> SparseVectors {
    let mut out = SparseVectors { vertices: Vec::new(), vectors: Vec::new() };
    for (vertex, vector) in numbers.chunks_exact(3).enumerate() {
        let vector = Vec3::from_slice(vector);
        if vector != Vec3::ZERO {
            out.vertices.push(vertex as u32);
            out.vectors.push(vector);
        }
    }
    out
}

/// Numbers stored outside an accessor (Draco) but described by one.
#[cfg(feature = "draco")]
pub(super) fn floats_of_bytes(
    component: Component,
    normalized: bool,
    bytes: &[u8],
) -> std::result::Result<Vec<f32>, String> {
    let numbers = bytes.chunks_exact(component.size()).map(|b| component.float(normalized, b));
    let numbers: Vec<f32> = numbers.collect();
    match numbers.iter().find(|n| !n.is_finite()) {
        Some(bad) => Err(format!("it holds {bad}")),
        None => Ok(numbers),
    }
}

/// Unsigned integers stored outside an accessor.
#[cfg(feature = "draco")]
pub(super) fn unsigned_of_bytes(component: Component, bytes: &[u8]) -> Option<Vec<u32>> {
    bytes.chunks_exact(component.size()).map(|b| component.unsigned(b)).collect()
}
