//! Closed forms and what is conserved.

use super::*;

#[test]
fn free_fall_follows_the_closed_form() {
    let mesh = sheet(7, 7, (1.0, 1.0), Vec3::Y);
    let p = ClothParams { substeps: Some(4), ..params() };
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
    scene.ticks(60);
    let (t, h) = (0.5, 1.0 / 480.0);
    let fallen = f64::from(9.81f32) * t * (t + h) / 2.0;
    for p in scene.positions() {
        assert!((1.0 - p.y - fallen).abs() < 1e-9, "{} {fallen}", 1.0 - p.y);
    }
}

#[test]
fn every_internal_constraint_keeps_both_momenta() {
    let mesh = sheet(6, 6, (1.0, 1.0), Vec3::ZERO);
    let p = ClothParams { material: Fabric::Denim, ..params() };
    let scene = Scene::build(vec![still("sheet", mesh)], &[], weightless(), p).unwrap();
    let (rest, w) = (scene.rest(), |n: usize| 1.0 / scene.rest().mass[n]);
    let inverse: Vec<f64> = (0..rest.node_count()).map(w).collect();
    let shaken: Vec<DVec3> = scene
        .positions()
        .iter()
        .enumerate()
        .map(|(n, p)| {
            let r = |k| 0.05 * crate::math::random::signed(3, n as u64, k);
            *p + DVec3::new(r(0), r(1), r(2))
        })
        .collect();
    let edges = stretch::compile(&rest.edges, &rest.strips, &inverse, 1e-3);
    let hinges = bend::compile(&rest.hinges, &rest.strips, &inverse, 2e-3, |_| false);
    let law = stretch::StretchLimits {
        stretch_limit: 0.01,
        compression_limit: 0.01,
        in_compression: 1.0,
        swell: 1.0,
    };
    let check = |x: &[DVec3], tolerance: f64| {
        let (mut p, mut l, mut size) = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for n in 0..x.len() {
            let moved = (x[n] - shaken[n]) * rest.mass[n];
            p += moved;
            l += shaken[n].cross(moved);
            size += moved.length();
        }
        assert!(size > 0.0);
        assert!(p.length() < tolerance * size && l.length() < tolerance * size, "{p} {l} {size}");
    };
    assert_eq!(rest.strips.len(), 1);
    let still: Vec<lanes::Moving> = shaken.iter().map(|p| lanes::Moving::new(*p)).collect();
    let check_moved = |x: &[lanes::Moving], tolerance: f64| {
        let moved = |n: usize| shaken[n] + x[n].moved.truncate().as_dvec3();
        check(&(0..x.len()).map(moved).collect::<Vec<_>>(), tolerance);
    };
    for pack in &edges.rows {
        let mut x = still.clone();
        stretch::solve(&[*pack], law, strips::Way::There, &mut x);
        check_moved(&x, 1e-6);
    }
    for pack in &hinges.rows {
        let mut x = still.clone();
        bend::solve(&[*pack], &mut x);
        check_moved(&x, 1e-5);
    }
    // A span in which even soft hinges are stiff.
    let (mut stiff, bound) = stiff::StiffBending::build(&rest.hinges.rows, &inverse, 1.0);
    assert!(bound > 0.0);
    let mut x = still.clone();
    stiff.solve(|node| shaken[node], &mut x);
    check_moved(&x, 1e-5);
}

#[test]
fn a_free_cloth_keeps_its_momenta() {
    let mesh = sheet(9, 9, (1.0, 1.0), Vec3::ZERO);
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], weightless(), params()).unwrap();
    let random = |n: usize, k| crate::math::random::signed(3, n as u64, k);
    for (n, v) in scene.state_mut().velocities.iter_mut().enumerate() {
        *v = DVec3::new(random(n, 0), random(n, 1), random(n, 2)) * 0.5;
    }
    let momentum = |s: &Scene| -> DVec3 {
        s.state().velocities.iter().zip(&s.rest().mass).map(|(v, m)| *v * *m).sum()
    };
    let spin = |s: &Scene| -> DVec3 {
        let nodes = s.state().velocities.iter().zip(&s.rest().mass).zip(s.positions());
        nodes.map(|((v, m), x)| x.cross(*v) * *m).sum()
    };
    let state = scene.state_mut();
    for (v, x) in state.velocities.iter_mut().zip(&state.positions) {
        *v += DVec3::new(1.0, 2.0, 0.5).cross(*x - DVec3::new(0.5, 0.0, 0.5));
    }
    let (before, turning) = (momentum(&scene), spin(&scene));
    scene.ticks(60);
    assert!((momentum(&scene) - before).length() < 1e-6, "{before}");
    let lost = (spin(&scene) - turning).length() / turning.length();
    assert!(lost < 0.01, "{lost} of {turning}");
}

fn sag(n: u32, quality: f64) -> f64 {
    let p = ClothParams {
        density: Some(0.3),
        stretch: Some(60.0),
        damping: 12.0,
        quality,
        pins: pinned(0..n),
        ..params()
    };
    let mut mesh = sheet(n, n, (1.0, 1.0), Vec3::ZERO);
    mesh.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x, -p.z, 0.0));
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
    scene.ticks(100);
    -scene.positions().iter().map(|p| p.y).fold(0.0, f64::min) - 1.0
}

