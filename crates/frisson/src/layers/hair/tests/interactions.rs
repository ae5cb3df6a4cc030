//! Laws of the interactions: momentum, rates, sample counts, completeness.

use glam::Vec3;

use super::super::interact::{InteractionInput, Interactions};
use super::super::params::InteractionParams;
use super::super::rest::{HairRest, WispRoot};
use super::super::sections::closest_on_segments;
use super::super::sections::reference::point_in_section;
use super::super::shapes::Shapes;
use super::super::state::Wisp;
use crate::math::random;

/// Free wisps: chains through the given points, round, of one radius.
struct Bundle {
    rest: HairRest,
    wisps: Vec<Wisp>,
    wetness: Vec<f32>,
    bonds: Vec<super::super::bonds::Bond>,
}

impl Bundle {
    fn new(chains: Vec<Vec<Vec3>>, radius: f32, samples: usize) -> Self {
        let count = chains[0].len();
        let directions = (0..samples)
            .map(|k| {
                let (s, c) = (std::f32::consts::TAU * k as f32 / samples as f32).sin_cos();
                (c, s)
            })
            .collect();
        let root = WispRoot {
            masses: vec![1.0e-3; count],
            radii: vec![radius; count],
            ..WispRoot::default()
        };
        let rest =
            HairRest { count, directions, roots: vec![root; chains.len()], ..HairRest::default() };
        let wisps = chains.into_iter().enumerate().map(|(k, positions)| {
            let along = (positions[1] - positions[0]).normalize();
            let mut wisp = Wisp {
                root: k as u32,
                share: 1.0,
                radius_scale: 1.0,
                apart: true,
                velocities: vec![Vec3::ZERO; count],
                normals: vec![along; count],
                across: vec![Vec3::ZERO; count],
                radii: vec![radius; count * samples],
                radial_velocities: vec![0.0; count * samples],
                twists: vec![0.0; count],
                root_across: super::super::rest::perpendicular(along),
                positions,
                ..Wisp::default()
            };
            super::super::planes::compute_planes(&mut wisp);
            wisp
        });
        let wisps: Vec<Wisp> = wisps.collect();
        let wetness = vec![0.0; wisps.len()];
        Self { rest, wisps, wetness, bonds: Vec::new() }
    }

    fn apply(&mut self, params: &InteractionParams, dt: f32) -> Interactions {
        let mut interactions = Interactions::default();
        let input = InteractionInput {
            rest: &self.rest,
            params,
            mass_share: SHARE,
            wetness: &self.wetness,
            dt,
            tick: dt,
            holds: true,
            bonds: &self.bonds,
            remembers: false,
            carried: 0,
            turns: 1,
            pass: 0,
            sweeps: 1,
        };
        interactions.apply(&input, &mut self.wisps);
        self.bonds.clone_from(&interactions.bonds);
        interactions
    }

    /// Kinetic energy of particles and samples, in f64.
    fn energy(&self) -> f64 {
        let samples = self.rest.directions.len();
        let mut sum = 0.0;
        for wisp in &self.wisps {
            for i in 0..self.rest.count {
                let mass = self.rest.roots[wisp.root as usize].masses[i] * f64::from(wisp.share);
                let light = mass * f64::from(SHARE) / samples as f64;
                let own = wisp.velocities[i].as_dvec3();
                sum += 0.5 * (mass - samples as f64 * light) * own.length_squared();
                for s in 0..samples {
                    let axis = wisp.half_axis(i, self.rest.directions[s]).as_dvec3();
                    let rate = f64::from(wisp.radial_velocities[i * samples + s]);
                    sum += 0.5 * light * (own + rate * axis).length_squared();
                }
            }
        }
        sum
    }

    /// Momentum of everything that is free, in f64.
    fn momentum(&self) -> glam::DVec3 {
        let samples = self.rest.directions.len();
        let mut sum = glam::DVec3::ZERO;
        for wisp in &self.wisps {
            for i in 0..self.rest.count {
                let mass = self.rest.roots[wisp.root as usize].masses[i] * f64::from(wisp.share);
                sum += mass * wisp.velocities[i].as_dvec3();
                for s in 0..samples {
                    let axis = wisp.half_axis(i, self.rest.directions[s]).as_dvec3();
                    let rate = f64::from(wisp.radial_velocities[i * samples + s]);
                    sum += mass * f64::from(SHARE) / samples as f64 * rate * axis;
                }
            }
        }
        sum
    }
}

const SHARE: f32 = 0.5;

