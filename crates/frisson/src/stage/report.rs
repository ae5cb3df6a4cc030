//! What a layer measures about itself, frame by frame.

use serde::{Deserialize, Serialize};

/// One measured number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// What: `elongation`, `volume`, `mass emitted`, …
    pub name: String,
    /// Unit, as printed: `m`, `kg`, `-`.
    pub unit: String,
    /// Value at this frame.
    pub value: f64,
}

/// What one layer says about one frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LayerReport {
    /// Numbers, plotted over time in the bake report; same names and order every frame.
    pub measures: Vec<Measure>,
    /// Warnings for the person, each said once per bake.
    pub warnings: Vec<String>,
}

impl LayerReport {
    /// Adds a number.
    pub fn measure(&mut self, name: impl Into<String>, unit: &str, value: f64) {
        self.measures.push(Measure { name: name.into(), unit: unit.to_owned(), value });
    }

    /// Adds a warning.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }
}
