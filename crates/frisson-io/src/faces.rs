//! Faces of a mesh sample into our triangles, for readers of files that have polygons.
//!
//! Alembic and USD keep texture coordinates and normals per face corner; our vertices have one of each. A
//! point becomes as many vertices as it has different corners.

use std::collections::BTreeMap;
use std::sync::Arc;

use frisson::geometry::{Material, MeshTopology};
use glam::{Vec2, Vec3};

use crate::gltf::smoothing_groups;
use crate::polygons::triangulate;

/// The faces of one sample, as stored.
#[derive(Default)]
pub(crate) struct Faces {
    pub counts: Vec<i64>,
    pub indices: Vec<i64>,
    pub uvs: CornerValues<Vec2>,
    pub normals: CornerValues<Vec3>,
    pub colors: CornerValues<[f32; 4]>,
    /// Whether faces turn clockwise seen from outside.
    pub is_clockwise: bool,
    /// Material of each face; the first for faces beyond the end.
    pub face_materials: Vec<u16>,
    pub materials: Vec<Material>,
}

/// Values at the corners of faces.
#[derive(Clone, Debug, Default)]
pub(crate) struct CornerValues<T> {
    pub values: Vec<T>,
    /// Index into `values` for each place; empty: in order.
    pub indices: Vec<i64>,
    pub places: Places,
}

/// What values belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Places {
    /// Corners or points: their number says which.
    #[default]
    ByCount,
    Corners,
    Points,
    Faces,
    /// One for all.
    Mesh,
}

/// Triangles, and the stored point behind each vertex.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    pub topology: Arc<MeshTopology>,
    pub points: Vec<u32>,
}

/// A corner: its number, its point, its face.
#[derive(Clone, Copy)]
struct Corner {
    index: usize,
    point: usize,
    face: usize,
}

impl<T: Copy> CornerValues<T> {
    /// The value at a corner, if there is one, of so many corners and points in all.
    fn at(&self, corner: Corner, corners: usize, points: usize) -> Option<T> {
        let count = if self.indices.is_empty() { self.values.len() } else { self.indices.len() };
        let place = match self.places {
            Places::ByCount if count == 0 => return None,
            Places::ByCount if count == corners => corner.index,
            Places::ByCount if count == points => corner.point,
            Places::ByCount => return None,
            Places::Corners => corner.index,
            Places::Points => corner.point,
            Places::Faces => corner.face,
            Places::Mesh => 0,
        };
        let index = match self.indices.get(place) {
            Some(&index) => usize::try_from(index).ok()?,
            None if self.indices.is_empty() => place,
            None => return None,
        };
        self.values.get(index).copied()
    }
}

type CornerKey = (u32, [u32; 2], [u32; 3], [u32; 4]);

/// Triangles of some faces over `points`; else what is wrong with them.
pub(crate) fn build_shape(faces: Faces, points: &[Vec3]) -> Result<Shape, String> {
    // Saturated: counts of a damaged file may add up to anything.
    let corners: i64 = faces.counts.iter().map(|c| (*c).max(0)).fold(0, i64::saturating_add);
    if usize::try_from(corners).ok() != Some(faces.indices.len()) {
        return Err(format!("{} corners where faces have {corners}", faces.indices.len()));
    }
    let bad =
        faces.indices.iter().find(|&&i| usize::try_from(i).map_or(true, |i| i >= points.len()));
    if let Some(bad) = bad {
        return Err(format!("a face names point {bad} of {}", points.len()));
    }
    let mut builder = Builder {
        faces: &faces,
        points,
        known: BTreeMap::new(),
        out_points: Vec::new(),
        uvs: Vec::new(),
        normals: Vec::new(),
        colors: Vec::new(),
        triangles: Vec::new(),
        materials: Vec::new(),
    };
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
    colors: Vec<[f32; 4]>,
    triangles: Vec<[u32; 3]>,
    materials: Vec<u16>,
}

impl Builder<'_> {
    fn add_face(&mut self, face: usize, first: usize, count: usize) {
        let mut corners: Vec<usize> = (first..first + count).collect();
        if self.faces.is_clockwise {
            corners.reverse();
        }
        let places: Vec<Vec3> =
            corners.iter().map(|&c| self.points[self.faces.indices[c] as usize]).collect();
        let mut triangles = Vec::new();
        triangulate(&places, &mut triangles);
        let material = self.faces.face_materials.get(face).copied().unwrap_or(0);
        for triangle in triangles {
            let vertices = triangle.map(|k| self.vertex(corners[k], face));
            let [a, b, c] = vertices;
            if a != b && b != c && a != c {
                self.triangles.push(vertices);
                self.materials.push(material);
            }
        }
    }

    fn vertex(&mut self, index: usize, face: usize) -> u32 {
        let point = self.faces.indices[index] as usize;
        let corner = Corner { index, point, face };
        let (corners, points) = (self.faces.indices.len(), self.points.len());
        let uv = self.faces.uvs.at(corner, corners, points);
        let normal = self.faces.normals.at(corner, corners, points);
        let color = self.faces.colors.at(corner, corners, points);
        let key = (
            point as u32,
            uv.unwrap_or_default().to_array().map(f32::to_bits),
            normal.unwrap_or_default().to_array().map(f32::to_bits),
            color.unwrap_or_default().map(f32::to_bits),
        );
        let next = self.out_points.len() as u32;
        let vertex = *self.known.entry(key).or_insert(next);
        if vertex == next {
            self.out_points.push(point as u32);
            // Both formats have v going up.
            self.uvs.extend(uv.map(|uv| Vec2::new(uv.x, 1.0 - uv.y)));
            self.normals.extend(normal);
            self.colors.extend(color);
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
        let several = self.materials.iter().any(|&m| m != 0);
        let topology = MeshTopology {
            vertex_count: count,
            triangles: self.triangles,
            uvs: if self.uvs.len() == count { self.uvs } else { Vec::new() },
            colors: if self.colors.len() == count { self.colors } else { Vec::new() },
            triangle_materials: if several { self.materials } else { Vec::new() },
            materials: self.faces.materials.clone(),
            smoothing,
            ..MeshTopology::default()
        };
        Shape { topology: Arc::new(topology), points: self.out_points }
    }
}
