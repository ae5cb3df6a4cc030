//! One tick, as steps that are taken back when they were too long.

use glam::DMat3;

use super::dough::DoughMaterial;
use super::scratch::SoftScratch;
use super::shape::Shape;
use super::state::{BodyState, SoftState};
use super::step::{Given, Instant, take_step};
use crate::stage::StepContext;
use crate::tolerances::soft as tolerances;

/// Lengths between which the steps of a tick stay.
struct Lengths {
    /// The whole tick [s].
    tick: f64,
    /// The shortest [s].
    floor: f64,
    /// The longest that explicit forces allow [s].
    stable: f64,
}

impl Lengths {
    /// Length of the next step [s]: equal steps to the end of the tick, not a short one at last.
    fn next(&self, remembered: f64, done: f64) -> f64 {
        let wanted = remembered.min(self.stable).clamp(self.floor, self.tick);
        let left = self.tick - done;
        left / (left / wanted - tolerances::STEP_ROUNDING).ceil().max(1.0)
    }
}

/// Advances over a tick.
pub(super) fn advance(
    given: Given<'_>,
    state: &mut SoftState,
    scratch: &mut SoftScratch,
    context: &StepContext,
) {
    let lengths = find_lengths(given, state, context);
    let Lengths { tick, floor, .. } = lengths;
    let start = context.time - tick;
    let mut done = 0.0;
    // How much the step that was taken back last had deepened its contacts.
    let mut before = f64::INFINITY;
    while done < tick * (1.0 - tolerances::TICK_DONE) {
        // A step that was shortened is remembered over ticks: what was too fast is likely to be so still.
        let dt = lengths.next(state.step, done);
        // The whole state, seeds and welds included: what a step taken back has touched must not be felt.
        scratch.backup.clone_from(state);
        let end = done + dt;
        let shortest = dt <= floor * tolerances::AS_SHORT_AS;
        let (time, fraction) = (start + end, (end / tick) as f32);
        let taken =
            take_step(given, state, scratch, Instant { context, time, dt, fraction, shortest });
        let deepened = scratch.contacts.depth - scratch.backup.depth;
        // What half the step does not make smaller is no travel: a sample has come to lie in a
        // contact that others were in before.
        let travelled = deepened < tolerances::TRAVELLED * before;
        let deepened_far = deepened > tolerances::DEEPENING && travelled;
        let deep = !taken || deepened_far || !are_finite(&state.bodies);
        if deep && !shortest {
            before = if taken { deepened } else { f64::INFINITY };
            std::mem::swap(state, &mut scratch.backup);
            state.step = (tolerances::STEP_SHRINKS * dt).max(floor);
            state.take_backs += 1;
            continue;
        }
        before = f64::INFINITY;
        if deep {
            state.warn(
                "a step stopped at its floor: something moves through a coat within it".to_owned(),
            );
        }
        done = end;
        state.steps += 1;
        (state.depth, state.contacts) = (scratch.contacts.depth, scratch.contacts.count);
        state.step = (tolerances::STEP_GROWS * dt).min(tick);
    }
}

/// Finds how long steps may be, and says so where that is shorter than they will be.
fn find_lengths(given: Given<'_>, state: &mut SoftState, context: &StepContext) -> Lengths {
    let tick = context.dt;
    // A look between two ticks may be shorter than any step.
    let floor = (context.clock.tick_seconds() * tolerances::STEP_FLOOR).min(tick);
    let stable = stable_step(given, state, context.frame_number());
    if stable < floor {
        state.warn(format!(
            "a stiffness would need steps of {stable:.1e} s: they stop at {floor:.1e} s, and \
             the motion may be rough; make it softer or heavier"
        ));
    }
    Lengths { tick, floor, stable }
}

/// Longest step that explicit forces allow [s].
fn stable_step(Given { params, rest }: Given<'_>, state: &SoftState, frame: f64) -> f64 {
    let mut longest = f64::INFINITY;
    // A flattened particle is stiffer in its thin way, in which all distances count for more.
    let thin = |s: &DMat3| if *s == DMat3::IDENTITY { 1.0 } else { Shape::of(*s).shortest };
    let thinnest = state.stretches.iter().map(thin).fold(1.0, f64::min);
    for p in &rest.primitives {
        let body = &rest.bodies[p.body];
        if body.inverse_mass > 0.0 {
            let e = p.profile.thickness;
            // As stiff as a contact over the whole of its face.
            let area = std::f64::consts::PI * e * e;
            let bounce = (1.0 / (body.inverse_mass * p.profile.stiffness * area)).sqrt();
            longest = longest.min(tolerances::STEP_SHARE * bounce);
        }
    }
    for object in &rest.objects {
        if let Some(material) = DoughMaterial::at(object, params, frame) {
            longest = longest.min(material.stable_step(object.particle_mass));
        }
    }
    longest * thinnest
}

fn are_finite(bodies: &[BodyState]) -> bool {
    let sound = |b: &BodyState| {
        b.position.is_finite()
            && b.velocity.is_finite()
            && b.rotation.is_finite()
            && b.spin.is_finite()
            && b.force.is_finite()
            && b.torque.is_finite()
    };
    bodies.iter().all(sound)
}
