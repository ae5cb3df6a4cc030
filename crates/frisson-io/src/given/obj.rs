//! OBJ text: meshes by object, polylines, points.

use std::collections::BTreeMap;
use std::sync::Arc;

use frisson::geometry::{Material, Mesh, MeshTopology};
use frisson::stage::{Curves, Points};
use glam::{Vec2, Vec3};
use thiserror::Error;

use super::numbers::numbers;
use crate::polygons::triangulate;

/// Diameter of lines and points, of which OBJ has none [m].
const DEFAULT_WIDTH: f32 = 1e-4;

/// What is wrong in a file, and where.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("line {line}: {problem}")]
pub struct ObjError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

/// What an OBJ file holds.
#[derive(Clone, Debug, Default)]
pub struct ObjScene {
    /// One mesh per object (`o`) with faces.
    pub meshes: Vec<Mesh>,
    /// One set per object with lines (`l`).
    pub curves: Vec<Curves>,
    /// One set per object with points (`p`).
    pub points: Vec<Points>,
}

/// Reads the text of an OBJ file. Curved surfaces and libraries of materials are passed over.
pub fn read_obj(text: &str) -> Result<ObjScene, ObjError> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let Some(key) = words.next() else { continue };
        let taken = reader.take(key, &mut words);
        taken.map_err(|problem| ObjError { line: index + 1, problem })?;
    }
    reader.end_object();
    Ok(reader.scene)
}

/// Corner of a face: position, texture coordinates, normal.
type Corner = (usize, Option<usize>, Option<usize>);

#[derive(Default)]
struct Reader {
    positions: Vec<Vec3>,
    uvs: Vec<Vec2>,
    normals: Vec<Vec3>,
    materials: Vec<String>,
    scene: ObjScene,
    object: Object,
}

/// The object whose lines are being read.
#[derive(Default)]
struct Object {
    name: String,
    known: BTreeMap<Corner, u32>,
    vertices: Vec<Corner>,
    triangles: Vec<[u32; 3]>,
    triangle_materials: Vec<u16>,
    material: u16,
    lines: Vec<Vec<Vec3>>,
    points: Vec<Vec3>,
}

