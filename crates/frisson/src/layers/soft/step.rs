//! One tick, as steps that are taken back when they were too long.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::coats::{hanging_place, joint_points, skinned_point};
use super::contact::{ContactForces, Contacts};
use super::dough::DoughLaw;
use super::fracture::{self, Components};
use super::joints::solve_joints;
use super::layer::SoftLayer;
use super::meshes::SurfaceMeshes;
use super::params::{SoftParams, SoftSurface};
use super::preview::PreviewMeshes;
use super::primitive_fields::{Primitive, PrimitiveFields};
use super::rest::{PrimitiveRest, SoftRest};
use super::sample::{ContactPoint, Presser, Sampling, Territory, fill_grid};
use super::state::{BodyState, Bond, SoftState};
use super::structure::{BodyRest, Drive, JointRest, integrate_bodies};
use super::tool::ToolSurfaces;
use super::volume::{VolumeControl, Volumes};
use super::weld::{apply_welds, update_welds, weld_weight};
use crate::character::{Pose, Sampling as ClipSampling, rotation_of};
use crate::geometry::Grid;
use crate::stage::{Frame, LayerError, StepContext, Work};
use crate::tolerances::soft as tolerances;

/// What every pass of a step works with.
pub(super) type SoftStep<'a> = Work<'a, SoftLayer, &'a mut SoftState>;

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
    components: Components,
    /// Poses of the actors that carry bodies.
    pub(super) poses: Vec<Pose>,
    own_volumes: Vec<Volumes>,
    /// Laws of the doughs at the instant.
    pub(super) dough_laws: Vec<Option<DoughLaw>>,
    /// Bonds of the step before.
    pub(super) spare_bonds: Vec<Bond>,
    /// Whether each weld takes hold (1), heals off (-1) or stays.
    pub(super) weld_ways: Vec<f64>,
    /// Per body: where it is at the start and at the end of the tick, for those that hang on meshes, and
    /// the axes of their triangles.
    hanging: Vec<(DVec3, DVec3, DQuat)>,
    /// Angular momenta of the bodies within a step [kg m²/s].
    momenta: Vec<DVec3>,
    /// The surfaces that are shown.
    pub(super) meshes: SurfaceMeshes,
    /// The quick ones.
    pub(super) preview: PreviewMeshes,
}

