//! Contact with animated meshes: the character under the garment.
//!
//! At the start of a tick every node looks for the nearest place of each body, the nearest of any part
//! that faces another way, and the place that will run into it. During the tick those places move with
//! the body's material, so a fast limb pushes the cloth ahead of it whatever distance it covers: a node
//! cannot be found on the wrong side, because its side was settled before the limb moved.
//!
//! ```text
//!             o           A place pushes where its triangle is, and a little beside it: a plane
//!   slack  |--'--|        without end at a finger's tip would throw all cloth in front of the hand.
//!       ---/\-----/\---
//!         /  \___/  \
//! ```

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::body::GarmentBody;
use super::collide::PlaneContact;
use super::outside::{Ceiling, Under};
use super::pressing::Pressing;
use super::solver::Moment;
use super::sunk::Sunk;
use crate::geometry::closest_on_triangle;
use crate::tolerances::cloth as tolerances;

/// Nodes a task takes at once.
const CHUNK: usize = 256;

/// Slack of a place that is not felt.
const PASSED: f32 = -1.0;

/// Slack of a place that was found for this very node, wherever its triangle is.
const EVERYWHERE: f32 = f32::INFINITY;

/// Places per body that a node may feel.
const SIDES: usize = 3;

/// A place of a body near a node, as it was found.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    triangle: u32,
    barycentric: [f32; 3],
    /// How far the node is off the normal there, at the start [m].
    beside: f32,
    /// Distance of the node at the start, negative inside [m].
    height: f32,
    /// Where it presses to.
    pressing: Pressing,
    /// What the node lies over, where the body is a part that stays outside.
    under: Option<Under>,
    /// Where such a part presses it to that.
    ceiling: Option<Ceiling>,
}

/// A place of a body near a node, over the tick.
#[derive(Clone, Copy, Debug, Default)]
struct Near {
    start: DVec3,
    end: DVec3,
    normal_start: DVec3,
    normal_end: DVec3,
    /// Corners of its triangle at the start and at the end.
    corners: [[Vec3; 3]; 2],
    /// How far beside its triangle it still pushes [m]; [`PASSED`] where it does not.
    slack: f32,
    /// Share of the friction that is felt [-].
    grip: f32,
}

impl Place {
    /// Whether it is felt.
    fn is_there(&self) -> bool {
        self.triangle != u32::MAX || self.ceiling.is_some()
    }
}

impl Near {
    /// What is below a part that stays outside: pressed towards the trunk and carried along with it, not rubbed.
    fn below(ceiling: &Ceiling) -> Self {
        let [normal_start, normal_end] = ceiling.normals.map(|normal| normal.as_dvec3());
        let (start, end) = (ceiling.start, ceiling.end);
        Self { start, end, normal_start, normal_end, slack: EVERYWHERE, ..Self::default() }
    }

    /// Whether a point is over the triangle, or not far beside it; `farthest` is how far from it at most.
    fn is_under(&self, p: Vec3, normal: Vec3, fraction: f32, farthest: f32) -> bool {
        if self.slack == PASSED || self.slack == EVERYWHERE {
            return self.slack == EVERYWHERE;
        }
        let [start, end] = &self.corners;
        let corners = [0, 1, 2].map(|k: usize| start[k].lerp(end[k], fraction));
        let off = p - closest_on_triangle(p, corners).0;
        if off.length_squared() > farthest * farthest {
            return false;
        }
        off.reject_from_normalized(normal).length_squared() <= self.slack * self.slack
    }
}

/// Places of bodies near nodes, for one tick.
#[derive(Default)]
pub struct BodyContacts {
    /// Per node and body, [`SIDES`] places; `u32::MAX` marks none.
    places: Vec<[Place; SIDES]>,
    near: Vec<Near>,
    offsets: Vec<u32>,
    friction: f64,
    thickness: f64,
    bodies: usize,
}

/// How far to look.
#[derive(Clone, Copy, Debug)]
pub struct BodyReach {
    /// Height of the contact band [m].
    pub thickness: f64,
    /// Mean edge of the cloth [m].
    pub mean_edge: f64,
    /// Depth from which nodes are brought out [m].
    pub depth: f64,
    /// Friction coefficient [-].
    pub friction: f64,
}

