//! Key-framed tracks and their interpolation, as glTF defines them.

use glam::{Quat, Vec3};

/// How values between keys are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The last key holds.
    Step,
    /// Straight line; shortest arc for rotations.
    Linear,
    /// Hermite with stored tangents; values are triples in-tangent, value, out-tangent.
    CubicSpline,
}

/// What a track drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackTarget {
    /// A node's translation, 3 numbers a key.
    Translation(usize),
    /// A node's rotation, 4 numbers a key (x, y, z, w).
    Rotation(usize),
    /// A node's scale, 3 numbers a key.
    Scale(usize),
    /// The morph weights of every mesh on a node, one number per target and key.
    MorphWeights(usize),
}

/// Whether LINEAR tracks are played as authored or with continuous velocity.
///
/// A clip keyed every frame with LINEAR has a velocity that jumps at the key rate: what reacts to
/// acceleration would buzz. `Smooth` runs a Catmull-Rom curve through the same keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Exactly as other programs play it.
    AsAuthored,
    /// LINEAR tracks with more than two keys are re-interpolated C1 through the same keys.
    Smooth,
}

/// Keys of one property.
#[derive(Clone, Debug)]
pub struct Track {
    /// What it drives.
    pub target: TrackTarget,
    /// How.
    pub interpolation: Interpolation,
    /// Key times [s], ascending.
    pub times: Vec<f32>,
    /// Values, `width` numbers a key (three times that for cubic splines).
    pub values: Vec<f32>,
    /// Numbers per value.
    pub width: usize,
}

/// A named animation.
#[derive(Clone, Debug, Default)]
pub struct Clip {
    /// Name.
    pub name: String,
    /// Its tracks.
    pub tracks: Vec<Track>,
}

impl Clip {
    /// Time of the last key [s].
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.tracks.iter().filter_map(|t| t.times.last()).fold(0.0, |a, &t| a.max(f64::from(t)))
    }
}

/// Where a time falls among the keys.
enum Place {
    Key(usize),
    Between { left: usize, fraction: f32, seconds: f32 },
}

impl Track {
    /// The value at a time, clamped to the first and last key; `out` has `width` numbers.
    /// Rotations come out normalised.
    pub fn sample(&self, time: f64, sampling: Sampling, out: &mut [f32]) {
        match self.place(time) {
            Place::Key(key) => out.copy_from_slice(self.value(key)),
            Place::Between { left, fraction, seconds } => {
                self.interpolate(left, fraction, seconds, sampling, out);
            }
        }
        if matches!(self.target, TrackTarget::Rotation(_)) {
            let q = Quat::from_slice(out);
            // Two opposite rotations blended half and half leave nothing to normalise.
            let q = if q.length_squared() > 0.0 { q.normalize() } else { Quat::IDENTITY };
            q.write_to_slice(out);
        }
    }

    /// The value as a vector; the track must be 3 numbers wide.
    #[must_use]
    pub fn sample_vec3(&self, time: f64, sampling: Sampling) -> Vec3 {
        let mut out = [0.0; 3];
        self.sample(time, sampling, &mut out);
        Vec3::from_array(out)
    }

    /// The value as a rotation; the track must be 4 numbers wide.
    #[must_use]
    pub fn sample_quat(&self, time: f64, sampling: Sampling) -> Quat {
        let mut out = [0.0; 4];
        self.sample(time, sampling, &mut out);
        Quat::from_array(out)
    }

    fn place(&self, time: f64) -> Place {
        // `<=`: at the time of a key its own value, and the later one of two keys at one time (a cut).
        let after = self.times.partition_point(|&t| f64::from(t) <= time);
        if after == 0 {
            return Place::Key(0);
        }
        let left = after - 1;
        // Beyond the last key a clip stands; steps hold until the next one.
        if after == self.times.len() || self.interpolation == Interpolation::Step {
            return Place::Key(left);
        }
        let seconds = self.times[after] - self.times[left];
        // In f64: an hour into a clip, f32 seconds go in steps of a quarter of a millisecond.
        let fraction = ((time - f64::from(self.times[left])) / f64::from(seconds)) as f32;
        Place::Between { left, fraction, seconds }
    }

    /// The value stored at a key.
    fn value(&self, key: usize) -> &[f32] {
        let start = match self.interpolation {
            Interpolation::CubicSpline => (3 * key + 1) * self.width,
            _ => key * self.width,
        };
        &self.values[start..start + self.width]
    }

    fn tangent(&self, key: usize, outgoing: bool) -> &[f32] {
        let start = (3 * key + if outgoing { 2 } else { 0 }) * self.width;
        &self.values[start..start + self.width]
    }

