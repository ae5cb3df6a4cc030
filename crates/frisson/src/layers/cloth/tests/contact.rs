//! Laws of contact: with balls and bodies, and of the cloth with itself.

use glam::{DVec3, Vec3};

use super::*;
use crate::layers::moved::crosses;

/// Deepest that any triangle reaches into a ball.
fn depth_in_ball(scene: &Scene, center: Vec3, radius: f32) -> f32 {
    let mesh = &scene.frame().meshes[0];
    let depth = |t: &[u32; 3]| {
        let corners = t.map(|v| mesh.positions[v as usize]);
        let (closest, _) = crate::geometry::closest_on_triangle(center, corners);
        radius - closest.distance(center)
    };
    mesh.topology.triangles.iter().map(depth).fold(f32::MIN, f32::max)
}

#[test]
fn a_fast_ball_does_not_pass_through_a_free_sheet() {
    let mesh = sheet(26, 26, (1.0, 1.0), Vec3::new(-0.5, 0.0, -0.5));
    let p = ClothParams { thickness: Some(0.01), ..params() };
    let mut collider = ball([0.0, -0.3, 0.0], 0.2);
    collider.move_y = Animated::Keys(vec![(0.0, 0.0), (24.0, 2.0)]);
    let colliders = [collider];
    let mut scene = Scene::build(vec![still("sheet", mesh)], &colliders, weightless(), p).unwrap();
    for tick in 1..=24 {
        scene.ticks(1);
        let y = -0.3 + 2.0 * tick as f32 / 24.0;
        let depth = depth_in_ball(&scene, Vec3::new(0.0, y, 0.0), 0.2);
        assert!(depth < 0.001, "tick {tick}: {depth}");
    }
    let carried = scene.positions().iter().map(|p| p.y).fold(f64::MAX, f64::min);
    assert!(carried > 0.2, "the whole sheet was carried along: {carried}");
}

#[test]
fn a_fast_mesh_pushes_the_sheet_ahead() {
    let mesh = sheet(26, 26, (1.0, 1.0), Vec3::new(-0.5, 0.0, -0.5));
    let path = KeyedTransform {
        times: vec![0.0, 0.2],
        translations: vec![Vec3::Y * -0.3, Vec3::Y * 0.9],
        rotations: vec![glam::Quat::IDENTITY; 2],
        ..KeyedTransform::default()
    };
    let body = carried("body", cube(4, 0.15), path);
    let p = ClothParams { thickness: Some(0.01), bodies: vec!["body".to_owned()], ..params() };
    let mut scene = Scene::build(vec![still("sheet", mesh), body], &[], weightless(), p).unwrap();
    for tick in 1..=24 {
        scene.ticks(1);
        let y = -0.3 + 1.2 * f64::from(tick) / 24.0;
        let inside = scene.positions().iter().filter(|p| {
            let d = (**p - DVec3::Y * y).abs();
            d.max_element() < 0.149
        });
        assert_eq!(inside.count(), 0, "tick {tick}");
    }
}

#[test]
fn a_layer_that_is_struck_takes_along_the_one_ahead_of_it() {
    // Farther apart than a search looks, nearer than the body moves in a tick.
    let mut mesh = sheet(21, 21, (0.8, 0.8), Vec3::new(-0.4, 0.0, -0.4));
    let upper = sheet(21, 21, (0.8, 0.8), Vec3::new(-0.4, 0.02, -0.4));
    let count = mesh.positions.len() as u32;
    let shifted = upper.topology.triangles.iter().map(|t| t.map(|v| v + count));
    let triangles = mesh.topology.triangles.iter().copied().chain(shifted).collect();
    mesh.positions.extend(upper.positions);
    let mesh = Mesh::new("sheet", mesh.positions, triangles);
    let path = KeyedTransform {
        times: vec![0.0, 0.2],
        translations: vec![Vec3::Y * -0.3, Vec3::Y * 0.3],
        rotations: vec![glam::Quat::IDENTITY; 2],
        ..KeyedTransform::default()
    };
    let body = carried("body", cube(6, 0.15), path);
    let p = ClothParams {
        thickness: Some(0.01),
        self_collision: true,
        bodies: vec!["body".to_owned()],
        ..params()
    };
    let mut scene = Scene::build(vec![still("sheet", mesh), body], &[], weightless(), p).unwrap();
    // At the rim of the box the lower sheet is bent over its edge within one tick, and may reach through the upper one
    // in single edges: it has to come out again within a frame of film, and to stay out.
    let mut since = 0;
    for tick in 1..=20 {
        scene.ticks(1);
        let now = crossings(&scene);
        since = if now == 0 { 0 } else { since + 1 };
        assert!(since <= 4, "tick {tick}: {now}, for {since} ticks");
        assert!(now < 10, "tick {tick}: {now}");
    }
    assert_eq!(since, 0);
}

