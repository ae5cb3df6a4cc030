//! A finished picture: eight bits a channel, sRGB.

use std::path::Path;

use glam::Vec3A;

use crate::PictureError;
use crate::font::{self, Size};

/// Coordinates beyond this are no place in a picture [pixels].
const FARTHEST: f32 = 1e6;
/// Least squared length of a line [pixels²]: shorter ones are dots.
const LEAST_LINE_SQ: f32 = 1e-12;
/// The curve of sRGB (IEC 61966-2-1): a straight piece near black, then a power.
const SRGB_LINEAR_BELOW: f32 = 0.003_130_8;
const SRGB_SLOPE: f32 = 12.92;
const SRGB_OFFSET: f32 = 0.055;
const SRGB_SCALE: f32 = 1.055;
const SRGB_POWER: f32 = 2.4;

/// A finished picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// sRGB with alpha, row by row from the top.
    pub pixels: Vec<[u8; 4]>,
}

impl Image {
    /// A picture of one colour.
    #[must_use]
    pub fn filled(width: u32, height: u32, color: [u8; 4]) -> Self {
        Self { width, height, pixels: vec![color; width as usize * height as usize] }
    }

    /// The pixel at (x, y), if it is inside.
    pub fn get_mut(&mut self, x: i64, y: i64) -> Option<&mut [u8; 4]> {
        let inside = x >= 0 && y >= 0 && x < i64::from(self.width) && y < i64::from(self.height);
        inside.then(|| &mut self.pixels[y as usize * self.width as usize + x as usize])
    }

    /// Mixes a colour into a pixel; outside, nothing happens.
    pub fn blend(&mut self, x: i64, y: i64, color: [u8; 3], opacity: f32) {
        if let Some(pixel) = self.get_mut(x, y) {
            for channel in 0..3 {
                let (from, to) = (f32::from(pixel[channel]), f32::from(color[channel]));
                pixel[channel] = (from + (to - from) * opacity.clamp(0.0, 1.0)).round() as u8;
            }
        }
    }

    /// Copies a picture with its corner at (x, y); what falls outside is cut.
    pub fn paste(&mut self, other: &Self, x: i64, y: i64) {
        for row in 0..other.height {
            for column in 0..other.width {
                let from = other.pixels[(row * other.width + column) as usize];
                if let Some(to) = self.get_mut(x + i64::from(column), y + i64::from(row)) {
                    *to = from;
                }
            }
        }
    }

    /// Fills a rectangle.
    pub fn rectangle(&mut self, x: i64, y: i64, width: i64, height: i64, color: [u8; 3]) {
        for row in y..y + height {
            for column in x..x + width {
                self.blend(column, row, color, 1.0);
            }
        }
    }

    /// Draws a straight line of a width in pixels, with soft edges.
    pub fn line(&mut self, a: [f32; 2], b: [f32; 2], width: f32, color: [u8; 3], opacity: f32) {
        let (ax, ay, bx, by) = (a[0], a[1], b[0], b[1]);
        if ![ax, ay, bx, by].iter().all(|v| v.abs() < FARTHEST) {
            return;
        }
        let (dx, dy) = (bx - ax, by - ay);
        let length_sq = (dx * dx + dy * dy).max(LEAST_LINE_SQ);
        let r = 0.5 * width + 1.0;
        let top = (ay.min(by) - r).floor().max(0.0) as i64;
        let bottom = ((ay.max(by) + r).ceil() as i64).min(i64::from(self.height));
        let left = (ax.min(bx) - r).floor().max(0.0) as i64;
        let right = ((ax.max(bx) + r).ceil() as i64).min(i64::from(self.width));
        for y in top..bottom {
            for x in left..right {
                let (px, py) = (x as f32 + 0.5 - ax, y as f32 + 0.5 - ay);
                let s = ((px * dx + py * dy) / length_sq).clamp(0.0, 1.0);
                let distance = (px - s * dx).hypot(py - s * dy);
                let cover = (0.5 * width + 0.5 - distance).clamp(0.0, 1.0);
                if cover > 0.0 {
                    self.blend(x, y, color, cover * opacity);
                }
            }
        }
    }

    /// Writes text with its upper left corner at (x, y); returns its width in pixels.
    pub fn text(&mut self, x: i64, y: i64, size: Size, text: &str, color: [u8; 3]) -> i64 {
        font::draw(text, size, |dx, dy, cover| self.blend(x + dx, y + dy, color, cover))
    }

