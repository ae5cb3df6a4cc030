//! Parameters that change while drops run.

use glam::Vec3;
use serde_json::{Value, json};

use super::super::{DropsLayer, DropsParams};
use super::layer::{BUSY, GRAVITY, incline, params, setup};
use crate::layers::LayerParams;
use crate::layers::harness::Alone;
use crate::stage::Change;

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
