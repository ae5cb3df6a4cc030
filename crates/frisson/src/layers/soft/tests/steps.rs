//! What steps do over time: rest, bounces, steps taken back, the same bits.

use super::*;

/// Three balls in a well: a free column topples.
fn stack() -> Rig {
    let free = |name: &str, y: f64| SoftObject {
        free: true,
        stiffness: 2e6,
        ..ball(name, [0.0, y, 0.0], 0.1)
    };
    let params = SoftParams::new("stack", vec![free("a", 0.1), free("b", 0.3), free("c", 0.52)]);
    let wall = |point: [f32; 3], normal: [f32; 3]| ColliderShape::Plane { point, normal };
    let well = colliders(&[
        ("floor", wall([0.0; 3], [0.0, 1.0, 0.0])),
        ("left", wall([-0.1, 0.0, 0.0], [1.0, 0.0, 0.0])),
        ("right", wall([0.1, 0.0, 0.0], [-1.0, 0.0, 0.0])),
        ("back", wall([0.0, 0.0, -0.1], [0.0, 0.0, 1.0])),
        ("front", wall([0.0, 0.0, 0.1], [0.0, 0.0, -1.0])),
    ]);
    Rig::try_new(params, well, 9.81).unwrap()
}

#[test]
fn stacked_balls_come_to_rest() {
    let mut rig = stack();
    let energy = |rig: &Rig| -> f64 {
        rig.state()
            .bodies
            .iter()
            .zip(&rig.rest().bodies)
            .map(|(b, r)| {
                (0.5 * b.velocity.length_squared() + 9.81 * b.position.y) / r.inverse_mass
            })
            .sum()
    };
    let start = energy(&rig);
    for _ in 0..900 {
        rig.tick();
        assert!(energy(&rig) <= start * (1.0 + 1e-9));
    }
    for b in &rig.state().bodies {
        assert!(b.velocity.length() < 1e-3, "{}", b.velocity);
        assert!(b.spin.length() < 0.02, "{}", b.spin);
        assert!(b.position.x.abs() < 0.05 && b.position.y > 0.05, "{}", b.position);
    }
    let y: Vec<f64> = rig.state().bodies.iter().map(|b| b.position.y).collect();
    assert!(y[1] - y[0] > 0.1 && y[2] - y[1] > 0.1 && y[0] < 0.1, "{y:?}");
}

#[test]
fn a_fast_ball_makes_the_step_go_back_and_bounces() {
    let free = |name: &str, y: f64| SoftObject { free: true, ..ball(name, [0.0, y, 0.0], 0.1) };
    let params = SoftParams::new("shot", vec![free("a", 0.0), free("b", 0.24)]);
    let mut rig = Rig::new(params);
    rig.state_mut().bodies[1].velocity = DVec3::Y * -12.0;
    for _ in 0..60 {
        rig.tick();
    }
    assert!(rig.state().take_backs > 0);
    let [a, b] = [&rig.state().bodies[0], &rig.state().bodies[1]];
    assert!(b.position.y > a.position.y + 0.19, "passed through");
    let momentum = a.velocity.y + b.velocity.y;
    assert!((momentum + 12.0).abs() < 1e-6, "{momentum}");
}

#[test]
fn a_step_taken_back_leaves_no_trace() {
    // Two runs into a collision: one tries whole ticks and has to go back, the other begins with the
    // step that the first ends up with.
    let shot = |step: f64| {
        let free = |name: &str, y: f64| SoftObject { free: true, ..ball(name, [0.0, y, 0.0], 0.1) };
        let mut rig = Rig::new(SoftParams::new("shot", vec![free("a", 0.0), free("b", 0.201)]));
        rig.state_mut().bodies[1].velocity = DVec3::Y * -12.0;
        rig.state_mut().bodies[1].spin = DVec3::X * 3.0;
        rig.state_mut().step = step;
        rig.tick();
        rig
    };
    let tried = shot(f64::INFINITY);
    assert!(tried.state().take_backs > 0);
    let known = (1..=8)
        .map(|halvings| shot(0.5f64.powi(halvings) / 120.0))
        .find(|rig| {
            rig.state().take_backs < tried.state().take_backs
                && rig.state().steps == tried.state().steps
        })
        .expect("no step is short enough");
    let mut counted = tried.state().clone();
    counted.take_backs = known.state().take_backs;
    assert_eq!(&counted, known.state());
}

