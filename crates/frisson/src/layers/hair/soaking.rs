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
//! once, in the tick in which it is nearest to the wisp's axis. The drop itself is the drops layer's, which does not know
//! of hair: it is told before its next tick what was caught of its drops (`Frame::caught`), and books it.

use glam::Vec3;
use rayon::prelude::*;

use super::params::HairParams;
use super::rest::{HairRest, SkinPoint, WispRoot};
use super::scratch::{HairScratch, Places};
use super::sections::closest_on_segments;
use super::state::{HairState, Wisp};
use crate::geometry::Mesh;
use crate::stage::{Caught, CaughtDrop, Falling, FallingDrop, Frame};

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

/// Lets wisps catch what falls through them, one after the other in their order: what one has kept the next does not
/// get, and what hair has no room for falls on.
fn catch_drops(
    rest: &HairRest,
    state: &mut HairState,
    scratch: &mut HairScratch,
    falling: &[Falling],
    seconds: f32,
) {
    state.caught.iter_mut().for_each(|c| c.drops.clear());
    if falling.iter().all(|f| f.drops.is_empty()) {
        return;
    }
    let HairScratch { passed, left, .. } = scratch;
    passed.resize_with(state.wisps.len(), Vec::new);
    let work = passed.par_iter_mut().zip(&state.wisps).with_min_len(16);
    work.for_each(|(passed, wisp)| {
        find_passed(wisp, rest.directions.len(), falling, seconds, passed);
    });
    left.clear();
    left.extend(falling.iter().flat_map(|f| &f.drops).map(|drop| drop.mass));
    for (passed, wisp) in passed.iter().zip(&state.wisps) {
        let hair = hair_mass(&rest.roots[wisp.root as usize]);
        // Halves of a split share a root.
        let soaked = &mut state.soaked[wisp.root as usize];
        for one in passed {
            let room = (1.0 - *soaked).max(0.0) * hair;
            let taken = (one.share * left[one.drop]).min(room);
            left[one.drop] -= taken;
            *soaked += taken / hair;
        }
    }
    note_caught(&mut state.caught, falling, left);
}

/// Notes what was caught of each drop, so that its layer can be told.
fn note_caught(caught: &mut Vec<Caught>, falling: &[Falling], left: &[f32]) {
    let mut left = left.iter();
    for list in falling {
        let own = list_of(caught, &list.layer);
        for (drop, left) in list.drops.iter().zip(&mut left) {
            if *left < drop.mass {
                own.push(CaughtDrop { id: drop.id, mass: drop.mass - left });
            }
        }
    }
}

/// Tells the layers whose drops were caught.
pub(super) fn tell_caught(caught: &[Caught], frame: &mut Frame) {
    for list in caught.iter().filter(|list| !list.drops.is_empty()) {
        list_of(&mut frame.caught, &list.layer).extend_from_slice(&list.drops);
    }
}

/// The list of a layer's drops, which is made if there is none.
fn list_of<'a>(caught: &'a mut Vec<Caught>, layer: &str) -> &'a mut Vec<CaughtDrop> {
    let index = caught.iter().position(|c| c.layer == layer).unwrap_or_else(|| {
        caught.push(Caught { layer: layer.to_owned(), drops: Vec::new() });
        caught.len() - 1
    });
    &mut caught[index].drops
}

/// Mass of the hair of a root [kg]: as much water as that is all it can hold.
fn hair_mass(root: &WispRoot) -> f32 {
    root.masses[1..].iter().sum::<f64>().max(f64::MIN_POSITIVE) as f32
}

/// A drop that has passed through a wisp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// Its number among all that fall.
    drop: usize,
    /// How much of it the wisp keeps [-].
    share: f32,
}

/// Finds the drops that pass through a wisp in some seconds.
fn find_passed(
    wisp: &Wisp,
    samples: usize,
    falling: &[Falling],
    seconds: f32,
    out: &mut Vec<Passed>,
) {
    out.clear();
    let widest = wisp.radii.iter().copied().fold(0.0, f32::max);
    let (low, high) = (wisp.positions.iter())
        .fold((Vec3::MAX, Vec3::MIN), |(low, high), p| (low.min(*p), high.max(*p)));
    let (low, high) = (low - widest, high + widest);
    for (number, drop) in falling.iter().flat_map(|f| &f.drops).enumerate() {
        let from = drop.position - drop.velocity * seconds;
        let may_pass =
            from.min(drop.position).cmple(high).all() && from.max(drop.position).cmpge(low).all();
        let share = if may_pass { share_caught(drop, from, wisp, samples) } else { 0.0 };
        if share > 0.0 {
            out.push(Passed { drop: number, share });
        }
    }
}

/// Share that a wisp catches of a drop on its way from a place to where it is now [-].
fn share_caught(drop: &FallingDrop, from: Vec3, wisp: &Wisp, samples: usize) -> f32 {
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
    -(-thickness / super::limits::CATCH_LENGTH).exp_m1()
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
                let drop = FallingDrop { id: 7, position, velocity, mass: 1e-5, radius: 1e-3 };
                let falling = [Falling { layer: "rain".to_owned(), drops: vec![drop] }];
                let mut passed = Vec::new();
                find_passed(&straight(), 4, &falling, seconds, &mut passed);
                passed.iter().map(|one| one.share * drop.mass).sum::<f32>()
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

    #[test]
    fn what_hair_has_caught_is_told_and_is_no_more_than_fell_or_than_it_holds() {
        let root = WispRoot { masses: vec![1e-3; 8], ..WispRoot::default() };
        let rest = HairRest {
            directions: vec![(1.0, 0.0); 4],
            roots: vec![root; 3],
            ..HairRest::default()
        };
        // Three wisps one above the other, the lowest of them full.
        let at = |k: u32| {
            let mut wisp = Wisp { root: k, ..straight() };
            wisp.positions.iter_mut().for_each(|p| p.y = 0.03 * k as f32);
            wisp
        };
        let mut state = HairState {
            wisps: (0..3).map(at).collect(),
            soaked: vec![1.0, 0.0, 0.0],
            ..HairState::default()
        };
        let velocity = Vec3::new(0.0, -4.0, 0.0);
        let drop = |id: u64, x: f32| FallingDrop {
            id,
            position: Vec3::new(x, -0.2, 0.0),
            velocity,
            mass: 1e-5,
            radius: 1e-3,
        };
        let falling = [Falling { layer: "rain".into(), drops: vec![drop(3, 0.5), drop(8, 0.07)] }];
        catch_drops(&rest, &mut state, &mut HairScratch::default(), &falling, 0.1);
        let mut frame = Frame::default();
        tell_caught(&state.caught, &mut frame);
        let told = &frame.caught[0];
        assert_eq!((told.layer.as_str(), told.drops.len(), told.drops[0].id), ("rain", 1, 8));
        let through_both = 1e-5 * (1.0 - (-0.04 / super::super::limits::CATCH_LENGTH).exp());
        assert!((told.drops[0].mass / through_both - 1.0).abs() < 1e-3, "{:?}", told.drops);
        let held = state.soaked[1..].iter().sum::<f32>() * hair_mass(&rest.roots[1]);
        assert!((held / told.drops[0].mass - 1.0).abs() < 1e-5, "{held}");
        // Nothing falls any more: nothing is told twice.
        catch_drops(&rest, &mut state, &mut HairScratch::default(), &[], 0.1);
        assert!(state.caught.iter().all(|c| c.drops.is_empty()));
    }
}