#[test]
fn cloth_is_no_thicker_for_itself_than_half_its_edges() {
    let bands = |size: f32| {
        let mesh = sheet(11, 11, (size, size), Vec3::ZERO);
        let scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), params()).unwrap();
        let garment = scene.cloth().rest();
        self_contact::own_bands(&garment.cloth, &garment.at_rest, 0.01)
    };
    assert_eq!(bands(1.0).of(0), 1.0, "edges of 10 cm");
    // Edges of 5 mm, and diagonals.
    let gathered = bands(0.05);
    assert!((0..121).all(|node| (0.2..0.36).contains(&gathered.of(node))));
}

/// The 99th percentile of the stretch [-].
fn p99(scene: &Scene) -> f64 {
    let mut strains = scene.strains();
    strains.sort_unstable_by(f64::total_cmp);
    strains[strains.len() * 99 / 100]
}

#[test]
fn a_falling_sheet_that_a_ball_stops_hardly_stretches_and_is_solved_harder_only_then() {
    let n = 64;
    let mesh = sheet(n, n, (2.0, 2.0), Vec3::new(-1.0, 2.0, -1.0));
    let p = ClothParams {
        density: Some(0.3),
        friction: Some(0.1),
        pins: pinned([0, n - 1]),
        ..ClothParams::new("cloth", "sheet")
    };
    let colliders = [ball([0.0, 1.0, -0.1], 0.5)];
    let mut scene = Scene::build(vec![still("sheet", mesh)], &colliders, gravity(), p).unwrap();
    let (mut worst, mut hard) = (0.0f64, 0);
    for _ in 0..80 {
        scene.ticks(1);
        worst = worst.max(p99(&scene));
        hard += u32::from(scene.state().hard > 0);
    }
    // 4.4 % with the usual small steps.
    assert!(worst < 0.03, "{worst}");
    assert!((1..60).contains(&hard), "{hard}");
}

#[test]
fn cloth_that_hangs_is_not_solved_harder() {
    let n = 32;
    let mesh = sheet(n, n, (1.0, 1.0), Vec3::ZERO);
    let p = ClothParams { pins: pinned(0..n), ..ClothParams::new("cloth", "sheet") };
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
    scene.ticks(240);
    assert_eq!(scene.state().hard, 0);
}

/// Edges that go through triangles. Triangles are sorted by where they begin along x.
fn crossings(scene: &Scene) -> usize {
    let (x, rest) = (scene.positions(), scene.rest());
    let at = |n: u32| x[n as usize];
    let span = |nodes: &[u32]| {
        nodes.iter().fold((f64::MAX, f64::MIN), |(a, b), &n| (a.min(at(n).x), b.max(at(n).x)))
    };
    let mut triangles: Vec<_> = rest.triangles.iter().map(|t| (span(t), *t)).collect();
    triangles.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    let widest = triangles.iter().map(|(s, _)| s.1 - s.0).fold(0.0, f64::max);
    let mut count = 0;
    for edge in &rest.edges.rows {
        let ([a, b], (from, to)) = (edge.nodes.map(at), span(&edge.nodes));
        let first = triangles.partition_point(|(s, _)| s.0 < from - widest);
        let near = triangles[first..].iter().take_while(|(s, _)| s.0 <= to);
        let apart = near.filter(|(_, t)| edge.nodes.iter().all(|n| !t.contains(n)));
        count += apart.filter(|(_, t)| crosses(a, b, t.map(at))).count();
    }
    count
}

