//! The ground drops run on: triangles with half-edges, in double precision.
//!
//! Half-edge `3 t + k` goes from corner `k` of triangle `t` to corner `k + 1`. Most have one twin; some
//! have none (a border) and some have several, each over an interval of the edge (T-junctions,
//! non-manifold edges). Zero-area triangles are taken out, and the edges they joined are matched as
//! T-junctions.

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;

use super::surface_build;
use crate::geometry::{Bounds, Lists, TriangleBvh};

/// No neighbour: the surface ends here.
pub const BORDER: u32 = u32::MAX;
/// The neighbours are in the list of links.
pub const SEVERAL: u32 = u32::MAX - 1;
/// Set in a twin that sees the other side of its triangle: their windings disagree.
pub const FLIPPED: u32 = 1 << 31;

/// A neighbour over part of an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The neighbour's half-edge.
    pub half: u32,
    /// Interval of this edge that it covers, ascending in [0, 1].
    pub mine: [f64; 2],
    /// The same two places on the neighbour's edge.
    pub theirs: [f64; 2],
}

/// A place on a half-edge, seen from a point that lies there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spoke {
    /// Half-edge.
    pub half: u32,
    /// Place along it; 0 for its own corner.
    pub s: f64,
}

/// What crossing an edge leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Across {
    /// Half-edge on the other side.
    pub half: u32,
    /// Place along it, in [0, 1].
    pub s: f64,
    /// Whether it runs the same way as ours, in space.
    pub same_way: bool,
}

/// Plane geometry of a triangle at the current tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facet {
    /// Corner 0 [m].
    pub origin: DVec3,
    /// First in-plane axis: the one of roughness `R2`.
    pub e2: DVec3,
    /// Second in-plane axis: the one of roughness `R3`.
    pub e3: DVec3,
    /// Unit normal.
    pub normal: DVec3,
    /// Corner 1 in the plane [m].
    pub c1: DVec2,
    /// Corner 2 in the plane [m].
    pub c2: DVec2,
}

impl Facet {
    fn new([a, b, c]: [DVec3; 3], axis: [f32; 2]) -> Self {
        let (u, w) = (b - a, c - a);
        // A triangle without area still needs a plane, so that nothing divides by zero; drops never enter it.
        let normal = u.cross(w).normalize_or(u.any_orthogonal_vector().normalize_or(DVec3::Y));
        let along = u * f64::from(axis[0]) + w * f64::from(axis[1]);
        let flat = along - normal * normal.dot(along);
        let e2 = flat.normalize_or(normal.any_orthonormal_vector());
        let e3 = normal.cross(e2);
        let flat = |p: DVec3| DVec2::new(p.dot(e2), p.dot(e3));
        Self { origin: a, e2, e3, normal, c1: flat(u), c2: flat(w) }
    }

    /// A corner in the plane.
    #[must_use]
    pub fn corner(&self, k: usize) -> DVec2 {
        [DVec2::ZERO, self.c1, self.c2][k]
    }

    /// An edge in the plane.
    #[must_use]
    pub fn edge(&self, k: usize) -> DVec2 {
        match k {
            0 => self.c1,
            1 => self.c2 - self.c1,
            _ => -self.c2,
        }
    }

    /// A place given by the weights of corners 1 and 2, in the plane.
    #[must_use]
    pub fn flat(&self, weights: DVec2) -> DVec2 {
        self.c1 * weights.x + self.c2 * weights.y
    }

    /// Weights of corners 1 and 2 of a place in the plane.
    #[must_use]
    pub fn weights(&self, x: DVec2) -> DVec2 {
        let area = self.c1.perp_dot(self.c2);
        // Flattened by the animation: its first corner stands for all of it.
        if area <= f64::MIN_POSITIVE {
            return DVec2::ZERO;
        }
        DVec2::new(x.perp_dot(self.c2), self.c1.perp_dot(x)) / area
    }

    /// A vector of the plane, in space.
    #[must_use]
    pub fn lift(&self, v: DVec2) -> DVec3 {
        self.e2 * v.x + self.e3 * v.y
    }

    /// A place of the plane, in space.
    #[must_use]
    pub fn point(&self, x: DVec2) -> DVec3 {
        self.origin + self.lift(x)
    }

    /// The part of a vector in the plane.
    #[must_use]
    pub fn tangential(&self, v: DVec3) -> DVec2 {
        DVec2::new(v.dot(self.e2), v.dot(self.e3))
    }

