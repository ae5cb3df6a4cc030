//! Parts of the cloth that differ from the rest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::Selection;

/// A part of the cloth with another fabric. Where the weight of a vertex is between 0 and 1, so is the change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothRegion {
    /// Vertices of the part, by painted weight.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Region"))]
    pub vertices: Selection,
    /// How many times stiffer in stretch [-].
    #[serde(default = "one")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.01, 100.0], "x-log" = true, "x-group" = "Region"))]
    pub stretch: f64,
    /// How many times stiffer in bending [-].
    #[serde(default = "one")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.01, 100.0], "x-log" = true, "x-group" = "Region"))]
    pub bend: f64,
    /// How many times heavier [-].
    #[serde(default = "one")]
    #[schemars(range(min = 1e-3, max = 1e3))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.1, 10.0], "x-log" = true, "x-group" = "Region"))]
    pub weight: f64,
    /// How many times as long its threads are at rest [-]: less than 1 and it shrinks (an elastic waist, wool in
    /// the wash), more and it lies in folds (ruffles).
    #[serde(default = "one")]
    #[schemars(range(min = 0.05, max = 10.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.5, 2.0], "x-log" = true, "x-group" = "Region"))]
    pub size: f64,
    /// How many times thicker, for what it touches [-]: padding, a hem, fur.
    #[serde(default = "one")]
    #[schemars(range(min = 0.01, max = 100.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.1, 10.0], "x-log" = true, "x-group" = "Region"))]
    pub thickness: f64,
}

fn one() -> f64 {
    1.0
}

impl ClothRegion {
    /// What it changes, by name.
    #[must_use]
    pub fn factors(&self) -> [(&'static str, f64); 5] {
        [
            ("stretch", self.stretch),
            ("bend", self.bend),
            ("weight", self.weight),
            ("size", self.size),
            ("thickness", self.thickness),
        ]
    }

    /// A part as the rest of the cloth is.
    #[must_use]
    pub fn new(vertices: Selection) -> Self {
        let one = one();
        Self { vertices, stretch: one, bend: one, weight: one, size: one, thickness: one }
    }
}
