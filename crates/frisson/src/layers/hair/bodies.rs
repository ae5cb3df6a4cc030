//! Bodies in the way of hair: ellipsoids and the scene's colliders, posed at every sub-step.

use glam::{Mat3, Mat3A, Quat, Vec3, Vec3A, Vec4};

use super::chain::MAX_PARTICLES;
use super::lanes::Lanes;
use crate::stage::{Collider, ColliderShape, cuboid};
use crate::tolerances::nothing;

/// A shape with its pose at the start and the end of the tick.
#[derive(Clone, Debug)]
pub(super) struct HairBody {
    pub shape: ColliderShape,
    pub poses: [(Quat, Vec3); 2],
    pub friction: f32,
}

impl HairBody {
    /// A collider of the scene.
    pub fn of_collider(collider: &Collider) -> Self {
        Self {
            shape: collider.shape.clone(),
            poses: [collider.pose(0.0), collider.pose(1.0)],
            friction: collider.friction,
        }
    }

    fn pose(&self, fraction: f32) -> (Quat, Vec3) {
        let [(qa, ta), (qb, tb)] = self.poses;
        // The end itself, to the bit: an interpolated one would differ in the last digits from what others see there.
        if fraction >= 1.0 { (qb, tb) } else { (qa.slerp(qb, fraction), ta.lerp(tb, fraction)) }
    }
}

/// A shape at one instant, in the form the inner loops want.
#[derive(Clone, Debug)]
pub(super) struct PosedBody {
    pub(super) kind: Kind,
    /// Local axes as columns, and origin.
    pub(super) axes: Mat3,
    origin: Vec3,
    /// Pose a sub-step earlier, for the material's motion.
    axes_before: Mat3,
    origin_before: Vec3,
    /// World to the ball that an ellipsoid is a stretched image of, columns.
    to_ball: Mat3A,
    /// Ball around the shape; negative radius: unbounded.
    bound: f32,
    pub(super) friction: f32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Plane,
    Ellipsoid { inverse: Vec3, inverse_sq: Vec3, least: f32 },
    Capsule { half: f32, radius: f32 },
    Box { half: Vec3 },
}

impl PosedBody {
    /// Poses a body at a fraction of the tick; `before` is the fraction one sub-step earlier.
    pub fn new(body: &HairBody, before: f32, fraction: f32) -> Self {
        let (kind, local_axes, local_origin, bound) = resolve(&body.shape);
        let posed = |f: f32| {
            let (q, t) = body.pose(f);
            (Mat3::from_quat(q) * local_axes, q * local_origin + t)
        };
        let (axes, origin) = posed(fraction);
        let (axes_before, origin_before) = posed(before);
        let scale = if let Kind::Ellipsoid { inverse, .. } = kind { inverse } else { Vec3::ONE };
        let to_ball = Mat3A::from(Mat3::from_diagonal(scale) * axes.transpose());
        let friction = body.friction;
        Self { kind, axes, origin, axes_before, origin_before, to_ball, bound, friction }
    }

    /// Whether a ball around `p` stays clear of the body for sure.
    pub fn is_clear(&self, p: Vec3, radius: f32) -> bool {
        if self.bound < 0.0 {
            return self.axes.y_axis.dot(p - self.origin) > radius;
        }
        let reach = self.bound + radius;
        p.distance_squared(self.origin) > reach * reach
    }

    /// Whether a point is inside; quicker than its distance.
    pub fn holds(&self, p: Vec3A) -> bool {
        match self.kind {
            Kind::Ellipsoid { .. } => {
                (self.to_ball * (p - Vec3A::from(self.origin))).length_squared() < 1.0
            }
            _ => self.distance(p.into()).0 < 0.0,
        }
    }

    /// Which of four points are inside, one bit each.
    pub fn holds_of_four(&self, p: &Lanes) -> u32 {
        match self.kind {
            Kind::Ellipsoid { .. } => self.in_ball(p).length_squared().cmplt(Vec4::ONE).bitmask(),
            _ => (0..4).fold(0, |bits, k| bits | u32::from(self.holds(p.lane(k).into())) << k),
        }
    }

    /// Four points in the ball that an ellipsoid is a stretched image of.
    pub(super) fn in_ball(&self, p: &Lanes) -> Lanes {
        self.turned_to_ball(&(*p - Lanes::splat(self.origin)))
    }