#[test]
fn hanging_sheet_converges_and_does_not_depend_on_the_mesh() {
    let coarse = [sag(16, 4.0), sag(16, 8.0)];
    assert!((coarse[1] / coarse[0] - 1.0).abs() < 0.01, "{coarse:?}");
    let fine = [sag(64, 4.0), sag(64, 8.0)];
    assert!((fine[1] / fine[0] - 1.0).abs() < 0.01, "{fine:?}");
    assert!((fine[1] / coarse[1] - 1.0).abs() < 0.03, "{coarse:?} {fine:?}");
    assert!(fine[1] > 0.01);
}

/// How far the free end of a strip, held at the other, hangs down.
fn droop(seams: Vec<ClothSeam>) -> f64 {
    let held = (0..5).flat_map(|j| [9 * j, 9 * j + 1]);
    let p = ClothParams { seams, bend: Some(2e-5), damping: 2.0, pins: pinned(held), ..params() };
    let mesh = sheet(9, 5, (0.12, 0.06), Vec3::ZERO);
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
    scene.ticks(150);
    -scene.positions().iter().map(|p| p.y).fold(f64::MAX, f64::min)
}

#[test]
fn a_seam_stiffens_the_cloth_along_it() {
    let along = Selection { vertices: Some((18..27).collect()), ..Selection::default() };
    let seam = ClothSeam { vertices: along, bend: 500.0, weight: 1.0 };
    let (plain, sewn) = (droop(vec![]), droop(vec![seam.clone()]));
    assert!(plain > 0.05, "{plain}");
    assert!(sewn < 0.2 * plain, "{sewn} of {plain}");
    let heavy = ClothSeam { weight: 3.0, ..seam };
    let mesh = sheet(9, 5, (0.12, 0.06), Vec3::ZERO);
    let p = ClothParams { seams: vec![heavy], ..params() };
    let scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
    let mass: f64 = scene.rest().mass.iter().sum();
    let expected = 0.15 * 0.12 * 0.06 * (1.0 + 2.0 * 0.25);
    assert!((mass / expected - 1.0).abs() < 1e-4, "{mass} {expected}");
}

/// Deflection of the free end of a strip of 10 cm in `cells`, clamped at the other [m].
fn deflection(cells: u32, bend: f64) -> f64 {
    let (columns, rows) = (cells + 2, cells / 2 + 1);
    let edge = 0.1 / cells as f32;
    let size = (edge * (columns - 1) as f32, edge * (rows - 1) as f32);
    let held = (0..rows).flat_map(|j| [columns * j, columns * j + 1]);
    let p = ClothParams { bend: Some(bend), damping: 2.0, pins: pinned(held), ..params() };
    let mesh = sheet(columns, rows, size, Vec3::ZERO);
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
    scene.ticks(240);
    let node = |vertex: u32| scene.rest().node_of_vertex[vertex as usize] as usize;
    let ends = (1..=rows).map(|j| -scene.positions()[node(columns * j - 1)].y);
    ends.sum::<f64>() / f64::from(rows)
}

/// A cantilever bends by `w L⁴ / 8 B` under its weight `w` per area. Hinges on a grid of squares are up to
/// about twice as stiff, all in the same way: no mesh and no rigidity is too stiff for the solver.
#[test]
fn a_stiff_strip_bends_as_its_rigidity_says_on_any_mesh() {
    let expected = |bend: f64| 0.15 * 9.81 * 1e-4 / (8.0 * bend);
    for bend in [1e-2, 1e-3] {
        let shares = [8, 16].map(|cells| deflection(cells, bend) / expected(bend));
        assert!(shares.iter().all(|s| (0.4..0.6).contains(s)), "{shares:?} at {bend} N·m");
    }
}

#[test]
fn a_prism_fold_bends_without_stretching() {
    let mesh = sheet(17, 5, (2.0, 0.5), Vec3::ZERO);
    let scene = Scene::build(vec![still("sheet", mesh)], &[], weightless(), params()).unwrap();
    let angle: f64 = 0.7;
    // Panels of one column each, up and down in turn.
    let folded: Vec<DVec3> = scene
        .positions()
        .iter()
        .map(|p| {
            let column = (p.x / 0.125).round();
            let high = column as i64 % 2 == 1;
            let y = if high { 0.125 * angle.sin() } else { 0.0 };
            DVec3::new(column * 0.125 * angle.cos(), y, p.z)
        })
        .collect();
    for edge in &scene.rest().edges.rows {
        assert!(stretch::strain(edge, &folded).abs() < 1e-12);
    }
    let bent = scene.rest().hinges.rows.iter().filter(|h| {
        let x = h.nodes.map(|n| folded[n as usize].as_vec3());
        bend::angle_gradient(x)
            .is_some_and(|(a, _)| (f64::from(a.abs()) - 2.0 * angle).abs() < 1e-4)
    });
    assert_eq!(bent.count(), 15 * 4);
}

#[test]
fn a_balloon_takes_the_volume_it_is_given() {
    let p = ClothParams {
        on: "cube".to_owned(),
        material: Fabric::Rubber,
        pressure: Some(Animated::Keys(vec![(0.0, 1.0), (30.0, 1.4)])),
        stretch_limit: Some(1.0),
        damping: 2.0,
        ..params()
    };
    let mut scene = Scene::build(vec![still("cube", cube(6, 0.2))], &[], weightless(), p).unwrap();
    assert!((scene.rest().volume - 0.064).abs() < 1e-6);
    scene.ticks(120);
    let volume = pressure::volume(&scene.rest().triangles, scene.positions());
    assert!((volume / 0.064 - 1.4).abs() < 0.01, "{volume}");
}