impl BodyReach {
    /// How far from what the cloth is worn on parts that stay outside only press towards it [m].
    pub fn room(&self) -> f32 {
        (tolerances::OUTSIDE_ROOM * self.thickness) as f32
    }
}

impl BodyContacts {
    /// Whether there is nothing to touch.
    pub fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    /// Whether any place is near a node.
    #[inline(always)]
    pub fn has(&self, node: usize) -> bool {
        !self.near.is_empty() && self.offsets[node] < self.offsets[node + 1]
    }

    /// Normal of the nearest place of a body, at the start of the tick, if there is one near.
    pub fn first_normal(&self, node: usize, index: usize, body: &GarmentBody) -> Option<Vec3> {
        let place = self.places[node * self.bodies + index][0];
        (place.triangle != u32::MAX).then(|| body.surface.normal(place.triangle, place.barycentric))
    }

    /// Distance of a node from a body at the start of the tick, negative inside, if it is near [m].
    pub fn height(&self, node: usize, index: usize) -> Option<f32> {
        let place = self.places[node * self.bodies + index][0];
        (place.triangle != u32::MAX).then_some(place.height)
    }

    /// Whether a node has surfaces that press it from opposite sides: it may be pinched between them.
    pub fn is_between(&self, node: usize) -> bool {
        let on_body = &self.places[node * self.bodies..(node + 1) * self.bodies];
        let felt = || on_body.iter().flat_map(|s| &s[..2]).filter(|p| p.triangle != u32::MAX);
        let normals = || felt().map(|p| p.pressing.normal);
        // A ridge presses from two sides, too, but not against itself.
        let opposed = |(i, a): (usize, Vec3)| {
            normals().skip(i + 1).any(|b| f64::from(a.dot(b)) < tolerances::PINCH_COS)
        };
        normals().enumerate().any(opposed)
    }

    /// Finds the places near every node on the bodies as they are at the start of the tick. Call
    /// before the bodies are updated.
    pub fn find(
        &mut self,
        bodies: &[GarmentBody],
        positions: &[DVec3],
        velocities: &[DVec3],
        dt: f64,
        reach: BodyReach,
    ) {
        self.friction = reach.friction;
        self.thickness = reach.thickness;
        self.bodies = bodies.len();
        let none = [Place { triangle: u32::MAX, ..Place::default() }; SIDES];
        // Places of the last tick are kept: nothing nearer than those is far to seek.
        self.places.resize(positions.len() * bodies.len(), none);
        if bodies.is_empty() {
            return;
        }
        let per = bodies.len();
        self.places.par_chunks_mut(CHUNK * per).enumerate().for_each(|(chunk, places)| {
            for (local, places) in places.chunks_mut(per).enumerate() {
                let node = chunk * CHUNK + local;
                for (index, (body, place)) in bodies.iter().zip(places).enumerate() {
                    if body.is_buried(node) {
                        *place = none;
                        continue;
                    }
                    // Bodies may speed up: allow for half as much again.
                    let moving = velocities[node].length() + 1.5 * body.speed;
                    let far = reach.thickness
                        + moving * dt
                        + tolerances::BODY_REACH_EDGES * reach.mean_edge;
                    let p = positions[node].as_vec3();
                    // The place of the last tick bounds the search: cloth slides slowly against what it lies on.
                    let last = std::mem::replace(place, none)[0].triangle;
                    let known = body.distance_to(last, p);
                    let way = (velocities[node] * dt).as_vec3();
                    if body.is_outside {
                        place[0].under = Under::find(bodies, p, reach);
                        if place[0].under.is_some() {
                            continue;
                        }
                    }
                    find_sides(body, (p, way), (far, known), reach, place);
                    for side in place.iter_mut().filter(|p| p.triangle != u32::MAX) {
                        let at = |f: f32| body.surface.point(side.triangle, side.barycentric, f);
                        if is_hidden(bodies, index, (at(1.0), at(1.0) - at(0.0)), reach) {
                            *side = none[0];
                        }
                    }
                }
            }
        });
    }

