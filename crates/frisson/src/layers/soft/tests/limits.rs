//! What cannot be done is said; what changes over time changes.

use super::*;

fn warnings(rig: &Rig) -> Vec<String> {
    let mut report = crate::stage::LayerReport::default();
    rig.layer.report(&mut report);
    report.warnings
}

#[test]
fn steps_that_would_have_to_be_too_short_stop_at_a_floor_and_say_so() {
    let mut object = SoftObject { free: true, ..ball("hard", [0.0, 0.105, 0.0], 0.1) };
    (object.stiffness, object.density) = (1e13, 10.0);
    let mut rig = Rig::try_new(SoftParams::new("hard", vec![object]), floor(), 9.81).unwrap();
    for _ in 0..30 {
        rig.tick();
    }
    let said = warnings(&rig);
    assert!(said.iter().any(|w| w.contains("make it softer or heavier")), "{said:?}");
    assert!(rig.state().steps <= 30 * 256);
    assert!(rig.state().bodies.iter().all(|b| b.position.is_finite()));
}

#[test]
fn a_resolution_beyond_all_memory_is_refused() {
    let mut params = SoftParams::new("fine", vec![ball("a", [0.0; 3], 0.1)]);
    params.cell = Some(1e-6);
    let clock = Clock::new(Rate::whole(30), 0, 10);
    let forces = Forces::new(Vec3::ZERO, vec![], 30.0);
    let layers = [LayerParams::Soft(params)];
    let stage = Simulator::new(Setup {
        clock,
        actors: vec![],
        forces,
        layers: layers.to_vec(),
        ..Setup::default()
    });
    let error = stage.err().expect("it must not be tried").to_string();
    assert!(error.contains("cell"), "{error}");
}

#[test]
fn heat_softens_a_dough() {
    let height = |firmness: Animated| {
        let mut object = dough("d", vec![]);
        object.dough = Some(DoughParams {
            ball: Some([0.0, 0.16, 0.0]),
            radius: Some(0.1),
            firmness,
            ..DoughParams::default()
        });
        let mut params = SoftParams::new("dough", vec![object]);
        params.seeds = 32;
        let mut rig = Rig::try_new(params, floor(), 9.81).unwrap();
        for _ in 0..150 {
            rig.tick();
        }
        rig.state().bodies.iter().map(|b| b.position.y).fold(0.0, f64::max)
    };
    let cold = height(1.0.into());
    let heated = height(Animated::Keys(vec![(0.0, 1.0), (40.0, 0.05)]));
    // 0.807 measured, since flattened particles rub on each other as they slide.
    assert!(heated < 0.82 * cold, "{heated} {cold}");
}

#[test]
fn primitives_without_extent_are_harmless() {
    let none = PrimitiveParams::default;
    let primitives = vec![
        PrimitiveParams { segment: Some([[0.0; 3]; 2]), ..none() },
        PrimitiveParams { triangle: Some([[0.0; 3], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0]]), ..none() },
        PrimitiveParams { triangle: Some([[0.1; 3]; 3]), ..none() },
        PrimitiveParams {
            polyline: Some(vec![[0.0; 3], [0.0; 3], [0.1, 0.0, 0.0], [0.0; 3]]),
            ..none()
        },
        point([0.1, 0.0, 0.0]),
        point([0.1, 0.0, 0.0]),
    ];
    let inner = SoftObject { primitives: primitives.clone(), ..SoftObject::new("a", 0.05) };
    let free = SoftObject { primitives, free: true, ..SoftObject::new("b", 0.05) };
    let mut params = SoftParams::new("odd", vec![inner, free]);
    params.seeds = 48;
    let mut rig = Rig::try_new(params, floor(), 9.81).unwrap();
    for _ in 0..60 {
        rig.tick();
        assert!(rig.state().volume().is_finite());
    }
    for mesh in &rig.show().meshes {
        closed_manifold(mesh);
        assert!(mesh.positions.iter().all(|p| p.is_finite()));
        assert!(mesh.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3));
    }
}
