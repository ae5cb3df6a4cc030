//! Planes that hold particles out of bodies, and what is left inside pushed out.

use glam::Vec3;

use super::bodies::PosedBody;

/// Most planes that hold one particle at once.
pub(super) const MAX_CONTACTS: usize = 3;

/// A plane that holds a particle out of a body: it must stay where `normal . (p - point) >= 0`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contact {
    pub normal: Vec3,
    pub point: Vec3,
    /// How far the body's material moved during the step [m].
    pub carried: Vec3,
    pub friction: f32,
    pub restitution: f32,
}

impl Contact {
    /// Height of a point above the plane [m].
    fn gap(&self, p: Vec3) -> f32 {
        self.normal.dot(p - self.point)
    }
}

/// A particle deeper than so many margins goes back the way it came [-]: what only sinks in leaves straight up.
const DEEP: f32 = 4.0;

/// Least margin for that [m]: a body without one still has a skin.
const LEAST_MARGIN: f32 = 1.0e-4;

/// Halvings of the way in that find where it enters: to a four-thousandth of it.
const HALVINGS: usize = 12;

/// How far above its height a point is set down [m]: exactly on it rounding would find it inside again.
const CLEARANCE: f32 = 1.0e-6;

/// Steps of a point that leaves a pocket between bodies, and the least length of one [m].
const POCKET_STEPS: usize = 256;
const POCKET_STEP: f32 = 1.0e-4;

impl PosedBody {
    /// The plane that holds a particle out, if it is inside. A particle that was outside when the
    /// step began goes back out where it came in; else the nearest way.
    pub fn contact(&self, start: Vec3, p: Vec3, margin: f32, restitution: f32) -> Option<Contact> {
        if self.is_clear(p, margin) {
            return None;
        }
        let (depth, normal) = self.distance(p);
        if depth >= margin {
            return None;
        }
        // The particle's start is taken along with the body: a body that runs into resting hair is entered from where it
        // came.
        let carried = self.carried(p);
        let mut surface = (p - depth * normal, normal);
        if depth < -DEEP * margin.max(LEAST_MARGIN) {
            surface = self.way_back(start + carried, p).unwrap_or(surface);
        }
        let (place, normal) = surface;
        Some(Contact {
            normal,
            point: place + margin * normal,
            carried,
            friction: self.friction,
            restitution,
        })
    }

    /// Where the way from `outside` to `p` enters the body.
    fn way_back(&self, outside: Vec3, p: Vec3) -> Option<(Vec3, Vec3)> {
        if self.distance(outside).0 < 0.0 {
            return None;
        }
        let (mut out, mut inside) = (0.0f32, 1.0f32);
        for _ in 0..HALVINGS {
            let mid = 0.5 * (out + inside);
            if self.distance(outside.lerp(p, mid)).0 < 0.0 {
                inside = mid;
            } else {
                out = mid;
            }
        }
        let place = outside.lerp(p, inside);
        Some((place, self.distance(place).1))
    }
}

/// A particle that looks for what holds it out of bodies.
pub(super) struct Seeker {
    /// Bodies that may be near, one bit each.
    pub near: u64,
    /// Where it was when the step began, and where it is now [m].
    pub start: Vec3,
    pub now: Vec3,
    pub restitution: f32,
}

/// The planes that hold one particle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContactList {
    planes: [Contact; MAX_CONTACTS],
    count: usize,
}

impl ContactList {
    pub fn as_slice(&self) -> &[Contact] {
        &self.planes[..self.count]
    }

