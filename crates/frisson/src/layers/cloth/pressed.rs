//! What is held gives way to what stays outside of the garment.
//!
//! The band of a shirt is held a finger's breadth from the trunk, and an arm that hangs leaves less: held where the mesh
//! comes in, the band would go through the arm, and with it the cloth that hangs from it. So it is pressed to the trunk
//! as free cloth is, below the lowest place of the part that is over it.
//!
//! ```text
//!      \  arm  /
//!       \_____/        h: room under the arm; what is held comes down to half of it, or to half a thickness below the
//!    ~~~~~~n~~~~~~     arm where there is more, and stays where it was where there is plenty
//!   -------q------- trunk
//! ```
//!
//! Where the arm is in the trunk nothing is below it: what is held lies on the trunk, and the arm passes through it.

use glam::DVec3;

use super::body::GarmentBody;
use super::body_contacts::BodyReach;
use super::outside::Under;
use super::rest::ClothRest;
use super::stretch::Edge;
use crate::tolerances::cloth as limits;

/// A held node that is pressed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Press {
    /// Away from the trunk.
    normal: DVec3,
    /// How far it is moved towards the trunk [m].
    depth: f64,
    /// How far it can be [m].
    most: f64,
}

impl Press {
    /// Of a node that is held at `end` of a tick of `dt`, and was at `start`. Call after the bodies are updated.
    pub fn of(
        bodies: &[GarmentBody],
        (start, end): (DVec3, DVec3),
        reach: BodyReach,
        dt: f64,
    ) -> Self {
        let p = end.as_vec3();
        let parts = || bodies.iter().filter(|body| body.is_outside);
        // Nothing stays outside of most garments.
        let Some(under) = parts().next().and_then(|_| Under::find(bodies, p, reach)) else {
            return Self::default();
        };
        let (q, normal) = under.followed(bodies);
        let height = f64::from((p - q).dot(normal));
        if height <= 0.0 {
            return Self::default();
        }
        let room = parts().map(|part| f64::from(under.room_over(bodies, part, reach)));
        let room = room.fold(f64::INFINITY, f64::min);
        let least = (limits::PRESSED_LEAST * reach.thickness).min(height);
        let below = (room - 0.5 * room.min(reach.thickness)).clamp(least, height);
        // An arm that has gone lets it come out again, but not within a tick.
        let before = f64::from((start.as_vec3() - under.at_start(bodies)).dot(normal)).max(least);
        let wanted = below.min(before + limits::PRESSED_RELEASE * dt);
        let normal = normal.as_dvec3();
        Self { normal, depth: height - wanted, most: height - least }
    }
}

/// Presses held nodes, and those beside them so much that a border has no kinks: `held` are nodes with their places at
/// the start and at the end of the tick, in order.
pub fn press(cloth: &ClothRest, held: &mut [(u32, DVec3, DVec3)], presses: &mut [Press]) {
    if presses.iter().all(|press| press.depth == 0.0) {
        return;
    }
    let place = |node: u32| held.binary_search_by_key(&node, |h| h.0).ok();
    let beside = |edge: &Edge| {
        let [a, b] = edge.nodes.map(place);
        Some((a?, b?, limits::PRESSED_SLOPE * edge.rest))
    };
    for _ in 0..limits::PRESSED_SWEEPS {
        // There and back: a press reaches all along a border that is numbered in order.
        let (there, back) = (cloth.edges.rows.iter(), cloth.edges.rows.iter().rev());
        for (a, b, less) in there.chain(back).filter_map(beside) {
            let [of_a, of_b] = [presses[a].depth, presses[b].depth];
            presses[a].depth = of_a.max((of_b - less).min(presses[a].most));
            presses[b].depth = of_b.max((of_a - less).min(presses[b].most));
        }
    }
    for ((_, _, end), press) in held.iter_mut().zip(presses) {
        *end -= press.depth * press.normal;
    }
}
