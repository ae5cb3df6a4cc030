//! Names that a format accepts, each used once.

use std::collections::{BTreeMap, BTreeSet};

/// What a format accepts in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// Anything but slashes and control characters (Alembic, file names).
    Plain,
    /// Letters, digits and underscores, no digit first (USD).
    Identifier,
}

/// Longest name [characters]: some become file names, which have 255 bytes at most, of which a
/// character takes up to four only in scripts whose words are short.
const LONGEST: usize = 60;

impl NameRule {
    fn clean(self, name: &str) -> String {
        let clean = name.chars().map(|c| match self {
            Self::Plain if c.is_control() || "/\\:*?\"<>|;=".contains(c) => '_',
            Self::Identifier if !(c.is_ascii_alphanumeric() || c == '_') => '_',
            _ => c,
        });
        let clean: String = clean.take(LONGEST).collect();
        match clean.chars().next() {
            None => "shape".to_owned(),
            Some(c) if self == Self::Identifier && c.is_ascii_digit() => format!("_{clean}"),
            // Names that begin with a dot are hidden files.
            Some('.') if self == Self::Plain => clean.replacen('.', "_", 1),
            _ => clean,
        }
    }
}

/// Gives every shape of a shot its name in the file.
pub(crate) struct Names {
    rule: NameRule,
    given: BTreeMap<String, String>,
    used: BTreeSet<String>,
    /// The number to try next: ten thousand names that come out equal take ten thousand tries.
    next: BTreeMap<String, usize>,
}

impl Names {
    pub(crate) fn new(rule: NameRule) -> Self {
        Self { rule, given: BTreeMap::new(), used: BTreeSet::new(), next: BTreeMap::new() }
    }

    /// The file's name for `name`; the same every time it is asked, different for different names.
    pub(crate) fn get(&mut self, name: &str) -> String {
        if let Some(given) = self.given.get(name) {
            return given.clone();
        }
        let unique = self.fresh(name);
        self.given.insert(name.to_owned(), unique.clone());
        unique
    }

    /// A name like `name` that was not given before.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let clean = self.rule.clean(name);
        // Some hosts and file systems ignore case.
        let same = clean.to_lowercase();
        if self.used.insert(same.clone()) {
            return clean;
        }
        let number = self.next.entry(same).or_insert(2);
        loop {
            let unique = format!("{clean}_{number}");
            *number += 1;
            if self.used.insert(unique.to_lowercase()) {
                return unique;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_valid_and_stay_different() {
        let mut names = Names::new(NameRule::Identifier);
        assert_eq!(names.get("cat/body"), "cat_body");
        assert_eq!(names.get("cat body"), "cat_body_2");
        assert_eq!(names.get("cat/body"), "cat_body");
        assert_eq!(names.get("2 cats"), "_2_cats");
        assert_eq!(names.get(""), "shape");
        assert_eq!(names.get("Cat_Body"), "Cat_Body_3");
        assert_eq!(names.get("é"), "_");
        for number in 3..5000 {
            assert_eq!(names.fresh("ü"), format!("__{}", number - 1));
        }
        assert_eq!(names.get(&"long ".repeat(100)).len(), LONGEST);
        let mut plain = Names::new(NameRule::Plain);
        assert_eq!(plain.get("cat/bödy 1"), "cat_bödy 1");
        assert_eq!(plain.get("../x"), "_._x");
    }
}