/// Crooked chains through a small space.
fn tangle(seed: u64, wisps: usize, count: usize) -> Vec<Vec<Vec3>> {
    (0..wisps as u64)
        .map(|w| {
            let c = |k| random::signed(seed, w, k) as f32;
            let mut p = 0.08 * Vec3::new(c(0), c(1), c(2));
            let mut d = Vec3::new(c(3), c(4), c(5)).normalize();
            let mut chain = Vec::new();
            for i in 0..count as u64 {
                chain.push(p);
                d = (d + 0.5 * Vec3::new(c(6 + 3 * i), c(7 + 3 * i), c(8 + 3 * i))).normalize();
                p += 0.03 * d;
            }
            chain
        })
        .collect()
}

#[test]
fn interactions_keep_momentum_and_never_add_energy() {
    for seed in 0..8 {
        for samples in [3, 4, 8] {
            let mut bundle = Bundle::new(tangle(seed, 12, 8), 0.02, samples);
            for (w, wisp) in bundle.wisps.iter_mut().enumerate() {
                for i in 0..8usize {
                    let c = |k| random::signed(seed + 50, (w * 8 + i) as u64, k) as f32;
                    wisp.velocities[i] = Vec3::new(c(0), c(1), c(2));
                    for s in 0..samples {
                        wisp.radial_velocities[i * samples + s] = 0.1 * c(3 + s as u64);
                    }
                }
            }
            let (before, energy) = (bundle.momentum(), bundle.energy());
            let params =
                InteractionParams { viscosity: 20.0, full: seed % 2 == 0, ..Default::default() };
            let interactions = bundle.apply(&params, 1.0 / 60.0);
            let [rubbing, collisions] = interactions.treated;
            assert!(rubbing > 10 && collisions > 0, "{rubbing} {collisions}");
            let scale = 12.0 * 8.0 * 1.0e-3;
            let error = (bundle.momentum() - before).length() / scale;
            assert!(error < 1e-5, "seed {seed}, {samples} samples: {error}");
            assert!(bundle.energy() < energy, "seed {seed}, {samples} samples: energy grew");
        }
    }
}

/// Speed of one of two parallel wisps that lie in each other, after rubbing for a while.
fn rubbed(rate_hz: f32, samples: usize) -> f32 {
    let straight =
        |x: f32| (0..10).map(|i| Vec3::new(x, -0.03 * i as f32, 0.0)).collect::<Vec<_>>();
    let mut bundle = Bundle::new(vec![straight(0.0), straight(0.012)], 0.02, samples);
    bundle.wisps[1].velocities.fill(Vec3::Y);
    let params = InteractionParams {
        viscosity: 3.0,
        stick: Some(0.0),
        with_itself: false,
        ..Default::default()
    };
    let steps = (0.2 * rate_hz).round() as usize;
    for _ in 0..steps {
        bundle.apply(&params, 1.0 / rate_hz);
    }
    let speeds = bundle.wisps[1].velocities[3..9].iter().map(|v| v.y);
    speeds.sum::<f32>() / 6.0
        - bundle.wisps[0].velocities[3..9].iter().map(|v| v.y).sum::<f32>() / 6.0
}

#[test]
fn friction_depends_neither_on_the_rate_nor_on_the_samples() {
    let reference = rubbed(60.0, 4);
    assert!(reference > 0.02 && reference < 0.9, "{reference}");
    let fast = rubbed(600.0, 4);
    assert!((fast / reference - 1.0).abs() < 0.05, "{fast} {reference}");
    let fine = rubbed(60.0, 8);
    assert!((fine / reference - 1.0).abs() < 0.1, "{fine} {reference}");
}

/// How far two parallel wisps that lie in each other are drawn apart along their length in half a
/// second by an acceleration of 3 m/s² against each other, with dry friction only.
fn drawn_apart(stick: f32, rate_hz: f32) -> f32 {
    let straight =
        |x: f32| (0..10).map(|i| Vec3::new(x, -0.03 * i as f32, 0.0)).collect::<Vec<_>>();
    let mut bundle = Bundle::new(vec![straight(0.0), straight(0.004)], 0.02, 4);
    let height = |b: &Bundle, w: usize| {
        // Particle 0 belongs to no section: it lies under the skin.
        b.wisps[w].positions[1..].iter().map(|p| p.y).sum::<f32>() / 9.0
    };
    let start = height(&bundle, 1) - height(&bundle, 0);
    let params = InteractionParams {
        viscosity: 0.0,
        stick: Some(stick),
        with_itself: false,
        ..Default::default()
    };
    let dt = 1.0 / rate_hz;
    for _ in 0..(0.5 * rate_hz).round() as usize {
        for (wisp, pull) in bundle.wisps.iter_mut().zip([-1.5, 1.5]) {
            for i in 0..10 {
                wisp.velocities[i].y += pull * dt;
                let step = wisp.velocities[i] * dt;
                wisp.positions[i] += step;
            }
        }
        bundle.apply(&params, dt);
    }
    height(&bundle, 1) - height(&bundle, 0) - start
}

