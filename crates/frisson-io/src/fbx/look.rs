//! Materials and textures, as far as pictures need them.

use std::sync::Arc;

use frisson::geometry::{Material, Texture};

use super::Importer;

impl Importer<'_> {
    pub(super) fn material(&mut self, material: &ufbx::Material) -> Material {
        let pbr = &material.pbr;
        let number = |map: &ufbx::MaterialMap, default: f32| {
            let value = map.value_vec4.x as f32;
            if map.has_value && value.is_finite() { value.clamp(0.0, 1.0) } else { default }
        };
        let base = &pbr.base_color.value_vec4;
        let factor = number(&pbr.base_factor, 1.0);
        let channel =
            |c: f64| if c.is_finite() { (c as f32 * factor).clamp(0.0, 1.0) } else { 0.7 };
        let color = match pbr.base_color.has_value {
            true => [channel(base.x), channel(base.y), channel(base.z)],
            false => [0.7; 3],
        };
        let texture = pbr.base_color.texture.as_ref().filter(|_| pbr.base_color.texture_enabled);
        let texture = texture.and_then(|t| self.texture(t));
        // A picture stands for the colour; programs leave a grey there.
        let color = if texture.is_some() { [1.0; 3] } else { color };
        let [r, g, b] = color;
        Material {
            name: material.element.name.to_string(),
            base_color: [r, g, b, number(&pbr.opacity, 1.0)],
            roughness: number(&pbr.roughness, 0.6),
            metallic: number(&pbr.metalness, 0.0),
            texture,
            ..Material::default()
        }
    }

    fn texture(&mut self, texture: &ufbx::Texture) -> Option<Arc<Texture>> {
        let name = texture.element.name.to_string();
        let bytes = match texture.content.is_empty() {
            false => Some(texture.content.to_vec()),
            true => self.beside(&texture.relative_filename, &texture.filename),
        };
        let decoded = match bytes {
            Some(bytes) => crate::gltf::decode_image(&bytes, self.inputs),
            None => Err("its file is not beside the model".to_owned()),
        };
        match decoded {
            Ok(decoded) => Some(Arc::new(decoded)),
            Err(problem) => {
                self.warn(format!("texture {name:?} is left out: {problem}"));
                None
            }
        }
    }

    /// The bytes of a picture in the model's folder or below it, by its path or by its name alone.
    fn beside(&self, relative: &str, absolute: &str) -> Option<Vec<u8>> {
        let folder = self.base_dir?;
        let clean = |path: &str| path.replace('\\', "/");
        let (relative, absolute) = (clean(relative), clean(absolute));
        let last = |path: &str| path.rsplit('/').next().map(str::to_owned);
        let names = [Some(relative.clone()), last(&relative), last(&absolute)];
        let mut names = names.into_iter().flatten().filter(|n| !n.is_empty());
        names.find_map(|name| self.inputs.read_beside(Some(folder), &name).ok())
    }
}
