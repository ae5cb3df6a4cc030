//! How weights fall off: over the depth of the flesh, and along the bone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::Animated;

/// How the swing grows with the depth of flesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShapeCurve {
    /// In proportion to the depth.
    #[default]
    Constant,
    /// With its square: deep flesh swings much more than shallow flesh.
    Linear,
    /// Own curve: `[depth / greatest depth, factor]` pairs, factors from 0 to 1.
    Keys(Vec<(f64, f64)>),
}

/// How the swing fades along the bone; the position runs from -1 (far end) to 1 (`from`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Attenuation {
    /// Smooth bell, flat at both ends and in the middle.
    #[default]
    Bell,
    /// `1 - y²`.
    Parabola,
    /// Own curve: `[position, factor]` pairs, factors from 0 to 1.
    Keys(Vec<(f64, f64)>),
}

impl ShapeCurve {
    /// Factor for a relative depth of flesh in [0, 1].
    #[must_use]
    pub fn at(&self, depth: f32) -> f32 {
        match self {
            Self::Constant => 1.0,
            Self::Linear => depth,
            Self::Keys(keys) => Animated::Keys(keys.clone()).at(f64::from(depth)) as f32,
        }
    }
}

impl Attenuation {
    /// Factor at a position along the bone; 0 outside [-1, 1].
    #[must_use]
    pub fn at(&self, y: f32) -> f32 {
        if !(-1.0..=1.0).contains(&y) {
            return 0.0;
        }
        let y_sq = y * y;
        match self {
            Self::Bell => bell(y_sq),
            Self::Parabola => 1.0 - y_sq,
            Self::Keys(keys) => Animated::Keys(keys.clone()).at(f64::from(y)) as f32,
        }
    }
}

/// `1 + (-4 y^6 + 17 y^4 - 22 y^2) / 9`: 1 at 0, 0 at ±1, flat at all three.
fn bell(y_sq: f32) -> f32 {
    (1.0 + y_sq * (-22.0 + y_sq * (17.0 - 4.0 * y_sq)) / 9.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bell_is_flat_at_its_ends_and_top() {
        let b = |y: f32| Attenuation::Bell.at(y);
        assert_eq!([b(-1.0), b(0.0), b(1.0), b(1.01), b(-7.0)], [0.0, 1.0, 0.0, 0.0, 0.0]);
        let slope = |y: f32| (b(y + 1e-3) - b(y - 1e-3)) / 2e-3;
        assert!(slope(0.0).abs() < 1e-4);
        assert!((b(0.999) / 1e-3).abs() < 0.01 && (b(-0.999) / 1e-3).abs() < 0.01);
        assert!((0..100).all(|i| b(i as f32 / 100.0) >= b((i + 1) as f32 / 100.0)));
    }
}
