//! The triangles drops run on, and what happens when they change: places, films and trails are found
//! again on the new ones.

use glam::{DVec2, DVec3, Vec2, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::merge::as_face;
use super::state::{Droplet, DropsState, NOT_ENTERED, Phase, Wet};
use super::surface::{Surface, clamp_weights};
use super::trail::{Piece, Strip};
use super::walk::Place;
use crate::geometry::Mesh;
use crate::tolerances::nothing;

/// Triangles as they were when they were connected: what is welded depends on where they stood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Relief {
    /// Since when drops run on it [s].
    pub since: f64,
    /// Vertices of each mesh then [m].
    pub positions: Vec<Vec<Vec3>>,
    /// Corners of each mesh's triangles.
    pub triangles: Vec<Vec<[u32; 3]>>,
    /// Number of vertices of the mesh that each was refined from in the end.
    pub roots: Vec<usize>,
    /// Triangle of the start that each triangle is made like; empty: the same.
    pub source: Vec<u32>,
    /// Direction of the first roughness axis of each triangle; empty: as built.
    pub axes: Vec<[f32; 2]>,
    /// Texture coordinates of each triangle, where there are any.
    pub uvs: Vec<[Vec2; 3]>,
}

impl Relief {
    /// Some meshes of a frame as they are.
    #[must_use]
    pub fn home(meshes: &[Mesh], chosen: &[usize]) -> Self {
        let all = || chosen.iter().map(|&m| &meshes[m]);
        Self {
            positions: all().map(|m| m.positions.clone()).collect(),
            triangles: all().map(|m| m.topology.triangles.clone()).collect(),
            roots: all().map(|m| m.topology.root_vertex_count()).collect(),
            uvs: texture_places(all()),
            ..Self::default()
        }
    }

    /// Triangle of the start that a triangle is made like.
    #[must_use]
    pub fn source_of(&self, triangle: u32) -> u32 {
        self.source.get(triangle as usize).copied().unwrap_or(triangle)
    }

    /// Number of triangles.
    #[must_use]
    pub fn count(&self) -> usize {
        self.triangles.iter().map(Vec::len).sum()
    }

    /// Whether the meshes of a frame still have these triangles.
    #[must_use]
    pub fn fits(&self, meshes: &[Mesh], chosen: &[usize]) -> bool {
        chosen.iter().enumerate().all(|(slot, &m)| {
            let mesh = &meshes[m];
            mesh.positions.len() >= self.positions[slot].len()
                && mesh.topology.triangles == self.triangles[slot]
        })
    }

    /// Whether its lists fit each other.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let lists = [self.triangles.len(), self.roots.len()];
        let of = |(p, t): (&Vec<Vec3>, &Vec<[u32; 3]>)| {
            t.iter().flatten().all(|&v| (v as usize) < p.len())
        };
        let fills = |length: usize| length == 0 || length == self.count();
        lists.iter().all(|n| *n == self.positions.len())
            && self.positions.iter().zip(&self.triangles).all(of)
            && [self.source.len(), self.axes.len(), self.uvs.len()].into_iter().all(fills)
    }

    /// Connects the triangles.
    #[must_use]
    pub fn connect(&self) -> Surface {
        let inputs: Vec<(&[Vec3], &[[u32; 3]])> = self
            .positions
            .iter()
            .zip(&self.triangles)
            .map(|(p, t)| (p.as_slice(), t.as_slice()))
            .collect();
        let mut surface = Surface::build(&inputs);
        if !self.axes.is_empty() {
            surface.axes.clone_from(&self.axes);
            surface.refresh();
        }
        surface
    }
}

fn texture_places<'a>(meshes: impl Iterator<Item = &'a Mesh> + Clone) -> Vec<[Vec2; 3]> {
    if meshes.clone().all(|m| m.topology.uvs.is_empty()) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for mesh in meshes {
        let topology = &mesh.topology;
        // Outside of any image.
        let uv = |v: u32| topology.uvs.get(v as usize).copied().unwrap_or(Vec2::splat(-1.0));
        out.extend(topology.triangles.iter().map(|t| t.map(uv)));
    }
    out
}

/// The triangles that a frame has now, connected, and where their points were a step earlier.
pub struct Arrival {
    /// The triangles; what they are made like is not known yet.
    pub relief: Relief,
    /// Connected, as they stand now.
    pub surface: Surface,
    /// Where the points were at the start of the step [m].
    pub before: Vec<DVec3>,
}

impl Arrival {
    /// Takes the meshes of a frame over; nothing if there is nowhere to run on them.
    #[must_use]
    pub fn new(
        (meshes, chosen): (&[Mesh], &[usize]),
        old: (&Relief, &Surface),
        (time, dt): (f64, f64),
    ) -> Option<Self> {
        let relief = Relief { since: time, ..Relief::home(meshes, chosen) };
        if !relief.is_sound() {
            return None;
        }
        let surface = relief.connect();
        if !surface.live.contains(&true) {
            return None;
        }
        let moved: Vec<Vec<Vec3>> = chosen
            .iter()
            .enumerate()
            .map(|(slot, &m)| displacement(&meshes[m], slot, old, dt as f32))
            .collect();
        let before = surface.sources.iter().zip(&surface.points).map(|(source, &p)| {
            let way = moved[source.mesh as usize].get(source.vertex as usize);
            p - way.map_or(DVec3::ZERO, |w| w.as_dvec3())
        });
        Some(Self { before: before.collect(), relief, surface })
    }
}

