//! Arrays behind a JSON head, and numbers in few bytes.

use frisson::geometry::Bounds;
use glam::Vec3;
use rayon::prelude::*;
use serde_json::{Value, json};

/// Steps of a 16-bit position along an edge of its cube.
const STEPS: f32 = 65535.0;
/// Least edge of a cube [m]: a point alone would be divided by nothing.
const LEAST_EDGE: f32 = 1e-9;
/// Items that one core packs at a time: fewer would cost more to hand out than to pack.
const PIECE: usize = 8192;
/// Steps of an 8-bit normal along an axis.
const NORMAL_STEPS: f32 = 127.0;

/// Bytes in the making: arrays after a JSON head that names their places.
#[derive(Default)]
pub struct Parcel {
    body: Vec<u8>,
}

impl Parcel {
    /// Adds an array; returns where it begins.
    pub fn add(&mut self, bytes: impl IntoIterator<Item = u8>) -> usize {
        // Padded, so that the page can look at any array in place as numbers of four bytes.
        let place = self.body.len();
        self.body.extend(bytes);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
        place
    }

    /// Adds an array of items that have so many bytes each, written by all cores; returns where it begins.
    fn add_each<T: Sync, const N: usize>(
        &mut self,
        items: &[T],
        bytes: impl Fn(usize, &T) -> [u8; N] + Sync,
    ) -> usize {
        let place = self.body.len();
        self.body.resize(place + N * items.len(), 0);
        let pieces = self.body[place..].par_chunks_mut(N * PIECE).zip(items.par_chunks(PIECE));
        pieces.enumerate().for_each(|(piece, (out, items))| {
            for (k, (out, item)) in out.chunks_exact_mut(N).zip(items).enumerate() {
                out.copy_from_slice(&bytes(piece * PIECE + k, item));
            }
        });
        self.body.resize(self.body.len().next_multiple_of(4), 0);
        place
    }

    /// The head and everything that was added.
    #[must_use]
    pub fn close(self, head: &Value) -> Vec<u8> {
        let mut text = head.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut bytes = Vec::with_capacity(4 + text.len() + self.body.len());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
        bytes.extend(self.body);
        bytes
    }
}

/// The cube that some points lie in: its lowest corner and its edge [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cube {
    low: Vec3,
    edge: f32,
}

impl Cube {
    /// Around some points; a point alone gets a cube that is not flat.
    #[must_use]
    pub fn around(points: &[Vec3]) -> Self {
        let bounds = Bounds::of(points);
        if points.is_empty() {
            return Self { low: Vec3::ZERO, edge: 1.0 };
        }
        Self { low: bounds.min, edge: (bounds.max - bounds.min).max_element().max(LEAST_EDGE) }
    }

    fn quantise(&self, point: Vec3) -> [u16; 3] {
        let scaled = (point - self.low) * (STEPS / self.edge);
        // Rounded, not cut: half a step of error instead of a whole one, and none to one side.
        scaled.to_array().map(|x| (x + 0.5).clamp(0.0, STEPS) as u16)
    }

    /// What the page sees of a point.
    #[cfg(test)]
    fn shown(&self, point: Vec3) -> Vec3 {
        let steps = self.quantise(point).map(f32::from);
        self.low + Vec3::from_array(steps) * (self.edge / STEPS)
    }

    /// Corner and edge, for the page.
    pub(super) fn json(&self) -> Value {
        json!([self.low.x, self.low.y, self.low.z, self.edge])
    }
}

/// Adds points in their cube.
pub(super) fn add_points(parcel: &mut Parcel, cube: &Cube, points: &[Vec3]) -> usize {
    parcel.add_each(points, |_, p| {
        let [[a, b], [c, d], [e, f]] = cube.quantise(*p).map(u16::to_le_bytes);
        [a, b, c, d, e, f]
    })
}

/// Unit vectors of some things in three signed bytes; the fourth is free for the caller.
pub(super) fn add_directions<T: Sync>(
    parcel: &mut Parcel,
    things: &[T],
    direction: impl Fn(usize, &T) -> (Vec3, u8) + Sync,
) -> usize {
    parcel.add_each(things, |index, thing| {
        let (d, extra) = direction(index, thing);
        let [x, y, z] = (d * NORMAL_STEPS).to_array().map(|v| v.round() as i8 as u8);
        [x, y, z, extra]
    })
}

/// Scalars in a byte each, with the range they span.
pub(super) fn add_scalars(parcel: &mut Parcel, values: &[f32]) -> (usize, f32, f32) {
    let low = values.iter().copied().fold(f32::INFINITY, f32::min);
    let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let scale = if high > low { 255.0 / (high - low) } else { 0.0 };
    let place = parcel.add(values.iter().map(|v| ((v - low) * scale) as u8));
    (place, low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_keep_to_a_part_in_a_hundred_thousand_of_the_frame() {
        let points: Vec<Vec3> =
            (0..500).map(|i| Vec3::new((i as f32).sin(), (0.7 * i as f32).cos(), 4.0)).collect();
        let cube = Cube::around(&points);
        let worst = points.iter().map(|p| p.distance(cube.shown(*p))).fold(0.0, f32::max);
        assert!(worst < 1e-5 * 2.0 * 3f32.sqrt(), "{worst}");
        assert_eq!(Cube::around(&[Vec3::ONE]).shown(Vec3::ONE), Vec3::ONE);
    }
}
