//! Symmetric positive definite systems whose rows reach back but a little: factored once, solved often.
//!
//! Each row keeps what lies between its first entry and the diagonal (its "skyline"), and the factors
//! `A = L D Lᵀ` fit into the same room. Rows that are numbered along a band have short ones.
//!
//! ```text
//!   x                  row k is stored from first[k] to k
//!   x x
//!     x x
//!     x o x            o: zero in A, filled in by L
//! ```

use glam::DVec3;

/// A factored matrix.
#[derive(Clone, Debug, Default)]
pub struct Skyline {
    /// First column of each row.
    first: Vec<u32>,
    /// Start of each row in `entries`; the diagonal is its last.
    starts: Vec<usize>,
    entries: Vec<f64>,
}

impl Skyline {
    /// Room for rows that begin at the columns `first`, each at most its own number; all zero.
    #[must_use]
    pub fn new(first: Vec<u32>) -> Self {
        let mut starts = Vec::with_capacity(first.len() + 1);
        starts.push(0);
        for (row, &column) in first.iter().enumerate() {
            starts.push(starts[row] + row + 1 - (column as usize).min(row));
        }
        let entries = vec![0.0; starts[first.len()]];
        Self { first, starts, entries }
    }

    /// Entries that rows beginning at the columns `first` take.
    #[must_use]
    pub fn room(first: &[u32]) -> usize {
        first.iter().enumerate().map(|(row, &column)| row + 1 - (column as usize).min(row)).sum()
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Whether it has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.entries[self.starts[row]..self.starts[row + 1]]
    }

    /// Adds to an entry; `column` is not beyond `row`, nor before the row's first.
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        let at = self.starts[row] + column - self.first[row] as usize;
        self.entries[at] += value;
    }

    /// Factors the matrix in place. False where it is not positive definite.
    pub fn factor(&mut self) -> bool {
        // Row by row (Cholesky-Crout without roots): everything a row needs lies before it in memory, so that one
        // split of the entries gives both sides.
        for row in 0..self.len() {
            let begin = self.first[row] as usize;
            let (done, rest) = self.entries.split_at_mut(self.starts[row]);
            let mine = &mut rest[..row + 1 - begin];
            for column in begin..row {
                let other = self.first[column] as usize;
                // Columns before either row's first entry are zero in A, and stay zero in L.
                let from = begin.max(other);
                let theirs = &done[self.starts[column]..self.starts[column + 1]];
                let pairs = mine[from - begin..column - begin].iter().zip(&theirs[from - other..]);
                let sum: f64 = pairs.map(|(a, b)| a * b).sum();
                mine[column - begin] -= sum;
            }
            // So far the row holds L D: what is left of the diagonal, and L itself.
            let mut left = mine[row - begin];
            for column in begin..row {
                let scaled = mine[column - begin];
                let factor = scaled / done[self.starts[column + 1] - 1];
                mine[column - begin] = factor;
                left -= scaled * factor;
            }
            mine[row - begin] = left;
            // NaN fails every comparison, and must be refused as well.
            if left.is_nan() || left <= 0.0 {
                return false;
            }
        }
        true
    }

    /// Replaces the right-hand side by the solution; the matrix must have been factored.
    pub fn solve(&self, x: &mut [DVec3]) {
        // L y = b forwards, then D, then the transpose of L backwards.
        for row in 0..self.len() {
            let begin = self.first[row] as usize;
            // The row's last entry is the diagonal, D: `zip` ends before it.
            let pairs = self.row(row).iter().zip(&x[begin..row]);
            let sum = pairs.fold(DVec3::ZERO, |sum, (l, x)| sum + *x * *l);
            x[row] -= sum;
        }
        for (row, x) in x.iter_mut().enumerate().take(self.len()) {
            *x /= self.entries[self.starts[row + 1] - 1];
        }
        // Rows of L are columns of its transpose: what is known is taken from all before it at once.
        for row in (0..self.len()).rev() {
            let (begin, own) = (self.first[row] as usize, x[row]);
            for (x, l) in x[begin..row].iter_mut().zip(self.row(row)) {
                *x -= own * *l;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of springs, each node also tied to the one three before it and to the ground.
    fn entries(count: usize) -> Vec<(usize, usize, f64)> {
        let mut all: Vec<_> = (0..count).map(|k| (k, k, 5.0 + k as f64 % 3.0)).collect();
        all.extend((1..count).map(|k| (k, k - 1, -1.0)));
        all.extend((3..count).map(|k| (k, k - 3, 0.5 - 0.1 * k as f64 % 1.0)));
        all
    }

    #[test]
    fn what_is_solved_gives_the_right_hand_side_again() {
        let count = 40;
        let first: Vec<u32> = (0..count as u32).map(|k| k.saturating_sub(3)).collect();
        let mut matrix = Skyline::new(first.clone());
        assert_eq!(Skyline::room(&first), matrix.entries.len());
        entries(count).iter().for_each(|&(row, column, value)| matrix.add(row, column, value));
        assert!(matrix.factor());
        let right = |k: usize| DVec3::new((k as f64).sin(), 1.0, k as f64);
        let mut x: Vec<DVec3> = (0..count).map(right).collect();
        matrix.solve(&mut x);
        let mut product = vec![DVec3::ZERO; count];
        for (row, column, value) in entries(count) {
            product[row] += x[column] * value;
            if row != column {
                product[column] += x[row] * value;
            }
        }
        for (k, found) in product.iter().enumerate() {
            assert!((*found - right(k)).length() < 1e-12, "row {k}: {found} for {}", right(k));
        }
    }

    #[test]
    fn what_is_not_positive_is_refused() {
        let mut matrix = Skyline::new(vec![0, 0]);
        matrix.add(0, 0, 1.0);
        matrix.add(1, 0, 2.0);
        matrix.add(1, 1, 1.0);
        assert!(!matrix.factor());
        assert!(Skyline::new(Vec::new()).factor());
    }
}
