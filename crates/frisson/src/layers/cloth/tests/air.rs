//! Air inside the cloth, and around it.

use super::*;

/// A ball whose triangles are of many sizes.
fn ball(radius: f32) -> Mesh {
    let mut mesh = cube(8, 1.0);
    mesh.name = "ball".to_owned();
    mesh.positions.iter_mut().for_each(|p| *p = radius * p.normalize());
    mesh
}

fn rubber() -> ClothParams {
    ClothParams {
        on: "ball".to_owned(),
        material: Fabric::Rubber,
        stretch_limit: Some(1.0),
        damping: 2.0,
        ..params()
    }
}

/// Least, mean and greatest length of edges, in rest lengths.
fn lengths(scene: &Scene) -> (f64, f64, f64) {
    let strains = scene.strains();
    let mean = strains.iter().sum::<f64>() / strains.len() as f64;
    let (least, most) =
        strains.iter().fold((f64::MAX, f64::MIN), |(a, b), s| (a.min(*s), b.max(*s)));
    (1.0 + least, 1.0 + mean, 1.0 + most)
}

#[test]
fn air_stretches_a_ball_evenly() {
    let keys = Animated::Keys(vec![(0.0, 1.0), (120.0, 1.8)]);
    let p = ClothParams { density: Some(0.05), pressure: Some(keys), ..rubber() };
    let mut scene = Scene::build(vec![still("ball", ball(0.15))], &[], weightless(), p).unwrap();
    scene.ticks(200);
    let (least, mean, most) = lengths(&scene);
    let right = 1.8f64.cbrt();
    assert!((mean / right - 1.0).abs() < 0.02, "{mean}");
    assert!(least > 0.95 * right && most < 1.05 * right, "{least} to {most}, not {right}");
    let volume = pressure::volume(&scene.rest().triangles, scene.positions());
    assert!((volume / scene.rest().volume / 1.8 - 1.0).abs() < 1e-3, "{volume}");
}

#[test]
fn a_skin_takes_no_more_air_than_it_can_stretch_for() {
    let ball = pressure::Inflation::new(1.8, 4.0 * std::f64::consts::PI * 0.386, 0.1);
    let most = 4.0 / 3.0 * std::f64::consts::PI * 0.386f64.powf(1.5);
    assert!((ball.volume / most - 1.331).abs() < 1e-9 && (ball.swell - 1.1).abs() < 1e-12);
    // A flat cushion fills without stretching.
    assert_eq!(pressure::Inflation::new(0.01, 2.0, 1.0).swell, 1.0);
}

/// A membrane of stiffness `Y` whose edges stretch to `s` times their length in a ball of radius `R`
/// balances `p = Y (s² - 1) / (s (s² + 1) R)`: the derivative of its energy by the volume.
#[test]
fn an_overpressure_blows_a_ball_up_as_far_as_its_rubber_says() {
    let (stiffness, radius) = (Fabric::Rubber.moduli().warp, 0.15f64);
    for swell in [1.05f64, 1.15] {
        let square = swell * swell;
        let pascal = stiffness * (square - 1.0) / (swell * (square + 1.0) * radius);
        let p = ClothParams { overpressure: Some(pascal.into()), ..rubber() };
        let actors = vec![still("ball", ball(radius as f32))];
        let mut scene = Scene::build(actors, &[], weightless(), p).unwrap();
        scene.ticks(240);
        let (least, mean, most) = lengths(&scene);
        // The solver may add what sub-steps are chosen for, or a tenth of the strain: edges of triangles
        // of many sizes are not as stiff as a membrane's.
        let added = crate::tolerances::cloth::BLOWN_STRETCH.max(0.1 * (swell - 1.0));
        assert!((mean - swell).abs() < added, "{mean}, not {swell}");
        // Edges of triangles of many sizes are not as stiff as each other: 0.87 to 1.10 of it at 1.15.
        assert!(least > 0.85 * swell && most < 1.12 * swell, "{least} to {most}, not {swell}");
    }
}

#[test]
fn a_ball_stays_where_it_lies_on_a_level_floor() {
    let floor = ColliderParams {
        name: "floor".to_owned(),
        shape: ColliderShape::Plane { point: [0.0, -0.2, 0.0], normal: [0.0, 1.0, 0.0] },
        ..ColliderParams::default()
    };
    let p = ClothParams {
        density: Some(0.05),
        pressure: Some(1.8.into()),
        damping: 0.1,
        drag: 1.0,
        ..rubber()
    };
    let mut scene = Scene::build(vec![still("ball", ball(0.15))], &[floor], gravity(), p).unwrap();
    scene.ticks(600);
    let middle = |x: &[DVec3]| x.iter().sum::<DVec3>() / x.len() as f64;
    let off = middle(scene.positions());
    // It tips from the corner of its mesh on which it falls, and stays: a quarter of its radius.
    assert!(off.x.hypot(off.z) < 0.04, "{off}");
    let speed = middle(&scene.state().velocities);
    assert!(speed.length() < 0.01, "{speed}");
}

/// Flags in wind tunnels carry waves of 1.9 times their length at nearly the wind's speed, so that they beat
/// at about half the wind's speed over their length (Raynaud, Mulleners 2026); light ones swing by a fifth
/// to a half of it (Alben 2022).
#[test]
fn a_flag_flutters_as_flags_do() {
    let (length, speed) = (1.2f64, 7.0f64);
    let (nx, nz) = (31, 21);
    let mut mesh = sheet(nx, nz, (length as f32, 0.8), Vec3::ZERO);
    // Nearly along the wind, on a pole at the left.
    let turn = glam::Mat3::from_rotation_y(0.2);
    mesh.positions.iter_mut().for_each(|p| *p = turn * Vec3::new(p.x, 2.0 - p.z, 0.0));
    let forces = windy([1.0, 0.0, 0.0], (speed, 0.0), 2);
    let p = ClothParams {
        material: Fabric::Silk,
        air_mass: 0.2 * 1.2 * length,
        pins: pinned((0..nz).map(|j| nx * j)),
        ..ClothParams::new("cloth", "sheet")
    };
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], forces, p).unwrap();
    scene.ticks(240);
    let tip = scene.rest().node_of_vertex[(nx * (nz / 2) + nx - 1) as usize] as usize;
    let mut sides = Vec::new();
    for _ in 0..480 {
        scene.ticks(1);
        sides.push(scene.positions()[tip].z);
    }
    let mean = sides.iter().sum::<f64>() / 480.0;
    let rms = (sides.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / 480.0).sqrt();
    let crossings = sides.windows(2).filter(|w| (w[0] - mean) * (w[1] - mean) < 0.0).count();
    let beats = 0.5 * crossings as f64 / 4.0;
    // A sine's full swing is 2.8 times its rms.
    let swing = 2.83 * rms / length;
    let reduced = beats * length / speed;
    assert!((0.15..0.7).contains(&swing), "swing {swing}, {beats} Hz");
    assert!((0.25..1.0).contains(&reduced), "{beats} Hz, {reduced}, swing {swing}");
    let mut strains = scene.strains();
    strains.sort_unstable_by(f64::total_cmp);
    assert!(strains[strains.len() * 99 / 100] < 0.04);
}
