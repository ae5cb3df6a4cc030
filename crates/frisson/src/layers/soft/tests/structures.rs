//! Laws of articulated figures: periods, energy, momentum, limits.

use super::*;

fn bone(name: &str, parent: Option<&str>, from: [f64; 3], to: [f64; 3]) -> BoneParams {
    BoneParams {
        name: name.to_owned(),
        parent: parent.map(str::to_owned),
        from,
        to,
        damping: Some(0.0),
        ..BoneParams::default()
    }
}

/// A figure of bones, in a world with gravity or without.
fn figure(bones: Vec<BoneParams>, gravity: f32) -> Rig {
    let object = SoftObject { bones, ..SoftObject::new("figure", 0.03) };
    let mut params = SoftParams::new("figure", vec![object]);
    params.seeds = 16;
    params.volume_time = 0.0;
    // The laws are the joints': nothing may touch.
    Rig::try_new(params, ColliderSet::default(), gravity).unwrap()
}

/// A hook that is held, and bones of 0.4 m that hang on it in a row, all at an angle to the vertical.
fn chain(count: usize, angle: f64) -> Vec<BoneParams> {
    let mut bones = vec![bone("hook", None, [0.0; 3], [0.0, 0.1, 0.0])];
    bones[0].fixed = true;
    let at = |i: usize| {
        let far = 0.4 * i as f64;
        [far * angle.sin(), -far * angle.cos(), 0.0]
    };
    for i in 0..count {
        let parent = if i == 0 { "hook".to_owned() } else { format!("b{}", i - 1) };
        bones.push(bone(&format!("b{i}"), Some(&parent), at(i), at(i + 1)));
    }
    bones
}

/// Kinetic and potential energy [J], and momenta about the origin.
fn mechanics(rig: &Rig, gravity: f64) -> (f64, DVec3, DVec3) {
    let (mut energy, mut linear, mut angular) = (0.0, DVec3::ZERO, DVec3::ZERO);
    for (b, r) in rig.state().bodies.iter().zip(&rig.rest().bodies) {
        if r.inverse_mass == 0.0 {
            continue;
        }
        let mass = 1.0 / r.inverse_mass;
        let spin_momentum = r.momentum(b.rotation, b.spin);
        energy += 0.5 * mass * b.velocity.length_squared()
            + 0.5 * b.spin.dot(spin_momentum)
            + mass * gravity * b.position.y;
        linear += mass * b.velocity;
        angular += b.position.cross(mass * b.velocity) + spin_momentum;
    }
    (energy, linear, angular)
}

/// Greatest gap of a joint [m].
fn gap(rig: &Rig) -> f64 {
    let bodies = &rig.state().bodies;
    let end = |b: usize, anchor: DVec3| bodies[b].position + bodies[b].rotation * anchor;
    let joints = rig.rest().joints.iter();
    joints
        .map(|j| end(j.bodies[0], j.anchors[0]).distance(end(j.bodies[1], j.anchors[1])))
        .fold(0.0, f64::max)
}

/// Seconds between swings through the middle, over some periods, of the first bone below the hook.
fn period(rig: &mut Rig, periods: u32) -> f64 {
    let mut crossings: Vec<f64> = Vec::new();
    let mut last = rig.state().bodies[1].position.x;
    while crossings.len() <= 2 * periods as usize {
        rig.tick();
        let now = rig.state().bodies[1].position.x;
        if (now > 0.0) != (last > 0.0) {
            // Between the ticks, by interpolation.
            crossings.push((rig.ticks as f64 - now / (now - last)) / 120.0);
        }
        last = now;
        assert!(rig.ticks < 10_000, "it does not swing");
    }
    (crossings[2 * periods as usize] - crossings[0]) / f64::from(periods)
}

#[test]
fn a_bone_swings_as_a_compound_pendulum_does() {
    for hinge in [None, Some([0.0, 0.0, 1.0])] {
        let mut bones = chain(1, 0.05);
        bones[1].hinge = hinge;
        let mut rig = figure(bones, 9.81);
        let (rest, arm) = (&rig.rest().bodies[1], rig.rest().joints[0].anchors[1]);
        let mass = 1.0 / rest.inverse_mass;
        let about_center = 1.0 / rest.inverse_inertia.z_axis.z;
        let moment = about_center + mass * arm.length_squared();
        // A small swing, with the first correction for its width.
        let expected = std::f64::consts::TAU
            * (moment / (mass * 9.81 * arm.length())).sqrt()
            * (1.0 + 0.05f64.powi(2) / 16.0);
        let got = period(&mut rig, 10);
        assert!((got / expected - 1.0).abs() < 0.002, "{hinge:?}: {got} s, not {expected} s");
    }
}

