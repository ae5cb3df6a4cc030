//! The damped spring, advanced exactly.
//!
//! `u'' + 2 zeta w u' + w^2 u = a`, with `a` constant over a step, has a closed form in all three
//! damping regimes. A step is then a fixed 2x3 matrix on `(u, u', a)`: no stiffness or damping can
//! make it unstable, and two half steps give the same as one whole step.

use glam::DVec3;

use crate::tolerances;

/// The exact advance over one step of fixed length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OscillatorStep {
    position: [f64; 3],
    velocity: [f64; 3],
}

impl OscillatorStep {
    /// For an undamped angular frequency [rad/s], a damping ratio (1 = critical) and a step [s].
    #[must_use]
    pub fn new(angular_frequency: f64, damping_ratio: f64, step: f64) -> Self {
        let w_sq = angular_frequency * angular_frequency;
        let decay = damping_ratio * angular_frequency;
        let (cosine, sine) = decayed_cosine_sine(w_sq, decay, step);
        // Response of position to its own start, of velocity to its own start.
        let keep = cosine + decay * sine;
        let coast = cosine - decay * sine;
        let pushed = if w_sq * step * step > tolerances::math::WEAK_SPRING_SQ {
            (1.0 - keep) / w_sq
        } else {
            // Weak spring: the ratio above would lose its digits; expand in w, keep the drag exact.
            let x = -2.0 * decay * step;
            step * step * phi2(x)
        };
        Self { position: [keep, sine, pushed], velocity: [-w_sq * sine, coast, sine] }
    }

    /// Position and velocity after the step, under a constant acceleration.
    #[must_use]
    pub fn apply(&self, position: DVec3, velocity: DVec3, acceleration: DVec3) -> (DVec3, DVec3) {
        let mix = |c: &[f64; 3]| c[0] * position + c[1] * velocity + c[2] * acceleration;
        (mix(&self.position), mix(&self.velocity))
    }

    /// The rows (position, velocity) over (position, velocity, acceleration), for solving periodic
    /// states.
    #[must_use]
    pub fn matrix(&self) -> [[f64; 3]; 2] {
        [self.position, self.velocity]
    }
}

/// `e^(-decay h) cos(q h)` and `e^(-decay h) sin(q h) / q` with `q^2 = w^2 - decay^2`, which may be
/// negative (overdamped) or zero (critical).
fn decayed_cosine_sine(w_sq: f64, decay: f64, h: f64) -> (f64, f64) {
    let q_sq = w_sq - decay * decay;
    let scale = q_sq.abs().sqrt() * h;
    if scale < tolerances::math::NEARLY_CRITICAL {
        // Both series to fourth order: exact to 1e-18 here.
        let x = q_sq * h * h;
        let fade = (-decay * h).exp();
        (fade * (1.0 - x / 2.0 + x * x / 24.0), fade * h * (1.0 - x / 6.0 + x * x / 120.0))
    } else if q_sq > 0.0 {
        let fade = (-decay * h).exp();
        let (sin, cos) = scale.sin_cos();
        // sin / q, where q is scale / h.
        (fade * cos, fade * sin * h / scale)
    } else {
        // Written with the two real roots, so that neither exponential overflows nor cancels.
        let q = (-q_sq).sqrt();
        let fast = decay + q;
        // The product of the roots is w²: `decay - q` would cancel where the damping is strong.
        let slow = w_sq / fast;
        let (a, b) = ((-slow * h).exp(), (-fast * h).exp());
        (0.5 * (a + b), 0.5 * (a - b) / q)
    }
}

/// `(e^x - 1) / x`, regular at 0.
#[must_use]
pub fn phi1(x: f64) -> f64 {
    // exp_m1 keeps its digits down to here; only 0 / 0 must be kept away.
    if x.abs() < tolerances::math::PHI1_LINEAR { 1.0 + 0.5 * x } else { x.exp_m1() / x }
}

/// `(e^x - 1 - x) / x^2`, regular at 0.
#[must_use]
pub fn phi2(x: f64) -> f64 {
    if x.abs() < tolerances::math::PHI2_SERIES {
        // Taylor to x^9: the direct formula loses 1/x digits here.
        let mut term = 0.5;
        let mut sum = 0.5;
        // With x below 0.1, the first term left out is less than 1e-18 of the sum.
        for k in 3..12 {
            term *= x / f64::from(k);
            sum += term;
        }
        sum
    } else {
        (x.exp_m1() - x) / (x * x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classic RK4 with many small steps.
    fn reference(w: f64, zeta: f64, u: f64, v: f64, a: f64, t: f64) -> (f64, f64) {
        let n = 200_000;
        let h = t / f64::from(n);
        let f = |u: f64, v: f64| (v, a - 2.0 * zeta * w * v - w * w * u);
        let (mut u, mut v) = (u, v);
        for _ in 0..n {
            let k1 = f(u, v);
            let k2 = f(u + 0.5 * h * k1.0, v + 0.5 * h * k1.1);
            let k3 = f(u + 0.5 * h * k2.0, v + 0.5 * h * k2.1);
            let k4 = f(u + h * k3.0, v + h * k3.1);
            u += h / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0);
            v += h / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
        }
        (u, v)
    }

    fn advance(step: &OscillatorStep, u: f64, v: f64, a: f64) -> (f64, f64) {
        let (u, v) = step.apply(DVec3::X * u, DVec3::X * v, DVec3::X * a);
        (u.x, v.x)
    }

    #[test]
    fn agrees_with_a_fine_reference_in_every_regime() {
        for zeta in [0.0, 0.2, 0.999_999, 1.0, 1.000_001, 3.0] {
            let step = OscillatorStep::new(5.0, zeta, 0.7);
            let got = advance(&step, 0.3, -1.0, 2.0);
            let want = reference(5.0, zeta, 0.3, -1.0, 2.0, 0.7);
            assert!((got.0 - want.0).abs() < 1e-8, "{zeta}: {got:?} {want:?}");
            assert!((got.1 - want.1).abs() < 1e-7, "{zeta}: {got:?} {want:?}");
        }
    }

    #[test]
    fn two_half_steps_are_one_whole_step() {
        for (w, zeta) in [(3.0, 0.1), (40.0, 1.0), (200.0, 5.0)] {
            let whole = OscillatorStep::new(w, zeta, 0.02);
            let half = OscillatorStep::new(w, zeta, 0.01);
            let once = advance(&whole, 1.0, 2.0, -3.0);
            let (u, v) = advance(&half, 1.0, 2.0, -3.0);
            let twice = advance(&half, u, v, -3.0);
            assert!((once.0 - twice.0).abs() < 1e-12 && (once.1 - twice.1).abs() < 1e-10);
        }
    }

    #[test]
    fn stays_bounded_for_any_stiffness() {
        for exponent in -3..=9 {
            let w = 10f64.powi(exponent).sqrt();
            for zeta in [0.0, 0.1, 1.0, 1e3] {
                let step = OscillatorStep::new(w, zeta, 1.0 / 30.0);
                let (mut u, mut v) = (1.0, 0.0);
                for _ in 0..10_000 {
                    (u, v) = advance(&step, u, v, 0.0);
                }
                assert!(u.is_finite() && v.is_finite() && u.abs() < 1.0 + 1e-6, "{w} {zeta}: {u}");
            }
        }
    }

    #[test]
    fn a_weak_spring_falls_like_a_stone() {
        let step = OscillatorStep::new(1e-6, 0.0, 0.1);
        let (u, _) = advance(&step, 0.0, 0.0, 9.81);
        assert!((u - 0.5 * 9.81 * 0.01).abs() < 1e-12);
    }
}
