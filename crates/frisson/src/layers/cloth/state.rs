//! All that evolves.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

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
    /// Pairs of node and triangle that are near each other, sorted.
    pub near: Vec<NearPair>,
    /// Where sticky attachments have caught a node.
    pub stuck: Vec<Stuck>,
    /// Bodies as they were at the end of the last tick.
    pub bodies: Vec<Vec<Vec3>>,
    /// Surfaces of attachments as they were at the end of the last tick.
    pub carriers: Vec<Vec<Vec3>>,
    /// Deepest start inside a collider or a body [m].
    pub start_depth: f64,
}

/// A node near a triangle of the same cloth, and the side it has to stay on.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct NearPair {
    /// The node.
    pub node: u32,
    /// The triangle.
    pub triangle: u32,
    /// Side of the triangle: +1 where its normal points, -1 behind.
    pub side: i8,
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
