//! Shots that are played over and over.
//!
//! Over a motion that repeats, cloth repeats nearly, never quite. So towards the end of its cycle it is led over
//! to how it moved one cycle before:
//!
//! ```text
//!          from - blend   from                    until - blend   until
//!   ------------+---------+---------------------------+-------------+
//!               | kept    |                           | led over to |
//!               +---------+                           | what is kept|
//! ```
//!
//! What is shown at `until` is what is shown at `from`; the simulation itself goes on as ever. Limit: what is led
//! over is between two states that both touch nothing; it may itself touch a body that moves a lot.

use glam::Vec3;

use super::params::ClothCycle;
use super::state::{ClothState, CycleMoment};

/// Room for rounding of frame numbers [frames].
const SAME_FRAME: f64 = 1e-6;

/// Keeps where the cloth is, if it is led over to that later.
pub fn keep(cycle: Option<&ClothCycle>, state: &mut ClothState, frame: f64, per_tick: f64) {
    let Some(cycle) = cycle else { return };
    let first = cycle.from_frame - cycle.blend - per_tick;
    if frame > first && frame < cycle.from_frame + per_tick {
        let positions = state.positions.iter().map(|p| p.as_vec3()).collect();
        state.lead.push(CycleMoment { frame, positions });
    }
}

/// How far the cloth is led over at a frame, and the frame it is led to.
fn led(cycle: &ClothCycle, frame: f64) -> Option<(f32, f64)> {
    let t = (frame - (cycle.until_frame - cycle.blend)) / cycle.blend;
    let inside = t > 0.0 && frame < cycle.until_frame + SAME_FRAME;
    let t = t.min(1.0);
    let to = (frame - cycle.until_frame + cycle.from_frame).min(cycle.from_frame);
    inside.then_some(((t * t * (3.0 - 2.0 * t)) as f32, to))
}

/// Leads nodes over; `places` are the cloth's as simulated, in the order of `node_of_place`.
pub fn lead(
    cycle: Option<&ClothCycle>,
    (lead, frame): (&[CycleMoment], f64),
    node_of_place: &[u32],
    places: &mut [Vec3],
) {
    let Some((share, to)) = cycle.and_then(|cycle| led(cycle, frame)) else { return };
    let after = lead.partition_point(|moment| moment.frame < to - SAME_FRAME);
    let (Some(next), Some(last)) = (lead.get(after), lead.get(after.saturating_sub(1))) else {
        return;
    };
    let span = next.frame - last.frame;
    let t = if span > 0.0 { ((to - last.frame) / span).clamp(0.0, 1.0) as f32 } else { 1.0 };
    for (place, &node) in places.iter_mut().zip(node_of_place) {
        let kept = last.positions[node as usize].lerp(next.positions[node as usize], t);
        *place = place.lerp(kept, share);
    }
}
