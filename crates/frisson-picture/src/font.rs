//! Letters for labels: pre-rasterised glyphs of a monospaced font, compiled in, so that pictures do not
//! depend on what is installed.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// How large letters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For labels and axes.
    Small,
    /// For captions on large panels.
    Medium,
    /// For titles.
    Large,
}

impl Size {
    fn raster(self) -> RasterHeight {
        match self {
            Self::Small => RasterHeight::Size16,
            Self::Medium => RasterHeight::Size20,
            Self::Large => RasterHeight::Size24,
        }
    }

    /// Height of a line [px].
    #[must_use]
    pub fn height(self) -> u32 {
        self.raster().val() as u32
    }

    /// Width of every character [px].
    #[must_use]
    pub fn advance(self) -> u32 {
        get_raster_width(FontWeight::Regular, self.raster()) as u32
    }
}

/// Width of a text [px].
#[must_use]
pub fn width(text: &str, size: Size) -> i64 {
    text.chars().count() as i64 * i64::from(size.advance())
}

/// The nearest character that the font has.
fn known(character: char) -> char {
    match character {
        '–' | '—' | '−' => '-',
        '’' | '‘' => '\'',
        '“' | '”' => '"',
        'μ' => 'µ',
        other => other,
    }
}

/// Calls `plot` with every pixel that a text covers and how much of it; returns the text's width.
pub fn draw(text: &str, size: Size, mut plot: impl FnMut(i64, i64, f32)) -> i64 {
    for (place, character) in text.chars().enumerate() {
        let left = place as i64 * i64::from(size.advance());
        let raster = |c: char| get_raster(c, FontWeight::Regular, size.raster());
        let Some(glyph) = raster(known(character)).or_else(|| raster('?')) else { continue };
        for (y, row) in glyph.rows().enumerate() {
            for (x, &cover) in row.iter().enumerate().filter(|(_, cover)| **cover > 0) {
                plot(left + x as i64, y as i64, f32::from(cover) / 255.0);
            }
        }
    }
    width(text, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_character_has_its_own_glyph_inside_its_box() {
        for size in [Size::Small, Size::Medium, Size::Large] {
            let shape = |c: char| {
                let mut pixels = Vec::new();
                draw(&c.to_string(), size, |x, y, cover| {
                    assert!(x < i64::from(size.advance()) && y < i64::from(size.height()));
                    pixels.push((x, y, cover.to_bits()));
                });
                pixels
            };
            let shapes: Vec<_> = ('!'..='~').chain("°µ²³×·é".chars()).map(shape).collect();
            for (i, a) in shapes.iter().enumerate() {
                assert!(!a.is_empty() && shapes[i + 1..].iter().all(|b| a != b), "glyph {i}");
            }
        }
    }

    #[test]
    fn text_has_the_width_it_says() {
        let mut right = 0;
        let end = draw("Wx", Size::Small, |x, _, _| right = right.max(x));
        assert_eq!(end, width("Wx", Size::Small));
        assert!(right < end && right > end / 2);
    }
}
