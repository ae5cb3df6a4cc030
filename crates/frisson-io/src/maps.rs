//! Normal and height maps of a folded mesh: the same wrinkles for engines that cannot afford the
//! triangles.
//!
//! The layers that fold leave two attributes on the mesh: how far each vertex was raised, and along
//! which direction. Taking that away gives the smooth surface; the gradient of the height on it,
//! seen in the frame of the texture coordinates, gives the tangent-space normal.

use std::io::Write;
use std::path::Path;

use frisson::geometry::{Attribute, AttributeValues, Mesh, Topology};
use glam::{Vec2, Vec3};
use thiserror::Error;

use crate::export::{ExportError, PendingFile, WrittenFile};

/// Pixels by which charts grow over their borders, so that filtering at seams finds no empty ones.
const PADDING: usize = 4;

/// Sizes of maps that make sense [pixels a side]: less shows no fold, more fills gigabytes.
const SIZES: std::ops::RangeInclusive<usize> = 16..=16384;

/// How far outside of a triangle a pixel's centre still belongs to it [-]: rounding must not leave holes
/// along the edge that two triangles share.
const BESIDE_TRIANGLE: f32 = 1e-4;

/// Twice the area from which a triangle, or its place in the texture, has directions [m², texture²]:
/// what is left of coordinates that are equal but for rounding.
const LEAST_TWICE_AREA: f32 = 1e-20;

/// Why there is no map.
#[derive(Debug, Error)]
pub enum MapError {
    /// The mesh was not folded, or its heights were not kept.
    #[error("{0:?} has no fold heights: set `attributes = true` in the wrinkles or folds layer")]
    NoHeights(String),
    /// The mesh has no texture coordinates.
    #[error("{0:?} has no texture coordinates")]
    NoUvs(String),
    /// A size that makes no image.
    #[error("maps of {0} pixels a side: give 16 to 16384")]
    BadSize(usize),
    /// The picture cannot be written.
    #[error(transparent)]
    Export(#[from] ExportError),
}

/// Maps of one mesh in one frame, row by row from the top (v = 0).
#[derive(Clone, Debug, PartialEq)]
pub struct FoldMaps {
    /// Pixels a side.
    pub size: usize,
    /// Height [m]; 0 outside of the charts.
    pub heights: Vec<f32>,
    /// Unit normals in tangent space: x along u, y against v, z out of the surface.
    pub normals: Vec<Vec3>,
    /// Greatest height or depth [m].
    pub range: f32,
}

impl FoldMaps {
    /// Computes the maps.
    pub fn new(mesh: &Mesh, size: usize) -> Result<Self, MapError> {
        if !SIZES.contains(&size) {
            return Err(MapError::BadSize(size));
        }
        if mesh.topology.uvs.len() != mesh.positions.len() {
            return Err(MapError::NoUvs(mesh.name.clone()));
        }
        let fold = FoldedMesh::new(mesh).ok_or_else(|| MapError::NoHeights(mesh.name.clone()))?;
        let mut maps = Self {
            size,
            heights: vec![0.0; size * size],
            normals: vec![Vec3::Z; size * size],
            range: fold.heights.iter().fold(0.0f32, |m, h| m.max(h.abs())),
        };
        let mut filled = vec![false; size * size];
        for &triangle in &mesh.topology.triangles {
            maps.draw(&fold, mesh, triangle, &mut filled);
        }
        // One pixel a pass, each from those that were filled before it.
        for _ in 0..PADDING {
            maps.grow(&mut filled);
        }
        Ok(maps)
    }

