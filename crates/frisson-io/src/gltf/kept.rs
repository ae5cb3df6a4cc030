//! A mesh of the input, written again with other positions: whatever else its primitives say (second
//! texture coordinates, colours, attributes of other programs, extras) stays as it was.

use std::ops::Range;

use frisson::character::{CharacterMesh, SourcePrimitives};
use frisson::geometry::MeshTopology;
use serde_json::{Map, Value, json};

use super::builder::GlbBuilder;
use super::document::{Document, Kind};
use super::error::Result;
use super::json::{Item, whole_number};

/// The primitives a mesh was read from.
pub(super) struct Kept {
    /// Node of the document that shows the mesh.
    pub node: usize,
    /// The mesh in the document.
    pub mesh: usize,
    /// Vertices that came from one primitive, and that primitive.
    ranges: Vec<(Range<usize>, usize)>,
    /// Every primitive that was read, with the vertices it uses if it brought them itself.
    read: Vec<(usize, Option<usize>)>,
    primitives: Vec<Value>,
    slots: Vec<Option<usize>>,
}

/// Whether an attribute is written anew when a mesh is baked: its place, its shading and its joints.
/// Tangents go with the normals they belong to; viewers make their own.
fn moves(name: &str) -> bool {
    matches!(name, "POSITION" | "NORMAL" | "TANGENT") || follows_joints(name)
}

/// Whether an attribute ties vertices to joints.
pub(super) fn follows_joints(name: &str) -> bool {
    name.starts_with("JOINTS_") || name.starts_with("WEIGHTS_")
}

impl Kept {
    /// Where a mesh came from; nothing if it was not read from this document.
    pub fn new(document: &Document, mesh: &CharacterMesh) -> Result<Option<Self>> {
        let Some(source) = &mesh.source else { return Ok(None) };
        let item = document.item(Kind::Mesh, source.mesh)?;
        let (ranges, read) = vertex_ranges(source);
        let brought = ranges.last().map_or(0, |(range, _)| range.end);
        if brought != mesh.mesh.positions.len() {
            return Ok(None);
        }
        Ok(Some(Self {
            node: source.node,
            mesh: source.mesh,
            ranges,
            read,
            primitives: item.array("primitives")?.to_vec(),
            slots: super::mesh::material_slots(document, source.mesh)?,
        }))
    }

    /// Which vertices came together.
    pub fn ranges(&self) -> Vec<Range<usize>> {
        self.ranges.iter().map(|(range, _)| range.clone()).collect()
    }

    /// Attributes of a range that stay as they are; those that do not fit its vertices are told.
    pub fn still(
        &self,
        document: &Document,
        range: usize,
        warnings: &mut Vec<String>,
    ) -> Result<Map<String, Value>> {
        let (vertices, primitive) = &self.ranges[range];
        let mut out = Map::new();
        let attributes = self.primitives[*primitive].get("attributes").and_then(Value::as_object);
        for (name, accessor) in attributes.into_iter().flatten().filter(|(name, _)| !moves(name)) {
            let index = whole_number(accessor);
            let item: Option<Item<'_>> =
                index.map(|i| document.item(Kind::Accessor, i)).transpose()?;
            let count = item.map(|i| i.index("count")).transpose()?.flatten();
            if count == Some(vertices.len()) {
                out.insert(name.clone(), accessor.clone());
            } else {
                warnings.push(format!("{name} is left out: it does not fit the vertices"));
            }
        }
        Ok(out)
    }

    /// The primitives with the attributes and targets of their ranges.
    pub fn primitives(
        &self,
        builder: &mut GlbBuilder,
        topology: &MeshTopology,
        parts: &[(Value, Vec<Value>)],
    ) -> Result<Vec<Value>> {
        let mut groups: Vec<((usize, usize), Vec<[u32; 3]>)> = Vec::new();
        for (t, triangle) in topology.triangles.iter().enumerate() {
            let slot = topology.triangle_materials.get(t).map_or(0, |&m| usize::from(m));
            let range = self.range_of(triangle[0] as usize);
            let first = self.ranges[range].0.start as u32;
            let local = triangle.map(|corner| corner.saturating_sub(first));
            // Neighbours in the list are mostly of one primitive: look at the last group first.
            match groups.last_mut().filter(|(key, _)| *key == (range, slot)) {
                Some((_, triangles)) => triangles.push(local),
                None => match groups.iter_mut().find(|(key, _)| *key == (range, slot)) {
                    Some((_, triangles)) => triangles.push(local),
                    None => groups.push(((range, slot), vec![local])),
                },
            }
        }
        let mut out = Vec::new();
        for ((range, slot), triangles) in groups {
            let mut primitive = self.template(range, slot);
            let vertices = self.ranges[range].0.len();
            primitive["indices"] = json!(builder.triangles(&triangles, vertices)?);
            let (attributes, targets) = &parts[range];
            primitive["attributes"] = attributes.clone();
            if let Some(object) = primitive.as_object_mut() {
                ["targets", "mode"].iter().for_each(|key| {
                    object.shift_remove(*key);
                });
                if !targets.is_empty() {
                    object.insert("targets".into(), json!(targets));
                }
            }
            out.push(primitive);
        }
        Ok(out)
    }

    /// The vertices that a primitive of the input draws, if it was read.
    pub fn range_of_primitive(&self, primitive: usize) -> Option<usize> {
        let (_, own) = self.read.iter().find(|(index, _)| *index == primitive)?;
        let attributes = |index: usize| self.primitives[index].get("attributes");
        let same =
            |(_, bringer): &(Range<usize>, usize)| attributes(*bringer) == attributes(primitive);
        own.or_else(|| self.ranges.iter().position(same))
    }

    fn range_of(&self, vertex: usize) -> usize {
        self.ranges.partition_point(|(range, _)| range.end <= vertex).min(self.ranges.len() - 1)
    }

    /// The primitive of the input that drew these triangles.
    fn template(&self, range: usize, slot: usize) -> Value {
        let material = self.slots.get(slot).copied().flatten();
        let drew = |&&(index, own): &&(usize, Option<usize>)| {
            let fits = own.is_none_or(|own| own == range);
            fits && self.primitives[index].get("material").and_then(whole_number) == material
        };
        let bringer = self.ranges[range].1;
        let index = self.read.iter().find(drew).map_or(bringer, |(index, _)| *index);
        self.primitives[index].clone()
    }
}

type Ranges = (Vec<(Range<usize>, usize)>, Vec<(usize, Option<usize>)>);

fn vertex_ranges(source: &SourcePrimitives) -> Ranges {
    let (mut ranges, mut read) = (Vec::new(), Vec::new());
    let mut first = 0;
    for &(index, brought) in &source.primitives {
        read.push((index, (brought > 0).then_some(ranges.len())));
        if brought > 0 {
            ranges.push((first..first + brought, index));
            first += brought;
        }
    }
    (ranges, read)
}
