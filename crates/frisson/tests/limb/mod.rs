//! A character small enough to try everything on: a closed upright limb with a joint in its middle that
//! bends to and fro, and one layer of each kind for it.

use std::sync::Arc;

use frisson::character::{
    Character, CharacterMesh, Clip, Influences, Interpolation, Node, Skeleton, Skin, Track,
    TrackTarget, Transform,
};
use frisson::geometry::Mesh;
use frisson::layers::LayerParams;
use frisson::stage::{Actor, ClipPlay, Clock, EARTH_GRAVITY, Forces, Rate, Setup};
use glam::{Mat4, Quat, Vec3};
use serde_json::json;

const RINGS: usize = 24;
const SIDES: usize = 16;

/// The limb, 1 m high and 20 cm thick.
pub fn character() -> Arc<Character> {
    let node = |name: &str, parent, y: f32| Node {
        name: name.to_owned(),
        parent,
        rest: Transform::from_translation(Vec3::Y * y),
    };
    let nodes =
        vec![node("upper", None, 0.0), node("lower", Some(0), 0.5), node("tip", Some(1), 0.5)];
    let (mesh, influences) = tube();
    let times: Vec<f32> = (0..=60).map(|i| i as f32 / 30.0).collect();
    let track = Track {
        target: TrackTarget::Rotation(1),
        interpolation: Interpolation::Linear,
        values: times.iter().flat_map(|t| bend(f64::from(*t)).to_array()).collect(),
        times,
        width: 4,
    };
    let skin = Skin {
        name: "skin".to_owned(),
        joints: vec![0, 1],
        inverse_bind: vec![Mat4::IDENTITY, Mat4::from_translation(Vec3::Y * -0.5)],
    };
    let mesh = CharacterMesh::skinned(mesh, Influences::from_lists(&influences));
    Arc::new(Character {
        name: "limb".to_owned(),
        skeleton: Skeleton::new(nodes).expect("a tree"),
        skins: vec![skin],
        meshes: vec![mesh],
        clips: vec![Clip { name: "bend".to_owned(), tracks: vec![track] }],
    })
}

/// Turn of the middle joint: still for a tenth of a second, then to and fro.
pub fn bend(time: f64) -> Quat {
    let swing = (std::f64::consts::TAU * (time - 0.1).max(0.0)).sin();
    Quat::from_rotation_z(0.7 * swing as f32)
}

fn tube() -> (Mesh, Vec<Vec<(u16, f32)>>) {
    let (mut positions, mut triangles, mut influences) = (Vec::new(), Vec::new(), Vec::new());
    let at = |r: usize, s: usize| (r * SIDES + s % SIDES) as u32;
    for ring in 0..=RINGS {
        let y = ring as f32 / RINGS as f32;
        let bent = ((y - 0.35) / 0.3).clamp(0.0, 1.0);
        for side in 0..SIDES {
            let turn = std::f32::consts::TAU * side as f32 / SIDES as f32;
            positions.push(Vec3::new(0.1 * turn.cos(), y, 0.1 * turn.sin()));
            influences.push(vec![(0u16, 1.0 - bent), (1, bent)]);
            if ring < RINGS {
                triangles.push([at(ring, side), at(ring + 1, side), at(ring, side + 1)]);
                triangles.push([at(ring, side + 1), at(ring + 1, side), at(ring + 1, side + 1)]);
            }
        }
    }
    for (ring, joint, y) in [(0, 0u16, 0.0), (RINGS, 1, 1.0)] {
        let middle = positions.len() as u32;
        positions.push(Vec3::Y * y);
        influences.push(vec![(joint, 1.0)]);
        for side in 0..SIDES {
            let (a, b) = (at(ring, side), at(ring, side + 1));
            triangles.push(if ring == 0 { [middle, a, b] } else { [middle, b, a] });
        }
    }
    (Mesh::new("limb", positions, triangles), influences)
}

/// The limb playing its clip.
pub fn actor() -> Actor {
    let play = ClipPlay { looped: true, ..ClipPlay::new(0) };
    Actor::character_named("limb", character()).playing(play)
}

/// The kinds of layers.
#[allow(dead_code)] // Not every test that has a limb tries all kinds.
pub const KINDS: [&str; 7] = ["flesh", "wrinkles", "cloth", "folds", "hair", "drops", "soft"];

/// A layer of each kind on the limb; `name` must be unique.
pub fn layer(kind: &str, name: &str) -> LayerParams {
    let ring = |r: usize, side: usize| r * SIDES + side;
    let bottom: Vec<usize> = (0..SIDES).collect();
    let value = match kind {
        "flesh" => json!({ "name": name, "on": "limb", "from": "lower", "to": ["tip"] }),
        "wrinkles" => json!({ "name": name, "on": "limb", "max_level": 2, "tools": [
            { "name": "inside", "a": ring(9, 0), "b": ring(15, 0), "width": 0.1, "folds": 3 } ] }),
        "cloth" => json!({ "name": name, "on": "limb", "pins": { "vertices": bottom },
            "subdivide": 1, "material": "cotton", "dressing": 0 }),
        "folds" => json!({ "name": name, "on": "limb", "folds": [
            { "name": "ring", "points": [[0.1, 0.3, 0.0], [0.07, 0.32, 0.07], [0.0, 0.3, 0.1]],
              "width": 0.04, "amplitude": 0.01, "subdivision": 2 } ] }),
        "hair" => json!({ "name": name, "on": "limb", "wisps": 4, "length": 0.2,
            "scalp": { "box": [-1, 0.9, -1, 1, 2, 1] }, "strands": { "per_wisp": 5 } }),
        "drops" => json!({ "name": name, "on": "limb", "sources": [
            { "region": { "count": 20, "mass": [2e-6, 1e-5], "over": 6 } } ] }),
        "soft" => json!({ "name": name, "cell": 0.04, "seeds": 16, "objects": [
            { "name": format!("{name}_coat"), "thickness": 0.05, "support": 0.065,
              "coat": { "on": "limb" } } ] }),
        other => panic!("no layer {other:?}"),
    };
    serde_json::from_value(json!({ kind: value })).expect("sound parameters")
}

/// A shot of the limb with some layers.
pub fn setup(layers: Vec<LayerParams>) -> Setup {
    Setup {
        clock: Clock::new(Rate::whole(30), 0, 1000),
        actors: vec![actor()],
        forces: Forces::new(EARTH_GRAVITY, vec![], 30.0),
        layers,
        ..Setup::default()
    }
}
