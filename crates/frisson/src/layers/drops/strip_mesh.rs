//! Trails as one mesh: the pieces of all strips, drawn back to their middle lines as they dry.
//!
//! A strip draws back in small steps, so that on ground that stays in place a frame draws only the new
//! pieces, those whose step has come, and those that drops are still drawing.

use std::sync::Arc;

use glam::Vec3;

use super::body::Bodies;
use super::surface::Surface;
use super::trail::Piece;
use crate::geometry::Mesh;
use crate::tolerances::drops::{DRY_AFTER, DRYING_STEPS, TRAIL_LIFT};

/// Pieces written one after the other.
const CHUNK: usize = 256;

/// Heights that strips which lie on each other are spread over.
const LAYERS: u32 = 7;

/// What pieces are drawn on.
pub struct StripGround<'a> {
    /// The surface.
    pub surface: &'a Surface,
    /// Normals of the surface.
    pub bodies: &'a Bodies,
}

/// The mesh of the frame before, as far as it can be kept.
#[derive(Default)]
pub struct StripMesh {
    /// First corner of each piece that is shown, and the end.
    starts: Vec<u32>,
    /// When each piece changes next [s].
    due: Vec<f64>,
    /// Number of pieces that last from frame to frame.
    kept: usize,
    /// How often pieces had gone or moved by then.
    swept: u64,
}

/// Where pieces are written.
struct Out<'a> {
    positions: &'a mut [Vec3],
    normals: &'a mut [Vec3],
    triangles: &'a mut [[u32; 3]],
    due: &'a mut [f64],
}

impl<'a> Out<'a> {
    fn split(self, pieces: usize, corners: usize) -> (Self, Self) {
        let (pa, pb) = self.positions.split_at_mut(corners);
        let (na, nb) = self.normals.split_at_mut(corners);
        let (ta, tb) = self.triangles.split_at_mut(corners - 2 * pieces);
        let (da, db) = self.due.split_at_mut(pieces);
        (
            Self { positions: pa, normals: na, triangles: ta, due: da },
            Self { positions: pb, normals: nb, triangles: tb, due: db },
        )
    }
}

impl StripMesh {
    /// Pieces have gone, or others have come in their place.
    pub fn forget(&mut self) {
        self.kept = 0;
        self.due.clear();
        self.starts.clear();
    }

    /// Forgets the frame before if pieces have gone or moved since.
    pub fn expect(&mut self, swept: u64) {
        if self.swept != swept {
            self.forget();
            self.swept = swept;
        }
    }

    /// Writes all pieces: those that last, then those still being drawn.
    pub fn write(
        &mut self,
        ground: &StripGround,
        time: f64,
        pieces: &[Piece],
        open: &[Vec<Piece>],
        mesh: &mut Mesh,
    ) {
        let shown = self.starts.last().map_or(0, |s| *s as usize);
        if mesh.positions.len() != shown || pieces.len() < self.kept {
            // Somebody else has written into the mesh, or pieces have gone: all of it is drawn anew.
            self.forget();
        }
        self.starts.truncate(self.kept);
        let mut corner = self.starts.last().map_or(0, |s| *s)
            + self.kept.checked_sub(1).map_or(0, |last| u32::from(pieces[last].count));
        for piece in pieces[self.kept..].iter().chain(open.iter().flatten()) {
            self.starts.push(corner);
            corner += u32::from(piece.count);
        }
        self.starts.push(corner);
        let count = self.starts.len() - 1;
        self.due.truncate(self.kept);
        self.due.resize(count, f64::NEG_INFINITY);
        let corners = corner as usize;
        mesh.positions.resize(corners, Vec3::ZERO);
        mesh.normals.resize(corners, Vec3::ZERO);
        let topology = Arc::make_mut(&mut mesh.topology);
        topology.vertex_count = corners;
        topology.triangles.resize(corners - 2 * count, [0; 3]);
        let out = Out {
            positions: &mut mesh.positions,
            normals: &mut mesh.normals,
            triangles: &mut topology.triangles,
            due: &mut self.due,
        };
        let pass = Pass { ground, time, starts: &self.starts };
        let (lasting, drawing) = out.split(pieces.len(), self.starts[pieces.len()] as usize);
        pass.fill(pieces, 0, lasting);
        pass.fill_lists(open, pieces.len(), drawing);
        self.kept = pieces.len();
    }
}

/// One frame's writing.
struct Pass<'a> {
    ground: &'a StripGround<'a>,
    time: f64,
    starts: &'a [u32],
}

