//! Static friction: what a patch of contact remembers of its slip.
//!
//! ```text
//!    ___              a bristle under each patch: slip bends it, and it pushes back; further than friction and the
//!   /   \             pressing force allow it does not bend but drags along. So what friction can hold rests, and
//!   \_ _/             what it cannot slides under all of it. Seeds share the bristle by their own pressure, each
//! __/_/_/___ tool     within Coulomb's limit there: where the pressure goes, the memory goes.
//! ```
//!
//! After P. Dahl, *A solid friction model* (1968), with the sharp knee of Prandtl's: no creep below the limit.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::contact::{ContactForces, Contacts};
use super::sample::{ContactPoint, Presser, Territory};
use super::state::SoftState;
use crate::tolerances::soft as tolerances;

/// The bristle under the patch in which a primitive touches a tool.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grip {
    /// The primitive, and the place of the tool among the tools.
    pub pair: (u32, u32),
    /// What it does to the primitive, along the contact [N].
    pub force: DVec3,
}

/// A patch of contact with a tool in this step.
#[derive(Clone, Copy, Debug)]
struct Patch {
    tool: u32,
    /// Pressing force [N].
    load: f64,
    /// Sum of the normals towards the tool, by force [N].
    normal: DVec3,
    /// Sum of the slips against the tool, by force [N m/s].
    slip: DVec3,
}

/// Patches of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct GripScratch {
    /// Those of one primitive.
    patches: Vec<Patch>,
    /// Grips of the step before, ascending by pair, whose storage is used again.
    old: Vec<Grip>,
    /// Per grip: its pressing force [N].
    loads: Vec<f64>,
}

impl GripScratch {
    /// The bristle's traction on a primitive by a tool, per pressure [-].
    pub(super) fn share(&self, state: &SoftState, pair: (u32, u32)) -> DVec3 {
        let found = state.grips.binary_search_by_key(&pair, |g| g.pair);
        found.map_or(DVec3::ZERO, |i| state.grips[i].force / self.loads[i].max(f64::MIN_POSITIVE))
    }
}

/// A bristle after some slip [m] across a normal: pushes back by its stiffness [N/m], up to a limit [N].
pub(super) fn bend(
    before: DVec3,
    (normal, slip): (DVec3, DVec3),
    stiffness: f64,
    limit: f64,
) -> DVec3 {
    let bent = before - stiffness * slip;
    (bent - bent.dot(normal) * normal).clamp_length_max(limit)
}

impl Contacts<'_> {
    /// How stiff the bristle under a primitive is [N/m].
    pub(super) fn bristle(&self, index: usize) -> f64 {
        let p = &self.rest.primitives[index];
        let e = p.profile.thickness;
        let points = self.fields.points_of(index);
        let length: f64 = points.windows(2).map(|w| w[0].distance(w[1])).sum();
        // Its face as seen from the side; no longer than steps are short enough for.
        let area = std::f64::consts::PI * e * e + 2.0 * e * length.min(tolerances::GRIPPED * e);
        tolerances::BRISTLE * p.profile.stiffness * area
    }

    /// Bends the bristles under what touches tools by the slip of this step.
    pub(super) fn grip_tools(&self, state: &mut SoftState, out: &mut ContactForces) {
        let GripScratch { patches, old, loads } = &mut out.grips;
        std::mem::swap(old, &mut state.grips);
        state.grips.clear();
        loads.clear();
        for (index, territory) in self.territories.iter().enumerate() {
            let body = self.rest.primitives[index].body;
            if self.rest.bodies[body].inverse_mass == 0.0 {
                continue;
            }
            self.find_patches(state, (index, territory), patches);
            for patch in patches.iter() {
                let pair = (index as u32, patch.tool);
                let known = old.binary_search_by_key(&pair, |g| g.pair).ok();
                let before = known.map_or(DVec3::ZERO, |k| old[k].force);
                let normal = patch.normal.normalize_or_zero();
                let slip = patch.slip * (self.dt / patch.load.max(f64::MIN_POSITIVE));
                let limit = self.tools.get(patch.tool as usize).friction() * patch.load;
                let force = bend(before, (normal, slip), self.bristle(index), limit);
                state.grips.push(Grip { pair, force });
                loads.push(patch.load);
            }
        }
    }

    /// The patches in which a primitive touches tools, ascending.
    fn find_patches(
        &self,
        state: &SoftState,
        (index, territory): (usize, &Territory),
        patches: &mut Vec<Patch>,
    ) {
        patches.clear();
        let body = &state.bodies[self.rest.primitives[index].body];
        for ContactPoint { presser, point, normal, pressure, area, .. } in &territory.contacts {
            let Presser::Tool(tool) = *presser else { continue };
            let place = patches.partition_point(|p| p.tool < tool);
            if patches.get(place).is_none_or(|p| p.tool != tool) {
                let (load, zero) = (0.0, DVec3::ZERO);
                patches.insert(place, Patch { tool, load, normal: zero, slip: zero });
            }
            let load = pressure.max(0.0) * area;
            let velocity = self.tools.get(tool as usize).contact(*point).2;
            let patch = &mut patches[place];
            patch.load += load;
            patch.normal += load * *normal;
            patch.slip += load * (body.velocity_at(*point) - velocity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bristle_is_elastic_below_its_limit_drags_along_above_and_lets_go_with_the_pressure() {
        let (up, along) = (DVec3::Y, DVec3::X);
        let bent = bend(DVec3::ZERO, (up, 1e-3 * along + 5e-3 * up), 2e3, 10.0);
        assert!((bent + 2.0 * along).length() < 1e-12, "only along the contact: {bent}");
        assert!(bend(bent, (up, -1e-3 * along), 2e3, 10.0).length() < 1e-12, "elastic");
        let dragged = (0..20).fold(DVec3::ZERO, |f, _| bend(f, (up, 1e-3 * along), 2e3, 10.0));
        assert!((dragged + 10.0 * along).length() < 1e-12, "Coulomb's limit: {dragged}");
        let back = bend(dragged, (up, -1e-3 * along), 2e3, 10.0);
        assert!((back + 8.0 * along).length() < 1e-12, "it has dragged along: {back}");
        assert_eq!(bend(dragged, (up, DVec3::ZERO), 2e3, 0.0), DVec3::ZERO, "no pressure");
    }
}
