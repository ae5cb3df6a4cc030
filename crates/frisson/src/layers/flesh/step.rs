//! One step: follow the joint, advance the spring, move the vertices.

use glam::{DQuat, DVec3, Vec3};

use super::layer::FleshLayer;
use super::params::{FleshParams, LimitKind};
use super::rest::FleshRest;
use super::spring::{
    SpringStep, StaticFrame, apply_hard_limit, periodic_state, rotation_vector, soften,
};
use super::state::FleshState;
use super::swing::FleshSwing;
use crate::character::rotation_of;
use crate::geometry::{Ancestry, Mesh};
use crate::stage::{Actor, Clock, Forces, Frame, LayerError, StepContext, Work};
use crate::tolerances::flesh as tolerances;

/// Storage that is reused from step to step.
#[derive(Default)]
pub struct FleshScratch {
    /// The static frame at every other grid time of the current step.
    nodes: Vec<StaticFrame>,
    /// The spring's step of the last grid interval: ticks are of one length mostly.
    step: Option<SpringStep>,
    /// Where the vertices of the unrefined mesh were, then how far all moved; and room beside it.
    before: Vec<Vec3>,
    spare: Vec<Vec3>,
}

/// What pulls on the spring, and where that is looked up.
#[derive(Clone, Copy)]
struct Pull<'a> {
    params: &'a FleshParams,
    rest: &'a FleshRest,
    clock: &'a Clock,
    forces: &'a Forces,
}

impl<'a> Pull<'a> {
    fn new(params: &'a FleshParams, rest: &'a FleshRest, context: &StepContext<'a>) -> Self {
        Self { params, rest, clock: context.clock, forces: context.forces }
    }

    /// Gravity relative to the modelled pose, `g - R g` with `R` the turn since then, and the
    /// artist's own pull [m/s²].
    fn at(&self, time: f64, rotation: DQuat) -> DVec3 {
        let share = self.params.gravity.at(self.clock.frame_at(time));
        let own = DVec3::from_array(self.params.pseudo_gravity);
        if share == 0.0 {
            return own;
        }
        let gravity = self.forces.gravity.as_dvec3();
        let turned = rotation * self.rest.rest_rotation.inverse() * gravity;
        let relative = gravity - turned;
        let noise = tolerances::SAME_POSE_FRACTION * gravity.length();
        let relative = if relative.length() <= noise { DVec3::ZERO } else { relative };
        share * relative + own
    }

    /// At rest in the moving frame: where the spring balances what pulls on it and the inertia of the
    /// motion that goes on. Who is already running when the shot begins is not kicked off.
    fn still_state(&self, actor: &Actor, time: f64) -> FleshState {
        let motion =
            Departure::from(self.rest, actor, self.rest.clip_begin.unwrap_or(time).max(time));
        let (frequency, _) = self.params.spring();
        // Who is only setting off has not swung yet; who has had a swing's time to come to its speed has.
        let settled = |velocity: DVec3, acceleration: DVec3| {
            let speed = (frequency * velocity).length_squared();
            let share = speed / (speed + acceleration.length_squared()).max(f64::MIN_POSITIVE);
            share * acceleration
        };
        let inertia = settled(motion.velocity, motion.acceleration);
        let turning = settled(motion.angular_velocity, motion.angular_acceleration);
        let pull = self.at(time, motion.frame.rotation) - inertia;
        let mut state = FleshState {
            elongation: pull / (frequency * frequency),
            turn: -turning / (frequency * frequency),
            ..FleshState::default()
        };
        if self.params.limit_kind == LimitKind::Hard {
            apply_hard_limit(&mut state, limit(self.params, self.rest));
        }
        state
    }
}

/// How the static frame moves on from a time.
struct Departure {
    frame: StaticFrame,
    /// [m/s] and [m/s²].
    velocity: DVec3,
    acceleration: DVec3,
    /// [rad/s] and [rad/s²].
    angular_velocity: DVec3,
    angular_acceleration: DVec3,
}

