//! The one entrance, as a caller who knows nothing of the inside uses it.

mod limb;

use frisson::layers::LayerParams;
use frisson::stage::{Actor, Change, NoObserver, Observer, Setup, Simulator, SimulatorError};
use glam::{Mat4, Vec3};
use limb::{KINDS, layer, setup};

fn points(simulator: &Simulator) -> Vec<Vec3> {
    let frame = simulator.frame();
    let meshes = frame.meshes.iter().flat_map(|m| m.positions.iter().copied());
    let curves = frame.curves.iter().flat_map(|c| c.points.iter().copied());
    meshes.chain(curves).collect()
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

/// The matrices of all nodes of the limb when its clip is at a time.
fn matrices(time: f64) -> [Mat4; 3] {
    let lower = Mat4::from_rotation_translation(limb::bend(time), Vec3::Y * 0.5);
    [Mat4::IDENTITY, lower, lower * Mat4::from_translation(Vec3::Y * 0.5)]
}

#[test]
fn steps_of_any_length_lead_to_the_same_place() {
    for kind in ["flesh", "cloth", "hair"] {
        let run = |steps: &[f64]| {
            let mut s = Simulator::new(setup(vec![layer(kind, "l")])).unwrap();
            let mut steps = steps.iter().cycle();
            let mut time = 0.0;
            while time < 0.5 {
                time = (time + steps.next().unwrap()).min(0.5);
                s.advance_to(time).unwrap();
            }
            points(&s)
        };
        let straight = run(&[0.5]);
        assert!(straight == run(&[1.0 / 60.0]), "{kind}: sixtieths");
        assert!(straight == run(&[0.0101, 0.0007, 0.031]), "{kind}: ragged steps");
    }
}

/// A layer that lets nothing go: when exactly a drop is thrown off hangs on the last bit of the motion.
fn holding_layer(kind: &str) -> LayerParams {
    let mut value = serde_json::to_value(layer(kind, "l")).unwrap();
    if let Some(drops) = value.get_mut("drops") {
        drops["ground"] = serde_json::json!([{ "adhesion": 1000 }]);
    }
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_pushed_pose_moves_every_layer_like_the_clip() {
    for kind in KINDS.into_iter().filter(|k| *k != "wrinkles") {
        let clip = {
            let mut s = Simulator::new(setup(vec![holding_layer(kind)])).unwrap();
            s.advance_to(0.5).unwrap();
            points(&s)
        };
        let mut live = setup(vec![holding_layer(kind)]);
        live.actors = vec![Actor::character_named("limb", limb::character()).live()];
        let mut s = Simulator::new(live).unwrap();
        s.push_pose("limb", 0.0, &matrices(0.0), &[]).unwrap();
        s.start().unwrap();
        for k in 1..=120 {
            let time = f64::from(k) / 240.0;
            s.push_pose("limb", time, &matrices(time), &[]).unwrap();
            s.advance_to(time).unwrap();
        }
        let pushed = points(&s);
        if kind == "soft" || kind == "drops" {
            // Their triangles may come out differently: where the shape is must not.
            let box_of = |p: &[Vec3]| frisson::geometry::Bounds::of(p);
            let (a, b) = (box_of(&clip), box_of(&pushed));
            let off = a.min.distance(b.min).max(a.max.distance(b.max));
            assert!(off < 0.01, "{kind}: {off}");
        } else {
            let off = farthest(&clip, &pushed);
            assert!(off < 0.02, "{kind}: {off} m off the clip");
        }
    }
}

#[test]
fn pushed_positions_are_the_mesh_that_layers_see() {
    let mut live = setup(vec![layer("flesh", "l")]);
    live.actors = vec![Actor::character_named("limb", limb::character()).live()];
    let mut s = Simulator::new(live).unwrap();
    let rest: Vec<[f32; 3]> =
        s.frame().meshes[0].positions.iter().map(|p| (*p + Vec3::X).to_array()).collect();
    s.push_pose("limb", 0.0, &matrices(0.0), &[]).unwrap();
    s.push_positions("limb", 0, 0.0, &rest).unwrap();
    s.start().unwrap();
    let moved = points(&s);
    assert!(moved.iter().zip(&rest).all(|(p, r)| p.distance(Vec3::from_array(*r)) < 1e-6));
    let short = s.push_positions("limb", 0, 0.1, &rest[1..]);
    assert!(matches!(short, Err(SimulatorError::Push { .. })));
    let wrong = s.push_pose("limb", 0.1, &matrices(0.0)[1..], &[]);
    assert!(matches!(wrong, Err(SimulatorError::Push { .. })));
    assert!(matches!(s.push_pose("arm", 0.1, &[], &[]), Err(SimulatorError::Unknown { .. })));
}

/// A frame that stands still is not written again; whatever may change it must be seen all the same.
#[test]
fn a_still_actor_is_shown_anew_when_it_is_pushed_or_loaded() {
    let mesh = limb::character().meshes[0].mesh.clone();
    let raised = |by: f32| -> Vec<[f32; 3]> {
        mesh.positions.iter().map(|p| [p.x, p.y + by, p.z]).collect()
    };
    let actors = vec![Actor::meshes_named("limb", vec![mesh.clone()]).live()];
    let mut simulator = Simulator::new(Setup { actors, ..Setup::default() }).unwrap();
    let height = |s: &Simulator| s.frame().meshes[0].positions[0].y - mesh.positions[0].y;
    simulator.step(0.1).unwrap();
    simulator.step(0.1).unwrap();
    assert_eq!(height(&simulator), 0.0);
    simulator.push_positions("limb", 0, 0.2, &raised(1.0)).unwrap();
    simulator.push_positions("limb", 0, 0.4, &raised(2.0)).unwrap();
    let saved = simulator.save().unwrap();
    for (at, wanted) in [(0.3, 1.5), (0.4, 2.0), (0.5, 2.0), (0.6, 2.0)] {
        simulator.advance_to(at).unwrap();
        assert!((height(&simulator) - wanted).abs() < 1e-5, "{at}: {}", height(&simulator));
    }
    simulator.load(&saved).unwrap();
    simulator.step(0.1).unwrap();
    assert!((height(&simulator) - 1.5).abs() < 1e-5);
}

#[test]
fn saved_states_go_on_with_the_same_bits_also_between_ticks() {
    for kind in ["flesh", "cloth", "hair", "folds"] {
        let mut s = Simulator::new(setup(vec![layer(kind, "l")])).unwrap();
        s.advance_to(0.2041).unwrap();
        let saved = s.save().unwrap();
        let shown = points(&s);
        s.advance_to(0.4).unwrap();
        let mut again = Simulator::new(setup(vec![layer(kind, "l")])).unwrap();
        again.load(&saved).unwrap();
        assert_eq!(again.time(), 0.2041);
        assert!(points(&again) == shown, "{kind}: what is shown");
        again.advance_to(0.4).unwrap();
        assert!(points(&again) == points(&s), "{kind}: what follows");
        assert!(again.load(&saved[..saved.len() / 2]).is_err());
    }
}

#[test]
fn layers_come_go_and_change_places_while_it_runs() {
    let mut s = Simulator::new(setup(vec![layer("flesh", "a"), layer("hair", "b")])).unwrap();
    s.advance_to(0.3).unwrap();
    s.add_layer(1, layer("folds", "c")).unwrap();
    s.advance_to(0.4).unwrap();
    s.reorder_layers(&["c", "a", "b"]).unwrap();
    let names: Vec<&str> = s.layers().iter().map(|l| l.name()).collect();
    assert_eq!(names, ["c", "a", "b"]);
    s.remove_layer("b").unwrap();
    assert!(s.frame().curves.is_empty(), "its hair is gone");
    s.advance_to(0.5).unwrap();
    assert!(matches!(s.remove_layer("b"), Err(SimulatorError::Unknown { .. })));
    // A layer that cannot be built changes nothing.
    let before = points(&s);
    assert!(s.add_layer(0, layer("folds", "a")).is_err());
    assert!(points(&s) == before);
    s.advance_to(0.6).unwrap();
}

#[test]
fn a_live_parameter_acts_from_the_next_step_without_a_jump() {
    let soft = |hz: f64| {
        let LayerParams::Flesh(mut p) = layer("flesh", "l") else { unreachable!() };
        p.frequency_hz = Some(hz);
        LayerParams::Flesh(p)
    };
    let mut s = Simulator::new(setup(vec![soft(6.0)])).unwrap();
    s.advance_to(0.3).unwrap();
    let before = points(&s);
    assert_eq!(s.set_params(&soft(6.0)).unwrap(), Change::None);
    s.set_params(&soft(1.5)).unwrap();
    assert!(farthest(&points(&s), &before) < 1e-6, "nothing jumps");
    let mut unchanged = Simulator::new(setup(vec![soft(6.0)])).unwrap();
    unchanged.advance_to(0.6).unwrap();
    s.advance_to(0.6).unwrap();
    assert!(farthest(&points(&s), &points(&unchanged)) > 1e-4, "it swings otherwise");
}

#[test]
fn a_state_taken_with_new_parameters_is_what_both_give_one_after_the_other() {
    for kind in KINDS {
        let layers = vec![layer(kind, "a"), layer("flesh", "b")];
        let mut softer = layers.clone();
        let LayerParams::Flesh(flesh) = &mut softer[1] else { unreachable!() };
        flesh.frequency_hz = Some(1.5);
        let mut s = Simulator::new(setup(layers)).unwrap();
        // Between two ticks too.
        s.advance_to(0.311).unwrap();
        let state = s.save().unwrap();
        s.load(&state).unwrap();
        let change = s.set_all_params(&softer).unwrap();
        let apart = (points(&s), s.time());
        s.advance_to(0.5).unwrap();
        let later = points(&s);
        assert_eq!(s.load_with(&state, &softer).unwrap(), Change::None, "given already");
        assert!((points(&s), s.time()) == apart, "{kind}");
        let mut other = Simulator::new(setup(vec![layer(kind, "a"), layer("flesh", "b")])).unwrap();
        assert_eq!(other.load_with(&state, &softer).unwrap(), change, "{kind}");
        assert!((points(&other), other.time()) == apart, "{kind}");
        other.advance_to(0.5).unwrap();
        assert!(points(&other) == later, "{kind}");
    }
}

#[test]
fn an_interrupted_frame_is_gone_on_with() {
    /// Has enough after some ticks.
    struct Ticks(u32);
    impl Observer for Ticks {
        fn goes_on(&mut self) -> bool {
            self.0 = self.0.saturating_sub(1);
            self.0 > 0
        }
    }
    let run = |patience: u32| {
        let layers = ["flesh", "cloth", "hair"].map(|k| layer(k, k)).to_vec();
        let mut s = Simulator::new(setup(layers)).unwrap();
        let mut interrupted = 0;
        while s.frame_number() < s.clock().first_frame + 4 {
            match s.advance_frame(&mut Ticks(patience)) {
                Err(SimulatorError::Interrupted) => interrupted += 1,
                done => drop(done.unwrap()),
            }
        }
        (points(&s), s.save().unwrap(), interrupted)
    };
    let (whole, pieces) = (run(u32::MAX), run(3));
    assert!(whole.2 == 0 && pieces.2 > 0, "{} {}", whole.2, pieces.2);
    assert!(whole.0 == pieces.0 && whole.1 == pieces.1);
}

#[test]
fn time_does_not_run_backwards() {
    let mut s = Simulator::new(setup(vec![layer("flesh", "l")])).unwrap();
    s.advance_to(0.5).unwrap();
    assert!(matches!(s.advance_to(0.4), Err(SimulatorError::Backwards { .. })));
    assert!(s.advance_to(f64::NAN).is_err());
    s.start().unwrap();
    s.advance_to(0.1).unwrap();
}

#[test]
fn every_ordered_pair_of_layers_runs_on_one_character() {
    let mut failed = Vec::new();
    for first in KINDS {
        for second in KINDS {
            let layers = vec![layer(first, "a"), layer(second, "b")];
            let run = move || -> Result<(), SimulatorError> {
                let mut s = Simulator::new(setup(layers))?;
                for _ in 0..12 {
                    s.advance_frame(&mut NoObserver)?;
                }
                Ok(())
            };
            match std::panic::catch_unwind(run) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => failed.push(format!("{first} then {second}: {error}")),
                Err(_) => failed.push(format!("{first} then {second}: panics")),
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn some_triples_of_layers_run_on_one_character() {
    for kinds in [
        ["flesh", "wrinkles", "hair"],
        ["cloth", "folds", "drops"],
        ["wrinkles", "folds", "hair"],
        ["cloth", "drops", "hair"],
        ["flesh", "folds", "drops"],
    ] {
        let layers = kinds.iter().map(|k| layer(k, k)).collect();
        let mut s = Simulator::new(setup(layers)).unwrap_or_else(|e| panic!("{kinds:?}: {e}"));
        for _ in 0..12 {
            s.advance_frame(&mut NoObserver).unwrap_or_else(|e| panic!("{kinds:?}: {e}"));
        }
    }
}
