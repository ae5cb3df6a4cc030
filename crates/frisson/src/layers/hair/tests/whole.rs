//! Laws of the layer as a whole.

use glam::{Quat, Vec3};

use super::{Rig, Scene, banging, ceiling, collider, hanging, head_of_hair, path};
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

/// On ten thousand hairs a hundredth of a millimetre is enough for some to be drawn another way.
#[test]
fn hair_that_has_come_to_rest_stays_to_the_last_bit_until_its_root_moves() {
    let mut scene = head_of_hair(40);
    scene.params.body.meshes = vec!["scalp".to_owned()];
    scene.path = path(4.0, |t| {
        // A millimetre to the side within a tenth of a second.
        let way = 1.0e-3 * ((t - 2.0) / 0.1).clamp(0.0, 1.0) as f32;
        (Quat::IDENTITY, Vec3::X * way)
    });
    let mut rig = Rig::new(scene).unwrap();
    let places = |rig: &Rig| -> Vec<Vec<Vec3>> {
        rig.state().wisps.iter().map(|w| w.positions.clone()).collect()
    };
    (0..30).for_each(|_| rig.advance());
    let (still, drawn) = (places(&rig), rig.points().to_vec());
    (0..29).for_each(|_| rig.advance());
    let resting = places(&rig).iter().zip(&still).filter(|(now, then)| now == then).count();
    assert!(resting >= 39, "{resting} of 40 wisps rest");
    let moved = rig.points().iter().zip(&drawn).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(moved < 1e-4, "a hair goes another way: {moved}");
    (0..8).for_each(|_| rig.advance());
    let awake = places(&rig).iter().zip(&still).filter(|(now, then)| now[2..] != then[2..]).count();
    assert_eq!(awake, 40, "all of it goes with the head");
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
