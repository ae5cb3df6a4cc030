//! Counter-based random numbers: a value is a pure function of (seed, id, counter), so it does not
//! depend on the order in which elements are visited, nor on the number of threads.

/// Mixes three words into one well-distributed 64-bit word (two rounds of the SplitMix64 finaliser,
/// whose avalanche is full: every input bit flips every output bit with probability 1/2).
#[must_use]
pub fn hash(seed: u64, id: u64, counter: u64) -> u64 {
    // Constants first: the finaliser maps 0 to 0, and seed, id and counter often are 0.
    let first = finalise(seed ^ finalise(id.wrapping_add(0x9E37_79B9_7F4A_7C15)));
    finalise(first ^ finalise(counter.wrapping_add(0xD1B5_4A32_D192_ED03)))
}

fn finalise(mut z: u64) -> u64 {
    // Multipliers and shifts are David Stafford's "variant 13", which SplitMix64 uses.
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Mixes one more word into a hash: for keys of several parts that share their first ones.
#[must_use]
pub fn chain(key: u64, word: u64) -> u64 {
    // Turned, so that small words do not meet the bits of small keys.
    finalise(key.rotate_left(23) ^ word.wrapping_add(0x9E37_79B9_7F4A_7C15))
}

/// Uniform in [0, 1), all 53 bits used.
#[must_use]
pub fn uniform(seed: u64, id: u64, counter: u64) -> f64 {
    // 64 - 11 = 53 bits are what an f64 holds exactly: a conversion of all 64 could round up to 1.
    (hash(seed, id, counter) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Uniform in [-1, 1).
#[must_use]
pub fn signed(seed: u64, id: u64, counter: u64) -> f64 {
    2.0 * uniform(seed, id, counter) - 1.0
}

/// Standard normal, by Box-Muller on two counters (`2 counter` and `2 counter + 1`).
#[must_use]
pub fn gaussian(seed: u64, id: u64, counter: u64) -> f64 {
    // In (0, 1]: the logarithm of zero is not a number to draw.
    let u = 1.0 - uniform(seed, id, counter.wrapping_mul(2));
    let v = uniform(seed, id, counter.wrapping_mul(2).wrapping_add(1));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_match_the_distributions() {
        let n = 100_000u64;
        let mean = (0..n).map(|i| uniform(7, i, 0)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 5e-3, "{mean}");
        let variance = (0..n).map(|i| gaussian(7, 3, i).powi(2)).sum::<f64>() / n as f64;
        assert!((variance - 1.0).abs() < 2e-2, "{variance}");
    }

    #[test]
    fn ids_and_counters_are_independent() {
        let n = 50_000u64;
        let product = |a: fn(u64) -> f64, b: fn(u64) -> f64| {
            (0..n).map(|i| a(i) * b(i)).sum::<f64>() / n as f64
        };
        assert!(product(|i| signed(1, i, 0), |i| signed(1, i, 1)).abs() < 1e-2);
        assert!(product(|i| signed(1, i, 0), |i| signed(1, i + 1, 0)).abs() < 1e-2);
        assert!(product(|i| signed(1, i, 0), |i| signed(2, i, 0)).abs() < 1e-2);
    }
}
