//! Chains of elements: tails, ears, antennae.

use super::*;
use crate::layers::harness::{check_rates, check_same_bits};

/// Joints at `offsets` from each other, the first at the origin, with a vertex at each and a few beside it.
fn tail(offsets: &[[f32; 3]], beside: &[[f32; 3]], tracks: Vec<Track>) -> Arc<Character> {
    let (mut nodes, mut places, mut lists) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = Vec3::ZERO;
    let first = [[0.0; 3]];
    for (joint, offset) in first.iter().chain(offsets).enumerate() {
        let step = Vec3::from_array(*offset);
        at += step;
        let parent = joint.checked_sub(1);
        let rest = Transform::from_translation(step);
        nodes.push(Node { name: format!("joint{joint}"), parent, rest });
        places.push(at);
        lists.push(vec![(joint as u16, 1.0f32)]);
    }
    for (k, place) in beside.iter().enumerate() {
        let joint = k % nodes.len();
        places.push(places[joint] + Vec3::from_array(*place));
        lists.push(vec![(joint as u16, 0.6), (((joint + 1) % nodes.len()) as u16, 0.4)]);
    }
    let inverse = |p: &Vec3| Mat4::from_translation(-*p);
    let skin = Skin {
        name: "skin".to_owned(),
        joints: (0..nodes.len()).collect(),
        inverse_bind: places[..nodes.len()].iter().map(inverse).collect(),
    };
    let count = places.len() as u32;
    let triangles = (0..count).map(|v| [v, (v + 1) % count, (v + 2) % count]).collect();
    Arc::new(Character {
        name: "tail".to_owned(),
        skeleton: Skeleton::new(nodes).unwrap(),
        skins: vec![skin],
        meshes: vec![CharacterMesh::skinned(
            Mesh::new("body", places, triangles),
            Influences::from_lists(&lists),
        )],
        clips: vec![Clip { name: "move".to_owned(), tracks }],
    })
}

fn chain(joints: usize) -> FleshParams {
    let end = format!("joint{}", joints - 1);
    let mut params = FleshParams::new("tail", "body", "joint0", &[&end]);
    (params.chain, params.gravity) = (true, 0.0.into());
    (params.frequency_hz, params.damping_ratio) = (Some(3.0), Some(0.7));
    params
}

fn keyed(target: TrackTarget, width: usize, values: Vec<f32>) -> Track {
    let times = (0..values.len() / width).map(|i| 0.1 * i as f32).collect();
    Track { target, interpolation: Interpolation::Linear, times, values, width }
}

/// The root goes aside by 0.1 m within a tenth of a second, and stays.
fn aside() -> Vec<Track> {
    let places = [0.0, 0.0, 0.0, 0.1, 0.1, 0.1];
    vec![keyed(
        TrackTarget::Translation(0),
        3,
        places.iter().flat_map(|&x| [x, 0.0, 0.0]).collect(),
    )]
}

const SIX: [[f32; 3]; 5] = [[0.0, 0.1, 0.0]; 5];

#[test]
fn each_joint_comes_later_than_the_one_before() {
    let mut stage = stage_with(tail(&SIX, &[], aside()), vec![chain(6)], 60, 120, false).unwrap();
    let mut arrivals = [None; 6];
    let mut last = [0.0f32; 6];
    for frame in 1..=120 {
        stage.advance_frame(&mut NoObserver).unwrap();
        for joint in 0..6 {
            let now = stage.frame().meshes[0].positions[joint].x;
            if last[joint] < 0.05 && now >= 0.05 && arrivals[joint].is_none() {
                let part = (0.05 - last[joint]) / (now - last[joint]);
                arrivals[joint] = Some((frame as f32 - 1.0 + part) / 60.0);
            }
            last[joint] = now;
        }
    }
    let arrivals = arrivals.map(Option::unwrap);
    assert!(arrivals.windows(2).all(|w| w[1] > w[0] + 0.004), "{arrivals:?}");
}

#[test]
fn who_is_already_running_is_not_flung_at_the_start() {
    let running = (0..20).flat_map(|i| [0.3 * i as f32, 0.0, 0.0]).collect();
    let tracks = vec![keyed(TrackTarget::Translation(0), 3, running)];
    let mut stage = stage_with(tail(&SIX, &[], tracks), vec![chain(6)], 30, 30, false).unwrap();
    for _ in 0..30 {
        stage.advance_frame(&mut NoObserver).unwrap();
        let most = peak(&offsets(&stage));
        assert!(most < 1e-4, "{most} at 3 m/s");
    }
}

#[test]
fn behind_a_root_that_stands_still_the_chain_comes_to_rest() {
    let mut stage = stage_with(tail(&SIX, &[], aside()), vec![chain(6)], 30, 240, false).unwrap();
    let mut most = 0.0f32;
    for _ in 0..240 {
        stage.advance_frame(&mut NoObserver).unwrap();
        most = most.max(peak(&offsets(&stage)));
    }
    assert!(most > 0.05, "the tip was left behind: {most}");
    let left = peak(&offsets(&stage));
    assert!(left < 1e-5, "{left} after eight seconds");
}

