//! Garments from flat panels, parts of another fabric, and soft pins.

use super::*;

/// Two upright panels of `n` and `m` vertices a side, facing each other.
fn panels(n: u32, m: u32, apart: f32) -> Mesh {
    let upright = |n: u32, z: f32| {
        let mut panel = sheet(n, n, (0.4, 0.4), Vec3::ZERO);
        panel.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x, 0.4 - p.z, z));
        panel
    };
    let (front, back) = (upright(n, 0.5 * apart), upright(m, -0.5 * apart));
    let shift = |t: &[u32; 3]| t.map(|v| v + n * n);
    let triangles = front.topology.triangles.iter().copied();
    let triangles = triangles.chain(back.topology.triangles.iter().map(shift)).collect();
    Mesh::new("sheet", [front.positions, back.positions].concat(), triangles)
}

fn vertices(all: impl IntoIterator<Item = u32>) -> Selection {
    Selection { vertices: Some(all.into_iter().collect()), ..Selection::default() }
}

/// Left and right borders of both panels, sewn.
fn side_seams(n: u32, m: u32) -> Vec<ClothSewing> {
    let border = |start: u32, n: u32, column: u32| vertices((0..n).map(|j| start + j * n + column));
    let seam =
        |a: u32, b: u32| ClothSewing { from: border(0, n, a), to: border(n * n, m, b), close: 0.5 };
    vec![seam(0, 0), seam(n - 1, m - 1)]
}

/// Greatest gap between the borders of both panels, vertex to border [m].
fn gap(scene: &Scene, n: u32, m: u32) -> f64 {
    let x = |v: u32| scene.frame().meshes[0].positions[v as usize].as_dvec3();
    let mut most: f64 = 0.0;
    for (a, b) in [(0, 0), (n - 1, m - 1)] {
        for j in 0..n {
            let p = x(j * n + a);
            let near = (0..m - 1).map(|k| {
                let (s, e) = (x(n * n + k * m + b), x(n * n + (k + 1) * m + b));
                let t = ((p - s).dot(e - s) / (e - s).length_squared()).clamp(0.0, 1.0);
                p.distance(s.lerp(e, t))
            });
            most = most.max(near.fold(f64::INFINITY, f64::min));
        }
    }
    most
}

#[test]
fn panels_are_sewn_in_their_time_and_stay_sewn_even_where_their_borders_differ() {
    for (n, m) in [(9, 9), (9, 7)] {
        let p = ClothParams {
            sewing: side_seams(n, m),
            self_collision: true,
            thickness: Some(0.01),
            ..params()
        };
        let mesh = panels(n, m, 0.2);
        let mut scene = Scene::build(vec![still("sheet", mesh)], &[], weightless(), p).unwrap();
        assert!(gap(&scene, n, m) > 0.19);
        scene.ticks(30);
        let half = gap(&scene, n, m);
        assert!((0.05..0.15).contains(&half), "half way: {half}");
        scene.ticks(90);
        let closed = gap(&scene, n, m);
        assert!(closed < 1e-3, "{n} on {m}: {closed}");
    }
}

#[test]
fn sewing_keeps_the_momentum_and_refuses_what_is_no_line() {
    let p = ClothParams { sewing: side_seams(9, 9), ..params() };
    let mesh = panels(9, 9, 0.2);
    let mut scene = Scene::build(vec![still("sheet", mesh.clone())], &[], weightless(), p).unwrap();
    scene.ticks(60);
    let (state, mass) = (scene.state(), &scene.rest().mass);
    let moving: DVec3 = state.velocities.iter().zip(mass).map(|(v, m)| *v * *m).sum();
    let size: f64 = state.velocities.iter().zip(mass).map(|(v, m)| v.length() * *m).sum();
    assert!(moving.length() < 1e-6 * size.max(1e-6), "{moving}");
    let broken = ClothSewing { from: vertices([0, 18]), to: vertices([81, 90]), close: 0.5 };
    let p = ClothParams { sewing: vec![broken], ..params() };
    let error = Scene::build(vec![still("sheet", mesh)], &[], weightless(), p).err().unwrap();
    assert!(error.to_string().contains("sewing[0].from"), "{error}");
}

