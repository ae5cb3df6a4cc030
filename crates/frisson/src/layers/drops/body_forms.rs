//! Forms that a drop's shape takes in its own axes: a ball in the air, longer after a merge, wobbling while it creeps.

use glam::{DMat2, DVec2};

use super::shape::{POINTS, RINGS, SLICES, Shape, VOLUME};
use crate::math::random;

/// Place of the lowest ring of a ball, in rings from its pole [-]: not at the pole, where its slices would meet.
const LOWEST_RING: f32 = 0.7;
/// How much narrower a ball with a tail is at its apex, in tails [-]: what the tail takes comes from there.
const TAIL_WAIST: f32 = 0.4;
/// Height of a ball's cap below its lowest ring, in that ring's radius [-]: as the ball's own curve has it.
const CAP: f32 = 0.35;
/// Least volume that is scaled from, in cubed radii, and how far at once [-]: a shape in the middle of a blend may enclose
/// next to nothing for an instant.
const LEAST_VOLUME: f32 = 1e-3;
const SCALED: [f32; 2] = [0.5, 2.0];
/// What makes the noise of the wobble another than that of drying and meandering.
const WOBBLE_SEED: u64 = 0x30B;

/// A ball with the rings of a sitting drop; `tail` draws its apex out.
pub fn sphere(shape: &mut Shape, stretch: f32, tail: f32) {
    let across = stretch.sqrt().recip();
    for ring in 0..RINGS {
        let polar = std::f32::consts::PI
            * (1.0 - (ring as f32 + LOWEST_RING) / (RINGS as f32 + LOWEST_RING));
        for slice in 0..SLICES {
            let turn = std::f32::consts::TAU * slice as f32 / SLICES as f32;
            let i = ring * SLICES + slice;
            let up = ring as f32 / RINGS as f32;
            shape.x[i] = polar.sin() * turn.cos() * across * (1.0 - TAIL_WAIST * tail * up);
            shape.y[i] = polar.sin() * turn.sin() * across * (1.0 - TAIL_WAIST * tail * up);
            shape.z[i] = polar.cos() * stretch + tail * up.powi(3);
        }
    }
    shape.x[POINTS - 1] = 0.0;
    shape.y[POINTS - 1] = 0.0;
    shape.z[POINTS - 1] = stretch + tail;
}

/// Height of the pole below the lowest ring of a ball, in radii.
#[must_use]
pub fn bottom_of(shape: &Shape) -> f32 {
    let z = shape.z[0];
    let flat = (shape.x[0] * shape.x[0] + shape.y[0] * shape.y[0]).sqrt();
    z - CAP * flat
}

/// Scales to the exact volume, base included.
pub fn fix_volume(shape: &mut Shape, bottom: f32) {
    let mut base = 0.0;
    for s in 0..SLICES {
        let t = (s + 1) % SLICES;
        base += bottom * (shape.x[t] * shape.y[s] - shape.y[t] * shape.x[s]);
    }
    let volume = shape.volume() + base / 6.0;
    let [least, most] = SCALED;
    let factor = (VOLUME as f32 / volume.max(LEAST_VOLUME)).cbrt().clamp(least, most);
    for i in 0..POINTS {
        shape.x[i] *= factor;
        shape.y[i] *= factor;
        shape.z[i] *= factor;
    }
}

/// Longer along an axis of the plane, narrower across; as much lower, where the volume is kept.
#[must_use]
pub fn longer_along(axis: DVec2, amount: f64) -> DMat2 {
    let across = 1.0 / amount.sqrt();
    let (c, s) = (axis.x, axis.y);
    let (more, both) = ((amount - across) * c * s, amount * s * s + across * c * c);
    DMat2::from_cols_array(&[amount * c * c + across * s * s, more, more, both])
}

/// Offsets by smooth noise of the distance run: a few waves around the drop.
pub fn wobble(shape: &mut Shape, id: u64, way: f64, amplitude: f32) {
    let noise = |wave: u64, part: u64| {
        let cell = way.floor();
        let t = way - cell;
        let t = t * t * (3.0 - 2.0 * t);
        let at = |c: f64| random::signed(id ^ WOBBLE_SEED, wave * 2 + part, c as u64);
        (at(cell) + (at(cell + 1.0) - at(cell)) * t) as f32
    };
    let mut waves = [(0.0f32, 0.0f32); 3];
    for (i, w) in waves.iter_mut().enumerate() {
        *w = (noise(i as u64, 0), noise(i as u64, 1));
    }
    let turns: [(f32, f32); SLICES] = std::array::from_fn(|slice| {
        (std::f32::consts::TAU * slice as f32 / SLICES as f32).sin_cos()
    });
    for slice in 0..SLICES {
        let sum: f32 = waves
            .iter()
            .enumerate()
            .map(|(i, (a, b))| {
                // Multiples of the turn are turns of other slices.
                let (s, c) = turns[(i + 1) * slice % SLICES];
                (a * c + b * s) / (i + 1) as f32
            })
            .sum();
        let factor = 1.0 + amplitude * sum;
        for ring in 0..RINGS {
            let i = ring * SLICES + slice;
            shape.x[i] *= factor;
            shape.y[i] *= factor;
        }
    }
}
