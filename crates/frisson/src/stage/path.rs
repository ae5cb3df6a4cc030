//! Rigid motion given by keys, for actors and colliders.

use glam::{Quat, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::math::frames::rotation_xyz_deg;

/// How a path runs between its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Keys {
    /// A curve through the keys without a jump of velocity (Catmull-Rom).
    #[default]
    Smooth,
    /// Straight lines from key to key.
    Linear,
}

/// A rigid motion given by keys; rotations turn along shortest arcs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyedTransform {
    /// Key times [s], ascending.
    pub times: Vec<f64>,
    /// Positions at the keys [m].
    pub translations: Vec<Vec3>,
    /// Rotations at the keys.
    pub rotations: Vec<Quat>,
    /// How positions run between keys.
    pub keys: Keys,
}

impl KeyedTransform {
    /// From rows `[frame, x, y, z, rx, ry, rz]`: positions [m], rotations about x, then y, then z
    /// [degrees].
    #[must_use]
    pub fn from_frames(rows: &[[f64; 7]], keys: Keys, fps: f64) -> Self {
        let rotation = |k: &[f64; 7]| rotation_xyz_deg([k[4], k[5], k[6]].map(|d| d as f32));
        let place = |k: &[f64; 7]| Vec3::new(k[1] as f32, k[2] as f32, k[3] as f32);
        Self {
            times: rows.iter().map(|k| k[0] / fps).collect(),
            translations: rows.iter().map(place).collect(),
            rotations: rows.iter().map(rotation).collect(),
            keys,
        }
    }

    /// Rotation and translation at a time, held before the first and after the last key.
    #[must_use]
    pub fn at(&self, time: f64) -> (Quat, Vec3) {
        let count = self.times.len();
        if count == 0 {
            return (Quat::IDENTITY, Vec3::ZERO);
        }
        let after = self.times.partition_point(|&t| t <= time);
        if after == 0 || after == count {
            let key = after.saturating_sub(1);
            return (self.rotations[key], self.translations[key]);
        }
        let (a, b) = (after - 1, after);
        let dt = self.times[b] - self.times[a];
        // Differences in f64, the fraction in f32: see `Track::place`.
        let t = ((time - self.times[a]) / dt) as f32;
        let line = self.translations[a].lerp(self.translations[b], t);
        let correction = match self.keys {
            Keys::Linear => Vec3::ZERO,
            Keys::Smooth => self.bend(a, b, dt, t),
        };
        (self.rotations[a].slerp(self.rotations[b], t), line + correction)
    }

    /// Hermite = line + cubic correction by the tangents.
    fn bend(&self, a: usize, b: usize, dt: f64, t: f32) -> Vec3 {
        let slope = |k: usize| {
            let (l, r) = (k.saturating_sub(1), (k + 1).min(self.times.len() - 1));
            let span = self.times[r] - self.times[l];
            (self.translations[r] - self.translations[l]) * (dt / span) as f32
        };
        let line = self.translations[b] - self.translations[a];
        let (u, v) = (slope(a) - line, slope(b) - line);
        u * (t * (1.0 - t) * (1.0 - t)) - v * (t * t * (1.0 - t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_keys_are_straight_and_smooth_ones_pass_through_the_same_places() {
        let path = |keys| KeyedTransform {
            times: vec![0.0, 1.0, 2.0],
            translations: vec![Vec3::ZERO, Vec3::X, Vec3::X],
            rotations: vec![Quat::IDENTITY; 3],
            keys,
        };
        assert_eq!(path(Keys::Linear).at(0.25).1, 0.25 * Vec3::X);
        for keys in [Keys::Linear, Keys::Smooth] {
            assert_eq!(path(keys).at(1.0).1, Vec3::X);
            assert_eq!(path(keys).at(7.0).1, Vec3::X);
        }
        assert!(path(Keys::Smooth).at(1.5).1.x > 1.0, "it overshoots a sudden stop");
    }
}