    fn turned_to_ball(&self, v: &Lanes) -> Lanes {
        let row = |k: usize| Vec3::from(self.to_ball.row(k));
        Lanes { x: v.dot(row(0)), y: v.dot(row(1)), z: v.dot(row(2)) }
    }

    /// Signed distances of four points, as `distance` has them.
    pub fn distance_of_four(&self, p: &Lanes) -> Vec4 {
        let Kind::Ellipsoid { inverse, least, .. } = self.kind else {
            return Vec4::from_array(std::array::from_fn(|k| self.distance(p.lane(k)).0));
        };
        let ball = self.in_ball(p);
        let k0 = ball.length_squared().sqrt();
        let gradient =
            Lanes { x: ball.x * inverse.x, y: ball.y * inverse.y, z: ball.z * inverse.z };
        let k1 = gradient.length_squared().sqrt();
        let deep = k0.cmplt(Vec4::splat(1.0e-3));
        Vec4::select(
            deep,
            Vec4::splat(-least),
            k0 * (k0 - 1.0) / k1.max(Vec4::splat(nothing::NO_SLOPE)),
        )
    }

    /// Signed distances of the particles of a wisp.
    pub fn distances(&self, points: &[Vec3]) -> [f32; MAX_PARTICLES] {
        let mut out = [0.0; MAX_PARTICLES];
        for (p, d) in points.chunks(4).zip(out.chunks_mut(4)) {
            let lanes = match *p {
                [a, b, c, d] => Lanes::each(|k| [a, b, c, d][k]),
                _ => Lanes::new(p.iter().copied()),
            };
            let four = self.distance_of_four(&lanes);
            d.copy_from_slice(&four.to_array()[..d.len()]);
        }
        out
    }

    /// Signed distance (first order for ellipsoids, exact at the surface) and outward normal.
    pub fn distance(&self, p: Vec3) -> (f32, Vec3) {
        let local = self.axes.transpose() * (p - self.origin);
        let (d, n) = match self.kind {
            Kind::Plane => (local.y, Vec3::Y),
            Kind::Ellipsoid { inverse, inverse_sq, least } => {
                let k0 = (local * inverse).length();
                let gradient = local * inverse_sq;
                let k1 = gradient.length();
                // At the middle there is no gradient; any way out is as good, and this one does not jump.
                if k0 < 1.0e-3 {
                    (-least, inverse.normalize_or(Vec3::Y))
                } else {
                    (k0 * (k0 - 1.0) / k1, gradient / k1)
                }
            }
            Kind::Capsule { half, radius } => {
                let axis = Vec3::Y * local.y.clamp(-half, half);
                let away = local - axis;
                (away.length() - radius, away.normalize_or(Vec3::X))
            }
            Kind::Box { half } => cuboid(local, half),
        };
        (d, self.axes * n)
    }

    /// Whether the body stands in the way from `from` along the unit vector `direction`.
    pub fn blocks(&self, from: Vec3, direction: Vec3, length: f32) -> bool {
        if self.bound >= 0.0 {
            let to_center = self.origin - from;
            let at = direction.dot(to_center).clamp(0.0, length);
            if (to_center - at * direction).length_squared() > self.bound * self.bound {
                return false;
            }
        }
        if let Kind::Ellipsoid { .. } = self.kind {
            // In the ball: where the way comes nearest to its middle.
            let start = self.to_ball * Vec3A::from(from - self.origin);
            let way = self.to_ball * Vec3A::from(length * direction);
            let share = -start.dot(way) / way.length_squared().max(nothing::NO_SLOPE);
            return (start + share.clamp(0.0, 1.0) * way).length_squared() < 1.0;
        }
        let mut t = 0.0;
        for _ in 0..24 {
            let d = self.distance(from + t * direction).0;
            if d < 0.0 {
                return true;
            }
            // Distances of boxes may be too long inside of an edge; the least step ends it.
            t += (0.7 * d).max(0.02 * length);
            if t > length {
                return false;
            }
        }
        false
    }

