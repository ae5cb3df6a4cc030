//! Closed-form motion under a constant force and a drag proportional to velocity.
//!
//! `dv/dt = a - L v` has the solution
//!
//! ```text
//! v(t) = v0 e^(-Lt) + a t phi1(-Lt)          phi1(x) = (e^x - 1) / x
//! p(t) = p0 + v0 t phi1(-Lt) + a t² phi2(-Lt)   phi2(x) = (e^x - 1 - x) / x²
//! ```
//!
//! Both functions are regular at 0, where the motion becomes the parabola of free fall. The textbook
//! form divides by `L` and loses every digit when the drag is small.

use std::ops::{Add, Mul};

/// `(e^x - 1) / x`.
#[must_use]
pub fn phi1(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.exp_m1() / x }
}

/// `(e^x - 1 - x) / x²`; a Taylor series where the subtraction would cancel.
#[must_use]
pub fn phi2(x: f64) -> f64 {
    if x.abs() < 0.5 { phi2_series(x) } else { (x.exp_m1() - x) / (x * x) }
}

/// Sum of `x^n / (n + 2)!` for |x| < 1/2: the 15th term is below 1e-18 of the sum, and for |x| < 1/32
/// the 8th is.
fn phi2_series(x: f64) -> f64 {
    let terms = if x.abs() < 1.0 / 32.0 { 8 } else { 15 };
    INVERSE_FACTORIALS[..terms].iter().rev().fold(0.0, |sum, c| c + x * sum)
}

/// `1 / 2!`, `1 / 3!` and so on.
const INVERSE_FACTORIALS: [f64; 15] = {
    let mut table = [0.5; 15];
    let mut i = 1;
    while i < 15 {
        table[i] = table[i - 1] / (i as f64 + 2.0);
        i += 1;
    }
    table
};

/// The three weights of the closed form at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Time since the start [s].
    pub time: f64,
    /// `e^(-Lt)`: what is left of the starting velocity.
    pub decay: f64,
    /// `t phi1(-Lt)` [s].
    pub from_velocity: f64,
    /// `t² phi2(-Lt)` [s²].
    pub from_acceleration: f64,
}

impl Weights {
    /// For a drag rate `L >= 0` [1/s] and a time [s].
    #[must_use]
    pub fn at(drag: f64, time: f64) -> Self {
        // The parabola, exactly: what has no drag keeps its energy to the last bit.
        if drag == 0.0 {
            let from_acceleration = 0.5 * time * time;
            return Self { time, decay: 1.0, from_velocity: time, from_acceleration };
        }
        let x = -drag * time;
        // One series or one exponential gives all three: phi1 = 1 + x phi2, e^x = 1 + x phi1.
        let (one, two) = if x.abs() < 0.5 {
            let two = phi2_series(x);
            (1.0 + x * two, two)
        } else {
            let one = x.exp_m1() / x;
            (one, (one - 1.0) / x)
        };
        Self {
            time,
            decay: 1.0 + x * one,
            from_velocity: time * one,
            from_acceleration: time * time * two,
        }
    }

    /// Displacement.
    pub fn displacement<V>(&self, velocity: V, acceleration: V) -> V
    where
        V: Mul<f64, Output = V> + Add<Output = V>,
    {
        velocity * self.from_velocity + acceleration * self.from_acceleration
    }

    /// Velocity.
    pub fn velocity<V>(&self, velocity: V, acceleration: V) -> V
    where
        V: Mul<f64, Output = V> + Add<Output = V>,
    {
        velocity * self.decay + acceleration * self.from_velocity
    }
}

/// When the velocity `v` under the acceleration `a` becomes zero; `None` if it never does.
#[must_use]
pub fn time_of_rest(velocity: f64, acceleration: f64, drag: f64) -> Option<f64> {
    if velocity * acceleration >= 0.0 {
        return None;
    }
    let ratio = -velocity / acceleration;
    // Below that the logarithm of one plus nothing over nothing is no number.
    Some(if drag * ratio < 1e-300 { ratio } else { (drag * ratio).ln_1p() / drag })
}

