//! LZ4 and the crate format's coding of integers, unpacked.

use super::super::{Result, UsdError};

/// LZ4 cannot grow a byte to more than this many.
const LARGEST_GROWTH: usize = 255;

/// Unpacks at most `most` bytes.
pub(super) fn unpack(place: &str, packed: &[u8], most: usize) -> Result<Vec<u8>> {
    let cut = || UsdError::damaged(place, "packed data is cut short");
    let (&chunks, mut rest) = packed.split_first().ok_or_else(cut)?;
    if chunks == 0 {
        return unpack_block(place, rest, most);
    }
    let mut out = Vec::new();
    for _ in 0..chunks {
        let (size, tail) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
        let size = usize::try_from(i32::from_le_bytes(*size)).map_err(|_| cut())?;
        let (block, tail) = tail.split_at_checked(size).ok_or_else(cut)?;
        out.extend(unpack_block(place, block, most - out.len())?);
        rest = tail;
    }
    Ok(out)
}

fn unpack_block(place: &str, block: &[u8], most: usize) -> Result<Vec<u8>> {
    // No more memory than these bytes can fill, whatever they promise.
    let bound = most.min(block.len().saturating_mul(LARGEST_GROWTH).saturating_add(64));
    lz4_flex::block::decompress(block, bound)
        .map_err(|e| UsdError::damaged(place, format!("packed data cannot be unpacked ({e})")))
}

/// Unpacks `count` integers of `wide` (64 bits) or not (32 bits):
/// `common | 2 bits per number: 0 common, else which size | the differences`.
pub(super) fn unpack_integers(
    place: &str,
    packed: &[u8],
    count: usize,
    wide: bool,
) -> Result<Vec<i64>> {
    let (word, sizes) = if wide { (8, [0, 2, 4, 8]) } else { (4, [0, 1, 2, 4]) };
    let head = word + count.div_ceil(4);
    let raw = unpack(place, packed, count.saturating_mul(word).saturating_add(head))?;
    let cut =
        || UsdError::damaged(place, format!("{count} integers are promised, fewer are there"));
    let (head, mut rest) = raw.split_at_checked(head).ok_or_else(cut)?;
    let common = signed(&head[..word]);
    let mut out = Vec::with_capacity(count);
    let mut last = 0_i64;
    for index in 0..count {
        let code = usize::from(head[word + index / 4] >> (2 * (index % 4)) & 3);
        let (bytes, tail) = rest.split_at_checked(sizes[code]).ok_or_else(cut)?;
        rest = tail;
        let step = if code == 0 { common } else { signed(bytes) };
        last = last.wrapping_add(step);
        if !wide {
            last = i64::from(last as i32);
        }
        out.push(last);
    }
    Ok(out)
}

/// A number of 1 to 8 bytes with its sign.
fn signed(bytes: &[u8]) -> i64 {
    let mut word = [if bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 }; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::usd::integers::encode;

    proptest! {
        #[test]
        fn what_the_writer_packs_is_unpacked(
            values in proptest::collection::vec(
                prop_oneof![-3..3_i32, -200..200_i32, any::<i32>()], 0..60),
        ) {
            let read = unpack_integers("here", &encode(&values), values.len(), false).unwrap();
            prop_assert_eq!(read, values.iter().map(|&v| i64::from(v)).collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_integers_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..60), count in 0_usize..90, wide: bool,
        ) {
            let _ = unpack_integers("here", &bytes, count, wide);
        }
    }
}