    /// Area [m²].
    #[must_use]
    pub fn area(&self) -> f64 {
        0.5 * self.c1.perp_dot(self.c2)
    }
}

/// Weights of corners 1 and 2 at a fraction `s` along edge `k`.
#[must_use]
pub fn on_edge(k: usize, s: f64) -> DVec2 {
    match k {
        0 => DVec2::new(s, 0.0),
        1 => DVec2::new(1.0 - s, s),
        _ => DVec2::new(0.0, 1.0 - s),
    }
}

/// Weights kept inside the triangle.
#[must_use]
pub fn clamp_weights(weights: DVec2) -> DVec2 {
    let w = weights.max(DVec2::ZERO);
    let sum = w.x + w.y;
    if sum > 1.0 { w / sum } else { w }
}

/// Which mesh and vertex a point follows.
#[derive(Clone, Copy, Debug)]
pub struct PointSource {
    /// Index in the layer's list of meshes.
    pub mesh: u32,
    /// Vertex of that mesh.
    pub vertex: u32,
}

/// The surface: connectivity once, geometry every tick.
#[derive(Clone, Default)]
pub struct Surface {
    /// Where each point comes from.
    pub sources: Vec<PointSource>,
    /// Points of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Whether a triangle has an area at rest.
    pub live: Vec<bool>,
    /// First triangle of each mesh, and the end.
    pub first_triangle: Vec<u32>,
    /// Twin of each half-edge, [`BORDER`] or [`SEVERAL`]; [`FLIPPED`] where windings disagree.
    pub twins: Vec<u32>,
    /// Links of half-edges with [`SEVERAL`], sorted by half-edge.
    pub links: Vec<(u32, Link)>,
    /// Corners (as half-edges) of live triangles at each point.
    pub fans: Lists,
    /// Points on a border.
    pub border_points: Vec<bool>,
    /// Points at T-junctions and non-manifold edges, where fans do not tell the whole story.
    pub tee_points: Vec<bool>,
    /// Places of half-edges that such points lie on without being their corners, sorted by point.
    pub tees: Vec<(u32, Spoke)>,
    /// +1 or -1: winding of a triangle against the others of its component.
    pub parity: Vec<i8>,
    /// Direction of the first roughness axis, as weights of the edges 0→1 and 0→2.
    pub axes: Vec<[f32; 2]>,
    /// Positions of the points [m].
    pub points: Vec<DVec3>,
    /// Positions at the tick before [m].
    pub previous: Vec<DVec3>,
    /// Plane geometry.
    pub facets: Vec<Facet>,
    /// Tree over the triangles.
    pub bvh: TriangleBvh,
    /// Whether any point moved in the last tick.
    pub moved: bool,
    /// Longest way of a point in the last tick [m].
    pub longest_move: f64,
    /// What was found in the mesh.
    pub findings: Findings,
    pub(super) single: Vec<Vec3>,
}

/// What is unusual in the meshes: all legal, said in the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Triangles without area.
    pub flat_triangles: usize,
    /// Half-edges where the surface ends.
    pub border_edges: usize,
    /// Edges with more than two triangles.
    pub crowded_edges: usize,
    /// Edges matched with parts of other edges.
    pub tee_edges: usize,
    /// Edges whose two triangles wind against each other.
    pub flipped_edges: usize,
    /// Connected pieces.
    pub components: usize,
}

impl Surface {
    /// Connects the triangles of several meshes, given as positions and triangles.
    #[must_use]
    pub fn build(meshes: &[(&[Vec3], &[[u32; 3]])]) -> Self {
        surface_build::build(meshes)
    }

    /// Takes new positions, given those of the tick before (if any). `teleport` [m]: a longer way than
    /// this is a cut, not a motion. Returns whether anything changed since it was last looked at.
    pub fn update(
        &mut self,
        before: &[DVec3],
        now: impl Fn(PointSource) -> Vec3,
        teleport: f64,
    ) -> bool {
        let count = self.sources.len();
        let mut changed = self.facets.is_empty() || self.points.len() != count;
        self.points.resize(count, DVec3::ZERO);
        for (point, source) in self.points.iter_mut().zip(&self.sources) {
            let new = now(*source).as_dvec3();
            changed |= *point != new;
            *point = new;
        }
        self.previous.clear();
        // Without a past it stands still: a start is no motion.
        self.previous.extend_from_slice(if before.len() == count { before } else { &self.points });
        self.moved = false;
        self.longest_move = 0.0;
        for (new, old) in self.points.iter().zip(&mut self.previous) {
            let way = new.distance(*old);
            self.moved |= new != old;
            // A cut takes drops along without their feeling it.
            if way > teleport {
                *old = *new;
            } else {
                self.longest_move = self.longest_move.max(way);
            }
        }
        if changed {
            self.refresh();
        }
        changed
    }

