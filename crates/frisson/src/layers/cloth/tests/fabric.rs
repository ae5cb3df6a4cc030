//! Laws of the fabric, and what every parameter does.

use std::sync::Arc;

use glam::{Vec2, Vec3};

use super::*;

/// A vertical sheet of a square metre, its first row on top, with warp along x or along y.
fn hanging(warp_across: bool) -> Mesh {
    let mut mesh = sheet(13, 13, (1.0, 1.0), Vec3::ZERO);
    mesh.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x, -p.z, 0.0));
    let uv = |p: &Vec3| if warp_across { Vec2::new(p.x, -p.y) } else { Vec2::new(-p.y, p.x) };
    let uvs = mesh.positions.iter().map(uv).collect();
    Arc::make_mut(&mut mesh.topology).uvs = uvs;
    mesh
}

fn hang(mesh: Mesh, p: ClothParams) -> f64 {
    let p = ClothParams { damping: 8.0, pins: pinned(0..13), ..p };
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
    scene.ticks(120);
    -scene.positions().iter().map(|p| p.y).fold(0.0, f64::min) - 1.0
}

#[test]
fn warp_and_weft_are_as_stiff_as_they_are_told() {
    let p = ClothParams {
        density: Some(0.3),
        stretch: Some(2000.0),
        weft: Some(40.0),
        threads: Threads::Uv,
        stretch_limit: Some(1.0),
        ..params()
    };
    let (along_weft, along_warp) = (hang(hanging(true), p.clone()), hang(hanging(false), p));
    // A thread of stiffness Y that carries itself: rho g L² / 2 Y; the formula of the edges' compliance
    // makes cloth about half as stiff as its threads.
    let thread = 0.3 * 9.81 / 2.0 / 40.0;
    assert!((1.0..3.0).contains(&(along_weft / thread)), "{along_weft} {thread}");
    assert!(along_warp < 0.1 * along_weft, "{along_warp} {along_weft}");
}

#[test]
fn no_edge_stretches_much_beyond_its_limit() {
    let p = |limit: f64| ClothParams {
        density: Some(0.3),
        stretch: Some(10.0),
        stretch_limit: Some(limit),
        ..params()
    };
    let (free, limited) = (hang(hanging(true), p(10.0)), hang(hanging(true), p(0.05)));
    assert!(free > 0.12, "{free}");
    assert!(limited < 0.055, "{limited}");
}

/// Least strain of a free sheet that is pushed together in its plane.
fn squeezed(change: impl Fn(&mut ClothParams)) -> f64 {
    let mut p = params();
    change(&mut p);
    let mesh = sheet(11, 11, (1.0, 1.0), Vec3::new(-0.5, 0.0, -0.5));
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], weightless(), p).unwrap();
    let x = scene.state().positions.clone();
    for (v, x) in scene.state_mut().velocities.iter_mut().zip(&x) {
        *v = DVec3::new(-3.0 * x.x, 0.0, 0.0);
    }
    let mut least: f64 = 0.0;
    for _ in 0..24 {
        scene.ticks(1);
        least = scene.strains().into_iter().fold(least, f64::min);
    }
    least
}

#[test]
fn tension_only_cloth_gives_way_up_to_its_compression_limit() {
    let stiff = squeezed(|_| ());
    let loose = squeezed(|p| p.tension_only = true);
    let limited = squeezed(|p| (p.tension_only, p.compression_limit) = (true, 0.1));
    assert!(stiff > -0.1, "{stiff}");
    assert!(loose < -0.3, "{loose}");
    assert!((-0.15..-0.05).contains(&limited), "{limited}");
}

#[test]
fn sculpted_folds_are_kept_where_angles_are_as_modelled() {
    let waves = |rest_angles| {
        let mut mesh = sheet(25, 5, (0.48, 0.1), Vec3::ZERO);
        mesh.positions.iter_mut().for_each(|p| p.y = 0.02 * (40.0 * p.x).sin());
        let p = ClothParams { rest_angles, bend: Some(1e-3), damping: 3.0, ..params() };
        let mut scene = Scene::build(vec![still("sheet", mesh)], &[], weightless(), p).unwrap();
        scene.ticks(120);
        let y = scene.positions().iter().map(|p| p.y);
        y.clone().fold(f64::MIN, f64::max) - y.fold(f64::MAX, f64::min)
    };
    let (kept, ironed) = (waves(RestAngles::AsModelled), waves(RestAngles::Flat));
    assert!((kept - 0.04).abs() < 0.002, "{kept}");
    assert!(ironed < 0.75 * kept, "{ironed}");
}

