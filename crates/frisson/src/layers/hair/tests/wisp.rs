//! Laws of one wisp: envelope, torsion, water.

use glam::{Quat, Vec3};

use super::{Rig, Scene, ceiling, hanging, path};
use crate::stage::ForceParams;

#[test]
fn free_fall_keeps_the_shape_and_a_shake_does_not() {
    let fall = |t: f64| (Quat::IDENTITY, Vec3::Y * (-0.5 * 9.81 * t * t) as f32);
    let shake = |t: f64| (Quat::IDENTITY, Vec3::X * (0.05 * (18.0 * t).sin()) as f32);
    let spread = |motion: &dyn Fn(f64) -> (Quat, Vec3)| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        scene.path = path(1.0, motion);
        let mut rig = Rig::new(scene).unwrap();
        let rest = rig.state().wisps[0].radii.clone();
        let mut worst = 0.0f32;
        for _ in 0..25 {
            rig.advance();
            let radii = &rig.state().wisps[0].radii;
            let changes = radii.iter().zip(&rest).map(|(a, b)| (a / b - 1.0).abs());
            worst = worst.max(changes.fold(0.0, f32::max));
        }
        worst
    };
    let (falling, shaken) = (spread(&fall), spread(&shake));
    assert!(falling < 0.01, "{falling}");
    assert!(shaken > 0.05, "{shaken}");
}

#[test]
fn pressing_the_envelope_pushes_the_skeleton() {
    let press = |squeeze: bool| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        scene.gravity = Vec3::ZERO;
        let mut rig = Rig::new(scene).unwrap();
        if squeeze {
            let wisp = &mut rig.state_mut().wisps[0];
            for plane in 6..10 {
                wisp.radii[plane * 4] *= 0.3;
            }
        }
        rig.advance();
        let wisp = &rig.state().wisps[0];
        (wisp.positions[8], wisp.across[8])
    };
    let ((free, _), (pushed, axis)) = (press(false), press(true));
    let moved = (pushed - free).dot(axis);
    assert!(moved < -1e-4, "moved by {moved} along the pressed half-axis");
}

#[test]
fn torsion_lags_behind_a_turned_root_and_comes_back() {
    let mut scene = Scene::new(hanging(), ceiling(0.1));
    scene.path = path(4.0, |t| {
        let angle = (1.5 * (8.0 * t).min(1.0)) as f32;
        (Quat::from_rotation_y(angle), Vec3::ZERO)
    });
    let mut rig = Rig::new(scene).unwrap();
    let mut most = 0.0f32;
    for _ in 0..90 {
        rig.advance();
        most = most.max(rig.state().wisps[0].twists.last().unwrap().abs());
    }
    let left = rig.state().wisps[0].twists.last().unwrap().abs();
    assert!(most > 0.1, "{most}");
    assert!(left < 0.1 * most, "{left} of {most}");
}

#[test]
fn wet_hair_is_thinner() {
    let run = |wetness: f64| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        scene.params.wetness = wetness.into();
        let mut rig = Rig::new(scene).unwrap();
        for _ in 0..30 {
            rig.advance();
        }
        let radii = &rig.state().wisps[0].radii;
        radii[8..].iter().sum::<f32>() / (radii.len() - 8) as f32
    };
    assert!(run(1.0) < 0.6 * run(0.0));
}

#[test]
fn a_wet_scalp_makes_hair_thinner_and_heavier() {
    // Thickness, and speed at which wind carries the tip, of hair on a dry and on a wet scalp.
    let run = |wetness: f32| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        scene.params.drag = 4.0;
        scene.fields.push(ForceParams::Wind {
            direction: [1.0, 0.0, 0.0],
            speed: 3.0.into(),
            gust: 0.0,
            gust_hz: 1.0,
            gust_size: 1.0,
            seed: 0,
        });
        let mut rig = Rig::new(scene).unwrap();
        let mut frame = rig.frame().clone();
        frame.meshes[0].channels.wetness = vec![wetness; frame.meshes[0].positions.len()];
        for _ in 0..24 {
            rig.advance_on(&frame);
        }
        let wisp = &rig.state().wisps[0];
        let radius = wisp.radii[8..].iter().sum::<f32>() / (wisp.radii.len() - 8) as f32;
        (radius, wisp.positions.last().unwrap().x)
    };
    let ((dry_radius, dry_blown), (wet_radius, wet_blown)) = (run(0.0), run(1.0));
    assert!(wet_radius < 0.7 * dry_radius, "{wet_radius} {dry_radius}");
    assert!(wet_blown > 0.0 && wet_blown < 0.8 * dry_blown, "{wet_blown} {dry_blown}");
}