/// How far each vertex of a mesh has moved during the step that changed its triangles; empty where
/// nobody knows.
fn displacement(mesh: &Mesh, slot: usize, old: (&Relief, &Surface), dt: f32) -> Vec<Vec3> {
    let (relief, surface) = old;
    let root = mesh.topology.root_vertex_count();
    let refined = root != mesh.positions.len() || root != relief.positions[slot].len();
    if root == relief.roots[slot] && refined {
        // The same mesh, refined otherwise: its own vertices are known before and after.
        let mut before: Vec<Option<DVec3>> = vec![None; root];
        for (source, &p) in surface.sources.iter().zip(&surface.points) {
            if source.mesh as usize == slot && (source.vertex as usize) < root {
                before[source.vertex as usize] = Some(p);
            }
        }
        let way = |(now, before): (&Vec3, &Option<DVec3>)| {
            // Vertices of a seam are one point; the others of it stay for this step.
            before.map_or(Vec3::ZERO, |b| (now.as_dvec3() - b).as_vec3())
        };
        let ways: Vec<Vec3> = mesh.positions.iter().zip(&before).map(way).collect();
        return mesh.topology.spread_from_root(&ways);
    }
    if mesh.velocities.len() == mesh.positions.len() {
        return mesh.velocities.iter().map(|v| *v * dt).collect();
    }
    Vec::new()
}

/// From the old triangles to the new ones, both as they stood at the start of the step.
struct Transfer<'a> {
    old: &'a Surface,
    new: &'a Surface,
}

/// Carries a state over to new triangles. Every kilogram arrives.
pub fn carry_over(
    state: &mut DropsState,
    (old_relief, old): (&Relief, &Surface),
    to: &mut Arrival,
) {
    // Compared where both stood at the start of the step: by now the new one has moved on.
    let mut standing = to.surface.clone();
    standing.stand(&to.before);
    let transfer = Transfer { old, new: &standing };
    let ancestors = transfer.ancestors();
    to.relief.source = ancestors.iter().map(|&t| old_relief.source_of(t)).collect();
    to.relief.axes = transfer.axes(&ancestors);
    // Velocities are kept along the axes: these must be the ones that will be used.
    standing.axes.clone_from(&to.relief.axes);
    standing.refresh();
    let transfer = Transfer { old, new: &standing };
    state.drops.par_iter_mut().for_each(|drop| transfer.drop(drop));
    state.trail.pieces.par_iter_mut().for_each(|piece| transfer.piece(piece));
    // Pieces lie elsewhere: who knows them by number must look again.
    state.trail.swept += 1;
    for source in &mut state.sources {
        source.place = source.place.and_then(|(triangle, weights)| {
            let place = transfer.place(Place { triangle, weights, side: 1 })?;
            Some((place.triangle, place.weights))
        });
    }
    state.wet = transfer.wet(&state.wet, &ancestors);
    // Axes that trails have set are part of the new triangles from now on.
    state.axes.clear();
    state.points.clone_from(&to.before);
    to.surface.axes.clone_from(&to.relief.axes);
    to.surface.refresh();
}

