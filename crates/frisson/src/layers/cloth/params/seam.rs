//! Seams that stiffen the cloth, and lines that are sewn together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::Selection;

/// A line along which the cloth is doubled: heavier and stiffer in bending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothSeam {
    /// Vertices along the seam.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Seam"))]
    pub vertices: Selection,
    /// How many times stiffer in bending the cloth is there [-]. Two layers sewn together have eight
    /// times the rigidity of one.
    #[serde(default = "default_seam_bend")]
    #[schemars(range(min = 0.0, max = 1e6))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [1.0, 1000.0],
        "x-log" = true,
        "x-group" = "Seam"
    ))]
    pub bend: f64,
    /// How many times heavier the cloth is there [-].
    #[serde(default = "default_seam_weight")]
    #[schemars(range(min = 1e-3, max = 1e3))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [0.5, 10.0],
        "x-log" = true,
        "x-group" = "Seam"
    ))]
    pub weight: f64,
}

fn default_seam_bend() -> f64 {
    8.0
}

fn default_seam_weight() -> f64 {
    2.0
}

/// Two borders of the cloth that are sewn together. They may have different numbers of vertices; the way
/// round is that in which they lie nearer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothSewing {
    /// Vertices along the one border.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Sewing"))]
    pub from: Selection,
    /// Vertices along the other.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Sewing"))]
    pub to: Selection,
    /// Time in which the seam closes, from the start of the simulation on [s].
    #[serde(default = "default_close")]
    #[schemars(range(min = 0.0, max = 60.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 2.0], "x-group" = "Sewing"))]
    pub close: f64,
}

fn default_close() -> f64 {
    0.5
}