impl Departure {
    fn from(rest: &FleshRest, actor: &Actor, time: f64) -> Self {
        let span = tolerances::DEPARTURE_SECONDS;
        let at = |k: f64| in_static_frame(rest, actor.joint_at(&rest.joint_path, time + k * span));
        let [a, b, c] = [at(0.0), at(1.0), at(2.0)];
        let turn = |a: StaticFrame, b: StaticFrame| {
            rotation_vector(b.rotation * a.rotation.inverse()) / span
        };
        let (first, second) = ((b.position - a.position) / span, (c.position - b.position) / span);
        let (turned, turned_on) = (turn(a, b), turn(b, c));
        let (acceleration, angular_acceleration) =
            ((second - first) / span, (turned_on - turned) / span);
        // The speed is that of the first grid interval, so that what went before joins it without a kick.
        let soon = at(1.0 / (span * tolerances::GRID_HZ));
        let share = span * tolerances::GRID_HZ;
        // Rounding of f32 positions must not move what stands.
        let noise = tolerances::SAME_PLACE * (1.0 + a.position.length()) / (span * span);
        let real = |a: DVec3, noise: f64| if a.length() <= noise { DVec3::ZERO } else { a };
        Self {
            frame: a,
            velocity: (soon.position - a.position) * tolerances::GRID_HZ,
            acceleration: real(acceleration, noise),
            angular_velocity: share * turn(a, soon),
            angular_acceleration: real(
                angular_acceleration,
                tolerances::SAME_POSE_FRACTION / (span * span),
            ),
        }
    }

    /// Where the frame was some seconds before.
    fn before(&self, seconds: f64) -> StaticFrame {
        let square = 0.5 * seconds * seconds;
        let turn = -seconds * self.angular_velocity + square * self.angular_acceleration;
        StaticFrame {
            position: self.frame.position - seconds * self.velocity + square * self.acceleration,
            rotation: DQuat::from_scaled_axis(turn) * self.frame.rotation,
        }
    }
}

/// At rest in the moving frame, or in the periodic state of a loop.
pub(super) fn initial_state(
    params: &FleshParams,
    rest: &FleshRest,
    context: &StepContext,
) -> Result<FleshState, LayerError> {
    let actor = &context.actors.all()[rest.actor];
    let pull = Pull::new(params, rest, context);
    if !params.looped {
        return Ok(pull.still_state(actor, context.time));
    }
    match actor.cycle_seconds() {
        Some(seconds) => Ok(looped_state(&pull, actor, context.time, seconds)),
        None => Err(LayerError::parameter("loop", "the actor plays no clip to loop")),
    }
}

fn looped_state(pull: &Pull, actor: &Actor, start: f64, duration: f64) -> FleshState {
    let (params, rest) = (pull.params, pull.rest);
    let count = (duration * tolerances::GRID_HZ).round().max(1.0) as usize;
    let step = spring_step(params, duration / count as f64);
    // Times run over one cycle of the clip, whether or not the actor itself repeats it.
    let frame_at = |i: usize| {
        let time = start + duration * (i % count) as f64 / count as f64;
        in_static_frame(rest, actor.joint_in_cycle(&rest.joint_path, time))
    };
    let most = limit(params, rest);
    let cycle = |mut state: FleshState, limited: bool| {
        for i in 0..count {
            let time = start + duration * i as f64 / count as f64;
            let from = frame_at(i);
            step.advance(&mut state, from, frame_at(i + 1), pull.at(time, from.rotation));
            if limited && params.limit_kind == LimitKind::Hard {
                apply_hard_limit(&mut state, most);
            }
        }
        state
    };
    let path = cycle(FleshState::default(), false).path;
    let after = cycle(FleshState { path, ..FleshState::default() }, false);
    let mut state = periodic_state(params.spring(), duration, &after);
    if params.limit_kind == LimitKind::Soft {
        return state;
    }
    for _ in 0..tolerances::MAX_LOOP_CYCLES {
        let next = cycle(state, true);
        let change = (next.elongation - state.elongation).length();
        state = next;
        if change < 1e-5 * most {
            return state;
        }
    }
    state.open_loop = true;
    state
}

