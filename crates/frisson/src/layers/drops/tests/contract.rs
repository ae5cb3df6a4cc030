//! What every layer owes the stage: the same bits, one clock, parameters that may change while it runs.

use glam::Vec3;
use serde_json::{Value, json};

use super::super::{DropsLayer, DropsParams};
use super::layer::{BUSY, GRAVITY, Lab, add_texture_places, incline, params, setup, shaken};
use crate::layers::LayerParams;
use crate::layers::harness::{Alone, check_rates, check_same_bits};
use crate::stage::Change;

#[test]
fn same_bits_whatever_the_threads_resumes_and_scratches() {
    // Everything that evolves, on ground that moves: contacts, merges, splashes, beads, trails, stains,
    // an image, tracks.
    let text = BUSY
        .replace("\"seed\": 5,", "\"seed\": 5, \"tracks\": true,")
        .replace("\"drying\": 0.7", "\"drying\": 0.2, \"image\": 64");
    let mut moved = shaken(2.0, 0.01);
    add_texture_places(&mut moved);
    check_same_bits::<DropsLayer>(&setup(moved, &params(&text), GRAVITY, 25), 16);
}

#[test]
fn the_same_motion_at_any_output_rate() {
    // Frame numbers are the artist's clock: what is given in them is left at the start.
    let text = BUSY.replace(", \"over\": 10", "").replace(
        "{\"condensation\": {\"count\": 50, \"growth\": 1e-5}}",
        "{\"condensation\": {\"count\": 50, \"growth\": 1e-5, \"over\": 0}}",
    );
    check_rates(&setup(shaken(2.0, 0.01), &params(&text), GRAVITY, 30), 1);
}

#[test]
fn frame_rates_give_the_same_tracks() {
    let plain = r#"{"name": "d", "on": "ground", "trails": {"enabled": false},
        "merging": {"enabled": false},
        "sources": [{"single": {"at": [0.1, -0.05, 0.5], "mass": 2e-5, "velocity": [0.2, 0, 0.1]}}]}"#;
    let place = |fps: u32, text: &str| {
        let mut lab = Lab::new(incline(), &params(text), GRAVITY, fps);
        lab.run(60);
        lab.positions()[0].1
    };
    let (a, b) = (place(24, plain), place(120, plain));
    assert!(a.distance(b) < 1e-9, "{a} {b}");
    let trails = plain.replace("\"enabled\": false}", "\"enabled\": true}");
    let (a, b) = (place(24, &trails), place(120, &trails));
    assert!(a.distance(b) < 1e-6, "{a} {b}");
}

#[test]
fn half_the_tick_changes_little() {
    let text = r#"{"name": "d", "on": "ground", "merging": {"enabled": false}, "shape": {"points": true},
        "ground": [{"adhesion": 1e6, "film": 1e-5}],
        "sources": [{"single": {"at": [0.1, -0.05, 0.2], "mass": 2e-5, "velocity": [0.2, 0, 0.1]}}]}"#;
    let place = |hz: u32| {
        let mut own = setup(shaken(2.0, 0.01), &params(text), GRAVITY, 30);
        own.clock.tick_hz = hz;
        let mut alone = Alone::<DropsLayer>::new(own).unwrap();
        alone.frames(15);
        alone.frame().points[0].positions[0]
    };
    let (coarse, fine) = (place(120), place(240));
    let way = fine.distance(Vec3::new(0.1, -0.05, 0.2));
    assert!(way > 0.1, "{way}");
    assert!(coarse.distance(fine) < 0.02 * way, "{coarse} {fine}");
}

fn running() -> Alone<DropsLayer> {
    let mut alone = Alone::new(setup(incline(), &params(BUSY), GRAVITY, 30)).expect("a layer");
    alone.frames(12);
    alone
}

fn edited(path: &str, value: &Value) -> DropsParams {
    let mut all: Value = serde_json::to_value(params(BUSY)).expect("plain data");
    *all.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value.clone();
    serde_json::from_value(all).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn points(alone: &Alone<DropsLayer>) -> Vec<Vec3> {
    let found = alone.frame().points.iter().find(|p| p.name == "rain.points");
    found.expect("points").positions.clone()
}

#[test]
fn live_parameters_take_effect_at_the_next_step_without_a_jump() {
    // Where, what, and whether the motion is another afterwards.
    let cases: [(&str, Value, bool); 21] = [
        ("/liquid/viscosity", json!(5e-2), true),
        ("/liquid/density", json!(700.0), true),
        ("/ground/0/contact_angle_deg", json!(40.0), true),
        ("/liquid/hysteresis_deg", json!(60.0), true),
        ("/liquid/color", json!([1.0, 0.0, 0.0]), false),
        ("/ground/0/roughness", json!([3e-3, 3e-3]), true),
        ("/ground/0/grip", json!(0.0), true),
        ("/ground/0/film", json!(8e-5), true),
        ("/ground/0/smoothing", json!([0.0, 0.0]), true),
        ("/ground/0/absorption", json!(0.1), true),
        ("/merging/reach", json!(0.2), true),
        ("/trails/drying", json!(0.05), true),
        ("/trails/width", json!(0.2), true),
        ("/sinks/evaporation", json!(0.2), true),
        ("/deposit/thickening", json!(40.0), true),
        ("/air/drag", json!(20.0), true),
        ("/air/splash/speed", json!(50.0), true),
        ("/shape/wobble", json!(0.0), false),
        ("/sources/1/rain/rate", json!(2000.0), true),
        ("/sources/2/condensation/growth", json!(4e-5), true),
        ("/max_drops", json!(3), true),
    ];
    let mut untouched = running();
    let before = points(&untouched);
    let count = untouched.state().drops.len();
    untouched.ticks(1);
    let usual = untouched.state().drops.len().saturating_sub(count);
    untouched.ticks(39);
    let wanted = points(&untouched);
    let mut wrong = Vec::new();
    for (path, value, differs) in cases {
        let mut alone = running();
        let new = LayerParams::Drops(edited(path, &value));
        let change = alone.simulator.set_params(&new).unwrap_or_else(|e| panic!("{path}: {e}"));
        assert_eq!(change, Change::Live, "{path}");
        assert!(points(&alone) == before, "{path}: a jump");
        alone.ticks(1);
        let born = alone.state().drops.len().saturating_sub(count);
        assert!(born < usual + 60, "{path}: {born} drops at once, usually {usual}");
        alone.ticks(39);
        if (points(&alone) != wanted) != differs {
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "these should (or should not) have changed the motion: {wrong:?}");
}
