//! Forces on contact surfaces: pressure, damping, friction; action and reaction from one sampling.

use glam::DVec3;

use super::grip::{GripScratch, bend};
use super::params::SoftParams;
use super::primitive_fields::PrimitiveFields;
use super::rest::SoftRest;
use super::sample::{ContactPoint, Presser, Territory};
use super::shape::{Kneading, outer};
use super::state::{Side, SoftState};
use super::tool::Tools;
use crate::tolerances::soft as tolerances;

/// What two primitives do to each other.
#[derive(Clone, Copy, Debug)]
pub struct PairForce {
    /// The primitives, the smaller first.
    pub pair: (u32, u32),
    /// Sum of the normals from the first to the second, by force [N].
    pub normal: DVec3,
    /// Pressing force [N].
    pub force: f64,
    /// Sum of the places, by force [N m].
    pub place: DVec3,
    /// Area of the contact [m²].
    pub area: f64,
    /// Which of the samples it comes from: sums are taken in this order.
    sample: u32,
}

/// Contacts of one step.
#[derive(Clone, Debug, Default)]
pub struct ContactForces {
    /// Pairs of primitives that touch, ascending.
    pub pairs: Vec<PairForce>,
    /// Greatest depth, in thicknesses [-].
    pub depth: f64,
    /// Primitive that is deepest.
    pub deepest: usize,
    /// Number of seeds in contact.
    pub count: usize,
    /// Per body: slip below which its friction is viscous [m/s].
    pub slips: Vec<f64>,
    /// Per primitive: what is done to it.
    pub kneaded: Vec<Kneading>,
    /// Per body: speed at its skin per impulse there [1/kg].
    pub(super) eases: Vec<f64>,
    /// Per primitive: damping that its step allows [Pa s/m].
    pub(super) most_resistances: Vec<f64>,
    /// Per group: its mass [kg] and its area on tools [m²].
    pub(super) loads: Vec<(f64, f64)>,
    /// Sides of the step before, whose storage is used again.
    old_sides: Vec<Side>,
    /// Patches on tools.
    pub(super) grips: GripScratch,
}

/// The inputs of the contact forces.
pub struct Contacts<'a> {
    /// Parameters.
    pub params: &'a SoftParams,
    /// Rest data.
    pub rest: &'a SoftRest,
    /// Coats.
    pub fields: &'a PrimitiveFields,
    /// Seeds.
    pub territories: &'a [Territory],
    /// Tools.
    pub tools: Tools<'a>,
    /// Length of the step that will use the forces [s].
    pub dt: f64,
}

/// How two sides of a contact move against each other, and what hinders them.
struct Rubbing {
    /// Velocity of the first against the second [m/s].
    slip: DVec3,
    /// Speed below which friction is viscous [m/s].
    viscous_below: f64,
    /// Damping of the approach [Pa s/m].
    resistance: f64,
    /// The same where it is slow [Pa s/m].
    slow_resistance: f64,
    /// Friction coefficient [-].
    friction: f64,
    /// What the bristle under the patch does, per pressure [-].
    held: DVec3,
}

impl ContactForces {
    /// Nothing presses on anything yet.
    pub fn begin(&mut self, count: usize) {
        self.kneaded.clear();
        self.kneaded.resize(count, Kneading::NONE);
    }

    /// The bristle's traction on a primitive by another, per pressure [-].
    fn share_of(&self, state: &SoftState, (me, other): (usize, usize)) -> DVec3 {
        let pair = (me.min(other) as u32, me.max(other) as u32);
        // Pairs and sides are the same, in the same order.
        let Ok(found) = self.pairs.binary_search_by_key(&pair, |p| p.pair) else {
            return DVec3::ZERO;
        };
        let share = state.sides[found].held / self.pairs[found].force.max(f64::MIN_POSITIVE);
        if me < other { share } else { -share }
    }
}

