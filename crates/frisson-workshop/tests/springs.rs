//! Spring bones of a VRM beside the layers that `init` proposes for them: the format's own algorithm is run on the same
//! chain, and the two are measured against each other.

use std::path::Path;

use frisson_io::gltf::{GlbBuilder, SPRING_STEPS_HZ, ViewUse};
use frisson_io::scene::SceneFile;
use frisson_workshop::Loader;
use frisson_workshop::propose::Request;
use glam::{Mat4, Quat, Vec3};
use serde_json::{Value, json};

/// Bones of the chain, and how long each is [m].
const BONES: usize = 4;
const LENGTH: f32 = 0.1;
/// Frames a second, and how many.
const FPS: u32 = 60;
const FRAMES: usize = 150;

/// The numbers of a spring.
#[derive(Clone, Copy, Debug)]
struct Spring {
    stiffness: f32,
    drag: f32,
    gravity: f32,
}

/// Where the head is: it goes aside by 20 cm within a third of a second, and stays.
fn head_at(time: f64) -> Vec3 {
    let s = (time / 0.33).clamp(0.0, 1.0);
    Vec3::X * (0.2 * s * s * (3.0 - 2.0 * s)) as f32
}

/// A head that moves, with a chain of hair below it: a strip with two vertices at every joint.
fn vrm(version: u8, spring: Spring) -> Vec<u8> {
    let mut builder = GlbBuilder::new();
    let count = BONES + 1;
    let place = |k: usize| -(k as f32 + 1.0) * LENGTH * Vec3::Y;
    let sides = [-0.01, 0.01].map(|x: f32| x * Vec3::X);
    let positions: Vec<Vec3> = (0..count).flat_map(|k| sides.map(|s| place(k) + s)).collect();
    let triangles: Vec<[u32; 3]> = (0..BONES as u32)
        .flat_map(|q| [[2 * q, 2 * q + 1, 2 * q + 3], [2 * q, 2 * q + 3, 2 * q + 2]])
        .collect();
    let joints: Vec<[u16; 4]> = (0..2 * count).map(|v| [(v / 2) as u16, 0, 0, 0]).collect();
    let weights = vec![[1.0, 0.0, 0.0, 0.0]; 2 * count];
    let attributes = json!({
        "POSITION": builder.positions(&positions).unwrap(),
        "JOINTS_0": builder.joints(&joints).unwrap(),
        "WEIGHTS_0": builder.weights(&weights).unwrap(),
    });
    let indices = builder.triangles(&triangles, positions.len()).unwrap();
    let primitive = json!({ "attributes": attributes, "indices": indices });
    builder.push("meshes", json!({ "name": "hair", "primitives": [primitive] }));
    let bind: Vec<Mat4> = (0..count).map(|k| Mat4::from_translation(-place(k))).collect();
    let matrices = builder.matrices(&bind).unwrap();
    let nodes: Vec<usize> = (2..2 + count).collect();
    builder.push("skins", json!({ "joints": nodes, "inverseBindMatrices": matrices }));
    builder.push("nodes", json!({ "name": "hair", "mesh": 0, "skin": 0 }));
    builder.push("nodes", json!({ "name": "head", "children": [2] }));
    for k in 0..count {
        let mut node = json!({ "name": format!("lock{k}"), "translation": [0.0, -LENGTH, 0.0] });
        if k + 1 < count {
            node["children"] = json!([k + 3]);
        }
        builder.push("nodes", node);
    }
    builder.add_to_scene(0);
    builder.add_to_scene(1);
    let times: Vec<f32> = (0..=FRAMES).map(|k| k as f32 / FPS as f32).collect();
    let path: Vec<f32> = times.iter().flat_map(|t| head_at(f64::from(*t)).to_array()).collect();
    let input = builder.times(&times).unwrap();
    let output = builder.floats(&path, 3, ViewUse::Other).unwrap();
    builder.push(
        "animations",
        json!({
            "name": "aside", "samplers": [{ "input": input, "output": output }],
            "channels": [{ "sampler": 0, "target": { "node": 1, "path": "translation" } }],
        }),
    );
    builder.json["extensions"] = extensions(version, spring, &nodes);
    builder.into_bytes().unwrap()
}

fn extensions(version: u8, spring: Spring, nodes: &[usize]) -> Value {
    let Spring { stiffness, drag, gravity } = spring;
    if version == 0 {
        let down = json!({ "x": 0.0, "y": -1.0, "z": 0.0 });
        let group = json!({
            "stiffiness": stiffness, "gravityPower": gravity, "gravityDir": down, "dragForce": drag,
            "center": -1, "hitRadius": 0.0, "bones": [nodes[0]], "colliderGroups": [],
        });
        return json!({ "VRM": {
            "humanoid": { "humanBones": [{ "bone": "head", "node": 1 }] },
            "secondaryAnimation": { "boneGroups": [group], "colliderGroups": [] },
        }});
    }
    let joint = |node: &usize| {
        json!({
            "node": node, "stiffness": stiffness, "dragForce": drag, "gravityPower": gravity,
            "gravityDir": [0.0, -1.0, 0.0], "hitRadius": 0.0,
        })
    };
    let joints: Vec<Value> = nodes.iter().map(joint).collect();
    json!({
        "VRMC_vrm": { "specVersion": "1.0", "humanoid": { "humanBones": { "head": { "node": 1 } } } },
        "VRMC_springBone": { "springs": [{ "name": "lock", "joints": joints }] },
    })
}