    pub fn as_mut_slice(&mut self) -> &mut [Contact] {
        &mut self.planes[..self.count]
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds the planes that hold a particle at its heights above the bodies near it.
    pub fn add_bodies(
        &mut self,
        bodies: &[PosedBody],
        seeker: &Seeker,
        heights: impl Fn(usize) -> f32,
    ) {
        let Seeker { near, start, now, restitution } = *seeker;
        if near == 0 {
            return;
        }
        for (k, body) in bodies.iter().enumerate().filter(|(k, _)| near >> (*k).min(63) & 1 == 1) {
            if let Some(contact) = body.contact(start, now, heights(k), restitution) {
                self.insert(contact, now);
            }
        }
    }

    /// Adds a contact of a particle at `p`, or replaces the shallowest when the list is full.
    pub fn insert(&mut self, contact: Contact, p: Vec3) {
        if self.count < MAX_CONTACTS {
            self.planes[self.count] = contact;
            self.count += 1;
            return;
        }
        let gap = |c: &Contact| c.gap(p);
        // The deepest three: what is shallow is met when the deeper ones are.
        let mut shallowest = 0;
        for k in 1..MAX_CONTACTS {
            if gap(&self.planes[k]) > gap(&self.planes[shallowest]) {
                shallowest = k;
            }
        }
        if gap(&contact) < gap(&self.planes[shallowest]) {
            self.planes[shallowest] = contact;
        }
    }
}

/// Moves a point out of the bodies whose bits are set in `near`, to its height above each, also out of
/// a pocket where several overlap.
pub(super) fn push_out(
    bodies: &[PosedBody],
    near: u64,
    p: Vec3,
    heights: impl Fn(usize) -> f32,
) -> Vec3 {
    let deepest = |p: Vec3| {
        bodies
            .iter()
            .enumerate()
            .filter(|(k, b)| near >> (*k).min(63) & 1 == 1 && !b.is_clear(p, heights(*k)))
            .map(|(k, b)| {
                let (d, n) = b.distance(p);
                (d - heights(k), n)
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
    };
    // Out of the deepest first; where that leads into another body the next round leads out of that.
    let mut at = p;
    let mut tried = Vec3::ZERO;
    for _ in 0..super::limits::PUSH_ROUNDS {
        match deepest(at) {
            Some((d, n)) if d < 0.0 => {
                at += n * (CLEARANCE - d);
                tried += n;
            }
            _ => return at,
        }
    }
    // Two surfaces hand the point to each other: leave along their mean direction.
    let direction = tried.normalize_or(Vec3::Y);
    for _ in 0..POCKET_STEPS {
        match deepest(at) {
            Some((d, _)) if d < 0.0 => at += direction * (-d).max(POCKET_STEP),
            _ => return at,
        }
    }
    at
}

/// How high above every body the particles of one wisp must stay.
///
/// A fitted body may swallow a root, which the scalp carries and nothing pushes out. The wisp then
/// comes out of the body gradually: asking its first free particle to be outside at once would tear
/// it off.
#[derive(Clone, Copy)]
pub(super) struct Heights {
    margin: f32,
    segment: f32,
    /// Height of particle 1 above each body, if it is less than the margin [m].
    roots: [f32; 64],
}

/// How steeply hair may come out of a body that swallows its root [-].
const RISE: f32 = 0.5;

impl Heights {
    /// For a wisp that no body swallows.
    pub fn new(segment: f32, margin: f32) -> Self {
        Self { margin, segment, roots: [margin; 64] }
    }

    /// For a wisp whose particle 1 is at `root`.
    pub fn over(bodies: &[PosedBody], root: Vec3, segment: f32, margin: f32) -> Self {
        let mut heights = Self::new(segment, margin);
        for (k, body) in bodies.iter().enumerate() {
            heights.set_root(k, body.distance(root).0);
        }
        heights
    }

    /// Says how high particle 1 is above a body [m].
    pub fn set_root(&mut self, body: usize, height: f32) {
        if let Some(root) = self.roots.get_mut(body) {
            // A root high above a body says nothing: the particles after it stay at the margin as all do.
            *root = height.min(self.margin);
        }
    }

    /// Height of a particle above a body [m].
    pub fn at(&self, particle: usize, body: usize) -> f32 {
        let root = self.roots.get(body).copied().unwrap_or(self.margin);
        (root + RISE * self.segment * (particle as f32 - 1.0)).min(self.margin)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bodies::tests::posed;
    use super::*;
    use crate::stage::ColliderShape;

    #[test]
    fn a_pocket_between_two_ellipsoids_is_left() {
        let at = |x: f32| {
            posed(ColliderShape::Ellipsoid {
                center: [x, 0.0, 0.0],
                radii: [0.2, 0.3, 0.2],
                rotate_deg: [0.0; 3],
            })
        };
        let bodies = [at(-0.12), at(0.12)];
        for i in 0..500u64 {
            let c = |k| 0.3 * crate::math::random::signed(6, i, k) as f32;
            let p = push_out(&bodies, !0, Vec3::new(c(0), c(1), c(2)), |_| 0.001);
            for body in &bodies {
                assert!(body.distance(p).0 > 0.0, "{p}");
            }
        }
    }

    #[test]
    fn a_fast_particle_goes_back_where_it_came_in() {
        let body = posed(ColliderShape::Ellipsoid {
            center: [0.0; 3],
            radii: [1.0, 0.1, 1.0],
            rotate_deg: [0.0; 3],
        });
        // Crossed from above, now nearer to the lower side.
        let c = body.contact(Vec3::new(0.0, 0.2, 0.0), Vec3::new(0.0, -0.05, 0.0), 0.0, 0.0);
        assert!(c.unwrap().normal.y > 0.9);
    }
}