    /// How far any part of the body moves over the sub-step, at most [m].
    pub fn travel(&self) -> f32 {
        let turned = self.axes - self.axes_before;
        let turned = turned.x_axis.length() + turned.y_axis.length() + turned.z_axis.length();
        // A plane has no size; hair within a metre of its origin is what counts.
        let size = if self.bound < 0.0 { 1.0 } else { self.bound };
        self.origin.distance(self.origin_before) + turned * size
    }

    /// How far from `p` along each of four half-axes the body, grown by `margin`, is met; infinite
    /// where it is not met within `limits`.
    pub fn crossings(&self, p: Vec3, axes: &Lanes, margin: f32, limits: Vec4) -> Vec4 {
        let met = if let Kind::Ellipsoid { inverse, .. } = self.kind {
            // In the ball, whose radius grows by the margin: a quadratic equation.
            let q = Vec3::from(self.to_ball * Vec3A::from(p - self.origin));
            let way = self.turned_to_ball(axes);
            // The margin in the ball's own measure, as thick as it is on the side of the particle.
            let k0 = q.length().max(1.0e-3);
            let radius = 1.0 + margin * (q * inverse).length() / k0;
            let (a, b) = (way.length_squared(), way.dot(q));
            let c = q.length_squared() - radius * radius;
            // The particle itself is inside: no sample may stand out on any side.
            if c <= 0.0 {
                return Vec4::ZERO;
            }
            let root = b * b - a * c;
            let met = (-b - root.max(Vec4::ZERO).sqrt())
                / a.max(Vec4::splat(crate::tolerances::MIN_LENGTH));
            let meets = root.cmpge(Vec4::ZERO) & b.cmplt(Vec4::ZERO);
            Vec4::select(meets, met, Vec4::INFINITY)
        } else {
            let trace = |k: usize| {
                let distance = |t: f32| self.distance(p + t * axes.lane(k)).0 - margin;
                trace(distance, limits[k])
            };
            Vec4::from_array(std::array::from_fn(trace))
        };
        Vec4::select(met.cmplt(limits), met, Vec4::INFINITY)
    }

    /// How far the material at `p` moved over the sub-step [m].
    pub fn carried(&self, p: Vec3) -> Vec3 {
        // The same point of the body's material, a sub-step earlier.
        let local = self.axes.transpose() * (p - self.origin);
        p - (self.axes_before * local + self.origin_before)
    }
}

/// First zero of a distance along a half-axis, infinite if it does not come before `limit`.
fn trace(distance: impl Fn(f32) -> f32, limit: f32) -> f32 {
    let mut t = 0.0;
    for _ in 0..16 {
        let d = distance(t);
        if d < 2.0e-5 {
            return t;
        }
        t += d;
        if t >= limit {
            return f32::INFINITY;
        }
    }
    t
}

/// Kind, local axes (columns), local origin and bounding radius of a shape.
fn resolve(shape: &ColliderShape) -> (Kind, Mat3, Vec3, f32) {
    let v = Vec3::from_array;
    let turned =
        |degrees: [f32; 3]| Mat3::from_quat(crate::math::frames::rotation_xyz_deg(degrees));
    let towards = |axis: Vec3| {
        let axis = axis.normalize_or(Vec3::Y);
        Mat3::from_quat(crate::math::frames::rotation_between(Vec3::Y, axis))
    };
    match shape {
        ColliderShape::Plane { point, normal } => {
            (Kind::Plane, towards(v(*normal)), v(*point), -1.0)
        }
        ColliderShape::Sphere { center, radius } => {
            (ellipsoid(Vec3::splat(*radius)), Mat3::IDENTITY, v(*center), *radius)
        }
        ColliderShape::Capsule { a, b, radius } => {
            let (a, b) = (v(*a), v(*b));
            let half = 0.5 * a.distance(b);
            let kind = Kind::Capsule { half, radius: *radius };
            (kind, towards(b - a), 0.5 * (a + b), half + radius)
        }
        ColliderShape::Ellipsoid { center, radii, rotate_deg } => {
            let radii = v(*radii);
            (ellipsoid(radii), turned(*rotate_deg), v(*center), radii.max_element())
        }
        ColliderShape::Box { center, half_size, rotate_deg } => {
            let half = v(*half_size);
            (Kind::Box { half }, turned(*rotate_deg), v(*center), half.length())
        }
    }
}

