//! What is wrong, as the page shows it.

use frisson_io::scene::{Problem, SceneError, SceneFile};
use serde::Serialize;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trouble {
    /// Line of the text, from 1; 0 where it is about no line.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Trouble {
    /// About no line.
    #[must_use]
    pub fn said(message: impl Into<String>) -> Self {
        Self { line: 0, column: 0, message: message.into(), help: None }
    }

    /// At a place of a scene's text.
    #[must_use]
    pub fn at(scene: &SceneFile, problem: &Problem) -> Self {
        place(&scene.text, problem)
    }
}

fn place(text: &str, problem: &Problem) -> Trouble {
    let before = text.get(..problem.span.start).unwrap_or_default();
    Trouble {
        line: before.matches('\n').count() + 1,
        column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
        message: problem.message.clone(),
        help: problem.help.clone(),
    }
}

/// All that is wrong in a scene.
#[must_use]
pub fn troubles(error: &SceneError) -> Vec<Trouble> {
    error.problems.iter().map(|p| place(&error.text, p)).collect()
}