    /// Stands still at some positions of its points. Returns whether it stood elsewhere.
    pub fn stand(&mut self, points: &[DVec3]) -> bool {
        let changed = self.facets.is_empty() || self.points != points;
        if changed && points.len() == self.sources.len() {
            self.points.clear();
            self.points.extend_from_slice(points);
            self.refresh();
        }
        changed
    }

    /// Computes facets and the tree again, from the points.
    pub fn refresh(&mut self) {
        self.single.clear();
        self.single.extend(self.points.iter().map(|p| p.as_vec3()));
        if self.bvh.triangle_count() == self.triangles.len() {
            // The same triangles elsewhere keep their tree: it fits a little worse, and is not built again.
            self.bvh.refit(&self.single);
        } else {
            self.bvh = TriangleBvh::build(&self.single, &self.triangles);
        }
        self.facets.resize(self.triangles.len(), Facet::default());
        let (points, triangles, axes) = (&self.points, &self.triangles, &self.axes);
        self.facets.par_chunks_mut(1024).enumerate().for_each(|(chunk, facets)| {
            for (i, facet) in facets.iter_mut().enumerate() {
                let t = 1024 * chunk + i;
                *facet = Facet::new(triangles[t].map(|p| points[p as usize]), axes[t]);
            }
        });
    }

    /// Computes one facet again, after its axis changed.
    pub fn refresh_facet(&mut self, t: usize) {
        let corners = self.triangles[t].map(|p| self.points[p as usize]);
        self.facets[t] = Facet::new(corners, self.axes[t]);
    }

    /// A place in space.
    #[must_use]
    pub fn point(&self, triangle: u32, weights: DVec2) -> DVec3 {
        let facet = &self.facets[triangle as usize];
        facet.point(facet.flat(weights))
    }

    /// How fast the surface moves at a place, if the last tick took `dt` seconds [m/s].
    #[must_use]
    pub fn velocity(&self, triangle: u32, weights: DVec2, dt: f64) -> DVec3 {
        // Not a difference of equal numbers over a small time, which would be rounding noise.
        if !self.moved || dt <= 0.0 {
            return DVec3::ZERO;
        }
        let way = |k: usize| {
            let p = self.triangles[triangle as usize][k] as usize;
            self.points[p] - self.previous[p]
        };
        let first = 1.0 - weights.x - weights.y;
        (way(0) * first + way(1) * weights.x + way(2) * weights.y) / dt
    }

    /// Point at the start of a half-edge.
    #[must_use]
    pub fn start_point(&self, half: u32) -> u32 {
        self.triangles[half as usize / 3][half as usize % 3]
    }

    /// Everything around a point: the corners that meet there, and the edges that pass through.
    pub fn spokes(&self, point: u32) -> impl Iterator<Item = Spoke> + Clone {
        let tees = if self.tee_points[point as usize] {
            let first = self.tees.partition_point(|t| t.0 < point);
            let count = self.tees[first..].partition_point(|t| t.0 == point);
            &self.tees[first..first + count]
        } else {
            &[]
        };
        let corners = self.fans.of(point).iter().map(|&half| Spoke { half, s: 0.0 });
        corners.chain(tees.iter().map(|t| t.1))
    }

    /// Side of another triangle around a point that continues `side` of `triangle`. Where more than
    /// two triangles meet, windings may contradict each other, and what counts is which way it faces.
    #[must_use]
    pub fn side_around(&self, point: u32, triangle: u32, side: i8, other: u32) -> i8 {
        let by_winding = self.side_on(triangle, side, other);
        if !self.tee_points[point as usize] {
            return by_winding;
        }
        let normal = |t: u32| self.facets[t as usize].normal;
        let facing = normal(triangle).dot(normal(other)) * f64::from(side);
        // Nearly at right angles neither face tells: then the winding is as good as any.
        if facing.abs() < 0.1 { by_winding } else { facing.signum() as i8 }
    }

