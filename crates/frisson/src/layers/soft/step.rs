//! One step as a list of passes, each over what it reads and writes; and the state in which the layer begins.
//!
//! ```text
//!  integrate bodies ─► close joints ─► place coats ─► slide seeds ─► control volumes ─► forces ─► blending
//! ```

use glam::DVec3;

use super::bulge::update_bulges;
use super::contact::Contacts;
use super::dough::apply_dough;
use super::follow::place_coats;
use super::fracture::update_fracture;
use super::joints::solve_joints;
use super::layer::SoftLayer;
use super::params::{SoftParams, SoftSurface};
use super::rest::SoftRest;
use super::sample::{Sampling, fill_grid};
use super::scratch::SoftScratch;
use super::shape::flatten_particles;
use super::state::{BodyState, SoftState};
use super::structure::{JointRest, integrate_bodies};
use super::tick;
use super::tool::Tools;
use super::travel::bound_travel;
use super::volume::{VolumeControl, control_volumes, settle_volumes};
use super::weld::{apply_welds, update_welds};
use crate::stage::{Frame, LayerError, StepContext, Work};
use crate::tolerances::soft as tolerances;

/// What no pass changes: what the artist set, and what was computed from it once.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub params: &'a SoftParams,
    pub rest: &'a SoftRest,
}

/// Where in the tick a step ends.
#[derive(Clone, Copy)]
pub(super) struct Instant<'a> {
    /// The tick.
    pub context: &'a StepContext<'a>,
    /// Time at the end of the step [s].
    pub time: f64,
    /// Length of the step [s].
    pub dt: f64,
    /// Share of the tick that has passed at its end.
    pub fraction: f32,
    /// No step may be shorter.
    pub shortest: bool,
}

impl Instant<'_> {
    /// Fractional frame number, for key-framed parameters.
    pub fn frame(&self) -> f64 {
        self.context.clock.frame_at(self.time)
    }
}

/// Which seeds are slid.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    All,
    /// Those that make a difference to somebody.
    Felt,
}

/// The state in which the layer begins.
pub(super) fn start(
    work: Work<'_, SoftLayer, ()>,
    context: &StepContext,
    frame: &Frame,
) -> Result<SoftState, LayerError> {
    let Work { params, rest, scratch, .. } = work;
    let mut state = SoftState::begin(rest);
    scratch.fit(rest);
    scratch.tools.advance(&rest.toolbox, context, frame, &mut state.tools);
    scratch.find_hanging(rest, &state, frame);
    settle(Given { params, rest }, &mut state, scratch, context);
    check(&state, context.frame)?;
    Ok(state)
}

/// Advances by a tick, or by a part of one.
pub(super) fn advance(
    work: Work<'_, SoftLayer, &mut SoftState>,
    context: &StepContext,
    frame: &Frame,
) -> Result<(), LayerError> {
    let Work { params, rest, state, scratch } = work;
    scratch.fit(rest);
    scratch.tools.advance(&rest.toolbox, context, frame, &mut state.tools);
    scratch.find_hanging(rest, state, frame);
    tick::advance(Given { params, rest }, state, scratch, context);
    check(state, context.frame)
}

fn check(state: &SoftState, frame: i64) -> Result<(), LayerError> {
    let bad = |b: &BodyState| !(b.position.is_finite() && b.velocity.is_finite());
    // Forces may be infinite for a step that is taken back; places that are kept may not.
    match state.bodies.iter().position(bad) {
        Some(element) => Err(LayerError::NonFinite { what: "body", element, frame }),
        None => Ok(()),
    }
}

/// Sets bodies, coats and seeds up at the first instant, and measures the volumes to keep.
fn settle(
    given: Given<'_>,
    state: &mut SoftState,
    scratch: &mut SoftScratch,
    context: &StepContext,
) {
    let now = Instant { context, time: context.time, dt: 0.0, fraction: 1.0, shortest: true };
    // Twice: who blends with whom is known when the seeds are where they belong, and moves them again.
    place_coats(given, state, scratch, now);
    slide_seeds(given, &mut state.distances, scratch, now, Which::All);
    update_blending(given, state, scratch, now.dt);
    place_coats(given, state, scratch, now);
    slide_seeds(given, &mut state.distances, scratch, now, Which::All);
    state.keep_volumes(&scratch.territories, given.params.volume_time > 0.0);
    settle_volumes(given, state, scratch, now);
    // Balls under a skin press on each other, and nobody feels it.
    slide_seeds(given, &mut state.distances, scratch, now, Which::Felt);
    apply_forces(given, state, scratch, now);
    (state.depth, state.contacts) = (scratch.contacts.depth, scratch.contacts.count);
    if scratch.contacts.depth > tolerances::DEEP_START {
        let deepest = &given.rest.primitives[scratch.contacts.deepest];
        let name = &given.rest.objects[deepest.object].name;
        state.warn(format!(
            "{name:?} starts deep inside another object or tool: it is pushed out gently"
        ));
    }
}

