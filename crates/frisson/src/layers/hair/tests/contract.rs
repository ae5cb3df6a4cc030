//! What every layer owes the stage: the same bits, one clock, parameters that may change, bad input refused.

use glam::{Quat, Vec3};

use super::{
    HairLayer, HairParams, Rig, Scene, banged, banging, ceiling, collider, hanging, head_of_hair,
    path,
};
use crate::layers::LayerParams;
use crate::layers::harness::{check_rates, check_same_bits};
use crate::stage::{Change, ColliderShape, ForceParams};

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

#[test]
fn live_parameters_change_the_motion_without_a_jump() {
    type Edit = fn(&mut HairParams);
    let edits: [(&str, Edit); 12] = [
        ("drag", |p| p.drag = 12.0),
        ("bending_damping", |p| p.bending_damping = 40.0),
        ("goal_hz", |p| p.goal_hz = 3.0.into()),
        ("wetness", |p| p.wetness = 1.0.into()),
        ("envelope.frequency_hz", |p| p.envelope.frequency_hz = 25.0),
        ("envelope.damping_ratio", |p| p.envelope.damping_ratio = 1.0),
        ("body.friction", |p| p.body.friction = 1.5),
        ("interaction.viscosity", |p| p.interaction.viscosity = 30.0),
        ("interaction.collisions", |p| p.interaction.collisions = false),
        ("style.memory_hz", |p| p.style.memory_hz = 2.0.into()),
        ("torsion_hz", |p| p.torsion_hz = 1.0),
        ("substeps", |p| p.substeps = 3),
    ];
    let start = || {
        let mut scene = banged();
        scene.params.wisps = 16;
        let mut rig = Rig::new(scene).unwrap();
        for _ in 0..12 {
            rig.advance();
        }
        rig
    };
    let mut plain = start();
    for _ in 0..12 {
        plain.advance();
    }
    for (name, edit) in edits {
        let mut rig = start();
        let before = rig.points().to_vec();
        let mut params = rig.params().clone();
        edit(&mut params);
        let change = rig.alone.simulator.set_params(&LayerParams::Hair(params)).unwrap();
        assert_eq!(change, Change::Live, "{name}");
        assert_eq!(before, rig.points(), "{name}: a jump");
        for _ in 0..12 {
            rig.advance();
        }
        let apart = plain.points().iter().zip(rig.points()).map(|(a, b)| a.distance(*b));
        let apart = apart.fold(0.0, f32::max);
        assert!(apart > 1e-5, "{name} changes nothing");
    }
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