fn ellipsoid(radii: Vec3) -> Kind {
    let radii = radii.abs().max(Vec3::splat(1.0e-6));
    let inverse = radii.recip();
    Kind::Ellipsoid { inverse, inverse_sq: inverse * inverse, least: radii.min_element() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn posed(shape: ColliderShape) -> PosedBody {
        let body = HairBody { shape, poses: [(Quat::IDENTITY, Vec3::ZERO); 2], friction: 0.0 };
        PosedBody::new(&body, 0.0, 1.0)
    }

    #[test]
    fn distances_agree_with_the_stage_at_the_surface() {
        let shapes = [
            ColliderShape::Ellipsoid {
                center: [0.1, 0.2, 0.0],
                radii: [0.3, 0.5, 0.2],
                rotate_deg: [10.0, 40.0, 70.0],
            },
            ColliderShape::Box {
                center: [0.1, 0.0, 0.0],
                half_size: [0.2, 0.3, 0.2],
                rotate_deg: [10.0, 20.0, 30.0],
            },
            ColliderShape::Capsule { a: [0.0; 3], b: [0.2, 0.5, 0.1], radius: 0.1 },
            ColliderShape::Plane { point: [0.0, 0.1, 0.0], normal: [0.2, 1.0, 0.1] },
            ColliderShape::Sphere { center: [0.0; 3], radius: 0.3 },
        ];
        for shape in shapes {
            let body = posed(shape.clone());
            for i in 0..300u64 {
                let c = |k| 0.8 * crate::math::random::signed(5, i, k) as f32;
                let p = Vec3::new(c(0), c(1), c(2));
                let (d, n) = shape.signed_distance(p);
                let surface = p - d * n;
                let (e, _) = body.distance(surface);
                assert!(e.abs() < 2e-4, "{shape:?} {p}: {e}");
                let (inside, _) = body.distance(surface - 0.01 * n);
                assert!(inside < 0.0, "{shape:?}");
                assert!(
                    body.holds((surface - 0.01 * n).into())
                        && !body.holds((surface + 0.01 * n).into())
                );
            }
        }
    }

    #[test]
    fn four_at_once_agree_with_one() {
        let shapes = [
            ColliderShape::Ellipsoid {
                center: [0.1, 0.2, 0.0],
                radii: [0.3, 0.5, 0.2],
                rotate_deg: [10.0, 40.0, 70.0],
            },
            ColliderShape::Capsule { a: [0.0; 3], b: [0.2, 0.5, 0.1], radius: 0.1 },
        ];
        for body in shapes.map(posed) {
            for i in 0..300u64 {
                let c = |k| 0.8 * crate::math::random::signed(7, i, k) as f32;
                let v = |k: u64| Vec3::new(c(3 * k), c(3 * k + 1), c(3 * k + 2));
                let four = Lanes::new((0..4).map(v));
                let (distances, bits) = (body.distance_of_four(&four), body.holds_of_four(&four));
                for k in 0..4 {
                    let one = body.distance(v(k as u64)).0;
                    assert!((distances[k] - one).abs() < 1e-5, "{} {one}", distances[k]);
                    assert!(bits >> k & 1 == u32::from(one < 0.0) || one.abs() < 1e-6);
                }
                // From a point outside along four directions: the crossings lie on the surface. (Other
                // shapes are traced, which stops short of a surface that is only grazed.)
                let p = v(4) * 2.0;
                if body.distance(p).0 < 0.01 || !matches!(body.kind, Kind::Ellipsoid { .. }) {
                    continue;
                }
                let axes = Lanes::new((5..9).map(|k| (-p + 0.5 * v(k)).normalize()));
                let met = body.crossings(p, &axes, 0.0, Vec4::splat(3.0));
                for k in (0..4).filter(|&k| met[k].is_finite()) {
                    let d = body.distance(p + met[k] * axes.lane(k)).0;
                    assert!(d.abs() < 1e-3, "{d}");
                }
                for k in (0..4).filter(|&k| met[k].is_infinite()) {
                    for t in 0..60 {
                        let d = body.distance(p + 0.05 * t as f32 * axes.lane(k)).0;
                        assert!(d > -1e-3, "passed through: {d}");
                    }
                }
            }
        }
    }
}