/// Greatest elongation [m].
pub(super) fn limit(params: &FleshParams, rest: &FleshRest) -> f64 {
    f64::from(rest.deepest) * f64::from(params.limit)
}

fn static_frame(rest: &FleshRest, actor: &Actor, time: f64) -> StaticFrame {
    match rest.clip_begin {
        // A clip is held before its first key: to stand and be off at once would fling the flesh.
        Some(begin) if time < begin => Departure::from(rest, actor, begin).before(begin - time),
        _ => in_static_frame(rest, actor.joint_at(&rest.joint_path, time)),
    }
}

fn in_static_frame(rest: &FleshRest, joint: glam::Mat4) -> StaticFrame {
    StaticFrame {
        position: joint.transform_point3(rest.joint_from_middle).as_dvec3(),
        rotation: rotation_of(joint).as_dquat(),
    }
}

fn spring_step(params: &FleshParams, seconds: f64) -> SpringStep {
    SpringStep::new(params.spring(), seconds, params.rotation != 0.0)
}

/// Advances the spring over a step, on the fixed grid.
pub(super) fn integrate(
    work: Work<'_, FleshLayer, &mut FleshState>,
    context: &StepContext,
) -> Result<(), LayerError> {
    let Work { params, rest, state, scratch } = work;
    let actor = &context.actors.all()[rest.actor];
    let pull = Pull::new(params, rest, context);
    if !params.looped && rest.clip_begin.is_some_and(|begin| context.time <= begin) {
        // How the body came to its speed is not known: the flesh waits for it, at rest in the moving frame.
        *state = pull.still_state(actor, context.time);
        return Ok(());
    }
    let pairs = (0.5 * context.dt * tolerances::GRID_HZ - 1e-9).ceil().max(1.0) as usize;
    let seconds = context.dt / (2 * pairs) as f64;
    let start = context.time - context.dt;
    sample_path(rest, actor, state, (start, 2.0 * seconds, pairs), &mut scratch.nodes);
    if is_cut(params, rest, context, scratch.nodes[0], scratch.nodes[pairs]) {
        *state = pull.still_state(actor, context.time);
        return Ok(());
    }
    let step = match scratch.step {
        Some(step) if step.seconds() == seconds => step,
        _ => *scratch.step.insert(spring_step(params, seconds)),
    };
    let most = limit(params, rest);
    for i in 0..2 * pairs {
        let time = start + seconds * i as f64;
        let (from, next) = (path_at(&scratch.nodes, i), path_at(&scratch.nodes, i + 1));
        step.advance(state, from, next, pull.at(time, from.rotation));
        if params.limit_kind == LimitKind::Hard {
            apply_hard_limit(state, most);
        }
    }
    if state.elongation.is_finite() && state.turn.is_finite() {
        Ok(())
    } else {
        Err(LayerError::NonFinite { what: "spring", element: 0, frame: context.frame })
    }
}

/// Forgets the spring's step of old parameters.
pub(super) fn forget_step(scratch: &mut FleshScratch) {
    scratch.step = None;
}

/// Poses the static frame at every other grid time of a step.
fn sample_path(
    rest: &FleshRest,
    actor: &Actor,
    state: &FleshState,
    (start, spacing, pairs): (f64, f64, usize),
    nodes: &mut Vec<StaticFrame>,
) {
    let first = match state.path {
        Some(path) => StaticFrame { position: path.position, rotation: path.rotation },
        None => static_frame(rest, actor, start),
    };
    nodes.clear();
    nodes.push(first);
    nodes.extend((1..=pairs).map(|i| static_frame(rest, actor, start + spacing * i as f64)));
}

