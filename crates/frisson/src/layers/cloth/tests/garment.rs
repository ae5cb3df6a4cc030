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
        let regions = vec![ClothRegion { vertices, stretch, bend: 1.0, weight }];
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
