//! Coats of soft bodies on the built-in cast: fitted by themselves, swelling.

use std::sync::Arc;

use frisson::geometry::{Mesh, TriangleBvh};
use frisson::layers::LayerParams;
use frisson::layers::soft::{CoatBone, CoatParams, SoftObject, SoftParams};
use frisson::stage::{
    Actor, Animated, ClipPlay, Clock, Forces, NoObserver, Placement, Rate, Setup, Simulator,
};
use frisson_models::build;
use glam::Vec3;

fn actor(name: &str, source: &str, clip: Option<&str>, placement: Placement) -> Actor {
    let character = build(source).unwrap();
    let clip = clip.map(|c| character.clips.iter().position(|k| k.name == c).unwrap());
    let standing = Actor::character_named(name, Arc::new(character)).placed(placement);
    match clip {
        Some(clip) => standing.playing(ClipPlay { looped: true, ..ClipPlay::new(clip) }),
        None => standing,
    }
}

fn stage(actors: Vec<Actor>, gravity: f32, layers: &[LayerParams]) -> Simulator {
    let clock = Clock::new(Rate::whole(30), 0, 1000);
    let forces = Forces::new(Vec3::Y * -gravity, vec![], 30.0);
    Simulator::new(Setup { clock, actors, forces, layers: layers.to_vec(), ..Setup::default() })
        .unwrap()
}

fn mesh<'a>(stage: &'a Simulator, name: &str) -> &'a Mesh {
    &stage.frame().meshes[stage.frame().mesh_index(name).unwrap()]
}

fn volume(mesh: &Mesh) -> f64 {
    let corner = |v: u32| mesh.positions[v as usize].as_dvec3();
    let six = |t: &[u32; 3]| corner(t[0]).dot(corner(t[1]).cross(corner(t[2])));
    mesh.topology.triangles.iter().map(six).sum::<f64>() / 6.0
}

fn coated(coat: CoatParams) -> SoftParams {
    let mut object = SoftObject::new("coat", 0.05);
    object.support = Some(0.06);
    object.coat = Some(coat);
    let mut params = SoftParams::new("soft", vec![object]);
    params.seeds = 64;
    params.cell = Some(0.015);
    params
}

fn on(name: &str) -> CoatParams {
    CoatParams { on: name.to_owned(), ..CoatParams::default() }
}

#[test]
fn coats_fit_the_skin_of_a_figure_by_themselves() {
    let figure = actor("hero", "figure", Some("idle"), Placement::default());
    let stage = stage(vec![figure], 0.0, &[LayerParams::Soft(coated(on("hero")))]);
    let (skin, coat) = (mesh(&stage, "hero"), mesh(&stage, "soft"));
    let tree = TriangleBvh::build(&coat.positions, &coat.topology.triangles);
    let away = |p: &Vec3| tree.closest_point(*p, 10.0).map_or(10.0, |c| c.distance);
    let mut distances: Vec<f32> = skin.positions.iter().map(away).collect();
    distances.sort_by(f32::total_cmp);
    let at = |share: f64| distances[(share * (distances.len() - 1) as f64) as usize];
    assert!(at(0.5) < 0.008 && at(0.9) < 0.02, "median {} 90% {}", at(0.5), at(0.9));
    let ratio = volume(coat) / volume(skin);
    assert!((0.8..1.2).contains(&ratio), "volume of the coat is {ratio} of the body's");
}

#[test]
fn balls_fill_a_mesh_without_joints() {
    let ball = actor("ball", "sphere?radius=0.2", None, Placement::default());
    let stage = stage(vec![ball], 0.0, &[LayerParams::Soft(coated(on("ball")))]);
    let ratio = volume(mesh(&stage, "soft")) / volume(mesh(&stage, "ball"));
    assert!((0.8..1.2).contains(&ratio), "{ratio}");
}

#[test]
fn a_muscle_swells_by_its_keys_and_presses_on_the_forearm() {
    let figure = || actor("hero", "figure", Some("flex"), Placement::default());
    let run = |most: f64| {
        let muscle = CoatBone {
            from: "upper_arm_left".to_owned(),
            to: Some("forearm_left".to_owned()),
            span: Some([0.3, 0.75]),
            offset: [0.0, 0.0, 0.022],
            thickness: Some(0.034),
            volume: Some(Animated::Keys(vec![(0.0, 1.0), (10.0, 1.0), (40.0, most)])),
            ..CoatBone::default()
        };
        let arm = |from: &str, to: &str| CoatBone {
            from: from.to_owned(),
            to: Some(to.to_owned()),
            thickness: Some(0.04),
            ..CoatBone::default()
        };
        let coat = CoatParams {
            bones: vec![arm("upper_arm_left", "forearm_left"), arm("forearm_left", "hand_left")],
            muscles: vec![muscle],
            ..on("hero")
        };
        let mut stage = stage(vec![figure()], 0.0, &[LayerParams::Soft(coated(coat))]);
        let start = volume(mesh(&stage, "soft"));
        for _ in 0..45 {
            stage.advance_frame(&mut NoObserver).unwrap();
        }
        let reports = stage.reports();
        let touching = reports[0].measures.iter().find(|m| m.name == "contact samples").unwrap();
        (volume(mesh(&stage, "soft")) / start, touching.value)
    };
    let (calm, _) = run(1.0);
    let (swollen, touching) = run(2.5);
    assert!((calm - 1.0).abs() < 0.06, "{calm}");
    assert!(swollen > calm + 0.05, "{swollen} {calm}");
    assert!(touching > 0.0, "the forearm does not touch");
}
