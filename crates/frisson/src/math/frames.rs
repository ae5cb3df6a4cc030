//! Directions carried along curves with the least turning.

use glam::{EulerRot, Quat, Vec3};

use crate::tolerances;

/// The smallest rotation that brings one unit vector onto another. For opposite vectors, half a turn
/// about some axis across them.
#[must_use]
pub fn rotation_between(from: Vec3, to: Vec3) -> Quat {
    let cosine = from.dot(to);
    if cosine < tolerances::math::OPPOSITE {
        // The quaternion below would be zero, and its direction noise.
        return Quat::from_axis_angle(any_perpendicular(from), std::f32::consts::PI);
    }
    // Half-angle quaternion without trigonometry: (sin a, 1 + cos a) is twice cos(a/2) times the wanted one.
    let axis = from.cross(to);
    Quat::from_xyzw(axis.x, axis.y, axis.z, 1.0 + cosine).normalize()
}

/// A unit vector across a unit vector; continuous except at one pole.
#[must_use]
pub fn any_perpendicular(direction: Vec3) -> Vec3 {
    let helper = if direction.x.abs() < tolerances::math::NEAR_AXIS { Vec3::X } else { Vec3::Y };
    direction.cross(helper).normalize_or(Vec3::Z)
}

/// The rotation about x, then y, then z [degrees], as scene files give it; the axes stay where they are.
#[must_use]
pub fn rotation_xyz_deg(degrees: [f32; 3]) -> Quat {
    let [x, y, z] = degrees.map(f32::to_radians);
    // Applied right to left: the last letter of `ZYX` turns first.
    Quat::from_euler(EulerRot::ZYX, z, y, x)
}

/// Three orthonormal axes on a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveFrame {
    /// Along the curve.
    pub tangent: Vec3,
    /// Across it.
    pub normal: Vec3,
    /// `tangent x normal`.
    pub binormal: Vec3,
}

impl CurveFrame {
    /// From a tangent and a vector that the normal should be near; any perpendicular if they are
    /// parallel.
    #[must_use]
    pub fn new(tangent: Vec3, near: Vec3) -> Self {
        let tangent = tangent.normalize_or(Vec3::Y);
        let across = near - tangent * tangent.dot(near);
        let normal = if across.length_squared() > tolerances::math::LEAST_ACROSS_SQ {
            across.normalize()
        } else {
            any_perpendicular(tangent)
        };
        Self { tangent, normal, binormal: tangent.cross(normal) }
    }

    /// This frame carried to another tangent by the smallest rotation (parallel transport).
    #[must_use]
    pub fn transported(&self, tangent: Vec3) -> Self {
        let tangent = tangent.normalize_or(self.tangent);
        let turned = rotation_between(self.tangent, tangent) * self.normal;
        // Squared up anew: rounding of many transports in a row would let the axes drift apart.
        Self::new(tangent, turned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_between_brings_one_onto_the_other() {
        let a = Vec3::new(1.0, 2.0, -0.5).normalize();
        for b in [Vec3::X, -Vec3::Y, a, -a, Vec3::new(-0.3, 0.2, 0.9).normalize()] {
            assert!((rotation_between(a, b) * a - b).length() < 2e-3, "{b}");
        }
    }

    #[test]
    fn degrees_turn_about_x_first_and_about_z_last() {
        let turned = rotation_xyz_deg([90.0, 0.0, 90.0]) * Vec3::Y;
        assert!((turned - Vec3::Z).length() < 1e-6, "y to z about x, and z stays: {turned}");
        let turned = rotation_xyz_deg([0.0, 90.0, 90.0]) * Vec3::Z;
        assert!((turned - Vec3::Y).length() < 1e-6, "z to x about y, x to y about z: {turned}");
    }

    #[test]
    fn transport_around_a_planar_loop_comes_back() {
        let start = CurveFrame::new(Vec3::X, Vec3::Y);
        let mut frame = start;
        for i in 1..=360 {
            let angle = (i as f32).to_radians();
            frame = frame.transported(Vec3::new(angle.cos(), 0.0, angle.sin()));
        }
        assert!((frame.normal - start.normal).length() < 1e-4);
    }
}
