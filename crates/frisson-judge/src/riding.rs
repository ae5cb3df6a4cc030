//! Points of a liquid as the ground sees them that carries them: what they do by themselves.
//!
//! A drop on a running leg turns as often as the leg does, and that is no shiver of the drop. Each point is held to the place
//! of the surface that it lay on in the frame before; its own way is what it goes from there, added up.

use std::sync::Arc;

use frisson::geometry::{Mesh, MeshTopology, TriangleBvh};
use frisson::stage::{Frame, Points};
use glam::Vec3;
use rayon::prelude::*;

use crate::shape::{Shape, Snapshot, same_topology};

/// Surfaces that points may lie on, kept from frame to frame.
#[derive(Default)]
pub struct Grounds {
    list: Vec<Ground>,
}

struct Ground {
    name: String,
    topology: Arc<MeshTopology>,
    tree: TriangleBvh,
}

/// A place of a surface.
#[derive(Clone, Copy, Debug)]
struct Hold {
    ground: usize,
    triangle: u32,
    weights: [f32; 3],
}

impl Grounds {
    /// Goes on to a frame: all its meshes but those of liquids.
    pub fn update(&mut self, frame: &Frame, is_liquid: impl Fn(&str) -> bool) {
        let solids = || frame.meshes.iter().filter(|m| !is_liquid(&m.name));
        let is_known = self.list.len() == solids().count()
            && self.list.iter().zip(solids()).all(|(g, m)| g.is_of(m));
        if is_known {
            let pairs = self.list.par_iter_mut().zip(solids().collect::<Vec<_>>());
            pairs.for_each(|(g, m)| g.tree.refit(&m.positions));
        } else {
            // Points that lay on what is another surface now are held by nothing for a frame.
            self.list = solids().map(Ground::of).collect();
        }
    }

    /// The place that a point lies on, no farther than `reach` [m].
    fn hold(&self, p: Vec3, reach: f32) -> Option<Hold> {
        let found = self.list.iter().enumerate().filter_map(|(ground, g)| {
            let place = g.tree.closest_point(p, reach)?;
            let (triangle, weights) = (place.triangle, place.barycentric);
            Some((place.distance, Hold { ground, triangle, weights }))
        });
        found.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, hold)| hold)
    }

    /// Where that place is now.
    fn place(&self, hold: &Hold) -> Vec3 {
        let corners = self.list[hold.ground].tree.corners(hold.triangle);
        corners.iter().zip(hold.weights).map(|(p, w)| *p * w).sum()
    }
}

impl Ground {
    fn of(mesh: &Mesh) -> Self {
        let tree = TriangleBvh::build(&mesh.positions, &mesh.topology.triangles);
        Self { name: mesh.name.clone(), topology: mesh.topology.clone(), tree }
    }

    fn is_of(&self, mesh: &Mesh) -> bool {
        self.name == mesh.name && same_topology(&self.topology, &mesh.topology)
    }
}

/// The points of one liquid.
#[derive(Default)]
pub struct Riding {
    before: Snapshot,
    holds: Vec<Option<Hold>>,
    /// Surfaces that the holds are of.
    of: Vec<Arc<MeshTopology>>,
    /// The points as they would be if nothing had carried them.
    alone: Points,
}

impl Riding {
    /// Takes the next frame; gives the points as they would be if nothing had carried them, each from where it was first
    /// seen. What lies no farther than `reach` [m] from a surface is carried by it.
    pub fn follow(&mut self, now: &Points, grounds: &Grounds, reach: f32) -> &Points {
        let same = self.before.match_points(Shape::Points(now));
        let is_known = self.of.len() == grounds.list.len()
            && self.of.iter().zip(&grounds.list).all(|(a, g)| same_topology(a, &g.topology));
        let one = |(i, &p): (usize, &Vec3)| {
            let Some(k) = same.as_ref().and_then(|s| s.of(i)) else { return p };
            let Some(&last) = self.before.points.get(k) else { return p };
            let hold = self.holds[k].filter(|_| is_known);
            let carried = hold.map_or(last, |h| grounds.place(&h));
            self.alone.positions[k] + (p - carried)
        };
        let alone: Vec<Vec3> = now.positions.par_iter().enumerate().map(one).collect();
        self.alone.positions = alone;
        self.alone.ids.clone_from(&now.ids);
        self.holds = now.positions.par_iter().map(|p| grounds.hold(*p, reach)).collect();
        self.of = grounds.list.iter().map(|g| g.topology.clone()).collect();
        self.before.take(Shape::Points(now));
        &self.alone
    }
}
