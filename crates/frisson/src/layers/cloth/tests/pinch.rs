//! Laws of cloth on bodies: pinched, caught, buried, cut finer.

use glam::{Quat, Vec3};

use super::*;
use crate::stage::NoObserver;

/// A cube on its way: times and places.
fn moving_cube(name: &str, half: f32, keys: &[(f64, [f32; 3])]) -> Actor {
    let path = KeyedTransform {
        times: keys.iter().map(|k| k.0).collect(),
        translations: keys.iter().map(|k| Vec3::from_array(k.1)).collect(),
        rotations: vec![Quat::IDENTITY; keys.len()],
        ..KeyedTransform::default()
    };
    carried(name, cube(6, half), path)
}

fn greatest_speed(scene: &Scene) -> f64 {
    scene.state().velocities.iter().map(|v| v.length()).fold(0.0, f64::max)
}

fn greatest_strain(scene: &Scene) -> f64 {
    scene.strains().into_iter().fold(0.0, f64::max)
}

/// Ticks until the blocks have closed.
const CLOSED: u32 = 40;

/// A sheet between two blocks that close on it until they leave no room, then move as told.
fn between_blocks(lower: [f32; 3], upper: [f32; 3]) -> Scene {
    let mesh = sheet(17, 17, (0.3, 0.3), Vec3::new(-0.15, 0.0, -0.15));
    let closed = |y: f32, by: [f32; 3]| [by[0], y + by[1], by[2]];
    let path = |side: f32, by: [f32; 3]| {
        [
            (0.0, [0.0, 0.28 * side, 0.0]),
            (0.25, [0.0, 0.252 * side, 0.0]),
            (0.35, [0.0, 0.252 * side, 0.0]),
            (1.35, closed(0.252 * side, by)),
        ]
    };
    let p = ClothParams {
        thickness: Some(0.006),
        bodies: vec!["lower".to_owned(), "upper".to_owned()],
        ..params()
    };
    let actors = vec![
        still("sheet", mesh),
        moving_cube("lower", 0.25, &path(-1.0, lower)),
        moving_cube("upper", 0.25, &path(1.0, upper)),
    ];
    let mut scene = Scene::build(actors, &[], weightless(), p).unwrap();
    scene.ticks(CLOSED);
    scene
}

#[test]
fn pinched_cloth_goes_with_the_blocks_that_pinch_it() {
    let mut scene = between_blocks([0.5, 0.2, 0.0], [0.5, 0.2, 0.0]);
    let start = scene.positions().to_vec();
    for tick in CLOSED + 1..=170 {
        scene.ticks(1);
        assert!(greatest_speed(&scene) < 3.0, "tick {tick}: {}", greatest_speed(&scene));
        assert!(greatest_strain(&scene) < 0.1, "tick {tick}: {}", greatest_strain(&scene));
    }
    for (n, (now, start)) in scene.positions().iter().zip(&start).enumerate() {
        let off = *now - *start - DVec3::new(0.5, 0.2, 0.0);
        assert!(off.length() < 0.01, "node {n} is off by {off}");
    }
}

#[test]
fn a_block_slides_over_cloth_that_lies_on_another() {
    let mut scene = between_blocks([0.0; 3], [0.08, 0.0, 0.0]);
    let start = scene.positions().to_vec();
    scene.ticks(170 - CLOSED);
    for (n, (now, start)) in scene.positions().iter().zip(&start).enumerate() {
        let off = *now - *start;
        assert!(off.length() < 0.01, "node {n} was dragged by {off}");
    }
    assert!(greatest_strain(&scene) < 0.1, "{}", greatest_strain(&scene));
}

#[test]
fn cloth_that_is_caught_gives_way_and_comes_back() {
    // A drum skin, and a block that goes through it: nothing could follow it.
    let mesh = sheet(21, 21, (1.0, 1.0), Vec3::new(-0.5, 0.0, -0.5));
    let rim = (0..441).filter(|v| [0, 20].contains(&(v % 21)) || [0, 20].contains(&(v / 21)));
    let p = ClothParams {
        thickness: Some(0.01),
        damping: 2.0,
        pins: pinned(rim),
        bodies: vec!["block".to_owned()],
        ..params()
    };
    let block = moving_cube("block", 0.1, &[(0.0, [0.0, -0.2, 0.0]), (0.3, [0.0, 1.0, 0.0])]);
    let actors = vec![still("sheet", mesh), block];
    let mut scene = Scene::build(actors, &[], weightless(), p).unwrap();
    let mut highest: f64 = 0.0;
    for tick in 1..=120 {
        scene.ticks(1);
        assert!(greatest_strain(&scene) < 4.0, "tick {tick}: {}", greatest_strain(&scene));
        highest = scene.positions().iter().fold(highest, |m, p| m.max(p.y));
    }
    assert!(highest > 0.05, "it was pushed first: {highest}");
    let still_up = scene.positions().iter().map(|p| p.y).fold(0.0, f64::max);
    assert!(still_up < 0.15, "and is not carried off: {still_up}");
    assert!(greatest_strain(&scene) < 0.2, "{}", greatest_strain(&scene));
}

