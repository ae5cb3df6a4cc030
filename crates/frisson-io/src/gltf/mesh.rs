//! A node's mesh: its primitives become one mesh with a material per triangle.

use std::sync::Arc;

use frisson::character::{CharacterMesh, Influences, MorphTarget, SourcePrimitives};
use frisson::geometry::{Mesh, MeshTopology};
use glam::{Vec2, Vec3};
use serde_json::Value;

use super::document::{Document, Kind};
use super::error::Result;
use super::import::Importer;
use super::json::{Item, array};
use super::material::{UvUse, uv_use};
use super::primitive::{Primitive, Vertices};

/// Steps of a normal's coordinates that count as the same direction: exporters write the two sides
/// of a uv seam from the same normal, up to rounding.
const NORMAL_STEPS: f32 = 512.0;

/// A mesh while its primitives are put together.
#[derive(Default)]
struct Joined<'a> {
    /// Joints of its skin; none if it has no skin.
    joints: usize,
    /// Vertices that are there already.
    placed: Vec<Placed<'a>>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    influence_lists: Vec<Vec<(u16, f32)>>,
    morphs: Vec<MorphTarget>,
    topology: MeshTopology,
    /// Material of the document for each of ours.
    materials: Vec<Option<usize>>,
    primitives: Vec<(usize, usize)>,
}

/// Where a primitive's vertices went, so that another one with the same vertices finds them.
struct Placed<'a> {
    source: (Option<&'a Value>, Option<&'a Value>),
    uv_use: UvUse,
    first: usize,
    count: usize,
}

/// Materials of the document that a mesh's primitives use, in the order in which the reader numbers
/// them.
pub(super) fn material_slots(document: &Document, mesh: usize) -> Result<Vec<Option<usize>>> {
    let item = document.item(Kind::Mesh, mesh)?;
    let mut slots = Vec::new();
    for (index, value) in item.array("primitives")?.iter().enumerate() {
        let primitive = primitive_of(item, index, value);
        if is_read(&primitive)?.is_ok() {
            let material = primitive.number("material")?;
            if !slots.contains(&material) {
                slots.push(material);
            }
        }
    }
    Ok(slots)
}

fn primitive_of<'a>(mesh: Item<'a>, index: usize, value: &'a Value) -> Primitive<'a> {
    Primitive {
        mesh,
        index,
        value,
        #[cfg(feature = "draco")]
        draco: None,
    }
}

