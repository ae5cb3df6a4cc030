//! Laws that the whole layer obeys.

use glam::{DVec3, Vec3};
use proptest::prelude::*;

use super::*;
use crate::geometry::Mesh;
use crate::layers::LayerParams;
use crate::layers::harness::{check_rates, check_same_bits};
use crate::stage::{
    Actor, Animated, Change, Clock, ColliderParams, ColliderShape, ForceParams, Forces, Frame,
    KeyedTransform, Rate, Running, Selection, Setup, Simulator, SimulatorError,
};

mod air;
mod contact;
mod fabric;
mod garment;
mod pinch;
mod worn;

/// A flat sheet of `nx` by `nz` vertices in the x-z plane, its first corner at `at`.
pub fn sheet(nx: u32, nz: u32, size: (f32, f32), at: Vec3) -> Mesh {
    let place = |i: u32, j: u32| {
        let (u, v) = (i as f32 / (nx - 1) as f32, j as f32 / (nz - 1) as f32);
        at + Vec3::new(u * size.0, 0.0, v * size.1)
    };
    let positions = (0..nz).flat_map(|j| (0..nx).map(move |i| place(i, j))).collect();
    let quads = (0..nz - 1).flat_map(|j| (0..nx - 1).map(move |i| j * nx + i));
    let triangles = quads.flat_map(|a| [[a, a + nx, a + 1], [a + 1, a + nx, a + nx + 1]]).collect();
    Mesh::new("sheet", positions, triangles)
}

/// A cube with `n` quads along each side, outward, welded by position.
fn cube(n: u32, half: f32) -> Mesh {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    for face in 0..6usize {
        let (normal, u) = (axes[face % 3], axes[(face + 1) % 3]);
        let normal = if face < 3 { normal } else { -normal };
        let v = normal.cross(u);
        let first = positions.len() as u32;
        for j in 0..=n {
            for i in 0..=n {
                let at = |k: u32| 2.0 * k as f32 / n as f32 - 1.0;
                positions.push(half * (normal + at(i) * u + at(j) * v));
            }
        }
        for j in 0..n {
            for i in 0..n {
                let a = first + j * (n + 1) + i;
                triangles.push([a, a + 1, a + n + 1]);
                triangles.push([a + 1, a + n + 2, a + n + 1]);
            }
        }
    }
    Mesh::new("cube", positions, triangles)
}

fn carried(name: &str, mesh: Mesh, path: KeyedTransform) -> Actor {
    Actor::meshes_named(name, vec![mesh]).along(path)
}

fn still(name: &str, mesh: Mesh) -> Actor {
    Actor::meshes_named(name, vec![mesh])
}

fn params() -> ClothParams {
    ClothParams {
        drag: 0.0,
        lift: 0.0,
        damping: 0.0,
        settle: 0.0,
        ..ClothParams::new("cloth", "sheet")
    }
}

/// A stage with one cloth, stepped tick by tick.
struct Scene {
    simulator: Simulator,
}

fn setup(
    actors: Vec<Actor>,
    colliders: &[ColliderParams],
    forces: Forces,
    params: ClothParams,
) -> Setup {
    Setup {
        clock: Clock::new(Rate::whole(120), 0, 1000),
        actors,
        colliders: colliders.to_vec(),
        forces,
        layers: vec![LayerParams::Cloth(params)],
        ..Setup::default()
    }
}

impl Scene {
    fn build(
        actors: Vec<Actor>,
        colliders: &[ColliderParams],
        forces: Forces,
        params: ClothParams,
    ) -> Result<Self, SimulatorError> {
        Ok(Self { simulator: Simulator::new(setup(actors, colliders, forces, params))? })
    }

    /// The cloth, whatever lies over it.
    fn cloth(&self) -> &Running<ClothLayer> {
        let layers = self.simulator.layers().iter();
        layers.filter_map(|l| l.as_any().downcast_ref()).next().expect("a cloth")
    }

    fn state(&self) -> &ClothState {
        self.cloth().state().expect("a started layer")
    }

    fn state_mut(&mut self) -> &mut ClothState {
        let layers = self.simulator.layers_mut().iter_mut();
        let cloth = layers.filter_map(|l| l.as_any_mut().downcast_mut::<Running<ClothLayer>>());
        cloth.last().and_then(Running::state_mut).expect("a cloth")
    }