fn mixed_params(reverse: bool) -> SoftParams {
    let mut a = dough("a", vec![]);
    a.dough = Some(DoughParams {
        ball: Some([0.0, 0.2, 0.0]),
        radius: Some(0.1),
        ..DoughParams::default()
    });
    let b = SoftObject { free: true, ..ball("b", [0.03, 0.42, 0.01], 0.08) };
    let bone = |name: &str, parent: Option<&str>, from: [f64; 3], to: [f64; 3]| BoneParams {
        name: name.to_owned(),
        parent: parent.map(str::to_owned),
        from,
        to,
        ..BoneParams::default()
    };
    let mut c = SoftObject::new("c", 0.04);
    c.bones = vec![
        bone("hip", None, [0.3, 0.3, 0.0], [0.3, 0.5, 0.0]),
        bone("arm", Some("hip"), [0.3, 0.5, 0.0], [0.1, 0.55, 0.0]),
    ];
    let mut objects = vec![a, b, c];
    if reverse {
        objects.reverse();
    }
    let mut params = SoftParams::new("mixed", objects);
    params.seeds = 64;
    params
}

fn run_stage(params: SoftParams, threads: usize, frames: usize) -> Simulator {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let clock = Clock::new(Rate::whole(30), 0, 100);
        let forces = Forces::new(Vec3::Y * -9.81, vec![], 30.0);
        let layers = [LayerParams::Soft(params)];
        let mut stage = Simulator::new(Setup {
            clock,
            actors: vec![],
            colliders: collider_params(&[floor_shape()]),
            forces,
            layers: layers.to_vec(),
            ..Setup::default()
        })
        .unwrap();
        for _ in 0..frames {
            stage.advance_frame(&mut NoObserver).unwrap();
        }
        stage
    })
}

#[test]
fn same_bits_for_any_threads_and_any_listing_and_after_resuming() {
    let one = run_stage(mixed_params(false), 1, 12);
    let two = run_stage(mixed_params(false), 2, 12);
    let listed = run_stage(mixed_params(true), 2, 12);
    assert_eq!(one.frame(), two.frame());
    assert_eq!(one.frame(), listed.frame());
    for mesh in &one.frame().meshes {
        closed_manifold(mesh);
    }
    let half = run_stage(mixed_params(false), 1, 6);
    let mut resumed = run_stage(mixed_params(false), 1, 0);
    resumed.load(&half.save().unwrap()).unwrap();
    for _ in 0..6 {
        resumed.advance_frame(&mut NoObserver).unwrap();
    }
    assert_eq!(one.frame().meshes, resumed.frame().meshes);
}

#[test]
fn dough_flows_rests_on_the_floor_and_keeps_its_volume() {
    let mut object = dough("d", vec![]);
    object.dough = Some(DoughParams {
        ball: Some([0.0, 0.2, 0.0]),
        radius: Some(0.13),
        ..DoughParams::default()
    });
    let mut params = SoftParams::new("dough", vec![object]);
    params.seeds = 64;
    let mut rig = Rig::try_new(params, floor(), 9.81).unwrap();
    let start = rig.state().rest_volume();
    for _ in 0..240 {
        rig.tick();
    }
    let ratio = rig.state().volume() / start;
    assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    let fastest = rig.state().bodies.iter().map(|b| b.velocity.length()).fold(0.0, f64::max);
    assert!(fastest < 0.06, "{fastest}");
    let bodies = &rig.state().bodies;
    let mean = bodies.iter().map(|b| b.velocity).sum::<DVec3>() / bodies.len() as f64;
    assert!(mean.length() < 0.01, "{mean}");
    assert!(rig.state().bodies.iter().all(|b| b.position.y > 0.0));
    let mesh = &rig.show().meshes[0];
    closed_manifold(mesh);
    let lowest = mesh.positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
    assert!(lowest.abs() < 2e-3, "{lowest}");
}
