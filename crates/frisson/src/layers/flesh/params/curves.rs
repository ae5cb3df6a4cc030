//! How weights fall off: over the depth of the flesh, and along the bone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::math::bell::bell;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_ends_of_the_bone_nothing_swings() {
        for curve in [Attenuation::Bell, Attenuation::Parabola] {
            assert_eq!([0.0, 1.01, -7.0, f32::NAN].map(|y| curve.at(y)), [1.0, 0.0, 0.0, 0.0]);
        }
    }
}