#[test]
fn sticky_patches_are_torn_off_and_let_go_in_time() {
    let stuck = |beyond: f64, until: Option<f64>| {
        let path = KeyedTransform {
            times: vec![0.0, 0.5],
            translations: vec![Vec3::new(0.2, -0.2, 0.0), Vec3::new(0.2, -0.7, 0.0)],
            rotations: vec![glam::Quat::IDENTITY; 2],
            ..KeyedTransform::default()
        };
        let body = carried("body", cube(2, 0.19), path);
        let sticky = ClothAttachment {
            vertices: Selection { vertices: Some(vec![3, 4, 5]), ..Selection::default() },
            surface: Some("body".to_owned()),
            stick_within: Some(0.05),
            release_beyond: Some(beyond),
            until_frame: until,
            ..ClothAttachment::default()
        };
        let p = ClothParams { attachments: vec![sticky], pins: pinned(72..81), ..params() };
        let mesh = sheet(9, 9, (0.4, 0.4), Vec3::ZERO);
        let mut scene =
            Scene::build(vec![still("sheet", mesh), body], &[], weightless(), p).unwrap();
        scene.ticks(2);
        assert_eq!(scene.state().stuck.len(), 3, "caught");
        scene.ticks(70);
        scene.state().stuck.len()
    };
    assert_eq!(stuck(0.05, None), 0, "torn off");
    assert_eq!(stuck(10.0, None), 3, "held");
    assert_eq!(stuck(10.0, Some(30.0)), 0, "let go");
}

#[test]
fn cloth_lies_on_colliders_of_every_shape() {
    let center = [0.0; 3];
    let shapes = [
        ColliderShape::Plane { point: [0.0, 0.1, 0.0], normal: [0.1, 1.0, 0.0] },
        ColliderShape::Sphere { center, radius: 0.2 },
        ColliderShape::Capsule { a: [-0.3, 0.0, 0.0], b: [0.3, 0.0, 0.1], radius: 0.15 },
        ColliderShape::Ellipsoid { center, radii: [0.3, 0.15, 0.2], rotate_deg: [0.0, 30.0, 10.0] },
    ];
    for shape in shapes {
        let mesh = sheet(26, 26, (1.0, 1.0), Vec3::new(-0.5, 0.3, -0.5));
        let collider = ColliderParams { shape: shape.clone(), ..ball(center, 1.0) };
        let p = ClothParams { thickness: Some(0.01), ..params() };
        let mut scene =
            Scene::build(vec![still("sheet", mesh)], &[collider], gravity(), p).unwrap();
        for tick in 0..60 {
            scene.ticks(1);
            let deep = |p: &DVec3| shape.signed_distance(p.as_vec3()).0;
            let least = scene.positions().iter().map(deep).fold(f32::MAX, f32::min);
            assert!(least > 0.004, "{shape:?} tick {tick}: {least}");
        }
        let near = |p: &&DVec3| shape.signed_distance(p.as_vec3()).0 < 0.0101;
        assert!(scene.positions().iter().filter(near).count() > 20, "{shape:?}: it lies there");
    }
}

/// A rumpled sheet that hangs by two corners in the wind, over a ball and a block.
fn everything(change: impl Fn(&mut ClothParams)) -> Vec<DVec3> {
    let mut mesh = sheet(17, 17, (1.0, 1.0), Vec3::new(-0.5, 0.3, -0.5));
    mesh.positions.iter_mut().for_each(|p| p.y += 0.02 * (20.0 * p.x).sin());
    let uvs = mesh.positions.iter().map(|p| Vec2::new(p.x + 0.5, p.z + 0.5)).collect();
    Arc::make_mut(&mut mesh.topology).uvs = uvs;
    let path = KeyedTransform {
        times: vec![0.0, 1.0],
        translations: vec![Vec3::new(0.35, 0.2, 0.0), Vec3::new(0.35, 0.5, 0.0)],
        rotations: vec![glam::Quat::IDENTITY; 2],
        ..KeyedTransform::default()
    };
    let body = carried("body", cube(3, 0.15), path);
    let forces = windy([1.0, 0.2, 0.3], (3.0, 0.0), 1);
    let mut p = ClothParams {
        pins: pinned([0, 16]),
        bodies: vec!["body".to_owned()],
        stretch: Some(300.0),
        lift: 0.3,
        ..ClothParams::new("cloth", "sheet")
    };
    change(&mut p);
    let actors = vec![still("sheet", mesh), body];
    let mut scene = Scene::build(actors, &[ball([-0.2, 0.0, 0.0], 0.2)], forces, p).unwrap();
    scene.ticks(60);
    let mesh = &scene.frame().meshes[0];
    mesh.positions[..289].iter().map(|p| p.as_dvec3()).collect()
}

