//! Sample points that are a pure function of (pixel, sample, dimension).
//!
//! Each pair of dimensions is a two-dimensional Sobol' sequence whose order is shuffled and whose
//! digits are scrambled by a hash (Burley, "Practical hash-based Owen scrambling", 2020): well
//! stratified for any number of samples, and independent from pixel to pixel and pair to pair.

use glam::{Vec2, Vec3A};
use std::f32::consts::{PI, TAU};

/// Draws the random numbers of one sample of one pixel, in a fixed order.
#[derive(Clone, Debug)]
pub struct Sampler {
    pixel: u32,
    index: u32,
    dimension: u32,
}

impl Sampler {
    /// The numbers of sample `index` of the pixel at (x, y).
    #[must_use]
    pub fn new(seed: u32, x: u32, y: u32, index: u32) -> Self {
        Self { pixel: mix(seed ^ mix(x ^ mix(y.wrapping_add(0x9E37_79B9)))), index, dimension: 0 }
    }

    /// Two numbers in [0, 1).
    pub fn pair(&mut self) -> Vec2 {
        let key = mix(self.pixel ^ mix(self.dimension.wrapping_mul(0x85EB_CA6B)));
        self.dimension = self.dimension.wrapping_add(1);
        let index = scramble(self.index, key);
        let x = scramble(index.reverse_bits(), key ^ 0xA511_E9B3);
        let y = scramble(sobol_second(index), key ^ 0x63D8_3595);
        Vec2::new(unit(x), unit(y))
    }

    /// One number in [0, 1).
    pub fn one(&mut self) -> f32 {
        self.pair().x
    }
}

fn unit(bits: u32) -> f32 {
    (bits >> 8) as f32 * (1.0 / (1 << 24) as f32)
}

fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7FEB_352D);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846C_A68B);
    x ^ (x >> 16)
}

/// Nested uniform scrambling of the digits from the highest down.
fn scramble(x: u32, seed: u32) -> u32 {
    let mut x = x.reverse_bits().wrapping_add(seed);
    x ^= x.wrapping_mul(0x6C50_B47C);
    x ^= x.wrapping_mul(0xB82F_1E52);
    x ^= x.wrapping_mul(0xC7AF_E638);
    x ^= x.wrapping_mul(0x8D22_F6E6);
    x.reverse_bits()
}

/// Second coordinate of the Sobol' sequence. Its generator matrix is Pascal's triangle modulo 2,
/// whose entry (i, j) is one when the bits of j are among those of i: a sum over supersets, done in
/// five steps instead of thirty-two.
fn sobol_second(index: u32) -> u32 {
    let masks = [0x5555_5555, 0x3333_3333, 0x0F0F_0F0F, 0x00FF_00FF, 0x0000_FFFF];
    let mut x = index;
    for (step, mask) in masks.iter().enumerate() {
        x ^= (x >> (1 << step)) & mask;
    }
    x.reverse_bits()
}

/// Tangent and bitangent of a unit normal.
#[must_use]
pub fn basis(n: Vec3A) -> (Vec3A, Vec3A) {
    let sign = 1f32.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    (
        Vec3A::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
        Vec3A::new(b, sign + n.y * n.y * a, -n.y),
    )
}

/// A direction around `n`, with a density proportional to its cosine.
#[must_use]
pub fn cosine_direction(n: Vec3A, u: Vec2) -> Vec3A {
    let (t, b) = basis(n);
    let disc = disc(u);
    let up = (1.0 - disc.length_squared()).max(0.0).sqrt();
    (t * disc.x + b * disc.y + n * up).normalize_or(n)
}

/// A point of the unit disc, concentric so that strata stay compact.
#[must_use]
pub fn disc(u: Vec2) -> Vec2 {
    let p = 2.0 * u - Vec2::ONE;
    if p.x == 0.0 && p.y == 0.0 {
        return Vec2::ZERO;
    }
    // Angles from the nearer axis are at most 45 degrees: short series do for them.
    if p.x.abs() > p.y.abs() {
        let (sin, cos) = small_sin_cos(PI / 4.0 * (p.y / p.x));
        p.x * Vec2::new(cos, sin)
    } else {
        let (sin, cos) = small_sin_cos(PI / 4.0 * (p.x / p.y));
        p.y * Vec2::new(sin, cos)
    }
}

