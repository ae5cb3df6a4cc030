//! What is still to be visited on the way through a tree.

/// Entries that need no allocation: trees of a million triangles are some 40 deep, and a level leaves one entry.
const NEAR: usize = 64;

/// A stack that only allocates on absurdly deep trees.
pub(super) struct Stack {
    near: [(u32, f32); NEAR],
    count: usize,
    far: Vec<(u32, f32)>,
}

impl Default for Stack {
    fn default() -> Self {
        Self { near: [(0, 0.0); NEAR], count: 0, far: Vec::new() }
    }
}

impl Stack {
    pub(super) fn push(&mut self, item: (u32, f32)) {
        if self.count < self.near.len() {
            self.near[self.count] = item;
            self.count += 1;
        } else {
            self.far.push(item);
        }
    }

    pub(super) fn pop(&mut self) -> Option<(u32, f32)> {
        if let Some(item) = self.far.pop() {
            return Some(item);
        }
        self.count = self.count.checked_sub(1)?;
        Some(self.near[self.count])
    }
}