#[test]
fn a_sheet_that_is_gathered_around_a_ball_does_not_go_through_itself() {
    let n = 64;
    let mesh = sheet(n, n, (2.0, 2.0), Vec3::new(-1.0, 2.0, -1.0));
    let p = ClothParams {
        density: Some(0.3),
        friction: Some(0.1),
        self_collision: true,
        drag: 0.0,
        lift: 0.0,
        pins: pinned([0, n - 1]),
        ..ClothParams::new("cloth", "sheet")
    };
    let colliders = [ball([0.0, 1.0, -0.1], 0.5)];
    let mut scene = Scene::build(vec![still("sheet", mesh)], &colliders, gravity(), p).unwrap();
    scene.ticks(54);
    for tick in 55..=85 {
        scene.ticks(1);
        assert_eq!(crossings(&scene), 0, "tick {tick}");
    }
}

#[test]
fn a_folded_sheet_keeps_its_layers_apart() {
    let mut mesh = sheet(25, 11, (1.0, 0.4), Vec3::ZERO);
    // Folded over a rod of 8 mm: the upper half lies 16 mm above the lower.
    let (radius, thickness) = (0.016f32, 0.012);
    let arc = std::f32::consts::PI * radius;
    let flat = mesh.clone();
    for p in &mut mesh.positions {
        let s = p.x - 0.5;
        let angle = (s / radius).clamp(0.0, std::f32::consts::PI);
        let x = if s < 0.0 { s } else { radius * angle.sin() - (s - arc).max(0.0) };
        *p = Vec3::new(x, 0.02 + radius * (1.0 - angle.cos()), p.z);
    }
    let p =
        ClothParams { self_collision: true, thickness: Some(thickness), damping: 1.0, ..params() };
    let floor = ColliderParams {
        name: "floor".to_owned(),
        shape: ColliderShape::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] },
        ..ball([0.0; 3], 1.0)
    };
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[floor], gravity(), p).unwrap();
    scene.ticks(600);
    let (x, rest) = (scene.positions(), scene.rest());
    let home = rest.node_positions(&flat.positions);
    let mut least = (f64::MAX, DVec3::ZERO, DVec3::ZERO, 0, 0);
    for (node, p) in x.iter().enumerate() {
        for t in &rest.triangles {
            let far = t.iter().all(|&n| home[n as usize].distance(home[node]) > 0.12);
            if far {
                let corners = t.map(|n| x[n as usize].as_vec3());
                let (q, _) = crate::geometry::closest_on_triangle(p.as_vec3(), corners);
                let d = f64::from(q.distance(p.as_vec3()));
                if d < least.0 {
                    let v = |n: u32| rest.vertex_of_node[n as usize];
                    least = (d, *p, q.as_dvec3(), v(node as u32), v(t[0]));
                }
            }
        }
    }
    assert!(least.0 >= 0.9 * thickness, "{least:?}");
    assert_eq!(crossings(&scene), 0);
    let speed = scene.state().velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(speed < 0.2, "it lies still: {speed}");
}

/// Two meshes as one, not joined.
fn both(a: Mesh, b: &Mesh) -> Mesh {
    let first = a.positions.len() as u32;
    let mut triangles = a.topology.triangles.clone();
    triangles.extend(b.topology.triangles.iter().map(|t| t.map(|v| v + first)));
    let mut positions = a.positions;
    positions.extend(&b.positions);
    Mesh::new("sheet", positions, triangles)
}

#[test]
fn a_strip_lies_on_another_although_no_vertex_touches() {
    // Each is one quad: all vertices are half a metre from where the strips cross.
    let lower = sheet(2, 2, (1.0, 0.02), Vec3::new(-0.5, 0.0, -0.01));
    let upper = sheet(2, 2, (0.02, 1.0), Vec3::new(-0.01, 0.05, -0.5));
    let p =
        ClothParams { self_collision: true, thickness: Some(0.01), pins: pinned(0..4), ..params() };
    let actors = vec![still("sheet", both(lower, &upper))];
    let mut scene = Scene::build(actors, &[], gravity(), p).unwrap();
    for tick in 1..=120 {
        scene.ticks(1);
        let high = |v: usize| scene.frame().meshes[0].positions[v].y;
        let mean = (4..8).map(high).sum::<f32>() / 4.0;
        assert!(mean > 0.005, "tick {tick}: {mean}");
    }
    assert_eq!(crossings(&scene), 0);
}

