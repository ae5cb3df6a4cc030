//! Contacts between the nodes: corners of bodies against the flat of the cloth, edges of the cloth
//! against what they lie on.
//!
//! Nodes feel bodies where they are; a knee or a finger can still come through between them. So every
//! corner of a body that is near the cloth holds the triangle over it up, which hands what moves it on to
//! its nodes. Together with the nodes' own contacts no corner of either gets through the other. The ridge
//! of a shin can still cut through an edge, ends of both outside: so every edge that lies on a body feels it
//! too, in its middle, or where it comes nearest to a ridge.
//!
//! ```text
//!        o            w: weights of the place over the corner, W: inverse masses of the nodes
//!       / \           node k moves by  w_k W_k / sum(w² W)  of what the place has to move
//!      / x \
//!     /  |  \
//!    o---^---o        ^: corner of the body
//! ```

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::body::GarmentBody;
use super::body_contacts::{BodyContacts, BodyReach, is_hidden};
use super::collide::PlaneContact;
use super::node_places::NodePlaces;
use super::outside;
use super::pressing::Pressing;
use super::rest::ClothRest;
use super::solver::Moment;
use super::sunk::Sunk;
use crate::geometry::TriangleBvh;
use crate::stage::SurfaceMotion;
use crate::tolerances::cloth as limits;

/// Corners a task takes at once.
const CHUNK: usize = 256;

/// A place on a triangle of the cloth.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    nodes: [u32; 3],
    weights: [f64; 3],
}

/// A place of a body.
#[derive(Clone, Copy, Debug)]
enum At {
    Corner(u32),
    Flat(u32, [f32; 3]),
}

impl At {
    /// The place at a fraction of the tick.
    fn place(self, surface: &SurfaceMotion, fraction: f32) -> DVec3 {
        let place = match self {
            Self::Corner(v) if fraction == 0.0 => surface.previous()[v as usize],
            Self::Corner(v) => surface.positions()[v as usize],
            Self::Flat(triangle, weights) => surface.point(triangle, weights, fraction),
        };
        place.as_dvec3()
    }

    /// Where it presses to: cloth at `over` with a mean edge of `edge`, as the surface stands.
    fn pressing(self, surface: &SurfaceMotion, over: Vec3, edge: f64) -> Pressing {
        match self {
            Self::Corner(v) => Pressing::smooth(surface.normals()[v as usize]),
            Self::Flat(triangle, weights) => {
                let offset = over - surface.point(triangle, weights, 1.0);
                Pressing::new(surface, (triangle, weights), offset, edge)
            }
        }
    }

    /// The normal at the end of a tick.
    fn normal_after(self, surface: &SurfaceMotion, pressing: Pressing) -> Vec3 {
        match self {
            Self::Corner(v) => pressing.of_corner(surface.normals()[v as usize]),
            Self::Flat(triangle, weights) => pressing.after(surface, (triangle, weights)),
        }
    }
}

/// A place of a body under one of the cloth, over one tick.
#[derive(Clone, Copy, Debug)]
pub struct FlatContact {
    /// The place.
    pub spot: Spot,
    body: u32,
    at: At,
    start: DVec3,
    end: DVec3,
    pressing: Pressing,
    normal_start: DVec3,
    normal_end: DVec3,
}

impl FlatContact {
    /// A contact at the start of a tick.
    fn new(spot: Spot, (index, at): (usize, At), pressing: Pressing) -> Self {
        let normal = pressing.normal.as_dvec3();
        let (start, body) = (DVec3::ZERO, index as u32);
        Self {
            spot,
            body,
            at,
            start,
            end: start,
            pressing,
            normal_start: normal,
            normal_end: normal,
        }
    }