    fn draw(&mut self, fold: &FoldedMesh, mesh: &Mesh, triangle: [u32; 3], filled: &mut [bool]) {
        let corners = triangle.map(|v| v as usize);
        let uv = corners.map(|v| mesh.topology.uvs[v] * self.size as f32);
        let Some([tangent, up]) = fold.texture_frame(mesh, corners) else { return };
        let (a, b) = (uv[1] - uv[0], uv[2] - uv[0]);
        let area = a.perp_dot(b);
        let low = uv[0].min(uv[1]).min(uv[2]).floor().max(Vec2::ZERO);
        let high = uv[0].max(uv[1]).max(uv[2]).ceil().min(Vec2::splat(self.size as f32));
        for y in low.y as usize..high.y as usize {
            for x in low.x as usize..high.x as usize {
                let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - uv[0];
                let (v, w) = (p.perp_dot(b) / area, a.perp_dot(p) / area);
                let weights = [1.0 - v - w, v, w];
                if weights.iter().any(|&k| k < -BESIDE_TRIANGLE) {
                    continue;
                }
                let mix = |k: usize| weights[k];
                let height = (0..3).map(|k| mix(k) * fold.heights[corners[k]]).sum();
                let slope: Vec3 = (0..3).map(|k| mix(k) * fold.slopes[corners[k]]).sum();
                // The normal of a height field: minus its slopes, and one.
                let normal = Vec3::new(-slope.dot(tangent), -slope.dot(up), 1.0).normalize();
                let pixel = y * self.size + x;
                self.heights[pixel] = height;
                self.normals[pixel] = normal;
                filled[pixel] = true;
            }
        }
    }

    /// Gives empty pixels the mean of their filled neighbours.
    fn grow(&mut self, filled: &mut [bool]) {
        let size = self.size;
        let before = filled.to_vec();
        for pixel in (0..size * size).filter(|&p| !before[p]) {
            let (x, y) = (pixel % size, pixel / size);
            let (mut height, mut normal, mut count) = (0.0, Vec3::ZERO, 0u32);
            for ny in y.saturating_sub(1)..=(y + 1).min(size - 1) {
                for nx in x.saturating_sub(1)..=(x + 1).min(size - 1) {
                    let other = ny * size + nx;
                    if before[other] {
                        height += self.heights[other];
                        normal += self.normals[other];
                        count += 1;
                    }
                }
            }
            if count > 0 {
                self.heights[pixel] = height / count as f32;
                self.normals[pixel] = normal.normalize_or(Vec3::Z);
                filled[pixel] = true;
            }
        }
    }

    /// Writes `NAME.normal.png` (16-bit RGB) and `NAME.height.png` (16-bit grey; the middle is no
    /// height, white is `range`).
    pub fn write(&self, name: &Path, overwrite: bool) -> Result<Vec<WrittenFile>, MapError> {
        let sixteen = |value: f32| ((value.clamp(0.0, 1.0) * 65535.0).round() as u16).to_be_bytes();
        let normals: Vec<u8> = self
            .normals
            .iter()
            .flat_map(|n| n.to_array())
            .flat_map(|c| sixteen(0.5 + 0.5 * c))
            .collect();
        let scale = 0.5 / self.range.max(f32::MIN_POSITIVE);
        let heights: Vec<u8> = self.heights.iter().flat_map(|h| sixteen(0.5 + scale * h)).collect();
        let note = format!("height of white above mid-grey: {} m", self.range);
        let pictures = [
            Picture { kind: "normal", color: png::ColorType::Rgb, data: &normals, note: None },
            Picture {
                kind: "height",
                color: png::ColorType::Grayscale,
                data: &heights,
                note: Some(&note),
            },
        ];
        pictures.iter().map(|p| p.write(self.size as u32, name, overwrite)).collect()
    }
}

/// One map as it is written: 16 bits a channel, the high byte first.
struct Picture<'a> {
    /// What the file's name says before `.png`.
    kind: &'a str,
    color: png::ColorType,
    data: &'a [u8],
    /// What a program needs to know to use it.
    note: Option<&'a str>,
}

