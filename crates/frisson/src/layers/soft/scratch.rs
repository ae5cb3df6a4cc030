//! What a step works with beside the state, and may lose between any two.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::coats::{hanging_place, joint_points};
use super::contact::ContactForces;
use super::dough::DoughLaw;
use super::fracture::Components;
use super::meshes::SurfaceMeshes;
use super::params::SoftParams;
use super::preview::PreviewMeshes;
use super::primitive_fields::{Primitive, PrimitiveFields};
use super::rest::SoftRest;
use super::sample::Territory;
use super::state::{Bond, SoftState};
use super::structure::Drive;
use super::tool::ToolSurfaces;
use super::volume::Volumes;
use crate::character::{Pose, Sampling as ClipSampling};
use crate::geometry::Grid;
use crate::stage::{Frame, StepContext};

/// Storage that is reused. All of it follows from the parameters, the rest data, the state and the
/// instant.
#[derive(Default)]
pub struct SoftScratch {
    /// The coats as they are now.
    pub(super) coats: PrimitiveFields,
    /// Rotation of the body that carries each primitive.
    pub(super) rotations: Vec<DQuat>,
    /// What the seeds have found.
    pub(super) territories: Vec<Territory>,
    /// Contacts of the last step.
    pub(super) contacts: ContactForces,
    /// The state before the step, to put back.
    pub(super) backup: SoftState,
    /// Meshes that are tools.
    pub(super) tools: ToolSurfaces,
    /// Supports of the primitives.
    pub(super) grid: Grid,
    /// The influence graph.
    pub(super) components: Components,
    /// Poses of the actors that carry bodies.
    pub(super) poses: Vec<Pose>,
    /// Volumes of the territories, and what they should be.
    pub(super) own_volumes: Vec<Volumes>,
    /// Laws of the doughs at the instant.
    pub(super) dough_laws: Vec<Option<DoughLaw>>,
    /// Bonds of the step before.
    pub(super) spare_bonds: Vec<Bond>,
    /// Whether each weld takes hold (1), heals off (-1) or stays.
    pub(super) weld_ways: Vec<f64>,
    /// Per body: where it is at the start and at the end of the tick, for those that hang on meshes, and
    /// the axes of their triangles.
    pub(super) hanging: Vec<(DVec3, DVec3, DQuat)>,
    /// Angular momenta of the bodies within a step [kg m²/s].
    pub(super) momenta: Vec<DVec3>,
    /// The surfaces that are shown.
    pub(super) meshes: SurfaceMeshes,
    /// The quick ones.
    pub(super) preview: PreviewMeshes,
}

impl SoftScratch {
    /// Makes everything as long as the rest data asks.
    pub(super) fn fit(&mut self, rest: &SoftRest) {
        let count = rest.primitives.len();
        if self.coats.primitives.len() == count && count > 0 {
            return;
        }
        self.coats = PrimitiveFields { level: rest.level, ..PrimitiveFields::default() };
        for p in &rest.primitives {
            let points = &mut self.coats.points;
            self.coats.primitives.push(Primitive {
                kind: p.kind,
                first: points.len() as u32,
                count: p.points.len() as u32,
                coat: p.coat,
                inverse_width: 1.0 / (p.coat.support - p.coat.thickness),
                steepness: p.coat.stiffness * (p.coat.support - p.coat.thickness) / p.coat.level,
                offset: 0.0,
                swelling: 0.0,
                bulge: 0.0,
                label: rest.objects[p.object].label as u32,
                group: rest.objects[p.object].primitives.start as u32,
                links: p.links.as_ref().map(Arc::clone),
            });
            points.resize(points.len() + p.points.len(), DVec3::ZERO);
        }
        self.rotations.resize(count, DQuat::IDENTITY);
        self.territories.resize_with(count, Territory::default);
    }

    /// Brings the coats to where the state has them.
    pub(super) fn carry_coats(&mut self, params: &SoftParams, rest: &SoftRest, state: &SoftState) {
        for (index, p) in rest.primitives.iter().enumerate() {
            let body = &state.bodies[p.body];
            let coat = &mut self.coats.primitives[index];
            coat.offset = state.offsets[index];
            coat.swelling = coat.offset - state.felt[index];
            coat.bulge = params.bulge * state.bulges[index];
            coat.group = state.groups[index];
            self.rotations[index] = body.rotation;
            let first = coat.first as usize;
            let drive = &rest.bodies[p.body].drive;
            // Between two joints a coat is as long as they are apart: its points are theirs, not the body's.
            if let Drive::Joints { actor, .. } = drive {
                let ends = joint_points(drive, &self.poses[*actor]);
                let points = ends.as_slice();
                self.coats.points[first..first + points.len()].copy_from_slice(points);
                continue;
            }
            for (target, local) in self.coats.points[first..].iter_mut().zip(&p.points) {
                *target = body.position + body.rotation * *local;
            }
        }
        self.coats.spots.clear();
        self.coats.spots.extend(state.spots());
    }

    /// Poses the actors that carry bodies at a time within the tick.
    pub(super) fn pose_actors(&mut self, rest: &SoftRest, context: &StepContext, time: f64) {
        self.poses.resize_with(context.actors.all().len(), Default::default);
        for &actor in &rest.actors {
            let pose = &mut self.poses[actor];
            context.actors.all()[actor].pose_at(time, ClipSampling::Smooth, pose);
        }
    }

    /// Looks up where bodies that hang on meshes are at the end of the tick.
    pub(super) fn find_hanging(&mut self, rest: &SoftRest, state: &SoftState, frame: &Frame) {
        if !rest.hangs {
            return;
        }
        self.hanging.clear();
        for (body, now) in rest.bodies.iter().zip(&state.bodies) {
            let still = (now.position, now.position, now.rotation);
            let Drive::Surface { mesh, corners, weights, offset } = body.drive else {
                self.hanging.push(still);
                continue;
            };
            let mesh = frame.meshes.get(mesh);
            let there = mesh.and_then(|m| hanging_place(m, corners, weights, offset));
            self.hanging.push(there.map_or(still, |(to, axes)| (now.position, to, axes)));
        }
    }

    /// Brings everything that is shown to where the state has it.
    pub(super) fn show(
        &mut self,
        (params, rest, state): (&SoftParams, &SoftRest, &SoftState),
        context: &StepContext,
        frame: &Frame,
    ) {
        self.fit(rest);
        self.pose_actors(rest, context, context.time);
        self.carry_coats(params, rest, state);
        self.tools.show(&rest.toolbox, frame);
    }
}