    /// Contact of the cloth at `place` with the corner at a fraction of the tick, within `reach`;
    /// `share` is the sub-step's part of the tick. Friction is the nodes' affair.
    pub fn contact_at(&self, place: DVec3, moment: Moment, reach: f64) -> Option<PlaneContact> {
        let Moment { fraction, share } = moment;
        let normal = self.normal_start.lerp(self.normal_end, fraction).normalize_or(DVec3::Y);
        let distance = (place - self.start.lerp(self.end, fraction)).dot(normal);
        let moved = (self.end - self.start) * share;
        (distance < reach).then_some(PlaneContact { distance, normal, moved, friction: 0.0 })
    }
}

/// All corners under the cloth.
#[derive(Default)]
pub struct FlatContacts {
    tree: TriangleBvh,
    positions: Vec<Vec3>,
    /// Edges of the cloth, with half their lengths at rest [m].
    edges: Vec<([u32; 2], f32)>,
    found: Vec<Option<(Spot, Pressing)>>,
    found_flat: Vec<Option<(At, f32)>>,
    rows: Vec<FlatContact>,
}

impl FlatContacts {
    /// Room for a cloth; the tree is that of the cloth at rest, whatever it is doing now.
    pub fn new(rest: &ClothRest, at_rest: &[DVec3]) -> Self {
        let positions: Vec<Vec3> = at_rest.iter().map(|p| p.as_vec3()).collect();
        let tree = TriangleBvh::build(&positions, &rest.triangles);
        let edges = rest.edges.rows.iter().map(|e| (e.nodes, 0.5 * e.rest as f32)).collect();
        Self { tree, positions, edges, ..Self::default() }
    }

    /// The corners.
    pub fn rows(&self) -> &[FlatContact] {
        &self.rows
    }

    /// Finds the corners under the cloth at the start of the tick. Call after the nodes have found
    /// their places, and before the bodies are updated.
    pub fn find(
        &mut self,
        bodies: &[GarmentBody],
        contacts: &BodyContacts,
        x: &[DVec3],
        reach: BodyReach,
    ) {
        self.rows.clear();
        if bodies.is_empty() {
            return;
        }
        self.positions.clear();
        self.positions.extend(x.iter().map(|p| p.as_vec3()));
        // Refitted and not built: boxes of a cloth that has moved are larger, but the tree stays a function of the rest shape.
        self.tree.refit(&self.positions);
        for (index, body) in bodies.iter().enumerate() {
            self.found.resize(body.vertices.len(), None);
            let tree = &self.tree;
            let chunks = self.found.par_chunks_mut(CHUNK).zip(body.vertices.par_chunks(CHUNK));
            chunks.for_each(|(found, vertices)| {
                for (found, &v) in found.iter_mut().zip(vertices) {
                    let surface = &body.surface;
                    let (at, normal) =
                        (surface.positions()[v as usize], surface.normals()[v as usize]);
                    let way = at - surface.previous()[v as usize];
                    let pressing = match body.is_outside {
                        true => outside::pressing_of(bodies, at, normal, reach),
                        false => Some(Pressing::smooth(normal)),
                    };
                    *found = pressing
                        .and_then(|pressing| {
                            let corner = (v as usize, pressing.normal);
                            let spot = spot_over(tree, (index, body), corner, contacts, reach)?;
                            Some((spot, pressing))
                        })
                        .filter(|_| !is_hidden(bodies, index, (at, way), reach));
                }
            });
            for (spot, &vertex) in self.found.iter().zip(&body.vertices) {
                let Some((spot, pressing)) = *spot else { continue };
                self.rows.push(FlatContact::new(spot, (index, At::Corner(vertex)), pressing));
            }
            // Edges lie on what they are worn on, not on what is beside them.
            if !body.is_outside {
                self.find_edges((index, bodies), contacts, reach);
            }
        }
    }

