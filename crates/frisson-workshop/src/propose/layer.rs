//! A layer that is proposed: its text, why, and whether it is on.

use std::fmt::Write as _;

use serde::Serialize;

/// A layer that is proposed for a character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposed {
    /// Name of the layer.
    pub name: String,
    /// Why, and what to know about it, in a few lines.
    pub why: String,
    /// The layer as it stands in a scene file, from `[[layers]]` on.
    pub text: String,
    /// Whether the scene holds it, or only as a comment.
    pub is_on: bool,
}

impl Proposed {
    /// One that is a comment unless somebody asks for it.
    pub fn off(name: impl Into<String>, why: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), why: why.into(), text: text.into(), is_on: false }
    }

    /// Writes it into a scene file: reasons as comments, and so the layer itself where it is off.
    pub fn write(&self, out: &mut String) {
        out.push('\n');
        for line in self.why.lines() {
            let _ = writeln!(out, "# {line}");
        }
        for line in self.text.lines() {
            let mark = if self.is_on { "" } else { "# " };
            let _ = writeln!(out, "{mark}{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_is_a_comment_until_it_is_on() {
        let mut layer = Proposed::off("cape", "It hangs.", "[[layers]]\ncloth = {}");
        let mut text = String::new();
        layer.write(&mut text);
        assert_eq!(text, "\n# It hangs.\n# [[layers]]\n# cloth = {}\n");
        layer.is_on = true;
        text.clear();
        layer.write(&mut text);
        assert_eq!(text, "\n# It hangs.\n[[layers]]\ncloth = {}\n");
    }
}
