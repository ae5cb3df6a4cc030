//! What is computed once: what each triangle is made of, where sources are.

use glam::{DVec2, DVec3};

use super::params::{DropsParams, SourceParams};
use super::pool::PoolRest;
use super::relief::Relief;
use super::surface::Surface;
use crate::geometry::Bounds;

/// Everything that does not change during a shot.
pub struct DropsRest {
    /// Meshes of the frame that drops run on.
    pub meshes: Vec<usize>,
    /// Mesh of the frame that drops are shown on, if another.
    pub shown_on: Option<usize>,
    /// The meshes' triangles at the start.
    pub home: Relief,
    /// These, connected, as they stand at the start.
    pub surface: Surface,
    /// What each of them is made of.
    pub ground: GroundMap,
    /// For each source that scatters, the weight of each triangle; empty for the others.
    pub scatter_weights: Vec<Vec<f32>>,
    /// Where the drops of each `single` source start.
    pub starts: Vec<Option<SourceStart>>,
    /// Box of the places in the air where drops appear.
    pub rain_bounds: Option<Bounds>,
    /// Frames by which each source starts later, so that its drop arrives in time.
    pub start_offsets: Vec<f64>,
    /// Drag solved for each source [kg/s].
    pub source_drags: Vec<Option<f64>>,
    /// Grounds of the pools.
    pub pools: Vec<PoolRest>,
}

impl DropsRest {
    /// Whether liquid may pour in streams however thin it is: over the lip of a pool, or out of a source in the air.
    #[must_use]
    pub fn may_stream(&self, params: &DropsParams) -> bool {
        let is_tap = |(source, start): (&SourceParams, &Option<SourceStart>)| {
            let pours = matches!(source, SourceParams::Single(s) if s.count > 1 && s.every > 0.0);
            pours && start.is_some_and(|s| s.on.is_none())
        };
        !self.pools.is_empty() || params.sources.iter().zip(&self.starts).any(is_tap)
    }
}

/// Which entry of the ground each triangle of the start belongs to, and painted factors.
#[derive(Clone, Debug, Default)]
pub struct GroundMap {
    /// 0 for bare ground, else one more than the index in `ground`.
    pub kind_of: Vec<u16>,
    /// Factor of the roughness [-].
    pub roughness: Vec<f32>,
    /// Factor of the adhesion [-].
    pub adhesion: Vec<f32>,
    /// Factor of evaporation [-].
    pub heat: Vec<f32>,
}

/// Where drops of a source start.
#[derive(Clone, Copy, Debug)]
pub struct SourceStart {
    /// Place in the reference pose [m].
    pub position: DVec3,
    /// The place of the surface it belongs to (triangle, weights of corners 1 and 2), if it is near
    /// enough: it moves along.
    pub on: Option<(u32, DVec2)>,
}
