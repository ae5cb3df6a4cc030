//! Four vectors side by side: one instruction works on four edges or hinges.

use std::ops::{Add, Mul, Sub};

use glam::{DVec3, Mat4, Vec4};

/// A node in single precision: where it starts from and how far it has moved. Kept apart, small
/// moves lose no digits, so that what one node gains another loses exactly.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moving {
    /// Start (the fourth component is not used).
    pub start: Vec4,
    /// Moved since.
    pub moved: Vec4,
}

impl Moving {
    /// A node that has not moved yet.
    #[inline(always)]
    pub fn new(place: DVec3) -> Self {
        Self { start: place.as_vec3().extend(0.0), moved: Vec4::ZERO }
    }
}

/// Four 3-vectors, component by component.
#[derive(Clone, Copy, Debug)]
pub struct Vec3x4 {
    x: Vec4,
    y: Vec4,
    z: Vec4,
}

impl Vec3x4 {
    /// Reads where four nodes are.
    #[inline(always)]
    pub fn gather(nodes: &[Moving], at: [u32; 4]) -> Self {
        let [a, b, c, d] = at.map(|n| nodes[n as usize].start + nodes[n as usize].moved);
        let rows = Mat4::from_cols(a, b, c, d).transpose();
        Self { x: rows.x_axis, y: rows.y_axis, z: rows.z_axis }
    }

    /// Moves four nodes, one after the other.
    #[inline(always)]
    pub fn add_to(self, nodes: &mut [Moving], at: [u32; 4]) {
        let columns = Mat4::from_cols(self.x, self.y, self.z, Vec4::ZERO).transpose();
        // One after the other: empty lanes all point at node 0 and add nothing there.
        nodes[at[0] as usize].moved += columns.x_axis;
        nodes[at[1] as usize].moved += columns.y_axis;
        nodes[at[2] as usize].moved += columns.z_axis;
        nodes[at[3] as usize].moved += columns.w_axis;
    }

    /// Dot products.
    #[inline(always)]
    pub fn dot(self, other: Self) -> Vec4 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Cross products.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    /// Squared lengths.
    #[inline(always)]
    pub fn length_squared(self) -> Vec4 {
        self.dot(self)
    }
}

impl Add for Vec3x4 {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl Sub for Vec3x4 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl Mul<Vec4> for Vec3x4 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: Vec4) -> Self {
        Self { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}

/// Square roots.
#[inline(always)]
pub fn sqrt(v: Vec4) -> Vec4 {
    Vec4::from_array(v.to_array().map(f32::sqrt))
}

/// Four-quadrant arc tangents to 2e-6 rad: the libm one would cost as much as the rest of a hinge.
#[inline(always)]
pub fn atan2(y: Vec4, x: Vec4) -> Vec4 {
    let of = Vec4::splat;
    let (ax, ay) = (x.abs(), y.abs());
    let (low, high) = (ax.min(ay), ax.max(ay));
    // In the first eighth of a turn, where the polynomial is good; signs and swaps bring it home.
    let z = low / high.max(of(f32::MIN_POSITIVE));
    let q = z * z;
    let p = of(-0.011_721_2) * q + of(0.052_653_32);
    let p = p * q - of(0.116_432_87);
    let p = p * q + of(0.193_543_46);
    let p = p * q - of(0.332_623_47);
    let p = (p * q + of(0.999_977_26)) * z;
    let p = Vec4::select(ay.cmpgt(ax), of(std::f32::consts::FRAC_PI_2) - p, p);
    let p = Vec4::select(x.cmplt(Vec4::ZERO), of(std::f32::consts::PI) - p, p);
    Vec4::select(y.cmplt(Vec4::ZERO), -p, p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arc_tangent_is_right_in_all_quadrants() {
        for i in 0..1000 {
            let t = i as f32 * 0.0062 - 3.1;
            let found = atan2(Vec4::splat(t.sin()), Vec4::splat(t.cos()));
            assert!((found - Vec4::splat(t)).abs().max_element() < 3e-6, "{t}");
        }
        assert_eq!(atan2(Vec4::ZERO, Vec4::ZERO), Vec4::ZERO);
    }

    #[test]
    fn what_is_gathered_can_be_added_back() {
        let start = |i: usize| Vec4::new(i as f32, 2.0, 3.0 * i as f32, 0.0);
        let mut nodes: Vec<Moving> =
            (0..6).map(|i| Moving { start: start(i), moved: Vec4::ZERO }).collect();
        Vec3x4::gather(&nodes, [5, 0, 3, 1]).add_to(&mut nodes, [5, 0, 3, 1]);
        for (n, node) in nodes.iter().enumerate() {
            let expected = if [5, 0, 3, 1].contains(&n) { start(n) } else { Vec4::ZERO };
            assert_eq!(node.moved, expected);
        }
    }
}
