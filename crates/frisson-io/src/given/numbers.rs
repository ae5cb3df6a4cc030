//! Numbers out of text.

/// A finite number.
pub(super) fn number(text: &str) -> Option<f32> {
    text.parse::<f32>().ok().filter(|n| n.is_finite())
}

/// `N` finite numbers off the front of some words.
pub(super) fn numbers<'a, const N: usize>(
    words: &mut impl Iterator<Item = &'a str>,
) -> Option<[f32; N]> {
    let mut out = [0.0; N];
    for slot in &mut out {
        *slot = number(words.next()?)?;
    }
    Some(out)
}