#[test]
fn every_parameter_moves_the_cloth() {
    type Change = fn(&mut ClothParams);
    let some = |vertices: Vec<u32>| Selection { vertices: Some(vertices), ..Selection::default() };
    let woven: Change = |p| p.threads = Threads::Uv;
    let cases: Vec<(&str, Change, Change)> = vec![
        ("material", |_| (), |p| p.material = Fabric::Leather),
        ("density", |_| (), |p| p.density = Some(0.6)),
        ("stretch", |_| (), |p| p.stretch = Some(5000.0)),
        ("threads", |_| (), woven),
        ("weft", woven, |p| (p.threads, p.weft) = (Threads::Uv, Some(50.0))),
        ("shear", woven, |p| (p.threads, p.shear) = (Threads::Uv, Some(500.0))),
        ("bend", |_| (), |p| p.bend = Some(1e-3)),
        (
            "rest_angles",
            |p| p.bend = Some(1e-3),
            |p| {
                (p.bend, p.rest_angles) = (Some(1e-3), RestAngles::AsModelled);
            },
        ),
        ("tension_only", |_| (), |p| p.tension_only = true),
        ("stretch_limit", |_| (), |p| p.stretch_limit = Some(0.0)),
        ("compression_limit", |_| (), |p| p.compression_limit = 0.0),
        ("thickness", |_| (), |p| p.thickness = Some(0.05)),
        ("friction", |_| (), |p| p.friction = Some(5.0)),
        ("pins", |_| (), |p| p.pins = pinned([0, 16, 288])),
        ("colliders", |_| (), |p| p.colliders = Some(vec![])),
        ("bodies", |_| (), |p| p.bodies.clear()),
        ("body_depth", |_| (), |p| p.body_depth = 0.001),
        ("self_collision", |_| (), |p| p.self_collision = true),
        ("drag", |_| (), |p| p.drag = 3.0),
        ("lift", |_| (), |p| p.lift = 2.0),
        ("damping", |_| (), |p| p.damping = 3.0),
        ("quality", |_| (), |p| p.quality = 3.0),
        ("substeps", |_| (), |p| p.substeps = Some(60)),
        ("tethers", |_| (), |p| p.tethers = false),
    ];
    let differs =
        |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    for (name, before, after) in cases {
        let moved = differs(&everything(before), &everything(after));
        assert!(moved > 1e-3, "{name} moves nothing by more than {moved} m");
    }
    let plain = everything(|_| ());
    let seam = ClothSeam { vertices: some((136..153).collect()), bend: 100.0, weight: 3.0 };
    assert!(differs(&plain, &everything(|p| p.seams = vec![seam.clone()])) > 1e-3, "seams");
    let half = Selection { vertices: Some((0..96).collect()), ..Selection::default() };
    assert!(differs(&plain, &everything(|p| p.bodies_except = Some(half.clone()))) > 1e-3);
    assert_eq!(differs(&plain, &everything(|_| ())), 0.0, "and nothing else does");
}

/// A sheet of `cells` by `cells`, clamped on two sides that are pulled apart by 6 %, with a breath of weight that
/// tells whether flat is where it wants to be.
fn pull_apart(cells: u32, material: Fabric) -> Scene {
    let n = cells + 1;
    let side = |column: u32| Selection {
        vertices: Some((0..n).map(|row| row * n + column).collect()),
        ..Selection::default()
    };
    let moved = |column: u32, by: f64| ClothAttachment {
        vertices: side(column),
        path: Some([Animated::Keys(vec![(0.0, 0.0), (300.0, by)]), 0.0.into(), 0.0.into()]),
        ..ClothAttachment::default()
    };
    let p = ClothParams {
        damping: 2.0,
        attachments: vec![moved(0, -0.03), moved(cells, 0.03)],
        material,
        ..params()
    };
    let mesh = sheet(n, n, (1.0, 1.0), Vec3::ZERO);
    let weight = Forces::new(Vec3::new(0.0, -0.005, 0.0), Vec::new(), 30.0);
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], weight, p).unwrap();
    scene.ticks(400);
    scene
}

#[test]
fn cloth_that_is_clamped_and_pulled_stretches_evenly_and_stays_flat() {
    let sheets =
        [(12, Fabric::Cotton), (20, Fabric::Cotton), (20, Fabric::Silk), (64, Fabric::Cotton)];
    for (cells, material) in sheets {
        let scene = pull_apart(cells, material);
        let (x, rest) = (scene.positions(), scene.rest());
        let (mut least, mut most) = (f64::MAX, f64::MIN);
        for edge in &rest.edges.rows {
            let [a, b] = edge.nodes.map(|n| x[n as usize]);
            let middle = 0.5 * (a + b);
            let along = (b - a).normalize().x.abs() > 0.99;
            let inside = (0.2..0.8).contains(&middle.x) && (0.3..0.7).contains(&middle.z);
            if along && inside {
                let strain = stretch::strain(edge, x);
                (least, most) = (least.min(strain), most.max(strain));
            }
        }
        assert!(least > 0.053 && most < 0.067, "{cells} cells: {least} to {most}");
        let off = x.iter().map(|p| p.y.abs()).fold(0.0, f64::max);
        assert!(off < 0.002, "{cells} cells: {off} m out of its plane");
    }
}

