//! All that evolves: full lengths that nobody knew in advance, and the planes of lines that are
//! followed.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::rest::WrinklesRest;
use crate::stage::SnapshotError;

/// What a resumed bake must know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrinklesState {
    /// Longest that each tool has been so far [m]; only kept for those whose full length grows.
    pub longest: Vec<f64>,
    /// Last good normal of each segment of each tool: what a degenerate plane falls back to. Only kept
    /// for tools whose region is found anew in every frame.
    pub planes: Vec<Vec<Vec3>>,
}

impl WrinklesState {
    /// Before anything has been seen.
    #[must_use]
    pub fn new(rest: &WrinklesRest) -> Self {
        Self {
            longest: rest.tools.iter().map(|t| t.full).collect(),
            planes: vec![Vec::new(); rest.tools.len()],
        }
    }

    /// Refuses a state of other tools.
    pub fn check_fit(&self, rest: &WrinklesRest) -> Result<(), SnapshotError> {
        let count = rest.tools.len();
        // From a file: a length that is not one would become heights that are not numbers.
        let sound = self.longest.iter().all(|l| l.is_finite() && *l >= 0.0);
        if self.longest.len() == count && self.planes.len() == count && sound {
            return Ok(());
        }
        let text = format!("it holds {} tools, the layer has {count}", self.longest.len());
        Err(SnapshotError(text))
    }
}
