//! Objects and properties of an archive.

use super::bytes::Bytes;
use super::sampling::TimeSampling;
use super::values::Values;
use super::{AlembicError, Result};

/// Deepest nesting of objects or of properties.
const MAX_DEPTH: usize = 64;
/// Parts a file may name beyond those its size has room for: small files name a few twice.
const FREE_PARTS: u64 = 4096;

/// A node of the tree: a transform, a shape, or nothing but a place for others.
pub(super) struct Object {
    pub name: String,
    /// `schema` of its metadata, such as `AbcGeom_PolyMesh_v1`.
    pub schema: String,
    pub properties: Vec<Property>,
    pub children: Vec<Object>,
}

/// A named value or folder of values.
pub(super) struct Property {
    pub name: String,
    pub metadata: String,
    pub content: Content,
}

pub(super) enum Content {
    Compound(Vec<Property>),
    Values(Values),
}

/// What a file holds, before any sample is read.
pub(super) struct Tree {
    pub top: Object,
    pub samplings: Vec<TimeSampling>,
}

/// One entry of a `key=value;…` text.
pub(super) fn entry<'a>(metadata: &'a str, key: &str) -> Option<&'a str> {
    metadata.split(';').filter_map(|e| e.split_once('=')).find(|(k, _)| *k == key).map(|(_, v)| v)
}

/// The property of that name.
pub(super) fn find<'a>(properties: &'a [Property], name: &str) -> Option<&'a Property> {
    properties.iter().find(|p| p.name == name)
}

/// The values of that name.
pub(super) fn values<'a>(properties: &'a [Property], name: &str) -> Option<&'a Values> {
    match &find(properties, name)?.content {
        Content::Values(values) => Some(values),
        Content::Compound(_) => None,
    }
}

/// The folder of that name.
pub(super) fn compound<'a>(properties: &'a [Property], name: &str) -> Option<&'a [Property]> {
    match &find(properties, name)?.content {
        Content::Compound(inner) => Some(inner),
        Content::Values(_) => None,
    }
}

/// Reads the tree of a container.
pub(super) fn read_tree(bytes: &Bytes) -> Result<Tree> {
    let root = bytes.group("archive", bytes.root()?)?;
    if root.len() < 6 {
        let problem = format!("the root has {} parts where six are needed", root.len());
        return Err(AlembicError::damaged("archive", problem));
    }
    let metadata = metadata_table(&bytes.block("metadata", root[5])?)?;
    let samplings = TimeSampling::read_all(&bytes.block("time samplings", root[4])?)?;
    // A part takes eight bytes; writers store equal ones once and name them again, but not without end.
    let parts_left = 4 * (bytes.length() / 8) + FREE_PARTS;
    let mut reader = TreeReader { bytes, metadata, parts_left };
    let top = reader.object(root[2], String::new(), String::new(), 0)?;
    Ok(Tree { top, samplings })
}

fn metadata_table(table: &[u8]) -> Result<Vec<String>> {
    let mut out = vec![String::new()];
    let mut cursor = Cursor { bytes: table, place: "metadata" };
    while !cursor.bytes.is_empty() {
        out.push(cursor.text(1)?);
    }
    Ok(out)
}

/// Takes numbers and texts off the front of some bytes.
struct Cursor<'a> {
    bytes: &'a [u8],
    place: &'a str,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let cut = || AlembicError::damaged(self.place, "its headers are cut short");
        let (head, tail) = self.bytes.split_at_checked(count).ok_or_else(cut)?;
        self.bytes = tail;
        Ok(head)
    }

    fn number(&mut self, width: usize) -> Result<u64> {
        let mut all = [0; 8];
        all[..width].copy_from_slice(self.take(width)?);
        Ok(u64::from_le_bytes(all))
    }

    fn text(&mut self, width: usize) -> Result<String> {
        let size = self.number(width)?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        Ok(String::from_utf8_lossy(self.take(size)?).into_owned())
    }
}

struct TreeReader<'a> {
    bytes: &'a Bytes,
    metadata: Vec<String>,
    /// What may still be named: parts can be named twice, and a chain of doubles would fill any
    /// memory.
    parts_left: u64,
}

