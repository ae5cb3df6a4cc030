//! Corrections of pieces that are becoming one.
//!
//! ```text
//!      A ~~w~~ B      every piece has a correction of its own (how much thicker it is drawn). While a weld takes
//!                     hold, those of both sides come closer; when they are drawn as one, both have the same
//! ```
//!
//! The corrections `c` are the least of `sum G (c - own)² + sum k (c_a - c_b)²`, with `k` from 0 (apart) to infinity
//! (one). At the end both are `(G_a own_a + G_b own_b) / (G_a + G_b)`, that of the two as one piece: nothing jumps.

/// A tie between two pieces that are not drawn as one yet: which, and how far they have come, 0 to 1 [-].
pub(super) type Tie = (u32, u32, f64);

/// Most that a tie has come before its ends are one [-]: beyond, the equations could not be told from singular ones.
const NEARLY_ONE: f64 = 1.0 - 1e-6;

/// Brings the corrections of pieces closer to each other, as far as their ties have come. Each has a weight: what it
/// changes by a unit of its correction.
pub(super) fn even_out(own: &mut [f64], weights: &[f64], ties: &[Tie]) {
    let mut tied: Vec<u32> = ties.iter().flat_map(|t| [t.0, t.1]).collect();
    tied.sort_unstable();
    tied.dedup();
    let count = tied.len();
    let mut rows = vec![vec![0.0; count + 1]; count];
    for (row, &piece) in tied.iter().enumerate() {
        // A piece that nothing can be said of follows the others.
        let weight = weights[piece as usize].max(f64::MIN_POSITIVE);
        rows[row][row] = weight;
        rows[row][count] = weight * own[piece as usize];
    }
    for &(a, b, come) in ties {
        let [i, j] = [a, b].map(|p| tied.partition_point(|t| *t < p));
        let come = come.clamp(0.0, NEARLY_ONE);
        let tie = weights[a as usize].min(weights[b as usize]) * come / (1.0 - come);
        rows[i][i] += tie;
        rows[j][j] += tie;
        rows[i][j] -= tie;
        rows[j][i] -= tie;
    }
    solve(&mut rows);
    for (row, &piece) in tied.iter().enumerate() {
        if rows[row][count].is_finite() {
            own[piece as usize] = rows[row][count];
        }
    }
}

/// Solves equations whose matrix is symmetric and positive, each with its right side at the end, which becomes the
/// unknown: by elimination, without a choice of pivots as such matrices need none.
fn solve(rows: &mut [Vec<f64>]) {
    let count = rows.len();
    for k in 0..count {
        let (above, below) = rows.split_at_mut(k + 1);
        let pivot = &above[k];
        for row in below {
            let share = row[k] / pivot[k];
            (k..=count).for_each(|c| row[c] -= share * pivot[c]);
        }
    }
    for k in (0..count).rev() {
        let known: f64 = (k + 1..count).map(|c| rows[k][c] * rows[c][count]).sum();
        rows[k][count] = (rows[k][count] - known) / rows[k][k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_of_tied_pieces_go_over_into_those_of_one() {
        let weights = [1.0, 3.0, 2.0, 5.0];
        let evened = |ties: &[Tie]| {
            let mut own = [0.4, -0.2, 0.1, 7.0];
            even_out(&mut own, &weights, ties);
            own
        };
        // Nothing is tied, or just begins to be.
        assert_eq!(evened(&[]), [0.4, -0.2, 0.1, 7.0]);
        let [a, b, c, d] = evened(&[(0, 1, 0.0)]);
        assert!((a - 0.4).abs() < 1e-12 && (b + 0.2).abs() < 1e-12 && c == 0.1 && d == 7.0);
        // Two that are one have what the sum of them lacks: (0.4 - 0.6) / 4.
        let [a, b, c, d] = evened(&[(1, 0, 1.0)]);
        assert!((a + 0.05).abs() < 1e-5 && (b + 0.05).abs() < 1e-5 && c == 0.1 && d == 7.0);
        // In a chain of which one tie is whole, the other ends see the two as one piece.
        let [a, b, c, _] = evened(&[(0, 1, 1.0), (1, 2, 0.5)]);
        let mut pair = [-0.05, 0.1];
        even_out(&mut pair, &[4.0, 2.0], &[(0, 1, 0.5)]);
        // The tie's strength is that of its weaker end, here the same.
        assert!((a - pair[0]).abs() < 1e-4 && (b - pair[0]).abs() < 1e-4);
        assert!((c - pair[1]).abs() < 1e-4, "{c} {pair:?}");
        // What all have together stays.
        let sum = |own: [f64; 4]| own.iter().zip(weights).map(|(o, w)| o * w).sum::<f64>();
        let ties = [(0, 1, 0.3), (1, 2, 0.9), (2, 0, 0.6)];
        assert!((sum(evened(&ties)) - sum(evened(&[]))).abs() < 1e-9);
    }
}