impl Contacts<'_> {
    /// Adds all contact forces to the bodies.
    pub fn apply(&self, state: &mut SoftState, out: &mut ContactForces) {
        // Pairs first: the side on which two have met must be known before a normal is used.
        self.gather_pairs(out);
        self.remember_sides(state, out);
        self.grip_tools(state, out);
        self.find_slips(state, out);
        self.find_loads(state, out);
        out.most_resistances.clear();
        out.most_resistances.extend((0..self.territories.len()).map(|i| self.most_resistance(i)));
        (out.depth, out.count) = (0.0, 0);
        for (index, territory) in self.territories.iter().enumerate() {
            let resistance = if territory.contacts.is_empty() {
                0.0
            } else {
                self.tool_resistance(state, out, index)
            };
            for contact in &territory.contacts {
                // What has fused lies in each other for good, and is no reason to shorten a step.
                let depth = contact.depth * (1.0 - contact.fused);
                if depth > out.depth {
                    (out.depth, out.deepest) = (depth, index);
                }
                out.count += 1;
                match contact.presser {
                    Presser::Primitive(other) => {
                        self.press_each_other(state, out, index, other as usize, contact)
                    }
                    Presser::Tool(tool) => {
                        self.press_tool(state, out, index, (tool as usize, resistance), contact)
                    }
                }
            }
            if let Some((other, share)) = territory.buried_by {
                self.push_apart(state, index, other as usize, share);
                if share > out.depth {
                    (out.depth, out.deepest) = (share, index);
                }
            }
            self.keep_out_of_tools(state, index);
        }
    }

    fn gather_pairs(&self, out: &mut ContactForces) {
        out.pairs.clear();
        for (index, territory) in self.territories.iter().enumerate() {
            for c in &territory.contacts {
                let Presser::Primitive(other) = c.presser else { continue };
                let me = index as u32;
                let pair = (me.min(other), me.max(other));
                // Both sides sample the same surface: each counts for half.
                let force = 0.5 * c.pressure * c.area;
                let normal = if me < other { c.normal } else { -c.normal } * force;
                let (place, area) = (force * c.point, 0.5 * c.area);
                let sample = out.pairs.len() as u32;
                out.pairs.push(PairForce { pair, normal, force, place, area, sample });
            }
        }
        // By sample within a pair: the sums below round the same way every time.
        out.pairs.sort_unstable_by_key(|p| (p.pair, p.sample));
        out.pairs.dedup_by(|next, kept| {
            let same = next.pair == kept.pair;
            if same {
                kept.normal += next.normal;
                kept.force += next.force;
                kept.place += next.place;
                kept.area += next.area;
            }
            same
        });
    }

    /// Keeps the side from which two primitives met as long as they touch; it turns with them slowly,
    /// so that bodies pushed through each other are pushed back and not drawn on.
    fn remember_sides(&self, state: &mut SoftState, out: &mut ContactForces) {
        let sides = &mut out.old_sides;
        std::mem::swap(sides, &mut state.sides);
        state.sides.clear();
        for p in &out.pairs {
            let now = p.normal.normalize_or_zero();
            let known = sides.binary_search_by_key(&p.pair, |s| s.pair).ok();
            let held = known.map_or(DVec3::ZERO, |k| sides[k].held);
            let held = self.grip_pair(state, p, held);
            let normal = match known.map(|k| sides[k].normal) {
                // By a fifth a step: faster, and a pair that is pushed through within some steps would forget its side.
                Some(before) if before.dot(now) > 0.0 => (before + 0.2 * now).normalize_or(now),
                Some(before) => before,
                None => now,
            };
            state.sides.push(Side { pair: p.pair, normal, held });
        }
    }

    /// The bristle between two primitives after this step's slip, as it acts on the first [N].
    fn grip_pair(&self, state: &SoftState, p: &PairForce, before: DVec3) -> DVec3 {
        let of = [p.pair.0 as usize, p.pair.1 as usize];
        let bodies = of.map(|i| self.rest.primitives[i].body);
        let moved = bodies.iter().any(|b| self.rest.bodies[*b].inverse_mass > 0.0);
        if !moved || p.force <= 0.0 {
            return DVec3::ZERO;
        }
        let at = p.place / p.force;
        let [first, second] = bodies.map(|b| state.bodies[b].velocity_at(at));
        let slip = self.dt * (first - second);
        let stiffness = 0.5 * self.bristle(of[0]).min(self.bristle(of[1]));
        let normal = p.normal.normalize_or_zero();
        bend(before, (normal, slip), stiffness, self.params.friction * p.force)
    }

    /// A normal on the side on which the two first met.
    fn sided(&self, state: &SoftState, me: usize, other: usize, normal: DVec3) -> DVec3 {
        let pair = (me.min(other) as u32, me.max(other) as u32);
        let Ok(known) = state.sides.binary_search_by_key(&pair, |s| s.pair) else { return normal };
        let side = if me < other { state.sides[known].normal } else { -state.sides[known].normal };
        let across = normal.dot(side);
        // Contact surfaces may wrap around; only what points right back is turned.
        if across < -0.5 { normal - 2.0 * across * side } else { normal }
    }

    /// Pressure with damping, and friction, per unit area on the first body [Pa].
    fn traction(&self, contact: &ContactPoint, normal: DVec3, rubbing: Rubbing) -> DVec3 {
        let Rubbing { slip, viscous_below, resistance, slow_resistance, friction, held } = rubbing;
        let closing = slip.dot(normal);
        // What hardly moves loses most of it, as in all that is kneaded: a lump would rock on its round foot for seconds.
        let slowness = 1.0 / (1.0 + (closing / tolerances::SLOW).powi(2));
        let resistance = resistance + (slow_resistance - resistance).max(0.0) * slowness;
        // Contacts do not pull, however fast the two sides part.
        let pressure = (contact.pressure + resistance * closing).max(0.0);
        let along = slip - closing * normal;
        let speed = along.length();
        // Viscous at low slip: a bristle alone would swing.
        let rub = friction * pressure / speed.max(viscous_below);
        let held = contact.pressure.max(0.0) * (held - held.dot(normal) * normal);
        let hold = (held - rub * along).clamp_length_max(friction * pressure);
        hold - pressure * normal
    }

    fn press_each_other(
        &self,
        state: &mut SoftState,
        out: &mut ContactForces,
        me: usize,
        other: usize,
        contact: &ContactPoint,
    ) {
        let (a, b) = (self.rest.primitives[me].body, self.rest.primitives[other].body);
        let normal = self.sided(state, me, other, contact.normal);
        let at = contact.point;
        let slip = state.bodies[a].velocity_at(at) - state.bodies[b].velocity_at(at);
        let held = out.share_of(state, (me, other));
        let rubbing = Rubbing {
            slip,
            viscous_below: out.slips[a].max(out.slips[b]),
            resistance: self.resistance(me).min(self.resistance(other)),
            slow_resistance: out.most_resistances[me].min(out.most_resistances[other]),
            friction: self.params.friction,
            held,
        };
        // Half, as the other side samples the same surface; none where they have become one.
        let share = 0.5 * contact.area * (1.0 - contact.fused);
        let force = share * self.traction(contact, normal, rubbing);
        state.bodies[a].push(force, at);
        state.bodies[b].push(-force, at);
        out.kneaded[me].stress += outer(force, at - self.fields.middle(me));
        out.kneaded[other].stress -= outer(force, at - self.fields.middle(other));
    }

    fn press_tool(
        &self,
        state: &mut SoftState,
        out: &mut ContactForces,
        me: usize,
        (tool, resistance): (usize, f64),
        contact: &ContactPoint,
    ) {
        let body = self.rest.primitives[me].body;
        let (_, _, velocity) = self.tools.get(tool).contact(contact.point);
        let slip = state.bodies[body].velocity_at(contact.point) - velocity;
        let friction = self.tools.get(tool).friction();
        let held = out.grips.share(state, (me as u32, tool as u32));
        let rubbing = Rubbing {
            slip,
            viscous_below: out.slips[body],
            resistance,
            slow_resistance: out.most_resistances[me],
            friction,
            held,
        };
        let traction = self.traction(contact, contact.normal, rubbing);
        let force = contact.area * traction;
        state.bodies[body].push(force, contact.point);
        out.kneaded[me].stress += outer(force, contact.point - self.fields.middle(me));
    }
}
