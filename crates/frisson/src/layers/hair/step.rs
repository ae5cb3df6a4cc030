//! One step, as a short list of passes.

use glam::Vec3;
use rayon::prelude::*;

use super::contact::{Body, PosedBody};
use super::fit::{self, Fitted};
use super::interact::{InteractionInput, Interactions, next_turns};
use super::params::HairParams;
use super::rest::{HairRest, RootPose};
use super::split;
use super::state::{HairState, Wisp};
use super::strands::{self, Before, StrandInput};
use super::style::{self, StyleScene};
use super::tick::{Drive, TOGETHER, TickInput, TickRoom, fit_lengths, integrate_wisps};
use super::wind::{self, WindShadow};
use crate::character::{Pose, Sampling};
use crate::geometry::Mesh;
use crate::stage::{
    ActorSet, Animated, BuildContext, ColliderSet, Curves, Frame, LayerError, LayerReport,
    SnapshotError, StepContext, SurfaceMotion, WholeLayer, from_snapshot, to_snapshot,
};

/// The hair layer.
pub struct HairLayer {
    pub(super) params: HairParams,
    pub(super) rest: HairRest,
    pub(super) state: HairState,
    /// Meshes that stop the hair, by name.
    meshes: Vec<SurfaceMotion>,
    /// Ellipsoids fitted to the character.
    fitted: Vec<Fitted>,
    scratch: Scratch,
}

/// Storage that is reused from tick to tick and never saved.
#[derive(Default)]
struct Scratch {
    roots: Vec<RootPose>,
    roots_before: Vec<RootPose>,
    bodies: Vec<Body>,
    posed: Vec<Vec<PosedBody>>,
    accelerations: Vec<Vec3>,
    air: Vec<Vec3>,
    wetness: Vec<f32>,
    of_root: Vec<Vec<u32>>,
    jumped: Vec<bool>,
    ties: Vec<f64>,
    braids: Vec<f64>,
    pose_before: Pose,
    interactions: Interactions,
    shadow: WindShadow,
    /// Wisps and skin one tick before the output, when velocities are wanted.
    past: Vec<Wisp>,
    past_skin: Vec<Vec3>,
    past_secs: f32,
}

impl HairLayer {
    /// Builds the layer: roots, style, rest angles.
    pub(super) fn build_layer(
        params: &HairParams,
        context: &BuildContext,
    ) -> Result<Self, LayerError> {
        let frame = context.frame;
        let names = || frame.meshes.iter().map(|m| m.name.as_str());
        let find = |parameter: &str, name: &str| {
            frame
                .mesh_index(name)
                .ok_or_else(|| LayerError::unknown(parameter.to_owned(), "mesh", name, names()))
        };
        let mesh_index = find("on", &params.on)?;
        let mesh = &frame.meshes[mesh_index];
        for name in &params.body.meshes {
            find("body.meshes", name)?;
        }
        for name in params.body.colliders.iter().flatten() {
            if context.colliders.get(name).is_none() {
                let known = context.colliders.all().iter().map(|c| c.name.as_str());
                return Err(LayerError::unknown("body.colliders", "collider", name, known));
            }
        }
        let rest = super::roots::build_rest(params, context, mesh)?;
        let wearer = fit::actor_of_mesh(context.actors, mesh_index);
        let fitted = match wearer.and_then(|a| Some((a, context.actors.all()[a].character()?))) {
            Some((actor, character)) if params.body.fit_ellipsoids => {
                fit::fit_ellipsoids(actor, character, params.body.max_ellipsoids as usize)
            }
            None if params.body.fit_ellipsoids => {
                let problem = "this mesh belongs to no character: name colliders or meshes instead";
                return Err(LayerError::parameter("body.fit_ellipsoids", problem));
            }
            _ => Vec::new(),
        };
        let mut layer = Self {
            params: params.clone(),
            rest,
            state: HairState::default(),
            meshes: vec![SurfaceMotion::default(); params.body.meshes.len()],
            fitted,
            scratch: Scratch::default(),
        };
        layer.style(context, mesh)?;
        Ok(layer)
    }

