//! Force fields: gravity, wind with gusts, drag, radial, vortex.

use glam::{Vec3, Vec4};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Animated;
use crate::math::random;
use crate::tolerances;

/// One force field of the scene. Give exactly one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ForceParams {
    /// Moving air: light things are dragged along.
    Wind {
        /// Direction it blows to; need not be unit.
        direction: [f32; 3],
        /// Mean speed [m/s].
        speed: Animated,
        /// Gust amplitude as a fraction of the mean speed [-].
        #[serde(default)]
        gust: f32,
        /// Gusts per second [Hz].
        #[serde(default = "default_gust_hz")]
        gust_hz: f32,
        /// Size of a gust in space [m].
        #[serde(default = "default_gust_size")]
        gust_size: f32,
        /// Seed of the gusts.
        #[serde(default)]
        seed: u64,
    },
    /// Acceleration away from a point (towards it when negative).
    Radial {
        /// Centre [m].
        center: [f32; 3],
        /// Acceleration at `radius` [m/s²].
        strength: Animated,
        /// Distance at which `strength` holds; inverse square beyond, linear inside [m].
        #[serde(default = "default_radius")]
        radius: f32,
    },
    /// Air that turns about an axis.
    Vortex {
        /// A point of the axis [m].
        center: [f32; 3],
        /// Axis; need not be unit.
        axis: [f32; 3],
        /// Air speed at `radius` [m/s].
        speed: Animated,
        /// Core radius: solid rotation inside, 1/r outside [m].
        #[serde(default = "default_radius")]
        radius: f32,
    },
    /// Constant acceleration on top of gravity.
    Push {
        /// Acceleration direction; need not be unit.
        direction: [f32; 3],
        /// Acceleration [m/s²].
        strength: Animated,
    },
    /// Drag towards still air, for layers that have no drag of their own [1/s].
    Drag {
        /// Rate at which velocity relative to the air decays [1/s].
        rate: Animated,
    },
}

fn default_gust_hz() -> f32 {
    0.7
}
fn default_gust_size() -> f32 {
    1.0
}
fn default_radius() -> f32 {
    1.0
}

/// Gravity and all fields of a scene, evaluated anywhere at any time.
#[derive(Clone, Debug, Default)]
pub struct Forces {
    /// Gravity [m/s²].
    pub gravity: Vec3,
    fields: Vec<ForceParams>,
    fps: f64,
}

impl Forces {
    /// From the scene's gravity and fields; `fps` turns key frames into times.
    #[must_use]
    pub fn new(gravity: Vec3, fields: Vec<ForceParams>, fps: f64) -> Self {
        Self { gravity, fields, fps }
    }

    /// Acceleration of a body, wind not included [m/s²].
    #[must_use]
    pub fn acceleration(&self, position: Vec3, time: f64) -> Vec3 {
        let frame = time * self.fps;
        self.fields.iter().fold(self.gravity, |sum, field| {
            sum + match field {
                ForceParams::Radial { center, strength, radius } => {
                    let away = position - Vec3::from_array(*center);
                    let distance = away.length();
                    let ratio = distance / radius.max(f32::MIN_POSITIVE);
                    let fall = if ratio < 1.0 { ratio } else { 1.0 / (ratio * ratio) };
                    away.normalize_or_zero() * (strength.at(frame) as f32 * fall)
                }
                ForceParams::Push { direction, strength } => {
                    Vec3::from_array(*direction).normalize_or_zero() * strength.at(frame) as f32
                }
                _ => Vec3::ZERO,
            }
        })
    }

    /// Velocity of the air [m/s].
    #[must_use]
    pub fn air_velocity(&self, position: Vec3, time: f64) -> Vec3 {
        let frame = time * self.fps;
        self.fields.iter().fold(Vec3::ZERO, |sum, field| {
            sum + match field {
                ForceParams::Wind { direction, speed, gust, gust_hz, gust_size, seed } => {
                    let mean = speed.at(frame) as f32;
                    let direction = Vec3::from_array(*direction).normalize_or_zero();
                    // The noise is the dear part, and most winds have no gust.
                    if mean == 0.0 || *gust == 0.0 {
                        direction * mean
                    } else {
                        let place = position / gust_size.max(tolerances::stage::LEAST_GUST);
                        // Multiplied in f64: late in a shot the fraction of a gust would be lost in f32.
                        let when = (time * f64::from(*gust_hz)) as f32;
                        let noise = gust_noise(*seed, place, when);
                        let (along, side) = (noise.w, noise.truncate());
                        mean * (direction * (1.0 + gust * along)
                            + tolerances::stage::GUST_SIDEWAYS * *gust * side)
                    }
                }
                ForceParams::Vortex { center, axis, speed, radius } => {
                    let axis = Vec3::from_array(*axis).normalize_or_zero();
                    let around = axis.cross(position - Vec3::from_array(*center));
                    let ratio = around.length() / radius.max(f32::MIN_POSITIVE);
                    let fall = if ratio < 1.0 { ratio } else { 1.0 / ratio };
                    around.normalize_or_zero() * (speed.at(frame) as f32 * fall)
                }
                _ => Vec3::ZERO,
            }
        })
    }

