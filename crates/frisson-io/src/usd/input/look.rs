//! Materials and textures, as far as pictures need them.

use std::collections::BTreeMap;
use std::sync::Arc;

use frisson::geometry::{Material, Texture};

use super::Result;
use super::stage::Stage;
use crate::gltf::decode_image;

/// Longest way from an input through connections to what drives it.
const MOST_HOPS: usize = 8;

/// Materials that were read, by prim.
#[derive(Default)]
pub(super) struct Looks {
    known: BTreeMap<usize, Material>,
    textures: BTreeMap<String, Option<Arc<Texture>>>,
}

impl Looks {
    /// The material bound to a prim or to one above it.
    pub fn bound(&mut self, stage: &mut Stage, prim: usize) -> Result<Option<Material>> {
        let mut at = Some(prim);
        while let Some(prim) = at {
            for purpose in ["", ":preview", ":full"] {
                let targets = stage.targets(prim, &format!("material:binding{purpose}"))?;
                if let Some(found) = targets.first().and_then(|t| stage.find(t)) {
                    return self.material(stage, found).map(Some);
                }
            }
            at = stage.prims[prim].parent;
        }
        Ok(None)
    }

    fn material(&mut self, stage: &mut Stage, prim: usize) -> Result<Material> {
        if let Some(known) = self.known.get(&prim) {
            return Ok(known.clone());
        }
        let name = stage.prims[prim].name.to_string();
        let mut material = Material { name, ..Material::default() };
        if let Some(shader) = surface(stage, prim)? {
            self.read_surface(stage, shader, &mut material)?;
        }
        self.known.insert(prim, material.clone());
        Ok(material)
    }

    fn read_surface(
        &mut self,
        stage: &mut Stage,
        shader: usize,
        material: &mut Material,
    ) -> Result<()> {
        let number = |stage: &Stage, name: &str| -> Result<Option<f32>> {
            let data = stage.value(shader, name, f64::NEG_INFINITY)?;
            let number = data.and_then(|d| d.number()).filter(|n| n.is_finite());
            Ok(number.map(|n| n.clamp(0.0, 1.0) as f32))
        };
        let color = stage.value(shader, "inputs:diffuseColor", f64::NEG_INFINITY)?;
        if let Some([r, g, b]) = color.and_then(|d| <[f64; 3]>::try_from(d.numbers()).ok()) {
            let channel = |c: f64| if c.is_finite() { c.clamp(0.0, 1.0) as f32 } else { 0.7 };
            material.base_color = [channel(r), channel(g), channel(b), 1.0];
        }
        material.base_color[3] = number(stage, "inputs:opacity")?.unwrap_or(1.0);
        material.roughness = number(stage, "inputs:roughness")?.unwrap_or(0.5);
        material.metallic = number(stage, "inputs:metallic")?.unwrap_or(0.0);
        if let Some(texture) = driver(stage, shader, "inputs:diffuseColor")? {
            material.texture = self.texture(stage, texture)?;
            if material.texture.is_some() {
                // A picture stands for the colour.
                material.base_color[..3].fill(1.0);
            }
        }
        Ok(())
    }

    fn texture(&mut self, stage: &mut Stage, prim: usize) -> Result<Option<Arc<Texture>>> {
        let Some(file) = stage.token(prim, "inputs:file")? else { return Ok(None) };
        let from = stage.property(prim, "inputs:file").next().map_or(0, |(o, _)| o.layer);
        let key = stage.assets.resolve(&stage.layers[from], &file);
        if let Some(known) = self.textures.get(&key) {
            return Ok(known.clone());
        }
        let bytes = stage.assets.picture(&key).map_err(|e| e.to_string());
        let decoded = bytes.and_then(|b| decode_image(&b, &stage.assets.inputs));
        let texture = match decoded {
            Ok(texture) => Some(Arc::new(texture)),
            Err(problem) => {
                stage.warn(format!("texture {file:?} is left out: {problem}"));
                None
            }
        };
        self.textures.insert(key, texture.clone());
        Ok(texture)
    }
}

/// The shader of a material's surface.
fn surface(stage: &Stage, material: usize) -> Result<Option<usize>> {
    if let Some(found) = driver(stage, material, "outputs:surface")? {
        return Ok(Some(found));
    }
    for &child in &stage.prims[material].children {
        if stage.token(child, "info:id")?.is_some_and(|id| &*id == "UsdPreviewSurface") {
            return Ok(Some(child));
        }
    }
    Ok(None)
}

/// The shader at the end of the connections of an input or output.
fn driver(stage: &Stage, prim: usize, name: &str) -> Result<Option<usize>> {
    let (mut prim, mut name) = (prim, name.to_owned());
    let mut found = None;
    for _ in 0..MOST_HOPS {
        let targets = stage.targets(prim, &name)?;
        let Some(target) = targets.first() else { break };
        let Some(next) = stage.find(target) else { break };
        let Some((_, property)) = target.rsplit_once('.') else { break };
        (prim, name) = (next, property.to_owned());
        found = Some(next);
    }
    Ok(found.filter(|&f| &*stage.prims[f].type_name == "Shader"))
}
