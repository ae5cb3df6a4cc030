//! Clips from functions of time.

use frisson::character::{Clip, Interpolation, Track, TrackTarget};
use glam::{Quat, Vec3};

use crate::clay::{Joint, Rig};

/// Local transforms of all joints at one instant.
#[derive(Clone, Debug)]
pub(crate) struct JointPose {
    pub(crate) rotations: Vec<Quat>,
    pub(crate) translations: Vec<Vec3>,
}

impl JointPose {
    /// The rest pose.
    pub(crate) fn rest(rig: &Rig) -> Self {
        Self {
            rotations: vec![Quat::IDENTITY; rig.len()],
            translations: (0..rig.len()).map(|j| rig.offset(j)).collect(),
        }
    }

    /// Turns a joint about the x axis: positive nods forward and down.
    pub(crate) fn pitch(&mut self, joint: Joint, angle: f32) {
        self.turn(joint, Quat::from_rotation_x(angle));
    }

    /// Turns a joint after what it has already.
    pub(crate) fn turn(&mut self, joint: Joint, by: Quat) {
        self.rotations[joint] *= by;
    }

    /// World rotation of a joint.
    pub(crate) fn world_rotation(&self, rig: &Rig, joint: Joint) -> Quat {
        let above = rig.parent(joint).map_or(Quat::IDENTITY, |p| self.world_rotation(rig, p));
        above * self.rotations[joint]
    }

    /// World place of a joint.
    pub(crate) fn world_place(&self, rig: &Rig, joint: Joint) -> Vec3 {
        match rig.parent(joint) {
            None => self.translations[joint],
            Some(p) => {
                self.world_place(rig, p) + self.world_rotation(rig, p) * self.translations[joint]
            }
        }
    }
}

/// Keys per second: cubic splines through 40 keys a second follow the fastest gallop to a hair.
const KEYS_PER_SECOND: f32 = 40.0;

/// A turn that nobody sees and that is not nothing [rad].
const UNSEEN: f32 = 1e-7;

/// Samples a motion into CUBICSPLINE tracks, tangents from the motion itself. A looped motion must be
/// periodic in its duration: then the last key is the first one.
pub(crate) fn clip(
    rig: &Rig,
    name: &str,
    duration: f32,
    looped: bool,
    pose: impl Fn(f32, &mut JointPose),
) -> Clip {
    let keys = ((duration * KEYS_PER_SECOND).round() as usize).max(2);
    let at = |t: f32| {
        let mut out = JointPose::rest(rig);
        pose(t, &mut out);
        out
    };
    let times: Vec<f32> = (0..=keys).map(|k| duration * k as f32 / keys as f32).collect();
    // Tangents are looked up well within the interval: a motion may turn sharply at its ends.
    let step = 0.25 * duration / keys as f32;
    let mut sampled: Vec<[JointPose; 3]> = times
        .iter()
        .map(|&t| {
            let clamp = |t: f32| if looped { t } else { t.clamp(0.0, duration) };
            [at(clamp(t - step)), at(t), at(clamp(t + step))]
        })
        .collect();
    if looped {
        // To the bit: sines of a whole turn are not quite zero, and a loop would tick.
        sampled[keys] = sampled[0].clone();
    }
    let rest = JointPose::rest(rig);
    let mut tracks = Vec::new();
    for joint in 0..rig.len() {
        tracks.extend(rotation_track(joint, &times, &sampled, step));
        tracks.extend(translation_track(joint, &times, &sampled, step, rest.translations[joint]));
    }
    if tracks.is_empty() {
        // A still clip still has a length.
        let mut still = vec![[rest.clone(), rest.clone(), rest.clone()]; times.len()];
        still[0][1].rotations[0] = Quat::from_rotation_x(UNSEEN);
        tracks.extend(rotation_track(0, &times, &still, step));
    }
    Clip { name: name.to_owned(), tracks }
}

fn rotation_track(
    joint: Joint,
    times: &[f32],
    sampled: &[[JointPose; 3]],
    step: f32,
) -> Option<Track> {
    if sampled.iter().all(|s| s[1].rotations[joint] == Quat::IDENTITY) {
        return None;
    }
    let mut values = Vec::with_capacity(12 * times.len());
    let mut last = sampled[0][1].rotations[joint];
    for s in sampled {
        // Splines run through the four numbers: of q and -q the nearer one, or it would pass through nothing.
        let near = |q: Quat, to: Quat| if q.dot(to) < 0.0 { -q } else { q };
        let here = near(s[1].rotations[joint], last);
        let (before, after) =
            (near(s[0].rotations[joint], here), near(s[2].rotations[joint], here));
        let tangent = (after - before) * (0.5 / step);
        values.extend(tangent.to_array());
        values.extend(here.to_array());
        values.extend(tangent.to_array());
        last = here;
    }
    Some(Track {
        target: TrackTarget::Rotation(joint),
        interpolation: Interpolation::CubicSpline,
        times: times.to_vec(),
        values,
        width: 4,
    })
}

