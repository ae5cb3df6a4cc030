//! How an artist says "these vertices", with soft edges: a weight in [0, 1] per vertex.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::nearest_name;
use crate::character::{Character, CharacterMesh};
use crate::geometry::Mesh;
use crate::tolerances;

/// A set of vertices of one mesh, in the reference pose: metres, in the scene's axes, as `inspect` shows
/// the mesh. All that is given must hold (weights multiply): an empty list selects nothing; where nothing
/// at all is given, everything is selected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Selection {
    /// Named region of the mesh.
    pub region: Option<String>,
    /// Name of a material of the mesh.
    pub material: Option<String>,
    /// Joints whose skin influence selects; a vertex counts with the sum of their weights.
    pub joints: Option<Vec<String>>,
    /// Ball: centre x, y, z and radius [m].
    pub sphere: Option<[f32; 4]>,
    /// Capsule: ends and radius, x y z x y z r [m].
    pub capsule: Option<[f32; 7]>,
    /// Box: lowest and highest corner, x y z x y z [m].
    pub r#box: Option<[f32; 6]>,
    /// Vertex-colour channel used as a weight: `r`, `g`, `b` or `a`.
    pub color: Option<String>,
    /// Explicit vertex indices.
    pub vertices: Option<Vec<u32>>,
    /// How much each of `vertices` is selected, 0 to 1, in their order [-]; not given: all of them wholly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f32>>,
    /// File of vertex indices, beside the scene file: numbers between spaces, commas or line ends; the
    /// rest of a line after `#` is a remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices_file: Option<String>,
    /// Number of a primitive, a part of a glTF mesh, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primitive: Option<u32>,
    /// Image, laid over the mesh by its texture coordinates, whose brightness is the weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<MaskImage>,
    /// Distance over which sphere, capsule and box fade out beyond their surface [m].
    #[schemars(range(min = 0.0))]
    pub falloff: f32,
    /// Select everything else instead.
    pub invert: bool,
}

/// A painted mask.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaskImage {
    /// Name of a PNG or JPEG file beside the scene file.
    pub file: String,
    /// Channel: `r` (the default), `g`, `b` or `a`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// What the file holds; read by whoever reads the scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub pixels: Option<MaskPixels>,
}

/// One channel of an image, row by row from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskPixels {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// From 0, not selected, to 255, selected.
    pub levels: Vec<u8>,
}

impl MaskPixels {
    /// Weight at a place of the texture, straight between the middles of pixels; the image repeats.
    #[must_use]
    pub fn at(&self, uv: Vec2) -> f32 {
        let (width, height) = (i64::from(self.width), i64::from(self.height));
        // In i64: the product of two u32 from a file need not fit into either.
        if !uv.is_finite() || width * height != self.levels.len() as i64 || width * height == 0 {
            return 0.0;
        }
        let wrapped = uv - uv.floor();
        let (x, y) = (wrapped.x * width as f32 - 0.5, wrapped.y * height as f32 - 0.5);
        let level = |i: i64, j: i64| {
            let place = j.rem_euclid(height) * width + i.rem_euclid(width);
            f32::from(self.levels[place as usize]) / 255.0
        };
        let (i, j) = (x.floor() as i64, y.floor() as i64);
        let (u, v) = (x - x.floor(), y - y.floor());
        let row = |j: i64| level(i, j) * (1.0 - u) + level(i + 1, j) * u;
        row(j) * (1.0 - v) + row(j + 1) * v
    }
}

/// Why a selection cannot be resolved.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SelectionError {
    /// A name is not there.
    #[error("there is no {what} named {name:?} in mesh {mesh:?}{}", hint(.nearest))]
    Unknown {
        /// `region`, `material`, `joint`.
        what: &'static str,
        /// The name given.
        name: String,
        /// Mesh that was searched.
        mesh: String,
        /// The closest existing name.
        nearest: Option<String>,
    },
    /// A vertex index is out of range.
    #[error("vertex {index} does not exist: mesh {mesh:?} has {count} vertices")]
    Vertex {
        /// The index given.
        index: u32,
        /// Mesh.
        mesh: String,
        /// Its number of vertices.
        count: usize,
    },
    /// The weights are not those of the vertices.
    #[error(
        "{weights} weights for {vertices} vertices: give each vertex one weight between 0 and 1"
    )]
    Weights {
        /// Number of vertices given.
        vertices: usize,
        /// Number of weights given.
        weights: usize,
    },
    /// A file that the scene names was not read.
    #[error("file {0:?} has not been read: selections by file work in scene files")]
    Unread(String),
    /// Colours or skin weights are asked for and the mesh has none.
    #[error("mesh {mesh:?} has no {what}")]
    Missing {
        /// `vertex colours`, `skin`.
        what: &'static str,
        /// Mesh.
        mesh: String,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |n| format!("; did you mean {n:?}?"))
}

