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

/// Edges of a sheet and of a body that go through each other's triangles.
fn crossings(scene: &Scene, body: usize) -> usize {
    let meshes = &scene.frame().meshes;
    let place = |mesh: usize, v: u32| meshes[mesh].positions[v as usize].as_dvec3();
    let through = |of: usize, other: usize| {
        let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
        let edges = meshes[of].topology.triangles.iter().flat_map(sides);
        let is_through = |[a, b]: [u32; 2]| {
            let (a, b) = (place(of, a), place(of, b));
            let mut others = meshes[other].topology.triangles.iter();
            others.any(|t| crate::layers::moved::crosses(a, b, t.map(|v| place(other, v))))
        };
        edges.filter(|edge| is_through(*edge)).count()
    };
    through(0, body) + through(body, 0)
}

/// A block of some half sizes on its way: times and places.
fn block(name: &str, half: [f32; 3], keys: &[(f64, [f32; 3])]) -> Actor {
    let mut mesh = cube(1, 1.0);
    mesh.positions.iter_mut().for_each(|p| *p *= Vec3::from_array(half));
    let path = KeyedTransform {
        times: keys.iter().map(|k| k.0).collect(),
        translations: keys.iter().map(|k| Vec3::from_array(k.1)).collect(),
        rotations: vec![glam::Quat::IDENTITY; keys.len()],
        ..KeyedTransform::default()
    };
    carried(name, mesh, path)
}

/// The border of a sheet of `n` by `n` vertices.
fn rim(n: u32) -> impl Iterator<Item = u32> {
    (0..n * n).filter(move |v| [0, n - 1].contains(&(v % n)) || [0, n - 1].contains(&(v / n)))
}

#[test]
fn what_passes_beside_a_garment_presses_it_to_the_body_and_does_not_come_through() {
    // A hand that is wiped over a hip, a centimetre from it, 17 mm in a tick: the cloth stands two centimetres off.
    let n = 21;
    let mesh = sheet(n, n, (0.4, 0.4), Vec3::new(-0.2, 0.02, -0.2));
    let hip = block("hip", [0.3, 0.1, 0.3], &[(0.0, [0.0, -0.1, 0.0]), (1.0, [0.0, -0.1, 0.0])]);
    let way = [(0.0, [-0.6, 0.042, 0.013]), (0.6, [0.6, 0.042, 0.013])];
    let hand = block("hand", [0.03, 0.03, 0.05], &way);
    let p = ClothParams {
        thickness: Some(0.005),
        pins: pinned(rim(n)),
        bodies: vec!["hip".to_owned(), "hand".to_owned()],
        beside: vec![ClothBeside { body: "hand".to_owned(), vertices: None }],
        ..params()
    };
    let actors = vec![still("sheet", mesh), hip, hand];
    let mut scene = Scene::build(actors, &[], weightless(), p).unwrap();
    let mut lowest: f64 = 1.0;
    for tick in 1..=72 {
        scene.ticks(1);
        // What is held is held.
        let x = scene.frame().meshes[2].positions.iter().map(|p| p.x);
        let over_rim =
            x.clone().fold(f32::MAX, f32::min) < -0.17 || x.fold(f32::MIN, f32::max) > 0.17;
        assert!(over_rim || crossings(&scene, 2) == 0, "tick {tick}: {}", crossings(&scene, 2));
        assert_eq!(crossings(&scene, 1), 0, "tick {tick}");
        lowest = scene.positions().iter().map(|p| p.y).fold(lowest, f64::min);
        let most = scene.strains().into_iter().fold(0.0, f64::max);
        assert!(most < 0.25, "tick {tick}: it is not dragged along: {most}");
    }
    assert!(lowest < 0.012, "it was pressed: {lowest}");
}

#[test]
fn a_knee_that_comes_through_a_robe_does_not_come_through_the_cloth_on_it() {
    let n = 15;
    let mesh = sheet(n, n, (0.4, 0.4), Vec3::new(-0.2, 0.006, -0.2));
    let robe = block("robe", [0.3, 0.2, 0.3], &[(0.0, [0.0, -0.2, 0.0]), (1.0, [0.0, -0.2, 0.0])]);
    // From three centimetres within the robe to four out of it, 17 mm in a tick.
    let up = [(0.0, [0.0, -0.23, 0.0]), (0.1, [0.0, -0.23, 0.0]), (0.135, [0.0, -0.16, 0.0])];
    let knee = block("knee", [0.08, 0.2, 0.08], &up);
    let p = ClothParams {
        thickness: Some(0.006),
        bodies: vec!["robe".to_owned(), "knee".to_owned()],
        ..params()
    };
    let actors = vec![still("sheet", mesh), robe, knee];
    let mut scene = Scene::build(actors, &[], weightless(), p).unwrap();
    for tick in 1..=15 {
        scene.ticks(1);
        assert_eq!(crossings(&scene, 2), 0, "tick {tick}");
    }
    let highest = scene.positions().iter().map(|p| p.y).fold(0.0, f64::max);
    assert!(highest > 0.015, "it was lifted: {highest}");
}