#[test]
fn a_tip_behind_the_last_joint_makes_one_joint_a_chain() {
    let mut params = chain(2);
    params.from = "joint1".to_owned();
    let end = OffsetEnd { joint: "joint1".to_owned(), offset: [0.0, 0.2, 0.0] };
    params.to = vec![BoneEnd::Offset(end)];
    let beside = [[0.0, 0.0, 0.0], [0.0, 0.2, 0.0]];
    let character = tail(&SIX[..1], &beside, aside());
    let mut stage = stage_with(character, vec![params], 60, 60, false).unwrap();
    let mut most = [0.0f32; 4];
    for _ in 0..60 {
        stage.advance_frame(&mut NoObserver).unwrap();
        for (most, own) in most.iter_mut().zip(offsets(&stage)) {
            *most = most.max(own.length());
        }
    }
    assert_eq!(most[0], 0.0, "the joint above is not touched");
    assert!(most[1] < 1e-6 && most[3] > 0.01, "it turns about its own place: {most:?}");
}

fn setup(limit_kind: LimitKind) -> Setup {
    let mut params = chain(6);
    (params.limit_kind, params.limit, params.damping_ratio) = (limit_kind, 0.5, Some(0.3));
    params.gravity = 1.0.into();
    let play = ClipPlay { looped: true, ..ClipPlay::new(0) };
    let character = tail(&SIX, &[[0.02, 0.03, 0.0], [0.0, 0.05, 0.02]], shake(1.0));
    Setup {
        clock: Clock::new(Rate::whole(30), 0, 300),
        actors: vec![Actor::character_named("body", character).playing(play)],
        forces: Forces::new(EARTH_GRAVITY, vec![], 30.0),
        layers: vec![LayerParams::Flesh(params)],
        ..Setup::default()
    }
}

#[test]
fn the_same_bits_whatever_happens_in_between() {
    for kind in [LimitKind::Soft, LimitKind::Hard] {
        check_same_bits::<FleshLayer>(&setup(kind), 12);
        check_rates(&setup(kind), 2);
    }
}

fn point(reach: f32) -> impl Strategy<Value = [f32; 3]> {
    [-reach..reach, -reach..reach, -reach..reach]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn links_keep_their_length_and_their_limit(
        bones in prop::collection::vec(point(0.3), 1..6),
        beside in prop::collection::vec(point(0.1), 0..12),
        places in prop::collection::vec(point(2.0), 4),
        turns in prop::collection::vec(point(3.0), 8),
        (hz, ratio) in (0.2f64..20.0, 0.0f64..2.0),
        (limit, hard) in (0.05f32..1.0, any::<bool>()),
    ) {
        let turned = |t: &[f32; 3]| Quat::from_scaled_axis(Vec3::from_array(*t)).to_array();
        let tracks = vec![
            keyed(TrackTarget::Translation(0), 3, places.concat()),
            keyed(TrackTarget::Rotation(0), 4, turns[..4].iter().flat_map(turned).collect()),
            keyed(TrackTarget::Rotation(1), 4, turns[4..].iter().flat_map(turned).collect()),
        ];
        let joints = bones.len() + 1;
        let mut params = chain(joints);
        (params.frequency_hz, params.damping_ratio, params.limit) = (Some(hz), Some(ratio), limit);
        (params.limit_kind, params.gravity) = match hard {
            true => (LimitKind::Hard, 1.0.into()),
            false => (LimitKind::Soft, 0.3.into()),
        };
        params.teleport = 100.0;
        let run = || {
            let character = tail(&bones, &beside, tracks.clone());
            // A chain that ends where it begins has no length, and is refused.
            let mut stage = stage_with(character, vec![params.clone()], 30, 30, false).ok()?;
            let mut all = Vec::new();
            for _ in 0..10 {
                stage.advance_frame(&mut NoObserver).unwrap();
                let moved = stage.frame().meshes[0].positions.clone();
                all.push((moved, offsets(&stage)));
            }
            Some(all)
        };
        let Some(all) = run() else { return Ok(()) };
        for (moved, offsets) in &all {
            prop_assert!(moved.iter().all(|p| p.is_finite()));
            let before: Vec<Vec3> = moved.iter().zip(offsets).map(|(p, o)| *p - *o).collect();
            for k in 1..joints {
                let (was, is) = (before[k].distance(before[k - 1]), moved[k].distance(moved[k - 1]));
                prop_assert!((was - is).abs() < 1e-4, "link {k}: {was} {is}");
            }
            let (was, is) = (before[1] - before[0], moved[1] - moved[0]);
            if was.length() > 0.01 {
                let most = limit.min(1.0).asin() + 1e-2;
                prop_assert!(was.angle_between(is) <= most, "{} {most}", was.angle_between(is));
            }
        }
        prop_assert_eq!(Some(all), run());
    }
}
