//! The crate format's coding of integers: differences, the most frequent one for free, LZ4 on top.
//!
//! ```text
//! common(4) | 2 bits per number: 0 common, 1 one byte, 2 two bytes, 3 four bytes | the bytes
//! ```

use std::collections::BTreeMap;

/// Codes and compresses; the result starts without its size.
pub(super) fn encode(values: &[i32]) -> Vec<u8> {
    let mut last = 0_i32;
    let differences = values.iter().map(|&value| {
        let difference = value.wrapping_sub(last);
        last = value;
        difference
    });
    let differences: Vec<i32> = differences.collect();
    let common = most_frequent(&differences);
    let mut out = common.to_le_bytes().to_vec();
    out.resize(4 + values.len().div_ceil(4), 0);
    for (index, &difference) in differences.iter().enumerate() {
        let code = match difference {
            d if d == common => 0,
            d if i8::try_from(d).is_ok() => 1,
            d if i16::try_from(d).is_ok() => 2,
            _ => 3,
        };
        out[4 + index / 4] |= code << (2 * (index % 4));
        let size = [0, 1, 2, 4][usize::from(code)];
        out.extend(&difference.to_le_bytes()[..size]);
    }
    compress(&out)
}

fn most_frequent(values: &[i32]) -> i32 {
    let mut counts = BTreeMap::new();
    for &value in values {
        *counts.entry(value).or_insert(0_u32) += 1;
    }
    // In a sorted map: which of two equally frequent ones is taken does not depend on a hash.
    counts.into_iter().max_by_key(|&(_, count)| count).map_or(0, |(value, _)| value)
}

/// LZ4 as the crate format wants it: a leading zero says that there is one chunk.
pub(super) fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0];
    out.extend(lz4_flex::block::compress(bytes));
    out
}

#[cfg(test)]
pub(super) fn decode(bytes: &[u8], count: usize) -> Vec<i32> {
    assert_eq!(bytes[0], 0);
    let raw = lz4_flex::block::decompress(&bytes[1..], 4 + count.div_ceil(4) + 4 * count).unwrap();
    let common = i32::from_le_bytes(raw[..4].try_into().unwrap());
    let mut at = 4 + count.div_ceil(4);
    let mut last = 0_i32;
    let numbers = (0..count).map(|index| {
        let difference = match raw[4 + index / 4] >> (2 * (index % 4)) & 3 {
            0 => common,
            1 => {
                at += 1;
                i32::from(raw[at - 1] as i8)
            }
            2 => {
                at += 2;
                i32::from(i16::from_le_bytes([raw[at - 2], raw[at - 1]]))
            }
            _ => {
                at += 4;
                i32::from_le_bytes(raw[at - 4..at].try_into().unwrap())
            }
        };
        last = last.wrapping_add(difference);
        last
    });
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_coded_is_decoded(
            values in proptest::collection::vec(
                prop_oneof![-3..3_i32, -200..200_i32, any::<i32>()], 0..60),
        ) {
            prop_assert_eq!(decode(&encode(&values), values.len()), values);
        }
    }

    #[test]
    fn regular_steps_cost_almost_nothing() {
        let values: Vec<i32> = (0..10_000).map(|i| 3 * i).collect();
        assert!(encode(&values).len() < 100);
    }
}
