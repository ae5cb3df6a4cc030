//! Disjoint sets.

/// Disjoint sets; the smallest member stands for its set, so that the order of unions does not matter.
pub struct Groups(Vec<u32>);

impl Groups {
    /// Everyone alone.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    /// Who stands for the set of `v`.
    pub fn find(&mut self, mut v: u32) -> u32 {
        while self.0[v as usize] != v {
            self.0[v as usize] = self.0[self.0[v as usize] as usize];
            v = self.0[v as usize];
        }
        v
    }

    /// Makes one set of two.
    pub fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
