//! Garments that are simulated together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::Selection;

/// Another mesh in the same cloth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothCompanion {
    /// Mesh that is simulated with it: `actor`, or `actor/mesh` when the actor has several.
    #[schemars(extend("x-change" = "restart", "x-group" = "Garment"))]
    pub on: String,
    /// Vertices of it that follow it as it comes in; its own region `pins` by default, if it has one.
    #[serde(default)]
    #[schemars(extend("x-change" = "restart", "x-group" = "Garment"))]
    pub pins: Option<Selection>,
}
