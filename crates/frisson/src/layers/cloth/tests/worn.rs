//! Garments on bodies that stand still.

use super::*;

/// A tube of cloth around a box whose half sizes are `half`, `out` away from it, from its top downwards.
fn tube(columns: u32, rows: u32, half: Vec3, out: f32, length: f32) -> Mesh {
    let place = |i: u32, j: u32| {
        let angle = std::f32::consts::TAU * i as f32 / columns as f32;
        let (sin, cos) = angle.sin_cos();
        // A circle around the box's outline, flattened as the box is.
        let (x, z) = (half.x * 2f32.sqrt() + out, half.z * 2f32.sqrt() + out);
        Vec3::new(x * cos, half.y - length * j as f32 / (rows - 1) as f32, z * sin)
    };
    let positions = (0..rows).flat_map(|j| (0..columns).map(move |i| place(i, j))).collect();
    let quads = (0..rows - 1).flat_map(|j| (0..columns).map(move |i| (i, j)));
    let triangles = quads.flat_map(|(i, j)| {
        let (a, b) = (j * columns + i, j * columns + (i + 1) % columns);
        [[a, b, a + columns], [b, b + columns, a + columns]]
    });
    Mesh::new("sheet", positions, triangles.collect())
}

/// Speed below which 99 of 100 vertices are over a second [m/s].
fn speed(scene: &mut Scene) -> f64 {
    let mut worst: f64 = 0.0;
    for _ in 0..30 {
        let before = scene.positions().to_vec();
        scene.ticks(4);
        let ways = scene.positions().iter().zip(&before).map(|(a, b)| a.distance(*b));
        let mut ways: Vec<f64> = ways.collect();
        ways.sort_by(f64::total_cmp);
        worst = worst.max(ways[ways.len() * 99 / 100] * 30.0);
    }
    worst
}

#[test]
fn a_tube_on_a_body_of_few_large_triangles_comes_to_rest() {
    let half = Vec3::new(0.12, 0.15, 0.1);
    let mut body = cube(1, 1.0);
    body.name = "body".to_owned();
    body.positions.iter_mut().for_each(|p| *p *= half);
    // Below the waist the body is a little wider: the cloth lies on its edges.
    body.positions.iter_mut().filter(|p| p.y < 0.0).for_each(|p| *p *= Vec3::new(1.04, 1.0, 1.04));
    let mesh = tube(40, 14, half, 0.008, 0.3);
    let p = ClothParams {
        pins: pinned(0..40),
        material: Fabric::Wool,
        bodies: vec!["body".to_owned()],
        thickness: Some(0.006),
        settle: 0.3,
        ..params()
    };
    let actors = vec![still("sheet", mesh), still("body", body)];
    let mut scene = Scene::build(actors, &[], gravity(), p).unwrap();
    scene.ticks(240);
    let after_two = speed(&mut scene);
    assert!(after_two < 0.01, "{after_two} m/s after two seconds");
    scene.ticks(120);
    let after_four = speed(&mut scene);
    assert!(after_four < 0.003, "{after_four} m/s after four");
}

#[test]
fn what_lies_between_the_roots_of_two_bodies_is_not_shaken() {
    // An arm whose end is within a trunk; cloth hangs over both, pinned just above the joint.
    let mut trunk = cube(1, 1.0);
    trunk.positions.iter_mut().for_each(|p| *p *= Vec3::new(0.2, 0.2, 0.1));
    trunk.name = "trunk".to_owned();
    let mut arm = cube(1, 1.0);
    arm.positions.iter_mut().for_each(|p| *p = *p * Vec3::new(0.2, 0.08, 0.08) + 0.25 * Vec3::X);
    arm.name = "arm".to_owned();
    let mut mesh = sheet(15, 17, (0.5, 0.5), Vec3::ZERO);
    // Upright, behind both, its upper border within the trunk.
    mesh.positions
        .iter_mut()
        .for_each(|p| *p = Vec3::new(p.x - 0.1, 0.15 - p.z, -0.085 - 0.1 * p.z));
    let p = ClothParams {
        pins: pinned(0..15),
        material: Fabric::Wool,
        bodies: vec!["trunk".to_owned(), "arm".to_owned()],
        thickness: Some(0.006),
        settle: 0.3,
        damping: 0.5,
        ..params()
    };
    let actors = vec![still("sheet", mesh), still("trunk", trunk), still("arm", arm)];
    let mut scene = Scene::build(actors, &[], gravity(), p).unwrap();
    scene.ticks(480);
    let speed = speed(&mut scene);
    assert!(speed < 0.003, "{speed} m/s after four seconds");
}