    fn rest(&self) -> &rest::ClothRest {
        &self.cloth().rest().cloth
    }

    fn frame(&self) -> &Frame {
        self.simulator.frame()
    }

    fn strains(&self) -> Vec<f64> {
        step::strains(self.cloth().rest(), self.state())
    }

    fn ticks(&mut self, count: u32) {
        let tick = self.simulator.clock().tick_seconds();
        for _ in 0..count {
            self.simulator.step(tick).expect("the cloth stays finite");
        }
    }

    fn positions(&self) -> &[DVec3] {
        &self.state().positions
    }

    fn warnings(&self) -> Vec<String> {
        self.simulator.reports().swap_remove(0).warnings
    }
}

fn gravity() -> Forces {
    Forces::new(crate::stage::EARTH_GRAVITY, vec![], 120.0)
}

fn weightless() -> Forces {
    Forces::new(Vec3::ZERO, vec![], 120.0)
}

fn ball(center: [f32; 3], radius: f32) -> ColliderParams {
    ColliderParams {
        name: "ball".to_owned(),
        shape: ColliderShape::Sphere { center, radius },
        friction: 0.3,
        ..ColliderParams::default()
    }
}

fn pinned(vertices: impl IntoIterator<Item = u32>) -> Option<Selection> {
    Some(Selection { vertices: Some(vertices.into_iter().collect()), ..Selection::default() })
}

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
    let law = stretch::StretchLaw {
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

fn busy_setup() -> Setup {
    let mesh = sheet(22, 22, (1.0, 1.0), Vec3::new(-0.5, 0.05, -0.5));
    let p = ClothParams {
        self_collision: true,
        pins: pinned([0, 21]),
        bodies: vec!["body".to_owned()],
        attachments: vec![ClothAttachment {
            vertices: Selection { vertices: Some((230..250).collect()), ..Selection::default() },
            surface: Some("body".to_owned()),
            stick_within: Some(0.03),
            release_beyond: Some(0.05),
            ..ClothAttachment::default()
        }],
        drag: 1.0,
        lift: 0.5,
        ..params()
    };
    let wind = ForceParams::Wind {
        direction: [1.0, 0.0, 0.3],
        speed: 4.0.into(),
        gust: 0.5,
        gust_hz: 1.0,
        gust_size: 1.0,
        seed: 1,
    };
    let forces = Forces::new(crate::stage::EARTH_GRAVITY, vec![wind], 120.0);
    let path = KeyedTransform {
        times: vec![0.0, 0.15, 0.3],
        translations: vec![Vec3::Y * -0.25, Vec3::Y * 0.15, Vec3::new(0.1, 0.0, 0.0)],
        rotations: vec![
            glam::Quat::IDENTITY,
            glam::Quat::from_rotation_y(0.5),
            glam::Quat::IDENTITY,
        ],
        ..KeyedTransform::default()
    };
    let actors = vec![still("sheet", mesh), carried("body", cube(4, 0.15), path)];
    let mut rolling = ball([0.3, 0.1, 0.3], 0.15);
    rolling.move_x = Animated::Keys(vec![(0.0, 0.0), (10.0, -0.3)]);
    let mut setup = setup(actors, &[rolling], forces, p);
    setup.clock.rate = Rate::whole(30);
    setup
}

#[test]
fn same_bits_for_any_number_of_threads_after_a_resume_and_without_scratch() {
    check_same_bits::<ClothLayer>(&busy_setup(), 8);
}

#[test]
fn the_motion_does_not_depend_on_what_is_looked_at() {
    let mut setup = busy_setup();
    // Key frames of colliders count output frames: at another rate the ball would go elsewhere.
    setup.colliders[0].move_x = Animated::default();
    check_rates(&setup, 1);
}

#[test]
fn half_the_tick_moves_the_cloth_alike() {
    let lowest = |tick_hz: u32| {
        let mesh = sheet(13, 13, (0.6, 0.6), Vec3::ZERO);
        let p = ClothParams { pins: pinned([0, 12]), damping: 1.0, ..params() };
        let mut setup =
            setup(vec![still("sheet", mesh)], &[ball([0.3, -0.4, 0.3], 0.2)], gravity(), p);
        setup.clock.tick_hz = tick_hz;
        let mut scene = Scene { simulator: Simulator::new(setup).unwrap() };
        scene.ticks(2 * tick_hz);
        let x = scene.positions();
        x.iter().copied().sum::<DVec3>() / x.len() as f64
    };
    let apart = lowest(120).distance(lowest(240));
    assert!(apart < 0.01, "{apart}");
}

#[test]
fn a_state_of_another_cloth_is_refused() {
    let built = |n: u32| {
        let actors = vec![still("sheet", sheet(n, n, (1.0, 1.0), Vec3::ZERO))];
        Scene::build(actors, &[], gravity(), params()).unwrap().simulator
    };
    let saved = built(5).save().unwrap();
    assert!(built(5).load(&saved).is_ok());
    assert!(built(6).load(&saved).is_err());
    assert!(built(5).load(&[1, 2, 3]).is_err());
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

#[test]
fn a_flag_streams_downwind() {
    let mut mesh = sheet(16, 11, (0.9, 0.6), Vec3::ZERO);
    mesh.positions.iter_mut().for_each(|p| *p = Vec3::new(0.0, 2.0 - p.z, p.x));
    let wind = ForceParams::Wind {
        direction: [1.0, 0.0, 0.0],
        speed: 9.0.into(),
        gust: 0.2,
        gust_hz: 1.0,
        gust_size: 1.0,
        seed: 2,
    };
    let forces = Forces::new(crate::stage::EARTH_GRAVITY, vec![wind], 120.0);
    let p = ClothParams {
        material: Fabric::Silk,
        pins: pinned((0..11).map(|j| 16 * j)),
        ..ClothParams::new("cloth", "sheet")
    };
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], forces, p).unwrap();
    scene.ticks(180);
    let mean = scene.positions().iter().map(|p| p.x).sum::<f64>() / (16.0 * 11.0);
    assert!(mean > 0.25, "{mean}");
}