    /// Finds the places of a body that edges come nearest to.
    fn find_edges(
        &mut self,
        (index, bodies): (usize, &[GarmentBody]),
        contacts: &BodyContacts,
        reach: BodyReach,
    ) {
        let body = &bodies[index];
        let (edges, positions) = (&self.edges, &self.positions);
        self.found_flat.resize(edges.len(), None);
        let chunks = self.found_flat.par_chunks_mut(CHUNK).zip(edges.par_chunks(CHUNK));
        chunks.for_each(|(found, edges)| {
            for (found, &(nodes, half)) in found.iter_mut().zip(edges) {
                let at = flat_under((nodes, half), positions, (index, body), contacts, reach);
                let moved = |at: At| {
                    let [before, now] = [0.0, 1.0].map(|f| at.place(&body.surface, f).as_vec3());
                    (now, now - before)
                };
                *found = at.filter(|(at, _)| !is_hidden(bodies, index, moved(*at), reach));
            }
        });
        for (at, (nodes, _)) in self.found_flat.iter().zip(edges) {
            let Some((at, share)) = *at else { continue };
            let [a, b] = *nodes;
            // An edge as a triangle without a third corner: the same code moves both.
            let weights = [1.0 - f64::from(share), f64::from(share), 0.0];
            let spot = Spot { nodes: [a, b, b], weights };
            let over = positions[a as usize].lerp(positions[b as usize], share);
            let pressing = at.pressing(&body.surface, over, reach.mean_edge);
            self.rows.push(FlatContact::new(spot, (index, at), pressing));
        }
    }

    /// Follows the corners to the end of the tick. Call after the bodies are updated.
    pub fn follow(
        &mut self,
        (bodies, sunk): (&[GarmentBody], &Sunk),
        velocities: &[DVec3],
        dt: f64,
        lets_pass: impl Fn(usize, Vec3, Vec3) -> bool,
    ) {
        for flat in &mut self.rows {
            let surface = &bodies[flat.body as usize].surface;
            flat.start = flat.at.place(surface, 0.0);
            flat.end = flat.at.place(surface, 1.0);
            flat.normal_end = flat.at.normal_after(surface, flat.pressing).as_dvec3();
            let parts = flat.spot.parts().into_iter();
            let lower: f64 = parts.map(|(n, w)| w * sunk.of(n as usize, flat.body as usize)).sum();
            flat.start -= lower * flat.normal_start;
            flat.end -= lower * flat.normal_end;
        }
        self.rows.retain(|flat| {
            let way = (flat.spot.place(velocities) * dt - (flat.end - flat.start)).as_vec3();
            let normal = flat.normal_end.as_vec3();
            !flat.spot.nodes.iter().any(|&n| lets_pass(n as usize, normal, way))
        });
    }
}

/// The place of the cloth over a corner of a body, or under it where the corner has come through.
fn spot_over(
    tree: &TriangleBvh,
    (index, body): (usize, &GarmentBody),
    (vertex, normal): (usize, Vec3),
    contacts: &BodyContacts,
    reach: BodyReach,
) -> Option<Spot> {
    let surface = &body.surface;
    let p = surface.positions()[vertex];
    let thickness = reach.thickness as f32;
    let way = p.distance(surface.previous()[vertex]);
    let far = thickness + (limits::BODY_REACH_EDGES * reach.mean_edge) as f32 + way;
    let hit = tree.closest_where(p, far, |triangle, place, _| {
        let off = place - p;
        let above = off.dot(normal);
        // Cloth beside the corner is not over it.
        if off.reject_from_normalized(normal).length() > 0.7 * above.abs() + 0.1 * thickness {
            return false;
        }
        // Cloth far under it is that on the other side of the limb, unless its nodes say that they are
        // on this one.
        above > -thickness
            || tree.triangle(triangle).iter().any(|&node| {
                let side = contacts.first_normal(node as usize, index, body);
                side.is_some_and(|side| side.dot(normal) > limits::SAME_SIDE_COS)
            })
    })?;
    let (nodes, weights) = (tree.triangle(hit.triangle), hit.barycentric.map(f64::from));
    let buried = nodes.iter().any(|&n| body.is_buried(n as usize));
    (!buried).then_some(Spot { nodes, weights })
}