#[test]
fn a_region_is_as_heavy_and_stiff_as_it_says() {
    let n = 9;
    let hang = |stretch: f64, weight: f64| {
        let mesh = sheet(n, n, (0.4, 0.4), Vec3::ZERO);
        let vertices = vertices(0..n * n);
        let regions = vec![ClothRegion { stretch, weight, ..ClothRegion::new(vertices) }];
        let p = ClothParams { regions, pins: pinned(0..n), stretch: Some(20.0), ..params() };
        let p = ClothParams { damping: 5.0, stretch_limit: Some(1.0), tethers: false, ..p };
        let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
        scene.ticks(480);
        let lowest = scene.positions().iter().map(|p| p.y).fold(f64::MAX, f64::min);
        (-lowest - 0.4, scene.rest().mass.iter().sum::<f64>())
    };
    let (sag, mass) = hang(1.0, 1.0);
    let (heavy_sag, heavy) = hang(1.0, 4.0);
    let (stiff_sag, _) = hang(4.0, 4.0);
    assert!((heavy / mass - 4.0).abs() < 1e-6);
    // Sag is weight over stiffness.
    assert!((heavy_sag / sag - 4.0).abs() < 0.6, "{heavy_sag} of {sag}");
    assert!((stiff_sag / sag - 1.0).abs() < 0.2, "{stiff_sag} of {sag}");
}

#[test]
fn soft_pins_hold_by_their_weight() {
    let n = 9;
    let sag = |hz: f64| {
        let p = ClothParams { soft_pins: Some(vertices(0..n)), soft_pins_hz: hz, ..params() };
        let p = ClothParams { damping: 5.0, ..p };
        let mesh = sheet(n, n, (0.4, 0.4), Vec3::ZERO);
        let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
        scene.ticks(600);
        let x = scene.frame().meshes[0].positions.iter().take(n as usize);
        -f64::from(x.map(|p| p.y).sum::<f32>()) / f64::from(n)
    };
    // A row of nine carries nine rows, the outer ones half of it: m g 8 / 1 = m ω² sag, about.
    let closed = |hz: f64| 16.0 * 9.81 / (std::f64::consts::TAU * hz).powi(2);
    for hz in [4.0, 8.0] {
        let (sag, closed) = (sag(hz), closed(hz));
        assert!((0.9..1.1).contains(&(sag / closed)), "{hz} Hz: {sag} m for {closed} m");
    }
}

#[test]
fn a_region_has_the_size_it_says() {
    // A ribbon that hangs from its end.
    let length = |size: f64| {
        let regions = vec![ClothRegion { size, ..ClothRegion::new(vertices(0..34)) }];
        let p = ClothParams { regions, pins: pinned(0..2), damping: 5.0, ..params() };
        let mesh = sheet(2, 17, (0.025, 0.4), Vec3::ZERO);
        let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
        scene.ticks(600);
        -scene.positions().iter().map(|p| p.y).fold(f64::MAX, f64::min)
    };
    let plain = length(1.0);
    for size in [0.7, 1.4] {
        let ratio = length(size) / plain;
        assert!((ratio / size - 1.0).abs() < 0.03, "{ratio} for {size}");
    }
}

#[test]
fn padding_lies_as_high_as_it_is_thick() {
    let n = 17;
    let floor = ColliderParams {
        name: "floor".to_owned(),
        shape: ColliderShape::Plane { point: [0.0, 0.0, 0.0], normal: [0.0, 1.0, 0.0] },
        ..ColliderParams::default()
    };
    // The left half, with a ramp of painted weights between the two.
    let weights: Vec<f32> =
        (0..n * n).map(|v| ((8.0 - (v % n) as f32) / 4.0 + 0.5).clamp(0.0, 1.0)).collect();
    let all = Selection { weights: Some(weights), ..vertices(0..n * n) };
    let regions = vec![ClothRegion { thickness: 5.0, ..ClothRegion::new(all) }];
    let p = ClothParams { regions, thickness: Some(0.004), damping: 5.0, ..params() };
    let mesh = sheet(n, n, (0.4, 0.4), Vec3::Y * 0.03);
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[floor], gravity(), p).unwrap();
    scene.ticks(240);
    let height = |column: u32| {
        let column =
            (0..n).map(|row| scene.frame().meshes[0].positions[(row * n + column) as usize]);
        f64::from(column.map(|p| p.y).sum::<f32>()) / f64::from(n)
    };
    // A node rests between half of its band and the whole.
    let (thick, thin) = (height(1), height(n - 2));
    assert!((0.002..0.0041).contains(&thin), "{thin}");
    assert!((0.01..0.0205).contains(&thick), "{thick}");
}