/// The drawing mode, or why the primitive is passed over.
fn is_read(primitive: &Primitive<'_>) -> Result<std::result::Result<usize, &'static str>> {
    // 4 is triangles, the format's default.
    let mode = primitive.number("mode")?.unwrap_or(4);
    Ok(match mode {
        0..=3 => Err("points and lines are left out"),
        4..=6 if primitive.has("POSITION") => Ok(mode),
        4..=6 => Err("it has no positions and is left out"),
        _ => return Err(primitive.invalid(format!("mode {mode} does not exist"))),
    })
}

impl<'a> Importer<'a> {
    /// The mesh on a node, if it has triangles.
    pub(super) fn mesh(
        &mut self,
        node: usize,
        name: String,
        mesh: usize,
        skin: Option<usize>,
    ) -> Result<Option<CharacterMesh>> {
        let item = self.document.item(Kind::Mesh, mesh)?;
        let primitives = item.array("primitives")?;
        let skinned = skin.is_some() && primitives.iter().any(has_influences);
        if skin.is_some() && !skinned {
            self.warn(format!("{}: it has a skin but no weights; it stays rigid", item.place()));
        }
        let skin = skin.filter(|_| skinned);
        let joints = skin.map_or(0, |skin| self.skins[skin].joints.len());
        let mut joined = Joined { joints, ..Joined::default() };
        for (index, value) in primitives.iter().enumerate() {
            self.add_primitive(primitive_of(item, index, value), &mut joined)?;
        }
        if joined.topology.triangles.is_empty() {
            self.warn(format!("{}: it has no triangles and is left out", item.place()));
            return Ok(None);
        }
        let mut out = self.finish_mesh(joined, name)?;
        out.node = node;
        out.skin = skin;
        if skin.is_none() {
            out.influences = Influences::default();
        }
        name_targets(&item, &mut out.morphs);
        out.morph_weights = self.default_weights(node, &item, out.morphs.len())?;
        if let Some(source) = &mut out.source {
            (source.node, source.mesh) = (node, mesh);
        }
        Ok(Some(out))
    }

    fn add_primitive(
        &mut self,
        #[cfg_attr(not(feature = "draco"), expect(unused_mut))] mut primitive: Primitive<'a>,
        joined: &mut Joined<'a>,
    ) -> Result<()> {
        let mode = match is_read(&primitive)? {
            Ok(mode) => mode,
            Err(reason) => {
                self.warn(format!("{}: {reason}", primitive.place()));
                return Ok(());
            }
        };
        #[cfg(feature = "draco")]
        {
            primitive.draco = self.unpack_draco(&primitive)?;
        }
        #[cfg(feature = "draco")]
        let packed = primitive.draco.is_some();
        #[cfg(not(feature = "draco"))]
        let packed = false;
        let material = primitive.number("material")?;
        let uv_use = uv_use(self.document, material)?;
        let source = primitive.vertex_source();
        let same = |p: &&Placed<'a>| !packed && p.source == source && p.uv_use == uv_use;
        let shared = joined.placed.iter().find(same);
        let (first, count, brought) = match shared {
            Some(shared) => (shared.first, shared.count, 0),
            None => {
                let vertices = self.vertices(&primitive, uv_use, joined.joints > 0)?;
                let (first, count) = (joined.positions.len(), vertices.positions.len());
                self.append(&primitive, vertices, joined)?;
                if !packed {
                    joined.placed.push(Placed { source, uv_use, first, count });
                }
                (first, count, count)
            }
        };
        joined.primitives.push((primitive.index, brought));
        let slot = joined.materials.iter().position(|m| *m == material).unwrap_or_else(|| {
            joined.materials.push(material);
            joined.materials.len() - 1
        });
        let slot = u16::try_from(slot).map_err(|_| primitive.invalid("too many materials"))?;
        // What is packed are triangles, however they are to be drawn.
        let mode = if packed { 4 } else { mode };
        let triangles = self.triangles(&primitive, mode, count)?;
        joined
            .topology
            .triangle_materials
            .resize(joined.topology.triangle_materials.len() + triangles.len(), slot);
        let moved = triangles.iter().map(|t| t.map(|corner| corner + first as u32));
        joined.topology.triangles.extend(moved);
        Ok(())
    }

    fn append(
        &mut self,
        primitive: &Primitive<'_>,
        vertices: Vertices,
        joined: &mut Joined<'a>,
    ) -> Result<()> {
        let joints = joined.joints;
        let first = joined.positions.len();
        let total = first + vertices.positions.len();
        if u32::try_from(total).is_err() {
            return Err(primitive.invalid("more vertices than 32 bits can count"));
        }
        append_padded(&mut joined.normals, vertices.normals, first, total, Vec3::ZERO);
        append_padded(&mut joined.topology.uvs, vertices.uvs, first, total, Vec2::ZERO);
        append_padded(&mut joined.topology.colors, vertices.colors, first, total, [1.0; 4]);
        if joints > 0 {
            if vertices.influence_sets.is_empty() {
                let message = "it has no weights and follows the skin's first joint";
                self.warn(format!("{}: {message}", primitive.place()));
            }
            let count = vertices.positions.len();
            let lists = influence_lists(primitive, &vertices.influence_sets, count, joints)?;
            joined.influence_lists.extend(lists);
        }
        if joined.morphs.len() < vertices.targets.len() {
            joined.morphs.resize_with(vertices.targets.len(), MorphTarget::default);
        }
        for (morph, target) in joined.morphs.iter_mut().zip(vertices.targets) {
            morph.vertices.extend(target.vertices.iter().map(|v| v + first as u32));
            morph.offsets.extend(target.offsets);
        }
        joined.positions.extend(vertices.positions);
        Ok(())
    }

    fn finish_mesh(&mut self, mut joined: Joined<'a>, name: String) -> Result<CharacterMesh> {
        let total = joined.positions.len();
        let mut topology = std::mem::take(&mut joined.topology);
        topology.vertex_count = total;
        pad(&mut topology.uvs, total, Vec2::ZERO);
        pad(&mut topology.colors, total, [1.0; 4]);
        pad(&mut joined.normals, total, Vec3::ZERO);
        topology.smoothing = smoothing_groups(&joined.positions, &joined.normals);
        if joined.materials.len() < 2 {
            topology.triangle_materials.clear();
        }
        for &material in &joined.materials {
            let material = self.material(material)?;
            topology.materials.push(material);
        }
        let influences = Influences::from_lists(&joined.influence_lists);
        let source = SourcePrimitives { node: 0, mesh: 0, primitives: joined.primitives };
        let mesh = Mesh {
            name,
            topology: Arc::new(topology),
            positions: joined.positions,
            ..Mesh::default()
        };
        Ok(CharacterMesh {
            mesh,
            node: 0,
            skin: None,
            influences,
            morphs: joined.morphs,
            morph_weights: Vec::new(),
            source: Some(source),
        })
    }

    fn default_weights(&self, node: usize, mesh: &Item<'_>, targets: usize) -> Result<Vec<f32>> {
        let node = self.document.item(Kind::Node, node)?;
        let own = node.array("weights")?;
        let weights = if own.is_empty() { mesh.array("weights")? } else { own };
        let numbers = weights.iter().map(|w| w.as_f64().map(|w| w as f32));
        let numbers: Option<Vec<f32>> = numbers.map(|w| w.filter(|w| w.is_finite())).collect();
        let mut numbers = numbers.ok_or_else(|| mesh.invalid("\"weights\" must hold numbers"))?;
        numbers.resize(targets, 0.0);
        Ok(numbers)
    }
}

fn has_influences(primitive: &Value) -> bool {
    primitive.get("attributes").is_some_and(|a| a.get("JOINTS_0").is_some())
}

/// Appends an attribute that some primitives have and others lack.
fn append_padded<T: Clone>(all: &mut Vec<T>, new: Vec<T>, first: usize, total: usize, none: T) {
    if !new.is_empty() {
        all.resize(first, none.clone());
        all.extend(new);
        all.resize(total, none);
    }
}

fn pad<T: Clone>(all: &mut Vec<T>, total: usize, none: T) {
    if !all.is_empty() {
        all.resize(total, none);
    }
}

fn influence_lists(
    primitive: &Primitive<'_>,
    sets: &[(Vec<u32>, Vec<f32>)],
    count: usize,
    joint_count: usize,
) -> Result<Vec<Vec<(u16, f32)>>> {
    let mut lists = Vec::with_capacity(count);
    for vertex in 0..count {
        let mut list = Vec::with_capacity(4 * sets.len());
        for (joints, weights) in sets {
            for k in 4 * vertex..4 * vertex + 4 {
                if weights[k] <= 0.0 {
                    continue;
                }
                let joint = joints[k] as usize;
                if joint >= joint_count {
                    let problem = format!(
                        "vertex {vertex} follows joint {joint}; the skin has {joint_count}"
                    );
                    return Err(primitive.invalid(problem));
                }
                list.push((joint as u16, weights[k]));
            }
        }
        lists.push(list);
    }
    Ok(lists)
}

fn name_targets(mesh: &Item<'_>, morphs: &mut [MorphTarget]) {
    let names = mesh.value.get("extras").and_then(|e| array(e, "targetNames").ok()).unwrap_or(&[]);
    for (index, morph) in morphs.iter_mut().enumerate() {
        let name = names.get(index).and_then(Value::as_str);
        morph.name = name.map_or_else(|| format!("target_{index}"), str::to_owned);
    }
}

/// Groups of vertices at one place with one normal; empty where the file has no normals.
pub(crate) fn smoothing_groups(positions: &[Vec3], normals: &[Vec3]) -> Vec<u32> {
    if normals.is_empty() {
        return Vec::new();
    }
    // Adding 0 turns -0 into 0, which has other bits.
    let key = |v: u32| {
        let place = (positions[v as usize] + Vec3::ZERO).to_array().map(f32::to_bits);
        let direction = normals[v as usize].normalize_or_zero() * NORMAL_STEPS;
        (place, direction.round().as_i16vec3().to_array())
    };
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    // Sorted, not hashed: groups are numbered alike on every machine.
    order.sort_by_cached_key(|&v| (key(v), v));
    let mut groups = vec![0; positions.len()];
    let mut group = 0;
    for (k, &vertex) in order.iter().enumerate() {
        if k > 0 && key(order[k - 1]) != key(vertex) {
            group += 1;
        }
        groups[vertex as usize] = group;
    }
    groups
}
