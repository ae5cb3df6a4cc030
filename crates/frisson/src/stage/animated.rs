//! A parameter that is a constant or a key-framed curve.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A number, or keys `[[frame, value], …]` joined by straight lines and held at both ends.
///
/// A `#[schemars(range(…))]` on a field of this type holds for the constant and for every key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Animated {
    /// The same at every frame.
    Constant(f64),
    /// `[frame, value]` pairs, ascending in frame.
    Keys(Vec<(f64, f64)>),
}

/// Written by hand because a range on a field is only kept where the schema itself says `number`.
impl JsonSchema for Animated {
    fn schema_name() -> Cow<'static, str> {
        "Animated".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "array"],
            "x-animated": true,
            "items": {
                "type": "array",
                "prefixItems": [{ "type": "number" }, { "type": "number" }],
                "minItems": 2,
                "maxItems": 2,
            },
        })
    }
}

impl Default for Animated {
    fn default() -> Self {
        Self::Constant(0.0)
    }
}

impl From<f64> for Animated {
    fn from(value: f64) -> Self {
        Self::Constant(value)
    }
}

impl Animated {
    /// Value at a frame, which need not be whole.
    #[must_use]
    pub fn at(&self, frame: f64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Keys(keys) => interpolate(keys, frame),
        }
    }

    /// Every value it is given, for range checks.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let (constant, keys) = match self {
            Self::Constant(value) => (Some(*value), [].as_slice()),
            Self::Keys(keys) => (None, keys.as_slice()),
        };
        constant.into_iter().chain(keys.iter().map(|&(_, value)| value))
    }

    /// Whether it is finite, has at least one key, and its frames ascend.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        let ascending = match self {
            Self::Constant(_) => true,
            Self::Keys(keys) => {
                !keys.is_empty()
                    && keys.iter().all(|k| k.0.is_finite())
                    && keys.windows(2).all(|w| w[0].0 < w[1].0)
            }
        };
        ascending && self.values().all(f64::is_finite)
    }
}

fn interpolate(keys: &[(f64, f64)], frame: f64) -> f64 {
    let after = keys.partition_point(|k| k.0 <= frame);
    match (after.checked_sub(1).map(|i| keys[i]), keys.get(after)) {
        // No keys: refused by `is_well_formed`, but what is asked before that must have an answer.
        (None, None) => 0.0,
        (None, Some(first)) => first.1,
        (Some(last), None) => last.1,
        (Some(a), Some(b)) => a.1 + (frame - a.0) / (b.0 - a.0) * (b.1 - a.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_interpolate_and_hold() {
        let a = Animated::Keys(vec![(10.0, 1.0), (20.0, 3.0)]);
        assert_eq!([a.at(0.0), a.at(10.0), a.at(15.0), a.at(99.0)], [1.0, 1.0, 2.0, 3.0]);
        assert_eq!(Animated::Constant(4.0).at(7.0), 4.0);
        assert!(!Animated::Keys(vec![(2.0, 0.0), (1.0, 0.0)]).is_well_formed());
        assert!(!Animated::Keys(vec![]).is_well_formed());
    }
}
