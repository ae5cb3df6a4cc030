//! What every layer owes the stage: the same bits, one clock, parameters that may change, motion whose
//! future nobody knows.

use super::*;
use crate::layers::harness::{Alone, check_rates, check_same_bits};
use crate::stage::{Change, Clock, Rate, Setup};

/// Stretches by a fifth, then presses to four fifths, and so on.
fn breathing(p: Vec3, t: f64) -> Vec3 {
    Vec3::new(p.x * (1.0 + 0.2 * (5.0 * t).sin()) as f32, 0.1 * p.x * p.x, p.z)
}

/// One layer that refines the mesh, and one on that mesh with a live tool and a fixed one: nobody knows
/// how long its lines get.
fn evolving(emit: Emit) -> Setup {
    let mut first = params(vec![tool()], Emit::Static);
    first.name = "first".to_owned();
    first.max_level = 2;
    let mut live = WrinkleTool::new("live", vertex(4, 5), vertex(16, 6), 0.2);
    live.live = true;
    let fixed = WrinkleTool::new("fixed", vertex(4, 14), vertex(16, 14), 0.2);
    let mut second = params(vec![live, fixed], emit);
    second.max_level = 1;
    Setup {
        clock: Clock::new(Rate::whole(30), 0, i64::from(u32::MAX)),
        actors: vec![moved::moved(sheet(), breathing)],
        layers: vec![LayerParams::Wrinkles(first), LayerParams::Wrinkles(second)],
        ..Setup::default()
    }
}

#[test]
fn the_same_bits_whatever_happens_in_between() {
    for emit in [Emit::Static, Emit::Adaptive] {
        check_same_bits::<WrinklesLayer>(&evolving(emit), 12);
    }
}

#[test]
fn the_same_folds_at_every_rate() {
    check_rates(&evolving(Emit::Static), 2);
}

#[test]
fn ticks_of_half_the_length_change_little() {
    let mesh = |tick_hz: u32| {
        let mut setup = evolving(Emit::Static);
        setup.clock.tick_hz = tick_hz;
        run(&mut Simulator::new(setup).unwrap(), 26)
    };
    let (coarse, fine) = (mesh(120), mesh(240));
    let highest = coarse.scalar("wrinkle_height").unwrap().iter().fold(0.0f32, |m, h| m.max(*h));
    let apart = coarse.positions.iter().zip(&fine.positions).map(|(a, b)| a.distance(*b));
    let apart = apart.fold(0.0, f32::max);
    assert!(highest > 0.01, "{highest}");
    // Only the longest so far is seen at other times, near a maximum.
    assert!(apart < 0.01 * highest, "{apart} of {highest}");
}

#[test]
fn the_longest_is_found_between_output_frames() {
    // A stretch of a thirtieth of a second between two frames of 30 fps.
    let stretched = |p: Vec3, t: f64| {
        let bump = (1.0 - (60.0 * (t - 0.5 - 1.0 / 60.0)).powi(2)).max(0.0);
        Vec3::new(p.x * (1.0 + 0.1 * bump) as f32, p.y, p.z)
    };
    let full = |fps: u32| {
        let setup = Setup {
            clock: Clock::new(Rate::whole(fps), 0, i64::from(fps)),
            actors: vec![moved::moved(sheet(), stretched)],
            layers: vec![LayerParams::Wrinkles(params(vec![tool()], Emit::Static))],
            ..Setup::default()
        };
        Alone::<WrinklesLayer>::new(setup).unwrap().rest().tools[0].full
    };
    assert!((full(30) - 0.88).abs() < 1e-4, "{}", full(30));
    for fps in [24, 25, 60, 240] {
        assert_eq!(full(fps), full(30), "{fps}");
    }
}

/// A sheet that is pushed while it happens.
fn pushed() -> Alone<WrinklesLayer> {
    Alone::new(Setup {
        actors: vec![Actor::meshes_named("sheet", vec![sheet()]).live()],
        layers: vec![LayerParams::Wrinkles(params(vec![tool()], Emit::Static))],
        ..Setup::default()
    })
    .unwrap()
}

fn push(stage: &mut Alone<WrinklesLayer>, time: f64, scale: f32) -> f64 {
    let places: Vec<[f32; 3]> = sheet().positions.iter().map(|p| [p.x * scale, p.y, p.z]).collect();
    stage.simulator.push_positions("sheet", 0, time, &places).unwrap();
    stage.simulator.advance_to(time).unwrap();
    stage.report().measures.iter().find(|m| m.name == "t height").unwrap().value
}

#[test]
fn pushed_motion_folds_below_the_longest_so_far() {
    let mut stage = pushed();
    push(&mut stage, 0.0, 1.0);
    for k in 1..=30 {
        let height = push(&mut stage, f64::from(k) / 60.0, 1.0 + 0.01 * k as f32);
        assert_eq!(height, 0.0, "it only gets longer");
    }
    let longest = stage.state().longest[0];
    assert!((longest - 0.8 * 1.3).abs() < 1e-5, "{longest}");
    let mut last = 0.0;
    for k in 31..=60 {
        last = push(&mut stage, f64::from(k) / 60.0, 1.6 - 0.01 * k as f32);
    }
    assert_eq!(stage.state().longest[0], longest);
    assert!(last > 0.02, "{last}");
}

#[test]
fn parameters_change_while_it_runs() {
    let mut stage = pushed();
    push(&mut stage, 0.0, 1.2);
    let before = push(&mut stage, 0.5, 1.0);
    let state = stage.state().clone();
    let mut tuned = params(vec![tool()], Emit::Static);
    tuned.tools[0].amount = 0.5.into();
    tuned.attributes = false;
    tuned.guard = false;
    let change = stage.simulator.set_params(&LayerParams::Wrinkles(tuned.clone())).unwrap();
    assert_eq!(change, Change::Live);
    assert_eq!(*stage.state(), state, "nothing that evolves has jumped");
    let after = push(&mut stage, 0.6, 1.0);
    assert!((after / before - 0.5).abs() < 1e-6, "{before} {after}");
    // Other folds are laid out anew; the longest so far is not forgotten.
    tuned.tools[0].folds = 6;
    let change = stage.simulator.set_params(&LayerParams::Wrinkles(tuned.clone())).unwrap();
    assert_eq!(change, Change::Rebuild);
    assert_eq!(stage.state().longest, state.longest);
    assert!(push(&mut stage, 0.7, 1.0) > 0.0);
    // Nonsense is refused, and the old parameters go on.
    tuned.tools[0].amount = f64::NAN.into();
    assert!(stage.simulator.set_params(&LayerParams::Wrinkles(tuned)).is_err());
    assert!(push(&mut stage, 0.8, 1.0) > 0.0);
}
