//! The triangle mesh: what moves (positions, normals, attributes) apart from what stays (topology).

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::Ancestry;

/// What does not change when a mesh moves. Shared by every frame of a shot.
///
/// Vertices are those of the source file: split at uv seams and hard edges. Connectivity across
/// those splits comes from welding (see `geometry::topology`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeshTopology {
    /// Number of vertices that every per-vertex array of the mesh must have.
    pub vertex_count: usize,
    /// Corner indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates per vertex, v down as in glTF; empty if there are none.
    pub uvs: Vec<Vec2>,
    /// Linear RGBA per vertex; empty if there are none.
    pub colors: Vec<[f32; 4]>,
    /// Material of each triangle; empty: all use the first.
    pub triangle_materials: Vec<u16>,
    /// Materials, by index.
    pub materials: Vec<Material>,
    /// Named vertex sets (`scalp`, `forehead`, …), each sorted.
    pub regions: BTreeMap<String, Vec<u32>>,
    /// Vertices with equal entries share a shading normal; empty: weld by position only.
    ///
    /// Built once from the source's normals, so that hard edges stay hard and uv seams stay smooth.
    pub smoothing: Vec<u32>,
    /// The mesh it was refined from, if it was; not stored in files.
    #[serde(skip)]
    pub ancestry: Option<Arc<Ancestry>>,
}

/// How a surface looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Name in the source file.
    pub name: String,
    /// Linear RGBA.
    pub base_color: [f32; 4],
    /// Perceptual roughness, 0 to 1.
    pub roughness: f32,
    /// 0 (dielectric) to 1 (metal).
    pub metallic: f32,
    /// Fraction of light let through, 0 to 1 (clear liquids).
    pub transmission: f32,
    /// Index of refraction.
    pub ior: f32,
    /// Absorption per metre inside a transmitting body, linear RGB.
    pub absorption: [f32; 3],
    /// Base-colour texture.
    pub texture: Option<Arc<Texture>>,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            base_color: [0.7, 0.7, 0.7, 1.0],
            roughness: 0.6,
            metallic: 0.0,
            transmission: 0.0,
            ior: 1.45,
            absorption: [0.0; 3],
            texture: None,
        }
    }
}

/// An image in sRGB RGBA, row by row from the top.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Texture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Four bytes a pixel.
    pub rgba: Vec<u8>,
}

/// A mesh at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mesh {
    /// Name, unique in a frame: `actor` or `actor/mesh`.
    pub name: String,
    /// What does not move.
    pub topology: Arc<MeshTopology>,
    /// World positions [m].
    pub positions: Vec<Vec3>,
    /// Unit shading normals; empty until computed.
    pub normals: Vec<Vec3>,
    /// Velocities [m/s], where the layer knows better than a difference of frames; else empty.
    pub velocities: Vec<Vec3>,
    /// Named per-vertex values for files and pictures: strain, wetness, weights, …
    pub attributes: Vec<Attribute>,
    /// What layers tell later ones within a tick; not stored in files.
    #[serde(skip)]
    pub channels: Channels,
}

/// What layers tell each other about a mesh within one tick, per vertex: later ones, and (`load`) earlier ones.
/// Empty where nobody has said anything; emptied before every tick, so that nothing in here outlives what the
/// layers themselves keep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Channels {
    /// Liquid on the surface, 0 dry to 1 wet.
    pub wetness: Vec<f32>,
    /// How far flesh has moved the vertex so far [m].
    pub flesh_offset: Vec<Vec3>,
    /// Smallest `shape` of the flesh elements that touch the vertex, negative where several do [m];
    /// written when layers start.
    pub flesh_room: Vec<f32>,
    /// Liquid that a later layer has left on the vertex by the end of the tick before [kg]. Counted by the
    /// vertices that the mesh has behind the layers that change it.
    pub load: Vec<f32>,
}

impl Channels {
    /// Empties what is said anew in every tick; storage stays.
    pub fn clear(&mut self) {
        // `flesh_room` stays: it is said once, when layers start, not in every tick.
        self.wetness.clear();
        self.flesh_offset.clear();
        self.load.clear();
    }

    /// Carries what was said about a coarse mesh over to the refined one.
    pub fn refine(&mut self, ancestry: &Ancestry) {
        // Not `load`: it counts the vertices that come out behind refinement already.
        for values in [&mut self.wetness, &mut self.flesh_room] {
            spread(values, ancestry);
        }
        spread(&mut self.flesh_offset, ancestry);
    }
}

/// Adds the values of new vertices to those of the coarse ones.
pub(super) fn spread<T: super::Mix>(values: &mut Vec<T>, ancestry: &Ancestry) {
    // Nobody has said anything, or it was said about another mesh.
    if values.len() != ancestry.vertex_count {
        return;
    }
    for (corners, shares) in &ancestry.made_of {
        let mixed = T::mix(corners.map(|v| values[v as usize]), *shares);
        values.push(mixed);
    }
}

/// A named per-element array carried to the exporters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attribute {
    /// Name as other programs will see it.
    pub name: String,
    /// One value per vertex, point or curve.
    pub values: AttributeValues,
}

/// The values of an [`Attribute`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AttributeValues {
    /// One number each.
    Scalar(Vec<f32>),
    /// One vector each.
    Vector(Vec<Vec3>),
    /// One linear RGB colour each.
    Color(Vec<Vec3>),
}