    fn style(&mut self, context: &BuildContext, mesh: &Mesh) -> Result<(), LayerError> {
        for (surface, name) in self.meshes.iter_mut().zip(&self.params.body.meshes) {
            if let Some(index) = context.frame.mesh_index(name) {
                surface.update(&context.frame.meshes[index], 0.0);
            }
        }
        self.gather_bodies(context.colliders, context.actors, context.frame.time);
        self.pose_bodies(1);
        compute_roots(&self.rest, mesh, &mesh.positions, &mut self.scratch.roots);
        let scene = StyleScene {
            params: &self.params,
            poses: &self.scratch.roots,
            bodies: &self.scratch.posed[0],
            meshes: &self.meshes,
            forces: context.forces,
            time: context.frame.time,
        };
        check_roots(&self.rest, &scene)?;
        let mut wisps = style::build_wisps(&mut self.rest, &scene);
        style::style(&mut self.rest, &mut wisps, &scene);
        self.state.wisps = wisps;
        self.state.surfaces = vec![mesh.positions.clone()];
        self.state.surfaces.extend(self.meshes.iter().map(|m| m.positions().to_vec()));
        Ok(())
    }

    /// The bodies of this tick: fitted ellipsoids, then the scene's colliders.
    fn gather_bodies(&mut self, colliders: &ColliderSet, actors: &ActorSet, before: f64) {
        self.scratch.bodies.clear();
        if let Some(first) = self.fitted.first() {
            let pose_before = &mut self.scratch.pose_before;
            actors.all()[first.actor].pose_at(before, Sampling::AsAuthored, pose_before);
            let now = actors.pose(first.actor);
            let friction = self.params.body.friction;
            let fitted = self.fitted.iter().map(|f| fit::body(f, pose_before, now, friction));
            self.scratch.bodies.extend(fitted);
        }
        let wanted = &self.params.body.colliders;
        let chosen = colliders
            .all()
            .iter()
            .filter(|c| wanted.as_ref().is_none_or(|names| names.contains(&c.name)));
        self.scratch.bodies.extend(chosen.map(Body::of_collider));
    }

    /// The bodies at the end of every sub-step.
    fn pose_bodies(&mut self, substeps: usize) {
        let Scratch { bodies, posed, .. } = &mut self.scratch;
        posed.resize_with(substeps, Vec::new);
        for (s, posed) in posed.iter_mut().enumerate() {
            let at = |k: usize| k as f32 / substeps as f32;
            posed.clear();
            posed.extend(bodies.iter().map(|b| PosedBody::new(b, at(s), at(s + 1))));
        }
    }

    fn gather_forces(&mut self, context: &StepContext) {
        let (n, forces) = (self.rest.count, context.forces);
        let time = context.time - 0.5 * context.dt;
        let Scratch { accelerations, air, .. } = &mut self.scratch;
        let wisps = &self.state.wisps;
        accelerations.resize(wisps.len() * n, Vec3::ZERO);
        air.resize(wisps.len() * n, Vec3::ZERO);
        let windy = forces.has_wind();
        let work = accelerations.par_chunks_mut(n).zip(air.par_chunks_mut(n)).zip(wisps);
        work.with_min_len(16).for_each(|((accelerations, air), wisp)| {
            for i in 0..n {
                let p = wisp.positions[i];
                accelerations[i] = forces.acceleration(p, time);
                let sampled = windy && (i % 3 == 0 || i + 1 == n);
                air[i] = if sampled { forces.air_velocity(p, time) } else { Vec3::ZERO };
            }
            // Gusts are larger than segments: two particles of three take the mean of others.
            for i in (0..n).filter(|i| windy && i % 3 != 0 && i + 1 != n) {
                let (from, to) = (i - i % 3, (i - i % 3 + 3).min(n - 1));
                let t = (i - from) as f32 / (to - from) as f32;
                air[i] = air[from].lerp(air[to], t);
            }
        });
        self.shelter(context, windy);
    }

