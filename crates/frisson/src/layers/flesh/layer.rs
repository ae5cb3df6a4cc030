//! The layer: follows the joint, advances the spring, moves the vertices.

use glam::{DQuat, DVec3};

use super::params::{FleshParams, LimitKind};
use super::rest::FleshRest;
use super::spring::{SpringStep, StaticFrame, apply_hard_limit, periodic_state, soften};
use super::state::FleshState;
use super::swing::{FleshSwing, Touch};
use crate::character::{NodeChain, Sampling, rotation_of};
use crate::stage::{
    Actor, ActorMotion, BuildContext, Clock, Forces, Frame, Layer, LayerError, LayerReport,
    SnapshotError, StepContext, from_snapshot, to_snapshot,
};
use crate::tolerances::flesh as tolerances;

/// One flesh element at work.
pub struct FleshLayer {
    params: FleshParams,
    rest: FleshRest,
    chain: NodeChain,
    state: FleshState,
    /// What it touches, laid out for the loop; one for each mesh of the rest data.
    touches: Vec<Touch>,
    /// The swing as it last reached the mesh.
    swing: FleshSwing,
    /// The static frame at every other grid time of the current tick; storage is reused.
    nodes: Vec<StaticFrame>,
    /// The spring's step of the last grid interval: ticks are of one length mostly.
    step: Option<SpringStep>,
    /// Whether it is known what other elements touch.
    settled: bool,
    warnings: Vec<String>,
}

impl FleshLayer {
    /// Computes the rest data; nothing moves yet.
    pub fn new(params: FleshParams, context: &BuildContext) -> Result<Self, LayerError> {
        let rest = FleshRest::build(&params, context)?;
        let actor = &context.actors.all()[rest.actor];
        let Some(character) = actor.character() else {
            return Err(LayerError::parameter("on", "flesh needs a skinned character"));
        };
        let chain = NodeChain::new(character, actor.clip(), rest.joint);
        let touch = |w| Touch::new(w, &context.frame.meshes, params.show_offsets);
        let touches = rest.weights.iter().map(touch).collect();
        let swing = FleshSwing { deepest: rest.deepest, ..FleshSwing::default() };
        let mut layer = Self {
            params,
            rest,
            chain,
            state: FleshState::default(),
            nodes: Vec::new(),
            step: None,
            touches,
            swing,
            settled: false,
            warnings: Vec::new(),
        };
        layer.state = layer.initial_state(context)?;
        Ok(layer)
    }

    /// At rest under gravity, or in the periodic state of a loop.
    fn initial_state(&mut self, context: &BuildContext) -> Result<FleshState, LayerError> {
        let actor = &context.actors.all()[self.rest.actor];
        let start = context.clock.frame_time(context.clock.start_frame());
        let at_rest = self.still_state(actor, context.clock, context.forces, start);
        if !self.params.looped {
            return Ok(at_rest);
        }
        let duration = match (&actor.motion, actor.clip()) {
            (ActorMotion::Character { speed, .. }, Some(clip)) if *speed > 0.0 => {
                clip.duration() / speed
            }
            _ => 0.0,
        };
        if duration <= 0.0 {
            return Err(LayerError::parameter("loop", "the actor plays no clip to loop"));
        }
        Ok(self.looped_state(actor, context, start, duration))
    }

    fn looped_state(
        &mut self,
        actor: &Actor,
        context: &BuildContext,
        start: f64,
        duration: f64,
    ) -> FleshState {
        let count = (duration * tolerances::GRID_HZ).round().max(1.0) as usize;
        let step = self.spring_step(duration / count as f64);
        // Times run over one cycle of the clip, whether or not the actor itself repeats it.
        let frame_at = |i: usize| {
            let clip_time = actor.clip_time(start + duration * (i % count) as f64 / count as f64);
            self.static_frame_at_clip_time(
                actor,
                clip_time.rem_euclid(actor.clip().map_or(1.0, |c| c.duration())),
            )
        };
        let cycle = |mut state: FleshState, limited: bool| {
            for i in 0..count {
                let time = start + duration * i as f64 / count as f64;
                let from = frame_at(i);
                let pull = self.acceleration(context.clock, context.forces, time, from.rotation);
                step.advance(&mut state, from, frame_at(i + 1), pull);
                if limited && self.params.limit_kind == LimitKind::Hard {
                    apply_hard_limit(&mut state, self.limit());
                }
            }
            state
        };
        let path = cycle(FleshState::default(), false).path;
        let after = cycle(FleshState { path, ..FleshState::default() }, false);
        let mut state = periodic_state(self.params.spring(), duration, &after);
        if self.params.limit_kind == LimitKind::Soft {
            return state;
        }
        for _ in 0..tolerances::MAX_LOOP_CYCLES {
            let next = cycle(state, true);
            let change = (next.elongation - state.elongation).length();
            state = next;
            if change < 1e-5 * self.limit() {
                return state;
            }
        }
        let text = format!(
            "{}: the hard limit kept the loop from closing within {} cycles",
            self.params.name,
            tolerances::MAX_LOOP_CYCLES
        );
        self.warnings.push(text);
        state
    }

