//! Four points at once, coordinate by coordinate: the loops over hairs, samples and particles run on
//! these.

use std::ops::{Add, Mul, Sub};

use glam::{BVec4A, Mat4, Vec3, Vec4};

/// Four points, coordinate by coordinate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lanes {
    pub x: Vec4,
    pub y: Vec4,
    pub z: Vec4,
}

/// Where the unused ones of four points are [m]: outside of everything.
const NOWHERE: f32 = 1.0e6;

impl Lanes {
    /// Up to four points.
    pub fn new(points: impl Iterator<Item = Vec3>) -> Self {
        let mut out = [[NOWHERE; 4]; 3];
        for (k, p) in points.take(4).enumerate() {
            for (axis, value) in p.to_array().into_iter().enumerate() {
                out[axis][k] = value;
            }
        }
        Self { x: out[0].into(), y: out[1].into(), z: out[2].into() }
    }

    /// Four points, each by its number: quicker than `new`, which knows not how many there are.
    pub fn each(point: impl Fn(usize) -> Vec3) -> Self {
        Self::from_points(std::array::from_fn(|k| point(k).extend(0.0)))
    }

    /// Four times the same point.
    pub fn splat(p: Vec3) -> Self {
        Self { x: Vec4::splat(p.x), y: Vec4::splat(p.y), z: Vec4::splat(p.z) }
    }

    /// Four points, one after the other; their fourth coordinates are left out.
    pub fn from_points(points: [Vec4; 4]) -> Self {
        let [a, b, c, d] = points;
        let turned = Mat4::from_cols(a, b, c, d).transpose();
        Self { x: turned.x_axis, y: turned.y_axis, z: turned.z_axis }
    }

    /// The four points, one after the other; their fourth coordinates are 0.
    pub fn to_points(self) -> [Vec4; 4] {
        let turned = Mat4::from_cols(self.x, self.y, self.z, Vec4::ZERO).transpose();
        [turned.x_axis, turned.y_axis, turned.z_axis, turned.w_axis]
    }

    /// One of the four.
    pub fn lane(&self, lane: usize) -> Vec3 {
        Vec3::new(self.x[lane], self.y[lane], self.z[lane])
    }

    /// Replaces one of the four.
    pub fn set(&mut self, lane: usize, p: Vec3) {
        (self.x[lane], self.y[lane], self.z[lane]) = (p.x, p.y, p.z);
    }

    /// Each of the four on one vector.
    pub fn dot(&self, v: Vec3) -> Vec4 {
        self.x * v.x + self.y * v.y + self.z * v.z
    }

    /// Each of the four on its own vector.
    pub fn dot_each(&self, v: &Self) -> Vec4 {
        self.x * v.x + self.y * v.y + self.z * v.z
    }

    pub fn length_squared(&self) -> Vec4 {
        self.dot_each(self)
    }

    pub fn cross(&self, v: &Self) -> Self {
        Self {
            x: self.y * v.z - self.z * v.y,
            y: self.z * v.x - self.x * v.z,
            z: self.x * v.y - self.y * v.x,
        }
    }

    /// `a` where the mask says so, else `b`.
    pub fn select(mask: BVec4A, a: Self, b: Self) -> Self {
        Self {
            x: Vec4::select(mask, a.x, b.x),
            y: Vec4::select(mask, a.y, b.y),
            z: Vec4::select(mask, a.z, b.z),
        }
    }

    /// Each of the four at unit length; `otherwise` where one is shorter than `least`.
    pub fn normalize_or(&self, otherwise: Self, least: f32) -> Self {
        let length = self.length_squared().sqrt();
        // The divisor is bounded first: a lane that is not chosen must not raise infinities either.
        let good = length.cmpgt(Vec4::splat(least));
        Self::select(good, *self * length.max(Vec4::splat(least)).recip(), otherwise)
    }
}

impl Add for Lanes {
    type Output = Self;
    fn add(self, v: Self) -> Self {
        Self { x: self.x + v.x, y: self.y + v.y, z: self.z + v.z }
    }
}

impl Sub for Lanes {
    type Output = Self;
    fn sub(self, v: Self) -> Self {
        Self { x: self.x - v.x, y: self.y - v.y, z: self.z - v.z }
    }
}