impl Reader {
    fn take<'a>(
        &mut self,
        key: &str,
        words: &mut impl Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        let wrong = || format!("{key:?} needs finite numbers");
        match key {
            "v" => self.positions.push(Vec3::from(numbers(words).ok_or_else(wrong)?)),
            "vn" => self.normals.push(Vec3::from(numbers(words).ok_or_else(wrong)?)),
            "vt" => {
                let [u, v] = numbers(words).ok_or_else(wrong)?;
                // OBJ counts v from the bottom of the picture, we from the top.
                self.uvs.push(Vec2::new(u, 1.0 - v));
            }
            "o" => {
                self.end_object();
                self.object.name = words.collect::<Vec<_>>().join(" ");
            }
            // The name may hold spaces.
            "usemtl" => self.use_material(&words.collect::<Vec<_>>().join(" ")),
            "f" => {
                let corners: Vec<Corner> =
                    words.map(|w| self.corner(w)).collect::<Result<_, _>>()?;
                self.add_face(&corners);
            }
            "l" => {
                let points: Result<Vec<Vec3>, String> =
                    words.map(|w| Ok(self.positions[self.corner(w)?.0])).collect();
                self.object.lines.push(points?);
            }
            "p" => {
                for word in words {
                    let point = self.positions[self.corner(word)?.0];
                    self.object.points.push(point);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn use_material(&mut self, name: &str) {
        let slot = self.materials.iter().position(|m| m == name).unwrap_or_else(|| {
            self.materials.push(name.to_owned());
            self.materials.len() - 1
        });
        self.object.material = u16::try_from(slot).unwrap_or(u16::MAX);
    }

    /// `7`, `7/3`, `7//2`, `7/3/2`; from the end where negative.
    fn corner(&self, word: &str) -> Result<Corner, String> {
        let mut parts = word.split('/');
        let place = |text: &str, count: usize| -> Result<usize, String> {
            let index: i64 = text.parse().map_err(|_| format!("{word:?} is no corner"))?;
            let from_end = i64::try_from(count).unwrap_or(0).saturating_add(index);
            let index = if index < 0 { from_end } else { index - 1 };
            let known = usize::try_from(index).ok().filter(|&i| i < count);
            known.ok_or_else(|| format!("{word:?} names what is not there ({count} so far)"))
        };
        let position = place(parts.next().unwrap_or_default(), self.positions.len())?;
        let mut other = |count: usize| match parts.next().filter(|t| !t.is_empty()) {
            Some(text) => place(text, count).map(Some),
            None => Ok(None),
        };
        Ok((position, other(self.uvs.len())?, other(self.normals.len())?))
    }

    fn add_face(&mut self, corners: &[Corner]) {
        let places: Vec<Vec3> = corners.iter().map(|c| self.positions[c.0]).collect();
        let mut triangles = Vec::new();
        triangulate(&places, &mut triangles);
        for triangle in triangles {
            let vertices = triangle.map(|k| self.object.vertex(corners[k]));
            let [a, b, c] = vertices;
            // Polygons that name a corner twice leave triangles without an area.
            if a != b && b != c && a != c {
                self.object.triangles.push(vertices);
                self.object.triangle_materials.push(self.object.material);
            }
        }
    }

    fn end_object(&mut self) {
        let material = self.object.material;
        // A material stays in use over the end of an object.
        let object = std::mem::replace(&mut self.object, Object { material, ..Object::default() });
        let name = if object.name.is_empty() { "object".to_owned() } else { object.name.clone() };
        if !object.lines.is_empty() {
            let counts: Vec<u32> = object.lines.iter().map(|l| l.len() as u32).collect();
            let points: Vec<Vec3> = object.lines.concat();
            self.scene.curves.push(Curves {
                name: name.clone(),
                widths: vec![DEFAULT_WIDTH; points.len()],
                ids: (0..counts.len() as u64).collect(),
                counts,
                points,
                color: Vec3::splat(0.5),
                ..Curves::default()
            });
        }
        if !object.points.is_empty() {
            self.scene.points.push(Points {
                name: name.clone(),
                widths: vec![DEFAULT_WIDTH; object.points.len()],
                ids: (0..object.points.len() as u64).collect(),
                positions: object.points.clone(),
                ..Points::default()
            });
        }
        if !object.triangles.is_empty() {
            let mesh = self.mesh(name, object);
            self.scene.meshes.push(mesh);
        }
    }

    fn mesh(&self, name: String, object: Object) -> Mesh {
        let positions: Vec<Vec3> = object.vertices.iter().map(|v| self.positions[v.0]).collect();
        // All or none: a mesh with some of them has nothing to draw by.
        let uvs: Option<Vec<Vec2>> =
            object.vertices.iter().map(|v| v.1.map(|uv| self.uvs[uv])).collect();
        let normals: Option<Vec<Vec3>> =
            object.vertices.iter().map(|v| v.2.map(|n| self.normals[n])).collect();
        let smoothing = normals.map(|n| crate::gltf::smoothing_groups(&positions, &n));
        let mut used: Vec<u16> = object.triangle_materials.clone();
        used.sort_unstable();
        used.dedup();
        // Only the materials of this object, numbered anew.
        let slot = |m: &u16| used.binary_search(m).unwrap_or(0) as u16;
        let material = |m: &u16| match self.materials.get(usize::from(*m)) {
            Some(name) => Material { name: name.clone(), ..Material::default() },
            None => Material::default(),
        };
        let several = used.len() > 1;
        let topology = MeshTopology {
            vertex_count: positions.len(),
            triangles: object.triangles,
            uvs: uvs.unwrap_or_default(),
            triangle_materials: match several {
                true => object.triangle_materials.iter().map(slot).collect(),
                false => Vec::new(),
            },
            materials: used.iter().map(material).collect(),
            smoothing: smoothing.unwrap_or_default(),
            ..MeshTopology::default()
        };
        Mesh { name, topology: Arc::new(topology), positions, ..Mesh::default() }
    }
}

impl Object {
    fn vertex(&mut self, corner: Corner) -> u32 {
        let next = self.vertices.len() as u32;
        let vertex = *self.known.entry(corner).or_insert(next);
        if vertex == next {
            self.vertices.push(corner);
        }
        vertex
    }
}