#[test]
fn paths_surfaces_and_sticky_patches_hold() {
    let mesh = sheet(9, 9, (0.4, 0.4), Vec3::new(0.0, 0.0, 0.0));
    let path = KeyedTransform {
        times: vec![0.0, 1.0],
        translations: vec![Vec3::Y * -0.2, Vec3::new(0.0, -0.2, 0.5)],
        rotations: vec![glam::Quat::IDENTITY; 2],
        ..KeyedTransform::default()
    };
    let body = carried("body", cube(2, 0.19), path);
    let some = |v: Vec<u32>| Selection { vertices: Some(v), ..Selection::default() };
    let p = ClothParams {
        attachments: vec![
            ClothAttachment {
                vertices: some(vec![0]),
                surface: Some("body".to_owned()),
                ..ClothAttachment::default()
            },
            ClothAttachment {
                vertices: some(vec![8]),
                path: Some([
                    0.0.into(),
                    0.0.into(),
                    Animated::Keys(vec![(0.0, 0.0), (120.0, 0.5)]),
                ]),
                until_frame: Some(60.0),
                ..ClothAttachment::default()
            },
            ClothAttachment {
                vertices: some(vec![30, 31]),
                surface: Some("body".to_owned()),
                stick_within: Some(0.05),
                release_beyond: Some(0.3),
                ..ClothAttachment::default()
            },
        ],
        ..params()
    };
    let mut scene = Scene::build(vec![still("sheet", mesh), body], &[], weightless(), p).unwrap();
    let node = |v: usize, s: &Scene| s.positions()[s.rest().node_of_vertex[v] as usize];
    scene.ticks(30);
    assert!((node(8, &scene) - DVec3::new(f64::from(0.4f32), 0.0, 0.125)).length() < 1e-6);
    assert_eq!(scene.state().stuck.len(), 2);
    scene.ticks(90);
    // The keyed path is smooth, not straight, between its keys: compare where both agree.
    assert!((node(0, &scene) - DVec3::new(0.0, 0.0, 0.5)).length() < 1e-5, "{}", node(0, &scene));
    assert!(node(8, &scene).is_finite());
}

