//! What every layer owes the stage.

use super::*;

fn busy_setup() -> Setup {
    let mesh = sheet(22, 22, (1.0, 1.0), Vec3::new(-0.5, 0.05, -0.5));
    let p = ClothParams {
        self_collision: true,
        pins: pinned([0, 21]),
        bodies: vec!["body".to_owned()],
        attachments: vec![ClothAttachment {
            vertices: Selection { vertices: Some((230..250).collect()), ..Selection::default() },
            surface: Some("body".to_owned()),
            stick_within: Some(0.03),
            release_beyond: Some(0.05),
            ..ClothAttachment::default()
        }],
        drag: 1.0,
        lift: 0.5,
        ..params()
    };
    let forces = windy([1.0, 0.0, 0.3], (4.0, 0.5), 1);
    let path = KeyedTransform {
        times: vec![0.0, 0.15, 0.3],
        translations: vec![Vec3::Y * -0.25, Vec3::Y * 0.15, Vec3::new(0.1, 0.0, 0.0)],
        rotations: vec![
            glam::Quat::IDENTITY,
            glam::Quat::from_rotation_y(0.5),
            glam::Quat::IDENTITY,
        ],
        ..KeyedTransform::default()
    };
    let actors = vec![still("sheet", mesh), carried("body", cube(4, 0.15), path)];
    let mut rolling = ball([0.3, 0.1, 0.3], 0.15);
    rolling.move_x = Animated::Keys(vec![(0.0, 0.0), (10.0, -0.3)]);
    let mut setup = setup(actors, &[rolling], forces, p);
    setup.clock.rate = Rate::whole(30);
    setup
}

#[test]
fn same_bits_for_any_number_of_threads_after_a_resume_and_without_scratch() {
    check_same_bits::<ClothLayer>(&busy_setup(), 8);
}

#[test]
fn the_motion_does_not_depend_on_what_is_looked_at() {
    let mut setup = busy_setup();
    // Key frames of colliders count output frames: at another rate the ball would go elsewhere.
    setup.colliders[0].move_x = Animated::default();
    check_rates(&setup, 1);
}

#[test]
fn half_the_tick_moves_the_cloth_alike() {
    let lowest = |tick_hz: u32| {
        let mesh = sheet(13, 13, (0.6, 0.6), Vec3::ZERO);
        let p = ClothParams { pins: pinned([0, 12]), damping: 1.0, ..params() };
        let mut setup =
            setup(vec![still("sheet", mesh)], &[ball([0.3, -0.4, 0.3], 0.2)], gravity(), p);
        setup.clock.tick_hz = tick_hz;
        let mut scene = Scene { simulator: Simulator::new(setup).unwrap() };
        scene.ticks(2 * tick_hz);
        let x = scene.positions();
        x.iter().copied().sum::<DVec3>() / x.len() as f64
    };
    let apart = lowest(120).distance(lowest(240));
    assert!(apart < 0.01, "{apart}");
}

#[test]
fn a_state_of_another_cloth_is_refused() {
    let built = |n: u32| {
        let actors = vec![still("sheet", sheet(n, n, (1.0, 1.0), Vec3::ZERO))];
        Scene::build(actors, &[], gravity(), params()).unwrap().simulator
    };
    let saved = built(5).save().unwrap();
    assert!(built(5).load(&saved).is_ok());
    assert!(built(6).load(&saved).is_err());
    assert!(built(5).load(&[1, 2, 3]).is_err());
}
