//! Laws of the layer as a whole.

use glam::{Quat, Vec3};

use super::{HairLayer, Rig, Scene, banging, ceiling, collider, hanging, head_of_hair, path};
use crate::layers::harness::{check_rates, check_same_bits};
use crate::stage::{Animated, ColliderParams, ColliderShape, ForceParams};

#[test]
fn a_teleport_carries_the_hair_along() {
    let mut scene = Scene::new(hanging(), ceiling(0.1));
    scene.path = path(1.0, |t| (Quat::IDENTITY, Vec3::X * if t < 0.5 { 0.0 } else { 30.0 }));
    let mut rig = Rig::new(scene).unwrap();
    let mut fastest = 0.0f32;
    for _ in 0..25 {
        rig.advance();
        let wisp = &rig.state().wisps[0];
        fastest = wisp.velocities[2..].iter().map(|v| v.length()).fold(fastest, f32::max);
    }
    assert!(rig.state().teleports > 0);
    assert!(fastest < 20.0, "{fastest}");
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let refuse = |change: &dyn Fn(&mut Scene)| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        change(&mut scene);
        match Rig::new(scene) {
            Ok(_) => panic!("accepted"),
            Err(error) => error.to_string(),
        }
    };
    let message = refuse(&|s| s.params.length = 0.0);
    assert!(message.contains("length"), "{message}");
    let message = refuse(&|s| s.params.on = "scalpp".to_owned());
    assert!(message.contains("did you mean \"scalp\""), "{message}");
    let message = refuse(&|s| s.params.scalp.r#box = Some([5.0, 5.0, 5.0, 6.0, 6.0, 6.0]));
    assert!(message.contains("nowhere to grow"), "{message}");
    let message = refuse(&|s| {
        s.params.at.clear();
        s.params.wisps = 100_000;
        s.params.strands.per_wisp = 100_000;
        s.params.strands.points = 200;
    });
    assert!(message.contains("GB"), "{message}");
    let message = refuse(&|s| {
        s.colliders.push(collider(ColliderShape::Sphere { center: [0.0; 3], radius: 0.5 }));
    });
    assert!(message.contains("swallows"), "{message}");
}

#[test]
fn styled_hair_at_rest_does_not_move() {
    let mut rig = Rig::new(head_of_hair(40)).unwrap();
    let start: Vec<Vec<Vec3>> = rig.state().wisps.iter().map(|w| w.positions.clone()).collect();
    let mut worst = 0.0f32;
    for _ in 0..60 {
        rig.advance();
        for (wisp, start) in rig.state().wisps.iter().zip(&start) {
            let moved = wisp.positions.iter().zip(start).map(|(a, b)| a.distance(*b));
            worst = moved.fold(worst, f32::max);
        }
    }
    assert!(worst < 1e-3, "moved {worst} m; {:?}", rig.rest().warnings);
}

#[test]
fn no_hair_is_inside_the_head_after_head_banging() {
    let mut scene = head_of_hair(30);
    scene.path = path(5.0, banging);
    // The head's collider moves with it.
    let shape = ColliderShape::Sphere { center: [0.0; 3], radius: 0.0995 };
    let keys = |axis: usize| {
        let at = |f: i32| (f64::from(f) * 0.25, f64::from(banging(f64::from(f) / 120.0).1[axis]));
        Animated::Keys((0..=600).map(at).collect())
    };
    scene.colliders = vec![ColliderParams {
        move_x: keys(0),
        move_y: keys(1),
        move_z: keys(2),
        ..collider(shape.clone())
    }];
    let mut rig = Rig::new(scene).unwrap();
    for frame in 0..150 {
        rig.advance();
        let time = f64::from(frame + 1) / 30.0;
        let center = banging(time).1;
        let deepest = rig
            .points()
            .iter()
            .map(|&p| shape.signed_distance(p - center).0)
            .fold(f32::INFINITY, f32::min);
        assert!(deepest > -2e-4, "frame {frame}: {deepest}");
    }
}

#[test]
fn motion_hardly_depends_on_the_tick() {
    let run = |tick_hz: u32| {
        let mut scene = head_of_hair(12);
        scene.path = path(2.0, |t| {
            let angle = (0.5 * (5.0 * t).sin()) as f32;
            (Quat::from_rotation_y(angle), Vec3::X * (0.05 * (4.0 * t).sin()) as f32)
        });
        scene.colliders.clear();
        let mut setup = scene.setup();
        setup.clock.tick_hz = tick_hz;
        let mut rig = Rig::of(setup).unwrap();
        let mut out = Vec::new();
        for frame in 1..=30 {
            rig.advance();
            if frame % 5 == 0 {
                out.extend(rig.state().wisps.iter().flat_map(|w| w.positions.clone()));
            }
        }
        out
    };
    let (whole, half) = (run(120), run(240));
    let sum: f32 = whole.iter().zip(&half).map(|(a, b)| a.distance_squared(*b)).sum();
    let rms = (sum / whole.len() as f32).sqrt();
    assert!(rms < 0.02 * 0.3, "{rms}");
}

/// Everything that evolves at once: a moving head with a collider and its own mesh to meet, wind with
/// shelter, splits and merges, ties, velocities.
fn busy() -> Scene {
    let mut scene = head_of_hair(40);
    scene.params.split.max_growth = 2.0;
    scene.params.split.ratio = 1.6;
    scene.params.body.meshes = vec!["scalp".to_owned()];
    scene.params.strands.velocities = true;
    scene.path = path(4.0, banging);
    scene.fields.push(ForceParams::Wind {
        direction: [1.0, 0.0, 0.3],
        speed: 4.0.into(),
        gust: 0.5,
        gust_hz: 1.0,
        gust_size: 0.3,
        seed: 1,
    });
    scene
}

#[test]
fn the_same_bits_on_any_threads_after_a_resume_and_without_scratch() {
    check_same_bits::<HairLayer>(&busy().setup(), 12);
}

#[test]
fn the_same_motion_at_every_frame_rate() {
    let mut scene = busy();
    scene.params.wisps = 12;
    scene.params.strands.velocities = false;
    check_rates(&scene.setup(), 2);
}

#[test]
fn the_far_side_does_not_fly_more_than_the_near_side() {
    let run = |shadow: f32| {
        let mut scene = head_of_hair(60);
        scene.params.wind_shadow = shadow;
        scene.params.length = 0.2;
        scene.fields.push(ForceParams::Wind {
            direction: [1.0, 0.0, 0.0],
            speed: 6.0.into(),
            gust: 0.0,
            gust_hz: 1.0,
            gust_size: 1.0,
            seed: 0,
        });
        let mut rig = Rig::new(scene).unwrap();
        let start: Vec<Vec3> =
            rig.state().wisps.iter().map(|w| *w.positions.last().unwrap()).collect();
        let (mut near, mut far) = ((0.0f32, 0), (0.0f32, 0));
        for _ in 0..10 {
            rig.advance();
        }
        for (wisp, start) in rig.state().wisps.iter().zip(start) {
            let moved = wisp.positions.last().unwrap().x - start.x;
            let side = if wisp.positions[1].x < 0.0 { &mut near } else { &mut far };
            *side = (side.0 + moved, side.1 + 1);
        }
        (near.0 / near.1 as f32, far.0 / far.1 as f32)
    };
    let (near, far) = run(1.0);
    assert!(near > 0.0 && far < near, "near {near}, far {far}");
    let (open_near, open_far) = run(0.0);
    assert!(far / near < open_far / open_near, "{far} {near} {open_far} {open_near}");
}
