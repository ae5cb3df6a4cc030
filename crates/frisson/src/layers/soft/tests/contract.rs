//! What every layer owes the door: same bits, one clock, parameters that change while it runs.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::character::{
    Character, Clip, Interpolation, Node, Skeleton, Track, TrackTarget, Transform,
};
use crate::layers::harness::{Alone, check_rates, check_same_bits};
use crate::stage::{Actor, Change, ClipPlay};
use glam::Quat;

/// An arm of three joints that bends to and fro, in a coat of two bones and a muscle.
fn arm() -> Actor {
    let node = |name: &str, parent, x: f32, y: f32| Node {
        name: name.to_owned(),
        parent,
        rest: Transform::from_translation(Vec3::new(x, y, 0.0)),
    };
    let root = node("a", None, -0.52, 0.12);
    let nodes = vec![root, node("b", Some(0), 0.2, 0.0), node("c", Some(1), 0.2, 0.0)];
    let times: Vec<f32> = (0..=60).map(|i| i as f32 / 30.0).collect();
    let bend = |t: &f32| Quat::from_rotation_z(0.8 * (3.0 * t).sin()).to_array();
    let track = Track {
        target: TrackTarget::Rotation(1),
        interpolation: Interpolation::Linear,
        values: times.iter().flat_map(bend).collect(),
        times,
        width: 4,
    };
    let character = Character {
        name: "arm".to_owned(),
        skeleton: Skeleton::new(nodes).unwrap(),
        skins: vec![],
        meshes: vec![],
        clips: vec![Clip { name: "bend".to_owned(), tracks: vec![track] }],
    };
    let play = ClipPlay { looped: true, ..ClipPlay::new(0) };
    Actor::character_named("arm", Arc::new(character)).playing(play)
}

/// Everything that evolves at once: a dough that falls onto another and fuses with it, a ball that
/// bounces off an arm that moves, a figure of bones, a mesh that is a tool and moves.
fn busy() -> Value {
    json!({ "name": "busy", "seeds": 32, "cell": 0.02, "bulge": 0.4, "contacts": true,
        "tools": ["floor", "paddle"],
        "objects": [
        { "name": "a", "thickness": 0.03, "stiffness": 3e5, "fuse": 0.2, "fuse_time": 0.1,
          "dough": { "ball": [0.0, 0.06, 0.0], "radius": 0.05 } },
        { "name": "b", "thickness": 0.03, "stiffness": 3e5, "fuse": 0.2, "fuse_time": 0.1,
          "dough": { "ball": [0.01, 0.24, 0.0], "radius": 0.05 } },
        { "name": "c", "thickness": 0.06, "free": true, "primitives": [
          { "point": [-0.2, 0.28, 0.0], "volume": 1.1 } ] },
        { "name": "d", "thickness": 0.03, "bones": [
          { "name": "hip", "from": [0.2, 0.1, 0.1], "to": [0.2, 0.25, 0.1] },
          { "name": "leg", "parent": "hip", "from": [0.2, 0.25, 0.1], "to": [0.3, 0.3, 0.1],
            "damping": 2.0 } ] },
        { "name": "e", "thickness": 0.03, "coat": { "on": "arm",
          "bones": [{ "from": "a", "to": "b" }, { "from": "b", "to": "c" }],
          "muscles": [{ "from": "b", "thickness": 0.04, "volume": 1.2 }] } } ] })
}

/// The same, shown by its seeds: next to nothing to show.
fn previewed() -> Value {
    let mut value = busy();
    (value["surface"], value["contacts"]) = (json!("seeds"), json!(false));
    value
}

fn params(value: &Value) -> SoftParams {
    serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{e}"))
}