fn translation_track(
    joint: Joint,
    times: &[f32],
    sampled: &[[JointPose; 3]],
    step: f32,
    rest: Vec3,
) -> Option<Track> {
    if sampled.iter().all(|s| s[1].translations[joint] == rest) {
        return None;
    }
    let mut values = Vec::with_capacity(9 * times.len());
    for s in sampled {
        let tangent = (s[2].translations[joint] - s[0].translations[joint]) * (0.5 / step);
        values.extend(tangent.to_array());
        values.extend(s[1].translations[joint].to_array());
        values.extend(tangent.to_array());
    }
    Some(Track {
        target: TrackTarget::Translation(joint),
        interpolation: Interpolation::CubicSpline,
        times: times.to_vec(),
        values,
        width: 3,
    })
}

/// A smooth curve through keys `(time, value)`; flat before the first and after the last.
pub(crate) fn through(keys: &[(f32, f32)], t: f32) -> f32 {
    let after = keys.partition_point(|k| k.0 <= t);
    if after == 0 {
        return keys[0].1;
    }
    if after == keys.len() {
        return keys[keys.len() - 1].1;
    }
    let slope = |i: usize| {
        if i == 0 || i + 1 == keys.len() {
            return 0.0;
        }
        // Monotone where the keys are: no overshoot past a held pose.
        let left = (keys[i].1 - keys[i - 1].1) / (keys[i].0 - keys[i - 1].0);
        let right = (keys[i + 1].1 - keys[i].1) / (keys[i + 1].0 - keys[i].0);
        if left * right <= 0.0 { 0.0 } else { 2.0 * left * right / (left + right) }
    };
    let (a, b) = (keys[after - 1], keys[after]);
    let dt = b.0 - a.0;
    let s = (t - a.0) / dt;
    let (s2, s3) = (s * s, s * s * s);
    a.1 * (2.0 * s3 - 3.0 * s2 + 1.0)
        + dt * slope(after - 1) * (s3 - 2.0 * s2 + s)
        + b.1 * (3.0 * s2 - 2.0 * s3)
        + dt * slope(after) * (s3 - s2)
}

/// From 0 to 1 without corners.
pub(crate) fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Least and greatest reach of a leg, in its lengths [-]: knees do not fold flat, and at full length the way of the
/// knee has no bound on its speed.
const FOLDED: f32 = 0.42;
const STRAIGHT: f32 = 0.998;

/// World angles about x of two bones in the sagittal plane so that the second ends at `target`.
///
/// `first` and `second` are the bones at rest, `from` is where the first starts. `bend` chooses the
/// side the middle joint goes: +1 towards +z. A target too far is reached for with a straight leg, one
/// nearer than four tenths of the leg's length is not reached: knees do not fold flat.
pub(crate) fn two_bones(
    first: Vec3,
    second: Vec3,
    from: Vec3,
    target: Vec3,
    bend: f32,
) -> (f32, f32) {
    let plane = |v: Vec3| glam::Vec2::new(v.z, v.y);
    let (a, b, way) = (plane(first), plane(second), plane(target - from));
    let (la, lb) = (a.length(), b.length());
    let reach = way.length().clamp(FOLDED * (la + lb), STRAIGHT * (la + lb));
    // Law of cosines at the first joint.
    let cos = ((la * la + reach * reach - lb * lb) / (2.0 * la * reach)).clamp(-1.0, 1.0);
    let middle_angle = way.y.atan2(way.x) + bend * cos.acos();
    let middle = la * glam::Vec2::new(middle_angle.cos(), middle_angle.sin());
    let rest = way.normalize_or_zero() * reach - middle;
    // In (z, y) coordinates a turn about +x goes clockwise.
    let turn = |from: glam::Vec2, to: glam::Vec2| -(to.y.atan2(to.x) - from.y.atan2(from.x));
    (wrap(turn(a, middle)), wrap(turn(b, rest)))
}

fn wrap(angle: f32) -> f32 {
    use std::f32::consts::{PI, TAU};
    (angle + PI).rem_euclid(TAU) - PI
}
