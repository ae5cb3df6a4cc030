//! The air around meshes in which hairs are laid: most of it is free, and need not be searched for triangles.

use std::sync::Arc;

use glam::Vec3;

use super::params::HairParams;
use super::rest::HairRest;
use crate::geometry::{Bounds, MeshTopology, OpenAir};
use crate::stage::SurfaceMotion;

/// Side of a cell of air [m].
///
/// Of four to fourteen millimetres, six to ten were quickest on a head that stands still and fourteen on one that moves, whose
/// cells have to be found anew for every picture; twelve is within 5 % of both.
const SIDE: f32 = 0.012;

/// The air around all meshes.
#[derive(Default)]
pub(super) struct AirAround {
    pub all: Vec<OpenAir>,
    /// What each was begun for.
    begun: Vec<Begun>,
}

/// A mesh where it was, and the box around it that was asked about.
#[derive(Default)]
struct Begun {
    topology: Option<Arc<MeshTopology>>,
    positions: Vec<Vec3>,
    within: Bounds,
    reach: f32,
}

impl AirAround {
    /// Begins anew around the meshes that have moved. `skin`: roots of all hairs.
    pub fn begin(
        &mut self,
        meshes: &[SurfaceMotion],
        skin: &[Vec3],
        (params, rest): (&HairParams, &HairRest),
    ) {
        self.all.resize_with(meshes.len(), OpenAir::default);
        self.begun.resize_with(meshes.len(), Begun::default);
        if meshes.is_empty() {
            return;
        }
        let longest = rest.roots.iter().map(|root| root.length).fold(0.0, f32::max);
        let way = longest / (params.strands.points.max(2) - 1) as f32;
        // Half a way, and from anywhere in a cell to its middle.
        let reach = 0.6 * way + SIDE + params.body.margin;
        let hair = Bounds::of(skin).grown(1.1 * longest);
        for (mesh, (air, begun)) in meshes.iter().zip(self.all.iter_mut().zip(&mut self.begun)) {
            let within = mesh.bvh().bounds().grown(reach).shared_with(hair);
            if !begun.holds(mesh, within, reach) {
                begun.take(mesh, within, reach);
                air.begin(mesh.bvh().bounds(), within, SIDE, reach);
            }
        }
    }
}

impl Begun {
    fn holds(&self, mesh: &SurfaceMotion, within: Bounds, reach: f32) -> bool {
        let inside =
            within.min.cmpge(self.within.min).all() && within.max.cmple(self.within.max).all();
        let same =
            self.topology.as_ref().zip(mesh.topology()).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
        same && inside && self.reach == reach && self.positions == mesh.positions()
    }

    fn take(&mut self, mesh: &SurfaceMotion, within: Bounds, reach: f32) {
        self.topology = mesh.topology().cloned();
        self.positions.clear();
        self.positions.extend_from_slice(mesh.positions());
        (self.within, self.reach) = (within, reach);
    }
}
