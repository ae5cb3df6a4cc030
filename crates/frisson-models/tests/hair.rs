//! Hair on the built-in heads: outside of ears, at rest where it was styled, wet from drops.

use std::sync::Arc;

use frisson::geometry::{Mesh, TriangleBvh};
use frisson::layers::LayerParams;
use frisson::layers::hair::StylePreset;
use frisson::stage::{
    Actor, ClipPlay, Clock, EARTH_GRAVITY, ForceParams, Forces, NoObserver, Rate, Setup, Simulator,
};
use glam::Vec3;
use serde_json::{Value, json};

/// How deep points and segments of hairs may be inside a head [m].
const POINTS: f32 = 2.0e-4;
const SEGMENTS: f32 = 5.0e-4;
/// How far a point of the hair may sag in five seconds [m].
const SAG: f32 = 1.0e-3;

/// A head that plays a clip, in some winds, with some layers.
fn head(source: &str, clip: &str, forces: Vec<ForceParams>, layers: Vec<Value>) -> Simulator {
    let character = frisson_models::build(source).expect("a head");
    let clip = character.clips.iter().position(|c| c.name == clip).expect("a clip");
    let actor = Actor::character_named("head", Arc::new(character)).playing(ClipPlay::new(clip));
    let layer = |value| serde_json::from_value::<LayerParams>(value).expect("a layer");
    Simulator::new(Setup {
        clock: Clock::new(Rate::whole(30), 0, 1000),
        actors: vec![actor],
        forces: Forces::new(EARTH_GRAVITY, forces, 30.0),
        layers: layers.into_iter().map(layer).collect(),
        ..Setup::default()
    })
    .expect("a scene")
}

