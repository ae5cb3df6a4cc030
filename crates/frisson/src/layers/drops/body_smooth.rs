//! Large drops, drawn on smooth curves through the points of their shape.

use glam::Vec3;

use super::body_grain::{SMOOTH_ROWS, SMOOTH_STEP};
use super::shape::{POINTS, RINGS, SLICES, Shape};

/// Rows of points from the contact line up, then the apex, on smooth curves through the points of a shape: first up
/// and over the apex, then around.
pub fn smooth_rows(shape: &Shape, out: &mut Vec<Vec3>) {
    let at = |ring: usize, slice: usize| {
        let slice = slice % SLICES;
        match ring {
            ..RINGS => {
                let i = ring * SLICES + slice;
                Vec3::new(shape.x[i], shape.y[i], shape.z[i])
            }
            // Beyond the apex the curve goes down the other side.
            ring => {
                let over = ring - RINGS;
                let i = if over == 0 {
                    POINTS - 1
                } else {
                    (RINGS - over) * SLICES + (slice + SLICES / 2) % SLICES
                };
                Vec3::new(shape.x[i], shape.y[i], shape.z[i])
            }
        }
    };
    out.clear();
    for row in 0..SMOOTH_ROWS {
        let ring = row / 2;
        let upwards: [Vec3; SLICES] = std::array::from_fn(|s| {
            if row % 2 == 0 {
                return at(ring, s);
            }
            let (b, c, d) = (at(ring, s), at(ring + 1, s), at(ring + 2, s));
            // Below the contact line the curve goes on as it bends there.
            let a = if ring == 0 { 3.0 * (b - c) + d } else { at(ring - 1, s) };
            (9.0 * (b + c) - (a + d)) / 16.0
        });
        for s in 0..SLICES {
            let [a, b, c, d] = [SLICES - 1, 0, 1, 2].map(|k| upwards[(s + k) % SLICES]);
            // A curve of Catmull and Rom at none, one and two thirds of the way.
            out.push(b);
            out.push((42.0 * b + 18.0 * c - 4.0 * a - 2.0 * d) / 54.0);
            out.push((42.0 * c + 18.0 * b - 4.0 * d - 2.0 * a) / 54.0);
        }
    }
    out.push(at(RINGS, 0));
}

/// Volume between the points of a smooth drop and the plane of its contact line, in cubed radii.
#[must_use]
pub fn volume_of(smooth: &[Vec3]) -> f32 {
    let slices = SLICES * SMOOTH_STEP;
    let apex = smooth[smooth.len() - 1];
    let mut six_volumes = 0.0;
    for row in 0..SMOOTH_ROWS {
        for s in 0..slices {
            let next = (s + 1) % slices;
            let (a, b) = (smooth[row * slices + s], smooth[row * slices + next]);
            if row + 1 == SMOOTH_ROWS {
                six_volumes += a.dot(b.cross(apex));
            } else {
                let (c, d) = (smooth[(row + 1) * slices + s], smooth[(row + 1) * slices + next]);
                six_volumes += a.dot(b.cross(d)) + a.dot(d.cross(c));
            }
        }
    }
    six_volumes / 6.0
}
