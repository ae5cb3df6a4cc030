//! Water that hair draws from the skin beneath it.
//!
//! Drops run on and dry; hair that they have passed stays wet. A wisp is a sponge whose hairs stand in what
//! lies on the skin: with `s` the mean wetness of the skin at its hairs' roots,
//!
//! ```text
//! w' = s (1 - w) / SOAK_SECS - w / DRY_SECS
//! ```
//!
//! which has a closed form where `s` is constant, as it is during a tick.

use rayon::prelude::*;

use super::params::HairParams;
use super::rest::{HairRest, SkinPoint};
use super::scratch::{HairScratch, Places};
use super::state::HairState;
use crate::geometry::Mesh;

/// Lets every root's hair take up water and dry for some seconds, then gathers how wet each is: what the
/// parameters say (`given`), and what it has taken up.
pub(super) fn soak(
    (params, rest): (&HairParams, &HairRest),
    state: &mut HairState,
    scratch: &mut HairScratch,
    mesh: &Mesh,
    (frame, seconds): (f64, f64),
) {
    state.soaked.resize(rest.roots.len(), 0.0);
    let skin = mesh.channels.wetness.as_slice();
    let is_known = skin.len() == mesh.positions.len();
    if is_known || state.soaked.iter().any(|w| *w > 0.0) {
        let places = &scratch.places;
        let work = state.soaked.par_iter_mut().enumerate().with_min_len(32);
        work.for_each(|(root, soaked)| {
            let around = if is_known { skin_wetness(rest, places, root, mesh) } else { 0.0 };
            *soaked = soaked_after(*soaked, around, seconds as f32);
        });
    }
    let given = params.wetness.at(frame) as f32;
    scratch.wetness.clear();
    scratch.wetness.extend(state.soaked.iter().map(|w| (given + w).clamp(0.0, 1.0)));
}

/// How wet hair is after some seconds on skin of a constant wetness.
fn soaked_after(soaked: f32, skin: f32, seconds: f32) -> f32 {
    let (up, down) = (skin / super::limits::SOAK_SECS, 1.0 / super::limits::DRY_SECS);
    let in_the_end = up / (up + down);
    in_the_end + (soaked - in_the_end) * (-(up + down) * seconds).exp()
}

/// Mean wetness of the skin where the hairs of a root stand.
fn skin_wetness(rest: &HairRest, places: &Places, root: usize, mesh: &Mesh) -> f32 {
    let at = |place: &SkinPoint| {
        let corners = mesh.topology.triangles[place.triangle as usize];
        let value = |k: usize| place.barycentric[k] * mesh.channels.wetness[corners[k] as usize];
        (0..3).map(value).sum::<f32>().clamp(0.0, 1.0)
    };
    let hairs = &places.hairs[root * rest.per_wisp..(root + 1) * rest.per_wisp];
    if hairs.is_empty() {
        return at(&places.wisps[root]);
    }
    hairs.iter().map(at).sum::<f32>() / hairs.len() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hair_soaks_by_its_closed_form_whatever_the_steps() {
        let (skin, seconds) = (0.3f32, 0.4f32);
        let mut by_steps = 0.1;
        for _ in 0..48 {
            by_steps = soaked_after(by_steps, skin, seconds / 48.0);
        }
        let at_once = soaked_after(0.1, skin, seconds);
        assert!((by_steps - at_once).abs() < 1e-5, "{by_steps} {at_once}");
        // Almost nothing dries meanwhile.
        let closed = 1.0 - 0.9 * (-skin * seconds / super::super::limits::SOAK_SECS).exp();
        assert!((at_once - closed).abs() < 0.01, "{at_once} {closed}");
        let dried = soaked_after(0.8, 0.0, super::super::limits::DRY_SECS);
        assert!((dried - 0.8 / std::f32::consts::E).abs() < 1e-4, "{dried}");
    }
}
