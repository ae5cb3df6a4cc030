//! What a scene promises, and what became of it.

use frisson_judge::{Held, Outcome};
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
    /// It was not measured in this run.
    Open,
}

/// One expectation of a scene, ready to be shown.
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
    /// From what the judge found.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        let verdict = match (outcome.held, &outcome.known) {
            (Held::Kept | Held::NoLongerKnown, _) => Verdict::Holds,
            (Held::Known, Some(reason)) => Verdict::Known(reason.clone()),
            _ => Verdict::Fails,
        };
        Self {
            why: outcome.why.clone(),
            measure: outcome.measured(),
            wanted: outcome.wanted(),
            value: outcome.found(),
            verdict,
        }
    }

    /// One that was left for another time.
    #[must_use]
    pub fn later(why: &str) -> Self {
        let value = "not in this run: `frisson check --bake`".to_owned();
        Self { why: why.to_owned(), value, verdict: Verdict::Open, ..Self::default() }
    }

    /// The row of a table: mark, why, measure, wanted, value.
    #[must_use]
    pub fn cells(&self) -> [String; 5] {
        let (mark, why) = match &self.verdict {
            Verdict::Holds => ("✓", self.why.clone()),
            Verdict::Fails => ("✗ fails", self.why.clone()),
            Verdict::Known(reason) => ("✗ known", format!("{} (known: {reason})", self.why)),
            Verdict::Open => ("·", self.why.clone()),
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
            Verdict::Open => "open",
        }
    }
}