/// The chain by the format's own algorithm: places of all joints at every frame.
fn as_the_format_says(spring: Spring, steps_hz: f32) -> Vec<Vec<Vec3>> {
    let h = 1.0 / steps_hz;
    let root = |time: f64| head_at(time) - LENGTH * Vec3::Y;
    let rest = -Vec3::Y;
    let mut tails: Vec<Vec3> = (1..=BONES).map(|k| root(0.0) + k as f32 * LENGTH * rest).collect();
    let mut last = tails.clone();
    let per_frame = (steps_hz / FPS as f32).max(1.0) as usize;
    let frames_a_step = (FPS as f32 / steps_hz).max(1.0) as usize;
    let mut out = Vec::new();
    for frame in 0..=FRAMES {
        let time = frame as f64 / f64::from(FPS);
        if frame > 0 && frame % frames_a_step == 0 {
            for step in 0..per_frame {
                let time = time - f64::from(h) * (per_frame - 1 - step) as f64;
                let (mut head, mut turn) = (root(time), Quat::IDENTITY);
                for (tail, last) in tails.iter_mut().zip(&mut last) {
                    let inertia = (*tail - *last) * (1.0 - spring.drag);
                    let pull = h * spring.stiffness * (turn * rest);
                    let next = *tail + inertia + pull - h * spring.gravity * Vec3::Y;
                    *last = *tail;
                    *tail = head + LENGTH * (next - head).normalize();
                    turn = Quat::from_rotation_arc(turn * rest, (*tail - head) / LENGTH) * turn;
                    head = *tail;
                }
            }
        }
        out.push(std::iter::once(root(time)).chain(tails.iter().copied()).collect());
    }
    out
}

/// The chain as the proposed scene bakes it.
fn as_proposed(version: u8, spring: Spring, chain: bool) -> Vec<Vec<Vec3>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lock.vrm");
    std::fs::write(&file, vrm(version, spring)).unwrap();
    let request = Request {
        character: file.to_string_lossy().into_owned(),
        clip: None,
        fps: FPS,
        with: Vec::new(),
    };
    let scene = folder.path().join("lock.toml");
    let mut text = request.scene_for(&scene).unwrap().text;
    assert!(text.contains("chain = true"), "{text}");
    if !chain {
        text = text.replace("chain = true", "chain = false");
    }
    let scene = SceneFile::parse(Path::new(&scene), &text).unwrap();
    let mut stage = scene.build(&Loader).unwrap().stage;
    let mut out = Vec::new();
    for frame in 0..=FRAMES {
        let shown = stage.advance_to(frame as f64 / f64::from(FPS)).unwrap();
        let places = &shown.meshes[0].positions;
        out.push((0..=BONES).map(|k| 0.5 * (places[2 * k] + places[2 * k + 1])).collect());
    }
    out
}

/// How far two motions of the chain are apart: root mean square over joints and frames, as a share of the farthest that
/// the tip leaves the place it would be at if the chain were stiff.
fn apart(a: &[Vec<Vec3>], b: &[Vec<Vec3>]) -> f32 {
    let (mut sum, mut count, mut swing) = (0.0, 0, 0.0f32);
    for (a, b) in a.iter().zip(b) {
        for (p, q) in a.iter().zip(b).skip(1) {
            sum += p.distance_squared(*q);
            count += 1;
        }
        let stiff = a[0] - BONES as f32 * LENGTH * Vec3::Y;
        swing = swing.max(a[BONES].distance(stiff));
    }
    (sum / count as f32).sqrt() / swing
}

/// Most that a chain may be apart from the format's algorithm [-]: the drag of the format holds a chain back against
/// the world, ours against what carries it.
const MOST: f32 = 0.21;
/// Drag below which a chain swings for long [-].
const LOOSE: f32 = 0.15;

const SPRINGS: [Spring; 4] = [
    Spring { stiffness: 1.0, drag: 0.1, gravity: 0.0 },
    Spring { stiffness: 2.0, drag: 0.2, gravity: 0.0 },
    Spring { stiffness: 1.0, drag: 0.4, gravity: 0.0 },
    Spring { stiffness: 1.0, drag: 0.4, gravity: 0.5 },
];

#[test]
fn proposed_chains_swing_like_the_springs_they_replace() {
    for spring in SPRINGS {
        let format = as_the_format_says(spring, SPRING_STEPS_HZ);
        let [old, new] = [0, 1].map(|version| as_proposed(version, spring, true));
        let ours = apart(&format, &new);
        let single = apart(&format, &as_proposed(1, spring, false));
        let [slow, fast] = [30.0, 120.0].map(|hz| apart(&format, &as_the_format_says(spring, hz)));
        println!(
            "{spring:?}: chain {ours:.3}, one element {single:.3}; itself at 30 Hz {slow:.3}, at 120 Hz {fast:.3}"
        );
        assert!(apart(&new, &old) < 1e-3, "both versions say the same");
        assert!(ours < MOST, "{spring:?}: {ours}");
        if spring.drag < LOOSE {
            // What swings for long: a chain is nearer than one element, and than the format at half the rate.
            assert!(ours < single && ours < slow, "{spring:?}: {ours} {single} {slow} {fast}");
        }
    }
}
