//! What a step works with beside the state, and may lose between any two.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};

use super::build_coats::{hanging_place, joint_points};
use super::contact::ContactForces;
use super::dough::DoughScratch;
use super::fracture::Components;
use super::meshes::SurfaceMeshes;
use super::params::SoftParams;
use super::preview::PreviewMeshes;
use super::primitive_fields::{Primitive, PrimitiveFields};
use super::rest::SoftRest;
use super::sample::Territory;
use super::shape::Shape;
use super::state::SoftState;
use super::structure::MovedBy;
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
    pub(super) fields: PrimitiveFields,
    /// Axes of each primitive: those of the body that carries it, stretched where a particle is flattened.
    pub(super) axes: Vec<DMat3>,
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
    /// What doughs work with.
    pub(super) dough: DoughScratch,
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
        // A scratch may be handed from one layer's state to another's of the same rest data, never to others.
        if self.fields.primitives.len() == count && count > 0 {
            return;
        }
        self.fields = PrimitiveFields { level: rest.level, ..PrimitiveFields::default() };
        for p in &rest.primitives {
            let points = &mut self.fields.points;
            self.fields.primitives.push(Primitive {
                kind: p.kind,
                first: points.len() as u32,
                count: p.points.len() as u32,
                profile: p.profile,
                inverse_width: 1.0 / (p.profile.support - p.profile.thickness),
                steepness: p.profile.stiffness * (p.profile.support - p.profile.thickness)
                    / p.profile.level,
                shape: Shape::ROUND,
                offset: 0.0,
                swelling: 0.0,
                bulge: 0.0,
                label: rest.objects[p.object].label as u32,
                group: rest.objects[p.object].primitives.start as u32,
                links: p.links.as_ref().map(Arc::clone),
            });
            points.resize(points.len() + p.points.len(), DVec3::ZERO);
        }
        self.axes.resize(count, DMat3::IDENTITY);
        self.territories.resize_with(count, Territory::default);
    }

    /// Brings the coats to where the state has them.
    pub(super) fn carry_fields(&mut self, params: &SoftParams, rest: &SoftRest, state: &SoftState) {
        for (index, p) in rest.primitives.iter().enumerate() {
            let body = &state.bodies[p.body];
            let primitive = &mut self.fields.primitives[index];
            primitive.offset = state.offsets[index];
            primitive.swelling = primitive.offset - state.felt[index];
            primitive.bulge = params.bulge * state.bulges[index];
            primitive.group = state.groups[index];
            primitive.shape = Shape::of(state.stretches[index]);
            self.axes[index] = DMat3::from_quat(body.rotation) * primitive.shape.stretch;
            let first = primitive.first as usize;
            let moved_by = &rest.bodies[p.body].moved_by;
            // Between two joints a coat is as long as they are apart: its points are theirs, not the body's.
            if let MovedBy::Joints { actor, .. } = moved_by {
                let ends = joint_points(moved_by, &self.poses[*actor]);
                let points = ends.as_slice();
                self.fields.points[first..first + points.len()].copy_from_slice(points);
                continue;
            }
            for (target, local) in self.fields.points[first..].iter_mut().zip(&p.points) {
                *target = body.position + body.rotation * *local;
            }
        }
        // After the groups: a weld is known by the groups of its two sides.
        self.fields.spots.clear();
        self.fields.spots.extend(state.spots());
    }

    /// Poses the actors that carry bodies at a time within the tick.
    pub(super) fn pose_actors(&mut self, rest: &SoftRest, context: &StepContext, time: f64) {
        self.poses.resize_with(context.actors.all().len(), Default::default);
        for &actor in &rest.actors {
            // Posed within the tick too: a coat between two poses must be where its skin is, or contacts would kick.
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
            let MovedBy::Surface { mesh, corners, weights, offset } = body.moved_by else {
                self.hanging.push(still);
                continue;
            };
            let mesh = frame.meshes.get(mesh);
            // A mesh that has gone leaves its bodies where they are.
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
        self.carry_fields(params, rest, state);
        self.tools.show(&rest.toolbox, frame);
    }
}