    /// Hanging still where the spring balances what pulls on it.
    fn still_state(&self, actor: &Actor, clock: &Clock, forces: &Forces, time: f64) -> FleshState {
        let rotation = self.static_frame(actor, time).rotation;
        let pull = self.acceleration(clock, forces, time, rotation);
        let (frequency, _) = self.params.spring();
        let mut state =
            FleshState { elongation: pull / (frequency * frequency), ..FleshState::default() };
        if self.params.limit_kind == LimitKind::Hard {
            apply_hard_limit(&mut state, self.limit());
        }
        state
    }

    /// Greatest elongation [m].
    fn limit(&self) -> f64 {
        f64::from(self.rest.deepest) * f64::from(self.params.limit)
    }

    fn static_frame(&self, actor: &Actor, time: f64) -> StaticFrame {
        self.static_frame_at_clip_time(actor, actor.clip_time(time))
    }

    fn static_frame_at_clip_time(&self, actor: &Actor, clip_time: f64) -> StaticFrame {
        let world = actor.placement.world_from_actor();
        let matrix = self.chain.world(actor.clip(), clip_time, Sampling::Smooth, world);
        StaticFrame {
            position: matrix.transform_point3(self.rest.joint_from_middle).as_dvec3(),
            rotation: rotation_of(matrix).as_dquat(),
        }
    }

    /// Gravity relative to the modelled pose, `g - R g` with `R` the turn since then, and the
    /// artist's own pull [m/s²].
    fn acceleration(&self, clock: &Clock, forces: &Forces, time: f64, rotation: DQuat) -> DVec3 {
        let share = self.params.gravity.at(time * clock.rate.fps());
        let own = DVec3::from_array(self.params.pseudo_gravity);
        if share == 0.0 {
            return own;
        }
        let gravity = forces.gravity.as_dvec3();
        let turned = rotation * self.rest.rest_rotation.inverse() * gravity;
        let relative = gravity - turned;
        let noise = tolerances::SAME_POSE_FRACTION * gravity.length();
        let relative = if relative.length() <= noise { DVec3::ZERO } else { relative };
        share * relative + own
    }

    fn spring_step(&self, seconds: f64) -> SpringStep {
        SpringStep::new(self.params.spring(), seconds, self.params.rotation != 0.0)
    }

    /// Advances the spring over a tick, on the fixed grid.
    fn integrate(&mut self, context: &StepContext) {
        let actor = &context.actors.all()[self.rest.actor];
        let pairs = (0.5 * context.dt * tolerances::GRID_HZ - 1e-9).ceil().max(1.0) as usize;
        let seconds = context.dt / (2 * pairs) as f64;
        let start = context.time - context.dt;
        self.sample_path(actor, start, 2.0 * seconds, pairs);
        if self.is_cut(context, self.nodes[0], self.nodes[pairs]) {
            self.state = self.still_state(actor, context.clock, context.forces, context.time);
            return;
        }
        let step = match self.step {
            Some(step) if step.seconds() == seconds => step,
            _ => *self.step.insert(self.spring_step(seconds)),
        };
        let limit = self.limit();
        for i in 0..2 * pairs {
            let time = start + seconds * i as f64;
            let (from, next) = (path_at(&self.nodes, i), path_at(&self.nodes, i + 1));
            let pull = self.acceleration(context.clock, context.forces, time, from.rotation);
            step.advance(&mut self.state, from, next, pull);
            if self.params.limit_kind == LimitKind::Hard {
                apply_hard_limit(&mut self.state, limit);
            }
        }
    }

    /// Poses the static frame at every other grid time of a tick.
    fn sample_path(&mut self, actor: &Actor, start: f64, spacing: f64, pairs: usize) {
        let first = match self.state.path {
            Some(path) => StaticFrame { position: path.position, rotation: path.rotation },
            None => self.static_frame(actor, start),
        };
        self.nodes.clear();
        self.nodes.push(first);
        for i in 1..=pairs {
            let node = self.static_frame(actor, start + spacing * i as f64);
            self.nodes.push(node);
        }
    }

    /// Whether the character jumps within this tick: a listed cut, the wrap of a clip that does not
    /// close, or further than flesh could ever be dragged.
    fn is_cut(&self, context: &StepContext, from: StaticFrame, to: StaticFrame) -> bool {
        let first = context.dt > 0.0 && {
            let frame = context.frame_number() - context.dt * context.clock.rate.fps();
            frame + 1e-6 >= (context.frame - 1) as f64 && frame - 1e-6 <= (context.frame - 1) as f64
        };
        let listed = first && self.params.cuts.contains(&context.frame);
        let ticks = (context.dt * Clock::TICK_HZ).max(1.0);
        let bound = self.params.teleport * f64::from(self.rest.bone_length) * ticks;
        listed || from.position.distance(to.position) > bound
    }

