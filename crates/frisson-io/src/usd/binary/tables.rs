//! The tables at the end of the file, while they are gathered.

use std::collections::BTreeMap;

use super::codes::SpecKind;

/// Words, each once; values name them by number.
#[derive(Default)]
pub(super) struct Tokens {
    pub(super) index: BTreeMap<String, u32>,
    pub(super) all: Vec<String>,
}

impl Tokens {
    pub(super) fn get(&mut self, text: &str) -> u32 {
        if let Some(&index) = self.index.get(text) {
            return index;
        }
        let index = self.all.len() as u32;
        self.index.insert(text.to_owned(), index);
        self.all.push(text.to_owned());
        index
    }
}

/// Paths in depth-first order, with what links them.
#[derive(Default)]
pub(super) struct Paths {
    pub(super) index: BTreeMap<String, u32>,
    pub(super) elements: Vec<i32>,
    pub(super) jumps: Vec<i32>,
}

/// What stands at each path: its kind and its fields, equal sets of which are kept once.
#[derive(Default)]
pub(super) struct Specs {
    pub(super) fields: Vec<(u32, u64)>,
    pub(super) field_index: BTreeMap<(u32, u64), u32>,
    pub(super) field_sets: Vec<i32>,
    pub(super) paths: Vec<i32>,
    pub(super) set_starts: Vec<i32>,
    pub(super) kinds: Vec<i32>,
}

impl Specs {
    pub(super) fn add(&mut self, path: u32, kind: SpecKind, fields: &[(u32, u64)]) {
        self.paths.push(path as i32);
        self.set_starts.push(self.field_sets.len() as i32);
        self.kinds.push(kind as i32);
        for &field in fields {
            let next = self.fields.len() as u32;
            let index = *self.field_index.entry(field).or_insert(next);
            if index == next {
                self.fields.push(field);
            }
            self.field_sets.push(index as i32);
        }
        // The end of a set.
        self.field_sets.push(-1);
    }
}
