//! Forces where seeds see nothing any more: a place that another body has swallowed, a skeleton at a tool.

use glam::DVec3;

use super::contact::Contacts;
use super::field::closest;
use super::state::SoftState;

impl Contacts<'_> {
    /// A primitive whose own place another side holds has no seeds left: it is pushed out gently,
    /// with the force of two equal balls whose centres meet.
    pub(super) fn push_apart(&self, state: &mut SoftState, me: usize, other: usize, share: f64) {
        let profile = &self.rest.primitives[me].profile;
        let at = self.fields.middle(me);
        let there = closest(self.rest.primitives[other].kind, self.fields.points_of(other), at);
        let (low, high) = (me.min(other), me.max(other));
        let fallback = if me == high { DVec3::Y } else { DVec3::NEG_Y };
        let pair = (low as u32, high as u32);
        let known = state.sides.binary_search_by_key(&pair, |s| s.pair).ok();
        let away = match known.map(|k| state.sides[k].normal) {
            Some(side) => {
                if me == high {
                    side
                } else {
                    -side
                }
            }
            None => (at - there).normalize_or(fallback),
        };
        let full = std::f64::consts::PI / 3.0 * profile.stiffness * profile.thickness.powi(3);
        let force = share * full * away;
        let (a, b) = (self.rest.primitives[me].body, self.rest.primitives[other].body);
        state.bodies[a].push(force, at);
        state.bodies[b].push(-force, at);
    }

    /// The skeleton itself stays out of the tools, even when the coat is crushed to nothing.
    pub(super) fn keep_out_of_tools(&self, state: &mut SoftState, me: usize) {
        let p = &self.rest.primitives[me];
        if self.rest.bodies[p.body].inverse_mass == 0.0 {
            return;
        }
        let e = p.profile.thickness;
        for tool in self.tools.iter() {
            for &at in self.fields.points_of(me) {
                let (distance, normal, velocity) = tool.contact(at);
                // Begins a quarter of a thickness before the skeleton touches: seeds this short see little of the tool.
                let depth = 0.25 * e - distance;
                if depth > 0.0 {
                    let area = std::f64::consts::PI * e * e;
                    let closing = (velocity - state.bodies[p.body].velocity_at(at)).dot(normal);
                    let pressure =
                        // Four times the coat: stiff enough to stop what the coat has not, soft enough for the step.
                        4.0 * p.profile.stiffness * depth.min(e) + self.resistance(me) * closing;
                    state.bodies[p.body].push(normal * (area * pressure.max(0.0)), at);
                }
            }
        }
    }
}
