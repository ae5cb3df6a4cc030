//! The whole layer on a small skinned cylinder.

mod chains;
mod contract;
mod random;

use std::sync::Arc;

use glam::{Mat4, Quat, Vec3};
use proptest::prelude::*;

use super::*;
use crate::character::{
    Character, CharacterMesh, Clip, Influences, Interpolation, Node, Skeleton, Skin, Track,
    TrackTarget, Transform,
};
use crate::geometry::Mesh;
use crate::layers::LayerParams;
use crate::stage::{
    Actor, ActorSet, ClipPlay, Clock, ColliderSet, EARTH_GRAVITY, Forces, NoObserver, Rate,
    Reference, ReferencePose, Selection, Setup, Simulator, SimulatorError,
};

const RINGS: usize = 21;
const SIDES: usize = 12;

/// A cylinder of radius 0.3 around joints `root` (y = 0), `mid` (1) and `tip` (2), all skinned to
/// `root` so that it is rigid.
fn cylinder(tracks: Vec<Track>) -> Arc<Character> {
    let node = |name: &str, parent, y: f32| Node {
        name: name.to_owned(),
        parent,
        rest: Transform::from_translation(Vec3::Y * y),
    };
    let nodes = vec![node("root", None, 0.0), node("mid", Some(0), 1.0), node("tip", Some(1), 1.0)];
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for ring in 0..RINGS {
        for side in 0..SIDES {
            let angle = std::f32::consts::TAU * side as f32 / SIDES as f32;
            let y = 2.4 * ring as f32 / (RINGS - 1) as f32 - 0.2;
            positions.push(Vec3::new(0.3 * angle.cos(), y, 0.3 * angle.sin()));
            let at = |r: usize, s: usize| (r * SIDES + s % SIDES) as u32;
            if ring + 1 < RINGS {
                triangles.push([at(ring, side), at(ring + 1, side), at(ring, side + 1)]);
                triangles.push([at(ring, side + 1), at(ring + 1, side), at(ring + 1, side + 1)]);
            }
        }
    }
    let lists = vec![vec![(0u16, 1.0f32)]; positions.len()];
    let inverse = |y: f32| Mat4::from_translation(-Vec3::Y * y);
    Arc::new(Character {
        name: "cylinder".to_owned(),
        skeleton: Skeleton::new(nodes).unwrap(),
        skins: vec![Skin {
            name: "skin".to_owned(),
            joints: vec![0, 1, 2],
            inverse_bind: vec![inverse(0.0), inverse(1.0), inverse(2.0)],
        }],
        meshes: vec![CharacterMesh::skinned(
            Mesh::new("body", positions, triangles),
            Influences::from_lists(&lists),
        )],
        clips: vec![Clip { name: "move".to_owned(), tracks }],
    })
}

/// A periodic shake of the root, keyed at 30 Hz like exported clips are.
fn shake(period: f32) -> Vec<Track> {
    let count = (period * 30.0) as usize + 1;
    let times: Vec<f32> = (0..count).map(|i| i as f32 / 30.0).collect();
    let phase = |t: f32| std::f32::consts::TAU * t / period;
    let values = times
        .iter()
        .flat_map(|&t| [0.2 * phase(t).sin(), 0.05 * (2.0 * phase(t)).sin(), 0.0])
        .collect();
    vec![Track {
        target: TrackTarget::Translation(0),
        interpolation: Interpolation::Linear,
        times,
        values,
        width: 3,
    }]
}

fn element() -> FleshParams {
    let mut params = FleshParams::new("belly", "body", "root", &["tip"]);
    params.frequency_hz = Some(2.5);
    params.damping_ratio = Some(0.15);
    params
}

fn stage_with(
    character: Arc<Character>,
    layers: Vec<FleshParams>,
    fps: u32,
    frames: i64,
    looped: bool,
) -> Result<Simulator, SimulatorError> {
    let play = ClipPlay { looped, ..ClipPlay::new(0) };
    let actor = Actor::character_named("body", character).playing(play);
    let clock = Clock::new(Rate::whole(fps), 0, frames);
    let layers: Vec<LayerParams> = layers.into_iter().map(LayerParams::Flesh).collect();
    let forces = Forces::new(EARTH_GRAVITY, vec![], f64::from(fps));
    Simulator::new(Setup { clock, actors: vec![actor], forces, layers, ..Setup::default() })
}

fn stage(params: FleshParams, fps: u32) -> Simulator {
    stage_with(cylinder(shake(2.0)), vec![params], fps, 100, false).unwrap()
}

