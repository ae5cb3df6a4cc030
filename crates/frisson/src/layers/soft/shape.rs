//! Particles of a dough that are flattened where they are pressed.
//!
//! ```text
//!       pin                         a particle is an ellipsoid: `stretch` takes a ball to it. What presses
//!      ( v )      ___               it harder than its yield squeezes it thinner in that way and wider in
//!      .-'-.  -> (_o_)              the others, at the same volume; it stays so. Distances to it, and
//!     (  o  )                       between two of them, are measured as the balls they were.
//!      `-.-'
//! ```
//!
//! Without this a dough is never flatter than its particles are thick, and what is rolled springs back: particles that
//! lie on each other are pressed, and nothing moves them aside.

use glam::{DMat3, DQuat, DVec3};

use super::field::FieldProfile;
use super::rest::SoftRest;
use super::state::SoftState;
use crate::tolerances::soft as tolerances;

/// The shape of a particle as fields need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// From the ball that it was to the ellipsoid.
    pub stretch: DMat3,
    /// The way back: distances are measured in it.
    pub metric: DMat3,
    /// Greatest stretch [-].
    pub longest: f64,
    /// Least [-].
    pub shortest: f64,
}

impl Shape {
    /// A ball.
    pub const ROUND: Self =
        Self { stretch: DMat3::IDENTITY, metric: DMat3::IDENTITY, longest: 1.0, shortest: 1.0 };

    /// The ellipsoid of a symmetric stretch.
    #[must_use]
    pub fn of(stretch: DMat3) -> Self {
        if stretch == DMat3::IDENTITY {
            return Self::ROUND;
        }
        let [shortest, longest] = extreme_stretches(&stretch);
        Self { stretch, metric: stretch.inverse(), longest, shortest }
    }

    /// Whether it is a ball: nothing has to be turned into its measure.
    #[must_use]
    #[inline]
    pub fn is_round(&self) -> bool {
        self.longest == 1.0
    }
}

/// How far an ellipsoid is from a ball.
struct Flatness {
    /// Least stretch [-].
    shortest: f64,
    /// The greatest over the one between [-].
    oblong: f64,
}

impl Flatness {
    fn of(stretch: &DMat3) -> Self {
        let [shortest, longest] = extreme_stretches(stretch);
        let trace = stretch.x_axis.x + stretch.y_axis.y + stretch.z_axis.z;
        Self { shortest, oblong: longest / (trace - shortest - longest) }
    }
}

/// The least and the greatest eigenvalue of a symmetric matrix (O. Smith, *Eigenvalues of a symmetric 3 x 3 matrix*, 1961).
fn extreme_stretches(m: &DMat3) -> [f64; 2] {
    let mean = (m.x_axis.x + m.y_axis.y + m.z_axis.z) / 3.0;
    let off = *m - mean * DMat3::IDENTITY;
    let size = (frobenius_sq(&off) / 6.0).sqrt();
    if size <= f64::MIN_POSITIVE {
        return [mean; 2];
    }
    let third = ((off * (1.0 / size)).determinant() / 2.0).clamp(-1.0, 1.0).acos() / 3.0;
    let at = |turn: f64| mean + 2.0 * size * (third + turn).cos();
    [at(std::f64::consts::TAU / 3.0), at(0.0)]
}

fn frobenius_sq(m: &DMat3) -> f64 {
    m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()
}

/// `a` times the transpose of `b`.
#[must_use]
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// What happens around a particle in a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kneading {
    /// Sum over all forces on it of force times place from its middle [N m].
    pub stress: DMat3,
    /// Sum over its neighbours of what resists being turned, as of points of unit mass [m²].
    spread: DMat3,
    /// Sum of their way times their velocity, as seen from it [m²/s].
    turning: DVec3,
}

impl Kneading {
    /// Nothing yet.
    pub const NONE: Self = Self { stress: DMat3::ZERO, spread: DMat3::ZERO, turning: DVec3::ZERO };

    /// A neighbour at some way, with a velocity against it.
    pub fn meet(&mut self, way: DVec3, velocity: DVec3) {
        self.spread += way.length_squared() * DMat3::IDENTITY - outer(way, way);
        self.turning += way.cross(velocity);
    }

    /// How fast the neighbourhood turns [rad/s], by least squares; what only one neighbour says is not turned about the
    /// way to it.
    pub fn spin(&self, least_spread: f64) -> DVec3 {
        let size = self.spread.x_axis.x + self.spread.y_axis.y + self.spread.z_axis.z;
        if size <= f64::MIN_POSITIVE {
            return DVec3::ZERO;
        }
        let held = self.spread + size * least_spread * DMat3::IDENTITY;
        held.inverse() * self.turning
    }
}

