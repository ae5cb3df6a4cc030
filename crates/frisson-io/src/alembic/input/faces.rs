//! Faces of a mesh sample into our triangles.
//!
//! Alembic keeps texture coordinates and normals per face corner; our vertices have one of each. A
//! point becomes as many vertices as it has different corners.

use std::collections::BTreeMap;
use std::sync::Arc;

use frisson::geometry::{Material, MeshTopology};
use glam::{Vec2, Vec3};

use super::{AlembicError, Result};
use crate::gltf::smoothing_groups;
use crate::polygons::triangulate;

/// The faces of one sample, as stored.
pub(super) struct Faces {
    pub counts: Vec<i64>,
    pub indices: Vec<i64>,
    pub uvs: CornerValues<Vec2>,
    pub normals: CornerValues<Vec3>,
    /// Faces by name.
    pub sets: Vec<(String, Vec<i64>)>,
}

/// Values at the corners of faces.
#[derive(Default)]
pub(super) struct CornerValues<T> {
    pub values: Vec<T>,
    /// Index into `values` for each place; empty: in order.
    pub indices: Vec<i64>,
}

/// Triangles, and the stored point behind each vertex.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub topology: Arc<MeshTopology>,
    pub points: Vec<u32>,
}

impl<T: Copy + Default> CornerValues<T> {
    fn places(&self) -> usize {
        if self.indices.is_empty() { self.values.len() } else { self.indices.len() }
    }

    /// The value at a corner: stored for it, for its point, or not at all.
    fn at(&self, corner: usize, point: usize, corners: usize, points: usize) -> Option<T> {
        let place = match self.places() {
            0 => return None,
            n if n == corners => corner,
            // The number of values says what they belong to.
            n if n == points => point,
            _ => return None,
        };
        let index = match self.indices.get(place) {
            Some(&index) => usize::try_from(index).ok()?,
            None => place,
        };
        self.values.get(index).copied()
    }
}

type CornerKey = (u32, [u32; 2], [u32; 3]);

/// Triangles of some faces over `points`.
pub(super) fn build_shape(place: &str, faces: &Faces, points: &[Vec3]) -> Result<Shape> {
    let wrong = |problem: String| AlembicError::damaged(place, problem);
    // Saturated: counts of a damaged file may add up to anything.
    let corners: i64 = faces.counts.iter().map(|c| (*c).max(0)).fold(0, i64::saturating_add);
    if usize::try_from(corners).ok() != Some(faces.indices.len()) {
        return Err(wrong(format!("{} corners where faces have {corners}", faces.indices.len())));
    }
    let bad =
        faces.indices.iter().find(|&&i| usize::try_from(i).map_or(true, |i| i >= points.len()));
    if let Some(bad) = bad {
        return Err(wrong(format!("a face names point {bad} of {}", points.len())));
    }
    let mut builder = Builder::new(faces, points);
    let mut first = 0;
    for (face, &count) in faces.counts.iter().enumerate() {
        let count = count.max(0) as usize;
        builder.add_face(face, first, count);
        first += count;
    }
    Ok(builder.finish())
}

struct Builder<'a> {
    faces: &'a Faces,
    points: &'a [Vec3],
    known: BTreeMap<CornerKey, u32>,
    out_points: Vec<u32>,
    uvs: Vec<Vec2>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    materials: Vec<u16>,
    material_of_face: Vec<u16>,
}

impl<'a> Builder<'a> {
    fn new(faces: &'a Faces, points: &'a [Vec3]) -> Self {
        let mut material_of_face = vec![0; faces.counts.len()];
        for (slot, (_, set)) in faces.sets.iter().enumerate().take(usize::from(u16::MAX - 1)) {
            for &face in set {
                let found = usize::try_from(face).ok().and_then(|f| material_of_face.get_mut(f));
                if let Some(material) = found {
                    *material = slot as u16 + 1;
                }
            }
        }
        Self {
            faces,
            points,
            known: BTreeMap::new(),
            out_points: Vec::new(),
            uvs: Vec::new(),
            normals: Vec::new(),
            triangles: Vec::new(),
            materials: Vec::new(),
            material_of_face,
        }
    }

    fn add_face(&mut self, face: usize, first: usize, count: usize) {
        // Alembic's faces are clockwise seen from outside.
        let corners: Vec<usize> = (first..first + count).rev().collect();
        let places: Vec<Vec3> =
            corners.iter().map(|&c| self.points[self.faces.indices[c] as usize]).collect();
        let mut triangles = Vec::new();
        triangulate(&places, &mut triangles);
        for triangle in triangles {
            let vertices = triangle.map(|k| self.vertex(corners[k]));
            let [a, b, c] = vertices;
            if a != b && b != c && a != c {
                self.triangles.push(vertices);
                self.materials.push(self.material_of_face[face]);
            }
        }
    }

    fn vertex(&mut self, corner: usize) -> u32 {
        let point = self.faces.indices[corner] as usize;
        let (corners, points) = (self.faces.indices.len(), self.points.len());
        let uv = self.faces.uvs.at(corner, point, corners, points);
        let normal = self.faces.normals.at(corner, point, corners, points);
        let key = (
            point as u32,
            uv.unwrap_or_default().to_array().map(f32::to_bits),
            normal.unwrap_or_default().to_array().map(f32::to_bits),
        );
        let next = self.out_points.len() as u32;
        let vertex = *self.known.entry(key).or_insert(next);
        if vertex == next {
            self.out_points.push(point as u32);
            // Alembic's v goes up.
            self.uvs.extend(uv.map(|uv| Vec2::new(uv.x, 1.0 - uv.y)));
            self.normals.extend(normal);
        }
        vertex
    }

    fn finish(self) -> Shape {
        let count = self.out_points.len();
        let positions: Vec<Vec3> =
            self.out_points.iter().map(|&p| self.points[p as usize]).collect();
        let whole = self.normals.len() == count;
        let smoothing =
            if whole { smoothing_groups(&positions, &self.normals) } else { Vec::new() };
        let named = self.faces.sets.iter().map(|(name, _)| name.clone());
        let mut names = vec!["default".to_owned()];
        names.extend(named);
        let material = |name: String| Material { name, ..Material::default() };
        let several = self.materials.iter().any(|&m| m != 0);
        let topology = MeshTopology {
            vertex_count: count,
            triangles: self.triangles,
            uvs: if self.uvs.len() == count { self.uvs } else { Vec::new() },
            triangle_materials: if several { self.materials } else { Vec::new() },
            materials: names.into_iter().map(material).collect(),
            smoothing,
            ..MeshTopology::default()
        };
        Shape { topology: Arc::new(topology), points: self.out_points }
    }
}