    /// Takes the wind out of the air where hair or a body stands in its way.
    fn shelter(&mut self, context: &StepContext, windy: bool) {
        let strength = self.params.wind_shadow;
        if !windy || strength <= 0.0 {
            return;
        }
        let Scratch { air, shadow, posed, .. } = &mut self.scratch;
        let wisps = &mut self.state.wisps;
        // Hair and bodies move little against the wind in a thirtieth of a second.
        let every = (1.0 / (30.0 * context.dt)).round().max(1.0) as u64;
        if self.state.ticks.is_multiple_of(every) {
            let blows = air.iter().any(|a| a.length_squared() > 1.0e-6);
            if blows {
                shadow.build(&self.rest, wisps);
            }
            let bodies = posed.last().map_or(&[][..], Vec::as_slice);
            wind::measure_shelter(shadow, strength, &self.rest, wisps, bodies, air);
        }
        for (air, wisp) in air.chunks_mut(self.rest.count).zip(wisps) {
            for (a, share) in air.iter_mut().zip(&wisp.shelter) {
                *a *= *share;
            }
        }
    }

    /// Wisps act on each other, every so many ticks.
    fn interact(&mut self, context: &StepContext) {
        let params = &self.params.interaction;
        if !params.friction && !params.collisions {
            return;
        }
        let every = (1.0 / (context.dt * f64::from(params.rate_hz))).round().max(1.0) as u64;
        if !self.state.ticks.is_multiple_of(every) {
            return;
        }
        let input = InteractionInput {
            rest: &self.rest,
            params,
            mass_share: self.params.envelope.mass_share,
            wetness: &self.scratch.wetness,
            dt: (context.dt * every as f64) as f32,
            tick: context.dt as f32,
            carried: 2,
            turns: self.state.turns.max(1),
            pass: self.state.ticks / every,
            sweeps: params.sweeps(),
        };
        let interactions = &mut self.scratch.interactions;
        interactions.apply(&input, &mut self.state.wisps);
        if self.params.stretch <= 0.0 && params.dry_limit() > 0.0 {
            // What dry friction holds back must not lengthen straight hair.
            let roots = &self.rest.roots;
            let work = self.state.wisps.par_iter_mut().with_min_len(64);
            work.for_each(|w| fit_lengths(w, roots[w.root as usize].segment));
        }
        let pairs = interactions.treated.iter().sum::<u32>() / input.sweeps;
        let sections = self.state.wisps.len() * (self.rest.count - 2);
        self.state.turns = next_turns(params, input.turns, pairs, sections as u32);
    }

    fn integrate(&mut self, context: &StepContext, mesh: &Mesh) {
        let frame = context.frame_number();
        let rate_sq = |a: &Animated| (std::f64::consts::TAU * a.at(frame).max(0.0)).powi(2);
        let style = &self.params.style;
        let scratch = &mut self.scratch;
        scratch.ties.clear();
        scratch.ties.extend(style.ties.iter().map(|t| rate_sq(&t.hold_hz)));
        scratch.braids.clear();
        scratch.braids.extend(style.braids.iter().map(|b| rate_sq(&b.hold_hz)));
        compute_wetness(&self.params, &self.rest, mesh, frame, &mut scratch.wetness);
        let input = TickInput {
            rest: &self.rest,
            params: &self.params,
            roots_before: &scratch.roots_before,
            roots: &scratch.roots,
            bodies: &scratch.posed,
            meshes: &self.meshes,
            dt: context.dt,
            drag: f64::from(self.params.drag + context.forces.drag_rate(context.time)),
            goal_rate_sq: rate_sq(&self.params.goal_hz),
            tie_rates_sq: &scratch.ties,
            braid_rates_sq: &scratch.braids,
            wetness: &scratch.wetness,
            friction: true,
        };
        let n = self.rest.count;
        scratch.jumped.resize(self.state.wisps.len(), false);
        (self.state.wisps.par_chunks_mut(TOGETHER))
            .zip(scratch.accelerations.par_chunks(TOGETHER * n))
            .zip(scratch.air.par_chunks(TOGETHER * n))
            .zip(scratch.jumped.par_chunks_mut(TOGETHER))
            .for_each_init(TickRoom::new, |room, (((wisps, accelerations), air), jumped)| {
                integrate_wisps(&input, wisps, &Drive { accelerations, air }, room, jumped);
            });
        self.state.teleports += scratch.jumped.iter().filter(|j| **j).count() as u32;
    }

    fn find_mesh(&self, frame: &Frame) -> Result<usize, LayerError> {
        let gone = || LayerError::Other(format!("mesh {:?} is gone", self.params.on));
        frame.mesh_index(&self.params.on).ok_or_else(gone)
    }

