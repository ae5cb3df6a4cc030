//! The curve by which drawn and swinging things fade to their sides.

/// `1 + (-4 y^6 + 17 y^4 - 22 y^2) / 9` for `y_sq` = y²: 1 at 0, 0 at ±1, flat at all three; not meant beyond.
///
/// The field function of B. Wyvill, C. McPheeters, G. Wyvill, *Data structure for soft objects* (1986); flesh,
/// wrinkles and folds fade by it.
#[must_use]
pub fn bell(y_sq: f32) -> f32 {
    // Rounding at the ends may leave a hair below 0 or above 1.
    (1.0 + y_sq * (-22.0 + y_sq * (17.0 - 4.0 * y_sq)) / 9.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_flat_at_its_ends_and_top_and_falls_in_between() {
        let b = |y: f32| bell(y * y);
        assert_eq!([b(-1.0), b(0.0), b(1.0)], [0.0, 1.0, 0.0]);
        let slope = |y: f32| (b(y + 1e-3) - b(y - 1e-3)) / 2e-3;
        assert!(slope(0.0).abs() < 1e-4);
        assert!((b(0.999) / 1e-3).abs() < 0.01 && (b(-0.999) / 1e-3).abs() < 0.01);
        assert!((0..100).all(|i| b(i as f32 / 100.0) >= b((i + 1) as f32 / 100.0)));
    }
}
