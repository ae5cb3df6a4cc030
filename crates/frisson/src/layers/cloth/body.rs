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

use std::sync::Arc;

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::collide::BodyTouch;
use crate::geometry::{Mesh, MeshTopology, closest_on_triangle};
use crate::stage::SurfaceMotion;
use crate::tolerances::cloth as tolerances;

/// Nodes a task takes at once.
const CHUNK: usize = 256;
/// Slack of a place that is not felt.
const PASSED: f32 = -1.0;
/// Places per body that a node may feel.
const SIDES: usize = 3;

/// Where a body was at the end of the last tick and of the one before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Before that tick [m].
    pub previous: Vec<Vec3>,
    /// After it [m].
    pub current: Vec<Vec3>,
    /// Its fastest vertex [m/s].
    pub speed: f64,
    /// Fingerprint of its triangles; 0 for those it was built with.
    pub triangles: u64,
}

impl BodyState {
    /// Whether it can be one at all.
    pub fn is_sound(&self) -> bool {
        self.previous.len() == self.current.len() && self.speed.is_finite()
    }
}

/// A body and its mesh's place in the frame. Rest data hold it as it was built; a copy in the scratch
/// follows the [`BodyState`].
#[derive(Clone)]
pub struct GarmentBody {
    /// Index in [`crate::stage::Frame::meshes`].
    pub mesh: usize,
    /// Where it is and was.
    pub surface: SurfaceMotion,
    /// A copy whose positions are replaced: what of the mesh is touched.
    pub source: Mesh,
    /// The mesh's topology, of which `source` may have but a part.
    incoming: Arc<MeshTopology>,
    /// Vertices that triangles have.
    pub vertices: Vec<u32>,
    /// Nodes of the cloth that cannot come out of it; empty without any.
    buried: Vec<bool>,
    speed: f64,
    /// Fingerprint of the triangles; 0 for those it was built with.
    triangles: u64,
}

impl GarmentBody {
    /// A body as it stands at the start, without the triangles between vertices to leave out.
    pub fn new(mesh: usize, source: &Mesh, left_out: &[bool]) -> Self {
        let incoming = Arc::clone(&source.topology);
        let mut source = source.clone();
        if left_out.contains(&true) {
            let all = source.topology.triangles.iter();
            let kept = all.filter(|t| !t.iter().all(|&v| left_out[v as usize])).copied().collect();
            source = Mesh::new(&source.name, source.positions, kept);
        }
        let vertices = used_vertices(&source);
        let mut surface = SurfaceMotion::default();
        surface.update(&source, 0.0);
        let buried = Vec::new();
        Self { mesh, surface, source, incoming, vertices, buried, speed: 0.0, triangles: 0 }
    }

    /// Finds the nodes that are nearer to a pin than the pin is to the surface: a cape that is modelled
    /// into the collar. Pushed out, they would tear at the pins.
    pub fn bury(&mut self, x: &[DVec3], pins: impl Iterator<Item = u32>) {
        let depth = |n: u32| {
            let p = x[n as usize].as_vec3();
            let (distance, _) = self.surface.signed_distance(p, f32::MAX)?;
            (distance < 0.0).then_some((p, distance * distance))
        };
        let inside: Vec<(Vec3, f32)> = pins.filter_map(depth).collect();
        if !inside.is_empty() {
            let near = |p: Vec3| inside.iter().any(|(q, d)| p.distance_squared(*q) < *d);
            self.buried = x.iter().map(|p| near(p.as_vec3())).collect();
        }
    }

    /// Whether a node cannot come out.
    pub fn is_buried(&self, node: usize) -> bool {
        self.buried.get(node).is_some_and(|b| *b)
    }

    /// Whether the mesh still has the triangles it had.
    pub fn is_on(&self, mesh: &Mesh) -> bool {
        Arc::ptr_eq(&self.incoming, &mesh.topology)
    }

    /// Distance of a triangle, and a hair more [m]; infinite when there is none.
    fn distance_to(&self, triangle: u32, p: Vec3) -> f32 {
        if triangle as usize >= self.surface.bvh().triangle_count() {
            return f32::INFINITY;
        }
        let (place, _) = closest_on_triangle(p, self.surface.bvh().corners(triangle));
        1.0001 * place.distance(p) + 1e-6
    }

    /// What evolves.
    pub fn state(&self) -> BodyState {
        let mut state = BodyState::default();
        self.keep(&mut state);
        state
    }