/// What the layer added, per vertex.
fn offsets(stage: &Simulator) -> Vec<Vec3> {
    let mut skinned = stage.actors().all()[0].source_meshes();
    stage.actors().deform(stage.frame().time, &mut skinned);
    let moved = &stage.frame().meshes[0].positions;
    moved.iter().zip(&skinned[0].positions).map(|(a, b)| *a - *b).collect()
}

fn peak(offsets: &[Vec3]) -> f32 {
    offsets.iter().map(|o| o.length()).fold(0.0, f32::max)
}

fn rest(params: &FleshParams) -> FleshRest {
    let actor = Actor::character_named("body", cylinder(vec![]));
    let actors = ActorSet::new(vec![actor]);
    let clock = Clock::new(Rate::whole(30), 0, 1);
    let (colliders, forces) = (ColliderSet::default(), Forces::default());
    let frame = crate::stage::Frame {
        meshes: actors.all()[0].source_meshes(),
        ..crate::stage::Frame::default()
    };
    let context = crate::stage::BuildContext {
        clock: &clock,
        actors: &actors,
        colliders: &colliders,
        forces: &forces,
        frame: &frame,
        reference: &Reference::new(ReferencePose::Start, &clock, &actors),
        ridges: &[],
    };
    FleshRest::build(params, &context).unwrap()
}

#[test]
fn weights_vanish_at_both_ends_and_reach_one() {
    let rest = rest(&element());
    let weights = &rest.weights[0];
    assert!((rest.bone_length - 2.0).abs() < 1e-6);
    assert_eq!(weights.alphas.iter().copied().fold(0.0, f32::max), 1.0);
    let character = cylinder(vec![]);
    for (&v, &alpha) in weights.vertices.iter().zip(&weights.alphas) {
        let y = character.meshes[0].mesh.positions[v as usize].y;
        assert!(y > 0.0 && y < 2.0, "vertex {v} at {y} is beyond the bone");
        let bell = Attenuation::Bell.at(1.0 - y);
        assert!((alpha - bell).abs() < 1e-5, "{alpha} {bell}");
    }
}

