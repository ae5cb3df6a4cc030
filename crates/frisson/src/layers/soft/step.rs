//! One tick, as steps that are taken back when they were too long.

use glam::DVec3;

use super::contact::Contacts;
use super::dough::DoughMaterial;
use super::fracture;
use super::joints::solve_joints;
use super::layer::SoftLayer;
use super::params::{SoftParams, SoftSurface};
use super::rest::PrimitiveRest;
use super::sample::{ContactPoint, Presser, Sampling, fill_grid};
use super::state::{BodyState, SoftState};
use super::structure::{BodyRest, JointRest, integrate_bodies};
use super::volume::VolumeControl;
use super::weld::{apply_welds, update_welds, weld_weight};
use crate::stage::{Frame, LayerError, StepContext, Work};
use crate::tolerances::soft as tolerances;

/// What every pass of a step works with.
pub(super) type SoftStep<'a> = Work<'a, SoftLayer, &'a mut SoftState>;

/// The state in which the layer begins.
pub(super) fn start(
    work: Work<'_, SoftLayer, ()>,
    context: &StepContext,
    frame: &Frame,
) -> Result<SoftState, LayerError> {
    let Work { params, rest, scratch, .. } = work;
    let count = rest.primitives.len();
    let body = |b: &BodyRest| BodyState { position: b.start, ..Default::default() };
    let thick = |(s, p): (&Vec<_>, &PrimitiveRest)| vec![p.profile.thickness; s.len()];
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
    // Forces may be infinite for a step that is taken back; places that are kept may not.
    match state.bodies.iter().position(bad) {
        Some(element) => Err(LayerError::NonFinite { what: "body", element, frame }),
        None => Ok(()),
    }
}

/// Where in the tick a step ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instant {
    /// Time at the end of the step [s].
    pub time: f64,
    /// Length of the step [s].
    pub dt: f64,
    /// Share of the tick that has passed at its end.
    pub fraction: f32,
    /// No step may be shorter.
    shortest: bool,
}

impl SoftStep<'_> {
    /// Sets bodies, coats and seeds up at the first instant, and measures the volumes to keep.
    pub(super) fn settle(&mut self, context: &StepContext) {
        let now = Instant { time: context.time, dt: 0.0, fraction: 1.0, shortest: true };
        // Twice: who blends with whom is known when the seeds are where they belong, and moves them again.
        self.place(context, now);
        self.sample(context, now, true);
        self.update_blending(0.0);
        self.place(context, now);
        self.sample(context, now, true);
        self.state.rest_volumes = self.scratch.territories.iter().map(|t| t.volume).collect();
        self.state.volumes.clone_from(&self.state.rest_volumes);
        self.state.gains = self.scratch.territories.iter().map(|t| t.common_gain).collect();
        let is_controlled = f64::from(u8::from(self.params.volume_time > 0.0));
        self.state.wanted = self.state.rest_volumes.iter().map(|v| is_controlled * v).collect();
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
            // A step that was shortened is remembered over ticks: what was too fast is likely to be so still.
            let wanted = self.state.step.min(stable).clamp(floor, tick);
            let left = tick - done;
            // Equal steps to the end of the tick, not a short one at last.
            let dt = left / (left / wanted - 1e-6).ceil().max(1.0);
            // The whole state, seeds and welds included: what a step taken back has touched must not be felt.
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
            // Grows less than it is halved, so that what was too long is not tried again at once.
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
        // Asked before anything else is computed: a step that goes too far costs next to nothing.
        if self.bound_travel(now.shortest) && !now.shortest {
            return false;
        }
        // Joints before contacts: seeds look from where the bones are, not from where they drifted to.
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
        // Controllers before forces: contacts then feel the coats that will be shown.
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
            let most = 0.5 * p.profile.thickness;
            // What keys or joints carry goes where they say, however fast.
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

    /// Slides all seeds, or leaves out those that make no difference.
    pub(super) fn sample(&mut self, context: &StepContext, now: Instant, all: bool) {
        let tools = self.scratch.tools.at(&self.rest.toolbox, self.params, context, now.fraction);
        fill_grid(&self.scratch.fields, &mut self.scratch.grid);
        let sampling = Sampling {
            fields: &self.scratch.fields,
            seeds: &self.rest.seeds,
            contact_seeds: &self.rest.contact_seeds,
            rotations: &self.scratch.rotations,
            tools,
            balls: (!all && self.params.surface == SoftSurface::Extracted)
                .then_some(&self.rest.balls[..]),
        };
        sampling.run(&self.scratch.grid, &mut self.state.distances, &mut self.scratch.territories);
    }

    fn apply_forces(&mut self, context: &StepContext, now: Instant) {
        for body in &mut self.state.bodies {
            // Forces are kept for the next step and never added to those of the step before.
            (body.force, body.torque) = (DVec3::ZERO, DVec3::ZERO);
        }
        let tools = self.scratch.tools.at(&self.rest.toolbox, self.params, context, now.fraction);
        let contacts = Contacts {
            params: self.params,
            rest: self.rest,
            fields: &self.scratch.fields,
            territories: &self.scratch.territories,
            tools,
            dt: now.dt,
        };
        // Contacts first: the damping of tools looks at velocities that viscosity then changes.
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
        // The exact share of a decay: the same bulge however the tick was cut into steps.
        let share = 1.0 - (-dt / tolerances::BULGE_TIME).exp();
        for (index, territory) in self.scratch.territories.iter().enumerate() {
            let label = self.scratch.fields.primitives[index].label;
            let apart = |c: &ContactPoint| match c.presser {
                Presser::Primitive(o) => self.scratch.fields.primitives[o as usize].label != label,
                Presser::Tool(_) => true,
            };
            let pressures = territory.contacts.iter().filter(|c| apart(c)).map(|c| c.pressure);
            // The greatest and not the mean: seeds that just leave a contact would make a mean jump.
            let wanted = pressures.fold(0.0, f64::max);
            let bulge = &mut self.state.bulges[index];
            *bulge += share * (wanted - *bulge);
        }
    }

    /// How far two primitives blend half-way between them, from 0 to 1.
    pub(super) fn blend_weight(&self, a: usize, b: usize) -> f64 {
        if self.scratch.fields.linked(a, b) {
            return 1.0;
        }
        let groups =
            (self.scratch.fields.primitives[a].group, self.scratch.fields.primitives[b].group);
        let spots = self.scratch.territories[a].spots();
        if groups.0 == groups.1 || spots.is_empty() {
            return 0.0;
        }
        // Half-way, where the border between the two would be: a weld elsewhere does not join them.
        let at = 0.5 * (self.scratch.fields.middle(a) + self.scratch.fields.middle(b));
        weld_weight(spots.iter().map(|&s| &self.scratch.fields.spots[s as usize]), groups, at).0
    }

    fn update_blending(&mut self, dt: f64) {
        fracture::update_fracture(
            self.rest,
            &self.scratch.fields,
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
                let e = p.profile.thickness;
                // As stiff as a contact over the whole of its face.
                let area = std::f64::consts::PI * e * e;
                let bounce = (1.0 / (body.inverse_mass * p.profile.stiffness * area)).sqrt();
                longest = longest.min(tolerances::STEP_SHARE * bounce);
            }
        }
        for object in &self.rest.objects {
            if let Some(material) = DoughMaterial::at(object, self.params, frame) {
                longest = longest.min(material.stable_step(object.particle_mass));
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
