//! Wetness and stains as an image in the mesh's texture coordinates.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use crate::geometry::Texture;

/// Wetness (dries) and stain (stays), each in [0, 1].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WetImage {
    /// Side in pixels.
    pub size: u32,
    /// Wetness, row by row from v = 0.
    pub wetness: Vec<f32>,
    /// Stain.
    pub stain: Vec<f32>,
}

impl WetImage {
    /// A dry image.
    #[must_use]
    pub fn new(size: u32) -> Self {
        let pixels = (size * size) as usize;
        Self { size, wetness: vec![0.0; pixels], stain: vec![0.0; pixels] }
    }

    /// Wets the pixels whose middle is inside a convex polygon.
    pub fn paint(&mut self, polygon: &[Vec2], wetness: f32, stain: f32) {
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
                    self.wetness[i] = self.wetness[i].max(wetness);
                    self.stain[i] = (self.stain[i] + stain).min(1.0);
                }
            }
        }
    }

    /// Dries it by a factor, a little unevenly: each pixel has its own.
    pub fn dry(&mut self, elapsed_over_drying: f64, unevenness: f64) {
        for (i, w) in self.wetness.iter_mut().enumerate().filter(|(_, w)| **w > 0.0) {
            let u = crate::math::random::signed(0xD17, i as u64, 0);
            let rate = elapsed_over_drying / (1.0 + 0.9 * unevenness * u);
            *w *= (-rate).exp() as f32;
            if *w < 1e-4 {
                *w = 0.0;
            }
        }
    }

    /// Red: wetness; green: stain; linear values in eight bits.
    pub fn write(&self, out: &mut Texture) {
        out.width = self.size;
        out.height = self.size;
        out.rgba.clear();
        let byte = |v: f32| (v.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
        for (&w, &s) in self.wetness.iter().zip(&self.stain) {
            out.rgba.extend([byte(w), byte(s), 0, 255]);
        }
    }
}
