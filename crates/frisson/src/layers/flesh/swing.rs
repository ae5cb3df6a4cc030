//! How a swing reaches the mesh.

use glam::{Mat4, Quat, Vec3};
use rayon::prelude::*;

use super::rest::FleshWeights;
use crate::geometry::{Attribute, AttributeValues, Mesh};

/// Attribute in which elements leave how far they have moved each vertex, for the next element on
/// the same mesh and for whoever wants to look.
const OFFSET: &str = "flesh_offset";
/// Attribute in which elements leave the smallest `shape` so far, where they touch a vertex; it does
/// not change during a bake.
const ROOM: &str = ".flesh_room";

/// Vertices a task takes at once.
const CHUNK: usize = 16_384;
/// Vertices from which an element is spread over threads: waking them costs as much as moving some
/// tens of thousands.
const PARALLEL: usize = 65_536;

/// One element's displacement field at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FleshSwing {
    /// Elongation, limited and scaled by the amount [m].
    pub elongation: Vec3,
    /// Rotation vector, scaled likewise [rad].
    pub turn: Vec3,
    /// What it turns about: the middle of the bone [m].
    pub pivot: Vec3,
    /// Largest weight before normalisation [m].
    pub deepest: f32,
}

impl FleshSwing {
    /// The motion of a vertex whose weight is 1, as a matrix.
    #[must_use]
    pub fn world_motion(&self) -> Mat4 {
        Mat4::from_translation(self.pivot + self.elongation)
            * Mat4::from_quat(Quat::from_scaled_axis(self.turn))
            * Mat4::from_translation(-self.pivot)
    }
}

/// The vertices of one mesh that an element touches, laid out for the loop.
pub(super) struct Touch {
    /// Index of the mesh in the frame.
    pub mesh: usize,
    /// Vertices that no earlier element touches, and their weights.
    alone: Vec<(u32, f32)>,
    /// Vertices that earlier elements touch too: weight, and smallest `shape` of them all [m].
    shared: Vec<(u32, f32, f32)>,
    /// Smallest `shape` of every vertex of the mesh, this element included [m]; given to the
    /// frame at the first step.
    room: Vec<f32>,
}

impl Touch {
    /// Tells apart what earlier elements touch, by what they left in the frame.
    pub fn new(weights: &FleshWeights, meshes: &[Mesh]) -> Self {
        let mesh = &meshes[weights.mesh];
        let earlier = mesh.attributes.iter().find(|a| a.name == ROOM).map(|a| &a.values);
        let mut room = match earlier {
            Some(AttributeValues::Scalar(room)) => room.clone(),
            _ => vec![f32::INFINITY; mesh.positions.len()],
        };
        let (mut alone, mut shared) = (Vec::new(), Vec::new());
        for (i, &vertex) in weights.vertices.iter().enumerate() {
            let place = &mut room[vertex as usize];
            let met = *place < f32::INFINITY;
            *place = place.min(weights.shapes[i]);
            match met {
                true => shared.push((vertex, weights.alphas[i], *place)),
                false => alone.push((vertex, weights.alphas[i])),
            }
        }
        Self { mesh: weights.mesh, alone, shared, room }
    }

    /// Adds the element to what earlier elements did, clamped to the smallest `shape` where several
    /// meet.
    pub fn apply(&self, swing: &FleshSwing, mesh: &mut Mesh) {
        let mut offsets = take_offsets(mesh);
        let positions = &mut mesh.positions[..];
        if swing.turn == Vec3::ZERO {
            self.push(positions, &mut offsets, |alpha, _| alpha * swing.elongation);
        } else {
            let rotation = Quat::from_scaled_axis(swing.turn);
            self.push(positions, &mut offsets, |alpha, p| {
                let arm = p - swing.pivot;
                let own = alpha * (swing.elongation + (rotation * arm - arm));
                own.clamp_length_max(alpha * swing.deepest)
            });
        }
        put_back(mesh, OFFSET, AttributeValues::Vector(offsets));
    }

    fn push(
        &self,
        positions: &mut [Vec3],
        offsets: &mut [Vec3],
        own: impl Fn(f32, Vec3) -> Vec3 + Sync,
    ) {
        if self.alone.len() < PARALLEL {
            push_alone(&self.alone, 0, positions, offsets, &own);
        } else {
            let chunks = positions.par_chunks_mut(CHUNK).zip(offsets.par_chunks_mut(CHUNK));
            chunks.enumerate().for_each(|(chunk, (positions, offsets))| {
                let first = (chunk * CHUNK) as u32;
                let end = first + positions.len() as u32;
                let range = self.alone.partition_point(|&(v, _)| v < first)
                    ..self.alone.partition_point(|&(v, _)| v < end);
                push_alone(&self.alone[range], first, positions, offsets, &own);
            });
        }
        for &(vertex, alpha, room) in &self.shared {
            let v = vertex as usize;
            let before = offsets[v];
            let total = (before + own(alpha, positions[v])).clamp_length_max(room);
            if total != before {
                positions[v] += total - before;
            }
            offsets[v] = total;
        }
    }

    /// Tells later elements what is touched; once, before they are built.
    pub fn leave_room(&mut self, mesh: &mut Mesh) {
        put_back(mesh, ROOM, AttributeValues::Scalar(std::mem::take(&mut self.room)));
    }
}

/// Moves vertices that no other element touches; `first` is the vertex that the slices start at.
fn push_alone(
    alone: &[(u32, f32)],
    first: u32,
    positions: &mut [Vec3],
    offsets: &mut [Vec3],
    own: &impl Fn(f32, Vec3) -> Vec3,
) {
    for &(vertex, alpha) in alone {
        let v = (vertex - first) as usize;
        let own = own(alpha, positions[v]);
        // Adding zero would turn -0 into 0: what does not swing keeps its very bits.
        if own != Vec3::ZERO {
            positions[v] += own;
        }
        offsets[v] = own;
    }
}

/// The offsets left by earlier elements; storage is reused.
fn take_offsets(mesh: &mut Mesh) -> Vec<Vec3> {
    let count = mesh.positions.len();
    let found = mesh.attributes.iter_mut().find(|a| a.name == OFFSET);
    let mut values = match found
        .map(|a| std::mem::replace(&mut a.values, AttributeValues::Vector(Vec::new())))
    {
        Some(AttributeValues::Vector(values)) => values,
        _ => Vec::new(),
    };
    values.resize(count, Vec3::ZERO);
    values
}

fn put_back(mesh: &mut Mesh, name: &str, values: AttributeValues) {
    match mesh.attributes.iter_mut().find(|a| a.name == name) {
        Some(attribute) => attribute.values = values,
        None => mesh.attributes.push(Attribute { name: name.to_owned(), values }),
    }
}