impl TreeReader<'_> {
    fn group(&mut self, place: &str, child: u64) -> Result<Vec<u64>> {
        let count = self.bytes.group_size(place, child)?;
        match self.parts_left.checked_sub(count + 1) {
            Some(left) => self.parts_left = left,
            None => return Err(AlembicError::damaged(place, "the same parts are named too often")),
        }
        self.bytes.group(place, child)
    }

    fn metadata(&self, index: u64, place: &str) -> Result<String> {
        let found = usize::try_from(index).ok().and_then(|i| self.metadata.get(i)).cloned();
        found.ok_or_else(|| AlembicError::damaged(place, format!("there is no metadata {index}")))
    }

    fn object(&mut self, at: u64, path: String, metadata: String, depth: usize) -> Result<Object> {
        let place = if path.is_empty() { "archive".to_owned() } else { path.clone() };
        if depth > MAX_DEPTH {
            return Err(AlembicError::damaged(place, "objects are nested too deeply"));
        }
        let group = self.group(&place, at)?;
        let [properties, children @ .., headers] = group.as_slice() else {
            return Err(AlembicError::damaged(place, "an object has two parts at least"));
        };
        let properties = self.compound(*properties, &place, 0)?;
        let headers = self.bytes.block(&place, *headers)?;
        // Two digests of 16 bytes follow the headers.
        let headers = headers.get(..headers.len().saturating_sub(32)).unwrap_or_default();
        let mut cursor = Cursor { bytes: headers, place: &place };
        let mut read = Vec::new();
        for &child in children {
            let name = cursor.text(4)?;
            let metadata = match cursor.number(1)? {
                0xff => cursor.text(4)?,
                index => self.metadata(index, &place)?,
            };
            read.push((child, name, metadata));
        }
        let schema = entry(&metadata, "schema").unwrap_or_default().to_owned();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let mut object = Object { name, schema, properties, children: Vec::new() };
        for (child, name, metadata) in read {
            let child_path = format!("{path}/{name}");
            object.children.push(self.object(child, child_path, metadata, depth + 1)?);
        }
        Ok(object)
    }

    fn compound(&mut self, at: u64, place: &str, depth: usize) -> Result<Vec<Property>> {
        if depth > MAX_DEPTH {
            return Err(AlembicError::damaged(place, "properties are nested too deeply"));
        }
        let group = self.group(place, at)?;
        let Some((&headers, children)) = group.split_last() else { return Ok(Vec::new()) };
        let headers = self.bytes.block(place, headers)?;
        let mut cursor = Cursor { bytes: &headers, place };
        children.iter().map(|&child| self.property(child, &mut cursor, depth)).collect()
    }

    fn property(&mut self, child: u64, headers: &mut Cursor<'_>, depth: usize) -> Result<Property> {
        let flags = headers.number(4)? as u32;
        let width = [1, 2, 4, 4][(flags >> 2 & 3) as usize];
        let kind = flags & 3;
        let (mut samples, mut changes, mut sampling) = (0, (0, 0), 0);
        if kind != 0 {
            samples = headers.number(width)?;
            changes = if flags & 0x200 != 0 {
                (headers.number(width)?, headers.number(width)?)
            } else if flags & 0x800 != 0 {
                (0, 0)
            } else {
                // Neither flag: every sample differs from the one before.
                (1, samples.saturating_sub(1))
            };
            if flags & 0x100 != 0 {
                sampling = headers.number(width)?;
            }
        }
        let name = headers.text(width)?;
        let metadata = match u64::from(flags >> 20 & 0xff) {
            0xff => headers.text(width)?,
            index => self.metadata(index, &name)?,
        };
        let content = if kind == 0 {
            Content::Compound(self.compound(child, &name, depth + 1)?)
        } else {
            Content::Values(Values {
                pod: (flags >> 4 & 15) as u8,
                extent: (flags >> 12 & 255).max(1) as usize,
                samples,
                changes,
                sampling: usize::try_from(sampling).unwrap_or(usize::MAX),
                stored: self.group(&name, child)?,
                is_array: kind != 1,
                name: name.clone(),
            })
        };
        Ok(Property { name, metadata, content })
    }
}