#[test]
fn wisps_drawn_apart_by_less_than_their_dry_friction_hold_and_by_more_slip() {
    for rate_hz in [30.0, 120.0] {
        let free = drawn_apart(0.0, rate_hz);
        assert!((free / 0.375 - 1.0).abs() < 0.1, "{rate_hz} Hz: {free}, not a t^2 / 2");
        let held = drawn_apart(30.0, rate_hz);
        assert!(held.abs() < 0.02 * free, "{rate_hz} Hz: slipped {held} m");
        let slipping = drawn_apart(1.0, rate_hz);
        assert!(slipping > 0.1 && slipping < 0.9 * free, "{rate_hz} Hz: {slipping} of {free}");
    }
}

#[test]
fn what_holds_is_drawn_back_to_where_it_took_hold_unless_it_has_slipped() {
    let straight =
        |x: f32| (0..10).map(|i| Vec3::new(x, -0.03 * i as f32, 0.0)).collect::<Vec<_>>();
    let mut bundle = Bundle::new(vec![straight(0.0), straight(0.004)], 0.02, 4);
    let params = InteractionParams {
        viscosity: 0.0,
        stick: Some(30.0),
        with_itself: false,
        ..Default::default()
    };
    let apart = |b: &Bundle| b.wisps[1].positions[5].y - b.wisps[0].positions[5].y;
    // Friction takes hold of what moves.
    bundle.wisps[1].velocities.fill(0.001 * Vec3::Y);
    bundle.apply(&params, 1.0 / 120.0);
    assert!(!bundle.bonds.is_empty());
    let start = apart(&bundle);
    let mut moved_by = |way: f32| {
        bundle.wisps[1].positions.iter_mut().for_each(|p| p.y += way);
        for _ in 0..20 {
            bundle.wisps.iter_mut().for_each(|w| w.velocities.fill(Vec3::ZERO));
            bundle.apply(&params, 1.0 / 120.0);
        }
        apart(&bundle) - start
    };
    // Crept by a third of a millimetre: back. By two centimetres: it lies there now.
    assert!(moved_by(3.0e-4).abs() < 3.0e-5);
    assert!(moved_by(0.02) > 0.015);
}

#[test]
fn wisps_that_meet_head_on_stop_and_crossing_ones_slide() {
    // Two crossed wisps, one above the other, the upper one coming down.
    let along = |axis: Vec3, at: Vec3| {
        (0..8).map(|i| at + axis * (0.03 * (i as f32 - 4.5))).collect::<Vec<_>>()
    };
    let run = |velocity: Vec3, threshold: f32| {
        let chains = vec![along(Vec3::X, Vec3::ZERO), along(Vec3::Z, Vec3::Y * 0.02)];
        let mut bundle = Bundle::new(chains, 0.015, 4);
        bundle.wisps[1].velocities.fill(velocity);
        let params = InteractionParams {
            threshold,
            viscosity: 0.0,
            with_itself: false,
            ..Default::default()
        };
        let treated = bundle.apply(&params, 1.0 / 60.0).treated;
        (treated, bundle)
    };
    let ([rubbing, collisions], down) = run(Vec3::NEG_Y, 0.9);
    assert!(collisions > 0, "{rubbing} {collisions}");
    let relative = |b: &Bundle| {
        let at = |w: usize| 0.5 * (b.wisps[w].velocities[4] + b.wisps[w].velocities[5]);
        at(1) - at(0)
    };
    assert!(relative(&down).y > -0.9, "{}", relative(&down));
    let ([rubbing, collisions], slide) = run(Vec3::X, 0.9);
    assert!(rubbing > 0 && collisions == 0, "{rubbing} {collisions}");
    // Without viscosity the allowed direction is untouched.
    assert!((relative(&slide) - Vec3::X).length() < 1e-3, "{}", relative(&slide));
}

#[test]
fn every_overlap_is_found_once_thin_crossings_included() {
    let mut thin_crossings = 0;
    for seed in 100..110 {
        let mut bundle = Bundle::new(tangle(seed, 40, 8), 0.004, 4);
        // Hair that moves together is left alone: set every particle in motion.
        for (w, wisp) in bundle.wisps.iter_mut().enumerate() {
            for (i, v) in wisp.velocities.iter_mut().enumerate() {
                *v = Vec3::new(w as f32, i as f32, 0.0);
            }
        }
        let mut interactions = Interactions::default();
        let params = InteractionParams::default();
        let input = InteractionInput {
            rest: &bundle.rest,
            params: &params,
            mass_share: SHARE,
            wetness: &bundle.wetness,
            dt: 0.01,
            tick: 1.0 / 120.0,
            holds: false,
            bonds: &[],
            remembers: false,
            carried: 0,
            turns: 1,
            pass: 0,
            sweeps: 1,
        };
        interactions.shapes.gather(&input, &bundle.wisps);
        let found = interactions.shapes.overlapping(true);
        let mut unique = found.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), found.len(), "a pair was found twice");
        for (a, b, by_points) in brute_force(&bundle, &interactions) {
            assert!(found.contains(&[a, b]), "seed {seed}: {a} {b} missed");
            thin_crossings += u32::from(!by_points);
        }
    }
    assert!(thin_crossings > 20, "{thin_crossings}");
}

