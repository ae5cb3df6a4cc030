//! Water that hair draws from the skin beneath it, and that it catches out of the air.
//!
//! Drops run on and dry; hair that they have passed stays wet. A wisp is a sponge whose hairs stand in what
//! lies on the skin: with `s` the mean wetness of the skin at its hairs' roots,
//!
//! ```text
//! w' = s (1 - w) / SOAK_SECS - w / DRY_SECS
//! ```
//!
//! which has a closed form where `s` is constant, as it is during a tick. A drop in the air that passes through a wisp
//! leaves a part of itself in it: of its mass `m`, with `d` how thick the wisp is where it passes,
//!
//! ```text
//!          o
//!          │ v dt                w += m (1 - exp(-d / CATCH_LENGTH)) / mass of the hair
//!   ═══════│═══════  wisp
//!          ▼
//! ```
//!
//! once, in the tick in which it is nearest to the wisp's axis. (The drop itself is the drops layer's, which does not
//! know of hair, and falls on: what is caught is counted, not taken away.)

use glam::Vec3;
use rayon::prelude::*;

use super::params::HairParams;
use super::rest::{HairRest, SkinPoint, WispRoot};
use super::scratch::{HairScratch, Places};
use super::sections::closest_on_segments;
use super::state::{HairState, Wisp};
use crate::geometry::Mesh;
use crate::stage::{Falling, FallingDrop};

/// Lets every root's hair take up water and dry for some seconds, then gathers how wet each is: what the
/// parameters say (`given`), and what it has taken up.
pub(super) fn soak(
    (params, rest): (&HairParams, &HairRest),
    state: &mut HairState,
    scratch: &mut HairScratch,
    (mesh, falling): (&Mesh, &[Falling]),
    (frame, seconds): (f64, f64),
) {
    state.soaked.resize(rest.roots.len(), 0.0);
    catch_drops(rest, state, scratch, falling, seconds as f32);
    let skin = mesh.channels.wetness.as_slice();
    let is_known = skin.len() == mesh.positions.len();
    // Dry hair on a dry scalp costs nothing.
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

/// Lets wisps catch what falls through them.
fn catch_drops(
    rest: &HairRest,
    state: &mut HairState,
    scratch: &mut HairScratch,
    falling: &[Falling],
    seconds: f32,
) {
    if falling.iter().all(|f| f.drops.is_empty()) {
        return;
    }
    let caught = &mut scratch.caught;
    caught.resize(state.wisps.len(), 0.0);
    let work = caught.par_iter_mut().zip(&state.wisps).with_min_len(16);
    work.for_each(|(caught, wisp)| {
        *caught = caught_by(wisp, rest.directions.len(), falling, seconds);
    });
    for (caught, wisp) in caught.iter().zip(&state.wisps) {
        let soaked = &mut state.soaked[wisp.root as usize];
        // One after the other, in the order of wisps: halves of a split share a root.
        *soaked = (*soaked + caught / hair_mass(&rest.roots[wisp.root as usize])).min(1.0);
    }
}

/// Mass of the hair of a root [kg]: as much water as that is all it can hold.
fn hair_mass(root: &WispRoot) -> f32 {
    root.masses[1..].iter().sum::<f64>().max(f64::MIN_POSITIVE) as f32
}

/// Mass of water that a wisp catches in some seconds [kg].
fn caught_by(wisp: &Wisp, samples: usize, falling: &[Falling], seconds: f32) -> f32 {
    let widest = wisp.radii.iter().copied().fold(0.0, f32::max);
    let (low, high) = (wisp.positions.iter())
        .fold((Vec3::MAX, Vec3::MIN), |(low, high), p| (low.min(*p), high.max(*p)));
    let (low, high) = (low - widest, high + widest);
    let mut caught = 0.0;
    for drop in falling.iter().flat_map(|f| &f.drops) {
        let from = drop.position - drop.velocity * seconds;
        let may_pass =
            from.min(drop.position).cmple(high).all() && from.max(drop.position).cmpge(low).all();
        if may_pass {
            caught += caught_of(drop, from, wisp, samples);
        }
    }
    caught
}

/// Mass that a wisp catches of a drop on its way from a place to where it is now [kg].
fn caught_of(drop: &FallingDrop, from: Vec3, wisp: &Wisp, samples: usize) -> f32 {
    let way = [from, drop.position];
    let mut nearest = (f32::INFINITY, 0.0, 0.0);
    for i in 1..wisp.positions.len() - 1 {
        let axis = [wisp.positions[i], wisp.positions[i + 1]];
        let (s, t) = closest_on_segments(way, axis);
        let across = way[0].lerp(way[1], s).distance(axis[0].lerp(axis[1], t));
        let radius = |i: usize| {
            let own = &wisp.radii[i * samples..(i + 1) * samples];
            own.iter().sum::<f32>() / samples as f32
        };
        if across < nearest.0 {
            nearest = (across, radius(i) * (1.0 - t) + radius(i + 1) * t, s);
        }
    }
    let (across, radius, s) = nearest;
    // Nearest at one end of the way: it was or will be nearer in another tick.
    if across >= radius || s <= 0.0 || s >= 1.0 {
        return 0.0;
    }
    let thickness = 2.0 * (radius * radius - across * across).sqrt();
    drop.mass * -(-thickness / super::limits::CATCH_LENGTH).exp_m1()
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

    /// A straight wisp along x, 2 cm thick.
    fn straight() -> Wisp {
        let positions = (0..8).map(|i| Vec3::new(0.02 * i as f32, 0.0, 0.0)).collect();
        Wisp { positions, radii: vec![0.01; 8 * 4], ..Wisp::default() }
    }

    /// What it catches of a drop of 10 mg that falls at 4 m/s for a tenth of a second, in some ticks.
    fn caught_in(ticks: usize, z: f32) -> f32 {
        let seconds = 0.1 / ticks as f32;
        let velocity = Vec3::new(0.0, -4.0, 0.0);
        (1..=ticks)
            .map(|k| {
                let position = Vec3::new(0.07, 0.19, z) + velocity * (k as f32 * seconds);
                let drops = vec![FallingDrop { position, velocity, mass: 1e-5, radius: 1e-3 }];
                let falling = [Falling { layer: "rain".to_owned(), drops }];
                caught_by(&straight(), 4, &falling, seconds)
            })
            .sum()
    }

    #[test]
    fn a_drop_leaves_in_a_wisp_what_its_way_through_says_once() {
        let through =
            |thickness: f32| 1e-5 * (1.0 - (-thickness / super::super::limits::CATCH_LENGTH).exp());
        for ticks in [1, 7, 12, 100] {
            let middle = caught_in(ticks, 0.0);
            assert!((middle / through(0.02) - 1.0).abs() < 1e-3, "{ticks} ticks: {middle}");
            let aside = caught_in(ticks, 0.006);
            assert!((aside / through(0.016) - 1.0).abs() < 1e-3, "{ticks} ticks: {aside}");
            assert_eq!(caught_in(ticks, 0.011), 0.0, "it falls past");
        }
    }
}
