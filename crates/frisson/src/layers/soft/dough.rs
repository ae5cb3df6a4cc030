//! What holds a dough together: attraction and repulsion, viscosity, and bonds that flow and tear.
//!
//! ```text
//!  force ^\
//!        | \ repulsion           a parabola, so that it is capped
//!      0 +--\1-------.--- s      attraction: a hump that ends at `range`; s = distance / spacing
//!        |   \__..-''
//!
//!  a bond ^     ____             elastic up to the yield strain, then its rest length follows:
//!         |    /                 plastic flow. Out at `range` it has faded away: torn.
//!       0 +---/------.---
//!         |__/
//! ```
//!
//! Attraction alone makes a liquid that draws itself together into drops. Bonds, made at the distance
//! the particles have, free of stress, hold against it: a lump keeps the shape it is given. Drawn out,
//! bonds flow, attraction lets the particles rearrange, and a neck forms before it parts.

use glam::DVec3;

use super::params::SoftParams;
use super::primitive_fields::PrimitiveFields;
use super::rest::{ObjectRest, SoftRest};
use super::sample::Territory;
use super::shape::{Kneading, outer};
use super::state::{BodyState, Bond, SoftState};
use super::step::Given;
use super::weld::blend_weight;
use crate::tolerances::soft as tolerances;

/// Forces among the particles of a dough.
#[derive(Clone, Copy, Debug)]
pub struct DoughMaterial {
    /// Rest distance [m].
    pub spacing: f64,
    /// Repulsion per metre [N/m].
    pub stiffness: f64,
    /// Greatest pull of a bond [N].
    pub attraction: f64,
    /// Strain at which a bond flows [-].
    pub yield_strain: f64,
    /// Distance at which a bond is torn, in rest distances [-].
    pub range: f64,
    /// Viscosity of a pair [N s/m].
    pub viscosity: f64,
}

impl DoughMaterial {
    /// The law of an object's particles at a frame.
    #[must_use]
    pub fn at(object: &ObjectRest, params: &SoftParams, frame: f64) -> Option<Self> {
        let set = &params.objects[object.listed];
        let dough = set.dough.as_ref()?;
        let e = set.thickness;
        let full = set.stiffness * e * e;
        let firmness = dough.firmness.at(frame);
        let stiffness = firmness * full;
        // A dough that is key-framed to melt keeps its viscosity: at firmness 0 it would splash like water.
        let critical = 2.0 * (firmness.max(0.1) * full * object.particle_mass).sqrt();
        Some(Self {
            spacing: object.spacing,
            stiffness,
            attraction: dough.cohesion * stiffness * 0.5 * object.spacing,
            yield_strain: dough.yield_strain,
            range: dough.range,
            viscosity: dough.viscosity.at(frame) * critical,
        })
    }

    /// Force that pushes two particles apart at a distance, bonds left out [N].
    #[must_use]
    pub fn force(&self, distance: f64) -> f64 {
        let end = self.range * self.spacing;
        if distance >= end {
            return 0.0;
        }
        // Twice as stiff at half the rest distance: a heap does not collapse on itself.
        if distance < self.spacing {
            let near = self.spacing - distance;
            self.stiffness * near * (1.0 + 2.0 * near / self.spacing)
        } else {
            let x = (distance - self.spacing) / (end - self.spacing);
            -self.attraction * 6.75 * x * (1.0 - x) * (1.0 - x)
        }
    }

    /// Friction of two particles per speed of parting [N s/m].
    #[must_use]
    pub fn rub(&self, distance: f64) -> f64 {
        self.viscosity * (1.0 - distance / (self.range * self.spacing)).max(0.0)
    }

    /// Force by which a bond pushes two particles apart [N], and its rest length after it has flowed.
    #[must_use]
    pub fn bond(&self, distance: f64, length: f64) -> (f64, f64) {
        let limit = self.yield_strain * self.spacing;
        let stretch = (distance - length).clamp(-limit, limit);
        let way = (distance / self.spacing - 1.0) / (self.range - 1.0);
        // Squared: a bond lets go without a jerk, and its neighbours are not torn in its place.
        let hold = ((1.0 - way) / (1.0 - tolerances::BOND_FADES)).clamp(0.0, 1.0).powi(2);
        let strength = tolerances::BOND_STRENGTH * self.attraction;
        (-strength * hold * stretch / limit, distance - stretch)
    }

    /// Longest step that stays stable for particles of a mass [s].
    #[must_use]
    pub fn stable_step(&self, mass: f64) -> f64 {
        // A particle in the middle of a heap feels about six neighbours along any axis.
        let hump = 6.75 * self.attraction / ((self.range - 1.0) * self.spacing);
        let bond = self.attraction / (self.yield_strain * self.spacing);
        let slope = hump + tolerances::BOND_STRENGTH * bond;
        // Viscosity sets no limit: it is solved pair by pair and never turns a speed around.
        let elastic = (mass / (6.0 * self.stiffness.max(slope)).max(1e-300)).sqrt();
        tolerances::STEP_SHARE * elastic
    }
}

