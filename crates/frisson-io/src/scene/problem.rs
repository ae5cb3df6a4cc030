//! What is wrong in a scene file, and where.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use crate::limits::Limits;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What.
    pub message: String,
    /// Bytes of the text it is about.
    pub span: Range<usize>,
    /// A few words to put at the caret.
    pub label: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    /// A problem at a place.
    #[must_use]
    pub fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Self { message: message.into(), span, label: "here".to_owned(), help: None }
    }

    /// Says what stands there.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A scene file with problems: everything needed to show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// The problems, in the order of the text; the first of them where there are very many.
    pub problems: Vec<Problem>,
    /// Problems that are not listed.
    pub omitted: usize,
}

impl SceneError {
    pub(super) fn new(path: PathBuf, text: String, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|p| (p.span.start, p.span.end));
        let most = usize::try_from(Limits::in_force().messages).unwrap_or(usize::MAX);
        let omitted = problems.len().saturating_sub(most);
        problems.truncate(most);
        Self { path, text, problems, omitted }
    }

    /// Line and column of a problem, both from 1; columns count characters.
    #[must_use]
    pub fn position(&self, problem: &Problem) -> (usize, usize) {
        position(&self.text, problem.span.start)
    }

    fn write_problem(&self, f: &mut fmt::Formatter<'_>, problem: &Problem) -> fmt::Result {
        let (line, column) = self.position(problem);
        let source = self.text.lines().nth(line - 1).unwrap_or("");
        let width = source.chars().count();
        let underlined = self
            .text
            .get(problem.span.clone())
            .map_or(1, |t| t.lines().next().unwrap_or("").chars().count())
            .clamp(1, (width + 1).saturating_sub(column - 1).max(1));
        let margin = " ".repeat(line.to_string().len());
        writeln!(f, "{}:{line}:{column}: {}", self.path.display(), problem.message)?;
        writeln!(f, " {line} | {source}")?;
        let indent: String =
            source.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        write!(f, " {margin} | {indent}{} {}", "^".repeat(underlined), problem.label)?;
        if let Some(help) = &problem.help {
            write!(f, "\n {margin} = help: {help}")?;
        }
        Ok(())
    }
}

/// Line and column of a byte, both from 1.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |n| n + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            self.write_problem(f, problem)?;
        }
        if self.omitted > 0 {
            write!(f, "\n{} more problems are not listed", self.omitted)?;
        }
        Ok(())
    }
}

impl std::error::Error for SceneError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_shows_file_line_column_the_line_and_a_caret() {
        let text = "é = 1\nfsp = 24\n".to_owned();
        let problem = Problem::new("unknown key `fsp`", 7..10).help("did you mean `fps`?");
        let error = SceneError::new("s.toml".into(), text, vec![problem]);
        assert_eq!(
            error.to_string(),
            "s.toml:2:1: unknown key `fsp`\n 2 | fsp = 24\n   | ^^^ here\n   = help: did you mean `fps`?"
        );
    }

    #[test]
    fn columns_count_characters_and_odd_spans_do_no_harm() {
        assert_eq!(position("é = x", 5), (1, 5));
        assert_eq!(position("é", 1), (1, 1));
        assert_eq!(position("ab\n", 99), (2, 1));
    }
}
