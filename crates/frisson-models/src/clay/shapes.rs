//! Signed distances of the primitives (negative inside) [m].

use glam::{Quat, Vec3};

/// Slope of an ellipsoid's distance that only its very centre has [1/m].
const AT_CENTER: f32 = 1e-9;
/// Squared length of a cone's flank from which there is one [m²].
const SWALLOWED: f32 = 1e-12;

/// A primitive.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A ball swept from `a` to `b` while its radius goes from `ra` to `rb`.
    RoundCone { a: Vec3, b: Vec3, ra: f32, rb: f32 },
    /// An ellipsoid; `turn` takes its axes to the world's.
    Ellipsoid { center: Vec3, radii: Vec3, turn: Quat },
}

impl Shape {
    /// Distance to the surface. Exact for round cones; for ellipsoids the usual first-order estimate,
    /// which is exact on the surface and never steeper than about 1.
    pub(crate) fn distance(&self, p: Vec3) -> f32 {
        match *self {
            Self::RoundCone { a, b, ra, rb } => round_cone(p, a, b, ra, rb),
            Self::Ellipsoid { center, radii, turn } => {
                let local = turn.inverse() * (p - center);
                let scaled = (local / radii).length();
                let slope = (local / (radii * radii)).length();
                if slope < AT_CENTER {
                    -radii.min_element()
                } else {
                    scaled * (scaled - 1.0) / slope
                }
            }
        }
    }

    /// A ball that holds the primitive.
    pub(crate) fn ball(&self) -> (Vec3, f32) {
        match *self {
            Self::RoundCone { a, b, ra, rb } => (0.5 * (a + b), 0.5 * a.distance(b) + ra.max(rb)),
            Self::Ellipsoid { center, radii, .. } => (center, radii.max_element()),
        }
    }

    /// A distance that the surface is certainly not nearer than [m].
    pub(crate) fn at_least(&self, p: Vec3) -> f32 {
        match *self {
            Self::RoundCone { .. } => self.distance(p),
            Self::Ellipsoid { .. } => {
                let (center, radius) = self.ball();
                (center.distance(p) - radius).max(0.5 * self.distance(p))
            }
        }
    }

    /// Typical half-thickness [m].
    pub(crate) fn thickness(&self) -> f32 {
        match *self {
            Self::RoundCone { ra, rb, .. } => 0.5 * (ra + rb),
            Self::Ellipsoid { radii, .. } => radii.min_element(),
        }
    }
}

/// In the half-plane through the axis the surface is a segment tangent to both circles.
fn round_cone(p: Vec3, a: Vec3, b: Vec3, ra: f32, rb: f32) -> f32 {
    let axis = b - a;
    let length_sq = axis.length_squared();
    let shrink = ra - rb;
    let cone_sq = length_sq - shrink * shrink;
    if cone_sq <= SWALLOWED {
        // One ball holds the other.
        return if ra >= rb { p.distance(a) - ra } else { p.distance(b) - rb };
    }
    let from_a = p - a;
    let along = from_a.dot(axis);
    let beyond = along - length_sq;
    // Everything times the axis' length squared, so that only one root and one division are left (after I. Quilez).
    let off_sq = (from_a * length_sq - axis * along).length_squared();
    let (y2, z2) = (along * along * length_sq, beyond * beyond * length_sq);
    let k = shrink.signum() * shrink * shrink * off_sq;
    if beyond.signum() * cone_sq * z2 > k {
        (off_sq + z2).sqrt() / length_sq - rb
    } else if along.signum() * cone_sq * y2 < k {
        (off_sq + y2).sqrt() / length_sq - ra
    } else {
        ((off_sq * cone_sq / length_sq).sqrt() + along * shrink) / length_sq - ra
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_cone_is_the_union_of_its_balls() {
        let (a, b, ra, rb) = (Vec3::ZERO, Vec3::new(0.3, 1.0, 0.2), 0.4, 0.15);
        let shape = Shape::RoundCone { a, b, ra, rb };
        for i in 0..400u32 {
            let r = |c| 1.5 * frisson::math::random::signed(9, u64::from(i), c) as f32;
            let p = Vec3::new(r(0), r(1), r(2));
            let swept = |s: i32| {
                let t = s as f32 / 4000.0;
                p.distance(a.lerp(b, t)) - (ra + t * (rb - ra))
            };
            let brute = (0..=4000).map(swept).fold(f32::MAX, f32::min);
            let outside = brute > 0.0;
            assert!(!outside || (shape.distance(p) - brute).abs() < 1e-3, "{p} {brute}");
            assert_eq!(shape.distance(p) > 1e-3, brute > 1e-3);
        }
    }
}