/// One step; false if something would travel too far in it.
pub(super) fn take_step(
    given: Given<'_>,
    state: &mut SoftState,
    scratch: &mut SoftScratch,
    now: Instant<'_>,
) -> bool {
    let Given { params, rest } = given;
    integrate(rest, &mut state.bodies, now);
    // Asked before anything else is computed: a step that goes too far costs next to nothing.
    let too_far = bound_travel(rest, &scratch.backup.bodies, &mut state.bodies, now.shortest);
    if too_far && !now.shortest {
        return false;
    }
    // Joints before contacts: seeds look from where the bones are, not from where they drifted to.
    solve_joints(
        &rest.bodies,
        &rest.joints,
        &scratch.backup.bodies,
        &mut state.bodies,
        &mut scratch.momenta,
        (now.dt, |joint: &JointRest| joint_damping(params, joint)),
    );
    place_coats(given, state, scratch, now);
    slide_seeds(given, &mut state.distances, scratch, now, Which::Felt);
    // Controllers before forces: contacts then feel the coats that will be shown.
    control_volumes(given, state, scratch, now, VolumeControl::of(params, now.dt));
    apply_forces(given, state, scratch, now);
    update_blending(given, state, scratch, now.dt);
    true
}

/// Moves the bodies by the forces of the step before, gravity and wind.
fn integrate(rest: &SoftRest, bodies: &mut [BodyState], now: Instant<'_>) {
    let forces = now.context.forces;
    let drag = f64::from(forces.drag_rate(now.time));
    let before = now.time - now.dt;
    let pull = |p: DVec3| forces.acceleration(p.as_vec3(), before).as_dvec3();
    integrate_bodies(&rest.bodies, bodies, now.dt, pull, drag);
}

/// Rate at which the turning of a joint's bones against each other dies away [1/s].
fn joint_damping(params: &SoftParams, joint: &JointRest) -> f64 {
    let (object, bone) = joint.described;
    params.objects[object].bones[bone].damping.unwrap_or(tolerances::JOINT_DAMPING)
}

/// Slides the seeds to where the coats now are, and measures the territories with them.
pub(super) fn slide_seeds(
    given: Given<'_>,
    distances: &mut [Vec<f64>],
    scratch: &mut SoftScratch,
    now: Instant<'_>,
    which: Which,
) {
    let Given { params, rest } = given;
    let SoftScratch { tools, fields, grid, axes, territories, .. } = scratch;
    fill_grid(fields, grid);
    let shows_skin = params.surface == SoftSurface::Extracted;
    let sampling = Sampling {
        fields,
        seeds: &rest.seeds,
        contact_seeds: &rest.contact_seeds,
        axes,
        tools: tools.at(&rest.toolbox, params, now.context, now.fraction),
        balls: (which == Which::Felt && shows_skin).then_some(&rest.balls[..]),
    };
    sampling.run(grid, distances, territories);
}

/// Finds the forces that the next step moves the bodies by.
fn apply_forces(
    given: Given<'_>,
    state: &mut SoftState,
    scratch: &mut SoftScratch,
    now: Instant<'_>,
) {
    let Given { params, rest } = given;
    let SoftScratch { tools, fields, territories, contacts, dough, .. } = scratch;
    contacts.begin(rest.primitives.len());
    for body in &mut state.bodies {
        // Forces are kept for the next step and never added to those of the step before.
        (body.force, body.torque) = (DVec3::ZERO, DVec3::ZERO);
    }
    let tools: Tools<'_> = tools.at(&rest.toolbox, params, now.context, now.fraction);
    // Contacts first: the damping of tools looks at velocities that viscosity then changes.
    Contacts { params, rest, fields, territories, tools, dt: now.dt }.apply(state, contacts);
    apply_welds(rest, state, params.damping);
    dough.find_materials(given, now.frame());
    apply_dough(rest, state, (fields, territories), (dough, &mut contacts.kneaded), now.dt);
    flatten_particles(rest, state, &contacts.kneaded, now.dt);
    update_bulges(params.bulge, (fields, territories), &mut state.bulges, now.dt);
}

/// Lets pieces part, and places take hold where they are pressed together.
fn update_blending(given: Given<'_>, state: &mut SoftState, scratch: &mut SoftScratch, dt: f64) {
    let SoftScratch { fields, territories, contacts, components, weld_ways, .. } = scratch;
    update_fracture(given.rest, fields, territories, components, state);
    update_welds(given, state, (fields, territories), &contacts.pairs, weld_ways, dt);
}
