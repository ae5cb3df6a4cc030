//! Parts of bodies that stay outside of a garment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::Selection;

/// A body, or part of one, that is beside the garment and never between it and what it is worn on: arms beside a skirt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothBeside {
    /// Which of `bodies`.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Contact"))]
    pub body: String,
    /// Vertices of it; all of them by default.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Contact"))]
    pub vertices: Option<Selection>,
}
