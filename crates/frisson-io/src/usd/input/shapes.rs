//! Polygons of a mesh prim, with texture coordinates, normals, colours and materials.

use std::sync::Arc;

use frisson::geometry::Material;
use glam::{DVec3, Vec2, Vec3};

use super::Result;
use super::attribute::{Attribute, single};
use super::layer::Data;
use super::look::Looks;
use super::stage::Stage;
use crate::faces::{CornerValues, Faces, Places, Shape, build_shape};

/// Names that programs give to texture coordinates.
const UV_NAMES: [&str; 5] = ["st", "UVMap", "map1", "uv", "st0"];

/// What of a mesh need not be looked for again at every time.
pub(super) struct MeshParts {
    counts: Option<Attribute>,
    indices: Option<Attribute>,
    uvs: Primvar,
    normals: Primvar,
    colors: Primvar,
    is_clockwise: bool,
    subsets: Vec<(Attribute, u16)>,
    materials: Vec<Material>,
}

/// Values and the indices into them.
#[derive(Default)]
struct Primvar {
    values: Option<Attribute>,
    indices: Option<Attribute>,
}

impl Primvar {
    fn read(stage: &Stage, prim: usize, name: &str) -> Result<Self> {
        let values = stage.attribute(prim, name)?;
        let indices = stage.attribute(prim, &format!("{name}:indices"))?;
        Ok(Self { values, indices })
    }

    fn at<T>(
        &self,
        stage: &Stage,
        time: f64,
        width: usize,
        convert: impl Fn(&[f64]) -> T,
    ) -> Result<CornerValues<T>> {
        let places = Places::ByCount;
        let none = CornerValues { values: Vec::new(), indices: Vec::new(), places };
        let Some(values) = &self.values else { return Ok(none) };
        let data = values.held(stage, time)?;
        let Data::Numbers { extent, values: numbers } = &*data else { return Ok(none) };
        if *extent != width {
            return Ok(none);
        }
        let indices = match &self.indices {
            Some(indices) => indices.held(stage, time)?.ints(),
            None => Vec::new(),
        };
        let places = match &*values.interpolation {
            "faceVarying" => Places::Corners,
            "vertex" | "varying" => Places::Points,
            "uniform" => Places::Faces,
            "constant" => Places::Mesh,
            _ => Places::ByCount,
        };
        let values = numbers.chunks_exact(width).map(convert).collect();
        Ok(CornerValues { values, indices, places })
    }
}

impl MeshParts {
    pub fn read(stage: &mut Stage, prim: usize, looks: &mut Looks) -> Result<Self> {
        let mut normals = Primvar::read(stage, prim, "primvars:normals")?;
        if normals.values.is_none() {
            normals = Primvar::read(stage, prim, "normals")?;
            if let Some(values) = &mut normals.values
                && values.interpolation.is_empty()
            {
                // What the schema says for normals that do not say.
                values.interpolation = "vertex".into();
            }
        }
        let colors = Primvar::read(stage, prim, "primvars:displayColor")?;
        let orientation = stage.token(prim, "orientation")?;
        let (subsets, mut materials) = read_subsets(stage, prim, looks)?;
        if materials[0].is_none() {
            materials[0] = Some(display_material(stage, &colors)?);
        }
        Ok(Self {
            counts: stage.attribute(prim, "faceVertexCounts")?,
            indices: stage.attribute(prim, "faceVertexIndices")?,
            uvs: read_uvs(stage, prim)?,
            normals,
            colors,
            is_clockwise: orientation.is_some_and(|o| &*o == "leftHanded"),
            subsets,
            materials: materials.into_iter().map(Option::unwrap_or_default).collect(),
        })
    }

    /// Whether faces are the same at all times.
    pub fn has_constant_topology(&self) -> bool {
        [&self.counts, &self.indices].into_iter().flatten().all(Attribute::is_constant)
    }