impl Picture<'_> {
    fn write(&self, size: u32, name: &Path, overwrite: bool) -> Result<WrittenFile, MapError> {
        let path = name.with_extension(format!("{}.png", self.kind));
        let bytes =
            self.encode(size).map_err(|e| ExportError::at(&path, std::io::Error::other(e)))?;
        let mut file = PendingFile::create(&path, overwrite)?;
        file.write_all(&bytes).map_err(|e| ExportError::at(&path, e))?;
        Ok(file.finish()?)
    }

    fn encode(&self, size: u32) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, size, size);
        encoder.set_color(self.color);
        encoder.set_depth(png::BitDepth::Sixteen);
        if let Some(note) = self.note {
            encoder.add_text_chunk("Comment".to_owned(), note.to_owned())?;
        }
        encoder.write_header()?.write_image_data(self.data)?;
        Ok(bytes)
    }
}

/// A folded mesh taken apart: the smooth surface, the heights on it and their slopes.
struct FoldedMesh {
    base: Vec<Vec3>,
    heights: Vec<f32>,
    /// Gradient of the height along the surface [-].
    slopes: Vec<Vec3>,
}

impl FoldedMesh {
    fn new(mesh: &Mesh) -> Option<Self> {
        let find = |prefix: &str| {
            let heights = mesh.scalar(&format!("{prefix}_height"))?;
            let directions = vector(&mesh.attributes, &format!("{prefix}_direction"))?;
            Some((heights, directions))
        };
        let (heights, directions) = find("wrinkle").or_else(|| find("fold"))?;
        let lowered = mesh.positions.iter().zip(heights).zip(directions);
        let base: Vec<Vec3> = lowered.map(|((&p, &h), &d)| p - h * d).collect();
        let slopes = slopes(&base, heights, &mesh.topology.triangles);
        Some(Self { base, heights: heights.to_vec(), slopes })
    }

    /// Unit directions along u and against v on the smooth triangle.
    fn texture_frame(&self, mesh: &Mesh, corners: [usize; 3]) -> Option<[Vec3; 2]> {
        let [p, q, r] = corners.map(|v| self.base[v]);
        let [a, b, c] = corners.map(|v| mesh.topology.uvs[v]);
        let (e1, e2, d1, d2) = (q - p, r - p, b - a, c - a);
        let area = d1.perp_dot(d2);
        if area.abs() < LEAST_TWICE_AREA {
            return None;
        }
        let tangent = ((e1 * d2.y - e2 * d1.y) / area).try_normalize()?;
        let down = ((e2 * d1.x - e1 * d2.x) / area).try_normalize()?;
        let up = (-down + tangent * tangent.dot(down)).try_normalize()?;
        Some([tangent, up])
    }
}

fn vector<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a [Vec3]> {
    attributes.iter().find(|a| a.name == name).and_then(|a| match &a.values {
        AttributeValues::Vector(values) => Some(values.as_slice()),
        _ => None,
    })
}