#[test]
fn what_is_bent_too_much_keeps_a_crease_and_what_is_not_springs_back() {
    let (n, rows) = (17, 3);
    // One end is turned up by 90 degrees about the middle of a strip, held for two seconds, and let go.
    let opening = |radius: Option<f64>| {
        let p = ClothParams {
            crease_radius: radius,
            bend: Some(2e-4),
            damping: 8.0,
            pins: pinned((0..rows).flat_map(|j| (0..8).map(move |i| j * n + i))),
            ..params()
        };
        let mesh = sheet(n, rows, (0.32, 0.04), Vec3::ZERO);
        let mut scene = Scene::build(vec![still("sheet", mesh)], &[], weightless(), p).unwrap();
        let up = |x: f64| if x > 0.16 { DVec3::new(0.16, x - 0.16, 0.0) } else { DVec3::X * x };
        let bent: Vec<DVec3> = scene.positions().iter().map(|p| up(p.x) + DVec3::Z * p.z).collect();
        let mut state = scene.state().clone();
        state.positions = bent;
        let params = scene.cloth().params().clone();
        (0..240).for_each(|_| crease::crease(&params, scene.rest(), &mut state, 1.0 / 120.0));
        *scene.state_mut() = state;
        scene.ticks(600);
        let end = scene.frame().meshes[0].positions[(n - 1) as usize];
        f64::from(end.y).atan2(f64::from(end.x) - 0.16).to_degrees()
    };
    // The bend of 90 degrees is in one row of hinges, 2 cm apart: elastic up to 0.02 / radius.
    let elastic = |radius: f64| (0.02 / radius).to_degrees();
    assert!(opening(None).abs() < 3.0, "{}", opening(None));
    assert!(opening(Some(0.005)).abs() < 3.0, "a bend that the radius allows");
    for radius in [0.04, 0.1] {
        let (found, expected) = (opening(Some(radius)), 90.0 - elastic(radius));
        assert!((found - expected).abs() < 6.0, "{found} for {expected} degrees");
    }
}

#[test]
fn a_cycle_ends_where_it_begins() {
    let cycle = |blend| ClothCycle { from_frame: 60.0, until_frame: 120.0, blend };
    let mut mesh = sheet(9, 9, (0.4, 0.4), Vec3::ZERO);
    mesh.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x, -p.z, 0.0));
    // Swings after a push: it never repeats by itself.
    let swing = |cycle: Option<ClothCycle>| -> Vec<Vec<Vec3>> {
        let p = ClothParams { pins: pinned(0..9), cycle, ..params() };
        let mut scene =
            Scene::build(vec![still("sheet", mesh.clone())], &[], gravity(), p).unwrap();
        scene.state_mut().velocities.iter_mut().for_each(|v| *v = DVec3::Z);
        let frame = |_| {
            scene.ticks(1);
            scene.frame().meshes[0].positions.clone()
        };
        (0..=120).map(frame).collect()
    };
    let farthest =
        |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    let steps = |shot: &[Vec<Vec3>]| {
        shot[59..=119].windows(2).map(|w| farthest(&w[0], &w[1])).fold(0.0, f32::max)
    };
    let (plain, looped) = (swing(None), swing(Some(cycle(40.0))));
    // Frames are counted from the first tick on.
    assert!(farthest(&plain[59], &plain[119]) > 0.02);
    assert_eq!(farthest(&looped[59], &looped[119]), 0.0);
    assert_eq!(farthest(&looped[70], &plain[70]), 0.0, "and nothing else is touched");
    assert!(steps(&looped) < 2.0 * steps(&plain), "{} {}", steps(&looped), steps(&plain));
    let p = ClothParams { cycle: Some(ClothCycle { from_frame: 5.0, ..cycle(10.0) }), ..params() };
    let error = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).err().unwrap();
    assert!(error.to_string().contains("cycle.from_frame"), "{error}");
    let endless = ClothCycle { from_frame: 5e4, until_frame: 1e5, blend: 4e4 };
    let p = ClothParams { cycle: Some(endless), ..params() };
    let mesh = sheet(5, 5, (0.4, 0.4), Vec3::ZERO);
    let error = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).err().unwrap();
    assert!(error.to_string().contains("cycle.blend"), "{error}");
}

#[test]
fn an_empty_list_of_pins_lets_the_cloth_go() {
    let mut mesh = sheet(5, 5, (0.4, 0.4), Vec3::Y);
    let regions = [("pins".to_owned(), vec![0, 4])].into_iter().collect();
    std::sync::Arc::make_mut(&mut mesh.topology).regions = regions;
    let fallen = |pins: Option<Selection>| {
        let p = ClothParams { pins, ..params() };
        let mut scene =
            Scene::build(vec![still("sheet", mesh.clone())], &[], gravity(), p).unwrap();
        scene.ticks(60);
        1.0 - scene.positions().iter().map(|p| p.y).fold(f64::MIN, f64::max)
    };
    assert!(fallen(None).abs() < 0.05, "held by its region");
    assert!(fallen(Some(vertices([]))) > 1.0, "let go");
}