impl Mul<Vec4> for Lanes {
    type Output = Self;
    fn mul(self, s: Vec4) -> Self {
        Self { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

impl Mul<f32> for Lanes {
    type Output = Self;
    fn mul(self, s: f32) -> Self {
        self * Vec4::splat(s)
    }
}

/// Sine and cosine of four angles, to a millionth.
pub(super) fn sin_cos(angles: Vec4) -> (Vec4, Vec4) {
    // To within a quarter turn of 0 by half turns, then by Taylor's series.
    let turns = (angles * std::f32::consts::FRAC_1_PI).round();
    let x = angles - turns * std::f32::consts::PI;
    // Half turns change the sign of both.
    let odd = turns - 2.0 * (0.5 * turns).floor();
    let sign = 1.0 - 2.0 * odd;
    let q = x * x;
    let one = Vec4::ONE;
    let sine = x
        * (one
            - q * (1.0 / 6.0)
                * (one
                    - q * (1.0 / 20.0)
                        * (one
                            - q * (1.0 / 42.0)
                                * (one - q * (1.0 / 72.0) * (one - q * (1.0 / 110.0))))));
    let cosine = one
        - q * (1.0 / 2.0)
            * (one
                - q * (1.0 / 12.0)
                    * (one
                        - q * (1.0 / 30.0)
                            * (one
                                - q * (1.0 / 56.0)
                                    * (one - q * (1.0 / 90.0) * (one - q * (1.0 / 132.0))))));
    (sign * sine, sign * cosine)
}

/// Four symmetric 3x3 matrices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Symmetric {
    xx: Vec4,
    yy: Vec4,
    zz: Vec4,
    xy: Vec4,
    xz: Vec4,
    yz: Vec4,
}

impl Symmetric {
    pub fn diagonal(value: Vec4) -> Self {
        Self { xx: value, yy: value, zz: value, ..Self::default() }
    }

    pub fn add_diagonal(&mut self, value: Vec4) {
        self.xx += value;
        self.yy += value;
        self.zz += value;
    }

    /// Adds `scale v v^T`.
    pub fn add_outer(&mut self, v: &Lanes, scale: Vec4) {
        let s = *v * scale;
        self.xx += s.x * v.x;
        self.yy += s.y * v.y;
        self.zz += s.z * v.z;
        self.xy += s.x * v.y;
        self.xz += s.x * v.z;
        self.yz += s.y * v.z;
    }

    pub fn add_scaled(&mut self, other: &Self, scale: Vec4) {
        self.xx += scale * other.xx;
        self.yy += scale * other.yy;
        self.zz += scale * other.zz;
        self.xy += scale * other.xy;
        self.xz += scale * other.xz;
        self.yz += scale * other.yz;
    }

    pub fn times(&self, v: &Lanes) -> Lanes {
        Lanes {
            x: self.xx * v.x + self.xy * v.y + self.xz * v.z,
            y: self.xy * v.x + self.yy * v.y + self.yz * v.z,
            z: self.xz * v.x + self.yz * v.y + self.zz * v.z,
        }
    }

    /// The inverses; the matrices must be positive definite.
    ///
    /// By elimination, which divides by the pivots one after the other: cofactors would take
    /// differences of products that a stiff contact makes a million times larger than the result.
    pub fn inverse(&self) -> Self {
        // L D L^T with unit lower triangular L.
        let d0 = self.xx.recip();
        let (l10, l20) = (self.xy * d0, self.xz * d0);
        let d1 = (self.yy - l10 * self.xy).recip();
        let c21 = self.yz - l20 * self.xy;
        let l21 = c21 * d1;
        let d2 = (self.zz - l20 * self.xz - l21 * c21).recip();
        // Rows of L^-1, below the diagonal.
        let m20 = l10 * l21 - l20;
        let zz = d2;
        let yz = -l21 * d2;
        let xz = m20 * d2;
        let yy = d1 - l21 * yz;
        let xy = -l10 * d1 - l21 * xz;
        let xx = d0 + l10 * l10 * d1 + m20 * xz;
        Self { xx, yy, zz, xy, xz, yz }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;
    use glam::{DMat3, DVec3};

    #[test]
    fn sines_and_cosines_are_those_of_the_library() {
        for k in -400..400 {
            let angle = 0.05 * k as f32;
            let (sine, cosine) = sin_cos(Vec4::splat(angle));
            assert!((sine.x - angle.sin()).abs() < 2e-6, "{angle}");
            assert!((cosine.y - angle.cos()).abs() < 2e-6, "{angle}");
        }
    }

    /// Stiff contacts beside soft inertia, as the chain has them, against double precision.
    #[test]
    fn symmetric_inverses_agree_with_double_precision() {
        for trial in 0..200u64 {
            let c = |k| random::signed(4, trial, k) as f32;
            let normal = Vec3::new(c(0), c(1), c(2)).normalize_or(Vec3::X);
            let (soft, stiff) = (1.0 + c(3).abs(), 1.0e4 * (1.0 + c(4)).max(0.01));
            let mut m = Symmetric::diagonal(Vec4::splat(soft));
            m.add_outer(&Lanes::splat(normal), Vec4::splat(stiff));
            let n = normal.as_dvec3();
            let outer = DMat3::from_cols(n * n.x, n * n.y, n * n.z) * f64::from(stiff);
            let exact = (DMat3::from_diagonal(DVec3::splat(f64::from(soft))) + outer).inverse();
            let v = Vec3::new(c(5), c(6), c(7));
            let got = m.inverse().times(&Lanes::splat(v)).lane(2).as_dvec3();
            let want = exact * v.as_dvec3();
            assert!((got - want).length() < 3e-3 * want.length() + 1e-6, "{got} {want}");
        }
    }
}
