//! The text encoding, for small shots and for reading with the eyes.
//!
//! Text keeps all samples of an attribute together, so everything is held in memory until the end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use xxhash_rust::xxh3::xxh3_128;

use super::layer::{ArrayData, ArrayId, Layer, LayerWriter, Metadata, Prim, Property, Value};

/// Most text that is held in memory [MB].
pub const TEXT_LIMIT_MB: u64 = 512;

/// Writes a layer as text.
pub struct TextWriter<W> {
    out: W,
    arrays: Vec<String>,
    index: BTreeMap<u128, u64>,
    bytes: u64,
}

impl<W: Write> TextWriter<W> {
    /// Nothing is written before the layer is finished.
    pub fn create(out: W) -> Self {
        Self { out, arrays: Vec::new(), index: BTreeMap::new(), bytes: 0 }
    }

    /// Whether there is more text than memory should hold.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.bytes > TEXT_LIMIT_MB << 20
    }

    fn prim(&mut self, prim: &Prim, times: &[f64], indent: usize) -> io::Result<()> {
        let pad = "    ".repeat(indent);
        writeln!(self.out, "{pad}def {} \"{}\"", prim.type_name, prim.name)?;
        if !prim.api_schemas.is_empty() {
            let names: Vec<String> = prim.api_schemas.iter().map(|s| format!("\"{s}\"")).collect();
            let names = names.join(", ");
            writeln!(self.out, "{pad}(\n{pad}    prepend apiSchemas = [{names}]\n{pad})")?;
        }
        writeln!(self.out, "{pad}{{")?;
        for property in &prim.properties {
            self.property(property, times, indent + 1)?;
        }
        for child in &prim.children {
            writeln!(self.out)?;
            self.prim(child, times, indent + 1)?;
        }
        writeln!(self.out, "{pad}}}")
    }

    fn property(&mut self, property: &Property, times: &[f64], indent: usize) -> io::Result<()> {
        let pad = "    ".repeat(indent);
        let (name, type_name, uniform, interpolation, value) = match property {
            Property::Relationship { name, target } => {
                return writeln!(self.out, "{pad}rel {name} = <{target}>");
            }
            Property::Attribute { name, type_name, uniform, interpolation, value } => {
                (name, type_name, uniform, interpolation, value)
            }
        };
        let uniform = if *uniform { "uniform " } else { "" };
        write!(self.out, "{pad}{uniform}{type_name} {name}")?;
        let interpolation = interpolation
            .map(|text| format!(" (\n{pad}    interpolation = \"{text}\"\n{pad})"))
            .unwrap_or_default();
        match value {
            Value::None => write!(self.out, "{interpolation}")?,
            Value::Token(text) => write!(self.out, " = \"{text}\"{interpolation}")?,
            Value::Float(number) => write!(self.out, " = {number}{interpolation}")?,
            Value::Vec3([x, y, z]) => write!(self.out, " = ({x}, {y}, {z}){interpolation}")?,
            Value::Connection(path) => write!(self.out, ".connect = <{path}>")?,
            Value::Array(id) => {
                write!(self.out, " = {}{interpolation}", self.arrays[id.0 as usize])?;
            }
            Value::Samples(samples) => {
                // Metadata cannot stand behind samples: the attribute is declared first, then sampled.
                if !interpolation.is_empty() {
                    write!(self.out, "{interpolation}\n{pad}{uniform}{type_name} {name}")?;
                }
                writeln!(self.out, ".timeSamples = {{")?;
                for (time, id) in times.iter().zip(samples) {
                    writeln!(self.out, "{pad}    {time}: {},", self.arrays[id.0 as usize])?;
                }
                write!(self.out, "{pad}}}")?;
            }
        }
        writeln!(self.out)
    }
}

fn tuple(values: &[f32]) -> String {
    let texts: Vec<String> = values.iter().map(f32::to_string).collect();
    format!("({})", texts.join(", "))
}

fn list<T>(values: &[T], text: impl Fn(&T) -> String) -> String {
    let mut out = String::from("[");
    for (index, value) in values.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(out, "{comma}{}", text(value));
    }
    out.push(']');
    out
}

impl<W: Write> LayerWriter for TextWriter<W> {
    fn write_array(&mut self, data: ArrayData<'_>) -> io::Result<ArrayId> {
        let text = match data {
            ArrayData::Int(values) => list(values, i32::to_string),
            ArrayData::Int64(values) => list(values, i64::to_string),
            ArrayData::Float(values) => list(values, f32::to_string),
            ArrayData::Vec2(values) => list(values, |v| tuple(v)),
            ArrayData::Vec3(values) => list(values, |v| tuple(v)),
        };
        let next = self.arrays.len() as u64;
        // Equal arrays are held once: most of a shot's topology and texture coordinates are.
        let id = *self.index.entry(xxh3_128(text.as_bytes())).or_insert(next);
        if id == next {
            self.bytes += text.len() as u64;
            self.arrays.push(text);
        }
        match self.is_too_large() {
            true => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("the text would exceed {TEXT_LIMIT_MB} MB: write .usdc instead"),
            )),
            false => Ok(ArrayId(id)),
        }
    }

    fn finish(&mut self, layer: &Layer) -> io::Result<()> {
        writeln!(self.out, "#usda 1.0\n(")?;
        for (name, value) in &layer.metadata {
            match value {
                Metadata::Token(text) => writeln!(self.out, "    {name} = \"{text}\"")?,
                Metadata::Double(number) => writeln!(self.out, "    {name} = {number}")?,
            }
        }
        writeln!(self.out, ")")?;
        for prim in &layer.prims {
            writeln!(self.out)?;
            self.prim(prim, &layer.times, 0)?;
        }
        self.out.flush()
    }
}
