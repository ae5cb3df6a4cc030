//! What is cut into pieces, so that each thread has some of its own.

/// One slice, or several side by side.
pub trait Cut: Send + Sized {
    /// The first `at` elements, and the others.
    fn cut(self, at: usize) -> (Self, Self);
}

impl<T: Send> Cut for &mut [T] {
    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

impl<T: Sync> Cut for &[T] {
    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }
}

impl<A: Cut, B: Cut> Cut for (A, B) {
    fn cut(self, at: usize) -> (Self, Self) {
        let (a, c) = self.0.cut(at);
        let (b, d) = self.1.cut(at);
        ((a, b), (c, d))
    }
}