impl SoftScratch {
    /// Makes everything as long as the rest data asks.
    fn fit(&mut self, rest: &SoftRest) {
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

    fn pose_actors(&mut self, rest: &SoftRest, context: &StepContext, time: f64) {
        self.poses.resize_with(context.actors.all().len(), Default::default);
        for &actor in &rest.actors {
            let pose = &mut self.poses[actor];
            context.actors.all()[actor].pose_at(time, ClipSampling::Smooth, pose);
        }
    }

    /// Looks up where bodies that hang on meshes are at the end of the tick.
    fn find_hanging(&mut self, rest: &SoftRest, state: &SoftState, frame: &Frame) {
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

/// The state in which the layer begins.
pub(super) fn start(
    work: Work<'_, SoftLayer, ()>,
    context: &StepContext,
    frame: &Frame,
) -> Result<SoftState, LayerError> {
    let Work { params, rest, scratch, .. } = work;
    let count = rest.primitives.len();
    let body = |b: &BodyRest| BodyState { position: b.start, ..Default::default() };
    let thick = |(s, p): (&Vec<_>, &PrimitiveRest)| vec![p.coat.thickness; s.len()];
    let group = |p: &PrimitiveRest| rest.objects[p.object].primitives.start as u32;
    let mut state = SoftState {
        bodies: rest.bodies.iter().map(body).collect(),
        offsets: vec![0.0; count],
        felt: vec![0.0; count],
        bulges: vec![0.0; count],
        groups: rest.primitives.iter().map(group).collect(),
        distances: rest.seeds.iter().zip(&rest.primitives).map(thick).collect(),
        step: f64::INFINITY,
        ..SoftState::default()
    };
    scratch.fit(rest);
    scratch.tools.advance(&rest.toolbox, context, frame, &mut state.tools);
    scratch.find_hanging(rest, &state, frame);
    Work { params, rest, state: &mut state, scratch }.settle(context);
    check(&state, context.frame)?;
    Ok(state)
}

/// Advances by a tick, or by a part of one.
pub(super) fn advance(
    mut work: SoftStep<'_>,
    context: &StepContext,
    frame: &Frame,
) -> Result<(), LayerError> {
    work.scratch.fit(work.rest);
    work.scratch.tools.advance(&work.rest.toolbox, context, frame, &mut work.state.tools);
    work.scratch.find_hanging(work.rest, work.state, frame);
    work.tick(context);
    check(work.state, context.frame)
}

fn check(state: &SoftState, frame: i64) -> Result<(), LayerError> {
    let bad = |b: &BodyState| !(b.position.is_finite() && b.velocity.is_finite());
    match state.bodies.iter().position(bad) {
        Some(element) => Err(LayerError::NonFinite { what: "body", element, frame }),
        None => Ok(()),
    }
}

/// Where in the tick a step ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instant {
    /// Time at the end of the step [s].
    time: f64,
    /// Length of the step [s].
    dt: f64,
    /// Share of the tick that has passed at its end.
    fraction: f32,
    /// No step may be shorter.
    shortest: bool,
}

impl SoftStep<'_> {
    /// Sets bodies, coats and seeds up at the first instant, and measures the volumes to keep.
    pub(super) fn settle(&mut self, context: &StepContext) {
        let now = Instant { time: context.time, dt: 0.0, fraction: 1.0, shortest: true };
        self.place(context, now);
        self.sample(context, now, true);
        self.update_blending(0.0);
        self.place(context, now);
        self.sample(context, now, true);
        self.state.rest_volumes = self.scratch.territories.iter().map(|t| t.volume).collect();
        self.state.volumes.clone_from(&self.state.rest_volumes);
        self.settle_volumes(context, now);
        // Balls under a skin press on each other, and nobody feels it.
        self.sample(context, now, false);
        self.apply_forces(context, now);
        self.state.depth = self.scratch.contacts.depth;
        self.state.contacts = self.scratch.contacts.count;
        if self.scratch.contacts.depth > tolerances::DEEP_START {
            let p = &self.rest.primitives[self.scratch.contacts.deepest];
            let name = &self.rest.objects[p.object].name;
            self.state.warn(format!(
                "{name:?} starts deep inside another object or tool: it is pushed out gently"
            ));
        }
    }

    /// Coats that are set to another volume than their own at the start begin with it.
    fn settle_volumes(&mut self, context: &StepContext, now: Instant) {
        let frame = context.clock.frame_at(now.time);
        let factor = |(i, p): (usize, &PrimitiveRest)| {
            p.volume_factor(self.rest.object_of(i, self.params), frame)
        };
        let all = self.rest.primitives.iter().enumerate();
        if self.params.volume_time <= 0.0 || all.map(factor).all(|f| f == 1.0) {
            return;
        }
        // Half of what is lacking in every round: the controllers are stable up to four times that.
        let control = VolumeControl { seconds: 2.0, damping: 0.0, dt: 1.0 };
        for _ in 0..tolerances::VOLUME_ROUNDS {
            self.control_volumes(context, now, control);
            self.place(context, now);
            self.sample(context, now, true);
        }
        self.state.felt.clone_from(&self.state.offsets);
        self.place(context, now);
        for (volume, territory) in self.state.volumes.iter_mut().zip(&self.scratch.territories) {
            *volume = territory.volume;
        }
    }

    /// Advances over a tick.
    pub(super) fn tick(&mut self, context: &StepContext) {
        // A look between two ticks may be shorter than any step.
        let tick = context.dt;
        let floor = (context.clock.tick_seconds() * tolerances::STEP_FLOOR).min(tick);
        let stable = self.stable_step(context.frame_number());
        if stable < floor {
            self.state.warn(format!(
                "a stiffness would need steps of {stable:.1e} s: they stop at {floor:.1e} s, and \
                 the motion may be rough; make it softer or heavier"
            ));
        }
        let start = context.time - tick;
        let mut done = 0.0;
        // How much the step that was taken back last had deepened its contacts.
        let mut before = f64::INFINITY;
        while done < tick * (1.0 - 1e-9) {
            let wanted = self.state.step.min(stable).clamp(floor, tick);
            let left = tick - done;
            let dt = left / (left / wanted - 1e-6).ceil().max(1.0);
            self.scratch.backup.clone_from(self.state);
            let end = done + dt;
            let shortest = dt <= floor * 1.001;
            let now = Instant { time: start + end, dt, fraction: (end / tick) as f32, shortest };
            let taken = self.take_step(context, now);
            let deepened = self.scratch.contacts.depth - self.scratch.backup.depth;
            // What half the step does not make smaller is no travel: a sample has come to lie in a
            // contact that others were in before.
            let travelled = deepened < tolerances::TRAVELLED * before;
            let deepened_far = deepened > tolerances::DEEPENING && travelled;
            let deep = !taken || deepened_far || !self.is_finite();
            if deep && !shortest {
                before = if taken { deepened } else { f64::INFINITY };
                std::mem::swap(self.state, &mut self.scratch.backup);
                self.state.step = (0.5 * dt).max(floor);
                self.state.take_backs += 1;
                continue;
            }
            before = f64::INFINITY;
            if deep {
                self.state.warn(
                    "a step stopped at its floor: something moves through a coat within it"
                        .to_owned(),
                );
            }
            done = end;
            self.state.steps += 1;
            self.state.depth = self.scratch.contacts.depth;
            self.state.contacts = self.scratch.contacts.count;
            self.state.step = (1.5 * dt).min(tick);
        }
    }

    /// One step; false if something would travel too far in it.
    fn take_step(&mut self, context: &StepContext, now: Instant) -> bool {
        let forces = context.forces;
        let drag = f64::from(forces.drag_rate(now.time));
        let before = now.time - now.dt;
        integrate_bodies(
            &self.rest.bodies,
            &mut self.state.bodies,
            now.dt,
            |p| forces.acceleration(p.as_vec3(), before).as_dvec3(),
            drag,
        );
        if self.bound_travel(now.shortest) && !now.shortest {
            return false;
        }
        solve_joints(
            &self.rest.bodies,
            &self.rest.joints,
            &self.scratch.backup.bodies,
            &mut self.state.bodies,
            &mut self.scratch.momenta,
            (now.dt, |joint: &JointRest| joint_damping(self.params, joint)),
        );
        self.place(context, now);
        self.sample(context, now, false);
        let control = VolumeControl {
            seconds: self.params.volume_time,
            damping: self.params.volume_damping,
            dt: now.dt,
        };
        self.control_volumes(context, now, control);
        self.apply_forces(context, now);
        self.update_blending(now.dt);
        true
    }

    /// Whether something travels further than half its thickness in one step: it could pass through.
    /// In the shortest step it is held back.
    fn bound_travel(&mut self, hold: bool) -> bool {
        let mut too_far = false;
        for p in &self.rest.primitives {
            let body = &mut self.state.bodies[p.body];
            let from = self.scratch.backup.bodies[p.body].position;
            let way = body.position - from;
            let most = 0.5 * p.coat.thickness;
            if self.rest.bodies[p.body].inverse_mass > 0.0 && way.length() > most {
                too_far = true;
                if hold {
                    body.position = from + way.clamp_length_max(most);
                    body.velocity *= most / way.length();
                }
            }
        }
        too_far
    }

    fn is_finite(&self) -> bool {
        let sound = |b: &BodyState| {
            b.position.is_finite()
                && b.velocity.is_finite()
                && b.rotation.is_finite()
                && b.spin.is_finite()
                && b.force.is_finite()
                && b.torque.is_finite()
        };
        self.state.bodies.iter().all(sound)
    }

    /// Puts key-framed bodies in their place and carries the primitives' points along.
    fn place(&mut self, context: &StepContext, now: Instant) {
        self.scratch.pose_actors(self.rest, context, now.time);
        let frame = context.clock.frame_at(now.time);
        for (index, rest) in self.rest.bodies.iter().enumerate() {
            let body = &mut self.state.bodies[index];
            let (position, rotation) = match &rest.drive {
                Drive::Free => continue,
                Drive::Keyed(object, own) => {
                    let at = |i: usize| object[i].at(frame) + own[i].at(frame);
                    (rest.start + DVec3::new(at(0), at(1), at(2)), DQuat::IDENTITY)
                }
                Drive::Surface { .. } => {
                    let (from, to, axes) = self.scratch.hanging[index];
                    (from.lerp(to, f64::from(now.fraction)), axes)
                }
                Drive::Rigid { actor, at } => {
                    let world = context.actors.all()[*actor].rigid_at(now.time);
                    let world = world.unwrap_or_default();
                    let place = world.as_dmat4().transform_point3(*at);
                    (place, rotation_of(world).as_dquat())
                }
                Drive::Skin { actor, nodes } => {
                    let pose = &self.scratch.poses[*actor];
                    let turned = rotation_of(pose.world_from_node[nodes[0].0]);
                    (skinned_point(nodes, pose), turned.as_dquat())
                }
                Drive::Joints { actor, from, .. } => {
                    let pose = &self.scratch.poses[*actor];
                    let points = joint_points(&rest.drive, pose);
                    (points.as_slice()[0], rotation_of(pose.world_from_node[*from]).as_dquat())
                }
            };
            if now.dt > 0.0 {
                body.velocity = (position - body.position) / now.dt;
                let way = rotation * body.rotation.inverse();
                let way = if way.w < 0.0 { -way } else { way };
                body.spin = way.to_scaled_axis() / now.dt;
            }
            (body.position, body.rotation) = (position, rotation);
        }
        self.scratch.carry_coats(self.params, self.rest, self.state);
    }

    /// Slides all seeds, or leaves out those that make no difference.
    fn sample(&mut self, context: &StepContext, now: Instant, all: bool) {
        let tools = self.scratch.tools.at(&self.rest.toolbox, self.params, context, now.fraction);
        fill_grid(&self.scratch.coats, &mut self.scratch.grid);
        let sampling = Sampling {
            coats: &self.scratch.coats,
            seeds: &self.rest.seeds,
            fine_seeds: &self.rest.fine_seeds,
            rotations: &self.scratch.rotations,
            tools,
            balls: (!all && self.params.surface == SoftSurface::Extracted)
                .then_some(&self.rest.balls[..]),
        };
        sampling.run(&self.scratch.grid, &mut self.state.distances, &mut self.scratch.territories);
    }

    fn control_volumes(&mut self, context: &StepContext, now: Instant, control: VolumeControl) {
        let frame = context.clock.frame_at(now.time);
        self.scratch.own_volumes.clear();
        for (index, p) in self.rest.primitives.iter().enumerate() {
            let territory = &self.scratch.territories[index];
            let factor = p.volume_factor(self.rest.object_of(index, self.params), frame);
            let wanted = self.state.rest_volumes[index] * factor;
            // What nobody looks at is as it should be.
            let (now, before) = match territory.quiet {
                true => (wanted, wanted),
                false => (territory.volume, self.state.volumes[index]),
            };
            self.scratch.own_volumes.push(Volumes { now, before, wanted, gain: territory.gain });
        }
        for (index, p) in self.rest.primitives.iter().enumerate() {
            let (around, apart) = self.volumes_around(index);
            self.state.offsets[index] = control.next_offset(
                &p.coat,
                self.state.offsets[index],
                &self.scratch.own_volumes[index],
                &around,
                apart,
            );
            self.state.volumes[index] = self.scratch.own_volumes[index].now;
        }
        // A coat that thickens while it is pressed pushes back late, and would give a bouncing body
        // more than it took from it: contacts feel what the controllers do slowly.
        let share = 1.0 - (-now.dt / tolerances::SWELLING_TIME).exp();
        for (felt, offset) in self.state.felt.iter_mut().zip(&self.state.offsets) {
            *felt += share * (offset - *felt);
        }
    }

    /// Volumes of a primitive and of those it blends with, the closer the more; and whether those
    /// are far enough (1) to have territories of their own.
    fn volumes_around(&self, index: usize) -> (Volumes, f64) {
        let middle = self.scratch.coats.middle(index);
        let mut sum = Volumes::default();
        let room = tolerances::SEPARATE * self.rest.primitives[index].coat.thickness;
        let mut apart = 1.0f64;
        for &other in self.scratch.territories[index].near() {
            let o = other as usize;
            let weight = if o == index {
                1.0
            } else {
                let blended = self.blend_weight(index, o);
                if blended == 0.0 {
                    continue;
                }
                let (field, _, away) = self.scratch.coats.field_of(o, middle);
                apart = apart.min(1.0 - blended + blended * away.length() / room);
                blended * (field / self.scratch.coats.level).min(1.0)
            };
            let free = Volumes {
                gain: self.scratch.territories[o].common_gain,
                ..self.scratch.own_volumes[o]
            };
            sum.add(&free, weight);
        }
        (sum, apart * apart)
    }

    fn apply_forces(&mut self, context: &StepContext, now: Instant) {
        for body in &mut self.state.bodies {
            (body.force, body.torque) = (DVec3::ZERO, DVec3::ZERO);
        }
        let tools = self.scratch.tools.at(&self.rest.toolbox, self.params, context, now.fraction);
        let contacts = Contacts {
            params: self.params,
            rest: self.rest,
            coats: &self.scratch.coats,
            territories: &self.scratch.territories,
            tools,
            dt: now.dt,
        };
        contacts.apply(self.state, &mut self.scratch.contacts);
        apply_welds(self.rest, self.state, self.params.damping);
        self.apply_dough(context.clock.frame_at(now.time), now.dt);
        self.update_bulges(now.dt);
    }

    /// Bulges follow the greatest pressure of each primitive's contacts with others and tools.
    fn update_bulges(&mut self, dt: f64) {
        if self.params.bulge == 0.0 {
            return;
        }
        let share = 1.0 - (-dt / tolerances::BULGE_TIME).exp();
        for (index, territory) in self.scratch.territories.iter().enumerate() {
            let label = self.scratch.coats.primitives[index].label;
            let apart = |c: &ContactPoint| match c.presser {
                Presser::Primitive(o) => self.scratch.coats.primitives[o as usize].label != label,
                Presser::Tool(_) => true,
            };
            let pressures = territory.contacts.iter().filter(|c| apart(c)).map(|c| c.pressure);
            let wanted = pressures.fold(0.0, f64::max);
            let bulge = &mut self.state.bulges[index];
            *bulge += share * (wanted - *bulge);
        }
    }

    /// How far two primitives blend half-way between them, from 0 to 1.
    pub(super) fn blend_weight(&self, a: usize, b: usize) -> f64 {
        if self.scratch.coats.linked(a, b) {
            return 1.0;
        }
        let groups =
            (self.scratch.coats.primitives[a].group, self.scratch.coats.primitives[b].group);
        let spots = self.scratch.territories[a].spots();
        if groups.0 == groups.1 || spots.is_empty() {
            return 0.0;
        }
        let at = 0.5 * (self.scratch.coats.middle(a) + self.scratch.coats.middle(b));
        weld_weight(spots.iter().map(|&s| &self.scratch.coats.spots[s as usize]), groups, at).0
    }

    fn update_blending(&mut self, dt: f64) {
        fracture::update_fracture(
            self.rest,
            &self.scratch.coats,
            &self.scratch.territories,
            &mut self.scratch.components,
            self.state,
        );
        update_welds(self, dt);
    }

    /// Longest step that explicit forces allow [s].
    fn stable_step(&self, frame: f64) -> f64 {
        let mut longest = f64::INFINITY;
        for p in &self.rest.primitives {
            let body = &self.rest.bodies[p.body];
            if body.inverse_mass > 0.0 {
                let e = p.coat.thickness;
                let area = std::f64::consts::PI * e * e;
                let bounce = (1.0 / (body.inverse_mass * p.coat.stiffness * area)).sqrt();
                longest = longest.min(tolerances::STEP_SHARE * bounce);
            }
        }
        for object in &self.rest.objects {
            if let Some(law) = DoughLaw::at(object, self.params, frame) {
                longest = longest.min(law.stable_step(object.particle_mass));
            }
        }
        longest
    }
}

/// Rate at which the turning of a joint's bones against each other dies away [1/s].
fn joint_damping(params: &SoftParams, joint: &JointRest) -> f64 {
    let (object, bone) = joint.described;
    params.objects[object].bones[bone].damping.unwrap_or(tolerances::JOINT_DAMPING)
}
