//! How a swing reaches the mesh.

use glam::{Mat3, Mat4, Quat, Vec3, Vec4, Vec4Swizzles as _};
use rayon::prelude::*;

use super::rest::FleshWeights;
use crate::geometry::Mesh;

/// Attribute in which everyone may look at how far flesh has moved the vertices.
const SHOWN_OFFSET: &str = "flesh_offset";

/// Vertices a task takes at once.
const CHUNK: usize = 16_384;
/// Vertices of one run from which it is spread over threads: waking them costs as much as moving
/// some tens of thousands.
const PARALLEL: usize = 65_536;

/// One element's displacement field at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleshSwing {
    /// Elongation, limited and scaled by the amount [m].
    pub elongation: Vec3,
    /// Rotation vector, scaled likewise [rad].
    pub turn: Vec3,
    /// What it turns about: the middle of the bone [m].
    pub pivot: Vec3,
    /// How the flesh narrows or widens beside its swing, as a linear map of the way from the pivot [-].
    pub squeeze: Mat3,
    /// How far a vertex of weight 1 may go in all [m].
    pub most: f32,
}

impl FleshSwing {
    /// The motion of a vertex whose weight is 1, as a rigid matrix: without the squeeze.
    #[must_use]
    pub fn world_motion(&self) -> Mat4 {
        Mat4::from_translation(self.pivot + self.elongation)
            * Mat4::from_quat(Quat::from_scaled_axis(self.turn))
            * Mat4::from_translation(-self.pivot)
    }
}

/// The vertices of one mesh that an element touches, laid out for the loop.
#[derive(Clone, Debug, Default)]
pub(super) struct SwungVertices {
    /// Index of the mesh in the frame.
    pub mesh: usize,
    /// First vertex and weights of stretches of vertices that only this element touches.
    runs: Vec<(u32, Vec<f32>)>,
    /// Vertices whose offsets are asked for, by later elements that touch them or by whoever looks.
    first: Vec<(u32, f32)>,
    /// Vertices that earlier elements touch too: weight, and smallest `shape` of them all [m].
    shared: Vec<(u32, f32, f32)>,
    /// Smallest `shape` of every vertex of the mesh, this element included [m].
    room: Vec<f32>,
    /// Whether everyone may look at the offsets.
    show: bool,
}

impl SwungVertices {
    /// Tells apart what earlier elements touch, by what they left in the frame.
    pub fn new(weights: &FleshWeights, meshes: &[Mesh], show: bool) -> Self {
        let mesh = &meshes[weights.mesh];
        let mut room = mesh.channels.flesh_room.clone();
        // Infinite: nobody has been here.
        room.resize(mesh.topology.root_vertex_count(), f32::INFINITY);
        let mut part = Self { mesh: weights.mesh, show, ..Self::default() };
        for (i, &vertex) in weights.vertices.iter().enumerate() {
            let place = &mut room[vertex as usize];
            let smallest = place.abs().min(weights.shapes[i]);
            if *place < f32::INFINITY {
                // The sign says "several", see `Channels::flesh_room`.
                *place = -smallest;
                part.shared.push((vertex, weights.alphas[i], smallest));
            } else {
                *place = smallest;
                part.first.push((vertex, weights.alphas[i]));
            }
        }
        part.room = room;
        part
    }

    /// Tells later elements what is touched, before they are built.
    pub fn leave_room(&self, mesh: &mut Mesh) {
        mesh.channels.flesh_room.clone_from(&self.room);
    }

    /// Tells apart what later elements touch, when all have left their mark: where none does, and
    /// nobody looks, offsets need not be written.
    pub fn settle(&mut self, mesh: &Mesh) {
        self.room = Vec::new();
        if self.show {
            return;
        }
        let room = &mesh.channels.flesh_room;
        // The sign is negative where several elements meet: those have to be summed before they are limited.
        let alone = |vertex: u32| room.get(vertex as usize).is_some_and(|r| *r >= 0.0);
        for &(vertex, alpha) in self.first.iter().filter(|&&(v, _)| alone(v)) {
            match self.runs.last_mut() {
                Some((start, alphas)) if *start + alphas.len() as u32 == vertex => {
                    alphas.push(alpha);
                }
                _ => self.runs.push((vertex, vec![alpha])),
            }
        }
        self.first.retain(|&(v, _)| !alone(v));
    }

