//! A body under the garment: a mesh of the frame that moves, and where it was.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::geometry::{Mesh, MeshTopology, closest_on_triangle};
use crate::stage::SurfaceMotion;
use crate::tolerances::cloth as tolerances;

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
    /// Whether it is a part that stays outside of the garment.
    pub is_outside: bool,
    /// A copy whose positions are replaced: what of the mesh is touched.
    pub source: Mesh,
    /// The mesh's topology, of which `source` may have but a part.
    incoming: Arc<MeshTopology>,
    /// Vertices that triangles have.
    pub vertices: Vec<u32>,
    /// Nodes of the cloth that cannot come out of it; empty without any.
    buried: Vec<bool>,
    /// Its fastest vertex [m/s].
    pub(super) speed: f64,
    /// Fingerprint of the triangles; 0 for those it was built with.
    triangles: u64,
}

impl GarmentBody {
    /// A part that stays outside of the garment.
    pub fn outside(mesh: usize, source: &Mesh, is_kept: impl Fn(&[u32; 3]) -> bool) -> Self {
        Self { is_outside: true, ..Self::of(mesh, source, is_kept) }
    }

    /// A body as it stands at the start: the triangles of a mesh that are kept.
    pub fn of(mesh: usize, source: &Mesh, is_kept: impl Fn(&[u32; 3]) -> bool) -> Self {
        let incoming = Arc::clone(&source.topology);
        let mut source = source.clone();
        if !source.topology.triangles.iter().all(&is_kept) {
            let all = source.topology.triangles.iter();
            let kept = all.filter(|t| is_kept(t)).copied().collect();
            source = Mesh::new(&source.name, source.positions, kept);
        }
        let vertices = used_vertices(&source);
        let mut surface = SurfaceMotion::default();
        surface.update(&source, 0.0);
        let buried = Vec::new();
        Self {
            mesh,
            surface,
            is_outside: false,
            source,
            incoming,
            vertices,
            buried,
            speed: 0.0,
            triangles: 0,
        }
    }

    /// Finds the nodes that cannot come out of it because of the pins: a cape that is modelled into the collar.
    /// Pushed out, they would tear at the pins, be drawn back, and shake all cloth around them.
    ///
    /// ```text
    ///    ___e_________ surface      n cannot get to its way out e, if that is farther from a pin q
    ///      /|                       than n itself is
    ///     q-n  cloth
    /// ```
    pub fn bury(&mut self, x: &[DVec3], pins: impl Iterator<Item = u32>) {
        self.buried.clear();
        let pins: Vec<Vec3> = pins.map(|n| x[n as usize].as_vec3()).collect();
        let most = 1.0 + tolerances::BURIED_STRETCH;
        let cannot = |p: &DVec3| {
            let p = p.as_vec3();
            let Some((distance, exit)) = self.surface.signed_distance(p, f32::MAX) else {
                return false;
            };
            // Its way out leads away from a pin that it hangs on by less cloth: brought out, it would be drawn like rubber.
            let away = |q: &Vec3| exit.point.distance(*q) > most * p.distance(*q);
            distance < 0.0 && pins.iter().any(away)
        };
        let buried: Vec<bool> =
            if pins.is_empty() { Vec::new() } else { x.par_iter().map(cannot).collect() };
        if buried.contains(&true) {
            self.buried = buried;
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
    pub(super) fn distance_to(&self, triangle: u32, p: Vec3) -> f32 {
        if triangle as usize >= self.surface.bvh().triangle_count() {
            return f32::INFINITY;
        }
        let (place, _) = closest_on_triangle(p, self.surface.bvh().corners(triangle));
        // A little more: the search must find this very triangle again, in whatever rounding it works.
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
        // Nothing was lost since the last tick: the surface stands as the state says, and need not be built again.
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
        // Of the fastest place: a bound for how far contacts are to be looked for, and no node must be missed.
        let farthest = self.vertices.iter().map(way).fold(0.0, f32::max);
        self.speed = if dt > 0.0 { f64::from(farthest) / dt } else { 0.0 };
    }

    /// Tells triangles from those of other meshes; never 0.
    fn fingerprint(&self, mesh: &Mesh) -> u64 {
        if self.is_on(mesh) {
            return self.triangles;
        }
        let corners = mesh.topology.triangles.iter().flatten();
        // Zero stands for the mesh that it was built with.
        corners.fold(0, |sum, &v| crate::math::random::chain(sum, u64::from(v))).max(1)
    }
}

/// Vertices that triangles have, in order.
fn used_vertices(mesh: &Mesh) -> Vec<u32> {
    let mut vertices: Vec<u32> = mesh.topology.triangles.iter().flatten().copied().collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices
}
