//! What holds the cloth beside its pins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::{Animated, LayerError, Selection};

/// Vertices held by something. Give one of `surface`, `joint` or `path`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClothAttachment {
    /// Which vertices of the cloth.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Held by"))]
    pub vertices: Selection,
    /// Mesh that carries them: each stays at its place over the nearest triangle.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Held by"))]
    pub surface: Option<String>,
    /// Joint that carries them, as `actor/joint`.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Held by"))]
    pub joint: Option<String>,
    /// Key-framed displacement from where they start, x, y and z [m].
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Held by"))]
    pub path: Option<[Animated; 3]>,
    /// Frame from which they are held.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Time"))]
    pub from_frame: Option<f64>,
    /// Frame at which they are let go.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Time"))]
    pub until_frame: Option<f64>,
    /// Makes a `surface` sticky: a vertex is caught when it comes this near [m].
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 0.1], "x-group" = "Sticky"))]
    pub stick_within: Option<f64>,
    /// … and let go when it is pulled this far from where it was caught [m].
    #[schemars(range(min = 0.0, max = 10.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 1.0], "x-group" = "Sticky"))]
    pub release_beyond: Option<f64>,
}

impl ClothAttachment {
    pub(super) fn validate(&self, index: usize) -> Result<(), LayerError> {
        let field = |key: &str| format!("attachments[{index}].{key}");
        let kinds = [self.surface.is_some(), self.joint.is_some(), self.path.is_some()];
        if kinds.iter().filter(|k| **k).count() != 1 {
            let problem = "give exactly one of `surface`, `joint` and `path`";
            return Err(LayerError::parameter(field("surface"), problem));
        }
        if self.stick_within.is_some() && self.surface.is_none() {
            let problem = "only a `surface` can be sticky";
            return Err(LayerError::parameter(field("stick_within"), problem));
        }
        if self.release_beyond.is_some() && self.stick_within.is_none() {
            let problem = "give `stick_within` too: only what sticks is released";
            return Err(LayerError::parameter(field("release_beyond"), problem));
        }
        if self.path.iter().flatten().any(|a| !a.is_well_formed()) {
            let problem = "keys must be finite, in ascending frames";
            return Err(LayerError::parameter(field("path"), problem));
        }
        Ok(())
    }
}
