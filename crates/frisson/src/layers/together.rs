//! For tests: layers that meet in one scene.

use glam::Vec3;

use super::LayerParams;
use super::cloth::ClothParams;
use super::folds::{Fold, FoldsParams};
use super::hair::HairParams;
use super::moved::grid;
use super::soft::{CoatParams, PrimitiveParams, SoftObject, SoftParams};
use crate::geometry::{Mesh, TriangleBvh};
use crate::stage::{
    Actor, Anchor, Animated, Clock, EARTH_GRAVITY, Forces, KeyedTransform, NoObserver, Rate,
    Selection, Setup, Simulator,
};

/// A lump of three coats that blend, about 15 cm in radius, that rises by 6 cm within a second and
/// then stands: its triangles change all the time it moves.
fn lump() -> LayerParams {
    let at =
        |x: f64, y: f64| PrimitiveParams { point: Some([x, y, 0.0]), ..PrimitiveParams::default() };
    let mut object = SoftObject::new("lump", 0.12);
    object.primitives = vec![at(-0.05, 0.0), at(0.05, 0.0), at(0.0, 0.04)];
    object.move_y = Animated::Keys(vec![(0.0, 0.0), (30.0, 0.06)]);
    let mut params = SoftParams::new("lump", vec![object]);
    params.cell = Some(0.015);
    LayerParams::Soft(params)
}

fn stage(actor: Mesh, layers: &[LayerParams]) -> Simulator {
    let actors = vec![Actor::meshes_named(actor.name.clone(), vec![actor])];
    let clock = Clock::new(Rate::whole(30), 0, 1000);
    let forces = Forces::new(EARTH_GRAVITY, vec![], 30.0);
    let layers = layers.to_vec();
    Simulator::new(Setup { clock, actors, forces, layers, ..Setup::default() }).unwrap()
}

/// Distance of points from a mesh of the frame, negative inside.
fn distances(stage: &Simulator, name: &str, points: &[Vec3]) -> Vec<f32> {
    let frame = stage.frame();
    let mesh = &frame.meshes[frame.mesh_index(name).unwrap()];
    let tree = TriangleBvh::build(&mesh.positions, &mesh.topology.triangles);
    let one = |p: &Vec3| {
        let hit = tree.closest_point(*p, f32::MAX).unwrap();
        let side = (*p - hit.point).dot(tree.face_normal(hit.triangle));
        hit.distance.copysign(side)
    };
    points.iter().map(one).collect()
}

/// A square of cloth above the lump.
fn square(count: usize, size: f32, height: f32) -> Mesh {
    let step = size / (count - 1) as f32;
    let at = |i: usize| i as f32 * step - 0.5 * size;
    grid("sheet", count - 1, count - 1, |i, j| Vec3::new(at(i), height, at(j)))
}

#[test]
fn a_sheet_falls_on_a_coat_that_rises_and_rests_on_it() {
    let mut cloth = ClothParams::new("cloth", "sheet");
    cloth.bodies = vec!["lump".to_owned()];
    cloth.thickness = Some(0.004);
    cloth.friction = Some(1.0);
    let mut stage = stage(square(41, 0.5, 0.2), &[lump(), LayerParams::Cloth(cloth)]);
    let mut deepest = f32::INFINITY;
    for _ in 0..75 {
        stage.advance_frame(&mut NoObserver).unwrap();
        let points = stage.frame().meshes[0].positions.clone();
        let off = distances(&stage, "lump", &points);
        deepest = off.into_iter().fold(deepest, f32::min);
    }
    assert!(deepest > 0.0, "the sheet went {deepest} m into the coat");
    let points = stage.frame().meshes[0].positions.clone();
    let off = distances(&stage, "lump", &points);
    // On top everything lies on the coat, at the thickness.
    let top: Vec<f32> =
        points.iter().zip(&off).filter(|(p, _)| p.x.hypot(p.z) < 0.05).map(|(_, d)| *d).collect();
    assert!(top.len() > 20);
    let (least, most) = top.iter().fold((f32::MAX, f32::MIN), |m, d| (m.0.min(*d), m.1.max(*d)));
    assert!(least > 0.003 && most < 0.006, "between {least} and {most} m above it");
}