/// Sine and cosine of an angle of at most 45 degrees, to 4e-7.
fn small_sin_cos(angle: f32) -> (f32, f32) {
    let q = angle * angle;
    let sin = angle * (1.0 - q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0)));
    let cos = 1.0 - q / 2.0 * (1.0 - q / 12.0 * (1.0 - q / 30.0 * (1.0 - q / 56.0)));
    (sin, cos)
}

/// Directions within some angle of an axis.
#[derive(Clone, Copy, Debug)]
pub struct Cone {
    axis: Vec3A,
    cos_radius: f32,
    tangent: Vec3A,
    bitangent: Vec3A,
}

impl Cone {
    /// Around a unit axis.
    #[must_use]
    pub fn new(axis: Vec3A, cos_radius: f32) -> Self {
        let (tangent, bitangent) = basis(axis);
        Self { axis, cos_radius, tangent, bitangent }
    }

    /// A direction, uniform over the solid angle.
    #[must_use]
    pub fn direction(&self, u: Vec2) -> Vec3A {
        // The concentric disc has uniform area, and 1 - cos is proportional to solid angle:
        // sin² = 1 - (1 - k r²)² = r² k (2 - k r²).
        let d = disc(u);
        let k = 1.0 - self.cos_radius;
        let drop = k * d.length_squared();
        let across = d * (k * (2.0 - drop)).max(0.0).sqrt();
        self.tangent * across.x + self.bitangent * across.y + self.axis * (1.0 - drop)
    }
}

/// A direction within a cone, uniform over its solid angle.
#[must_use]
pub fn cone_direction(axis: Vec3A, cos_radius: f32, u: Vec2) -> Vec3A {
    Cone::new(axis, cos_radius).direction(u).normalize_or(axis)
}

/// A direction uniform over the sphere.
#[must_use]
pub fn sphere_direction(u: Vec2) -> Vec3A {
    let z = 1.0 - 2.0 * u.x;
    let r = (1.0 - z * z).max(0.0).sqrt();
    let (sin, cos) = (TAU * u.y).sin_cos();
    Vec3A::new(r * cos, r * sin, z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_coordinate_is_the_sobol_sequence() {
        for index in [0u32, 1, 2, 3, 5, 17, 12345, 0xDEAD_BEEF, u32::MAX] {
            let (mut slow, mut direction, mut rest) = (0u32, 1u32 << 31, index);
            while rest != 0 {
                if rest & 1 != 0 {
                    slow ^= direction;
                }
                rest >>= 1;
                direction ^= direction >> 1;
            }
            assert_eq!(sobol_second(index), slow, "{index}");
        }
    }

    #[test]
    fn sixteen_samples_fall_one_in_each_stratum() {
        for pixel in 0..20 {
            let mut strata = [[false; 4]; 4];
            for index in 0..16 {
                let u = Sampler::new(1, pixel, 3, index).pair();
                strata[(u.x * 4.0) as usize][(u.y * 4.0) as usize] = true;
            }
            assert!(strata.iter().flatten().all(|&s| s));
        }
    }

    #[test]
    fn short_series_are_sine_and_cosine() {
        for step in -100..=100 {
            let angle = PI / 400.0 * step as f32;
            let (sin, cos) = small_sin_cos(angle);
            assert!((sin - angle.sin()).abs() < 4e-7 && (cos - angle.cos()).abs() < 4e-7);
        }
    }

    #[test]
    fn directions_have_the_right_means() {
        let n = Vec3A::new(0.6, -0.48, 0.64);
        let (mut cosine, mut cone, count) = (0.0, 0.0, 4096);
        for index in 0..count {
            let u = Sampler::new(9, 4, 5, index).pair();
            cosine += cosine_direction(n, u).dot(n);
            cone += cone_direction(n, 0.5, u).dot(n);
        }
        // Mean of the cosine under a cosine density, and over a 60 degree cap.
        assert!((cosine / count as f32 - 2.0 / 3.0).abs() < 2e-3);
        assert!((cone / count as f32 - 0.75).abs() < 2e-3);
    }
}