    /// Triangles at a time, over the points as they are then.
    pub fn shape(
        &self,
        stage: &Stage,
        time: f64,
        points: &[DVec3],
    ) -> Result<std::result::Result<Shape, String>> {
        let integers = |attribute: &Option<Attribute>| -> Result<Vec<i64>> {
            match attribute {
                Some(attribute) => Ok(attribute.held(stage, time)?.ints()),
                None => Ok(Vec::new()),
            }
        };
        let counts = integers(&self.counts)?;
        let mut face_materials = vec![0; counts.len()];
        for (faces, material) in &self.subsets {
            for face in faces.held(stage, time)?.ints() {
                let found = usize::try_from(face).ok().and_then(|f| face_materials.get_mut(f));
                if let Some(slot) = found {
                    *slot = *material;
                }
            }
        }
        let colors = self.colors.at(stage, time, 3, |c| {
            [c[0] as f32, c[1] as f32, c[2] as f32, 1.0]
                .map(|c| if c.is_finite() { c } else { 0.0 })
        })?;
        // One colour for all is the material's.
        let colors = if colors.values.len() > 1 { colors } else { CornerValues::default() };
        let faces = Faces {
            counts,
            indices: integers(&self.indices)?,
            uvs: self.uvs.at(stage, time, 2, |v| Vec2::new(v[0] as f32, v[1] as f32))?,
            normals: self.normals.at(stage, time, 3, |v| DVec3::from_slice(v).as_vec3())?,
            colors,
            is_clockwise: self.is_clockwise,
            face_materials,
            materials: self.materials.clone(),
        };
        let points: Vec<Vec3> = points.iter().map(|&p| single(p)).collect();
        Ok(build_shape(finite(faces), &points))
    }
}

/// Texture coordinates and normals that are no numbers are left out: nothing moves by them.
fn finite(mut faces: Faces) -> Faces {
    if faces.uvs.values.iter().any(|v| !v.is_finite()) {
        faces.uvs = CornerValues::default();
    }
    if faces.normals.values.iter().any(|v| !v.is_finite()) {
        faces.normals = CornerValues::default();
    }
    faces
}

fn read_uvs(stage: &Stage, prim: usize) -> Result<Primvar> {
    for name in UV_NAMES {
        let found = Primvar::read(stage, prim, &format!("primvars:{name}"))?;
        if found.values.is_some() {
            return Ok(found);
        }
    }
    let opinions = &stage.prims[prim].opinions;
    let names = opinions.iter().flat_map(|o| stage.spec(o).properties.keys());
    let names: Vec<_> = names.filter(|n| n.starts_with("primvars:")).cloned().collect();
    for name in names {
        let found = Primvar::read(stage, prim, &name)?;
        if found.values.as_ref().is_some_and(|v| v.type_name.starts_with("texCoord2")) {
            return Ok(found);
        }
    }
    Ok(Primvar::default())
}

/// Faces with a material of their own, and all materials, the mesh's first.
fn read_subsets(
    stage: &mut Stage,
    prim: usize,
    looks: &mut Looks,
) -> Result<(Vec<(Attribute, u16)>, Vec<Option<Material>>)> {
    let mut materials = vec![looks.bound(stage, prim)?];
    let mut subsets = Vec::new();
    for child in stage.prims[prim].children.clone() {
        if &*stage.prims[child].type_name != "GeomSubset" || materials.len() > usize::from(u16::MAX)
        {
            continue;
        }
        let family = stage.token(child, "familyName")?;
        let Some(faces) = stage.attribute(child, "indices")? else { continue };
        if family.is_some_and(|f| &*f != "materialBind" && !f.is_empty()) {
            continue;
        }
        subsets.push((faces, materials.len() as u16));
        let bound = looks.bound(stage, child)?;
        let name = stage.prims[child].name.to_string();
        materials.push(Some(bound.unwrap_or(Material { name, ..Material::default() })));
    }
    Ok((subsets, materials))
}

/// A material of the colour that viewers without materials show.
fn display_material(stage: &Stage, colors: &Primvar) -> Result<Material> {
    let mut material = Material::default();
    let data: Option<Arc<Data>> =
        colors.values.as_ref().map(|c| c.held(stage, f64::NEG_INFINITY)).transpose()?;
    let numbers = data.map(|d| d.numbers()).unwrap_or_default();
    match numbers[..] {
        [r, g, b] if numbers.iter().all(|n| n.is_finite()) => {
            material.base_color = [r, g, b, 1.0].map(|c| c.clamp(0.0, 1.0) as f32);
        }
        // Colours of vertices stand for themselves.
        [] | [_] | [_, _] => {}
        _ => material.base_color = [1.0; 4],
    }
    Ok(material)
}