    /// What is on the other side of an edge at `s`, for a drop on `side` of its triangle.
    #[must_use]
    pub fn across(&self, half: u32, s: f64, side: i8) -> Option<Across> {
        match self.twins[half as usize] {
            BORDER => None,
            SEVERAL => self.across_several(half, s, side),
            twin if twin & FLIPPED != 0 => {
                Some(Across { half: twin & !FLIPPED, s, same_way: true })
            }
            twin => Some(Across { half: twin, s: 1.0 - s, same_way: false }),
        }
    }

    fn across_several(&self, half: u32, s: f64, side: i8) -> Option<Across> {
        let first = self.links.partition_point(|l| l.0 < half);
        let mut best: Option<(f64, Across)> = None;
        for (_, link) in self.links[first..].iter().take_while(|l| l.0 == half) {
            let [low, high] = link.mine;
            if s < low || s > high {
                continue;
            }
            // A link over no length still leads somewhere: to its middle.
            let f = if high > low { (s - low) / (high - low) } else { 0.5 };
            let there = link.theirs[0] + f * (link.theirs[1] - link.theirs[0]);
            let same_way = link.theirs[1] > link.theirs[0];
            // Of several sheets at an edge a drop meets the one that it would touch first, going round on its own side.
            let turn = self.opening(half, link.half, side);
            let across = Across { half: link.half, s: there.clamp(0.0, 1.0), same_way };
            if best.is_none_or(|(t, _)| turn < t) {
                best = Some((turn, across));
            }
        }
        best.map(|(_, across)| across)
    }

    /// Angle from one triangle to another about their edge, through the outside of the first: the
    /// smallest is the one a drop meets.
    fn opening(&self, half: u32, other: u32, side: i8) -> f64 {
        let inward = |h: u32| {
            let f = &self.facets[h as usize / 3];
            f.lift(f.edge(h as usize % 3).perp()).normalize_or_zero()
        };
        let out = self.facets[half as usize / 3].normal * f64::from(side);
        let angle = inward(other).dot(out).atan2(inward(other).dot(inward(half)));
        // A sheet that lies on this one is met last, not first: it is behind.
        if angle <= 1e-9 { angle + std::f64::consts::TAU } else { angle }
    }

    /// Side of another triangle of the same component that continues `side` of `triangle`.
    #[must_use]
    pub fn side_on(&self, triangle: u32, side: i8, other: u32) -> i8 {
        side * self.parity[triangle as usize] * self.parity[other as usize]
    }

    /// Nearest place on the surface within a distance: triangle, weights, point.
    #[must_use]
    pub fn closest(&self, p: DVec3, within: f64) -> Option<(u32, DVec2, DVec3)> {
        let found = self.bvh.closest_point(p.as_vec3(), within as f32)?;
        let facet = &self.facets[found.triangle as usize];
        // The tree answers in single precision: project again in double.
        let [_, w1, w2] = found.barycentric.map(f64::from);
        let refined = clamp_weights(facet.weights(facet.tangential(p - facet.origin)));
        let rough = clamp_weights(DVec2::new(w1, w2));
        let better = facet.point(facet.flat(refined)).distance(p)
            <= facet.point(facet.flat(rough)).distance(p);
        let weights = if better { refined } else { rough };
        Some((found.triangle, weights, facet.point(facet.flat(weights))))
    }

    /// Nearest place on the surface, of those triangles that face as `normal` does if there are any:
    /// triangle and weights.
    #[must_use]
    pub fn closest_facing(&self, p: DVec3, normal: DVec3) -> Option<(u32, DVec2)> {
        let at = p.as_vec3();
        let live = |t: u32| self.live[t as usize];
        let faces = |t: u32| self.facets[t as usize].normal.dot(normal) > 0.0;
        let found = self
            .bvh
            .closest_where(at, f32::INFINITY, |t, _, _| live(t) && faces(t))
            .or_else(|| self.bvh.closest_where(at, f32::INFINITY, |t, _, _| live(t)))?;
        let facet = &self.facets[found.triangle as usize];
        // The tree answers in single precision: project again in double.
        let weights = facet.weights(facet.tangential(p - facet.origin));
        let inside = weights.x >= 0.0 && weights.y >= 0.0 && weights.x + weights.y <= 1.0;
        let [_, x, y] = found.barycentric.map(f64::from);
        let rough = DVec2::new(x, y);
        Some((found.triangle, if inside { weights } else { clamp_weights(rough) }))
    }

    /// Box of everything.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bvh.bounds()
    }
}