/// Hair combed back and to the sides, `more` put over it.
fn combed(wisps: u32, more: &Value) -> Value {
    let mut hair = json!({
        "name": "hair", "on": "head", "wisps": wisps, "length": 0.3, "radius": 0.014,
        "scalp": { "region": "scalp" }, "body": { "meshes": ["head"] },
        "strands": { "per_wisp": 40 },
        "style": { "fields": [
            { "parting": { "point": [0.01, 0.25, 0.0], "normal": [1.0, 0.0, 0.0], "strength": 9.0, "to": 1.2 } },
            { "parallel": { "direction": [0.0, -0.2, -1.0], "strength": 14.0, "to": 1.2 } },
        ] },
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        hair[key] = value.clone();
    }
    json!({ "hair": hair })
}

fn wind(speed: Value, gust: f64) -> Vec<ForceParams> {
    let wind = json!({ "wind": {
        "direction": [1.0, 0.15, -0.3], "speed": speed, "gust": gust, "gust_hz": 1.5, "gust_size": 0.3,
    } });
    vec![serde_json::from_value(wind).expect("a wind")]
}

fn step(simulator: &mut Simulator, frames: usize) {
    for _ in 0..frames {
        simulator.advance_frame(&mut NoObserver).expect("a frame");
    }
}

/// How deep a place is inside a closed mesh [m]: two of three ways out must leave more than they enter.
fn depth(tree: &TriangleBvh, p: Vec3) -> f32 {
    let rays = [[0.137, 0.971, 0.053], [0.953, 0.131, -0.297], [-0.317, 0.211, -0.929]];
    let leaves = |ray: Vec3| {
        let mut left = 0;
        tree.raycast_all(p, 2.0 * ray, |t, _| {
            left += if tree.face_normal(t).dot(ray) > 0.0 { 1 } else { -1 };
        });
        left > 0
    };
    let votes = rays.iter().filter(|r| leaves(Vec3::from_array(**r))).count();
    if votes < 2 {
        return 0.0;
    }
    tree.closest_point(p, 1.0).map_or(0.0, |hit| hit.distance)
}

/// Deepest point and deepest place on a segment, and where it is; the first of each is left out, which
/// grows out of the skin.
fn deepest(simulator: &Simulator) -> [(f32, Vec3); 2] {
    let frame = simulator.frame();
    let skin: &Mesh = &frame.meshes[frame.mesh_index("head").expect("the head")];
    let tree = TriangleBvh::build(&skin.positions, &skin.topology.triangles);
    let bounds = tree.bounds();
    let curves = &frame.curves[0];
    let mut worst = [(0.0, Vec3::ZERO); 2];
    let mut look = |kind: usize, p: Vec3| {
        if p.cmpge(bounds.min).all() && p.cmple(bounds.max).all() {
            let found = depth(&tree, p);
            if found > worst[kind].0 {
                worst[kind] = (found, p);
            }
        }
    };
    for hair in curves.points.chunks_exact(curves.counts[0] as usize) {
        for (k, (a, b)) in hair.iter().zip(&hair[1..]).enumerate() {
            look(0, *b);
            if k == 0 {
                continue;
            }
            for t in [0.25, 0.5, 0.75] {
                look(1, a.lerp(*b, t));
            }
        }
    }
    worst
}

fn check_outside(mut simulator: Simulator, from: usize, to: usize) {
    let mut worst = [(0.0, 0, Vec3::ZERO); 2];
    step(&mut simulator, from);
    for frame in from..to {
        step(&mut simulator, 1);
        for (worst, (found, place)) in worst.iter_mut().zip(deepest(&simulator)) {
            if found > worst.0 {
                *worst = (found, frame + 1, place);
            }
        }
    }
    assert!(worst[0].0 < POINTS && worst[1].0 < SEGMENTS, "inside [m], frame, place: {worst:?}");
}

#[test]
fn no_hair_goes_into_a_head_that_is_shaken() {
    let hair = combed(80, &json!({ "length": 0.34, "radius": 0.012, "bending_length": 0.04 }));
    check_outside(head("head_a", "shake", Vec::new(), vec![hair]), 30, 56);
}

#[test]
fn no_wind_drives_hair_through_an_ear() {
    let hair = combed(80, &json!({ "radius": 0.015, "drag": 6.0, "goal_hz": 0.7 }));
    let dying = wind(json!([[0, 5.0], [30, 5.0], [40, 2.6], [60, 0.8], [80, 0.0]]), 0.5);
    check_outside(head("head_a", "still", dying, vec![hair]), 30, 60);
}

/// Farthest that a drawn point of a named style moves on a still head in five seconds [m].
fn farthest_sag(source: &str, preset: StylePreset) -> f32 {
    let hair = json!({ "hair": {
        "name": "hair", "on": "head", "wisps": 40, "scalp": { "region": "scalp" },
        "body": { "meshes": ["head"] }, "strands": { "per_wisp": 3 },
        "style": { "preset": preset },
    } });
    let mut simulator = head(source, "still", Vec::new(), vec![hair]);
    let start = simulator.frame().curves[0].points.clone();
    step(&mut simulator, 150);
    let now = &simulator.frame().curves[0].points;
    start.iter().zip(now).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn no_style_sags_on_either_head() {
    let mut worst = Vec::new();
    for source in ["head_a", "head_b"] {
        for preset in StylePreset::ALL {
            worst.push((farthest_sag(source, preset), source, preset));
        }
    }
    assert!(worst.iter().all(|w| w.0 < SAG), "sags in five seconds [m]: {worst:?}");
}

#[test]
fn drops_on_the_scalp_make_hair_wet_and_heavy() {
    // How far hair is blown off its place on a dry head and on one that it has rained on.
    let run = |rain: bool| {
        let drops = json!({ "drops": {
            "name": "rain", "on": "head", "liquid": { "preset": "water" },
            "sources": [{ "region": {
                "count": 400, "mass": [3e-6, 2.5e-5], "over": 30, "select": { "region": "scalp" },
            } }],
        } });
        let hair = combed(40, &json!({ "drag": 6.0, "strands": { "per_wisp": 10 } }));
        let layers = if rain { vec![drops, hair] } else { vec![hair] };
        let blows = wind(json!([[0, 0.0], [60, 0.0], [70, 2.0]]), 0.0);
        let mut simulator = head("head_a", "still", blows, layers);
        step(&mut simulator, 60);
        let before = simulator.frame().curves[0].points.clone();
        step(&mut simulator, 20);
        let now = &simulator.frame().curves[0].points;
        let away: f32 = before.iter().zip(now).map(|(a, b)| a.distance_squared(*b)).sum();
        (away / before.len() as f32).sqrt()
    };
    let (dry, wet) = (run(false), run(true));
    assert!(dry > 0.02, "the wind moves dry hair: {dry} m");
    assert!(wet < 0.8 * dry, "blown by {wet} m, dry by {dry} m");
}

/// Two wisps that start in each other, with their roots some way apart; how far apart their tips are in the
/// end [m].
fn tips_apart(roots: f32, viscosity: f32) -> f32 {
    let sheet = frisson_models::build("sheet?cells=2&size=0.4&height=0.6").expect("a sheet");
    let half = 0.5 * roots;
    let down = 0.6 - (0.15f32.powi(2) - (half - 0.005).powi(2)).max(0.0).sqrt();
    let side = |sign: f32| {
        let z = 0.004 * sign;
        json!([[sign * half, 0.6, z], [sign * 0.005, down, z], [sign * 0.004, down - 0.2, z]])
    };
    let hair = json!({ "hair": {
        "name": "hair", "on": "sheet", "at": [[-half, 0.6, -0.004], [half, 0.6, 0.004]],
        "length_variation": 0.0, "radius": 0.03, "root_radius": 0.02, "bending_length": 0.03,
        "drag": 0.5, "strands": { "per_wisp": 8 },
        "style": { "guides": [side(-1.0), side(1.0)], "balance": false },
        "interaction": { "rate_hz": 120, "viscosity": viscosity },
    } });
    let mut simulator = Simulator::new(Setup {
        clock: Clock::new(Rate::whole(30), 0, 1000),
        actors: vec![Actor::character_named("sheet", Arc::new(sheet))],
        forces: Forces::new(EARTH_GRAVITY, Vec::new(), 30.0),
        layers: vec![serde_json::from_value(hair).expect("a layer")],
        ..Setup::default()
    })
    .expect("a scene");
    step(&mut simulator, 150);
    let points = &simulator.frame().curves[0].points;
    let tip = |wisp: usize| {
        let hairs = points.chunks_exact(points.len() / 16).skip(8 * wisp).take(8);
        hairs.map(|h| h[h.len() - 1]).sum::<Vec3>() / 8.0
    };
    tip(0).distance(tip(1))
}

#[test]
fn wisps_of_viscosity_50_stick_however_far_apart_their_roots_are() {
    for roots in [0.11, 0.18] {
        let (slipping, sticking) = (tips_apart(roots, 0.5), tips_apart(roots, 50.0));
        assert!(sticking < 0.02, "roots {roots} m apart: tips {sticking} m apart");
        assert!(slipping > 0.5 * roots, "roots {roots} m apart: tips {slipping} m apart");
    }
}
