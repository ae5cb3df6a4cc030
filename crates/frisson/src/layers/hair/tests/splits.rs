//! Laws of splitting and merging.

use crate::layers::LayerParams;
use glam::{DVec3, Quat, Vec3};

use super::super::params::SplitParams;
use super::super::split::{apply_merges, split, widest_tear};
use super::super::strands::{belongs, side};
use super::{Rig, Scene, ceiling, hanging, path};
use crate::stage::{Animated, ForceParams};

fn torn() -> Rig {
    let mut params = hanging();
    params.strands.per_wisp = 200;
    params.split.max_growth = 4.0;
    let mut scene = Scene::new(params, ceiling(0.1));
    scene.path = path(1.0, |t| (Quat::IDENTITY, Vec3::X * (0.05 * (9.0 * t).sin()) as f32));
    let mut rig = Rig::new(scene).unwrap();
    for _ in 0..5 {
        rig.advance();
    }
    rig
}

fn momentum(rig: &Rig) -> DVec3 {
    let rest = &rig.rest();
    let of = |w: &super::super::state::Wisp| {
        let masses = &rest.roots[w.root as usize].masses;
        (2..rest.count)
            .map(|i| masses[i] * f64::from(w.share) * w.velocities[i].as_dvec3())
            .sum::<DVec3>()
    };
    rig.state().wisps.iter().map(of).sum()
}

fn write(rig: &mut Rig) -> Vec<Vec3> {
    rig.alone.simulator.refresh().unwrap();
    rig.points().to_vec()
}

#[test]
fn a_split_keeps_momentum_mass_hairs_and_places() {
    let mut rig = torn();
    rig.state_mut().wisps[0].radii[7 * 4] *= 3.0;
    let before = momentum(&rig);
    let points = write(&mut rig);
    let params = SplitParams { ratio: 1.5, ..rig.params().split.clone() };
    let tear = widest_tear(&rig.state().wisps[0], rig.rest(), &params).unwrap();
    let rest = rig.rest().clone();
    let wisp = &mut rig.state_mut().wisps[0];
    let other = split(wisp, &tear, &rest, &params, 0);
    rig.state_mut().wisps.push(other);
    let [a, b] = [&rig.state().wisps[0], &rig.state().wisps[1]];
    assert_eq!(a.share + b.share, 1.0);
    let (mut ours, mut theirs) = (0, 0);
    for hair in 0..200 {
        assert!(belongs(hair, a) != belongs(hair, b));
        ours += u32::from(belongs(hair, a));
        theirs += u32::from(belongs(hair, b));
    }
    assert!(ours > 60 && theirs > 60, "{ours} {theirs}");
    let error = (momentum(&rig) - before).length() / before.length();
    assert!(error < 1e-6, "{error}");
    assert!(rig.state().wisps[0].velocities[9] != rig.state().wisps[1].velocities[9]);
    let after = write(&mut rig);
    let jump = points.iter().zip(&after).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(jump < 1e-5, "{jump}");
    assert_eq!(side(3, 0), side(3, 0));
}

#[test]
fn halves_part_come_together_and_merge_without_a_jump() {
    let mut params = hanging();
    params.strands.per_wisp = 60;
    params.drag = 4.0;
    params.split.max_growth = 2.0;
    params.split.ratio = 1.3;
    params.split.merge_after = 0.2;
    let mut scene = Scene::new(params, ceiling(0.1));
    // A hard shake for half a second, then rest.
    scene.path = path(6.0, |t| {
        let envelope = if t < 0.5 { (std::f64::consts::PI * t / 0.5).sin() } else { 0.0 };
        (Quat::IDENTITY, Vec3::X * (0.08 * envelope * (20.0 * t).sin()) as f32)
    });
    let mut rig = Rig::new(scene).unwrap();
    let mut most = 1;
    let mut jump_at_merge = 0.0f32;
    for frame in 0..180 {
        if frame == 10 {
            // Something tears it wide.
            for plane in 5..12 {
                rig.state_mut().wisps[0].radii[plane * 4] *= 2.0;
                rig.state_mut().wisps[0].radii[plane * 4 + 2] *= 2.0;
            }
        }
        let before = rig.state().wisps.len();
        let speed = fastest(&rig);
        let points = rig.points().to_vec();
        rig.advance();
        most = most.max(rig.state().wisps.len());
        if rig.state().wisps.len() < before {
            let moved = points.iter().zip(rig.points()).map(|(a, b)| a.distance(*b));
            let expected = speed.max(fastest(&rig)) / 30.0;
            jump_at_merge = jump_at_merge.max(moved.fold(0.0, f32::max) - expected);
        }
    }
    assert_eq!(most, 2, "never split");
    assert_eq!(rig.state().wisps.len(), 1, "never merged");
    let wisp = &rig.state().wisps[0];
    assert_eq!((wisp.share, wisp.depth, wisp.path), (1.0, 0, 0));
    // In that frame the last particles were drawn together: slower than hair settles.
    assert!(jump_at_merge < 1e-3, "{jump_at_merge}");
}