    /// A smaller picture: each pixel is the mean of a block of `factor` by `factor`.
    #[must_use]
    pub fn shrunk(&self, factor: u32) -> Self {
        let factor = factor.max(1);
        let (width, height) = ((self.width / factor).max(1), (self.height / factor).max(1));
        let mut small = Self::filled(width, height, [0, 0, 0, 255]);
        for y in 0..height {
            for x in 0..width {
                let mut sum = [0u32; 4];
                let mut count = 0;
                for row in y * factor..((y + 1) * factor).min(self.height) {
                    for column in x * factor..((x + 1) * factor).min(self.width) {
                        let pixel = self.pixels[(row * self.width + column) as usize];
                        (0..4).for_each(|c| sum[c] += u32::from(pixel[c]));
                        count += 1;
                    }
                }
                small.pixels[(y * width + x) as usize] =
                    sum.map(|s| ((s + count / 2) / count.max(1)) as u8);
            }
        }
        small
    }

    /// Bytes of the PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>, PictureError> {
        crate::output::encode_png(self)
    }

    /// Writes a PNG file, whole or not at all.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<(), PictureError> {
        crate::output::write_whole(path.as_ref(), &self.to_png()?)
    }

    /// Reads a PNG file of eight bits a channel.
    pub fn read_png(path: impl AsRef<Path>) -> Result<Self, PictureError> {
        crate::output::decode_png(&std::fs::read(path)?)
    }
}

/// sRGB byte of a linear value.
#[must_use]
pub fn srgb_byte(linear: f32) -> u8 {
    let v = linear.clamp(0.0, 1.0);
    let s = if v <= SRGB_LINEAR_BELOW {
        SRGB_SLOPE * v
    } else {
        SRGB_SCALE * v.powf(1.0 / SRGB_POWER) - SRGB_OFFSET
    };
    (s * 255.0 + 0.5) as u8
}

/// Tone mapping that leaves colours below middle brightness as they are and rolls the highlights off
/// towards white (the Khronos "PBR neutral" curve): a character keeps the colours it was painted in.
#[must_use]
pub fn tone_map(color: Vec3A) -> Vec3A {
    /// Reflectance of common surfaces seen straight on: taken away so that black stays black.
    const SURFACE: f32 = 0.04;
    /// Where it ceases to be taken whole: below, the curve goes smoothly through black.
    const SHOULDER: f32 = 2.0 * SURFACE;
    const TOE: f32 = 6.25;
    const START: f32 = 0.8 - SURFACE;
    const DESATURATION: f32 = 0.15;
    let color = color.max(Vec3A::ZERO);
    let low = color.min_element();
    let offset = if low < SHOULDER { low - TOE * low * low } else { SURFACE };
    let color = color - Vec3A::splat(offset);
    let peak = color.max_element();
    if peak < START {
        return color;
    }
    let d = 1.0 - START;
    let new_peak = 1.0 - d * d / (peak + d - START);
    let g = 1.0 - 1.0 / (DESATURATION * (peak - new_peak) + 1.0);
    (color * (new_peak / peak)).lerp(Vec3A::splat(new_peak), g)
}

#[cfg(test)]
mod tests {
    use frisson::geometry::linear_of;

    use super::*;

    #[test]
    fn bytes_survive_the_way_to_linear_and_back() {
        for byte in 0..=255u8 {
            assert_eq!(srgb_byte(linear_of(byte)), byte);
        }
    }

    #[test]
    fn tone_mapping_is_monotonic_and_bounded() {
        let mut last = -1.0;
        for step in 0..2000 {
            let v = tone_map(Vec3A::splat(step as f32 * 0.01)).x;
            assert!(v >= last && v <= 1.0);
            last = v;
        }
    }

    #[test]
    fn a_line_covers_its_length_times_its_width() {
        let mut image = Image::filled(200, 200, [0, 0, 0, 255]);
        image.line([30.0, 40.0], [150.0, 130.0], 4.0, [255, 255, 255], 1.0);
        let area: f32 = image.pixels.iter().map(|p| f32::from(p[0]) / 255.0).sum();
        let expected = 150.0 * 4.0 + std::f32::consts::PI * 4.0;
        assert!((area - expected).abs() < 0.02 * expected, "{area} {expected}");
    }
}
