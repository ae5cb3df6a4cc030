//! What a tick has made so far: meshes, curves, points.

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use std::sync::Arc;

use crate::geometry::{Attribute, Mesh, Texture};

/// Hair and other strands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// Name, unique in the frame.
    pub name: String,
    /// Number of points of each curve.
    pub counts: Vec<u32>,
    /// Points [m], one curve after the other.
    pub points: Vec<Vec3>,
    /// Diameter at each point [m].
    pub widths: Vec<f32>,
    /// Stable id of each curve.
    pub ids: Vec<u64>,
    /// Texture coordinates of each curve's root; empty if there are none.
    pub root_uvs: Vec<Vec2>,
    /// Velocity at each point [m/s], or empty.
    pub velocities: Vec<Vec3>,
    /// Linear RGB of all strands.
    pub color: Vec3,
    /// Named values per curve.
    pub attributes: Vec<Attribute>,
}

/// Drops, spray, beads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Points {
    /// Name, unique in the frame.
    pub name: String,
    /// Centres [m].
    pub positions: Vec<Vec3>,
    /// Diameters [m].
    pub widths: Vec<f32>,
    /// Stable ids.
    pub ids: Vec<u64>,
    /// Velocities [m/s], or empty.
    pub velocities: Vec<Vec3>,
    /// Named values per point.
    pub attributes: Vec<Attribute>,
}

/// A drop in the air.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FallingDrop {
    /// Number, unique in its layer.
    pub id: u64,
    /// Centre [m].
    pub position: Vec3,
    /// Velocity [m/s].
    pub velocity: Vec3,
    /// Mass [kg].
    pub mass: f32,
    /// Radius of its ball [m].
    pub radius: f32,
}

/// What a layer has in the air.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Falling {
    /// Name of the layer.
    pub layer: String,
    /// Its drops, in order of birth.
    pub drops: Vec<FallingDrop>,
}

/// What something that a drop falls through has kept of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CaughtDrop {
    /// Number of the drop (`FallingDrop::id`).
    pub id: u64,
    /// Mass [kg].
    pub mass: f32,
}

/// What later layers have caught of a layer's drops in the air in the last tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Caught {
    /// Name of the layer that the drops are of.
    pub layer: String,
    /// Its drops that have lost something, in order of birth.
    pub drops: Vec<CaughtDrop>,
}

/// A picture in the texture coordinates of a mesh: wetness, stains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// Name, unique in the frame.
    pub name: String,
    /// Mesh whose texture coordinates it uses.
    pub mesh: String,
    /// Pixels; values are linear, not colours.
    pub texture: Arc<Texture>,
}

/// Everything visible at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Frame number.
    pub index: i64,
    /// Time [s].
    pub time: f64,
    /// Meshes: first those of the actors, then those that layers add.
    pub meshes: Vec<Mesh>,
    /// Strands.
    pub curves: Vec<Curves>,
    /// Points.
    pub points: Vec<Points>,
    /// Images over meshes.
    #[serde(default)]
    pub images: Vec<Image>,
    /// Drops in the air, for later layers that they fall through; emptied before every tick, not stored in files.
    #[serde(skip)]
    pub falling: Vec<Falling>,
    /// What later layers have caught of them, for the layer whose drops they are; said before a tick about the one before,
    /// not stored in files.
    #[serde(skip)]
    pub caught: Vec<Caught>,
}

impl Frame {
    /// Index of the mesh of that name.
    #[must_use]
    pub fn mesh_index(&self, name: &str) -> Option<usize> {
        self.meshes.iter().position(|m| m.name == name)
    }

    /// The first number that is not finite, as (shape, element).
    #[must_use]
    pub fn find_non_finite(&self) -> Option<(&str, usize)> {
        let bad = first_non_finite;
        let meshes = self.meshes.iter().map(|m| (m.name.as_str(), bad(&m.positions)));
        let curves = self.curves.iter().map(|c| (c.name.as_str(), bad(&c.points)));
        let points = self.points.iter().map(|p| (p.name.as_str(), bad(&p.positions)));
        meshes.chain(curves).chain(points).find_map(|(name, bad)| bad.map(|index| (name, index)))
    }
}

/// Points looked at together: every frame of every layer is looked through.
const FINITE_CHUNK: usize = 4096;

/// Index of the first point that is not finite.
fn first_non_finite(points: &[Vec3]) -> Option<usize> {
    // All bits of the exponent: infinite or NaN. As integers without a branch this is one vector operation.
    const EXPONENT: u32 = 0x7F80_0000;
    let holds_bad = |chunk: &[Vec3]| {
        let numbers: &[f32] = bytemuck::cast_slice(chunk);
        numbers.iter().fold(false, |bad, v| bad | (v.to_bits() & EXPONENT == EXPONENT))
    };
    // `position_first`, not `any`: the message names the same element on any number of threads.
    let chunk = points.par_chunks(FINITE_CHUNK).position_first(holds_bad)?;
    let start = chunk * FINITE_CHUNK;
    points[start..].iter().position(|p| !p.is_finite()).map(|i| start + i)
}
