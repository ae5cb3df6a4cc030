//! One frame as bytes, exactly.
//!
//! ```text
//! length of head:u32 │ head (postcard: names, counts, which arrays there are) │ array │ array │ …
//! ```
//! Arrays are written component by component (all x, then all y, …) as differences of neighbouring
//! bit patterns, split into four planes of equal bytes: vertices that are neighbours in the file are
//! neighbours in space, so that the high planes are nearly constant and LZ4 finds them. Every bit
//! comes back.

use std::sync::Arc;

use frisson::geometry::{Attribute, AttributeValues, Mesh, MeshTopology};
use frisson::stage::{Curves, Frame, Image, Points};
use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
struct FrameHead {
    index: i64,
    time: f64,
    meshes: Vec<MeshHead>,
    curves: Vec<CurvesHead>,
    points: Vec<PointsHead>,
    images: Vec<ImageHead>,
}

#[derive(Serialize, Deserialize)]
struct MeshHead {
    name: String,
    topology: u32,
    positions: u32,
    normals: u32,
    velocities: u32,
    attributes: Vec<AttributeHead>,
}

#[derive(Serialize, Deserialize)]
struct CurvesHead {
    name: String,
    color: [f32; 3],
    counts: u32,
    points: u32,
    widths: u32,
    ids: u32,
    root_uvs: u32,
    velocities: u32,
    attributes: Vec<AttributeHead>,
}

#[derive(Serialize, Deserialize)]
struct ImageHead {
    name: String,
    mesh: String,
    width: u32,
    height: u32,
}

#[derive(Serialize, Deserialize)]
struct PointsHead {
    name: String,
    positions: u32,
    widths: u32,
    ids: u32,
    velocities: u32,
    attributes: Vec<AttributeHead>,
}

#[derive(Serialize, Deserialize)]
struct AttributeHead {
    name: String,
    kind: AttributeKind,
    count: u32,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
enum AttributeKind {
    Scalar,
    Vector,
    Color,
}

fn len32<T>(items: &[T]) -> u32 {
    items.len() as u32
}

/// Buffers kept from frame to frame.
#[derive(Default)]
pub struct Scratch {
    words: Vec<u32>,
}

/// Encodes a frame into `out`; `topologies` gives the number of each mesh's topology.
pub fn encode_frame(
    frame: &Frame,
    topologies: &[u32],
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<(), postcard::Error> {
    let head = FrameHead {
        index: frame.index,
        time: frame.time,
        meshes: frame.meshes.iter().zip(topologies).map(|(m, &t)| mesh_head(m, t)).collect(),
        curves: frame.curves.iter().map(curves_head).collect(),
        points: frame.points.iter().map(points_head).collect(),
        images: frame.images.iter().map(image_head).collect(),
    };
    let head = postcard::to_stdvec(&head)?;
    out.clear();
    out.extend_from_slice(&(head.len() as u32).to_le_bytes());
    out.extend_from_slice(&head);
    // The order here is the format; `decode_frame` reads in the same.
    let mut body = Encoder { words: &mut scratch.words, out };
    for mesh in &frame.meshes {
        body.vectors(&mesh.positions);
        body.vectors(&mesh.normals);
        body.vectors(&mesh.velocities);
        body.attributes(&mesh.attributes);
    }
    for curves in &frame.curves {
        body.array(&curves.counts, 1, |&c, _| c);
        body.vectors(&curves.points);
        body.scalars(&curves.widths);
        body.ids(&curves.ids);
        body.array(&curves.root_uvs, 2, |uv: &Vec2, c| uv[c].to_bits());
        body.vectors(&curves.velocities);
        body.attributes(&curves.attributes);
    }
    for points in &frame.points {
        body.vectors(&points.positions);
        body.scalars(&points.widths);
        body.ids(&points.ids);
        body.vectors(&points.velocities);
        body.attributes(&points.attributes);
    }
    for image in &frame.images {
        let (pixels, _) = image.texture.rgba.as_chunks::<4>();
        body.array(pixels, 1, |&pixel, _| u32::from_le_bytes(pixel));
    }
    Ok(())
}

fn image_head(image: &Image) -> ImageHead {
    let (width, height) = (image.texture.width, image.texture.height);
    ImageHead { name: image.name.clone(), mesh: image.mesh.clone(), width, height }
}

fn mesh_head(mesh: &Mesh, topology: u32) -> MeshHead {
    MeshHead {
        name: mesh.name.clone(),
        topology,
        positions: len32(&mesh.positions),
        normals: len32(&mesh.normals),
        velocities: len32(&mesh.velocities),
        attributes: attribute_heads(&mesh.attributes),
    }
}

fn curves_head(curves: &Curves) -> CurvesHead {
    CurvesHead {
        name: curves.name.clone(),
        color: curves.color.to_array(),
        counts: len32(&curves.counts),
        points: len32(&curves.points),
        widths: len32(&curves.widths),
        ids: len32(&curves.ids),
        root_uvs: len32(&curves.root_uvs),
        velocities: len32(&curves.velocities),
        attributes: attribute_heads(&curves.attributes),
    }
}

fn points_head(points: &Points) -> PointsHead {
    PointsHead {
        name: points.name.clone(),
        positions: len32(&points.positions),
        widths: len32(&points.widths),
        ids: len32(&points.ids),
        velocities: len32(&points.velocities),
        attributes: attribute_heads(&points.attributes),
    }
}

fn attribute_heads(attributes: &[Attribute]) -> Vec<AttributeHead> {
    let head = |a: &Attribute| AttributeHead {
        name: a.name.clone(),
        kind: match a.values {
            AttributeValues::Scalar(_) => AttributeKind::Scalar,
            AttributeValues::Vector(_) => AttributeKind::Vector,
            AttributeValues::Color(_) => AttributeKind::Color,
        },
        count: a.values.len() as u32,
    };
    attributes.iter().map(head).collect()
}

struct Encoder<'a> {
    words: &'a mut Vec<u32>,
    out: &'a mut Vec<u8>,
}

impl Encoder<'_> {
    fn array<T>(&mut self, items: &[T], width: usize, word: impl Fn(&T, usize) -> u32) {
        self.words.clear();
        for component in 0..width {
            let mut last = 0u32;
            for item in items {
                let bits = word(item, component);
                // Bit patterns, not values: every number comes back, NaN and minus zero included.
                self.words.push(zigzag(bits.wrapping_sub(last)));
                last = bits;
            }
        }
        // All lowest bytes, then all next ones: what changes little stands together.
        for plane in 0..4 {
            self.out.extend(self.words.iter().map(|w| (w >> (8 * plane)) as u8));
        }
    }

