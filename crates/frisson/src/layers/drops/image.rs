//! Wetness and stains as an image in the mesh's texture coordinates.

use glam::Vec2;
use serde::{Deserialize, Serialize, Serializer};

use crate::geometry::Texture;

/// Wetness (dries) and stain (stays), each in [0, 1].
///
/// Time is counted in times of drying: each pixel keeps how wet it was laid and when, so that a tick
/// costs nothing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "SavedImage")]
pub struct WetImage {
    /// Side in pixels.
    pub size: u32,
    /// Times of drying that have passed [-].
    pub elapsed: f64,
    /// Wetness when laid, row by row from v = 0.
    pub wetness: Vec<f32>,
    /// When it was laid, in times of drying [-].
    pub laid: Vec<f32>,
    /// Stain.
    pub stain: Vec<f32>,
}

/// An image as it is saved: a few streaks on much dry skin, so only what was ever touched.
#[derive(Serialize, Deserialize)]
struct SavedImage {
    size: u32,
    elapsed: f64,
    /// Pixels passed over since the last one, wetness, when laid, stain.
    touched: Vec<(u32, f32, f32, f32)>,
}

/// Larger images are not ours [pixels a side].
const LARGEST: u32 = 1 << 14;

impl From<&WetImage> for SavedImage {
    fn from(image: &WetImage) -> Self {
        let mut touched = Vec::new();
        let mut next = 0;
        for (i, &wetness) in image.wetness.iter().enumerate() {
            let (laid, stain) = (image.laid[i], image.stain[i]);
            if [wetness, laid, stain].iter().any(|v| v.to_bits() != 0) {
                touched.push(((i - next) as u32, wetness, laid, stain));
                next = i + 1;
            }
        }
        Self { size: image.size, elapsed: image.elapsed, touched }
    }
}

impl Serialize for WetImage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SavedImage::from(self).serialize(serializer)
    }
}

impl TryFrom<SavedImage> for WetImage {
    type Error = String;

    fn try_from(saved: SavedImage) -> Result<Self, String> {
        if saved.size > LARGEST {
            return Err(format!("an image of {} pixels a side", saved.size));
        }
        let mut image = Self { elapsed: saved.elapsed, ..Self::new(saved.size) };
        let mut next = 0;
        for (skipped, wetness, laid, stain) in saved.touched {
            let i = next + skipped as usize;
            if i >= image.stain.len() {
                return Err("an image with more pixels than it has".to_owned());
            }
            (image.wetness[i], image.laid[i], image.stain[i]) = (wetness, laid, stain);
            next = i + 1;
        }
        Ok(image)
    }
}

/// Drier than this is dry [-]: less than half a step of eight bits.
const DRY: f32 = 1e-3;

impl WetImage {
    /// A dry image.
    #[must_use]
    pub fn new(size: u32) -> Self {
        let pixels = (size * size) as usize;
        let zeros = || vec![0.0; pixels];
        Self { size, elapsed: 0.0, wetness: zeros(), laid: zeros(), stain: zeros() }
    }

    /// Time passes: a step as a part of the time of drying.
    pub fn dry(&mut self, elapsed_over_drying: f64) {
        self.elapsed += elapsed_over_drying;
    }

    /// How wet a pixel is by now. Each has its own time of drying, a little off the others'.
    fn wetness_now(&self, i: usize, unevenness: f64) -> f32 {
        if self.wetness[i] <= 0.0 {
            return 0.0;
        }
        // By the pixel alone: the same spots dry first in every frame.
        let u = crate::math::random::signed(0xD17, i as u64, 0);
        let passed = (self.elapsed - f64::from(self.laid[i])).max(0.0);
        let left = self.wetness[i] * (-passed / (1.0 + 0.9 * unevenness * u)).exp() as f32;
        if left < DRY { 0.0 } else { left }
    }

    /// Wets the pixels whose middle is inside a convex polygon.
    pub fn paint(&mut self, polygon: &[Vec2], (wetness, stain): (f32, f32), unevenness: f64) {
        let n = self.size as f32;
        let low = polygon.iter().copied().reduce(Vec2::min).unwrap_or_default() * n;
        let high = polygon.iter().copied().reduce(Vec2::max).unwrap_or_default() * n;
        // Texture coordinates come from files, and may be anything.
        if !(low.is_finite() && high.is_finite()) || polygon.len() < 3 {
            return;
        }
        let clip = |v: f32| v.floor().clamp(0.0, n - 1.0) as u32;
        let area: f32 =
            (0..polygon.len()).map(|i| polygon[i].perp_dot(polygon[(i + 1) % polygon.len()])).sum();
        // Mirrored texture coordinates turn polygons over.
        let sign = area.signum();
        for y in clip(low.y)..=clip(high.y) {
            for x in clip(low.x)..=clip(high.x) {
                let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) / n;
                let inside = (0..polygon.len()).all(|i| {
                    let (a, b) = (polygon[i], polygon[(i + 1) % polygon.len()]);
                    (b - a).perp_dot(p - a) * sign >= 0.0
                });
                if inside {
                    let i = (y * self.size + x) as usize;
                    self.wetness[i] = self.wetness_now(i, unevenness).max(wetness);
                    self.laid[i] = self.elapsed as f32;
                    self.stain[i] = (self.stain[i] + stain).min(1.0);
                }
            }
        }
    }

    /// Red: wetness; green: stain; linear values in eight bits.
    pub fn write(&self, unevenness: f64, out: &mut Texture) {
        out.width = self.size;
        out.height = self.size;
        out.rgba.clear();
        let byte = |v: f32| (v.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
        for (i, &stain) in self.stain.iter().enumerate() {
            out.rgba.extend([byte(self.wetness_now(i, unevenness)), byte(stain), 0, 255]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::{from_snapshot, to_snapshot};

    /// Pixels of several streaks, in the corners too.
    fn streaked() -> WetImage {
        let mut image = WetImage::new(64);
        image.dry(0.25);
        let streak = |x: f32, y: f32| {
            [[0.0, 0.0], [0.2, 0.0], [0.2, 0.1]].map(|p| Vec2::new(x + p[0], y + p[1]))
        };
        image.paint(&streak(0.0, 0.0), (0.5, 0.0), 0.3);
        image.dry(0.5);
        image.paint(&streak(0.8, 0.9), (1.0, 0.25), 0.3);
        image
    }

    #[test]
    fn a_saved_image_is_the_same_and_small() {
        let image = streaked();
        let bytes = to_snapshot(&image).unwrap();
        assert_eq!(from_snapshot::<WetImage>(&bytes).unwrap(), image);
        assert!(image.wetness.iter().any(|w| *w > 0.0) && bytes.len() < 64 * 64, "{}", bytes.len());
    }

    #[test]
    fn a_damaged_image_is_refused() {
        let pixel = (0, 1.0, 1.0, 1.0);
        for (size, touched) in
            [(1 << 20, vec![]), (1, vec![pixel, pixel]), (2, vec![(u32::MAX, 1.0, 1.0, 1.0)])]
        {
            let bytes = to_snapshot(&SavedImage { size, elapsed: 0.0, touched }).unwrap();
            assert!(from_snapshot::<WetImage>(&bytes).is_err(), "{size}");
        }
    }
}