#[test]
fn hair_hangs_on_a_coat_and_not_through_it() {
    // A wisp that points sideways falls on the lump's side while that rises.
    let corner = |y: f32, z: f32| Vec3::new(-0.1, 0.26 + y * 0.02, z * 0.02);
    let scalp = Mesh::new(
        "scalp",
        vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
        vec![[0, 1, 2], [0, 2, 3]],
    );
    let mut hair = HairParams {
        on: "scalp".to_owned(),
        at: vec![Anchor::Position([-0.1, 0.26, 0.0])],
        length: 0.3,
        length_variation: 0.0,
        ..HairParams::default()
    };
    hair.body.meshes = vec!["lump".to_owned()];
    hair.strands.per_wisp = 10;
    let mut stage = stage(scalp, &[lump(), LayerParams::Hair(hair)]);
    for _ in 0..75 {
        stage.advance_frame(&mut NoObserver).unwrap();
    }
    let points = stage.frame().curves[0].points.clone();
    let off = distances(&stage, "lump", &points);
    let deepest = off.iter().copied().fold(f32::INFINITY, f32::min);
    let touching = off.iter().filter(|d| **d < 0.01).count();
    assert!(deepest > -0.002, "{deepest} m inside the coat");
    assert!(touching * 5 > off.len(), "only {touching} of {} points lie on it", off.len());
}

/// An egg, 30 cm long, that moves and turns, in a coat that is fitted to it, and what else there is.
fn coated_egg(others: Vec<LayerParams>) -> Simulator {
    let path = KeyedTransform {
        times: vec![0.0, 1.0],
        translations: vec![Vec3::ZERO, Vec3::new(0.4, 0.1, 0.0)],
        rotations: vec![glam::Quat::IDENTITY, glam::Quat::from_rotation_z(1.0)],
        ..KeyedTransform::default()
    };
    let actor = Actor::meshes_named("egg", vec![egg_mesh()]).along(path);
    let mut object = SoftObject::new("coat", 0.05);
    object.support = Some(0.065);
    object.coat = Some(CoatParams { on: "egg".to_owned(), ..CoatParams::default() });
    let mut params = SoftParams::new("coat", vec![object]);
    params.cell = Some(0.01);
    let clock = Clock::new(Rate::whole(30), 0, 1000);
    let forces = Forces::new(Vec3::Y * -9.81, vec![], 30.0);
    let layers: Vec<LayerParams> = [LayerParams::Soft(params)].into_iter().chain(others).collect();
    let actors = vec![actor];
    Simulator::new(Setup { clock, actors, forces, layers: layers.to_vec(), ..Setup::default() })
        .unwrap()
}

#[test]
fn coats_fill_a_mesh_without_joints_and_go_along_with_it() {
    let mut stage = coated_egg(Vec::new());
    for frame in 0..=30 {
        if frame % 15 == 0 {
            let points = stage.frame().meshes[0].positions.clone();
            let mut off: Vec<f32> =
                distances(&stage, "coat", &points).iter().map(|d| d.abs()).collect();
            off.sort_by(f32::total_cmp);
            let (median, worst) = (off[off.len() / 2], off[off.len() - 1]);
            assert!(median < 0.004 && worst < 0.015, "{median} {worst} at frame {frame}");
        }
        stage.advance_frame(&mut NoObserver).unwrap();
    }
}

