//! Where liquid goes, what stays of it, and what is said about meshes that are not clean.

use glam::{DVec2, Vec3};

use super::layer::{GRAVITY, Lab, actor, params};
use super::*;
use crate::geometry::Mesh;
use crate::stage::{Actor, Clock, Rate, Setup, Simulator};

/// A level board; `hot` is 0 for small z, 1 for large z.
fn board() -> Actor {
    let (positions, triangles) = height_field(8, 8, DVec2::ZERO, DVec2::ONE, |_, _| 0.0);
    let mut mesh = Mesh::new("ground", positions, triangles);
    let hot: Vec<f32> = mesh.positions.iter().map(|p| f32::from(u8::from(p.z > 0.5))).collect();
    mesh.set_scalar("hot", |values| values.copy_from_slice(&hot));
    Actor::meshes_named("ground", vec![mesh])
}

#[test]
fn drops_dry_by_their_surface_where_it_is_hot() {
    let text = r#"{"name": "d", "on": "ground", "ground": [{"heat_attribute": "hot"}],
        "sinks": {"evaporation": 1e-2}, "sources": [
        {"single": {"at": [0.5, 0, 0.2], "mass": 1e-5}}, {"single": {"at": [0.5, 0, 0.8], "mass": 1e-5}}]}"#;
    let mut lab = Lab::new(board(), &params(text), GRAVITY, 30);
    lab.run(60);
    let drops = &lab.state().drops;
    assert_eq!(drops[0].mass, 1e-5, "no heat, no drying");
    // dm/dt = -E 2 pi r², r = cbrt(3 m / 4 pi rho): cbrt(m) falls evenly.
    let density = lab.liquid().density;
    let c =
        2.0 * std::f64::consts::PI * (3.0 / (4.0 * std::f64::consts::PI * density)).powf(2.0 / 3.0);
    let expected = (1e-5f64.cbrt() - 1e-2 * c * 0.5 / 3.0).powi(3);
    assert!((drops[1].mass / expected - 1.0).abs() < 2e-3, "{} {expected}", drops[1].mass);
    assert!(lab.state().imbalance().abs() < 1e-13);
}

#[test]
fn ground_soaks_up_what_lies_on_it() {
    let text = r#"{"name": "d", "on": "ground", "ground": [{"absorption": 2.0}],
        "sources": [{"region": {"count": 30, "mass": [1e-6, 1e-5]}}]}"#;
    let mut lab = Lab::new(board(), &params(text), GRAVITY, 30);
    let mut before = 0.0;
    for _ in 0..120 {
        lab.run(4);
        let soaked = lab.state().ledger.absorbed.value();
        assert!(soaked >= before && lab.state().imbalance().abs() < 1e-12);
        before = soaked;
    }
    assert!(lab.state().drops.is_empty(), "{}", lab.state().drops.len());
    let ledger = &lab.state().ledger;
    assert!(before > 0.99 * ledger.emitted.value(), "{ledger:?}");
}

#[test]
fn what_was_dissolved_stays_as_a_stain() {
    let text = r#"{"name": "d", "on": "ground", "deposit": {"concentration": 0.2, "thickening": 3},
        "sinks": {"evaporation": 0.5}, "sources": [{"region": {"count": 10, "mass": [1e-5, 1e-5]}}]}"#;
    let mut lab = Lab::new(board(), &params(text), GRAVITY, 30);
    lab.run(1200);
    let state = lab.state();
    assert!(state.drops.is_empty(), "{}", state.drops.len());
    let stain: f64 = state.wet.stain.iter().sum();
    assert!((stain / 2e-5 - 1.0).abs() < 1e-9, "{stain}");
    assert!(lab.state().imbalance().abs() < 1e-12);
    let shown = lab.frame().meshes[0].scalar("stain").unwrap();
    assert!(shown.iter().any(|v| *v > 0.0) && shown.iter().all(|v| (0.0..=1.0).contains(v)));
}