impl Transfer<'_> {
    /// For each new triangle, the old one it lies on.
    fn ancestors(&self) -> Vec<u32> {
        let of = |t: usize| {
            let facet = &self.new.facets[t];
            let middle = facet.point((facet.c1 + facet.c2) / 3.0);
            // Facing the same way: through a thin sheet the other side is nearer than the neighbour.
            self.old.closest_facing(middle, facet.normal).map_or(0, |(t, _)| t)
        };
        (0..self.new.triangles.len()).into_par_iter().map(of).collect()
    }

    /// Axes of roughness that point as the old ones do.
    fn axes(&self, ancestors: &[u32]) -> Vec<[f32; 2]> {
        let of = |(facet, &ancestor): (&super::surface::Facet, &u32)| {
            let along = facet.tangential(self.old.facets[ancestor as usize].e2);
            let weights = facet.weights(along);
            if weights.length() > nothing::NO_WIDTH {
                [weights.x as f32, weights.y as f32]
            } else {
                [1.0, 0.0]
            }
        };
        self.new.facets.iter().zip(ancestors).map(of).collect()
    }

    /// The nearest new place that faces the same way.
    fn place(&self, place: Place) -> Option<Place> {
        let facet = &self.old.facets[place.triangle as usize];
        let out = facet.normal * f64::from(place.side);
        let at = facet.point(facet.flat(place.weights));
        let (triangle, weights) = self.new.closest_facing(at, out)?;
        let side = if self.new.facets[triangle as usize].normal.dot(out) < 0.0 { -1 } else { 1 };
        Some(Place { triangle, weights, side })
    }

    /// Weights, in the plane of a new triangle, of a place of an old one; may lie beyond it.
    fn weights(&self, from: u32, weights: Vec2, to: u32) -> Vec2 {
        let facet = &self.new.facets[to as usize];
        let p = self.old.point(from, weights.as_dvec2());
        facet.weights(facet.tangential(p - facet.origin)).as_vec2()
    }

    fn drop(&self, drop: &mut Droplet) {
        // Before its place: a strip lies on the old triangle, too.
        drop.strip = self.strip(&drop.strip);
        drop.asleep = false;
        drop.entered = NOT_ENTERED;
        let Some((place, velocity)) = as_face(drop, self.old) else {
            if let Phase::Air { from, .. } = &mut drop.phase
                && *from != u32::MAX
            {
                let middle = Place { triangle: *from, weights: DVec2::splat(1.0 / 3.0), side: 1 };
                *from = self.place(middle).map_or(u32::MAX, |p| p.triangle);
            }
            return;
        };
        let facet = &self.old.facets[place.triangle as usize];
        let velocity = facet.lift(velocity);
        drop.phase = match self.place(place) {
            Some(there) => {
                drop.side = there.side;
                let onto = &self.new.facets[there.triangle as usize];
                Phase::Face {
                    triangle: there.triangle,
                    weights: there.weights,
                    velocity: onto.tangential(velocity),
                    standing: 0,
                }
            }
            None => Phase::Air {
                position: facet.point(facet.flat(place.weights)),
                velocity: velocity + drop.carrier,
                // Long enough ago that it may land again at once.
                since: drop.changed,
                from: u32::MAX,
            },
        };
    }

    fn strip(&self, strip: &Strip) -> Strip {
        if strip.triangle == u32::MAX {
            return *strip;
        }
        // By its end, where the drop is: the two must not part.
        let weights = clamp_weights(strip.to.as_dvec2());
        let from = Place { triangle: strip.triangle, weights, side: strip.side };
        let Some(there) = self.place(from) else { return Strip::NONE };
        let carried = |w: Vec2| self.weights(strip.triangle, w, there.triangle);
        let start = carried(strip.from);
        Strip {
            triangle: there.triangle,
            side: there.side,
            from: start,
            to: carried(strip.to),
            way: carried(strip.from + strip.way) - start,
            ..*strip
        }
    }

    fn piece(&self, piece: &mut Piece) {
        let count = usize::from(piece.count).max(1);
        let middle = piece.corners[..count].iter().map(|c| Vec2::from_array(*c)).sum::<Vec2>();
        let weights = clamp_weights((middle / count as f32).as_dvec2());
        let from = piece.triangle;
        let Some(there) = self.place(Place { triangle: from, weights, side: piece.side }) else {
            // It is as good as dry.
            piece.count = 0;
            return;
        };
        let carried = |w: &mut [f32; 2]| {
            *w = self.weights(from, Vec2::from_array(*w), there.triangle).to_array();
        };
        piece.corners[..count].iter_mut().for_each(carried);
        piece.axis.iter_mut().for_each(carried);
        (piece.triangle, piece.side) = (there.triangle, there.side);
    }

    /// Films and stains: shared by the new triangles that lie on an old one, by their areas; what no
    /// new one lies on goes to the nearest.
    fn wet(&self, wet: &Wet, ancestors: &[u32]) -> Wet {
        let area = |t: usize| self.new.facets[t].area().max(0.0);
        let mut claimed = vec![0.0; self.old.triangles.len()];
        for (t, &ancestor) in ancestors.iter().enumerate() {
            claimed[ancestor as usize] += area(t);
        }
        let mut out = Wet::dry(ancestors.len());
        let mut hand_on = |from: usize, to: usize, share: f64| {
            out.film[to] += wet.film[from] * share;
            out.film_solute[to] += wet.film_solute[from] * share;
            out.stain[to] += wet.stain[from] * share;
            out.soaked[to] += wet.soaked[from] * share;
            let wetness = wet.wetness[from];
            // Wetness is no mass: shared out, a finer mesh would be drier.
            (0..2).for_each(|i| out.wetness[to][i] = out.wetness[to][i].max(wetness[i]));
            if wet.is_active[from] {
                out.activate(to as u32);
            }
        };
        for (t, &ancestor) in ancestors.iter().enumerate() {
            let ancestor = ancestor as usize;
            if claimed[ancestor] > 0.0 {
                hand_on(ancestor, t, area(t) / claimed[ancestor]);
            }
        }
        for (t, _) in claimed.iter().enumerate().filter(|(_, c)| **c <= 0.0) {
            if wet.is_active[t] || wet.stain[t] > 0.0 {
                let middle =
                    Place { triangle: t as u32, weights: DVec2::splat(1.0 / 3.0), side: 1 };
                hand_on(t, self.place(middle).map_or(0, |p| p.triangle as usize), 1.0);
            }
        }
        out
    }
}