/// The place of a body under an edge whose ends are both near the body, and at least one of them near enough that the
/// edge may lie on it; and where along the edge. That is its middle, unless it lies over a ridge.
fn flat_under(
    (nodes, half): ([u32; 2], f32),
    positions: &[Vec3],
    (index, body): (usize, &GarmentBody),
    contacts: &BodyContacts,
    reach: BodyReach,
) -> Option<(At, f32)> {
    let [a, b] = nodes.map(|n| n as usize);
    // Pinched cloth goes with both surfaces, which its nodes know how to do.
    let pinched = contacts.is_between(a) || contacts.is_between(b);
    if pinched || body.is_buried(a) || body.is_buried(b) {
        return None;
    }
    let (at_a, at_b) = (contacts.height(a, index)?, contacts.height(b, index)?);
    let far = reach.thickness as f32 + half;
    if at_a.min(at_b) > far {
        return None;
    }
    let (from, along) = (positions[a], positions[b] - positions[a]);
    let mut share = 0.5;
    let (mut distance, mut hit) = body.surface.signed_distance(from + share * along, far)?;
    for _ in 0..limits::ALONG_EDGES {
        let beside = (hit.point - from).dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
        let next = beside.clamp(limits::END_OF_EDGE, 1.0 - limits::END_OF_EDGE);
        if (next - share).abs() < limits::END_OF_EDGE {
            break;
        }
        let Some(found) = body.surface.signed_distance(from + next * along, far) else { break };
        if found.0 >= distance {
            break;
        }
        (share, distance, hit) = (next, found.0, found.1);
    }
    let at = At::Flat(hit.triangle, hit.barycentric);
    (f64::from(-distance) < reach.depth).then_some((at, share))
}

impl Spot {
    /// The place's value, from those of the nodes.
    pub fn place(&self, of_nodes: &[DVec3]) -> DVec3 {
        let at = |k: usize| of_nodes[self.nodes[k] as usize] * self.weights[k];
        at(0) + at(1) + at(2)
    }

    /// The nodes with their weights.
    pub fn parts(&self) -> [(u32, f64); 3] {
        [0, 1, 2].map(|k| (self.nodes[k], self.weights[k]))
    }

    /// Moves the nodes so that the place moves by `now`, and where it was before by `old`; less where
    /// but a far node is free.
    pub fn hand_on(&self, (now, old): (DVec3, DVec3), nodes: NodePlaces) {
        let NodePlaces { inverse_mass, previous, positions } = nodes;
        let shares = [0, 1, 2].map(|k| self.weights[k] * inverse_mass[self.nodes[k] as usize]);
        let total: f64 = (0..3).map(|k| self.weights[k] * shares[k]).sum();
        if total <= 0.0 {
            return;
        }
        // Beside held nodes the one free node would have to go many times as far as the place.
        let most = shares.iter().copied().fold(0.0, f64::max) / total;
        let scale = (limits::MOST_SPOT_LEVER / most).min(1.0) / total;
        for (share, n) in shares.into_iter().zip(self.nodes) {
            positions[n as usize] += now * (share * scale);
            previous[n as usize] += old * (share * scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_moves_by_what_it_hands_on() {
        let spot = Spot { nodes: [0, 1, 2], weights: [0.5, 0.25, 0.25] };
        let start = vec![DVec3::X, DVec3::Y, DVec3::Z];
        let (mut x, mut old) = (start.clone(), start.clone());
        let up = (DVec3::Y, DVec3::ZERO);
        let inverse_mass = &[1.0, 3.0, 0.0];
        spot.hand_on(up, NodePlaces { inverse_mass, previous: &mut old, positions: &mut x });
        assert!((spot.place(&x) - spot.place(&start) - DVec3::Y).length() < 1e-12);
        assert_eq!((old == start, x[2]), (true, DVec3::Z));
        let inverse_mass = &[0.0; 3];
        spot.hand_on(up, NodePlaces { inverse_mass, previous: &mut old, positions: &mut x });
        assert!(x.iter().all(|p| p.is_finite()), "held nodes stay");
    }
}
