//! How far a step may go.

use super::rest::SoftRest;
use super::state::BodyState;
use crate::tolerances::soft as tolerances;

/// Whether something travels further than half its thickness in one step: it could pass through.
/// If asked to, it is held back there.
pub(super) fn bound_travel(
    rest: &SoftRest,
    before: &[BodyState],
    bodies: &mut [BodyState],
    hold: bool,
) -> bool {
    let mut too_far = false;
    for p in &rest.primitives {
        let body = &mut bodies[p.body];
        let from = before[p.body].position;
        let way = body.position - from;
        let most = tolerances::MOST_TRAVEL * p.profile.thickness;
        // What keys or joints carry goes where they say, however fast.
        if rest.bodies[p.body].inverse_mass > 0.0 && way.length() > most {
            too_far = true;
            if hold {
                body.position = from + way.clamp_length_max(most);
                body.velocity *= most / way.length();
            }
        }
    }
    too_far
}
