//! Creases: cloth that is bent too much does not spring back all the way.
//!
//! ```text
//!   moment                     a hinge is elastic up to the angle  width / crease_radius  from its
//!     |    ____ bent           angle at rest; beyond, that angle follows within crease_seconds
//!     |   /   /
//!     |  /   /
//!     | /   / let go
//!     +-----+---------- angle
//!           crease
//! ```

use rayon::prelude::*;

use super::bend::angle_gradient;
use super::params::ClothParams;
use super::rest::ClothRest;
use super::state::ClothState;

/// Hinges a task takes at once.
const CHUNK: usize = 512;

/// Lets hinges that are bent beyond their limit take the bend on, over a tick of `dt` [s].
pub fn crease(params: &ClothParams, rest: &ClothRest, state: &mut ClothState, dt: f64) {
    let Some(radius) = params.crease_radius else { return };
    let hinges = &rest.hinges.rows;
    if state.creases.is_empty() {
        state.creases.extend(hinges.iter().map(|h| h.rest));
    }
    let share = 1.0 - (-dt / params.crease_seconds.max(f64::MIN_POSITIVE)).exp() as f32;
    let x = &state.positions;
    let chunks = state.creases.par_chunks_mut(CHUNK).zip(hinges.par_chunks(CHUNK));
    chunks.for_each(|(angles, hinges)| {
        for (rest, hinge) in angles.iter_mut().zip(hinges) {
            let origin = x[hinge.nodes[0] as usize];
            let places = hinge.nodes.map(|n| (x[n as usize] - origin).as_vec3());
            let Some((angle, _)) = angle_gradient(places) else { continue };
            let bent = short_way(angle - *rest);
            let beyond = bent.abs() - hinge.width / radius as f32;
            if beyond > 0.0 {
                *rest = short_way(*rest + share * beyond.copysign(bent));
            }
        }
    });
}

/// An angle between minus and plus half a turn.
fn short_way(angle: f32) -> f32 {
    use std::f32::consts::{PI, TAU};
    if angle > PI {
        angle - TAU
    } else if angle < -PI {
        angle + TAU
    } else {
        angle
    }
}