#[test]
fn drops_of_an_actor_lie_on_its_coat() {
    let rain = r#"{
        "name": "sweat", "on": "egg", "shown_on": "coat", "trails": { "mesh": false },
        "sources": [{ "condensation": { "count": 60, "mass": 2e-6, "over": 10, "until": 15 } }]
    }"#;
    let mut stage = coated_egg(vec![LayerParams::Drops(serde_json::from_str(rain).unwrap())]);
    for _ in 0..=30 {
        stage.advance_frame(&mut NoObserver).unwrap();
    }
    let frame = stage.frame();
    let drops = &frame.meshes[frame.mesh_index("sweat").unwrap()];
    assert!(drops.positions.len() > 1000, "{} vertices", drops.positions.len());
    // A drop of 2 mg is about a millimetre high and sits on the coat, which is some millimetres off
    // the skin.
    let off = distances(&stage, "coat", &drops.positions);
    let (low, high) = off.iter().fold((0.0f32, 0.0f32), |(l, h), d| (l.min(*d), h.max(*d)));
    assert!(low > -0.001 && high < 0.003, "from {low} to {high} m off the coat");
}

/// 30 cm long, 20 cm wide, blunt at one end.
fn egg_mesh() -> Mesh {
    let (rings, sectors) = (24u32, 32u32);
    let place = |r: u32, k: u32| {
        let (s, c) = (std::f32::consts::PI * r as f32 / rings as f32).sin_cos();
        let (sin, cos) = (std::f32::consts::TAU * k as f32 / sectors as f32).sin_cos();
        let wide = 0.1 * s * (1.0 - 0.25 * c);
        Vec3::new(0.15 * c, wide * cos, wide * sin)
    };
    let mut positions = vec![place(0, 0), place(rings, 0)];
    for r in 1..rings {
        positions.extend((0..sectors).map(|k| place(r, k)));
    }
    let at = |r: u32, k: u32| 2 + (r - 1) * sectors + k % sectors;
    let mut triangles = Vec::new();
    for k in 0..sectors {
        triangles.push([0, at(1, k), at(1, k + 1)]);
        triangles.push([1, at(rings - 1, k + 1), at(rings - 1, k)]);
        for r in 1..rings - 1 {
            triangles.push([at(r, k), at(r + 1, k), at(r, k + 1)]);
            triangles.push([at(r + 1, k), at(r + 1, k + 1), at(r, k + 1)]);
        }
    }
    let mesh = Mesh::new("egg", positions, triangles);
    let [a, b, c] = mesh.topology.triangles[40].map(|v| mesh.positions[v as usize]);
    assert!((b - a).cross(c - a).dot(a) > 0.0, "inside out");
    mesh
}

/// Drops that roughness holds wherever they appear.
fn held_drops(on: &str) -> LayerParams {
    let text = format!(
        r#"{{"name": "wet", "on": "{on}", "merging": {{"enabled": false}}, "trails": {{"enabled": false}},
        "shape": {{"mesh": false, "points": true}},
        "ground": [{{"roughness": [0.05, 0.05], "grip": 1e6, "adhesion": 1e6}}],
        "sources": [{{"condensation": {{"count": 60, "mass": 1e-6, "growth": 1e-7, "over": 0}}}}]}}"#
    );
    LayerParams::Drops(serde_json::from_str(&text).unwrap())
}

/// Places of the drops, and what the books miss.
fn drops_of(stage: &Simulator) -> (Vec<Vec3>, f64) {
    let points = stage.frame().points.iter().find(|p| p.name == "wet.points").unwrap();
    let report = stage.reports().pop().unwrap();
    let missed = report.measures.iter().find(|m| m.name == "ledger imbalance").unwrap();
    (points.positions.clone(), missed.value)
}

#[test]
fn drops_ride_a_coat_whose_triangles_change() {
    let sheet = square(2, 0.1, 5.0);
    let mut stage = stage(sheet, &[lump(), held_drops("lump")]);
    let start = drops_of(&stage).0;
    let mut counts = Vec::new();
    for _ in 0..30 {
        stage.advance_frame(&mut NoObserver).unwrap();
        let (places, missed) = drops_of(&stage);
        assert!(places.len() == 60 && missed.abs() < 1e-12, "{} {missed:e}", places.len());
        for d in distances(&stage, "lump", &places) {
            assert!(d.abs() < 1e-4, "{d} m off the coat");
        }
        let frame = stage.frame();
        counts.push(frame.meshes[frame.mesh_index("lump").unwrap()].positions.len());
    }
    assert!(counts.windows(2).any(|w| w[0] != w[1]), "its triangles change");
    // The lump rises by 6 cm, and every held drop with it.
    for (a, b) in start.iter().zip(&drops_of(&stage).0) {
        let way = *b - *a;
        assert!((way.y - 0.06).abs() < 0.01 && way.x.hypot(way.z) < 0.01, "{way}");
    }
}