impl Selection {
    /// Whether it says that nothing is meant: an empty list of vertices.
    #[must_use]
    pub fn is_empty_list(&self) -> bool {
        self.vertices.as_ref().is_some_and(Vec::is_empty) && !self.invert
    }

    /// A weight in [0, 1] per vertex of `mesh`. `skinned` gives access to joints, where there are any.
    pub fn resolve(
        &self,
        mesh: &Mesh,
        skinned: Option<(&Character, &CharacterMesh)>,
    ) -> Result<Vec<f32>, SelectionError> {
        let mut weights = vec![1.0; mesh.positions.len()];
        self.by_region(mesh, &mut weights)?;
        self.by_material(mesh, &mut weights)?;
        self.by_joints(mesh, skinned, &mut weights)?;
        self.by_shape(mesh, &mut weights);
        self.by_color(mesh, &mut weights)?;
        self.by_index(mesh, &mut weights)?;
        self.by_primitive(mesh, skinned, &mut weights)?;
        self.by_image(mesh, &mut weights)?;
        // At the end: "everything else" than all conditions together.
        if self.invert {
            weights.iter_mut().for_each(|w| *w = 1.0 - *w);
        }
        Ok(weights)
    }

    fn by_region(&self, mesh: &Mesh, weights: &mut [f32]) -> Result<(), SelectionError> {
        let Some(name) = &self.region else { return Ok(()) };
        let regions = &mesh.topology.regions;
        let members = regions
            .get(name)
            .ok_or_else(|| unknown("region", name, mesh, regions.keys().map(String::as_str)))?;
        keep_only(weights, members.iter().copied());
        Ok(())
    }

    fn by_material(&self, mesh: &Mesh, weights: &mut [f32]) -> Result<(), SelectionError> {
        let Some(name) = &self.material else { return Ok(()) };
        let topology = &mesh.topology;
        let index = topology.materials.iter().position(|m| &m.name == name).ok_or_else(|| {
            unknown("material", name, mesh, topology.materials.iter().map(|m| m.name.as_str()))
        })?;
        // Without a list all triangles have the first material.
        let of = |t: usize| topology.triangle_materials.get(t).copied().unwrap_or(0) as usize;
        let corners = topology.triangles.iter().enumerate().filter(|(t, _)| of(*t) == index);
        keep_only(weights, corners.flat_map(|(_, corners)| *corners));
        Ok(())
    }

    fn by_joints(
        &self,
        mesh: &Mesh,
        skinned: Option<(&Character, &CharacterMesh)>,
        weights: &mut [f32],
    ) -> Result<(), SelectionError> {
        let Some(joints) = &self.joints else { return Ok(()) };
        let skin = skinned.and_then(|(c, m)| Some((c, m, c.skins.get(m.skin?)?)));
        let (character, source, skin) =
            skin.ok_or_else(|| SelectionError::Missing { what: "skin", mesh: mesh.name.clone() })?;
        let node_name = |j: &usize| character.skeleton.nodes()[*j].name.as_str();
        let mut chosen = vec![false; skin.joints.len()];
        for name in joints {
            let found =
                skin.joints.iter().position(|j| node_name(j) == name).ok_or_else(|| {
                    unknown("joint", name, mesh, skin.joints.iter().map(node_name))
                })?;
            chosen[found] = true;
        }
        let share = |vertex: usize| -> f32 {
            let influences = source.influences.of(vertex);
            influences.filter(|(j, _)| chosen[*j as usize]).map(|(_, w)| w).sum()
        };
        let root: Vec<f32> = (0..source.mesh.positions.len()).map(share).collect();
        // Vertices that refinement made follow the joints of those around them.
        for (weight, share) in weights.iter_mut().zip(mesh.topology.spread_from_root(&root)) {
            *weight *= share.clamp(0.0, 1.0);
        }
        Ok(())
    }