    /// Adds the element to what earlier elements did, clamped to the smallest `shape` where several
    /// meet.
    pub fn apply(&self, swing: &FleshSwing, mesh: &mut Mesh) {
        // What does not swing keeps its very bits: adding zero would turn -0 into 0.
        let still = swing.elongation == Vec3::ZERO && swing.turn == Vec3::ZERO;
        if still && self.first.is_empty() && self.shared.is_empty() {
            return;
        }
        let rotation = Mat3::from_quat(Quat::from_scaled_axis(swing.turn));
        // Exactly zero without turn and squeeze: then the quick way below has the same bits.
        let around = rotation - Mat3::IDENTITY + swing.squeeze;
        let turned = |alpha: f32, p: Vec3| {
            let own = alpha * (swing.elongation + around * (p - swing.pivot));
            own.clamp_length_max(alpha * swing.most)
        };
        // Most elements only shift, and a shift needs no pivot: four vertices at a time.
        if around == Mat3::ZERO {
            if !still {
                self.move_runs(&mut mesh.positions, |p, a| shift(p, a, swing.elongation));
            }
            self.move_listed(mesh, |alpha, _| alpha * swing.elongation);
        } else {
            self.move_runs(&mut mesh.positions, |positions, alphas| {
                for (p, &alpha) in positions.iter_mut().zip(alphas) {
                    *p += turned(alpha, *p);
                }
            });
            self.move_listed(mesh, turned);
        }
    }

    fn move_runs(&self, positions: &mut [Vec3], act: impl Fn(&mut [Vec3], &[f32]) + Sync) {
        for (start, alphas) in &self.runs {
            let positions = &mut positions[*start as usize..][..alphas.len()];
            // Same bits either way: every vertex is moved by itself.
            if alphas.len() < PARALLEL {
                act(positions, alphas);
            } else {
                let chunks = positions.par_chunks_mut(CHUNK).zip(alphas.par_chunks(CHUNK));
                chunks.for_each(|(positions, alphas)| act(positions, alphas));
            }
        }
    }

    /// Vertices whose offsets are kept.
    fn move_listed(&self, mesh: &mut Mesh, own: impl Fn(f32, Vec3) -> Vec3) {
        if self.first.is_empty() && self.shared.is_empty() {
            return;
        }
        let mut offsets = std::mem::take(&mut mesh.channels.flesh_offset);
        offsets.resize(mesh.positions.len(), Vec3::ZERO);
        let positions = &mut mesh.positions[..];
        for &(vertex, alpha) in &self.first {
            let v = vertex as usize;
            let own = own(alpha, positions[v]);
            if own != Vec3::ZERO {
                positions[v] += own;
            }
            offsets[v] = own;
        }
        for &(vertex, alpha, room) in &self.shared {
            let v = vertex as usize;
            // The sum of all is limited, not each: otherwise three elements could carry a vertex through the bone.
            let before = offsets[v];
            let total = (before + own(alpha, positions[v])).clamp_length_max(room);
            if total != before {
                positions[v] += total - before;
            }
            offsets[v] = total;
        }
        if self.show {
            let listed = self.first.iter().map(|f| f.0).chain(self.shared.iter().map(|s| s.0));
            mesh.update_vector(SHOWN_OFFSET, |shown| {
                listed.for_each(|v| shown[v as usize] = offsets[v as usize]);
            });
        }
        mesh.channels.flesh_offset = offsets;
    }
}

/// Adds `alpha u` to every position: four vertices are twelve numbers, three registers.
fn shift(positions: &mut [Vec3], alphas: &[f32], u: Vec3) {
    let whole = positions.len() / 4 * 4;
    let (fours, rest) = positions.split_at_mut(whole);
    let numbers: &mut [[f32; 4]] = bytemuck::cast_slice_mut(fours);
    let ways = [
        Vec4::new(u.x, u.y, u.z, u.x),
        Vec4::new(u.y, u.z, u.x, u.y),
        Vec4::new(u.z, u.x, u.y, u.z),
    ];
    for (three, alpha) in numbers.chunks_exact_mut(3).zip(alphas.chunks_exact(4)) {
        let alpha = Vec4::from_slice(alpha);
        // As the twelve numbers lie in memory: xyzx yzxy zxyz, each with the weight of its vertex.
        let shares = [alpha.xxxy(), alpha.yyzz(), alpha.zwww()];
        for i in 0..3 {
            three[i] = (Vec4::from_array(three[i]) + shares[i] * ways[i]).to_array();
        }
    }
    for (p, &alpha) in rest.iter_mut().zip(&alphas[whole..]) {
        *p += alpha * u;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_at_a_time_is_the_same_as_one_at_a_time() {
        for count in 0..14 {
            let place = |i: usize| Vec3::new(i as f32, 0.3 * i as f32, -1.0 / (i + 1) as f32);
            let mut moved: Vec<Vec3> = (0..count).map(place).collect();
            let alphas: Vec<f32> = (0..count).map(|i| 0.1 + 0.07 * i as f32).collect();
            let u = Vec3::new(0.3, -0.7, 0.11);
            shift(&mut moved, &alphas, u);
            let want: Vec<Vec3> = (0..count).map(|i| place(i) + alphas[i] * u).collect();
            assert_eq!(moved, want);
        }
    }
}
