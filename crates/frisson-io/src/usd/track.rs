//! One shape through the shot: named columns with one array per frame.

use std::io;

use super::layer::{ArrayData, ArrayId, LayerWriter, Prim, Property, Value};

/// What an attribute is called and what it holds.
#[derive(Clone, Copy)]
pub(super) struct ColumnType<'a> {
    pub(super) name: &'a str,
    pub(super) type_name: &'static str,
    pub(super) interpolation: Option<&'static str>,
}

struct Column {
    name: String,
    type_name: &'static str,
    interpolation: Option<&'static str>,
    /// Of the topology: sampled together or not at all.
    linked: bool,
    empty: ArrayId,
    values: Vec<ArrayId>,
}

impl Column {
    fn new(attribute: ColumnType<'_>, empty: ArrayId) -> Self {
        let topology = ["points", "faceVertexCounts", "faceVertexIndices", "curveVertexCounts"];
        Self {
            name: attribute.name.to_owned(),
            type_name: attribute.type_name,
            interpolation: attribute.interpolation,
            linked: topology.contains(&attribute.name),
            empty,
            values: Vec::new(),
        }
    }
}

/// A shape being written; 8 bytes per array and frame are kept.
pub(super) struct Track {
    pub(super) prim: Prim,
    columns: Vec<Column>,
    frame: usize,
}

impl Track {
    pub(super) fn new(name: String, type_name: &'static str) -> Self {
        let prim = Prim { name, type_name, ..Prim::default() };
        Self { prim, columns: Vec::new(), frame: 0 }
    }

    /// Says which frame the following arrays belong to.
    pub(super) fn begin(&mut self, frame: usize) {
        self.frame = frame;
    }

    /// Adds this frame's array of an attribute; frames without one have an empty array.
    pub(super) fn set(
        &mut self,
        writer: &mut dyn LayerWriter,
        name: &str,
        type_name: &'static str,
        interpolation: Option<&'static str>,
        data: ArrayData<'_>,
    ) -> io::Result<ArrayId> {
        let id = writer.write_array(data)?;
        self.set_id(writer, ColumnType { name, type_name, interpolation }, data, id)?;
        Ok(id)
    }

    /// Like `set`, for an array that is in the file already; `data` may be any of its kind.
    pub(super) fn set_id(
        &mut self,
        writer: &mut dyn LayerWriter,
        attribute: ColumnType<'_>,
        data: ArrayData<'_>,
        id: ArrayId,
    ) -> io::Result<()> {
        let position = match self.columns.iter().position(|c| c.name == attribute.name) {
            Some(position) => position,
            None => {
                self.columns.push(Column::new(attribute, writer.write_array(data.emptied())?));
                self.columns.len() - 1
            }
        };
        let column = &mut self.columns[position];
        if column.type_name != attribute.type_name {
            let name = attribute.name;
            let problem = format!("`{name}` changes its type from one frame to the next");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        // Frames in which the attribute was not given.
        column.values.resize(self.frame, column.empty);
        column.values.push(id);
        Ok(())
    }

    /// The prim with its attributes, after the last frame. What stays the same is written once, unless all is to be
    /// sampled.
    pub(super) fn finish(mut self, frames: usize, all_sampled: bool) -> Prim {
        for column in &mut self.columns {
            column.values.resize(frames, column.empty);
        }
        let changes = |c: &Column| c.values.iter().any(|v| *v != c.values[0]);
        let topology_changes =
            self.columns.iter().any(|c| c.linked && c.name != "points" && changes(c));
        for column in self.columns {
            // Readers that hold samples would pair new counts with old points.
            let linked = column.linked && topology_changes;
            let sampled = all_sampled || changes(&column) || linked;
            let value = match sampled {
                true => Value::Samples(column.values),
                false => Value::Array(column.values[0]),
            };
            self.prim.properties.push(Property::Attribute {
                name: column.name,
                type_name: column.type_name,
                uniform: false,
                interpolation: column.interpolation,
                value,
            });
        }
        self.prim
    }
}