#[test]
fn merging_moves_no_hair_visibly() {
    let mut rig = torn();
    rig.state_mut().wisps[0].radii[7 * 4] *= 3.0;
    let params = SplitParams { ratio: 1.5, ..rig.params().split.clone() };
    let tear = widest_tear(&rig.state().wisps[0], rig.rest(), &params).unwrap();
    let rest = rig.rest().clone();
    let mut other = split(&mut rig.state_mut().wisps[0], &tear, &rest, &params, 0);
    // Halves as far apart as they may be when they merge, joined up to the last particle.
    let apart = super::super::limits::MERGED * 0.004;
    other.velocities.clone_from(&rig.state().wisps[0].velocities);
    other.positions[11] += Vec3::X * apart;
    rig.state_mut().wisps.push(other);
    for wisp in &mut rig.state_mut().wisps {
        wisp.radii.fill(0.01);
        (wisp.joined, wisp.close_for) = (11, 10.0);
    }
    let points = write(&mut rig);
    apply_merges(&params, &rest, rig.state_mut(), 1.0 / 120.0);
    assert_eq!(rig.state().wisps.len(), 1, "not merged");
    let after = write(&mut rig);
    let jump = points.iter().zip(&after).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(jump < 2e-4, "{jump}");
}

#[test]
fn halves_move_as_one_nearer_to_the_root_than_the_tear() {
    let mut rig = torn();
    let mut params = rig.params().clone();
    params.split.ratio = 1.5;
    rig.alone.simulator.set_params(&LayerParams::Hair(params)).unwrap();
    for plane in 8..12 {
        rig.state_mut().wisps[0].radii[plane * 4] *= 3.0;
        rig.state_mut().wisps[0].radii[plane * 4 + 2] *= 3.0;
    }
    let mut most_apart = 0.0f32;
    for _ in 0..4 {
        rig.advance();
        let [a, b] = [&rig.state().wisps[0], &rig.state().wisps[1]];
        let apart = |i: usize| a.positions[i].distance(b.positions[i]);
        assert!(a.joined >= 6, "the split opened to particle {}", a.joined);
        let joined = a.joined as usize;
        assert!((0..joined).all(|i| apart(i) < 1e-6), "the joined part came apart");
        most_apart = most_apart.max(apart(11));
        let segment = rig.rest().roots[0].segment;
        for wisp in [a, b] {
            let lengths = wisp.positions[1..].windows(2).map(|w| w[0].distance(w[1]) / segment);
            assert!(lengths.into_iter().all(|l| (l - 1.0).abs() < 0.01));
        }
    }
    assert!(most_apart > 1e-3, "{most_apart}");
}

fn fastest(rig: &Rig) -> f32 {
    let of =
        |w: &super::super::state::Wisp| w.velocities.iter().map(|v| v.length()).fold(0.0, f32::max);
    rig.state().wisps.iter().map(of).fold(0.0, f32::max)
}

#[test]
fn a_head_that_a_wind_has_split_is_whole_again_when_it_dies() {
    let mut scene = super::head_of_hair(30);
    scene.params.drag = 6.0;
    scene.params.split.max_growth = 2.0;
    scene.params.split.ratio = 1.8;
    scene.params.body.meshes = vec!["scalp".to_owned()];
    scene.fields.push(ForceParams::Wind {
        direction: [1.0, 0.15, -0.3],
        speed: Animated::Keys(vec![(0.0, 5.0), (30.0, 5.0), (50.0, 0.0)]),
        gust: 0.5,
        gust_hz: 1.5,
        gust_size: 0.3,
        seed: 0,
    });
    let mut rig = Rig::new(scene).unwrap();
    let mut most = 0;
    // Three seconds after the wind has died.
    for _ in 0..140 {
        rig.advance();
        most = most.max(rig.state().wisps.len());
    }
    assert!(most >= 40, "hardly torn: {most} of 30");
    assert_eq!(rig.state().wisps.len(), 30, "of {most}");
    assert!(rig.state().wisps.iter().all(|w| w.depth == 0 && w.share == 1.0));
}

#[test]
fn parts_that_were_split_over_and_over_wait_only_once() {
    let mut rig = torn();
    let params = SplitParams { ratio: 1.5, merge_after: 0.5, ..rig.params().split.clone() };
    let rest = rig.rest().clone();
    for number in 0..4 {
        rig.state_mut().wisps[0].radii[7 * 4] *= 3.0;
        let tear = widest_tear(&rig.state().wisps[0], &rest, &params).unwrap();
        let other = split(&mut rig.state_mut().wisps[0], &tear, &rest, &params, number);
        rig.state_mut().wisps.push(other);
    }
    // All of them lie together and still.
    let whole = rig.state().wisps[0].positions.clone();
    for wisp in &mut rig.state_mut().wisps {
        wisp.positions.clone_from(&whole);
        wisp.velocities.fill(Vec3::ZERO);
        (wisp.joined, wisp.apart) = (0, true);
    }
    let dt = 1.0 / 120.0;
    let mut ticks = 0;
    while rig.state().wisps.len() > 1 && ticks < 1000 {
        apply_merges(&params, &rest, rig.state_mut(), dt);
        ticks += 1;
    }
    let seconds = ticks as f32 * dt;
    assert!((0.5..0.6).contains(&seconds), "one after {seconds} s");
}