    /// Finds where parts that stay outside press nodes to what is under them. Call after the bodies are updated.
    pub fn find_ceilings(&mut self, bodies: &[GarmentBody], reach: BodyReach) {
        let per = bodies.len();
        if !bodies.iter().any(|body| body.is_outside) {
            return;
        }
        self.places.par_chunks_mut(CHUNK * per).for_each(|places| {
            for places in places.chunks_mut(per) {
                for (body, place) in bodies.iter().zip(places) {
                    let under = place[0].under;
                    place[0].ceiling = under.and_then(|under| under.ceiling(bodies, body, reach));
                }
            }
        });
    }

    /// Follows the found places to the end of the tick. Call after the bodies are updated.
    pub fn follow(
        &mut self,
        (bodies, sunk): (&[GarmentBody], &Sunk),
        velocities: &[DVec3],
        dt: f64,
        lets_pass: impl Fn(usize, Vec3, Vec3) -> bool,
        grip: impl Fn(usize) -> f32,
    ) {
        self.offsets.clear();
        self.offsets.push(0);
        self.near.clear();
        let per = self.bodies.max(1);
        for (node, (places, v)) in self.places.chunks(per).zip(velocities).enumerate() {
            for (index, (body, on_body)) in bodies.iter().zip(places).enumerate() {
                let lower = sunk.of(node, index);
                for place in on_body.iter().filter(|p| p.is_there()) {
                    if let Some(ceiling) = place.ceiling {
                        self.near.push(Near::below(&ceiling));
                        continue;
                    }
                    let at = |f: f32| body.surface.point(place.triangle, place.barycentric, f);
                    let corners = body.surface.corners(place.triangle);
                    let (start, end) = (at(0.0).as_dvec3(), at(1.0).as_dvec3());
                    let normal =
                        place.pressing.after(&body.surface, (place.triangle, place.barycentric));
                    // Cloth that slides in this tick finds its next triangle with the next one.
                    let way = *v * dt - (end - start);
                    let slid = way.reject_from_normalized(normal.as_dvec3()).length();
                    let normal_end = normal.as_dvec3();
                    let normal_start = place.pressing.normal.as_dvec3();
                    let passed = lets_pass(node, normal, way.as_vec3());
                    let slack = (self.thickness + slid) as f32 + place.beside;
                    let near = Near {
                        start: start - lower * normal_start,
                        end: end - lower * normal_end,
                        normal_start,
                        normal_end,
                        corners,
                        slack: if passed { PASSED } else { slack },
                        grip: grip(node),
                    };
                    self.near.push(near);
                }
            }
            self.offsets.push(self.near.len() as u32);
        }
    }

    /// Velocity of a node at `x` once all that comes against it in the tick has hit it [m/s].
    pub fn pushed(&self, node: usize, (x, v): (DVec3, DVec3), dt: f64) -> DVec3 {
        let mut coming = v;
        for near in self.near[self.of(node)].iter().filter(|near| near.slack != PASSED) {
            // What a limb strikes leaves at the limb's speed: cloth ahead of it is met in this very tick.
            let closing = ((near.end - near.start) / dt - coming).dot(near.normal_end);
            let height = (x - near.start).dot(near.normal_start);
            if closing > 0.0 && height - closing * dt < self.thickness {
                coming += closing * near.normal_end;
            }
        }
        coming
    }

    /// Where a node's places are in `near`.
    fn of(&self, node: usize) -> std::ops::Range<usize> {
        match self.offsets.get(node + 1) {
            Some(&end) if !self.near.is_empty() => self.offsets[node] as usize..end as usize,
            _ => 0..0,
        }
    }

    /// Contacts of a node at a moment of the tick.
    pub fn contacts_of(
        &self,
        node: usize,
        position: DVec3,
        Moment { fraction, share }: Moment,
        reach: f64,
    ) -> impl Iterator<Item = PlaneContact> + '_ {
        self.near[self.of(node)].iter().filter_map(move |near| {
            let normal = near.normal_start.lerp(near.normal_end, fraction).normalize_or(DVec3::Y);
            let distance = (position - near.start.lerp(near.end, fraction)).dot(normal);
            // Cloth in front of a plane is touched by what is near it, not by the plane; what is behind has to come out
            // wherever it is.
            let farthest =
                if distance > 0.0 { tolerances::FELT_WITHIN * reach } else { f64::INFINITY };
            let (p, n, t) = (position.as_vec3(), normal.as_vec3(), fraction as f32);
            let under = || near.is_under(p, n, t, farthest as f32);
            (distance < reach && under()).then(|| PlaneContact {
                distance,
                normal,
                moved: (near.end - near.start) * share,
                friction: self.friction * f64::from(near.grip),
            })
        })
    }
}