    pub(super) fn write_curves(&mut self, mesh: usize, frame: &mut Frame) {
        let Frame { meshes, curves, .. } = frame;
        let mesh = &meshes[mesh];
        let index = curves.iter().position(|c| c.name == self.params.name);
        let index = index.unwrap_or_else(|| {
            let strands = &self.params.strands;
            let uvs = &mesh.topology.uvs;
            let (name, triangles) = (&self.params.name, &mesh.topology.triangles);
            curves.push(strands::build_curves(name, &self.rest, strands, uvs, triangles));
            curves.len() - 1
        });
        let of_root = &mut self.scratch.of_root;
        of_root.resize_with(self.rest.roots.len(), Vec::new);
        of_root.iter_mut().for_each(Vec::clear);
        for (index, wisp) in self.state.wisps.iter().enumerate() {
            of_root[wisp.root as usize].push(index as u32);
        }
        let input = self.strand_input(mesh);
        let Curves { points, velocities, .. } = &mut curves[index];
        strands::write_strands(&input, points, velocities);
    }

    /// What the strands are made from; `of_root` must be up to date.
    pub(super) fn strand_input<'a>(&'a self, mesh: &'a Mesh) -> StrandInput<'a> {
        let scratch = &self.scratch;
        StrandInput {
            rest: &self.rest,
            params: &self.params.strands,
            seed: self.params.seed,
            wisps: &self.state.wisps,
            of_root: &scratch.of_root,
            triangles: &mesh.topology.triangles,
            skin: &mesh.positions,
            bodies: scratch.posed.last().map_or(&[], Vec::as_slice),
            meshes: &self.meshes,
            margin: self.params.body.margin,
            before: (scratch.past_secs > 0.0).then_some(Before {
                wisps: &scratch.past,
                skin: &scratch.past_skin,
                dt: scratch.past_secs,
            }),
            by_length: self.params.stretch <= 0.0,
        }
    }

    fn check_finite(&self, context: &StepContext) -> Result<(), LayerError> {
        let bad = |w: &Wisp| !w.positions.iter().all(|p| p.is_finite());
        match self.state.wisps.iter().position(bad) {
            None => Ok(()),
            Some(element) => {
                Err(LayerError::NonFinite { what: "wisp", element, frame: context.frame })
            }
        }
    }
}

fn compute_roots(rest: &HairRest, mesh: &Mesh, positions: &[Vec3], out: &mut Vec<RootPose>) {
    out.clear();
    let triangles = &mesh.topology.triangles;
    out.extend(rest.roots.iter().map(|root| root.pose(triangles, positions)));
}

/// Wetness of every root: the parameter plus the skin's own.
fn compute_wetness(
    params: &HairParams,
    rest: &HairRest,
    mesh: &Mesh,
    frame: f64,
    out: &mut Vec<f32>,
) {
    let all = params.wetness.at(frame) as f32;
    let skin = Some(mesh.channels.wetness.as_slice()).filter(|w| !w.is_empty());
    out.clear();
    out.extend(rest.roots.iter().map(|root| {
        let corners = mesh.topology.triangles[root.skin.triangle as usize];
        let local = skin.map_or(0.0, |w| {
            (0..3).map(|k| root.skin.barycentric[k] * w[corners[k] as usize]).sum()
        });
        (all + local).clamp(0.0, 1.0)
    }));
}

/// A collider that swallows every root is a mistake in the scene; some swallowed roots are a warning.
fn check_roots(rest: &HairRest, scene: &StyleScene) -> Result<(), LayerError> {
    let swallowed = |(root, pose): (&super::rest::WispRoot, &RootPose)| {
        let tip = pose.skin + pose.direction * root.height;
        scene.bodies.iter().any(|b| b.distance(tip).0 < -0.02)
    };
    let count = rest.roots.iter().zip(scene.poses).filter(|&pair| swallowed(pair)).count();
    if count == rest.roots.len() {
        return Err(LayerError::parameter(
            "body.colliders",
            "a collider swallows every root (by more than 2 cm): shrink it or leave it out",
        ));
    }
    Ok(())
}

impl WholeLayer for HairLayer {
    type Params = HairParams;
    const KIND: &'static str = "hair";

    fn name(&self) -> &str {
        &self.params.name
    }

