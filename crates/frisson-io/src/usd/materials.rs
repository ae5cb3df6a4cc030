//! Materials of a shot as UsdPreviewSurface networks, each distinct one once.

use frisson::geometry::Material;

use super::layer::{Prim, Property, Value};
use crate::export::{NameRule, Names};

/// Where the materials lie.
const SCOPE: &str = "/World/Materials";

pub(super) struct Materials {
    names: Names,
    all: Vec<(String, Material)>,
}

impl Materials {
    pub(super) fn new() -> Self {
        Self { names: Names::new(NameRule::Identifier), all: Vec::new() }
    }

    /// Path of a material, added if it is new. Textures are not carried.
    pub(super) fn path(&mut self, material: &Material) -> String {
        let plain = Material { texture: None, ..material.clone() };
        let known = self.all.iter().find(|(_, m)| *m == plain).map(|(name, _)| name.clone());
        let name = known.unwrap_or_else(|| {
            let name = self.names.fresh(&plain.name);
            self.all.push((name.clone(), plain));
            name
        });
        format!("{SCOPE}/{name}")
    }

    pub(super) fn finish(self) -> Option<Prim> {
        if self.all.is_empty() {
            return None;
        }
        let children = self.all.iter().map(|(name, material)| material_prim(name, material));
        Some(Prim {
            name: "Materials".to_owned(),
            type_name: "Scope",
            children: children.collect(),
            ..Prim::default()
        })
    }
}

fn material_prim(name: &str, material: &Material) -> Prim {
    let [r, g, b, alpha] = material.base_color;
    // UsdPreviewSurface knows no transmission: clear things are thin.
    let opacity = alpha * (1.0 - material.transmission);
    let shader = Prim {
        name: "Surface".to_owned(),
        type_name: "Shader",
        properties: vec![
            Property::token("info:id", "UsdPreviewSurface"),
            Property::plain("inputs:diffuseColor", "color3f", Value::Vec3([r, g, b])),
            Property::plain("inputs:roughness", "float", Value::Float(material.roughness)),
            Property::plain("inputs:metallic", "float", Value::Float(material.metallic)),
            Property::plain("inputs:opacity", "float", Value::Float(opacity)),
            Property::plain("inputs:ior", "float", Value::Float(material.ior)),
            Property::plain("outputs:surface", "token", Value::None),
        ],
        ..Prim::default()
    };
    let output = format!("{SCOPE}/{name}/Surface.outputs:surface");
    Prim {
        name: name.to_owned(),
        type_name: "Material",
        properties: vec![Property::plain("outputs:surface", "token", Value::Connection(output))],
        children: vec![shader],
        ..Prim::default()
    }
}

/// Binds a prim to a material.
pub(super) fn bind(prim: &mut Prim, path: String) {
    if !prim.api_schemas.contains(&"MaterialBindingAPI") {
        prim.api_schemas.push("MaterialBindingAPI");
        let name = "material:binding".to_owned();
        prim.properties.push(Property::Relationship { name, target: path });
    }
}
