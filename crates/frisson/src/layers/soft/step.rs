//! One tick, as steps that are taken back when they were too long.

use glam::{DQuat, DVec3};

use super::blending;
use super::coats::{joint_points, skinned_point};
use super::contact::Contacts;
use super::dough::DoughLaw;
use super::joints::solve_joints;
use super::layer::SoftLayer;
use super::sample::{ContactPoint, Presser, Sampling, fill_grid};
use super::structure::{Drive, integrate_bodies};
use super::volume::{VolumeControl, Volumes};
use super::weld::{apply_welds, update_welds, weld_weight};
use crate::character::{Sampling as ClipSampling, rotation_of};
use crate::stage::StepContext;
use crate::tolerances::soft as tolerances;

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

impl SoftLayer {
    /// Sets bodies, coats and seeds up at the first instant, and measures the volumes to keep.
    pub(super) fn settle(&mut self, context: &StepContext) {
        let now = Instant { time: context.time, dt: 0.0, fraction: 1.0, shortest: true };
        self.place(context, now);
        self.sample(context, now);
        self.update_blending(0.0);
        self.place(context, now);
        self.sample(context, now);
        self.state.rest_volumes = self.territories.iter().map(|t| t.volume).collect();
        self.state.volumes.clone_from(&self.state.rest_volumes);
        self.apply_forces(context, now);
        self.state.depth = self.contacts.depth;
        if self.contacts.depth > tolerances::DEEP_START {
            let p = &self.rest.primitives[self.contacts.deepest];
            let name = &self.rest.objects[p.object].params.name;
            self.warn(format!(
                "{name:?} starts deep inside another object or tool: it is pushed out gently"
            ));
        }
    }

