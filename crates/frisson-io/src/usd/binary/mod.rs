//! The binary encoding ("crate" file, version 0.8.0), streamed.
//!
//! ```text
//! bootstrap(88) | values… | TOKENS STRINGS FIELDS FIELDSETS PATHS SPECS | table of contents
//! ```
//!
//! A value is named by 8 bytes: flags, type, and either its position or the value itself. Only those
//! 8 bytes of each array stay in memory.

mod codes;
mod tables;

use std::io::{self, Seek, SeekFrom, Write};

use xxhash_rust::xxh3::xxh3_128;

use self::codes::{ARRAY, COMPRESSED, EXPLICIT_ITEMS, Kind, PREPENDED_ITEMS, SpecKind};
use self::tables::{Paths, Specs, Tokens};
use super::integers::{compress, encode};
use super::layer::{ArrayData, ArrayId, Layer, LayerWriter, Metadata, Prim, Property, Value};
use crate::remembered::Remembered;

const BOOTSTRAP_BYTES: u64 = 88;
const VERSION: [u8; 8] = [0, 8, 0, 0, 0, 0, 0, 0];
/// Readers take shorter integer arrays as they are.
const SMALLEST_COMPRESSED_ARRAY: usize = 16;
/// LZ4 blocks above this would have to be cut in chunks; only a layer of millions of prims gets there.
const LARGEST_SECTION: usize = 0x7e00_0000;

/// Writes a layer as a crate file.
pub struct BinaryWriter<W> {
    out: W,
    position: u64,
    tokens: Tokens,
    arrays: Remembered<u64>,
}