#[test]
fn the_report_says_what_is_unusual_about_a_mesh() {
    let (mut p, mut t) = height_field(6, 6, DVec2::ZERO, DVec2::ONE, |x, _| -0.3 * x);
    let [a, b, c] = t[20];
    t.push([a, c, b]);
    t.push([a, a, b]);
    t[40].swap(1, 2);
    // One triangle is cut in two at an edge that its neighbour keeps whole.
    let [a, b, c] = t[60];
    let middle = 0.5 * (p[a as usize] + p[b as usize]);
    p.push(middle);
    let m = p.len() as u32 - 1;
    t[60] = [a, m, c];
    t.push([m, b, c]);
    let text = r#"{"name": "d", "on": "ground", "sources": [
        {"region": {"count": 200, "mass": [1e-6, 1e-5]}}, {"single": {"at": [0.5, 3, 0.5]}}]}"#;
    let mut lab = Lab::new(actor("ground", (p, t)), &params(text), GRAVITY, 30);
    lab.run(240);
    assert!(lab.state().imbalance().abs() < 1e-12);
    let said = lab.alone.report().warnings.join("; ");
    for what in ["without area", "more than two triangles", "meet only parts", "wind against"] {
        assert!(said.contains(what), "{what}: {said}");
    }
    assert!(said.contains("1 drops started in the air"), "{said}");
    let stuck = lab.state().ledger.stalled;
    assert!(stuck == 0, "{stuck} drops put to rest by the limit");
}

#[test]
fn a_million_drops_are_announced_and_a_hundred_million_refused() {
    let build = |count: u64| {
        let text = format!(
            r#"{{"name": "d", "on": "ground", "shape": {{"mesh": false}},
            "sources": [{{"region": {{"count": {count}, "over": 1e6}}}}]}}"#
        );
        let stage = Simulator::new(Setup {
            clock: Clock::new(Rate::whole(30), 0, 10),
            actors: vec![board()],
            forces: Forces::new(GRAVITY, Vec::new(), 30.0),
            layers: vec![crate::layers::LayerParams::Drops(params(&text))],
            ..Setup::default()
        });
        stage.map(|s| s.reports()[0].warnings.join("; ")).map_err(|e| e.to_string())
    };
    assert_eq!(build(1_000_000), Ok(String::new()), "half a gigabyte is no news");
    assert!(build(9_000_000).is_ok_and(|w| w.contains("9000000 drops need about 5 GB")));
    assert!(build(200_000_000).is_err_and(|e| e.contains("120 GB") || e.contains("range")));
}

#[test]
fn slow_drops_wobble_and_resting_ones_do_not() {
    let width = |velocity: f64, ticks: u64| -> Vec<f32> {
        let text = format!(
            r#"{{"name": "d", "on": "ground", "trails": {{"enabled": false}},
            "liquid": {{"viscosity": 0}}, "shape": {{"wobble": 0.3, "wobble_speed": 0.05, "blend": 0}},
            "sources": [{{"single": {{"at": [0.3, 0, 0.5], "mass": 1e-5, "velocity": [{velocity}, 0, 0]}}}}]}}"#
        );
        let mut lab = Lab::new(board(), &params(&text), GRAVITY, 30);
        (0..ticks)
            .map(|_| {
                lab.run(4);
                let mesh = &lab.frame().meshes[lab.frame().mesh_index("d").unwrap()];
                let z = |p: &Vec3| p.z - 0.5;
                mesh.positions.iter().map(z).fold(0.0, f32::max)
            })
            .collect()
    };
    let spread = |w: &[f32]| {
        let (low, high) = w.iter().fold((f32::MAX, 0.0f32), |(l, h), v| (l.min(*v), h.max(*v)));
        (high - low) / high
    };
    assert!(spread(&width(0.0, 20)) < 1e-4, "at rest");
    assert!(spread(&width(0.05, 20)) > 0.03, "at the peak of the tent");
    assert!(spread(&width(0.2, 20)) < 1e-4, "too fast");
}