    /// Advances over a tick.
    pub(super) fn tick(&mut self, context: &StepContext) {
        let tick = context.dt;
        let floor = tick * tolerances::STEP_FLOOR;
        let stable = self.stable_step(context.frame_number());
        if stable < floor {
            self.warn(format!(
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
            self.backup.clone_from(&self.state);
            let end = done + dt;
            let shortest = dt <= floor * 1.001;
            let now = Instant { time: start + end, dt, fraction: (end / tick) as f32, shortest };
            let taken = self.take_step(context, now);
            let deepened = self.contacts.depth - self.backup.depth;
            // What half the step does not make smaller is no travel: a sample has come to lie in a
            // contact that others were in before.
            let travelled = deepened < tolerances::TRAVELLED * before;
            let deepened_far = deepened > tolerances::DEEPENING && travelled;
            let deep = !taken || deepened_far || !self.is_finite();
            if deep && !shortest {
                before = if taken { deepened } else { f64::INFINITY };
                std::mem::swap(&mut self.state, &mut self.backup);
                self.state.step = (0.5 * dt).max(floor);
                self.state.take_backs += 1;
                continue;
            }
            before = f64::INFINITY;
            if deep {
                self.warn(
                    "a step stopped at its floor: something moves through a coat within it"
                        .to_owned(),
                );
            }
            done = end;
            self.state.steps += 1;
            self.state.depth = self.contacts.depth;
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
            &self.backup.bodies,
            &mut self.state.bodies,
            &mut self.momenta,
            now.dt,
        );
        self.place(context, now);
        self.sample(context, now);
        self.control_volumes(context, now);
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
            let from = self.backup.bodies[p.body].position;
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
        let sound = |b: &super::state::BodyState| {
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
        self.pose_actors(context, now.time);
        let frame = now.time * context.clock.rate.fps();
        for (index, rest) in self.rest.bodies.iter().enumerate() {
            let body = &mut self.state.bodies[index];
            let (position, rotation) = match &rest.drive {
                Drive::Free => continue,
                Drive::Keyed(object, own) => {
                    let at = |i: usize| object[i].at(frame) + own[i].at(frame);
                    (rest.start + DVec3::new(at(0), at(1), at(2)), DQuat::IDENTITY)
                }
                Drive::Rigid { actor, at } => {
                    let world = context.actors.all()[*actor].rigid_at(now.time);
                    let world = world.unwrap_or_default();
                    let place = world.as_dmat4().transform_point3(*at);
                    (place, rotation_of(world).as_dquat())
                }
                Drive::Skin { actor, nodes } => {
                    let pose = &self.poses[*actor];
                    let turned = rotation_of(pose.world_from_node[nodes[0].0]);
                    (skinned_point(nodes, pose), turned.as_dquat())
                }
                Drive::Joints { actor, from, .. } => {
                    let pose = &self.poses[*actor];
                    let points = joint_points(&rest.drive, pose);
                    (points[0], rotation_of(pose.world_from_node[*from]).as_dquat())
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
        self.carry_coats();
    }

    fn pose_actors(&mut self, context: &StepContext, time: f64) {
        self.poses.resize_with(context.actors.all().len(), Default::default);
        let driven = |b: &super::structure::BodyRest| match b.drive {
            Drive::Joints { actor, .. } | Drive::Skin { actor, .. } => Some(actor),
            _ => None,
        };
        let mut actors: Vec<usize> = self.rest.bodies.iter().filter_map(driven).collect();
        actors.dedup();
        for actor in actors {
            let pose = &mut self.poses[actor];
            context.actors.all()[actor].pose_at(time, ClipSampling::Smooth, pose);
        }
    }

    fn carry_coats(&mut self) {
        for (index, p) in self.rest.primitives.iter().enumerate() {
            let body = &self.state.bodies[p.body];
            let coat = &mut self.coats.primitives[index];
            coat.offset = self.state.offsets[index];
            coat.swelling = coat.offset - self.state.felt[index];
            coat.bulge = self.params.bulge * self.state.bulges[index];
            coat.group = self.state.groups[index];
            self.rotations[index] = body.rotation;
            let first = coat.first as usize;
            let drive = &self.rest.bodies[p.body].drive;
            if let Drive::Joints { actor, .. } = drive {
                let points = joint_points(drive, &self.poses[*actor]);
                self.coats.points[first..first + points.len()].copy_from_slice(&points);
                continue;
            }
            for (target, local) in self.coats.points[first..].iter_mut().zip(&p.points) {
                *target = body.position + body.rotation * *local;
            }
        }
        self.coats.spots.clear();
        self.coats.spots.extend(self.state.spots());
    }

    fn sample(&mut self, context: &StepContext, now: Instant) {
        let tools = self.toolbox.at(context, now.fraction);
        fill_grid(&self.coats, &mut self.grid);
        let sampling = Sampling {
            coats: &self.coats,
            seeds: &self.rest.seeds,
            fine_seeds: &self.rest.fine_seeds,
            rotations: &self.rotations,
            tools: &tools,
        };
        sampling.run(&self.grid, &mut self.state.distances, &mut self.territories);
    }

    fn control_volumes(&mut self, context: &StepContext, now: Instant) {
        let control = VolumeControl {
            seconds: self.params.volume_time,
            damping: self.params.volume_damping,
            dt: now.dt,
        };
        let frame = now.time * context.clock.rate.fps();
        self.own_volumes.clear();
        for (index, p) in self.rest.primitives.iter().enumerate() {
            let territory = &self.territories[index];
            let factor = p.volume[0].at(frame) * p.volume[1].at(frame);
            self.own_volumes.push(Volumes {
                now: territory.volume,
                before: self.state.volumes[index],
                wanted: self.state.rest_volumes[index] * factor,
                gain: territory.gain,
            });
        }
        for (index, p) in self.rest.primitives.iter().enumerate() {
            let (around, apart) = self.volumes_around(index);
            self.state.offsets[index] = control.next_offset(
                &p.coat,
                self.state.offsets[index],
                &self.own_volumes[index],
                &around,
                apart,
            );
            self.state.volumes[index] = self.own_volumes[index].now;
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
        let middle = self.coats.middle(index);
        let mut sum = Volumes::default();
        let room = tolerances::SEPARATE * self.rest.primitives[index].coat.thickness;
        let mut apart = 1.0f64;
        for &other in self.territories[index].near() {
            let o = other as usize;
            let weight = if o == index {
                1.0
            } else {
                let blended = self.blend_weight(index, o);
                if blended == 0.0 {
                    continue;
                }
                let (field, _, away) = self.coats.field_of(o, middle);
                apart = apart.min(1.0 - blended + blended * away.length() / room);
                blended * (field / self.coats.level).min(1.0)
            };
            let free = Volumes { gain: self.territories[o].common_gain, ..self.own_volumes[o] };
            sum.add(&free, weight);
        }
        (sum, apart * apart)
    }

    fn apply_forces(&mut self, context: &StepContext, now: Instant) {
        for body in &mut self.state.bodies {
            (body.force, body.torque) = (DVec3::ZERO, DVec3::ZERO);
        }
        let tools = self.toolbox.at(context, now.fraction);
        let contacts = Contacts {
            params: &self.params,
            rest: &self.rest,
            coats: &self.coats,
            territories: &self.territories,
            tools: &tools,
            dt: now.dt,
        };
        contacts.apply(&mut self.state, &mut self.contacts);
        apply_welds(&self.rest, &mut self.state, self.params.damping);
        self.apply_dough(now.time * context.clock.rate.fps(), now.dt);
        self.update_bulges(now.dt);
    }

    /// Bulges follow the greatest pressure of each primitive's contacts with others and tools.
    fn update_bulges(&mut self, dt: f64) {
        if self.params.bulge == 0.0 {
            return;
        }
        let share = 1.0 - (-dt / tolerances::BULGE_TIME).exp();
        for (index, territory) in self.territories.iter().enumerate() {
            let label = self.coats.primitives[index].label;
            let apart = |c: &ContactPoint| match c.presser {
                Presser::Primitive(o) => self.coats.primitives[o as usize].label != label,
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
        if self.coats.linked(a, b) {
            return 1.0;
        }
        let groups = (self.coats.primitives[a].group, self.coats.primitives[b].group);
        let spots = self.territories[a].spots();
        if groups.0 == groups.1 || spots.is_empty() {
            return 0.0;
        }
        let at = 0.5 * (self.coats.middle(a) + self.coats.middle(b));
        weld_weight(spots.iter().map(|&s| &self.coats.spots[s as usize]), groups, at).0
    }

    fn update_blending(&mut self, dt: f64) {
        blending::update_fracture(
            &self.rest,
            &self.coats,
            &self.territories,
            &mut self.components,
            &mut self.state,
        );
        update_welds(
            &self.rest,
            &self.coats,
            &self.territories,
            &self.contacts.pairs,
            &mut self.state,
            dt,
        );
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
            if let Some(law) = DoughLaw::at(object, frame) {
                longest = longest.min(law.stable_step(object.particle_mass));
            }
        }
        longest
    }
}