    fn by_shape(&self, mesh: &Mesh, weights: &mut [f32]) {
        let fade = |distance: f32| {
            if distance <= 0.0 {
                1.0
            } else if distance >= self.falloff {
                0.0
            } else {
                let t = 1.0 - distance / self.falloff;
                t * t * (3.0 - 2.0 * t)
            }
        };
        for (weight, &p) in weights.iter_mut().zip(&mesh.positions) {
            if let Some([x, y, z, r]) = self.sphere {
                *weight *= fade(p.distance(Vec3::new(x, y, z)) - r);
            }
            if let Some([ax, ay, az, bx, by, bz, r]) = self.capsule {
                let (a, b) = (Vec3::new(ax, ay, az), Vec3::new(bx, by, bz));
                let t = ((b - a).dot(p - a)
                    / (b - a).length_squared().max(tolerances::stage::LEAST_AXIS_SQ))
                .clamp(0.0, 1.0);
                *weight *= fade(p.distance(a.lerp(b, t)) - r);
            }
            if let Some([ax, ay, az, bx, by, bz]) = self.r#box {
                let (a, b) = (Vec3::new(ax, ay, az), Vec3::new(bx, by, bz));
                // Zero inside, as `fade` wants no more: unlike ball and capsule, a box needs no negative distances.
                *weight *= fade((a - p).max(p - b).max(Vec3::ZERO).length());
            }
        }
    }

    fn by_color(&self, mesh: &Mesh, weights: &mut [f32]) -> Result<(), SelectionError> {
        let Some(channel) = &self.color else { return Ok(()) };
        if mesh.topology.colors.is_empty() {
            return Err(SelectionError::Missing {
                what: "vertex colours",
                mesh: mesh.name.clone(),
            });
        }
        let index = ["r", "g", "b", "a"]
            .iter()
            .position(|c| c == channel)
            .ok_or_else(|| unknown("colour channel", channel, mesh, ["r", "g", "b", "a"]))?;
        for (weight, color) in weights.iter_mut().zip(&mesh.topology.colors) {
            *weight *= color[index].clamp(0.0, 1.0);
        }
        Ok(())
    }

    fn by_index(&self, mesh: &Mesh, weights: &mut [f32]) -> Result<(), SelectionError> {
        if let Some(file) = &self.vertices_file {
            return Err(SelectionError::Unread(file.clone()));
        }
        let Some(vertices) = &self.vertices else { return Ok(()) };
        let count = mesh.positions.len();
        if let Some(&index) = vertices.iter().find(|&&v| v as usize >= count) {
            return Err(SelectionError::Vertex { index, mesh: mesh.name.clone(), count });
        }
        keep_only(weights, vertices.iter().copied());
        let Some(own) = &self.weights else { return Ok(()) };
        // `!contains` also refuses NaN.
        if own.len() != vertices.len() || own.iter().any(|w| !(0.0..=1.0).contains(w)) {
            return Err(SelectionError::Weights { vertices: vertices.len(), weights: own.len() });
        }
        vertices.iter().zip(own).for_each(|(v, own)| weights[*v as usize] *= own);
        Ok(())
    }
}

impl Selection {
    fn by_primitive(
        &self,
        mesh: &Mesh,
        skinned: Option<(&Character, &CharacterMesh)>,
        weights: &mut [f32],
    ) -> Result<(), SelectionError> {
        let Some(wanted) = self.primitive else { return Ok(()) };
        let source = skinned.and_then(|(_, m)| m.source.as_ref());
        let what = "primitives of a glTF file";
        let source =
            source.ok_or_else(|| SelectionError::Missing { what, mesh: mesh.name.clone() })?;
        let mut root = vec![0.0; mesh.topology.root_vertex_count()];
        let (mut start, mut found) = (0, false);
        for &(index, count) in &source.primitives {
            if index == wanted as usize {
                found = true;
                root.iter_mut().skip(start).take(count).for_each(|w| *w = 1.0);
            }
            start += count;
        }
        if !found {
            let names: Vec<String> = source.primitives.iter().map(|p| p.0.to_string()).collect();
            let names = names.iter().map(String::as_str);
            return Err(unknown("primitive", &wanted.to_string(), mesh, names));
        }
        // Vertices that refinement made belong to a part as far as those around them do.
        for (weight, share) in weights.iter_mut().zip(mesh.topology.spread_from_root(&root)) {
            *weight *= share;
        }
        Ok(())
    }

    fn by_image(&self, mesh: &Mesh, weights: &mut [f32]) -> Result<(), SelectionError> {
        let Some(image) = &self.image else { return Ok(()) };
        let pixels = image.pixels.as_ref();
        let pixels = pixels.ok_or_else(|| SelectionError::Unread(image.file.clone()))?;
        if mesh.topology.uvs.is_empty() {
            let what = "texture coordinates";
            return Err(SelectionError::Missing { what, mesh: mesh.name.clone() });
        }
        for (weight, &uv) in weights.iter_mut().zip(&mesh.topology.uvs) {
            *weight *= pixels.at(uv);
        }
        Ok(())
    }
}

