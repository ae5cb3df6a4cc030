//! What every layer owes the stage: the same bits, one clock, parameters that may change, motion that is
//! pushed while it happens.

use super::*;
use crate::character::{Pose, Sampling};
use crate::layers::harness::{Alone, check_rates, check_same_bits};
use crate::stage::Change;

/// The cylinder of [`element`] shaken and turned, with everything that evolves switched on.
fn setup(params: FleshParams) -> Setup {
    let mut tracks = shake(1.0);
    let turns = (0..=8).flat_map(|i| {
        Quat::from_rotation_z(0.4 * (i as f32 * std::f32::consts::FRAC_PI_4).sin()).to_array()
    });
    tracks.push(Track {
        target: TrackTarget::Rotation(0),
        interpolation: Interpolation::Linear,
        times: (0..=8).map(|i| 0.125 * i as f32).collect(),
        values: turns.collect(),
        width: 4,
    });
    let play = ClipPlay { looped: true, ..ClipPlay::new(0) };
    Setup {
        clock: Clock::new(Rate::whole(30), 0, 300),
        actors: vec![Actor::character_named("body", cylinder(tracks)).playing(play)],
        forces: Forces::new(EARTH_GRAVITY, vec![], 30.0),
        layers: vec![LayerParams::Flesh(params)],
        ..Setup::default()
    }
}

fn turning(limit_kind: LimitKind) -> FleshParams {
    let mut params = element();
    (params.rotation, params.limit, params.limit_kind) = (0.7, 0.4, limit_kind);
    params.show_offsets = true;
    params
}

#[test]
fn the_same_bits_whatever_happens_in_between() {
    for kind in [LimitKind::Soft, LimitKind::Hard] {
        check_same_bits::<FleshLayer>(&setup(turning(kind)), 12);
    }
}

#[test]
fn the_same_swing_at_every_rate() {
    check_rates(&setup(turning(LimitKind::Soft)), 2);
    check_rates(&setup(turning(LimitKind::Hard)), 2);
}

#[test]
fn ticks_of_half_the_length_change_little() {
    let swing = |tick_hz: u32| {
        let mut own = setup(turning(LimitKind::Soft));
        own.clock.tick_hz = tick_hz;
        let mut stage = Simulator::new(own).unwrap();
        let mut all = Vec::new();
        for _ in 0..30 {
            stage.advance_frame(&mut NoObserver).unwrap();
            all.push(offsets(&stage));
        }
        all
    };
    let (coarse, fine) = (swing(120), swing(240));
    let largest = coarse.iter().map(|o| peak(o)).fold(0.0, f32::max);
    let apart = coarse.iter().flatten().zip(fine.iter().flatten()).map(|(a, b)| a.distance(*b));
    let apart = apart.fold(0.0, f32::max);
    assert!(largest > 0.01, "{largest}");
    assert!(apart < 5e-3 * largest, "{apart} of {largest}");
}

#[test]
fn pushed_poses_swing_like_the_clip() {
    let params = element();
    let clip = setup(params.clone());
    let mut played = Alone::<FleshLayer>::new(clip.clone()).unwrap();
    let source = clip.actors[0].clone();
    let character = source.character().unwrap().clone();
    let live = Actor::character_named("body", character).live();
    let mut pushed = Simulator::new(Setup { actors: vec![live], ..clip }).unwrap();
    let mut pose = Pose::default();
    let push = |simulator: &mut Simulator, time: f64, pose: &mut Pose| {
        source.pose_at(time, Sampling::Smooth, pose);
        simulator.push_pose("body", time, &pose.world_from_node, &[]).unwrap();
    };
    push(&mut pushed, 0.0, &mut pose);
    let (mut largest, mut apart) = (0.0f32, 0.0f32);
    for k in 1..=240 {
        let time = f64::from(k) / 60.0;
        push(&mut pushed, time, &mut pose);
        pushed.advance_to(time).unwrap();
        played.simulator.advance_to(time).unwrap();
        // The start of pushed motion has no past: after some swings it is forgotten.
        if k > 120 {
            let (a, b) = (offsets(&pushed), offsets(&played.simulator));
            largest = largest.max(peak(&b));
            apart = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(apart, f32::max);
        }
    }
    assert!(largest > 0.01, "{largest}");
    assert!(apart < 0.02 * largest, "{apart} of {largest}");
}

/// Sets one parameter in the middle of a run. Returns what it took, how far the shown flesh jumped at
/// that instant, and how far it is from the untouched run half a second later.
fn tune(change: fn(&mut FleshParams)) -> (Change, f32, f32) {
    let params = turning(LimitKind::Soft);
    let mut tuned = Alone::<FleshLayer>::new(setup(params.clone())).unwrap();
    let mut same = Alone::<FleshLayer>::new(setup(params.clone())).unwrap();
    tuned.frames(20);
    same.frames(20);
    let mut new = params;
    change(&mut new);
    let taken = tuned.simulator.set_params(&LayerParams::Flesh(new)).unwrap();
    let gap = |a: &Alone<FleshLayer>, b: &Alone<FleshLayer>| {
        let (a, b) = (offsets(&a.simulator), offsets(&b.simulator));
        a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
    };
    let jump = gap(&tuned, &same);
    tuned.frames(15);
    same.frames(15);
    (taken, jump, gap(&tuned, &same))
}