/// A block that swings to and fro beside the doughs.
fn paddle() -> Actor {
    let corner = |i: u32| {
        let side = |bit: u32| if i >> bit & 1 == 1 { 0.05 } else { -0.05 };
        Vec3::new(side(0), side(1) + 0.06, side(2) + 0.13)
    };
    let quads =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|q: &[u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
    let block =
        crate::geometry::Mesh::new("paddle", (0..8).map(corner).collect(), triangles.collect());
    crate::layers::moved::moved(block, |p, t| p + Vec3::Z * (0.03 * (8.0 * t).sin()) as f32)
}

fn setup(value: &Value) -> Setup {
    let mut ceiling = collider_params(&[floor_shape()]);
    ceiling[0].friction = 0.5;
    Setup {
        clock: Clock::new(Rate::whole(30), 0, 1000),
        actors: vec![arm(), paddle()],
        colliders: ceiling,
        forces: Forces::new(Vec3::Y * -9.81, vec![], 30.0),
        layers: vec![LayerParams::Soft(params(value))],
        ..Setup::default()
    }
}

#[test]
fn all_that_evolves_is_in_the_state() {
    let mut alone = Alone::<SoftLayer>::new(setup(&busy())).unwrap();
    alone.frames(10);
    let state = alone.state();
    assert!(!state.welds.is_empty() && !state.bonds.is_empty() && !state.sides.is_empty());
    assert!(state.bulges.iter().any(|b| *b > 0.0) && !state.tools.is_empty());
    check_same_bits::<SoftLayer>(&setup(&busy()), 10);
    check_same_bits::<SoftLayer>(&setup(&previewed()), 6);
}

#[test]
fn the_motion_is_the_same_at_every_rate() {
    check_rates(&setup(&previewed()), 1);
}

#[test]
fn half_the_tick_changes_little() {
    let run = |hz: u32| {
        let mut own = setup(&busy());
        own.clock.tick_hz = hz;
        let mut alone = Alone::<SoftLayer>::new(own).unwrap();
        alone.frames(15);
        let state = alone.state();
        let places: Vec<DVec3> = state.bodies.iter().map(|b| b.position).collect();
        (places, state.volume() / state.rest_volume())
    };
    let ((coarse, volume), (fine, volume_fine)) = (run(120), run(240));
    assert!((volume - volume_fine).abs() < 0.01, "{volume} {volume_fine}");
    let mean = coarse.iter().zip(&fine).map(|(a, b)| a.distance(*b)).sum::<f64>();
    let mean = mean / coarse.len() as f64;
    assert!(mean < 0.006, "{mean}");
}

#[test]
fn live_parameters_take_effect_at_the_next_step_without_a_jump() {
    // Where, what, and whether the motion is another afterwards.
    let cases: [(&str, Value, bool); 16] = [
        ("/volume_time", json!(0.5), true),
        ("/volume_damping", json!(0.8), true),
        ("/friction", json!(0.0), true),
        ("/damping", json!(1.5), true),
        ("/bulge", json!(1.0), true),
        ("/contacts", json!(false), false),
        ("/objects/0/volume", json!(1.4), true),
        ("/objects/0/fuse_time", json!(3.0), true),
        ("/objects/0/dough/firmness", json!(0.2), true),
        ("/objects/0/dough/cohesion", json!(0.9), true),
        ("/objects/0/dough/yield", json!(0.5), true),
        ("/objects/0/dough/range", json!(2.5), true),
        ("/objects/0/dough/viscosity", json!(3.0), true),
        ("/objects/2/primitives/0/volume", json!(1.3), true),
        ("/objects/3/bones/1/damping", json!(30.0), true),
        ("/objects/4/coat/muscles/0/volume", json!(0.6), true),
    ];
    let running = || {
        let mut alone = Alone::<SoftLayer>::new(setup(&busy())).unwrap();
        alone.frames(6);
        alone
    };
    let look = |alone: &Alone<SoftLayer>| alone.frame().meshes.clone();
    let motion = |alone: &Alone<SoftLayer>| {
        let state = alone.state();
        (state.bodies.clone(), state.offsets.clone(), state.welds.clone())
    };
    let mut untouched = running();
    let (shown, before) = (look(&untouched), motion(&untouched));
    untouched.frames(6);
    let wanted = motion(&untouched);
    for (path, value, differs) in cases {
        let mut alone = running();
        let mut all: Value = serde_json::to_value(params(&busy())).unwrap();
        *all.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
        let change = alone.simulator.set_params(&LayerParams::Soft(params(&all))).unwrap();
        assert_eq!(change, Change::Live, "{path}");
        assert!(motion(&alone) == before, "{path}: a jump");
        // A bulge is shown as wide as it is set; all else only acts from the next step on.
        assert!(path == "/bulge" || path == "/contacts" || look(&alone) == shown, "{path}: seen");
        alone.frames(6);
        assert_eq!(motion(&alone) != wanted, differs, "{path}");
    }
}

#[test]
fn stiffness_and_density_are_built_anew_while_the_motion_goes_on() {
    let mut alone = Alone::<SoftLayer>::new(setup(&busy())).unwrap();
    alone.frames(6);
    let before = alone.state().bodies.clone();
    for (path, value, expected) in [
        ("/objects/0/stiffness", json!(4e5), Change::Rebuild),
        ("/objects/2/density", json!(400.0), Change::Rebuild),
        ("/cell", json!(0.03), Change::Rebuild),
        ("/objects/2/thickness", json!(0.05), Change::Restart),
        ("/seeds", json!(48), Change::Restart),
    ] {
        let mut all: Value = serde_json::to_value(params(&busy())).unwrap();
        *all.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
        let change = alone.simulator.set_params(&LayerParams::Soft(params(&all))).unwrap();
        assert_eq!(change, expected, "{path}");
        if expected == Change::Rebuild {
            assert!(alone.state().bodies == before, "{path}: a jump");
        }
        alone.simulator.set_params(&LayerParams::Soft(params(&busy()))).unwrap();
    }
    alone.frames(2);
}