/// What doughs work with in a step.
#[derive(Default)]
pub(super) struct DoughScratch {
    /// Laws of the objects at the instant; `None`: no dough.
    materials: Vec<Option<DoughMaterial>>,
    /// Bonds of the step before, whose storage is used again.
    spare_bonds: Vec<Bond>,
}

impl DoughScratch {
    /// Looks up the laws at a frame.
    pub(super) fn find_materials(&mut self, Given { params, rest }: Given<'_>, frame: f64) {
        self.materials.clear();
        self.materials.extend(rest.objects.iter().map(|o| DoughMaterial::at(o, params, frame)));
    }
}

/// Repulsion, viscosity and bonds among the particles that blend.
pub(super) fn apply_dough(
    rest: &SoftRest,
    state: &mut SoftState,
    around: (&PrimitiveFields, &[Territory]),
    (scratch, kneaded): (&mut DoughScratch, &mut [Kneading]),
    dt: f64,
) {
    let DoughScratch { materials, spare_bonds } = scratch;
    if materials.iter().all(Option::is_none) {
        return;
    }
    std::mem::swap(&mut state.bonds, spare_bonds);
    let old = &*spare_bonds;
    let SoftState { bodies, bonds, .. } = state;
    bonds.clear();
    let mut at = 0;
    for (a, p) in rest.primitives.iter().enumerate() {
        let Some(material) = materials[p.object] else { continue };
        // Bonds are sorted by the first of their pair, the order in which particles are gone through.
        at += old[at..].partition_point(|b| b.pair.0 < a as u32);
        let end = at + old[at..].partition_point(|b| b.pair.0 == a as u32);
        let first = bonds.len();
        let others = around.1[a].near().iter().filter(|&&b| (b as usize) < a);
        for &b in others {
            let Some(other) = materials[rest.primitives[b as usize].object] else { continue };
            let pair = Pair { of: (a, b as usize), laws: (material, other) };
            bonds.extend(pair.pull(
                rest,
                (&mut bodies[..], &mut kneaded[..]),
                around,
                &old[at..end],
                dt,
            ));
        }
        // Neighbours come group by group; the next step looks pairs up by number.
        bonds[first..].sort_unstable_by_key(|b| b.pair);
        at = end;
    }
    for bond in bonds.iter() {
        let (a, b) = (bond.pair.0 as usize, bond.pair.1 as usize);
        let laws = [a, b].map(|i| materials[rest.primitives[i].object]);
        if let [Some(first), Some(second)] = laws {
            let pair = Pair { of: (a, b), laws: (first, second) };
            pair.rub_flattened(rest, (bodies, kneaded), around, dt);
        }
    }
}

/// Two particles.
struct Pair {
    /// The greater first.
    of: (usize, usize),
    laws: (DoughMaterial, DoughMaterial),
}

impl Pair {
    /// Adds the forces between them, takes what viscosity takes from their velocities within a step, and gives
    /// their bond, if they are near enough to have one.
    fn pull(
        &self,
        rest: &SoftRest,
        (bodies, kneaded): (&mut [BodyState], &mut [Kneading]),
        (fields, territories): (&PrimitiveFields, &[Territory]),
        old: &[Bond],
        dt: f64,
    ) -> Option<Bond> {
        let ((a, b), (law_a, law_b)) = (self.of, &self.laws);
        let of = [a, b].map(|i| rest.primitives[i].body);
        let way = bodies[of[0]].position - bodies[of[1]].position;
        let (pa, pb) = (&fields.primitives[a], &fields.primitives[b]);
        // Flattened particles are as far from each other as the balls they were.
        let measured = 0.5 * (pa.measured(way) + pb.measured(way));
        let distance = measured.length();
        if distance >= (law_a.range * law_a.spacing).max(law_b.range * law_b.spacing) {
            return None;
        }
        let weight = blend_weight(fields, &territories[a], a, b);
        if weight == 0.0 {
            return None;
        }
        let pair = (a as u32, b as u32);
        let known = old.binary_search_by_key(&pair, |b| b.pair).ok();
        // A new bond is at rest where it begins.
        let length = known.map_or(distance, |k| old[k].length);
        let n = measured.normalize_or(DVec3::Y);
        // Way in which the distance grows, by how much a metre.
        let n = 0.5 * (pa.measured(n) + pb.measured(n));
        let (pull_a, length_a) = law_a.bond(distance, length);
        let (pull_b, length_b) = law_b.bond(distance, length);
        let push = law_a.force(distance) + law_b.force(distance);
        let force = weight * 0.5 * (push + pull_a + pull_b) * n;
        let rub = weight * 0.5 * (law_a.rub(distance) + law_b.rub(distance));
        let light = of.map(|i| rest.bodies[i].inverse_mass);
        let against = bodies[of[0]].velocity - bodies[of[1]].velocity;
        let parting = against.dot(n);
        // Exact for the pair alone: any viscosity, any step.
        let pliancy = ((light[0] + light[1]) * n.length_squared()).max(f64::MIN_POSITIVE);
        let impulse = (1.0 - (-rub * pliancy * dt).exp()) / pliancy * parting * n;
        bodies[of[0]].velocity -= light[0] * impulse;
        bodies[of[1]].velocity += light[1] * impulse;
        bodies[of[0]].force += force;
        bodies[of[1]].force -= force;
        for i in [a, b] {
            kneaded[i].stress -= outer(force, 0.5 * way);
            kneaded[i].meet(way, against);
        }
        // Also where nothing pulls yet: without it the bond would begin anew in every step, and never stretch.
        Some(Bond { pair, length: 0.5 * (length_a + length_b) })
    }

