//! All that evolves.

use std::sync::Mutex;

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::body::BodyState;
use super::rest::Garment;
use super::tear::Tears;

/// What a checkpoint holds.
///
/// Positions are in f64: a small step of gravity on a fine mesh moves a node by less than the last
/// digit of an f32 coordinate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClothState {
    /// Position of every node [m].
    pub positions: Vec<DVec3>,
    /// Velocity of every node [m/s].
    pub velocities: Vec<DVec3>,
    /// Ticks so far.
    pub ticks: u64,
    /// Where the cloth is near itself.
    pub near: Near,
    /// Where sticky attachments have caught a node.
    pub stuck: Vec<Stuck>,
    /// Ticks for which each node still lets limbs pass that have caught it.
    pub giving: Vec<u8>,
    /// Ticks for which the cloth is still solved harder.
    pub hard: u8,
    /// Where the bodies were.
    pub bodies: Vec<BodyState>,
    /// Where the surfaces of attachments were.
    pub carriers: Vec<BodyState>,
    /// Angles at rest of all hinges, in the solver's order [rad]; empty as long as none has a crease.
    pub creases: Vec<f32>,
    /// What rips made of the mesh.
    pub tears: Tears,
    /// How the cloth moved before a cycle begins.
    pub lead: Vec<CycleMoment>,
    /// Liquid that every node carries [kg]; empty as long as the cloth is dry.
    pub soaked: Vec<f32>,
    /// Deepest start inside a collider or a body [m].
    pub start_depth: f64,
    /// Which nodes these are: other pins number them otherwise (see `ClothRest::numbering`).
    pub numbering: u64,
}

impl ClothState {
    /// Whether it is a state of this garment: the same nodes, every index within bounds.
    pub fn fits(&self, rest: &Garment) -> bool {
        if self.tears.is_empty() {
            return self.fits_nodes(rest);
        }
        rest.torn(&self.tears).is_some_and(|torn| {
            self.tears.node_of_vertex == torn.cloth.node_of_vertex && self.fits_nodes(&torn)
        })
    }

    fn fits_nodes(&self, rest: &Garment) -> bool {
        let (nodes, triangles) = (rest.cloth.node_count(), rest.cloth.triangles.len());
        let node = |n: &u32| (*n as usize) < nodes;
        let triangle = |t: u32| (t as usize) < triangles;
        let near = &self.near;
        self.numbering == rest.cloth.numbering()
            && [&self.positions, &self.velocities].iter().all(|list| list.len() == nodes)
            && self.giving.len() == nodes
            && self.bodies.len() == rest.bodies.len()
            && self.carriers.len() == rest.attachments.carriers.len()
            && self.bodies.iter().chain(&self.carriers).all(BodyState::is_sound)
            && near.nodes.iter().all(|p| node(&p.node) && triangle(p.triangle))
            && near.edges.iter().all(|p| p.first.iter().chain(&p.second).all(node))
            && near.crossings.iter().all(|c| c.edge.iter().all(node) && triangle(c.triangle))
            && self.stuck.iter().all(|s| node(&s.node))
            && (self.creases.is_empty() || self.creases.len() == rest.cloth.hinges.rows.len())
            && (self.soaked.is_empty() || self.soaked.len() == nodes)
            && self.lead.iter().all(|moment| moment.positions.len() == nodes)
    }
}

/// Where the cloth is near itself, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// Nodes near triangles.
    pub nodes: Vec<NearPair>,
    /// Edges near edges.
    pub edges: Vec<NearEdges>,
    /// Edges through triangles.
    pub crossings: Vec<Crossing>,
}

impl Near {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
        self.crossings.clear();
    }

    /// Holds what some others hold together, and nothing else.
    pub fn take_all(&mut self, parts: &mut [Mutex<Self>]) {
        self.clear();
        for part in parts.iter_mut().filter_map(|part| part.get_mut().ok()) {
            self.nodes.extend_from_slice(&part.nodes);
            self.edges.extend_from_slice(&part.edges);
            self.crossings.extend_from_slice(&part.crossings);
        }
    }

    /// Puts all in an order that does not depend on who found what.
    pub fn sort(&mut self) {
        self.nodes.par_sort_unstable_by_key(|p| (p.node, p.triangle));
        self.nodes.dedup_by_key(|p| (p.node, p.triangle));
        self.edges.par_sort_unstable_by_key(|p| (p.first, p.second));
        self.edges.dedup_by_key(|p| (p.first, p.second));
        self.crossings.sort_unstable_by_key(|c| (c.edge, c.triangle));
        self.crossings.dedup();
    }
}

/// A node near a triangle of the same cloth, and the side it has to stay on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearPair {
    /// The node.
    pub node: u32,
    /// The triangle.
    pub triangle: u32,
    /// Side of the triangle: +1 where its normal points, -1 behind.
    pub side: i8,
    /// Searches in which an edge of the node went through the triangle.
    pub crossed: u8,
}

/// Two edges of the same cloth near each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NearEdges {
    /// Nodes of the one, ascending.
    pub first: [u32; 2],
    /// Nodes of the other, ascending.
    pub second: [u32; 2],
    /// +1 when the first lies where the cross product of the edges points, -1 behind.
    pub side: i8,
    /// Searches in which they were found on the other side of each other.
    pub crossed: u8,
    /// From the second to the first, unit.
    pub away: Vec3,
}

/// An edge that goes through a triangle of the same cloth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crossing {
    /// Nodes of the edge.
    pub edge: [u32; 2],
    /// The triangle.
    pub triangle: u32,
}

/// Where the cloth was at some frame before its cycle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CycleMoment {
    /// Fractional frame number.
    pub frame: f64,
    /// Position of every node [m].
    pub positions: Vec<Vec3>,
}

/// A node caught by a sticky surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stuck {
    /// The node.
    pub node: u32,
    /// Which attachment caught it.
    pub attachment: u32,
    /// Triangle of the surface.
    pub triangle: u32,
    /// Place on the triangle.
    pub barycentric: [f32; 3],
    /// Offset from there, in the triangle's axes [m].
    pub offset: Vec3,
}