    fn build(params: &HairParams, context: &BuildContext) -> Result<Self, LayerError> {
        params.validate()?;
        Self::build_layer(params, context)
    }

    fn needs_surfaces_between_frames(&self) -> bool {
        true
    }

    fn start(&mut self, _context: &StepContext, _frame: &Frame) -> Result<(), LayerError> {
        Ok(())
    }

    fn advance(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        let mesh = self.find_mesh(frame)?;
        self.tick(context, frame, mesh)
    }

    fn write(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError> {
        let mesh = self.find_mesh(frame)?;
        if context.is_output {
            self.write_curves(mesh, frame);
        }
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        to_snapshot(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let state: HairState = from_snapshot(bytes)?;
        let fits = |w: &Wisp| {
            (w.root as usize) < self.rest.roots.len() && w.positions.len() == self.rest.count
        };
        if !state.wisps.iter().all(fits) || state.surfaces.len() != self.meshes.len() + 1 {
            return Err(SnapshotError("its wisps are not those of this scene".to_owned()));
        }
        for (mesh, saved) in self.meshes.iter_mut().zip(&state.surfaces[1..]) {
            mesh.restore(saved.clone());
        }
        self.state = state;
        Ok(())
    }

    fn report(&self, report: &mut LayerReport) {
        report.measure("wisps", "-", self.state.wisps.len() as f64);
        report.measure("longest stretch", "-", self.worst_stretch());
        let [rubbing, collisions] = self.scratch.interactions.treated;
        report.measure("sections rubbing", "-", f64::from(rubbing));
        report.measure("sections colliding", "-", f64::from(collisions));
        for warning in &self.rest.warnings {
            report.warn(warning.clone());
        }
        if self.state.teleports > 0 {
            report.warn("roots jumped: their hair was carried along and brought to rest");
        }
    }
}

impl HairLayer {
    fn tick(
        &mut self,
        context: &StepContext,
        frame: &Frame,
        mesh: usize,
    ) -> Result<(), LayerError> {
        let mesh = &frame.meshes[mesh];
        if mesh.positions.len() != self.state.surfaces[0].len() {
            let problem = "the scalp's topology changes: put hair before the layer that refines it";
            return Err(LayerError::parameter("on", problem));
        }
        if context.is_output && self.params.strands.velocities {
            self.scratch.past.clone_from(&self.state.wisps);
            self.scratch.past_skin.clone_from(&self.state.surfaces[0]);
            self.scratch.past_secs = context.dt as f32;
        }
        let before = std::mem::take(&mut self.state.surfaces[0]);
        compute_roots(&self.rest, mesh, &before, &mut self.scratch.roots_before);
        compute_roots(&self.rest, mesh, &mesh.positions, &mut self.scratch.roots);
        self.state.surfaces[0] = before;
        for k in 0..self.meshes.len() {
            if let Some(index) = frame.mesh_index(&self.params.body.meshes[k]) {
                self.meshes[k].update(&frame.meshes[index], context.dt);
            }
        }
        self.gather_bodies(context.colliders, context.actors, context.time - context.dt);
        self.pose_bodies(self.params.substeps as usize);
        self.gather_forces(context);
        self.integrate(context, mesh);
        self.state.ticks += 1;
        self.interact(context);
        if self.params.split.max_growth > 1.0 {
            split::apply_merges(&self.params.split, &self.rest, &mut self.state, context.dt as f32);
            split::apply_splits(&self.params.split, &self.rest, &mut self.state);
        }
        self.state.surfaces[0].copy_from_slice(&mesh.positions);
        for (saved, mesh) in self.state.surfaces[1..].iter_mut().zip(&self.meshes) {
            saved.clear();
            saved.extend_from_slice(mesh.positions());
        }
        self.check_finite(context)
    }

    /// Largest relative lengthening of a free segment [-].
    #[must_use]
    pub fn worst_stretch(&self) -> f64 {
        let worst = |w: &Wisp| {
            let segment = self.rest.roots[w.root as usize].segment;
            w.positions[1..]
                .windows(2)
                .map(|p| (p[0].distance(p[1]) / segment - 1.0).abs())
                .fold(0.0, f32::max)
        };
        f64::from(self.state.wisps.iter().map(worst).fold(0.0, f32::max))
    }
}
