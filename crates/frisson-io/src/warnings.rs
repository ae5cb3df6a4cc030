//! Warnings, each once, the first of them in full.

use std::collections::BTreeSet;

/// A list that a hundred thousand warnings do not flood: equal ones count once, and beyond a number
/// only the count goes on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warnings {
    list: Vec<String>,
    seen: BTreeSet<String>,
    most: usize,
    omitted: usize,
}

impl Warnings {
    /// Empty; lists at most `most`.
    pub fn new(most: u64) -> Self {
        Self { most: usize::try_from(most).unwrap_or(usize::MAX), ..Self::default() }
    }

    /// Adds a warning unless it is there.
    pub fn add(&mut self, warning: String) {
        if self.list.len() < self.most {
            if self.seen.insert(warning.clone()) {
                self.list.push(warning);
            }
        } else if !self.seen.contains(&warning) {
            // Not remembered, so that memory does not grow: equal ones may count twice.
            self.omitted += 1;
        }
    }

    /// What to show.
    pub fn into_list(mut self) -> Vec<String> {
        if self.omitted > 0 {
            self.list.push(format!("{} more warnings are not listed", self.omitted));
        }
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_once_and_the_rest_counted() {
        let mut warnings = Warnings::new(2);
        for text in ["a", "b", "a", "c", "b", "d"] {
            warnings.add(text.to_owned());
        }
        assert_eq!(warnings.into_list(), ["a", "b", "2 more warnings are not listed"]);
    }
}
