//! A small built-in bitmap font: labels must not depend on what is installed.
//!
//! A glyph is five pixels wide and seven high, with two rows more for descenders. Each character of
//! its string is one row in base 32 (`0`-`9`, `A`-`V`), the highest bit to the left.

/// Width of a character with its gap, at scale 1.
pub const ADVANCE: u32 = 6;
/// Height of a line without its gap, at scale 1.
pub const HEIGHT: u32 = 9;

/// Glyphs of the printable ASCII characters, from the space.
const ASCII: [&str; 95] = [
    "0000000",
    "4444404",
    "AAA0000",
    "AAVAVAA",
    "4FKE5U4",
    "OP248J3",
    "CIK8LID",
    "C480000",
    "2488842",
    "8422248",
    "04LEL40",
    "044V440",
    "00000C48",
    "000V000",
    "00000CC",
    "01248G0",
    "EHJLPHE",
    "4C4444E",
    "EH1248V",
    "V2421HE",
    "26AIV22",
    "VGU11HE",
    "68GUHHE",
    "V124888",
    "EHHEHHE",
    "EHHF12C",
    "0CC0CC0",
    "0CC0C48",
    "248G842",
    "00V0V00",
    "8421248",
    "EH12404",
    "EH1DLLE",
    "EHHVHHH",
    "UHHUHHU",
    "EHGGGHE",
    "SIHHHIS",
    "VGGUGGV",
    "VGGUGGG",
    "EHGNHHF",
    "HHHVHHH",
    "E44444E",
    "72222IC",
    "HIKOKIH",
    "GGGGGGV",
    "HRLLHHH",
    "HHPLJHH",
    "EHHHHHE",
    "UHHUGGG",
    "EHHHLID",
    "UHHUKIH",
    "FGGE11U",
    "V444444",
    "HHHHHHE",
    "HHHHHA4",
    "HHHLLLA",
    "HHA4AHH",
    "HHHA444",
    "V1248GV",
    "E88888E",
    "0G84210",
    "E22222E",
    "4AH0000",
    "0000000V",
    "8420000",
    "00E1FHF",
    "GGMPHHU",
    "00EGGHE",
    "11DJHHF",
    "00EHVGE",
    "698S888",
    "00FHHHF1E",
    "GGMPHHH",
    "40C444E",
    "2062222IC",
    "GGIKOKI",
    "C44444E",
    "00QLLHH",
    "00MPHHH",
    "00EHHHE",
    "00UHHHUGG",
    "00FHHHF11",
    "00MPGGG",
    "00FGE1U",
    "88S8896",
    "00HHHJD",
    "00HHHA4",
    "00HHLLA",
    "00HA4AH",
    "00HHHHF1E",
    "00V248V",
    "2448442",
    "4444444",
    "8442448",
    "008L200",
];

fn glyph(character: char) -> &'static str {
    match character {
        ' '..='~' => ASCII[character as usize - ' ' as usize],
        '°' => "6996000",
        'µ' => "00HHHJTGG",
        '²' => "C24E000",
        '³' => "E262C00",
        '×' => "00HA4AH",
        '·' => "0004000",
        '–' | '—' | '−' => "000V000",
        '’' => "C480000",
        'é' | 'è' | 'ê' => "24EHVGE",
        _ => "VHHHHHV",
    }
}

/// Width of a text in pixels.
#[must_use]
pub fn width(text: &str, scale: u32) -> i64 {
    text.chars().count() as i64 * i64::from(ADVANCE * scale)
}

/// Calls `plot` for every lit pixel; returns the width.
pub fn draw(text: &str, scale: u32, mut plot: impl FnMut(i64, i64)) -> i64 {
    let scale = i64::from(scale.max(1));
    for (place, character) in text.chars().enumerate() {
        let left = place as i64 * i64::from(ADVANCE) * scale;
        for (row, digit) in glyph(character).chars().enumerate() {
            let bits = digit.to_digit(32).unwrap_or(0);
            for column in (0..5).filter(|c| bits >> (4 - c) & 1 != 0) {
                for dy in 0..scale {
                    for dx in 0..scale {
                        plot(left + column * scale + dx, row as i64 * scale + dy);
                    }
                }
            }
        }
    }
    text.chars().count() as i64 * i64::from(ADVANCE) * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_character_has_its_own_glyph() {
        for (i, a) in ASCII.iter().enumerate() {
            assert!(a.len() >= 7 && a.len() <= 9 && a.chars().all(|c| c.is_digit(32)), "{a}");
            assert!(ASCII.iter().skip(i + 1).all(|b| a != b), "{a} is there twice");
        }
    }

    #[test]
    fn text_has_the_width_it_says() {
        let mut right = 0;
        let end = draw("Wx", 2, |x, _| right = right.max(x));
        assert_eq!((end, width("Wx", 2)), (24, 24));
        assert_eq!(right, 2 * 6 + 5 * 2 - 1);
    }
}
