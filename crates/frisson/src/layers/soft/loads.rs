//! What a step allows contacts to do: how widely friction is viscous, and how hard an approach may be damped.
//!
//! Forces are explicit: a friction or a damping that takes more than a body's whole speed within a step would turn it
//! around, and shake for ever. So every contact asks how heavy what it stops is, and on how much area.

use super::contact::{ContactForces, Contacts};
use super::sample::{ContactPoint, Presser};
use super::state::SoftState;
use crate::tolerances::soft as tolerances;

impl Contacts<'_> {
    /// Friction of a heavily loaded body, taken as viscous below a small slip, would turn the slip
    /// around within one step and shake for ever: its viscous range is as wide as the step needs.
    pub(super) fn find_slips(&self, state: &SoftState, out: &mut ContactForces) {
        out.slips.clear();
        out.slips.resize(state.bodies.len(), 0.0);
        for (index, territory) in self.territories.iter().enumerate() {
            let load = |c: &ContactPoint| match c.presser {
                Presser::Primitive(_) => {
                    0.5 * self.params.friction * c.pressure * c.area * (1.0 - c.fused)
                }
                Presser::Tool(t) => self.tools.get(t as usize).friction() * c.pressure * c.area,
            };
            let me = self.rest.primitives[index].body;
            for contact in &territory.contacts {
                out.slips[me] += load(contact);
                if let Presser::Primitive(other) = contact.presser {
                    out.slips[self.rest.primitives[other as usize].body] += load(contact);
                }
            }
        }
        // Loads become slips once all primitives of a body are known: the easiest to move counts.
        out.eases.clear();
        out.eases.resize(state.bodies.len(), 0.0);
        for p in &self.rest.primitives {
            let body = &self.rest.bodies[p.body];
            let arm = p.points.iter().map(|q| q.length()).fold(0.0, f64::max) + p.profile.thickness;
            let turn = body.inverse_inertia.to_cols_array().into_iter().fold(0.0, f64::max);
            let ease = body.inverse_mass + arm * arm * turn;
            out.eases[p.body] = out.eases[p.body].max(ease);
        }
        for (slip, ease) in out.slips.iter_mut().zip(&out.eases) {
            *slip = (tolerances::SLIP_SHARE * *slip * ease * self.dt).max(tolerances::SLIP);
        }
    }

    /// How much a dough weighs on the area by which it touches tools: a lump on a table bounces and rocks
    /// as a whole, and must be damped as such.
    pub(super) fn find_loads(&self, state: &SoftState, out: &mut ContactForces) {
        out.loads.clear();
        out.loads.resize(self.territories.len(), (0.0, 0.0));
        for (index, territory) in self.territories.iter().enumerate() {
            let p = &self.rest.primitives[index];
            let load = &mut out.loads[state.groups[index] as usize];
            load.0 += self.rest.objects[p.object].particle_mass;
            let on_tool = |c: &&ContactPoint| matches!(c.presser, Presser::Tool(_));
            load.1 += territory.contacts.iter().filter(on_tool).map(|c| c.area).sum::<f64>();
        }
    }

    /// Damping per area of a particle's contact with a tool [Pa s/m]: the lump's, as far as a step
    /// allows.
    pub(super) fn tool_resistance(&self, state: &SoftState, out: &ContactForces, me: usize) -> f64 {
        let own = self.resistance(me);
        let p = &self.rest.primitives[me];
        let (mass, area) = out.loads[state.groups[me] as usize];
        if mass <= 0.0 || area <= 0.0 || self.dt <= 0.0 {
            return own;
        }
        let whole = 2.0 * self.params.damping * (p.profile.stiffness * mass / area).sqrt();
        let touching = &self.territories[me].contacts;
        let on_tool = |c: &&ContactPoint| matches!(c.presser, Presser::Tool(_));
        let own_area: f64 = touching.iter().filter(on_tool).map(|c| c.area).sum();
        let inverse_mass = self.rest.bodies[p.body].inverse_mass;
        // As much as stops the particle within a step at most, or explicit damping would throw it back.
        let most = tolerances::TOOL_DAMPING / (own_area * inverse_mass * self.dt).max(1e-300);
        own.max(whole.min(most))
    }

    /// Damping per area of all contacts of a primitive that takes half of its speed within a step [Pa s/m].
    pub(super) fn most_resistance(&self, me: usize) -> f64 {
        let area: f64 = self.territories[me].contacts.iter().map(|c| c.area).sum();
        let inverse_mass = self.rest.bodies[self.rest.primitives[me].body].inverse_mass;
        if area * inverse_mass * self.dt <= 0.0 {
            return 0.0;
        }
        tolerances::TOOL_DAMPING / (area * inverse_mass * self.dt)
    }

    /// Critical damping per area for the share the scene wants [Pa s/m].
    pub(super) fn resistance(&self, index: usize) -> f64 {
        let p = &self.rest.primitives[index];
        let density = self.rest.objects[p.object].density;
        2.0 * self.params.damping * (density * p.profile.stiffness * p.profile.thickness).sqrt()
    }
}
