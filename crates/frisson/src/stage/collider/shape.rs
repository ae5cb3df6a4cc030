//! What colliders are, and how far a point is from them.

use glam::{DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::math::frames::rotation_xyz_deg;
use crate::tolerances;

/// Shape of a collider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ColliderShape {
    /// Half-space: everything on the side away from `normal` is inside.
    Plane {
        /// A point of the plane [m].
        point: [f32; 3],
        /// Outward normal; need not be unit.
        normal: [f32; 3],
    },
    /// Ball.
    Sphere {
        /// Centre [m].
        center: [f32; 3],
        /// Radius [m].
        radius: f32,
    },
    /// Segment with a radius.
    Capsule {
        /// One end of the axis [m].
        a: [f32; 3],
        /// The other end [m].
        b: [f32; 3],
        /// Radius [m].
        radius: f32,
    },
    /// Ellipsoid.
    Ellipsoid {
        /// Centre [m].
        center: [f32; 3],
        /// Semi-axes [m].
        radii: [f32; 3],
        /// Rotation about x, then y, then z [degrees].
        #[serde(default)]
        rotate_deg: [f32; 3],
    },
    /// Box.
    Box {
        /// Centre [m].
        center: [f32; 3],
        /// Half sizes [m].
        half_size: [f32; 3],
        /// Rotation about x, then y, then z [degrees].
        #[serde(default)]
        rotate_deg: [f32; 3],
    },
}

impl ColliderShape {
    /// Signed distance (negative inside) and outward normal, in the shape's own space.
    #[must_use]
    pub fn signed_distance(&self, p: Vec3) -> (f32, Vec3) {
        let v = Vec3::from_array;
        match self {
            Self::Plane { point, normal } => {
                let n = v(*normal).normalize_or(Vec3::Y);
                (n.dot(p - v(*point)), n)
            }
            Self::Sphere { center, radius } => ball(p, v(*center), *radius),
            Self::Capsule { a, b, radius } => {
                let (a, axis) = (v(*a), v(*b) - v(*a));
                let t = (axis.dot(p - a)
                    / axis.length_squared().max(tolerances::stage::LEAST_AXIS_SQ))
                .clamp(0.0, 1.0);
                ball(p, a + t * axis, *radius)
            }
            Self::Ellipsoid { center, radii, rotate_deg } => {
                let r = rotation_xyz_deg(*rotate_deg);
                let (d, n) = ellipsoid(r.inverse() * (p - v(*center)), v(*radii));
                (d, r * n)
            }
            Self::Box { center, half_size, rotate_deg } => {
                let r = rotation_xyz_deg(*rotate_deg);
                let (d, n) = cuboid(r.inverse() * (p - v(*center)), v(*half_size));
                (d, r * n)
            }
        }
    }
}

fn ball(p: Vec3, center: Vec3, radius: f32) -> (f32, Vec3) {
    let away = p - center;
    (away.length() - radius, away.normalize_or(Vec3::Y))
}

/// Signed distance to a box at the origin and its outward normal.
pub(crate) fn cuboid(p: Vec3, half: Vec3) -> (f32, Vec3) {
    let q = p.abs() - half;
    let sign = Vec3::ONE.copysign(p);
    if q.max_element() > 0.0 {
        let outside = q.max(Vec3::ZERO);
        let distance = outside.length();
        // Not zero: `max_element` was above.
        return (distance, outside / distance * sign);
    }
    let normal = if q.x >= q.y && q.x >= q.z {
        Vec3::X
    } else if q.y >= q.z {
        Vec3::Y
    } else {
        Vec3::Z
    };
    (q.max_element(), normal * sign)
}

/// Closest point of an axis-aligned ellipsoid at the origin, by bisection on the Lagrange
/// multiplier `t` of `sum (r_i p_i / (t + r_i^2))^2 = 1` (D. Eberly): the function falls strictly
/// beyond the largest pole, so the bracket always holds the one root we want.
fn ellipsoid(p: Vec3, radii: Vec3) -> (f32, Vec3) {
    let r = radii.abs().max(Vec3::splat(tolerances::stage::LEAST_RADIUS)).as_dvec3();
    // One octant serves all: signs come back at the end.
    let q = p.abs().as_dvec3();
    let smallest = r.min_element();
    // On the shortest axis' equator plane the pole itself can be the root; a hair off it the general
    // case holds and the normal is continuous.
    let q = q.max(DVec3::splat(tolerances::stage::OFF_EQUATOR * smallest));
    let g = |t: f64| {
        let s = r * q / (DVec3::splat(t) + r * r);
        s.length_squared() - 1.0
    };
    let mut low = -smallest * smallest + smallest * q.min_element() * tolerances::stage::OFF_POLE;
    let mut high = (r * q).length();
    for _ in 0..tolerances::stage::ELLIPSOID_HALVINGS {
        let mid = 0.5 * (low + high);
        if g(mid) > 0.0 {
            low = mid;
        } else {
            high = mid;
        }
    }
    let t = 0.5 * (low + high);
    let closest = r * r * q / (DVec3::splat(t) + r * r);
    let sign = DVec3::ONE.copysign(p.as_dvec3());
    let normal = (closest / (r * r)).normalize() * sign;
    let distance = (q - closest).length();
    let inside = (q / r).length_squared() < 1.0;
    (if inside { -distance } else { distance } as f32, normal.as_vec3())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ellipsoid_of_equal_radii_is_a_sphere() {
        for p in [Vec3::new(0.3, -0.1, 0.2), Vec3::new(2.0, 1.0, -3.0), Vec3::X] {
            let (d, n) = ellipsoid(p, Vec3::splat(0.8));
            assert!((d - (p.length() - 0.8)).abs() < 1e-5, "{p}: {d}");
            assert!((n - p.normalize()).length() < 1e-4);
        }
    }

    #[test]
    fn moving_out_along_the_normal_lands_on_the_surface() {
        let shapes = [
            ColliderShape::Ellipsoid {
                center: [0.1, 0.0, 0.0],
                radii: [0.5, 1.0, 0.2],
                rotate_deg: [10.0, 20.0, 30.0],
            },
            ColliderShape::Box {
                center: [0.1, 0.0, 0.0],
                half_size: [0.5, 1.0, 0.2],
                rotate_deg: [10.0, 20.0, 30.0],
            },
            ColliderShape::Capsule { a: [0.0; 3], b: [0.0, 1.0, 0.0], radius: 0.3 },
        ];
        for shape in &shapes {
            for i in 0..200u64 {
                let c = |k| random_signed(i, k) * 1.5;
                let p = Vec3::new(c(0), c(1), c(2));
                let (d, n) = shape.signed_distance(p);
                let (rest, _) = shape.signed_distance(p - d * n);
                assert!(rest.abs() < 2e-3, "{shape:?} {p}: {d} leaves {rest}");
            }
        }
    }

    fn random_signed(id: u64, counter: u64) -> f32 {
        crate::math::random::signed(1, id, counter) as f32
    }
}
