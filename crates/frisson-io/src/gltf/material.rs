//! Materials: base colour, roughness, metalness, transmission, and the base-colour texture.

use std::sync::Arc;

use frisson::geometry::{Material, Texture};
use serde_json::Value;

use super::container::{decode_data_uri, name_of_uri};
use super::document::{Document, Kind};
use super::error::Result;
use super::import::Importer;
use super::json::{Item, extension, float, floats, index};
use super::texture;

/// Darkest colour that light may have after one attenuation distance [-]: black would be infinitely dense.
const DARKEST: f32 = 1e-4;

/// Which texture coordinates the base-colour texture uses, and how they are moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UvUse {
    pub set: usize,
    offset: [f32; 2],
    rotation: f32,
    scale: [f32; 2],
}

impl Default for UvUse {
    fn default() -> Self {
        Self { set: 0, offset: [0.0; 2], rotation: 0.0, scale: [1.0; 2] }
    }
}

impl UvUse {
    /// `KHR_texture_transform`: scale, then rotate, then move.
    pub fn apply(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        let (u, v) = (u * self.scale[0], v * self.scale[1]);
        let (sin, cos) = self.rotation.sin_cos();
        [u * cos + v * sin + self.offset[0], v * cos - u * sin + self.offset[1]]
    }
}

fn base_color_texture(material: &Value) -> Option<&Value> {
    material
        .get("pbrMetallicRoughness")
        .and_then(|p| p.get("baseColorTexture"))
        .or_else(|| {
            extension(material, "KHR_materials_pbrSpecularGlossiness")
                .and_then(|p| p.get("diffuseTexture"))
        })
        .filter(|t| t.is_object())
}

/// How a material of the document uses texture coordinates.
pub(super) fn uv_use(document: &Document, material: Option<usize>) -> Result<UvUse> {
    let Some(material) = material else { return Ok(UvUse::default()) };
    let item = document.item(Kind::Material, material)?;
    let Some(info) = base_color_texture(item.value) else { return Ok(UvUse::default()) };
    let invalid = |problem: String| item.invalid(problem);
    let mut uses =
        UvUse { set: index(info, "texCoord").map_err(invalid)?.unwrap_or(0), ..UvUse::default() };
    if let Some(moved) = extension(info, "KHR_texture_transform") {
        uses.offset = floats(moved, "offset").map_err(invalid)?.unwrap_or(uses.offset);
        uses.scale = floats(moved, "scale").map_err(invalid)?.unwrap_or(uses.scale);
        uses.rotation = float(moved, "rotation").unwrap_or(0.0);
        uses.set = index(moved, "texCoord").map_err(invalid)?.unwrap_or(uses.set);
    }
    Ok(uses)
}

impl Importer<'_> {
    /// A material of the document, or ours where the primitive names none.
    pub(super) fn material(&mut self, material: Option<usize>) -> Result<Material> {
        let Some(material) = material else { return Ok(Material::default()) };
        let item = self.document.item(Kind::Material, material)?;
        let name = item.name().map_or_else(|| format!("material_{material}"), str::to_owned);
        let invalid = |problem: String| item.invalid(problem);
        // The format's own defaults, not ours: the file was made for them.
        let mut out = Material {
            name,
            base_color: [1.0; 4],
            roughness: 1.0,
            metallic: 1.0,
            ..Material::default()
        };
        if let Some(pbr) = item.value.get("pbrMetallicRoughness") {
            out.base_color = floats(pbr, "baseColorFactor").map_err(invalid)?.unwrap_or([1.0; 4]);
            out.roughness = float(pbr, "roughnessFactor").unwrap_or(1.0).clamp(0.0, 1.0);
            out.metallic = float(pbr, "metallicFactor").unwrap_or(1.0).clamp(0.0, 1.0);
        } else if let Some(old) = item.extension("KHR_materials_pbrSpecularGlossiness") {
            out.base_color = floats(old, "diffuseFactor").map_err(invalid)?.unwrap_or([1.0; 4]);
            out.roughness = 1.0 - float(old, "glossinessFactor").unwrap_or(1.0).clamp(0.0, 1.0);
            out.metallic = 0.0;
        }
        read_transmission(&item, &mut out);
        if let Some(info) = base_color_texture(item.value).filter(|_| self.options.textures)
            && let Some(texture) = index(info, "index").map_err(invalid)?
        {
            out.texture = self.texture(texture);
        }
        Ok(out)
    }

    /// A decoded texture; a warning and nothing if that fails. Textures that name one image share
    /// what it unpacks to.
    fn texture(&mut self, texture: usize) -> Option<Arc<Texture>> {
        let image = match image_of(self.document, texture) {
            Ok(image) => image,
            Err(problem) => {
                self.warn(format!("texture {texture} is left out: {problem}"));
                return None;
            }
        };
        if let Some(done) = self.images.get(&image) {
            return done.clone();
        }
        let inputs = &self.document.inputs;
        let read = image_bytes(self.document, image).and_then(|b| texture::decode(&b, inputs));
        let decoded = match read {
            Ok(decoded) => Some(Arc::new(decoded)),
            Err(problem) => {
                // A resumed bake must leave out the same images.
                inputs.note(&problem);
                self.warn(format!("image {image} is left out: {problem}"));
                None
            }
        };
        self.images.insert(image, decoded.clone());
        decoded
    }
}

fn read_transmission(item: &Item<'_>, out: &mut Material) {
    if let Some(transmission) = item.extension("KHR_materials_transmission") {
        out.transmission = float(transmission, "transmissionFactor").unwrap_or(0.0).clamp(0.0, 1.0);
    }
    if let Some(ior) = item.extension("KHR_materials_ior").and_then(|e| float(e, "ior")) {
        out.ior = if ior >= 1.0 { ior } else { out.ior };
    }
    if let Some(volume) = item.extension("KHR_materials_volume") {
        let color = floats::<3>(volume, "attenuationColor").ok().flatten();
        let distance = float(volume, "attenuationDistance").filter(|d| *d > 0.0);
        if let (Some(color), Some(distance)) = (color, distance) {
            // Beer's law: what is left after one attenuation distance is the colour.
            out.absorption = color.map(|c| -c.clamp(DARKEST, 1.0).ln() / distance);
        }
    }
}

/// The image that a texture shows.
fn image_of(document: &Document, texture: usize) -> std::result::Result<usize, String> {
    let text = |error: super::GltfError| error.to_string();
    let item = document.item(Kind::Texture, texture).map_err(text)?;
    let image = item.index("source").map_err(text)?;
    image.ok_or_else(|| "its image is in a format that only an extension knows".to_owned())
}

/// The bytes of an image file.
fn image_bytes(document: &Document, image: usize) -> std::result::Result<Vec<u8>, String> {
    let text = |error: super::GltfError| error.to_string();
    let item = document.item(Kind::Image, image).map_err(text)?;
    if let Some(view) = item.index("bufferView").map_err(text)? {
        return Ok(document.view(view).map_err(text)?.bytes.into_owned());
    }
    let uri = item.value.get("uri").and_then(Value::as_str).ok_or("its image has no data")?;
    match decode_data_uri(uri) {
        Some(data) => data,
        None => {
            let inputs = &document.inputs;
            let path = inputs
                .path_beside(document.base_dir.as_deref(), &name_of_uri(uri)?)
                .map_err(|e| e.to_string())?;
            inputs.read_up_to(&path, inputs.limits().image_bytes).map_err(|e| e.to_string())
        }
    }
}
