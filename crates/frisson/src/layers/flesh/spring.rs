//! The spring between the static and the dynamic frame, advanced exactly on a fixed time grid.

use glam::{DQuat, DVec3};

use super::state::{FleshState, PathPoint};
use crate::math::oscillator::OscillatorStep;
use crate::tolerances::flesh as tolerances;

/// Position and orientation of the static frame at a grid time.
#[derive(Clone, Copy, Debug)]
pub struct StaticFrame {
    /// Position [m].
    pub position: DVec3,
    /// Orientation.
    pub rotation: DQuat,
}

/// One grid interval of the spring.
///
/// The static frame moves linearly between grid times, so `s''` is an impulse at each grid time:
/// `u'` jumps by minus the change of velocity, then the spring moves freely, in closed form.
#[derive(Clone, Copy, Debug)]
pub struct SpringStep {
    step: OscillatorStep,
    seconds: f64,
    /// Whether the rotation swings too; it costs as much again.
    turns: bool,
}

impl SpringStep {
    /// For a spring (undamped angular frequency, damping ratio) and the length of an interval [s].
    #[must_use]
    pub fn new((frequency, ratio): (f64, f64), seconds: f64, turns: bool) -> Self {
        Self { step: OscillatorStep::new(frequency, ratio, seconds), seconds, turns }
    }

    /// Length of the interval [s].
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Advances to the next grid time, where the static frame is `next`. `acceleration` acts on the
    /// mass besides the spring [m/s²].
    pub fn advance(
        &self,
        state: &mut FleshState,
        from: StaticFrame,
        next: StaticFrame,
        acceleration: DVec3,
    ) {
        let velocity = (next.position - from.position) / self.seconds;
        let angular = match self.turns {
            true => rotation_vector(next.rotation * from.rotation.inverse()) / self.seconds,
            false => DVec3::ZERO,
        };
        // Without a path the frame has always moved like this: no kick.
        let before = state.path.unwrap_or(PathPoint {
            position: from.position,
            rotation: from.rotation,
            velocity,
            angular,
        });
        // The impulse at the grid time: `u'' = -s'' ...`, and `s''` is the jump of the frame's velocity.
        state.velocity -= velocity - before.velocity;
        state.turn_velocity -= angular - before.angular;
        (state.elongation, state.velocity) =
            self.step.apply(state.elongation, state.velocity, acceleration);
        if self.turns {
            (state.turn, state.turn_velocity) =
                self.step.apply(state.turn, state.turn_velocity, DVec3::ZERO);
        }
        state.path =
            Some(PathPoint { position: next.position, rotation: next.rotation, velocity, angular });
    }
}

/// Stops the mass on a sphere: back on it, without the outgoing part of the velocity.
pub fn apply_hard_limit(state: &mut FleshState, limit: f64) {
    let length = state.elongation.length();
    if length > limit {
        let out = state.elongation / length;
        state.elongation = out * limit;
        // Only what goes out is stopped: it may slide along the sphere and come back.
        state.velocity -= out * state.velocity.dot(out).max(0.0);
    }
}

/// `limit tanh(|u| / limit)` along `u`: never reaches the limit, no visible stop.
#[must_use]
pub fn soften(elongation: DVec3, limit: f64) -> DVec3 {
    let length = elongation.length();
    if length > 0.0 { elongation * (limit * (length / limit).tanh() / length) } else { elongation }
}

/// Axis times angle of a rotation, the shorter way round.
#[must_use]
pub fn rotation_vector(rotation: DQuat) -> DVec3 {
    // q and -q are one rotation; the one with w >= 0 turns by less than half.
    let q = if rotation.w < 0.0 { -rotation } else { rotation };
    let v = DVec3::new(q.x, q.y, q.z);
    let sine = v.length();
    // The quotient would be 0 / 0; to this order both are the same.
    if sine < tolerances::NO_TURN { 2.0 * v } else { v * (2.0 * sine.atan2(q.w) / sine) }
}

