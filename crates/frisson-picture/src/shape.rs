//! What a ray can hit besides triangles: pieces of strands and balls.

use glam::Vec3A;
use obvhs::aabb::Aabb;
use obvhs::ray::Ray;
use obvhs::rt_triangle::RtTriangle;

/// Least squared sine between a ray and a strand, times its squared length [m²]: along the strand, any
/// place on it is as near.
const LEAST_ACROSS: f32 = 1e-20;

/// Something in a BVH.
pub(crate) trait Primitive: Copy + Send + Sync {
    fn aabb(&self) -> Aabb;
    /// Distance of the hit, or infinity.
    fn hit(&self, ray: &Ray) -> f32;
}

impl Primitive for RtTriangle {
    fn aabb(&self) -> Aabb {
        Self::aabb(self)
    }

    #[inline(always)]
    fn hit(&self, ray: &Ray) -> f32 {
        self.intersect(ray)
    }
}

/// A tapered piece of a strand: all points within `radius` of its axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub a: Vec3A,
    pub b: Vec3A,
    pub radius_a: f32,
    pub radius_b: f32,
}

/// Where a ray passes a segment.
pub(crate) struct Passage {
    /// From the nearest point of the axis to the nearest point of the ray [m].
    pub offset: Vec3A,
    /// Distance along the ray of that nearest point.
    pub t: f32,
    pub radius: f32,
}

impl Segment {
    /// Nearest approach of ray and axis: minimise |o + t d - a - s (b - a)| over both.
    #[inline(always)]
    pub fn passage(&self, ray: &Ray) -> Passage {
        let axis = self.b - self.a;
        let from_a = ray.origin - self.a;
        let (along, length_sq) = (ray.direction.dot(axis), axis.length_squared());
        let (d, e) = (ray.direction.dot(from_a), axis.dot(from_a));
        let denominator = length_sq - along * along;
        let s = ((e - along * d) / denominator.max(LEAST_ACROSS)).clamp(0.0, 1.0);
        let t = along * s - d;
        Passage {
            offset: from_a + ray.direction * t - axis * s,
            t,
            radius: self.radius_a + (self.radius_b - self.radius_a) * s,
        }
    }
}

impl Primitive for Segment {
    fn aabb(&self) -> Aabb {
        let (ra, rb) = (Vec3A::splat(self.radius_a), Vec3A::splat(self.radius_b));
        Aabb::new((self.a - ra).min(self.b - rb), (self.a + ra).max(self.b + rb))
    }

    #[inline(always)]
    fn hit(&self, ray: &Ray) -> f32 {
        let passage = self.passage(ray);
        let inside = passage.radius * passage.radius - passage.offset.length_squared();
        if inside <= 0.0 {
            return f32::INFINITY;
        }
        let t = passage.t - inside.sqrt();
        if t >= ray.tmin && t <= ray.tmax { t } else { f32::INFINITY }
    }
}

/// A ball.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub center: Vec3A,
    pub radius: f32,
}

impl Primitive for Ball {
    fn aabb(&self) -> Aabb {
        Aabb::new(self.center - self.radius, self.center + self.radius)
    }

    #[inline(always)]
    fn hit(&self, ray: &Ray) -> f32 {
        // The nearest approach first: subtracting it keeps the accuracy for small, distant balls.
        let to = ray.origin - self.center;
        let b = to.dot(ray.direction);
        let miss = to - ray.direction * b;
        let inside = self.radius * self.radius - miss.length_squared();
        if inside < 0.0 {
            return f32::INFINITY;
        }
        let half = inside.sqrt();
        let (near, far) = (-b - half, -b + half);
        let t = if near >= ray.tmin { near } else { far };
        if t >= ray.tmin && t <= ray.tmax { t } else { f32::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_nearest_approach_is_the_nearest(
            a in prop::array::uniform3(-1.0f32..1.0), b in prop::array::uniform3(-1.0f32..1.0),
            o in prop::array::uniform3(-3.0f32..3.0), d in prop::array::uniform3(-1.0f32..1.0),
        ) {
            let d = Vec3A::from(d);
            prop_assume!(d.length() > 0.1);
            let ray = Ray::new_inf(o.into(), d.normalize());
            let segment = Segment { a: a.into(), b: b.into(), radius_a: 0.1, radius_b: 0.1 };
            let found = segment.passage(&ray).offset.length();
            for step in 0..=100 {
                let on_axis = segment.a.lerp(segment.b, step as f32 / 100.0);
                let away = on_axis - ray.origin;
                let distance = (away - ray.direction * away.dot(ray.direction)).length();
                prop_assert!(found <= distance + 1e-3);
            }
        }

        #[test]
        fn a_ball_is_hit_on_its_surface(
            o in prop::array::uniform3(-3.0f32..3.0), p in prop::array::uniform3(-0.5f32..0.5),
        ) {
            let ball = Ball { center: Vec3A::ZERO, radius: 1.0 };
            let (o, p) = (Vec3A::from(o), Vec3A::from(p));
            prop_assume!((p - o).length() > 0.1);
            let ray = Ray::new_inf(o, (p - o).normalize());
            let t = ball.hit(&ray);
            prop_assert!(t.is_finite());
            prop_assert!(((o + ray.direction * t).length() - 1.0).abs() < 1e-4);
        }
    }
}