/// A sheet that hangs from two corners in the wind, over a ball, for half a second; then with some
/// parameters changed. Where the nodes are at the change, a tick later, and half a second later.
fn changed(edit: &dyn Fn(&mut ClothParams)) -> (Change, [Vec<DVec3>; 3]) {
    let mut mesh = sheet(13, 13, (0.6, 0.6), Vec3::ZERO);
    mesh.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x, -p.z, 0.0));
    let forces = windy([0.2, 0.0, 1.0], (5.0, 0.0), 1);
    let soft = ClothParams { stretch: Some(20.0), stretch_limit: Some(0.3), ..params() };
    let p = ClothParams { pins: pinned([0, 12]), drag: 0.5, ..soft };
    let touching = [ball([0.3, -0.4, 0.2], 0.15)];
    let mut scene = Scene::build(vec![still("sheet", mesh)], &touching, forces, p).unwrap();
    scene.ticks(60);
    let mut new = scene.cloth().params().clone();
    edit(&mut new);
    let change = scene.simulator.set_params(&LayerParams::Cloth(new)).unwrap();
    let at_once = scene.positions().to_vec();
    scene.ticks(1);
    let soon = scene.positions().to_vec();
    scene.ticks(60);
    (change, [at_once, soon, scene.positions().to_vec()])
}

#[test]
fn live_parameters_change_the_motion_without_a_jump() {
    type Edit = fn(&mut ClothParams);
    let cases: [(&str, Edit); 8] = [
        ("tension_only", |p| p.tension_only = true),
        ("stretch_limit", |p| p.stretch_limit = Some(0.02)),
        ("compression_limit", |p| p.compression_limit = 0.01),
        ("friction", |p| p.friction = Some(2.0)),
        ("drag", |p| p.drag = 2.0),
        ("lift", |p| p.lift = 2.0),
        ("damping", |p| p.damping = 5.0),
        ("quality", |p| p.quality = 2.0),
    ];
    let apart =
        |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    let (none, plain) = changed(&|_| ());
    assert_eq!(none, Change::None);
    for (name, edit) in cases {
        let (change, other) = changed(&edit);
        assert_eq!(change, Change::Live, "{name}");
        assert_eq!(plain[0], other[0], "{name}");
        let (soon, later) = (apart(&plain[1], &other[1]), apart(&plain[2], &other[2]));
        // Limits take back at once what the cloth is too long or too short by.
        let jump = if name.ends_with("limit") { 0.2 } else { 0.01 };
        assert!(soon < jump, "{name}: {soon} m in a tick");
        assert!(later > 1e-5, "{name} changes nothing: {later} m");
    }
    let (change, _) = changed(&|p| p.density = Some(0.5));
    assert_eq!(change, Change::Rebuild, "and keeps the state");
}

#[test]
fn cloth_clamped_on_two_sides_sags_without_being_drawn_to_its_pins() {
    let n = 21;
    let mesh = sheet(n, n, (1.0, 1.0), Vec3::ZERO);
    let pins = pinned((0..n).flat_map(|j| [j * n, j * n + n - 1]));
    let p = ClothParams { pins, material: Fabric::Cotton, damping: 2.0, ..params() };
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
    scene.ticks(52);
    let mut strains = scene.strains();
    strains.sort_by(f64::total_cmp);
    let p99 = strains[strains.len() * 99 / 100];
    assert!(p99 < 0.02, "{p99}");
}

#[test]
fn held_cloth_that_swings_comes_to_rest_and_hangs_as_it_would_without_settling() {
    let swing = |settle: f64, ticks: u32| {
        let mesh = sheet(9, 9, (0.5, 0.5), Vec3::ZERO);
        let p = ClothParams { pins: pinned(0..9), settle, ..params() };
        let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
        scene.ticks(ticks);
        let before = scene.positions().to_vec();
        scene.ticks(12);
        let ways = scene.positions().iter().zip(&before).map(|(a, b)| a.distance(*b));
        let lowest = scene.positions().iter().map(|p| p.y).fold(f64::MAX, f64::min);
        (ways.fold(0.0, f64::max) / 0.1, lowest)
    };
    let (speed, hangs) = swing(2.0, 720);
    let (free, _) = swing(0.0, 720);
    assert!(speed < 3e-3, "{speed} m/s after six seconds");
    assert!(free > 10.0 * speed, "{free} m/s without");
    assert!((hangs + 0.5).abs() < 0.015, "hangs straight down: {hangs}");
}
