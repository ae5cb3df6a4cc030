//! Motion that is pushed by the caller while it happens: a game, a host program, a puppet.

use glam::{Mat4, Quat, Vec3};
use serde::{Deserialize, Serialize};

use crate::character::Sampling;
use crate::tolerances;

/// Samples that are kept. What is between two samples is asked for within a few ticks of the newer one;
/// a caller that pushes a thousand times a second still leaves two ticks of the past.
const KEPT: usize = 24;

/// One pushed instant. What the caller did not give is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LiveSample {
    time: f64,
    /// Matrix of every node of the character, in the actor's space.
    nodes: Vec<Mat4>,
    /// Weights of all morph targets, mesh after mesh.
    weights: Vec<f32>,
    /// Positions of every mesh, in the actor's space.
    positions: Vec<Vec<Vec3>>,
}

/// Pushed samples, oldest first. In between, motion is interpolated from samples that were there when
/// the interval ended: pushing further ones never changes what was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveTrack {
    samples: Vec<LiveSample>,
}

/// Where a time falls among the samples: the one before, the one after with all older ones, and the
/// fraction of the way.
struct Between<'a> {
    before: &'a LiveSample,
    after: &'a LiveSample,
    /// All samples up to `after`.
    past: &'a [LiveSample],
    fraction: f32,
}

impl LiveTrack {
    /// Adds or replaces the sample of a time; samples at or after it are forgotten.
    pub(super) fn sample_at(&mut self, time: f64) -> &mut LiveSample {
        // One is left, so that there is always a shape to copy what the caller does not push from.
        while self.samples.len() > 1 && self.samples.last().is_some_and(|s| s.time > time) {
            self.samples.pop();
        }
        match self.samples.last() {
            Some(last) if last.time >= time => {}
            // The oldest becomes the newest: its storage is written over, nothing is allocated.
            _ if self.samples.len() == KEPT => self.samples.rotate_left(1),
            // A copy of the last one: a caller may push joints and morph weights at different rates.
            _ => self.samples.push(self.samples.last().cloned().unwrap_or_default()),
        }
        let last = self.samples.len() - 1;
        self.samples[last].time = time;
        &mut self.samples[last]
    }

    /// Time of the newest sample [s].
    #[must_use]
    pub fn last_time(&self) -> Option<f64> {
        self.samples.last().map(|s| s.time)
    }

    /// Whether node matrices have been pushed.
    #[must_use]
    pub fn has_nodes(&self) -> bool {
        self.samples.last().is_some_and(|s| !s.nodes.is_empty())
    }

    /// Whether positions of a mesh have been pushed.
    #[must_use]
    pub fn has_positions(&self, mesh: usize) -> bool {
        let last = self.samples.last();
        last.and_then(|s| s.positions.get(mesh)).is_some_and(|p| !p.is_empty())
    }

    /// Matrix of a node at a time, in the actor's space; held before the first and after the last.
    #[must_use]
    pub fn node_at(&self, node: usize, time: f64, sampling: Sampling) -> Option<Mat4> {
        let at = self.between(time)?;
        let matrix = |s: &LiveSample| s.nodes.get(node).copied();
        let (a, b) = (matrix(at.before)?, matrix(at.after)?);
        // On a sample its own bits: matrices taken apart and put together again differ in the last digits.
        if at.fraction <= 0.0 || at.fraction >= 1.0 {
            return Some(if at.fraction <= 0.0 { a } else { b });
        }
        Some(match sampling {
            Sampling::AsAuthored => Parts::of(a).lerp(Parts::of(b), at.fraction).matrix(),
            Sampling::Smooth => at.smooth(|s| Parts::of(matrix(s).unwrap_or(a))).matrix(),
        })
    }

    /// Weights of all morph targets at a time.
    pub fn weights_at(&self, time: f64, out: &mut Vec<f32>) {
        out.clear();
        let Some(at) = self.between(time) else { return };
        let pairs = at.before.weights.iter().zip(&at.after.weights);
        out.extend(pairs.map(|(a, b)| a + at.fraction * (b - a)));
    }