#[test]
fn live_parameters_change_the_motion_without_a_jump() {
    let forces: [(&str, fn(&mut FleshParams)); 6] = [
        ("frequency_hz", |p| p.frequency_hz = Some(4.0)),
        ("damping_ratio", |p| p.damping_ratio = Some(0.9)),
        ("mass, stiffness", |p| {
            (p.frequency_hz, p.damping_ratio) = (None, None);
            (p.mass, p.stiffness, p.damping) = (Some(1.0), Some(100.0), Some(1.0));
        }),
        ("gravity", |p| p.gravity = 0.0.into()),
        ("pseudo_gravity", |p| p.pseudo_gravity = [0.0, 0.0, 5.0]),
        ("cuts", |p| p.cuts = vec![21]),
    ];
    for (name, change) in forces {
        let (taken, jump, after) = tune(change);
        assert_eq!(taken, Change::Live, "{name}");
        assert_eq!(jump, 0.0, "{name}");
        assert!(after > 1e-3, "{name}: {after}");
    }
    // What scales the shown swing shows at once, the spring itself goes on.
    let shown: [(&str, fn(&mut FleshParams)); 3] = [
        ("amount", |p| p.amount = 0.5.into()),
        ("rotation", |p| p.rotation = 0.2),
        ("limit_kind", |p| p.limit_kind = LimitKind::Hard),
    ];
    for (name, change) in shown {
        let (taken, jump, after) = tune(change);
        assert_eq!(taken, Change::Live, "{name}");
        assert!(jump < 0.15 && after > 1e-4, "{name}: {jump} {after}");
    }
    let (taken, jump, _) = tune(|p| p.thickness = 0.1);
    assert_eq!(taken, Change::Rebuild, "the swing goes on with other weights");
    assert!(jump < 0.1, "{jump}");
    let mut stage = Alone::<FleshLayer>::new(setup(element())).unwrap();
    let mut bad = element();
    bad.frequency_hz = Some(-1.0);
    assert!(stage.simulator.set_params(&LayerParams::Flesh(bad)).is_err());
    stage.frames(2);
}

/// Runs at constant speed from the first key on, and bounces.
fn running(preroll_frames: u32) -> Simulator {
    let times: Vec<f32> = (0..=90).map(|i| i as f32 / 30.0).collect();
    let place = |&t: &f32| [3.0 * t, 0.03 * (12.0 * t + 0.7).sin(), 0.0];
    let tracks = vec![Track {
        target: TrackTarget::Translation(0),
        interpolation: Interpolation::Linear,
        values: times.iter().flat_map(place).collect(),
        times,
        width: 3,
    }];
    let mut clock = Clock::new(Rate::whole(30), 0, 90);
    clock.preroll_frames = preroll_frames;
    Simulator::new(Setup {
        clock,
        actors: vec![Actor::character_named("body", cylinder(tracks)).playing(ClipPlay::new(0))],
        forces: Forces::new(EARTH_GRAVITY, vec![], 30.0),
        layers: vec![LayerParams::Flesh(element())],
        ..Setup::default()
    })
    .unwrap()
}

#[test]
fn who_is_already_running_is_not_kicked_off() {
    let peaks = |preroll: u32| -> Vec<f32> {
        let mut stage = running(preroll);
        for _ in 0..preroll {
            stage.advance_frame(&mut NoObserver).unwrap();
        }
        let mut all = Vec::new();
        for _ in 0..90 {
            stage.advance_frame(&mut NoObserver).unwrap();
            all.push(peak(&offsets(&stage)));
        }
        all
    };
    let (bare, settled) = (peaks(0), peaks(30));
    let largest = |p: &[f32]| p.iter().copied().fold(0.0, f32::max);
    let later = largest(&bare[45..]);
    assert!(later > 0.01, "the bounce swings it: {later}");
    for start in [&bare, &settled] {
        assert!(largest(&start[..30]) < 2.0 * later, "{} {later}", largest(&start[..30]));
    }
    for (a, b) in bare.iter().zip(&settled) {
        assert!((a - b).abs() < 0.05 * later, "{a} {b}: a start at rest has nothing to settle");
    }
}

#[test]
fn who_sets_off_from_a_stand_starts_without_a_swing() {
    // At rest at the first frame, then a steady push.
    let times: Vec<f32> = (0..=30).map(|i| i as f32 / 30.0).collect();
    let tracks = vec![Track {
        target: TrackTarget::Translation(0),
        interpolation: Interpolation::Linear,
        values: times.iter().flat_map(|t| [4.0 * t * t, 0.0, 0.0]).collect(),
        times,
        width: 3,
    }];
    let mut stage = stage_with(cylinder(tracks), vec![element()], 30, 30, false).unwrap();
    // A small part of the 32 mm at which the spring would balance the push.
    assert!(peak(&offsets(&stage)) < 3e-3, "{}", peak(&offsets(&stage)));
    for _ in 0..5 {
        stage.advance_frame(&mut NoObserver).unwrap();
    }
    assert!(peak(&offsets(&stage)) > 0.02, "left behind: {}", peak(&offsets(&stage)));
}