    fn interpolate(&self, left: usize, t: f32, dt: f32, sampling: Sampling, out: &mut [f32]) {
        let (a, b) = (self.value(left), self.value(left + 1));
        let rotation = matches!(self.target, TrackTarget::Rotation(_));
        if self.interpolation == Interpolation::CubicSpline {
            let (ta, tb) = (self.tangent(left, true), self.tangent(left + 1, false));
            for i in 0..self.width {
                // glTF's tangents are per second; Hermite's are per interval.
                out[i] = hermite(a[i], dt * ta[i], b[i], dt * tb[i], t);
            }
        } else if sampling == Sampling::Smooth && self.times.len() > 2 {
            self.catmull_rom(left, t, dt, rotation, out);
        } else if rotation {
            Quat::from_slice(a).slerp(Quat::from_slice(b), t).write_to_slice(out);
        } else {
            for i in 0..self.width {
                out[i] = a[i] + t * (b[i] - a[i]);
            }
        }
    }

    /// C1 through the keys; one-sided differences at the ends. Quaternions are brought to the
    /// hemisphere of the left key first and blended by component (normalised by the caller).
    fn catmull_rom(&self, left: usize, t: f32, dt: f32, rotation: bool, out: &mut [f32]) {
        // At the ends the key itself stands for the one beyond: one-sided differences.
        let before = left.saturating_sub(1);
        let after = (left + 2).min(self.times.len() - 1);
        let (pa, pb, pp, pn) =
            (self.value(left), self.value(left + 1), self.value(before), self.value(after));
        let sign = |v: &[f32]| {
            let dot: f32 = pa.iter().zip(v).map(|(x, y)| x * y).sum();
            if rotation && dot < 0.0 { -1.0 } else { 1.0 }
        };
        let (sb, sp, sn) = (sign(pb), sign(pp), sign(pn));
        let span_left = self.times[left + 1] - self.times[before];
        let span_right = self.times[after] - self.times[left];
        for i in 0..self.width {
            let (p, a, b, n) = (sp * pp[i], pa[i], sb * pb[i], sn * pn[i]);
            // Keys at one time (a cut) have no slope.
            let ta = if span_left > 0.0 { dt * (b - p) / span_left } else { 0.0 };
            let tb = if span_right > 0.0 { dt * (n - a) / span_right } else { 0.0 };
            out[i] = hermite(a, ta, b, tb, t);
        }
    }
}

/// Cubic Hermite on [0, 1].
fn hermite(a: f32, ta: f32, b: f32, tb: f32, t: f32) -> f32 {
    let (t2, t3) = (t * t, t * t * t);
    a * (2.0 * t3 - 3.0 * t2 + 1.0)
        + ta * (t3 - 2.0 * t2 + t)
        + b * (3.0 * t2 - 2.0 * t3)
        + tb * (t3 - t2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(interpolation: Interpolation, values: Vec<f32>) -> Track {
        Track {
            target: TrackTarget::Translation(0),
            interpolation,
            times: vec![1.0, 2.0, 4.0],
            values,
            width: 1,
        }
    }

    fn at(track: &Track, time: f64, sampling: Sampling) -> f32 {
        let mut out = [0.0];
        track.sample(time, sampling, &mut out);
        out[0]
    }

    #[test]
    fn step_linear_and_clamping() {
        let step = track(Interpolation::Step, vec![10.0, 20.0, 30.0]);
        assert_eq!(at(&step, 1.99, Sampling::AsAuthored), 10.0);
        assert_eq!(at(&step, 2.0, Sampling::AsAuthored), 20.0);
        let linear = track(Interpolation::Linear, vec![10.0, 20.0, 30.0]);
        assert_eq!(at(&linear, 0.0, Sampling::AsAuthored), 10.0);
        assert_eq!(at(&linear, 3.0, Sampling::AsAuthored), 25.0);
        assert_eq!(at(&linear, 9.0, Sampling::AsAuthored), 30.0);
    }

    #[test]
    fn cubic_spline_reproduces_a_cubic() {
        // x^3 with exact tangents 3 x^2.
        let cube = |x: f32| [3.0 * x * x, x * x * x, 3.0 * x * x];
        let values = [1.0f32, 2.0, 4.0].iter().flat_map(|&x| cube(x)).collect();
        let t = track(Interpolation::CubicSpline, values);
        for x in [1.0f32, 1.3, 2.0, 2.7, 3.9, 4.0] {
            let got = at(&t, f64::from(x), Sampling::AsAuthored);
            assert!((got - x * x * x).abs() < 1e-4, "{x}: {got}");
        }
    }

    #[test]
    fn smooth_sampling_keeps_keys_and_has_no_velocity_jump() {
        let t = track(Interpolation::Linear, vec![0.0, 1.0, 0.0]);
        assert_eq!(at(&t, 2.0, Sampling::Smooth), 1.0);
        let d = 1e-3;
        let before = (1.0 - at(&t, 2.0 - d, Sampling::Smooth)) / d as f32;
        let after = (at(&t, 2.0 + d, Sampling::Smooth) - 1.0) / d as f32;
        assert!((before - after).abs() < 0.02, "{before} {after}");
    }
}
