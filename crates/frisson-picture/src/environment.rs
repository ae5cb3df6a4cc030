//! Light from far away: a dome that is brighter above, and lamps that are discs on it.

use glam::Vec3A;
use std::f32::consts::PI;

/// Least squared sine of a lamp's radius [-]: a point would be infinitely bright.
const LEAST_DISC: f32 = 1e-6;
/// Mean of `sqrt(y)` under a cosine density over the upper hemisphere: 4/5.
const MEAN_ROOT: f32 = 0.8;
/// Where the soft edge of a lamp's disc begins and ends, in radii [-].
const DISC_EDGE: [f32; 2] = [0.75, 1.15];

/// A lamp far away: a disc of some angular radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lamp {
    /// Unit vector towards the lamp.
    pub direction: Vec3A,
    /// Angular radius [rad].
    pub radius: f32,
    /// Irradiance on a surface that faces it, linear RGB.
    pub irradiance: Vec3A,
}

impl Lamp {
    /// Radiance seen along a mirror of some roughness: the disc with a soft edge, dimmed as it
    /// spreads.
    #[must_use]
    pub fn seen(&self, direction: Vec3A, roughness: f32) -> Vec3A {
        let spread = (self.radius.powi(2) + roughness.powi(4)).sqrt();
        let angle = direction.dot(self.direction).clamp(-1.0, 1.0).acos();
        let edge = 1.0 - smoothstep(DISC_EDGE[0] * spread, DISC_EDGE[1] * spread, angle);
        self.irradiance * (edge / (PI * spread.sin().powi(2).max(LEAST_DISC)))
    }
}

/// All light from far away.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    /// Radiance from straight above.
    pub zenith: Vec3A,
    /// Radiance from the horizon.
    pub horizon: Vec3A,
    /// Radiance from straight below.
    pub nadir: Vec3A,
    /// Lamps.
    pub lamps: Vec<Lamp>,
}

impl Environment {
    /// The same radiance from everywhere, and no lamp.
    #[must_use]
    pub fn uniform(radiance: Vec3A) -> Self {
        Self { zenith: radiance, horizon: radiance, nadir: radiance, lamps: Vec::new() }
    }

    /// Radiance of the dome without the lamps.
    #[must_use]
    pub fn dome(&self, direction: Vec3A) -> Vec3A {
        let y = direction.y.clamp(-1.0, 1.0);
        if y >= 0.0 {
            self.horizon.lerp(self.zenith, y.sqrt())
        } else {
            self.horizon.lerp(self.nadir, (-y).sqrt())
        }
    }

    /// Radiance of dome and lamps as a mirror of some roughness shows them.
    #[must_use]
    pub fn mirrored(&self, direction: Vec3A, roughness: f32) -> Vec3A {
        self.lamps
            .iter()
            .fold(self.dome(direction), |sum, lamp| sum + lamp.seen(direction, roughness))
    }

    /// Mean radiance of the dome over the hemisphere around `n`, weighted by the cosine. Exact for a
    /// uniform dome; otherwise a blend that is exact facing up, sideways and down for a dome whose
    /// halves are uniform.
    #[must_use]
    pub fn ambient(&self, n: Vec3A) -> Vec3A {
        let up = self.horizon.lerp(self.zenith, MEAN_ROOT);
        let down = self.horizon.lerp(self.nadir, MEAN_ROOT);
        down.lerp(up, 0.5 + 0.5 * n.y)
    }
}

/// Smooth step from 0 at `low` to 1 at `high`.
#[must_use]
pub fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let s = ((x - low) / (high - low)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::{Sampler, cosine_direction};

    #[test]
    fn ambient_light_is_the_mean_of_the_dome() {
        let environment = Environment {
            zenith: Vec3A::splat(1.0),
            horizon: Vec3A::splat(0.4),
            nadir: Vec3A::splat(0.1),
            lamps: Vec::new(),
        };
        for (n, tolerance) in [(Vec3A::Y, 2e-3), (-Vec3A::Y, 2e-3), (Vec3A::X, 0.03)] {
            let count = 8192;
            let sum: f32 = (0..count)
                .map(|i| environment.dome(cosine_direction(n, Sampler::new(1, 2, 3, i).pair())).x)
                .sum();
            let (mean, fit) = (sum / count as f32, environment.ambient(n).x);
            assert!((mean - fit).abs() < tolerance, "{n}: {mean} {fit}");
        }
    }

    #[test]
    fn a_lamp_in_a_mirror_carries_its_irradiance() {
        let lamp = Lamp { direction: Vec3A::Y, radius: 0.3, irradiance: Vec3A::ONE };
        // Integrate radiance times cosine over rings.
        let steps = 4000;
        let ring = 0.5 / steps as f32;
        let sum: f32 = (0..steps)
            .map(|i| {
                let a = (i as f32 + 0.5) * ring;
                let seen = lamp.seen(Vec3A::new(a.sin(), a.cos(), 0.0), 0.0).x;
                seen * a.cos() * 2.0 * PI * a.sin() * ring
            })
            .sum();
        assert!((sum - 1.0).abs() < 0.12, "{sum}");
    }
}