    /// Writes what evolves.
    pub fn keep(&self, state: &mut BodyState) {
        state.previous.clear();
        state.previous.extend_from_slice(self.surface.previous());
        state.current.clear();
        state.current.extend_from_slice(self.surface.positions());
        (state.speed, state.triangles) = (self.speed, self.triangles);
    }

    /// Stands where the state says, before a tick that ends with `mesh`. `built` is the body as it was
    /// built, `in_step` whether this copy has followed the state so far. True where places on triangles
    /// can be followed through the tick; else (a soft body's surface) the triangles are new, and the
    /// body already stands where the tick ends.
    pub fn begin(
        &mut self,
        (built, in_step): (&Self, bool),
        state: &BodyState,
        mesh: &Mesh,
        dt: f64,
    ) -> bool {
        let original = built.is_on(mesh);
        let triangles = if original { 0 } else { self.fingerprint(mesh) };
        let known = triangles == state.triangles && state.current.len() == mesh.positions.len();
        if original && known && in_step && self.triangles == 0 {
            return true;
        }
        if original {
            self.clone_from(built);
        } else {
            // The tree is built anew, so that it depends on nothing but what the state knows. What was
            // left out of the old triangles says nothing about the new ones.
            self.surface.update(&Mesh::default(), 0.0);
            self.source = mesh.clone();
            self.incoming = Arc::clone(&mesh.topology);
            self.vertices = used_vertices(mesh);
        }
        self.triangles = triangles;
        if known {
            for (places, dt) in [(&state.previous, 0.0), (&state.current, dt)] {
                self.source.positions.clone_from(places);
                self.surface.update(&self.source, dt);
            }
            self.speed = state.speed;
        } else {
            self.source.positions.clone_from(&mesh.positions);
            self.surface.update(&self.source, dt);
            self.measure_speed(dt);
        }
        known
    }

    /// Moves on to the mesh at the end of the tick, whose triangles are the body's.
    pub fn update(&mut self, mesh: &Mesh, dt: f64) {
        self.source.positions.clone_from(&mesh.positions);
        self.surface.update(&self.source, dt);
        self.measure_speed(dt);
    }

    fn measure_speed(&mut self, dt: f64) {
        let (now, then) = (self.surface.positions(), self.surface.previous());
        let way = |&v: &u32| now[v as usize].distance(then[v as usize]);
        let farthest = self.vertices.iter().map(way).fold(0.0, f32::max);
        self.speed = if dt > 0.0 { f64::from(farthest) / dt } else { 0.0 };
    }

    /// Tells triangles from those of other meshes; never 0.
    fn fingerprint(&self, mesh: &Mesh) -> u64 {
        if self.is_on(mesh) {
            return self.triangles;
        }
        let corners = mesh.topology.triangles.iter().flatten();
        corners.fold(0, |sum, &v| crate::math::random::chain(sum, u64::from(v))).max(1)
    }
}

