//! Trails as one mesh: the pieces of all strips, drawn back to their middle lines as they dry.

use std::sync::Arc;

use glam::{DVec2, Vec3};

use super::body::Bodies;
use super::surface::Surface;
use super::trail::Piece;
use crate::geometry::Mesh;
use crate::tolerances::drops::TRAIL_LIFT;

/// Pieces written one after the other.
const CHUNK: usize = 512;

/// What is needed to draw trails at one instant.
pub struct StripMesh<'a> {
    /// The surface.
    pub surface: &'a Surface,
    /// Normals of the surface.
    pub bodies: &'a Bodies,
    /// Time [s].
    pub time: f64,
}

/// Where pieces are written.
struct Out<'a> {
    positions: &'a mut [Vec3],
    normals: &'a mut [Vec3],
    triangles: &'a mut [[u32; 3]],
}

impl StripMesh<'_> {
    /// Writes all pieces.
    pub fn write(&self, pieces: &[Piece], mesh: &mut Mesh) {
        let corners = pieces.iter().map(|p| p.count as usize).sum();
        mesh.positions.resize(corners, Vec3::ZERO);
        mesh.normals.resize(corners, Vec3::ZERO);
        let topology = Arc::make_mut(&mut mesh.topology);
        topology.vertex_count = corners;
        topology.triangles.resize(corners - 2 * pieces.len(), [0; 3]);
        let (positions, normals) = (&mut mesh.positions[..], &mut mesh.normals[..]);
        let triangles = &mut topology.triangles[..];
        self.fill(pieces, 0, 0, Out { positions, normals, triangles });
    }

    /// Halved until they are few: no storage, any number of threads.
    fn fill(&self, pieces: &[Piece], first: usize, corner: usize, out: Out) {
        if pieces.len() > CHUNK {
            let (a, b) = pieces.split_at(pieces.len() / 2);
            let corners: usize = a.iter().map(|p| p.count as usize).sum();
            let (pa, pb) = out.positions.split_at_mut(corners);
            let (na, nb) = out.normals.split_at_mut(corners);
            let (ta, tb) = out.triangles.split_at_mut(corners - 2 * a.len());
            let one = Out { positions: pa, normals: na, triangles: ta };
            let two = Out { positions: pb, normals: nb, triangles: tb };
            rayon::join(
                || self.fill(a, first, corner, one),
                || self.fill(b, first + a.len(), corner + corners, two),
            );
            return;
        }
        let (mut at, mut triangle) = (0, 0);
        for (i, piece) in pieces.iter().enumerate() {
            let count = piece.count as usize;
            let range = at..at + count;
            let normals = &mut out.normals[range.clone()];
            self.draw(first + i, piece, &mut out.positions[range], normals);
            let start = (corner + at) as u32;
            for k in 1..count as u32 - 1 {
                let (b, c) = (start + k, start + k + 1);
                out.triangles[triangle] =
                    if piece.side > 0 { [start, b, c] } else { [start, c, b] };
                triangle += 1;
            }
            at += count;
        }
    }

    fn draw(&self, index: usize, piece: &Piece, positions: &mut [Vec3], normals: &mut [Vec3]) {
        let facet = &self.surface.facets[piece.triangle as usize];
        let weights = |c: [f32; 2]| DVec2::new(f64::from(c[0]), f64::from(c[1]));
        let age = (self.time - piece.born) / f64::from(piece.drying);
        let left = (-age).exp();
        // Strips that lie on each other lie at slightly different heights.
        let lift = TRAIL_LIFT * (1.0 + (index % 7) as f32 / 7.0) + piece.thickness * left as f32;
        let [a, b] = piece.axis.map(|c| facet.flat(weights(c)));
        let along = (b - a).normalize_or_zero();
        let width = (1.4 * left).min(1.0);
        let outward = self.bodies.normals_on(self.surface, piece.triangle, piece.side);
        for (i, c) in piece.corners[..piece.count as usize].iter().enumerate() {
            let corner = weights(*c);
            let x = facet.flat(corner);
            let middle = a + along * along.dot(x - a);
            let normal = outward.at(c[0], c[1]);
            positions[i] = facet.point(middle + (x - middle) * width).as_vec3() + normal * lift;
            normals[i] = normal;
        }
    }
}