#[test]
fn an_edge_falloff_hides_the_selections_border() {
    let mut params = element();
    params.selection =
        Some(Selection { r#box: Some([-1.0, 0.5, -1.0, 1.0, 3.0, 1.0]), ..Default::default() });
    params.edge_falloff = 0.5;
    let rest = rest(&params);
    let character = cylinder(vec![]);
    let y = |v: u32| character.meshes[0].mesh.positions[v as usize].y;
    let lowest = rest.weights[0].vertices.iter().map(|&v| y(v)).fold(f32::INFINITY, f32::min);
    let at_lowest = rest.weights[0].vertices.iter().zip(&rest.weights[0].alphas);
    let weakest = at_lowest.filter(|(v, _)| y(**v) == lowest).map(|(_, a)| *a).fold(0.0, f32::max);
    assert!(weakest < 0.2, "{weakest} at {lowest}");
}

#[test]
fn a_still_character_keeps_its_very_bits() {
    let mut stage = stage_with(cylinder(vec![]), vec![element()], 30, 20, false).unwrap();
    let mut skinned = stage.actors().all()[0].source_meshes();
    for _ in 0..20 {
        stage.advance_frame(&mut NoObserver).unwrap();
        stage.actors().deform(stage.frame().time, &mut skinned);
        let bits = |mesh: &Mesh| -> Vec<[u32; 3]> {
            mesh.positions.iter().map(|p| p.to_array().map(f32::to_bits)).collect()
        };
        assert_eq!(bits(&stage.frame().meshes[0]), bits(&skinned[0]));
    }
}

#[test]
fn every_frame_rate_shows_the_same_swing() {
    let (mut slow, mut fast) = (stage(element(), 24), stage(element(), 120));
    let (mut largest, mut error) = (0.0f32, 0.0f32);
    for _ in 0..48 {
        slow.advance_frame(&mut NoObserver).unwrap();
        for _ in 0..5 {
            fast.advance_frame(&mut NoObserver).unwrap();
        }
        let (a, b) = (offsets(&slow), offsets(&fast));
        largest = largest.max(peak(&a));
        error = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(error, f32::max);
    }
    assert!(largest > 0.01, "it swings: {largest}");
    assert!(error < 0.01 * largest, "{error} of {largest}");
}

#[test]
fn a_preroll_does_not_kick_who_is_already_running() {
    let swings = |preroll: u32| -> Vec<f64> {
        // Begins in the middle of the shake, at full speed and with all its acceleration.
        let actor = Actor::character_named("body", cylinder(shake(0.8))).playing(ClipPlay::new(0));
        let clock = Clock { preroll_frames: preroll, ..Clock::new(Rate::whole(30), 0, 24) };
        let forces = Forces::new(EARTH_GRAVITY, vec![], 30.0);
        let layers = vec![LayerParams::Flesh(element())];
        let setup = Setup { clock, actors: vec![actor], forces, layers, ..Setup::default() };
        let mut stage = Simulator::new(setup).unwrap();
        stage.start().unwrap();
        for _ in 0..preroll {
            stage.advance_frame(&mut NoObserver).unwrap();
        }
        let frame = |_| {
            stage.advance_frame(&mut NoObserver).unwrap();
            let mesh = &stage.frame().meshes[0].positions;
            f64::from(mesh[RINGS / 2 * SIDES].x)
        };
        (0..24).map(frame).collect()
    };
    let without = swings(0);
    let furthest = without.iter().fold(0.0f64, |m, x| m.max((x - 0.3).abs()));
    assert!(furthest > 0.02, "{furthest}");
    for preroll in [1, 30] {
        assert_eq!(swings(preroll)[..20], without[..20], "{preroll} frames before");
    }
}

#[test]
fn a_loop_ends_where_it_began() {
    for limit_kind in [LimitKind::Soft, LimitKind::Hard] {
        let mut params = element();
        params.looped = true;
        params.limit_kind = limit_kind;
        let mut stage = stage_with(cylinder(shake(2.0)), vec![params], 30, 60, true).unwrap();
        let (mut first, mut largest) = (None, 0.0f32);
        for frame in 1..=61 {
            stage.advance_frame(&mut NoObserver).unwrap();
            let now = offsets(&stage);
            largest = largest.max(peak(&now));
            if frame == 1 {
                first = Some(now);
            } else if frame == 61 {
                let first = first.as_ref().unwrap();
                let gap = now.iter().zip(first).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
                assert!(gap < 1e-4 * largest, "{limit_kind:?}: {gap} of {largest}");
            }
        }
    }
}

#[test]
fn a_resumed_bake_goes_on_with_the_same_bits() {
    let mut straight = stage(element(), 30);
    for _ in 0..10 {
        straight.advance_frame(&mut NoObserver).unwrap();
    }
    let saved = straight.save().unwrap();
    let mut resumed = stage(element(), 30);
    resumed.load(&saved).unwrap();
    for _ in 0..10 {
        let a = straight.advance_frame(&mut NoObserver).unwrap().clone();
        let b = resumed.advance_frame(&mut NoObserver).unwrap();
        assert_eq!(&a, b);
    }
}

#[test]
fn overlapping_elements_share_the_room() {
    let mut second = element();
    second.name = "more".to_owned();
    let strong = |mut p: FleshParams| {
        p.pseudo_gravity = [500.0, 0.0, 0.0];
        p.limit_kind = LimitKind::Hard;
        p
    };
    let layers = vec![strong(element()), strong(second)];
    let mut stage = stage_with(cylinder(shake(2.0)), layers, 30, 20, false).unwrap();
    for _ in 0..10 {
        stage.advance_frame(&mut NoObserver).unwrap();
        let moved = offsets(&stage);
        assert!(peak(&moved) < 0.3 * 1.001, "{}", peak(&moved));
        assert!(peak(&moved) > 0.29);
    }
}

#[test]
fn cuts_and_teleports_start_anew() {
    // The root stands still, jumps 50 m between two frames, stands still again.
    let jump = vec![Track {
        target: TrackTarget::Translation(0),
        interpolation: Interpolation::Step,
        times: vec![0.0, 0.5],
        values: vec![0.0, 0.0, 0.0, 50.0, 0.0, 0.0],
        width: 3,
    }];
    let mut jumping = stage_with(cylinder(jump), vec![element()], 30, 40, false).unwrap();
    for _ in 0..30 {
        jumping.advance_frame(&mut NoObserver).unwrap();
        assert_eq!(peak(&offsets(&jumping)), 0.0);
    }
    // A listed cut forgets the swing: all is as if the shot began there.
    let mut params = element();
    params.cuts = vec![10];
    let mut swinging = stage(params.clone(), 30);
    for _ in 0..9 {
        swinging.advance_frame(&mut NoObserver).unwrap();
    }
    let actor = Actor::character_named("body", cylinder(shake(2.0))).playing(ClipPlay::new(0));
    let mut fresh = Simulator::new(Setup {
        clock: Clock::new(Rate::whole(30), 10, 100),
        actors: vec![actor],
        forces: Forces::new(EARTH_GRAVITY, vec![], 30.0),
        layers: vec![LayerParams::Flesh(params)],
        ..Setup::default()
    })
    .unwrap();
    for _ in 0..5 {
        swinging.advance_frame(&mut NoObserver).unwrap();
        let (cut, begun) = (offsets(&swinging), offsets(&fresh));
        let apart = cut.iter().zip(&begun).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(apart < 1e-5, "{apart} of {}", peak(&begun));
        fresh.advance_frame(&mut NoObserver).unwrap();
    }
}

/// Volume inside a mesh with the ends of [`cylinder`] open: they do not move, so differences are right.
fn volume(mesh: &Mesh) -> f32 {
    let corners = |t: &[u32; 3]| t.map(|v| mesh.positions[v as usize]);
    let of = |[a, b, c]: [Vec3; 3]| a.dot(b.cross(c)) / 6.0;
    mesh.topology.triangles.iter().map(|t| of(corners(t))).sum()
}

#[test]
fn volume_is_kept_by_sideways_motion() {
    let gain = |share: f32, pull: f64| {
        let mut params = element();
        params.selection = Some(Selection {
            r#box: Some([-1.0, -1.0, -1.0, 0.01, 3.0, 1.0]),
            ..Default::default()
        });
        (params.volume, params.limit, params.gravity) = (share, 0.5, 0.0.into());
        params.pseudo_gravity = [pull, 0.0, 0.0];
        let mut stage = stage_with(cylinder(vec![]), vec![params], 30, 5, false).unwrap();
        stage.advance_frame(&mut NoObserver).unwrap();
        let still = Mesh {
            positions: cylinder(vec![]).meshes[0].mesh.positions.clone(),
            ..stage.frame().meshes[0].clone()
        };
        let moved = offsets(&stage);
        assert!(peak(&moved) > 0.03, "{}", peak(&moved));
        (volume(&stage.frame().meshes[0]) - volume(&still)).abs()
    };
    for pull in [-12.0, 12.0] {
        let (free, kept) = (gain(0.0, pull), gain(1.0, pull));
        assert!(free > 1e-3, "{free}");
        assert!(kept < 0.35 * free, "{pull}: {kept} of {free}");
        let half = gain(0.5, pull);
        assert!(half > kept && half < 0.8 * free, "{half} of {free}");
    }
}

#[test]
fn wide_swings_have_round_ends() {
    // Along the cylinder the depth is the same: the bell alone decides. Its top becomes flatter where
    // the limit leaves room, and every vertex keeps within its own.
    let weights = |limit: f32| {
        let mut params = element();
        params.limit = limit;
        rest(&params).weights[0].clone()
    };
    let (pointed, round) = (weights(1.0), weights(0.5));
    let mut rounder = 0;
    for (a, b) in pointed.alphas.iter().zip(&round.alphas) {
        assert!(*b >= *a - 1e-6 && 0.5 * b <= a + 1e-6, "{a} {b}");
        rounder += usize::from(*a > 0.7 && *a < 0.99 && 1.0 - b < 0.4 * (1.0 - a));
    }
    assert!(rounder > SIDES, "{rounder}");
}

#[test]
fn what_turns_upside_down_hangs() {
    let over = vec![Track {
        target: TrackTarget::Rotation(0),
        interpolation: Interpolation::Linear,
        times: vec![0.0],
        values: Quat::from_rotation_z(std::f32::consts::FRAC_PI_2).to_array().to_vec(),
        width: 4,
    }];
    let mut stage = stage_with(cylinder(over), vec![element()], 30, 5, false).unwrap();
    stage.advance_frame(&mut NoObserver).unwrap();
    let moved = offsets(&stage);
    let most = moved.iter().copied().max_by(|a, b| a.length().total_cmp(&b.length())).unwrap();
    assert!(most.y < -0.01, "{most}");
}

#[test]
fn bad_names_are_said_with_the_nearest_match() {
    let fail = |change: fn(&mut FleshParams)| {
        let mut params = element();
        change(&mut params);
        match stage_with(cylinder(shake(2.0)), vec![params], 30, 5, false) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("must be refused"),
        }
    };
    assert!(fail(|p| p.from = "rooot".to_owned()).contains("did you mean \"root\""));
    assert!(fail(|p| p.on = "bodi".to_owned()).contains("did you mean \"body\""));
    let swapped = fail(|p| {
        p.from = "tip".to_owned();
        p.to = vec![BoneEnd::Joint("root".to_owned())];
    });
    assert!(swapped.contains("not below"), "{swapped}");
    assert!(fail(|p| p.to = vec![BoneEnd::Joint("root".to_owned())]).contains("also `from`"));
    assert!(fail(|p| p.thickness = 5.0).contains("no flesh outside the bone"));
    let nothing = fail(|p| {
        p.selection = Some(Selection { sphere: Some([9.0, 9.0, 9.0, 0.1]), ..Default::default() });
    });
    assert!(nothing.contains("no vertex is selected"), "{nothing}");
}