/// A signed distance under a constant force and drag: positive inside, negative once it has been left.
#[derive(Clone, Copy, Debug)]
pub struct Approach {
    /// At the start, not negative [m].
    pub distance: f64,
    /// Its rate at the start [m/s].
    pub rate: f64,
    /// Its acceleration before drag [m/s²].
    pub acceleration: f64,
    /// Drag rate `L` [1/s].
    pub drag: f64,
}

impl Approach {
    /// First time in `[0, end.time]` at which the distance becomes negative. `on_edge` says that it starts at
    /// zero by topology: that root is divided out, so that rounding cannot make it come back.
    ///
    /// The second derivative of the distance keeps one sign, so it has at most one extremum and two roots:
    /// each monotone piece is bracketed and the root in it found for sure.
    #[must_use]
    pub fn first_exit(mut self, on_edge: bool, end: &Weights) -> Option<f64> {
        if on_edge {
            self.distance = 0.0;
        }
        let Self { rate, acceleration, .. } = self;
        if rate >= 0.0 && acceleration >= 0.0 {
            return None;
        }
        if on_edge && (rate < 0.0 || (rate == 0.0 && acceleration < 0.0)) {
            return Some(0.0);
        }
        let at_end = self.at(end);
        if rate < 0.0 && acceleration <= 0.0 {
            return (at_end < 0.0).then(|| self.root_between(0.0, end.time));
        }
        let extremum = time_of_rest(rate, acceleration, self.drag).unwrap_or(0.0);
        if rate < 0.0 {
            // Falls to a minimum, then rises: only the way down can leave.
            if extremum >= end.time {
                return (at_end < 0.0).then(|| self.root_between(0.0, end.time));
            }
            let lowest = self.at(&Weights::at(self.drag, extremum));
            return (lowest <= 0.0).then(|| self.root_between(0.0, extremum));
        }
        // Rises to a maximum, then falls.
        if at_end >= 0.0 || extremum >= end.time {
            return None;
        }
        Some(self.root_between(extremum, end.time))
    }

    /// The distance at the time of some weights.
    fn at(&self, weights: &Weights) -> f64 {
        self.distance + weights.displacement(self.rate, self.acceleration)
    }

    /// The root of a monotone, falling piece between `low` (not negative) and `high` (not positive).
    fn root_between(&self, mut low: f64, mut high: f64) -> f64 {
        // A good start: within a triangle drag bends a way but little.
        let mut t = self.root_without_drag();
        if self.drag == 0.0 {
            return t.clamp(low, high);
        }
        if !(t > low && t < high) {
            t = 0.5 * (low + high);
        }
        // Newton's steps, halving where one leaves the bracket: that ends for sure.
        for _ in 0..100 {
            let weights = Weights::at(self.drag, t);
            let value = self.at(&weights);
            if value >= 0.0 {
                low = t
            } else {
                high = t
            }
            let slope = weights.velocity(self.rate, self.acceleration);
            let mut next = t - value / slope;
            if !(next > low && next < high) {
                next = 0.5 * (low + high);
            }
            if (next - t).abs() <= 2.0 * f64::EPSILON * next || next == low || next == high {
                return next;
            }
            t = next;
        }
        high
    }