impl Pass<'_> {
    /// Halved until they are few: no storage, any number of threads.
    fn fill(&self, pieces: &[Piece], first: usize, out: Out) {
        if pieces.len() > CHUNK {
            let middle = pieces.len() / 2;
            let (a, b) = pieces.split_at(middle);
            let corners = (self.starts[first + middle] - self.starts[first]) as usize;
            let (one, two) = out.split(middle, corners);
            rayon::join(|| self.fill(a, first, one), || self.fill(b, first + middle, two));
            return;
        }
        let base = self.starts[first];
        for (i, piece) in pieces.iter().enumerate() {
            // As it was in the frame before: on still ground most pieces are.
            if out.due[i] > self.time {
                continue;
            }
            let (start, end) = (self.starts[first + i], self.starts[first + i + 1]);
            let range = (start - base) as usize..(end - base) as usize;
            if out.due[i] == f64::NEG_INFINITY {
                connect(piece, start, &mut out.triangles[range.start - 2 * i..]);
            }
            let normals = &mut out.normals[range.clone()];
            out.due[i] = self.draw(piece, &mut out.positions[range], normals);
        }
    }

    /// The same for several lists.
    fn fill_lists(&self, lists: &[Vec<Piece>], first: usize, out: Out) {
        if let [list] = lists {
            return self.fill(list, first, out);
        }
        let (a, b) = lists.split_at(lists.len() / 2);
        let pieces = a.iter().map(Vec::len).sum();
        let corners = (self.starts[first + pieces] - self.starts[first]) as usize;
        let (one, two) = out.split(pieces, corners);
        if !b.is_empty() {
            rayon::join(
                || self.fill_lists(a, first, one),
                || self.fill_lists(b, first + pieces, two),
            );
        }
    }

    /// Draws a piece as dry as it is; returns when it changes next.
    fn draw(&self, piece: &Piece, positions: &mut [Vec3], normals: &mut [Vec3]) -> f64 {
        let StripGround { surface, bodies } = self.ground;
        let [origin, u, v] =
            surface.triangles[piece.triangle as usize].map(|p| surface.points[p as usize]);
        let (u, v) = ((u - origin).as_vec3(), (v - origin).as_vec3());
        let place = |c: [f32; 2]| u * c[0] + v * c[1];
        let step = piece.mean_drying() * (DRY_AFTER / DRYING_STEPS);
        let level = ((self.time - piece.born) / step).floor().clamp(0.0, DRYING_STEPS);
        let age = (level * step) as f32;
        // What is left of it at its start and its end.
        let ages = [age + piece.took, age];
        let left = [0, 1].map(|i| (-ages[i] / piece.drying[i]).exp());
        let origin = origin.as_vec3();
        // Strips that cross would flicker at one height.
        let lift = TRAIL_LIFT * (1.0 + height(piece) as f32 / LAYERS as f32);
        let [a, b] = piece.axis.map(place);
        let along = (b - a) / (b - a).length_squared().max(f32::MIN_POSITIVE);
        let outward = bodies.normals_on(surface, piece.triangle, piece.side);
        for (i, &c) in piece.corners[..piece.count as usize].iter().enumerate() {
            let x = place(c);
            let t = along.dot(x - a);
            let middle = a + (b - a) * t;
            let left = left[0] + (left[1] - left[0]) * t.clamp(0.0, 1.0);
            // What is dissolved stays where it was laid.
            let width = (1.4 * left).max(piece.stays()).min(1.0);
            let left = left.max(piece.stain);
            let normal = outward.at(c[0], c[1]);
            let lift = normal * (lift + piece.thickness * left);
            positions[i] = origin + (middle + (x - middle) * width) + lift;
            normals[i] = normal;
        }
        // A little early: rounding must not let a frame miss a step that another order would take.
        if level >= DRYING_STEPS { f64::INFINITY } else { piece.born + (level + 1.0) * step - 1e-9 }
    }
}

/// Which of the heights a piece lies at: by its place, so that it never changes.
fn height(piece: &Piece) -> u32 {
    let [x, y] = piece.axis[1].map(f32::to_bits);
    (x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77)).wrapping_mul(0xC2B2_AE35) % LAYERS
}

/// A fan over the corners of a piece.
fn connect(piece: &Piece, start: u32, triangles: &mut [[u32; 3]]) {
    for (k, triangle) in (1..u32::from(piece.count) - 1).zip(triangles) {
        let (b, c) = (start + k, start + k + 1);
        *triangle = if piece.side > 0 { [start, b, c] } else { [start, c, b] };
    }
}