    /// Positions of a mesh at a time, in the actor's space; false if none were pushed.
    pub fn positions_at(&self, mesh: usize, time: f64, out: &mut Vec<Vec3>) -> bool {
        let Some(at) = self.between(time) else { return false };
        let of = |s: &'_ LiveSample| s.positions.get(mesh).is_some_and(|p| !p.is_empty());
        if !of(at.before) || !of(at.after) {
            return false;
        }
        let (a, b) = (&at.before.positions[mesh], &at.after.positions[mesh]);
        out.clear();
        if at.fraction >= 1.0 {
            out.extend_from_slice(b);
        } else {
            out.extend(a.iter().zip(b).map(|(a, b)| a.lerp(*b, at.fraction)));
        }
        true
    }

    /// Whether it is the same at two times, as far as that is seen without looking at the samples.
    #[must_use]
    pub fn stands_still(&self, from: f64, to: f64) -> bool {
        self.last_time().is_none_or(|last| from.min(to) >= last)
    }

    fn between(&self, time: f64) -> Option<Between<'_>> {
        let after = self.samples.partition_point(|s| s.time <= time);
        let newest = self.samples.last()?;
        let (before, fraction) = if after == 0 {
            return self.samples.first().map(Between::held);
        } else if after == self.samples.len() {
            return Some(Between::held(newest));
        } else {
            let (a, b) = (&self.samples[after - 1], &self.samples[after]);
            (a, ((time - a.time) / (b.time - a.time)) as f32)
        };
        let past = &self.samples[..=after];
        Some(Between { before, after: &self.samples[after], past, fraction })
    }
}

impl<'a> Between<'a> {
    /// Outside of the samples everything stands still.
    fn held(sample: &'a LiveSample) -> Self {
        Self { before: sample, after: sample, past: std::slice::from_ref(sample), fraction: 1.0 }
    }

    /// A cubic with the velocities that the samples up to each end had when they were pushed: no jump of
    /// velocity at a sample, and nothing that a later sample could change.
    fn smooth(&self, part: impl Fn(&LiveSample) -> Parts) -> Parts {
        // At least two: `held` has one, but a fraction of 1, which never comes here.
        let (end, start) = (self.past.len() - 1, self.past.len() - 2);
        let seconds = (self.after.time - self.before.time) as f32;
        let from = part(self.before);
        let near = |s: &LiveSample| part(s).near(from.rotation);
        let to = near(self.after);
        let velocity = |k: usize| {
            let at = |i: usize| (self.past[i].time, near(&self.past[i]));
            match k {
                0 => Parts::ZERO,
                1 => slope(at(0), at(1)),
                _ => {
                    // The parabola through the last three, at its end.
                    let (old, new) = (slope(at(k - 2), at(k - 1)), slope(at(k - 1), at(k)));
                    let span = self.past[k].time - self.past[k - 2].time;
                    let share = ((self.past[k].time - self.past[k - 1].time) / span) as f32;
                    new.plus(new.plus(old.times(-1.0)).times(share))
                }
            }
        };
        // The first interval has no past: its own slope at both ends makes it straight.
        let (va, vb) = if start == 0 {
            let straight = slope((0.0, from), (f64::from(seconds), to));
            (straight, straight)
        } else {
            (velocity(start), velocity(end))
        };
        let t = self.fraction;
        // Hermite's tangents, per second: times the interval.
        let (u, v) = (t * (1.0 - t) * (1.0 - t) * seconds, t * t * (1.0 - t) * seconds);
        let (t2, t3) = (t * t, t * t * t);
        let mixed = from.times(2.0 * t3 - 3.0 * t2 + 1.0).plus(to.times(3.0 * t2 - 2.0 * t3));
        mixed.plus(va.times(u)).plus(vb.times(-v))
    }
}

/// A matrix in parts that can be mixed.
#[derive(Clone, Copy)]
struct Parts {
    scale: Vec3,
    rotation: Quat,
    translation: Vec3,
}

impl Parts {
    const ZERO: Self = Self {
        scale: Vec3::ZERO,
        rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        translation: Vec3::ZERO,
    };

    fn of(matrix: Mat4) -> Self {
        let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
        Self { scale, rotation, translation }
    }

    fn matrix(self) -> Mat4 {
        let rotation = self.rotation.normalize();
        Mat4::from_scale_rotation_translation(self.scale, rotation, self.translation)
    }

    /// The same rotation by the quaternion nearer to another.
    fn near(self, other: Quat) -> Self {
        let rotation = if self.rotation.dot(other) < 0.0 { -self.rotation } else { self.rotation };
        Self { rotation, ..self }
    }