#[test]
fn drops_lie_on_cloth_that_was_cut_finer_and_folded() {
    let mut cloth = ClothParams::new("cloth", "sheet");
    cloth.subdivide = 1;
    let points = [[-0.1, 1.0, 0.0], [0.1, 1.0, 0.0]].map(Anchor::Position).to_vec();
    let fold = Fold::new("mid", points, 0.02, 0.05);
    let folds = FoldsParams::new("folds", "sheet", vec![fold]);
    let stacks = [
        vec![LayerParams::Cloth(cloth.clone()), held_drops("sheet")],
        vec![LayerParams::Folds(folds.clone()), held_drops("sheet")],
        vec![LayerParams::Cloth(cloth), LayerParams::Folds(folds), held_drops("sheet")],
    ];
    for layers in stacks {
        let mut stage = stage(square(9, 0.4, 1.0), &layers);
        for _ in 0..8 {
            stage.advance_frame(&mut NoObserver).unwrap();
            let (places, missed) = drops_of(&stage);
            assert!(places.len() == 60 && missed.abs() < 1e-12, "{} {missed:e}", places.len());
            for d in distances(&stage, "sheet", &places) {
                assert!(d.abs() < 1e-4, "{d} m off the sheet");
            }
        }
    }
}

/// A strip of cloth that is held at one end, and what else there is on it.
fn strip(weigh: impl Fn(&mut ClothParams), others: Vec<LayerParams>) -> Simulator {
    let (columns, rows) = (9u32, 5u32);
    let place = |k: u32| Vec3::new(0.015 * (k % columns) as f32, 0.0, 0.015 * (k / columns) as f32);
    let positions = (0..columns * rows).map(place).collect();
    let quads = (0..rows - 1).flat_map(|j| (0..columns - 1).map(move |i| j * columns + i));
    let triangles = quads
        .flat_map(|v| [[v, v + columns, v + 1], [v + 1, v + columns, v + columns + 1]])
        .collect();
    let held: Vec<u32> = (0..rows).flat_map(|j| [columns * j, columns * j + 1]).collect();
    let mut cloth = ClothParams::new("cloth", "sheet");
    (cloth.drag, cloth.lift, cloth.damping, cloth.bend) = (0.0, 0.0, 2.0, Some(2e-5));
    cloth.pins = Some(Selection { vertices: Some(held), ..Selection::default() });
    weigh(&mut cloth);
    let layers: Vec<_> = [LayerParams::Cloth(cloth)].into_iter().chain(others).collect();
    stage(Mesh::new("sheet", positions, triangles), &layers)
}

/// How far the strip hangs down under its weight after some frames [m].
fn droop(mut stage: Simulator, frames: usize) -> f32 {
    for _ in 0..frames {
        stage.advance_frame(&mut NoObserver).unwrap();
    }
    let coarse = &stage.frame().meshes[0].positions[..45];
    -coarse.iter().map(|p| p.y).fold(f32::MAX, f32::min)
}

fn folded(ends: [[f32; 3]; 2]) -> Vec<LayerParams> {
    let fold = Fold::new("fold", ends.map(Anchor::Position).to_vec(), 0.003, 0.02);
    let mut folds = FoldsParams::new("folds", "sheet", vec![fold]);
    folds.feedback = 1.0;
    vec![LayerParams::Folds(folds)]
}

