//! What others see: drops on a skinned body, trails that are only drawn where they change, tracks.

use std::sync::Arc;

use glam::{DVec3, Mat4, Quat, Vec3};

use super::layer::{BUSY, GRAVITY, Lab, incline, params};
use super::*;
use crate::character::{
    Character, CharacterMesh, Clip, Influences, Interpolation, Node, Skeleton, Skin, Track,
    TrackTarget, Transform,
};
use crate::geometry::Mesh;
use crate::layers::drops::flow::Segment;
use crate::stage::{Actor, ClipPlay};

/// An upright limb with a joint in its middle, skinned smoothly over it, that bends to and fro.
fn limb() -> Actor {
    let (rings, sides) = (24usize, 16usize);
    let node = |name: &str, parent, y: f32| Node {
        name: name.to_owned(),
        parent,
        rest: Transform::from_translation(Vec3::Y * y),
    };
    let nodes = vec![node("upper", None, 0.0), node("lower", Some(0), 0.5)];
    let (mut positions, mut triangles, mut influences) = (Vec::new(), Vec::new(), Vec::new());
    for ring in 0..=rings {
        let y = ring as f32 / rings as f32;
        let bent = ((y - 0.35) / 0.3).clamp(0.0, 1.0);
        for side in 0..sides {
            let turn = std::f32::consts::TAU * side as f32 / sides as f32;
            positions.push(Vec3::new(0.1 * turn.cos(), y, 0.1 * turn.sin()));
            influences.push(vec![(0u16, 1.0 - bent), (1, bent)]);
            let at = |r: usize, s: usize| (r * sides + s % sides) as u32;
            if ring < rings {
                triangles.push([at(ring, side), at(ring + 1, side), at(ring, side + 1)]);
                triangles.push([at(ring, side + 1), at(ring + 1, side), at(ring + 1, side + 1)]);
            }
        }
    }
    let times: Vec<f32> = (0..=60).map(|i| i as f32 / 30.0).collect();
    let bend = |t: &f32| Quat::from_rotation_z(0.9 * (std::f32::consts::TAU * t).sin());
    let track = Track {
        target: TrackTarget::Rotation(1),
        interpolation: Interpolation::Linear,
        values: times.iter().flat_map(|t| bend(t).to_array()).collect(),
        times,
        width: 4,
    };
    let character = Character {
        name: "limb".to_owned(),
        skeleton: Skeleton::new(nodes).unwrap(),
        skins: vec![Skin {
            name: "skin".to_owned(),
            joints: vec![0, 1],
            inverse_bind: vec![Mat4::IDENTITY, Mat4::from_translation(Vec3::Y * -0.5)],
        }],
        meshes: vec![CharacterMesh::skinned(
            Mesh::new("ground", positions, triangles),
            Influences::from_lists(&influences),
        )],
        clips: vec![Clip { name: "bend".to_owned(), tracks: vec![track] }],
    };
    let play = ClipPlay { looped: true, ..ClipPlay::new(0) };
    Actor::character_named("ground", Arc::new(character)).playing(play)
}

#[test]
fn held_drops_ride_skinned_skin_without_sliding() {
    let text = r#"{"name": "d", "on": "ground", "ground": [{"roughness": [0.02, 0.02], "grip": 1e4,
        "adhesion": 1e6}], "sources": [{"region": {"count": 200, "mass": [1e-6, 1e-5]}}],
        "merging": {"enabled": false}, "shape": {"points": true}}"#;
    let mut lab = Lab::new(limb(), &params(text), GRAVITY, 30);
    let phases = |lab: &Lab| -> Vec<Phase> { lab.state().drops.iter().map(|d| d.phase).collect() };
    let (before, start) = (phases(&lab), lab.positions());
    let mut farthest: f64 = 0.0;
    for _ in 0..60 {
        lab.run(4);
        for (now, before) in phases(&lab).iter().zip(&before) {
            let (
                Phase::Face { triangle, weights, .. },
                Phase::Face { triangle: t, weights: w, .. },
            ) = (now, before)
            else {
                panic!("{now:?}");
            };
            // Bit for bit: the same triangle, the same place on it.
            assert!(triangle == t && weights == w);
        }
        // Where it is shown is where its triangle has been skinned to.
        let mesh = &lab.frame().meshes[0];
        let points = &lab.frame().points[0];
        for (drop, shown) in lab.state().drops.iter().zip(&points.positions) {
            let Phase::Face { triangle, weights, .. } = drop.phase else { unreachable!() };
            let [a, b, c] = mesh.topology.triangles[triangle as usize]
                .map(|v| mesh.positions[v as usize].as_dvec3());
            let skin = a + (b - a) * weights.x + (c - a) * weights.y;
            assert!(skin.distance(shown.as_dvec3()) < 1e-6, "{skin} {shown}");
            assert!(drop.held);
        }
        let way = |((_, a), (_, b)): (&(u64, DVec3), &(u64, DVec3))| a.distance(*b);
        farthest = lab.positions().iter().zip(&start).map(way).fold(farthest, f64::max);
    }
    assert!(farthest > 0.2, "the skin moves: {farthest}");
    assert_eq!(lab.state().ledger.crossings, 0);
}