#[test]
fn cloth_that_starts_crossed_is_taken_apart() {
    // The upper sheet is modelled with a dip that goes through the lower one.
    let mut upper = sheet(21, 21, (1.0, 1.0), Vec3::new(-0.5, 0.04, -0.5));
    for p in &mut upper.positions {
        let r = (p.x - 0.03).hypot(p.z + 0.05) / 0.16;
        p.y -= 0.1 * (-r * r).exp();
    }
    let lower = sheet(21, 21, (1.0, 1.0), Vec3::new(-0.5, 0.0, -0.5));
    let p = ClothParams {
        self_collision: true,
        thickness: Some(0.01),
        rest_angles: RestAngles::AsModelled,
        damping: 1.0,
        ..params()
    };
    let actors = vec![still("sheet", both(lower, &upper))];
    let mut scene = Scene::build(actors, &[], weightless(), p).unwrap();
    let start = crossings(&scene);
    assert!(start > 20, "{start}");
    for _ in 0..240 {
        scene.ticks(1);
        let speed = scene.state().velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
        assert!(speed < 3.0, "calmly: {speed}");
    }
    assert_eq!(crossings(&scene), 0, "of {start}");
}

#[test]
fn a_coarse_sheet_is_lifted_by_what_lies_between_its_nodes() {
    let mesh = sheet(3, 3, (1.0, 1.0), Vec3::new(-0.5, 0.0, -0.5));
    let path = KeyedTransform {
        times: vec![0.0, 0.5],
        translations: vec![Vec3::new(0.24, -0.2, 0.22), Vec3::new(0.24, 0.1, 0.22)],
        rotations: vec![glam::Quat::IDENTITY; 2],
        ..KeyedTransform::default()
    };
    let body = carried("body", cube(4, 0.09), path);
    let p = ClothParams {
        thickness: Some(0.01),
        bodies: vec!["body".to_owned()],
        dressing: 0.0,
        ..params()
    };
    let mut scene = Scene::build(vec![still("sheet", mesh), body], &[], weightless(), p).unwrap();
    scene.ticks(60);
    let (x, rest) = (scene.positions(), scene.rest());
    let above = |t: &&[u32; 3]| {
        let corners = t.map(|n| x[n as usize]);
        crosses(DVec3::new(0.24, -2.0, 0.22), DVec3::new(0.24, 0.19, 0.22), corners)
    };
    assert_eq!(rest.triangles.iter().filter(above).count(), 0, "the top is at 0.19");
    assert!(x.iter().any(|p| p.y > 0.15), "it was lifted");
}

#[test]
fn starting_inside_a_ball_is_reported_and_resolved_calmly() {
    let mesh = sheet(15, 15, (1.0, 1.0), Vec3::new(-0.5, 0.1, -0.5));
    let mut scene =
        Scene::build(vec![still("sheet", mesh)], &[ball([0.0; 3], 0.25)], weightless(), params())
            .unwrap();
    assert!(scene.warnings().join("").contains("150.0 mm inside"), "{:?}", scene.warnings());
    scene.ticks(120);
    assert!(depth_in_ball(&scene, Vec3::ZERO, 0.25) < 0.005);
    let speed = scene.state().velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(speed < 1.0, "{speed}");
}

#[test]
fn cloth_is_near_itself_along_its_edges_whatever_the_rings() {
    let mesh = sheet(6, 6, (0.25, 0.25), Vec3::ZERO);
    let scene = Scene::build(vec![still("sheet", mesh)], &[], weightless(), params()).unwrap();
    let (rest, x) = (scene.rest(), scene.positions());
    let node = |i: usize, j: usize| rest.node_of_vertex[j * 6 + i];
    let near = around::Around::build(rest, x, &[], 0.11);
    assert!(near.any(&[node(2, 2)], &[node(0, 0), node(4, 2)]), "two edges away");
    assert!(!near.any(&[node(0, 2)], &[node(3, 2)]), "three edges away");
    let least = around::Around::build(rest, x, &[], 0.0);
    assert!(least.any(&[node(2, 2)], &[node(3, 2)]), "the next node, however near");
    assert!(!least.any(&[node(2, 2)], &[node(4, 2)]), "the one after it");
}