#[test]
fn cloth_modelled_into_a_body_stays_there_near_its_pins() {
    let mesh = sheet(21, 21, (1.0, 1.0), Vec3::new(-0.5, 0.0, -0.5));
    let p = ClothParams {
        thickness: Some(0.01),
        pins: pinned([220]),
        bodies: vec!["block".to_owned()],
        ..params()
    };
    let block = moving_cube("block", 0.1, &[(0.0, [0.0; 3]), (10.0, [0.0; 3])]);
    let actors = vec![still("sheet", mesh), block];
    let mut scene = Scene::build(actors, &[], weightless(), p).unwrap();
    scene.ticks(60);
    let buried = |p: &&DVec3| p.length() < 0.09;
    assert!(scene.positions().iter().filter(buried).count() > 5);
    assert!(greatest_strain(&scene) < 0.3, "{}", greatest_strain(&scene));
}

#[test]
fn a_corner_between_the_nodes_does_not_come_through() {
    // One corner of a block, up, against the middle of a triangle twice as large as the block.
    let mut mesh = cube(1, 0.05);
    let upright = Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::Y);
    mesh.positions.iter_mut().for_each(|p| *p = upright * *p);
    let path = KeyedTransform {
        times: vec![0.0, 0.5],
        translations: vec![Vec3::new(0.06, -0.2, 0.06), Vec3::new(0.06, 0.1, 0.06)],
        rotations: vec![Quat::IDENTITY; 2],
        ..KeyedTransform::default()
    };
    let body = carried("body", mesh, path);
    let p = ClothParams { thickness: Some(0.01), bodies: vec!["body".to_owned()], ..params() };
    let cloth = sheet(3, 3, (0.4, 0.4), Vec3::ZERO);
    let mut scene = Scene::build(vec![still("sheet", cloth), body], &[], weightless(), p).unwrap();
    for tick in 1..=60 {
        scene.ticks(1);
        let top =
            f64::from(scene.frame().meshes[1].positions.iter().map(|p| p.y).fold(-1.0, f32::max));
        let (foot, tip) = (DVec3::new(0.06, -2.0, 0.06), DVec3::new(0.06, top, 0.06));
        let x = scene.positions();
        let through =
            |t: &&[u32; 3]| crate::layers::moved::crosses(foot, tip, t.map(|n| x[n as usize]));
        let count = scene.rest().triangles.iter().filter(through).count();
        assert_eq!(count, 0, "tick {tick}: the tip is at {top}");
    }
}

#[test]
fn subdivided_cloth_comes_out_finer_and_is_held_between_its_pins() {
    let mesh = sheet(3, 3, (1.0, 1.0), Vec3::ZERO);
    let p = ClothParams { subdivide: 2, pins: pinned(0..3), ..params() };
    let clock = Clock::new(Rate::whole(30), 0, 100);
    let actors = vec![still("sheet", mesh)];
    let layers = [LayerParams::Cloth(p)];
    let mut stage = Simulator::new(Setup {
        clock,
        actors,
        forces: gravity(),
        layers: layers.to_vec(),
        ..Setup::default()
    })
    .unwrap();
    for _ in 0..20 {
        stage.advance_frame(&mut NoObserver).unwrap();
    }
    let mesh = &stage.frame().meshes[0];
    assert_eq!((mesh.positions.len(), mesh.topology.triangles.len()), (81, 8 * 16));
    let held = mesh.positions.iter().filter(|p| p.y == 0.0 && p.z.abs() < 0.05).count();
    assert_eq!(held, 9, "the whole edge");
    let lowest = mesh.positions.iter().map(|p| p.y).fold(0.0, f32::min);
    assert!((-1.03..-0.4).contains(&lowest), "it falls: {lowest}");
}