impl AttributeValues {
    /// Adds the values of the vertices that refinement makes.
    pub fn refine(&mut self, ancestry: &Ancestry) {
        match self {
            Self::Scalar(values) => spread(values, ancestry),
            Self::Vector(values) | Self::Color(values) => spread(values, ancestry),
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Scalar(v) => v.len(),
            Self::Vector(v) | Self::Color(v) => v.len(),
        }
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Mesh {
    /// A mesh of one material from positions and triangles.
    #[must_use]
    pub fn new(name: &str, positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        let topology = MeshTopology {
            vertex_count: positions.len(),
            triangles,
            materials: vec![Material::default()],
            ..MeshTopology::default()
        };
        Self { name: name.to_owned(), topology: Arc::new(topology), positions, ..Self::default() }
    }

    /// Sets or replaces a scalar attribute, reusing its storage; the closure fills `values`, which
    /// arrive with one zero per vertex.
    pub fn set_scalar(&mut self, name: &str, fill: impl FnOnce(&mut [f32])) {
        let count = self.positions.len();
        let values = self.values_of(name);
        if !matches!(values, AttributeValues::Scalar(_)) {
            *values = AttributeValues::Scalar(Vec::new());
        }
        if let AttributeValues::Scalar(values) = values {
            values.clear();
            values.resize(count, 0.0);
            fill(values);
        }
    }

    /// Sets or replaces a vector attribute, reusing its storage; as [`Mesh::set_scalar`].
    pub fn set_vector(&mut self, name: &str, fill: impl FnOnce(&mut [Vec3])) {
        self.update_vector(name, |values| {
            values.fill(Vec3::ZERO);
            fill(values);
        });
    }

    /// Changes some values of a vector attribute; those that are not there yet are zero.
    pub fn update_vector(&mut self, name: &str, change: impl FnOnce(&mut [Vec3])) {
        let count = self.positions.len();
        let values = self.values_of(name);
        if !matches!(values, AttributeValues::Vector(_)) {
            *values = AttributeValues::Vector(Vec::new());
        }
        if let AttributeValues::Vector(values) = values {
            // No `clear`: the values of the vertices that are there are what is changed.
            values.resize(count, Vec3::ZERO);
            change(values);
        }
    }

    /// The values of an attribute, made if it is not there.
    fn values_of(&mut self, name: &str) -> &mut AttributeValues {
        let index = self.attributes.iter().position(|a| a.name == name).unwrap_or_else(|| {
            // Of any kind: the callers replace it where they want another.
            let values = AttributeValues::Scalar(Vec::new());
            self.attributes.push(Attribute { name: name.to_owned(), values });
            self.attributes.len() - 1
        });
        &mut self.attributes[index].values
    }

    /// The scalar attribute of that name.
    #[must_use]
    pub fn scalar(&self, name: &str) -> Option<&[f32]> {
        self.attributes.iter().find(|a| a.name == name).and_then(|a| match &a.values {
            AttributeValues::Scalar(values) => Some(values.as_slice()),
            _ => None,
        })
    }

    /// Axis-aligned box of the positions.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds::of(&self.positions)
    }

    /// Area of the triangles [m²].
    #[must_use]
    pub fn area(&self) -> f64 {
        let of = |t: &[u32; 3]| {
            // f64: a hundred thousand small areas summed in f32 lose their last ones.
            let [a, b, c] = t.map(|v| self.positions[v as usize].as_dvec3());
            0.5 * (b - a).cross(c - a).length()
        };
        self.topology.triangles.iter().map(of).sum()
    }

    /// Volume that a closed mesh encloses [m³]; negative where it is inside out.
    #[must_use]
    pub fn volume(&self) -> f64 {
        // Tetrahedra from a point of its own: from a far origin large parts would cancel.
        let Some(origin) = self.positions.first().map(|p| p.as_dvec3()) else { return 0.0 };
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| self.positions[v as usize].as_dvec3() - origin);
            a.dot(b.cross(c)) / 6.0
        };
        self.topology.triangles.iter().map(of).sum()
    }
}

/// An axis-aligned box; empty when `min > max`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Lowest corner [m].
    pub min: Vec3,
    /// Highest corner [m].
    pub max: Vec3,
}

impl Default for Bounds {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Bounds {
    /// The box of nothing.
    pub const EMPTY: Self =
        Self { min: Vec3::splat(f32::INFINITY), max: Vec3::splat(f32::NEG_INFINITY) };

    /// The box of some points.
    #[must_use]
    pub fn of(points: &[Vec3]) -> Self {
        points.iter().fold(Self::EMPTY, |b, &p| b.including(p))
    }

    /// This box grown to hold a point.
    #[must_use]
    pub fn including(self, p: Vec3) -> Self {
        Self { min: self.min.min(p), max: self.max.max(p) }
    }

    /// The box of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// This box grown by a margin on every side.
    #[must_use]
    pub fn grown(self, margin: f32) -> Self {
        Self { min: self.min - Vec3::splat(margin), max: self.max + Vec3::splat(margin) }
    }

    /// What two boxes share.
    #[must_use]
    pub fn shared_with(self, other: Self) -> Self {
        let shared = Self { min: self.min.max(other.min), max: self.max.min(other.max) };
        if self.overlaps(&other) { shared } else { Self::EMPTY }
    }

    /// Whether two boxes share a point.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// Whether nothing is inside.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        // One axis is enough: boxes are empty along all three or none.
        self.min.x > self.max.x
    }

    /// Middle; zero when empty.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        if self.is_empty() { Vec3::ZERO } else { 0.5 * (self.min + self.max) }
    }

    /// Length of the diagonal [m]; zero when empty.
    #[must_use]
    pub fn diagonal(&self) -> f32 {
        if self.is_empty() { 0.0 } else { (self.max - self.min).length() }
    }
}
