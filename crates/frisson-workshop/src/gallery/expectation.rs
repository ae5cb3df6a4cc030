//! What a scene promises, and what became of it.

use serde::{Deserialize, Serialize};

/// What became of an expectation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    #[default]
    Holds,
    /// It does not.
    Fails,
    /// It does not, which is known; the reason.
    Known(String),
}

/// One expectation of a scene, ready to be shown: whoever judges a bake fills these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation {
    /// The sentence under the picture that it stands for.
    pub why: String,
    /// What was measured, on which shape, over which frames.
    pub measure: String,
    /// What it should be, in words: `at most 0.2 mm`.
    pub wanted: String,
    /// What it is, with its unit.
    pub value: String,
    /// What became of it.
    pub verdict: Verdict,
}

impl Expectation {
    /// The row of a table: mark, why, measure, wanted, value.
    #[must_use]
    pub fn cells(&self) -> [String; 5] {
        let (mark, why) = match &self.verdict {
            Verdict::Holds => ("✓", self.why.clone()),
            Verdict::Fails => ("✗ fails", self.why.clone()),
            Verdict::Known(reason) => ("✗ known", format!("{} (known: {reason})", self.why)),
        };
        [mark.to_owned(), why, self.measure.clone(), self.wanted.clone(), self.value.clone()]
    }

    /// The class of its row on a page.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self.verdict {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::Known(_) => "known",
        }
    }
}