/// Area-weighted gradients of a height, welded across seams.
fn slopes(base: &[Vec3], heights: &[f32], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    // Welded on the smooth surface, where both sides of a seam lie together.
    let topology = Topology::build(base, triangles);
    let mut sums = vec![(Vec3::ZERO, 0.0f32); topology.point_count()];
    for (corners, points) in triangles.iter().zip(&topology.triangles) {
        let [p, q, r] = corners.map(|v| base[v as usize]);
        let [h0, h1, h2] = corners.map(|v| heights[v as usize]);
        let normal = (q - p).cross(r - p);
        let twice_area = normal.length();
        if twice_area <= LEAST_TWICE_AREA {
            continue;
        }
        let n = normal / twice_area;
        let gradient = n.cross((r - q) * h0 + (p - r) * h1 + (q - p) * h2) / twice_area;
        for &point in points {
            let sum = &mut sums[point as usize];
            sum.0 += twice_area * gradient;
            sum.1 += twice_area;
        }
    }
    let mean = |&point: &u32| {
        let (sum, area) = sums[point as usize];
        if area > 0.0 { sum / area } else { Vec3::ZERO }
    };
    topology.point_of_vertex.iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisson::geometry::MeshTopology;
    use std::sync::Arc;

    /// A unit square, u along x and v along z, raised by a wave along x; `turn` tilts it.
    fn wave(n: usize) -> Mesh {
        let at = |i: usize| (i % (n + 1)) as f32 / n as f32;
        let down = |i: usize| (i / (n + 1)) as f32 / n as f32;
        let count = (n + 1) * (n + 1);
        let height = |u: f32| 0.01 * (std::f32::consts::TAU * 2.0 * u).sin();
        let id = |x: usize, z: usize| (z * (n + 1) + x) as u32;
        let cell = |x: usize, z: usize| {
            let (a, b, c, d) = (id(x, z), id(x + 1, z), id(x + 1, z + 1), id(x, z + 1));
            [[a, d, c], [a, c, b]]
        };
        let triangles = (0..n).flat_map(|z| (0..n).flat_map(move |x| cell(x, z))).collect();
        let topology = MeshTopology {
            vertex_count: count,
            triangles,
            uvs: (0..count).map(|i| Vec2::new(at(i), down(i))).collect(),
            ..MeshTopology::default()
        };
        let mut mesh = Mesh {
            name: "wave".to_owned(),
            topology: Arc::new(topology),
            positions: (0..count).map(|i| Vec3::new(at(i), height(at(i)), down(i))).collect(),
            ..Mesh::default()
        };
        mesh.set_scalar("wrinkle_height", |values| {
            values.iter_mut().enumerate().for_each(|(i, h)| *h = height(at(i)));
        });
        mesh.attributes.push(Attribute {
            name: "wrinkle_direction".to_owned(),
            values: AttributeValues::Vector(vec![Vec3::Y; count]),
        });
        mesh
    }

    #[test]
    fn a_wave_has_the_normals_of_its_slope() {
        let maps = FoldMaps::new(&wave(64), 128).expect("maps");
        assert!((maps.range - 0.01).abs() < 1e-4);
        for x in [3, 20, 50, 77, 101] {
            let u = (x as f32 + 0.5) / 128.0;
            let k = std::f32::consts::TAU * 2.0;
            let want = Vec3::new(-0.01 * k * (k * u).cos(), 0.0, 1.0).normalize();
            let pixel = 64 * 128 + x;
            assert!(maps.normals[pixel].distance(want) < 0.01, "{x}: {}", maps.normals[pixel]);
            assert!((maps.heights[pixel] - 0.01 * (k * u).sin()).abs() < 2e-4);
        }
    }

    #[test]
    fn maps_are_written_and_read_back() {
        let folder = tempfile::tempdir().expect("folder");
        let name = folder.path().join("wave");
        let files = FoldMaps::new(&wave(8), 32).and_then(|m| m.write(&name, false)).expect("files");
        assert_eq!(files.len(), 2);
        let file = std::fs::File::open(&files[0].path).expect("normal map");
        let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("png");
        let mut data = vec![0; reader.output_buffer_size().expect("size")];
        let info = reader.next_frame(&mut data).expect("image");
        assert_eq!((info.width, info.bit_depth), (32, png::BitDepth::Sixteen));
        assert!(FoldMaps::new(&wave(8), 32).and_then(|m| m.write(&name, false)).is_err());
    }

    #[test]
    fn meshes_without_heights_or_uvs_are_named() {
        let plain = Mesh::new("plain", vec![Vec3::ZERO; 3], vec![[0, 1, 2]]);
        let error = FoldMaps::new(&plain, 64).expect_err("no uvs").to_string();
        assert!(error.contains("plain"), "{error}");
        let mut unfolded = wave(4);
        unfolded.attributes.clear();
        let error = FoldMaps::new(&unfolded, 64).expect_err("no heights").to_string();
        assert!(error.contains("attributes = true"), "{error}");
        assert!(FoldMaps::new(&wave(4), 1).is_err());
    }
}