impl<W: Write + Seek> BinaryWriter<W> {
    /// Starts a file at the beginning of `out`.
    pub fn create(mut out: W) -> io::Result<Self> {
        out.write_all(&[0; BOOTSTRAP_BYTES as usize])?;
        let mut tokens = Tokens::default();
        // Paths tell properties by a negative token, which token 0 has not: it is the empty one.
        tokens.get("");
        Ok(Self { out, position: BOOTSTRAP_BYTES, tokens, arrays: Remembered::default() })
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn align(&mut self) -> io::Result<u64> {
        // Readers map the file and read words where they lie.
        let padding = self.position.next_multiple_of(8) - self.position;
        self.put(&[0; 8][..padding as usize])?;
        Ok(self.position)
    }

    fn put_counted(&mut self, count: usize, bytes: &[u8]) -> io::Result<u64> {
        let position = self.align()?;
        self.put(&(count as u64).to_le_bytes())?;
        self.put(bytes)?;
        Ok(position)
    }

    fn token(&mut self, text: &str) -> u64 {
        Kind::Token.inline(self.tokens.get(text))
    }

    fn token_bytes<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Vec<u8> {
        texts.flat_map(|t| self.tokens.get(t).to_le_bytes()).collect()
    }

    fn token_vector<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> io::Result<u64> {
        let bytes = self.token_bytes(texts);
        Ok(Kind::TokenVector.at(self.put_counted(bytes.len() / 4, &bytes)?))
    }

    fn list_edit(&mut self, kind: Kind, which: u8, items: &[u8]) -> io::Result<u64> {
        let position = self.align()?;
        self.put(&[which])?;
        self.put(&(items.len() as u64 / 4).to_le_bytes())?;
        self.put(items)?;
        Ok(kind.at(position))
    }

    fn double(&mut self, value: f64) -> io::Result<u64> {
        let single = value as f32;
        // A double that is a float stands in the word itself: frame numbers do, 23.976 does not.
        if f64::from(single) == value {
            return Ok(Kind::Double.inline(single.to_bits()));
        }
        let position = self.align()?;
        self.put(&value.to_le_bytes())?;
        Ok(Kind::Double.at(position))
    }

    fn times(&mut self, times: &[f64]) -> io::Result<u64> {
        let bytes: Vec<u8> = times.iter().flat_map(|t| t.to_le_bytes()).collect();
        Ok(Kind::DoubleVector.at(self.put_counted(times.len(), &bytes)?))
    }

    fn samples(&mut self, times: u64, values: &[ArrayId]) -> io::Result<u64> {
        let position = self.align()?;
        // Each part starts with the distance to what it names: right behind.
        self.put(&8_i64.to_le_bytes())?;
        self.put(&times.to_le_bytes())?;
        self.put(&8_i64.to_le_bytes())?;
        self.put(&(values.len() as u64).to_le_bytes())?;
        for value in values {
            self.put(&value.0.to_le_bytes())?;
        }
        Ok(Kind::TimeSamples.at(position))
    }

    fn value_field(
        &mut self,
        value: &Value,
        times: u64,
        paths: &Paths,
    ) -> io::Result<Option<(u32, u64)>> {
        let (name, value) = match value {
            Value::None => return Ok(None),
            Value::Token(text) => ("default", self.token(text)),
            Value::Float(number) => ("default", Kind::Float.inline(number.to_bits())),
            Value::Vec3(vector) => {
                let position = self.align()?;
                self.put(bytemuck::cast_slice(vector))?;
                ("default", Kind::Vec3f.at(position))
            }
            Value::Array(array) => ("default", array.0),
            Value::Samples(arrays) => ("timeSamples", self.samples(times, arrays)?),
            Value::Connection(path) => ("connectionPaths", self.path_list(path, paths)?),
        };
        Ok(Some((self.tokens.get(name), value)))
    }

    fn path_list(&mut self, path: &str, paths: &Paths) -> io::Result<u64> {
        let index = paths.index.get(path).copied().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{path} is not in the layer"))
        })?;
        self.list_edit(Kind::PathListOp, EXPLICIT_ITEMS, &index.to_le_bytes())
    }

    fn collect_paths(&mut self, path: &str, prims: &[Prim], props: &[Property], out: &mut Paths) {
        let base = if path == "/" { "" } else { path };
        for (number, prim) in prims.iter().enumerate() {
            let child = format!("{base}/{}", prim.name);
            // Properties come after the child prims, as their siblings.
            let has_sibling = number + 1 < prims.len() || !props.is_empty();
            let index = self.add_path(&child, &prim.name, false, out);
            self.collect_paths(&child, &prim.children, &prim.properties, out);
            let has_child = out.elements.len() > index + 1;
            out.jumps[index] = match (has_child, has_sibling) {
                (true, true) => (out.elements.len() - index) as i32,
                (true, false) => -1,
                (false, true) => 0,
                (false, false) => -2,
            };
        }
        for (number, property) in props.iter().enumerate() {
            let child = format!("{path}.{}", property.name());
            let index = self.add_path(&child, property.name(), true, out);
            out.jumps[index] = if number + 1 < props.len() { 0 } else { -2 };
        }
    }

    fn add_path(&mut self, path: &str, element: &str, property: bool, out: &mut Paths) -> usize {
        let index = out.elements.len();
        out.index.insert(path.to_owned(), index as u32);
        let token = self.tokens.get(element) as i32;
        // The sign says that it is a property.
        out.elements.push(if property { -token } else { token });
        out.jumps.push(0);
        index
    }

    fn prim_specs(
        &mut self,
        parent: &str,
        prim: &Prim,
        times: u64,
        paths: &Paths,
        specs: &mut Specs,
    ) -> io::Result<()> {
        let path = format!("{parent}/{}", prim.name);
        let mut fields = vec![
            (self.tokens.get("specifier"), Kind::Specifier.inline(0)),
            (self.tokens.get("typeName"), self.token(prim.type_name)),
        ];
        if !prim.api_schemas.is_empty() {
            let items = self.token_bytes(prim.api_schemas.iter().copied());
            let value = self.list_edit(Kind::TokenListOp, PREPENDED_ITEMS, &items)?;
            fields.push((self.tokens.get("apiSchemas"), value));
        }
        if !prim.children.is_empty() {
            let value = self.token_vector(prim.children.iter().map(|c| c.name.as_str()))?;
            fields.push((self.tokens.get("primChildren"), value));
        }
        if !prim.properties.is_empty() {
            let value = self.token_vector(prim.properties.iter().map(Property::name))?;
            fields.push((self.tokens.get("properties"), value));
        }
        specs.add(paths.index[&path], SpecKind::Prim, &fields);
        for child in &prim.children {
            self.prim_specs(&path, child, times, paths, specs)?;
        }
        for property in &prim.properties {
            self.property_spec(&path, property, times, paths, specs)?;
        }
        Ok(())
    }

    fn property_spec(
        &mut self,
        prim: &str,
        property: &Property,
        times: u64,
        paths: &Paths,
        specs: &mut Specs,
    ) -> io::Result<()> {
        let index = paths.index[&format!("{prim}.{}", property.name())];
        let uniform_field = (self.tokens.get("variability"), Kind::Variability.inline(1));
        match property {
            Property::Relationship { target, .. } => {
                let targets = self.path_list(target, paths)?;
                let fields = [uniform_field, (self.tokens.get("targetPaths"), targets)];
                specs.add(index, SpecKind::Relationship, &fields);
            }
            Property::Attribute { type_name, uniform, interpolation, value, .. } => {
                let mut fields = vec![(self.tokens.get("typeName"), self.token(type_name))];
                if *uniform {
                    fields.push(uniform_field);
                }
                if let Some(text) = interpolation {
                    fields.push((self.tokens.get("interpolation"), self.token(text)));
                }
                fields.extend(self.value_field(value, times, paths)?);
                specs.add(index, SpecKind::Attribute, &fields);
            }
        }
        Ok(())
    }

    fn write_sections(&mut self, paths: &Paths, specs: &Specs) -> io::Result<()> {
        let mut sections = Vec::new();
        let text: Vec<u8> =
            self.tokens.all.iter().flat_map(|t| t.bytes().chain(std::iter::once(0))).collect();
        let fields: Vec<u8> = specs.fields.iter().flat_map(|f| f.1.to_le_bytes()).collect();
        if text.len().max(fields.len()) > LARGEST_SECTION {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many prims for one file"));
        }
        let packed = compress(&text);
        let mut tokens = Vec::new();
        for number in [self.tokens.all.len(), text.len(), packed.len()] {
            tokens.extend((number as u64).to_le_bytes());
        }
        tokens.extend(packed);
        self.section(&mut sections, "TOKENS", &tokens)?;
        self.section(&mut sections, "STRINGS", &0_u64.to_le_bytes())?;
        let names: Vec<i32> = specs.fields.iter().map(|f| f.0 as i32).collect();
        let packed = compress(&fields);
        let mut bytes = counted_integers(names.len(), &[&names]);
        bytes.extend((packed.len() as u64).to_le_bytes());
        bytes.extend(packed);
        self.section(&mut sections, "FIELDS", &bytes)?;
        let bytes = counted_integers(specs.field_sets.len(), &[&specs.field_sets]);
        self.section(&mut sections, "FIELDSETS", &bytes)?;
        let count = paths.elements.len();
        let indices: Vec<i32> = (0..count as i32).collect();
        let mut bytes = (count as u64).to_le_bytes().to_vec();
        bytes.extend(counted_integers(count, &[&indices, &paths.elements, &paths.jumps]));
        self.section(&mut sections, "PATHS", &bytes)?;
        let bytes =
            counted_integers(specs.paths.len(), &[&specs.paths, &specs.set_starts, &specs.kinds]);
        self.section(&mut sections, "SPECS", &bytes)?;
        self.write_contents(&sections)
    }

    fn section(
        &mut self,
        sections: &mut Vec<(&'static str, u64, u64)>,
        name: &'static str,
        bytes: &[u8],
    ) -> io::Result<()> {
        let position = self.align()?;
        self.put(bytes)?;
        sections.push((name, position, bytes.len() as u64));
        Ok(())
    }

    fn write_contents(&mut self, sections: &[(&'static str, u64, u64)]) -> io::Result<()> {
        let contents = self.align()?;
        self.put(&(sections.len() as u64).to_le_bytes())?;
        for (name, start, size) in sections {
            let mut padded = [0_u8; 16];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            self.put(&padded)?;
            self.put(&start.to_le_bytes())?;
            self.put(&size.to_le_bytes())?;
        }
        self.out.flush()?;
        // Last of all: without its beginning, a torn file is not taken for a whole one.
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(b"PXR-USDC")?;
        self.out.write_all(&VERSION)?;
        self.out.write_all(&contents.to_le_bytes())?;
        self.out.flush()
    }
}

fn counted_integers(count: usize, columns: &[&[i32]]) -> Vec<u8> {
    let mut out = (count as u64).to_le_bytes().to_vec();
    for column in columns {
        let packed = encode(column);
        out.extend((packed.len() as u64).to_le_bytes());
        out.extend(packed);
    }
    out
}

impl<W: Write + Seek> LayerWriter for BinaryWriter<W> {
    fn write_array(&mut self, data: ArrayData<'_>) -> io::Result<ArrayId> {
        let kind = match data {
            ArrayData::Int(_) => Kind::Int,
            ArrayData::Int64(_) => Kind::Int64,
            ArrayData::Float(_) => Kind::Float,
            ArrayData::Vec2(_) => Kind::Vec2f,
            ArrayData::Vec3(_) => Kind::Vec3f,
        };
        // The format's word for an array of nothing: no position.
        if data.is_empty() {
            return Ok(ArrayId(ARRAY | kind.at(0)));
        }
        let bytes = data.bytes();
        // The same bytes as another type are another value.
        let key = xxh3_128(bytes) ^ kind as u128;
        if let Some(value) = self.arrays.find(key, bytes.len()) {
            return Ok(ArrayId(value));
        }
        let value = match data {
            ArrayData::Int(values) if values.len() >= SMALLEST_COMPRESSED_ARRAY => {
                let packed = encode(values);
                let position =
                    self.put_counted(values.len(), &(packed.len() as u64).to_le_bytes())?;
                self.put(&packed)?;
                ARRAY | COMPRESSED | kind.at(position)
            }
            _ => ARRAY | kind.at(self.put_counted(data.len(), bytes)?),
        };
        self.arrays.insert(key, bytes.len(), value);
        Ok(ArrayId(value))
    }

    fn finish(&mut self, layer: &Layer) -> io::Result<()> {
        let mut paths = Paths::default();
        self.add_path("/", "", false, &mut paths);
        self.collect_paths("/", &layer.prims, &[], &mut paths);
        paths.jumps[0] = if layer.prims.is_empty() { -2 } else { -1 };
        let times = self.times(&layer.times)?;
        let mut specs = Specs::default();
        let mut fields = Vec::new();
        for (name, value) in &layer.metadata {
            let value = match value {
                Metadata::Token(text) => self.token(text),
                Metadata::Double(number) => self.double(*number)?,
            };
            fields.push((self.tokens.get(name), value));
        }
        let children = self.token_vector(layer.prims.iter().map(|p| p.name.as_str()))?;
        fields.push((self.tokens.get("primChildren"), children));
        specs.add(0, SpecKind::PseudoRoot, &fields);
        for prim in &layer.prims {
            self.prim_specs("", prim, times, &paths, &mut specs)?;
        }
        self.write_sections(&paths, &specs)
    }
}