#[test]
fn bad_input_is_refused_by_name() {
    let build = |change: &dyn Fn(&mut ClothParams)| {
        let mut p = params();
        change(&mut p);
        let actors = vec![still("sheet", sheet(4, 4, (1.0, 1.0), Vec3::ZERO))];
        match Scene::build(actors, &[], gravity(), p) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    let held = |vertices: Vec<u32>, joint: &str| ClothAttachment {
        vertices: Selection { vertices: Some(vertices), ..Selection::default() },
        joint: Some(joint.to_owned()),
        ..ClothAttachment::default()
    };
    let says = |change: &dyn Fn(&mut ClothParams), words: &str| {
        let message = build(change);
        assert!(message.contains(words), "{message:?} does not say {words:?}");
    };
    assert_eq!(build(&|_| ()), "");
    says(&|p| p.density = Some(0.0), "density");
    says(&|p| p.density = Some(-0.2), "density");
    says(&|p| p.stretch = Some(f64::NAN), "stretch");
    says(&|p| p.on = "shete".to_owned(), "did you mean \"sheet\"");
    says(&|p| p.pressure = Some(1.2.into()), "open");
    says(&|p| p.pins = pinned([99]), "vertex 99");
    says(&|p| p.bodies = vec!["boddy".to_owned()], "bodies[0]");
    says(&|p| p.bodies = vec!["sheet".to_owned()], "self_collision");
    says(&|p| p.colliders = Some(vec!["ball".to_owned()]), "collider");
    says(&|p| p.attachments = vec![held(vec![0], "sheet/hand")], "no joints");
    says(&|p| p.attachments = vec![held(vec![0], "hand")], "actor/joint");
    says(&|p| p.attachments = vec![held(vec![99], "sheet/hand")], "vertex 99");
    says(&|p| p.attachments = vec![ClothAttachment::default()], "exactly one");
    says(&|p| p.threads = Threads::Uv, "uv");
    says(&|p| p.substeps = Some(0), "substeps");
    let seam = |vertex, bend| {
        let vertices = Selection { vertices: Some(vec![vertex]), ..Selection::default() };
        vec![ClothSeam { vertices, bend, weight: 2.0 }]
    };
    says(&|p| p.seams = seam(0, f64::NAN), "seams[0].bend");
    says(&|p| p.seams = seam(99, 8.0), "seams[0]");
}

#[test]
fn odd_meshes_are_simulated_with_a_warning() {
    let mut mesh = sheet(5, 5, (1.0, 1.0), Vec3::ZERO);
    let mut triangles = mesh.topology.triangles.clone();
    triangles.push([0, 1, 2]); // No area.
    triangles.push([6, 7, 12]); // Turned over on an existing one, and a third on an edge.
    triangles.push([7, 6, 13]);
    mesh = Mesh::new("sheet", mesh.positions, triangles);
    let p = ClothParams { pins: pinned([0]), self_collision: true, ..params() };
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
    scene.ticks(120);
    let warnings = scene.warnings().join("\n");
    assert!(warnings.contains("no area"), "{warnings}");
    assert!(warnings.contains("more than two triangles"), "{warnings}");
    assert!(scene.positions().iter().all(|p| p.is_finite() && p.length() < 20.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn nothing_ever_stops_being_finite(
        seed in 0u64..1000,
        stretch in 1.0f64..1e7,
        bend in 0.0f64..1.0,
        density in 0.001f64..50.0,
        kick in 0.0f64..200.0,
        tension_only: bool,
    ) {
        let mut mesh = sheet(8, 8, (1.0, 1.0), Vec3::new(-0.5, 0.3, -0.5));
        for (n, p) in mesh.positions.iter_mut().enumerate() {
            let r = |k| 0.2 * crate::math::random::signed(seed, n as u64, k) as f32;
            *p += Vec3::new(r(0), r(1), r(2));
        }
        let p = ClothParams {
            stretch: Some(stretch),
            bend: Some(bend),
            density: Some(density),
            tension_only,
            self_collision: true,
            pins: pinned([0, 7]),
            ..ClothParams::new("cloth", "sheet")
        };
        let mut scene =
            Scene::build(vec![still("sheet", mesh)], &[ball([0.0; 3], 0.3)], gravity(), p).unwrap();
        for (n, v) in scene.state_mut().velocities.iter_mut().enumerate() {
            let r = |k| kick * crate::math::random::signed(seed, n as u64, k);
            *v = DVec3::new(r(3), r(4), r(5));
        }
        scene.ticks(30);
        prop_assert!(scene.positions().iter().all(|p| p.is_finite()));
    }
}
