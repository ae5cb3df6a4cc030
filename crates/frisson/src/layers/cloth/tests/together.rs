//! Garments that are simulated together.

use super::*;

/// Vertices along a side of each sheet.
const SIDE: u32 = 9;

/// Two sheets, the upper one `gap` above the lower one and half a cell beside it, with nothing that holds them.
fn two(gap: f32) -> Vec<Actor> {
    let lower = sheet(SIDE, SIDE, (0.4, 0.4), Vec3::ZERO);
    let upper = sheet(SIDE, SIDE, (0.4, 0.4), Vec3::new(0.025, gap, 0.025));
    vec![still("sheet", lower), still("upper", upper)]
}

fn both() -> ClothParams {
    let companion = ClothCompanion { on: "upper".to_owned(), pins: None };
    ClothParams { with: vec![companion], pins: None, thickness: Some(0.01), ..params() }
}

/// Mean of a value over the nodes of the upper sheet, and over those of the lower one.
fn means(scene: &Scene, of: impl Fn(usize) -> DVec3) -> [DVec3; 2] {
    let first_upper = SIDE * SIDE;
    let mut sums = [DVec3::ZERO; 2];
    for (node, &vertex) in scene.rest().vertex_of_node.iter().enumerate() {
        sums[usize::from(vertex < first_upper)] += of(node);
    }
    sums.map(|s| s / f64::from(SIDE * SIDE))
}

/// A sheet that hits another one as heavy gives it half of its speed; alone, the lower one would never feel it.
#[test]
fn garments_push_each_other_and_keep_their_momentum() {
    let mut scene = Scene::build(two(0.05), &[], weightless(), both()).unwrap();
    scene.ticks(1);
    let upper: Vec<bool> = scene.rest().vertex_of_node.iter().map(|&v| v >= SIDE * SIDE).collect();
    for (v, upper) in scene.state_mut().velocities.iter_mut().zip(&upper) {
        *v = if *upper { DVec3::NEG_Y } else { DVec3::ZERO };
    }
    scene.ticks(30);
    let [over, under] = means(&scene, |n| scene.state().velocities[n]);
    assert!((over.y + under.y + 1.0).abs() < 0.02, "momentum: {over} and {under}");
    assert!(under.y < -0.4 && over.y > -0.6, "{over} and {under}");
    let [over, under] = means(&scene, |n| scene.positions()[n]);
    assert!(over.y > under.y + 0.004, "{over} is over {under}");
}

#[test]
fn garments_in_one_place_are_not_welded() {
    let lower = sheet(SIDE, SIDE, (0.4, 0.4), Vec3::ZERO);
    let actors = vec![still("sheet", lower.clone()), still("upper", lower)];
    let scene = Scene::build(actors, &[], weightless(), both()).unwrap();
    assert_eq!(scene.rest().node_count() as u32, 2 * SIDE * SIDE);
}

#[test]
fn both_meshes_are_shown_and_the_companion_is_held_by_its_own_pins() {
    let held = Selection { vertices: Some(vec![0]), ..Selection::default() };
    let companion = ClothCompanion { on: "upper".to_owned(), pins: Some(held) };
    let p = ClothParams { with: vec![companion], ..both() };
    let mut scene = Scene::build(two(0.2), &[], gravity(), p).unwrap();
    scene.ticks(60);
    let [lower, upper] = [0, 1].map(|k: usize| &scene.frame().meshes[k].positions);
    assert!(lower.iter().all(|p| p.y < -1.0), "nothing holds the lower one");
    assert_eq!(upper[0], Vec3::new(0.025, 0.2, 0.025));
    assert!(upper.iter().all(|p| p.distance(upper[0]) < 0.6), "it hangs by its corner");
}

#[test]
fn garments_together_keep_the_same_bits() {
    let companion = ClothCompanion { on: "upper".to_owned(), pins: None };
    let p = ClothParams { with: vec![companion], pins: pinned([0]), ..both() };
    check_same_bits::<ClothLayer>(
        &setup(two(0.03), &[ball([0.2, -0.2, 0.2], 0.15)], gravity(), p),
        8,
    );
}

#[test]
fn what_cannot_be_together_is_refused() {
    let itself = ClothCompanion { on: "sheet".to_owned(), pins: None };
    let bad = [
        ClothParams { with: vec![itself], ..both() },
        ClothParams { subdivide: 1, ..both() },
        ClothParams { tear: Some(1.2), ..both() },
        ClothParams { bodies: vec!["upper".to_owned()], ..both() },
    ];
    for p in bad {
        assert!(Scene::build(two(0.1), &[], gravity(), p.clone()).is_err(), "{p:?}");
    }
}