/// Lets particles flow under the stress of the last step, and turn with what is around them:
/// [`SoftState::stretches`] follow.
pub fn flatten_particles(rest: &SoftRest, state: &mut SoftState, kneaded: &[Kneading], dt: f64) {
    for (index, p) in rest.primitives.iter().enumerate() {
        if !rest.objects[p.object].is_dough {
            continue;
        }
        let stretch = &mut state.stretches[index];
        if *stretch != DMat3::IDENTITY {
            let turn = DQuat::from_scaled_axis(dt * kneaded[index].spin(tolerances::LEAST_SPREAD));
            let turn = DMat3::from_quat(turn);
            *stretch = turn * *stretch * turn.transpose();
        }
        *stretch = flattened(&p.profile, *stretch, kneaded[index].stress, dt);
    }
}

/// The stretch of a particle after a step under the sum of force times place [N m].
fn flattened(profile: &FieldProfile, before: DMat3, stress: DMat3, dt: f64) -> DMat3 {
    let e = profile.thickness;
    let volume = 4.0 / 3.0 * std::f64::consts::PI * e * e * e;
    // Pressed from two sides the product is negative: compression is counted positive.
    let stress = stress * (-1.0 / volume);
    let stress = 0.5 * (stress + stress.transpose());
    let mean = (stress.x_axis.x + stress.y_axis.y + stress.z_axis.z) / 3.0;
    // What is drawn out necks and tears, and is not flattened: its particles would bridge the neck.
    if mean <= 0.0 {
        return before;
    }
    let uneven = stress - mean * DMat3::IDENTITY;
    // After von Mises: as large as a single pressure along one way.
    let size = (1.5 * frobenius_sq(&uneven)).sqrt();
    let beyond = size / (profile.stiffness * e) - tolerances::FLATTENS;
    // What is not finite is a step that is taken back.
    if !beyond.is_finite() || beyond <= 0.0 {
        return before;
    }
    let share = (dt * beyond / tolerances::FLATTEN_TIME).min(tolerances::MOST_FLATTENED);
    let way = DMat3::IDENTITY - uneven * (share / size);
    let after = way * before * way;
    let after = 0.5 * (after + after.transpose());
    // The same volume, whatever rounding and large steps do.
    let after = after * after.determinant().cbrt().recip();
    let (is, was) = (Flatness::of(&after), Flatness::of(&before));
    // Thinner or more oblong than that it may not become; rounder always.
    let thin = is.shortest < tolerances::THINNEST_PARTICLE.min(was.shortest);
    let oblong = is.oblong > tolerances::MOST_OBLONG.max(was.oblong);
    if thin || oblong { before } else { after }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_particle_that_is_pressed_beyond_its_yield_is_flattened_at_the_same_volume_and_stays_so() {
        let profile = FieldProfile {
            thickness: 0.05,
            support: 0.08,
            stiffness: 1e6,
            hardening: 0.0,
            level: 3e4,
        };
        let unit = 4.0 / 3.0 * std::f64::consts::PI * profile.thickness.powi(4) * profile.stiffness;
        let press = |before: DMat3, pressure: f64| {
            let stress = outer(DVec3::Y, DVec3::Y) * (-pressure * unit);
            flattened(&profile, before, stress, 1e-3)
        };
        assert_eq!(press(DMat3::IDENTITY, 0.9 * tolerances::FLATTENS), DMat3::IDENTITY, "elastic");
        assert_eq!(press(DMat3::IDENTITY, -5.0), DMat3::IDENTITY, "drawn out");
        let pressed = |s: DMat3, _: usize| press(s, 4.0 * tolerances::FLATTENS);
        let flat = (0..400).fold(DMat3::IDENTITY, pressed);
        assert!(flat.y_axis.y < 0.33 && flat.x_axis.x > 1.7, "{flat}");
        assert!(flat.y_axis.y >= tolerances::THINNEST_PARTICLE);
        assert!((flat.determinant() - 1.0).abs() < 1e-12);
        assert_eq!(press(flat, 0.0), flat, "let go, it stays");
        // Squeezed all around it becomes no thorn.
        let around = (DMat3::IDENTITY - outer(DVec3::Y, DVec3::Y)) * (-unit);
        let long = (0..400).fold(DMat3::IDENTITY, |s, _| flattened(&profile, s, around, 1e-3));
        assert!(long.y_axis.y > 1.2 && long.y_axis.y < 1.6, "{long}");
    }

    #[test]
    fn stretches_of_a_turned_ellipsoid_are_its_half_axes() {
        let turn = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.4, -0.9, 0.3)));
        let axes = DMat3::from_diagonal(DVec3::new(0.5, 1.6, 1.25));
        let shape = Shape::of(turn * axes * turn.transpose());
        assert!((shape.longest - 1.6).abs() < 1e-12 && (shape.shortest - 0.5).abs() < 1e-12);
        // What lies on it is as far as the surface of the ball.
        let on = turn * axes * DVec3::new(0.6, 0.0, 0.8);
        assert!(((shape.metric * on).length() - 1.0).abs() < 1e-12);
        assert!(Shape::of(DMat3::IDENTITY).is_round());
    }
}
