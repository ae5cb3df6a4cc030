//! All that evolves: nothing moves by itself here, only what the report shows is kept.

use serde::{Deserialize, Serialize};

/// What a resumed bake must know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrinklesState {
    /// Height of the highest fold of each tool at the last step [m], for the report.
    pub peaks: Vec<f64>,
    /// Missing length of each tool as a fraction of its full length, for the report.
    pub compressions: Vec<f64>,
}