/// The state to which a linear spring comes back after a cycle. `after` is the state reached after
/// one cycle of `duration` from zero elongation and velocity.
///
/// With `x' = M x + b` per cycle, the periodic state solves `(I - M) x = b`, per axis.
#[must_use]
pub fn periodic_state(
    (frequency, ratio): (f64, f64),
    duration: f64,
    after: &FleshState,
) -> FleshState {
    let m = OscillatorStep::new(frequency, ratio, duration).matrix();
    let (a, b, c, d) = (1.0 - m[0][0], -m[0][1], -m[1][0], 1.0 - m[1][1]);
    // Not zero with damping: `validate` refuses a loop of an undamped spring.
    let determinant = a * d - b * c;
    let solve = |u: DVec3, v: DVec3| ((d * u - b * v) / determinant, (a * v - c * u) / determinant);
    let (elongation, velocity) = solve(after.elongation, after.velocity);
    let (turn, turn_velocity) = solve(after.turn, after.turn_velocity);
    FleshState {
        elongation,
        velocity,
        turn,
        turn_velocity,
        path: after.path,
        ..FleshState::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerances::flesh::GRID_HZ;

    fn frame(position: DVec3) -> StaticFrame {
        StaticFrame { position, rotation: DQuat::IDENTITY }
    }

    /// A smooth shake, twice differentiable in closed form.
    fn shake(t: f64) -> (f64, f64) {
        let (a, b) = (7.3, 3.1);
        (
            0.1 * (a * t).sin() + 0.05 * (b * t).cos(),
            -0.1 * a * a * (a * t).sin() - 0.05 * b * b * (b * t).cos(),
        )
    }

    fn run(w: f64, zeta: f64, rate: f64, seconds: f64) -> Vec<f64> {
        let h = 1.0 / rate;
        let step = SpringStep::new((w, zeta), h, true);
        let velocity = |t: f64| (shake(t + 1e-6).0 - shake(t - 1e-6).0) / 2e-6;
        let mut state = FleshState {
            path: Some(PathPoint {
                position: DVec3::X * shake(0.0).0,
                rotation: DQuat::IDENTITY,
                velocity: DVec3::X * velocity(-0.5 * h),
                angular: DVec3::ZERO,
            }),
            ..FleshState::default()
        };
        // Half of the first jump belongs to the time before the start.
        state.velocity = DVec3::X * (0.5 * h * shake(0.0).1);
        let mut out = vec![0.0];
        for i in 0..(seconds * rate) as usize {
            let at = |k: usize| frame(DVec3::X * shake(k as f64 * h).0);
            step.advance(&mut state, at(i), at(i + 1), DVec3::ZERO);
            out.push(state.elongation.x);
        }
        out
    }

    /// RK4 on `u'' = -s'' - 2 zeta w u' - w^2 u` with many small steps.
    fn reference(w: f64, zeta: f64, rate: usize, seconds: f64) -> Vec<f64> {
        let fine = 20;
        let h = 1.0 / (rate * fine) as f64;
        let f = |t: f64, u: f64, v: f64| (v, -shake(t).1 - 2.0 * zeta * w * v - w * w * u);
        let (mut u, mut v) = (0.0, 0.0);
        let mut out = vec![0.0];
        for i in 0..(seconds * (rate * fine) as f64) as usize {
            let t = i as f64 * h;
            let k1 = f(t, u, v);
            let k2 = f(t + 0.5 * h, u + 0.5 * h * k1.0, v + 0.5 * h * k1.1);
            let k3 = f(t + 0.5 * h, u + 0.5 * h * k2.0, v + 0.5 * h * k2.1);
            let k4 = f(t + h, u + h * k3.0, v + h * k3.1);
            u += h / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0);
            v += h / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
            if (i + 1) % fine == 0 {
                out.push(u);
            }
        }
        out
    }

    #[test]
    fn follows_a_fine_reference_for_ten_seconds_in_every_regime() {
        for (hz, zeta) in [(2.5, 0.15), (2.5, 1.0), (2.5, 3.0), (1.0, 0.05)] {
            let w = std::f64::consts::TAU * hz;
            let (got, want) =
                (run(w, zeta, GRID_HZ, 10.0), reference(w, zeta, GRID_HZ as usize, 10.0));
            let peak = want.iter().fold(0.0f64, |m, u| m.max(u.abs()));
            let error = got.iter().zip(&want).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(error / peak < 1e-4, "{hz} Hz, {zeta}: {}", error / peak);
        }
    }

    #[test]
    fn stable_for_any_stiffness() {
        for exponent in -3..=9 {
            let w = 10f64.powi(exponent).sqrt();
            let out = run(w, 0.1, GRID_HZ, 4.0);
            assert!(out.iter().all(|u| u.is_finite() && u.abs() < 5.0), "{w}");
        }
    }

    #[test]
    fn a_push_first_leaves_the_flesh_behind() {
        for direction in [DVec3::X, DVec3::Y, DVec3::new(1.0, -2.0, 0.5)] {
            let h = 1.0 / 480.0;
            let step = SpringStep::new((15.0, 0.2), h, true);
            let mut state = FleshState::default();
            let at = |t: f64| frame(direction * (0.5 * t * t));
            step.advance(&mut state, at(0.0), at(0.0), DVec3::ZERO);
            for i in 0..20 {
                step.advance(
                    &mut state,
                    at(f64::from(i) * h),
                    at(f64::from(i + 1) * h),
                    DVec3::ZERO,
                );
                assert!(state.elongation.dot(direction) < 0.0);
            }
        }
    }

    #[test]
    fn limits_hold() {
        let mut state = FleshState {
            elongation: DVec3::new(3.0, 4.0, 0.0),
            velocity: DVec3::new(3.0, 0.0, 0.0),
            ..FleshState::default()
        };
        assert!(soften(state.elongation, 1.0).length() < 1.0);
        assert!((soften(DVec3::X * 1e-3, 1.0).x - 1e-3).abs() < 1e-9);
        apply_hard_limit(&mut state, 1.0);
        assert!((state.elongation.length() - 1.0).abs() < 1e-12);
        assert!(state.velocity.dot(state.elongation).abs() < 1e-12);
    }

    #[test]
    fn the_periodic_state_repeats() {
        // Drive with period 1 s.
        let s = |t: f64| frame(DVec3::X * 0.1 * (std::f64::consts::TAU * t).sin());
        let spring = (std::f64::consts::TAU * 2.2, 0.1);
        let h = 1.0 / 480.0;
        let step = SpringStep::new(spring, h, true);
        let cycle = |start: FleshState| {
            let mut state = start;
            for i in 0..480 {
                step.advance(&mut state, s(f64::from(i) * h), s(f64::from(i + 1) * h), DVec3::ZERO);
            }
            state
        };
        let path = cycle(FleshState::default()).path;
        let after = cycle(FleshState { path, ..FleshState::default() });
        let start = periodic_state(spring, 1.0, &after);
        let end = cycle(start.clone());
        assert!((end.elongation - start.elongation).length() < 1e-9, "{start:?} {end:?}");
        assert!((end.velocity - start.velocity).length() < 1e-8);
    }
}
