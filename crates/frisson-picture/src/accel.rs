//! Bounding-volume hierarchies: triangles, strands and balls each have their own.

use obvhs::Boundable;
use obvhs::aabb::Aabb;
use obvhs::bvh2::reinsertion::ReinsertionOptimizer;
use obvhs::cwbvh::CwBvh;
use obvhs::cwbvh::bvh2_to_cwbvh::bvh2_to_cwbvh;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use obvhs::ray::{Ray, RayHit};

use crate::shape::Primitive;

/// Primitives below which a hierarchy is improved much, and below which a little: reinsertion pays for
/// itself only while a picture casts many rays per primitive.
const FEW: usize = 400_000;
const MANY: usize = 2_000_000;
/// Share of the nodes that are put in again, for few and for many primitives [-].
const REINSERTED: [f32; 2] = [0.02, 0.005];
/// What boxes are widened by: at all [m], and as a share of their distance from the origin [-], about what
/// f32 rounds to there.
const LEAST_PAD: f32 = 1e-7;
const PAD_SHARE: f32 = 1e-6;

/// Primitives in the order of their hierarchy.
pub(crate) struct Bvh<P> {
    tree: CwBvh,
    /// Box of everything: most rays from the ground around a subject pass it by.
    bounds: Aabb,
    /// In leaf order, so that a leaf's primitives lie side by side.
    primitives: Vec<P>,
    /// Index before sorting, for each primitive.
    source: Vec<u32>,
}

struct Boxed(Aabb);

impl Boundable for Boxed {
    fn aabb(&self) -> Aabb {
        self.0
    }
}

impl<P: Primitive> Bvh<P> {
    /// Builds the hierarchy; the boxes must be finite.
    pub fn build(primitives: &[P]) -> Self {
        if primitives.is_empty() {
            let bounds = Aabb::empty();
            return Self {
                tree: CwBvh::default(),
                bounds,
                primitives: Vec::new(),
                source: Vec::new(),
            };
        }
        let boxes: Vec<Boxed> = primitives.iter().map(|p| Boxed(padded(p.aabb()))).collect();
        let bounds = boxes.iter().fold(Aabb::empty(), |all, b| all.union(&b.0));
        let count = primitives.len();
        let (distance, reinsertion) = match count {
            0..FEW => (PlocSearchDistance::Low, REINSERTED[0]),
            FEW..MANY => (PlocSearchDistance::VeryLow, REINSERTED[1]),
            _ => (PlocSearchDistance::Minimum, 0.0),
        };
        let mut binary = PlocBuilder::with_capacity(count).build(
            distance,
            &boxes,
            (0..count as u32).collect(),
            SortPrecision::U64,
            2,
        );
        if reinsertion > 0.0 {
            ReinsertionOptimizer::default().run(&mut binary, reinsertion, None);
        }
        let tree = bvh2_to_cwbvh(&binary, 3, true, false);
        let source = tree.primitive_indices.clone();
        let primitives = source.iter().map(|&i| primitives[i as usize]).collect();
        Self { tree, bounds, primitives, source }
    }

    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.primitives.len()
    }

    /// The primitive at a place in the hierarchy.
    pub fn primitive(&self, place: u32) -> &P {
        &self.primitives[place as usize]
    }

    /// Index before sorting.
    pub fn source(&self, place: u32) -> u32 {
        self.source[place as usize]
    }

    /// The nearest hit before `ray.tmax`: place and distance.
    #[inline]
    pub fn nearest(&self, ray: Ray) -> Option<(u32, f32)> {
        if self.misses(&ray) {
            return None;
        }
        let mut hit = RayHit::none();
        self.tree
            .ray_traverse(ray, &mut hit, |ray, place| self.primitives[place].hit(ray))
            .then_some((hit.primitive_id, hit.t))
    }

    /// Whether a ray passes the whole hierarchy by.
    #[inline(always)]
    fn misses(&self, ray: &Ray) -> bool {
        self.primitives.is_empty() || self.bounds.intersect_ray(ray) > ray.tmax.min(f32::MAX)
    }

    /// Visits hits in no particular order until `stop` says so; returns whether it did.
    #[inline]
    pub fn any(&self, ray: Ray, mut stop: impl FnMut(u32, f32) -> bool) -> bool {
        if self.misses(&ray) {
            return false;
        }
        !self.tree.ray_traverse_miss(ray, |ray, place| {
            let t = self.primitives[place].hit(ray);
            if t < ray.tmax && stop(place as u32, t) { f32::NEG_INFINITY } else { f32::INFINITY }
        })
    }
}

/// A box that is nowhere flat: the quantised nodes need an extent, and so does the rounding of a
/// ray's slopes.
fn padded(aabb: Aabb) -> Aabb {
    let reach = aabb.min.abs().max(aabb.max.abs()).max_element();
    let pad = LEAST_PAD + reach * PAD_SHARE;
    Aabb::new(aabb.min - pad, aabb.max + pad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Ball;
    use glam::Vec3A;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_hierarchy_finds_what_testing_all_finds(
            centers in prop::collection::vec(prop::array::uniform3(-2.0f32..2.0), 1..60),
            o in prop::array::uniform3(-3.0f32..3.0), d in prop::array::uniform3(-1.0f32..1.0),
        ) {
            let d = Vec3A::from(d);
            prop_assume!(d.length() > 0.1);
            let balls: Vec<Ball> =
                centers.iter().map(|&c| Ball { center: c.into(), radius: 0.3 }).collect();
            let ray = Ray::new_inf(o.into(), d.normalize());
            let all = balls.iter().map(|b| b.hit(&ray)).fold(f32::INFINITY, f32::min);
            let bvh = Bvh::build(&balls);
            let found = bvh.nearest(ray).map_or(f32::INFINITY, |(_, t)| t);
            prop_assert_eq!(all, found);
            let mut hits = 0;
            bvh.any(ray, |_, _| { hits += 1; false });
            prop_assert_eq!(hits, balls.iter().filter(|b| b.hit(&ray).is_finite()).count());
        }
    }

    #[test]
    fn identical_primitives_and_none_at_all() {
        let ball = Ball { center: Vec3A::ZERO, radius: 0.0 };
        let bvh = Bvh::build(&[ball; 100]);
        assert_eq!(bvh.len(), 100);
        assert!(Bvh::<Ball>::build(&[]).nearest(Ray::new_inf(Vec3A::ZERO, Vec3A::X)).is_none());
    }
}