/// Whether the character jumps within this step: a listed cut, the wrap of a clip that does not
/// close, or further than flesh could ever be dragged.
fn is_cut(
    params: &FleshParams,
    rest: &FleshRest,
    context: &StepContext,
    from: StaticFrame,
    to: StaticFrame,
) -> bool {
    let ticks = (context.dt / context.clock.tick_seconds()).max(1.0);
    let bound = params.teleport * f64::from(rest.bone_length) * ticks;
    params.cuts.contains(&context.frame) || from.position.distance(to.position) > bound
}

/// The swing as it reaches the mesh at a time.
pub(super) fn swing_at(
    params: &FleshParams,
    rest: &FleshRest,
    state: &FleshState,
    (clock, actor, time): (&Clock, &Actor, f64),
) -> FleshSwing {
    let amount = params.amount.at(clock.frame_at(time));
    let elongation = match params.limit_kind {
        LimitKind::Soft => soften(state.elongation, limit(params, rest)),
        LimitKind::Hard => state.elongation,
    };
    let turn = state.turn * f64::from(params.rotation);
    let frame = match state.path {
        Some(path) => StaticFrame { position: path.position, rotation: path.rotation },
        None => static_frame(rest, actor, time),
    };
    let elongation = (amount * elongation).as_vec3();
    let world_from_rest = frame.rotation * rest.rest_rotation.inverse();
    FleshSwing {
        elongation,
        turn: (amount * turn).as_vec3(),
        pivot: frame.position.as_vec3(),
        squeeze: rest.volume.squeeze(elongation, params.volume, world_from_rest.as_quat()),
        most: (amount.abs().max(1.0) * limit(params, rest)) as f32,
    }
}

/// Moves the vertices.
pub(super) fn deform(
    work: &mut Work<'_, FleshLayer, &FleshState>,
    context: &StepContext,
    frame: &mut Frame,
) {
    let Work { params, rest, state, scratch } = work;
    let actor = &context.actors.all()[rest.actor];
    let swing = swing_at(params, rest, state, (context.clock, actor, context.time));
    for touch in &rest.touches {
        let mesh = &mut frame.meshes[touch.mesh];
        let root = mesh.topology.root_vertex_count();
        if root == mesh.positions.len() {
            touch.apply(&swing, mesh);
            continue;
        }
        scratch.before.clear();
        scratch.before.extend_from_slice(&mesh.positions[..root]);
        touch.apply(&swing, mesh);
        carry_refined(mesh, &mut scratch.before, &mut scratch.spare);
    }
}

/// Vertices that an earlier layer added by refinement go along with those they are made of. `moved` holds
/// where the others were.
fn carry_refined(mesh: &mut Mesh, moved: &mut Vec<Vec3>, spare: &mut Vec<Vec3>) {
    let root = moved.len();
    for (was, now) in moved.iter_mut().zip(&mesh.positions) {
        *was = *now - *was;
    }
    if let Some(ancestry) = &mesh.topology.ancestry {
        spread(ancestry, moved, spare);
    }
    for (p, offset) in mesh.positions.iter_mut().zip(moved.iter()).skip(root) {
        *p += *offset;
    }
}

/// Adds the values of refined vertices, generation after generation, without new storage.
fn spread(ancestry: &Ancestry, values: &mut Vec<Vec3>, spare: &mut Vec<Vec3>) {
    if let Some(older) = &ancestry.older {
        spread(older, values, spare);
    }
    spare.clear();
    spare.extend_from_slice(values);
    ancestry.extend(spare, values);
}

/// Writes the weights as an attribute, to look at.
pub(super) fn show_weights(params: &FleshParams, rest: &FleshRest, frame: &mut Frame) {
    for weights in &rest.weights {
        let name = format!("flesh:{}", params.name);
        frame.meshes[weights.mesh].set_scalar(&name, |values| {
            for (&vertex, &alpha) in weights.vertices.iter().zip(&weights.alphas) {
                values[vertex as usize] = alpha;
            }
        });
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