/// Overlapping pairs by looking at everything: points of one in the other, or axes closer than the
/// two (equal, constant) radii. Says whether a point test alone finds the pair.
fn brute_force(bundle: &Bundle, interactions: &Interactions) -> Vec<(u32, u32, bool)> {
    let n = bundle.rest.count;
    let node = |k: usize| (&bundle.wisps[k / n], k % n);
    let sections: Vec<usize> =
        (0..bundle.wisps.len() * n).filter(|k| (1..n - 1).contains(&(k % n))).collect();
    let mut out = Vec::new();
    for &a in &sections {
        for &b in sections.iter().filter(|&&b| b > a && (b / n != a / n || b > a + 1)) {
            let by_points = any_inside(&node, &interactions.shapes, a, b)
                || any_inside(&node, &interactions.shapes, b, a);
            let at = |k: usize| node(k).0.positions[k % n];
            let (x, y) = closest_on_segments([at(a), at(a + 1)], [at(b), at(b + 1)]);
            let least = at(a).lerp(at(a + 1), x).distance(at(b).lerp(at(b + 1), y));
            // A hair less than the sum: the envelope's planes are not across the axes exactly.
            if by_points || least < 1.2 * 0.004 {
                out.push((a as u32, b as u32, by_points));
            }
        }
    }
    out
}

fn any_inside<'a>(
    node: &impl Fn(usize) -> (&'a Wisp, usize),
    shapes: &Shapes,
    volume: usize,
    points: usize,
) -> bool {
    let ends = [&shapes.nodes[volume], &shapes.nodes[volume + 1]];
    (0..2).any(|k| {
        let (wisp, i) = node(points + k);
        let axes = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
        let samples = axes
            .iter()
            .enumerate()
            .map(|(s, &d)| wisp.positions[i] + wisp.radii[i * 4 + s] * wisp.half_axis(i, d));
        samples.chain([wisp.positions[i]]).any(|p| point_in_section(p, ends, 4).is_some())
    })
}

/// What the impulses of one pass do to a free particle next to carried ones.
#[test]
fn no_particle_gets_more_speed_than_there_is_to_stop() {
    // Wisps that cross just above the skin: particle 1 is carried, particle 2 is free, and what
    // overlaps is almost all of the carried one's.
    let mut fastest = 0.0f32;
    for trial in 0..200u64 {
        let c = |k| random::signed(31, trial, k) as f32;
        let chain = |at: Vec3, along: Vec3| {
            (0..6).map(|i| at + along * (0.03 * (i as f32 - 1.0))).collect::<Vec<_>>()
        };
        let lean = |k: u64| Vec3::new(c(k), 2.0 + c(k + 1), c(k + 2)).normalize();
        let near = 0.006 * Vec3::new(c(6), c(7), c(8));
        let mut bundle =
            Bundle::new(vec![chain(Vec3::ZERO, lean(0)), chain(near, lean(3))], 0.01, 4);
        // The scalp carries one root past the other at 1 m/s; all else is at rest.
        bundle.wisps[1].velocities[..2].fill(Vec3::new(1.0, 0.0, 0.0));
        let params =
            InteractionParams { viscosity: 50.0, with_itself: false, ..Default::default() };
        let mut interactions = Interactions::default();
        let input = InteractionInput {
            rest: &bundle.rest,
            params: &params,
            mass_share: SHARE,
            wetness: &bundle.wetness,
            dt: 1.0 / 30.0,
            tick: 1.0 / 120.0,
            holds: false,
            bonds: &[],
            remembers: false,
            carried: 2,
            turns: 1,
            pass: 0,
            sweeps: 1,
        };
        interactions.apply(&input, &mut bundle.wisps);
        let speeds = bundle.wisps.iter().flat_map(|w| &w.velocities[2..]).map(|v| v.length());
        fastest = speeds.fold(fastest, f32::max);
    }
    // A few pairs of sections act on the same particle, each with at most what there is to stop.
    assert!(fastest > 0.1 && fastest < 2.0, "{fastest} m/s");
}