    /// Scene-wide drag rate [1/s].
    #[must_use]
    pub fn drag_rate(&self, time: f64) -> f32 {
        let rate = |f: &ForceParams| match f {
            ForceParams::Drag { rate } => rate.at(time * self.fps) as f32,
            _ => 0.0,
        };
        self.fields.iter().map(rate).sum()
    }

    /// Whether the acceleration is gravity alone, the same everywhere and always.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        let varies =
            |f: &ForceParams| matches!(f, ForceParams::Radial { .. } | ForceParams::Push { .. });
        !self.fields.iter().any(varies)
    }

    /// Whether any air moves at all.
    #[must_use]
    pub fn has_wind(&self) -> bool {
        self.fields
            .iter()
            .any(|f| matches!(f, ForceParams::Wind { .. } | ForceParams::Vortex { .. }))
    }
}

/// Four independent smooth noises in [-1, 1) over space and time, C1, about one feature per unit.
///
/// Every corner of the lattice has one word, four numbers of 16 bits: the sixteen corners around a
/// place share the words of their edges, so that thirty mixes make four noises.
fn gust_noise(seed: u64, place: Vec3, when: f32) -> Vec4 {
    // Time first: all corners of one instant share its word.
    let coordinates = [when, place.z, place.y, place.x];
    let mut words = [seed; 16];
    let mut weights = [1.0f32; 16];
    for (axis, &at) in coordinates.iter().enumerate() {
        let cell = at.floor();
        let t = at - cell;
        // Smoothstep: the noise has no corner where cells meet.
        let t = t * t * (3.0 - 2.0 * t);
        for k in 0..1usize << axis {
            let (word, weight) = (words[k], weights[k]);
            for (high, share) in [(0, 1.0 - t), (1, t)] {
                let slot = k | high << axis;
                // Negative cells wrap to large words: neighbours still differ by one, and the hash takes any.
                let number = (cell as i64 + high as i64) as u64;
                words[slot] = random::chain(word, number);
                weights[slot] = weight * share;
            }
        }
    }
    let number = |word: u64, k: u32| f32::from((word >> (16 * k)) as u16 as i16);
    let sum = words.iter().zip(weights).fold(Vec4::ZERO, |sum, (&word, weight)| {
        let four = Vec4::new(number(word, 0), number(word, 1), number(word, 2), number(word, 3));
        sum + weight * four
    });
    // Half the range of 16 bits: the noise is within one.
    sum / 32768.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_add_up_and_follow_keys() {
        let forces = Forces::new(
            Vec3::new(0.0, -9.81, 0.0),
            vec![
                ForceParams::Push {
                    direction: [2.0, 0.0, 0.0],
                    strength: Animated::Keys(vec![(0.0, 0.0), (30.0, 4.0)]),
                },
                ForceParams::Radial { center: [0.0; 3], strength: 8.0.into(), radius: 1.0 },
            ],
            30.0,
        );
        let a = forces.acceleration(Vec3::new(0.0, 2.0, 0.0), 0.5);
        assert!((a - Vec3::new(2.0, -9.81 + 2.0, 0.0)).length() < 1e-5, "{a}");
    }

    #[test]
    fn gusts_are_smooth_and_average_out() {
        let wind = ForceParams::Wind {
            direction: [1.0, 0.0, 0.0],
            speed: 5.0.into(),
            gust: 0.5,
            gust_hz: 1.0,
            gust_size: 1.0,
            seed: 3,
        };
        let forces = Forces::new(Vec3::ZERO, vec![wind], 30.0);
        let at = |t: f64| forces.air_velocity(Vec3::new(0.3, 0.2, 0.1), t);
        let mean = (0..4000).map(|i| at(f64::from(i) * 0.1).x).sum::<f32>() / 4000.0;
        assert!((mean - 5.0).abs() < 0.3, "{mean}");
        let jump = (0..1000)
            .map(|i| (at(f64::from(i) * 0.01 + 1e-4) - at(f64::from(i) * 0.01)).length())
            .fold(0.0, f32::max);
        assert!(jump < 0.01, "{jump}");
    }
}