    fn lerp(self, other: Self, t: f32) -> Self {
        Self {
            scale: self.scale.lerp(other.scale, t),
            rotation: self.rotation.slerp(other.rotation, t),
            translation: self.translation.lerp(other.translation, t),
        }
    }

    fn times(self, factor: f32) -> Self {
        Self {
            scale: factor * self.scale,
            rotation: self.rotation * factor,
            translation: factor * self.translation,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            scale: self.scale + other.scale,
            rotation: self.rotation + other.rotation,
            translation: self.translation + other.translation,
        }
    }
}

/// Change per second from one instant to a later one.
fn slope(from: (f64, Parts), to: (f64, Parts)) -> Parts {
    let per_second = 1.0 / (to.0 - from.0).max(tolerances::stage::LEAST_PUSH_SECONDS);
    to.1.plus(from.1.times(-1.0)).times(per_second as f32)
}

impl LiveSample {
    pub(super) fn set_nodes(&mut self, matrices: &[Mat4]) {
        self.nodes.clear();
        self.nodes.extend_from_slice(matrices);
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        self.weights.clear();
        self.weights.extend_from_slice(weights);
    }

    pub(super) fn set_positions(&mut self, mesh: usize, positions: impl Iterator<Item = Vec3>) {
        if self.positions.len() <= mesh {
            self.positions.resize_with(mesh + 1, Vec::new);
        }
        self.positions[mesh].clear();
        self.positions[mesh].extend(positions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(times: &[f64], place: impl Fn(f64) -> Vec3) -> LiveTrack {
        let mut track = LiveTrack::default();
        for &time in times {
            track.sample_at(time).set_nodes(&[Mat4::from_translation(place(time))]);
        }
        track
    }

    fn at(track: &LiveTrack, time: f64, sampling: Sampling) -> Vec3 {
        track.node_at(0, time, sampling).unwrap().w_axis.truncate()
    }

    #[test]
    fn samples_are_met_and_held_outside() {
        let track = pushed(&[1.0, 1.5, 2.0], |t| Vec3::X * (t * t) as f32);
        for sampling in [Sampling::AsAuthored, Sampling::Smooth] {
            assert_eq!(at(&track, 0.0, sampling).x, 1.0);
            assert_eq!(at(&track, 1.5, sampling).x, 2.25);
            assert_eq!(at(&track, 9.0, sampling).x, 4.0);
        }
        assert_eq!(at(&track, 1.75, Sampling::AsAuthored).x, 3.125);
        assert!(LiveTrack::default().node_at(0, 0.0, Sampling::Smooth).is_none());
    }

    #[test]
    fn smooth_motion_reproduces_a_parabola_and_has_no_jump_of_velocity() {
        let times = [0.0, 0.1, 0.25, 0.3, 0.4];
        let track = pushed(&times, |t| Vec3::X * (3.0 * t * t - t) as f32);
        for time in [0.26, 0.29, 0.34, 0.39] {
            let x = at(&track, time, Sampling::Smooth).x;
            assert!((f64::from(x) - (3.0 * time * time - time)).abs() < 1e-5, "{time}: {x}");
        }
        let bent = pushed(&times, |t| Vec3::X * (9.0 * t).sin() as f32);
        let speed = |from: f64, to: f64| {
            (at(&bent, to, Sampling::Smooth).x - at(&bent, from, Sampling::Smooth).x)
                / (to - from) as f32
        };
        let jump = speed(0.299, 0.3) - speed(0.3, 0.301);
        assert!(jump.abs() < 0.15, "{jump}");
    }

    #[test]
    fn what_was_seen_does_not_change_with_later_samples() {
        let wave = |t: f64| Vec3::Y * (7.0 * t).cos() as f32;
        let early = pushed(&[0.0, 0.1, 0.2, 0.3], wave);
        let late = pushed(&[0.0, 0.1, 0.2, 0.3, 0.4, 0.5], wave);
        for time in [0.05, 0.15, 0.22, 0.29] {
            let seen = |track| at(track, time, Sampling::Smooth);
            assert_eq!(seen(&early), seen(&late));
        }
    }

    #[test]
    fn old_samples_go_and_a_step_back_forgets_the_future() {
        let mut track = pushed(&[0.0], |_| Vec3::ZERO);
        for k in 1..100 {
            track.sample_at(0.01 * f64::from(k));
        }
        assert_eq!(track.samples.len(), KEPT);
        track.sample_at(0.95);
        assert_eq!(track.last_time(), Some(0.95));
    }
}