    /// Takes what viscosity takes of the speed with which flattened particles slide past each other, but for what turns
    /// with their surroundings. Forces between balls point along the way between them; those between flattened ones do
    /// not, and would drive them round each other for ever.
    fn rub_flattened(
        &self,
        rest: &SoftRest,
        (bodies, kneaded): (&mut [BodyState], &[Kneading]),
        (fields, territories): (&PrimitiveFields, &[Territory]),
        dt: f64,
    ) {
        let ((a, b), (law_a, law_b)) = (self.of, &self.laws);
        let (pa, pb) = (&fields.primitives[a], &fields.primitives[b]);
        if pa.shape.is_round() && pb.shape.is_round() {
            return;
        }
        let of = [a, b].map(|i| rest.primitives[i].body);
        let way = bodies[of[0]].position - bodies[of[1]].position;
        let measured = 0.5 * (pa.measured(way) + pb.measured(way));
        let distance = measured.length();
        let n = (pa.measured(measured) + pb.measured(measured)).normalize_or_zero();
        let spin = |i: usize| kneaded[i].spin(tolerances::LEAST_SPREAD_RUBBED);
        let spin = 0.5 * (spin(a) + spin(b));
        let against = bodies[of[0]].velocity - bodies[of[1]].velocity - spin.cross(way);
        let sliding = against - against.dot(n) * n;
        let light = of.map(|i| rest.bodies[i].inverse_mass);
        let pliancy = (light[0] + light[1]).max(f64::MIN_POSITIVE);
        let weight = blend_weight(fields, &territories[a], a, b);
        let rub = weight * 0.5 * (law_a.rub(distance) + law_b.rub(distance));
        // Exact for the pair alone, as for what parts them.
        let impulse = (1.0 - (-rub * pliancy * dt).exp()) / pliancy * sliding;
        bodies[of[0]].velocity -= light[0] * impulse;
        bodies[of[1]].velocity += light[1] * impulse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATERIAL: DoughMaterial = DoughMaterial {
        spacing: 0.1,
        stiffness: 50.0,
        attraction: 2.0,
        yield_strain: 0.1,
        range: 2.0,
        viscosity: 1.0,
    };

    #[test]
    fn dough_repels_when_close_and_rubs() {
        assert_eq!(MATERIAL.force(0.1), 0.0);
        assert!((MATERIAL.force(0.05) - 5.0).abs() < 1e-12);
        assert!((MATERIAL.force(0.1 + 0.1 / 3.0) + 2.0).abs() < 1e-12);
        assert_eq!((MATERIAL.force(0.2), MATERIAL.rub(0.2)), (0.0, 0.0));
        assert!((MATERIAL.rub(0.1) - 0.5).abs() < 1e-12);
        let mut last = MATERIAL.force(0.0);
        for i in 1..=2500 {
            let f = MATERIAL.force(f64::from(i) * 1e-4);
            assert!((f - last).abs() < 0.05);
            last = f;
        }
    }

    #[test]
    fn a_bond_is_elastic_then_flows_then_tears() {
        // Elastic: the rest length stays, the force is linear.
        let most = tolerances::BOND_STRENGTH * MATERIAL.attraction;
        let (pull, length) = MATERIAL.bond(0.105, 0.1);
        assert!((pull + 0.5 * most).abs() < 1e-9 && (length - 0.1).abs() < 1e-12);
        // Beyond the yield strain the force stays and the rest length follows.
        let (pull, length) = MATERIAL.bond(0.12, 0.1);
        assert!((pull + most).abs() < 1e-9 && (length - 0.11).abs() < 1e-12);
        // Released, it pushes back only from where it has flowed to.
        assert!((MATERIAL.bond(0.11, length).0).abs() < 1e-9);
        // Far out it has faded away.
        assert!(MATERIAL.bond(0.19, 0.15).0.abs() < 0.1 && MATERIAL.bond(0.2, 0.15).0 == 0.0);
    }
}
