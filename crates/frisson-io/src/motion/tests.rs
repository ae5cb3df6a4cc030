//! Clips on other skeletons, against what is known of them.

use frisson::character::{
    Character, Clip, Interpolation, Node, Pose, Sampling, Skeleton, Track, TrackTarget, Transform,
};
use glam::{Mat4, Quat, Vec3};
use proptest::prelude::*;

use super::*;

const ARM: &str = "HIERARCHY
ROOT Hips
{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Chest
  {
    OFFSET 0 0.5 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT LeftArm
    {
      OFFSET 0.2 0.3 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET 0.6 0 0
      }
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.5
0 1 0  0 0 0  0 0 0  0 0 0
1 1 2  0 0 90  0 0 0  90 0 0
";

fn origins(character: &Character, clip: &Clip, time: f64) -> Vec<Vec3> {
    let mut pose = Pose::default();
    pose.set(character, Some(clip), time, Sampling::AsAuthored, Mat4::IDENTITY);
    (0..character.skeleton.nodes().len()).map(|n| pose.origin(n)).collect()
}

#[test]
fn bvh_moves_as_its_numbers_say() {
    let bvh = read_bvh(ARM).unwrap();
    let names: Vec<&str> = bvh.skeleton.nodes().iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["Hips", "Chest", "LeftArm", "LeftArm_end"]);
    let at = origins(&bvh, &bvh.clips[0], 0.5);
    // Hips at (1, 1, 2) turned a quarter about y: x becomes -z.
    let wanted = [
        Vec3::new(1., 1., 2.),
        Vec3::new(1., 1.5, 2.),
        Vec3::new(1., 1.8, 1.8),
        Vec3::new(1., 2.4, 1.8),
    ];
    for (a, b) in at.iter().zip(wanted) {
        assert!(a.distance(b) < 1e-6, "{a} is not {b}");
    }
    let said = |text: &str| read_bvh(text).unwrap_err().to_string();
    assert_eq!(said("HIERARCHY ROOT a {"), "line 1: the file ends too early");
    assert!(said(&ARM.replace("Frames: 2", "Frames: 3")).contains("ends too early"));
    assert!(said(&ARM.replace("0.2 0.3", "0.2 nan")).contains("line 12: \"nan\" is no number"));
    assert!(said(&ARM.replace("Frame Time: 0.5", "Frame Time: 0")).contains("positive"));
}

/// A chain of joints: name, parent, offset, turn at rest.
fn rig(parts: &[(&str, Option<usize>, Vec3, Quat)]) -> Character {
    let node = |&(name, parent, translation, rotation): &(&str, Option<usize>, Vec3, Quat)| Node {
        name: name.to_owned(),
        parent,
        rest: Transform { translation, rotation, ..Transform::default() },
    };
    let skeleton = Skeleton::new(parts.iter().map(node).collect()).unwrap();
    Character { skeleton, ..Character::default() }
}

#[test]
fn equal_rests_take_tracks_over_and_names_may_differ() {
    let bvh = read_bvh(ARM).unwrap();
    let mut target = bvh.clone();
    let renamed: Vec<Node> = bvh
        .skeleton
        .nodes()
        .iter()
        .cloned()
        .enumerate()
        .map(|(k, mut n)| {
            n.name =
                if k == 2 { "arm.L".to_owned() } else { format!("rig:{}", n.name.to_uppercase()) };
            n
        })
        .collect();
    target.skeleton = Skeleton::new(renamed).unwrap();
    let table = JointTable::from([("arm.L".to_owned(), "LeftArm".to_owned())]);
    let done = retarget(&bvh, 0, &target, &table).unwrap();
    assert!(done.same_rest && done.matched == 3 && done.unmatched.is_empty());
    for time in [0.0, 0.2, 0.5] {
        let (a, b) = (origins(&bvh, &bvh.clips[0], time), origins(&target, &done.clip, time));
        assert_eq!(a, b);
    }
    let without = retarget(&bvh, 0, &target, &JointTable::new()).unwrap();
    assert_eq!(without.unmatched, ["LeftArm"]);
    let stranger = rig(&[("q", None, Vec3::ZERO, Quat::IDENTITY)]);
    let said = retarget(&bvh, 0, &stranger, &JointTable::new()).unwrap_err().to_string();
    assert!(said.contains("none of the 3 joints"), "{said}");
}

#[test]
fn another_rest_pose_ends_in_the_same_directions() {
    let bvh = read_bvh(ARM).unwrap();
    // Twice as large, joints with axes of their own, the arm hanging down instead of out, and a
    // node above the hips.
    let (a, b) = (Quat::from_rotation_x(0.7), Quat::from_rotation_z(-1.3));
    let chest_axes = a.inverse() * b;
    let arm_turn = Quat::from_rotation_z(-1.2);
    let arm_axes = b.inverse() * arm_turn;
    let target = rig(&[
        ("Root", None, Vec3::ZERO, Quat::IDENTITY),
        ("Hips", Some(0), Vec3::Y * 2.0, a),
        ("Chest", Some(1), a.inverse() * Vec3::Y, chest_axes),
        ("LeftArm", Some(2), b.inverse() * Vec3::new(0.4, 0.6, 0.0), arm_axes),
        ("LeftArm_end", Some(3), Vec3::X * 1.2, Quat::IDENTITY),
    ]);
    let done = retarget(&bvh, 0, &target, &JointTable::new()).unwrap();
    assert!(!done.same_rest);
    for time in [0.0, 0.5] {
        let theirs = origins(&bvh, &bvh.clips[0], time);
        let ours = origins(&target, &done.clip, time);
        for (k, part) in [(1, 0), (2, 1), (3, 2)] {
            let bone = |at: &[Vec3], from: usize, to: usize| (at[to] - at[from]).normalize();
            let (x, y) = (bone(&theirs, part, k), bone(&ours, part + 1, k + 1));
            assert!(x.distance(y) < 1e-4, "bone {k} at {time}: {x} {y}");
        }
    }
    // The hips travel by the ratio of the sizes; bones keep their lengths.
    let (start, end) = (origins(&target, &done.clip, 0.0), origins(&target, &done.clip, 0.5));
    let step = end[1] - start[1];
    assert!((step.x / 1.0 - step.z / 2.0).abs() < 1e-4 && step.x > 1.5 && step.x < 2.5, "{step}");
    assert!(((end[4] - end[3]).length() - 1.2).abs() < 1e-4);
}

#[test]
fn hips_below_a_root_travel_and_limbs_keep_their_lengths() {
    let parts = |size: f32| {
        rig(&[
            ("root", None, Vec3::ZERO, Quat::IDENTITY),
            ("hips", Some(0), size * Vec3::Y, Quat::from_rotation_x(0.3 * size)),
            ("leg", Some(1), size * Vec3::new(0.1, -0.5, 0.0), Quat::IDENTITY),
            ("foot", Some(2), size * Vec3::new(0.0, -0.5, 0.0), Quat::IDENTITY),
            ("spine", Some(1), size * Vec3::new(0.0, 0.4, 0.0), Quat::IDENTITY),
        ])
    };
    let (mut source, target) = (parts(1.0), parts(2.0));
    let track = |target: TrackTarget, values: Vec<f32>, width: usize| Track {
        target,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values,
        width,
    };
    let (still, half) = ([0.0, 0.0, 0.0, 1.0], std::f32::consts::FRAC_1_SQRT_2);
    let leg = [still, [half, 0.0, 0.0, half]].concat();
    source.clips = vec![Clip {
        name: "bob".to_owned(),
        tracks: vec![
            track(TrackTarget::Rotation(0), [still, still].concat(), 4),
            track(TrackTarget::Translation(1), vec![0.0, 1.0, 0.0, 0.0, 0.8, 0.1], 3),
            track(TrackTarget::Rotation(2), leg, 4),
            // A limb that the clip draws out: our bones keep their lengths.
            track(TrackTarget::Translation(3), vec![0.0, -0.5, 0.0, 0.0, -0.9, 0.0], 3),
            track(TrackTarget::Rotation(4), [still, still].concat(), 4),
        ],
    }];
    let done = retarget(&source, 0, &target, &JointTable::new()).unwrap();
    assert!(!done.same_rest);
    let (start, end) = (origins(&target, &done.clip, 0.0), origins(&target, &done.clip, 1.0));
    assert!(
        (end[1] - start[1]).distance(Vec3::new(0.0, -0.4, 0.2)) < 1e-4,
        "{}",
        end[1] - start[1]
    );
    assert!(end[0].length() < 1e-5, "{}", end[0]);
    assert!(((end[3] - end[2]).length() - 1.0).abs() < 1e-4);
}

#[test]
fn a_motion_without_a_mesh_is_the_same_pose_whatever_pose_it_was_saved_in() {
    let parts = |saved: [Quat; 4]| {
        rig(&[
            ("root", None, Vec3::ZERO, Quat::IDENTITY),
            ("hips", Some(0), Vec3::new(0.0, 1.0, 0.0), saved[0]),
            ("leg", Some(1), Vec3::new(0.1, -0.5, 0.0), saved[1]),
            ("foot", Some(2), Vec3::new(0.0, -0.5, 0.0), saved[2]),
            ("arm", Some(1), Vec3::new(0.4, 0.5, 0.0), saved[3]),
            ("hand", Some(4), Vec3::new(0.5, 0.0, 0.0), Quat::IDENTITY),
        ])
    };
    let pose = |a: f32| {
        let (x, z) = (Quat::from_rotation_x(a), Quat::from_rotation_z(0.7 * a));
        [x, z * x, x.inverse(), z]
    };
    let (target, mut source) = (parts(pose(0.1)), parts(pose(1.2)));
    let track = |node: usize, turns: [Quat; 2]| Track {
        target: TrackTarget::Rotation(node),
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: turns.iter().flat_map(|q| q.to_array()).collect(),
        width: 4,
    };
    let (from, to) = (pose(0.4), pose(-0.6));
    let tracks = (0..4).map(|k| track(k + 1, [from[k], to[k]])).collect();
    source.clips = vec![Clip { name: "walk".to_owned(), tracks }];
    let done = retarget(&source, 0, &target, &JointTable::new()).unwrap();
    for time in [0.0, 0.3, 1.0] {
        let theirs = origins(&source, &source.clips[0], time);
        let ours = origins(&target, &done.clip, time);
        for (a, b) in theirs.iter().zip(&ours) {
            assert!(a.distance(*b) < 1e-5, "at {time}: {a} is not {b}");
        }
    }
    // Bones of another length are another rig: what the joints do is carried over by turns from its rest.
    let mut nodes = source.skeleton.nodes().to_vec();
    nodes[3].rest.translation *= 1.2;
    source.skeleton = Skeleton::new(nodes).unwrap();
    assert!(!retarget(&source, 0, &target, &JointTable::new()).unwrap().same_rest);
}

#[test]
fn a_rig_saved_facing_aside_is_not_wrung() {
    // The same figure with other axes in its joints, saved after a turn with a raised arm.
    let bones = |hips: Quat, leg: Quat, arm: Quat, axes: Quat| {
        let back = axes.inverse();
        rig(&[
            ("hips", None, Vec3::Y, hips * axes),
            ("leg", Some(0), back * Vec3::new(0.1, -0.5, 0.0), back * leg * axes),
            ("foot", Some(1), back * Vec3::new(0.0, -0.5, 0.0), Quat::IDENTITY),
            ("toe", Some(2), back * Vec3::new(0.0, 0.0, 0.2), Quat::IDENTITY),
            ("arm", Some(0), back * Vec3::new(0.3, 0.6, 0.0), back * arm * axes),
            ("hand", Some(4), back * Vec3::new(0.5, 0.0, 0.0), Quat::IDENTITY),
        ])
    };
    let still = Quat::IDENTITY;
    let target = bones(still, still, still, still);
    let aside = Quat::from_rotation_y(0.6);
    let mut source = bones(
        aside,
        Quat::from_rotation_x(0.4),
        Quat::from_rotation_z(1.1),
        Quat::from_rotation_z(0.6),
    );
    let turned = (Quat::from_rotation_y(1.0) * Quat::from_rotation_z(0.6)).to_array();
    source.clips = vec![Clip {
        name: "turn".to_owned(),
        tracks: vec![Track {
            target: TrackTarget::Rotation(0),
            interpolation: Interpolation::Linear,
            times: vec![0.0],
            values: turned.to_vec(),
            width: 4,
        }],
    }];
    let done = retarget(&source, 0, &target, &JointTable::new()).unwrap();
    let theirs = origins(&source, &source.clips[0], 0.0);
    let ours = origins(&target, &done.clip, 0.0);
    for (a, b) in theirs.iter().zip(&ours) {
        assert!(a.distance(*b) < 1e-4, "{a} is not {b}");
    }
    // The hips face where theirs do: legs and arm say so, however straight the legs hang.
    let mut pose = Pose::default();
    pose.set(&target, Some(&done.clip), 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
    for joint in [0, 1, 4] {
        let ahead = pose.world_from_node[joint].transform_vector3(Vec3::Z);
        let wanted = Quat::from_rotation_y(1.0) * Vec3::Z;
        assert!(ahead.dot(wanted) > 0.9, "joint {joint} faces {ahead}");
    }
}

#[test]
fn files_that_differ_in_up_and_ahead_are_turned() {
    let bvh = read_bvh(ARM).unwrap();
    // The same rig lying on its back: z up.
    let up = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    let parts: Vec<(&str, Option<usize>, Vec3, Quat)> = bvh
        .skeleton
        .nodes()
        .iter()
        .map(|n| (n.name.as_str(), n.parent, up * n.rest.translation, Quat::IDENTITY))
        .collect();
    let target = rig(&parts);
    let done = retarget(&bvh, 0, &target, &JointTable::new()).unwrap();
    let (theirs, ours) = (origins(&bvh, &bvh.clips[0], 0.5), origins(&target, &done.clip, 0.5));
    for (a, b) in theirs.iter().zip(&ours) {
        let turned = up * *a;
        assert!(turned.distance(*b) < 1e-4, "{turned} is not {b}");
    }
}

#[test]
fn tracks_keep_their_interpolation_where_rests_agree() {
    let mut source = rig(&[("a", None, Vec3::ZERO, Quat::IDENTITY)]);
    source.clips.push(Clip {
        name: "c".to_owned(),
        tracks: vec![Track {
            target: TrackTarget::Translation(0),
            interpolation: Interpolation::Step,
            times: vec![0.0, 1.0],
            values: vec![0., 0., 0., 1., 0., 0.],
            width: 3,
        }],
    });
    let done = retarget(&source, 0, &source, &JointTable::new()).unwrap();
    assert_eq!(done.clip.tracks[0].interpolation, Interpolation::Step);
}

proptest! {
    #[test]
    fn damaged_bvh_is_an_error_or_a_clip(cut in 0usize..600, at in 0usize..600, with in "[ -~]{0,3}") {
        let mut text = ARM.to_owned();
        let at = at.min(text.len());
        text.insert_str(at, &with);
        text.truncate(text.len() - cut.min(text.len()));
        let _ = read_bvh(&text);
    }
}

/// A figure whose joints have other axes: every joint's own, found in no way but from its bones.
fn with_axes(saved: [Quat; 7], axes: [Quat; 7]) -> Character {
    let offsets = [
        Vec3::ZERO,
        Vec3::new(0.0, 1.0, 0.0),
        Vec3::new(0.1, -0.5, 0.02),
        Vec3::new(0.0, -0.5, 0.0),
        Vec3::new(0.0, 0.5, 0.0),
        Vec3::new(0.25, 0.1, 0.0),
        Vec3::new(0.3, 0.0, 0.0),
    ];
    let names = ["root", "hips", "leg", "foot", "chest", "arm", "hand"];
    let parents = [None, Some(0), Some(1), Some(2), Some(1), Some(4), Some(5)];
    let parts: Vec<(&str, Option<usize>, Vec3, Quat)> = (0..7)
        .map(|k| {
            let back = parents[k].map_or(Quat::IDENTITY, |p: usize| axes[p].inverse());
            (names[k], parents[k], back * offsets[k], back * saved[k] * axes[k])
        })
        .collect();
    rig(&parts)
}

#[test]
fn a_motion_without_a_mesh_is_the_same_pose_with_other_axes_in_its_joints() {
    let (x, y, z) = (Quat::from_rotation_x, Quat::from_rotation_y, Quat::from_rotation_z);
    let pose = |a: f32| {
        [Quat::IDENTITY, y(a), x(a) * z(0.2), x(0.5 * a), z(0.3 * a), z(-0.9 - 0.4 * a), y(a)]
    };
    let plain = [Quat::IDENTITY; 7];
    // Along the bones, by right angles; ends as what they hang on.
    let quarter = std::f32::consts::FRAC_PI_2;
    let (leg, arm) = (x(2.0 * quarter), z(quarter));
    let axes = [x(quarter), Quat::IDENTITY, leg, leg, Quat::IDENTITY, arm, arm];
    let target = with_axes(plain, plain);
    let mut source = with_axes(pose(0.8), axes);
    let moved = [pose(0.8), pose(-0.5), pose(0.1)].map(|saved| with_axes(saved, axes));
    let turns = |k: usize| {
        let of = |c: &Character| c.skeleton.nodes()[k].rest.rotation.to_array();
        moved.iter().flat_map(of).collect()
    };
    let track = |k: usize| Track {
        target: TrackTarget::Rotation(k),
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0, 2.0],
        values: turns(k),
        width: 4,
    };
    source.clips = vec![Clip { name: "walk".to_owned(), tracks: (1..7).map(track).collect() }];
    let done = retarget(&source, 0, &target, &JointTable::new()).unwrap();
    for (time, a) in [(0.0f64, 0.8f32), (1.0, -0.5), (2.0, 0.1)] {
        let wanted = with_axes(pose(a), plain);
        let mut ours = Pose::default();
        ours.set(&target, Some(&done.clip), time, Sampling::AsAuthored, Mat4::IDENTITY);
        let mut theirs = Pose::default();
        theirs.set(&wanted, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
        for joint in 0..7 {
            let (m, w) = (ours.world_from_node[joint], theirs.world_from_node[joint]);
            assert!(m.abs_diff_eq(w, 1e-4), "joint {joint} at {time}: {m} is not {w}");
        }
    }
}