    /// The swing as it reaches the mesh.
    fn output(&self, context: &StepContext) -> FleshSwing {
        let amount = self.params.amount.at(context.frame_number());
        let elongation = match self.params.limit_kind {
            LimitKind::Soft => soften(self.state.elongation, self.limit()),
            LimitKind::Hard => self.state.elongation,
        };
        let turn = self.state.turn * f64::from(self.params.rotation);
        let pivot = match self.state.path {
            Some(path) if context.dt > 0.0 => path.position,
            _ => self.static_frame(&context.actors.all()[self.rest.actor], context.time).position,
        };
        FleshSwing {
            elongation: (amount * elongation).as_vec3(),
            turn: (amount * turn).as_vec3(),
            pivot: pivot.as_vec3(),
            deepest: self.rest.deepest,
        }
    }

    fn deform(&mut self, context: &StepContext, frame: &mut Frame) {
        self.swing = self.output(context);
        let all_have_left_room = context.dt > 0.0 && !self.settled;
        self.settled |= all_have_left_room;
        for touch in &mut self.touches {
            if context.dt == 0.0 {
                touch.leave_room(&mut frame.meshes[touch.mesh]);
            } else if all_have_left_room {
                touch.settle(&frame.meshes[touch.mesh]);
            }
            touch.apply(&self.swing, &mut frame.meshes[touch.mesh]);
        }
    }

    /// What does not change: bone, weights, limit.
    #[must_use]
    pub fn rest(&self) -> &FleshRest {
        &self.rest
    }

    /// The swing as it last reached the mesh.
    #[must_use]
    pub fn swing(&self) -> &FleshSwing {
        &self.swing
    }

    fn show_weights(&self, frame: &mut Frame) {
        for weights in &self.rest.weights {
            let name = format!("flesh:{}", self.params.name);
            frame.meshes[weights.mesh].set_scalar(&name, |values| {
                for (&vertex, &alpha) in weights.vertices.iter().zip(&weights.alphas) {
                    values[vertex as usize] = alpha;
                }
            });
        }
    }
}

/// The static frame at a grid time, in half spacings of the sampled nodes. Between nodes positions
/// follow the cubic through the four nearest (the error is of fourth order), rotations the arc.
fn path_at(nodes: &[StaticFrame], grid: usize) -> StaticFrame {
    let k = grid / 2;
    if grid.is_multiple_of(2) {
        return nodes[k];
    }
    let p = |i: usize| nodes[i].position;
    let position = match nodes.len() {
        0..3 => 0.5 * (p(k) + p(k + 1)),
        3 => {
            let far = if k == 0 { 2 } else { 0 };
            (3.0 * p(2 * k) + 6.0 * p(1) - p(far)) / 8.0
        }
        _ if k == 0 => one_sided(p(0), p(1), p(2), p(3)),
        count if k + 2 == count => one_sided(p(k + 1), p(k), p(k - 1), p(k - 2)),
        _ => (9.0 * (p(k) + p(k + 1)) - p(k - 1) - p(k + 2)) / 16.0,
    };
    let (a, b) = (nodes[k].rotation, nodes[k + 1].rotation);
    // Half-way on the arc is the mean of its ends, made a rotation again.
    let near = if a.dot(b) < 0.0 { -b } else { b };
    StaticFrame { position, rotation: (a + near).normalize() }
}

/// The middle between the first two of four evenly spaced points.
fn one_sided(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> DVec3 {
    (5.0 * a + 15.0 * b - 5.0 * c + d) / 16.0
}

impl Layer for FleshLayer {
    fn name(&self) -> &str {
        &self.params.name
    }

    fn kind(&self) -> &'static str {
        "flesh"
    }

    fn step(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError> {
        if context.dt > 0.0 {
            self.integrate(context);
        }
        let sound = self.state.elongation.is_finite() && self.state.turn.is_finite();
        if !sound {
            return Err(LayerError::NonFinite { what: "spring", element: 0, frame: context.frame });
        }
        if context.surfaces_wanted {
            self.deform(context, frame);
            if self.params.show_weights {
                self.show_weights(frame);
            }
        }
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        to_snapshot(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.state = from_snapshot(bytes)?;
        Ok(())
    }

    fn report(&self, report: &mut LayerReport) {
        report.measure("elongation", "m", self.state.elongation.length());
        report.measure("elongation / limit", "-", self.state.elongation.length() / self.limit());
        self.warnings.iter().for_each(|w| report.warn(w.clone()));
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }
}