/// A mesh that the layer adds.
fn mesh<'a>(lab: &'a Lab, name: &str) -> &'a Mesh {
    &lab.frame().meshes[lab.frame().mesh_index(name).expect("a mesh")]
}

#[test]
fn trails_drawn_where_they_change_are_those_drawn_anew() {
    // Ticks are chosen so that strips dry, die and are swept on the way.
    let text = BUSY.replace("\"drying\": 0.7", "\"drying\": 0.2");
    let mut straight = Lab::new(incline(), &params(&text), GRAVITY, 30);
    for ticks in [40, 60, 60, 80] {
        straight.run(ticks);
        let mut anew = Lab::new(incline(), &params(&text), GRAVITY, 30);
        let saved = straight.alone.simulator.save().unwrap();
        anew.alone.simulator.load(&saved).unwrap();
        anew.tick = straight.tick;
        straight.run(4);
        anew.run(4);
        assert!(straight.save() == anew.save(), "states differ");
        for name in ["rain.trails", "rain"] {
            let (a, b) = (mesh(&straight, name), mesh(&anew, name));
            assert!(a.positions.len() > 100, "{name}");
            assert_eq!(a.topology.triangles, b.topology.triangles, "{name}");
            assert!(a.positions == b.positions && a.normals == b.normals, "{name}");
        }
    }
}

#[test]
fn a_strip_narrows_as_it_dries_and_then_goes() {
    let text = r#"{"name": "d", "on": "ground", "trails": {"drying": 0.5, "unevenness": 0},
        "air": {"margin": 0.2}, "sources": [{"single": {"at": [0.3, -0.15, 0.5], "mass": 3e-5}}]}"#;
    let mut lab = Lab::new(incline(), &params(text), GRAVITY, 30);
    let area = |lab: &Lab| -> f32 {
        let mesh = mesh(lab, "d.trails");
        let p = |v: u32| mesh.positions[v as usize];
        let of = |t: &[u32; 3]| 0.5 * (p(t[1]) - p(t[0])).cross(p(t[2]) - p(t[0])).length();
        mesh.topology.triangles.iter().map(of).sum()
    };
    while !lab.state().drops.is_empty() {
        lab.run(4);
    }
    let mut before = area(&lab);
    assert!(before > 1e-4, "{before}");
    for _ in 0..16 {
        lab.run(12);
        let now = area(&lab);
        assert!(now <= before + 1e-9, "{now} {before}");
        before = now;
    }
    lab.run(60);
    assert_eq!(mesh(&lab, "d.trails").positions.len(), 0);
}

/// Where tracks say that a drop is at a time.
fn on_track(tracks: &[Segment], id: u64, time: f64) -> DVec3 {
    let at = |s: &&Segment| s.id == id && s.start <= time && time <= s.start + s.duration;
    tracks.iter().find(at).expect("a piece").position_at(time)
}

#[test]
fn tracks_tell_the_place_at_any_time_between_frames() {
    let (p, t) = height_field(20, 20, DVec2::splat(-1.0), DVec2::splat(1.0), |x, z| {
        0.2 * (3.0 * x).sin() * (2.0 * z).cos() - 0.3 * x
    });
    let run = |steps: &[f64]| {
        let mut bench = Bench::new(&p, &t, smooth());
        bench.liquid.drag = Drag::Same(2e-3);
        let mut drop = bench.drop_at(DVec3::new(-0.5, 0.0, 0.2), 1e-3, DVec3::new(0.3, 0.0, 0.1));
        let mut trace = Trace::default();
        steps.iter().for_each(|dt| bench.step(&mut drop, *dt, &mut trace));
        (bench.place(&drop).0, trace.segments)
    };
    // A second of frames, then the same second stopped somewhere between two of them.
    let (_, tracks) = run(&[1.0 / 24.0; 24]);
    for i in 0..50 {
        let time = 0.99 * crate::math::random::uniform(3, i, 0);
        let whole = (time * 24.0).floor() as usize;
        let mut steps = vec![1.0 / 24.0; whole];
        steps.push(time - whole as f64 / 24.0);
        let (there, _) = run(&steps);
        let told = on_track(&tracks, 1, time);
        assert!(told.distance(there) < 1e-9, "at {time}: {told} {there}");
    }
    // Played at half speed: the velocity is that of the track, by differences.
    for i in 0..200 {
        let time = 0.002 + 0.99 * f64::from(i) / 200.0;
        let Some(piece) =
            tracks.iter().find(|s| s.start + 1e-5 < time && time < s.start + s.duration - 1e-5)
        else {
            continue;
        };
        let h = 1e-6;
        let slope = (piece.position_at(time + h) - piece.position_at(time - h)) / (2.0 * h);
        assert!(slope.distance(piece.velocity_at(time)) < 1e-6);
    }
}