/// Whether a place of one body, which moved by `way` in the last tick, lies within another and stays there: the root of
/// an arm in a trunk. Nothing is pushed out there, as it would only be pushed into the other, and back. A knee that is
/// about to come through a robe is not hidden any more: felt only once it is out, it would be through the cloth by then.
pub fn is_hidden(
    bodies: &[GarmentBody],
    index: usize,
    (at, way): (Vec3, Vec3),
    reach: BodyReach,
) -> bool {
    let within = (reach.depth.max(reach.thickness)) as f32;
    let deep = -tolerances::HIDDEN_DEPTH * reach.thickness as f32;
    // What stays outside gives way to what the cloth is worn on.
    let others =
        bodies.iter().enumerate().filter(|(other, body)| *other != index && !body.is_outside);
    let is_within = |body: &GarmentBody| {
        let Some((distance, hit)) = body.surface.signed_distance(at, within) else { return false };
        let place = |f: f32| body.surface.point(hit.triangle, hit.barycentric, f);
        let out = way - (place(1.0) - place(0.0));
        let normal = body.surface.normal(hit.triangle, hit.barycentric);
        distance + tolerances::COMING_OUT * out.dot(normal).max(0.0) < deep
    };
    others.map(|(_, body)| body).any(is_within)
}

/// A place that is not the nearest pushes only what is over it, or comes over it in the tick: from far beside, its plane
/// would cut through cloth that it never touches.
fn only_over(place: Place) -> Place {
    Place { beside: 0.0, ..place }
}

/// Places that a node at `p`, on its way, may touch. `known` is the distance of some place of the body.
fn find_sides(
    body: &GarmentBody,
    (p, way): (Vec3, Vec3),
    (reach, known): (f64, f32),
    limits: BodyReach,
    out: &mut [Place; SIDES],
) {
    let surface = &body.surface;
    let far = (reach.max(limits.depth) as f32).min(known);
    let Some((distance, hit)) = surface.signed_distance(p, far) else { return };
    if f64::from(distance) > reach || f64::from(-distance) > limits.depth {
        return;
    }
    let first = surface.normal(hit.triangle, hit.barycentric);
    let place = |triangle: u32, barycentric: [f32; 3], at: Vec3| {
        let pressing = Pressing::new(surface, (triangle, barycentric), p - at, limits.mean_edge);
        let beside = (p - at).reject_from_normalized(pressing.normal).length();
        Place { triangle, barycentric, beside, height: distance, pressing, ..Place::default() }
    };
    out[0] = place(hit.triangle, hit.barycentric, hit.point);
    let bvh = surface.bvh();
    let other = bvh.closest_where(p, reach as f32, |triangle, place, barycentric| {
        // Only a face that looks at the node can press it.
        bvh.face_normal(triangle).dot(first) < tolerances::OTHER_SIDE_COS
            && (p - place).dot(surface.normal(triangle, barycentric)) > 0.0
    });
    if let Some(hit) = other {
        out[1] = only_over(place(hit.triangle, hit.barycentric, hit.point));
    }
    // As the body moved in the last tick, and a little faster.
    let moved = surface.point(hit.triangle, hit.barycentric, 1.0)
        - surface.point(hit.triangle, hit.barycentric, 0.0);
    let towards = 1.5 * (way - moved);
    if distance > 0.0 && f64::from(towards.length()) > limits.thickness {
        let Some(hit) = bvh.raycast(p, towards, 1.0) else { return };
        let known = out.iter().any(|o| o.triangle == hit.triangle);
        if !known && bvh.face_normal(hit.triangle).dot(towards) < 0.0 {
            let at = surface.point(hit.triangle, hit.barycentric, 1.0);
            out[2] = only_over(place(hit.triangle, hit.barycentric, at));
        }
    }
}
