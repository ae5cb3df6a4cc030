//! One primitive: its vertices, triangles, influences and morph targets.

use frisson::character::MorphTarget;
use glam::{Vec2, Vec3};
use serde_json::Value;

use super::accessor::Shape;
#[cfg(feature = "draco")]
use super::accessor::{floats_of_bytes, unsigned_of_bytes};
#[cfg(feature = "draco")]
use super::draco::DracoMesh;
use super::error::Result;
use super::import::Importer;
use super::json::{Item, whole_number};
use super::material::UvUse;

/// Most sets of four influences read.
const MAX_INFLUENCE_SETS: usize = 16;

/// Vertices of a primitive, in its own numbering.
#[derive(Default)]
pub(super) struct Vertices {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub uvs: Vec<Vec2>,
    pub colors: Vec<[f32; 4]>,
    /// `JOINTS_n` and `WEIGHTS_n`, four numbers a vertex each.
    pub influence_sets: Vec<(Vec<u32>, Vec<f32>)>,
    pub targets: Vec<MorphTarget>,
}

/// A primitive of a mesh, for messages and for reading.
pub(super) struct Primitive<'a> {
    pub mesh: Item<'a>,
    pub index: usize,
    pub value: &'a Value,
    #[cfg(feature = "draco")]
    pub draco: Option<DracoMesh>,
}

impl<'a> Primitive<'a> {
    pub fn place(&self) -> String {
        format!("{}, primitive {}", self.mesh.place(), self.index)
    }

    pub fn invalid(&self, problem: impl Into<String>) -> super::GltfError {
        super::GltfError::invalid(self.place(), problem)
    }

    pub fn number(&self, key: &str) -> Result<Option<usize>> {
        super::json::index(self.value, key).map_err(|problem| self.invalid(problem))
    }

    fn attribute(&self, name: &str) -> Result<Option<usize>> {
        match self.value.get("attributes").and_then(|a| a.get(name)) {
            None => Ok(None),
            Some(v) => whole_number(v)
                .map(Some)
                .ok_or_else(|| self.invalid(format!("{name} must be the index of an accessor"))),
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.value.get("attributes").and_then(|a| a.get(name)).is_some()
    }

    /// What makes two primitives share their vertices.
    pub fn vertex_source(&self) -> (Option<&'a Value>, Option<&'a Value>) {
        (self.value.get("attributes"), self.value.get("targets"))
    }
}

impl Importer<'_> {
    /// Floats of an attribute with the number of them per vertex; nothing if it is not there.
    fn attribute_floats(
        &self,
        primitive: &Primitive<'_>,
        name: &str,
        shapes: &[Shape],
    ) -> Result<Option<(usize, Vec<f32>)>> {
        let Some(accessor) = primitive.attribute(name)? else { return Ok(None) };
        #[cfg(feature = "draco")]
        if let Some(packed) = self.draco_attribute(primitive, name) {
            let layout = self.accessors.layout(accessor)?;
            if packed.width != layout.shape.width() || !shapes.contains(&layout.shape) {
                return Err(primitive.invalid(format!("the Draco {name} has a wrong width")));
            }
            self.accessors.pay(|| primitive.place(), packed.bytes.len())?;
            let numbers = floats_of_bytes(packed.component, layout.normalized, &packed.bytes);
            let numbers = numbers.map_err(|p| primitive.invalid(format!("{name}: {p}")))?;
            return Ok(Some((packed.width, numbers)));
        }
        let (layout, numbers) = self.accessors.floats(accessor, shapes)?;
        Ok(Some((layout.shape.width(), numbers)))
    }

    fn attribute_unsigned(
        &self,
        primitive: &Primitive<'_>,
        name: &str,
    ) -> Result<Option<Vec<u32>>> {
        let Some(accessor) = primitive.attribute(name)? else { return Ok(None) };
        #[cfg(feature = "draco")]
        if let Some(packed) = self.draco_attribute(primitive, name) {
            self.accessors.pay(|| primitive.place(), packed.bytes.len())?;
            let numbers = unsigned_of_bytes(packed.component, &packed.bytes);
            let numbers = numbers.filter(|_| packed.width == 4);
            let wrong = || primitive.invalid(format!("the Draco {name} has a wrong type"));
            return numbers.ok_or_else(wrong).map(Some);
        }
        Ok(Some(self.accessors.unsigned(accessor, &[Shape::Vec4])?.1))
    }

