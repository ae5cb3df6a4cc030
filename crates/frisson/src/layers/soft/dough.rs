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
use super::rest::ObjectRest;
use super::state::Bond;
use super::step::SoftStep;
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

impl SoftStep<'_> {
    /// Repulsion, viscosity and bonds among the particles that blend.
    pub(super) fn apply_dough(&mut self, frame: f64, dt: f64) {
        if !self.rest.objects.iter().any(|o| o.is_dough) {
            return;
        }
        let mut materials = std::mem::take(&mut self.scratch.dough_materials);
        materials.clear();
        materials
            .extend(self.rest.objects.iter().map(|o| DoughMaterial::at(o, self.params, frame)));
        let old = std::mem::take(&mut self.state.bonds);
        let mut bonds = std::mem::take(&mut self.scratch.spare_bonds);
        bonds.clear();
        let mut at = 0;
        for a in 0..self.rest.primitives.len() {
            if materials[self.rest.primitives[a].object].is_none() {
                continue;
            }
            // Bonds are sorted by the first of their pair, the order in which particles are gone through.
            at += old[at..].partition_point(|b| b.pair.0 < a as u32);
            let end = at + old[at..].partition_point(|b| b.pair.0 == a as u32);
            let first = bonds.len();
            self.pull_on(a, dt, &materials, &old[at..end], &mut bonds);
            // Neighbours come group by group; the next step looks pairs up by number.
            bonds[first..].sort_unstable_by_key(|b| b.pair);
            at = end;
        }
        self.state.bonds = bonds;
        self.scratch.spare_bonds = old;
        self.scratch.dough_materials = materials;
    }

    /// Forces between a particle and those listed before it, and what viscosity takes from their
    /// velocities within a step.
    fn pull_on(
        &mut self,
        a: usize,
        dt: f64,
        materials: &[Option<DoughMaterial>],
        old: &[Bond],
        bonds: &mut Vec<Bond>,
    ) {
        let pa = &self.rest.primitives[a];
        let Some(material) = materials[pa.object] else { return };
        let body_a = pa.body;
        for &b in self.scratch.territories[a].near().iter().filter(|&&b| (b as usize) < a) {
            let pb = &self.rest.primitives[b as usize];
            let Some(material_b) = materials[pb.object] else { continue };
            let (ba, bb) = (&self.state.bodies[body_a], &self.state.bodies[pb.body]);
            let way = ba.position - bb.position;
            let distance = way.length();
            if distance
                >= (material.range * material.spacing).max(material_b.range * material_b.spacing)
            {
                continue;
            }
            let weight = self.blend_weight(a, b as usize);
            if weight == 0.0 {
                continue;
            }
            let pair = (a as u32, b);
            let known = old.binary_search_by_key(&pair, |b| b.pair).ok();
            // A new bond is at rest where it begins.
            let length = known.map_or(distance, |k| old[k].length);
            let n = way.normalize_or(DVec3::Y);
            let (pull_a, length_a) = material.bond(distance, length);
            let (pull_b, length_b) = material_b.bond(distance, length);
            // Also where nothing pulls yet: without it the bond would begin anew in every step, and never stretch.
            bonds.push(Bond { pair, length: 0.5 * (length_a + length_b) });
            let push = material.force(distance) + material_b.force(distance);
            let force = weight * 0.5 * (push + pull_a + pull_b) * n;
            let rub = weight * 0.5 * (material.rub(distance) + material_b.rub(distance));
            let light = [body_a, pb.body].map(|i| self.rest.bodies[i].inverse_mass);
            let parting = (ba.velocity - bb.velocity).dot(n);
            // Exact for the pair alone: any viscosity, any step.
            let pliancy = (light[0] + light[1]).max(f64::MIN_POSITIVE);
            let impulse = (1.0 - (-rub * pliancy * dt).exp()) / pliancy * parting * n;
            self.state.bodies[body_a].velocity -= light[0] * impulse;
            self.state.bodies[pb.body].velocity += light[1] * impulse;
            self.state.bodies[body_a].force += force;
            self.state.bodies[pb.body].force -= force;
        }
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
