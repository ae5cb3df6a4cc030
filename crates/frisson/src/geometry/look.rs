//! What colour a surface has.

use glam::{Vec2, Vec3};

use super::{MeshTopology, Texture};

/// Encoding of sRGB: below this value it is a line, above it a power.
const SRGB_LINEAR_BELOW: f32 = 0.04045;
const SRGB_SLOPE: f32 = 12.92;
const SRGB_OFFSET: f32 = 0.055;
const SRGB_POWER: f32 = 2.4;

/// Linear value of an sRGB byte.
#[must_use]
pub fn linear_of(byte: u8) -> f32 {
    let s = f32::from(byte) / 255.0;
    if s <= SRGB_LINEAR_BELOW {
        s / SRGB_SLOPE
    } else {
        ((s + SRGB_OFFSET) / (1.0 + SRGB_OFFSET)).powf(SRGB_POWER)
    }
}

impl Texture {
    /// Linear RGB at texture coordinates: bilinear, repeating. White where there are no pixels.
    #[must_use]
    pub fn sample(&self, uv: Vec2) -> Vec3 {
        let (w, h) = (self.width as usize, self.height as usize);
        if w == 0 || h == 0 || self.rgba.len() < w * h * 4 || !uv.is_finite() {
            return Vec3::ONE;
        }
        // Values stand at the middles of pixels, hence the half.
        let x = (uv.x - uv.x.floor()) * w as f32 - 0.5;
        let y = (uv.y - uv.y.floor()) * h as f32 - 0.5;
        let (fx, fy) = (x - x.floor(), y - y.floor());
        let texel = |dx: i64, dy: i64| {
            let column = (x.floor() as i64 + dx).rem_euclid(w as i64) as usize;
            let row = (y.floor() as i64 + dy).rem_euclid(h as i64) as usize;
            let at = 4 * (row * w + column);
            // Linear before mixing: encoded values have no meaningful mean.
            Vec3::from_array([0, 1, 2].map(|k| linear_of(self.rgba[at + k])))
        };
        texel(0, 0).lerp(texel(1, 0), fx).lerp(texel(0, 1).lerp(texel(1, 1), fx), fy)
    }
}

impl MeshTopology {
    /// Linear RGB at a place of a triangle: its material's colour and texture, and the vertices' own colours.
    #[must_use]
    pub fn color_at(&self, triangle: u32, weights: [f32; 3]) -> Vec3 {
        let Some(corners) = self.triangles.get(triangle as usize) else { return Vec3::ONE };
        let material = self.triangle_materials.get(triangle as usize).copied().unwrap_or(0);
        let material = self.materials.get(usize::from(material));
        let mut color = material.map_or(Vec3::ONE, |m| Vec3::from_slice(&m.base_color[..3]));
        let parts = || corners.iter().map(|v| *v as usize).zip(weights);
        if self.colors.len() == self.vertex_count {
            color *= parts().map(|(v, w)| w * Vec3::from_slice(&self.colors[v][..3])).sum::<Vec3>();
        }
        if let Some(texture) = material.and_then(|m| m.texture.as_ref())
            && self.uvs.len() == self.vertex_count
        {
            color *= texture.sample(parts().map(|(v, w)| w * self.uvs[v]).sum());
        }
        color
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::geometry::Material;

    #[test]
    fn a_place_has_the_colour_of_material_texture_and_vertices() {
        // Left half black, right half white.
        let rgba = [[0, 0, 0, 255], [255, 255, 255, 255]].concat();
        let texture = Some(Arc::new(Texture { width: 2, height: 1, rgba }));
        let painted = Material { base_color: [0.5, 1.0, 1.0, 1.0], texture, ..Material::default() };
        let topology = MeshTopology {
            vertex_count: 3,
            triangles: vec![[0, 1, 2]],
            materials: vec![painted],
            uvs: vec![Vec2::new(0.25, 0.5), Vec2::new(0.75, 0.5), Vec2::new(0.75, 0.5)],
            colors: vec![[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]],
            ..MeshTopology::default()
        };
        assert_eq!(topology.color_at(0, [1.0, 0.0, 0.0]), Vec3::ZERO);
        assert_eq!(topology.color_at(0, [0.0, 1.0, 0.0]), Vec3::new(0.5, 0.0, 1.0));
        assert_eq!(topology.color_at(0, [0.5, 0.5, 0.0]), Vec3::new(0.25, 0.25, 0.5));
        assert_eq!(topology.color_at(7, [1.0, 0.0, 0.0]), Vec3::ONE, "no such triangle");
    }
}