    /// The root of the parabola `d + w t + a t²/2` at which it falls, without cancellation.
    fn root_without_drag(&self) -> f64 {
        let Self { distance, rate, acceleration, .. } = *self;
        let root = (rate * rate - 2.0 * acceleration * distance).max(0.0).sqrt();
        if rate <= 0.0 {
            // 2 d / (-w + root), the smaller root.
            if root - rate > 0.0 { 2.0 * distance / (root - rate) } else { 0.0 }
        } else {
            (rate + root) / -acceleration
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sum and product with twice the digits of a double, enough for a reference.
    #[derive(Clone, Copy)]
    struct Double(f64, f64);

    impl Double {
        fn sum(a: f64, b: f64) -> Self {
            let s = a + b;
            let v = s - a;
            Self(s, (a - (s - v)) + (b - v))
        }
        fn plus(self, o: Self) -> Self {
            let s = Self::sum(self.0, o.0);
            let t = Self::sum(self.1, o.1);
            let u = Self::sum(s.0, s.1 + t.0);
            Self::sum(u.0, u.1 + t.1)
        }
        fn times(self, o: Self) -> Self {
            let p = self.0 * o.0;
            let e = self.0.mul_add(o.0, -p);
            Self::sum(p, e + self.0 * o.1 + self.1 * o.0)
        }
        fn over(self, n: f64) -> Self {
            let q = self.0 / n;
            let back = Self(q, 0.0).times(Self(n, 0.0));
            let rest = self.plus(Self(-back.0, -back.1));
            Self::sum(q, (rest.0 + rest.1) / n)
        }
    }

    /// phi1 and phi2 of `-x` in extended precision: the series at `x / 2^k`, doubled k times
    /// (`phi1(2x) = phi1(x)(e^x + 1)/2`, `phi2(2x) = (phi1(x)² + 2 phi2(x))/4`).
    fn reference(x: f64) -> (f64, f64) {
        let mut k = 0;
        let mut y = -x;
        while y.abs() > 0.25 {
            y *= 0.5;
            k += 1;
        }
        let y2 = Double(y, 0.0);
        let (mut one, mut two) = (Double(0.0, 0.0), Double(0.0, 0.0));
        let mut term = Double(1.0, 0.0);
        for n in 1..40 {
            one = one.plus(term);
            two = two.plus(term.over(f64::from(n + 1)));
            term = term.times(y2).over(f64::from(n + 1));
        }
        let mut x2 = y2;
        for _ in 0..k {
            let exp = Double(1.0, 0.0).plus(x2.times(one));
            two = one.times(one).plus(two).plus(two).over(4.0);
            one = one.times(exp.plus(Double(1.0, 0.0))).over(2.0);
            x2 = x2.plus(x2);
        }
        (one.0 + one.1, two.0 + two.1)
    }

    #[test]
    fn phi_functions_match_extended_precision() {
        let mut x = 1e-12;
        while x < 1.001e3 {
            let (one, two) = reference(x);
            assert!((phi1(-x) / one - 1.0).abs() < 2e-15, "phi1 {x}: {} {one}", phi1(-x));
            assert!((phi2(-x) / two - 1.0).abs() < 4e-15, "phi2 {x}: {} {two}", phi2(-x));
            x *= 1.37;
        }
    }

    #[test]
    fn small_drag_is_the_parabola() {
        let w = Weights::at(1e-9, 2.0);
        assert!((w.displacement(3.0, 4.0) - (6.0 + 8.0)).abs() < 1e-7);
        assert_eq!(Weights::at(0.0, 2.0).displacement(3.0, 4.0), 14.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn first_exit_agrees_with_dense_sampling(
            d0 in 0.0f64..1.0, w0 in -3.0f64..3.0, alpha in -5.0f64..5.0,
            drag in prop_oneof![Just(0.0), 1e-9f64..1e-3, 0.01f64..30.0],
            end in 0.01f64..4.0, on_edge in any::<bool>(),
        ) {
            let weights = Weights::at(drag, end);
            let d = |t: f64| {
                (if on_edge { 0.0 } else { d0 }) + Weights::at(drag, t).displacement(w0, alpha)
            };
            let steps = 4000;
            let sampled = (1..=steps).map(|i| end * f64::from(i) / f64::from(steps))
                .find(|&t| d(t) < -1e-9);
            let approach = Approach { distance: d0, rate: w0, acceleration: alpha, drag };
            match approach.first_exit(on_edge, &weights) {
                Some(t) => {
                    prop_assert!(t >= 0.0 && t <= end);
                    prop_assert!(d(t).abs() < 1e-12, "on the edge: {}", d(t));
                    for i in 1..200 {
                        prop_assert!(d(t * f64::from(i) / 200.0) > -1e-12, "inside before");
                    }
                    if let Some(s) = sampled {
                        prop_assert!(t <= s);
                    }
                }
                None => prop_assert!(sampled.is_none(), "missed an exit near {sampled:?}"),
            }
        }
    }
}
