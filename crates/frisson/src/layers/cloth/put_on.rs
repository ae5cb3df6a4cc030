//! What happens before the first frame: the garment is put on, and parts take their sizes.

use glam::{DVec3, Vec3};

use super::params::ClothParams;
use super::rest::Garment;
use super::state::ClothState;
use super::step::{ClothWork, in_ticks, tick};
use crate::stage::{Clock, Forces, Frame, LayerError, StepContext};
use crate::tolerances::cloth as limits;

/// Simulates from the source pose into the first one, then a little longer in it.
pub(super) fn dress(
    work: ClothWork,
    context: &StepContext,
    frame: &Frame,
) -> Result<(), LayerError> {
    if work.rest.dressing.is_empty() {
        return Ok(());
    }
    let dt = context.clock.tick_seconds();
    let [ticks, hanging] = dressing_ticks(work.params, work.rest, context.clock);
    // Nobody sees it: what would swing for seconds hangs when the shot begins.
    let damping = work.params.damping.max(limits::DRESSING_DAMPING);
    let calm = ClothParams { damping, tear: None, ..work.params.clone() };
    let ClothWork { rest, state, scratch, .. } = work;
    let mut work = ClothWork { params: &calm, rest, state, scratch };
    let mut between = frame.clone();
    let step = StepContext { dt, is_output: false, surfaces_wanted: false, ..*context };
    // A cape that is held at the neck would fall off the shoulders while the arms come down, and they would pass
    // beside it: it is held up until they are there, and hangs afterwards.
    let mut weightless: Forces = context.forces.clone();
    weightless.gravity = Vec3::ZERO;
    let one_sided = work.rest.dressing.is_one_sided();
    let floating =
        StepContext { forces: if one_sided { &weightless } else { step.forces }, ..step };
    for k in 1..=ticks + hanging {
        let t = (k as f32 / (limits::DRESSING_MOVES * ticks as f32)).min(1.0);
        work.rest.dressing.interpolate(frame, t, &mut between);
        tick(&mut work, if t < 1.0 { &floating } else { &step }, &between)?;
    }
    Ok(())
}

/// Ticks in which the garment is put on, and in which it hangs afterwards before the first frame.
fn dressing_ticks(params: &ClothParams, rest: &Garment, clock: &Clock) -> [u32; 2] {
    if rest.dressing.is_empty() {
        return [0; 2];
    }
    let ticks = (params.dressing / clock.tick_seconds()).ceil().max(1.0) as u32;
    [ticks, if rest.dressing.is_one_sided() { ticks } else { 0 }]
}

/// Speed of the cloth in this tick below which it settles in proportion to it [m/s].
pub(super) fn settle_speed(
    params: &ClothParams,
    rest: &Garment,
    state: &ClothState,
    clock: &Clock,
) -> f64 {
    let [ticks, hanging] = dressing_ticks(params, rest, clock);
    let is_put_on = rest.dressing.is_still() && state.ticks <= u64::from(ticks + hanging);
    if is_put_on { limits::DRESSING_SETTLE_SPEED } else { limits::SETTLE_SPEED }
}

/// Lets parts take their sizes before anybody looks, without speed: a band that shrinks at once would fling the
/// cloth about.
pub(super) fn resize(
    work: ClothWork,
    context: &StepContext,
    frame: &Frame,
) -> Result<(), LayerError> {
    let whole = ClothParams { tear: None, ..work.params.clone() };
    let ClothWork { rest, state, scratch, .. } = work;
    let mut work = ClothWork { params: &whole, rest, state, scratch };
    let dt = context.clock.tick_seconds();
    let step = StepContext { dt, is_output: false, surfaces_wanted: false, ..*context };
    for _ in 0..in_ticks(limits::RESIZE_SECONDS, context.clock) {
        tick(&mut work, &step, frame)?;
        work.state.velocities.fill(DVec3::ZERO);
    }
    Ok(())
}