#[test]
fn a_swinging_chain_keeps_its_energy_and_its_joints() {
    let mut rig = figure(chain(3, 0.8), 9.81);
    let start = mechanics(&rig, 9.81).0;
    // What there is to win by hanging straight down.
    let drop: f64 = rig.rest().bodies[1..]
        .iter()
        .enumerate()
        .map(|(i, r)| 9.81 * (0.4 * i as f64 + 0.2) * (1.0 - 0.8f64.cos()) / r.inverse_mass)
        .sum();
    let mut worst = 0.0f64;
    for _ in 0..1200 {
        rig.tick();
        worst = worst.max((mechanics(&rig, 9.81).0 - start).abs() / drop);
        assert!(gap(&rig) < 1e-5, "{}", gap(&rig));
        assert_eq!(rig.state().contacts, 0);
    }
    assert!(worst < 0.03, "{worst}");
}

#[test]
fn a_free_chain_keeps_its_momenta() {
    let mut bones = chain(4, 0.7);
    bones[0].fixed = false;
    bones[2].hinge = Some([0.0, 0.6, 0.8]);
    bones[3].swing_deg = Some(30.0);
    bones[4].damping = Some(4.0);
    let mut rig = figure(bones, 0.0);
    for (i, b) in rig.state_mut().bodies.iter_mut().enumerate() {
        let c = |k: u64| random::signed(3, i as u64, k);
        b.velocity = 0.4 * DVec3::new(c(0), c(1), c(2));
        b.spin = 5.0 * DVec3::new(c(3), c(4), c(5));
    }
    // The first step makes the velocities fit the joints, by impulses that balance as well.
    let (energy, linear, angular) = mechanics(&rig, 0.0);
    let mut last = energy;
    for tick in 0..1200 {
        rig.tick();
        let (now, l, a) = mechanics(&rig, 0.0);
        assert!((l - linear).length() < 1e-9 * linear.length(), "{linear} {l}");
        assert!((a - angular).length() < 1e-6 * angular.length(), "{tick}: {angular} {a}");
        assert!(now <= 1.02 * last, "{tick}: energy from {last} to {now}");
        last = last.min(now);
        assert!(gap(&rig) < 1e-5, "{}", gap(&rig));
    }
}

#[test]
fn a_tumbling_body_keeps_its_angular_momentum_and_energy() {
    // A book thrown about its middle axis turns over and over.
    let mut object = SoftObject::new("book", 0.05);
    object.free = true;
    object.primitives = vec![PrimitiveParams {
        triangle: Some([[-0.3, 0.0, -0.1], [0.3, 0.0, -0.1], [0.0, 0.0, 0.2]]),
        ..PrimitiveParams::default()
    }];
    let mut params = SoftParams::new("book", vec![object]);
    params.seeds = 16;
    let mut rig = Rig::new(params);
    rig.state_mut().bodies[0].spin = DVec3::new(0.05, 0.0, 9.0);
    let (energy, _, angular) = mechanics(&rig, 0.0);
    let axis = rig.state().bodies[0].rotation * DVec3::Z;
    let mut turned = 0.0f64;
    for _ in 0..1200 {
        rig.tick();
        let (now, _, a) = mechanics(&rig, 0.0);
        assert!((a - angular).length() < 1e-9 * angular.length());
        assert!((now / energy - 1.0).abs() < 0.01, "{energy} {now}");
        turned = turned.max((rig.state().bodies[0].rotation * DVec3::Z).angle_between(axis));
    }
    assert!(turned > 3.0, "it did not turn over: {turned}");
}

#[test]
fn limits_hold_and_what_starts_beyond_them_comes_back_gently() {
    // A hinge falls onto its stop; a ball joint swings out to its own.
    let mut bones = chain(2, 1.5);
    bones[1].hinge = Some([0.0, 0.0, 1.0]);
    bones[1].angles_deg = Some([-40.0, 10.0]);
    bones[2].swing_deg = Some(25.0);
    let mut rig = figure(bones, 9.81);
    let bend = |rig: &Rig, a: usize, b: usize| {
        let along = |i: usize| rig.state().bodies[i].rotation * DVec3::X;
        along(a).angle_between(along(b)).to_degrees()
    };
    let mut furthest = [0.0f64; 2];
    for _ in 0..600 {
        rig.tick();
        furthest = [furthest[0].max(bend(&rig, 0, 1)), furthest[1].max(bend(&rig, 1, 2))];
        // A hinge turns about its axis only.
        let axis = rig.state().bodies[1].rotation * DVec3::Z;
        assert!(axis.angle_between(DVec3::Z).to_degrees() < 0.1);
    }
    assert!((39.0..40.2).contains(&furthest[0]), "{furthest:?}");
    assert!((20.0..25.5).contains(&furthest[1]), "{furthest:?}");
    assert!(rig.state().bodies.iter().all(|b| b.spin.length() < 20.0));

    // Limits that leave out the pose that is given.
    let mut bones = chain(1, 0.8);
    bones[1].hinge = Some([0.0, 0.0, 1.0]);
    bones[1].angles_deg = Some([30.0, 60.0]);
    let mut rig = figure(bones, 0.0);
    let mut fastest = 0.0f64;
    for _ in 0..120 {
        rig.tick();
        fastest = fastest.max(rig.state().bodies[1].spin.length());
    }
    assert!(bend(&rig, 0, 1) > 29.5 && fastest < 6.0, "{} {fastest}", bend(&rig, 0, 1));
}
