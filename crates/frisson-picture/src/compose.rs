//! Several pictures on one page.

use crate::font::Size;
use crate::{Image, PictureError};

/// Opacity of the oldest picture of an onion skin, and how much of it is gained until the newest [-].
const FAINTEST: f32 = 0.15;
const FADE: f32 = 0.4;
/// Difference from the background, of all three colours, from which a pixel is the subject's: 13 of 255
/// each.
const DIFFERENT: f32 = 40.0;

const PAPER: [u8; 4] = [245, 244, 241, 255];
const INK: [u8; 3] = [40, 40, 44];

/// A contact sheet: pictures in rows, each with its label below, under an optional title.
pub fn contact_sheet(
    panels: &[(Image, String)],
    columns: u32,
    title: Option<&str>,
) -> Result<Image, PictureError> {
    let Some((first, _)) = panels.first() else { return Err(PictureError::Empty) };
    let (w, h) = (first.width, first.height);
    if let Some((other, _)) = panels.iter().find(|(i, _)| (i.width, i.height) != (w, h)) {
        return Err(PictureError::SizesDiffer((w, h), (other.width, other.height)));
    }
    let columns = columns.clamp(1, panels.len() as u32);
    let rows = (panels.len() as u32).div_ceil(columns);
    let letters = if w >= 420 { Size::Medium } else { Size::Small };
    let gap = 8;
    let strip = letters.height() + gap;
    let top = if title.is_some() { Size::Large.height() + 2 * gap } else { gap };
    let mut sheet = Image::filled(columns * (w + gap) + gap, top + rows * (h + strip + gap), PAPER);
    if let Some(title) = title {
        sheet.text(i64::from(gap), i64::from(gap), Size::Large, title, INK);
    }
    for (index, (image, label)) in panels.iter().enumerate() {
        let (column, row) = (index as u32 % columns, index as u32 / columns);
        let (x, y) = (gap + column * (w + gap), top + row * (h + strip + gap));
        sheet.paste(image, i64::from(x), i64::from(y));
        let label = fitted(label, w, letters);
        sheet.text(i64::from(x + 2), i64::from(y + h + gap / 2), letters, &label, INK);
    }
    Ok(sheet)
}

/// As much of a label as fits a width.
fn fitted(label: &str, width: u32, size: Size) -> String {
    label.chars().take((width / size.advance()).max(1) as usize).collect()
}

/// Two or more pictures side by side, each labelled: before and after.
pub fn side_by_side(panels: &[(Image, String)]) -> Result<Image, PictureError> {
    contact_sheet(panels, panels.len() as u32, None)
}

/// Onion skin: earlier pictures shine through the last one wherever they differ from the empty
/// background, fainter the older they are.
pub fn onion_skin(background: &Image, images: &[Image]) -> Result<Image, PictureError> {
    let Some(last) = images.last() else { return Err(PictureError::Empty) };
    for image in images.iter().chain([background]) {
        if (image.width, image.height) != (last.width, last.height) {
            return Err(PictureError::SizesDiffer(
                (last.width, last.height),
                (image.width, image.height),
            ));
        }
    }
    let mut result = background.clone();
    for (age, image) in images.iter().enumerate() {
        let strength = if age + 1 == images.len() {
            1.0
        } else {
            FAINTEST + FADE * (age + 1) as f32 / images.len() as f32
        };
        for i in 0..result.pixels.len() {
            let (from, to) = (background.pixels[i], image.pixels[i]);
            let difference: i32 =
                (0..3).map(|c| (i32::from(from[c]) - i32::from(to[c])).abs()).sum();
            let opacity = strength * (difference as f32 / DIFFERENT).min(1.0);
            for c in 0..3 {
                let under = f32::from(result.pixels[i][c]);
                result.pixels[i][c] = (under + (f32::from(to[c]) - under) * opacity).round() as u8;
            }
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_room_for_all_panels_and_labels() {
        let panel = |v: u8| (Image::filled(100, 50, [v, v, v, 255]), format!("frame {v}"));
        let sheet = contact_sheet(&[panel(1), panel(2), panel(3)], 2, Some("title")).unwrap();
        for v in 1..=3u8 {
            let count = sheet.pixels.iter().filter(|p| **p == [v, v, v, 255]).count();
            assert_eq!(count, 5000);
        }
        assert!(contact_sheet(&[], 2, None).is_err());
        let other = (Image::filled(10, 10, [0; 4]), String::new());
        assert!(contact_sheet(&[panel(1), other], 2, None).is_err());
    }

    #[test]
    fn an_onion_skin_of_one_picture_is_that_picture() {
        let background = Image::filled(4, 4, [200, 200, 200, 255]);
        let mut image = background.clone();
        image.pixels[5] = [10, 20, 30, 255];
        assert_eq!(onion_skin(&background, &[image.clone()]).unwrap(), image);
    }
}