fn keep_only(weights: &mut [f32], members: impl Iterator<Item = u32>) {
    let mut keep = vec![false; weights.len()];
    members.for_each(|v| keep[v as usize] = true);
    weights.iter_mut().zip(keep).filter(|(_, k)| !k).for_each(|(w, _)| *w = 0.0);
}

fn unknown<'a>(
    what: &'static str,
    name: &str,
    mesh: &Mesh,
    existing: impl IntoIterator<Item = &'a str>,
) -> SelectionError {
    SelectionError::Unknown {
        what,
        name: name.to_owned(),
        mesh: mesh.name.clone(),
        nearest: nearest_name(name, existing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Mesh {
        let positions = (0..5).map(|i| Vec3::X * i as f32).collect();
        Mesh::new("line", positions, vec![])
    }

    #[test]
    fn shapes_fade_and_indices_intersect() {
        let mut s =
            Selection { sphere: Some([0.0, 0.0, 0.0, 1.0]), falloff: 2.0, ..Default::default() };
        assert_eq!(s.resolve(&line(), None).unwrap(), [1.0, 1.0, 0.5, 0.0, 0.0]);
        s.vertices = Some(vec![1, 3]);
        assert_eq!(s.resolve(&line(), None).unwrap(), [0.0, 1.0, 0.0, 0.0, 0.0]);
        s.vertices = Some(vec![]);
        assert_eq!(s.resolve(&line(), None).unwrap(), [0.0; 5], "an empty list is empty");
        assert_eq!(Selection::default().resolve(&line(), None).unwrap(), [1.0; 5]);
        s.vertices = Some(vec![1, 2, 3]);
        s.weights = Some(vec![0.25, 0.5, 1.0]);
        assert_eq!(s.resolve(&line(), None).unwrap(), [0.0, 0.25, 0.25, 0.0, 0.0]);
        for wrong in [vec![1.0], vec![1.0, 2.0, 0.0], vec![f32::NAN; 3]] {
            s.weights = Some(wrong);
            assert!(matches!(s.resolve(&line(), None), Err(SelectionError::Weights { .. })));
        }
        s.weights = None;
        s.vertices = Some(vec![9]);
        assert!(matches!(s.resolve(&line(), None), Err(SelectionError::Vertex { index: 9, .. })));
    }
    #[test]
    fn images_are_laid_over_by_texture_coordinates() {
        let mut mesh = line();
        let uvs = [0.25, 0.5, 0.75, 1.25, 0.0].map(|u| Vec2::new(u, 0.5)).to_vec();
        std::sync::Arc::make_mut(&mut mesh.topology).uvs = uvs;
        let pixels = MaskPixels { width: 2, height: 1, levels: vec![0, 255] };
        let image = MaskImage { file: "mask.png".to_owned(), channel: None, pixels: Some(pixels) };
        let mut s = Selection { image: Some(image), ..Default::default() };
        assert_eq!(s.resolve(&mesh, None).unwrap(), [0.0, 0.5, 1.0, 0.0, 0.5]);
        assert!(matches!(s.resolve(&line(), None), Err(SelectionError::Missing { .. })));
        s.image = Some(MaskImage { file: "mask.png".to_owned(), ..Default::default() });
        assert_eq!(s.resolve(&mesh, None), Err(SelectionError::Unread("mask.png".to_owned())));
        let file = Selection { vertices_file: Some("list".to_owned()), ..Default::default() };
        assert_eq!(file.resolve(&mesh, None), Err(SelectionError::Unread("list".to_owned())));
    }

    #[test]
    fn parts_of_a_gltf_mesh_are_found_by_number() {
        let source = CharacterMesh {
            source: Some(crate::character::SourcePrimitives {
                node: 0,
                mesh: 0,
                primitives: vec![(0, 2), (2, 3)],
            }),
            ..CharacterMesh::carried(line(), 0, None)
        };
        let character = Character {
            name: String::new(),
            skeleton: crate::character::Skeleton::new(vec![]).unwrap(),
            skins: vec![],
            meshes: vec![],
            clips: vec![],
        };
        let weights = |primitive: u32| {
            let s = Selection { primitive: Some(primitive), ..Default::default() };
            s.resolve(&line(), Some((&character, &source)))
        };
        assert_eq!(weights(0).unwrap(), [1.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(weights(2).unwrap(), [0.0, 0.0, 1.0, 1.0, 1.0]);
        assert!(weights(1).is_err());
    }
}