    fn vectors(&mut self, items: &[Vec3]) {
        self.array(items, 3, |v, c| v[c].to_bits());
    }

    fn scalars(&mut self, items: &[f32]) {
        self.array(items, 1, |v, _| v.to_bits());
    }

    fn ids(&mut self, items: &[u64]) {
        self.array(items, 2, |id, c| (id >> (32 * c)) as u32);
    }

    fn attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            match &attribute.values {
                AttributeValues::Scalar(v) => self.scalars(v),
                AttributeValues::Vector(v) | AttributeValues::Color(v) => self.vectors(v),
            }
        }
    }
}

/// Small differences of either sign become small numbers.
fn zigzag(difference: u32) -> u32 {
    // -1 becomes 1, 1 becomes 2: the upper planes stay zero for either sign.
    (difference << 1) ^ (((difference as i32) >> 31) as u32)
}

fn unzigzag(word: u32) -> u32 {
    (word >> 1) ^ (word & 1).wrapping_neg()
}

/// Decodes a frame into `out`, reusing its storage; `topology` gives the topology of a number.
pub fn decode_frame(
    bytes: &[u8],
    out: &mut Frame,
    mut topology: impl FnMut(u32) -> Result<Arc<MeshTopology>, String>,
) -> Result<(), String> {
    let short = || "it is shorter than it says".to_owned();
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(short)?;
    let length = u32::from_le_bytes(*length) as usize;
    let (head, body) = rest.split_at_checked(length).ok_or_else(short)?;
    let head: FrameHead = postcard::from_bytes(head).map_err(|e| e.to_string())?;
    let mut body = Decoder { rest: body };
    out.index = head.index;
    out.time = head.time;
    resize(&mut out.meshes, head.meshes.len());
    for (head, mesh) in head.meshes.iter().zip(&mut out.meshes) {
        mesh.topology = topology(head.topology)?;
        // Before anything is read: triangles index positions without looking.
        if mesh.topology.vertex_count != head.positions as usize {
            return Err(format!("mesh {:?} does not fit its topology", head.name));
        }
        mesh.name.clone_from(&head.name);
        body.vectors(head.positions, &mut mesh.positions)?;
        body.vectors(head.normals, &mut mesh.normals)?;
        body.vectors(head.velocities, &mut mesh.velocities)?;
        body.attributes(&head.attributes, &mut mesh.attributes)?;
    }
    resize(&mut out.curves, head.curves.len());
    for (head, curves) in head.curves.iter().zip(&mut out.curves) {
        decode_curves(head, &mut body, curves)?;
    }
    resize(&mut out.points, head.points.len());
    for (head, points) in head.points.iter().zip(&mut out.points) {
        points.name.clone_from(&head.name);
        body.vectors(head.positions, &mut points.positions)?;
        body.scalars(head.widths, &mut points.widths)?;
        body.ids(head.ids, &mut points.ids)?;
        body.vectors(head.velocities, &mut points.velocities)?;
        body.attributes(&head.attributes, &mut points.attributes)?;
    }
    resize(&mut out.images, head.images.len());
    for (head, image) in head.images.iter().zip(&mut out.images) {
        decode_image(head, &mut body, image)?;
    }
    // Checked against its checksum, but a later version may have written it: what is not understood is refused.
    if body.rest.is_empty() { Ok(()) } else { Err("it is longer than it says".to_owned()) }
}

