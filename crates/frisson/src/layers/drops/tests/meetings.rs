//! Who meets whom: no meeting is missed, none is invented.

use glam::{DVec2, Vec3};

use super::super::merge::ContactReach;
use super::layer::{Lab, actor, params};
use super::*;

const GRAVITY: Vec3 = Vec3::new(0.0, -9.8, 0.0);

fn level(side: f64) -> crate::stage::Actor {
    actor("ground", height_field(20, 20, DVec2::ZERO, DVec2::splat(side), |_, _| 0.0))
}

/// A fast drop passes a resting one at a distance, both of 0.1 mg, 9 m in a second.
fn pass_at(offset: f64) -> u64 {
    let text = format!(
        r#"{{"name": "d", "on": "ground", "trails": {{"enabled": false}},
        "liquid": {{"viscosity": 0, "density": 1000, "contact_angle_deg": 90}},
        "ground": [{{"adhesion": 1e6}}],
        "sources": [{{"single": {{"at": [0.5, 0, {}], "mass": 1e-7}}}},
                    {{"single": {{"at": [0.1013, 0, 0.5], "mass": 1e-7, "velocity": [9, 0, 0]}}}}]}}"#,
        0.5 + offset
    );
    let mut lab = Lab::new(level(1.0), &params(&text), GRAVITY, 30);
    lab.run(10);
    assert!(lab.state().imbalance().abs() < 1e-12);
    lab.state().ledger.merges
}

#[test]
fn a_fast_drop_takes_what_lies_on_its_way_and_nothing_beside_it() {
    // A hemisphere of 0.1 mg is 0.363 mm wide; the fast one runs 75 mm in a tick.
    let reach = 2.0 * (3.0 * 1e-7 / (2.0 * std::f64::consts::PI * 1000.0)).cbrt();
    assert_eq!(pass_at(0.0), 1);
    assert_eq!(pass_at(0.5 * reach), 1);
    assert_eq!(pass_at(-0.8 * reach), 1);
    assert_eq!(pass_at(1.1 * reach), 0);
    assert_eq!(pass_at(3.0 * reach), 0);
}

#[test]
fn after_a_tick_no_two_drops_touch() {
    let bumpy = height_field(24, 24, DVec2::ZERO, DVec2::splat(0.2), |x, z| {
        -0.4 * x + 0.01 * (60.0 * z).sin() * (40.0 * x).cos()
    });
    let text = r#"{"name": "d", "on": "ground", "seed": 3, "ground": [{"adhesion": 1e6, "film": 1e-6}],
        "liquid": {"viscosity": 1e-5},
        "sources": [{"region": {"count": 700, "mass": [2e-7, 6e-6]}}]}"#;
    let mut lab = Lab::new(actor("ground", bumpy), &params(text), GRAVITY, 30);
    let mut pairs = 0;
    for tick in 0..40 {
        lab.run(1);
        let (surface, site) = (lab.surface(), lab.site());
        // The film is laid after the tests: what they saw was larger by that much.
        let reaches: Vec<ContactReach> = lab
            .state()
            .drops
            .iter()
            .filter_map(|d| ContactReach::of(d, &surface, &site, 1.0))
            .collect();
        for i in 0..reaches.len() {
            for j in 0..i {
                assert!(!reaches[i].touches(&reaches[j]), "tick {tick}: {i} and {j} touch");
                pairs += 1;
            }
        }
    }
    assert!(pairs > 10_000 && lab.state().ledger.merges > 200, "{pairs}");
    assert!(lab.state().imbalance().abs() < 1e-12);
}

#[test]
fn drops_that_come_to_rest_in_pits_do_not_bounce_for_ever() {
    // Vertices at random heights: many of them are pits. Rough ground and drag, as on skin.
    let (p, t) = height_field(24, 24, DVec2::ZERO, DVec2::splat(0.1), |x, z| {
        0.004 * crate::math::random::uniform(8, (x * 1e7) as u64, (z * 1e7) as u64)
    });
    let ground =
        GroundParams { roughness: [5e-4, 5e-4], adhesion: Some(80.0), ..GroundParams::default() };
    let mut bench = Bench::new(&p, &t, ground);
    bench.liquid.drag = Drag::Same(6e-4);
    let mut trace = Trace::default();
    let (mut rested, mut at_vertex) = (0, 0);
    for i in 0..120u64 {
        let r = |c: u64| 0.1 * crate::math::random::uniform(4, i, c);
        let mut drop = bench.drop_at(DVec3::new(r(0), 0.0, r(1)), 1.6e-5, DVec3::ZERO);
        bench.time = 0.0;
        for _ in 0..360 {
            bench.step(&mut drop, 1.0 / 120.0, &mut trace);
        }
        if drop.is_on_surface() {
            let speed = bench.place(&drop).1.length();
            rested += u32::from(speed < 1e-3);
            at_vertex += u32::from(matches!(drop.phase, Phase::Corner { .. }));
        }
    }
    assert_eq!(trace.counts.truncated, 0);
    assert!(trace.counts.stalled < 40, "{}", trace.counts.stalled);
    assert!(rested > 60 && at_vertex > 5, "{rested} at rest, {at_vertex} on vertices");
}
