//! All that evolves: nothing moves by itself here, only what the report shows is kept.

use serde::{Deserialize, Serialize};

/// What a resumed bake must know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoldsState {
    /// Mean factor of each fold at the last step.
    pub factors: Vec<f64>,
}