fn decode_curves(head: &CurvesHead, body: &mut Decoder, curves: &mut Curves) -> Result<(), String> {
    curves.name.clone_from(&head.name);
    curves.color = Vec3::from_array(head.color);
    body.array(head.counts, &mut curves.counts, |w: [u32; 1]| w[0])?;
    body.vectors(head.points, &mut curves.points)?;
    body.scalars(head.widths, &mut curves.widths)?;
    body.ids(head.ids, &mut curves.ids)?;
    body.array(head.root_uvs, &mut curves.root_uvs, |w: [u32; 2]| {
        Vec2::from_array(w.map(f32::from_bits))
    })?;
    body.vectors(head.velocities, &mut curves.velocities)?;
    let sum: u64 = curves.counts.iter().map(|&c| u64::from(c)).sum();
    // Whoever walks over curves cuts their points by these counts.
    if sum != u64::from(head.points) {
        return Err(format!("curves {:?} do not add up", head.name));
    }
    body.attributes(&head.attributes, &mut curves.attributes)
}

fn decode_image(head: &ImageHead, body: &mut Decoder, image: &mut Image) -> Result<(), String> {
    image.name.clone_from(&head.name);
    image.mesh.clone_from(&head.mesh);
    // Both come from the file.
    let count = head.width.checked_mul(head.height);
    let count = count.ok_or_else(|| format!("image {:?} is too large", head.name))?;
    let mut pixels: Vec<[u8; 4]> = Vec::new();
    body.array(count, &mut pixels, |w: [u32; 1]| w[0].to_le_bytes())?;
    // In place where nobody else holds the picture of the frame before.
    let texture = Arc::make_mut(&mut image.texture);
    texture.width = head.width;
    texture.height = head.height;
    texture.rgba.clear();
    texture.rgba.extend_from_slice(pixels.as_flattened());
    Ok(())
}

fn resize<T: Default>(items: &mut Vec<T>, count: usize) {
    items.resize_with(count, T::default);
}

struct Decoder<'a> {
    rest: &'a [u8],
}

impl Decoder<'_> {
    fn array<T, const W: usize>(
        &mut self,
        count: u32,
        out: &mut Vec<T>,
        make: impl Fn([u32; W]) -> T,
    ) -> Result<(), String> {
        let count = count as usize;
        // Saturated, a count that no memory holds asks for more than is there.
        let words = count.saturating_mul(W);
        let (bytes, rest) = self
            .rest
            .split_at_checked(words.saturating_mul(4))
            .ok_or_else(|| "it is shorter than it says".to_owned())?;
        self.rest = rest;
        let planes: [&[u8]; 4] = std::array::from_fn(|p| &bytes[p * words..(p + 1) * words]);
        let mut last = [0u32; W];
        out.clear();
        out.extend((0..count).map(|i| {
            for (component, last) in last.iter_mut().enumerate() {
                let at = component * count + i;
                let word = u32::from_le_bytes(planes.map(|p| p[at]));
                *last = last.wrapping_add(unzigzag(word));
            }
            make(last)
        }));
        Ok(())
    }

    fn vectors(&mut self, count: u32, out: &mut Vec<Vec3>) -> Result<(), String> {
        self.array(count, out, |w: [u32; 3]| Vec3::from_array(w.map(f32::from_bits)))
    }

    fn scalars(&mut self, count: u32, out: &mut Vec<f32>) -> Result<(), String> {
        self.array(count, out, |w: [u32; 1]| f32::from_bits(w[0]))
    }

    fn ids(&mut self, count: u32, out: &mut Vec<u64>) -> Result<(), String> {
        self.array(count, out, |w: [u32; 2]| u64::from(w[0]) | u64::from(w[1]) << 32)
    }

    fn attributes(
        &mut self,
        heads: &[AttributeHead],
        out: &mut Vec<Attribute>,
    ) -> Result<(), String> {
        // Attributes that were there in the frame before keep their storage.
        out.truncate(heads.len());
        while out.len() < heads.len() {
            let values = AttributeValues::Scalar(Vec::new());
            out.push(Attribute { name: String::new(), values });
        }
        for (head, attribute) in heads.iter().zip(out) {
            attribute.name.clone_from(&head.name);
            let values = &mut attribute.values;
            match (head.kind, &mut *values) {
                (AttributeKind::Scalar, AttributeValues::Scalar(v)) => {
                    self.scalars(head.count, v)?;
                }
                (AttributeKind::Vector, AttributeValues::Vector(v))
                | (AttributeKind::Color, AttributeValues::Color(v)) => {
                    self.vectors(head.count, v)?;
                }
                (AttributeKind::Scalar, _) => {
                    let mut v = Vec::new();
                    self.scalars(head.count, &mut v)?;
                    *values = AttributeValues::Scalar(v);
                }
                (kind, _) => {
                    let mut v = Vec::new();
                    self.vectors(head.count, &mut v)?;
                    *values = if kind == AttributeKind::Vector {
                        AttributeValues::Vector(v)
                    } else {
                        AttributeValues::Color(v)
                    };
                }
            }
        }
        Ok(())
    }
}