fn used_vertices(mesh: &Mesh) -> Vec<u32> {
    let mut vertices: Vec<u32> = mesh.topology.triangles.iter().flatten().copied().collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    triangle: u32,
    barycentric: [f32; 3],
    /// How far the node is off the normal there, at the start [m].
    beside: f32,
    /// Distance of the node at the start, negative inside [m].
    height: f32,
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

impl Near {
    /// Whether a point is over the triangle, or not far beside it.
    fn is_under(&self, p: Vec3, normal: Vec3, fraction: f32) -> bool {
        if self.slack == PASSED {
            return false;
        }
        let [start, end] = &self.corners;
        let corners = [0, 1, 2].map(|k: usize| start[k].lerp(end[k], fraction));
        let off = p - closest_on_triangle(p, corners).0;
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

    /// Whether a node has surfaces on two sides: it may be pinched between them.
    pub fn is_between(&self, node: usize) -> bool {
        let sides = &self.places[node * self.bodies..(node + 1) * self.bodies];
        sides.iter().flat_map(|s| &s[..2]).filter(|p| p.triangle != u32::MAX).count() > 1
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
                    let last = std::mem::replace(place, none)[0].triangle;
                    let known = body.distance_to(last, p);
                    let way = (velocities[node] * dt).as_vec3();
                    find_sides(body, (p, way), (far, known), reach, place);
                    for side in place.iter_mut().filter(|p| p.triangle != u32::MAX) {
                        let at = body.surface.point(side.triangle, side.barycentric, 1.0);
                        if is_hidden(bodies, index, at, reach) {
                            *side = none[0];
                        }
                    }
                }
            }
        });
    }

    /// Follows the found places to the end of the tick. Call after the bodies are updated; the
    /// normals at the start must have been kept by [`BodyContacts::keep_normals`].
    pub fn follow(
        &mut self,
        bodies: &[GarmentBody],
        velocities: &[DVec3],
        dt: f64,
        lets_pass: impl Fn(usize, Vec3, Vec3) -> bool,
        grip: impl Fn(usize) -> f32,
    ) {
        self.offsets.clear();
        self.offsets.push(0);
        let mut next = 0;
        let per = self.bodies.max(1);
        for (node, (places, v)) in self.places.chunks(per).zip(velocities).enumerate() {
            for (body, sides) in bodies.iter().zip(places) {
                for place in sides.iter().filter(|p| p.triangle != u32::MAX) {
                    let at = |f: f32| body.surface.point(place.triangle, place.barycentric, f);
                    let near = &mut self.near[next];
                    near.start = at(0.0).as_dvec3();
                    near.end = at(1.0).as_dvec3();
                    let normal = body.surface.normal(place.triangle, place.barycentric);
                    near.normal_end = normal.as_dvec3();
                    near.corners = body.surface.corners(place.triangle);
                    near.grip = grip(node);
                    // Cloth that slides in this tick finds its next triangle with the next one.
                    let way = *v * dt - (near.end - near.start);
                    let slid = way.reject_from_normalized(near.normal_end).length();
                    near.slack = (self.thickness + slid) as f32 + place.beside;
                    if lets_pass(node, normal, way.as_vec3()) {
                        near.slack = PASSED;
                    }
                    next += 1;
                }
            }
            self.offsets.push(next as u32);
        }
    }

    /// Keeps the normals at the start of the tick for the found places.
    pub fn keep_normals(&mut self, bodies: &[GarmentBody]) {
        self.near.clear();
        let per = self.bodies.max(1);
        for places in self.places.chunks(per) {
            for (body, sides) in bodies.iter().zip(places) {
                for place in sides.iter().filter(|p| p.triangle != u32::MAX) {
                    let normal = body.surface.normal(place.triangle, place.barycentric).as_dvec3();
                    self.near.push(Near { normal_start: normal, ..Near::default() });
                }
            }
        }
    }

    /// Contacts of a node at a fraction of the tick; `share` is the sub-step's part of the tick.
    pub fn touches(
        &self,
        node: usize,
        position: DVec3,
        fraction: f64,
        share: f64,
        reach: f64,
    ) -> impl Iterator<Item = BodyTouch> + '_ {
        let range = match self.offsets.get(node + 1) {
            Some(&end) if !self.near.is_empty() => self.offsets[node] as usize..end as usize,
            _ => 0..0,
        };
        self.near[range].iter().filter_map(move |near| {
            let normal = near.normal_start.lerp(near.normal_end, fraction).normalize_or(DVec3::Y);
            let distance = (position - near.start.lerp(near.end, fraction)).dot(normal);
            let under = || near.is_under(position.as_vec3(), normal.as_vec3(), fraction as f32);
            (distance < reach && under()).then(|| BodyTouch {
                distance,
                normal,
                moved: (near.end - near.start) * share,
                friction: self.friction * f64::from(near.grip),
            })
        })
    }
}

/// Whether a place of one body lies within another: the root of an arm in a trunk. Nothing is pushed out there, as it
/// would only be pushed into the other, and back.
pub fn is_hidden(bodies: &[GarmentBody], index: usize, at: Vec3, reach: BodyReach) -> bool {
    let within = (reach.depth.max(reach.thickness)) as f32;
    let deep = -tolerances::HIDDEN_DEPTH * reach.thickness as f32;
    let others = bodies.iter().enumerate().filter(|(other, _)| *other != index);
    let mut depths = others.filter_map(|(_, body)| body.surface.signed_distance(at, within));
    depths.any(|(distance, _)| distance < deep)
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
        let normal = surface.normal(triangle, barycentric);
        let beside = (p - at).reject_from_normalized(normal).length();
        Place { triangle, barycentric, beside, height: distance }
    };
    out[0] = place(hit.triangle, hit.barycentric, hit.point);
    let bvh = surface.bvh();
    let other = bvh.closest_where(p, reach as f32, |triangle, place, barycentric| {
        // Only a face that looks at the node can press it.
        bvh.face_normal(triangle).dot(first) < tolerances::OTHER_SIDE_COS
            && (p - place).dot(surface.normal(triangle, barycentric)) > 0.0
    });
    if let Some(hit) = other {
        out[1] = place(hit.triangle, hit.barycentric, hit.point);
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
            out[2] = place(hit.triangle, hit.barycentric, at);
        }
    }
}
