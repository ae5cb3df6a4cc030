//! Held cloth comes to rest.
//!
//! Fibres rub on each other and still air clings to a sheet: both take slow motion away much faster than
//! any law of drag for plates says. So what moves against its carriers is slowed by a deceleration that is
//! constant for fast motion and in proportion to slow one:
//!
//! ```text
//!   dv/dt = -a v / (v + v0)        a: `settle`, v0: `slow`, SETTLE_SPEED
//! ```
//!
//! Nothing is held off balance by it: at rest it is zero. What counts as motion is the way of a whole tick,
//! because the small steps pull taut cloth to and fro within it.
//!
//! Folds that are not in balance creep the slower for it. While cloth is put on somebody who stands still, and nobody looks, `v0`
//! is larger: what would creep and snap into another shape seconds later has done so when the shot begins.

use glam::DVec3;
use rayon::prelude::*;

use super::rest::Garment;
use super::state::ClothState;

/// Nodes that a task takes, at least.
const TASK: usize = 512;

/// Slows the cloth at the end of a tick of `dt` in which it came from `starts`; `most` is the deceleration of
/// motion that is faster than `slow` [m/s², m/s].
pub fn settle(
    (most, slow): (f64, f64),
    rest: &Garment,
    (state, starts): (&mut ClothState, &[DVec3]),
    dt: f64,
) {
    let Some(carried) = carriers_speed(rest, state).filter(|_| most > 0.0) else { return };
    let nodes = state.velocities.par_iter_mut().zip(&state.positions).zip(starts);
    nodes.zip(&rest.held).with_min_len(TASK).for_each(|(((v, x), start), held)| {
        if !held {
            let moving = (*x - *start) / dt - carried;
            let rate = most / (moving.length() + slow);
            *v += moving * (-rate * dt).exp_m1();
        }
    });
}

/// Mean velocity of what holds the cloth; `None` when nothing does.
fn carriers_speed(rest: &Garment, state: &ClothState) -> Option<DVec3> {
    let held = rest.held.iter().zip(&state.velocities).filter(|(held, _)| **held);
    let (sum, count) = held.fold((DVec3::ZERO, 0u32), |(sum, n), (_, v)| (sum + *v, n + 1));
    (count > 0).then(|| sum / f64::from(count))
}