    #[cfg(feature = "draco")]
    fn draco_attribute<'p>(
        &self,
        primitive: &'p Primitive<'_>,
        name: &str,
    ) -> Option<&'p super::draco::DracoAttribute> {
        let packed = primitive.draco.as_ref()?;
        let block = super::json::extension(primitive.value, "KHR_draco_mesh_compression")?;
        let id = whole_number(block.get("attributes")?.get(name)?)?;
        packed.attributes.iter().find(|a| a.id == id)
    }

    /// All vertices of a primitive.
    pub(super) fn vertices(
        &mut self,
        primitive: &Primitive<'_>,
        uv_use: UvUse,
        skinned: bool,
    ) -> Result<Vertices> {
        let positions = self.attribute_floats(primitive, "POSITION", &[Shape::Vec3])?;
        let (_, positions) = positions.ok_or_else(|| primitive.invalid("POSITION is missing"))?;
        let positions: Vec<Vec3> = positions.chunks_exact(3).map(Vec3::from_slice).collect();
        let farthest = self.document.inputs.limits().coordinate;
        if let Some(far) = positions.iter().find(|p| p.abs().max_element() > farthest) {
            let problem = format!("a vertex at {far} is farther away than {farthest:e} m");
            return Err(primitive.invalid(problem));
        }
        let count = positions.len();
        let mut out = Vertices { positions, ..Vertices::default() };
        let fits = |name: &str, length: usize| {
            if length == count {
                return Ok(());
            }
            let problem = format!("{name} has {length} elements, POSITION has {count}");
            Err(primitive.invalid(problem))
        };
        if let Some((_, normals)) = self.attribute_floats(primitive, "NORMAL", &[Shape::Vec3])? {
            fits("NORMAL", normals.len() / 3)?;
            out.normals = normals.chunks_exact(3).map(Vec3::from_slice).collect();
        }
        // The set that the base colour uses: we keep one.
        let name = format!("TEXCOORD_{}", uv_use.set);
        if let Some((_, uvs)) = self.attribute_floats(primitive, &name, &[Shape::Vec2])? {
            fits(&name, uvs.len() / 2)?;
            let moved = uvs.chunks_exact(2).map(|uv| uv_use.apply([uv[0], uv[1]]));
            out.uvs = moved.map(Vec2::from_array).collect();
        }
        let shapes = [Shape::Vec3, Shape::Vec4];
        if let Some((width, colors)) = self.attribute_floats(primitive, "COLOR_0", &shapes)? {
            fits("COLOR_0", colors.len() / width)?;
            let opaque = |c: &[f32]| [c[0], c[1], c[2], c.get(3).copied().unwrap_or(1.0)];
            out.colors = colors.chunks_exact(width).map(opaque).collect();
        }
        if skinned {
            out.influence_sets = self.influence_sets(primitive, fits)?;
        }
        out.targets = self.targets(primitive, fits)?;
        Ok(out)
    }

    fn influence_sets(
        &mut self,
        primitive: &Primitive<'_>,
        fits: impl Fn(&str, usize) -> Result<()>,
    ) -> Result<Vec<(Vec<u32>, Vec<f32>)>> {
        let mut sets = Vec::new();
        for set in 0..MAX_INFLUENCE_SETS {
            let (joints_name, weights_name) = (format!("JOINTS_{set}"), format!("WEIGHTS_{set}"));
            let joints = self.attribute_unsigned(primitive, &joints_name)?;
            let weights = self.attribute_floats(primitive, &weights_name, &[Shape::Vec4])?;
            match (joints, weights) {
                (Some(joints), Some((_, weights))) => {
                    fits(&joints_name, joints.len() / 4)?;
                    fits(&weights_name, weights.len() / 4)?;
                    sets.push((joints, weights));
                }
                (None, None) => break,
                _ => {
                    let problem = format!("{joints_name} and {weights_name} must come together");
                    return Err(primitive.invalid(problem));
                }
            }
        }
        Ok(sets)
    }

    fn targets(
        &mut self,
        primitive: &Primitive<'_>,
        fits: impl Fn(&str, usize) -> Result<()>,
    ) -> Result<Vec<MorphTarget>> {
        let targets = super::json::array(primitive.value, "targets");
        let mut out = Vec::new();
        for (index, target) in targets.map_err(|p| primitive.invalid(p))?.iter().enumerate() {
            let mut morph = MorphTarget::default();
            if let Some(accessor) = target.get("POSITION") {
                let wrong = || primitive.invalid(format!("morph target {index} is wrong"));
                let accessor = whole_number(accessor).ok_or_else(wrong)?;
                let (count, moved) = self.accessors.sparse_vectors(accessor)?;
                fits(&format!("morph target {index}"), count)?;
                (morph.vertices, morph.offsets) = (moved.vertices, moved.vectors);
            }
            out.push(morph);
        }
        Ok(out)
    }

    /// Triangles of a primitive, in its own numbering, without those that have no area by name.
    pub(super) fn triangles(
        &mut self,
        primitive: &Primitive<'_>,
        mode: usize,
        vertex_count: usize,
    ) -> Result<Vec<[u32; 3]>> {
        let indices = self.corner_indices(primitive, vertex_count)?;
        if let Some(bad) = indices.iter().find(|&&i| i as usize >= vertex_count) {
            let problem = format!("index {bad} where there are {vertex_count} vertices");
            return Err(primitive.invalid(problem));
        }
        let whole = |&[a, b, c]: &[u32; 3]| a != b && b != c && a != c;
        let triangles: Vec<[u32; 3]> = match mode {
            5 => indices
                .windows(3)
                .enumerate()
                // Every second triangle of a strip turns the other way.
                .map(|(k, w)| if k % 2 == 0 { [w[0], w[1], w[2]] } else { [w[0], w[2], w[1]] })
                .filter(whole)
                .collect(),
            6 => indices
                .get(1..)
                .unwrap_or(&[])
                .windows(2)
                .map(|w| [w[0], w[1], indices[0]])
                .filter(whole)
                .collect(),
            _ => {
                if !indices.len().is_multiple_of(3) {
                    let message = "its last corners make no triangle and are left out";
                    self.warn(format!("{}: {message}", primitive.place()));
                }
                indices.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).filter(whole).collect()
            }
        };
        Ok(triangles)
    }

    fn corner_indices(&self, primitive: &Primitive<'_>, vertex_count: usize) -> Result<Vec<u32>> {
        #[cfg(feature = "draco")]
        if let Some(packed) = &primitive.draco {
            return Ok(packed.indices.clone());
        }
        match primitive.number("indices")? {
            Some(accessor) => Ok(self.accessors.unsigned(accessor, &[Shape::Scalar])?.1),
            None => {
                self.accessors.pay(|| primitive.place(), vertex_count)?;
                Ok((0..vertex_count as u32).collect())
            }
        }
    }

    /// Unpacks a Draco primitive; an error where that is not possible.
    #[cfg(feature = "draco")]
    pub(super) fn unpack_draco(&self, primitive: &Primitive<'_>) -> Result<Option<DracoMesh>> {
        let name = "KHR_draco_mesh_compression";
        let Some(block) = super::json::extension(primitive.value, name) else { return Ok(None) };
        let view = block.get("bufferView").and_then(whole_number);
        let view = view.ok_or_else(|| primitive.invalid(format!("{name} has no bufferView")))?;
        let bytes = self.document.view(view)?;
        let mesh = super::draco::unpack(&bytes.bytes).map_err(|p| primitive.invalid(p))?;
        self.accessors.pay(|| primitive.place(), mesh.indices.len())?;
        if mesh.indices.iter().any(|&i| i as usize >= mesh.vertex_count) {
            return Err(primitive.invalid("a Draco triangle names a vertex that does not exist"));
        }
        Ok(Some(mesh))
    }
}
