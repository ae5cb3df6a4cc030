//! Wetness and stains as an image in the mesh's texture coordinates.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use crate::geometry::Texture;

/// Wetness (dries) and stain (stays), each in [0, 1].
///
/// Time is counted in times of drying: each pixel keeps how wet it was laid and when, so that a tick
/// costs nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
        if !(low.is_finite() && high.is_finite()) || polygon.len() < 3 {
            return;
        }
        let clip = |v: f32| v.floor().clamp(0.0, n - 1.0) as u32;
        let area: f32 =
            (0..polygon.len()).map(|i| polygon[i].perp_dot(polygon[(i + 1) % polygon.len()])).sum();
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