#[test]
fn a_fold_stiffens_the_cloth_along_it_and_not_across() {
    let hangs = |others| droop(strip(|_| {}, others), 38);
    let plain = hangs(vec![]);
    let along = hangs(folded([[0.0, 0.0, 0.03], [0.12, 0.0, 0.03]]));
    let across = hangs(folded([[0.06, 0.0, 0.0], [0.06, 0.0, 0.06]]));
    assert!(along < 0.2 * plain, "{along} of {plain}");
    assert!(across > 0.9 * plain, "{across} of {plain}");
}

#[test]
fn folds_over_cloth_move_as_fast_as_the_cloth_below_them() {
    let mut stage = strip(|_| {}, folded([[0.06, 0.0, 0.0], [0.06, 0.0, 0.06]]));
    for _ in 0..4 {
        stage.advance_frame(&mut NoObserver).unwrap();
    }
    let mesh = &stage.frame().meshes[0];
    assert!(mesh.positions.len() > 45);
    // Files take a velocity for every vertex or none at all.
    assert_eq!(mesh.velocities.len(), mesh.positions.len());
    let slowest = mesh.velocities[..45].iter().map(|v| v.y).fold(f32::MAX, f32::min);
    assert!(slowest < -1e-3, "the strip falls: {slowest}");
    for (place, velocity) in mesh.positions.iter().zip(&mesh.velocities).skip(45) {
        let near = |v: &usize| mesh.positions[*v].with_y(0.0).distance(place.with_y(0.0)) < 0.017;
        let around = (0..45).filter(near).map(|v| mesh.velocities[v].y);
        let (low, high) = around.fold((f32::MAX, f32::MIN), |(l, h), y| (l.min(y), h.max(y)));
        assert!((low - 1e-6..=high + 1e-6).contains(&velocity.y), "{velocity} at {place}");
    }
}

/// Drops that soak into the strip within a moment, as heavy together as it is; none of it dries.
fn soaking() -> Vec<LayerParams> {
    let text = r#"{"name": "wet", "on": "sheet", "merging": {"enabled": false}, "trails": {"drying": 1e9},
        "shape": {"mesh": false}, "ground": [{"absorption": 100, "roughness": [0.05, 0.05], "grip": 1e6}],
        "sources": [{"region": {"count": 1440, "mass": [1e-6, 1e-6]}}]}"#;
    vec![LayerParams::Drops(serde_json::from_str(text).unwrap())]
}

#[test]
fn soaked_cloth_hangs_as_cloth_of_its_weight_with_the_water() {
    // 72 cm² of 200 g/m².
    let of = |density: f64| {
        move |cloth: &mut ClothParams| (cloth.density, cloth.bend) = (Some(density), Some(1e-3))
    };
    let dry = droop(strip(of(0.2), vec![]), 60);
    let heavy = droop(strip(of(0.4), vec![]), 60);
    let wet = droop(strip(of(0.2), soaking()), 60);
    assert!(heavy > 1.1 * dry, "{heavy} beside {dry}");
    assert!((wet / heavy - 1.0).abs() < 0.05, "{wet}, as heavy {heavy}, dry {dry}");
}

#[test]
fn what_soaked_cloth_carries_is_in_the_books_and_in_the_states() {
    let mut one = strip(|c| c.density = Some(0.2), soaking());
    for _ in 0..7 {
        one.advance_frame(&mut NoObserver).unwrap();
    }
    let report = one.reports().pop().unwrap();
    let measure = |name: &str| report.measures.iter().find(|m| m.name == name).unwrap().value;
    assert!((measure("absorbed") / 1.44e-3 - 1.0).abs() < 1e-6, "{}", measure("absorbed"));
    assert!(measure("ledger imbalance").abs() < 1e-12);
    let mut other = strip(|c| c.density = Some(0.2), soaking());
    other.load(&one.save().unwrap()).unwrap();
    for stage in [&mut one, &mut other] {
        for _ in 0..6 {
            stage.advance_frame(&mut NoObserver).unwrap();
        }
    }
    assert_eq!(one.frame().meshes[0].positions, other.frame().meshes[0].positions);
}