#[test]
fn what_is_held_gives_way_to_what_passes_beside_it_and_comes_back() {
    // The same hand; now the rim of the sheet, which is held two centimetres off the hip, has to let it pass, too.
    let n = 21;
    let mesh = sheet(n, n, (0.4, 0.4), Vec3::new(-0.2, 0.02, -0.2));
    let hip = block("hip", [0.5, 0.1, 0.3], &[(0.0, [0.0, -0.1, 0.0]), (1.0, [0.0, -0.1, 0.0])]);
    let way = [(0.0, [-0.6, 0.042, 0.013]), (0.6, [0.6, 0.042, 0.013])];
    let hand = block("hand", [0.03, 0.03, 0.05], &way);
    let p = ClothParams {
        thickness: Some(0.005),
        pins: pinned(rim(n)),
        bodies: vec!["hip".to_owned(), "hand".to_owned()],
        beside: vec![ClothBeside { body: "hand".to_owned(), vertices: None }],
        ..params()
    };
    let actors = vec![still("sheet", mesh), hip, hand];
    let mut scene = Scene::build(actors, &[], weightless(), p).unwrap();
    let heights = |scene: &Scene| {
        let held: Vec<f64> =
            rim(n).map(|v| f64::from(scene.frame().meshes[0].positions[v as usize].y)).collect();
        held.into_iter()
    };
    let mut lowest: f64 = 1.0;
    for tick in 1..=96 {
        scene.ticks(1);
        assert_eq!((crossings(&scene, 1), crossings(&scene, 2)), (0, 0), "tick {tick}");
        lowest = heights(&scene).fold(lowest, f64::min);
    }
    assert!(lowest < 0.012, "it was pressed: {lowest}");
    assert!(heights(&scene).all(|y| (y - 0.02).abs() < 1e-6));
}

#[test]
fn cloth_beside_pins_that_go_through_a_limb_is_not_drawn_out_of_it() {
    // A cape hangs from its border; an arm swings back into it, three centimetres past the border.
    let n = 21;
    let mut mesh = sheet(n, n, (0.4, 0.4), Vec3::ZERO);
    mesh.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x - 0.2, 0.2 - p.z, 0.0));
    let way = [(0.0, [0.0, 0.18, -0.1]), (0.3, [0.0, 0.18, -0.02]), (2.0, [0.0, 0.18, -0.02])];
    let arm = block("arm", [0.08, 0.05, 0.05], &way);
    let p = ClothParams {
        thickness: Some(0.005),
        pins: pinned(0..n),
        bodies: vec!["arm".to_owned()],
        ..params()
    };
    let actors = vec![still("sheet", mesh), arm];
    let mut scene = Scene::build(actors, &[], gravity(), p).unwrap();
    let mut most: f64 = 0.0;
    for _ in 0..120 {
        scene.ticks(1);
        most = scene.strains().into_iter().fold(most, f64::max);
    }
    // By 117 % where the cloth beside the border is pushed out of the arm.
    assert!(most < 0.2, "an edge is drawn out by {most}");
    // Farther down it lies on the arm as ever.
    let farthest = scene.positions().iter().map(|p| p.z).fold(0.0, f64::max);
    assert!(farthest > 0.025, "it was pushed: {farthest}");
}

#[test]
fn cloth_that_is_put_on_hangs_when_the_shot_begins_however_strongly_it_settles() {
    // A cape is modelled leaning by a third; what settles so strongly would take ten seconds to hang.
    let n = 9;
    let mut cape = sheet(n, n, (0.4, 0.4), Vec3::ZERO);
    cape.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x - 0.2, -0.95 * p.z, -0.3 * p.z));
    cape.name = "cape".to_owned();
    let mut body = cube(1, 0.1);
    body.positions.iter_mut().for_each(|p| p.z += 1.0);
    body.name = "body".to_owned();
    let p = ClothParams {
        on: "hero/cape".to_owned(),
        bodies: vec!["hero/body".to_owned()],
        pins: pinned(0..n),
        settle: 3.0,
        dressing: 2.0,
        ..params()
    };
    let hero = Actor::meshes_named("hero", vec![cape, body]);
    let scene = Scene::build(vec![hero], &[], gravity(), p).unwrap();
    let farthest = scene.positions().iter().map(|p| p.z.abs()).fold(0.0, f64::max);
    assert!(farthest < 0.012, "it leans by {farthest} m of 0.12");
}

#[test]
fn a_large_triangle_from_the_shoulder_to_the_elbow_is_of_the_arm() {
    // Two corners at the shoulder, which is carried by trunk and arm, and one at the elbow; beside it the trunk.
    let positions =
        [[0.1, 0.5, 0.0], [0.1, 0.5, 0.1], [0.4, 0.3, 0.0], [0.1, 0.0, 0.0], [0.1, 0.0, 0.1]];
    let triangles = vec![[0, 1, 2], [0, 3, 1], [1, 3, 4]];
    let body = Mesh::new("body", positions.map(Vec3::from_array).to_vec(), triangles);
    let arm = Selection {
        vertices: Some(vec![0, 1, 2]),
        weights: Some(vec![0.1, 0.1, 1.0]),
        ..Selection::default()
    };
    let p = ClothParams {
        pins: pinned(0..4),
        bodies: vec!["body".to_owned()],
        beside: vec![ClothBeside { body: "body".to_owned(), vertices: Some(arm) }],
        ..params()
    };
    let actors = vec![still("sheet", sheet(4, 4, (0.4, 0.4), Vec3::Y)), still("body", body)];
    let scene = Scene::build(actors, &[], gravity(), p).unwrap();
    let bodies = &scene.cloth().rest().bodies;
    let triangles = |outside: bool| {
        let found = bodies.iter().find(|body| body.is_outside == outside);
        found.map_or(Vec::new(), |body| body.source.topology.triangles.clone())
    };
    assert_eq!(triangles(true), [[0, 1, 2]]);
    assert_eq!(triangles(false), [[0, 3, 1], [1, 3, 4]]);
}
